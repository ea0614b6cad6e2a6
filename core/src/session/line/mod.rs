//! The line at the cursor that nobody has submitted: whose text stands on it, and which editor has it.
//!
//! Nobody's text is submitted, erased or mixed by another's call. [`unsubmitted`] answers whose it is, at a prompt with
//! markers and elsewhere; the others tell it what the line alone does not show. By when and how the text came:
//! [`typeahead`] before the prompt stood (and [`unread`] where an agent has submitted it), [`begun`] where the line does not show it, [`grown`] behind what a program had
//! printed, [`buried`] under what was printed over it. [`rest`] tells whose the command is that wants more of it. By who reads it: [`editor`] at a shell, [`searching`] in a search
//! of the history, [`far_editor`] where nobody here sees the shell, and [`tried`] where only a trial tells.

pub(super) mod begun;
pub(super) mod buried;
pub(super) mod editor;
pub(super) mod far_editor;
pub(super) mod grown;
pub(super) mod left_trial;
pub(super) mod rest;
pub(super) mod searching;
pub(super) mod tried;
pub(super) mod typeahead;
pub(super) mod unread;
pub(super) mod unsubmitted;
