//! Regions: the output of one command, or of one line sent to a program.
