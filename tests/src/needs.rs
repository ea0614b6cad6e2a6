//! Tests that need a program: skipped by name where it is missing, or failed where nothing may be.

use libtest_mimic::{Failed, Trial};

/// Whether a program is on PATH, or a file there where its whole path is given.
#[must_use]
pub fn has(program: &str) -> bool {
    if program.starts_with('/') {
        return std::path::Path::new(program).exists();
    }
    std::env::var_os("PATH").is_some_and(|path| {
        // Servers stand where people who are not root do not look.
        std::env::split_paths(&path)
            .chain([std::path::PathBuf::from("/usr/sbin")])
            .any(|dir| nix::unistd::access(&dir.join(program), nix::unistd::AccessFlags::X_OK).is_ok())
    })
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
