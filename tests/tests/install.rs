//! `dtmcp install`: its script under every `sh` at hand and where something is missing, and the command over a real ssh.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use dtmcp::store::shell::{DIRECTORY, FILES, INTEGRATION_VERSION};
use dtmcp_core::remote::{Fate, Installed, install_script, remove_script};
use dtmcp_tests::client::World;
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use dtmcp_tests::{binary, needs};

type Tested = Result<(), String>;

/// A far side's `sh`: the name of the test, what it needs, the words that start it.
const SHELLS: &[(&str, &[&str], &str)] = &[
    ("dash", &["dash"], "dash"),
    ("bash_posix", &["bash"], "bash --posix"),
    ("busybox", &["busybox"], "busybox sh"),
    ("posh", &["posh"], "posh"),
    ("mksh", &["mksh"], "mksh"),
    ("zsh", &["zsh"], "zsh --emulate sh"),
    ("few_programs", &["dash"], "env PATH=few dash"),
    (
        "a_full_tmp",
        &["bash", "unshare", "mount", "root"],
        "unshare -m sh -c 'mount -t tmpfs -o size=8k full /tmp && dd if=/dev/zero of=/tmp/fill 2>/dev/null; exec bash'",
    ),
];

type Row = (&'static str, &'static [&'static str], fn() -> Tested);

const SSH: &[&str] = &["bash", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount"];

const ROWS: &[Row] = &[
    ("older_versions_go", &[], older_versions_go),
    ("a_script_cut_short_does_nothing", &[], cut_short),
    ("a_home_that_cannot_be_written", &[], unwritable),
    ("a_full_home_is_left_as_it_was", &["unshare", "mount", "root"], full_home),
    ("over_ssh", SSH, over_ssh),
    ("a_talkative_host", &["bash", "ssh", "sshd", "ssh-keygen", "root"], talkative),
    ("ssh_that_fails", &["ssh"], ssh_that_fails),
    ("print_runs_nothing", &["bash"], print_runs_nothing),
    ("what_is_no_host", &[], what_is_no_host),
];

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let shells = SHELLS.iter().map(|row| needs::test(row.0, row.1, || Ok(puts_and_takes(row.2)?)));
    let rows = ROWS.iter().map(|row| needs::test(row.0, row.1, || Ok(row.2()?)));
    libtest_mimic::run(&args, shells.chain(rows).collect()).exit_code()
}

/// A home on some far side, and a directory of few programs beside it.
struct Far {
    dir: tempfile::TempDir,
}

impl Far {
    fn new() -> Result<Self, String> {
        // Not in /tmp, which one of the rows fills.
        let dir = tempfile::Builder::new().prefix("dtmcp-install-").tempdir_in("/var/tmp").map_err(text)?;
        for name in ["home", "few"] {
            fs::create_dir(dir.path().join(name)).map_err(text)?;
        }
        for name in ["dash", "mkdir", "rm", "rmdir", "mv", "cat", "wc", "id", "uname"] {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.exists());
            if let Some(found) = found {
                std::os::unix::fs::symlink(found, dir.path().join("few").join(name)).map_err(text)?;
            }
        }
        Ok(Self { dir })
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn top(&self) -> PathBuf {
        self.home().join(DIRECTORY)
    }

    /// What stands under the directory for the files.
    fn holds(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.top()) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
        names.sort();
        names
    }

    /// Gives a script to a shell there.
    fn runs(&self, shell: &str, script: &str) -> Result<Output, String> {
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {shell}")])
            .current_dir(self.dir.path())
            .env("HOME", self.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(text)?;
        // A shell that ends early has its reason, which its answer tells.
        drop(child.stdin.take().map(|mut input| input.write_all(script.as_bytes())));
        child.wait_with_output().map_err(text)
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn script() -> String {
    install_script(INTEGRATION_VERSION, FILES)
}

fn answer(output: &Output) -> Result<Installed, String> {
    Installed::read(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| said(output))
}

fn said(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{:?}: {out:?} {err:?}", output.status.code())
}

fn version() -> String {
    format!("v{INTEGRATION_VERSION}")
}

/// Every file stands there as it is here, for nobody else.
fn complete(dir: &Path) -> Tested {
    for (name, text) in FILES {
        let path = dir.join(name);
        let there = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let mode = fs::metadata(&path).map_err(|error| error.to_string())?.permissions().mode() & 0o777;
        if there != *text || mode != 0o600 {
            return Err(format!("{name}: {} bytes of {}, mode {mode:o}", there.len(), text.len()));
        }
    }
    let mode = fs::metadata(dir).map_err(text)?.permissions().mode() & 0o777;
    if mode == 0o700 { Ok(()) } else { Err(format!("mode {mode:o}")) }
}

fn expect<T: PartialEq + std::fmt::Debug>(got: &T, want: &T, about: &str) -> Tested {
    if got == want { Ok(()) } else { Err(format!("got {got:?}, want {want:?}; {about}")) }
}

fn contains(output: &Output, parts: &[&str]) -> Tested {
    let said = said(output);
    match parts.iter().find(|part| !said.contains(**part)) {
        Some(missing) => Err(format!("{missing:?} is not in {said}")),
        None => Ok(()),
    }
}

/// Twice there, twice away.
fn puts_and_takes(shell: &str) -> Tested {
    let far = Far::new()?;
    for (script, fate, holds) in [
        (script(), Fate::Put, vec![version()]),
        (script(), Fate::Same, vec![version()]),
        (remove_script(), Fate::Removed, vec![]),
        (remove_script(), Fate::None, vec![]),
    ] {
        let output = far.runs(shell, &script)?;
        let installed = answer(&output)?;
        expect(&installed.fate, &fate, &said(&output))?;
        expect(&far.holds(), &holds, &said(&output))?;
        if !holds.is_empty() {
            complete(&far.top().join(version()))?;
            expect(&PathBuf::from(installed.directory), &far.top().join(version()), "where")?;
        }
    }
    Ok(())
}

fn older_versions_go() -> Tested {
    let far = Far::new()?;
    for name in ["v0", "v99", "vx", "other", ".new.999999999"] {
        fs::create_dir_all(far.top().join(name)).map_err(text)?;
    }
    // One that was changed is put right.
    fs::create_dir(far.top().join(version())).map_err(text)?;
    fs::write(far.top().join(version()).join("integration.bash"), "old").map_err(text)?;
    let output = far.runs("sh", &script())?;
    let installed = answer(&output)?;
    expect(&(installed.fate, installed.gone), &(Fate::Put, vec!["v0".to_owned()]), &said(&output))?;
    let kept = ["other", &version(), "v99", "vx"].map(str::to_owned).to_vec();
    expect(&far.holds(), &kept, "a newer version is another dtmcp's")?;
    complete(&far.top().join(version()))
}

/// A connection may break at any byte.
fn cut_short() -> Tested {
    let script = script();
    let steps = script.len() / 23;
    for end in (0..script.len() - 8).step_by(steps).chain(script.len() - 8..script.len() - 1) {
        let far = Far::new()?;
        let output = far.runs("sh", script.get(..end).unwrap_or_default())?;
        if far.home().join(".local").exists() {
            return Err(format!("cut at {end}: {}", said(&output)));
        }
    }
    Ok(())
}

fn unwritable() -> Tested {
    let far = Far::new()?;
    for home in ["/proc", "/no/such/home", ""] {
        let output = far.runs(&format!("env HOME={home} sh"), &script())?;
        expect(&answer(&output)?.fate, &Fate::Failed, home)?;
        contains(&output, &["nothing was changed"])?;
    }
    Ok(())
}

fn full_home() -> Tested {
    let far = Far::new()?;
    let full = "unshare -m sh -c 'mount -t tmpfs -o size=16k full home && sh; ls -RA home/.local/share >&2'";
    let output = far.runs(full, &script())?;
    expect(&answer(&output)?.fate, &Fate::Failed, &said(&output))?;
    contains(&output, &["is there room?", "nothing was changed"])?;
    if said(&output).contains("integration.bash") || said(&output).contains(".new") {
        return Err(format!("left behind: {}", said(&output)));
    }
    Ok(())
}

/// `dtmcp install` with these words, in a world of its own.
fn install(world: &World, words: &[&str]) -> Result<Output, String> {
    world.command(binary::dtmcp()?).arg("install").args(words).stdin(Stdio::null()).output().map_err(text)
}

fn over_ssh() -> Tested {
    let world = World::new()?;
    let users = Users::new(&[("ann", "bash")])?;
    let sshd = Sshd::start_with(Some(&users), "")?;
    let top = users.home("ann").join(DIRECTORY);
    let config = sshd.config.display().to_string();
    let words = ["-F", &config, "-vo", "LogLevel=ERROR", "ann@there"];
    let output = install(&world, &words)?;
    let place = top.join(version()).display().to_string();
    contains(&output, &["Some(0)", "installed: version", &place, "for ann@", "shell_integrate"])?;
    complete(&top.join(version()))?;
    contains(&install(&world, &words)?, &["Some(0)", "already there", &place])?;
    fs::create_dir(top.join("v0")).map_err(text)?;
    contains(&install(&world, &words)?, &["removed: v0, which was older"])?;
    let removing = ["--remove", "-F", &config, "ann@there"];
    contains(&install(&world, &removing)?, &["Some(0)", "removed: v"])?;
    contains(&install(&world, &removing)?, &["Some(0)", "nothing to remove"])?;
    expect(&top.exists(), &false, "nothing is left")
}

/// Startup files that print, and a banner before the login.
fn talkative() -> Tested {
    let world = World::new()?;
    let far = Far::new()?;
    fs::write(far.home().join(".bashrc"), "echo dtmcp-install: put somebody@else - /nowhere; seq 100000\n")
        .map_err(text)?;
    fs::write(far.dir.path().join("banner"), "Authorised use only\n").map_err(text)?;
    let (home, banner) = (far.home().display().to_string(), far.dir.path().join("banner").display().to_string());
    // As a login shell that reads the person's file does.
    let sshd = Sshd::start_with(
        None,
        &format!(
            "Banner {banner}\nForceCommand HOME={home} exec bash -c '. ~/.bashrc; eval \"$SSH_ORIGINAL_COMMAND\"'"
        ),
    )?;
    let config = sshd.config.display().to_string();
    let output = install(&world, &["-F", &config, "there"])?;
    contains(&output, &["Some(0)", "installed: version"])?;
    complete(&far.top().join(version()))
}

fn ssh_that_fails() -> Tested {
    let world = World::new()?;
    let output = install(&world, &["-F", "/dev/null", "-p", "1", "127.0.0.1"])?;
    contains(
        &output,
        &["Some(1)", "wrong option, no login, or a connection that was lost", "nothing is known to be installed"],
    )?;
    let mut command = world.command(binary::dtmcp()?);
    let output = command.args(["install", "there"]).env("PATH", "/no/such").output().map_err(text)?;
    contains(&output, &["Some(127)", "ssh cannot be run", "nothing was changed"])
}

/// What it prints is a command that a person can run, with the files in it.
fn print_runs_nothing() -> Tested {
    let world = World::new()?;
    let far = Far::new()?;
    let output = install(&world, &["--print", "-p", "2222", "-o", "User=me too", "box"])?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = printed.lines().next().unwrap_or_default().to_owned();
    expect(&first.as_str(), &"ssh -T -p 2222 -o 'User=me too' box 'exec sh' <<'END_OF_SCRIPT'", "the command")?;
    for (name, _) in FILES {
        if !printed.contains(name) {
            return Err(format!("{name} is not shown"));
        }
    }
    // In the place of ssh stands what ssh would start on the far side.
    let output = far.runs("bash", &format!("ssh() {{ eval \"${{@: -1}}\"; }}\n{printed}"))?;
    expect(&answer(&output)?.fate, &Fate::Put, &said(&output))?;
    complete(&far.top().join(version()))
}

fn what_is_no_host() -> Tested {
    let world = World::new()?;
    for words in [&[][..], &["-v"], &["there", "ls"], &["-N", "there"], &["-tt", "there"], &["-W", "a:1", "there"]] {
        let output = install(&world, words)?;
        contains(&output, &["Some(2)", "usage: dtmcp install"])?;
    }
    for (words, told) in [
        (&["--bogus", "there"][..], "--bogus is no option of dtmcp install"),
        (&["there", "--print"], "--print stands before all other arguments"),
        (&["-p", "22"], "there is no host"),
    ] {
        contains(&install(&world, words)?, &["Some(2)", told])?;
    }
    contains(&install(&world, &["--help"])?, &["Some(0)", "usage: dtmcp install"])
}
