//! One connection to a tmux server: a control-mode client that lives as long as we do.
//!
//! A command over it costs some 0.05 ms, where a process for each costs several. It is attached to a session of its
//! own and has asked for no output, so that nothing it does or fails to do can hold up a pane.
//!
//! tmux answers each command with a block between `%begin` and `%end`. Blocks that somebody else caused carry the
//! flag 0. How many blocks one line makes is not always known, so each request is followed by a command that prints
//! a word nobody else can know, and everything up to that belongs to the request. What a pane shows may look like
//! the end of a block: such an answer is read by its number of lines, which stands in the block before it.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::TerminalError;

/// As much as is kept of what a client that fails has to say.
const COMPLAINT_BYTES: u64 = 4096;

/// The lines of one answered command.
pub(super) type Block = Vec<Vec<u8>>;

type Answer = Result<Vec<Block>, TerminalError>;

/// How an answer is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing in it is made by a program in a pane.
    Plain,
    /// The second block is a screen; the first begins with its number of lines.
    Screen,
}

#[derive(Debug)]
struct Request {
    line: Vec<u8>,
    shape: Shape,
    answer: oneshot::Sender<Answer>,
}

/// A request that has been sent.
#[derive(Debug)]
struct Pending {
    mark: Vec<u8>,
    shape: Shape,
    blocks: Vec<Block>,
    error: Option<String>,
    answer: oneshot::Sender<Answer>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Told once the client's session is there, or why it is not.
    attached: Mutex<Option<oneshot::Sender<Result<(), TerminalError>>>>,
    pending: Mutex<VecDeque<Pending>>,
    closed: AtomicBool,
}

impl Shared {
    fn pending(&self) -> std::sync::MutexGuard<'_, VecDeque<Pending>> {
        // Nothing is done under the lock that could leave the queue half changed.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_attached(&self, attached: Result<(), TerminalError>) {
        let waiting = self.attached.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waiting) = waiting {
            // Whoever waited may have given up.
            drop(waiting.send(attached));
        }
    }
}

/// The connection. Dropping it ends the client, and with it its session.
#[derive(Debug)]
pub(super) struct Control {
    pid: u32,
    requests: mpsc::UnboundedSender<Request>,
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

impl Drop for Control {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Control {
    /// Starts the client that `command` is and waits until its session is there: what is sent before is carried out
    /// before, and may find no session at all.
    pub(super) async fn start(mut command: Command, token: &str) -> Result<Self, TerminalError> {
        let (output, written) = lasting_pipe()?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(written)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .process_group(0)
            .spawn()?;
        // It holds an end of that pipe, which we would never see closed.
        drop(command);
        let Some(input) = child.stdin.take() else {
            return Err(TerminalError::Io("no pipe to tmux".to_owned()));
        };
        let pid = child.id().unwrap_or_default();
        let (attached, is_attached) = oneshot::channel();
        let shared = Arc::new(Shared { attached: Mutex::new(Some(attached)), ..Shared::default() });
        let (requests, queue) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write(queue, input, Arc::clone(&shared), token.to_owned()));
        let reader = tokio::spawn(read(child, output, Arc::clone(&shared)));
        let control = Self { pid, requests, shared, tasks: [writer, reader] };
        is_attached.await.unwrap_or(Err(TerminalError::Died))?;
        Ok(control)
    }

    /// The client's process.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// False once the client or its server has ended.
    pub(super) fn is_open(&self) -> bool {
        !self.shared.closed.load(Ordering::Acquire)
    }

    /// Sends one line of commands and waits for all they answer. The caller sets the deadline: a line whose caller has
    /// gone is not sent any more, but one that was sent may still be carried out.
    pub(super) async fn request(&self, line: Vec<u8>, shape: Shape) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.requests.send(Request { line, shape, answer }).map_err(|_| TerminalError::Died)?;
        answered.await.unwrap_or(Err(TerminalError::Died))
    }
}

/// A pipe whose writing end is open for reading too, so that it has a reader for as long as it has a writer.
///
/// tmux that is to end waits until all that it wants to tell each client is written, and after a write that failed for want
/// of a reader it never tries again: `kill-server` just after we were killed would leave it there for ever, deaf to
/// everybody.
fn lasting_pipe() -> std::io::Result<(Receiver, Stdio)> {
    let (reader, writer) = std::io::pipe()?;
    let both = File::options().read(true).write(true).open(format!("/proc/self/fd/{}", writer.as_raw_fd()));
    Ok((Receiver::from_owned_fd(reader.into())?, both.map_or_else(|_| Stdio::from(writer), Stdio::from)))
}

/// Sends requests. A task of its own, so that a caller that gives up cannot leave half a line behind.
async fn write(mut queue: mpsc::UnboundedReceiver<Request>, mut input: ChildStdin, shared: Arc<Shared>, token: String) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    while let Some(request) = queue.recv().await {
        if request.answer.is_closed() {
            continue;
        }
        let mark = format!("{token}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut text = request.line;
        text.extend(format!("\ndisplay-message -p {mark}\n").bytes());
        shared.pending().push_back(Pending {
            mark: mark.into_bytes(),
            shape: request.shape,
            blocks: Vec::new(),
            error: None,
            answer: request.answer,
        });
        if input.write_all(&text).await.is_err() {
            // The reader sees the end as well, and knows why.
            return;
        }
    }
}

/// Reads answers until the client ends.
async fn read(mut child: Child, output: Receiver, shared: Arc<Shared>) {
    let mut lines = BufReader::new(output);
    let mut blocks = Blocks::default();
    let mut line = Vec::new();
    while matches!(lines.read_until(b'\n', &mut line).await, Ok(1..)) {
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        blocks.take(&line, &shared);
        line.clear();
    }
    shared.closed.store(true, Ordering::Release);
    let mut said = String::new();
    if let Some(complaint) = child.stderr.take() {
        drop(complaint.take(COMPLAINT_BYTES).read_to_string(&mut said).await);
    }
    drop(child.wait().await);
    let error = TerminalError::from_client(&said);
    shared.set_attached(Err(error.clone()));
    for pending in shared.pending().drain(..) {
        drop(pending.answer.send(Err(error.clone())));
    }
}

/// The parser of what a control client prints.
#[derive(Debug, Default)]
struct Blocks {
    open: Option<OpenBlock>,
}

#[derive(Debug)]
struct OpenBlock {
    /// What stands behind `%begin`, and again behind `%end`: time, number, flags.
    tail: Vec<u8>,
    ours: bool,
    lines: Block,
    /// Lines that are taken as they are.
    exact: usize,
}

impl Blocks {
    fn take(&mut self, line: &[u8], shared: &Shared) {
        let Some(open) = &mut self.open else {
            if let Some(tail) = line.strip_prefix(b"%begin ") {
                let ours = tail.ends_with(b" 1");
                let exact = if ours { exact_lines(shared) } else { 0 };
                self.open = Some(OpenBlock { tail: tail.to_vec(), ours, lines: Vec::new(), exact });
            }
            return;
        };
        let ends = |word: &[u8]| line.strip_prefix(word).is_some_and(|tail| tail == open.tail);
        let failed = ends(b"%error ");
        if open.lines.len() < open.exact || !(failed || ends(b"%end ")) {
            open.lines.push(line.to_vec());
            return;
        }
        let Some(done) = self.open.take() else { return };
        if done.ours {
            deliver(done.lines, failed, shared);
        } else if failed {
            let said = String::from_utf8_lossy(&done.lines.join(&b' ')).into_owned();
            shared.set_attached(Err(TerminalError::from_command(&said)));
        } else {
            shared.set_attached(Ok(()));
        }
    }
}

/// How many lines the block that begins now has for certain.
fn exact_lines(shared: &Shared) -> usize {
    let pending = shared.pending();
    let Some(first) = pending.front() else { return 0 };
    if first.shape != Shape::Screen || first.error.is_some() || first.blocks.len() != 1 {
        return 0;
    }
    let head = first.blocks.first().and_then(|block| block.first());
    head.and_then(|line| std::str::from_utf8(line).ok()?.split(' ').next()?.parse().ok()).unwrap_or(0)
}

fn deliver(lines: Block, failed: bool, shared: &Shared) {
    let mut queue = shared.pending();
    let Some(first) = queue.front_mut() else { return };
    if failed {
        let said = String::from_utf8_lossy(&lines.join(&b' ')).into_owned();
        first.error.get_or_insert(said);
    } else if lines.len() == 1 && lines.first() == Some(&first.mark) {
        if let Some(done) = queue.pop_front() {
            let answer = match done.error {
                Some(said) => Err(TerminalError::from_command(&said)),
                None => Ok(done.blocks),
            };
            // Whoever asked may have given up.
            drop(done.answer.send(answer));
        }
    } else {
        first.blocks.push(lines);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    fn ask(shared: &Shared, mark: &str, shape: Shape) -> oneshot::Receiver<Answer> {
        let (answer, answered) = oneshot::channel();
        let pending = Pending { mark: mark.into(), shape, blocks: Vec::new(), error: None, answer };
        shared.pending().push_back(pending);
        answered
    }

    fn feed(blocks: &mut Blocks, shared: &Shared, text: &str) {
        for line in text.lines() {
            blocks.take(line.as_bytes(), shared);
        }
    }

    #[test]
    fn answers_go_to_who_asked_and_other_blocks_to_nobody() {
        let shared = Shared::default();
        let mut blocks = Blocks::default();
        let mut first = ask(&shared, "m-1", Shape::Plain);
        let mut second = ask(&shared, "m-2", Shape::Plain);
        feed(&mut blocks, &shared, "%begin 1 1 0\nhook\n%end 1 1 0\n%window-add @1\n%begin 1 2 1\na\nb\n%end 1 2 1");
        feed(&mut blocks, &shared, "%begin 1 3 1\nm-1\n%end 1 3 1\n%begin 1 4 1\ncan't find pane: %9\n%error 1 4 1");
        first.try_recv().unwrap().unwrap().iter().for_each(|block| assert_eq!(*block, [b"a", b"b"]));
        assert!(second.try_recv().is_err());
        feed(&mut blocks, &shared, "%begin 1 5 1\nm-2\n%end 1 5 1");
        assert_eq!(second.try_recv().unwrap(), Err(TerminalError::Gone));
    }

    #[test]
    fn a_screen_that_looks_like_an_end_is_still_a_screen() {
        let shared = Shared::default();
        let mut blocks = Blocks::default();
        let mut answer = ask(&shared, "m-1", Shape::Screen);
        feed(&mut blocks, &shared, "%begin 1 2 1\n3 80\n%end 1 2 1\n%begin 1 3 1\n%end 1 3 1\n%error 1 3 1\nm-1");
        feed(&mut blocks, &shared, "%end 1 3 1\n%begin 1 4 1\nm-1\n%end 1 4 1");
        let screen = answer.try_recv().unwrap().unwrap().pop().unwrap();
        assert_eq!(screen, [&b"%end 1 3 1"[..], b"%error 1 3 1", b"m-1"]);
    }
}
