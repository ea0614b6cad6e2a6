//! The tools: each bound to the function that makes a valid request of its arguments.

use std::path::{Component, Path};
use std::time::Duration;

use dtmcp_core::call::{
    Action, Answer, Command, Create, Expect, Read, Request, Resize, Rule, Run, SETTLE, ScreenView, Search, Send, Shape,
    Signal, TIMES, TIMES_SECRET, View, Wait,
};
use dtmcp_core::guide::Topic;
use dtmcp_core::guide::tools::Tool;
use dtmcp_core::guide::{self};
use dtmcp_core::keys::Key;
use serde_json::{Map, Value};

use super::args::{ArgError, Arguments};

/// How long `run` and `wait` wait when not told. Well below the 60 s at which some clients give up.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The size of a session when not told: what most logs and tables are made for.
const COLS: u16 = 120;
/// As [`COLS`], downwards.
const ROWS: u16 = 40;

/// The longest text of one call, in bytes. Typing it takes tmux about 0.1 s; a file is the way for more.
const TEXT_MAX: usize = 1_000_000;

/// The most key presses of one call.
const KEYS_MAX: usize = 5000;

/// A call whose arguments are in order.
#[derive(Debug, Clone)]
pub enum Call {
    /// For the desk.
    Request(Box<Request>),
    /// For the front itself: a topic of the guide, or its contents.
    Guide(Option<&'static Topic>),
}

/// Makes a call of a tool's name and arguments. None where there is no such tool.
pub fn call(name: &str, arguments: Map<String, Value>) -> Option<Result<Call, ArgError>> {
    let tool = guide::tools::tool(name)?;
    Some(parse(tool, arguments))
}

fn parse(tool: &'static Tool, arguments: Map<String, Value>) -> Result<Call, ArgError> {
    let mut args = Arguments::new(tool, arguments)?;
    let request = match tool.name {
        "session_create" => session_create(&mut args)?,
        "run" => run(&mut args)?,
        "expect" => expect(&mut args)?,
        "send" => send(&mut args)?,
        "wait" => wait(&mut args)?,
        "read" => read(&mut args)?,
        "search" => search(&mut args)?,
        "regions" => Request::Regions {
            session: args.word("session")?,
            last: args.number("last")?.unwrap_or(20),
            status: args.choice("status")?.map(str::to_owned),
            pattern: args.pattern("pattern")?,
        },
        "shell_integrate" => Request::Integrate { session: args.word("session")? },
        "session_resize" => Request::Resize { session: args.word("session")?, how: resize(&mut args)? },
        "session_list" => {
            Request::List { session: args.word("session")?, closed: args.flag("closed")?.unwrap_or(false) }
        }
        "session_close" => Request::Close { session: args.word("session")? },
        "guide" => return Ok(Call::Guide(args.choice("topic")?.and_then(guide::topic))),
        other => return Err(ArgError::new(format!("{other} is not available"))),
    };
    Ok(Call::Request(Box::new(request)))
}

fn session_create(args: &mut Arguments) -> Result<Request, ArgError> {
    let name = args.word("name")?;
    if let Some(name) = &name {
        let fits = name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if !fits {
            return Err(ArgError::new("`name` takes letters, digits, `-` and `_`, at most 64 of them"));
        }
    }
    let command = match args.text("command")?.as_deref().map(str::trim) {
        None | Some("" | "bash") => Command::Bash,
        Some("zsh") => Command::Zsh,
        Some("fish") => Command::Fish,
        Some(command) if command.contains('\0') => return Err(ArgError::new("`command` takes no NUL character")),
        Some(command) => Command::Shell(command.to_owned()),
    };
    Ok(Request::Create(Create {
        name,
        command,
        cwd: args.word("cwd")?,
        env: args.variables("env")?,
        cols: args.number("cols")?.unwrap_or(COLS),
        rows: args.number("rows")?.unwrap_or(ROWS),
        prompt_pattern: args.pattern("prompt_pattern")?,
    }))
}

fn run(args: &mut Arguments) -> Result<Request, ArgError> {
    let session = args.word("session")?;
    let lines = typed_lines(args)?;
    Ok(Request::Run(Run {
        session,
        lines,
        timeout: args.seconds("timeout")?.unwrap_or(TIMEOUT),
        until: args.pattern("until")?,
        shape: shape(args)?,
        prompt_pattern: args.pattern("prompt_pattern")?,
    }))
}

/// The lines to be typed.
fn typed_lines(args: &mut Arguments) -> Result<Vec<String>, ArgError> {
    let lines = args.lines("line")?;
    for line in &lines {
        // Typed into a line editor, such a character would do something instead of standing in the line.
        if let Some(c) = line.chars().find(|c| c.is_control() && *c != '\t') {
            let code = u32::from(c);
            return Err(ArgError::new(format!(
                "`line` holds the control character \\x{code:02x}: press keys with `send`, keys=[\"ctrl+c\"]"
            )));
        }
    }
    check_length("line", lines.iter().map(|line| line.len() + 1).sum())?;
    Ok(lines)
}

fn expect(args: &mut Arguments) -> Result<Request, ArgError> {
    Ok(Request::Expect(Expect {
        session: args.word("session")?,
        // Some clients fill every argument: an empty line is none. A rule can press Enter.
        lines: Some(typed_lines(args)?).filter(|lines| lines.iter().any(|line| !line.is_empty())).unwrap_or_default(),
        timeout: args.seconds("timeout")?.unwrap_or(TIMEOUT),
        rules: args.objects("rules", guide::tools::RULES_MAX, rule)?,
        until: args.pattern("until")?,
        shape: shape(args)?,
    }))
}

fn rule(args: &mut Arguments) -> Result<Rule, ArgError> {
    let pattern =
        args.pattern("pattern")?.ok_or_else(|| ArgError::new("`pattern` takes a regex, not an empty string"))?;
    let (line, text) = (args.text("line")?, args.text("text")?);
    let names = args.texts("keys")?;
    let stop = args.flag("stop")?.unwrap_or(false);
    let (times, secret) = (args.number("times")?, args.flag("secret")?.unwrap_or(false));
    let ways = [line.is_some(), text.is_some(), !names.is_empty(), stop];
    if ways.iter().filter(|way| **way).count() != 1 {
        return Err(ArgError::new("give one of `line`, `text`, `keys` and `stop`=true"));
    }
    if stop {
        return Ok(Rule { pattern, action: Action::Stop, times: 1 });
    }
    let keys = pressed(&names)?;
    let text = match line {
        Some(line) if line.trim_end_matches(['\r', '\n']).contains(['\r', '\n']) => {
            return Err(ArgError::new("`line` takes one line here; `text` takes several"));
        }
        Some(line) => format!("{}\n", line.trim_end_matches(['\r', '\n'])),
        None => text.unwrap_or_default(),
    };
    if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        let code = u32::from(c);
        return Err(ArgError::new(format!(
            "the answer holds the control character \\x{code:02x}: press it with `keys`"
        )));
    }
    check_length("text", text.len())?;
    let times = times.unwrap_or(if secret { TIMES_SECRET } else { TIMES });
    Ok(Rule { pattern, action: Action::Answer(Answer { text, keys, secret }), times })
}

/// Keys by their names.
fn pressed(names: &[String]) -> Result<Vec<Key>, ArgError> {
    let mut keys = Vec::new();
    for name in names {
        keys.extend(Key::parse(name).map_err(|error| ArgError::new(format!("`keys`: {error}")))?);
        if keys.len() > KEYS_MAX {
            return Err(ArgError::new(format!("`keys` takes at most {KEYS_MAX} presses a call")));
        }
    }
    Ok(keys)
}

fn send(args: &mut Arguments) -> Result<Request, ArgError> {
    let session = args.word("session")?;
    let text = args.text("text")?.unwrap_or_default();
    let keys = pressed(&args.texts("keys")?)?;
    check_length("text", text.len())?;
    let signal = args.choice("signal")?.and_then(Signal::named);
    let screen = args.choice("screen")?;
    let settle = args.seconds("settle")?.unwrap_or(SETTLE);
    if text.is_empty() && keys.is_empty() && signal.is_none() && screen.is_none() {
        return Err(ArgError::new(
            "nothing to send: give `text`, `keys`, or both, or `signal`; text=\"y\", keys=[\"enter\"] types y and Enter",
        ));
    }
    let screen = match screen {
        Some("full") => ScreenView::Full,
        Some("changes") => ScreenView::Changes,
        Some("cursor") => ScreenView::Cursor,
        _ => ScreenView::None,
    };
    Ok(Request::Send(Send { session, text, keys, signal, screen, settle }))
}

fn wait(args: &mut Arguments) -> Result<Request, ArgError> {
    let session = args.word("session")?;
    let timeout = args.seconds("timeout")?.unwrap_or(TIMEOUT);
    let until = args.pattern("until")?;
    let shape = shape(args)?;
    if shape.save_to.as_deref().is_some_and(|path| Path::new(path).is_absolute()) {
        return Err(ArgError::new(
            "`save_to` takes a relative path here, which goes under the session's log directory; `run` takes any",
        ));
    }
    Ok(Request::Wait(Wait { session, timeout, until, shape }))
}

/// What a reply shows; `run`, `expect` and `wait` have the same four arguments for it.
fn shape(args: &mut Arguments) -> Result<Shape, ArgError> {
    let show = args.pattern("show")?;
    let show_after = args.number("show_after")?.unwrap_or(0);
    let last_lines = args.number("last_lines")?;
    let save_to = args.word("save_to")?;
    if let Some(path) = &save_to {
        let relative = !Path::new(path).is_absolute();
        if relative && !Path::new(path).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
            return Err(ArgError::new(
                "`save_to`: a relative path stays under the session's log directory, without `..`",
            ));
        }
        if path.starts_with('~') {
            return Err(ArgError::new("`save_to` takes a path as it is: `~` means nothing here, write it out"));
        }
    }
    Ok(Shape { show, show_after, last_lines, save_to })
}

fn read(args: &mut Arguments) -> Result<Request, ArgError> {
    let session = args.word("session")?;
    let view = match args.choice("view")? {
        Some("screen") => View::Screen,
        Some("raw") => View::Raw,
        _ => View::Cooked,
    };
    let region = args.number("region")?;
    let (from, to) = range(args)?;
    let last_lines = args.number("last_lines")?;
    if view == View::Screen {
        let given = [
            ("region", region.is_some()),
            ("from", from.is_some()),
            ("to", to.is_some()),
            ("last_lines", last_lines.is_some()),
        ];
        if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(ArgError::new(format!(
                "`{name}` chooses lines of the log, and view=\"screen\" shows what the terminal shows now: leave one of them out"
            )));
        }
    }
    Ok(Request::Read(Read {
        session,
        view,
        region,
        from,
        to,
        last_lines,
        max_lines: args.number("max_lines")?.unwrap_or(200),
        numbers: args.flag("numbers")?.unwrap_or(true),
    }))
}

fn search(args: &mut Arguments) -> Result<Request, ArgError> {
    let session = args.word("session")?;
    let all = args.flag("all")?.unwrap_or(false);
    if all && session.is_some() {
        return Err(ArgError::new("give `session` or all=true, not both"));
    }
    let ignore_case = args.flag("ignore_case")?.unwrap_or(false);
    let pattern = args
        .pattern_with_case("pattern", ignore_case)?
        .ok_or_else(|| ArgError::new("`pattern` takes a regex, not an empty string"))?;
    let region = args.number("region")?;
    let (from, to) = range(args)?;
    let given = [("region", region.is_some()), ("from", from.is_some()), ("to", to.is_some())];
    if let Some((name, _)) = given.into_iter().find(|(_, given)| all && *given) {
        return Err(ArgError::new(format!(
            "`{name}` counts in one session's log: give `session` with it, or all=true without it"
        )));
    }
    Ok(Request::Search(Search {
        session,
        all,
        pattern,
        region,
        context: args.number("context")?.unwrap_or(1),
        max_hits: args.number("max_hits")?.unwrap_or(20),
        from,
        to,
    }))
}

fn range(args: &mut Arguments) -> Result<(Option<u64>, Option<u64>), ArgError> {
    let (from, to) = (args.integer("from")?, args.integer("to")?);
    match (from, to) {
        (Some(first), Some(last)) if first > last => {
            Err(ArgError::new(format!("`from` ({first}) stands behind `to` ({last})")))
        }
        _ => Ok((from, to)),
    }
}

fn resize(args: &mut Arguments) -> Result<Resize, ArgError> {
    let (cols, rows) = (args.number("cols")?, args.number("rows")?);
    match (args.flag("follow")?.unwrap_or(false), cols.or(rows).is_some()) {
        (true, false) => Ok(Resize::Follow),
        (false, true) => Ok(Resize::To { cols, rows }),
        (true, true) => Err(ArgError::new("give `cols` and `rows`, or follow=true, not both")),
        (false, false) => Err(ArgError::new("give `cols`, `rows` or both, or follow=true")),
    }
}

fn check_length(name: &str, bytes: usize) -> Result<(), ArgError> {
    if bytes <= TEXT_MAX {
        return Ok(());
    }
    Err(ArgError::new(format!("`{name}` is {bytes} bytes long, and {TEXT_MAX} is the most: put it into a file")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

    use serde_json::json;

    use super::*;

    fn request(name: &str, arguments: Value) -> Result<Request, String> {
        let Value::Object(map) = arguments else { panic!("arguments are an object") };
        match call(name, map).unwrap() {
            Ok(Call::Request(request)) => Ok(*request),
            Ok(Call::Guide(topic)) => panic!("a topic: {topic:?}"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn every_tool_of_the_table_is_bound() {
        for tool in guide::tools::TOOLS {
            // Whatever the arguments, the tool itself is there.
            if let Err(error) = call(tool.name, Map::new()).unwrap() {
                assert!(!error.to_string().contains("not available"), "{}", tool.name);
            }
        }
        assert!(call("no_such_tool", Map::new()).is_none());
    }

    #[test]
    fn every_parameter_of_the_table_is_read() {
        for tool in guide::tools::TOOLS {
            for parameter in tool.parameters {
                // A list in a list fits nothing, so whoever reads the parameter refuses it by name.
                let mut map = Map::new();
                for needed in tool.parameters.iter().filter(|p| p.required) {
                    map.insert(needed.name.to_owned(), json!("x"));
                }
                map.insert(parameter.name.to_owned(), json!([["x"]]));
                let error = call(tool.name, map).unwrap().unwrap_err().to_string();
                assert!(error.contains(&format!("`{}`", parameter.name)), "{}: {error}", tool.name);
            }
        }
    }

    #[test]
    fn whatever_is_sent_is_taken_or_refused_by_name() {
        let odd = [
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(1e308),
            json!(u64::MAX),
            json!(""),
            json!("\u{0}"),
            json!("\u{202e}[]"),
            json!("["),
            json!("{"),
            json!("[[[["),
            json!([]),
            json!([null]),
            json!({}),
            json!({"": null}),
            json!("x".repeat(100_000)),
            json!("(?=".repeat(500)),
            json!("*5"),
            json!("ctrl+"),
            json!("99999999999999999999"),
        ];
        for tool in guide::tools::TOOLS {
            for parameter in tool.parameters {
                for value in &odd {
                    let mut map = Map::new();
                    for needed in tool.parameters.iter().filter(|p| p.required) {
                        map.insert(needed.name.to_owned(), json!("x"));
                    }
                    map.insert(parameter.name.to_owned(), value.clone());
                    let Err(error) = call(tool.name, map).unwrap() else { continue };
                    let error = error.to_string();
                    let named = error.contains(&format!("`{}`", parameter.name)) || error.contains("give `");
                    assert!(named && error.chars().count() < 1500, "{}.{}: {error}", tool.name, parameter.name);
                }
            }
        }
    }

    #[test]
    fn a_run_with_nothing_but_its_line_takes_the_defaults() {
        let Ok(Request::Run(run)) = request("run", json!({"line": "make"})) else { panic!("not a run") };
        assert_eq!((run.session, run.lines, run.timeout), (None, vec!["make".to_owned()], Duration::from_secs(30)));
        assert!(run.until.is_none() && run.shape.show.is_none() && run.shape.last_lines.is_none());
        let Ok(Request::Run(run)) = request("run", json!({"line": "", "session": ""})) else { panic!("not a run") };
        assert_eq!((run.session, run.lines), (None, vec![String::new()]));
    }

    #[test]
    fn a_control_character_in_a_line_is_refused() {
        for line in ["\u{3}", "a\u{1b}[201~b", "a\0b", "a\u{9b}"] {
            let error = request("run", json!({"line": line})).unwrap_err();
            assert!(error.contains("`line` holds the control character"), "{error}");
        }
        assert!(request("run", json!({"line": "a\tb"})).is_ok());
        assert!(request("run", json!({"line": "x".repeat(1_000_001)})).unwrap_err().contains("put it into a file"));
    }

    #[test]
    fn keys_are_pressed_in_order() {
        let Ok(Request::Send(send)) = request("send", json!({"text": "y", "keys": ["down*2", "C-m"]})) else {
            panic!("not a send")
        };
        let bytes: Vec<u8> = send.keys.iter().flat_map(|key| key.encode(false)).collect();
        assert_eq!((send.text.as_str(), bytes.as_slice()), ("y", &b"\x1b[B\x1b[B\r"[..]));
        assert!(request("send", json!({})).unwrap_err().contains("nothing to send"));
        assert!(request("send", json!({"screen": "full"})).is_ok());
        assert!(request("send", json!({"keys": ["nokey"]})).unwrap_err().contains("`keys`: no key"));
        assert!(request("send", json!({"keys": vec!["x*1000"; 6]})).unwrap_err().contains("at most 5000"));
    }

    #[test]
    fn names_of_sessions_are_plain() {
        for name in ["a b", "../x", "t1.2", "a:b", &"x".repeat(65)] {
            assert!(request("session_create", json!({"name": name})).unwrap_err().contains("`name` takes letters"));
        }
        let Ok(Request::Create(create)) = request("session_create", json!({"name": "web-1", "command": " bash "}))
        else {
            panic!("not a session")
        };
        assert_eq!((create.name.as_deref(), create.command), (Some("web-1"), Command::Bash));
        assert_eq!((create.cols, create.rows), (120, 40));
    }

    #[test]
    fn save_to_stays_where_it_may() {
        for path in ["../x", "a/../../x", "~/x"] {
            assert!(request("run", json!({"line": "x", "save_to": path})).unwrap_err().contains("`save_to`"), "{path}");
        }
        for path in ["x", "a/b.txt", "./x", "/tmp/x"] {
            assert!(request("run", json!({"line": "x", "save_to": path})).is_ok(), "{path}");
        }
        assert!(request("wait", json!({"save_to": "/tmp/x"})).unwrap_err().contains("relative path here"));
        assert!(request("wait", json!({"save_to": "x"})).is_ok());
    }

    #[test]
    fn arguments_that_contradict_each_other_are_refused() {
        for (name, arguments, expected) in [
            ("search", json!({"pattern": "x", "all": true, "session": "t1"}), "not both"),
            ("search", json!({"pattern": "x", "all": true, "region": 3}), "`region` counts in one session"),
            ("search", json!({"pattern": "x", "all": true, "to": 3}), "`to` counts in one session"),
            ("read", json!({"view": "screen", "region": 3}), "`region` chooses lines of the log"),
            ("read", json!({"view": "screen", "last_lines": 3}), "`last_lines` chooses lines of the log"),
            ("search", json!({"pattern": ""}), "not an empty string"),
            ("read", json!({"from": 9, "to": 3}), "stands behind"),
            ("session_resize", json!({}), "give `cols`"),
            ("session_resize", json!({"follow": true, "cols": 80}), "not both"),
        ] {
            assert!(request(name, arguments).unwrap_err().contains(expected), "{name}");
        }
        let Ok(Request::Resize { how, .. }) = request("session_resize", json!({"cols": "100"})) else {
            panic!("not a resize")
        };
        assert_eq!(how, Resize::To { cols: Some(100), rows: None });
    }
}
