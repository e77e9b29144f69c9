
# Names of columns, of the files of the command line.
_dv_columns() {
    local word="${words[CURRENT]}" option="${words[CURRENT-1]}"
    if [[ "$word" == --*=* ]]; then option="${word%%=*}"; fi
    case "$option" in
        --columns|--exclude|--sort|--sum|--min|--max|--mean|--distinct|--facet|--unset) ;;
        --by) [[ "${words[2]}" == (sort|diff) ]] || return 1 ;;
        -*) return 1 ;;
        *) [[ "${words[2]}" == (facet|stats|terms|histogram|group) && "$word" != -* ]] || return 1 ;;
    esac
    # Before the name may be the option, other names, and a minus.
    compset -P '--*='
    compset -P '*,'
    compset -P '-'
    compadd -- ${(f)"$(dv completions zsh -- "${(@Q)words}" 2>/dev/null)"}
}

_dv_with_columns() {
    _dv_columns || _dv "$@"
}

compdef _dv_with_columns dv
if [[ "$funcstack[1]" == _dv ]]; then _dv_with_columns "$@"; fi
