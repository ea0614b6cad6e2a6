//! Command lines as option parsers read them: bundles, glued values, `--name=value`.

/// What a program's options look like: which take no value. All others do, which is the shorter list to get right for
/// programs with a hundred options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grammar {
    /// Letters without a value.
    pub(crate) letters: &'static str,
    /// Long names without a value, which `--name=value` may still give one.
    pub(crate) long: &'static [&'static str],
    /// Options may follow the first word.
    pub(crate) anywhere: bool,
}

/// A command line taken apart.
#[derive(Debug, Default)]
pub(crate) struct Scanned<'a> {
    options: Vec<(&'a str, Option<&'a str>)>,
    /// The words that are no options; after the first one, whatever follows where options stop there.
    pub(crate) words: Vec<&'a str>,
}

impl<'a> Scanned<'a> {
    /// Whether a switch is on; `--name=false` turns it off.
    pub(crate) fn on(&self, names: &[&str]) -> bool {
        let last = self.options.iter().rev().find(|(name, _)| names.contains(name));
        last.is_some_and(|(_, value)| *value != Some("false"))
    }

    /// Whether any of these was given, with a value or without.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }

    /// The last value given to an option.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        self.options.iter().rev().find(|(other, _)| *other == name)?.1
    }
}

/// Takes a command line apart.
pub(crate) fn scan<'a>(args: &[&'a str], grammar: Grammar) -> Scanned<'a> {
    let mut scanned = Scanned::default();
    let mut rest = args.iter().copied();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            // After it come words, and for a program with options anywhere a command of the far side's.
            if !grammar.anywhere || scanned.words.is_empty() {
                scanned.words.extend(rest.by_ref());
            }
            break;
        } else if let Some(long) = arg.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, value)) => scanned.options.push((name, Some(value))),
                None if grammar.long.contains(&long) => scanned.options.push((long, None)),
                None => scanned.options.push((long, rest.next())),
            }
        } else if let Some(bundle) = arg.strip_prefix('-').filter(|bundle| !bundle.is_empty()) {
            for (at, letter) in bundle.char_indices() {
                let end = at + letter.len_utf8();
                let Some(name) = bundle.get(at..end) else { break };
                if grammar.letters.contains(letter) {
                    scanned.options.push((name, None));
                    continue;
                }
                let glued = bundle.get(end..).filter(|glued| !glued.is_empty());
                scanned.options.push((name, glued.or_else(|| rest.next())));
                break;
            }
        } else {
            scanned.words.push(arg);
            if !grammar.anywhere {
                scanned.words.extend(rest.by_ref());
            }
        }
    }
    scanned
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAMMAR: Grammar = Grammar { letters: "it", long: &["tty"], anywhere: false };

    #[test]
    fn bundles_values_and_the_end_of_options() {
        let scanned = scan(&["-ite", "A=1", "--tty=false", "-uroot", "--name", "x", "web", "ls", "-t"], GRAMMAR);
        assert!(scanned.on(&["i"]) && !scanned.on(&["tty"]));
        assert_eq!(
            (scanned.value("e"), scanned.value("u"), scanned.value("name")),
            (Some("A=1"), Some("root"), Some("x"))
        );
        assert_eq!(scanned.words, ["web", "ls", "-t"]);
        let anywhere = scan(&["pod", "-it", "--", "sh", "-c"], Grammar { anywhere: true, ..GRAMMAR });
        assert!(anywhere.on(&["t"]));
        assert_eq!(anywhere.words, ["pod"]);
    }
}
