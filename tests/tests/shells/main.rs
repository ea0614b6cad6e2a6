//! The shell integration against real shells on bare ptys, seen through the log: the tables of cases.
//!
//! `DTMCP_TEST_BASH`, `DTMCP_TEST_ZSH` and `DTMCP_TEST_FISH` name other shells to try. `DTMCP_TEST_RECORD=1` keeps the streams of some rows in
//! `tests/cases/shell`, and `UPDATE=1` what they come to.

mod bash;
mod cases;
mod fish;
mod fish_settings;
mod foreign;
mod forks;
mod frameworks;
mod options;
mod replay;
mod row;
mod settings;
mod terminal;
mod tour;
mod zsh;
mod zsh_settings;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let tables = [
        bash::ROWS,
        bash::OPTIONS,
        cases::ROWS,
        foreign::ROWS,
        frameworks::ROWS,
        settings::ROWS,
        tour::ROWS,
        zsh::ROWS,
        zsh::OPTIONS,
        zsh::FILES,
        zsh_settings::ROWS,
        fish::ROWS,
        fish_settings::ROWS,
    ];
    let mut trials: Vec<_> = tables.into_iter().flatten().map(row::Row::trial).collect();
    trials.extend(replay::trials());
    trials.extend(forks::trials());
    trials.extend(options::trials());
    trials.extend(tour::fetched());
    libtest_mimic::run(&args, trials).exit_code()
}
