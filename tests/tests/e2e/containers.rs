//! Containers of a real podman, made of programs of this machine, without a registry and without a network. Where podman
//! cannot run (inside another container, as a rule) the test says so and passes.

use std::path::{Path, PathBuf};
use std::process::Command;

use dtmcp_tests::client::World;
use serde_json::json;

use super::places::news;
use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] =
    &[("podman", &["tmux", "bash", "podman", "runc", "busybox", "tar", "root"], containers)];

/// What a container's programs are allowed, where the machine that runs the tests is not allowed everything itself.
const LIMITS: &str =
    "--network none --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --security-opt seccomp=unconfined";

/// A podman with everything in a directory of its own, and a container `box` that runs.
struct Podman {
    words: String,
}

impl Podman {
    /// None where it cannot run here, with its reason.
    fn start(dir: &Path) -> Result<Result<Self, String>, String> {
        let root = dir.join("image");
        fill(&root)?;
        let at = |name: &str| dir.join(name).display().to_string();
        let words = format!(
            "podman --root {} --runroot {} --tmpdir {} --storage-driver vfs --cgroup-manager cgroupfs --events-backend none --runtime runc",
            at("store"),
            at("run"),
            at("tmp")
        );
        let podman = Self { words };
        shell(&format!("tar -C {} -cf {} .", root.display(), at("image.tar")))?;
        let started = podman
            .run(&format!("import -q {} box:1", at("image.tar")))
            .and_then(|()| podman.run(&format!("run -d --name box {LIMITS} box:1 sleep 3600")))
            .and_then(|()| podman.run("exec box true"));
        Ok(started.map(|()| podman))
    }

    fn run(&self, words: &str) -> Result<(), String> {
        shell(&format!("{} {words}", self.words))
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        drop(self.run("rm -f -t 0 -a"));
    }
}

fn shell(line: &str) -> Result<(), String> {
    let output = Command::new("sh").args(["-c", line]).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// A file system of bash with what it needs, and busybox for the rest.
fn fill(root: &Path) -> Tested {
    let root = root.display();
    shell(&format!(
        "mkdir -p {root}/bin {root}/etc {root}/tmp {root}/root {root}/proc {root}/dev && cd {root} &&
         cp \"$(command -v busybox)\" \"$(command -v bash)\" bin/ &&
         for it in sh ls cat id mkdir rm mktemp wc sed grep tr printf sleep tty true; do ln -s busybox bin/$it; done &&
         for it in $(ldd bin/bash bin/busybox | grep -o '/[^ :]*'); do
             [ ! -f \"$it\" ] || {{ mkdir -p \".${{it%/*}}\" && cp -L \"$it\" \".$it\"; }}; done &&
         echo 'root:x:0:0:root:/root:/bin/bash' >etc/passwd && echo root:x:0: >etc/group"
    ))
}

fn containers() -> Tested {
    let dir = tempfile::Builder::new().prefix("dtmcp-podman-").tempdir().map_err(|error| error.to_string())?;
    let podman = match Podman::start(dir.path())? {
        Ok(podman) => podman,
        Err(reason) => {
            #[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
            {
                eprintln!("SKIP containers::podman: podman cannot run here: {reason}");
            }
            return Ok(());
        }
    };
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "env": { "DOCENT_TERMINAL_MCP_SSH_ENV": "FAR", "FAR": "carried" } }))?;
    let words = &podman.words;
    for (way, place) in [
        (format!("{words} exec -it box sh"), "box"),
        (format!("{words} exec -it box bash --norc"), "box"),
        (format!("{words} run --rm -it --name two {LIMITS} box:1 sh"), "two"),
    ] {
        let answer = client.run(&way)?;
        same!(answer.status(), "prompt", "{}", answer.text);
        holds!(news(&answer).len() == 1 && news(&answer)[0].contains(&format!("now in {place} on")), "{}", answer.text);
        let answer = client.run("id -u; echo $((6 * 7))")?;
        same!((answer.status(), answer.output()), ("prompt", "0\n42"), "{}", answer.text);
        same!(answer.meta["place"]["container"], place, "{}", answer.text);
        let answer = client.run("exit 3")?;
        holds!(answer.exit() == Some(3) && answer.words().contains("back on"), "{}", answer.text);
    }
    let answer = client.run(&format!("{words} exec box ls /no-such"))?;
    holds!(answer.exit() != Some(0) && news(&answer).is_empty(), "{}", answer.text);
    let answer = client.run(&format!("dtmcp into {words} exec -it box"))?;
    holds!(answer.status() == "prompt" && news(&answer).len() == 1, "{}", answer.text);
    let answer = client.run("echo $FAR; (exit 4)")?;
    same!((answer.output(), answer.exit()), ("carried", Some(4)), "{}", answer.text);
    let answer = client.run("false | true")?;
    same!(answer.meta["pipestatus"], json!([1, 0]), "{}", answer.text);
    client.run("cd /; ls -d /tmp/dtmcp* /dev/shm/dtmcp*; exit 5")?;
    same!(client.run("echo $?")?.output(), "5", "the status of the shell is podman's");
    let store: PathBuf = dir.path().join("store");
    holds!(store.is_dir(), "podman used its own directory");
    Ok(())
}
