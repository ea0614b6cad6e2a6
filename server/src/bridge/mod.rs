//! Joins a client that starts its servers as commands to the shared server, and outlives that server.
//!
//! Lines pass through untouched, over one upgraded connection. When the server goes away, what waited is answered, never
//! asked again; the next server is told how the client introduced itself, and the client notices nothing.

mod link;
mod traffic;

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use link::{Link, LinkError, Torn};
use traffic::Traffic;

/// How long a server may stay away before the bridge gives up: long enough for a restart on a busy machine.
const AWAY_MAX: Duration = Duration::from_secs(30);

/// How long a server may take to be there at first. Clients give their servers 10 s at least to answer, and are to read
/// why this one cannot.
const FIRST_MAX: Duration = Duration::from_secs(5);

/// How often the socket is tried meanwhile.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// How long the new server may take to answer the client's introduction: it takes over the sessions first.
const HELLO_MAX: Duration = Duration::from_secs(30);

/// How long a client that has asked nothing yet is waited for where there is no server, so that it reads why.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// How long the last answers may take once the client has closed its end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The longest piece of a line that is passed on at once: what the server takes as a whole line, and a byte, so that it
/// sees that one is longer.
const CLIENT_LINE: u64 = 16 * 1024 * 1024 + 1;

/// Lines that are read ahead, each way. Whoever writes faster than the other end reads is made to wait.
const AHEAD: usize = 16;

struct Bridge<W> {
    socket: PathBuf,
    actor: Option<String>,
    /// The number of this connection among all, once a server has given one.
    number: Option<u64>,
    /// Which tools the server before had.
    tools: Option<String>,
    traffic: Traffic,
    client: W,
    lines: mpsc::Receiver<Vec<u8>>,
}

/// How the time with one server ended.
enum Ended {
    ClientLeft,
    ServerWentAway,
}

/// Serves a client until it leaves.
///
/// # Errors
/// In words, where no server came within the time; what the client waited for has been answered.
pub async fn run<R, W>(read: R, write: W, socket: PathBuf, actor: Option<String>) -> Result<(), String>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin,
{
    let (sender, lines) = mpsc::channel(AHEAD);
    tokio::spawn(link::read_lines(BufReader::new(read), sender, CLIENT_LINE, Torn::Kept));
    let traffic = Traffic::default();
    let mut bridge = Bridge { socket, actor, number: None, tools: None, traffic, client: write, lines };
    let mut patience = FIRST_MAX;
    loop {
        let link = match bridge.reach(patience).await {
            Ok(link) => link,
            Err(why) => return bridge.give_up(why).await,
        };
        patience = AWAY_MAX;
        match bridge.join(link).await {
            Ended::ClientLeft => return Ok(()),
            Ended::ServerWentAway => {
                let answers = bridge.traffic.lost();
                if bridge.client.write_all(&answers).await.is_err() || bridge.client.flush().await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> Bridge<W> {
    /// Connects, and introduces the client as it introduced itself before.
    async fn reach(&mut self, patience: Duration) -> Result<Link, String> {
        let until = Instant::now() + patience;
        loop {
            let error = match Link::open(&self.socket, self.actor.as_deref(), self.number).await {
                Ok(mut link) => match timeout(HELLO_MAX, self.introduce(&mut link)).await {
                    Ok(Ok(())) => return Ok(link),
                    Ok(Err(why)) => LinkError::Away(why),
                    Err(_) => LinkError::Busy("it does not answer".to_owned()),
                },
                Err(error) => error,
            };
            let socket = self.socket.display();
            let why = match error {
                LinkError::Refused(why) => return Err(why),
                LinkError::Away(why) => format!(
                    "no dtmcp server is to be reached at {socket} ({why}). Start one: `dtmcp serve`, or \
                     `systemctl --user start docent-terminal-mcp`"
                ),
                LinkError::Busy(why) => format!(
                    "the dtmcp server at {socket} does not take this client now: {why}. Its sessions are as they were. \
                     `dtmcp status` tells how it is; start this client again once it answers"
                ),
            };
            if Instant::now() >= until {
                return Err(why);
            }
            if self.lines.is_closed() && self.lines.is_empty() {
                // The client has left meanwhile; the caller sees that on its next line.
                return Err("the client left".to_owned());
            }
            sleep(TRY_EVERY).await;
        }
    }

    async fn introduce(&mut self, link: &mut Link) -> Result<(), String> {
        if let Some((id, line, answered)) =
            self.traffic.hello().map(|(id, line, had)| (id.to_owned(), line.to_vec(), had))
        {
            link.write(&line).await?;
            loop {
                let line = link.lines.recv().await.ok_or("it closed the connection")?;
                let is_answer = traffic::answers(&line, &id);
                if !is_answer || !answered {
                    let line = self.traffic.answered(line);
                    self.client.write_all(&line).await.map_err(|error| error.to_string())?;
                    self.client.flush().await.map_err(|error| error.to_string())?;
                }
                if is_answer {
                    break;
                }
            }
        }
        link.write(&self.traffic.again()).await?;
        let before = std::mem::replace(&mut self.tools, link.tools.clone());
        self.number = link.number.or(self.number);
        if before.is_some() && before != self.tools {
            let told = self.traffic.tools_changed();
            self.client.write_all(&told).await.map_err(|error| error.to_string())?;
            self.client.flush().await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Passes lines both ways until one end is gone.
    async fn join(&mut self, mut link: Link) -> Ended {
        loop {
            tokio::select! {
                line = self.lines.recv() => {
                    let Some(line) = line else {
                        link.finish().await;
                        drop(timeout(LAST_ANSWERS, self.rest(&mut link)).await);
                        return Ended::ClientLeft;
                    };
                    self.traffic.asked(&line);
                    if link.write(&line).await.is_err() {
                        return Ended::ServerWentAway;
                    }
                }
                line = link.lines.recv() => {
                    let Some(line) = line else { return Ended::ServerWentAway };
                    let line = self.traffic.answered(line);
                    let written = async {
                        self.client.write_all(&line).await?;
                        self.client.flush().await
                    };
                    if written.await.is_err() {
                        return Ended::ClientLeft;
                    }
                }
            }
        }
    }

    async fn rest(&mut self, link: &mut Link) {
        while let Some(line) = link.lines.recv().await {
            let line = self.traffic.answered(line);
            if self.client.write_all(&line).await.is_err() || self.client.flush().await.is_err() {
                return;
            }
        }
    }

    /// Answers what the client has asked and asks within a moment, so that its person reads why.
    async fn give_up(&mut self, why: String) -> Result<(), String> {
        let mut asked = Vec::new();
        if let Some((_, line, false)) = self.traffic.hello() {
            asked.push(line.to_vec());
        }
        while let Ok(line) = self.lines.try_recv() {
            asked.push(line);
        }
        if asked.is_empty() {
            // It has only just started us.
            match timeout(FIRST_WORD, self.lines.recv()).await {
                Ok(Some(line)) => asked.push(line),
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
        }
        for line in asked {
            let answer = link::refusal(&line, &why);
            drop(self.client.write_all(&answer).await);
        }
        drop(self.client.flush().await);
        Err(why)
    }
}
