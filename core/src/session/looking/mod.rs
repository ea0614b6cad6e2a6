//! When the host is asked what runs at the terminal, and what its answers come to.
//!
//! Only while a call waits or somebody reads along, only where no marker tells, and only while the output rests; a
//! judgement that holds is not asked for again until something is printed or typed. Behind what looks like a prompt one
//! look is enough.

pub(in crate::session) mod around;
pub(in crate::session) mod glance;
mod glued;
pub(in crate::session) mod own_shell;
mod pages;
pub(in crate::session) mod resting;
pub(in crate::session) mod rivals;
pub(in crate::session) mod starting;
pub(in crate::session) mod stopped;

use std::time::Duration;

use crate::call::{Asks, Flow, REST, REST_AT_PROMPT, Reader};
use crate::inspect::{Inspection, Look, Refusal, Why};
use crate::log::ShellState;
use crate::place::{self, Beyond};
use crate::prompt::{self, Looks};
use crate::region::{Kind, Place, Region, State};
use crate::session::{CallKind, Effect, Session};
use crate::time::Now;
use crate::waiting::at_work::{AGAIN, AtWork, WorkLooks};
use crate::waiting::{Judgement, Output, Prints, Steady, Step, judge};
use around::Around;
use own_shell::OwnShell;

/// A program at work is looked at again after this long, and after [`LATER`] once it has worked for [`LONG`].
const SOON: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(10);

/// The same where no call waits and somebody only reads along: nobody is held up by it.
const READERS: Duration = Duration::from_secs(3);

/// The whole machine is looked at only once the output has rested for this long: it costs milliseconds.
const EVERYWHERE: Duration = Duration::from_secs(1);

/// A line that a shell was given is echoed within milliseconds; where nothing has come of it after this long, the
/// terminal may be stopped.
const UNECHOED: Duration = Duration::from_secs(1);

/// Two looks at a terminal that takes no output have to agree that lie this far apart: a burst that is being read is
/// gone by then.
const STANDS: Duration = Duration::from_millis(50);

/// A reply is held back this long at most until it is seen where the terminal leads, or who waits behind a prompt. A
/// look takes a millisecond or two; on a machine so busy that it takes longer, the place is told with a later reply, and
/// the prompt is believed.
const LOOK_WAIT: Duration = Duration::from_secs(1);

/// Who is behind a line that looks like a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Behind {
    /// Somebody may be, or is.
    Untold,
    /// Nobody: what runs was seen to work. It printed something that looks like a prompt.
    Nobody,
    /// That has to be looked at first, which is over by then.
    NotSeen(Now),
}

/// What is known from looking.
#[derive(Debug, Default)]
pub(in crate::session) struct Looking {
    steady: Steady,
    /// The judgement that holds since something was last printed or typed.
    pub(in crate::session) holds: Option<Judgement>,
    /// Whether the terminal echoes, as of the last look; none where that was not to be seen.
    pub(in crate::session) echoes: Option<bool>,
    /// The same of whether it hands over whole lines, so that no editor reads keys.
    pub(in crate::session) canonical: Option<bool>,
    /// Whether the terminal takes what is printed.
    pub(in crate::session) flow: Flow,
    /// When that was seen last.
    held: Option<Now>,
    /// The last look left open what it saw: another one has to agree with it.
    open: bool,
    /// When to look, if not as soon as the output rests.
    next: Option<Now>,
    /// A look is under way, asked for then.
    asked: Option<Now>,
    /// What the last look came to by itself, since something was last printed or typed.
    glance: Option<Judgement>,
    /// Whether what runs was seen at work since then.
    at_work: WorkLooks,
    /// Somebody waits to be told of what is seen, so that a look is made as soon as it is due.
    wanted: bool,
    /// What the system did not let the last look see.
    refusal: Option<Refusal>,
    /// A line was submitted where no marker tells what came of it: it may have led to another place.
    pub(in crate::session) place_due: bool,
    /// Where the terminal leads from the shell that has it, as was last seen.
    pub(in crate::session) beyond: Option<Beyond>,
    /// The command that ran then.
    beyond_of: Option<u32>,
    /// The shell that has the terminal is itself at the far end of a carrier, so that what it runs is not to be seen.
    pub(in crate::session) behind: bool,
    /// Who would take a line that is typed, as was last seen.
    pub(in crate::session) taker: Option<place::Taker>,
    /// What a shell with the integration does that reads the terminal itself while its command runs.
    pub(in crate::session) own_shell: Option<OwnShell>,
    /// Whether who would take a line is a bash that prints its marks from its first command on.
    pub(in crate::session) armed: bool,
    /// Which programs shells were started from.
    pub(in crate::session) around: Around,
}

impl Looking {
    /// Something was printed or typed: what was seen may hold no more.
    pub(in crate::session) fn forget(&mut self) {
        self.steady.begin();
        (self.holds, self.held, self.open) = (None, None, false);
        (self.echoes, self.canonical) = (None, None);
        self.own_shell = None;
        self.flow = Flow::Untold;
        self.next = None;
        self.glance = None;
        self.at_work = WorkLooks::default();
    }

    /// Since when a look is under way.
    pub(in crate::session) fn is_asked(&self) -> Option<Now> {
        self.asked
    }

    /// One is.
    pub(in crate::session) fn is_asked_for(&mut self, now: Now) {
        self.asked = Some(now);
    }

    /// Whether somebody was seen to take keys, by one look: enough behind what looks like a prompt.
    pub(in crate::session) fn at_prompt(&self) -> bool {
        matches!(self.glance, Some(Judgement::Waits(_) | Judgement::Busy(_)))
    }

    /// The process that was seen to wait for input, by the last look or by those that agree.
    pub(in crate::session) fn waiter(&self) -> Option<u32> {
        match self.holds.as_ref().or(self.glance.as_ref())? {
            Judgement::Waits(waiter) | Judgement::Busy(waiter) => Some(waiter.process.pid),
            _ => None,
        }
    }

    /// What the host has to say of a line that looks like a prompt.
    pub(in crate::session) fn behind(&self, now: Now) -> Behind {
        match self.at_work.so_far(now) {
            AtWork::Surely => Behind::Nobody,
            AtWork::Perhaps(until) if self.wanted => Behind::NotSeen(until),
            AtWork::Untold if self.wanted && self.glance.is_none() => {
                let until = self.asked.unwrap_or(now) + LOOK_WAIT;
                if now < until { Behind::NotSeen(until) } else { Behind::Untold }
            }
            AtWork::Perhaps(_) | AtWork::Untold => Behind::Untold,
        }
    }

    /// Whether what runs was seen to work since something was last printed or typed.
    pub(in crate::session) fn is_at_work(&self) -> bool {
        matches!(self.holds, Some(Judgement::Works))
    }

    /// What runs is to be looked at as soon as its output rests: who has worked at the last look may wait by now.
    pub(in crate::session) fn hurry(&mut self) {
        if self.asks().is_none() {
            self.next = None;
        }
    }

    /// When what runs was seen last, if the looks have settled what it does.
    pub(in crate::session) fn settled_at(&self) -> Option<Now> {
        self.held.filter(|_| self.holds.is_some() && !self.open)
    }

    /// Whether the judgement that holds is no older than this. That somebody waits holds until something is printed or
    /// typed.
    pub(in crate::session) fn holds_since(&self, since: Now) -> bool {
        self.asks().is_some() || self.held.is_some_and(|at| at >= since)
    }

    /// A line is submitted, or may have been: whoever takes it may work on it now.
    pub(in crate::session) fn submitted(&mut self) {
        self.steady.submitted();
    }

    /// Whether a prompt was seen since then.
    pub(in crate::session) fn has_asked(&self) -> bool {
        self.steady.is_idle()
    }

    /// A prompt stands further up that was shown since then.
    pub(in crate::session) fn asked_above(&mut self) {
        self.steady.has_asked();
    }

    /// Another command runs.
    pub(in crate::session) fn another_program(&mut self) {
        self.steady.another_program();
    }

    /// What a look was not allowed to see, under a key of its own, with the way to have it and its price.
    pub(in crate::session) fn refused(&self) -> Option<(&'static str, String)> {
        let scope = match self.refusal {
            Some(Refusal::Yama(scope)) => scope,
            Some(Refusal::Policy) => return Some(("policy", POLICY.to_owned())),
            None if self.holds == Some(Judgement::Unknown(Why::Refused)) => return Some(("owner", OWNER.to_owned())),
            None => return None,
        };
        let way = match scope {
            ..=1 => format!("{ANCESTOR}, or, as root, {LOOSEN}"),
            2 => format!("As root, {LOOSEN}"),
            3.. => BOOT.to_owned(),
        };
        Some((
            "yama",
            format!(
                "who waits for input is told less surely here: the kernel does not let one program see what another one of the same user polls (kernel.yama.ptrace_scope = {scope}). {way}"
            ),
        ))
    }
}

impl Looking {
    /// Takes what a look told of the terminal's output.
    fn flows(&mut self, now: Now, held: bool) {
        self.flow = match self.flow {
            _ if !held => Flow::Goes,
            Flow::Stands(since) if now - since >= STANDS => Flow::Held,
            Flow::Untold | Flow::Goes => Flow::Stands(now),
            known @ (Flow::Stands(_) | Flow::Held) => known,
        };
        if let Flow::Stands(since) = self.flow {
            self.next = self.next.map(|next| next.min((since + STANDS).max(now)));
        }
    }

    /// Who waits for input and prints where that is not seen.
    pub(in crate::session) fn hides(&self) -> Option<Reader> {
        let (Some(Judgement::Waits(waiter)) | Some(Judgement::WaitsHidden(Some(waiter)))) = &self.holds else {
            return None;
        };
        let hides = matches!(waiter.prints, Prints::Pipe(_) | Prints::File);
        hides.then(|| Reader { name: waiter.name.clone(), pid: waiter.process.pid, prints: waiter.prints.clone() })
    }

    /// What the foreground job was seen to want of the terminal.
    pub(in crate::session) fn asks(&self) -> Option<Asks> {
        match &self.holds {
            Some(Judgement::Waits(_)) => Some(Asks::Shown),
            Some(Judgement::WaitsHidden(_)) => Some(Asks::Hidden),
            Some(Judgement::Stopped { .. }) => Some(Asks::Stopped),
            Some(Judgement::Busy(_) | Judgement::Works | Judgement::Carrier(_) | Judgement::Unknown(_)) | None => None,
        }
    }
}

const ANCESTOR: &str = "dtmcp starts tmux from a process that sees it all the same, but this tmux was started without one, or it has ended: the next tmux has one, after all sessions are closed and this tmux is ended (`kill-server`)";
const LOOSEN: &str = "`sysctl kernel.yama.ptrace_scope=0` allows it; the price is that any program of a user can then read the memory of that user's others";
const BOOT: &str = "Until the next boot nobody can change that";
const POLICY: &str = "who waits for input is told less surely here: a policy of this system does not let one program see what another one of the same user polls. With SELinux, `setsebool deny_ptrace off` allows it, in a container the capability SYS_PTRACE; the price is that any program of a user can then read the memory of that user's others";
const OWNER: &str = "the program runs as another user, and whether it waits cannot be seen from here: go by its prompt. A server that runs as root would see it, at the price that all sessions are root's";

impl Session {
    /// Notes whether anybody is to be told of what is seen.
    pub(in crate::session) fn wonder(&mut self) {
        let read = self.readers.watch || self.glance.is_some();
        let left = !self.calls.is_empty() && self.may_have_left();
        self.looking.wanted = read || left || self.calls.iter().any(crate::session::Call::tells_of_looking);
    }

    /// Asks for a look where one is due; gives when one will be.
    pub(in crate::session) fn look(&mut self, now: Now) -> Option<Now> {
        let waits = self.looking.wanted;
        let shell = self.shell(now);
        let starts = shell == ShellState::Starting;
        let unmarked = matches!(shell, ShellState::Running(_) | ShellState::NoShell) || self.may_have_left() || starts;
        let decided = matches!(
            self.looking.holds,
            Some(Judgement::Waits(_) | Judgement::WaitsHidden(_) | Judgement::Stopped { .. })
        );
        let flow = self.flow_due(&shell);
        let resting = self.resting(now, None);
        let begins = self.calls.iter().any(crate::session::Call::begins_at_any_prompt);
        let wondered = resting.prompt.is_some() || begins;
        if waits && unmarked && self.looking.place_due && self.looking.asked.is_none() && wondered {
            let rests = self.last_activity + REST_AT_PROMPT;
            if resting.prompt.is_none() && now < rests {
                return Some(rests);
            }
            self.looking.asked = Some(now);
            self.effects.push_back(Effect::Inspect(Look::Near));
            return None;
        }
        if resting.prompt.is_some() {
            self.looking.steady.prompted(matches!(shell, ShellState::Running(_)));
        }
        let wanted = self.calls.iter().any(crate::session::Call::wants_look);
        // Who waits without a word while the shell comes up may do so for a moment only, and nothing printed tells its end.
        let decided = decided && !starts;
        let told = !waits || !unmarked || decided || (resting.prompt.is_some() && !wanted);
        if (told && flow.is_none()) || self.screen_since.is_some() {
            return None;
        }
        if self.ended.is_some() || self.closed.is_some() || self.looking.asked.is_some() {
            return None;
        }
        let first = flow.filter(|_| told).unwrap_or(self.last_activity + REST);
        let due = match self.looking.next {
            Some(next) => next.max(first),
            // A prompt is looked at early, and once.
            None if !told && self.maybe_at_prompt(now) => self.last_activity + REST_AT_PROMPT,
            None => first,
        };
        if now < due {
            return Some(due);
        }
        let look = if now - self.last_activity >= EVERYWHERE { Look::Everywhere } else { Look::Near };
        self.looking.asked = Some(now);
        self.effects.push_back(Effect::Inspect(look));
        None
    }

    /// Who reads key by key without an echo may draw what is typed, as editors of lines do, or nothing or stars. Behind a
    /// question for a secret it is the latter, unless an editor has asked for bracketed paste.
    fn with_its_secrecy(&self, judgement: Judgement) -> Judgement {
        let modes = self.log.cooked.modes();
        let draws = self.looking.echoes != Some(false) || modes.bracketed_paste || modes.alternate;
        match judgement {
            Judgement::Waits(waiter) if !draws && self.asks_for_a_secret() => Judgement::WaitsHidden(Some(waiter)),
            other => other,
        }
    }

    fn asks_for_a_secret(&self) -> bool {
        let line = self.log.cooked.line_at_cursor();
        !line.more && prompt::looks_like(&line.text) == Some(Looks::Secret)
    }

    /// Looks at once, though a marker tells all there is to tell: a shell that came up inside a program may go unseen.
    pub(in crate::session) fn look_for_shell(&mut self, now: Now) {
        if self.looking.around.wants_look() {
            self.looking.asked = Some(now);
            self.effects.push_back(Effect::Inspect(Look::Near));
        }
    }

    /// A shell inside a program was seen to have gone. No byte tells it, so that the program's record does.
    fn shell_left(&mut self, now: Now, shell: u32) {
        let program = self.log.lose_shell(shell, self.wall_at(now));
        self.drain(now);
        if let Some(program) = program {
            self.record(program);
        }
    }

    /// Whether the host can tell what runs at the terminal, and has not yet.
    pub(in crate::session) fn wonders(&self, now: Now) -> bool {
        let over = self.ended.is_some() || self.closed.is_some();
        let unmarked = matches!(self.shell(now), ShellState::Running(_) | ShellState::NoShell);
        unmarked && !over && self.screen_since.is_none() && self.looking.holds.is_none()
    }

    /// Looks where the terminal leads and who would take a line, though no call waits: a server that takes over knows
    /// neither, and a prompt is judged by both.
    pub(in crate::session) fn look_anew(&mut self, now: Now) {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        if unmarked && self.ended.is_none() && self.closed.is_none() {
            self.looking.asked = Some(now);
            self.effects.push_back(Effect::Inspect(Look::Near));
        }
    }

    /// When to look whether the terminal takes output, where nothing else is asked: ctrl+s was sent, or a shell was given
    /// a line and nothing has come of it.
    fn flow_due(&self, shell: &ShellState) -> Option<Now> {
        if !self.looking.flow.is_open() {
            return None;
        }
        let rests = self.last_activity + REST;
        if self.calls.iter().any(crate::session::Call::may_stop_output) {
            return Some(rests);
        }
        let at_shell = matches!(shell, ShellState::AtPrompt { .. } | ShellState::Continuation);
        self.unechoed.filter(|_| at_shell && !self.calls.is_empty()).map(|typed| rests.max(typed + UNECHOED))
    }

    /// Whether the line of the cursor looks like a prompt, to the session or to any call that waits.
    fn maybe_at_prompt(&self, now: Now) -> bool {
        let shell = self.shell(now);
        let own = self.calls.iter().filter_map(|call| match &call.kind {
            CallKind::Run(run) => run.prompt_pattern.as_ref(),
            CallKind::Expect(expect) => expect.run.prompt_pattern.as_ref(),
            CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => None,
        });
        let mut patterns = own.map(Some).chain([None]);
        patterns.any(|pattern| self.prompt_by_looks(now, &shell, pattern).is_some())
    }

    /// Whether the shell that shows its prompt may have gone since, without a marker, so that the program it was started from
    /// has the terminal: nobody has looked since something came behind the prompt.
    fn may_have_left(&self) -> bool {
        let inside = self.log.shell_pids().next_back().is_some_and(|pid| self.looking.around.has(pid));
        inside && self.looking.glance.is_none() && self.log.is_past_prompt()
    }

    /// Until when a call that began then has to wait for that look, if it does.
    pub(in crate::session) fn left_by(&self, now: Now, began: Now) -> Option<Now> {
        let by = began.max(self.last_activity) + LOOK_WAIT;
        (self.may_have_left() && now < by).then_some(by)
    }

    /// Takes what was seen.
    pub(in crate::session) fn looked(&mut self, now: Now, inspection: &Inspection) {
        let Some(asked) = self.looking.asked.take() else { return };
        if self.looked_for_unread(now, inspection) || self.looked_for_rivals(now, inspection) {
            return;
        }
        let quiet = now - self.last_activity;
        let alternate = self.log.cooked.modes().alternate;
        let line = self.log.cooked.line_at_cursor();
        let asks = !line.more && prompt::looks_like(&line.text).is_some();
        let output = Output { quiet, alternate, column: self.log.cooked.cursor().0, asks };
        let judgement = judge(inspection, output);
        let shells: Vec<u32> = self.log.shell_pids().collect();
        self.looking.behind = place::is_behind_carrier(inspection, &shells);
        self.looking.beyond = self.leads_to(inspection, &judgement);
        self.looking.beyond_of = self.command().map(|command| command.id);
        self.looking.taker = place::taker(inspection, &judgement);
        self.looking.armed = place::is_armed(inspection);
        self.looking.around.look(&judgement, inspection);
        self.look_for_shell(now);
        if self.last_activity >= asked {
            return;
        }
        if let Some(shell) = self.looking.around.left(&judgement, inspection, &shells) {
            self.shell_left(now, shell);
        }
        let at_prompt = matches!(self.log.shell(), ShellState::AtPrompt { .. } | ShellState::Continuation);
        self.looking.own_shell = self.own_shell(now, inspection).filter(|_| !at_prompt);
        if matches!(self.looking.own_shell, Some(OwnShell::MarkDue(_))) {
            self.looking.next = Some(now + own_shell::AGAIN);
            return;
        }
        self.looking.place_due = false;
        let modes = inspection.modes.known();
        self.looking.echoes = modes.map(|modes| modes.echo);
        self.looking.canonical = modes.map(|modes| modes.canonical);
        self.looking.refusal = inspection.refusal;
        self.looking.glance = Some(judgement.clone());
        self.looking.at_work.look(now, &judgement, inspection);
        self.looking.steady.glimpse(&judgement, inspection, output);
        if quiet < REST {
            self.looking.next = Some(self.last_activity + REST);
            return;
        }
        match self.looking.steady.look(now, judgement, inspection, output) {
            Step::Holds(judgement) => {
                let later = if self.calls.is_empty() { READERS } else { LATER };
                self.looking.next = Some(now + if quiet < LONG { SOON } else { later });
                self.looking.holds = Some(self.with_its_secrecy(judgement));
                (self.looking.held, self.looking.open) = (Some(now), false);
            }
            Step::Again(at) => (self.looking.next, self.looking.open) = (Some(at), true),
        }
        if matches!(self.looking.at_work.so_far(now), AtWork::Perhaps(_)) && self.maybe_at_prompt(now) {
            self.looking.next = Some(now + AGAIN);
        }
        self.looking.flows(now, inspection.held());
    }

    /// Where the terminal leads from the shell that has it.
    fn leads_to(&self, inspection: &Inspection, judgement: &Judgement) -> Option<Beyond> {
        let from = self.log.place().unwrap_or(&self.setting.home);
        if from.host == self.setting.home.host && !self.looking.behind {
            let command = self.command().map(|command| command.id);
            let before = self.looking.beyond.as_ref().filter(|_| self.looking.beyond_of == command);
            return place::beyond(inspection, judgement, from, before);
        }
        // From another host's shell on, the processes of this one tell nothing. Once its command has led somewhere, it stays
        // there until that shell shows itself again.
        let there = self.looking.beyond.clone();
        there.or_else(|| self.told_by_line(from))
    }

    /// Where the running command's words lead, if it has come there: nothing is said on the way, and a question may be one of
    /// the way's own.
    fn told_by_line(&self, from: &Place) -> Option<Beyond> {
        let line = self.log.cooked.line_at_cursor().text;
        let asks = matches!(prompt::looks_like(&line), Some(Looks::Question | Looks::Secret));
        let command = self.command().filter(|_| !line.trim().is_empty() && !asks)?;
        place::told_by_line(&command.label, from)
    }

    /// The command that the innermost integrated shell runs.
    pub(in crate::session) fn command(&self) -> Option<&Region> {
        let mut open = self.log.regions().rev().filter(|region| region.state == State::Running);
        open.find(|region| region.kind == Kind::Command)
    }

    /// Whether the terminal leads to where nobody sees who waits.
    pub(in crate::session) fn is_carried(&self) -> bool {
        self.looking.beyond.as_ref().is_some_and(|beyond| beyond.carried)
    }

    /// Whether a reply about a prompt has to wait until it is seen where the terminal leads now.
    pub(in crate::session) fn awaits_place(&self, now: Now) -> bool {
        let unmarked = matches!(self.shell(now), ShellState::Running(_) | ShellState::NoShell);
        let late = self.looking.asked.is_some_and(|asked| now - asked >= LOOK_WAIT);
        unmarked && self.looking.place_due && !late
    }

    /// When it has waited long enough.
    pub(in crate::session) fn place_by(&self, now: Now) -> Now {
        self.looking.asked.unwrap_or(now) + LOOK_WAIT
    }

    /// Where the next line runs, where that is not the server's own place.
    #[must_use]
    pub fn elsewhere(&self) -> Option<&Place> {
        Some(self.place()).filter(|place| place::differs(place, &self.setting.home).is_some())
    }

    /// The directory of the shell that has the terminal. None where what it runs has led to another place.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        self.log.cwd().filter(|_| !unmarked || self.looking.beyond.is_none())
    }

    /// Where the session is: as the shell that has the terminal says, or what it runs leads to.
    pub(in crate::session) fn place(&self) -> &Place {
        let own = self.log.place().unwrap_or(&self.setting.home);
        match self.log.shell() {
            ShellState::Running(_) | ShellState::NoShell => {
                self.looking.beyond.as_ref().map_or(own, |beyond| &beyond.place)
            }
            _ => own,
        }
    }
}
