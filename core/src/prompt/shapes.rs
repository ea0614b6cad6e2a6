//! What prompts look like: a table of shapes, and how a line is compared with one.

/// Whole lines that are prompts. `{d}` is a number, `{w}` a word (letters, digits, `_`, `.`, `-`), `{h}` one that begins
/// with a letter (so that `50% ` is none), `{s}` anything without blanks, `{o}` what opens a block, a string or a comment,
/// `{t}` how a transaction stands, `{p}` what psql wants the end of, `{a}` anything; each at least one character long.
pub(super) const OF_SHELLS: &[&str] = &[
    // The bare ones, those that name themselves, and what distributions set.
    "$ ",
    "# ",
    "% ",
    "> ",
    "bash-{d}.{d}$ ",
    "bash-{d}.{d}# ",
    "sh-{d}.{d}$ ",
    "sh-{d}.{d}# ",
    "/{s} # ",
    "/{s} $ ",
    "/ # ",
    "/ $ ",
    "~ # ",
    "~ $ ",
    "{h}% ",
    "{w}@{w}:{a}$ ",
    "{w}@{w}:{a}# ",
    "{w}@{w} {a}$ ",
    "{w}@{w} {a}# ",
    "{w}@{w} {a}% ",
    "{w}@{w} {a}> ",
    "[{w}@{w} {a}]$ ",
    "[{w}@{w} {a}]# ",
    "[{w}@{w}:{a}]$ ",
    "[{w}@{w}:{a}]# ",
];

/// The same, of programs that are no shells. Some are all that a shell of some person shows.
pub(super) const OF_PROGRAMS: &[&str] = &[
    // Debuggers.
    "(gdb) ",
    "({w}gdb) ",
    "(rr) ",
    "(lldb) ",
    "(dlv) ",
    "(Pdb) ",
    "(Pdb++) ",
    "(byebug) ",
    "(rdbg) ",
    "(jdb) ",
    // Languages.
    ">>> ",
    ">>>> ",
    "In [{d}]: ",
    "irb({w}):{d}:{d}> ",
    "irb({w}):{d}> ",
    "[{d}] pry({s})> ",
    "iex({d})> ",
    "{d}> ",
    "php > ",
    "{w}:{d}> ",
    "Browse[{d}]> ",
    "(%i{d}) ",
    "sage: ",
    "?- ",
    "{d} ?- ",
    "[{w}]  ?- ",
    "  DB<{d}> ",
    "  DB<<{d}>> ",
    "{w}@({a})> ",
    "{w}@({a}) [{d}]> ",
    "[{d}]> ",
    "Break {d} [{d}]> ",
    // Databases, file transfer, partitions.
    "MariaDB [{s}]> ",
    "{w}=> ",
    "{w}=# ",
    "{w}={t}> ",
    "{w}={t}# ",
    "lftp {s}> ",
    "redis {s}> ",
    "{s}(TX)> ",
    "(parted) ",
    "Command (m for help): ",
    "Command (? for help): ",
    // sqlite>, mysql>, ghci>, julia>, scala>, ftp>, redis's 127.0.0.1:6379> is above.
    "{h}> ",
];

/// Lines that are prompts only of who was seen to wait there, for they stand in output as well: sbcl's and that of its
/// debugger, jdb's in a thread, PARI/GP's.
pub(super) const OF_WAITERS: &[&str] = &["* ", "{d}] ", "{h}[{d}] ", "? "];

/// Continuation prompts, each with the primary prompts that make it one.
pub(super) const CONTINUATION: &[(&[&str], &[&str])] = &[
    (&[">>> ", ">>>> "], &["... ", ".... "]),
    (&["In [{d}]: "], &["...: ", " {a}...: "]),
    (&["sqlite> "], &["   ...> ", "  {a}> "]),
    (&["mysql> ", "MariaDB [{s}]> "], &["    -> ", "    '> ", "    \"> ", "    `> ", "   /*> "]),
    // Behind COPY psql wants rows.
    (&["{w}=> ", "{w}={t}> "], &["{w}{p}> ", "{w}{p}{t}> ", ">> "]),
    (&["{w}=# ", "{w}={t}# "], &["{w}{p}# ", "{w}{p}{t}# ", ">> "]),
    (&["(gdb) ", "({w}gdb) "], &[">", " >", "  {a}>"]),
    (&["irb({w}):{d}:{d}> "], &["irb({w}):{d}:{d}* ", "irb({w}):{d}:{d}\" ", "irb({w}):{d}:{d}' "]),
    (&["[{d}] pry({s})> "], &["[{d}] pry({s})* "]),
    (&["gnuplot> "], &[">"]),
    (&["(lldb) "], &["  {d}: ", " {d}: ", "> "]),
    (&["irb({w}):{d}> "], &["irb({w}):{d}* ", "irb({w}):{d}\" ", "irb({w}):{d}' "]),
    (&["iex({d})> "], &["...({d})> "]),
    (&["{h}> "], &["{h}| "]),
    (&["scala> "], &["     | "]),
    (&["jshell> "], &["   ...> "]),
    (&["php > "], &["php {o} "]),
    (&["(Pdb) ", "(Pdb++) "], &["... ", "(com) "]),
    (&["{w}:{d}> "], &["> "]),
    (&["?- ", "{d} ?- ", "[{w}]  ?- "], &["|    ", "|: "]),
    // Node, R and Lua share their primary prompt.
    (&["> "], &["... ", "| ", "+ ", ">> "]),
];

/// What zsh calls that which is not complete, in its continuation prompt (`PS2`, `%_> `; `prompt.c`, `cmdnames`).
pub(super) const ZSH_STATES: &[&str] = &[
    "for",
    "while",
    "repeat",
    "select",
    "until",
    "if",
    "then",
    "else",
    "elif",
    "math",
    "cond",
    "cmdor",
    "cmdand",
    "pipe",
    "errpipe",
    "foreach",
    "case",
    "function",
    "subsh",
    "cursh",
    "array",
    "quote",
    "dquote",
    "bquote",
    "cmdsubst",
    "mathsubst",
    "elif-then",
    "heredoc",
    "heredocd",
    "brace",
    "braceparam",
    "always",
];

/// Whether a shape covers the whole text.
pub(super) fn fits(shape: &str, text: &str) -> bool {
    let Some((literal, rest)) = shape.split_once('{') else { return shape == text };
    let Some(text) = text.strip_prefix(literal) else { return false };
    let Some((class, rest)) = rest.split_once('}') else { return false };
    let allowed: fn(char) -> bool = match class {
        "d" => |one| one.is_ascii_digit(),
        "w" | "h" => |one| one.is_alphanumeric() || matches!(one, '_' | '.' | '-'),
        "s" => |one| !one.is_whitespace(),
        "o" => |one| matches!(one, '{' | '(' | '[' | '\'' | '"' | '*' | '#' | '<'),
        "t" => |one| matches!(one, '*' | '!' | '?'),
        "p" => |one| matches!(one, '-' | '(' | '\'' | '"' | '$' | '*' | '@'),
        "a" => |_| true,
        _ => return false,
    };
    if class == "h" && !text.starts_with(char::is_alphabetic) {
        return false;
    }
    let ends = text.char_indices().take_while(|&(_, one)| allowed(one)).map(|(at, one)| at + one.len_utf8());
    ends.into_iter().any(|end| text.get(end..).is_some_and(|tail| fits(rest, tail)))
}
