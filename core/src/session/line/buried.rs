//! A person's text at a program that output has come behind: a job in the background has printed there, or a program that
//! was at work asks by now. The program's line editor, or the kernel, still has it, and the next line would become one with
//! it.
//!
//! A person's Enter ends the line as it stood; what is printed there ends it with more on it. Where a key and the Enter
//! come in one piece they look alike, so the text is forgotten as soon as the program is seen to have taken it. Nothing of
//! this is kept on disk, and a server that takes over does not know it.

use super::grown::KEY_MS;
use crate::log::ShellState;
use crate::prompt;
use crate::session::{Effect, Owner, Session, Unsubmitted};
use crate::time::Wall;

/// Pieces that come closer together than this are one burst of keys, or of their echo: people press two keys further
/// apart, in milliseconds.
const BURST_MS: u64 = 20;

/// From a person's last key to a burial that key cannot have been before: tmux tells it in whole seconds.
const LATER_MS: u64 = 1000;

/// What stands on a program's line before more is printed, and may be a person's.
#[derive(Debug, Clone)]
pub(in crate::session) struct Standing {
    /// The whole line.
    line: String,
    /// What they may have typed of it.
    text: String,
    /// When it last grew, where nothing but that tells it from what the program has printed.
    grew: Option<Wall>,
}

/// Text that was printed over.
#[derive(Debug)]
pub(in crate::session) struct Buried {
    text: String,
    grew: Option<Wall>,
    /// When a line with it was last ended by output.
    at: Wall,
    /// When a line has ended since otherwise.
    ended: Option<Wall>,
    /// Whether it was typed while the program was at work: a question that comes then has not been answered by it.
    ahead: bool,
    /// Whether it is known to be a person's; before, tmux has been asked for their last key.
    theirs: bool,
}

impl Standing {
    /// Whether it was typed at no question and no prompt.
    fn is_ahead(&self) -> bool {
        let before = self.line.trim_end().strip_suffix(&*self.text).unwrap_or_default();
        self.grew.is_some() && prompt::looks_like(before).is_none()
    }
}

impl Session {
    /// What stood there before this burst that may be a person's, before more is taken. What is printed at once may come
    /// in pieces.
    pub(in crate::session) fn standing(&mut self, wall: Wall) -> Option<Standing> {
        let burst = wall.0.saturating_sub(self.grown.at().0) < BURST_MS;
        if !burst {
            self.stood = self.may_stand();
        }
        self.stood.clone()
    }

    fn may_stand(&self) -> Option<Standing> {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        if !unmarked || self.draws() || self.is_hidden_question() {
            return None;
        }
        let under_way =
            self.input.and_then(|input| input.call).is_some_and(|id| self.calls.iter().any(|it| it.id == id));
        let agents = self.unechoed.is_some() || self.sent.is_some() || self.agents.half_typed().is_some();
        if under_way || agents {
            return None;
        }
        let behind = self.behind_prompt().map(|text| (text, None));
        let (text, grew) = behind.or_else(|| Some((self.grown()?, Some(self.grown.at()))))?;
        Some(Standing { line: self.cursors_line(), text, grew })
    }

    /// Takes output, over what stands there.
    pub(in crate::session) fn feed(&mut self, standing: Option<Standing>, bytes: &[u8], wall: Wall) {
        let end = memchr::memchr(b'\n', bytes);
        if let (None, Some(standing)) = (end, &standing)
            && bytes.len() > 1
            && standing.is_ahead()
        {
            let standing = standing.clone();
            self.log.feed(bytes, wall);
            let asks = self.cursors_line();
            let more = asks.strip_prefix(standing.line.trim_end()).unwrap_or_default();
            if !more.trim().is_empty() && prompt::looks_like(&asks).is_some() {
                self.stood = None;
                return self.buries(standing, wall);
            }
            return self.see_buried(None, false);
        }
        let Some((at, standing)) = end.zip(standing) else {
            // What comes to stand there at once is a program's, where people's keys come one by one.
            let fresh = self.buried.is_some() && bytes.len() > 1 && self.cursors_line().trim().is_empty();
            self.log.feed(bytes, wall);
            return self.see_buried(end.map(|_| wall), fresh || end.is_some());
        };
        self.stood = None;
        let (line, rest) = bytes.split_at(at);
        self.log.feed(line, wall);
        let ends = self.cursors_line();
        let printed = ends.strip_prefix(standing.line.trim_end()).is_some_and(|more| !more.trim().is_empty());
        self.log.feed(rest, wall);
        if printed {
            self.buries(standing, wall);
        }
        self.see_buried(Some(wall).filter(|_| !printed), true);
    }

    fn buries(&mut self, standing: Standing, wall: Wall) {
        if let Some(buried) = &mut self.buried {
            // What they began with tells it best.
            (buried.at, buried.ended) = (wall, None);
            return;
        }
        let ahead = standing.is_ahead();
        let Standing { text, grew, .. } = standing;
        self.buried = Some(Buried { text, grew, at: wall, ended: None, ahead, theirs: false });
        self.judge_buried(false);
        if self.buried.as_ref().is_some_and(|buried| !buried.theirs) {
            self.effects.push_back(Effect::AskPerson);
        }
    }

    /// Output has come: the program may have taken what was printed over. `ended` says when it has ended a line, unless it
    /// was printed over them, `fresh` that what stands on the line now has come there at once.
    fn see_buried(&mut self, ended: Option<Wall>, fresh: bool) {
        let Some(buried) = &mut self.buried else { return };
        buried.ended = ended.or(buried.ended);
        let fresh = fresh && !buried.ahead;
        let line = self.log.cooked.line_at_cursor().text;
        let last = self.last_prompt.as_deref();
        let asks = || {
            let known = prompt::matches(&line, None, prompt::Setting::Integrated, last).is_some();
            // What a person goes on with may end as questions do.
            known || self.is_bare_prompt(&line) || fresh && prompt::looks_like(&line).is_some()
        };
        if !line.trim().is_empty() && asks() {
            self.buried = None;
        }
        self.forget_submitted();
    }

    /// It is told when a person last pressed a key.
    pub(in crate::session) fn judge_buried(&mut self, told: bool) {
        let Some(buried) = &self.buried else { return };
        let theirs = buried.theirs
            || match buried.grew {
                Some(grew) => self.person.is_some_and(|last| last.0 + KEY_MS > grew.0),
                None => self.person_typed_since_last_line(),
            };
        if !theirs && told {
            self.buried = None;
        } else if let Some(buried) = &mut self.buried {
            buried.theirs = theirs;
        }
        self.forget_submitted();
    }

    /// A line has ended otherwise since, and a person has pressed keys until then: they have submitted it.
    fn forget_submitted(&mut self) {
        let last = self.person;
        self.buried.take_if(|buried| {
            let keys = last.filter(|last| last.0 >= buried.at.0 + LATER_MS);
            keys.zip(buried.ended).is_some_and(|(last, ended)| ended.0 / 1000 >= last.0 / 1000)
        });
    }

    /// What a person has on the line that does not show it any more.
    pub(in crate::session) fn persons_buried(&self) -> Option<Unsubmitted> {
        let buried = self.buried.as_ref().filter(|buried| buried.theirs)?;
        let shows = Some(self.cursors_line().trim().to_owned());
        Some(Unsubmitted { owner: Owner::Person, text: Some(buried.text.clone()), shows })
    }
}
