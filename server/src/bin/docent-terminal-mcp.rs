//! The command under its full name.

use std::process::ExitCode;

fn main() -> ExitCode {
    dtmcp::main()
}
