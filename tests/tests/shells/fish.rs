//! fish as a person uses it.

use dtmcp_core::log::LogEvent;

use crate::row::{Row, ensure, fish, lost, not_run, row, want, zsh};
use crate::terminal::Step::{Interrupt, Line, Type};
use crate::terminal::Wait::{Continuation, Foreground, Gone, Opened, Prompt, Prompts, Text};

pub(crate) const ROWS: &[Row] = &[
    fish(
        "fish_commands",
        &[
            Line("echo hi"),
            Line("false"),
            Line("sh -c 'exit 255'"),
            Line("echo a; echo b >&2; sh -c 'exit 4'"),
            Line("echo $status"),
        ],
        &[
            want("echo hi", "hi", 0),
            want("false", "", 1),
            want("sh -c 'exit 255'", "", 255),
            want("*", "a\nb", 4),
            want("echo $status", "4", 0),
        ],
    ),
    fish(
        "fish_pipelines",
        &[Line("false|true"), Line("true|sh -c 'exit 3'"), Line("echo $pipestatus"), Line("not false|true")],
        &[
            want("false|true", "", 0).stages(&[1, 0]),
            want("true|sh -c 'exit 3'", "", 3).stages(&[0, 3]),
            want("echo $pipestatus", "0 3", 0),
            want("not false|true", "", 1).any_stages(),
        ],
    ),
    fish("fish_not_found", &[Line("nosuchcmd_x")], &[want("nosuchcmd_x", "~(?i)unknown command", 127)]),
    fish(
        "fish_no_line_end",
        &[Line("printf abc"), Line("echo next")],
        &[want("printf abc", "abc", 0), want("echo next", "next", 0)],
    ),
    fish(
        "fish_empty_lines",
        &[Line(""), Line("false"), Line(""), Line("echo $status")],
        &[want("false", "", 1), want("echo $status", "1", 0)],
    )
    .check(|terminal| ensure(not_run(terminal) >= 2, "two empty lines were not run")),
    fish(
        "fish_block_over_lines",
        &[
            Type("for i in 1 2\r", Continuation),
            Type("\r", Continuation),
            Type("  # it's one\r", Continuation),
            Type("  echo $i\r", Continuation),
            Line("end"),
        ],
        &[want("for i in 1 2\n\n  # it's one\n  echo $i\nend", "1\n2", 0)],
    ),
    fish(
        "fish_quotes_pipes_and_backslashes_over_lines",
        &[
            Type("echo 'a\r", Continuation),
            Line("b'"),
            Type("echo c |\r", Continuation),
            Line("cat"),
            Type("echo d\\\r", Continuation),
            Line("e"),
            Type("echo f \\\r", Continuation),
            Type(" \\\r", Continuation),
            Line("g \\\\"),
            Type("echo (\r", Continuation),
            Line("echo h)"),
        ],
        &[
            want("echo 'a\nb'", "a\nb", 0),
            want("echo c |\ncat", "c", 0).any_stages(),
            want("echo d\\\ne", "de", 0),
            want("echo f \\\n \\\ng \\\\", "f g \\", 0),
            want("echo (\necho h)", "h", 0),
        ],
    ),
    fish(
        "fish_block_typed_ahead",
        &[Type("begin\recho a\rend\recho b\r", Prompts(2))],
        &[want("begin\necho a\nend", "a", 0), want("echo b", "b", 0)],
    ),
    fish(
        "fish_block_given_up",
        &[
            Type("begin\r", Continuation),
            Type("echo a\r", Continuation),
            Interrupt,
            Type("echo on\r", Text("133;D;0;")),
        ],
        &[want("echo on", "on", 0)],
    ),
    fish(
        "fish_block_that_does_not_parse",
        &[Type("begin\r", Continuation), Line("cat <<X"), Interrupt, Type("echo on\r", Text("133;D;0;"))],
        &[
            want("begin\ncat <<X", "~^fish: Expected a string, but found a redirection", 0).unknown_exit(),
            want("echo on", "on", 0),
        ],
    ),
    fish(
        // Fish refuses what is wrong although more would have to come, and does not ask for more first.
        "fish_block_that_is_wrong_and_not_complete",
        &[
            Type("for i in 1 2; do\r", Continuation),
            Line("  echo ${i}"),
            Interrupt,
            Type("echo on\r", Text("133;D;0;")),
        ],
        &[
            want("for i in 1 2; do\n  echo ${i}", "~^fish: Variables cannot be bracketed", 0).unknown_exit(),
            want("echo on", "on", 0),
        ],
    )
    .check(|terminal| {
        let asked = terminal.events.iter().filter(|event| **event == LogEvent::Continuation).count();
        ensure(asked == 1, "more is asked for once, behind the first line")
    }),
    fish(
        "fish_block_in_vi_mode",
        &[Line("fish_vi_key_bindings"), Type("if true\r", Continuation), Line("echo yes; end"), Line("echo on")],
        &[want("*", "", 0), want("if true\necho yes; end", "yes", 0), want("echo on", "on", 0)],
    ),
    fish(
        "fish_enter_of_the_persons_own",
        &[
            Line("echo a"),
            Type("begin\r", Continuation),
            Line("end"),
            // A binding that comes later is found at the next prompt.
            Line("bind \\r 'set -g first 1' 'commandline -f execute'"),
            Type("begin\r", Continuation),
            Line("end"),
            Line("echo $seen $first"),
        ],
        &[
            want("echo a", "a", 0),
            want("begin\nend", "", 0),
            want("*", "", 0),
            want("begin\nend", "", 0),
            want("*", "~^4 1$", 0),
        ],
    )
    .files(&[(
        ".config/fish/config.fish",
        "set -g fish_greeting
function fish_prompt; echo -n '$ '; end
function own; set -g seen (math $seen + 1); commandline -f execute; end
bind \\r own
",
    )]),
    fish(
        "fish_comments_and_blanks",
        &[Line("false"), Line("# it's nothing"), Line("   "), Line("echo $status")],
        &[want("false", "", 1), want("echo $status", "1", 0)],
    )
    .check(|terminal| ensure(not_run(terminal) == 2, "neither line was run")),
    fish("fish_interrupt", &[Type("sleep 60\r", Foreground), Type("\x03", Prompt)], &[want("sleep 60", "~^\\^C", 130)]),
    fish(
        "fish_interrupt_at_the_prompt",
        &[Type("abc", Text("c")), Interrupt, Type("echo on\r", Text("133;D;0;"))],
        &[want("echo on", "on", 0)],
    ),
    fish(
        "fish_line_that_does_not_parse",
        &[Line("cat <<X"), Line("\x15echo on")],
        &[
            want("cat <<X", "~^fish: Expected a string, but found a redirection", 0).unknown_exit(),
            want("echo on", "on", 0),
        ],
    ),
    fish(
        "ends_with_the_fish",
        &[Line("echo a"), Type("exit 3\r", Gone)],
        &[want("echo a", "a", 0), want("exit 3", "", 3)],
    )
    .check(|terminal| {
        let log = &terminal.log;
        ensure(log.program_exit() == Some(3) && log.ended_by() == Some(2), "the shell ended with 3, by this command")
    }),
    fish(
        "fish_reads",
        &[Type("read v\r", Opened), Line("foo"), Line("echo $v")],
        &[want("read v", "*", 0), want("echo $v", "foo", 0)],
    ),
    fish(
        "fish_directories",
        &[Line("cd /tmp"), Line("pwd"), Line("mkdir -p ~/'a;b %c'; cd ~/a*"), Line("true")],
        &[
            want("cd /tmp", "", 0),
            want("pwd", "/tmp", 0).cwd("/tmp"),
            want("*", "", 0).cwd("/tmp"),
            want("true", "", 0),
        ],
    )
    .check(|terminal| {
        let cwd = terminal.log.region(4).and_then(|region| region.cwd.clone());
        ensure(cwd.is_some_and(|cwd| cwd.ends_with("/a;b %c")), "the odd directory is told")
    }),
    fish(
        "fish_right_prompt",
        &[
            Line("function fish_right_prompt; echo right; end"),
            Line("echo a"),
            Line("function fish_prompt; echo -n \"[$status] > \"; end"),
            Line("false"),
            Line("echo $status"),
        ],
        &[
            want("*", "", 0),
            want("echo a", "a", 0),
            want("*", "", 0),
            want("false", "", 1),
            want("echo $status", "1", 0),
        ],
    ),
    fish(
        "fish_nested",
        &[Line("fish"), Line("echo in"), Line("exit 4"), Line("echo back $status")],
        &[want("fish", "~in", 4), want("echo in", "in", 0), lost("exit 4", ""), want("echo back $status", "back 4", 0)],
    ),
    fish(
        "fish_inside_without_a_path",
        &[Line("set -g f (command -s fish); set -gx PATH /no/such"), Line("$f"), Line("false"), Line("exit")],
        &[want("*", "", 0), want("$f", "*", 1), want("false", "", 1), lost("exit", "*")],
    ),
    fish(
        "fish_does_not_exit_with_jobs",
        &[Line("sleep 60 &"), Line("exit 4"), Line("printf abc"), Line("kill %1"), Type("exit 5\r", Gone)],
        &[
            want("sleep 60 &", "", 0),
            want("exit 4", "~^There are still jobs active", 4),
            want("printf abc", "abc", 0),
            want("kill %1", "*", 0),
            want("exit 5", "", 5),
        ],
    )
    .check(|terminal| ensure(terminal.log.ended_by() == Some(5), "the last command has ended the shell")),
    row(
        "fish_in_bash",
        &[
            Line("fish"),
            Line("echo in"),
            Line("bash"),
            Line("echo deep"),
            Line("exit 2"),
            Line("exit 4"),
            Line("echo back $?"),
        ],
        &[
            want("fish", "~in", 4),
            want("echo in", "in", 0),
            want("bash", "~deep", 2),
            want("echo deep", "deep", 0),
            lost("exit 2", "exit"),
            lost("exit 4", ""),
            want("echo back $?", "back 4", 0),
        ],
    )
    .needs(&["fish"]),
    zsh(
        "fish_in_zsh",
        &[Line("fish"), Line("echo in"), Line("exit 4"), Line("echo back $?")],
        &[want("fish", "~in", 4), want("echo in", "in", 0), lost("exit 4", ""), want("echo back $?", "back 4", 0)],
    )
    .needs(&["zsh", "fish"]),
    row(
        "shells_in_a_fish_that_was_running",
        &[
            Type(
                "env -i D=${__DTMCP_ZDIR%/zsh} N=$__DTMCP_NONCE HOME=$HOME TERM=$TERM PATH=$PATH fish --no-config -C \"function fish_prompt; echo -n fa; echo -n 'r> '; end\"\r",
                Text("far> "),
            ),
            Line(" source $D/integration.fish; and set -gx __DTMCP_NONCE $N"),
            Line("bash"),
            Line("(exit 4)"),
            Line("exit"),
            Line("zsh"),
            Line("(exit 5)"),
            Line("exit"),
            Line("fish"),
            Line("false"),
        ],
        &[
            want("*", "*", 0).any_exit(),
            want("bash", "*", 4),
            want("(exit 4)", "", 4),
            lost("exit", "*"),
            want("zsh", "*", 5),
            want("(exit 5)", "", 5),
            lost("exit", "*"),
            want("fish", "*", 0).any_exit(),
            want("false", "", 1),
        ],
    )
    .needs(&["zsh", "fish"]),
    row(
        "zsh_in_bash",
        &[
            Line("zsh"),
            Line("echo in"),
            Line("bash"),
            Line("echo deep"),
            Line("exit 2"),
            Line("exit 4"),
            Line("echo back $? ${ZDOTDIR+x}"),
        ],
        &[
            want("zsh", "~in", 4),
            want("echo in", "in", 0),
            want("bash", "~deep", 2),
            want("echo deep", "deep", 0),
            lost("exit 2", "exit"),
            lost("exit 4", "*"),
            want("*", "~^back 4", 0),
        ],
    )
    .needs(&["zsh"]),
    zsh(
        "zsh_in_zsh_by_another_word",
        &[
            Line("alias z=zsh"),
            Line("z"),
            Line("(exit 4)"),
            Line("exit"),
            Line("bash -c \"exec zsh\""),
            Line("(exit 5)"),
            Line("exit"),
            Line("echo ${ZDOTDIR-none}"),
        ],
        &[
            want("*", "", 0),
            want("z", "*", 4),
            want("(exit 4)", "", 4),
            lost("exit", "*"),
            want("*", "*", 5),
            want("(exit 5)", "", 5),
            lost("exit", "*"),
            want("*", "none", 0),
        ],
    ),
    row(
        "zsh_by_way_of_a_script",
        &[
            Line("printf '#!/bin/sh\\nzsh\\nexit 6\\n' >s; chmod +x s"),
            Line("./s"),
            Line("echo in $+ZDOTDIR"),
            Line("exit"),
            Line("exec zsh"),
            Line("echo on"),
        ],
        &[
            want("*", "", 0),
            want("./s", "~in", 6),
            want("echo in $+ZDOTDIR", "in 0", 0),
            lost("exit", "*"),
            lost("exec zsh", ""),
            want("echo on", "on", 0),
        ],
    )
    .needs(&["zsh"]),
    row("startup_file_goes_on_as_zsh", &[Line("echo $ZSH_NAME $+ZDOTDIR")], &[want("*", "zsh 0", 0)])
        .files(&[(".bash_profile", "exec zsh\n")])
        .needs(&["zsh"]),
    row(
        "startup_file_goes_on_as_fish",
        &[Line("string match -q '3*' $version; echo $status")],
        &[want("*", "~^[01]$", 0)],
    )
    .files(&[(".bash_profile", "exec fish\n")])
    .needs(&["fish"]),
];
