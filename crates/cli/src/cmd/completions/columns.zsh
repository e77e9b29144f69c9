# Names of columns, of the files of the command line.
_dv_columns() {
    local -a names
    names=("${(@f)$(dv completions zsh -- "${words[@]}" 2>/dev/null)}")
    compset -P '*,'
    compset -P '-'
    compadd -a names
}

# The same, or files.
_dv_columns_or_files() {
    _dv_columns
    _files
}

