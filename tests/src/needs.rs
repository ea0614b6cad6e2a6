//! Tests that need a program: skipped by name where it is missing, or failed where nothing may be.

use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};

/// Whether a program is on PATH, or a file there where its whole path is given.
#[must_use]
pub fn has(program: &str) -> bool {
    if program.starts_with('/') {
        return std::path::Path::new(program).exists();
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
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let met = |need: &&&str| if **need == "root" { nix::unistd::geteuid().is_root() } else { has(need) };
    let Some(missing) = programs.iter().find(|need| !met(need)) else { return Trial::test(name, run) };
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
