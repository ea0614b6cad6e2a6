//! Carriers that cannot be had for a test, by stand-ins of their names. Each does what there is to see of one from here: it
//! takes the terminal raw and passes it on to a shell on a terminal of its own.

use std::process::Command;

use dtmcp_tests::client::World;
use serde_json::json;

use super::places::news;
use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[("stand_ins", &["tmux", "bash", "cc"], stand_ins)];

const STAND_IN: &str = r#"
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
int main(void) {
    struct termios was, raw;
    char text[4096];
    int master, status = 0;
    tcgetattr(0, &was);
    pid_t shell = forkpty(&master, NULL, NULL, NULL);
    if (shell == 0) {
        setenv("PS1", "far 7 $ ", 1);
        execlp("env", "env", "-u", "PROMPT_COMMAND", "-u", "__DTMCP_NONCE", "bash", "--norc", "--noprofile", (char *)NULL);
        _exit(127);
    }
    raw = was;
    cfmakeraw(&raw);
    tcsetattr(0, TCSANOW, &raw);
    for (;;) {
        struct pollfd fds[] = {{0, POLLIN, 0}, {master, POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[1].revents) {
            ssize_t length = read(master, text, sizeof text);
            if (length <= 0 || write(1, text, length) < 0) break;
        } else if (fds[0].revents) {
            ssize_t length = read(0, text, sizeof text);
            if (length <= 0 || write(master, text, length) < 0) break;
        }
    }
    waitpid(shell, &status, 0);
    tcsetattr(0, TCSANOW, &was);
    return WEXITSTATUS(status);
}
"#;

/// Command lines, and what is said of where they lead.
const LINES: &[(&str, &str)] = &[
    ("docker exec -it web bash", "now in web on "),
    ("docker --context far run --rm -it --name box debian bash", "now in box on "),
    ("nerdctl -n k8s.io exec -it web sh", "now in web on "),
    ("kubectl -n shop exec -it pod-1 -- bash", "now in pod-1 on "),
    ("machinectl shell root@c1 /bin/sh", "now in c1 on "),
    ("openshell sandbox connect box", "now in box on "),
    ("lxc exec c2 -- bash", "now in c2 on "),
    ("telnet build7 2323", "now on build7"),
    ("et me@build7", "now on build7 as me"),
    ("mosh-client '-# me@build7 | 10.0.0.7 60001'", "now on build7 as me"),
];

fn stand_ins() -> Tested {
    let world = World::new()?;
    let text = |error: std::io::Error| error.to_string();
    let bin = world.root().join("bin");
    std::fs::create_dir(&bin).map_err(text)?;
    std::fs::write(bin.join("stand-in.c"), STAND_IN).map_err(text)?;
    let built =
        Command::new("cc").current_dir(&bin).args(["-o", "stand-in", "stand-in.c", "-lutil"]).output().map_err(text)?;
    holds!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for (line, _) in LINES {
        let name = bin.join(line.split(' ').next().unwrap_or_default());
        if !name.exists() {
            std::fs::hard_link(bin.join("stand-in"), name).map_err(text)?;
        }
    }
    world.dot_file(".bash_profile", &format!("PATH={}:$PATH\n", bin.display()))?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (line, told) in LINES {
        let answer = client.run(line)?;
        same!((answer.status(), news(&answer).len()), ("prompt", 1), "{line}: {}", answer.text);
        holds!(news(&answer)[0].contains(told), "{line}: {}", answer.text);
        let answer = client.run("echo hi")?;
        same!((answer.status(), answer.output()), ("prompt", "hi"), "{line}: {}", answer.text);
        holds!(answer.meta.get("place").is_some(), "{line}: {}", answer.text);
        let answer = client.run("exit 3")?;
        same!(answer.exit(), Some(3), "{line}: {}", answer.text);
        holds!(answer.words().contains("the session is back on"), "{line}: {}", answer.text);
    }
    Ok(())
}
