//! `shell_integrate`: asks the shell at a plain prompt which one it is, then types the line that loads the integration.
//!
//! Both lines are ours and no command of anyone's, so neither makes a region. Each is typed once: whatever comes of it is
//! told, and the model calls again.

use std::time::Duration;

use super::refusal::{NOT_TYPED, refusal};
use super::run::{Step, Target};
use super::watch::{Asks, QUIET, REST, Seen, prompt_due, prompt_text};
use super::{Integrate, Learned, Outcome, Status};
use crate::integration::{Answer, Kind, QUESTION, Shell, signature};
use crate::log::{LogEvent, ShellInfo, ShellState};
use crate::place::{Taker, told};
use crate::prompt::{self, Looks};
use crate::record::{HOURS, MissingEntry};
use crate::region::Place;
use crate::text::visible::quoted;
use crate::time::Now;
use crate::waiting::Judgement;

/// How long the whole of it may take: two lines and their answers, over a slow connection. Below the 60 s at which some
/// clients give up.
const TIME: Duration = Duration::from_secs(30);

/// Where no prompt is shown after this long, none is coming: from a far end it may take a moment, while a program that is
/// seen to run here shows none.
const NO_PROMPT: Duration = Duration::from_secs(5);
const NO_PROMPT_HERE: Duration = Duration::from_millis(600);

/// What of a shell's own words is quoted, in characters.
const WORDS_MAX: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Until a plain shell's prompt is there; since when.
    Ready(Now),
    /// Until the terminal has taken the question.
    Asking,
    /// Until the prompt is there again, and the answer before it.
    Asked,
    /// Until the terminal has taken the line.
    Telling,
    /// Until a marker comes, or the prompt without one.
    Told,
    /// The shell has shown itself; until its prompt, since when.
    Integrated(Now),
}

/// A `shell_integrate` under way.
#[derive(Debug)]
pub(crate) struct IntegrateCall {
    integrate: Integrate,
    phase: Phase,
    deadline: Now,
    /// What is known of the place without asking, for what is remembered of it.
    key: String,
    /// The prompt that was typed at.
    prompt: String,
    /// The first line that can be an answer to what was typed, and the last line there is.
    from: u64,
    last: u64,
    answer: Option<Answer>,
    /// What the shell says of the file.
    words: Option<String>,
    started: Option<ShellInfo>,
}

impl IntegrateCall {
    pub(crate) fn begin(now: Now, integrate: Integrate) -> Self {
        Self {
            integrate,
            phase: Phase::Ready(now),
            deadline: now + TIME,
            key: String::new(),
            prompt: String::new(),
            from: 1,
            last: 0,
            answer: None,
            words: None,
            started: None,
        }
    }

    pub(crate) fn deadline(&self) -> Now {
        self.deadline
    }

    /// Whether nothing has been typed yet, so that it has to be known who would take it.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.phase, Phase::Ready(_))
    }

    pub(crate) fn wants_lines(&self) -> bool {
        matches!(self.phase, Phase::Asking | Phase::Asked | Phase::Telling | Phase::Told)
    }

    /// The first line that is looked at.
    pub(crate) fn first_line(&self) -> u64 {
        self.from
    }

    /// Tells where the output of what is typed begins.
    pub(crate) fn typing_at(&mut self, line: u64) {
        self.from = line;
        self.last = 0;
    }

    /// The terminal has taken what was typed, or not.
    pub(crate) fn typed(&mut self, result: Result<(), String>) -> Option<Outcome> {
        self.phase = match self.phase {
            Phase::Asking => Phase::Asked,
            Phase::Telling => Phase::Told,
            other => other,
        };
        result.err().map(Outcome::error)
    }

    /// The terminal has not taken it, and it is to be given out again.
    pub(crate) fn take_back(&mut self, now: Now) {
        self.phase = if self.phase == Phase::Asking { Phase::Ready(now) } else { Phase::Asked };
    }

    /// Looks at a line of output; `last` says that nothing follows it yet, so that it may grow.
    pub(crate) fn look(&mut self, number: u64, text: &str, last: bool) {
        if number < self.from {
            return;
        }
        self.last = self.last.max(number);
        if last {
            return;
        }
        match self.phase {
            Phase::Asking | Phase::Asked => self.answer = self.answer.take().or_else(|| Answer::read(text)),
            Phase::Telling | Phase::Told if text.contains("integration.") => {
                self.words.get_or_insert(text.chars().take(WORDS_MAX).collect());
            }
            _ => {}
        }
    }

    pub(crate) fn on(&mut self, now: Now, event: &LogEvent) {
        if let (LogEvent::ShellStarted(info), Phase::Telling | Phase::Told) = (event, self.phase) {
            self.started = Some(info.clone());
            self.phase = Phase::Integrated(now);
        }
    }

    pub(crate) fn step(&mut self, view: &Seen<'_>) -> Step {
        if view.over() {
            return refused(refusal(view, NOT_TYPED, "ended"));
        }
        match self.phase {
            Phase::Ready(since) => self.ready(view, since),
            Phase::Asking | Phase::Telling => Step::Wait(None),
            Phase::Asked => self.asked(view),
            Phase::Told => self.told(view),
            Phase::Integrated(since) => {
                let ready = matches!(view.shell, ShellState::AtPrompt { ready: true, .. });
                let due = since + prompt_due(view.log);
                if ready || view.now >= due { self.done(view) } else { Step::Wait(Some(due)) }
            }
        }
    }

    fn ready(&mut self, view: &Seen<'_>, since: Now) -> Step {
        match view.shell {
            ShellState::AtPrompt { .. } | ShellState::Continuation => {
                if let Some(due) = view.answer_due.filter(|_| view.now < self.deadline) {
                    return Step::Wait(Some(due));
                }
                let mut outcome = Outcome::new(Status::Ok);
                outcome.notes.push("the shell at the prompt is integrated already; nothing was typed".to_owned());
                return Step::Done(Box::new(outcome));
            }
            ShellState::Starting if view.now < self.deadline => return Step::Wait(view.resting.again),
            ShellState::Starting => return refused(refusal(view, NOT_TYPED, "late")),
            ShellState::Ended => return refused(refusal(view, NOT_TYPED, "ended")),
            ShellState::Running(_) | ShellState::NoShell => {}
        }
        if view.resting.screen {
            return refused(refusal(view, NOT_TYPED, "screen"));
        }
        if view.resting.asks == Some(Asks::Hidden) {
            return refused(refusal(view, NOT_TYPED, "hidden"));
        }
        match stands(view) {
            Stands::Prompt => self.at_prompt(view),
            Stands::Typed(text) => refused(format!(
                "{NOT_TYPED}: {text} stands on the shell's line, not submitted. send keys=[\"ctrl+u\"] clears it, if it is yours or whoever typed it agrees",
                text = quoted(&text)
            )),
            // One that works beside a shell at its prompt is told from one that asks as soon as the host has seen who waits.
            Stands::Program(_)
                if !matches!(view.judgement, Some(Judgement::Waits(_))) && view.now < since + NO_PROMPT_HERE =>
            {
                Step::Wait(Some(since + NO_PROMPT_HERE))
            }
            Stands::Program(name) => refused(format!(
                "{NOT_TYPED}: {name} has the terminal, at {}, and it is no shell. Leave it first, then call shell_integrate at the shell's prompt",
                quoted(&prompt_text(view))
            )),
            Stands::Question(text) => refused(format!(
                "{NOT_TYPED}: {text} looks like a question, which the lines for a shell would answer. If it is the prompt of a shell, run line=\"PS1='$ '\" gives it one that can be told from questions (fish: run line=\"function fish_prompt; echo '$ '; end\"); then call shell_integrate again",
                text = quoted(&text)
            )),
            Stands::Nothing => {
                let far = matches!(view.taker, Some(Taker::Far) | None);
                let until = since + if far { NO_PROMPT } else { NO_PROMPT_HERE };
                if view.now >= until {
                    return refused(refusal(view, NOT_TYPED, "busy"));
                }
                let quiet = view.now + QUIET.saturating_sub(view.quiet);
                let again = [Some(until), Some(quiet), view.resting.again];
                Step::Wait(again.into_iter().flatten().filter(|at| *at > view.now).min())
            }
        }
    }

    fn at_prompt(&mut self, view: &Seen<'_>) -> Step {
        self.prompt = view.log.cooked.line_at_cursor().text;
        self.key = format!("{} {}", told(view.place, view.home), signature(&self.prompt)).trim().to_owned();
        let known = self.integrate.missing.iter().find(|entry| entry.place == self.key && entry.holds(view.wall));
        if let Some(entry) = known {
            let age = Duration::from_millis(view.wall.0.saturating_sub(entry.at));
            let text = format!(
                "{NOT_TYPED}: {} ago the integration's files were missing here, for {}. {}; that makes this forgotten, and after {HOURS} h it is asked again",
                crate::reply::seconds(age),
                entry.who,
                install(view.place, &entry.who)
            );
            return refused(text);
        }
        self.phase = Phase::Asking;
        Step::Line(Target::Unmarked, QUESTION.to_owned())
    }

    fn asked(&mut self, view: &Seen<'_>) -> Step {
        if !self.is_back(view) {
            return self.wait(view, "the shell has not answered the question which one it is");
        }
        let Some(Answer { shell, who }) = &self.answer else {
            return refused(
                "what stands at the prompt did not answer the question which shell it is, so it is neither bash, zsh nor fish, or a restricted one, and was left as it is: run works there by the looks of its prompt, without exit statuses"
                    .to_owned(),
            );
        };
        let (kind, version) = match shell {
            Shell::Known(kind, version) => (*kind, version),
            Shell::Other(name) => {
                let name = if name.is_empty() { "of another kind" } else { name };
                return refused(format!(
                    "the shell here is {name}, and the integration is for bash, zsh and fish: it was left as it is. run works there by the looks of its prompt, without exit statuses; a bash that you start from it (run line=\"bash\") can be integrated"
                ));
            }
        };
        if let Some(oldest) = kind.too_old(version) {
            let name = kind.name();
            return refused(format!(
                "the {name} here is {version}, and the integration needs {oldest} or newer: it was left as it is. run works there by the looks of its prompt, without exit statuses"
            ));
        }
        let Some(nonce) = view.log.nonce() else {
            return refused("this session was made without a nonce, and its shells cannot be integrated".to_owned());
        };
        let line = kind.line(&self.directory(view, who), nonce);
        self.phase = Phase::Telling;
        Step::Line(Target::Unmarked, line)
    }

    /// Where the files are for whoever is at the prompt: the server's own, on its host and if they may read them.
    fn directory(&self, view: &Seen<'_>, who: &str) -> String {
        let files = &self.integrate.files;
        let user = who.split('@').next().unwrap_or_default();
        let here = view.place.host == view.home.host && view.place.container.is_none();
        let may_read = files.for_all || user == view.home.user || user == "root";
        if here && may_read { files.here.clone() } else { files.elsewhere.clone() }
    }

    fn told(&mut self, view: &Seen<'_>) -> Step {
        if !self.is_back(view) {
            return self.wait(view, "the shell has not taken the line that loads the integration");
        }
        let who = self.answer.as_ref().map(|answer| answer.who.clone()).unwrap_or_default();
        let kind = self.answer.as_ref().and_then(|answer| match answer.shell {
            Shell::Known(kind, _) => Some(kind),
            Shell::Other(_) => None,
        });
        let Some(words) = &self.words else {
            return refused(
                "the line was typed, and the shell shows no marks: its prompt may be one that cannot be changed. read shows what it said; run works there by the looks of its prompt"
                    .to_owned(),
            );
        };
        let file = kind.map(Kind::file).unwrap_or_default();
        let mut outcome = Outcome::error(format!(
            "{who} cannot load {file}: {words}. {}. Until then run works here by the looks of the prompt, without exit statuses. This is remembered for {HOURS} h",
            install(view.place, &who),
            words = quoted(words)
        ));
        outcome.learned = Some(Learned::Missing(MissingEntry { place: self.key.clone(), who, at: view.wall.0 }));
        Step::Done(Box::new(outcome))
    }

    fn done(&self, view: &Seen<'_>) -> Step {
        let mut outcome = Outcome::new(Status::Ok);
        let Some(ShellInfo { place, version, .. }) = &self.started else { return Step::Wait(None) };
        let shell = version.replacen('-', " ", 1);
        outcome.notes.push(format!(
            "{shell} for {} on {} is integrated: run tells each command's own output and exit status there, until that shell ends",
            place.user, place.host
        ));
        let who = self.answer.as_ref().map(|answer| answer.who.clone()).unwrap_or_default();
        outcome.learned = Some(Learned::Present { place: self.key.clone(), who });
        outcome.prompt = Some(prompt_text(view));
        Step::Done(Box::new(outcome))
    }

    /// Whether the prompt that was typed at is there again.
    fn is_back(&self, view: &Seen<'_>) -> bool {
        if self.last < self.from || view.quiet < REST {
            return false;
        }
        let line = view.log.cooked.line_at_cursor().text;
        let same = line == self.prompt;
        let looks = view.resting.prompt.is_some() || view.resting.asks == Some(Asks::Shown) && is_odd_prompt(&line);
        same || looks || view.quiet >= QUIET && is_odd_prompt(&line)
    }

    fn wait(&self, view: &Seen<'_>, what: &str) -> Step {
        if view.now < self.deadline {
            let again = [REST, QUIET].map(|rest| view.now + rest.saturating_sub(view.quiet));
            return Step::Wait(again.into_iter().chain(view.resting.again).filter(|at| *at > view.now).min());
        }
        refused(format!(
            "{what} within {} s. read view=\"screen\" shows what it does; send keys=[\"ctrl+c\"] gives the line up",
            TIME.as_secs()
        ))
    }
}

fn refused(text: String) -> Step {
    Step::Done(Box::new(Outcome::error(text)))
}

/// What a person has to do.
fn install(place: &Place, who: &str) -> String {
    match (&place.container, who.split('@').next()) {
        (Some(container), _) => format!(
            "{container} is entered with them by `dtmcp into` and the command that enters it, in place of that command alone"
        ),
        (None, Some(user)) => format!(
            "Ask the user to run `dtmcp install {user}@{}`, with the options that their ssh takes, and then call shell_integrate again; or leave, and come back with `dtmcp ssh`",
            place.host
        ),
        (None, None) => String::new(),
    }
}

/// What stands where something would be typed.
enum Stands {
    /// A plain shell's prompt, with nothing behind it.
    Prompt,
    /// A prompt with text behind it.
    Typed(String),
    /// A program that is no shell, at its prompt.
    Program(String),
    /// What a far end rests at, and looks like a question.
    Question(String),
    /// Nothing that looks like a prompt yet.
    Nothing,
}

fn stands(view: &Seen<'_>) -> Stands {
    let line = view.log.cooked.line_at_cursor();
    let asks = view.resting.asks == Some(Asks::Shown);
    let prompted = matches!(view.resting.prompt, Some((_, prompt::Shape::Primary)));
    if let Some(Taker::Program(name)) = view.taker {
        return if prompted || asks { Stands::Program(name.clone()) } else { Stands::Nothing };
    }
    if let Some(prompt) = prompt::leading(&line.text)
        && view.quiet >= REST
        && (prompt.len() < line.text.len() || line.more)
        && !prompt::is_programs(prompt)
    {
        let typed = line.text.get(prompt.len()..).unwrap_or_default().trim();
        return Stands::Typed(typed.chars().take(WORDS_MAX).collect());
    }
    let shell = matches!(view.taker, Some(Taker::Shell(_)));
    if prompted && !shell && prompt::is_programs(&line.text) {
        return Stands::Program("a program".to_owned());
    }
    let odd = !line.more && is_odd_prompt(&line.text) && (shell && asks || view.quiet >= QUIET);
    if prompted || odd {
        return Stands::Prompt;
    }
    // Where nobody sees who waits, `run` gives a line to whatever rests for long.
    if !view.resting.quiet || view.looked.is_none() || line.more || line.text.trim().is_empty() {
        return Stands::Nothing;
    }
    match prompt::looks_like(&line.text) {
        Some(Looks::Question | Looks::Secret) => Stands::Question(line.text),
        Some(Looks::Prompt) | None => Stands::Prompt,
    }
}

/// Whether a line may be a prompt that no list has, and not a question or half a word: a sign and a blank stand at its
/// end (`❯ `, `➜ ~ `).
fn is_odd_prompt(line: &str) -> bool {
    let sign =
        |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '?' | ':' | '.' | ',' | ';' | ')' | ']' | '"' | '\'');
    line.strip_suffix(' ').and_then(|line| line.trim_end().chars().last()).is_some_and(sign)
}
