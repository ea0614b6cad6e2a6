//! What stands on a line that nobody has submitted, and whose it is: it is never submitted, erased or mixed by another.
//!
//! At a prompt with markers the stream tells what stands there. Elsewhere (a program, a plain shell, a far one) it is
//! what an agent has sent and the line shows, or what stands behind a prompt that was shown before. Where nothing is
//! echoed, only that something was sent is known. What was echoed is kept on disk; what was not, never.

use super::grown::cursors_text;
use super::tried::{LAST, TRIAL};
use crate::call::{Asks, CallId, Resting};
use crate::log::ShellState;
use crate::prompt;
use crate::region::{Kind, State};
use crate::session::{Effect, HUMAN, Part, Session};
use crate::text::visible::quoted;
use crate::time::{Now, Wall};
use crate::waiting::Judgement;

/// Clears a line in readline's and zsh's default editing: to its end, then all before it.
const CLEAR_LINE: &[u8] = b"\x05\x15";

/// Discards what stands on the line before the cursor, in readline, prompt_toolkit, pyrepl, reline, and in what the
/// kernel keeps of a line.
pub(in crate::session) const DISCARD_LINE: &[u8] = b"\x15";

/// Takes back the character before the cursor.
const RUB_OUT: u8 = 0x7f;

/// Characters that are taken back one by one at most: a line that somebody has typed by hand is no longer.
const RUBBED_MAX: usize = 200;

/// Joins a line with the one above and discards that, in an editor of several lines.
const JOIN_AND_DISCARD: &[u8] = b"\x7f\x15";

/// Lines above the cursor's that are cleared at most; no terminal shows more.
const EDITED_MAX: usize = 1000;

/// Characters of another's text that a refusal shows.
const SHOWN_CHARS: usize = 200;

/// The same in a look at all sessions.
const BRIEF_CHARS: usize = 40;

/// The words for a person, where an agent has a name.
pub(in crate::session) const SOMEONE: &str = "someone at the terminal";

/// Whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// An agent's.
    Agent(String),
    /// A person's.
    Person,
    /// Nobody's: a job in the background has printed it, or the terminal has answered a query.
    Nobody,
}

/// What stands on the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubmitted {
    /// Whose it is.
    pub owner: Owner,
    /// What they typed; none where nothing of it is shown.
    pub text: Option<String>,
    /// What the line shows, where something was printed over it.
    pub shows: Option<String>,
}

/// What an agent's `send` has typed last without Enter, until it shows.
#[derive(Debug, Clone)]
pub(in crate::session) struct Sent {
    call: CallId,
    owner: String,
    /// What stood on the line before the agent's text.
    pub(in crate::session) before: String,
    /// The agent's text, with what it had there already.
    pub(in crate::session) text: String,
    /// It was typed while a program was at work.
    ahead: bool,
    /// It was typed at a question that hides what is typed.
    hidden: bool,
}

/// What a `send` does to what stands on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// It was only looked at, if anything.
    Alone,
    /// It has grown, or was edited.
    More,
    /// It was submitted or given up.
    Nothing,
}

impl Session {
    /// What stands on the line, not submitted.
    #[must_use]
    pub fn unsubmitted(&self) -> Option<Unsubmitted> {
        if let Some(sent) = self.sent.as_ref().filter(|sent| self.unechoed.is_some() && !sent.text.is_empty()) {
            let text = Some(sent.text.clone()).filter(|_| !sent.hidden);
            return Some(Unsubmitted { owner: Owner::Agent(sent.owner.clone()), text, shows: None });
        }
        match self.log.shell() {
            ShellState::AtPrompt { .. } => self.at_prompt(),
            ShellState::Running(_) | ShellState::NoShell => self.at_program(),
            ShellState::Continuation | ShellState::Starting | ShellState::Ended => None,
        }
    }

    fn at_prompt(&self) -> Option<Unsubmitted> {
        let text = self.log.cooked.input();
        let text = text.trim();
        let of = |owner, text: &str| Unsubmitted { owner, text: Some(text.to_owned()), shows: None };
        // What the command before asked the terminal may be answered already and not be shown yet, or not all of it.
        let answers = self.log.cooked.queried() && text.chars().all(is_of_answers);
        if answers || is_terminal_answer(text) {
            return Some(of(Owner::Nobody, text));
        }
        if text.is_empty() {
            return None;
        }
        if self.is_refused(text) {
            return Some(of(Owner::Nobody, text));
        }
        match (self.agents.owner_of(text), self.agents.half_typed()) {
            (Some(owner), _) => Some(of(Owner::Agent(owner.to_owned()), text)),
            (None, _) if !self.is_noise() => Some(of(Owner::Person, text)),
            // What an agent has typed is there, whatever a job in the background has printed over it.
            (None, Some((owner, half))) => {
                Some(Unsubmitted { shows: Some(text.to_owned()), ..of(Owner::Agent(owner.to_owned()), half) })
            }
            (None, None) => Some(of(Owner::Nobody, text)),
        }
    }

    fn at_program(&self) -> Option<Unsubmitted> {
        let there = self.cursors_line();
        let theirs = self.persons_at_program();
        if let Some((owner, half)) = self.agents.half_typed() {
            let shown = there.trim_end().ends_with(half);
            if let Some(theirs) = theirs.as_ref().filter(|theirs| !shown && theirs.text.is_some()) {
                return Some(theirs.clone());
            }
            // Behind a program's prompt, or ahead of a question, it is there, whatever a job in the background has printed over it. Elsewhere
            // the program may have taken it without Enter.
            let known = self.agents.get(owner);
            if shown || (known.prompted || known.ahead) && !self.is_bare_prompt(&there) {
                let shows = Some(there.trim().to_owned()).filter(|_| !shown);
                let owner = Owner::Agent(owner.to_owned());
                return Some(Unsubmitted { owner, text: Some(half.to_owned()), shows });
            }
        }
        if let Some(owner) = self.agents.hiding() {
            return Some(Unsubmitted { owner: Owner::Agent(owner.to_owned()), text: None, shows: None });
        }
        let below =
            || Some(self.cursors_line().trim().to_owned()).filter(|text| self.editor_reads_on() && !text.is_empty());
        let behind = self.behind_prompt().or_else(below).filter(|_| self.person_typed_since_last_line());
        let behind = behind.map(|text| Unsubmitted { owner: Owner::Person, text: Some(text), shows: None });
        self.persons_buried().or(behind).or(theirs)
    }

    /// The whole line that the cursor is on, as far as it can be told.
    pub(in crate::session) fn cursors_line(&self) -> String {
        cursors_text(&self.log)
    }

    /// Whether a line is a program's prompt with nothing behind it.
    pub(in crate::session) fn is_bare_prompt(&self, line: &str) -> bool {
        let line = format!("{} ", line.trim_end());
        let last = self.last_prompt.as_deref().map(str::trim_end);
        let setting = if self.is_carried() { prompt::Setting::Far } else { prompt::Setting::Integrated };
        let looks = || prompt::matches(&line, self.setting.prompt_pattern.as_ref(), setting, last);
        last == Some(line.trim_end()) || looks() == Some(prompt::Shape::Primary) || self.glued(&line).is_some()
    }

    /// The cursor's line without what an agent has left on it, where there is such.
    pub(in crate::session) fn without_half_typed(&self, line: &str) -> Option<String> {
        let (_, half) = self.agents.half_typed()?;
        line.trim_end().strip_suffix(half).map(str::to_owned)
    }

    /// What stands on a program's line behind the prompt that it showed before.
    pub(in crate::session) fn behind_prompt(&self) -> Option<String> {
        let stands = self.cursors_line();
        // A server that came meanwhile has only seen the prompt with the text behind it.
        let last = self.last_prompt.as_deref();
        let usual = last.or_else(|| prompt::leading(&stands));
        let known = [self.shown_first(), usual, last.and_then(|last| prompt::continuing(&stands, last))];
        let mut behind = known.into_iter().flatten().filter_map(|prompt| stands.strip_prefix(prompt.trim_end()));
        // The terminal has shown what was typed ahead before the prompt came, and the editor shows it behind that again.
        let programs = || usual.filter(|usual| prompt::is_programs(usual));
        let ahead = || stands.rsplit_once(programs()?.trim_end()).map(|(_, text)| text);
        let text = behind.next().or_else(ahead)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Output is about to come. Where somebody has typed behind a program's prompt, it may be the answer to that, and
    /// the program may be at work on it.
    pub(in crate::session) fn see_typed_behind(&mut self) {
        if self.looking.has_asked() && self.behind_prompt().is_some() {
            self.looking.submitted();
        }
    }

    /// What has to be typed first so that the line is empty.
    ///
    /// # Errors
    /// Where the text on the line is another's, or the command is whose rest the shell wants.
    pub(in crate::session) fn make_room(&self, now: Now, actor: &str) -> Result<Option<Part>, String> {
        self.is_in_no_search(Some(actor))?;
        let unsubmitted = self.unsubmitted();
        // Text that is named tells more than what it stands behind.
        let text =
            unsubmitted.as_ref().filter(|it| it.owner != Owner::Nobody && it.owner != Owner::Agent(actor.to_owned()));
        if let Some(text) = text {
            return Err(text.refusal());
        }
        self.is_no_others_rest(now, actor)?;
        if self.log.shell() == ShellState::Continuation {
            return Ok(None);
        }
        let at_prompt = matches!(self.log.shell(), ShellState::AtPrompt { .. });
        if unsubmitted.is_none() {
            // What was refused stands there although it may not have been painted yet.
            let unpainted = at_prompt && self.log.leftover().is_some_and(|text| self.is_refused(text));
            return Ok(unpainted.then(|| Part { bytes: self.clearing(), bracketed: false }));
        }
        let own = unsubmitted.and_then(|it| it.text.filter(|_| it.owner != Owner::Nobody));
        let bytes = if at_prompt { self.clearing() } else { self.discarding(own.as_deref().unwrap_or_default()) };
        Ok(Some(Part { bytes, bracketed: false }))
    }

    /// Why this agent's line is not typed where nothing is seen to take one, and another's text is on the line: behind a
    /// prompt that was told, or where nobody sees whether what has the terminal is at work.
    pub(in crate::session) fn others_line(&self, resting: &Resting, actor: &str) -> Option<String> {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        if !unmarked || resting.prompt.is_some() || resting.asks.is_some() {
            return None;
        }
        let unseen = matches!(self.looking.holds, Some(Judgement::Carrier(_) | Judgement::Unknown(_)));
        let unsubmitted = self.unsubmitted().filter(|_| unseen || self.last_prompt.is_some())?;
        let others = match &unsubmitted.owner {
            Owner::Person => true,
            Owner::Agent(owner) => owner != actor,
            Owner::Nobody => false,
        };
        others.then(|| unsubmitted.refusal())
    }

    /// What clears all that stands behind the shell's prompt: several lines where the shell edits several at once.
    fn clearing(&self) -> Vec<u8> {
        let refused = self.log.leftover().map_or(0, |text| text.matches('\n').count());
        let lines = self.log.cooked.input_above().max(refused).min(EDITED_MAX);
        let above = std::iter::repeat_n(JOIN_AND_DISCARD, lines);
        [CLEAR_LINE].into_iter().chain(above).flatten().copied().collect()
    }

    /// What takes this text back that stands at the end of a program's line.
    fn discarding(&self, text: &str) -> Vec<u8> {
        let line = self.log.cooked.line_at_cursor().text;
        let stands = line.trim_end().ends_with(text) && text.is_ascii() && text.len() <= RUBBED_MAX;
        // After a person's key the editor may take it for a command, and the kernel's needs none.
        let tried = matches!(text, TRIAL | LAST);
        let edits = self.looking.canonical != Some(true) && (tried || !self.has_pressed_since());
        if text.is_empty() || !stands || !edits {
            return DISCARD_LINE.to_vec();
        }
        let characters = text.len() + line.len() - line.trim_end().len();
        rubbing_out(characters, self.last_prompt.as_deref() == line.get(..line.len() - characters))
    }

    /// Whether a text on the shell's line is one that an agent submitted and that did not parse: fish leaves it there
    /// to be corrected, and nobody is about to.
    fn is_refused(&self, text: &str) -> bool {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        self.log.regions().next_back().is_some_and(|last| {
            let by_agent = last.actor.as_deref().is_some_and(|actor| actor != HUMAN);
            let unparsed = last.kind == Kind::Command && last.state == State::Finished && last.exit.is_none();
            by_agent && unparsed && words(&last.label) == words(text)
        })
    }

    /// Whose text stands on the line after a `send` of this agent's: none where it is a person's.
    pub(in crate::session) fn line_of(&self, actor: &str) -> Option<String> {
        match self.unsubmitted().map(|unsubmitted| unsubmitted.owner) {
            Some(Owner::Agent(owner)) => Some(owner),
            Some(Owner::Person) => None,
            Some(Owner::Nobody) | None => Some(actor.to_owned()),
        }
    }

    /// What this agent has on the line already.
    pub(in crate::session) fn own_half(&self, actor: &str) -> String {
        if let Some(sent) = self.sent.as_ref().filter(|sent| self.unechoed.is_some() && sent.owner == actor) {
            return sent.text.clone();
        }
        let own = self.unsubmitted().filter(|it| it.owner == Owner::Agent(actor.to_owned()));
        own.and_then(|own| own.text).unwrap_or_default()
    }

    /// A `send` is about to be typed that leaves text on the line, or edits it.
    pub(in crate::session) fn sends(&mut self, now: Now, (call, actor): (CallId, &str), text: &str) {
        let half = self.own_half(actor);
        let there = self.cursors_line();
        let before = there.trim_end().strip_suffix(half.as_str()).unwrap_or(&there).to_owned();
        let hidden = self.looking.asks() == Some(Asks::Hidden);
        let ahead = self.is_typed_ahead(now);
        self.sent = Some(Sent { call, owner: actor.to_owned(), before, text: format!("{half}{text}"), ahead, hidden });
    }

    /// The terminal has taken a `send`.
    pub(in crate::session) fn has_sent(&mut self, now: Now, leaves: Leaves, line_of: Option<&str>, text: &str) {
        let at_line = matches!(self.log.shell(), ShellState::AtPrompt { .. } | ShellState::Continuation);
        match (leaves, line_of) {
            (Leaves::Alone, _) => {}
            (Leaves::Nothing, _) => {
                self.sent = None;
                self.line_given_up(now);
                // At the shell's line the shell tells when it is empty.
                if !at_line && self.agents.line_is_empty() {
                    self.effects.push_back(Effect::Remember);
                }
            }
            (Leaves::More, Some(owner)) if at_line && !text.is_empty() => {
                // As it will most likely be shown; what is there in the end is noted with the reply.
                let half_typed = format!("{}{text}", self.log.cooked.input());
                let agent = self.agents.entry(owner);
                (agent.half_typed, agent.tries) = (half_typed, false);
                self.effects.push_back(Effect::Remember);
            }
            (Leaves::More, _) => {
                if let Some(sent) = self.sent.as_ref().filter(|sent| sent.hidden) {
                    self.agents.entry(&sent.owner).hides = true;
                    self.effects.push_back(Effect::Remember);
                }
            }
        }
    }

    /// Output has come: what was sent to a program may be seen now. A question that hides what is typed is over where a
    /// line ends.
    pub(in crate::session) fn see_sent(&mut self, bytes: &[u8]) {
        self.see_search();
        if bytes.contains(&b'\n') && self.agents.hides_no_more() {
            self.effects.push_back(Effect::Remember);
        }
        if !matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell) {
            return;
        }
        let there = self.cursors_line();
        self.see_ahead(&there);
        let ahead = self.agents.half_typed().is_some_and(|(owner, _)| self.agents.get(owner).ahead);
        if !ahead && self.agents.half_typed().is_some() && self.is_bare_prompt(&there) {
            // The program has taken a line.
            self.agents.line_is_empty();
            self.effects.push_back(Effect::Remember);
        }
        let Some(sent) = self.sent.as_ref().filter(|sent| !sent.text.trim().is_empty()) else { return };
        let (owner, text, ahead) = (sent.owner.clone(), sent.text.trim().to_owned(), sent.ahead);
        let Some(before) = there.trim_end().strip_suffix(text.as_str()) else { return };
        let (known, prompted) = (self.agents.get(&owner), self.is_bare_prompt(before));
        if known.half_typed != text || known.prompted != prompted {
            self.agents.line_is_empty();
            let agent = self.agents.entry(&owner);
            (agent.half_typed, agent.prompted, agent.ahead) = (text, prompted, ahead && !prompted);
            self.effects.push_back(Effect::Remember);
        }
    }

    /// What was typed ahead has been read where it stands behind a program's prompt.
    fn see_ahead(&mut self, there: &str) {
        let Some((owner, half)) = self.agents.half_typed() else { return };
        let (owner, before) = (owner.to_owned(), there.trim_end().strip_suffix(half));
        if before.is_some_and(|before| self.is_bare_prompt(before)) && self.agents.get(&owner).ahead {
            let agent = self.agents.entry(&owner);
            (agent.prompted, agent.ahead) = (true, false);
        }
    }

    /// What this call was to type is not typed.
    pub(in crate::session) fn unsend(&mut self, call: CallId) {
        self.sent.take_if(|sent| sent.call == call);
    }

    /// A `send` is answered: what it has left on the line is what the line shows now.
    pub(in crate::session) fn note_line(&mut self, call: CallId, leaves: Leaves, line_of: Option<&str>) {
        let others = self.unechoed.is_some() && self.sent.as_ref().is_some_and(|sent| sent.call != call);
        if leaves == Leaves::Alone || others {
            return;
        }
        match self.log.shell() {
            ShellState::AtPrompt { .. } => {
                let stands = self.log.cooked.input();
                let stands = stands.trim_end();
                // Behind a line that was submitted or given up, it may be somebody else's by now.
                let stays = |owner: &str| leaves == Leaves::More || self.agents.get(owner).half_typed.contains(stands);
                let owner = line_of.filter(|owner| stays(owner));
                self.agents.line_is_empty();
                if let Some(owner) = owner {
                    stands.clone_into(&mut self.agents.entry(owner).half_typed);
                }
                self.unsend(call);
            }
            ShellState::Running(_) | ShellState::NoShell => {
                let Some(sent) = self.sent.take_if(|sent| sent.call == call) else { return };
                let there = self.cursors_line();
                let there = there.trim_end();
                let text = sent.text.trim();
                let known = self.agents.get(&sent.owner);
                let prompted = known.prompted || self.is_bare_prompt(&sent.before);
                let edited = there.strip_prefix(sent.before.as_str()).map(str::trim).filter(|_| prompted);
                let half = match edited.filter(|_| !sent.hidden) {
                    _ if !text.is_empty() && there.ends_with(text) => text,
                    // Something was printed over it.
                    over if known.stands_behind_prompt(text) && over.is_none_or(|over| over.starts_with(text)) => text,
                    Some(edited) => edited,
                    None => "",
                };
                let unshown = half.is_empty() && !text.is_empty() && leaves == Leaves::More && self.is_unshown(&sent);
                let whole = format!("{}{}", sent.before, sent.text);
                let rests = if there.starts_with(whole.trim_end()) { whole } else { there.to_owned() };
                self.rests_at(rests);
                self.agents.line_is_empty();
                let agent = self.agents.entry(&sent.owner);
                half.clone_into(&mut agent.half_typed);
                (agent.prompted, agent.hides) = (prompted && !half.is_empty(), known.hides || unshown);
                agent.ahead = sent.ahead && !half.is_empty() && !prompted;
            }
            ShellState::Continuation | ShellState::Starting | ShellState::Ended => {}
        }
    }

    /// Whether no person can have typed what stands on the shell's line, so that it is the output of a job in the background.
    fn is_noise(&self) -> bool {
        matches!(self.log.shell(), ShellState::AtPrompt { .. }) && !self.person_typed_since_last_line()
    }

    /// When the last line began to run, or the prompt came where none has: what is typed since then the prompt's editor
    /// reads.
    pub(in crate::session) fn line_begun(&self) -> Wall {
        let since = match self.log.shell() {
            ShellState::AtPrompt { since, .. } => Some(since),
            _ => None,
        };
        let begun = self.log.regions().next_back().map(|region| region.started).into_iter().chain(since).min();
        begun.unwrap_or(Wall(0))
    }

    /// Whether a person has pressed a key since the last line began to run: what they type meanwhile stands behind the
    /// next prompt. tmux tells a person's last key in whole seconds.
    pub(in crate::session) fn person_typed_since_last_line(&self) -> bool {
        self.person.is_some_and(|last| last.0 / 1000 >= self.line_begun().0 / 1000)
    }
}

impl Unsubmitted {
    /// Whose it is and what, for whoever looks at all sessions; none where it is nobody's.
    pub(in crate::session) fn brief(&self) -> Option<String> {
        let who = match &self.owner {
            Owner::Agent(owner) => owner,
            Owner::Person => SOMEONE,
            Owner::Nobody => return None,
        };
        Some(match &self.text {
            Some(text) => {
                format!("{who} has {} on the line", quoted(&text.chars().take(BRIEF_CHARS).collect::<String>()))
            }
            None => format!("{who} has begun a line that is not shown"),
        })
    }

    /// That they have begun to answer what is asked, as a note with a reply; none where it is nobody's.
    pub(in crate::session) fn begun(&self) -> Option<String> {
        let brief = self.brief()?;
        let keep = "wait until it is submitted: nothing else is typed into it";
        Some(match (&self.owner, &self.text) {
            (Owner::Person, None) => format!("{SOMEONE} has pressed keys since this was asked or just before. {keep}"),
            (_, Some(_)) => format!("{brief}, not submitted. {keep}"),
            (_, None) => format!("{brief}. {keep}"),
        })
    }

    /// Why nothing is typed there by somebody else.
    fn refusal(&self) -> String {
        let shown = |text: &str| quoted(&text.chars().take(SHOWN_CHARS).collect::<String>());
        let over = self.shows.as_deref().map_or_else(String::new, |shows| format!(", and it shows {}", shown(shows)));
        match (&self.owner, &self.text) {
            (Owner::Agent(owner), Some(text)) => format!(
                "nothing was typed: {owner} has {} on the line, not submitted{over}. wait until it is, or send keys=[\"ctrl+u\"] clears it if {owner} agrees",
                shown(text)
            ),
            (Owner::Agent(owner), None) => format!(
                "nothing was typed: {owner} has begun an answer to this question, which does not show it, and has not submitted it. wait until it is, or send keys=[\"ctrl+u\"] clears it if {owner} agrees"
            ),
            (Owner::Person, None) => format!(
                "nothing was typed: {SOMEONE} has pressed keys since this question was asked or just before, and it does not show its answer. Ask them; send keys=[\"ctrl+u\"] clears what they have typed if they agree"
            ),
            (Owner::Person | Owner::Nobody, text) => format!(
                "nothing was typed: {SOMEONE} has {} on the line, not submitted{over}. Ask them; send keys=[\"ctrl+u\"] clears it if they agree",
                shown(text.as_deref().unwrap_or_default())
            ),
        }
    }
}

/// Takes back so many characters before the cursor one by one, for an older reline, which irb has, knows no key that clears
/// the line; and then whatever else stands there, unless they are all: readline rings the bell where nothing does.
pub(in crate::session) fn rubbing_out(characters: usize, are_all: bool) -> Vec<u8> {
    let rest = if are_all { &[][..] } else { DISCARD_LINE };
    std::iter::repeat_n(RUB_OUT, characters).chain(rest.iter().copied()).collect()
}

/// Whether a text on the shell's line is what a terminal answers to queries in some program's output: the answers
/// are typed into the shell by tmux, and nobody meant them.
fn is_terminal_answer(text: &str) -> bool {
    text.chars().any(|c| matches!(c, 'c' | 'R' | 'n')) && text.contains(';') && text.chars().all(is_of_answers)
}

fn is_of_answers(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, ';' | '?' | '>' | '[' | '^' | 'c' | 'R' | 'n' | '\u{1b}')
}
