//! Database servers of a test's own, each on a socket in a directory that is made for it; they end with the value.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use crate::needs::found;
use crate::person::wait_until;

/// PostgreSQL's server will not run as root. `nobody` is this everywhere.
const NOBODY: u32 = 65_534;

/// A server that runs.
#[derive(Debug)]
pub struct Database {
    server: Child,
    /// What makes it end at once, and in order: it may have processes of its own.
    end: Signal,
    dir: tempfile::TempDir,
}

impl Database {
    /// PostgreSQL: `psql -h DIR -U postgres` connects without a question.
    ///
    /// # Errors
    /// Where it does not come up; with what it said.
    pub fn postgres() -> Result<Self, String> {
        let dir = directory()?;
        let data = dir.path().join("data");
        let own = |program: &str| {
            let mut command = Command::new(found(program).unwrap_or_default());
            command.arg("-D").arg(&data).current_dir(dir.path());
            if nix::unistd::geteuid().is_root() {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        if nix::unistd::geteuid().is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).map_err(|error| text(&error))?;
        }
        finish(own("initdb").args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]))?;
        let mut server = own("postgres");
        server.args(["-F", "-h", "", "-k"]).arg(dir.path());
        let asks = ["psql", "-h", &path(&dir), "-U", "postgres", "-c", "select 1"].map(str::to_owned);
        Self::start(dir, &mut server, Signal::SIGINT, &asks)
    }

    /// Redis: `redis-cli -s SOCKET`.
    ///
    /// # Errors
    /// Where it does not come up; with what it said.
    pub fn redis() -> Result<Self, String> {
        let dir = directory()?;
        let mut server = Command::new("redis-server");
        server.args(["--port", "0", "--save", "", "--dir"]).arg(dir.path());
        server.arg("--unixsocket").arg(dir.path().join("socket"));
        let asks = ["redis-cli", "-s", &(path(&dir) + "/socket"), "ping"].map(str::to_owned);
        Self::start(dir, &mut server, Signal::SIGTERM, &asks)
    }

    /// MariaDB: `mariadb --no-defaults -u root -S SOCKET`.
    ///
    /// # Errors
    /// Where it does not come up; with what it said.
    pub fn mariadb() -> Result<Self, String> {
        let dir = directory()?;
        let (data, socket) = (path(&dir) + "/data", path(&dir) + "/socket");
        let root = nix::unistd::geteuid().is_root().then_some("--user=root");
        let mut install = Command::new("mariadb-install-db");
        install.args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"]);
        finish(install.args(root).arg(format!("--datadir={data}")))?;
        let mut server = Command::new(found("mariadbd").unwrap_or_default());
        server.args(["--no-defaults", "--skip-networking"]).args(root);
        server.args([format!("--datadir={data}"), format!("--socket={socket}"), format!("--tmpdir={}", path(&dir))]);
        let asks = ["mariadb", "--no-defaults", "-u", "root", "-S", &socket, "-e", "select 1"].map(str::to_owned);
        Self::start(dir, &mut server, Signal::SIGTERM, &asks)
    }

    /// Starts a server, and asks it until it answers.
    fn start(dir: tempfile::TempDir, server: &mut Command, end: Signal, asks: &[String]) -> Result<Self, String> {
        let log = fs::File::create(dir.path().join("log")).map_err(|error| text(&error))?;
        let errors = log.try_clone().map_err(|error| text(&error))?;
        let server = server.stdin(Stdio::null()).stdout(log).stderr(errors).spawn().map_err(|error| text(&error))?;
        let mut database = Self { server, end, dir };
        let (program, rest) = asks.split_first().ok_or("no words")?;
        let mut ended = false;
        let answers = || {
            ended = matches!(database.server.try_wait(), Ok(Some(_)) | Err(_));
            let mut asks = Command::new(program);
            asks.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            ended || asks.status().is_ok_and(|status| status.success())
        };
        let came = wait_until(program, answers);
        let said = || fs::read_to_string(database.dir.path().join("log")).unwrap_or_default();
        came.map_err(|error| format!("{error}; {}", said()))?;
        if ended { Err(said()) } else { Ok(database) }
    }

    /// The directory with the socket in it.
    #[must_use]
    pub fn dir(&self) -> String {
        path(&self.dir)
    }

    /// The socket, where it has no name of the server's own choice.
    #[must_use]
    pub fn socket(&self) -> String {
        self.dir() + "/socket"
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let server = nix::unistd::Pid::from_raw(i32::try_from(self.server.id()).unwrap_or(i32::MAX));
        let told = nix::sys::signal::kill(server, self.end).is_ok();
        let ended = told && wait_until("its end", || !matches!(self.server.try_wait(), Ok(None))).is_ok();
        if !ended {
            drop(self.server.kill());
            drop(self.server.wait());
        }
    }
}

fn directory() -> Result<tempfile::TempDir, String> {
    let dir = tempfile::Builder::new().prefix("dtmcp-db-").tempdir().map_err(|error| text(&error))?;
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).map_err(|error| text(&error))?;
    Ok(dir)
}

fn path(dir: &tempfile::TempDir) -> String {
    dir.path().display().to_string()
}

fn text(error: &std::io::Error) -> String {
    error.to_string()
}

/// Runs a command to its end.
fn finish(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{}: {error}", shown(&name)))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{}: {}", shown(&name), String::from_utf8_lossy(&output.stderr)))
    }
}

fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
