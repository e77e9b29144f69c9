//! Completions and manual pages.

use crate::sandbox::Sandbox;

/// The subcommands that `dv --help` lists.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.ok(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn completions_know_every_command() {
    let sandbox = Sandbox::new();
    let commands = commands(&sandbox);
    assert!(commands.len() >= 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.ok(&["completions", shell]);
        for word in commands.iter().map(String::as_str).chain(["sort-by", "header"]) {
            assert!(script.contains(word), "{shell} has no {word}");
        }
    }
    // The last lines of what was generated for zsh are others.
    assert_eq!(sandbox.ok(&["completions", "zsh"]).matches("funcstack").count(), 1);
    let run = sandbox.dv(&["completions", "cmd"]);
    assert!(run.code == 2 && run.err.contains("[possible values: bash, elvish, fish"), "{run:?}");
}

#[test]
fn names_on_which_a_terminal_acts_are_not_completed() {
    let names = serde_json::json!({ "size": 1, "a\u{202e}b": 2, "c\nd": 3, "e f": 4 });
    let sandbox = Sandbox::with("a.ndjson", names.to_string() + "\n");
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "-q"]);
    for shell in ["bash", "fish", "zsh"] {
        let shown = sandbox.ok(&["completions", shell, "--", "dv", "head", "a.dv"]);
        let mut shown: Vec<&str> = shown.lines().collect();
        shown.sort_unstable();
        assert_eq!(shown, ["e f", "size"]);
    }
}

/// The lines that a shell prints, with this `dv` in its path; `None` if the shell is not installed.
#[cfg(unix)]
fn shell(sandbox: &Sandbox, command: &[&str]) -> Option<Vec<String>> {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_dv")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let run = std::process::Command::new(command[0])
        .args(&command[1..])
        .env("PATH", path)
        .env("HOME", sandbox.path("."))
        .current_dir(sandbox.path("."))
        .output()
        .ok()?;
    let shown = String::from_utf8(run.stdout).unwrap();
    Some(shown.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// A segment whose columns have names that a shell must quote, and the script of a shell.
#[cfg(unix)]
fn with_script(shell: &str, name: &str) -> Sandbox {
    let sandbox = Sandbox::with("a.csv", "size,section,my col,$(touch x)\n1,a,b,c\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox.write(name, sandbox.ok(&["completions", shell]));
    sandbox
}

/// What bash completes the last of these words to.
#[cfg(unix)]
fn completed(sandbox: &Sandbox, words: &[&str]) -> Option<Vec<String>> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let (words, at) = (quoted.join(" "), quoted.len() - 1);
    let (last, before) = (&quoted[at], &quoted[at - 1]);
    let script = format!(
        "source dv.bash; COMP_WORDS=({words}); COMP_CWORD={at}; _dv_with_columns dv {last} {before}; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    shell(sandbox, &["bash", "-c", &script])
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_columns() {
    let sandbox = with_script("bash", "dv.bash");
    let Some(commands) = completed(&sandbox, &["dv", "bu"]) else {
        return eprintln!("SKIPPED: there is no bash");
    };
    assert_eq!(commands, ["build"]);
    let complete = |words: &[&str]| completed(&sandbox, words).unwrap();
    assert_eq!(complete(&["dv", "facet", "a.dv", "s"]), ["section", "size"]);
    assert_eq!(complete(&["dv", "head", "a.dv", "--columns", "size,se"]), ["size,section"]);
    assert_eq!(complete(&["dv", "sort", "a.dv", "--by", "=", "-si"]), ["-size"]);
    assert_eq!(complete(&["dv", "head", "a.dv", "--columns", "my"]), ["my\\ col"]);
    assert_eq!(complete(&["dv", "facet", "a.dv", "--by", "c"]), ["count"]);
    assert_eq!(complete(&["dv", "histogram", "a.dv", "size", "--facet", "se"]), ["section"]);
    assert_eq!(complete(&["dv", "head", "a.dv", "--columns", "$"]), ["\\$\\(touch\\ x\\)"]);
    assert!(!sandbox.exists("x"));
}

#[cfg(unix)]
#[test]
fn fish_completes_commands_and_columns() {
    let sandbox = with_script("fish", "dv.fish");
    let complete = |line: &str| {
        shell(&sandbox, &["fish", "--no-config", "-c", "source dv.fish; complete -C $argv[1]", line])
    };
    let Some(commands) = complete("dv bu") else { return eprintln!("SKIPPED: there is no fish") };
    assert!(commands.len() == 1 && commands[0].starts_with("build\t"), "{commands:?}");
    let complete = |line: &str| complete(line).unwrap();
    assert_eq!(complete("dv facet a.dv s"), ["section", "size"]);
    assert_eq!(complete("dv head a.dv --columns size,se"), ["size,section"]);
    assert_eq!(complete("dv sort a.dv --by=-si"), ["--by=-size"]);
    assert_eq!(complete("dv head a.dv --columns my"), ["my col"]);
    assert!(complete("dv facet a.dv --by c")[0].starts_with("count\t"));
    assert_eq!(complete("dv histogram a.dv size --facet se"), ["section"]);
    assert_eq!(complete("dv facet a.d"), ["a.dv"]);
    assert!(!sandbox.exists("x"));
}

/// Completes each argument in an interactive zsh, and writes them and what they are completed to.
#[cfg(unix)]
const ZSH: &str = "\
zmodload zsh/zpty || exit
zpty z zsh -f -i
zpty -w z 'source ./setup.zsh'
zpty -r z shown '*READY*'
for line in \"$@\"; do
    print -r -- \"$line:\" >>out
    zpty -n -w z \"$line\"$'\\t\\x15:\\n'
    zpty -r z shown '*READY*'
done
zpty -w z exit
cat out
";

#[cfg(unix)]
const ZSH_SETUP: &str = "\
fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; PS1=REA''DY
compadd() { local -a hits; builtin compadd -O hits \"$@\"; print -rl -- $hits >>out; builtin compadd \"$@\" }
";

#[cfg(unix)]
#[test]
fn zsh_completes_commands_and_columns() {
    let sandbox = with_script("zsh", "_dv");
    sandbox.write("complete.zsh", ZSH);
    sandbox.write("setup.zsh", ZSH_SETUP);
    let lines = [
        ("dv bu", &["build"][..]),
        ("dv facet a.dv s", &["section", "size"]),
        ("dv head a.dv --columns size,se", &["section"]),
        ("dv head a.dv --columns=size,se", &["section"]),
        ("dv sort a.dv --by=-si", &["size"]),
        ("dv head a.dv --columns my", &["my col"]),
        ("dv histogram a.dv size --facet se", &["section"]),
        ("dv facet a.d", &["a.dv"]),
    ];
    let arguments: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let Some(shown) = shell(&sandbox, &[&["zsh", "-f", "complete.zsh"], &arguments[..]].concat()) else {
        return eprintln!("SKIPPED: there is no zsh");
    };
    if shown.is_empty() {
        return eprintln!("SKIPPED: this zsh has no module zsh/zpty");
    }
    let mut shown = shown.into_iter().peekable();
    for (line, expected) in lines {
        assert_eq!(shown.next(), Some(format!("{line}:")));
        let mut found: Vec<String> = Vec::new();
        while let Some(hit) = shown.next_if(|hit| !hit.ends_with(':')) {
            found.push(hit);
        }
        found.sort();
        found.dedup();
        assert_eq!(found, expected, "{line}");
    }
    assert!(!sandbox.exists("x"));
}

#[cfg(feature = "man")]
#[test]
fn every_command_has_a_page() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ok(&["man", "--output", "share/man1"]), "");
    let commands = commands(&sandbox);
    let pages = std::fs::read_dir(sandbox.path("share/man1")).unwrap().count();
    // `help` has none; `dv` itself, `store create` and `store alter` have one.
    assert_eq!(pages, commands.len() + 2);
    let nested = sandbox.ok(&["man", "store", "create"]);
    assert_eq!(nested.as_bytes(), sandbox.read("share/man1/dv-store-create.1"));
    for command in commands.iter().filter(|command| *command != "help") {
        let page = sandbox.ok(&["man", command]);
        assert_eq!(page.as_bytes(), sandbox.read(&format!("share/man1/dv-{command}.1")));
        assert!(page.contains(&format!("dv\\-{command} \\- ")), "{page}");
        assert!(page.contains(&format!("\\fBdv {command}\\fR")), "{page}");
        // Examples are lines, as they are in --help.
        let (_, notes) = page.split_once(".SH NOTES\n.nf\n").unwrap();
        assert!(notes.starts_with("Examples:\n  dv ") && notes.ends_with(".fi\n"), "{notes}");
    }
    let all = sandbox.ok(&["man", "-o", "-"]);
    for page in [".TH dv 1", ".TH dv-build 1", ".TH dv-store-create 1"] {
        assert!(all.contains(page), "{page}");
    }
    let page = sandbox.ok(&["man"]);
    assert_eq!(page.as_bytes(), sandbox.read("share/man1/dv.1"));
    assert!(page.contains("dv\\-build(1)") && page.contains("\nExit codes:\n  0  done\n"), "{page}");
}

#[cfg(feature = "man")]
#[test]
fn pages_that_cannot_be_written_or_do_not_exist() {
    let sandbox = Sandbox::with("file", "");
    let run = sandbox.dv(&["man", "-o", "file"]);
    assert_eq!((run.code, run.err.as_str()), (3, "dv: file: File exists (os error 17)\n"));
    let run = sandbox.dv(&["man", "biuld"]);
    let expected = "dv: no command \"biuld\"\n    hint: did you mean \"build\"?\n";
    assert_eq!((run.code, run.err.as_str()), (2, expected));
}

#[cfg(not(feature = "man"))]
#[test]
fn the_error_says_how_to_get_pages() {
    let run = Sandbox::new().dv(&["man", "build"]);
    let expected = "dv: this dv was built without pages of the manual; --help has the same text\n    \
                    hint: install it from a checkout: cargo install --path crates/cli --features man\n";
    assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (1, expected, ""));
}

#[test]
fn what_another_tool_calls_it_is_hinted() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    for (command, hint) in [
        (&["head", "a.dv", "-25"][..], "-n 25\n"),
        (&["cat", "a.dv", "-5"], "dv head -n 10"),
        (&["cat", "a.dv", "-n", "5"], "dv head -n 10"),
        (&["facet", "a.dv", "a", "--top", "5"], "-n 10, or --limit 10"),
        (&["head", "a.dv", "--docs", "5"], "-n 10, or --limit 10"),
        (&["group", "a.dv", "a", "--p99", "a"], "--metric 'p99(size)'"),
        (&["sql", "select 1", "a.dv", "-n", "5"], "limit 10"),
        (&["export", "a.dv", "--delimiter", ";"], "--format tsv"),
        (&["build", "a.csv", "-o", "b.dv", "-d", ";"], "--delimiter ';'"),
        (&["build", "a.csv", "-o", "b.dv", "--no-header"], "--header no"),
        (&["sort", "a.dv", "--by", "a", "-r"], "--by=-size"),
        (&["export", "a.dv", "-f", "a"], "--columns"),
        (&["build", "a.csv", "-o", "b.dv", "-n", "5"], "dv head"),
        (&["put", "a", "a.csv", "--id", "a"], "--id-field NAME"),
        (&["group", "a.dv", "--group-by", "a"], "dv group hits.dv host"),
        (&["head", "a.csv", "--lines", "5"], "-n 10"),
        (&["head", "a.dv", "25"], "-n 25\n"),
        (&["histogram", "a.dv", "a", "--bins", "5"], "--step auto"),
        (&["group", "a.dv", "a", "--agg", "sum"], "--sum size"),
        (&["sort", "a.dv", "--order-by", "a"], "--by=-size"),
        (&["export", "a.dv", "--to", "csv"], "--format csv"),
        (&["build", "a.csv", "-o", "b.dv", "-t", "a=i64"], "--type"),
        // Commands of other tools.
        (&["dedup", "a.csv"], "--id-field"),
        (&["vacuum", "st"], "dv merge STORE\n"),
        (&["backup", "st"], "dv replicate"),
        (&["tail", "a.dv"], "--docs 1000.."),
        (&["frequency", "a.dv"], "dv facet"),
        (&["summarize", "a.dv"], "dv stats"),
        (&["select", "a", "a.dv"], "dv export --columns"),
        // Options of other commands.
        (&["head", "a.dv", "--tz", "UTC"], "`dv export` has --tz\n"),
        (&["head", "a.dv", "--where", "a = 1"], "`dv export` has --where\n"),
        (&["query", "a.dv", "{}", "-o", "b.csv"], "`dv export` has -o\n"),
        (&["count", "a.dv", "--percentiles", "50"], "`dv stats` has --percentiles\n"),
        (&["group", "a.dv", "a", "-n", "-5"], "-n 5\n"),
    ] {
        let run = sandbox.dv(command);
        let (_, hinted) = run.err.split_once("    hint: ").unwrap_or_else(|| panic!("{command:?} {run:?}"));
        assert!(run.code == 2 && hinted.contains(hint), "{command:?} {run:?}");
        assert!(
            !["as a value", "similar subcommand"].iter().any(|tip| run.err.contains(tip)),
            "{command:?} {run:?}"
        );
    }
    // An id may look like an option.
    let run = sandbox.dv(&["lookup", "a.dv", "-7"]);
    assert!(run.code == 2 && run.err.contains("'-- -7'") && !run.err.contains("hint:"), "{run:?}");
    for command in [&["head", "a.dv", "--nothing"][..], &["store", "top"], &["nothing"]] {
        let run = sandbox.dv(command);
        assert!(run.code == 2 && !run.err.contains("hint:"), "{run:?}");
    }
}

#[test]
fn the_version_lists_the_features() {
    let features = [
        ("lucene", cfg!(feature = "lucene")),
        ("man", cfg!(feature = "man")),
        ("parquet", cfg!(feature = "parquet")),
        ("sql", cfg!(feature = "sql")),
        ("tzdb", cfg!(feature = "tzdb")),
    ];
    let built: Vec<&str> = features.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
    for option in ["-V", "--version"] {
        let expected = format!("dv {}\nfeatures: {}\n", env!("CARGO_PKG_VERSION"), built.join(", "));
        assert_eq!(Sandbox::new().ok(&[option]), expected);
    }
}
