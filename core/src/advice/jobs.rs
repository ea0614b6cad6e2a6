//! What shells print when a background job has ended.

use crate::call::JobEnd;

/// Characters of a job's command that are kept, to be found in the line that began it. Longer ones are scripts.
const COMMAND_MAX: usize = 4096;

/// How a job can have ended, as bash (with the C library's names of signals), zsh and others begin to say it. What
/// runs or is stopped has not.
const ENDS: &[&str] = &[
    "done",
    "exit",
    "hangup",
    "interrupt",
    "quit",
    "illegal",
    "trace",
    "abort",
    "bus error",
    "floating point exception",
    "killed",
    "user defined signal",
    "segmentation fault",
    "broken pipe",
    "alarm",
    "terminated",
];

/// How fish begins to say it.
const FISH: &str = "fish: Job ";

/// The echo of ctrl+z, behind which dash says it.
const ECHOED: &str = "^Z[";

/// How zsh says that a job was stopped.
const SUSPENDED: &str = ": suspended";

/// Whether any line of a text may be such a line: most texts have none, and need not be taken apart.
#[must_use]
pub(crate) fn may_tell_of_jobs(text: &[u8]) -> bool {
    let begins = |with: &[u8]| {
        let inside = memchr::memmem::find_iter(text, with).any(|at| at > 0 && text.get(at - 1) == Some(&b'\n'));
        inside || text.starts_with(with)
    };
    begins(b"[") || begins(FISH.as_bytes())
}

/// Reads such a line: `[1]+  Done                    sleep 3` of bash, `[1]  + exit 3     make` of zsh,
/// `fish: Job 1, 'sleep 3 &' has ended`.
#[must_use]
pub(crate) fn job_end(line: &str) -> Option<JobEnd> {
    if let Some(rest) = line.strip_prefix(FISH) {
        return fish_job_end(rest);
    }
    let (number, rest) = line.strip_prefix('[')?.split_once(']')?;
    let number = number.parse().ok()?;
    let status = rest.trim_start_matches([' ', '+', '-']);
    if !rest.strip_suffix(status)?.ends_with(' ') {
        return None;
    }
    let (how, command) = status.split_once("  ")?;
    let word = how.to_ascii_lowercase();
    let ends = ENDS.iter().any(|end| word.starts_with(end));
    let command = command.trim();
    (ends && !command.is_empty()).then(|| JobEnd {
        number,
        how: how.trim_end().to_owned(),
        command: command.chars().take(COMMAND_MAX).collect(),
    })
}

/// Whether any line of a text may tell that a job was stopped.
#[must_use]
pub(crate) fn may_tell_of_stops(text: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    may_tell_of_jobs(text) || has(ECHOED.as_bytes()) || has(SUSPENDED.as_bytes()) || has(FISH.as_bytes())
}

/// Whether a line is a shell's notice that a job was stopped: `[1]+  Stopped  make` of bash (in any language, so what
/// counts is the number), `zsh: suspended  make`, `fish: Job 1, 'make' has stopped`. And whether it says so without the
/// shell's status, as fish does, to which such a job is a success.
#[must_use]
pub(crate) fn stop_notice(line: &str) -> Option<bool> {
    let fish = line.find(FISH).and_then(|at| line.get(at..)).is_some_and(|notice| notice.ends_with("' has stopped"));
    let numbered = || {
        let number = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(number, _)| number);
        number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    };
    (fish || numbered() || line.contains(SUSPENDED)).then_some(fish)
}

/// The command of the job that a shell's notice calls stopped, in English: `[1]+  Stopped  make`, `[1] + Suspended  make` of
/// others, `zsh: suspended  make`, `fish: Job 1, 'make' has stopped`.
#[must_use]
pub(crate) fn stopped_command(line: &str) -> Option<&str> {
    let line = line.strip_prefix("^Z").unwrap_or(line);
    if let Some((_, job)) = line.strip_prefix(FISH).and_then(|rest| rest.split_once(", '")) {
        return job.strip_suffix("' has stopped");
    }
    let behind = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((number, rest)) if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => {
            let state = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ' ' | '+' | '-'));
            ["Stopped", "Suspended", "suspended"].iter().find_map(|word| state.strip_prefix(word))?
        }
        _ => line.split_once(SUSPENDED)?.1,
    };
    // What for, as in `Stopped (tty input)`, and the directory where it began.
    let command = behind
        .trim_start_matches(' ')
        .strip_prefix('(')
        .filter(|_| !behind.starts_with("  "))
        .map_or(behind, |why| why.split_once(')').map_or(why, |(_, rest)| rest));
    let command = command.split("  (wd: ").next().unwrap_or_default().trim();
    (command.len() < behind.len() && !command.is_empty()).then_some(command)
}

fn fish_job_end(rest: &str) -> Option<JobEnd> {
    let (number, rest) = rest.split_once(", '")?;
    let (command, how) = rest.rsplit_once("' ")?;
    let how = match how.strip_prefix("terminated by signal ") {
        Some(signal) => signal.to_owned(),
        None => how.strip_prefix("has ").filter(|how| *how == "ended")?.to_owned(),
    };
    let command = command.trim_end_matches(" &");
    Some(JobEnd { number: number.parse().ok()?, how, command: command.chars().take(COMMAND_MAX).collect() })
}

#[cfg(test)]
mod tests {
    use super::{job_end, may_tell_of_jobs, may_tell_of_stops, stopped_command};

    #[test]
    fn a_stopped_job_is_named() {
        for (line, command) in [
            ("[1]+  Stopped                 sleep 40", "sleep 40"),
            ("[2]+  Stopped                 (cd x; make)  (wd: ~/y)", "(cd x; make)"),
            ("[1]+  Stopped(SIGTSTP)        sleep 40", "sleep 40"),
            ("^Z[1] + Stopped                    sleep 40", "sleep 40"),
            ("[1]  + 4711 suspended  sleep 40", "sleep 40"),
            ("[1] + Suspended            sleep 40", "sleep 40"),
            ("[1]+  Stopped (tty input)     cat", "cat"),
            ("zsh: suspended  sleep 40 | cat", "sleep 40 | cat"),
            ("zsh: suspended (tty input)  cat", "cat"),
            ("fish: Job 1, 'sleep 40' has stopped", "sleep 40"),
        ] {
            assert_eq!(stopped_command(line), Some(command), "{line}");
            assert!(may_tell_of_stops(line.as_bytes()), "{line}");
        }
        for line in
            ["[1]+  Done   sleep 3", "[1] 4711", "[x] Stopped  a", "[1]+  Stopped", "Stopped  a", "[]  Stopped a"]
        {
            assert_eq!(stopped_command(line), None, "{line}");
        }
    }

    #[test]
    fn shells_say_it_in_their_ways() {
        for (line, number, how, command) in [
            ("[1]+  Done                    sleep 3", 1, "Done", "sleep 3"),
            ("[2]-  Exit 3                  sh -c 'exit 3'", 2, "Exit 3", "sh -c 'exit 3'"),
            ("[1]   Killed                  sleep 100", 1, "Killed", "sleep 100"),
            ("[12]+  Terminated              sleep 1 | cat", 12, "Terminated", "sleep 1 | cat"),
            ("[1]+  Segmentation fault      (core dumped) ./a", 1, "Segmentation fault", "(core dumped) ./a"),
            ("[1]  + done       sleep 3", 1, "done", "sleep 3"),
            ("[1]  + exit 3     sh -c 'exit 3'", 1, "exit 3", "sh -c 'exit 3'"),
            ("[2]  - killed     sleep 100", 2, "killed", "sleep 100"),
            ("[1]    done       sleep 3", 1, "done", "sleep 3"),
            ("[1] + Done                       sleep 3", 1, "Done", "sleep 3"),
            ("fish: Job 1, 'sleep 1 &' has ended", 1, "ended", "sleep 1"),
            (
                "fish: Job 3, 'sleep 100 &' terminated by signal SIGKILL (Forced quit)",
                3,
                "SIGKILL (Forced quit)",
                "sleep 100",
            ),
        ] {
            let end = job_end(line).map(|end| (end.number, end.how, end.command));
            assert_eq!(end, Some((number, how.to_owned(), command.to_owned())), "{line}");
        }
    }

    #[test]
    fn most_texts_need_not_be_taken_apart() {
        assert!(may_tell_of_jobs(b"[1]+  Done"));
        assert!(may_tell_of_jobs(b"a\nb\n[1]+  Done"));
        assert!(may_tell_of_jobs(b"a\nfish: Job 1"));
        assert!(!may_tell_of_jobs(b"a [1]\nb[2] fish: Job 1\n"));
    }

    #[test]
    fn what_goes_on_or_is_something_else() {
        for line in [
            "[1]+  Running                 sleep 100 &",
            "[1]+  Stopped                 vim",
            "[1]  + suspended  vim",
            "[1] 12345",
            "[1/3] Done  x",
            "[1]+Done  x",
            "[INFO] Done  in 3 s",
            "[1] Done in 3 s",
            "Done  sleep",
            "fish: Job 1, 'vim' has stopped",
            "[1]",
            "",
        ] {
            assert_eq!(job_end(line), None, "{line}");
        }
    }
}
