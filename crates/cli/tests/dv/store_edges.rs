//! Stores without documents, and changes whose files or reports cannot be written.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Run, Sandbox};

/// Commands that read columns of a store with `a` (numbers), `b` (a dictionary) and `t` (sets), and what they print without
/// documents; `None` if any table.
const READS: [(&str, Option<&str>); 16] = [
    ("count|st|--where|a = 1", Some("0\n")),
    ("count|st|--where|b = \"x\" or t = \"y\"", Some("0\n")),
    ("facet|st|b", None),
    ("facet|st|t", None),
    ("histogram|st|a|--step|1", None),
    ("group|st|b", None),
    ("sort|st|--by|a", Some("")),
    ("sort|st|--by|b,-a", Some("")),
    ("terms|st|b", Some("")),
    ("terms|st|--id", Some("")),
    ("stats|st|a", None),
    ("stats|st", None),
    ("export|st|--columns|a,t", Some("")),
    ("export|st|--format|csv|--columns|b,a", Some("b,a\n")),
    ("head|st|--columns|b", Some("")),
    ("cat|st|--columns|t", Some("")),
];

/// Whether there are columns does not depend on whether there are documents.
#[test]
fn a_store_without_documents_has_its_columns() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "a=i64,b=string,t=string[]"]);
    let read = |what: &str| {
        for (command, expected) in READS {
            let args: Vec<&str> = command.split('|').collect();
            let run = sandbox.dv(&args);
            assert!(run.code == 0 && run.err.is_empty(), "{what}: {command}: {run:?}");
            assert!(expected.is_none_or(|expected| run.out == expected), "{what}: {command}: {run:?}");
        }
        let run = sandbox.dv(&["facet", "st", "c"]);
        assert!(run.code == 1 && run.err.contains("st: no column \"c\""), "{what}: {run:?}");
        let run = sandbox.dv(&["lookup", "st", "x"]);
        assert!(run.code == 1 && run.err.contains("\"x\""), "{what}: {run:?}");
        let run = sandbox.dv(&["export", "st", "--format", "csv"]);
        assert_eq!((run.code, &*run.out), (0, "a,b,t,id\n"), "{what}");
    };
    read("new");
    sandbox.write("e.csv", "id,a,b\nx,1,y\n");
    sandbox.ok(&["put", "st", "e.csv", "-q"]);
    // A column without a value in any segment is there, too.
    assert_eq!(sandbox.ok(&["count", "st", "--where", "t exists"]), "0\n");
    assert_eq!(sandbox.dv(&["facet", "st", "t"]).code, 0);
    assert_eq!(sandbox.ok(&["export", "st", "--format", "csv"]), "a,b,t,id\n1,y,,x\n");
    sandbox.ok(&["rm", "st", "x", "-q"]);
    read("emptied");
    // Beside a file and another store.
    sandbox.ok(&["build", "e.csv", "-o", "e.dv", "-q"]);
    assert_eq!(sandbox.ok(&["count", "st", "e.dv", "--where", "a = 1"]), "1\n");
    sandbox.ok(&["store", "create", "other", "--id-field", "id", "--type", "a=i64"]);
    assert_eq!(sandbox.ok(&["count", "other", "st", "--where", "a = 1 or t exists"]), "0\n");
    sandbox.ok(&["merge", "st", "e.dv", "-o", "all.dv", "-q"]);
    assert_eq!(sandbox.ok(&["count", "all.dv"]), "1\n");
}

/// Runs a command whose standard output is a full disk.
fn to_full_disk(sandbox: &Sandbox, args: &[&str]) -> Run {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = sandbox.command(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
    Run::new(output)
}

/// A change that took place says so, though its report is lost.
#[test]
#[cfg(target_os = "linux")]
fn a_change_whose_report_is_lost_says_that_it_took_place() {
    let sandbox = Sandbox::with("a.csv", "id,n\nx,1\ny,2\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let commands: [(&[&str], &str); 8] = [
        (&["put", "st", "a.csv"], "st has what was asked for, in commit 2"),
        (&["put", "st", "a.csv", "--json"], "in commit 3"),
        (&["set", "st", "x", "n=2"], "in commit 4"),
        (&["rm", "st", "y"], "in commit 5"),
        (&["merge", "st", "--to", "1", "--json"], "in commit 6"),
        (&["recover", "st", "--to", "5"], "st went back, in commit 7"),
        (&["build", "a.csv", "-o", "a.dv"], "a.dv is complete"),
        (&["merge", "a.dv", "-o", "b.dv"], "b.dv is complete"),
    ];
    for (args, expected) in commands {
        let run = to_full_disk(&sandbox, args);
        let message = "cannot write the output: No space left on device (os error 28); but ";
        assert!(
            run.code == 3 && run.err.contains(message) && run.err.contains(expected),
            "{args:?}: {run:?}"
        );
    }
    assert!(sandbox.exists("a.dv") && sandbox.exists("b.dv"));
    // Commands that only read report no change.
    let run = to_full_disk(&sandbox, &["cat", "st"]);
    assert!(run.code == 3 && !run.err.contains("but "), "{run:?}");
    let run = to_full_disk(&sandbox, &["export", "st"]);
    assert!(run.code == 3 && !run.err.contains("but "), "{run:?}");
}

/// A file that may not grow further is an error, and no signal ends the process.
#[test]
#[cfg(unix)]
fn the_limit_of_a_files_size_is_an_error() {
    let sandbox = Sandbox::new();
    let rows: String = (0..20_000).map(|n| format!("k{n},{}\n", n * 7919 % 100_003)).collect();
    sandbox.write("a.csv", format!("id,n\n{rows}"));
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let limited = |args: &[&str]| {
        let command = sandbox.command(args);
        let mut sh = Command::new("sh");
        sh.args(["-c", "ulimit -f 8; exec \"$0\" \"$@\""]).arg(command.get_program()).args(args);
        Run::new(sh.current_dir(sandbox.path("")).output().unwrap())
    };
    for args in [&["put", "st", "a.csv"][..], &["build", "a.csv", "-o", "a.dv"]] {
        let run = limited(args);
        assert!(run.code == 3 && run.err.contains("File too large"), "{args:?}: {run:?}");
    }
    let check: Value = serde_json::from_str(&sandbox.ok(&["check", "st", "--json"])).unwrap();
    assert_eq!((&check["clean"], &check["documents"]), (&true.into(), &0.into()), "{check}");
    sandbox.ok(&["put", "st", "a.csv", "-q"]);
    let run = limited(&["export", "st", "--format", "csv", "-o", "out.csv"]);
    assert!(run.code == 3 && !sandbox.exists("out.csv"), "{run:?}");
    let run = limited(&["rm", "st", "--where", "n > 7"]);
    assert!([0, 3].contains(&run.code), "{run:?}");
    assert_eq!(sandbox.dv(&["check", "st"]).code, 0);
}

/// The first decimal of a stream says how the column becomes wider, and then it does.
#[test]
fn a_column_of_a_store_becomes_wider() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "my st", "--id-field", "k"]);
    let put = |rows: &str, more: &[&str]| {
        sandbox.dv_with(&[&["put", "my st", "-", "--input-format", "csv"], more].concat(), rows.as_bytes())
    };
    assert_eq!(put("k,price,tag\na,10,x\nb,,y\nd,9007199254740992,\n", &["-q"]).code, 0);
    let command = "`dv store alter 'my st' --type price=f64`";
    for (rows, more) in [
        ("k,price\nb,9.99\n", &[][..]),
        ("k,price\nb,9.99\n", &["--partial"]),
        ("k,price\nb,9.99\n", &["--type", "price=f64"]),
        ("k,price\nb,1\nc,9.99\n", &["--sample", "1"]),
    ] {
        let refused = put(rows, more);
        assert!(refused.code == 1 && refused.err.contains(command), "{more:?}: {refused:?}");
    }
    let refused = sandbox.dv(&["set", "my st", "a", "price=9.99"]);
    assert!(refused.code == 2 && refused.err.contains(command), "{refused:?}");
    let refused = put("k,price\nb,a lot\n", &[]);
    assert!(refused.code == 1 && !refused.err.contains("alter"), "{refused:?}");
    let csv = ["export", "my st", "--format", "csv", "--columns", "k,price"];
    let before = sandbox.ok(&csv);
    let altered = sandbox.ok(&["store", "alter", "my st", "--type", "price=f64,tag=string[]"]);
    assert_eq!(altered, "my st: commit 3 has 3 documents in 1 segment\n");
    // Whole numbers are printed as they were.
    assert_eq!(sandbox.ok(&csv), before);
    assert_eq!(sandbox.ok(&["count", "my st", "--commit", "2", "--where", "price = 10"]), "1\n");
    assert_eq!(put("k,price\nb,9.99\nc,11\n", &["-q"]).code, 0);
    sandbox.ok(&["set", "my st", "b", "tag+=z", "-q"]);
    assert_eq!(
        sandbox.ok(&["count", "my st", "--where", "price = 9.99 or price = 11 or tag = \"z\""]),
        "2\n"
    );
    assert_eq!(sandbox.dv(&["check", "my st"]).code, 0);
    for (types, code, expected) in [
        ("price=i64", 1, "expected a wider kind or type than numeric of type f64"),
        ("nothing=f64", 1, "expected a field of the store"),
        ("k=string[]", 1, "expected a wider kind or type"),
        ("price=f32", 2, "price"),
    ] {
        let refused = sandbox.dv(&["store", "alter", "my st", "--type", types]);
        assert!(refused.code == code && refused.err.contains(expected), "{types}: {refused:?}");
    }
    // A number that a double does not have.
    sandbox.ok(&["store", "create", "big"]);
    sandbox.write("big.csv", "n\n9007199254740993\n");
    sandbox.ok(&["put", "big", "big.csv", "-q"]);
    let refused = sandbox.dv(&["store", "alter", "big", "--type", "n=f64"]);
    assert!(refused.code == 1 && refused.err.contains("exact as f64, found 9007199254740993"), "{refused:?}");
}

/// The first decimal of a pipe whose first batch had whole numbers only, which is committed by then.
#[test]
fn a_stream_says_how_its_column_becomes_wider() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "k"]);
    let mut child = sandbox
        .command(&["put", "st", "-", "--input-format", "csv", "--commit-every", "50ms"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"k,price\na,10\n").unwrap();
    stdin.flush().unwrap();
    while sandbox.ok(&["count", "st"]) != "1\n" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    stdin.write_all(b"b,9.99\nc,11\n").unwrap();
    drop(stdin);
    let run = Run::new(child.wait_with_output().unwrap());
    assert!(run.code == 1 && run.err.contains("`dv store alter st --type price=f64`"), "{run:?}");
    sandbox.ok(&["store", "alter", "st", "--type", "price=f64"]);
    sandbox.write("rest.csv", "k,price\nb,9.99\nc,11\n");
    sandbox.ok(&["put", "st", "rest.csv", "-q"]);
    assert_eq!(sandbox.ok(&["export", "st", "--format", "csv"]), "k,price\na,10\nb,9.99\nc,11\n");
    // In JSON, a point tells that the column is of doubles.
    assert!(sandbox.ok(&["cat", "st"]).starts_with("{\"k\":\"a\",\"price\":10.0}\n"));
}

/// Prints the most memory that a command had, in kibibytes.
const MAX_MEMORY: &str = "import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";

#[test]
#[cfg(target_os = "linux")]
fn a_large_value_takes_three_times_its_memory_at_most() {
    const MIB: usize = 100;
    let text = "abcdefghij012345".repeat(MIB << 16);
    let sandbox = Sandbox::with("v.csv", format!("id,v\na,{text}\n"));
    sandbox.write("v.ndjson", format!("{{\"id\":\"b\",\"v\":\"{text}\"}}\n"));
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "v=string:binary"]);
    for name in ["v.csv", "v.ndjson"] {
        let put = sandbox.command(&["put", "st", name, "-q"]);
        let mut python = std::process::Command::new("python3");
        python.args(["-c", MAX_MEMORY]).arg(put.get_program()).args(put.get_args());
        let Ok(run) = python.current_dir(sandbox.path("")).output() else {
            return eprintln!("SKIPPED: no python3 to measure memory with");
        };
        assert!(run.status.success(), "{run:?}");
        let kib: usize = String::from_utf8(run.stdout).unwrap().trim().parse().unwrap();
        assert!(kib <= 3 * (MIB << 10), "{name}: {} MiB", kib >> 10);
    }
    assert_eq!(sandbox.ok(&["count", "st"]), "2\n");
}
