//! Patterns as clients send them: compiled once, run line by line, linear wherever they can be.
//!
//! A pattern without look-around and back-references runs on `regex`, in linear time. Only what `regex` refuses
//! runs on `fancy-regex`, under a step limit and over pieces of bounded length: its limit counts steps, and a step
//! over a long line may be slow.

use crate::text::visible::quoted;
use std::ops::Range;

/// The longest line, in bytes, that a backtracking pattern looks at. Look-ahead over 40 KB took seconds within the
/// step limit, over 4 KB it takes milliseconds.
pub const BACKTRACKING_LINE_MAX: usize = 4096;

/// Steps a backtracking pattern may take on one line; a tenth of the engine's default, about 3 ms.
const BACKTRACK_STEPS: usize = 100_000;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Linear(regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

/// Why a text is no pattern; [`std::fmt::Display`] shows the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPattern {
    /// The text that was given.
    pub source: String,
    /// What is wrong with it, in the engine's words, on one line.
    pub why: String,
}

impl std::fmt::Display for BadPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the pattern {} does not compile: {}", quoted(&self.source), self.why)
    }
}

impl std::error::Error for BadPattern {}

/// A pattern ran past its step limit on a line; whether it matches is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooCostly {
    /// The pattern.
    pub source: String,
}

impl std::fmt::Display for TooCostly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the pattern {} needs too much backtracking; use one without look-around or back-references",
            quoted(&self.source)
        )
    }
}

impl std::error::Error for TooCostly {}

impl Pattern {
    /// Compiles a pattern in `fancy-regex` syntax.
    ///
    /// # Errors
    /// [`BadPattern`] where neither engine takes it, or it compiles to more than 10 MiB.
    pub fn new(source: &str) -> Result<Self, BadPattern> {
        Self::with_case(source, false)
    }

    /// As [`Self::new`], optionally ignoring case.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_case(source: &str, ignore_case: bool) -> Result<Self, BadPattern> {
        let text = if ignore_case { format!("(?i){source}") } else { source.to_owned() };
        let engine = match regex::Regex::new(&text) {
            Ok(linear) => Engine::Linear(linear),
            Err(linear_error) => match fancy_regex::RegexBuilder::new(&text).backtrack_limit(BACKTRACK_STEPS).build() {
                Ok(fancy) => Engine::Backtracking(Box::new(fancy)),
                Err(fancy_error) => {
                    return Err(BadPattern { source: source.to_owned(), why: explain(&linear_error, &fancy_error) });
                }
            },
        };
        Ok(Self { source: source.to_owned(), engine })
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where the pattern first matches in one line.
    ///
    /// # Errors
    /// [`TooCostly`] where a backtracking pattern passed its step limit.
    pub fn find(&self, line: &str) -> Result<Option<Range<usize>>, TooCostly> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.find(line).map(|m| m.range())),
            Engine::Backtracking(regex) => {
                let end = line.floor_char_boundary(BACKTRACKING_LINE_MAX);
                let piece = line.get(..end).unwrap_or(line);
                match regex.find(piece) {
                    Ok(found) => Ok(found.map(|m| m.range())),
                    Err(_) => Err(TooCostly { source: self.source.clone() }),
                }
            }
        }
    }

    /// Whether the pattern matches anywhere in one line.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn is_match(&self, line: &str) -> Result<bool, TooCostly> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(line)),
            Engine::Backtracking(_) => Ok(self.find(line)?.is_some()),
        }
    }
}

/// One line that says what is wrong and where. `regex` draws the place over several lines; its last line is the
/// reason, and `fancy-regex` gives a position.
fn explain(linear: &regex::Error, fancy: &fancy_regex::Error) -> String {
    match linear {
        regex::Error::Syntax(text) => {
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let place = text.lines().find_map(|line| line.find('^').map(|at| at.saturating_sub(3)));
            let fancy = fancy.to_string().replace('\n', " ");
            match place {
                Some(column) if !reason.contains("look-around") && !reason.contains("backreference") => {
                    format!("{reason} (at character {column})")
                }
                _ => fancy,
            }
        }
        regex::Error::CompiledTooBig(limit) => format!("it compiles to more than {limit} bytes"),
        other => other.to_string(),
    }
}
