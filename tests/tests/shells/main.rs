//! The shell integration against real shells on bare ptys, seen through the log: the tables of cases.
//!
//! `DTMCP_TEST_BASH` names another bash to try. `DTMCP_TEST_RECORD=1` keeps the streams of some rows in
//! `tests/cases/shell`, and `UPDATE=1` what they come to.

mod bash;
mod cases;
mod foreign;
mod forks;
mod frameworks;
mod replay;
mod row;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let tables = [bash::ROWS, bash::OPTIONS, cases::ROWS, foreign::ROWS, frameworks::ROWS];
    let mut trials: Vec<_> = tables.into_iter().flatten().map(row::Row::trial).collect();
    trials.extend(replay::trials());
    trials.push(forks::trial());
    libtest_mimic::run(&args, trials).exit_code()
}
