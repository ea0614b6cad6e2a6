//! The command, built beside the suites: cargo tells a test where the programs of its own package are, and of no
//! other (`env!("CARGO_BIN_EXE_dtmcp-under-test")`).

fn main() -> std::process::ExitCode {
    dtmcp::main()
}
