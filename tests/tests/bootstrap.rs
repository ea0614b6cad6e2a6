//! The script of `dtmcp ssh` and `dtmcp into`, under every `sh` and every login shell at hand, on bare terminals, and
//! where something is missing on the far side.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use dtmcp::store::shell::FILES;
use dtmcp_core::remote::{remote_command, script};
use dtmcp_core::vt::marker::Nonce;
use dtmcp_tests::needs;
use dtmcp_tests::person::wait_until;
use dtmcp_tests::pty::Pty;

/// What is carried and has to arrive as it is, whatever shells read it on the way.
const ODD: &str = "it's a; \\test! $HOME `x` \"y\"\n2";

/// Ends with 7 where it has.
const CHECK: &str = "[ \"$ODD\" = \"$TRUE\" ] && exit 7";

/// A far side: its name here, what it needs, and the line that brings the script there. `$S` is the script, `$R` the
/// command line that ssh would hand to a login shell.
type Row = (&'static str, &'static [&'static str], &'static str);

const INTEGRATED: &[Row] = &[
    ("login_bash", &["bash"], "bash -c \"$R\""),
    ("login_dash", &["bash", "dash"], "dash -c \"$R\""),
    ("login_zsh", &["bash", "zsh"], "zsh -c \"$R\""),
    ("login_fish", &["bash", "fish"], "fish -c \"$R\""),
    ("login_tcsh", &["bash", "tcsh"], "tcsh -c \"$R\""),
    ("sh_is_dash", &["bash", "dash"], "dash -c \"$S\""),
    ("sh_is_bash", &["bash"], "bash --posix -c \"$S\""),
    ("sh_is_zsh", &["bash", "zsh"], "zsh --emulate sh -c \"$S\""),
    ("sh_is_busybox", &["bash", "busybox"], "busybox sh -c \"$S\""),
    ("sh_is_posh", &["bash", "posh"], "posh -c \"$S\""),
    ("no_mktemp", &["bash", "dash"], "PATH=$PWD/few dash -c \"$S\""),
    ("no_shell_named", &["bash", "dash"], "env -u SHELL dash -c \"$S\""),
    ("a_shell_that_is_not_there", &["bash", "dash"], "SHELL=/no/such dash -c \"$S\""),
    ("a_read_only_home", &["bash", "dash"], "HOME=/proc dash -c \"$S\""),
    // The shell that the bootstrap asks for its version is no login, and bash reads .bashrc for whatever ssh runs.
    (
        "a_bashrc_that_counts",
        &["bash", "dash"],
        "CHECK='[ $(cat ~/count) = r ] && exit 7' SHLVL=0 SSH_CLIENT=x HOME=$PWD/counts dash -c \"$S\"",
    ),
    ("a_profile_without_a_path", &["bash", "dash"], "HOME=$PWD/no_path dash -c \"$S\""),
    (
        "a_full_disk_and_another",
        &["bash", "dash", "unshare", "mount", "root"],
        "unshare -m sh -c 'mount -t tmpfs -o size=8k full full && TMPDIR=$PWD/full exec dash -c \"$S\"'",
    ),
];

/// The same where the login shell is zsh or fish, with that shell.
const OTHERS: &[(Row, &str)] = &[
    (("zsh", &["bash", "dash", "zsh"], "SHELL=$(command -v zsh) dash -c \"$S\""), "zsh"),
    (("zsh_by_busybox", &["bash", "busybox", "zsh"], "SHELL=zsh busybox sh -c \"$S\""), "zsh"),
    (("zsh_by_posh", &["bash", "posh", "zsh"], "SHELL=zsh posh -c \"$S\""), "zsh"),
    (("zsh_by_zsh", &["bash", "zsh"], "SHELL=zsh zsh -c \"$R\""), "zsh"),
    (
        ("zsh_on_a_terminal_of_another_name", &["bash", "dash", "zsh"], "__DTMCP_TTY=/dev/x SHELL=zsh dash -c \"$S\""),
        "zsh",
    ),
    (
        (
            "fish_on_a_terminal_of_another_name",
            &["bash", "dash", "fish"],
            "__DTMCP_TTY=/dev/x SHELL=fish dash -c \"$S\"",
        ),
        "fish",
    ),
    (("exec_zsh_on_one", &["bash", "dash", "zsh"], "__DTMCP_TTY=/dev/x HOME=$PWD/goes_on dash -c \"$S\""), "zsh"),
    (("fish", &["bash", "dash", "fish"], "SHELL=$(command -v fish) dash -c \"$S\""), "fish"),
    (("fish_by_busybox", &["bash", "busybox", "fish"], "SHELL=fish busybox sh -c \"$S\""), "fish"),
    (("fish_by_posh", &["bash", "posh", "fish"], "SHELL=fish posh -c \"$S\""), "fish"),
    (("fish_by_fish", &["bash", "fish"], "SHELL=fish fish -c \"$R\""), "fish"),
    (("a_profile_that_goes_on_as_zsh", &["bash", "dash", "zsh"], "HOME=$PWD/goes_on dash -c \"$S\""), "zsh"),
    (("a_profile_that_goes_on_as_fish", &["bash", "dash", "fish"], "G=fish HOME=$PWD/goes_on dash -c \"$S\""), "fish"),
];

const PLAIN: &[Row] = &[
    ("an_old_bash", &["bash", "dash"], "SHELL=$PWD/old/bash dash -c \"$S\""),
    (
        "no_place_for_files",
        &["bash", "dash", "unshare", "mount", "root"],
        "unshare -m sh -c 'for t in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o size=8k full $t; done; \
         cd /; unset XDG_RUNTIME_DIR; HOME=/proc TMPDIR=/tmp exec dash -c \"$S\"'",
    ),
];

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let integrated = INTEGRATED.iter().map(|row| needs::test(row.0, row.1, || Ok(marks(row.2, "bash")?)));
    let others = OTHERS.iter().map(|(row, shell)| needs::test(row.0, row.1, || Ok(marks(row.2, shell)?)));
    let cut = OTHERS.iter().filter(|(row, shell)| row.0 == *shell).map(|(row, shell)| {
        let name: &'static str = Box::leak(format!("{shell}_hung_up").into_boxed_str());
        needs::test(name, row.1, || Ok(goes_when_hung_up(row.2)?))
    });
    let plain = PLAIN.iter().map(|row| needs::test(row.0, row.1, || Ok(says_why(row.2)?)));
    libtest_mimic::run(&args, integrated.chain(others).chain(cut).chain(plain).collect()).exit_code()
}

/// A terminal with the script in its environment, and a directory for temporary files that nothing may stay in.
fn begin() -> Result<(Pty, tempfile::TempDir), String> {
    let dir = tempfile::Builder::new().prefix("dtmcp-").tempdir().map_err(|error| error.to_string())?;
    for name in ["few", "old", "tmp", "full", "goes_on", "counts", "no_path"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    for name in ["sh", "dash", "bash", "mkdir", "rm", "id", "cat", "wc", "tty"] {
        let path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|dir| dir.join(name))
            .find(|path| path.exists())
            .ok_or(name)?;
        std::os::unix::fs::symlink(path, dir.path().join("few").join(name)).unwrap();
    }
    fs::write(dir.path().join("goes_on/.profile"), "exec ${G-zsh}\n").unwrap();
    fs::write(dir.path().join("counts/.bashrc"), "printf r >>~/count\n").unwrap();
    fs::write(dir.path().join("counts/.bash_profile"), ". ~/.bashrc\n").unwrap();
    fs::write(dir.path().join("no_path/.profile"), "PATH=/no/such\nsh() { /bin/sh \"$@\"; }\n").unwrap();
    old_bash(&dir.path().join("old/bash"));
    let nonce = Nonce::new("0123456789abcdef").unwrap();
    let script = script(&nonce, FILES, &[("ODD".to_owned(), ODD.to_owned())]);
    let remote = remote_command(&script);
    let tmp = dir.path().join("tmp").display().to_string();
    // A fish that finds no completions made from manuals makes them, for minutes.
    let data = dir.path().join("data");
    fs::create_dir_all(data.join("fish/generated_completions")).unwrap();
    let variables = [
        ("S", script.as_str()),
        ("R", &remote),
        ("TMPDIR", &tmp),
        ("SHELL", "bash"),
        ("ODD", ""),
        ("TRUE", ODD),
        ("CHECK", CHECK),
        ("XDG_DATA_HOME", &data.display().to_string()),
    ];
    let pty = Pty::bash(dir.path(), &variables)?;
    until(&pty, "a prompt", || pty.shown("$ ") > 0)?;
    Ok((pty, dir))
}

/// A bash of 4.3, as far as it says: the number that is asked for is another variable's.
fn old_bash(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let text = "#!/bin/sh\n[ \"$2\" != -c ] || exec bash -c \"V=(4 3); $(printf %s \"$3\" | sed s/BASH_VERSINFO/V/g)\"\n\
                exec bash --norc --noprofile -i\n";
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn until(pty: &Pty, what: &str, holds: impl FnMut() -> bool) -> Result<(), String> {
    wait_until(what, holds).map_err(|error| format!("{error}; shown: {}", pty.screen()))
}

/// The far shell marks its commands, has what was carried, and leaves nothing on the disk.
fn marks(line: &str, shell: &str) -> Result<(), String> {
    let (mut pty, dir) = begin()?;
    pty.types(&format!("{line}\r"))?;
    until(&pty, "the first prompt", || pty.shown("]133;B;") > 0)?;
    if pty.shown(&format!(";new={shell}-")) != 1 {
        return Err(format!("no {shell} has begun: {}", pty.screen()));
    }
    pty.types("sh -c \"$CHECK\"\r")?;
    until(&pty, "the end of a command", || pty.shown("]133;D;7;") > 0)?;
    if shell == "bash" {
        let left = left_in(dir.path());
        return if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) };
    }
    pty.types("exit\r")?;
    until(&pty, "nothing left behind", || left_in(dir.path()).is_empty())
}

/// What is ours; fish makes a directory of its own.
fn left_in(dir: &Path) -> Vec<std::ffi::OsString> {
    let names = fs::read_dir(dir.join("tmp")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| !name.to_string_lossy().starts_with("fish.")).collect()
}

/// A shell whose terminal goes away leaves nothing behind either.
fn goes_when_hung_up(line: &str) -> Result<(), String> {
    let (mut pty, dir) = begin()?;
    pty.types(&format!("exec env {line}\r"))?;
    until(&pty, "the first prompt", || pty.shown("]133;B;") > 0)?;
    if left_in(dir.path()).is_empty() {
        return Err("there is no directory".to_owned());
    }
    pty.hangs_up()?;
    wait_until("nothing left behind", || left_in(dir.path()).is_empty())
}

/// Where it cannot be, a line says why, and the shell is a plain one with what was carried.
fn says_why(line: &str) -> Result<(), String> {
    let (mut pty, _dir) = begin()?;
    pty.types(&format!("{line}\r"))?;
    until(&pty, "the reason", || pty.shown("; this is a plain shell") == 1)?;
    pty.types("echo \"<${#ODD}>\"\r")?;
    let length = format!("<{}>", ODD.len());
    until(&pty, "its answer", || pty.shown(&length) == 1)?;
    if pty.shown("]133;") > 0 {
        return Err(format!("marks of a plain shell: {}", pty.screen()));
    }
    Ok(())
}
