//! What one look at the processes of a terminal costs, against one plain read of `/proc/PID/stat` in the same run: a
//! shell at its prompt, a program with one thread, and one with 31 threads of which one waits.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use dtmcp_core::inspect::{Inspector as _, Look};
use dtmcp_core::waiting::{Judgement, judge};
use dtmcp_linux_proc::LinuxProc;
use dtmcp_ptrace_fds::PtraceFds;
use dtmcp_tests::measure::{load, median, ms, quantile, report, words};
use dtmcp_tests::person::wait_until;
use dtmcp_tests::pty::Pty;

/// Looks at each, in turns with the reads.
const LOOKS: usize = 2000;

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let waitcase = std::env::current_exe().map_err(words)?.with_file_name("waitcase");
    if !waitcase.is_file() {
        return Err("build waitcase first, in the same profile".to_owned());
    }
    let inspector = LinuxProc::new().with_probe(Arc::new(PtraceFds::new()));
    println!("{LOOKS} looks at each, load {}; microseconds", load());
    for (name, mode, most) in [("a prompt", "", 18.0), ("one process", "read", 18.0), ("31 threads", "threads", 52.0)] {
        let dir = tempfile::tempdir().map_err(words)?;
        let mut pty = Pty::bash(dir.path(), &[("W", &waitcase.to_string_lossy())])?;
        wait_until("a prompt", || pty.shown("$ ") > 0)?;
        if !mode.is_empty() {
            pty.types(&format!("$W {mode}\r"))?;
            wait_until("it", || pty.shown("ready\r\n") > 0)?;
        }
        let waits = || {
            let inspection = inspector.inspect(&pty.pane, Look::Near);
            matches!(judge(&inspection, pty.output()), Judgement::Waits(_))
        };
        wait_until("a wait", waits)?;
        let (mut looks, mut reads) = (Vec::new(), Vec::new());
        let stat = format!("/proc/{}/stat", pty.pane.pid);
        for _ in 0..LOOKS {
            let begin = Instant::now();
            std::hint::black_box(inspector.inspect(&pty.pane, Look::Near));
            looks.push(ms(begin.elapsed()) * 1000.0);
            let begin = Instant::now();
            std::hint::black_box(std::fs::read(&stat).map_err(words)?);
            reads.push(ms(begin.elapsed()) * 1000.0);
        }
        let (look, read) = (median(&looks), median(&reads));
        let high = quantile(&looks, 0.9);
        println!(
            "{name:12} median {look:.0}   90% {high:.0}   a read of stat {read:.1}   ratio {:.1}   (at most {most})",
            look / read
        );
    }
    Ok(())
}
