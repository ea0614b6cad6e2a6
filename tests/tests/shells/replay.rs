//! Streams of real shells: the log made of them is the same wherever they are cut.

use std::path::{Path, PathBuf};

use dtmcp_core::log::{Log, LogEvent};
use dtmcp_core::region::Region;
use dtmcp_core::text::width::Widths;
use dtmcp_core::time::Wall;
use dtmcp_core::vt::marker::Nonce;
use libtest_mimic::{Failed, Trial};
use proptest::test_runner::{Config, TestRunner};

use crate::row::output;
use crate::terminal::{NONCE, SIZE, Terminal, all_lines};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/shell")
}

/// The rows whose streams are kept.
const KEPT: &[&str] =
    &["B26_heredoc", "B43_bracketed_paste", "B57_nested", "B41_read_continued", "C12_phantoms", "F25_systemd"];

/// Keeps the stream of a row, where `DTMCP_TEST_RECORD` is set and the row is one of those kept.
pub(crate) fn record(name: &str, terminal: &Terminal) -> Result<(), Failed> {
    if std::env::var_os("DTMCP_TEST_RECORD").is_some() && KEPT.contains(&name) {
        std::fs::write(dir().join(format!("{name}.raw")), &terminal.raw)?;
    }
    Ok(())
}

/// What a stream comes to.
type Told = (Vec<Region>, Vec<String>, Vec<LogEvent>);

fn told<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Told {
    let mut log = Log::new(SIZE, Widths::default(), Nonce::new(NONCE));
    let (mut settled, mut events) = (Vec::new(), Vec::new());
    for piece in pieces {
        log.feed(piece, Wall(0));
        log.cooked.take_settled(&mut settled);
        events.extend(std::iter::from_fn(|| log.poll()));
    }
    (log.regions().cloned().collect(), all_lines(&log, &settled), events)
}

/// One test for each stream.
pub(crate) fn trials() -> Vec<Trial> {
    KEPT.iter().map(|name| Trial::test(format!("replay_{name}"), move || replay(name))).collect()
}

fn replay(name: &str) -> Result<(), Failed> {
    let raw = std::fs::read(dir().join(format!("{name}.raw")))?;
    let whole = told(std::iter::once(raw.as_slice()));
    let regions: Vec<String> =
        whole.0.iter().map(|region| format!("{}\n{}\n", summary(region), output(region, &whole.1))).collect();
    let expected = dir().join(format!("{name}.regions"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&expected, regions.concat())?;
    }
    let expected = std::fs::read_to_string(expected)?;
    if regions.concat() != expected {
        return Err(format!("found\n{}\nwanted\n{expected}", regions.concat()).into());
    }
    if told(raw.chunks(1)) != whole {
        return Err("fed byte by byte it is another log".into());
    }
    // Failing cuts are printed by proptest, with the seed that finds them again.
    let cuts = proptest::collection::vec(0..=raw.len(), 0..40);
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let same = runner.run(&cuts, |mut cuts| {
        cuts.extend([0, raw.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &raw[pair[0]..pair[1]]);
        proptest::prop_assert!(told(pieces) == whole, "cut so it is another log");
        Ok(())
    });
    same.map_err(|error| error.to_string().into())
}

fn summary(region: &Region) -> String {
    let Region { id, label, state, exit, pipestatus, first_line, lines, depth, .. } = region;
    format!("#{id} {label:?} {state:?} {exit:?} {pipestatus:?} lines {first_line}+{lines} depth {depth}")
}
