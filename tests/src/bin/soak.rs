//! Kills servers at random moments, as often as it is told, and says whether anything was lost or done twice:
//! `soak [KILLS [SEED [shared]]]`; with `shared` only the part with several agents and people.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;

use dtmcp_tests::measure::{dtmcp, load, report};
use dtmcp_tests::soak::{Way, numbered, shared, typed};

/// Kills of each kind, where no other number is given.
const KILLS: usize = 200;

/// Lines printed for each kill; 200,000 in all for 200.
const LINES_A_KILL: usize = 1000;

fn main() -> ExitCode {
    report(soak)
}

fn soak() -> Result<(), String> {
    let dtmcp = dtmcp()?;
    let number = |at: usize| std::env::args().nth(at).and_then(|text| text.parse::<usize>().ok());
    let kills = number(1).unwrap_or(KILLS);
    let seed = number(2).unwrap_or(1) as u64;
    println!("{kills} kills of each kind, seed {seed}, load {}", load());
    let only = std::env::args().nth(3);
    if only.as_deref().is_none_or(|only| only == "shared") {
        let found = shared(&dtmcp, kills, seed)?;
        println!(
            "shared: {} lines of agents ran once, {} were never typed, 0 ran twice, {} have no region; {} calls told the \
             end, {} ends told later and none twice; {} lines of people ran once; {} lines printed, 0 lost, 0 twice; \
             bridge {} kB",
            found.ran,
            found.not_typed,
            found.unrecorded,
            found.told,
            found.news,
            found.people,
            found.printed,
            found.bridge_kb
        );
    }
    if only.is_some() {
        return Ok(());
    }
    for way in [Way::Stdio, Way::Bridge] {
        let found = typed(&dtmcp, kills, way, seed)?;
        println!(
            "{way:?}: {} commands ran once, {} were never typed, 0 ran twice; {} calls told the end",
            found.ran, found.not_typed, found.told
        );
    }
    let lines = u32::try_from(kills.saturating_mul(LINES_A_KILL)).map_err(|error| error.to_string())?;
    let found = numbered(&dtmcp, kills, lines.max(1000), seed)?;
    println!("{} lines, 0 lost, 0 twice; {} kills while they were printed", found.lines, found.while_it_printed);
    Ok(())
}
