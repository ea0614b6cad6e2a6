//! A row of a table of cases: what is typed at which shell, and the regions that it makes.

use dtmcp_core::log::LogEvent;
use dtmcp_core::region::{Region, State};
use dtmcp_tests::needs;
use libtest_mimic::{Failed, Trial};
use regex::Regex;

use crate::terminal::{Shell, Step, Terminal, Wait};

/// A region to come. `label` and `output` are exact, unless they are `*` (anything) or begin with `~` (a pattern);
/// the lines of the output are joined by `\n`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    label: &'static str,
    output: &'static str,
    /// The status; none where the shell that knew it is gone.
    exit: Option<i32>,
    any_exit: bool,
    unknown_exit: bool,
    stages: &'static [i32],
    any_stages: bool,
    cwd: Option<&'static str>,
    user: Option<&'static str>,
}

/// A region that ends with this status.
pub(crate) const fn want(label: &'static str, output: &'static str, exit: i32) -> Want {
    let (any_exit, any_stages) = (false, false);
    Want {
        label,
        output,
        exit: Some(exit),
        any_exit,
        unknown_exit: false,
        stages: &[],
        any_stages,
        cwd: None,
        user: None,
    }
}

/// A region whose shell went away with it.
pub(crate) const fn lost(label: &'static str, output: &'static str) -> Want {
    Want { exit: None, ..want(label, output, 0) }
}

impl Want {
    /// Of a pipeline with these statuses.
    pub(crate) const fn stages(self, stages: &'static [i32]) -> Self {
        Self { stages, ..self }
    }

    /// Whatever its stages' statuses.
    pub(crate) const fn any_stages(self) -> Self {
        Self { any_stages: true, ..self }
    }

    /// Given in this directory.
    pub(crate) const fn cwd(self, cwd: &'static str) -> Self {
        Self { cwd: Some(cwd), ..self }
    }

    /// Run as this user.
    pub(crate) const fn user(self, user: &'static str) -> Self {
        Self { user: Some(user), ..self }
    }

    /// Ended, with a status that nobody can know.
    pub(crate) const fn unknown_exit(self) -> Self {
        Self { exit: None, unknown_exit: true, ..self }
    }

    /// Whatever its status.
    pub(crate) const fn any_exit(self) -> Self {
        Self { any_exit: true, ..self }
    }
}

/// A look at the terminal once all is typed.
pub(crate) type Check = fn(&Terminal) -> Result<(), Failed>;

/// A case.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) shell: Shell,
    pub(crate) needs: &'static [&'static str],
    /// Files of the home, beside a `.bash_profile` that sets a short prompt.
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) steps: &'static [Step],
    pub(crate) want: &'static [Want],
    /// What to look at besides.
    pub(crate) check: Option<Check>,
    /// How the shell shows that it is ready.
    pub(crate) ready: Wait,
}

/// A case in a bash with nothing but a short prompt.
pub(crate) const fn row(name: &'static str, steps: &'static [Step], want: &'static [Want]) -> Row {
    Row { name, shell: Shell::Bash, needs: &[], files: &[], steps, want, check: None, ready: Wait::Prompt }
}

/// A case in a zsh with nothing but a short prompt.
pub(crate) const fn zsh(name: &'static str, steps: &'static [Step], want: &'static [Want]) -> Row {
    Row { shell: Shell::Zsh, needs: &["zsh"], ..row(name, steps, want) }
}

/// A case in a fish with nothing but a short prompt.
pub(crate) const fn fish(name: &'static str, steps: &'static [Step], want: &'static [Want]) -> Row {
    Row { shell: Shell::Fish, needs: &["fish"], ..row(name, steps, want) }
}

impl Row {
    pub(crate) const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    pub(crate) const fn files(self, files: &'static [(&'static str, &'static str)]) -> Self {
        Self { files, ..self }
    }

    pub(crate) const fn check(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }

    pub(crate) const fn ready(self, ready: Wait) -> Self {
        Self { ready, ..self }
    }

    /// The test of it.
    pub(crate) fn trial(&'static self) -> Trial {
        needs::test(self.name, self.needs, move || self.run())
    }

    fn run(&self) -> Result<(), Failed> {
        let mut files = vec![
            (".bash_profile", "PS1='$ '\n"),
            (".zshrc", "PS1='$ '\n"),
            (".config/fish/config.fish", "set -g fish_greeting\nfunction fish_prompt; echo -n '$ '; end\n"),
        ];
        files.extend(self.files);
        let mut terminal = Terminal::start(self.shell, &files, self.ready)?;
        for &step in self.steps {
            terminal.step(step).map_err(|error| {
                let why = error.message().unwrap_or_default();
                Failed::from(format!("{step:?}: {why}"))
            })?;
        }
        crate::replay::record(self.name, &terminal)?;
        let lines = terminal.lines();
        let regions: Vec<&Region> = terminal.log.regions().collect();
        let found: Vec<String> = regions.iter().map(|region| said(region, &lines)).collect();
        let fits = regions.len() == self.want.len()
            && regions.iter().zip(self.want).all(|(region, want)| fits(region, want, &lines));
        if !fits {
            let want: Vec<String> = self.want.iter().map(|want| format!("{want:?}")).collect();
            let (want, found) = (want.join("\n  "), found.join("\n  "));
            return Err(format!("wanted\n  {want}\nfound\n  {found}\nraw\n    {}", terminal.shown()).into());
        }
        self.check.map_or(Ok(()), |check| {
            let context =
                |error: Failed| format!("{}\nraw\n    {}", error.message().unwrap_or_default(), terminal.shown());
            check(&terminal).map_err(|error| context(error).into())
        })
    }
}

fn said(region: &Region, lines: &[String]) -> String {
    let Region { label, state, exit, pipestatus, cwd, .. } = region;
    let output = output(region, lines);
    format!("{label:?} {output:?} {exit:?} {pipestatus:?} {state:?} {cwd:?} {:?}", region.place)
}

/// A region's output, its lines joined.
pub(crate) fn output(region: &Region, lines: &[String]) -> String {
    let from = usize::try_from(region.first_line).unwrap_or(usize::MAX) - 1;
    let count = usize::try_from(region.lines).unwrap_or(usize::MAX);
    lines.iter().skip(from).take(count).map(String::as_str).collect::<Vec<_>>().join("\n")
}

fn fits(region: &Region, want: &Want, lines: &[String]) -> bool {
    let text = |pattern: &str, text: &str| match pattern.strip_prefix('~') {
        Some(pattern) => Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text)),
        None => pattern == "*" || pattern == text,
    };
    let state = if want.exit.is_some() || want.unknown_exit { State::Finished } else { State::Lost };
    let status = want.any_exit || (region.exit == want.exit && region.state == state);
    status
        && text(want.label, &region.label)
        && text(want.output, &output(region, lines))
        && (want.any_stages || region.pipestatus == want.stages)
        && want.cwd.is_none_or(|cwd| region.cwd.as_deref() == Some(cwd))
        && want.user.is_none_or(|user| region.place.as_ref().is_some_and(|place| place.user == user))
}

/// How many lines the shell took and did not run.
pub(crate) fn not_run(terminal: &Terminal) -> usize {
    terminal.events.iter().filter(|event| matches!(event, LogEvent::NotRun { .. })).count()
}

/// Fails with a reason where a condition does not hold.
pub(crate) fn ensure(holds: bool, why: &str) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(why.into()) }
}
