//! End to end: the real command over stdio, a real tmux on a socket of the test's own, real shells, and people who
//! attach.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod advice;
mod basics;
mod behind;
mod carriers;
mod containers;
mod databases;
mod editor;
mod errors;
mod expect;
mod far;
mod integrate;
mod integration;
mod interpreters;
mod lifetime;
mod other_shells;
mod output;
mod people;
mod places;
mod plain;
mod programs;
mod prompts;
mod questions;
mod recovery;
mod repls;
mod reported;
mod screens;
mod security;
mod signals;
mod users;
mod waiting;

use libtest_mimic::{Arguments, Failed, Trial};

/// What every test gives back.
pub(crate) type Tested = Result<(), String>;

/// A row of a suite's table: the name, the programs it needs, the test.
pub(crate) type Row = (&'static str, &'static [&'static str], fn() -> Tested);

fn main() {
    let arguments = Arguments::from_args();
    let suites: &[(&str, &[Row])] = &[
        ("advice", advice::ROWS),
        ("basics", basics::ROWS),
        ("behind", behind::ROWS),
        ("carriers", carriers::ROWS),
        ("containers", containers::ROWS),
        ("editor", editor::ROWS),
        ("databases", databases::ROWS),
        ("errors", errors::ROWS),
        ("expect", expect::ROWS),
        ("far", far::ROWS),
        ("plain", plain::ROWS),
        ("integrate", integrate::ROWS),
        ("integration", integration::ROWS),
        ("interpreters", interpreters::ROWS),
        ("other_shells", other_shells::ROWS),
        ("lifetime", lifetime::ROWS),
        ("output", output::ROWS),
        ("people", people::ROWS),
        ("places", places::ROWS),
        ("programs", programs::ROWS),
        ("prompts", prompts::ROWS),
        ("questions", questions::ROWS),
        ("recovery", recovery::ROWS),
        ("repls", repls::ROWS),
        ("reported", reported::ROWS),
        ("screens", screens::ROWS),
        ("security", security::ROWS),
        ("signals", signals::ROWS),
        ("users", users::ROWS),
        ("waiting", waiting::ROWS),
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (suite, rows) in suites {
        for (name, needs, test) in *rows {
            let name: &'static str = Box::leak(format!("{suite}::{name}").into_boxed_str());
            trials.push(dtmcp_tests::needs::test(name, needs, move || test().map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Fails with both sides where they differ.
macro_rules! same {
    ($got:expr, $want:expr, $($context:tt)+) => {
        match (&$got, &$want) {
            (got, want) => {
                if *got != *want {
                    return Err(format!("{}:{}: got {got:?}, want {want:?}; {}", file!(), line!(), format!($($context)+)));
                }
            }
        }
    };
}

/// Fails where something does not hold.
macro_rules! holds {
    ($what:expr, $($context:tt)+) => {
        if !$what {
            return Err(format!("{}:{}: not so: {}; {}", file!(), line!(), stringify!($what), format!($($context)+)));
        }
    };
}

pub(crate) use {holds, same};
