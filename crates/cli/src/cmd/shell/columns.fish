
# Names of columns, of the files of the command line.
function __dv_columns
    # Before the name may be others, and a minus.
    set -l word (commandline -ct)
    set -l before (string match -r -- '^(?:--[^=]*=)?((?:.*,)?-?)' "$word")
    for name in (dv completions fish -- (commandline -opc) 2>/dev/null)
        echo -- "$before[2]$name"
    end
end

function __dv_runs
    set -l words (commandline -opc)
    contains -- "$words[2]" $argv
end

complete -c dv -n '__dv_runs get lookup head sample cat export sort stats diff group report' -l columns -xa '(__dv_columns)'
complete -c dv -n '__dv_runs export group' -l sort -xa '(__dv_columns)'
complete -c dv -n '__dv_runs sort diff' -l by -xa '(__dv_columns)'
for option in sum min max mean
    complete -c dv -n '__dv_runs group histogram' -l $option -xa '(__dv_columns)'
end
complete -c dv -n '__dv_runs group' -l distinct -xa '(__dv_columns)'
complete -c dv -n '__dv_runs histogram' -l facet -xa '(__dv_columns)'
complete -c dv -n '__dv_runs set' -l unset -xa '(__dv_columns)'
complete -c dv -n '__dv_runs facet stats terms histogram group' -a '(__dv_columns)'
