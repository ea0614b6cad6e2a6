//! Arguments as models really send them, checked against the table of tools.
//!
//! `"5"` for 5, `2.0` for 2, a JSON text for a list, a single string for a list of one, `"true"`, and `null` for an
//! argument left out are all understood. What cannot be understood is refused with the argument's name and what it
//! takes; an argument that the tool does not have is refused by name, because ignoring a slip would be answered by a
//! command that does something else than was meant.

use std::fmt;
use std::time::Duration;

use dtmcp_core::guide::tools::{Takes, Tool};
use dtmcp_core::pattern::{BadPattern, Pattern};
use dtmcp_core::text::clip::clip_line;
use dtmcp_core::text::near::nearest;
use dtmcp_core::text::visible::quoted;
use serde_json::{Map, Value};

/// How much of a pattern's error is shown, in characters: it holds the pattern.
const ERROR_MAX: usize = 800;

/// Why arguments do not fit; the text names the argument and says what it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgError(String);

impl ArgError {
    /// An error about what arguments mean together; its text names them.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn takes(name: &str, what: &str, given: &Value) -> Self {
        Self(format!("`{name}` takes {what}, not {}", excerpt(given)))
    }
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArgError {}

/// The arguments of one call; each accessor takes the value it names.
#[derive(Debug)]
pub struct Arguments {
    tool: &'static Tool,
    values: Map<String, Value>,
}

impl Arguments {
    /// Takes a call's arguments; those that are `null` count as left out.
    ///
    /// # Errors
    /// Where an argument is none of the tool's, or one that it needs is missing.
    pub fn new(tool: &'static Tool, mut values: Map<String, Value>) -> Result<Self, ArgError> {
        values.retain(|_, value| !value.is_null());
        if let Some(name) = values.keys().find(|name| tool.parameters.iter().all(|p| p.name != name.as_str())) {
            return Err(unknown(tool, name));
        }
        if let Some(missing) = tool.parameters.iter().find(|p| p.required && !values.contains_key(p.name)) {
            return Err(ArgError(format!("`{}` is missing: {}", missing.name, missing.text)));
        }
        Ok(Self { tool, values })
    }

    /// Objects: a list of them, a JSON text of one, or a single object; each is given with its arguments checked.
    ///
    /// # Errors
    /// Where it is none of these, or an object has what it cannot have; the error names the place.
    pub fn objects<T>(
        &mut self,
        name: &str,
        most: usize,
        read: impl Fn(&mut Self) -> Result<T, ArgError>,
    ) -> Result<Vec<T>, ArgError> {
        let Some(Takes::Objects(shape)) = self.takes(name) else { return Ok(Vec::new()) };
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        // What was given is not shown: it may hold a secret.
        let refused = || ArgError(format!("`{name}` takes a list of objects"));
        let list = match &value {
            Value::String(text) if text.trim().is_empty() => Value::Array(Vec::new()),
            Value::String(text) => serde_json::from_str(text).map_err(|_| refused())?,
            other => other.clone(),
        };
        let list = match list {
            Value::Array(items) => items,
            Value::Object(one) => vec![Value::Object(one)],
            _ => return Err(refused()),
        };
        if list.len() > most {
            return Err(ArgError(format!("`{name}` takes at most {most} of them, not {}", list.len())));
        }
        let object = |(at, item): (usize, Value)| {
            let Value::Object(map) = item else { return Err(refused()) };
            let placed = |error: ArgError| ArgError(format!("`{name}`, {at}: {error}"));
            Self::new(shape, map).and_then(|mut object| read(&mut object)).map_err(placed)
        };
        list.into_iter().enumerate().map(object).collect()
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.values.shift_remove(name)
    }

    fn takes(&self, name: &str) -> Option<Takes> {
        self.tool.parameters.iter().find(|p| p.name == name).map(|p| p.takes)
    }

    /// A string, as it is. Numbers and truth values are taken as their text.
    ///
    /// # Errors
    /// Where it is a list or an object.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        scalar_text(&value).map(Some).ok_or_else(|| ArgError::takes(name, "a string", &value))
    }

    /// A string that means nothing when empty, so that an empty one counts as left out: some clients fill every
    /// argument.
    ///
    /// # Errors
    /// As [`Self::text`], and where it contains a control character.
    pub fn word(&mut self, name: &str) -> Result<Option<String>, ArgError> {
        let Some(text) = self.text(name)?.filter(|text| !text.is_empty()) else { return Ok(None) };
        if text.chars().any(char::is_control) {
            return Err(ArgError(format!("`{name}` takes no control characters")));
        }
        Ok(Some(text))
    }

    /// Lines: a string split at its line breaks, or a list of strings. A line break at the very end adds no line.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn lines(&mut self, name: &str) -> Result<Vec<String>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        let text = match &value {
            Value::Array(items) => items.iter().map(scalar_text).collect::<Option<Vec<_>>>().map(|all| all.join("\n")),
            other => scalar_text(other),
        };
        let text = text.ok_or_else(|| ArgError::takes(name, "a string", &value))?;
        let text = text.replace("\r\n", "\n");
        Ok(text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect())
    }

    /// A pattern, compiled. An empty one counts as left out.
    ///
    /// # Errors
    /// Where it is no string or does not compile; the error shows the place.
    pub fn pattern(&mut self, name: &str) -> Result<Option<Pattern>, ArgError> {
        self.pattern_with_case(name, false)
    }

    /// As [`Self::pattern`], optionally ignoring case.
    ///
    /// # Errors
    /// As [`Self::pattern`].
    pub fn pattern_with_case(&mut self, name: &str, ignore_case: bool) -> Result<Option<Pattern>, ArgError> {
        let Some(source) = self.text(name)?.filter(|source| !source.is_empty()) else { return Ok(None) };
        // The place of the fault stands at the end, and clipping leaves it.
        let explain = |error: BadPattern| ArgError(format!("`{name}`: {}", clip_line(&error.to_string(), ERROR_MAX)));
        Pattern::with_case(&source, ignore_case).map(Some).map_err(explain)
    }

    /// A whole number within the range of the table.
    ///
    /// # Errors
    /// Where it is no whole number, or outside the range.
    pub fn integer(&mut self, name: &str) -> Result<Option<u64>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let (min, max) = match self.takes(name) {
            Some(Takes::Integer { min, max }) => (min, max),
            _ => (0, u64::MAX),
        };
        let refused = || ArgError::takes(name, &format!("a whole number from {min} to {max}"), &value);
        let number = whole(&value).ok_or_else(refused)?;
        if (min..=max).contains(&number) { Ok(Some(number)) } else { Err(refused()) }
    }

    /// As [`Self::integer`], for a range that fits another type.
    ///
    /// # Errors
    /// As [`Self::integer`].
    pub fn number<T: TryFrom<u64>>(&mut self, name: &str) -> Result<Option<T>, ArgError> {
        let Some(number) = self.integer(name)? else { return Ok(None) };
        T::try_from(number).map(Some).map_err(|_| ArgError(format!("`{name}` is too large: {number}")))
    }

    /// Seconds within the range of the table.
    ///
    /// # Errors
    /// Where it is no number, or outside the range.
    pub fn seconds(&mut self, name: &str) -> Result<Option<Duration>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let max = match self.takes(name) {
            Some(Takes::Seconds { max }) => max,
            _ => u32::MAX,
        };
        let refused = || ArgError::takes(name, &format!("seconds from 0 to {max}"), &value);
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let seconds = number.filter(|n: &f64| (0.0..=f64::from(max)).contains(n)).ok_or_else(refused)?;
        Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| refused())
    }

    /// True or false.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn flag(&mut self, name: &str) -> Result<Option<bool>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let flag = match &value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" => Some(false),
                _ => None,
            },
            Value::Number(number) => match number.as_f64() {
                Some(1.0) => Some(true),
                Some(0.0) => Some(false),
                _ => None,
            },
            _ => None,
        };
        flag.map(Some).ok_or_else(|| ArgError::takes(name, "true or false", &value))
    }

    /// One of the words that the table lists, whatever its case. An empty string counts as left out.
    ///
    /// # Errors
    /// Where it is none of them; the error lists them.
    pub fn choice(&mut self, name: &str) -> Result<Option<&'static str>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let words = match self.takes(name) {
            Some(Takes::Choice(words)) => words,
            _ => &[],
        };
        let given = value.as_str().map(|text| text.trim().to_ascii_lowercase());
        if given.as_deref() == Some("") {
            return Ok(None);
        }
        let plain = given.map(|given| given.strip_prefix("sig").map_or_else(|| given.clone(), str::to_owned));
        let found = plain.and_then(|given| words.iter().copied().find(|word| word.eq_ignore_ascii_case(&given)));
        found.map(Some).ok_or_else(|| {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            ArgError::takes(name, &format!("one of {}", quoted.join(", ")), &value)
        })
    }

    /// A list of strings; a single string is a list of one, and a JSON text of a list is read.
    ///
    /// # Errors
    /// Where it is none of these.
    pub fn texts(&mut self, name: &str) -> Result<Vec<String>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        let unwrapped = match &value {
            Value::String(text) if text.trim_start().starts_with('[') => {
                serde_json::from_str::<Value>(text).ok().filter(Value::is_array)
            }
            _ => None,
        };
        let list = match unwrapped.as_ref().unwrap_or(&value) {
            Value::Array(items) => items.iter().map(scalar_text).collect(),
            other => scalar_text(other).map(|one| vec![one]),
        };
        list.ok_or_else(|| ArgError::takes(name, "a list of strings", &value))
    }

    /// Variables: an object of strings, or a JSON text of one, in the order given.
    ///
    /// # Errors
    /// Where it is neither, and where a name or value cannot stand in an environment.
    pub fn variables(&mut self, name: &str) -> Result<Vec<(String, String)>, ArgError> {
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        let refused = || ArgError::takes(name, "an object of strings, such as {\"LANG\": \"C\"}", &value);
        let map = match &value {
            Value::Object(map) => map.clone(),
            Value::String(text) if text.trim().is_empty() => Map::new(),
            Value::String(text) => serde_json::from_str(text).map_err(|_| refused())?,
            _ => return Err(refused()),
        };
        let mut variables = Vec::with_capacity(map.len());
        for (key, value) in &map {
            let text = scalar_text(value).ok_or_else(refused)?;
            check_variable(name, key, &text)?;
            variables.push((key.clone(), text));
        }
        Ok(variables)
    }
}

/// tmux sets these itself in each pane, and ours keep markers apart from text.
fn check_variable(name: &str, key: &str, text: &str) -> Result<(), ArgError> {
    if key.is_empty() || key.contains(['=', '\0']) || key.chars().any(char::is_control) || text.contains('\0') {
        return Err(ArgError(format!("`{name}`: {key} cannot stand in an environment", key = quoted(key))));
    }
    if matches!(key, "TMUX" | "TMUX_PANE") || key.starts_with("__DTMCP_") {
        return Err(ArgError(format!("`{name}`: {key} is set by the session itself")));
    }
    Ok(())
}

fn unknown(tool: &Tool, name: &str) -> ArgError {
    let names: Vec<&str> = tool.parameters.iter().map(|p| p.name).collect();
    let meant = match nearest(name, names.iter().copied(), 1).first() {
        Some(near) => format!(" Did you mean `{near}`?"),
        None => String::new(),
    };
    let short: String = name.chars().take(40).collect();
    ArgError(format!(
        "{} has no argument {short}.{meant} It takes: {}",
        tool.name,
        names.join(", "),
        short = quoted(&short)
    ))
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A whole number that is not negative, however it is written: 5, 5.0, "5", "5.0".
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| exact(number.as_f64()?)),
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| exact(text.parse().ok()?))
        }
        _ => None,
    }
}

fn exact(number: f64) -> Option<u64> {
    // Above 2^53 a float no longer names one whole number.
    let fits = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    fits.then(|| format!("{number:.0}").parse().ok()).flatten()
}

/// A value as an error shows it: what the client sent, short.
fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(60).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

    use dtmcp_core::guide::tools::tool;
    use serde_json::json;

    use super::*;

    fn args(name: &str, values: Value) -> Result<Arguments, ArgError> {
        let Value::Object(map) = values else { panic!("arguments are an object") };
        Arguments::new(tool(name).unwrap(), map)
    }

    #[test]
    fn whole_numbers_in_every_spelling() {
        for value in [json!(5), json!(5.0), json!("5"), json!(" 5 "), json!("5.0"), json!("5e0")] {
            assert_eq!(
                args("run", json!({"line": "x", "last_lines": value})).unwrap().integer("last_lines"),
                Ok(Some(5))
            );
        }
        for value in
            [json!(5.5), json!(-1), json!(0), json!(1001), json!("five"), json!([5]), json!(true), json!(1e300)]
        {
            let error =
                args("run", json!({"line": "x", "last_lines": value})).unwrap().integer("last_lines").unwrap_err();
            assert!(error.to_string().starts_with("`last_lines` takes a whole number from 1 to 1000, not "), "{error}");
        }
    }

    #[test]
    fn seconds_in_every_spelling() {
        for (value, millis) in
            [(json!(5), 5000), (json!(0.3), 300), (json!("1.5"), 1500), (json!(0), 0), (json!("3600"), 3_600_000)]
        {
            let got = args("wait", json!({"timeout": value})).unwrap().seconds("timeout");
            assert_eq!(got, Ok(Some(Duration::from_millis(millis))));
        }
        for value in [json!(-1), json!(3600.1), json!("NaN"), json!("inf"), json!("30s"), json!({}), json!(1e300)] {
            let error = args("wait", json!({"timeout": value})).unwrap().seconds("timeout").unwrap_err();
            assert!(error.to_string().contains("seconds from 0 to 3600"), "{error}");
        }
    }

    #[test]
    fn truth_in_every_spelling() {
        for (value, flag) in [(json!(true), true), (json!("true"), true), (json!("False"), false), (json!(0), false)] {
            assert_eq!(args("session_list", json!({"closed": value})).unwrap().flag("closed"), Ok(Some(flag)));
        }
        assert!(args("session_list", json!({"closed": "maybe"})).unwrap().flag("closed").is_err());
    }

    #[test]
    fn lists_in_every_spelling() {
        for value in [json!(["up", "q"]), json!("[\"up\", \"q\"]")] {
            assert_eq!(args("send", json!({"keys": value})).unwrap().texts("keys").unwrap(), ["up", "q"]);
        }
        for (value, expected) in [(json!("ctrl+c"), "ctrl+c"), (json!("["), "["), (json!(5), "5"), (json!([5]), "5")] {
            assert_eq!(args("send", json!({"keys": value})).unwrap().texts("keys").unwrap(), [expected]);
        }
        assert!(args("send", json!({"keys": [["up"]]})).unwrap().texts("keys").is_err());
        assert!(args("send", json!({"keys": {"a": 1}})).unwrap().texts("keys").is_err());
    }

    #[test]
    fn lines_are_split_at_their_breaks() {
        for (value, expected) in [
            (json!("echo hi"), &["echo hi"][..]),
            (json!("echo hi\n"), &["echo hi"]),
            (json!("a\r\nb"), &["a", "b"]),
            (json!("a\n\nb"), &["a", "", "b"]),
            (json!(""), &[""]),
            (json!(["a", "b\nc"]), &["a", "b", "c"]),
            (json!(42), &["42"]),
        ] {
            assert_eq!(args("run", json!({"line": value})).unwrap().lines("line").unwrap(), expected);
        }
        assert!(args("run", json!({"line": {}})).unwrap().lines("line").is_err());
    }

    #[test]
    fn variables_keep_their_order_and_are_checked() {
        let given = json!({"env": {"B": "1", "A": 2, "C": true}});
        let expected = [("B", "1"), ("A", "2"), ("C", "true")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(args("session_create", given).unwrap().variables("env").unwrap(), expected);
        let text = json!({"env": "{\"A\": \"x\"}"});
        assert_eq!(args("session_create", text).unwrap().variables("env").unwrap().len(), 1);
        for env in [
            json!({"": "x"}),
            json!({"A=B": "x"}),
            json!({"A": []}),
            json!({"TMUX": "x"}),
            json!({"__DTMCP_NONCE": "x"}),
            json!("nonsense"),
            json!({"A": "\0"}),
        ] {
            assert!(args("session_create", json!({"env": env})).unwrap().variables("env").is_err(), "{env}");
        }
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_nearest() {
        let error = args("run", json!({"line": "x", "time_out": 5})).unwrap_err().to_string();
        assert!(error.contains("run has no argument \"time_out\". Did you mean `timeout`?"), "{error}");
        assert!(error.contains("It takes: session, line, timeout, until"), "{error}");
        let error = args("session_list", json!({"xyzzy\u{1b}": 1})).unwrap_err().to_string();
        assert!(error.contains("xyzzy\\u{1b}") && !error.contains("Did you mean"), "{error}");
    }

    #[test]
    fn null_counts_as_left_out_and_what_is_needed_is_named() {
        let mut got = args("run", json!({"line": "x", "timeout": null, "nonsense": null})).unwrap();
        assert_eq!(got.seconds("timeout"), Ok(None));
        let error = args("run", json!({"line": null})).unwrap_err().to_string();
        assert!(error.starts_with("`line` is missing: "), "{error}");
    }

    #[test]
    fn choices_are_listed_where_none_fits() {
        assert_eq!(args("read", json!({"view": "Screen"})).unwrap().choice("view"), Ok(Some("screen")));
        assert_eq!(args("read", json!({"view": ""})).unwrap().choice("view"), Ok(None));
        let error = args("read", json!({"view": "colour"})).unwrap().choice("view").unwrap_err().to_string();
        assert_eq!(error, "`view` takes one of \"cooked\", \"screen\", \"raw\", not \"colour\"");
    }

    #[test]
    fn a_pattern_that_does_not_compile_shows_its_place() {
        let error = args("search", json!({"pattern": "a(b"})).unwrap().pattern("pattern").unwrap_err().to_string();
        assert!(error.starts_with("`pattern`: the pattern \"a(b\" does not compile: "), "{error}");
        assert!(args("run", json!({"line": "x", "until": ""})).unwrap().pattern("until").unwrap().is_none());
    }
}
