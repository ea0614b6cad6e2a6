//! An ssh server of a test's own, on a port of 127.0.0.1, with keys made for the test; it ends with the value.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::person::wait_until;

/// Debian keeps the server out of the PATH of people who are not root.
const SERVERS: &[&str] = &["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"];

/// A server that runs.
#[derive(Debug)]
pub struct Sshd {
    server: Child,
    /// The client's configuration: `ssh -F CONFIG there` logs in without a question, as whoever runs the test.
    pub config: PathBuf,
    dir: tempfile::TempDir,
}

impl Sshd {
    /// Starts one.
    ///
    /// # Errors
    /// Where it does not come up; with what it said.
    pub fn start() -> Result<Self, String> {
        Self::start_with("")
    }

    /// Starts one with further lines of configuration.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(more: &str) -> Result<Self, String> {
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
        if nix::unistd::geteuid().is_root() && !Path::new("/run/sshd").is_dir() {
            // The service's unit makes it, and no service runs in a container.
            fs::DirBuilder::new().mode(0o755).create("/run/sshd").map_err(text)?;
        }
        let binary = SERVERS.iter().find(|path| Path::new(path).exists()).ok_or("there is no sshd")?;
        // Somebody else may take the port between this and the server's start: then it says so and another is tried.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).map_err(text)?.port();
            fs::write(at("sshd_config"), format!("{}{more}\n", server_config(dir.path(), port))).map_err(text)?;
            fs::write(at("ssh_config"), client_config(dir.path(), port)).map_err(text)?;
            let log = fs::File::create(at("log")).map_err(text)?;
            let mut server = Command::new(binary)
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
                return Ok(Self { server, config: at("ssh_config"), dir });
            }
        }
        Err(fs::read_to_string(at("log")).unwrap_or_default())
    }

    /// The words that log in: `ssh -F CONFIG`, without the destination `there`.
    #[must_use]
    pub fn options(&self) -> String {
        format!("-F {}", self.config.display())
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
         PrintMotd no\nMaxStartups 100\n"
    )
}

fn client_config(dir: &Path, port: u16) -> String {
    let dir = dir.display();
    format!(
        "Host there\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {dir}/user\n  IdentitiesOnly yes\n  \
         StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
    )
}
