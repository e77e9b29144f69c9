# Names of columns, of the files of the command line.
function __fish_dv_columns
    dv completions fish -- (commandline -opc) 2>/dev/null
end
complete -c dv -n "__fish_dv_using_subcommand facet stats terms histogram group" -a "(__fish_dv_columns)"

