//! `shell_integrate`: what the session cannot know for it, which is where the files are and where they were missing.

use dtmcp_core::call::{Files, Integrate, Waiting};
use dtmcp_core::reply::Reply;
use tokio_util::sync::CancellationToken;

use super::Hub;
use crate::driver::Clock;
use crate::store::missing::Missing;
use crate::store::shell;

impl Hub {
    pub(super) async fn integrate(&self, actor: &str, session: Option<String>, cancel: CancellationToken) -> Reply {
        let Some(user_home) = self.config.user_home.as_deref() else {
            return Reply::error(None, "nothing was typed: HOME is not set, and the shell integration goes there");
        };
        let here = match shell::lay_out(user_home) {
            Ok(here) => here,
            Err(error) => {
                return Reply::error(None, &format!("nothing was typed: the integration cannot be laid out: {error}"));
            }
        };
        let files = Files {
            for_all: shell::is_for_all(&here),
            here: here.display().to_string(),
            elsewhere: shell::elsewhere(),
        };
        let now = Clock::wall();
        let missing = Missing::of(self.home.path()).read().missing.into_iter().filter(|entry| entry.holds(now));
        let integrate = Integrate { session, files, missing: missing.collect() };
        self.wait_for(actor, Waiting::Integrate(integrate), cancel).await
    }
}
