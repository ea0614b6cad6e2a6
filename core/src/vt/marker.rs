//! OSC 133 payloads and the markers they stand for.
