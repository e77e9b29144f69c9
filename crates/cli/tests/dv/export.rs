//! `dv export -o`: existing files, links and pipes.

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("a.csv", "a,b\n1,x\n2,y\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox
}

#[test]
fn no_file_beside_the_output_is_touched() {
    let sandbox = sandbox();
    sandbox.write("out.csv.part", "mine");
    sandbox.write("out.csv", "older");
    sandbox.ok(&["export", "a.dv", "-o", "out.csv"]);
    assert_eq!(sandbox.read("out.csv"), b"a,b\n1,x\n2,y\n");
    assert_eq!(sandbox.read("out.csv.part"), b"mine");
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "out.csv", "out.csv.part"]);
}

#[test]
fn what_cannot_be_exported_leaves_what_stood_there() {
    let sandbox = sandbox();
    sandbox.write("out.csv", "older");
    for more in [
        &["--columns", "c"][..],
        &["--docs", "1..9"],
        &["--docs", "2..1"],
        &["--docs", "3.."],
        &["--where", "c = 1"],
        &["--format", "xml"],
    ] {
        assert_ne!(sandbox.dv(&[&["export", "a.dv", "-o", "out.csv"], more].concat()).code, 0, "{more:?}");
        assert_ne!(sandbox.dv(&[&["export", "a.dv", "-o", "new.csv"], more].concat()).code, 0, "{more:?}");
    }
    let mut damaged = sandbox.read("a.dv");
    damaged[64] ^= 1;
    sandbox.write("damaged.dv", damaged);
    assert_eq!(sandbox.dv(&["export", "damaged.dv", "-o", "out.csv"]).code, 1);
    assert_eq!(sandbox.read("out.csv"), b"older");
    for output in [".", "no/out.csv"] {
        let run = sandbox.dv(&["export", "a.dv", "-o", output, "--format", "csv"]);
        let expected = format!("dv: cannot create \"{output}\": ");
        assert!(run.code == 3 && run.err.starts_with(&expected), "{run:?}");
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "damaged.dv", "out.csv"]);
}

/// A device, by a link in the sandbox: what went wrong would only replace that.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_through() {
    use std::io::Read as _;
    use std::os::unix::fs::FileTypeExt as _;
    let sandbox = sandbox();
    let (csv, ndjson) = ("a,b\n1,x\n2,y\n", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n");
    for name in ["null", "null.x"] {
        std::os::unix::fs::symlink("/dev/null", sandbox.path(name)).unwrap();
        for command in [&["export", "a.dv"][..], &["sort", "a.dv", "--by", "a"], &["count", "a.dv"]] {
            sandbox.ok(&[command, &["-o", name]].concat());
        }
        assert_eq!(std::fs::read_link(sandbox.path(name)).unwrap(), std::path::Path::new("/dev/null"));
    }

    let pipes = [("pipe.csv", csv), ("pipe.csv.gz", csv), ("pipe.x", ndjson)];
    let made = std::process::Command::new("mkfifo").args(pipes.map(|(name, _)| sandbox.path(name))).status();
    if !made.is_ok_and(|made| made.success()) {
        return eprintln!("SKIPPED: pipes cannot be made");
    }
    for (name, expected) in pipes {
        let path = sandbox.path(name);
        let reader = std::thread::spawn(move || std::fs::read(path).unwrap());
        sandbox.ok(&["export", "a.dv", "-o", name]);
        let mut text = reader.join().unwrap();
        if name.ends_with(".gz") {
            let packed = std::mem::take(&mut text);
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut text).unwrap();
        }
        assert_eq!(text, expected.as_bytes());
        assert!(sandbox.path(name).metadata().unwrap().file_type().is_fifo());
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "null", "null.x", "pipe.csv", "pipe.csv.gz", "pipe.x"]);
    // A segment is no stream.
    let run = sandbox.dv(&["build", "a.csv", "-o", "null"]);
    assert!(run.code == 3 && run.err.contains("something that is no file has this name"), "{run:?}");
}

/// A reader of a pipe sees that the rest is missing.
#[cfg(unix)]
#[test]
fn a_compressed_stream_that_an_error_cuts_has_no_end() {
    use std::io::Read as _;
    let sandbox = sandbox();
    let mut damaged = sandbox.read("a.dv");
    damaged[64] ^= 1;
    sandbox.write("damaged.dv", damaged);
    let pipe = sandbox.path("pipe.csv.gz");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|made| made.success()) {
        return eprintln!("SKIPPED: pipes cannot be made");
    }
    let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap());
    let run = sandbox.dv(&["cat", "a.dv", "damaged.dv", "-o", "pipe.csv.gz"]);
    assert!(run.code == 1 && run.err.starts_with("dv: damaged.dv: "), "{run:?}");
    let packed = reader.join().unwrap();
    let read = flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut Vec::new());
    assert!(read.is_err(), "{read:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_of_writing_names_the_output() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink("/dev/full", sandbox.path("full")).unwrap();
    for command in [&["export", "a.dv"][..], &["count", "a.dv"]] {
        let run = sandbox.dv(&[command, &["-o", "full"]].concat());
        let expected = "dv: full: cannot write the output: No space left on device (os error 28)\n";
        assert_eq!((run.code, run.err.as_str()), (3, expected), "{command:?}");
    }
}

/// Output goes to a file that a shell has opened, after its contents.
#[cfg(unix)]
#[test]
fn descriptors_are_written_to() {
    let sandbox = sandbox();
    let program = env!("CARGO_BIN_EXE_dv");
    for (output, redirect) in [("-", ">>"), ("/dev/stdout", ">>"), ("/dev/fd/1", ">>"), ("/dev/fd/3", "3>>")]
    {
        sandbox.write("out", "before\n");
        let line = format!("{program} export a.dv --format csv -o {output} {redirect}out; echo after >>out");
        let ran =
            std::process::Command::new("sh").args(["-c", &line]).current_dir(sandbox.path(".")).status();
        assert!(ran.unwrap().success());
        let out = String::from_utf8(sandbox.read("out")).unwrap();
        assert_eq!(out, "before\na,b\n1,x\n2,y\nafter\n", "{output}");
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "out"]);
}

#[cfg(unix)]
#[test]
fn links_stay_and_lead_to_the_new_file() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let link = |name: &str, to: &str| std::os::unix::fs::symlink(to, sandbox.path(name)).unwrap();
    link("folder/near", "far");
    link("link", "folder/near");
    let is_link = |name: &str| sandbox.path(name).symlink_metadata().unwrap().is_symlink();
    for (args, expected) in [
        (&["export", "a.dv", "-o", "link"][..], &b"{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n"[..]),
        (&["build", "a.csv", "-o", "link", "-q"], &sandbox.read("a.dv")),
        (&["merge", "a.dv", "-o", "link", "-q"], &sandbox.read("a.dv")),
    ] {
        // The file is not there, and is.
        for _ in 0..2 {
            sandbox.ok(args);
            assert!(is_link("link") && is_link("folder/near"), "{args:?}");
            assert_eq!(sandbox.read("folder/far"), expected, "{args:?}");
        }
        std::fs::remove_file(sandbox.path("folder/far")).unwrap();
    }
    link("circle", "circle");
    for args in [["export", "a.dv", "-o", "circle"], ["build", "a.csv", "-o", "circle"]] {
        let run = sandbox.dv(&args);
        assert_eq!((run.code, run.err.as_str()), (3, "dv: circle: symbolic links form a loop\n"));
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "circle", "folder", "link"]);
}

#[test]
fn the_ending_of_a_name_says_the_format_or_is_asked_about() {
    let sandbox = sandbox();
    let (csv, ndjson) = ("a,b\n1,x\n2,y\n", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n");
    let known = "set --format, or use one of these extensions: \
                 .csv .tsv .markdown .md .ndjson .jsonl .json, each also with .gz; \
                 or .parquet .pq .arrow .feather with `dv export`";
    for (name, ending) in [("x.xyz", "xyz"), ("z.dv", "dv"), ("t.table", "table"), ("e.", "")] {
        let run = sandbox.dv(&["export", "a.dv", "-o", name]);
        let expected = format!("dv: {name}: unknown extension \".{ending}\"\n    hint: {known}\n");
        assert_eq!((run.code, run.err), (2, expected));
        assert!(!sandbox.exists(name));
        sandbox.ok(&["export", "a.dv", "-o", name, "--format", "csv"]);
        assert_eq!(sandbox.read(name), csv.as_bytes());
        sandbox.ok(&["export", "a.dv", "-o", name, "--json"]);
        assert_eq!(sandbox.read(name), ndjson.as_bytes());
    }
    let run = sandbox.dv(&["export", "a.dv", "-o", "out.parquet.gz"]);
    assert!(run.code == 2 && run.err.contains("unknown extension \".gz\""), "{run:?}");
    for (name, expected) in [
        ("out", ndjson),
        (".out", ndjson),
        ("out.jsonl", ndjson),
        ("out.CSV", csv),
        ("out.tsv", "a\tb\n1\tx\n2\ty\n"),
    ] {
        sandbox.ok(&["export", "a.dv", "-o", name]);
        assert_eq!(sandbox.read(name), expected.as_bytes(), "{name}");
    }
}
