//! The lines of an output that tell how it went: failed tests, errors, totals, giving up.
//!
//! A reply that leaves an output's middle out shows the ones that stand there. Each recogniser knows the lines of one
//! tool by their exact form. Forms that other programs print too count only where another line of the same output
//! is the tool's beyond doubt. The cost is linear in what is read, and what is read and kept is bounded.

mod build;
mod compiler;
mod dejagnu;
mod gather;
mod go;
mod java;
mod javascript;
mod plain;
mod python;
mod rule;
mod runners;
mod rust;
mod scripting;
mod system;
mod tap;

use std::ops::ControlFlow;

use crate::lines::Lines;
use gather::{Gather, Kept, Role, Tool};

pub use rule::Recogniser;

/// Every recogniser of a tool's output.
pub static RECOGNISERS: &[&Recogniser] = &[
    &dejagnu::DEJAGNU,
    &python::PYTEST,
    &python::UNITTEST,
    &python::DOCTEST,
    &python::PYTHON,
    &python::TYPES,
    &python::STYLE,
    &python::TOX,
    &rust::CARGO_TEST,
    &rust::NEXTEST,
    &rust::RUSTC,
    &rust::PANIC,
    &go::GO,
    &build::CTEST,
    &build::AUTOMAKE,
    &tap::TAP,
    &javascript::JEST,
    &javascript::VITEST,
    &javascript::NODE_TEST,
    &javascript::NODE,
    &javascript::MOCHA,
    &runners::PLAYWRIGHT,
    &runners::DENO,
    &runners::BUN,
    &javascript::AVA,
    &javascript::ESLINT,
    &javascript::NPM,
    &java::MAVEN,
    &java::GRADLE,
    &java::JUNIT,
    &java::JAVA,
    &compiler::COMPILER,
    &java::JAVAC,
    &javascript::TSC,
    &compiler::LINKER,
    &scripting::RSPEC,
    &scripting::MINITEST,
    &scripting::PHPUNIT,
    &scripting::BUSTED,
    &scripting::BATS,
    &scripting::R,
    &compiler::FORTRAN,
    &build::MESON,
    &build::MAKE,
    &build::NINJA,
    &build::CMAKE,
    &system::APT,
    &system::PIP,
    &system::ANSIBLE,
];

static PLAIN: &Recogniser = &plain::PLAIN;

/// What a reply gives to summary lines: a quarter of its lines and characters, so that the output's own ends stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Lines, the one that counts the rest among them.
    pub lines: usize,
    /// Characters, line breaks counted.
    pub chars: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { lines: 20, chars: 1_500 }
    }
}

/// Bytes that are read from the start of an output; a log that is longer than both parts is no build's, and reading
/// it would hold up the reply.
const READ_FIRST: u64 = 8 * 1024 * 1024;
/// Bytes that are read from its end, where totals stand.
const READ_LAST: u64 = 24 * 1024 * 1024;

/// The lines that tell how an output went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The lines with their numbers, in order.
    pub lines: Vec<(u64, String)>,
    /// How many more there are in the range.
    pub more: u64,
    /// A pattern for `search` that finds them all.
    pub search: String,
    /// Lines that were not looked at, first and last, because the output is too large.
    pub unread: Option<(u64, u64)>,
    /// The tools whose lines they are.
    pub tools: Vec<&'static str>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The output's first and last line; all of it tells which tool wrote it.
    pub output: (u64, u64),
    /// The lines that may be given.
    pub range: (u64, u64),
    /// A part of the range of which at least one line must be.
    pub inner: (u64, u64),
    /// How much may be given.
    pub allowance: Allowance,
}

/// Finds the lines; none where no tool's output was recognised, or no line of it stands in the inner range.
///
/// # Errors
/// Says in words why the log cannot be read.
pub fn find(lines: &dyn Lines, wanted: &Wanted) -> Result<Option<Summary>, String> {
    let mut gather = Gather::new(wanted.range, Some(wanted.inner));
    let unread = read(lines, wanted.output, &mut gather)?;
    let tools = gather.tools();
    if tools.iter().all(|tool| tool.problems.inner + tool.results.inner == 0) {
        return Ok(None);
    }
    Ok(Some(choose(&tools, wanted.allowance, unread)))
}

/// Hands over the lines, without the middle of what is too large.
fn read(lines: &dyn Lines, (first, last): (u64, u64), gather: &mut Gather) -> Result<Option<(u64, u64)>, String> {
    let visit = |from, to, gather: &mut Gather| {
        lines.visit(from, to, &mut |number, line| {
            gather.line(number, line);
            ControlFlow::Continue(())
        })
    };
    let begin = lines.offset(first);
    let end = lines.offset(last + 1);
    if end.saturating_sub(begin) <= READ_FIRST + READ_LAST {
        visit(first, last, gather)?;
        return Ok(None);
    }
    let head = reach(lines, (first, last), begin + READ_FIRST);
    let tail = reach(lines, (first, last), end - READ_LAST);
    visit(first, head, gather)?;
    gather.skip();
    visit(tail + 1, last, gather)?;
    Ok((tail > head).then_some((head + 1, tail)))
}

/// The last line that begins up to an offset.
fn reach(lines: &dyn Lines, (mut from, mut to): (u64, u64), offset: u64) -> u64 {
    while from < to {
        let middle = from + (to - from).div_ceil(2);
        if lines.offset(middle) <= offset { from = middle } else { to = middle - 1 }
    }
    from
}

/// The last results, then the first problems, as far as the allowance goes, each text once.
fn choose(tools: &[Tool], allowance: Allowance, unread: Option<(u64, u64)>) -> Summary {
    let mut room = Room { lines: allowance.lines.saturating_sub(1), chars: allowance.chars, taken: Vec::new() };
    let mut results: Vec<&Kept> = tools.iter().flat_map(|tool| &tool.results.kept).collect();
    results.sort_by_key(|kept| kept.number);
    let mut problems: Vec<&Kept> = tools.iter().flat_map(|tool| &tool.problems.kept).collect();
    problems.sort_by_key(|kept| (kept.number, kept.role));
    // Where there is too much of both, each has a half.
    let halves = room.lines / 2;
    let mut left = results.len().min(halves.max(room.lines.saturating_sub(problems.len())));
    let mut same = 0;
    for kept in results.iter().rev() {
        if left == 0 {
            break;
        }
        match room.take(kept, false) {
            Taken::Yes => left -= 1,
            Taken::Same => same += 1,
            Taken::No => break,
        }
    }
    let mut owner = true;
    let mut told = Vec::new();
    for (at, kept) in problems.iter().enumerate() {
        if kept.role == Role::Detail && !owner {
            continue;
        }
        let again = |told: &&usize| problems.get(**told).is_some_and(|other| other.says(kept));
        let elsewhere = kept.role == Role::Own && {
            let mut before = told.iter().filter(again).peekable();
            before.peek().is_some() && before.all(|told| !details(&problems, *told).eq(details(&problems, at)))
        };
        match room.take(kept, elsewhere) {
            Taken::Yes => {
                owner = true;
                told.push(at);
            }
            Taken::Same if kept.role != Role::Own => {}
            Taken::Same => {
                same += 1;
                owner = false;
            }
            Taken::No => break,
        }
    }
    let of = |tool: &Tool| tool.problems.total + tool.results.total;
    let shown = room.taken.iter().filter(|kept| kept.role == Role::Own).count() as u64;
    let total: u64 = tools.iter().map(of).sum();
    let mut given = room.taken;
    given.sort_by_key(|kept| kept.number);
    let with_lines = || tools.iter().filter(|tool| of(tool) > 0).map(|tool| tool.recogniser);
    Summary {
        lines: given.into_iter().map(|kept| (kept.number, kept.text)).collect(),
        more: total.saturating_sub(shown + same),
        search: with_lines().map(|recogniser| recogniser.search).collect::<Vec<_>>().join("|"),
        unread,
        tools: with_lines().map(|recogniser| recogniser.name).collect(),
    }
}

/// The texts that add to a problem.
fn details<'a>(problems: &'a [&'a Kept], at: usize) -> impl Iterator<Item = &'a str> {
    let after = problems.iter().skip(at + 1);
    after.take_while(|kept| kept.role == Role::Detail).map(|kept| kept.text.as_str())
}

struct Room {
    lines: usize,
    chars: usize,
    taken: Vec<Kept>,
}

enum Taken {
    Yes,
    Same,
    No,
}

impl Room {
    /// Takes a line that was not taken yet. The same words may be those of another problem: one that is elsewhere.
    fn take(&mut self, kept: &Kept, elsewhere: bool) -> Taken {
        // Two tools may know the same line, and a tool may say a thing twice, once further in.
        let same = |other: &Kept| {
            let again = kept.role == Role::Own && !elsewhere && other.says(kept);
            other.number == kept.number || again
        };
        if self.taken.iter().any(same) {
            return Taken::Same;
        }
        let cost = kept.text.chars().count() + 3;
        if self.taken.len() >= self.lines || cost > self.chars {
            return Taken::No;
        }
        self.chars -= cost;
        self.taken.push(kept.clone());
        Taken::Yes
    }
}
