//! The command; all of it is in the library, so that tests can call it.

fn main() -> std::process::ExitCode {
    dtmcp::main()
}
