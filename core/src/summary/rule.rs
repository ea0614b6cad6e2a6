//! What a recogniser is made of: patterns over single lines, a little memory of the line before, and what a match says.

use std::sync::OnceLock;

use regex::{RegexSet, RegexSetBuilder};

/// What a line is to a tool's reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing that is shown.
    Nothing,
    /// Something that went wrong: a failed test, an error.
    Problem,
    /// The same problem told again: shown only where it was not told before.
    Again,
    /// How it went as a whole: totals, giving up.
    Result,
    /// Belongs to the line before: where it is, or what it says.
    Detail,
    /// Nothing that is shown; it says that a problem was not told by its name, so that what tells it again is shown.
    Untold,
    /// What the problems that follow belong to, such as a file: shown only where one follows.
    Title,
    /// A problem that the tool tells in full further on, unless it was asked not to, or has not come so far: shown
    /// only where none was told in full.
    Early,
    /// How a part went that went well: shown only where nothing else was found.
    Fine,
}

/// One kind of line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pattern: &'static str,
    seen: Seen,
    /// Whether no other program writes such a line, so that it shows which tool wrote the output.
    sure: bool,
    /// The state the line before must have left; none fits any.
    when: Option<u8>,
    /// The state this line leaves. In a state other than 0 the recogniser is handed the next line, whatever it is.
    leaves: u8,
}

impl Rule {
    const fn new(seen: Seen, pattern: &'static str) -> Self {
        Self { pattern, seen, sure: false, when: None, leaves: 0 }
    }

    pub(super) const fn nothing(pattern: &'static str) -> Self {
        Self::new(Seen::Nothing, pattern)
    }

    /// A line that is not shown and tells which tool is at work.
    pub(super) const fn sign(pattern: &'static str) -> Self {
        Self::new(Seen::Nothing, pattern).sure()
    }

    pub(super) const fn problem(pattern: &'static str) -> Self {
        Self::new(Seen::Problem, pattern)
    }

    pub(super) const fn again(pattern: &'static str) -> Self {
        Self::new(Seen::Again, pattern)
    }

    pub(super) const fn untold(pattern: &'static str) -> Self {
        Self::new(Seen::Untold, pattern)
    }

    pub(super) const fn title(pattern: &'static str) -> Self {
        Self::new(Seen::Title, pattern)
    }

    pub(super) const fn early(pattern: &'static str) -> Self {
        Self::new(Seen::Early, pattern)
    }

    pub(super) const fn fine(pattern: &'static str) -> Self {
        Self::new(Seen::Fine, pattern)
    }

    pub(super) const fn result(pattern: &'static str) -> Self {
        Self::new(Seen::Result, pattern)
    }

    pub(super) const fn detail(pattern: &'static str) -> Self {
        Self::new(Seen::Detail, pattern)
    }

    pub(super) const fn sure(mut self) -> Self {
        self.sure = true;
        self
    }

    /// Only behind a line that left this state.
    pub(super) const fn when(mut self, state: u8) -> Self {
        self.when = Some(state);
        self
    }

    pub(super) const fn leaves(mut self, state: u8) -> Self {
        self.leaves = state;
        self
    }

    /// The state its line leaves.
    pub(super) fn state(&self) -> u8 {
        self.leaves
    }

    /// What its line is, and whether it shows which tool is at work.
    pub(super) fn says(&self) -> (Seen, bool) {
        (self.seen, self.sure)
    }
}

/// Rules, compiled as one.
#[derive(Debug)]
struct Compiled {
    set: RegexSet,
    rules: Vec<&'static Rule>,
}

impl Compiled {
    fn new(rules: impl Iterator<Item = &'static Rule>) -> Option<Self> {
        let rules: Vec<_> = rules.collect();
        let set = RegexSetBuilder::new(rules.iter().map(|rule| rule.pattern)).build().ok()?;
        Some(Self { set, rules })
    }
}

/// A tool whose output is known.
#[derive(Debug)]
pub struct Recogniser {
    /// The tool.
    pub name: &'static str,
    /// Bytes that its lines begin with, blanks in front aside; a digit stands for a number with ` ` and a word, `/`, `%`
    /// or `..` behind it. A line is held against the rules only if it begins or
    /// ends so, holds the word, begins with a place, or follows one that asked for the next.
    pub(super) begins: &'static [u8],
    /// Bytes of which one stands behind the first; none where any may.
    pub(super) then: &'static [u8],
    /// Bytes that its lines end with.
    pub(super) ends: &'static [u8],
    /// Whether its lines are known by the word `error` in them.
    pub(super) says_error: bool,
    /// Whether its lines begin with a place in a file (`path:12:3:`) a code (`E501`), or a name (`lint: FAIL`).
    pub(super) says_place: bool,
    /// The kinds of lines; the first that fits counts.
    pub(super) rules: &'static [Rule],
    /// A pattern for `search` that finds its lines.
    pub(super) search: &'static str,
    /// The rules that ask for nothing of the line before, which are all that most lines need, and all rules.
    compiled: OnceLock<Option<[Compiled; 2]>>,
}

impl Recogniser {
    pub(super) const fn new(name: &'static str, search: &'static str, rules: &'static [Rule]) -> Self {
        Self {
            name,
            begins: b"",
            then: b"",
            ends: b"",
            says_error: false,
            says_place: false,
            rules,
            search,
            compiled: OnceLock::new(),
        }
    }

    pub(super) const fn begins(mut self, bytes: &'static [u8]) -> Self {
        self.begins = bytes;
        self
    }

    pub(super) const fn then(mut self, bytes: &'static [u8]) -> Self {
        self.then = bytes;
        self
    }

    pub(super) const fn ends(mut self, bytes: &'static [u8]) -> Self {
        self.ends = bytes;
        self
    }

    pub(super) const fn says_error(mut self) -> Self {
        self.says_error = true;
        self
    }

    pub(super) const fn says_place(mut self) -> Self {
        self.says_place = true;
        self
    }

    /// The first rule that fits the line in this state.
    pub(super) fn rule(&self, line: &str, state: u8) -> Option<&'static Rule> {
        let compiled = self.compiled.get_or_init(|| {
            let first = Compiled::new(self.rules.iter().filter(|rule| rule.when.is_none()))?;
            Some([first, Compiled::new(self.rules.iter())?])
        });
        let [first, all] = compiled.as_ref()?;
        let Compiled { set, rules } = if state == 0 { first } else { all };
        let matches = set.is_match(line).then(|| set.matches(line))?;
        let fits = |at: usize| rules.get(at).copied().filter(|rule| rule.when.is_none_or(|when| when == state));
        matches.iter().find_map(fits)
    }
}
