//! ssh's command line: where it leads, and whether it carries a terminal there.

use super::carrier::Carrier;

/// Options of OpenSSH's client that take an argument (`ssh(1)`, OpenSSH 9).
const WITH_ARGUMENT: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// What is said of a terminal on the far side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terminal {
    Yes,
    No,
    /// One where there is no command.
    Usual,
}

/// What the words of a command line come to.
#[derive(Debug, Default)]
struct Ssh<'a> {
    host: Option<&'a str>,
    user: Option<&'a str>,
    port: Option<&'a str>,
    proxy: Option<&'a str>,
    /// It asks for a terminal on the far side (`-t`), refuses one (`-T`), or says that it is as usual.
    terminal: Option<Terminal>,
    /// What it is told to do needs no terminal here.
    no_session: bool,
    command: bool,
    /// How many words that command has.
    remote: usize,
    /// The first long option before the command: ssh has none.
    long: Option<&'a str>,
}

impl<'a> Ssh<'a> {
    /// The first value of an option counts.
    fn first(slot: &mut Option<&'a str>, value: &'a str) {
        slot.get_or_insert(value);
    }

    fn option(&mut self, letter: char, value: &'a str) {
        match letter {
            'l' => Self::first(&mut self.user, value),
            'p' => Self::first(&mut self.port, value),
            'W' | 'O' | 'Q' => self.no_session = true,
            'o' => {
                let (key, value) = value.trim_start().split_once(['=', ' ', '\t']).unwrap_or((value, ""));
                let value = value.trim_matches([' ', '\t', '=', '"']);
                match key.to_ascii_lowercase().as_str() {
                    "user" => Self::first(&mut self.user, value),
                    "port" => Self::first(&mut self.port, value),
                    "proxycommand" => Self::first(&mut self.proxy, value),
                    "requesttty" => {
                        self.terminal.get_or_insert(match value {
                            "no" => Terminal::No,
                            "auto" => Terminal::Usual,
                            _ => Terminal::Yes,
                        });
                    }
                    "remotecommand" => self.command |= !value.eq_ignore_ascii_case("none"),
                    "sessiontype" if value.eq_ignore_ascii_case("none") => self.no_session = true,
                    "stdinnull" | "forkafterauthentication" if value == "yes" => self.no_session = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, letter: char) {
        match letter {
            't' => self.terminal = Some(Terminal::Yes),
            'T' => self.terminal = Some(Terminal::No),
            'N' | 'f' | 'n' | 's' | 'G' | 'V' => self.no_session = true,
            _ => {}
        }
    }

    fn destination(&mut self, word: &'a str) {
        if let Some(uri) = word.strip_prefix("ssh://") {
            let (user, place) = uri.rsplit_once('@').map_or((None, uri), |(user, place)| (Some(user), place));
            let place = place.trim_end_matches('/');
            let (host, port) = match place.strip_prefix('[').and_then(|six| six.split_once(']')) {
                Some((host, port)) => (host, port.strip_prefix(':')),
                None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
            };
            self.host = Some(host);
            if let Some(user) = user {
                Self::first(&mut self.user, user);
            }
            if let Some(port) = port {
                Self::first(&mut self.port, port);
            }
        } else if let Some((user, host)) = word.rsplit_once('@') {
            self.host = Some(host);
            Self::first(&mut self.user, user);
        } else {
            self.host = Some(word);
        }
    }

    fn of(args: &[&'a str]) -> Self {
        let mut ssh = Self::default();
        let mut rest = args.iter().copied();
        let mut options = true;
        while let Some(arg) = rest.next() {
            let bundle = arg.strip_prefix('-').filter(|bundle| options && !bundle.is_empty());
            match bundle {
                Some("-") => options = false,
                Some(bundle) if bundle.starts_with('-') => Self::first(&mut ssh.long, arg),
                Some(bundle) => {
                    for (at, letter) in bundle.char_indices() {
                        if !WITH_ARGUMENT.contains(letter) {
                            ssh.switch(letter);
                            continue;
                        }
                        let glued = bundle.get(at + letter.len_utf8()..).filter(|glued| !glued.is_empty());
                        ssh.option(letter, glued.or_else(|| rest.next()).unwrap_or_default());
                        break;
                    }
                }
                None if ssh.host.is_none() => ssh.destination(arg),
                None => {
                    ssh.command = true;
                    ssh.remote = rest.len() + 1;
                    break;
                }
            }
        }
        ssh
    }
}

/// The first of these arguments that is a long option, which ssh has none of, before the command that it is to run.
#[must_use]
pub fn long_option<'a>(args: &[&'a str]) -> Option<&'a str> {
    Ssh::of(args).long
}

/// The words of the command that ssh with these arguments is to run at the far side; none where its words name none.
#[must_use]
pub(crate) fn remote_words<'a, 'b>(args: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let remote = Ssh::of(args).remote;
    args.get(args.len().saturating_sub(remote)..).filter(|words| !words.is_empty())
}

/// Whether ssh's arguments name a host.
#[must_use]
pub fn names_host(args: &[&str]) -> bool {
    Ssh::of(args).host.is_some()
}

/// Whether ssh with these arguments opens a login shell on a terminal of the far side.
#[must_use]
pub fn is_login(args: &[&str]) -> bool {
    let ssh = Ssh::of(args);
    ssh.host.is_some() && !ssh.no_session && !ssh.command && ssh.terminal != Some(Terminal::No)
}

/// Whether ssh with these arguments would run a command that stood behind them, which reads ssh's input and is no
/// terminal's.
#[must_use]
pub fn takes_command(args: &[&str]) -> bool {
    let ssh = Ssh::of(args);
    ssh.host.is_some() && !ssh.no_session && !ssh.command && ssh.terminal != Some(Terminal::Yes)
}

/// What ssh with these arguments (without its own name) carries, and where to. Aliases of a configuration file stay as
/// they were typed, which is how the person knows them.
#[must_use]
pub(super) fn carrier(args: &[&str]) -> Option<Carrier> {
    let ssh = Ssh::of(args);
    let host = ssh.host.filter(|_| !ssh.no_session)?;
    // OpenShell becomes an ssh whose destination says nothing; the place stands in the command it goes through.
    if let Some(proxy) = ssh.proxy.filter(|proxy| proxy.contains("openshell")) {
        let words: Vec<&str> = proxy.split_whitespace().collect();
        let place = words.iter().position(|word| *word == "--sandbox-id").and_then(|at| words.get(at + 1));
        return Some(Carrier::new("openshell", place.copied().unwrap_or(host)));
    }
    let mut destination = ssh.user.map(|user| format!("{user}@")).unwrap_or_default();
    match ssh.port {
        Some(port) if host.contains(':') => destination.extend(["[", host, "]:", port]),
        Some(port) => destination.extend([host, ":", port]),
        None => destination.push_str(host),
    }
    let terminal = match ssh.terminal {
        Some(Terminal::Yes) => true,
        Some(Terminal::No) => false,
        Some(Terminal::Usual) | None => !ssh.command,
    };
    Some(Carrier { terminal, ..Carrier::new("ssh", &destination) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<(String, bool)> {
        let args: Vec<&str> = line.split(' ').collect();
        carrier(&args).map(|carrier| (carrier.destination, carrier.terminal))
    }

    #[test]
    fn a_long_option_is_none_of_sshs() {
        let first = |line: &str| long_option(&line.split(' ').collect::<Vec<_>>()).map(str::to_owned);
        assert_eq!(first("--print -p 22 there").as_deref(), Some("--print"));
        assert_eq!(first("there --print").as_deref(), Some("--print"));
        for line in ["there", "-p 22 there", "there ls --all", "-o --x there", "-- --there"] {
            assert_eq!(first(line), None, "{line}");
        }
        assert!(names_host(&["-p", "22", "there"]) && !names_host(&["-p", "22"]));
    }

    #[test]
    fn every_form_of_a_destination() {
        for (line, destination) in [
            ("host", "host"),
            ("-vp 22 u@h", "u@h:22"),
            ("-p22 -oUser=a b@h", "a@h:22"),
            ("b@h -l a", "b@h"),
            ("-l a b@h", "a@h"),
            ("a@b@h", "a@b@h"),
            ("ssh://u@h:2222/", "u@h:2222"),
            ("ssh://[::1]:22", "[::1]:22"),
            ("::1", "::1"),
            ("-oport=1 -p 2 h", "h:1"),
            ("h -p 9", "h:9"),
            ("-- h -p", "h"),
        ] {
            assert_eq!(of(line).map(|(place, _)| place).as_deref(), Some(destination), "{line}");
        }
    }

    #[test]
    fn a_login_is_told_from_a_command() {
        for (line, login) in [("-p 1 h", true), ("h -v", true), ("h ls", false), ("-t h top", false), ("-N h", false)] {
            let args: Vec<&str> = line.split(' ').collect();
            assert_eq!(is_login(&args), login, "{line}");
        }
        assert!(!is_login(&[]) && !is_login(&["-T", "h"]));
        assert!(!is_login(&["-oRemoteCommand=top", "h"]) && is_login(&["-o", "remotecommand none", "h"]));
        for (line, takes) in [("-p 1 h -v", true), ("-T h", true), ("-tt h", false), ("h ls", false), ("-N h", false)] {
            let args: Vec<&str> = line.split(' ').collect();
            assert_eq!(takes_command(&args), takes, "{line}");
        }
        assert!(!takes_command(&[]));
    }

    #[test]
    fn a_command_has_a_terminal_only_where_one_is_asked_for() {
        assert_eq!(of("h top"), Some(("h".to_owned(), false)));
        assert_eq!(of("-t h top"), Some(("h".to_owned(), true)));
        assert_eq!(of("-T h"), Some(("h".to_owned(), false)));
        for line in ["-N h", "-fN h", "-n h ls", "-W a:1 h", "-O exit h", "-G h", "-V", "-L 1:a:2 -N h"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
