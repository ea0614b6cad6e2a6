//! The table: when each note is true, and what it says. A text names the next call to make.

use super::Facts;
use super::Often::{Always, Habit, Once, OncePerPlace, OncePerText};
use super::habits::{
    clips, echoes_done, echoes_status, endless, filters, hides_failure, is_background, polls, sleeps_first,
};
use super::line::Joint;
use super::program::{half, leaves, started};
use super::{Often, Row};
use crate::call::{Asks, JobEnd, Marks, Plain, Status, Way};
use crate::prompt::{Looks, looks_like};
use crate::region::Kind;
use crate::text::clip::clip_line;
use crate::waiting::Prints;

/// Ended jobs that one note names.
const JOBS_TOLD: usize = 3;

/// Characters of a job's command that a note shows.
const JOB_CHARS: usize = 80;

/// What a process that wrote into a closed pipe ends with.
const SIGPIPE: i32 = 128 + 13;

const fn row(id: &'static str, often: Often, when: fn(&Facts<'_>) -> bool, text: fn(&Facts<'_>) -> String) -> Row {
    Row { id, often, when, text }
}

/// In the order in which they are told: what to do now, what came of the line, how it could be written.
pub(super) const ROWS: &[Row] = &[
    // The shell has not begun the line where the call itself has something to say.
    row(
        "running",
        Always,
        |f| f.is(Status::Running) && f.outcome.notes.is_empty() && !held(f) && f.outcome.observed.silent.is_none(),
        |f| {
            format!(
                "it goes on: wait session=\"{}\" waits for it; send answers what it asks, and with keys=[\"ctrl+c\"] interrupts it",
                f.name
            )
        },
    ),
    row(
        "silent",
        Always,
        |f| f.is(Status::Running) && f.outcome.observed.silent.is_some() && !held(f),
        |f| {
            format!(
                "still working, nothing printed for {:.0} s: wait session=\"{}\" waits for it; send keys=[\"ctrl+c\"] interrupts it",
                f.outcome.observed.silent.unwrap_or_default().as_secs_f64(),
                f.name
            )
        },
    ),
    row("held", Always, held, |_| {
        "the terminal's output is stopped, as ctrl+s does, and what runs is held up by it: send keys=[\"ctrl+q\"] lets it go on".to_owned()
    }),
    row(
        "far",
        Once,
        |f| f.outcome.observed.far.is_some(),
        |f| {
            let (program, place) = f.outcome.observed.far.clone().unwrap_or_default();
            format!(
                "whether the program at the far end of {program} ({place}) works or waits cannot be seen from here: go by its last line"
            )
        },
    ),
    row("piped", Always, |f| asks(f) && f.outcome.observed.hides.is_some(), piped),
    row("job-ended", Always, |f| !f.outcome.observed.jobs.is_empty(), jobs_ended),
    row(
        "waiting",
        Once,
        |f| (f.is(Status::Waiting) || sent_to(f, Asks::Shown)) && f.outcome.observed.hides.is_none(),
        |_| "run answers it with a line, send with text and keys".to_owned(),
    ),
    row(
        "unanswered",
        Always,
        |f| f.is(Status::Unanswered),
        |_| "answer it with run or send, or call expect again, without line, with a rule for it".to_owned(),
    ),
    row(
        "hidden",
        Always,
        |f| f.is(Status::WaitingHidden) || f.is(Status::UnansweredHidden) || sent_to(f, Asks::Hidden),
        |f| {
            format!(
                "what is typed now is not shown: ask the user to type it in the attached terminal, then wait session=\"{}\" goes on",
                f.name
            )
        },
    ),
    row(
        "suspended",
        Always,
        |f| f.outcome.observed.stopped.is_some(),
        |_| {
            "the job was stopped, it has not ended: run line=\"fg\" goes on with it, line=\"bg\" in the background; line=\"jobs\" lists all, and kill %NUMBER ends one".to_owned()
        },
    ),
    row(
        "stopped-in-front",
        Always,
        |f| (f.is(Status::Suspended) && f.outcome.observed.stopped.is_none()) || sent_to(f, Asks::Stopped),
        |_| {
            "send signal=\"CONT\" lets it go on, and signal=\"KILL\" ends it; one that was stopped for reading the terminal from the background stops again".to_owned()
        },
    ),
    row(
        "continuation",
        Always,
        |f| f.is(Status::Continuation) && !in_program(f),
        |_| "run the rest of the input line by line, or send keys=[\"ctrl+c\"] gives it up".to_owned(),
    ),
    row(
        "half-block",
        OncePerText,
        |f| f.is(Status::Continuation) && in_program(f),
        |f| {
            let prompt = f.outcome.prompt.as_deref().unwrap_or_default();
            format!("run the rest line by line{}", half(prompt, f.outcome.observed.taker.as_deref()))
        },
    ),
    row(
        "screen",
        Once,
        |f| f.is(Status::Screen) && leaves(f).is_none(),
        |_| {
            "send presses its keys and shows the screen; quit it before running the next command (q in a pager or top, :q! in vim)".to_owned()
        },
    ),
    row(
        "leave",
        Always,
        |f| f.is(Status::Screen) && leaves(f).is_some(),
        |f| {
            let (program, keys) = leaves(f).unwrap_or_default();
            format!(
                "{program} has the screen: send presses its keys, and {keys} leaves it; until then no command can be run here"
            )
        },
    ),
    row("quiet", Always, |f| f.is(Status::Quiet) && !f.outcome.observed.unanswered, quiet),
    row(
        "no echo",
        Always,
        |f| f.outcome.observed.unanswered,
        |f| {
            format!(
                "nothing has come back since the line was typed, not even its echo: the way there may be slow or broken. The line is given and must not be typed again: wait session=\"{}\" until=... tells what comes of it",
                f.name
            )
        },
    ),
    row(
        "ended",
        Always,
        |f| f.is(Status::Ended),
        |f| format!("session_create opens a new session; read session=\"{}\" still shows this one's log", f.name),
    ),
    row(
        "program",
        Once,
        |f| f.is(Status::Prompt) && opens_program(f),
        |f| format!("{} stays open: run sends it its next lines, with no need to start it again", started(f)),
    ),
    row(
        "shell-inside",
        Once,
        |f| f.outcome.observed.marks == Some(Marks::Stand),
        |_| {
            "a shell with the integration is open there: run gives it its next lines, with exact ends and exit statuses, and exit leaves it".to_owned()
        },
    ),
    row(
        "marks-later",
        Once,
        |f| f.outcome.observed.marks == Some(Marks::Later),
        |_| {
            "the shell here sets PROMPT_COMMAND anew in its startup file, so only its first command brings the integration back: run it as any other, its exit status is told".to_owned()
        },
    ),
    row(
        "marks-lost",
        Always,
        |f| f.outcome.observed.marks == Some(Marks::Lost) && !redirects_shell(f),
        |_| {
            "this is the shell's own prompt: the line has ended, and has taken PROMPT_COMMAND and the prompt's marks away, which told its exit status. The next run is a command as ever, and tells that status too".to_owned()
        },
    ),
    row(
        "redirected",
        Always,
        |f| (f.is(Status::Prompt) || f.is(Status::Waiting) || f.is(Status::Quiet)) && redirects_shell(f),
        |_| {
            "exec has sent the shell's own output elsewhere, perhaps its prompt too: the ends of commands and their exit statuses are not told until run line=\"exec >/dev/tty 2>&1\"".to_owned()
        },
    ),
    row(
        "unshown",
        Once,
        |f| f.outcome.observed.unshown,
        |_| {
            "the shell does not show what is typed (stty -echo), so regions have no name: run line=\"stty echo\" changes that"
            .to_owned()
        },
    ),
    row("plain-shell", OncePerPlace, |f| f.outcome.plain.is_some(), plain_shell),
    row("unsent", Always, |f| f.outcome.unsent.is_some_and(|unsent| unsent > 0) && !f.outcome.gone, unsent),
    row("stage", Always, stage_failed, |_| {
        "the exit status is the last stage's: an earlier stage of the pipeline failed".to_owned()
    }),
    row(
        "sigpipe",
        Once,
        |f| f.ended() && has_closed_early(f) && !stage_failed(f),
        |_| "141 is SIGPIPE: a later stage had read enough and closed the pipe, which is no failure".to_owned(),
    ),
    row(
        "or-true",
        Habit,
        |f| f.exit() == Some(0) && hides_failure(f),
        |_| {
            "with `|| true` exit 0 says nothing of the command before it: run it without, its status is told and a failure ends nothing here".to_owned()
        },
    ),
    row(
        "echo-status",
        Habit,
        |f| f.ended() && echoes_status(f),
        |_| {
            "the `echo $?` is not needed: the status line tells the exit status, and a pipeline's every stage's"
                .to_owned()
        },
    ),
    row(
        "echo-done",
        Habit,
        |f| f.exit() == Some(0) && echoes_done(f),
        |_| {
            "exit 0 is that of the `echo` at the end, not of what ran before it: run the command alone, and the status line tells its status".to_owned()
        },
    ),
    row("crashed", Once, |f| matches!(f.exit(), Some(132 | 134 | 135 | 136 | 139)), crashed),
    row(
        "killed",
        Once,
        |f| f.exit() == Some(128 + 9),
        |_| {
            "it was killed with SIGKILL, which no program sends itself: by somebody, or by the kernel for want of memory (run line=\"free -m\")".to_owned()
        },
    ),
    row("polling", Habit, polls, |f| {
        format!(
            "no loop with sleep is needed: wait session=\"{}\" waits for a command to end, or with until=REGEX for its output; send keys=[\"ctrl+c\"] ends the loop",
            f.name
        )
    }),
    row("sleep-first", Habit, sleeps_first, |f| {
        format!(
            "no sleep is needed: wait session=\"{}\" returns as soon as the command that runs there ends, or until=REGEX is printed",
            f.name
        )
    }),
    row(
        "background",
        Habit,
        |f| f.any(is_background),
        |_| {
            "no `&` or nohup is needed: a command goes on when its call returns. run line=... timeout=5, then wait, tells its end and status; one that stays (a server) gets a session of its own".to_owned()
        },
    ),
    row(
        "timeout",
        Habit,
        |f| f.any(|command| command.is_behind(&["timeout"]) && command.loops == 0),
        |_| {
            "run has a timeout of its own, at which the call returns and the command goes on; the `timeout` command kills it, and its status is then 124".to_owned()
        },
    ),
    row(
        "paged",
        Habit,
        |f| f.sink().is_some_and(|sink| clips(sink) && !endless(f)),
        |_| {
            "the `| tail` or `| head` is not needed: replies are clipped, the whole output is kept, and last_lines or read shows any part".to_owned()
        },
    ),
    row(
        "filtered",
        Habit,
        |f| f.sink().is_some_and(filters),
        |_| {
            "without the `| grep` the whole output is kept: show=PATTERN shapes the reply, and search finds the rest later without running it again".to_owned()
        },
    ),
    row(
        "tee",
        Habit,
        |f| {
            f.any(|command| {
                command.name() == "tee" && command.joint == Joint::Pipe && !command.is_behind(&["sudo", "doas"])
            })
        },
        |_| {
            "the `| tee` is not needed: the whole output is kept, read and search find any part of it, and save_to=FILE copies it".to_owned()
        },
    ),
    row(
        "pager-pipe",
        Habit,
        |f| f.sink().is_some_and(|sink| matches!(sink.name(), "less" | "more")),
        |_| {
            "the pager at the end is not needed: replies are clipped, and read shows any part of the output by line numbers".to_owned()
        },
    ),
];

/// What to do behind a line where nobody sees who waits.
fn quiet(facts: &Facts<'_>) -> String {
    let wait = format!("wait session=\"{}\" if it is still working", facts.name);
    match facts.outcome.prompt.as_deref().and_then(looks_like) {
        Some(Looks::Prompt) => format!(
            "its last line looks like a prompt, and whether it is one cannot be seen: run types the next line there; prompt_pattern tells it for certain, or {wait}"
        ),
        Some(Looks::Question) => format!(
            "its last line looks like a question, and whether it waits cannot be seen: run answers it with a line, send with text and keys, or {wait}"
        ),
        Some(Looks::Secret) => format!(
            "its last line looks like a question for a secret, and whether it waits cannot be seen: ask the user to type it in the attached terminal, then wait session=\"{}\"; or a rule of expect with secret=true answers it; send keys=[\"ctrl+c\"] gives it up",
            facts.name
        ),
        None => format!("whether it is done cannot be told: its prompt is not known. Give prompt_pattern, or {wait}"),
    }
}

fn held(facts: &Facts<'_>) -> bool {
    facts.outcome.observed.held && !facts.is(Status::Ended)
}

fn asks(facts: &Facts<'_>) -> bool {
    let told = matches!(
        facts.outcome.status,
        Status::Waiting | Status::WaitingHidden | Status::Unanswered | Status::UnansweredHidden
    );
    told || sent_to(facts, Asks::Shown) || sent_to(facts, Asks::Hidden)
}

/// Whether the program that a `send` went to wants this of the terminal now.
fn sent_to(facts: &Facts<'_>, asks: Asks) -> bool {
    facts.is(Status::Sent) && facts.outcome.observed.asks == Some(asks)
}

/// Who reads the terminal and asks where nobody sees it.
fn piped(facts: &Facts<'_>) -> String {
    let Some(reader) = &facts.outcome.observed.hides else { return String::new() };
    let into = match &reader.prints {
        Prints::Pipe(Some(name)) => format!("a pipe to {name}"),
        Prints::Pipe(None) => "a pipe".to_owned(),
        _ => "a file".to_owned(),
    };
    // A line is not typed where it would not be shown.
    let hidden = facts.is(Status::WaitingHidden) || sent_to(facts, Asks::Hidden);
    let answers = if hidden { "send answers" } else { "run or send answers" };
    format!(
        "{} (pid {}) reads the terminal, and what it prints goes into {into}: if it asks something, that is hidden there. {answers} it; send keys=[\"ctrl+c\"] ends it, to run it without that",
        reader.name, reader.pid
    )
}

fn jobs_ended(facts: &Facts<'_>) -> String {
    let told = |job: &JobEnd| format!("[{}] {} ({})", job.number, job.how, clip_line(&job.command, JOB_CHARS));
    let jobs = &facts.outcome.observed.jobs;
    let mut all: Vec<String> = jobs.iter().take(JOBS_TOLD).map(told).collect();
    if jobs.len() > JOBS_TOLD {
        all.push(format!("and {} more", jobs.len() - JOBS_TOLD));
    }
    format!("a background job has ended: {}", all.join(", "))
}

fn in_program(facts: &Facts<'_>) -> bool {
    facts.region().is_some_and(|region| region.kind == Kind::Input)
}

/// The shells that the integration is for.
const INTEGRATED: &[&str] = &["bash", "zsh", "fish"];

fn plain_shell(facts: &Facts<'_>) -> String {
    let Some(Plain { shell, way, .. }) = &facts.outcome.plain else { return String::new() };
    let plain = "a plain one: commands end by the looks of its prompt, without exit statuses";
    if let Some(shell) = shell.as_deref().filter(|shell| !INTEGRATED.contains(shell)) {
        return format!("the shell here ({shell}) is {plain}; run line=\"echo $?\" asks for one");
    }
    let here = format!("the shell here is {plain}. shell_integrate session=\"{}\" changes that", facts.name);
    match way {
        Way::Here | Way::There => here,
        Way::User => format!("{here}; next time `dtmcp into` before su or sudo brings it along"),
        Way::Host => format!("{here}; next time `dtmcp ssh HOST` in place of ssh brings it along"),
        Way::Container => {
            format!("{here}; next time `dtmcp into` before the command that enters the container brings it along")
        }
    }
}

/// Whether a program has come up at the line's first prompt.
fn opens_program(facts: &Facts<'_>) -> bool {
    let shells = facts.outcome.plain.is_some() || facts.outcome.observed.marks.is_some() || redirects_shell(facts);
    !in_program(facts) && facts.region().is_some() && !shells
}

/// Whether the line ends with an `exec` of nothing, which redirects the shell itself.
fn redirects_shell(facts: &Facts<'_>) -> bool {
    facts.last().is_some_and(|last| last.words == ["exec"])
}

fn unsent(facts: &Facts<'_>) -> String {
    let (lines, them) = match facts.outcome.unsent {
        Some(left) if left > 1 => (format!("the last {left} lines were"), "them"),
        _ => ("the last line was".to_owned(), "it"),
    };
    if facts.is(Status::Ended) {
        return format!("{lines} not typed");
    }
    // A command that has ended without a status is a line that did not parse.
    if facts.is(Status::Finished) && facts.region().is_some_and(|region| region.exit.is_none()) {
        return format!("{lines} not typed: the shell refused what came before. Correct that and run all of it again");
    }
    format!("{lines} not typed: run {them} once this one is done")
}

/// Whether an earlier stage failed though the line's status says nothing of it. Who wrote into a pipe that a later
/// stage had closed did not fail.
fn stage_failed(facts: &Facts<'_>) -> bool {
    let failed = |status: &i32| !matches!(*status, 0 | SIGPIPE);
    facts.region().is_some_and(|region| region.exit == Some(0)) && facts.stages().iter().any(failed)
}

/// Whether a stage wrote into a pipe that a later one had closed. One that was never started has read nothing: a shell gives
/// 126 for what it may not start, and 127 for what it does not find.
fn has_closed_early(facts: &Facts<'_>) -> bool {
    let Some(wrote) = facts.stages().iter().rposition(|status| *status == SIGPIPE) else { return false };
    facts.stages().iter().skip(wrote + 1).all(|status| !matches!(*status, 126 | 127))
}

fn crashed(facts: &Facts<'_>) -> String {
    let (signal, what) = match facts.exit() {
        Some(134) => ("SIGABRT", "it gave up by itself, as a failed assertion does"),
        Some(135) => ("SIGBUS", "it touched memory that is not there"),
        Some(136) => ("SIGFPE", "an integer was divided by zero"),
        Some(132) => ("SIGILL", "it came to an instruction that this machine does not have"),
        _ => ("SIGSEGV", "it touched memory that is not its own"),
    };
    format!(
        "it died by {signal}: {what}. run line=\"gdb -q --args PROGRAM ARGUMENTS\", then \"run\" and \"bt\", shows where"
    )
}
