# Completion for bash. Commands and options are asked of the program itself, so that there is one list of them.
_appell() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]:-}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | sed -n '/^Subcommands/,$s/^  \([a-z]\+\).*/\1/p') --help --version" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null | grep -o -E -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,')" -- "$word")
    elif [ "$command" = gallery ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" gallery 2>/dev/null | sed -n 's/^  \([a-z_]\+\) .*/\1/p')" -- "$word")
    elif [ "$command" = plot ] || [ "$previous" = --resume ] || [ "$previous" = --out ]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -X '!*.appell' -- "$word"; compgen -d -S / -- "$word")
        compopt -o nospace 2>/dev/null || true
    fi
}
complete -o filenames -F _appell appell
