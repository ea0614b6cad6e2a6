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
    /// Whether it only adds to the line before it.
    pub(super) detail: bool,
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
    /// Whether the last line of its was kept, and so what adds to it.
    keeps: bool,
    pub(super) problems: Vec<Kept>,
    pub(super) results: VecDeque<Kept>,
    /// Problems and results in the range, kept or not.
    pub(super) total: u64,
    /// Those of them that stand in the inner range.
    pub(super) inner: u64,
}

/// All recognisers at work.
#[derive(Debug)]
pub(super) struct Gather {
    pub(super) tools: Vec<Tool>,
    /// For each byte, which tools' lines begin or end with it, one bit a tool.
    begins: Box<[u32; 256]>,
    ends: Box<[u32; 256]>,
    says_error: u32,
    /// Tools that are handed the next line, whatever it is.
    next: u32,
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
            ends: Box::new([0; 256]),
            says_error: 0,
            next: 0,
            range,
            inner,
        };
        for (at, recogniser) in all.enumerate() {
            let bit = 1 << at;
            let mark = |table: &mut [u32; 256], bytes: &[u8]| {
                for byte in bytes {
                    if let Some(entry) = table.get_mut(usize::from(*byte)) {
                        *entry |= bit;
                    }
                }
            };
            mark(&mut gather.begins, recogniser.begins);
            mark(&mut gather.ends, recogniser.ends);
            if recogniser.says_error {
                gather.says_error |= bit;
            }
            gather.tools.push(Tool {
                recogniser,
                state: 0,
                sure: false,
                told: false,
                keeps: false,
                problems: Vec::new(),
                results: VecDeque::new(),
                total: 0,
                inner: 0,
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
        }
    }

    /// The next line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        let line = seen(line);
        let bytes = line.as_bytes();
        let from = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(bytes.len());
        let text = bytes.get(from..).unwrap_or_default();
        let first = text.first().filter(|byte| !byte.is_ascii_digit() || counts(text));
        let entry = |table: &[u32; 256], byte: Option<&u8>| {
            byte.and_then(|byte| table.get(usize::from(*byte))).copied().unwrap_or_default()
        };
        let mut wanted = self.next | entry(&self.begins, first) | entry(&self.ends, bytes.last());
        // Only these look into the line, and most lines have no such word.
        if self.says_error & !wanted != 0 && ERROR.find(bytes).is_some() {
            wanted |= self.says_error;
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
        if seen == Seen::Again && self.told {
            return self.state != 0;
        }
        self.told |= seen == Seen::Problem;
        let within = |(from, to): (u64, u64)| (from..=to).contains(&number);
        if seen == Seen::Nothing {
            return self.state != 0;
        }
        if seen == Seen::Detail {
            if self.keeps && within(range) {
                self.problems.push(kept(number, line, true));
                self.keeps = self.problems.len() < 2 * PROBLEMS_KEPT;
            }
            return self.state != 0;
        }
        self.keeps = false;
        if within(range) {
            self.total += 1;
            self.inner += u64::from(inner.is_some_and(within));
            if seen == Seen::Result {
                self.results.push_back(kept(number, line, false));
                if self.results.len() > RESULTS_KEPT {
                    self.results.pop_front();
                }
            } else if self.problems.len() < PROBLEMS_KEPT {
                self.problems.push(kept(number, line, false));
                self.keeps = true;
            }
        }
        self.state != 0
    }
}

fn kept(number: u64, line: &str, detail: bool) -> Kept {
    Kept { number, text: clip_line(line, LINE_CHARS).into_owned(), detail }
}

/// Whether a text that begins with a number goes on as tools' lines do that count: ` tests`, `/40 Test`, `% tests` or
/// `..40`. Most lines that begin with a digit are numbers alone, or begin with a time.
fn counts(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(digits..) {
        Some([b' ', next, ..]) => next.is_ascii_lowercase(),
        Some([b'/' | b'%', ..] | [b'.', b'.', ..]) => true,
        _ => false,
    }
}

/// The beginning of a line.
fn seen(line: &str) -> &str {
    if line.len() <= LINE_SEEN { line } else { line.get(..line.floor_char_boundary(LINE_SEEN)).unwrap_or_default() }
}
