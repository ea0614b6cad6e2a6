//! The shared server as it really runs: its socket, its port, the bridge, several clients at once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bridge;
mod faults;
mod http;
mod limits;
mod people;
mod port;
mod resources;
mod routes;
mod socket;
mod starts;

use libtest_mimic::{Arguments, Failed, Trial};

/// What every test gives back.
pub(crate) type Tested = Result<(), String>;

/// A row of a part's table: the name, the programs it needs, the test.
pub(crate) type Row = (&'static str, &'static [&'static str], fn() -> Tested);

fn main() {
    let arguments = Arguments::from_args();
    let parts: [(&str, &[Row]); 10] = [
        ("bridge", bridge::ROWS),
        ("faults", faults::ROWS),
        ("http", http::ROWS),
        ("limits", limits::ROWS),
        ("people", people::ROWS),
        ("port", port::ROWS),
        ("resources", resources::ROWS),
        ("routes", routes::ROWS),
        ("socket", socket::ROWS),
        ("starts", starts::ROWS),
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (part, rows) in parts {
        for (name, needs, test) in rows {
            let name: &'static str = Box::leak(format!("{part}::{name}").into_boxed_str());
            trials.push(dtmcp_tests::needs::test(name, needs, move || test().map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Fails where something does not hold.
macro_rules! holds {
    ($what:expr, $($context:tt)+) => {
        if !$what {
            return Err(format!("{}:{}: not so: {}; {}", file!(), line!(), stringify!($what), format!($($context)+)));
        }
    };
}

pub(crate) use holds;
