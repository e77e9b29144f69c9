#!/usr/bin/env bash
# Makes pictures of pages of `dv report` to look at: on a desktop and on a phone, light and dark, and printed.
#
# Usage: crates/cli/tests/report_screenshots.sh FOLDER [FILE.dv]...
#
# A page of values that are markup is always among them. Fails if the browser says anything of a page, such as an error of a
# script, or if a value became an element. Needs Debian's `chromium`; $DV is the program, by default `dv`.
set -euo pipefail

folder=${1:?a folder for the pictures}
shift
dv=${DV:-dv}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

browser() {
    # A browser of root has no sandbox.
    local root=()
    if [[ $(id -u) == 0 ]]; then root=(--no-sandbox); fi
    chromium --headless "${root[@]}" --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --enable-logging=stderr \
        --user-data-dir="$folder/.profile" "$@" 2>"$folder/.log"
    if grep -E 'CONSOLE|Uncaught|Refused to' "$folder/.log"; then
        echo "the browser has something to say of $*" >&2
        exit 1
    fi
}

# picture NAME PAGE WIDTH HEIGHT
picture() {
    browser --window-size="$3,$4" --screenshot="$folder/$1.png" "file://$folder/$2" >&2
    [[ -s "$folder/$1.png" ]]
}

hostile="document.title='broken'"
{
    printf '"<script>%s</script>",size,"a""b \x27c"\n' "$hostile"
    for n in 1 2 3 4 5 6 7 8; do
        printf '"<img src=x onerror=""%s"">",%d,"</td></table><script>%s</script>&amp;"\n' "$hostile" $((n * n)) "$hostile"
    done
} >"$folder/hostile.csv"
"$dv" build "$folder/hostile.csv" -o "$folder/hostile.dv" -q

for file in "$folder/hostile.dv" "$@"; do
    name=$(basename "$file" .dv)
    "$dv" report "$file" -o "$folder/$name.html"
    # Dark on any system. A window is not as narrow as a phone, but a frame is.
    sed 's/@media screen and (prefers-color-scheme: dark)/@media screen/' "$folder/$name.html" >"$folder/$name-dark.html"
    for page in "$name" "$name-dark"; do
        printf '<!doctype html><body style="margin:0"><iframe src="%s.html" width=390 height=2400 style="border:0">' "$page" \
            >"$folder/$page-phone.html"
        picture "$page" "$page.html" 1280 2400
        picture "$page-phone" "$page-phone.html" 600 2400
    done
    browser --no-pdf-header-footer --print-to-pdf="$folder/$name.pdf" "file://$folder/$name.html" >&2
    browser --dump-dom "file://$folder/$name.html" >"$folder/$name.dom"
    if grep -iE '<(script|img)[ >]' "$folder/$name.dom" || grep -F '<title>broken' "$folder/$name.dom"; then
        echo "$name.html: a value became an element" >&2
        exit 1
    fi
done
rm -rf "$folder/.profile" "$folder/.log" "$folder"/*.dom
ls "$folder"
