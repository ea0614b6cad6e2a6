//! The command under test, built.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The `dtmcp` that belongs to the running test: same profile, built from what stands now.
///
/// # Errors
/// Where it cannot be built or found, in words.
pub fn dtmcp() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // A test stands in target/PROFILE/deps, a program of this package beside the command.
    let dir = own.parent().ok_or("a test that stands nowhere")?;
    let profile = if dir.ends_with("deps") { dir.parent().unwrap_or(dir) } else { dir };
    let binary = profile.join("dtmcp");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "dtmcp", "--bin", "dtmcp"]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).env("CARGO_TARGET_DIR", profile.join(".."));
    let built = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    binary.is_file().then_some(binary).ok_or_else(|| "cargo built no dtmcp".to_owned())
}
