//! The tools as a model sees them: names, descriptions, and every parameter with its range.
//!
//! Schemas and the checks of arguments are both made from this table, so that what a description promises is what is
//! taken. Descriptions stay under 2,048 characters, the least that a client in use cuts at; ranges and defaults
//! stand in the text, because some clients drop them from the schema.

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Takes {
    /// A string.
    Text,
    /// A regular expression.
    Pattern,
    /// A whole number in a range, both ends included.
    Integer {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// Seconds from 0, fractions allowed.
    Seconds {
        /// The most.
        max: u32,
    },
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of strings.
    Texts,
    /// A list of objects, each with these properties.
    Objects(&'static Tool),
    /// An object of strings with free keys.
    Variables,
}

/// A parameter of a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What the model is told about it.
    pub text: &'static str,
}

/// What a call of a tool may do, for clients that ask a person first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes what dtmcp itself keeps, and touches nothing else.
    Arranges,
    /// Whatever a shell can do.
    Acts,
}

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What the model is told about it.
    pub description: &'static str,
    /// What a call may do.
    pub effect: Effect,
    /// Its parameters, in the contract's order.
    pub parameters: &'static [Parameter],
}

/// The tool of this name.
#[must_use]
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The longest that a call may wait, in seconds.
pub const TIMEOUT_MAX: u32 = 3600;

/// The widest and the tallest screen a session may have; a client's window is far below.
pub const SCREEN_MAX: u64 = 1000;

const fn optional(name: &'static str, takes: Takes, text: &'static str) -> Parameter {
    Parameter { name, takes, required: false, text }
}

const fn required(name: &'static str, takes: Takes, text: &'static str) -> Parameter {
    Parameter { name, takes, required: true, text }
}

const SESSION: Parameter =
    optional("session", Takes::Text, "The session, such as `t1`. Default: the one that is open, if there is just one.");
const CLOSED_TOO: Parameter = optional(
    "session",
    Takes::Text,
    "The session, such as `t1`; closed ones too (`t3`, or `t3.1` for an older one of that name). Default: the one \
     that is open, if there is just one.",
);
const TIMEOUT: Parameter = optional(
    "timeout",
    Takes::Seconds { max: TIMEOUT_MAX },
    "Seconds to wait, 0 to 3600. Default 30. When it is over the command keeps running and `wait` picks it up. Some \
     clients give up on a call after 60 s: better wait again than ask for more than 50.",
);
const SHOW: Parameter = optional(
    "show",
    Takes::Pattern,
    "Regex: the reply shows only the output lines that match. Use it in place of `| grep`: the whole output stays in \
     the log and the exit status is the command's own.",
);
const SHOW_AFTER: Parameter = optional(
    "show_after",
    Takes::Integer { min: 0, max: 100 },
    "With `show`: lines shown after each match, 0 to 100. Default 0.",
);
const LAST_LINES: Parameter = optional(
    "last_lines",
    Takes::Integer { min: 1, max: 1000 },
    "The reply shows only the last lines of the output, 1 to 1000. Use it in place of `| tail`. Default: everything, \
     with the middle left out beyond 80 lines or 6,000 characters.",
);
const SAVE_TO: Parameter = optional(
    "save_to",
    Takes::Text,
    "Copies the whole output to this file on the server's host. A relative path goes under the session's log \
     directory. The reply names the real path.",
);
const COLS: Takes = Takes::Integer { min: 2, max: SCREEN_MAX };

/// Every tool, in the contract's order.
pub const TOOLS: &[Tool] = &[
    SESSION_CREATE,
    RUN,
    EXPECT,
    SEND,
    WAIT,
    READ,
    SEARCH,
    REGIONS,
    SHELL_INTEGRATE,
    SESSION_RESIZE,
    SESSION_LIST,
    SESSION_CLOSE,
    GUIDE,
];

const SESSION_CREATE: Tool = Tool {
    name: "session_create",
    title: "Open a terminal session",
    description: "Opens a terminal session that a person can watch and type into while you work in it. Open one at the \
        start of a task and keep it: directory, variables, virtual environments and running programs stay as you leave \
        them.\n\nWithout `command` it is bash with the user's own startup files, `zsh` and `fish` are those shells; each command \
        you `run` there is told apart exactly, with its exit status. Any other command runs as given, through `sh -c`: a debugger, a \
        database shell, `ssh host`. The reply then shows its first screen; its prompts are recognised by their look, \
        so give `prompt_pattern` for an unusual one.\n\nThe reply holds the attach command: pass it on to the user, \
        so that they can watch. Open a second session for a server or a log to follow while you work in the first.",
    effect: Effect::Acts,
    parameters: &[
        optional(
            "name",
            Takes::Text,
            "A name of letters, digits, `-` and `_`, at most 64. Default: the next free one of `t1`, `t2`, ...",
        ),
        optional(
            "command",
            Takes::Text,
            "What runs in it. `bash` (the default), `zsh` or `fish`, with the shell integration; anything else goes to `sh -c`.",
        ),
        optional("cwd", Takes::Text, "The directory it starts in. Default: the server's own."),
        optional("env", Takes::Variables, "Variables to set in it, as an object of strings."),
        optional("cols", COLS, "Columns, 2 to 1000. Default 120."),
        optional("rows", COLS, "Rows, 2 to 1000. Default 40."),
        optional(
            "prompt_pattern",
            Takes::Pattern,
            "Regex for the prompt of the shell or program, where it does not end in `$ `, `# `, `% ` or `> `.",
        ),
    ],
};

const RUN: Tool = Tool {
    name: "run",
    title: "Run a command line",
    description: "Types a line and Enter into a session and waits for its end: of a command in bash, with its exit \
        status; or the next prompt, when a program such as gdb or python reads the line. Returns the moment that \
        happens, so a long `timeout` costs nothing.\n\nThe reply begins with a status line in brackets:\n\
        [t1 #12 exit 0 · 0.4 s · 3 lines] it ended; #12 names its region, for `read` and `search`\n\
        [t1 #14 running · 30.0 s · ...] the timeout is over, the command goes on: call `wait`\n\
        `at the prompt`: a program has answered and takes the next line with `run`\n\
        `waiting for input`: it asks something; answer with `run` or `send`\n\
        `full-screen program`: its screen is shown; press keys with `send`\n\n\
        Do not add `| tail`, `| head`, `| grep` or `2>&1 | tee`: the whole output is kept, the reply shows start and \
        end, and `show`, `last_lines`, `read` and `search` give any part without running it again. A pipe would hide \
        the exit status and hold output back. Do not add `; echo $?`, `sleep`, `timeout` or `&` to wait less: use \
        `timeout` and `wait`.\n\nSeveral lines go one at a time, each once the one before has ended, and stop where \
        what takes them dies. While another command still runs nothing is typed, and the error says what runs.",
    effect: Effect::Acts,
    parameters: &[
        SESSION,
        required(
            "line",
            Takes::Text,
            "The command line, without Enter. Several lines go one at a time, each after the one before has finished, \
             whatever its status; a here-document is simply its lines.",
        ),
        TIMEOUT,
        optional(
            "until",
            Takes::Pattern,
            "Regex: return as soon as the output has it (never the echo of what you typed). For servers that go on: \
             `until=\"listening on\"`.",
        ),
        SHOW,
        SHOW_AFTER,
        LAST_LINES,
        SAVE_TO,
        optional(
            "prompt_pattern",
            Takes::Pattern,
            "Regex for the prompt that ends this call, if it is an unusual one.",
        ),
    ],
};

const EXPECT: Tool = Tool {
    name: "expect",
    title: "Run and answer questions",
    description: "Like `run`, and answers what the program asks by rules, until the command ends, a program is at its \
        prompt, `until` is seen, a `stop` rule matches, or it asks what no rule answers. Use it for installers and \
        whatever asks several things. Without `line` it answers what runs already.\n\nExample: \
        line=\"ssh-keygen -f key\" rules=[{\"pattern\": \"Overwrite\", \"line\": \"y\"}, {\"pattern\": \"passphrase\", \
        \"line\": \"\", \"times\": 2}, {\"pattern\": \"rror\", \"stop\": true}]\n\nRules are tried in order, on each line \
        that is new since the last answer (never on the echo of an answer). The answer is typed as soon as the program \
        reads, and is a region of its own. `unanswered` shows the question at once, not at the timeout: answer it with \
        `run`, or call expect again without `line`. A question whose answer is hidden is answered only by a rule that \
        matches the question itself.\n\nPasswords: better let the user type them in the attached terminal. With \
        secret=true an answer is typed only where it is not shown, and stands in no log, file or reply.",
    effect: Effect::Acts,
    parameters: &[
        SESSION,
        optional(
            "line",
            Takes::Text,
            "The command line to type first, without Enter; several lines go one at a time, as with `run`. Default: \
             none, for a program that asks already.",
        ),
        TIMEOUT,
        optional(
            "rules",
            Takes::Objects(&RULE),
            "What to answer, at most 50 rules, the first that matches first. Each has `pattern` and one of `line`, \
             `text`, `keys`, `stop`.",
        ),
        optional(
            "until",
            Takes::Pattern,
            "Regex: return as soon as the output has it (never the echo of what was typed).",
        ),
        SHOW,
        SHOW_AFTER,
        LAST_LINES,
        SAVE_TO,
    ],
};

/// The most rules of one `expect`: each is tried on every new line.
pub const RULES_MAX: usize = 50;

/// One rule of `expect`, checked as the arguments of a tool are.
const RULE: Tool = Tool {
    name: "a rule",
    title: "A rule",
    description: "",
    effect: Effect::Acts,
    parameters: &[
        required("pattern", Takes::Pattern, "Regex looked for in each new line by itself."),
        optional("line", Takes::Text, "Types this and Enter; may be empty."),
        optional("text", Takes::Text, "Types this as it is, without Enter."),
        optional("keys", Takes::Texts, "Presses these keys, named as in `send`."),
        optional("stop", Takes::Flag, "true: ends the call."),
        optional(
            "times",
            Takes::Integer { min: 1, max: 1000 },
            "Answers at most so often, 1 to 1000. Default 20, with `secret` 1.",
        ),
        optional("secret", Takes::Flag, "true: typed only where it is not shown, and kept nowhere."),
    ],
};

const SEND: Tool = Tool {
    name: "send",
    title: "Type text, press keys, send a signal",
    description: "Types `text` as it is, without Enter, then presses `keys`, then gives the foreground job `signal`, and \
        returns what appeared once the output has been quiet for a moment. For everything that is not a command line: keys in full-screen programs (vim, \
        less, top, menus), an answer to a question, ctrl+c, tab completion.\n\nExamples: keys=[\"ctrl+c\"] interrupts \
        the running command. text=\"y\", keys=[\"enter\"] answers a question. keys=[\"down*3\", \"enter\"] picks the \
        fourth entry. text=\":wq\", keys=[\"enter\"] leaves vim; keys=[\"q\"] leaves less. \
        signal=\"TERM\", or \"KILL\" if it refuses that, ends a job that ignores ctrl+c.\n\nA line break in `text` is \
        Enter. With a full-screen program the reply holds its screen; screen=\"changes\" gives only the rows that \
        differ from what you saw last. For command lines use `run`, which waits for the end and tells the status.",
    effect: Effect::Acts,
    parameters: &[
        SESSION,
        optional("text", Takes::Text, "Text to type first, exactly as it is; no Enter is added."),
        optional(
            "keys",
            Takes::Texts,
            "Keys to press after the text: `ctrl+c` or `C-c`, `alt+x` or `M-x`, `up`, `down`, `left`, `right`, `home`, \
             `end`, `pageup`, `pagedown`, `enter`, `escape`, `tab`, `shift+tab`, `space`, `backspace`, `delete`, `f1` to \
             `f24`, or one character; `down*5` presses it five times.",
        ),
        optional(
            "signal",
            Takes::Choice(crate::call::Signal::WORDS),
            "A signal for the foreground job, sent after text and keys: `INT`, `TERM`, `KILL`, `HUP`, `QUIT`, `TSTP` \
             (stops it; run `fg` goes on), `CONT`, `USR1` or `USR2`. Never sent to the session's shell: with nothing in \
             the foreground it is refused.",
        ),
        optional(
            "screen",
            Takes::Choice(&["none", "full", "changes", "cursor"]),
            "What of the screen the reply shows: `none`, `full`, `changes` (rows that differ from your last look) or \
             `cursor` (its row). Default `none`: the new output, or the screen where a full-screen program is up.",
        ),
        optional(
            "settle",
            Takes::Seconds { max: 10 },
            "Seconds the output must be quiet before the reply, 0 to 10. Default 0.3.",
        ),
    ],
};

const WAIT: Tool = Tool {
    name: "wait",
    title: "Wait for the running command",
    description: "Waits for the command that is running in a session: after a `run` that came back as `running`, or for \
        one that a person started. Returns when it ends, when its program shows its prompt or asks something, when \
        `until` appears, or at the timeout, with the output since your last reply. With nothing running, or at a \
        program's prompt without `until`, it answers at once with the last result. A full-screen program whose screen \
        you have seen is waited for until it ends.\n\nUse it in place of `sleep`, of polling with `ps` or `jobs`, and of reading a log \
        again and again. Example: run line=\"make -j8\" timeout=45, then wait timeout=45 until it is done. To stop the \
        command instead: send keys=[\"ctrl+c\"].",
    effect: Effect::Arranges,
    parameters: &[
        SESSION,
        TIMEOUT,
        optional(
            "until",
            Takes::Pattern,
            "Regex: return as soon as the output since your last reply has it, or a row of a full-screen program's screen \
             that you have not been shown.",
        ),
        SHOW,
        SHOW_AFTER,
        LAST_LINES,
        optional(
            "save_to",
            Takes::Text,
            "Copies the whole output of the command to this file. A relative path only; it goes under the session's log \
             directory.",
        ),
    ],
};

const READ: Tool = Tool {
    name: "read",
    title: "Read the log or the screen",
    description: "Reads what a session has printed, now or earlier, without running anything again. The log keeps every \
        line, also those that scrolled off the screen, and also of closed sessions.\n\nview=\"cooked\" (default) gives \
        lines of text with their numbers: of one command with `region`, of a range with `from` and `to`, the end with \
        `last_lines`. Progress bars and edited lines read as a person saw them at the end. view=\"screen\" gives the \
        rows that are on the screen now, for full-screen programs. view=\"raw\" gives the bytes with escape sequences \
        spelled out, for questions about colours or control codes.\n\nExamples: region=12 shows what #12 printed; \
        region=12, last_lines=40 its end; from=1180, to=1220 the lines around a hit of `search`.",
    effect: Effect::Reads,
    parameters: &[
        CLOSED_TOO,
        optional(
            "view",
            Takes::Choice(&["cooked", "screen", "raw"]),
            "`cooked` (lines of the log; the default), `screen` (what is on the screen now) or `raw` (escape sequences \
             spelled out).",
        ),
        optional("region", REGION, "Only this region: the number behind # in a reply."),
        optional("from", LINE, "First line, by its number in the session, from 1."),
        optional("to", LINE, "Last line, by its number in the session."),
        optional("last_lines", Takes::Integer { min: 1, max: 2000 }, "Only the last lines, 1 to 2000."),
        optional(
            "max_lines",
            Takes::Integer { min: 1, max: 2000 },
            "At most this many lines, 1 to 2000. Default 200; the reply says where to go on.",
        ),
        optional("numbers", Takes::Flag, "Each line behind its number. Default true; false gives text to copy."),
    ],
};

const REGION: Takes = Takes::Integer { min: 1, max: 4_294_967_295 };
const LINE: Takes = Takes::Integer { min: 1, max: 1_000_000_000_000 };

const SEARCH: Tool = Tool {
    name: "search",
    title: "Search the log",
    description: "Searches what sessions have printed with a regex, line by line. Gives the number of all hits, and the \
        first ones with their line numbers, the region each belongs to, and the lines around. Works on closed sessions \
        too.\n\nUse it in place of running a command again with `| grep`, and before reading a long output: \
        pattern=\"error|warning\", region=12. Then `read` with `from` and `to` around a hit.",
    effect: Effect::Reads,
    parameters: &[
        CLOSED_TOO,
        optional("all", Takes::Flag, "true: search every session. Default false."),
        required("pattern", Takes::Pattern, "Regex to look for, in each line by itself; look-around is allowed."),
        optional("region", REGION, "Only in this region: the number behind # in a reply."),
        optional("context", Takes::Integer { min: 0, max: 50 }, "Lines shown around each hit, 0 to 50. Default 1."),
        optional("max_hits", Takes::Integer { min: 1, max: 500 }, "Hits shown, 1 to 500. Default 20; all are counted."),
        optional("ignore_case", Takes::Flag, "true: upper and lower case are the same. Default false."),
        optional("from", LINE, "First line to look at, by its number in the session, from 1."),
        optional("to", LINE, "Last line to look at."),
    ],
};

const REGIONS: Tool = Tool {
    name: "regions",
    title: "List recent commands",
    description: "Lists the recent commands of a session, the newest last: number, command line, exit status, lines of \
        output, when, and who started it. Commands that a person typed are there too. Works on closed sessions.\n\nUse \
        it to find what ran while you were away, the number of an earlier command for `read`, or the last command that \
        failed.",
    effect: Effect::Reads,
    parameters: &[
        CLOSED_TOO,
        optional("last", Takes::Integer { min: 1, max: 500 }, "How many, the newest, 1 to 500. Default 20."),
        optional(
            "status",
            Takes::Choice(REGION_STATUS),
            "Only those with this status: `finished`, `running`, or `ended` (its shell went away first).",
        ),
        optional("pattern", Takes::Pattern, "Regex: only those whose command line matches."),
    ],
};

/// The status words that a region can have in a list.
pub const REGION_STATUS: &[&str] = &["finished", "running", "ended"];

const SHELL_INTEGRATE: Tool = Tool {
    name: "shell_integrate",
    title: "Integrate the shell at the prompt",
    description: "Gives the shell integration to a plain bash, zsh or fish that could not inherit it: after a plain `ssh`, \
        `su -`, `sudo -i`, in a container. From then on `run` tells each command's own output and exit status there, and \
        replies say which host and user it is.\n\nCall it at the shell's prompt. It types a question that tells which shell is \
        there, then one line that loads the integration's file: the server's own on this host, elsewhere the one that \
        `dtmcp install [user@]host` put there. Where that file is missing, the reply names the command: the user runs it \
        once for each host and user, not you; the answer is remembered for 12 hours. Where the shell is integrated already \
        nothing is typed, and a shell of another kind is left as it is. It lasts until that shell ends.\n\nNext time \
        `dtmcp ssh host` in place of ssh, or `dtmcp into COMMAND` for a container, brings it along without installing \
        anything.",
    effect: Effect::Acts,
    parameters: &[SESSION],
};

const SESSION_RESIZE: Tool = Tool {
    name: "session_resize",
    title: "Resize a session",
    description: "Sets the size of a session's screen and keeps it when a person attaches with a window of another size. \
        follow=true lets the size follow attached windows again. Useful before looking at wide tables or a full-screen \
        program; the log itself never wraps lines.",
    effect: Effect::Arranges,
    parameters: &[
        SESSION,
        optional("cols", COLS, "Columns, 2 to 1000. Default: as they are."),
        optional("rows", COLS, "Rows, 2 to 1000. Default: as they are."),
        optional("follow", Takes::Flag, "true: the size follows attached windows again. Not with `cols` or `rows`."),
    ],
};

const SESSION_LIST: Tool = Tool {
    name: "session_list",
    title: "List sessions",
    description: "Lists the sessions: what each does and since when, whether it waits for input, whose text is on its line, its directory \
        and size, who is attached, and the command with which a person attaches. Look here first when you take up earlier work: sessions outlive the server and your \
        conversation, and their logs outlive them.",
    effect: Effect::Reads,
    parameters: &[
        optional("session", Takes::Text, "Only this one. Default: all."),
        optional("closed", Takes::Flag, "true: closed sessions too, whose logs can still be read. Default false."),
    ],
};

const SESSION_CLOSE: Tool = Tool {
    name: "session_close",
    title: "Close a session",
    description: "Closes a session: its shell and what runs in it are hung up, then killed. Its log stays and can be read \
        and searched. Close sessions that you opened and no longer need; leave alone those that a person uses.",
    effect: Effect::Acts,
    parameters: &[SESSION],
};

const GUIDE: Tool = Tool {
    name: "guide",
    title: "Guide",
    description: "Longer advice on working in these sessions, by topic: `patterns` (habits from one-shot shells and what \
        to do here), `programs` (debuggers, database and language shells, questions, ssh), `output` (reading long output), \
        `fullscreen` (vim, less, top, menus), `sharing` (a person in the same session). Read a topic once before its kind \
        of work.",
    effect: Effect::Reads,
    parameters: &[optional(
        "topic",
        Takes::Choice(super::TOPIC_NAMES),
        "`patterns`, `programs`, `output`, `fullscreen` or `sharing`. Default: the list of topics.",
    )],
};
