//! The log: everything that can be derived from a session's raw stream.
