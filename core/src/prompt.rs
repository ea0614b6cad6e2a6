//! Prompts that can be told by their looks.
