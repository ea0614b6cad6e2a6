//! Running every recogniser over lines, in order, and keeping a bounded number of what each found.

use std::collections::VecDeque;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::rule::{Recogniser, Seen};
use super::{PLAIN, RECOGNISERS};
use crate::text::clip::clip_line;

/// Problems that are kept of one tool, the first ones: what comes later often follows from them.
const PROBLEMS_KEPT: usize = 24;
/// Results that are kept of one tool, the last ones: DejaGnu's closing count has up to twelve lines.
const RESULTS_KEPT: usize = 12;
/// Characters that are kept of a line.
const LINE_CHARS: usize = 240;
/// Bytes of a line that the recognisers see; what makes a line theirs stands at its beginning.
const LINE_SEEN: usize = 2_000;

static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("error"));

/// One line that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) number: u64,
    pub(super) text: String,
    /// Whether it counts, or only goes with one that does.
    pub(super) role: Role,
}

impl Kept {
    /// Whether both say the same, one perhaps further in.
    pub(super) fn says(&self, other: &Self) -> bool {
        self.text.trim_start() == other.text.trim_start()
    }
}

/// What a kept line is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// What the lines after it belong to.
    Title,
    /// A problem or a result.
    Own,
    /// Adds to the line before it.
    Detail,
}

/// Lines that were kept of one kind, and how many there were.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) kept: VecDeque<Kept>,
    /// Those in the range, kept or not.
    pub(super) total: u64,
    /// Those of them that stand in the inner range.
    pub(super) inner: u64,
}

/// What one recogniser found so far.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) recogniser: &'static Recogniser,
    state: u8,
    /// Whether a line was its tool's beyond doubt. Without one nothing counts.
    pub(super) sure: bool,
    /// Whether a problem was told in full, so that telling it again adds nothing.
    told: bool,
    /// Whether one of them was not, so that the lines that tell them again are shown all the same.
    untold: bool,
    /// Whether it was told by the line that tells it again alone.
    told_late: bool,
    /// Whether the last line of its was kept, and so what adds to it.
    keeps: bool,
    /// The line that the next problem belongs to.
    title: Option<Kept>,
    pub(super) problems: Found,
    pub(super) results: Found,
    early: Found,
    fine: Found,
}

/// All recognisers at work.
#[derive(Debug)]
pub(super) struct Gather {
    pub(super) tools: Vec<Tool>,
    /// For each byte, which tools' lines begin with it, have it second or end with it, one bit a tool.
    begins: Box<[u64; 256]>,
    then: Box<[u64; 256]>,
    ends: Box<[u64; 256]>,
    says_error: u64,
    says_place: u64,
    /// Tools that are handed the next line, whatever it is.
    next: u64,
    /// The lines that may be shown; the others only tell which tool is at work.
    range: (u64, u64),
    inner: Option<(u64, u64)>,
}

impl Gather {
    /// Begins anew, to keep what stands in `range` and to count what stands in `inner`.
    pub(super) fn new(range: (u64, u64), inner: Option<(u64, u64)>) -> Self {
        let all = RECOGNISERS.iter().copied().chain([PLAIN]);
        let mut gather = Self {
            tools: Vec::new(),
            begins: Box::new([0; 256]),
            then: Box::new([0; 256]),
            ends: Box::new([0; 256]),
            says_error: 0,
            says_place: 0,
            next: 0,
            range,
            inner,
        };
        for (at, recogniser) in all.enumerate() {
            let bit = 1_u64 << at;
            let mark = |table: &mut [u64; 256], bytes: &[u8]| {
                for byte in bytes {
                    if let Some(entry) = table.get_mut(usize::from(*byte)) {
                        *entry |= bit;
                    }
                }
            };
            mark(&mut gather.begins, recogniser.begins);
            if recogniser.then.is_empty() {
                gather.then.iter_mut().for_each(|entry| *entry |= bit);
            }
            mark(&mut gather.then, recogniser.then);
            mark(&mut gather.ends, recogniser.ends);
            if recogniser.says_error {
                gather.says_error |= bit;
            }
            if recogniser.says_place {
                gather.says_place |= bit;
            }
            gather.tools.push(Tool {
                recogniser,
                state: 0,
                sure: false,
                told: false,
                untold: false,
                told_late: false,
                keeps: false,
                title: None,
                problems: Found::default(),
                results: Found::default(),
                early: Found::default(),
                fine: Found::default(),
            });
        }
        gather
    }

    /// Forgets the line before: lines were passed over.
    pub(super) fn skip(&mut self) {
        self.next = 0;
        for tool in &mut self.tools {
            tool.state = 0;
            tool.keeps = false;
            tool.title = None;
        }
    }

    /// The next line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        let line = seen(line);
        let bytes = line.as_bytes();
        let from = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(bytes.len());
        let text = bytes.get(from..).unwrap_or_default();
        let first = text.first().filter(|byte| !byte.is_ascii_digit() || counts(text));
        let entry = |table: &[u64; 256], byte: Option<&u8>| {
            byte.and_then(|byte| table.get(usize::from(*byte))).copied().unwrap_or_default()
        };
        let then = text.get(1).map_or(u64::MAX, |second| entry(&self.then, Some(second)));
        let mut wanted = self.next | entry(&self.begins, first) & then | entry(&self.ends, bytes.last());
        // Only these look into the line, and most lines have no such word.
        if self.says_error & !wanted != 0 && ERROR.find(bytes).is_some() {
            wanted |= self.says_error;
        }
        if self.says_place & !wanted != 0 && placed(text) {
            wanted |= self.says_place;
        }
        while wanted != 0 {
            let at = wanted.trailing_zeros();
            wanted &= wanted - 1;
            let Some(tool) = usize::try_from(at).ok().and_then(|at| self.tools.get_mut(at)) else { continue };
            let stays = tool.line(number, line, self.range, self.inner);
            self.next = if stays { self.next | 1 << at } else { self.next & !(1 << at) };
        }
    }

    /// The tools whose output it was, the one for programs that nobody knows only where there was no other.
    pub(super) fn tools(self) -> Vec<Tool> {
        let mut sure: Vec<Tool> = self.tools.into_iter().filter(|tool| tool.sure).collect();
        if sure.len() > 1 {
            sure.retain(|tool| tool.recogniser.name != PLAIN.name);
        }
        for tool in &mut sure {
            let told = tool.told || tool.told_late;
            if !told {
                tool.problems = std::mem::take(&mut tool.early);
            }
            if tool.problems.total + tool.results.total == 0 && !told {
                tool.results = std::mem::take(&mut tool.fine);
            }
        }
        sure
    }
}

impl Tool {
    /// Takes a line; says whether the next one is wanted too.
    fn line(&mut self, number: u64, line: &str, range: (u64, u64), inner: Option<(u64, u64)>) -> bool {
        let rule = self.recogniser.rule(line, self.state);
        self.state = rule.map_or(0, super::rule::Rule::state);
        let (seen, sure) = rule.map_or((Seen::Nothing, false), super::rule::Rule::says);
        self.sure |= sure;
        self.untold |= seen == Seen::Untold;
        if seen == Seen::Again && self.told && !self.untold {
            return self.state != 0;
        }
        self.told |= seen == Seen::Problem;
        self.told_late |= seen == Seen::Again;
        let within = |(from, to): (u64, u64)| (from..=to).contains(&number);
        let (ranged, inner) = (within(range), inner.is_some_and(within));
        match seen {
            // A line that no rule knows does not part a title from its problems; one that a rule sets aside does.
            Seen::Nothing if rule.is_none() => {}
            Seen::Nothing | Seen::Untold => self.title = None,
            Seen::Title => self.title = ranged.then(|| kept(number, line, Role::Title)),
            Seen::Detail => {
                if self.keeps && ranged {
                    self.problems.kept.push_back(kept(number, line, Role::Detail));
                    self.keeps = self.problems.kept.len() < 2 * PROBLEMS_KEPT;
                }
            }
            Seen::Problem | Seen::Again | Seen::Early => {
                let found = if seen == Seen::Early { &mut self.early } else { &mut self.problems };
                self.keeps = ranged && found.first(self.title.take(), kept(number, line, Role::Own), inner);
                self.keeps &= seen != Seen::Early;
            }
            Seen::Result | Seen::Fine => {
                self.keeps = false;
                if ranged {
                    let found = if seen == Seen::Fine { &mut self.fine } else { &mut self.results };
                    found.last(kept(number, line, Role::Own), inner);
                }
            }
        }
        self.state != 0
    }
}

impl Found {
    /// Counts a line and keeps it if it is one of the first, under its title; says whether it was kept.
    fn first(&mut self, title: Option<Kept>, line: Kept, inner: bool) -> bool {
        self.total += 1;
        self.inner += u64::from(inner);
        if self.kept.len() >= PROBLEMS_KEPT {
            return false;
        }
        self.kept.extend(title);
        self.kept.push_back(line);
        true
    }

    /// Counts a line and keeps it, and the last ones before it.
    fn last(&mut self, line: Kept, inner: bool) {
        self.total += 1;
        self.inner += u64::from(inner);
        self.kept.push_back(line);
        if self.kept.len() > RESULTS_KEPT {
            self.kept.pop_front();
        }
    }
}

fn kept(number: u64, line: &str, role: Role) -> Kept {
    Kept { number, text: clip_line(line, LINE_CHARS).into_owned(), role }
}

/// Whether a text that begins with a number goes on as tools' lines do that count: ` tests`, `/40 Test`, `% tests`,
/// `..40`, `) the first failure` or `:5   error`. Most lines that begin with a digit are numbers alone, or begin with a
/// time.
fn counts(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(digits..) {
        Some([b' ', next, ..]) => next.is_ascii_lowercase(),
        Some([b'/' | b'%' | b')', ..] | [b'.', b'.', ..]) => true,
        // A place in a file that is named above; a time has two digits before it.
        Some([b':', rest @ ..]) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            matches!(rest.get(digits), Some(b' '))
        }
        _ => false,
    }
}

/// Whether a text begins with a path and a line's number, with a code as `E501`, or with a name and `FAIL`. One that begins with a digit is
/// rather a time or a number.
fn placed(text: &[u8]) -> bool {
    if text.first().is_none_or(u8::is_ascii_digit) {
        return false;
    }
    let Some(end) = memchr::memchr2(b':', b' ', text) else { return false };
    match text.split_at_checked(end) {
        Some((_, [b':', b' ', rest @ ..])) => rest.starts_with(b"FAIL"),
        Some((_, [b':', next, ..])) => next.is_ascii_digit(),
        Some((word, [b' ', ..])) => word.len() <= 9 && word.last().is_some_and(u8::is_ascii_digit),
        _ => false,
    }
}

/// The beginning of a line.
fn seen(line: &str) -> &str {
    if line.len() <= LINE_SEEN { line } else { line.get(..line.floor_char_boundary(LINE_SEEN)).unwrap_or_default() }
}
