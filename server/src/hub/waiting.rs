//! The calls that wait: handed to the session's task, and given up when the client does.

use std::sync::atomic::Ordering;

use dtmcp_core::call::{CallId, Waiting};
use dtmcp_core::reply::Reply;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::pick::no_task;
use super::{Hub, save};
use crate::driver::Message;

/// Tells the session's task that nobody waits for a call any more, however the wait ended.
#[derive(Debug)]
struct Given {
    id: CallId,
    mailbox: Option<mpsc::Sender<Message>>,
}

impl Drop for Given {
    fn drop(&mut self) {
        if let Some(mailbox) = self.mailbox.take()
            && let Err(mpsc::error::TrySendError::Full(message)) = mailbox.try_send(Message::Gone(self.id))
        {
            tokio::spawn(async move { drop(mailbox.send(message).await) });
        }
    }
}

impl Hub {
    pub(super) async fn wait_for(&self, actor: &str, request: Waiting, cancel: CancellationToken) -> Reply {
        let (session, save_to) = match &request {
            Waiting::Run(run) => (run.session.as_deref(), run.shape.save_to.as_deref()),
            Waiting::Expect(expect) => (expect.session.as_deref(), expect.shape.save_to.as_deref()),
            Waiting::Wait(wait) => (wait.session.as_deref(), wait.shape.save_to.as_deref()),
            Waiting::Send(send) => (send.session.as_deref(), None),
            Waiting::Integrate(integrate) => (integrate.session.as_deref(), None),
        };
        let handle = match self.pick(session).await {
            Ok(handle) => handle,
            Err(reply) => return *reply,
        };
        // What cannot be saved is said before anything is typed.
        if let Some(path) = save_to
            && let Err(why) = save::check(&handle.dir, path, !matches!(request, Waiting::Wait(_)))
        {
            return Reply::error(Some(&handle.name), &format!("nothing was typed: {why}"));
        }
        let id = self.next_call.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let message = Message::Call { id, actor: actor.to_owned(), request: Box::new(request), reply };
        if handle.mailbox.send(message).await.is_err() {
            return no_task(&handle.name);
        }
        let mut given = Given { id, mailbox: Some(handle.mailbox.clone()) };
        tokio::select! {
            answer = answer => {
                given.mailbox = None;
                answer.unwrap_or_else(|_| no_task(&handle.name))
            }
            () = cancel.cancelled() => {
                let text = "the call was cancelled. What was typed stays typed, and the command goes on: wait picks it up";
                Reply::error(Some(&handle.name), text)
            }
        }
    }
}
