//! `dv put`: batches, pipes that stay open, versions, durability, and what stays after an error.

use crate::sandbox::{Run, Sandbox, json, words};

/// A store `st` with a column `id` of ids.
fn store(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&[&["store", "create", "st", "--id-field", "id"], more].concat());
    sandbox
}

/// Puts rows from a pipe.
fn put(sandbox: &Sandbox, format: &str, rows: &str, more: &[&str]) -> Run {
    sandbox.dv_with(&[&["put", "st", "-", "--input-format", format], more].concat(), rows.as_bytes())
}

fn outcomes(run: &Run) -> [u64; 4] {
    let report = json(&run.out);
    ["put", "added", "replaced", "stale"].map(|key| report[key].as_u64().unwrap())
}

#[test]
fn the_highest_version_wins_and_outcomes_are_counted() {
    let sandbox = store(&["--version-field", "at"]);
    let info = sandbox.ok(&["info", "st"]);
    assert!(info.contains("ids in id\nversions in at\n"), "{info}");
    assert_eq!(json(&sandbox.ok(&["info", "st", "--json"]))["version_field"], "at");
    for batch in ["1", "3", "1000"] {
        let sandbox = store(&["--type", "at=i64", "--version-field", "at"]);
        let rows = "id,at,n\na,5,1\nb,5,2\na,4,3\nb,6,4\na,5,5\n";
        let run = put(&sandbox, "csv", rows, &["--json", "--batch", batch]);
        assert_eq!((run.code, outcomes(&run)), (0, [3, 2, 1, 2]), "{run:?}");
        // An earlier version, in another run and from a file.
        sandbox.write("late.csv", "id,at,n\nb,1,6\nc,1,7\n");
        let run = sandbox.dv(&["put", "st", "late.csv"]);
        assert!(run.out.starts_with("st: 1 document put, 1 added, 0 replaced, 1 stale; "), "{run:?}");
        let cat = "{\"at\":5,\"id\":\"a\",\"n\":1}\n{\"at\":6,\"id\":\"b\",\"n\":4}\n{\"at\":1,\"id\":\"c\",\"n\":7}\n";
        assert_eq!(sandbox.ok(&["cat", "st"]), cat);
    }
    // Without a version, a document gets the time.
    put(&sandbox, "csv", "id,at\na,7\n", &["-q"]);
    put(&sandbox, "csv", "id,n\na,8\n", &["-q"]);
    assert_eq!(sandbox.ok(&["count", "st", "--where", "at > 1e15 and n = 8"]), "1\n");
}

/// A document that changes nothing is counted, and a version at the top does not make later ones stale.
#[test]
fn stale_documents_are_counted() {
    let sandbox = store(&["--version-field", "at"]);
    put(&sandbox, "csv", "id,at\na,5\nb,5\n", &["-q"]);
    let run = put(&sandbox, "csv", "id,at\nc,1\na,4\nb,5\n", &["--json"]);
    assert!(run.code == 0 && run.out.contains("\"stale\": 2,"), "{run:?}");
    // The others are put.
    assert_eq!(sandbox.ok(&["count", "st"]), "3\n");
    // No document is put after which none without a version could be.
    let top = "id,at\ne,18446744073709551615\n";
    assert_eq!(put(&sandbox, "csv", "id\nf\n", &["-q"]).code, 0);
    let refused = put(&sandbox, "csv", top, &[]);
    assert!(
        refused.code == 1 && refused.err.contains("expected a version below 9223372036854775808"),
        "{refused:?}"
    );
    let sandbox = store(&["--version-field", "at"]);
    assert_eq!(put(&sandbox, "csv", top, &["-q"]).code, 0);
    let refused = put(&sandbox, "csv", "id\nf\n", &[]);
    assert!(refused.code == 1 && refused.err.contains("expected a version, found none"), "{refused:?}");
}

#[test]
fn versions_are_refused_with_what_to_do() {
    let sandbox = store(&["--version-field", "at"]);
    let fails = |args: &[&str], code: i32, expected: &str| {
        let run = sandbox.dv(args);
        assert_eq!((run.code, run.err.contains(expected)), (code, true), "{args:?}: {}", run.err);
    };
    fails(&["store", "create", "x", "--version-field", "at"], 2, "--id-field");
    fails(
        &["store", "create", "x", "--id-field", "id", "--version-field", "at", "--type", "at=f64"],
        1,
        "column \"at\": expected a numeric field of type i64 or u64",
    );
    sandbox.ok(&words("store create signed --id-field id --version-field at --type at=i64"));
    sandbox.write("below.csv", "id,at\na,1\nb,-1\n");
    fails(&["put", "signed", "below.csv"], 1, "documents 1 to 2 of the input: operation 1 of the batch");
    assert_eq!(sandbox.ok(&["count", "signed"]), "0\n");
}

/// Columns appear in later batches, and later values are written in other ways: the store is the same as of one batch.
#[test]
fn columns_and_formats_appear_in_any_batch() {
    let rows = [
        r#"{"id":"a","at":"2013-01-01 06:00:00Z","price":1.50,"tags":["x"]}"#,
        r#"{"id":"b","at":"2013-01-01 06:00:01Z","late":7,"tags":[]}"#,
        r#"{"id":"c","price":2.25,"late":null,"day":"2013-01-01"}"#,
        r#"{"id":"d","at":"2013-01-01 06:00:00.125Z","price":3,"host":{"name":"n"}}"#,
        r#"{"id":"a","at":"2013-01-01T06:00:00Z","price":0.5,"late":1}"#,
    ]
    .join("\n");
    let result = |more: &[&str]| {
        let sandbox = store(&[]);
        let run = put(&sandbox, "ndjson", &rows, &[&["--json"], more].concat());
        assert_eq!((run.code, outcomes(&run)), (0, [5, 4, 1, 0]), "{more:?}: {run:?}");
        let info = json(&sandbox.ok(&["info", "st", "--json"]))["columns"].clone();
        let names: Vec<String> = info
            .as_array()
            .unwrap()
            .iter()
            .map(|column| format!("{} {}", column["name"], column["kind"]))
            .collect();
        (sandbox.ok(&["cat", "st"]), sandbox.ok(&["export", "st", "--format", "csv"]), names)
    };
    let expected = result(&[]);
    assert!(expected.0.contains("06:00:00.125"), "{}", expected.0);
    for more in [
        &["--batch", "1"][..],
        &["--batch", "2"],
        &["--batch", "1", "--durability", "batch"],
        &["--batch", "3", "--durability", "10ms"],
    ] {
        assert_eq!(result(more), expected, "{more:?}");
    }
}

#[test]
fn a_format_that_a_later_put_does_not_have_is_given_up() {
    let sandbox = store(&[]);
    put(&sandbox, "csv", "id,at\na,2013-01-01 06:00:00+02:00\n", &["-q"]);
    assert!(sandbox.ok(&["cat", "st"]).contains("2013-01-01 06:00:00+02:00"));
    put(&sandbox, "csv", "id,at\nb,2013-01-01T06:00:00.125Z\n", &["-q"]);
    sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
    let cat = "{\"id\":\"a\",\"at\":\"2013-01-01T04:00:00Z\"}\n{\"id\":\"b\",\"at\":\"2013-01-01T06:00:00.125Z\"}\n";
    assert_eq!(sandbox.ok(&["cat", "st"]), cat);
}

#[test]
fn an_error_says_what_was_put_before() {
    let rows: String = (0..25).map(|n| format!("x{n},{n}\n")).collect();
    let rows = format!("id,n\n{rows}bad,row,here\n");
    let bad = |more: &[&str]| {
        let sandbox = store(&[]);
        sandbox.write("rows.csv", &rows);
        let run = sandbox.dv(&[&["put", "st", "rows.csv", "--batch", "10", "--sample", "5"], more].concat());
        assert!(run.code == 1 && run.err.contains("rows.csv:27:9: expected 2 cells, found 3"), "{run:?}");
        (run.err.contains("; 20 documents were put before\n    hint: "), sandbox.ok(&["count", "st"]))
    };
    assert_eq!(bad(&[]), (false, "0\n".to_owned()));
    assert_eq!(bad(&["--durability", "batch"]), (true, "20\n".to_owned()));
    assert_eq!(bad(&["--durability", "1h"]), (true, "20\n".to_owned()));
}

#[test]
fn a_document_without_an_id_is_named_by_its_place() {
    let fails = |format: &str, rows: &str, place: &str| {
        let sandbox = store(&[]);
        let run = put(&sandbox, format, rows, &["--batch", "100", "--durability", "batch"]);
        let expected = format!(
            "dv: <stdin>:{place}: column \"id\": expected an id, found none\n    \
             hint: a store with ids has no documents without one; or skip bad rows with --skip-bad\n"
        );
        assert_eq!((run.code, run.err), (1, expected));
        assert_eq!(sandbox.ok(&["count", "st"]), "0\n", "nothing of its batch was put");
        let run = put(&sandbox, format, rows, &["--json", "--skip-bad"]);
        let report = json(&run.out);
        assert_eq!((&report["put"], &report["skipped_rows"]), (&1.into(), &1.into()), "{run:?}");
    };
    fails("csv", "n,id\n1,a\n2,\n", "3:3");
    fails("csv", "n,id\n1,a\n2,NA\n", "3:3");
    fails("ndjson", "{\"id\":\"a\"}\n\n{\"n\":1}\n", "3:1");
    fails("ndjson", "{\"id\":\"a\"}\n{\"n\":1,\"id\":null}\n", "2:13");
}

#[test]
fn progress_names_the_documents_that_are_durable() {
    let sandbox = store(&[]);
    let rows: String = (0..25).map(|n| format!("x{n},{n}\n")).collect();
    let rows = format!("id,n\n1,2,3\n{rows}");
    let progress = |more: &[&str]| {
        let args = [&["--batch", "10", "--skip-bad", "--progress", "json", "--json"], more].concat();
        let run = put(&sandbox, "csv", &rows, &args);
        assert_eq!(run.code, 0, "{run:?}");
        run.err
    };
    let line = |documents: u64| format!("{{\"documents\":{documents},\"skipped_rows\":1}}\n");
    assert_eq!(progress(&["--durability", "batch"]), line(10) + &line(20) + &line(25));
    assert_eq!(progress(&["--commit-every", "end"]), line(25));
    let run = put(&sandbox, "csv", &rows, &["--progress", "json", "-q"]);
    assert_eq!(run.code, 2);
}

/// Files that are read column by column: their batches have as many documents at most, and each has an id.
#[cfg(feature = "parquet")]
#[test]
fn columns_are_put_in_batches() {
    let sandbox = Sandbox::new();
    let rows: String = (0..100).map(|n| format!("x{n},{n}\n")).collect();
    sandbox.write("rows.csv", format!("id,n\n{rows}"));
    sandbox.write("lacking.csv", format!("id,n\n{rows},7\ny,8\n"));
    for name in ["rows", "lacking"] {
        let (from, to) = (format!("{name}.csv"), format!("{name}.dv"));
        sandbox.ok(&["build", &from, "-o", &to, "-q", "--type", "n=i64"]);
        for format in ["parquet", "arrow"] {
            let file = format!("{name}.{format}");
            sandbox.ok(&["export", &to, "--format", format, "-o", &file]);
        }
    }
    let run_of = |name: &str, more: &[&str]| {
        sandbox.ok(&["store", "create", name, "--id-field", "id"]);
        let options = ["--batch", "10", "--durability", "batch", "--progress", "json", "--json"];
        let file = format!("lacking.{name}");
        let args = [&["put", name, file.as_str()], &options[..], more].concat();
        sandbox.dv(&args)
    };
    for name in ["parquet", "arrow"] {
        let run = run_of(name, &["--skip-bad"]);
        assert_eq!((run.code, outcomes(&run)), (0, [101, 101, 0, 0]), "{run:?}");
        let durable: Vec<u64> =
            run.err.lines().map(|line| json(line)["documents"].as_u64().unwrap()).collect();
        assert!(durable.windows(2).all(|pair| pair[1] - pair[0] <= 10), "{durable:?}");
        assert_eq!(
            sandbox.ok(&["cat", name]),
            format!("{}{{\"id\":\"y\",\"n\":8}}\n", sandbox.ok(&["cat", "rows.dv"]))
        );
        std::fs::remove_dir_all(sandbox.path(name)).unwrap();
        let run = run_of(name, &[]);
        let place =
            format!("dv: lacking.{name}: row 100 (from 0): column \"id\": expected an id, found none; ");
        assert!(run.code == 1 && run.err.contains(&place), "{run:?}");
    }
    // The stream format, from a pipe.
    let stream = sandbox.command(&["export", "rows.dv", "--format", "arrow"]).output().unwrap().stdout;
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let run = sandbox.dv_with(&["put", "st", "-", "--json"], &stream);
    assert_eq!((run.code, outcomes(&run)), (0, [100, 100, 0, 0]), "{run:?}");
}

#[cfg(unix)]
mod pipes {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Child, ChildStdin, Command, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    /// Long enough for any machine.
    const PATIENCE: Duration = Duration::from_secs(120);

    fn start(sandbox: &Sandbox, more: &[&str]) -> (Child, ChildStdin) {
        let mut command = sandbox.command(&[&["put", "st", "-", "--json"], more].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        (child, stdin)
    }

    fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for(sandbox: &Sandbox, docs: u64) {
        wait_until(&format!("{docs} documents"), || sandbox.ok(&["count", "st"]) == format!("{docs}\n"));
    }

    /// Sends a signal, and returns what the program printed while its input was open.
    fn end(child: Child, signal: &str, stdin: ChildStdin) -> Run {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        Run::new(output)
    }

    #[test]
    fn an_open_pipe_is_committed_while_it_pauses() {
        for (format, first, cut, rest) in [
            ("ndjson", "{\"id\":\"a\"}\n", "{\"id\":\"b\"}\n{\"id\":\"c\",", "\"n\":1}\n{\"id\":\"d\"}\n"),
            ("csv", "id,n\na,0\n", "b,\nc,\"\n", "1\"\nd,\n"),
        ] {
            let sandbox = store(&["--type", "n=string"]);
            let (child, mut stdin) = start(&sandbox, &["--input-format", format]);
            let mut send = |text: &str| {
                stdin.write_all(text.as_bytes()).unwrap();
                stdin.flush().unwrap();
            };
            send(first);
            wait_for(&sandbox, 1);
            // A pause within a row.
            send(cut);
            wait_for(&sandbox, 2);
            send(&rest.replace(":1}", ":\"\\n1\"}"));
            wait_for(&sandbox, 4);
            let run = end(child, "-INT", stdin);
            assert_eq!((run.code, outcomes(&run)), (130, [4, 4, 0, 0]), "{run:?}");
            let cat = sandbox.ok(&["cat", "st"]);
            assert!(cat.contains("\"c\"") && cat.contains("\"\\n1\""), "{cat}");
        }
    }

    #[test]
    fn segments_of_an_open_pipe_are_merged() {
        let sandbox = store(&[]);
        let (child, mut stdin) =
            start(&sandbox, &["--input-format", "ndjson", "--batch", "1", "--commit-every", "1ms"]);
        let mut put = 0;
        wait_until("merged segments", || {
            put += 1;
            writeln!(stdin, "{{\"id\":\"{put}\"}}").unwrap();
            let commits = json(&sandbox.ok(&["commits", "st", "--json"]));
            let last = commits.as_array().unwrap().last().unwrap();
            let [number, segments] = ["commit", "segments"].map(|key| last[key].as_u64().unwrap());
            number > 40 && segments < 20
        });
        let run = end(child, "-INT", stdin);
        assert_eq!((run.code, outcomes(&run)), (130, [put, put, 0, 0]), "{run:?}");
        assert_eq!(sandbox.ok(&["count", "st"]), format!("{put}\n"));
    }

    #[test]
    fn a_signal_commits_what_was_read() {
        let sandbox = store(&[]);
        // The first line tells the format, though fewer bytes come than are looked at.
        let (child, mut stdin) = start(&sandbox, &["--commit-every", "1h", "--progress", "json"]);
        stdin.write_all(b"id,n\na,1\nb,2\n").unwrap();
        // Time to read them. Should it not suffice, none is put.
        std::thread::sleep(Duration::from_millis(2500));
        let run = end(child, "-TERM", stdin);
        assert_eq!(run.code, 143, "{run:?}");
        let put = if run.out.is_empty() { 0 } else { outcomes(&run)[0] };
        assert_eq!(sandbox.ok(&["count", "st"]), format!("{put}\n"));
        assert!(put == 0 || run.err == format!("{{\"documents\":{put},\"skipped_rows\":0}}\n"), "{run:?}");
    }

    #[test]
    fn a_signal_before_the_first_row_ends_at_once() {
        for more in [&[][..], &["--input-format", "csv"], &["--input-format", "ndjson"]] {
            let sandbox = store(&[]);
            let (child, stdin) = start(&sandbox, more);
            // It watches signals before it locks the store.
            let process = child.id().to_string();
            wait_until("the lock of the store", || {
                String::from_utf8_lossy(&sandbox.read("st/LOCK.info")).contains(&process)
            });
            let run = end(child, "-INT", stdin);
            assert_eq!((run.code, run.err.as_str()), (130, ""), "{more:?}: {run:?}");
        }
    }

    /// A pipe that never pauses has a durable batch after a second, though it is not full.
    #[test]
    fn a_slow_pipe_fills_no_batch() {
        let sandbox = store(&[]);
        let more =
            ["--durability", "batch", "--commit-every", "1h", "--batch", "1000000", "--progress", "json"];
        let (mut child, mut stdin) = start(&sandbox, &more);
        let mut reports = BufReader::new(child.stderr.take().unwrap()).lines();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 0.. {
                    if is_done.load(Ordering::Relaxed) {
                        break;
                    }
                    stdin.write_all(format!("{{\"id\":\"x{n}\"}}\n").as_bytes()).unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let durable = json(&reports.next().unwrap().unwrap())["documents"].as_u64().unwrap();
            is_done.store(true, Ordering::Relaxed);
            assert!(durable > 0);
        });
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
    }

    #[test]
    fn batches_of_a_pipe_are_durable_when_it_pauses() {
        let sandbox = store(&[]);
        let more = ["--durability", "batch", "--commit-every", "1h", "--progress", "json"];
        let (mut child, mut stdin) = start(&sandbox, &more);
        let mut reports = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut durable = 0;
        for (rows, docs) in [("{\"id\":\"a\"}\n{\"id\":\"b\"}\n", 2), ("{\"id\":\"c\"}\n", 3)] {
            stdin.write_all(rows.as_bytes()).unwrap();
            while durable < docs {
                durable = json(&reports.next().unwrap().unwrap())["documents"].as_u64().unwrap();
            }
        }
        assert_eq!(sandbox.ok(&["count", "st"]), "0\n", "nothing is committed");
        let info = sandbox.ok(&["info", "st"]);
        let logged = info.lines().find(|line| line.starts_with("in the log, and in no commit yet: "));
        assert!(logged.is_some_and(|line| line.contains(": 3 documents in ")), "{info}");
        assert_eq!(json(&sandbox.ok(&["info", "st", "--json"]))["logged_documents"], 3);
        child.kill().unwrap();
        child.wait().unwrap();
        sandbox.write("none.ndjson", "");
        sandbox.ok(&["put", "st", "none.ndjson", "-q"]);
        assert_eq!(sandbox.ok(&["count", "st"]), "3\n");
        assert!(!sandbox.ok(&["info", "st"]).contains("in the log"));
    }

    #[test]
    fn others_wait_for_the_writer_if_they_are_told_to() {
        let sandbox = store(&[]);
        let (child, mut stdin) = start(&sandbox, &["--commit-every", "end"]);
        stdin.write_all(b"{\"id\":\"a\"}\n").unwrap();
        let process = child.id().to_string();
        wait_until("the lock of the store", || {
            String::from_utf8_lossy(&sandbox.read("st/LOCK.info")).contains(&process)
        });
        for command in [
            &["rm", "st", "a"][..],
            &["rm", "st", "a", "--wait=1ms"],
            &["put", "st", "none.ndjson", "--wait=1ms"],
            &["recover", "st", "--to", "1", "--wait=1ms"],
            &["merge", "st", "--wait=1ms"],
        ] {
            let run = sandbox.dv(command);
            assert!(run.code == 3 && run.err.contains("--wait=1min"), "{command:?} {run:?}");
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sandbox.dv(&["rm", "st", "a", "--wait=1h"]));
            drop(stdin);
            assert_eq!(waiting.join().unwrap().code, 0);
        });
        assert!(child.wait_with_output().unwrap().status.success());
        assert_eq!(sandbox.ok(&["count", "st"]), "0\n");
    }
}
