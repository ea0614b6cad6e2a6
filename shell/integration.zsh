# Shell integration of docent-terminal-mcp for zsh 5.1 and newer: marks prompts, commands and their ends with invisible
# OSC 133 strings, so that a program reading the terminal need not guess. MARKERS.md has the vocabulary.
#
# Loaded by zsh/.zshenv beside it, or by typing
#     . DIR/integration.zsh && export __DTMCP_NONCE=...
# Without a nonce, or away from the session's own terminal, nothing is printed and no prompt is touched.
#
# How it hangs together. __dtmcp_pre is the first precmd function and prints the end marker; __dtmcp_post is the last one
# and wraps the prompts; __dtmcp_exec is the last preexec function, unwraps them and prints the start. zsh writes its
# mark for output without a line end (PROMPT_EOL_MARK) before precmd functions run, so while a command runs that mark
# begins with an early end marker. Where other code throws the hooks away or sets the prompt after them, the line editor's
# start (zle-line-init) brings them back and prints what is missing. Nothing here starts a process.
#
# Rules for changes. Every hook begins with its `{`, whose output is away: with xtrace on, or a trap that prints, nothing of
# this shall show. zsh gives $? back after a hook; what it returns would only set off a ZERR trap, except where a plugin
# calls the hooks.
# Then comes `emulate -L zsh`, because all options are the person's, after $? and pipestatus have been taken; force_float,
# which would make numbers of markers end in a point, is none that it resets. Values in
# prompts hold no character that prompt expansion knows, under any option.

# Percent-encodes $1 into REPLY: %, ; and control characters, so that a value ends neither its field nor the marker, and
# what prompt_subst and prompt_bang would act on.
__dtmcp_encode() {
    emulate -L zsh -o no_force_float
    REPLY=$1
    [[ $1 == *[%\;\$\`\\\!\'\"[:cntrl:]]* ]] || return 0
    setopt localoptions no_multibyte
    local one out= rest=$1
    integer at
    for (( at = 1; at <= ${#rest}; at++ )); do
        one=$rest[at]
        if [[ $one == [%\;\$\`\\\!\'\"[:cntrl:]] ]]; then
            out+=%${(l:2::0:)$(( [##16] #one ))}
        else
            out+=$one
        fi
    done
    REPLY=$out
}

# Whether this shell is on the session's own terminal, and the starts of commands can be told: a shell whose hook for that
# is readonly would be one in which none ever begins, and is left a plain one. zsh writes its prompts to TTY, whatever its
# stderr is.
__dtmcp_here() {
    [[ ${(t)preexec_functions-} != *readonly* || -n ${(M)preexec_functions:#__dtmcp_exec} ]] || return 1
    [[ -n ${__DTMCP_NONCE-} && -n ${__DTMCP_TTY-} && -n ${TTY-} && $TTY -ef $__DTMCP_TTY ]]
}

# Who prints: the fields that every marker of this shell begins with.
__dtmcp_identify() {
    emulate -L zsh -o no_force_float
    local REPLY host user
    __dtmcp_encode "${(%):-%M}"; host=$REPLY
    __dtmcp_encode "${(%):-%n}"; user=$REPLY
    typeset -g __dtmcp_nonce=$__DTMCP_NONCE
    typeset -g __dtmcp_short="dt=$__DTMCP_NONCE;pid=$$;i=$__dtmcp_i"
    typeset -g __dtmcp_id="$__dtmcp_short;host=$host;user=$user"
    typeset -g __dtmcp_st=$'\e\\'
    typeset -g __dtmcp_B="%{"$'\e'"]133;B;${__dtmcp_short//\%/%%}$__dtmcp_st%}"
    typeset -g __dtmcp_P="%{"$'\e'"]133;P;k=s;${__dtmcp_short//\%/%%}$__dtmcp_st%}"
    typeset -g __dtmcp_R="%{"$'\e'"]133;P;k=r;${__dtmcp_short//\%/%%}$__dtmcp_st%}"
}

# Prints a marker, $1 being all between ESC ]133; and ST.
__dtmcp_print() {
    emulate -L zsh -o no_force_float
    local text=$'\e'"]133;$1"$'\e\\'
    local -a by=(builtin)
    # A function of the person's may bear a builtin's name, and any builtin may be disabled.
    (( ! ${+functions[builtin]} && ${+builtins[builtin]} )) || by=()
    local -a as=(print -rn --)
    (( ${+builtins[print]} )) || as=(echo -nE)
    { $by $as "$text" >/dev/tty } 2>/dev/null || $by $as "$text" >&9
}

# Takes our parts out of the prompts.
__dtmcp_unwrap() {
    emulate -L zsh -o no_force_float
    [[ -n ${__dtmcp_A-} ]] || return 0
    [[ ${PS1-} != "$__dtmcp_ps1" ]] || PS1=$__dtmcp_user1
    [[ ${PS2-} != "$__dtmcp_ps2" ]] || PS2=$__dtmcp_user2
    [[ ${RPS1-} != "$__dtmcp_rps1" ]] || RPS1=$__dtmcp_user_r
    __dtmcp_ps1= __dtmcp_ps2= __dtmcp_rps1=$'\0'
    # Themes that keep the prompt they found and put it back later.
    [[ ${PS1-} != *"$__dtmcp_short"* ]] || PS1=${${PS1//"$__dtmcp_A"/}//"$__dtmcp_B"/}
    [[ ${PS2-} != *"$__dtmcp_short"* ]] || PS2=${${PS2//"$__dtmcp_P"/}//"$__dtmcp_B"/}
    [[ ${RPS1-} != *"$__dtmcp_short"* ]] || RPS1=${${RPS1//"$__dtmcp_R"/}//"$__dtmcp_B"/}
}

# Gives the mark for output without a line end, and ZDOTDIR, back to the person.
__dtmcp_return() {
    emulate -L zsh -o no_force_float
    if (( ${+__dtmcp_mark} )); then
        if [[ ${PROMPT_EOL_MARK-} == "$__dtmcp_mark" && ${(t)PROMPT_EOL_MARK} != *readonly* ]]; then
            if (( ${+__dtmcp_user_mark} )); then PROMPT_EOL_MARK=$__dtmcp_user_mark; else unset PROMPT_EOL_MARK; fi
        fi
        unset __dtmcp_mark __dtmcp_user_mark
    fi
    if (( ${+__dtmcp_lent} )); then
        unset __dtmcp_lent __DTMCP_USER_ZDOTDIR
        if [[ ${ZDOTDIR-} == "$__DTMCP_ZDIR" ]]; then
            unset ZDOTDIR
            if (( ${+__dtmcp_zdotdir} )); then
                typeset -g ZDOTDIR=$__dtmcp_zdotdir
                [[ -z $__dtmcp_zexport ]] || export ZDOTDIR
            fi
        fi
        unset __dtmcp_zdotdir __dtmcp_zexport
    fi
}

# Before the prompt, first of all: the end of what ran.
__dtmcp_pre() {
    {
        local __dtmcp_status=$? __dtmcp_stages="${(j:,:)pipestatus[@]}"
        # Plugins run the precmd functions from widgets of the line editor, and no command has ended then.
        if (( ! ${+WIDGET} )); then
            __dtmcp_end "$__dtmcp_status" "$__dtmcp_stages"
        fi
        (( ! ${+WIDGET} )) || return $__dtmcp_status
    } 9>&2 2>/dev/null >/dev/null
}

__dtmcp_end() {
    emulate -L zsh -o no_force_float
    __dtmcp_unwrap
    __dtmcp_return
    if ! __dtmcp_here; then
        __dtmcp_ran=0
        return
    fi
    [[ ${__dtmcp_nonce-} == "$__DTMCP_NONCE" ]] || __dtmcp_identify
    local st=$1 extra=
    [[ $2 != *,* ]] || extra=";ps=$2"
    if (( ! __dtmcp_told )); then
        __dtmcp_told=1
        st= extra=";new=zsh-$ZSH_VERSION;v=1"
    elif (( ! __dtmcp_ran )); then
        # A line that does not parse leaves $? as it was, or makes 1 of 0; neither is told as that line's.
        [[ $st != "$__dtmcp_last" && $st-$__dtmcp_last != 1-0 ]] || st=
        extra=";x=0$extra"
    fi
    __dtmcp_last=$1 __dtmcp_ran=0
    __dtmcp_print "D;$st;$__dtmcp_id;q=$(( ++__dtmcp_q ))$extra"
}

# Before the prompt, last of all: wraps the prompts, and takes its places again where other hooks came since.
__dtmcp_post() {
    {
        local __dtmcp_status=$?
        if [[ -o prompt_percent ]]; then __dtmcp_percent=on; else __dtmcp_percent=off; fi
        if (( ! ${+WIDGET} )); then
            __dtmcp_wrap
        fi
        (( ! ${+WIDGET} )) || return $__dtmcp_status
    } 9>&2 2>/dev/null >/dev/null
}

__dtmcp_wrap() {
    emulate -L zsh -o no_force_float
    __dtmcp_take_places
    if (( ! __dtmcp_hooked )); then
        # Here the person's key maps and widgets are in place.
        __dtmcp_hooked=1
        __dtmcp_hook_editor
    fi
    __dtmcp_here || return 0
    local REPLY
    __dtmcp_encode "$PWD"
    typeset -g __dtmcp_plain="A;$__dtmcp_id;cwd=$REPLY;st=$__dtmcp_last;q=$(( ++__dtmcp_q ))"
    typeset -g __dtmcp_A="%{"$'\e'"]133;${__dtmcp_plain//\%/%%}$__dtmcp_st%}"
    typeset -g __dtmcp_user1=${PS1-} __dtmcp_user2=${PS2-} __dtmcp_user_r=${RPS1-}
    if [[ $__dtmcp_percent == off ]]; then
        # Nothing in a prompt is invisible then. The start of the prompt can be told before it.
        __dtmcp_print "$__dtmcp_plain"
        return
    fi
    typeset -g __dtmcp_ps1=$__dtmcp_A$__dtmcp_user1${__dtmcp_B}
    typeset -g __dtmcp_ps2=$__dtmcp_P$__dtmcp_user2${__dtmcp_B}
    # A percent sign that stands alone at the end is shown as it is, and would take the next character with it.
    local end=${__dtmcp_user1##*[^%]}
    (( ${#end} % 2 == 0 )) || __dtmcp_ps1=$__dtmcp_A$__dtmcp_user1%${__dtmcp_B}
    end=${__dtmcp_user2##*[^%]}
    (( ${#end} % 2 == 0 )) || __dtmcp_ps2=$__dtmcp_P$__dtmcp_user2%${__dtmcp_B}
    PS1=$__dtmcp_ps1 PS2=$__dtmcp_ps2
    if [[ -n $__dtmcp_user_r ]]; then
        typeset -g __dtmcp_rps1=$__dtmcp_R$__dtmcp_user_r$__dtmcp_B
        RPS1=$__dtmcp_rps1
    fi
}

# __dtmcp_pre first, __dtmcp_post and __dtmcp_exec last, where that can be: to set what is readonly would end all of this. (Some prompts put themselves last at every prompt, too; what they
# leave out the line editor's hook prints.)
__dtmcp_take_places() {
    emulate -L zsh -o no_force_float
    if [[ ${precmd_functions[1]-} != __dtmcp_pre || ${precmd_functions[-1]-} != __dtmcp_post ]] &&
        [[ ${(t)precmd_functions-} != *readonly* ]]; then
        typeset -ga precmd_functions
        precmd_functions=(__dtmcp_pre ${precmd_functions:#__dtmcp_(pre|post)} __dtmcp_post)
    fi
    if [[ ${preexec_functions[-1]-} != __dtmcp_exec && ${(t)preexec_functions-} != *readonly* ]]; then
        typeset -ga preexec_functions
        preexec_functions=(${preexec_functions:#__dtmcp_exec} __dtmcp_exec)
    fi
}

__dtmcp_hook_editor() {
    emulate -L zsh -o no_force_float
    zmodload zsh/zle
    autoload -Uz add-zle-hook-widget
    add-zle-hook-widget line-init __dtmcp_line_init
    # What calls the hooks takes a number off each name by a pattern that sh_glob, as of `emulate sh`, does not know. And
    # $? stands only where it begins.
    local caller=azhw:zle-line-init seen='typeset -g __dtmcp_seen=$?'
    if (( ${+functions[$caller]} )) && [[ $functions[$caller] != *__dtmcp_seen* ]]; then
        functions[$caller]=$seen$'\n'${functions[$caller]//'<->:'/'[0-9]*:'}
    fi
}

# At the first prompt, where the hooks were thrown away.
__dtmcp_first() {
    { (( __dtmcp_hooked )) || __dtmcp_hook_editor } 2>/dev/null >/dev/null
}

# The environment from which a bash started in here takes its integration; integration.bash ($1) says how.
__dtmcp_carry_bash() {
    emulate -L zsh -o no_force_float
    [[ -z ${__DTMCP_CODE-} && -r $1 ]] || return 0
    local line code= hook= inside= arm=
    while IFS= read -r line; do
        if [[ $line == "__DTMCP_HOOK='"* ]]; then
            inside=1 hook=${line#*\'}
        elif [[ $line == "__dtmcp_arm='"* ]]; then
            arm=${${line#*\'}%\'}
        elif [[ -n $inside ]]; then
            hook+=$'\n'${line%\'}
            [[ $line != *\' ]] || inside=
        fi
        line=${line#"${line%%[![:space:]]*}"}
        [[ -z $line || $line == '#'* ]] || code+=@"@"$line
    done <$1
    export __DTMCP_CODE=$code __DTMCP_HOOK=$hook PROMPT_COMMAND=$hook PS0=$arm
    export __DTMCP_BASH='__dtmcp_inherited=1 __dtmcp_st1=$? __dtmcp_sp1=("${PIPESTATUS[@]}") __dtmcp_r=${__DTMCP_CODE//@"@"/$'"'\\n'"'}; eval "$__dtmcp_r"'
}

# The line editor starts: the prompt stands. Prints what others have kept from being printed.
__dtmcp_line_init() {
    {
        if (( ! ${+precmd_functions} || ! ${+preexec_functions} )) ||
            [[ -z ${(M)precmd_functions:#__dtmcp_pre} || -z ${(M)preexec_functions:#__dtmcp_exec} ]]; then
            __dtmcp_end "${__dtmcp_seen-}" ''
            __dtmcp_take_places
        fi
        if [[ ${CONTEXT-} == start ]] && __dtmcp_here && [[ ${PS1-} != *"${__dtmcp_short-}"* ]]; then
            __dtmcp_show
        elif [[ ${CONTEXT-} == cont ]] && __dtmcp_here && [[ ${PS2-} != *"${__dtmcp_short-}"* ]]; then
            __dtmcp_print "P;k=s;$__dtmcp_short"
            __dtmcp_print "B;$__dtmcp_short"
        fi
    } 9>&2 2>/dev/null >/dev/null
}

# A and B, where the prompt that is shown holds none.
__dtmcp_show() {
    emulate -L zsh -o no_force_float
    local REPLY
    __dtmcp_encode "$PWD"
    if [[ $__dtmcp_percent != off ]]; then
        __dtmcp_print "A;$__dtmcp_id;cwd=$REPLY;st=$__dtmcp_last;q=$(( ++__dtmcp_q ))"
    fi
    __dtmcp_print "B;$__dtmcp_short"
}

# After Enter. $1 is the line as it stands in the history, $3 as it will run.
__dtmcp_exec() {
    {
        local __dtmcp_status=$?
        __dtmcp_start "${1:-$3}" "$__dtmcp_status" "$3"
        (( ! ${+WIDGET} )) || return $__dtmcp_status
    } 9>&2 2>/dev/null >/dev/null
}

__dtmcp_start() {
    emulate -L zsh -o no_force_float
    __dtmcp_unwrap
    __dtmcp_ran=1
    # A zsh that the line starts by name, its aliases expanded ($3), is to be integrated, also from within quotes. Nothing
    # else sees ZDOTDIR changed; neither does another user, whose zsh could not read our files and would read none of theirs.
    if [[ " $3 " == *[^a-zA-Z0-9_.-]zsh[^a-zA-Z0-9_./-]* && -r ${__DTMCP_ZDIR-}/.zshenv &&
        ${#${(M)${(z)3}:#(*/|)(su|runuser|setpriv)}} -eq 0 ]]; then
        typeset -g __dtmcp_lent=1
        if (( ${+ZDOTDIR} )); then
            typeset -g __dtmcp_zdotdir=$ZDOTDIR __dtmcp_zexport=${(M)${(t)ZDOTDIR}:#*export*}
            # A zsh inside inherits only what is exported.
            [[ -z $__dtmcp_zexport ]] || export __DTMCP_USER_ZDOTDIR=$ZDOTDIR
        fi
        export ZDOTDIR=$__DTMCP_ZDIR
    fi
    __dtmcp_here && [[ -n ${__dtmcp_id-} ]] || return 0
    local REPLY cut= line=$1
    # 8 kB is what is kept of a command line.
    if (( ${#line} > 8000 )); then
        line=${line[1,8000]} cut=';cut=1'
    fi
    __dtmcp_encode "$line"
    __dtmcp_print "C;$__dtmcp_id;q=$(( ++__dtmcp_q ));prev=$2;cmd=$REPLY$cut"
    if (( ${+PROMPT_EOL_MARK} )); then
        typeset -g __dtmcp_user_mark=$PROMPT_EOL_MARK
    fi
    [[ ${(t)PROMPT_EOL_MARK-} != *readonly* ]] || return 0
    local early=$'\e'"]133;D;%?;${__dtmcp_id//\%/%%};q=$(( ++__dtmcp_q ));e=1"$'\e\\'
    typeset -g __dtmcp_mark="%{$early%}${PROMPT_EOL_MARK-%B%S%#%s%b}"
    typeset -g PROMPT_EOL_MARK=$__dtmcp_mark
}

() {
    emulate -L zsh -o no_force_float
    typeset -g __dtmcp_i=$RANDOM$RANDOM$RANDOM
    typeset -gi __dtmcp_q=0 __dtmcp_ran=0 __dtmcp_told=0 __dtmcp_hooked=0
    typeset -g __dtmcp_last=0 __dtmcp_ps1= __dtmcp_ps2= __dtmcp_rps1=$'\0' __dtmcp_percent=on
    unset __dtmcp_nonce __dtmcp_id __dtmcp_short __dtmcp_A
    # Where zsh and fish find what is theirs; both leave out a directory that they may not read.
    local here=${${(%):-%x}:A:h}
    export __DTMCP_ZDIR=$here/zsh
    if [[ :${XDG_DATA_DIRS-}: != *:$here:* ]]; then
        export XDG_DATA_DIRS=$here:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}
    fi
    if [[ -z ${__dtmcp_inherited-} || -z ${__DTMCP_TTY-} ]]; then
        # Somebody loaded this file on purpose, or a session's shell starts: this terminal is the one.
        export __DTMCP_TTY=${TTY-}
    fi
    __dtmcp_take_places
    __dtmcp_carry_bash "$here/integration.bash"
    # A startup file may throw hooks away, and the system's sets the line editor's. This runs once, at the first prompt.
    { zmodload zsh/sched && sched +00:00:00 '{ __dtmcp_first; } 2>/dev/null' } 2>/dev/null
}
