//! A question to the shared server through its socket, and what a person is told where it is not answered.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use crate::http::socket;

/// How long the server may take to answer: longer than a tmux that has been stopped takes to be given up.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// How long an answer is waited for before the server is asked whether it lives at all.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// How long a server that lives may take to say so, which takes no tmux and a fraction of a millisecond.
const LIFE_MAX: Duration = Duration::from_secs(5);

/// How often a connection is tried where as many wait to be taken as the kernel lets wait.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// What answers `GET /health` while the server lives.
const LIVES: (&str, &str) = ("GET", "/health");

/// Asks the shared server; gives the status and the body of its answer.
///
/// # Errors
/// In words: nobody is there, it hangs, or what it answers cannot be read.
pub(super) fn ask(path: &Path, what: (&str, &str), body: Option<&Value>) -> Result<(u16, Value), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let (status, text) = runtime.block_on(async {
        tokio::select! {
            answer = exchange(path, what, body) => answer,
            () = no_sign_of_life(path) => Err(hangs(path)),
            () = sleep(ANSWER_MAX) => Err(format!(
                "the server at {} has not answered within {} s. It lives, and what was asked may still be done",
                path.display(),
                ANSWER_MAX.as_secs()
            )),
        }
    })?;
    serde_json::from_str(&text)
        .map(|value| (status, value))
        .map_err(|error| format!("what listens at {} answers what dtmcp does not ({status}, {error})", path.display()))
}

/// Ends when the server has not even said that it lives.
async fn no_sign_of_life(path: &Path) {
    loop {
        sleep(LOOK_EVERY).await;
        if timeout(LIFE_MAX, exchange(path, LIVES, None)).await.is_err() {
            return;
        }
    }
}

/// What to do about a server that is there and does nothing.
fn hangs(path: &Path) -> String {
    let socket = path.display();
    let said = format!("the server at {socket} takes connections and answers nothing");
    let Some(holder) = socket::holder(path) else {
        return format!(
            "{said}: it hangs, or has been stopped. `systemctl --user restart docent-terminal-mcp` starts it anew where \
             it is a service; sessions are not touched"
        );
    };
    let pid = holder.pid;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let stopped = status.lines().any(|line| line.starts_with("State:\tT"));
    if stopped {
        return format!("{said}: process {pid} has been stopped. `kill -CONT {pid}` lets it go on");
    }
    format!(
        "{said}: process {pid} on host {} hangs. `kill -KILL {pid}` ends it; sessions are not touched, and the next \
         `dtmcp serve` takes them over",
        holder.host
    )
}

async fn exchange(path: &Path, (method, what): (&str, &str), body: Option<&Value>) -> Result<(u16, String), String> {
    let mut stream = connect(path).await.map_err(|error| {
        format!("no server is to be reached at {} ({error}). `dtmcp serve` starts one", path.display())
    })?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    let head = format!("{method} {what} HTTP/1.1\r\nhost: dtmcp\r\nconnection: close\r\ncontent-length: {length}\r\n");
    let request = format!("{head}content-type: application/json\r\n\r\n{body}");
    let written = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    // What came before the connection broke off may be the reason for it.
    let read = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        let why = written.and(read.map(|_| ())).err().map_or_else(String::new, |error| format!(" ({error})"));
        return Err(format!(
            "the server at {} went away before it answered{why}. What was asked may have been done",
            path.display()
        ));
    };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Ok((status, body.to_owned()))
}

/// Connects, and waits where others wait already.
async fn connect(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(TRY_EVERY).await,
            done => return done,
        }
    }
}
