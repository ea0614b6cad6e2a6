//! An ssh server of a test's own, on a port of 127.0.0.1, with keys made for the test; it ends with the value.

use std::fs::{self, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::person::wait_until;
use crate::users::Users;

/// Debian keeps the server out of the PATH of people who are not root.
const SERVERS: &[&str] = &["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"];

/// A server that runs.
#[derive(Debug)]
pub struct Sshd {
    server: Child,
    /// The client's configuration: `ssh -F CONFIG there` logs in without a question, as whoever runs the test.
    pub config: PathBuf,
    /// The port of 127.0.0.1 that it listens on.
    pub port: u16,
    dir: tempfile::TempDir,
}

impl Sshd {
    /// Starts one.
    ///
    /// # Errors
    /// Where it does not come up; with what it said.
    pub fn start() -> Result<Self, String> {
        Self::start_with(None, "")
    }

    /// Starts one that knows these users, with further lines of configuration. Far shells have a `TMPDIR` of the
    /// server's own, [`Self::tmp`].
    ///
    /// # Errors
    /// Where it does not come up; with what it said.
    pub fn start_with(users: Option<&Users>, lines: &str) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let dir = tempfile::Builder::new().prefix("dtmcp-sshd-").tempdir().map_err(text)?;
        let at = |name: &str| dir.path().join(name);
        for name in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(at(name))
                .stdin(Stdio::null())
                .output()
                .map_err(text)?;
            if !made.status.success() {
                return Err(String::from_utf8_lossy(&made.stderr).into_owned());
            }
        }
        fs::create_dir(at("tmp")).map_err(text)?;
        // ssh takes no key of its user's that others may read. For everybody else there is one that they may.
        fs::copy(at("user"), at("shared")).map_err(text)?;
        for (path, mode) in
            [(dir.path(), 0o711), (&at("tmp"), 0o1777), (&at("user.pub"), 0o644), (&at("shared"), 0o644)]
        {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(text)?;
        }
        if nix::unistd::geteuid().is_root() && !Path::new("/run/sshd").is_dir() {
            // The service's unit makes it, and no service runs in a container.
            fs::DirBuilder::new().mode(0o755).create("/run/sshd").map_err(text)?;
        }
        let binary = SERVERS.iter().find(|path| Path::new(path).exists()).ok_or("there is no sshd")?;
        // Somebody else may take the port between this and the server's start: then it says so and another is tried.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).map_err(text)?.port();
            let config = server_config(dir.path(), port) + lines;
            fs::write(at("sshd_config"), config).map_err(text)?;
            fs::write(at("ssh_config"), client_config(dir.path(), port)).map_err(text)?;
            let log = fs::File::create(at("log")).map_err(text)?;
            let mut words = users.map(Users::among).unwrap_or_default();
            words.push((*binary).into());
            let (program, rest) = words.split_first().ok_or("no words")?;
            let mut server = Command::new(program)
                .args(rest)
                .args(["-D", "-e", "-f"])
                .arg(at("sshd_config"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .map_err(text)?;
            let mut ended = false;
            wait_until("the ssh server", || {
                ended = matches!(server.try_wait(), Ok(Some(_)) | Err(_));
                ended || TcpStream::connect(("127.0.0.1", port)).is_ok()
            })?;
            if !ended {
                return Ok(Self { server, config: at("ssh_config"), port, dir });
            }
        }
        Err(fs::read_to_string(at("log")).unwrap_or_default())
    }

    /// The words that log in: `ssh -F CONFIG`, without the destination `there`.
    #[must_use]
    pub fn options(&self) -> String {
        format!("-F {}", self.config.display())
    }

    /// The directory for temporary files that far shells have.
    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// Breaks every connection: the clients die without a word.
    ///
    /// # Errors
    /// Where there is none.
    pub fn cut(&self) -> Result<(), String> {
        let config = self.config.display().to_string();
        let entries = fs::read_dir("/proc").map_err(|error| error.to_string())?;
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let is_client = |pid: &i32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.starts_with(b"ssh\0") && memchr::memmem::find(&words, config.as_bytes()).is_some()
        };
        let kill = |pid| nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        let killed = pids.filter(is_client).filter(|pid| kill(*pid).is_ok()).count();
        if killed > 0 { Ok(()) } else { Err("there is no connection".to_owned()) }
    }

    /// What the server said.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn server_config(dir: &Path, port: u16) -> String {
    let dir = dir.display();
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {dir}/host\nAuthorizedKeysFile {dir}/user.pub\nPidFile none\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
         PrintMotd no\nMaxStartups 100\nSetEnv TMPDIR={dir}/tmp\n"
    )
}

fn client_config(dir: &Path, port: u16) -> String {
    let dir = dir.display();
    format!(
        "Host there\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {dir}/user\n  IdentityFile {dir}/shared\n  IdentitiesOnly yes\n  \
         StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
    )
}
