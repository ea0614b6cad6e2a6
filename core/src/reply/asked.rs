//! What a full-screen program asks on its screen before the keys that leave it count.

/// The note on a question that the screen shows; none where there is none that is known.
pub(super) fn note(rows: &[String]) -> Option<String> {
    let rows: Vec<&str> = rows.iter().map(|row| row.trim()).filter(|row| !row.is_empty()).collect();
    let last = rows.last().copied().unwrap_or_default();
    let near_end = |words: &str, within: usize| rows.iter().rev().take(within).any(|row| row.starts_with(words));
    let first = |words: &str| rows.first().is_some_and(|row| row.starts_with(words));
    let text = if last.starts_with("[O]pen Read-Only, (E)dit anyway") {
        "vim asks about its swap file first: send text=\"q\" leaves it, \"o\" opens the file to be read only, \"r\" recovers what is in the swap file, \"e\" edits all the same"
    } else if last == "Press ENTER or type command to continue" {
        "vim waits for keys=[\"enter\"] first"
    } else if last.starts_with(':') && near_end("Entering Ex mode.", 2) {
        "vim is in Ex mode, where Escape does nothing: send text=\"vi\\n\" goes back, text=\"q!\\n\" leaves vim"
    } else if first("GNU nano") && near_end("Save modified buffer?", 3) {
        "nano asks whether to save: send text=\"n\" leaves it without, text=\"y\" saves, keys=[\"ctrl+c\"] goes back"
    } else if last.starts_with("Waiting for data... (") {
        "less follows the end of its file and takes no other key: send keys=[\"ctrl+c\"] first"
    } else if last.starts_with("HELP -- Press RETURN for more") {
        "this is less's help: send keys=[\"q\"] goes back to the file"
    } else if last.ends_with("(press RETURN)") {
        "less waits for keys=[\"enter\"] first"
    } else if first("Fields Management for window") {
        "this is where top chooses its fields: send keys=[\"q\"] goes back"
    } else {
        return None;
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(screen: &[&str]) -> Option<String> {
        note(&screen.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn questions_before_a_program_is_left_are_told() {
        for (screen, words) in [
            (
                &[
                    "Swap file \".f.swp\" already exists!",
                    "[O]pen Read-Only, (E)dit anyway, (R)ecover, (Q)uit, (A)bort: ",
                    "",
                ][..],
                "swap file",
            ),
            (&["~", "Entering Ex mode.  Type \"visual\" to go to Normal mode.", ":"], "Ex mode"),
            (
                &["  GNU nano 7.2      f *", "abc", "Save modified buffer?", " Y Yes", " N No           ^C Cancel"],
                "text=\"n\"",
            ),
            (&["3", "Waiting for data... (interrupt to abort)"], "ctrl+c"),
            (&["line", "HELP -- Press RETURN for more, or q when done"], "help"),
            (&["out", "!done  (press RETURN)"], "enter"),
            (&["out", "Press ENTER or type command to continue"], "enter"),
            (&["Fields Management for window 1:Def, whose current sort field is %CPU", "* PID"], "top"),
        ] {
            assert!(asks(screen).is_some_and(|note| note.contains(words)), "{screen:?}");
        }
    }

    #[test]
    fn text_that_only_tells_of_them_asks_nothing() {
        for screen in [
            &[][..],
            &["Save modified buffer?", " Y Yes", " N No", "f (END)"],
            &["Entering Ex mode.  Type", "a", "b", ":"],
            &["Waiting for data... (interrupt to abort)", ":"],
            &["[O]pen Read-Only, (E)dit anyway", ":"],
        ] {
            assert_eq!(asks(screen), None, "{screen:?}");
        }
    }
}
