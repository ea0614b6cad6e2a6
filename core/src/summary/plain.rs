//! Programs that nobody knows: a line that begins with the word for it is an error.

use super::rule::{Recogniser, Rule};

/// Asked only where no tool was recognised.
pub(super) static PLAIN: Recogniser = Recogniser::new(
    "error",
    "^(error|Error|ERROR|fatal|Fatal|FATAL)( error| ERROR)?: ",
    &[Rule::problem("^(error|Error|ERROR|fatal|Fatal|FATAL)( error| ERROR)?: \\S").sure()],
)
.begins(b"eEfF")
.then(b"rRaA");
