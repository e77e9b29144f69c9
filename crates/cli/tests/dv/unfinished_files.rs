//! Builds and exports that a signal ends.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Signals by name and number.
const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

/// `dv` with endless rows as its input. The signals in `ignored` are ignored, and all others are not, whatever the
/// tests were started with.
fn start(sandbox: &Sandbox, args: &[&str], ignored: &str) -> Child {
    let dv = sandbox.command(args);
    let mut rows = Command::new("yes").arg("a,1").stdout(Stdio::piped()).spawn().unwrap();
    let mut env = Command::new("env");
    env.args(["--default-signal=INT,TERM,HUP"]);
    if !ignored.is_empty() {
        env.arg(format!("--ignore-signal={ignored}"));
    }
    env.arg(dv.get_program()).args(dv.get_args()).current_dir(sandbox.path(""));
    let child = env.stdin(rows.stdout.take().unwrap()).stderr(Stdio::null()).spawn().unwrap();
    // It ends when nobody reads.
    std::thread::spawn(move || rows.wait());
    child
}

/// Waits until the folder has a temporary file of `output`.
fn wait_for_output(sandbox: &Sandbox, child: &mut Child, output: &str) {
    let (began, temporary) = (Instant::now(), format!(".{output}.tmp"));
    while !sandbox.exists(&temporary) {
        assert!(began.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn send(child: &Child, signal: &str) {
    let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

fn end(mut child: Child, signal: &str) -> ExitStatus {
    send(&child, signal);
    child.wait().unwrap()
}

#[test]
fn nothing_is_left_of_an_interrupted_build() {
    for (signal, number) in SIGNALS {
        let sandbox = Sandbox::with("a.csv", "a\n1\n");
        sandbox.ok(&["build", "a.csv", "-o", "old.dv", "-q"]);
        let before = sandbox.read("old.dv");
        let args = ["build", "-", "--input-format", "csv", "--memory", "1MB", "-o", "old.dv"];
        let mut child = start(&sandbox, &args, "");
        wait_for_output(&sandbox, &mut child, "old.dv");
        assert_eq!(end(child, signal).signal(), Some(number), "{signal}");
        assert_eq!(sandbox.names(), ["a.csv", "old.dv"], "{signal}");
        assert_eq!(sandbox.read("old.dv"), before, "{signal}");
    }
}

#[test]
fn nothing_is_left_of_an_interrupted_export_or_merge() {
    let sandbox = Sandbox::with("t.csv", format!("a,b\n{}", "1,x\n".repeat(10_000)));
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    for (signal, number) in SIGNALS {
        for (command, output) in [("export", "out.csv"), ("merge", "out.dv")] {
            let args = [&[command], ["t.dv"; 500].as_slice(), &["-o", output]].concat();
            let mut child = start(&sandbox, &args, "");
            wait_for_output(&sandbox, &mut child, output);
            assert_eq!(end(child, signal).signal(), Some(number), "{command}: {signal}");
            assert_eq!(sandbox.names(), ["t.csv", "t.dv"], "{command}: {signal}");
        }
    }
}

#[test]
fn an_ignored_signal_ends_no_build() {
    let sandbox = Sandbox::new();
    let args = ["build", "-", "--input-format", "csv", "-o", "out.dv"];
    let mut child = start(&sandbox, &args, "HUP");
    wait_for_output(&sandbox, &mut child, "out.dv");
    send(&child, "HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none() && sandbox.exists(".out.dv.tmp"));
    assert_eq!(end(child, "TERM").signal(), Some(15));
    assert_eq!(sandbox.names(), [""; 0]);
}

/// Also of the files to which it spills, and if a second signal does not wait for the first one.
#[cfg(feature = "sql")]
#[test]
fn nothing_is_left_of_an_interrupted_query() {
    let rows: String = (0..100_000).map(|n| format!("{},text {}\n", n * 7_919 % 100_000, n * 31)).collect();
    let sandbox = Sandbox::with("t.csv", format!("n,s\n{rows}"));
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let spill = sandbox.path("spill");
    std::fs::create_dir(&spill).unwrap();
    let spilled = || std::fs::read_dir(&spill).unwrap().count();
    // 10 thousand million rows.
    let query = "select a.s, b.n from t a, t b order by b.n, a.s";
    let args = ["sql", query, "t.dv", "--threads", "1", "--memory", "32MiB", "-o", "out.csv"];
    for (signals, code) in [(&["TERM"][..], 143), (&["INT", "INT"], 130)] {
        let mut command = sandbox.command(&args);
        let mut child = command.env("TMPDIR", &spill).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while spilled() == 0 {
            assert!(began.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(1));
        }
        signals.iter().for_each(|signal| send(&child, signal));
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signals:?}");
        let left = ["spill", "t.csv", "t.dv"].map(str::to_owned).to_vec();
        assert_eq!((spilled(), sandbox.names()), (0, left), "{signals:?}");
    }
}

/// Also of the segment that a store takes over.
#[cfg(feature = "lucene")]
#[test]
fn nothing_is_left_of_an_interrupted_import() {
    use docvalues_testkit::lucene::{LuceneColumn, lucene_index};

    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("index")).unwrap();
    let numbers = LuceneColumn::Numbers((0..200_000).map(|n| n * n % 1_000_003).collect());
    for (name, bytes) in lucene_index(200_000, &[("n", numbers)], &[]) {
        sandbox.write(&format!("index/{name}"), bytes);
    }
    let mut interrupted = 0;
    for hidden in ["..st.import.dv.tmp", ".st.import.dv"] {
        let mut child = sandbox.command(&["import", "index", "-o", "st", "-q"]).spawn().unwrap();
        let mut is_running = true;
        while is_running && !sandbox.exists(hidden) {
            is_running = child.try_wait().unwrap().is_none();
        }
        if is_running {
            send(&child, "TERM");
        }
        interrupted += usize::from(child.wait().unwrap().signal() == Some(15));
        let left = sandbox.names();
        assert!(left.iter().all(|name| ["index", "st"].contains(&name.as_str())), "{hidden}: {left:?}");
    }
    assert!(interrupted > 0, "no import was interrupted");
}
