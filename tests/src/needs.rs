//! Tests of real programs: skipped by name where one is missing, or failed where nothing may be; tried once more where a
//! failure is to be noted first.

use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// Whether a program is on PATH, or a file there where its whole path is given.
#[must_use]
pub fn has(program: &str) -> bool {
    if program.starts_with('/') {
        return Path::new(program).exists();
    }
    found(program).is_some()
}

/// Where a program is, on PATH or where servers stand, that people who are not root do not look for.
#[must_use]
pub fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut dirs: Vec<PathBuf> = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]).collect();
    // Debian has a directory for each version of PostgreSQL.
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    dirs.extend(versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))));
    dirs.into_iter()
        .map(|dir| dir.join(program))
        .find(|path| nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok())
}

/// A test that needs `programs` (`root` stands for being root). Where one is missing it is skipped, and says so;
/// with `DTMCP_TEST_REQUIRE=all` it fails.
pub fn test(
    name: &'static str,
    programs: &'static [&'static str],
    run: impl Fn() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let met = |need: &&&str| if **need == "root" { nix::unistd::geteuid().is_root() } else { has(need) };
    let Some(missing) = programs.iter().find(|need| !met(need)) else {
        let notes = std::env::var_os("DTMCP_TEST_AGAIN").map(PathBuf::from);
        return Trial::test(name, move || noting(name, notes.as_deref(), &run));
    };
    let said = format!("SKIP {name}: needs {missing}");
    if std::env::var_os("DTMCP_TEST_REQUIRE").is_some_and(|value| value == "all") {
        return Trial::test(name, move || Err(said.into()));
    }
    #[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
    {
        eprintln!("{said}");
    }
    Trial::test(name, || Ok(())).with_ignored_flag(true)
}

/// Runs a test. Where there is a file for notes, which `DTMCP_TEST_AGAIN` names, a test that fails is noted there and
/// tried a second time, which counts.
///
/// A row of real programs on a machine that does other work may fail once in thousands; that is a fault to be found, by
/// its line in that file, and no reason to have seen nothing of all rows behind it.
fn noting(name: &str, notes: Option<&Path>, run: &dyn Fn() -> Result<(), Failed>) -> Result<(), Failed> {
    let Some(notes) = notes else { return run() };
    let why = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(failed)) => failed.message().unwrap_or("no reason given").to_owned(),
        Err(panic) => told(panic.as_ref()),
    };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(notes);
    file.and_then(|mut file| writeln!(file, "FAILED ONCE {name}: {why}")).map_err(|error| error.to_string())?;
    run()
}

/// What a panic says.
fn told(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use std::cell::Cell;

    use super::*;

    fn tried(fails: u32, notes: Option<&Path>) -> (bool, u32) {
        let calls = Cell::new(0);
        let passed = noting("row", notes, &|| {
            calls.set(calls.get() + 1);
            match calls.get() {
                // The one way and the other.
                1 if fails >= 1 => panic!("the {}st time", 1),
                2 if fails >= 2 => Err("again".into()),
                _ => Ok(()),
            }
        });
        (passed.is_ok(), calls.get())
    }

    #[test]
    fn what_fails_twice_has_failed_and_what_fails_once_is_noted() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join("notes");
        assert_eq!(tried(0, Some(&notes)), (true, 1));
        assert!(!notes.exists());
        assert_eq!(tried(1, Some(&notes)), (true, 2));
        assert_eq!(tried(2, Some(&notes)), (false, 2));
        let text = std::fs::read_to_string(&notes).unwrap();
        assert_eq!(text, "FAILED ONCE row: the 1st time\n".repeat(2));
        assert!(catch_unwind(|| tried(1, None)).is_err(), "without notes there is one try");
    }
}
