
# Names of columns, of the files of the command line.
_dv_with_columns() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" name
    if [[ "$prev" == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    if [[ "$cur" == "=" ]]; then cur=""; fi
    _dv "$@"
    case "$prev" in
        --columns|--exclude|--sort|--sum|--min|--max|--mean|--distinct|--facet|--unset) ;;
        --by) [[ "${COMP_WORDS[1]}" == sort || "${COMP_WORDS[1]}" == diff ]] || return 0 ;;
        -*) return 0 ;;
        *)
            [[ "$cur" == -* ]] && return 0
            case "${COMP_WORDS[1]}" in
                facet|stats|terms|histogram|group) ;;
                *) return 0 ;;
            esac
            ;;
    esac
    # Before the name may be others, and a minus.
    local last="${cur##*,}"
    if [[ "$last" == -* ]]; then last="${last#-}"; fi
    local before="${cur%"$last"}" found=()
    while IFS= read -r name; do
        if [[ "$name" == "$last"* ]]; then printf -v name %q "$name"; found+=("$before$name"); fi
    done < <(dv completions bash -- "${COMP_WORDS[@]}" 2>/dev/null)
    if (( ${#found[@]} > 0 )); then COMPREPLY=("${found[@]}"); fi
}
complete -F _dv_with_columns -o bashdefault -o default dv
