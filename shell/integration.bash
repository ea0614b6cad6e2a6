# Shell integration of docent-terminal-mcp for bash 4.4 and newer: marks prompts, commands and their ends with
# invisible OSC 133 strings, so that a program reading the terminal need not guess. MARKERS.md has the vocabulary.
#
# Loaded by the bashrc beside it, or by typing `. DIR/integration.bash && export __DTMCP_NONCE=...`; load.bash is then its
# last step.
# Without a nonce, or away from the session's own terminal, nothing is printed and no prompt is touched.
#
# How it hangs together. PROMPT_COMMAND becomes one exported line (the hook). In this shell it calls
# __dtmcp_prompt, which prints the end marker, runs the shell's own prompt commands and wraps PS0, PS1 and PS2. In a
# bash started from here the function does not exist, and the same line evaluates this file out of the exported
# variable __DTMCP_BASH: that passes through sh, su and make, where exported functions get lost, and it needs no file
# that another user might be unable to read. Nothing here forks a process, per prompt or per command, with one exception
# that __dtmcp_user states.
#
# Rules for changes. This text also runs by `eval`, possibly inside a function: no `declare`, no `local` outside the
# functions. Lines that begin with # are dropped from the exported copy, as is indentation. `set` prints function bodies
# with $'\e' decoded, so no control character may stand in one; $__dtmcp_esc and its like do. Options and variables of
# the person are theirs: set -e, -u, -x, -T, -k, posix, any IFS and failglob must not matter. A name that they have made
# readonly cannot be local here, so locals begin with __dt; and with set -k `local a=b` assigns nothing.

# With set -x or -v, or a DEBUG trap, all of this would be shown. So it is read once more, with what it prints sent away;
# not traced, because a PS4 may start a process for each line.
[[ -n ${__dtmcp_inherited-}${__dtmcp_quiet-} ]] || {
    __dtmcp_quiet=1
    [[ $- != *x* ]] || { __dtmcp_trace=1; \set +x; }
    \. "${BASH_SOURCE[0]}"
    \unset __dtmcp_quiet
    [[ -z ${__dtmcp_trace-} ]] || { \unset __dtmcp_trace; \set -x; }
    \return 0
} 61>&2 2>&- 60>&1 >/dev/null 2>&1
# The person's aliases must not get into the functions.
[[ :$BASHOPTS: != *:expand_aliases:* ]] || { __dtmcp_aliases=1; \shopt -u expand_aliases; }

# True on the session's own terminal. fd 61 is the shell's stderr, where bash writes its prompts. A shell whose stderr
# was reopened as /dev/tty has the same terminal under another inode, so there stdin decides.
__dtmcp_here() {
    [[ -n ${__DTMCP_NONCE-} && -n ${__DTMCP_TTY-} ]] || "$__dtmcp_by" return 1
    [[ /dev/fd/61 -ef $__DTMCP_TTY ]] && "$__dtmcp_by" return 0
    [[ /dev/fd/61 -ef /dev/tty && /dev/fd/0 -ef $__DTMCP_TTY ]]
}

# Whether a command's start and its end can both be told, where nothing was told yet. A shell whose PS0 is readonly or
# takes no text would be one in which no command ever begins, and is left a plain one.
__dtmcp_able() {
    local -
    set +u
    [[ -n ${__dtmcp_told-} || ${PS0@a} != *[rilu]* || $PS0 == *__dtmcp_C* ]] || "$__dtmcp_by" return 1
    [[ ${PROMPT_COMMAND[*]} == *"$__DTMCP_HOOK"* || ${PS1@a} != *[rilu]* ]]
}

# Prints the name of the terminal that is its input, also where PATH leads nowhere.
__dtmcp_tty() {
    tty || "$__dtmcp_by" command -p tty
}

# Finds what calls a builtin: a function of the person's may bear its name, and `builtin` itself may be one, or disabled.
__dtmcp_builtins() {
    __dtmcp_by=builtin
    if declare -F builtin || ! builtin :; then __dtmcp_by=command; fi
}

# Percent-encodes $1 into __dtmcp_r: %, ; and control characters, so that a value ends neither its field nor the marker.
__dtmcp_encode() {
    __dtmcp_r=$1
    case $1 in *[%\;[:cntrl:]]*) ;; *) "$__dtmcp_by" return 0 ;; esac
    local LC_ALL __dt_rest __dt_one __dt_code
    LC_ALL=C __dt_rest=$1 __dtmcp_r=
    while [[ -n $__dt_rest ]]; do
        __dt_one=${__dt_rest:0:1} __dt_rest=${__dt_rest:1}
        case $__dt_one in
            %) __dtmcp_r+=%25 ;;
            \;) __dtmcp_r+=%3B ;;
            [[:cntrl:]]) "$__dtmcp_by" printf -v __dt_code '%%%02X' "'$__dt_one"; __dtmcp_r+=$__dt_code ;;
            *) __dtmcp_r+=$__dt_one ;;
        esac
    done
}

# Who prints: the fields that every marker of this shell begins with. Host and user come from the shell itself (\H,
# \u): variables of those names survive `su` and containers with the wrong value.
__dtmcp_identify() {
    local __dt_host __dt_user
    __dt_host='\H' __dt_user='\u'
    __dtmcp_encode "${__dt_host@P}"; __dt_host=$__dtmcp_r
    __dtmcp_encode "${__dt_user@P}"; __dt_user=$__dtmcp_r
    __dtmcp_nonce=$__DTMCP_NONCE
    __dtmcp_short="dt=$__dtmcp_nonce;pid=$$;i=$__dtmcp_i"
    __dtmcp_id="$__dtmcp_short;host=$__dt_host;user=$__dt_user"
    __dtmcp_Z=$__dtmcp_esc\\
    __dtmcp_B="$__dtmcp_esc]133;B;$__dtmcp_short$__dtmcp_Z"
    __dtmcp_P="$__dtmcp_esc]133;P;k=s;$__dtmcp_short$__dtmcp_Z"
    __dtmcp_S="$__dtmcp_esc]133;P;k=o;$__dtmcp_short$__dtmcp_Z"
    __dtmcp_C="$__dtmcp_esc]133;C;$__dtmcp_id;prev="
    __dtmcp_ps1= __dtmcp_ps2= __dtmcp_ps0= __dtmcp_cwd=
}

# The fields of a shell that has started, into __dtmcp_r.
__dtmcp_version() {
    __dtmcp_r=";new=bash-${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]};v=1"
}

# Prints $1, also where the builtin for that is disabled.
__dtmcp_print() {
    "$__dtmcp_by" printf %s "$1" || "$__dtmcp_by" echo -n "$1"
}

# Prints the end marker: $1 the status, the rest the status of every stage.
__dtmcp_end() {
    local - __dt_extra __dt_status __dt_one
    set +ux
    __dt_status=$1 __dt_extra=
    if (($# > 2)); then
        for __dt_one in "${@:2}"; do __dt_extra+=,$__dt_one; done
        __dt_extra=";ps=${__dt_extra:1}"
    fi
    if [[ -z ${__dtmcp_told-} ]]; then
        # The first prompt ends no command of this shell; tmux wants the field for the status, and it stays empty.
        __dtmcp_version
        __dt_status= __dt_extra=$__dtmcp_r
        __dtmcp_told=1
    elif [[ -n $__dtmcp_static ]] || ((!__dtmcp_ran)); then
        # A literal PS0 cannot note that a command runs. Then the end of one that ran is told by its start.
        __dt_extra=";x=0$__dt_extra"
    fi
    __dtmcp_ran=0
    __dtmcp_print "$__dtmcp_esc]133;D;$__dt_status;$__dtmcp_id;q=$((++__dtmcp_q))$__dt_extra$__dtmcp_Z" >&61
}

# Returns the status $1; its further arguments only set $_.
__dtmcp_ret() {
    "$__dtmcp_by" return "$1"
}

# Runs prompt commands ($4 and on) as bash would have: with $? ($1), $_ ($2) and PIPESTATUS ($3, words) as the command
# line left them, and with the shell's own descriptors. PIPESTATUS can be set only by running a pipeline, so after a
# real one that costs its stages again as forks; after a single command it costs none.
__dtmcp_user() {
    local __dtmcp_set __dtmcp_one
    __dtmcp_set='__dtmcp_ret "$1" "$2"'
    if [[ $3 == *,* ]]; then
        __dtmcp_set=': "$2"'$'\n'"__dtmcp_ret ${3//,/|__dtmcp_ret }"
    fi
    for __dtmcp_one in "${@:4}"; do
        eval "$__dtmcp_set"$'\n'"$__dtmcp_one" >&60 2>&61 60>&- 61>&-
    done
}

# Whether $1 can stand alone as commands. Only parsed, never run.
__dtmcp_whole() {
    eval "__dtmcp_try() {"$'\n'"$1"$'\n'":"$'\n'"}" || "$__dtmcp_by" return 1
    unset -f __dtmcp_try
}

# Adds $1 to the list being made, unless it is blank or there.
__dtmcp_add() {
    local __dt_one
    [[ $1 == *[![:space:]\;]* ]] || "$__dtmcp_by" return 0
    for __dt_one in ${__dtmcp_new[@]+"${__dtmcp_new[@]}"}; do
        [[ $__dt_one == "$1" ]] && "$__dtmcp_by" return 0
    done
    # A startup file that adds a line at every prompt must not grow the list for ever.
    ((${#__dtmcp_new[@]} < 40)) && __dtmcp_new+=("$1")
    "$__dtmcp_by" return 0
}

# Whether PROMPT_COMMAND is the hook and nothing else, as at nearly every prompt. (As a later element of an array without
# a first one it would reach no child.)
__dtmcp_is_ours() {
    [[ ${PROMPT_COMMAND[*]-} == "$__DTMCP_HOOK" && -n ${PROMPT_COMMAND-} ]]
}

# Prints the start marker of a command that is entered before this file was read; PS0 shows it.
__dtmcp_open() {
    __dtmcp_builtins
    __dtmcp_here || "$__dtmcp_by" return 0
    __dtmcp_identify
    __dtmcp_version
    __dtmcp_print "$__dtmcp_esc]133;C;$__dtmcp_id;q=1$__dtmcp_r$__dtmcp_Z" >&60
}

# Takes PROMPT_COMMAND over again where something changed it. Commands put before or behind the hook keep their place;
# commands put in its stead become the list, and the former list (level 1) runs only if they call the hook themselves,
# as prompt frameworks do with the PROMPT_COMMAND they found. With $1 the list stood in PROMPT_COMMAND too, so that what
# is there now is all there is.
# An array becomes a string, as bash exports none; not where a function counts its elements from the end (liquidprompt's
# DEBUG trap), which is an error of a string, in every output: then PS0 brings the hook into a bash inside. (To look takes
# a process, once for an array that is new here. The pattern does not find itself.)
__dtmcp_adopt() {
    local - __dt_found __dt_one __dt_before __dt_after __dt_array
    local -a __dt_now
    set +u
    __dt_found= __dt_array=
    __dt_now=("${PROMPT_COMMAND[@]}")
    [[ ${PROMPT_COMMAND@a} == *r* ]] && "$__dtmcp_by" return 0
    [[ ${PROMPT_COMMAND@a} != *a* || $(declare -f) != *'PROMPT_COMMAND['-* ]] || __dt_array=1
    # Before 5.1 only the first element counts.
    ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)) && __dt_now=("${__dt_now[0]}")
    __dtmcp_new=()
    for __dt_one in "${__dt_now[@]}"; do
        __dt_before=${__dt_one%%"$__DTMCP_HOOK"*} __dt_after=
        if [[ $__dt_before != "$__dt_one" ]]; then
            __dt_after=${__dt_one#*"$__DTMCP_HOOK"}
            # What joined the parts goes; a further copy of the hook too.
            __dt_after=${__dt_after//"$__DTMCP_HOOK"/:}
            [[ $__dt_after =~ ^[[:space:]]*\;(.*)$ ]] && __dt_after=${BASH_REMATCH[1]}
            if __dtmcp_whole "$__dt_before" && __dtmcp_whole "$__dt_after"; then
                __dtmcp_add "$__dt_before"
                if [[ -z $__dt_found$1 ]]; then
                    for __dt_before in "${__dtmcp_list[@]}"; do __dtmcp_add "$__dt_before"; done
                fi
                __dtmcp_add "$__dt_after"
                __dt_found=1
                continue
            fi
        fi
        __dtmcp_add "$__dt_one"
    done
    [[ -n $__dt_found ]] || __dtmcp_list1=("${__dtmcp_list[@]}")
    [[ -z $1 ]] || __dtmcp_list1=()
    __dtmcp_list=("${__dtmcp_new[@]}")
    unset __dtmcp_new PROMPT_COMMAND
    [[ -z $__dt_array ]] || { PROMPT_COMMAND=("$__DTMCP_HOOK"); "$__dtmcp_by" return 0; }
    PROMPT_COMMAND=$__DTMCP_HOOK
    export PROMPT_COMMAND
}

# The prompts without our parts, for a shell that is not (or no longer) on the session's terminal.
__dtmcp_unwrap() {
    local -
    set +u
    [[ $PS1 != *__dtmcp_* || ${PS1@a} == *[rilu]* ]] || { __dtmcp_strip "$PS1"; PS1=$__dtmcp_r; }
    [[ -z $__dtmcp_out1 ]] || export PS1
    [[ -z $__dtmcp_out2 ]] || export PS2
    [[ $PS0 != *__dtmcp_* || ${PS0@a} == *[rilu]* ]] || { __dtmcp_strip "$PS0"; PS0=$__dtmcp_r; }
    __dtmcp_ps1= __dtmcp_ps0=
}

# $1 without our parts, into __dtmcp_r: those that name variables, and those made for this shell.
__dtmcp_strip() {
    __dtmcp_r=${1//"$__dtmcp_pre"/}
    __dtmcp_r=${__dtmcp_r//"$__dtmcp_post"/}
    __dtmcp_r=${__dtmcp_r//"$__dtmcp_pre0"/}
    __dtmcp_r=${__dtmcp_r//"$__dtmcp_post0"/}
    __dtmcp_r=${__dtmcp_r//"$__dtmcp_arm"/}
    __dtmcp_r=${__dtmcp_r//"$__dtmcp_pre2"/}
    local __dt_part
    for __dt_part in "${__dtmcp_pre_s-}" "${__dtmcp_post_s-}" "${__dtmcp_post0_s-}" "${__dtmcp_pre2_s-}" \
        "${__dtmcp_post2_s-}"; do
        [[ -n $__dt_part ]] && __dtmcp_r=${__dtmcp_r//"$__dt_part"/}
    done
    "$__dtmcp_by" return 0
}

# Literal texts, for where a prompt cannot name variables: with promptvars off, or behind a backslash, which would
# quote the dollar sign. They end in BEL: the backslash of ST would quote what follows it.
__dtmcp_literal() {
    local __dt_next
    __dt_next=$((__dtmcp_q + 1))
    __dtmcp_pre_s="\\[\\e]133;A;$__dtmcp_id;cwd=${__dtmcp_cwd_e//\\/\\\\};q=$__dt_next\\a\\]"
    __dtmcp_post_s="\\[\\e]133;B;$__dtmcp_short\\a\\]"
    __dtmcp_post0_s="\\e]133;C;$__dtmcp_id;q=$((__dt_next + 1))\\a"
}

# Wraps the prompts, after everything that may have rebuilt them, save those that cannot take the text as it is (readonly,
# a number, in letters of one case). One that the person exports is kept out of the
# environment, and only noted: bash has one variable for its own prompt and for what it hands on, and other shells would
# show our parts of it (zsh the text, dash and ksh the brackets).
__dtmcp_wrap() {
    local - __dt_pre __dt_post __dt_post0 __dt_ps1 __dt_ps0
    set +ux
    __dt_pre=$__dtmcp_pre __dt_post=$__dtmcp_post __dt_post0=$__dtmcp_post0 __dtmcp_static= __dtmcp_p=
    [[ :$BASHOPTS: == *:promptvars:* ]] || __dtmcp_static=1
    if [[ $PS2 != "$__dtmcp_ps2" || -z $PS2 ]] && [[ ${PS2@a} != *[rilu]* ]]; then
        [[ ${PS2@a} == *x* ]] && __dtmcp_out2=1
        __dtmcp_wrap2
        # With set -a the assignment exports, too.
        export -n PS2
    elif [[ ${PS2@a} == *x* && ${PS2@a} != *[rilu]* ]]; then
        __dtmcp_out2=1
        export -n PS2
    fi
    __dtmcp_strip "$PS1"
    __dt_ps1=$__dtmcp_r
    __dtmcp_strip "${PS0//"$__dtmcp_gap"/}"
    __dt_ps0=$__dtmcp_r
    [[ $__dt_ps1 == *\\ || -n $__dtmcp_static ]] && __dtmcp_literal && __dt_post=$__dtmcp_post_s
    # A last, lone backslash is shown as it is; doubled it means the same and quotes nothing of ours.
    [[ $__dt_ps1 =~ (^|[^\\])(\\\\)*\\$ ]] && __dt_ps1+=\\
    [[ $__dt_ps0 == *\\ ]] && __dt_ps0+=$__dtmcp_gap
    # What the person's PS0 prints is no part of the typed line.
    [[ -n $__dt_ps0 && -z $__dtmcp_static ]] && __dt_ps0=$__dtmcp_pre0$__dt_ps0
    if [[ -n $__dtmcp_static ]]; then
        __dt_pre=$__dtmcp_pre_s __dt_post0=$__dtmcp_post0_s
        ((__dtmcp_q += 2))
    fi
    if [[ ${PS1@a} != *[rilu]* ]]; then
        [[ ${PS1@a} == *x* ]] && __dtmcp_out1=1
        PS1=$__dt_pre$__dt_ps1$__dt_post __dtmcp_ps1=$__dt_pre$__dt_ps1$__dt_post
        export -n PS1
        # A bash inside that sets no prompt of its own takes the one it would have inherited.
        if [[ -n $__dtmcp_out1 ]]; then
            __DTMCP_PS1=$__dt_ps1
            export __DTMCP_PS1
        fi
    fi
    if [[ ${PS0@a} != *[rilu]* ]]; then
        [[ ${PS0@a} == *x* ]] || __dtmcp_lent=1
        PS0=$__dt_ps0$__dt_post0 __dtmcp_ps0=$__dt_ps0$__dt_post0
        # A bash inside is to find it, unless it would show there what this shell's person wants to see here.
        if [[ -z $__dt_ps0 && -z $__dtmcp_static ]]; then
            export PS0
            __dtmcp_lent=1
        elif [[ -n $__dtmcp_lent ]]; then
            export -n PS0
            __dtmcp_lent=
        fi
    fi
    "$__dtmcp_by" return 0
}

# PS2 holds the bytes themselves between \001 and \002, because `read` shows it undecoded when a line goes on.
__dtmcp_wrap2() {
    local __dt_old_pre __dt_old_post
    __dt_old_pre=${__dtmcp_pre2_s-} __dt_old_post=${__dtmcp_post2_s-}
    __dtmcp_pre2_s=$__dtmcp_hide$__dtmcp_P$__dtmcp_bare
    __dtmcp_post2_s=$__dtmcp_hide$__dtmcp_B$__dtmcp_bare
    __dtmcp_strip "$PS2"
    [[ -n $__dt_old_pre ]] && __dtmcp_r=${__dtmcp_r//"$__dt_old_pre"/}
    [[ -n $__dt_old_post ]] && __dtmcp_r=${__dtmcp_r//"$__dt_old_post"/}
    if [[ $__dtmcp_r == *\\ ]]; then
        PS2=$__dtmcp_pre2_s$__dtmcp_r
    else
        PS2=$__dtmcp_pre2_s$__dtmcp_r$__dtmcp_post2_s
    fi
    __dtmcp_ps2=$PS2
}

# Before every prompt. $1 is $_ as the command line left it; $? and PIPESTATUS still stand at the first statement and
# at no later one. At the first prompt ($2) other code has run since, and they were kept.
__dtmcp_prompt() {
    __dtmcp_st=$? __dtmcp_la=$1 __dtmcp_sp=("${PIPESTATUS[@]}")
    [[ ${2-} != first ]] || __dtmcp_st=$__dtmcp_st1 __dtmcp_sp=("${__dtmcp_sp1[@]}")
    # Called by one of the person's prompt commands: only what they replaced runs.
    if ((${__dtmcp_depth:-0})); then
        __dtmcp_user "$__dtmcp_st" "$__dtmcp_la" "$__dtmcp_st" ${__dtmcp_list1[@]+"${__dtmcp_list1[@]}"}
        "$__dtmcp_by" return 0
    fi
    local __dtmcp_on __dtmcp_run
    __dtmcp_builtins
    __dtmcp_on= __dtmcp_t= __dtmcp_u= __dtmcp_v= __dtmcp_w= __dtmcp_x= __dtmcp_y=
    if __dtmcp_here && __dtmcp_able; then
        __dtmcp_on=1
        [[ ${__dtmcp_nonce-} == "$__DTMCP_NONCE" ]] || __dtmcp_identify
        __dtmcp_end "$__dtmcp_st" "${__dtmcp_sp[@]}"
    fi
    # What was put around the hook since the last prompt is being run by bash itself this once; the list as it was is
    # ours to run.
    __dtmcp_run=(${__dtmcp_list[@]+"${__dtmcp_list[@]}"})
    if [[ -n $__dtmcp_all && ${PROMPT_COMMAND-} == "$__DTMCP_HOOK$__dtmcp_all" ]]; then
        # A prompt command ended the hook half-way, as an error does with set -u. bash goes on with the list itself.
        PROMPT_COMMAND=$__DTMCP_HOOK __dtmcp_run=()
    fi
    __dtmcp_all=
    if [[ ${PROMPT_COMMAND[99]-} == "$__DTMCP_HOOK" ]]; then
        # Put back by __dtmcp_arm: what is there beside it came in its stead, and bash has run that.
        unset 'PROMPT_COMMAND[99]'
        __dtmcp_run=()
    fi
    __dtmcp_is_ours || __dtmcp_adopt ''
    if [[ -n ${__dtmcp_run[@]+x} ]]; then
        local __dtmcp_depth __dtmcp_ps __dtmcp_one
        __dtmcp_depth=1 __dtmcp_ps=
        for __dtmcp_one in "${__dtmcp_sp[@]}"; do __dtmcp_ps+=$__dtmcp_one,; done
        # While they run they find themselves in PROMPT_COMMAND: bash-preexec's installer takes itself out there.
        if [[ ${PROMPT_COMMAND@a} != *r* ]]; then
            for __dtmcp_one in ${__dtmcp_list[@]+"${__dtmcp_list[@]}"}; do __dtmcp_all+=$'\n'$__dtmcp_one; done
            PROMPT_COMMAND=$__DTMCP_HOOK$__dtmcp_all
        fi
        __dtmcp_user "$__dtmcp_st" "$__dtmcp_la" "${__dtmcp_ps%,}" "${__dtmcp_run[@]}"
        if [[ -z $__dtmcp_all ]]; then
            __dtmcp_is_ours || __dtmcp_adopt ''
        elif [[ ${PROMPT_COMMAND[*]-} == "$__DTMCP_HOOK$__dtmcp_all" ]]; then
            PROMPT_COMMAND=$__DTMCP_HOOK
        else
            __dtmcp_is_ours || __dtmcp_adopt full
        fi
        __dtmcp_all=
    fi
    if [[ -z $__dtmcp_on ]]; then
        __dtmcp_A= __dtmcp_B= __dtmcp_C= __dtmcp_P= __dtmcp_S= __dtmcp_nonce=
        __dtmcp_unwrap
        "$__dtmcp_by" return 0
    fi
    if [[ $__dtmcp_cwd != "$PWD" || -z ${__dtmcp_A-} ]]; then
        __dtmcp_cwd=$PWD
        __dtmcp_encode "$PWD"
        __dtmcp_cwd_e=$__dtmcp_r
        __dtmcp_A="$__dtmcp_esc]133;A;$__dtmcp_id;cwd=$__dtmcp_r;st="
    fi
    # What stands as it was left needs no look.
    if [[ ${PS1-} != "$__dtmcp_ps1" || ${PS0-} != "$__dtmcp_ps0" || ${PS2-} != "$__dtmcp_ps2" ||
        ${PS1@a}${PS2@a} == *x* || -z $__dtmcp_ps1 || -z $__dtmcp_ps0 || -n $__dtmcp_static || :$BASHOPTS: != *:promptvars:* ]]; then
        __dtmcp_wrap
    fi
    __dtmcp_zsh
    # With set -a every assignment exports, and a child must find none of these.
    export -n __dtmcp_f __dtmcp_e __dtmcp_z __dtmcp_p __dtmcp_A __dtmcp_B __dtmcp_C __dtmcp_P __dtmcp_S
    # bash-preexec arms itself as the last prompt command; here that is this line.
    [[ -n ${__bp_preexec_interactive_mode+x} ]] && __bp_preexec_interactive_mode=on
    "$__dtmcp_by" return 0
}

# The hook: one simple command, so that a user's DEBUG trap sees one; in an `until`, so that errexit and ERR traps do
# not see it fail; its own output and xtrace sent away, with the shell's descriptors kept on 60 and 61, which nobody's
# prompt command is likely to write to (mc's writes to one of the first ten). stderr goes first:
# with stdout closed, or in a restricted bash, which opens no file for output, the hook cannot run, and bash is to have no
# stderr to say so on. It must be the same text in every shell, because finding it in a changed PROMPT_COMMAND is string
# comparison.
__DTMCP_HOOK='{
until
"${__dtmcp_f-eval}" ${__dtmcp_f+"$_"} ${__dtmcp_f-"${__DTMCP_BASH:-:}; : ${PIPESTATUS=}"}
do
break
done
} 61>&2 2>&- 60>&1 >/dev/null 2>&1'

# While a command runs, ZDOTDIR leads a zsh that it starts to our files, which give it back first of all; at the prompt
# it is the person's again. C sets it by an expansion, so that scripts and `exec` are reached too. A person who has a
# ZDOTDIR of their own keeps it, and a user who may not read our files gets none: their zsh would read no file at all.
__dtmcp_zsh() {
    [[ -n ${__DTMCP_ZDIR-} ]] || "$__dtmcp_by" return 0
    [[ ${ZDOTDIR-} != "$__DTMCP_ZDIR" ]] || unset -v ZDOTDIR
    __dtmcp_z=
    if [[ -z ${ZDOTDIR+x} && -r $__DTMCP_ZDIR/.zshenv ]]; then
        __dtmcp_z=$__DTMCP_ZDIR
        export ZDOTDIR
    fi
}

# For the same reason ZDOTDIR stays out of what another user's shell inherits.
__dtmcp_other() (
    # (A local ZDOTDIR would not do: bash then exports the one outside.)
    [[ ${ZDOTDIR-} != "$__DTMCP_ZDIR" ]] || unset -v ZDOTDIR
    exec "$@"
)
if [[ -n ${__DTMCP_ZDIR-} ]]; then
    declare -F su >/dev/null || su() { __dtmcp_other su "$@"; }
    declare -F runuser >/dev/null || runuser() { __dtmcp_other runuser "$@"; }
    declare -F setpriv >/dev/null || setpriv() { __dtmcp_other setpriv "$@"; }
fi

# Puts the hook back where PROMPT_COMMAND was set anew without it: at a prompt, or by the startup file of a bash inside,
# which finds this in PS0 when the first command there is entered. It becomes an element of its own, so that what was set
# runs as before. An expansion can assign, and nothing else can here without a fork: v tells that the first element lacks
# the hook, x that all do, u that PROMPT_COMMAND is set, and a plain string or array: an assignment that fails here would
# keep the command from running. Each is worked out once, until the hook runs and clears it. What all this expands to is
# shown to nobody: taken off the nonce it changes nothing, and the nonce off itself leaves nothing.
#
# Where the hook has not run at all, as e tells, which is empty from then on, that first command's start is printed, too, so
# that its end is told. It takes all of this file, in a process, once for such a shell; o keeps what that printed. (SRANDOM is
# there from bash 5.1 on: before, element 99 is not run.) The scripts for zsh and fish read this line, too.
__dtmcp_arm='${__DTMCP_NONCE:+${__DTMCP_HOOK:+${__DTMCP_NONCE#"${__DTMCP_NONCE#"${__dtmcp_v:=${PROMPT_COMMAND+${PROMPT_COMMAND##*__dtmcp_f*}}}${PROMPT_COMMAND:-${__dtmcp_v:=_}}${__dtmcp_v:+${__dtmcp_w:=_${PROMPT_COMMAND[*]-}}${__dtmcp_x:=${__dtmcp_w##*__dtmcp_f*}}${__dtmcp_x:+${__dtmcp_y:=${PROMPT_COMMAND+_${PROMPT_COMMAND@a}}}${__dtmcp_u:=${__dtmcp_y##*[^_ax]*}}${__dtmcp_u:+${PROMPT_COMMAND[99]:=$__DTMCP_HOOK}}}}"}"}}}${__dtmcp_e-${PROMPT_COMMAND[99]:+${SRANDOM:+${__dtmcp_o:=$({ __dtmcp_opening=1; eval "$__DTMCP_BASH"; } 61>&2 2>&- 60>&1 >/dev/null)}}}}'

# The parts of the prompts. They only name variables, so that a child which inherits the prompt shows nothing. A
# counts itself and says with h=1 that PROMPT_COMMAND holds the hook; where it does not, no end marker came, and A is
# the end. h=2 stands where the hook is there and has not run since C: it could not, or somebody prints the prompt.
# (__dtmcp_t takes what is left of PROMPT_COMMAND without the hook, as the pattern of an expansion that changes
# nothing: there is no other way to look at it here without a fork, or without printing it. __dtmcp_p holds the status
# as it was before a PS0 of the person's that runs something, as systemd's does.)
__dtmcp_pre='\[${__dtmcp_A:+${__dtmcp_A#"${__dtmcp_t:=${PROMPT_COMMAND+${PROMPT_COMMAND##*__dtmcp_f*}}}"}$?;h=$((${PROMPT_COMMAND+${#PROMPT_COMMAND}}+0>0?1+__dtmcp_ran:0))${__dtmcp_t:+0};q=$((${PIPESTATUS+PIPESTATUS[0]+=0,}++__dtmcp_q))$__dtmcp_Z}\]'
__dtmcp_pre0='${__dtmcp_S:+${__dtmcp_S:$((__dtmcp_p=$?,0))}}'
__dtmcp_post='\[${__dtmcp_B-}\]'
__dtmcp_post0=$__dtmcp_arm'${__dtmcp_C:+${__dtmcp_C:$((__dtmcp_ran=1,0))}${__dtmcp_p:-$?};q=$((++__dtmcp_q))${__dtmcp_Z#"${__dtmcp_z:+${ZDOTDIR:=$__dtmcp_z}}"}}'
__dtmcp_pre2='\[${__dtmcp_P-}\]'
# Stands between a PS0 that ends in a backslash (the end of an ST) and our dollar sign: a whole string that means nothing.
__dtmcp_gap='\e]133;-\a'

# script gives what it runs a terminal of its own, and sudo may (use_pty, its default from 1.9.14 on), and they carry over
# what is printed there. In a shell on one that is the session's terminal from here on, if it is carried to the one that was,
# in one step or several: the next of the shell's ancestors that is on another terminal is the one that carries.
__dtmcp_relayed() {
    local __dt_stat __dt_of __dt_number __dt_pid __dt_own
    [[ ${__DTMCP_TTY-} =~ ^/dev/pts/([0-9]+)$ ]] || "$__dtmcp_by" return 0
    # The terminal's number, as proc(5) writes it: major 136, and the bits of the minor above 255 from bit 20 on.
    __dt_number=$((136 << 8 | BASH_REMATCH[1] & 255 | BASH_REMATCH[1] >> 8 << 20))
    ! __dtmcp_here && [[ -n ${__DTMCP_NONCE-} ]] || "$__dtmcp_by" return 0
    __dt_of='^[0-9]+ \((.*)\) . ([0-9]+) [0-9]+ [0-9]+ ([0-9]+) '
    __dt_pid=$$ __dt_own=
    while [[ $__dt_own != "$__dt_number" ]]; do
        [[ -r /proc/$__dt_pid/stat ]] && read -r __dt_stat </proc/$__dt_pid/stat && [[ $__dt_stat =~ $__dt_of ]] &&
            [[ ${BASH_REMATCH[3]} == "${__dt_own:-${BASH_REMATCH[3]}}" || ${BASH_REMATCH[1]} == @(sudo|script) ]] ||
            "$__dtmcp_by" return 0
        __dt_pid=${BASH_REMATCH[2]} __dt_own=${BASH_REMATCH[3]}
    done
    __dt_stat=$(__dtmcp_tty) || "$__dtmcp_by" return 0
    __DTMCP_TTY=${__dt_stat##*[[:space:]]}
    export __DTMCP_TTY
}

# Gives aliases back to the person.
__dtmcp_alias() {
    [[ -z ${__dtmcp_aliases-} ]] || { unset __dtmcp_aliases; shopt -s expand_aliases; }
}

__dtmcp_f=__dtmcp_prompt
__dtmcp_builtins
__dtmcp_esc=$'\e' __dtmcp_hide=$'\001' __dtmcp_bare=$'\002'
__dtmcp_i=${SRANDOM:-$RANDOM$RANDOM}
__dtmcp_q=0 __dtmcp_ran=0 __dtmcp_cwd= __dtmcp_static= __dtmcp_e=
__dtmcp_list=() __dtmcp_list1=()
__dtmcp_ps0= __dtmcp_ps1= __dtmcp_ps2= __dtmcp_all= __dtmcp_lent=${__dtmcp_inherited-}
__dtmcp_out1=${__DTMCP_PS1+1} __dtmcp_out2=
unset __dtmcp_told __dtmcp_nonce __dtmcp_A __dtmcp_t
if [[ ${__dtmcp_o-} == *";pid=$$;"* ]]; then
    # PS0 has printed the start of the first command, which ends now.
    __dtmcp_i=${__dtmcp_o##*;i=} __dtmcp_q=1 __dtmcp_ran=1 __dtmcp_told=1
    __dtmcp_i=${__dtmcp_i%%;*}
fi
unset __dtmcp_o
export -n __dtmcp_f __dtmcp_e

if [[ -n ${__dtmcp_inherited-} ]]; then
    # Evaluated by the hook, in the prompt of a new shell.
    unset __dtmcp_inherited
    # What bash itself sets where nothing else has.
    if [[ -n $__dtmcp_out1 && ${PS1-} == '\s-\v\$ ' && ${PS1@a} != *[rilu]* ]]; then PS1=$__DTMCP_PS1; fi
    __dtmcp_relayed
    __dtmcp_alias
    if [[ -n ${__dtmcp_opening-} ]]; then __dtmcp_open; else __dtmcp_prompt "$_" first; fi
else
    \. "${BASH_SOURCE[0]%/*}/load.bash"
fi
