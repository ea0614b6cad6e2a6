# Shell integration of docent-terminal-mcp for fish 3.2 and newer: marks prompts, commands and their ends with invisible
# OSC 133 strings, so that a program reading the terminal need not guess. MARKERS.md has the vocabulary.
#
# fish finds this file by XDG_DATA_DIRS, which an integrated session sets, before the person's config.fish. All it does
# then is to wait for the first prompt, when everything the person has set up stands. fish 4 prints OSC 133 marks of its
# own; they hold no nonce and count for nothing. Nothing here starts a process.

if not status is-interactive; or builtin functions -q __dtmcp_event
    builtin exit 0
end
# integration.fish, which loads this into a fish that runs, has the nonce set after it.
if not set -q __DTMCP_NONCE; and not set -q __dtmcp_asked
    builtin exit 0
end

# The one process that this file starts. (Where PATH leads nowhere, /proc tells; in a sandbox its name may be another.)
set -g __dtmcp_tty (command tty 2>/dev/null)
or set -g __dtmcp_tty (builtin realpath /proc/self/fd/0)
set -q __DTMCP_TTY; or set -gx __DTMCP_TTY $__dtmcp_tty

# Percent-encodes its argument: %, ; and control characters, so that a value ends neither its field nor the marker.
function __dtmcp_encode
    string join0 -- $argv | string split0 | string replace -a % %25 | string replace -a ';' %3B \
        | string replace -ar '\t' %09 | string replace -ar '\e' %1B | string replace -ar '\x07' %07 \
        | string replace -ar '[\x00-\x1f\x7f]' %3F | string join %0A
end

# Whether this shell is on the session's own terminal.
function __dtmcp_here
    test -n "$__DTMCP_NONCE" -a -n "$__dtmcp_tty" -a "$__dtmcp_tty" = "$__DTMCP_TTY"
end

function __dtmcp_begin
    set -g __dtmcp_i (builtin random)(builtin random)(builtin random)
    set -g __dtmcp_n 1
    set -g __dtmcp_short "dt=$__DTMCP_NONCE;pid=$fish_pid;i=$__dtmcp_i"
    set -g __dtmcp_id "$__dtmcp_short;host="(__dtmcp_encode $hostname)";user="(__dtmcp_encode $USER)
    builtin printf '\e]133;D;;%s;q=1;new=fish-%s;v=1\e\\' $__dtmcp_id $version
    string match -rq '^([4-9]|\d\d|3\.([4-9]|\d\d))' -- $version; and set -g __dtmcp_tells
end

# The markers' counter is this number, which grows with each prompt, and a digit: the end marker 1, A 2, C 3, and where the
# output ends 4. So it costs one substitution for all of them.
function __dtmcp_count
    set -g __dtmcp_n (builtin math $__dtmcp_n + 1)
end

# The person's prompt with its marks. It is called again whenever the prompt is painted anew, with the count it has.
function __dtmcp_wrap
    if not builtin functions -q fish_prompt
        # Erased: fish paints one of its own, around which nothing can stand.
        builtin printf '\e]133;A;%s;cwd=%s;st=%d;q=%d\e\\' $__dtmcp_id "$__dtmcp_cwd" $__dtmcp_last $__dtmcp_at
        builtin printf '\e]133;B;%s\e\\' $__dtmcp_short
        return
    end
    # Descriptions, the fifth line of what is told of a function, tell ours from the person's.
    set -l told (builtin functions -Dv fish_prompt)
    test "$told[5]" = __dtmcp; or __dtmcp_wrap_left
    builtin functions -q fish_right_prompt; or return
    set told (builtin functions -Dv fish_right_prompt)
    test "$told[5]" = __dtmcp; or __dtmcp_wrap_right
end

function __dtmcp_wrap_left
    builtin functions -e __dtmcp_user_prompt
    builtin functions -c fish_prompt __dtmcp_user_prompt
    function fish_prompt --description __dtmcp
        set -l __dtmcp_status $status
        set -q __dtmcp_more; and __dtmcp_wants_more
        builtin printf '\e]133;A;%s;cwd=%s;st=%d;q=%d\e\\' $__dtmcp_id "$__dtmcp_cwd" $__dtmcp_last $__dtmcp_at
        __dtmcp_return $__dtmcp_status
        __dtmcp_user_prompt
        builtin printf '\e]133;B;%s\e\\' $__dtmcp_short
    end
end

function __dtmcp_wrap_right
    builtin functions -e __dtmcp_user_right
    builtin functions -c fish_right_prompt __dtmcp_user_right
    function fish_right_prompt --description __dtmcp
        set -l __dtmcp_status $status
        builtin printf '\e]133;P;k=r;%s\e\\' $__dtmcp_short
        __dtmcp_return $__dtmcp_status
        __dtmcp_user_right
        builtin printf '\e]133;B;%s\e\\' $__dtmcp_short
    end
end

function __dtmcp_return
    return $argv[1]
end

function __dtmcp_event --on-event fish_prompt
    set -l __dtmcp_status $status
    __dtmcp_here; or return $__dtmcp_status
    set -g __dtmcp_last $__dtmcp_status
    if not set -q __dtmcp_id
        __dtmcp_give_back
        __dtmcp_begin
    else
        __dtmcp_count
        if set -q __dtmcp_done
            builtin printf '\e]133;D;%d;%s;q=%d1%s\e\\' $__dtmcp_done[1] $__dtmcp_id $__dtmcp_n "$__dtmcp_done[2]"
        else
            # Nothing ran: an empty line, a comment, Ctrl-C. fish leaves the status of the command before.
            builtin printf '\e]133;D;;%s;q=%d1;x=0\e\\' $__dtmcp_id $__dtmcp_n
        end
    end
    set -e __dtmcp_done
    if test "$__dtmcp_pwd" != "$PWD"
        set -g __dtmcp_pwd $PWD
        set -g __dtmcp_cwd (__dtmcp_encode $PWD)
    end
    set -g __dtmcp_at {$__dtmcp_n}2
    __dtmcp_wrap
    __dtmcp_bind
    return $__dtmcp_status
end

# Where Enter finds a line that is not complete, fish wants more and shows no prompt for it. But a line may be wrong and
# not complete at once, which fish refuses, and --is-valid does not tell. So the prompt is to be painted anew behind what
# Enter did before, and says that fish wants more if the line was not refused by then. fish 3.4 is the first that tells
# whether a line is complete.
function __dtmcp_bind
    set -q __dtmcp_tells; or return
    string match -qv '*__dtmcp_enter*' -- (builtin bind -M $fish_bind_mode \r 2>/dev/null); or return
    for mode in (builtin bind -L)
        for line in (builtin bind -M $mode \r 2>/dev/null) (builtin bind -M $mode \n 2>/dev/null)
            __dtmcp_bind_one $line
        end
    end
end

# Binds anew what a line that `bind` has printed says, such as: bind --preset -M insert -m default \r execute
function __dtmcp_bind_one
    set -l part (string match -r '^(bind(?: --preset| --user| -[Mm] \S+)* \S+) (.*)$' -- $argv[1])
    or return
    string match -q '*__dtmcp_enter*' -- $part[3]; and return
    # What is the shell's own and submits nothing, such as a key that replaces one character.
    string match -q '* --preset *' -- $part[2]; and not builtin contains execute (string split ' ' -- $part[3]); and return
    # fish 3 takes either names of its editor's functions or commands.
    if string match -q '3.*' -- $version; and builtin contains -- (string split ' ' -- $part[3])[1] (builtin bind -f)
        set part[3] "'builtin commandline -f $part[3]'"
    end
    eval "builtin $part[2] __dtmcp_enter $part[3] __dtmcp_entered"
end

function __dtmcp_enter
    set -e __dtmcp_more
    set -q __dtmcp_id; and __dtmcp_here; or return
    builtin commandline --is-valid
    switch $status
        case 0
            return
        case 1
            # What a backslash continues counts as wrong.
            string match -rq '(^|[^\\\\])(\\\\\\\\)*\\\\$' -- (builtin commandline)[-1]; or return
    end
    # In the list of completions Enter takes the one that is chosen.
    builtin commandline --paging-mode; or set -g __dtmcp_more
end

function __dtmcp_entered
    set -q __dtmcp_more; and builtin commandline -f repaint
end

# What a prompt prints is kept by fish and painted again later; this is to be told once.
function __dtmcp_wants_more
    set -e __dtmcp_more
    builtin printf '\e]133;P;k=m;%s\e\\' $__dtmcp_short >/dev/tty
end

# A line that does not parse, and Ctrl-C at the prompt: fish paints the prompt again and fires no other event. It leaves
# the line that does not parse standing, and need not have painted all of it when Enter comes, so the line is told.
function __dtmcp_refused --on-event fish_posterror
    __dtmcp_nothing '' ';cmd='(__dtmcp_encode (string sub -l 8000 -- "$argv" | string collect))
end

function __dtmcp_cancel --on-event fish_cancel
    __dtmcp_nothing 130 ''
    # fish 4 clears the line behind the prompt that stands.
    string match -q '3.*' -- $version; or builtin printf '\e]133;B;%s\e\\' $__dtmcp_short
end

function __dtmcp_nothing
    set -e __dtmcp_more
    set -q __dtmcp_id; and __dtmcp_here; or return
    __dtmcp_count
    # fish paints the prompt as it was, which needs no mark, and may paint it anew, which is the same prompt again.
    set -g __dtmcp_at {$__dtmcp_n}1
    builtin printf '\e]133;D;%s;%s;q=%d;x=0%s\e\\' $argv[1] $__dtmcp_id $__dtmcp_at $argv[2]
end

# A zsh that the line starts by name is to be integrated. Nothing else sees ZDOTDIR changed; neither does another user,
# whose zsh could not read our files and would read none of theirs.
function __dtmcp_lend
    test -r "$__DTMCP_ZDIR/.zshenv"; or return
    string match -rq '(^|[\s;|&(/])zsh($|[\s;|&)])' -- "$argv"; or return
    string match -rq '(^|[\s;|&(/])(su|runuser|setpriv)\s' -- "$argv"; and return
    if set -q ZDOTDIR
        set -g __dtmcp_zdotdir $ZDOTDIR
        # A zsh inside inherits only what is exported.
        set -qx ZDOTDIR; and set -gx __DTMCP_USER_ZDOTDIR $ZDOTDIR; or set -g __dtmcp_kept
    end
    set -g __dtmcp_lent 1
    set -gx ZDOTDIR $__DTMCP_ZDIR
end

function __dtmcp_give_back
    set -q __dtmcp_lent; or return
    set -e __dtmcp_lent __DTMCP_USER_ZDOTDIR
    # The person may have set it meanwhile.
    if test "$ZDOTDIR" != "$__DTMCP_ZDIR"
        set -e __dtmcp_zdotdir __dtmcp_kept
        return
    end
    set -eg ZDOTDIR
    if set -q __dtmcp_zdotdir
        set -q __dtmcp_kept; and set -g ZDOTDIR $__dtmcp_zdotdir; or set -gx ZDOTDIR $__dtmcp_zdotdir
    end
    set -e __dtmcp_zdotdir __dtmcp_kept
end

function __dtmcp_start --on-event fish_preexec
    set -q __dtmcp_id; and __dtmcp_here; or return
    set -l line "$argv"
    # Blanks and comments run nothing, though fish says that they begin and end. The first test is for most lines enough.
    if string match -rq '^\s*(#|$)' -- $line; and not string match -rqv '^\s*(#|$)' -- (string split \n -- $line)
        return
    end
    __dtmcp_lend $line
    set -g __dtmcp_runs
    # Few lines need it, and a substitution costs ten times the look. 8 kB is what is kept of a command line.
    if string match -rq '[%;\x00-\x1f\x7f]|^.{8001}' -- $line
        set line (__dtmcp_encode (string sub -l 8000 -- $line | string collect))
    end
    builtin printf '\e]133;C;%s;q=%d3;prev=%d;cmd=%s\e\\' $__dtmcp_id $__dtmcp_n $__dtmcp_last $line
end

# The status is told at the next prompt: a command after which none comes has ended the shell. The output ends here, before
# the sign that fish sets behind a line without an end; but that it does not exit because of its jobs is still to come.
function __dtmcp_end --on-event fish_postexec
    set -l __dtmcp_status $status $pipestatus
    set -q __dtmcp_id; and __dtmcp_here; and set -q __dtmcp_runs; or return $__dtmcp_status[1]
    set -e __dtmcp_runs
    set -l stages
    test (builtin count $__dtmcp_status) -gt 2; and set stages ";ps="(string join , $__dtmcp_status[2..])
    builtin jobs -q; and string match -q '*exit*' -- "$argv"; or builtin printf '\e]133;D;;%s;q=%d4;e=1\e\\' $__dtmcp_id $__dtmcp_n
    set -g __dtmcp_done $__dtmcp_status[1] "$stages"
    __dtmcp_give_back
    return $__dtmcp_status[1]
end

# A startup file may go on as zsh.
if __dtmcp_here
    __dtmcp_lend zsh
end
