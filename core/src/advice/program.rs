//! The program that a line left in front: its name, and how it is left.

use super::Facts;
use super::line::{Command, Joint};

/// A program's name that is longer is not told.
const NAME_BYTES: usize = 40;

/// The commands of git that show their output in a pager (`git help config` at `pager.<cmd>`), and never an editor.
const GIT_PAGES: &[&str] = &["log", "diff", "show", "blame", "grep", "reflog", "shortlog", "whatchanged", "help"];

/// The program that a line left in front, as a note names it.
pub(super) fn started(facts: &Facts<'_>) -> String {
    let plain = |name: &&str| {
        let known = name.len() <= NAME_BYTES && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
        known && !name.is_empty()
    };
    let name = facts.last().filter(|last| !last.background && last.joint != Joint::Pipe).map(Command::name);
    name.filter(plain).unwrap_or("the program").to_owned()
}

/// What gives up what is begun in most programs, and in every shell.
const INTERRUPTED: &str = ", or send keys=[\"ctrl+c\"] gives it up";

/// How what is begun is ended or given up, by the continuation prompt that asks for the rest and, where it was seen, the
/// name of the process that shows it: some prompts are those of several programs. Not every program takes ctrl+c for that:
/// it ends php and lua, sqlite3 goes on asking, and mysql's client may end.
pub(crate) fn half(prompt: &str, taker: Option<&str>) -> &'static str {
    const READ: &str = "; a full stop ends what is read (run line=\".\")";
    let bare = prompt.trim();
    let is = |names: &[&str]| taker.is_none_or(|taker| names.iter().any(|name| taker.starts_with(name)));
    match bare {
        "..." | "...:" if is(&["python", "pypy", "ipython", "bpython", "ptpython"]) => {
            "; in python an empty line (run line=\"\") ends a block; send keys=[\"ctrl+c\"] gives it up"
        }
        "...>" if is(&["sqlite3", "python"]) => {
            "; in SQL \";\" ends the statement (run line=\";\"), and sqlite3 gives nothing up at ctrl+c"
        }
        "->" | "'>" | "\">" | "`>" | "/*>" if is(&["mysql", "mariadb"]) => {
            "; \";\" ends the statement, and \"\\c\" gives it up (behind its closing quote, where one is open)"
        }
        ">>" if taker.is_some() && is(&["lua"]) => "; ctrl+c would not give it up but end lua",
        ">>" if is(&["psql", "lua"]) => "; in psql \"\\.\" ends the rows of a COPY, and lua would end at ctrl+c",
        "|" | "|:" => READ,
        "(com)" => "; \"end\" ends the commands",
        ">" if is(&["gdb"]) => "; in gdb \"end\" ends a block; send keys=[\"ctrl+c\"] gives it up",
        _ if bare.starts_with("php ") => "; ctrl+c would not give it up but end php",
        _ if bare.starts_with("...(") => "; run line=\"#iex:break\" gives it up",
        _ if bare.ends_with('|') => "; \":}\" ends a block, and send keys=[\"ctrl+c\"] gives it up",
        _ => INTERRUPTED,
    }
}

/// How the program on the screen is left, by the name it was started with: the only one of the line that is known, or the
/// last one of a pipeline. Of several that come one after the other, which it is does not show.
pub(super) fn leaves(facts: &Facts<'_>) -> Option<(String, &'static str)> {
    let way = |command: &Command| Some((command.name().to_owned(), leaving(command)?));
    let mut known = facts.commands.iter().filter(|command| leaving(command).is_some());
    let first = known.next()?;
    if known.all(|other| other.joint == Joint::Pipe) { facts.last().and_then(way).or_else(|| way(first)) } else { None }
}

/// The keys that leave a full-screen program.
fn leaving(command: &Command) -> Option<&'static str> {
    let name = command.name();
    // git starts an editor as well as a pager, and which is not to be seen from here.
    if name == "git" && !command.arguments().any(|argument| GIT_PAGES.contains(&argument)) {
        return None;
    }
    Some(match name {
        "less" | "more" | "most" | "zless" | "man" | "info" | "top" | "htop" | "btop" | "atop" | "iotop" | "git"
        | "tig" | "ncdu" | "ranger" | "journalctl" | "systemctl" => "keys=[\"q\"]",
        "vim" | "vi" | "nvim" | "view" | "vimdiff" | "vim.tiny" | "vim.basic" => {
            "keys=[\"escape\"] and then text=\":q!\\n\" (\":wq\\n\" to save)"
        }
        "nano" | "pico" => "keys=[\"ctrl+x\"]",
        "emacs" | "mg" => "keys=[\"ctrl+x\", \"ctrl+c\"]",
        "micro" => "keys=[\"ctrl+q\"]",
        "watch" | "percol" | "pick" => "keys=[\"ctrl+c\"]",
        "joe" | "jpico" | "jstar" | "jmacs" | "rjoe" => "keys=[\"ctrl+c\"] (it asks where something was changed)",
        "mc" => "keys=[\"f10\"]",
        "dialog" | "whiptail" | "fzf" | "sk" | "fzy" | "peco" | "gum" => "keys=[\"escape\"]",
        _ => return None,
    })
}
