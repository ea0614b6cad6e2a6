//! All that a model is told before it works: the server's instructions, the tools' descriptions, and the guide.
//!
//! Instructions and each description stay under 2,048 characters, the least that a client in use cuts at, without
//! telling the model. What is longer is a topic of the `guide` tool. Nothing stands here that does not work yet.

pub mod tools;

/// What a client shows a model about the whole server.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// A part of the long form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    /// The name the `guide` tool takes.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    /// The text, in Markdown.
    pub text: &'static str,
}

/// The topics' names, in the order of [`TOPICS`].
pub const TOPIC_NAMES: &[&str] = &["patterns", "programs", "output", "fullscreen", "sharing"];

/// The guide.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "patterns",
        about: "habits from one-shot shells, and what to do here",
        text: include_str!("topics/patterns.md"),
    },
    Topic {
        name: "programs",
        about: "debuggers, language and database shells, questions, ssh",
        text: include_str!("topics/programs.md"),
    },
    Topic { name: "output", about: "reading long output, searching, saving", text: include_str!("topics/output.md") },
    Topic { name: "fullscreen", about: "vim, less, top, menus", text: include_str!("topics/fullscreen.md") },
    Topic { name: "sharing", about: "a person in the same session", text: include_str!("topics/sharing.md") },
];

/// The topic of this name.
#[must_use]
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The list of topics, for a call that names none.
#[must_use]
pub fn contents() -> String {
    let lines: Vec<String> = TOPICS.iter().map(|topic| format!("{}: {}", topic.name, topic.about)).collect();
    format!("Topics:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::tools::{TOOLS, Takes};
    use super::{INSTRUCTIONS, TOPIC_NAMES, TOPICS};
    use crate::text::visible::spell_out;

    #[test]
    fn nothing_is_longer_than_a_client_shows() {
        assert!(INSTRUCTIONS.chars().count() < 2048, "{}", INSTRUCTIONS.chars().count());
        for tool in TOOLS {
            assert!(tool.description.chars().count() < 2048, "{}", tool.name);
        }
        for topic in TOPICS {
            // A reply stays far below the 12,000 characters at which a client cuts.
            assert!(topic.text.chars().count() < 8000, "{}", topic.name);
        }
    }

    #[test]
    fn names_and_topics_agree() {
        assert!(TOPICS.iter().map(|topic| topic.name).eq(TOPIC_NAMES.iter().copied()));
    }

    #[test]
    fn ranges_and_choices_stand_in_the_descriptions() {
        for tool in TOOLS {
            for parameter in tool.parameters {
                let text = parameter.text;
                assert!(text.len() > 10, "{}.{} is described", tool.name, parameter.name);
                match parameter.takes {
                    Takes::Integer { max, .. } if max <= 10_000 => {
                        assert!(text.contains(&max.to_string()), "{}.{}: {text}", tool.name, parameter.name);
                    }
                    Takes::Seconds { max } => {
                        assert!(text.contains(&max.to_string()), "{}.{}: {text}", tool.name, parameter.name);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn every_text_is_plain() {
        let texts = TOPICS.iter().map(|topic| topic.text).chain(TOOLS.iter().map(|tool| tool.description));
        for text in texts.chain([INSTRUCTIONS]) {
            assert_eq!(spell_out(text), text);
        }
    }

    #[test]
    fn what_is_not_built_is_not_promised() {
        let built: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        for later in ["session_split", "session_logs"] {
            assert!(!built.contains(&later));
            let named = format!("`{later}`");
            let texts = TOPICS.iter().map(|topic| topic.text).chain(TOOLS.iter().map(|tool| tool.description));
            for text in texts.chain([INSTRUCTIONS]) {
                assert!(!text.contains(&named), "{later} in {text}");
            }
        }
    }
}
