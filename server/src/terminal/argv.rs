//! tmux's command lines, as pure functions.
//!
//! Every line goes to tmux's own parser through a control client, never through a shell. Whatever is not ours is one
//! double-quoted word in it, and nothing in such a word can end it or be expanded.

use super::{NewPane, Only, PaneId, Part, Version};

/// The option that says which state directory a pane belongs to.
pub(super) const HOME_OPTION: &str = "@dtmcp-home";
/// The option that says which session a pane is, by the name it was created with.
pub(super) const SESSION_OPTION: &str = "@dtmcp-session";
/// The option that holds a clock for formats: `#{T:@dtmcp-clock}` is now, in seconds since the Unix epoch.
const CLOCK_OPTION: &str = "@dtmcp-clock";
/// The option that holds a `#`.
const HASH_OPTION: &str = "@dtmcp-hash";

/// The session that holds the control client.
pub(super) const OWN_SESSION: &str = "_dtmcp";

/// What that session runs, given a FIFO that we hold open for as long as we live: it ends ten seconds after us, and the
/// session with it, unless we are back by then.
///
/// Neither the option `destroy-unattached` nor an end at once will do. The former crashes tmux 3.3a, and every session
/// with it, where it ends the session of a client that is just leaving; and any session's end does so where a control
/// client is just connecting, as the next server is when this one was killed (both seen).
///
/// The FIFO is opened for reading while the program itself holds it open for writing, and then that is closed: opening
/// it after a server has gone would wait for ever for the next.
pub(super) const OWN_PROGRAM: [&str; 3] = [
    "sh",
    "-c",
    "while timeout 10 sh -c ': < \"$0\"' \"$0\"; do exec 3<> \"$0\"; exec 4< \"$0\"; exec 3>&-; cat <&4 > /dev/null; \
     exec 4<&-; done",
];

/// A paste's end as a program that asked for brackets sees it; inside one it would end it early.
const PASTE_END: &[u8] = b"\x1b[201~";

/// One word for tmux, in double quotes.
pub(super) fn word(bytes: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(bytes.len() + 2);
    quoted.push(b'"');
    // At the start of a word, also inside its quotes, a `~` would be somebody's home directory.
    let bytes = match bytes.strip_prefix(b"~") {
        Some(rest) => {
            octal(&mut quoted, b'~');
            rest
        }
        None => bytes,
    };
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'"' | b'\\' | b'$' => quoted.extend([b'\\', byte]),
                0..=0x1f | 0x7f => octal(&mut quoted, byte),
                byte => quoted.push(byte),
            }
        }
        for byte in chunk.invalid() {
            octal(&mut quoted, *byte);
        }
    }
    quoted.push(b'"');
    quoted
}

fn octal(quoted: &mut Vec<u8>, byte: u8) {
    quoted.extend(format!("\\{byte:03o}").bytes());
}

/// Text that stands for itself where tmux expects a format.
fn literal(text: &str) -> String {
    // `##` is a `#`, but tmux leaves `##[` as it is, for the styles of status lines. An option's value is not expanded.
    text.replace("#[", "\u{0}").replace('#', "##").replace('\u{0}', &format!("#{{{HASH_OPTION}}}["))
}

fn line(words: &[&[u8]]) -> Vec<u8> {
    words.join(&b' ')
}

/// The options that we rely on in a session of ours, whatever the person's configuration says.
fn pane_options(pane: &str) -> Vec<Vec<u8>> {
    let set = |scope: &str, name: &str, value: &str| {
        // -q: some are newer than the oldest tmux that will do, and what they would switch off is not there then.
        format!("set-option -q {scope} -t {pane} {name} {value}").into_bytes()
    };
    vec![
        // The last screen and the status stay until we have seen them; without the line that tmux would add.
        set("-p", "remain-on-exit", "on"),
        set("-p", "remain-on-exit-format", "\"\""),
        // A program must not write past tmux to the person's terminal, nor rename a window.
        set("-p", "allow-passthrough", "off"),
        set("-p", "allow-rename", "off"),
        set("-w", "allow-rename", "off"),
        // It is there to be left alone.
        set("", "destroy-unattached", "off"),
    ]
}

/// Sets the options of a session that is there already.
pub(super) fn adopt(pane: u32) -> Vec<u8> {
    pane_options(&format!("%{pane}")).join(&b" ; "[..])
}

/// Makes a session; the answer to its first command is the pane's number, behind a `%`.
pub(super) fn create(new: &NewPane, home: &[u8]) -> Vec<u8> {
    let size = [new.size.cols.to_string(), new.size.rows.to_string()];
    let mut first: Vec<Vec<u8>> =
        vec![b"new-session -d -P -F \"#{pane_id}\" -s".to_vec(), word(new.session.as_bytes())];
    first.extend([b"-x".to_vec(), size[0].clone().into(), b"-y".to_vec(), size[1].clone().into()]);
    first.extend([b"-c".to_vec(), word(literal(&new.cwd).as_bytes())]);
    for (name, value) in &new.env {
        first.extend([b"-e".to_vec(), word(format!("{name}={value}").as_bytes())]);
    }
    first.push(b"--".to_vec());
    first.extend(new.argv.iter().map(|argument| word(argument.as_bytes())));

    // The same line goes on, so that nothing can happen to the session before its options are set.
    let target = format!("={}:", new.session);
    let mut commands = vec![first.join(&b' ')];
    commands.extend(pane_options(&target));
    commands.push(line(&[b"set-option -t", target.as_bytes(), HOME_OPTION.as_bytes(), &word(home)]));
    commands.push(line(&[b"set-option -p -t", target.as_bytes(), HOME_OPTION.as_bytes(), &word(home)]));
    let session = word(new.session.as_bytes());
    commands.push(line(&[b"set-option -p -t", target.as_bytes(), SESSION_OPTION.as_bytes(), &session]));
    // With a small client attached elsewhere a session is born as small as that, whatever -x and -y say. This pins the
    // window, so it is freed again: an option of its own is what keeps it from following.
    let [cols, rows] = size;
    commands.push(format!("resize-window -t {target} -x {cols} -y {rows}").into_bytes());
    commands.push(format!("set-option -w -u -t {target} window-size").into_bytes());
    commands.join(&b" ; "[..])
}

/// Where and when `paste` types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub(super) pane: PaneId,
    /// Seconds since the Unix epoch.
    pub(super) deadline: u64,
    /// What has to hold there.
    pub(super) only: Only,
}

/// Types `parts`, where the pane is there and alive, it is not yet the deadline and the cursor is where it has to be.
/// Otherwise the answer is an error with `refused` in it, then [`PaneId`] or nothing, 0 or 1 for a dead pane, for being in
/// time, and for no key that was pressed since.
pub(super) fn paste(aim: Aim, parts: &[Part], buffer: &str, version: Option<Version>) -> Vec<u8> {
    let Aim { pane, deadline, only: Only { cursor, keys_before } } = aim;
    // A build without a number is newer than every release.
    let encoded = version.is_none_or(|version| version >= Version::PASTE_IS_ENCODED);
    let plain = if encoded { " -S" } else { "" };
    let mut commands: Vec<Vec<u8>> = Vec::new();
    for part in parts {
        let bytes = if part.bracketed { without(&part.bytes, PASTE_END) } else { part.bytes.clone() };
        let brackets = if part.bracketed { " -p" } else { "" };
        // A buffer cannot hold a NUL.
        for (index, piece) in bytes.split(|byte| *byte == 0).enumerate() {
            if index > 0 {
                commands.push(format!("send-keys -t {pane} -H 00").into_bytes());
            }
            if piece.is_empty() {
                continue;
            }
            let name = format!("{buffer}-{}", commands.len());
            commands.push(line(&[b"set-buffer -b", name.as_bytes(), b"--", &word(piece)]));
            commands.push(format!("paste-buffer -d -r{brackets}{plain} -b {name} -t {pane}").into_bytes());
        }
    }
    let alive = format!("#{{&&:#{{==:#{{pane_id}},{pane}}},#{{==:#{{pane_dead}},0}}}}");
    let in_time = format!("#{{<:#{{T:{CLOCK_OPTION}}},{deadline}}}");
    // A session that nobody was ever attached to has an activity as well: its beginning.
    let unpressed = keys_before.map_or_else(
        || "1".to_owned(),
        |wall| {
            let second = wall.0 / 1000;
            format!("#{{||:#{{==:#{{session_last_attached}},}},#{{<:#{{session_activity}},{second}}}}}")
        },
    );
    let may = format!("#{{&&:{alive},#{{&&:{in_time},{unpressed}}}}}");
    let may = match cursor {
        Some((x, y)) => format!(
            "#{{&&:{may},#{{||:#{{==:#{{session_attached}},0}},#{{&&:#{{==:#{{cursor_x}},{x}}},#{{==:#{{cursor_y}},{y}}}}}}}}}"
        ),
        None => may,
    };
    // Asking for an option that there is not is an error, and no command of the line is carried out after one. `if-shell`
    // would do as well, but tmux 3.3a never gives back the commands it was told: 1 kB a line, for as long as it runs.
    let why = format!("refused #{{pane_id}} #{{pane_dead}} {in_time} {unpressed}");
    let guard = format!("show-options -s -v -t {pane} \"#{{?{may},buffer-limit,{why}}}\"").into_bytes();
    commands.insert(0, guard);
    commands.join(&b" ; "[..])
}

fn without(bytes: &[u8], needle: &[u8]) -> Vec<u8> {
    let mut kept = bytes.to_vec();
    // Taking one out may put another together.
    while let Some(at) = memchr::memmem::find(&kept, needle) {
        kept.drain(at..at + needle.len());
    }
    kept
}

/// The fields of [`super::PaneState`], then a line for each client of the session.
pub(super) fn state(pane: PaneId) -> Vec<u8> {
    format!(
        "display-message -p -t {pane} \"#{{pane_id}} #{{pane_dead}} #{{pane_in_mode}} #{{pane_synchronized}} \
         #{{pane_width}} #{{pane_height}} #{{alternate_on}} #{{pane_pipe}} #{{pane_pid}} #{{session_last_attached}} \
         #{{session_activity}} #{{pane_tty}}\" ; \
         list-clients -t {pane} -F \"#{{client_control_mode}}\""
    )
    .into_bytes()
}

/// The fields of [`super::Screen`], rows first, then its rows.
pub(super) fn capture(pane: PaneId) -> Vec<u8> {
    format!(
        "display-message -p -t {pane} \"#{{pane_height}} #{{pane_width}} #{{cursor_x}} #{{cursor_y}} \
         #{{alternate_on}}\" ; capture-pane -p -e -t {pane}"
    )
    .into_bytes()
}

/// Pins a window to a size.
pub(super) fn resize(pane: PaneId, cols: u16, rows: u16) -> Vec<u8> {
    format!("resize-window -t {pane} -x {cols} -y {rows}").into_bytes()
}

/// Lets a window follow its clients.
pub(super) fn follow(pane: PaneId) -> Vec<u8> {
    format!("set-option -w -u -t {pane} window-size").into_bytes()
}

/// One value of a pane, whatever is in it.
pub(super) fn value(pane: u32, format: &str) -> Vec<u8> {
    format!("display-message -p -t %{pane} \"{format}\"").into_bytes()
}

/// The state directory whose session a pane is in; none where a person made that session.
pub(super) fn session_home(pane: PaneId) -> Vec<u8> {
    format!("show-options -v -q -t {pane} {HOME_OPTION}").into_bytes()
}

/// Every pane that somebody's dtmcp made: number, session number, dead, name.
pub(super) fn panes() -> Vec<u8> {
    format!("list-panes -a -F \"#{{pane_id}} #{{session_id}} #{{pane_dead}} #{{{SESSION_OPTION}}}\"").into_bytes()
}

/// Every client: control mode, read-only, last activity, session number.
pub(super) fn clients() -> Vec<u8> {
    b"list-clients -F \"#{client_control_mode} #{client_readonly} #{client_activity} #{session_id}\"".to_vec()
}

/// What the server is told when we connect; the answer to the last command is its pid, start time and version.
pub(super) fn connected() -> Vec<u8> {
    format!(
        "set-option -s message-limit 0 ; \
         set-option -s set-clipboard external ; \
         set-option -g {CLOCK_OPTION} \"%s\" ; set-option -g {HASH_OPTION} \"#\" ; display-message -p \"#{{pid}} #{{start_time}} #{{version}}\""
    )
    .into_bytes()
}

/// Which state directory our own session is for: nothing where it is new.
pub(super) fn own_home(session: &str) -> Vec<u8> {
    format!("show-options -v -q -t ={session}: {HOME_OPTION}").into_bytes()
}

/// Says which state directory our own session is for.
pub(super) fn take_own_session(session: &str, home: &[u8]) -> Vec<u8> {
    line(&[b"set-option -t", format!("={session}:").as_bytes(), HOME_OPTION.as_bytes(), &word(home)])
}

/// The processes of our own session's clients.
pub(super) fn own_clients(session: &str) -> Vec<u8> {
    format!("list-clients -t ={session}: -F \"#{{client_pid}}\"").into_bytes()
}

/// Takes variables out of the server's environment.
pub(super) fn unset(names: &[String]) -> Vec<u8> {
    let commands: Vec<Vec<u8>> =
        names.iter().map(|name| line(&[b"set-environment -gu --", &word(name.as_bytes())])).collect();
    commands.join(&b" ; "[..])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::terminal::ServerId;

    const PANE: PaneId = PaneId { server: ServerId { pid: 1, start: 2 }, pane: 5 };

    fn typed(bytes: &[u8], bracketed: bool, version: &str) -> String {
        let parts = [Part { bytes: bytes.to_vec(), bracketed }];
        let aim = Aim { pane: PANE, deadline: 9, only: Only::default() };
        String::from_utf8(paste(aim, &parts, "b", Version::parse(version))).unwrap()
    }

    #[test]
    fn a_word_is_one_word() {
        assert_eq!(word(b"a;b 'c' #{x} %1 ~"), b"\"a;b 'c' #{x} %1 ~\"");
        assert_eq!(word(b"~"), b"\"\\176\"");
        assert_eq!(word(b"~root/~"), b"\"\\176root/~\"");
        assert_eq!(word(b"\"$HOME\"\\"), b"\"\\\"\\$HOME\\\"\\\\\"");
        assert_eq!(word(b"\x1b[A\n\x7f"), b"\"\\033[A\\012\\177\"");
        assert_eq!(word("é\u{85}".as_bytes()), "\"é\u{85}\"".as_bytes());
        assert_eq!(word(b"\xc3\xff."), b"\"\\303\\377.\"");
    }

    #[test]
    fn a_directory_is_no_format() {
        assert_eq!(literal("/a#b/##{x}#[c]"), "/a##b/####{x}#{@dtmcp-hash}[c]");
    }

    #[test]
    fn pastes_are_plain_and_brackets_cannot_be_closed_from_inside() {
        assert!(typed(b"x", false, "3.3a").contains("set-buffer -b b-0 -- \"x\" ; paste-buffer -d -r -b b-0 -t %5"));
        assert!(typed(b"x", false, "3.7").contains("paste-buffer -d -r -S -b"));
        assert!(typed(b"x", false, "master").contains("-S"));
        let text = typed(b"a\x1b[20\x1b[201~1~b", true, "3.3a");
        assert!(text.contains("\"ab\"") && text.contains("-p -b"), "{text}");
    }

    #[test]
    fn a_nul_is_a_key() {
        let text = typed(b"a\0b", false, "3.3a");
        assert!(text.contains("\"a\" ; paste-buffer") && text.contains("; send-keys -t %5 -H 00 ;"), "{text}");
    }
}
