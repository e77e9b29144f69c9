//! Output on terminals: no line is wider than the terminal, and a wide one shows what a pipe gets.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Command;

use docvalues_testkit::damage::cases;
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use unicode_width::UnicodeWidthStr as _;

use crate::sandbox::{Run, Sandbox, packages};

/// Runs a command whose outputs are a terminal of this width; returns what the terminal received.
fn on_terminal(mut command: Command, columns: u16) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let line = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    tcsetwinsize(&line, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        if !command.get_envs().any(|(set, _)| set == name) {
            command.env_remove(name);
        }
    }
    command.env("TERM", "xterm");
    let mut child = command.stdout(line.try_clone().unwrap()).stderr(line).spawn().unwrap();
    // The terminal ends when nothing holds the line any more.
    drop(command);
    let (mut terminal, mut received, mut chunk) = (File::from(terminal), Vec::new(), [0; 4096]);
    // Linux reports the end as an error.
    while let Ok(count @ 1..) = terminal.read(&mut chunk) {
        received.extend(&chunk[..count]);
    }
    child.wait().unwrap();
    String::from_utf8(received).unwrap().replace("\r\n", "\n")
}

/// Text without escape sequences.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.extend(part.split_once(|c: char| c.is_ascii_alphabetic()).map(|(_, rest)| rest));
    }
    out
}

/// Fails if a line is wider than the terminal; returns the lines.
#[track_caller]
fn assert_fits(text: &str, columns: u16, what: &str) -> Vec<String> {
    let lines: Vec<String> = without_escapes(text).split(['\r', '\n']).map(str::to_owned).collect();
    for line in &lines {
        assert!(line.width() <= columns.into(), "{what}: {} columns: {line}", line.width());
    }
    lines
}

/// A row for each of some shapes that make tables wide.
const WIDE: &str = "\
the name of a column that is much longer than others,名前,at,amount,ratio,text,day,flag
1,日本語のとても長いテキスト、列よりもずっと長い,2013-01-01T06:00:00.123456Z,9007199254740993,0.1234567890123,\
a text of many words that is longer than a terminal is wide so that it has to be folded or cut somewhere,2013-01-01,true
2,短い,2013-01-01T07:00:00.123456Z,-9007199254740993,1e300,\
averylongwordaverylongwordaverylongwordaverylongwordaverylongwordaverylongwordaverylongword,2013-01-02,false
3,,2013-01-01T08:00:00.123456Z,12,,short,2013-01-03,true
";

/// Files of all sorts.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q", "--id-field", "id"]);
    sandbox.write("wide.csv", WIDE);
    sandbox.ok(&["build", "wide.csv", "-o", "wide.dv", "-q"]);
    sandbox.write("other.csv", WIDE.replace("many words", "some words").replace("短い", "とても短い"));
    sandbox.ok(&["build", "other.csv", "-o", "other.dv", "-q"]);
    sandbox.ok(&["store", "create", "st", "--type", "id=string,size=i64", "--id-field", "id"]);
    sandbox.write("rows.csv", "id,size,note\na,1,x\nb,2,y\n");
    sandbox.ok(&["put", "st", "rows.csv", "-q"]);
    sandbox
}

const COMMANDS: [&[&str]; 34] = [
    &["info", "p.dv"],
    &["info", "p.dv", "--encodings", "--sections"],
    &["info", "wide.dv"],
    &["info", "st"],
    &["stats", "p.dv", "--distinct"],
    &["stats", "wide.dv", "at", "amount", "ratio", "--percentiles", "1,5,50,95,99.9", "--spread"],
    &["facet", "p.dv", "section", "tags", "filename", "size"],
    &["facet", "wide.dv", "名前", "text", "amount"],
    &["group", "p.dv", "section", "--sum", "size", "--mean", "size", "--docs", "9"],
    &[
        "group",
        "p.dv",
        "filename",
        "--min",
        "size,depends_count",
        "--max",
        "size,depends_count",
        "--sum",
        "size",
    ],
    &["group", "wide.dv", "text", "--max", "at,day"],
    &["group", "p.dv", "section,filename", "--sum", "size", "--mean", "size,depends_count"],
    &["histogram", "p.dv", "size", "--step", "10_000_000"],
    &["histogram", "p.dv", "size", "--edges", "0,1kB,1MB", "--facet", "section", "--mean", "size"],
    &["histogram", "wide.dv", "at", "--step", "hour"],
    &["head", "p.dv", "-n", "3"],
    &["head", "wide.dv"],
    &["head", "wide.dv", "--columns", "text,day"],
    &["sort", "p.dv", "--by=-size", "-n", "3", "--columns", "package,size,section"],
    &["lookup", "st", "a"],
    &["terms", "p.dv", "tags", "--prefix", "role"],
    &["terms", "p.dv", "depends", "--limit", "2000"],
    &["diff", "wide.dv", "other.dv"],
    &["diff", "wide.dv", "p.dv", "--limit", "1"],
    &["commits", "st"],
    &["log", "st"],
    &["check", "p.dv", "st"],
    &["count", "p.dv", "--where", "size > 1MB and tags ^= \"role::\"", "--explain"],
    &["build", "p.ndjson.gz", "-o", "q.dv", "--id-field", "id"],
    &["build", "wide.csv", "-o", "q.dv"],
    &["merge", "wide.dv", "p.dv", "-o", "q.dv", "--no-ids"],
    &["put", "st", "rows.csv"],
    &["where"],
    &["--help"],
];

#[test]
fn no_line_is_wider_than_the_terminal() {
    let sandbox = sandbox();
    for command in COMMANDS {
        for columns in [60, 80, 120] {
            let text = on_terminal(sandbox.command(command), columns);
            let lines = assert_fits(&text, columns, &command.join(" "));
            assert!(lines.iter().any(|line| !line.is_empty()), "{command:?}");
        }
    }
}

/// Documents are an exception: they are NDJSON in a pipe. So are times.
#[test]
fn a_pipe_gets_what_a_wide_terminal_shows() {
    let sandbox = sandbox();
    let differs = |command: &[&str]| {
        ["head", "sort", "lookup", "put", "count", "where", "--help"].contains(&command[0])
    };
    for command in COMMANDS.into_iter().filter(|command| !differs(command)) {
        let run = sandbox.dv(command);
        let shown = without_escapes(&on_terminal(sandbox.command(command), 2000));
        assert_eq!(shown, run.out + &run.err, "{command:?}");
    }
}

#[test]
fn a_caret_stays_below_its_character() {
    let sandbox = sandbox();
    let query = format!("section = \"{}\" and sise > 1 or section = \"{0}\"", "x".repeat(50));
    for columns in [60, 80, 200] {
        let text = on_terminal(sandbox.command(&["count", "p.dv", "--where", &query]), columns);
        let lines = assert_fits(&text, columns, &query);
        let caret = lines.iter().position(|line| line.trim_start() == "^").unwrap();
        let above: String = lines[caret - 1].chars().skip(lines[caret].len() - 1).collect();
        assert!(above.starts_with("sise > 1"), "{text}");
    }
}

/// Ten thousand rows, so many times, compressed.
fn many_rows(times: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"a,b,c,d,e\n").unwrap();
    let rows = b"1,abcdef,2013-01-01T00:00:00Z,0.25,x|y|z\n".repeat(10_000);
    (0..times).for_each(|_| encoder.write_all(&rows).unwrap());
    encoder.finish().unwrap()
}

/// Progress begins after a second, so a fast machine needs more rows.
#[test]
fn a_long_build_shows_its_progress_on_a_terminal_alone() {
    let args = ["build", "a.csv.gz", "-o", "a.dv"];
    let is_progress =
        |line: &&String| [" %  ETA ", "B/s  ", " documents"].iter().all(|part| line.contains(part));
    let has_progress = |times: usize| {
        let sandbox = Sandbox::with("a.csv.gz", many_rows(times));
        let lines = assert_fits(&on_terminal(sandbox.command(&args), 80), 80, "build");
        let is_shown = lines.iter().filter(is_progress).count() > 2;
        assert!(!is_shown || sandbox.dv(&args).err.is_empty());
        is_shown
    };
    assert!([30, 120, 500, 4000].into_iter().any(has_progress));
}

#[test]
fn a_terminal_gets_no_segment() {
    let sandbox = sandbox();
    for command in [&["build", "p.ndjson.gz", "-o", "-"][..], &["merge", "p.dv", "-o", "-"]] {
        let expected = "dv: a segment cannot be printed on a terminal\n    hint: name a file with -o\n";
        assert_eq!(without_escapes(&on_terminal(sandbox.command(command), 80)), expected);
    }
}

/// The terminal, the environment and `--color` decide whether messages are coloured.
#[test]
fn messages_have_the_colours_of_clap() {
    let sandbox = sandbox();
    let (own, claps) = ("\x1b[1m\x1b[31mdv:\x1b[0m ", "\x1b[1m\x1b[31merror:\x1b[0m ");
    let hint = "\n    \x1b[32mhint:\x1b[0m did you mean \"size\"?\n";
    let command = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = sandbox.command(args);
        command.envs(env.iter().copied());
        command
    };
    let misspelled: &[&str] = &["facet", "p.dv", "sise"];
    let text = on_terminal(command(misspelled, &[]), 80);
    assert!(text.starts_with(own) && text.ends_with(hint), "{text:?}");
    assert!(on_terminal(command(&["biuld"], &[]), 80).starts_with(claps));
    assert!(on_terminal(command(&["facet", "wide.dv", "text"], &[]), 80).contains("\n\x1b[1mnote:\x1b[0m "));

    let has_escapes = |text: &str| text.contains('\x1b');
    for args in [misspelled, &["biuld"], &["--help"]] {
        let no_color = command(args, &[("NO_COLOR", "1")]);
        let never = command(&[args, &["--color", "never"]].concat(), &[]);
        let stronger = command(&[args, &["--color=never"]].concat(), &[("CLICOLOR_FORCE", "1")]);
        for command in [no_color, never, stronger] {
            let text = on_terminal(command, 80);
            assert!(!has_escapes(&text), "{args:?} {text:?}");
        }
    }
    let piped = |more: &[&str], env: &[(&str, &str)]| {
        let run = |args: &[&str]| Run::new(command(&[args, more].concat(), env).output().unwrap());
        [run(misspelled).err, run(&["biuld"]).err, run(&["--help"]).out].map(|text| has_escapes(&text))
    };
    assert_eq!(piped(&[], &[]), [false; 3]);
    assert_eq!(piped(&["--color", "always"], &[("NO_COLOR", "1")]), [true; 3]);
    assert_eq!(piped(&[], &[("CLICOLOR_FORCE", "1")]), [true; 3]);
    // Data has no colours.
    assert!(!has_escapes(&sandbox.ok(&["facet", "p.dv", "section", "--color", "always"])));
    let run = sandbox.dv(&["info", "p.dv", "--color", "pink"]);
    assert!(run.code == 2 && run.err.contains("possible values: auto, always, never"), "{run:?}");
}

/// In no table, whatever its columns: a number that is cut looks like another one.
#[test]
fn numbers_are_not_cut() {
    let numbers = ["3120.90", "-0.18", "20.0912345678901", "206.93", "-9007199254740993"];
    let rows: String =
        numbers.iter().map(|number| format!("{number},{number},{number}|7,text of some words\n")).collect();
    let sandbox = Sandbox::with("p.csv", format!("unit_price,code,many,text\n{rows}"));
    let column = |name: &str, ty: &str| format!("[columns.{name}]\ntype = \"{ty}\"\n");
    let many = column("many", "f64[]") + "separator = \"|\"\n";
    sandbox.write("p.toml", column("unit_price", "f64") + &column("code", "string") + &many);
    sandbox.ok(&["build", "p.csv", "-o", "p.dv", "-q", "--schema", "p.toml"]);
    let commands = [
        &["stats", "p.dv", "--percentiles", "5,25,50,75,95"][..],
        &["stats", "p.dv", "unit_price", "--spread"],
        &["info", "p.dv"],
        &["head", "p.dv"],
        &["group", "p.dv", "unit_price,code,text", "--min", "unit_price", "--sum", "unit_price"],
        &["facet", "p.dv", "unit_price", "code", "many"],
        &["histogram", "p.dv", "unit_price", "--step", "100000000000000", "--min", "unit_price"],
    ];
    for (turn, command) in commands.into_iter().enumerate() {
        let whole = sandbox
            .dv(&[command, if command[0] == "head" { &["--format", "table"] } else { &[] }].concat())
            .out;
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')))
                .map(str::to_owned)
                .collect()
        };
        let known = words(&whole);
        // A third of the widths, others for each command; all in the full sweep.
        for columns in (40..100).skip(cases(turn % 3, 0)).step_by(cases(3, 1)) {
            let text = without_escapes(&on_terminal(sandbox.command(command), columns));
            let is_number =
                |word: &&String| word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
            for word in words(&text).iter().filter(is_number) {
                assert!(known.contains(word), "{command:?} {columns}: {word}\n{text}");
            }
        }
    }
}

/// Names of files and columns, values and arguments, in any output.
#[test]
fn a_terminal_acts_on_no_character_of_a_text() {
    let evil = "e\x1b]0;x\x07\x1b[2J\r\u{9b}2J\u{202e}l";
    let sandbox = Sandbox::new();
    sandbox.write("e.ndjson", serde_json::json!({ evil: evil, "n": 1, "id": evil }).to_string() + "\n");
    let [segment, store] = [format!("{evil}.dv"), format!("{evil}.st")];
    sandbox.ok(&["build", "e.ndjson", "-o", &segment, "-q", "--id-field", "id"]);
    sandbox.ok(&["store", "create", &store, "--id-field", "id"]);
    sandbox.ok(&["put", &store, "e.ndjson", "-q"]);
    sandbox.write("e.csv", format!("a{evil},id\n1,2\nx{evil},3\n"));
    let condition = format!("n > \"{evil}\"");
    for command in [
        &["check", &segment, &store][..],
        &["info", &segment],
        &["info", &store],
        &["cat", &segment],
        &["cat", &store, "--format", "csv"],
        &["export", &segment, "--format", "tsv"],
        &["export", &segment, "--format", "tsv", "-o", "/dev/stderr"],
        &["head", &segment],
        &["stats", &segment],
        &["facet", &segment, evil],
        &["group", &segment, evil],
        &["terms", &store, evil],
        &["terms", &store, evil, "--json"],
        &["terms", &store, evil, "--format", "csv"],
        &["check", &segment, "--format", "csv"],
        &["lookup", &segment, evil, "no", "--doc"],
        &["lookup", &segment, &format!("no{evil}")],
        &["count", &segment, "--where", &condition],
        &["stats", &segment, "nosuch"],
        &["schema", "e.ndjson"],
        &["build", "e.ndjson", "-o", &format!("{evil}2.dv")],
        &["build", "e.csv", "-o", "y.dv", "--sample", "1"],
        &["put", &store, "e.csv", "--sample", "1"],
        &["build", &format!("{evil}.csv"), "-o", "y.dv"],
        &["merge", &segment, &segment, "-o", "y.dv"],
        &["rm", &store, evil],
        &["put", &segment, "e.ndjson"],
        &[evil],
        &["check", &format!("--{evil}")],
    ] {
        let mut command = sandbox.command(command);
        command.env("NO_COLOR", "1");
        let shown = format!("{command:?}");
        let text = on_terminal(command, 80);
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!text.contains(acts) && !text.is_empty(), "{shown}: {text:?}");
    }
    // A pipe gets the bytes.
    assert_eq!(
        sandbox.ok(&["export", &segment, "--columns", evil, "--format", "tsv"]),
        format!("\"{evil}\"\n\"{evil}\"\n")
    );
}

/// A user whose documents change nothing learns it, also with -q.
#[test]
fn stale_documents_are_told_on_a_terminal() {
    let sandbox = Sandbox::with("a.csv", "id,at\na,5\nb,5\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--version-field", "at"]);
    let put = |more: &[&str]| on_terminal(sandbox.command(&[&["put", "st", "a.csv"], more].concat()), 200);
    assert_eq!(put(&["-q"]), "");
    for more in [&["-q"][..], &[], &["--json"]] {
        let received = without_escapes(&put(more));
        assert!(received.contains("2 documents are stale, document 1 of the input first"), "{received}");
    }
    sandbox.write("a.csv", "id,at\nc,1\na,4\nb,5\n");
    let expected = "2 documents are stale, document 2 of the input first: the store has the same or a higher version of the id";
    let received = without_escapes(&put(&["-q"]));
    assert!(received.contains(expected), "{received}");
}

#[cfg(feature = "man")]
#[test]
fn a_terminal_shows_a_page_with_man_or_its_text() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = sandbox();
    let shown = |path: std::path::PathBuf| {
        let mut command = sandbox.command(&["man", "build"]);
        command.env("PATH", path);
        on_terminal(command, 80)
    };
    assert!(shown(sandbox.path("bin")).contains("Usage: dv build"));
    std::fs::create_dir(sandbox.path("bin")).unwrap();
    sandbox.write("bin/man", "#!/bin/sh\nread first\necho \"man $1 $2: $first\"\n");
    std::fs::set_permissions(sandbox.path("bin/man"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(shown(sandbox.path("bin")).contains("man -l -: "));
}
