//! A leader that is filled while a replica follows it, through a pipe and through a folder.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Run, Sandbox, packages, words};

/// A store with ids, and the packages as lines of JSON.
fn leader(sandbox: &Sandbox) -> Vec<String> {
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "all.dv", "-q"]);
    sandbox.ok(&["store", "create", "leader", "--id-field", "id"]);
    sandbox.ok(&["cat", "all.dv"]).lines().map(str::to_owned).collect()
}

/// A process that ends with the test.
struct Running(Option<Child>);

impl Running {
    fn start(command: &mut Command) -> Running {
        Running(Some(command.stderr(Stdio::piped()).spawn().unwrap()))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    fn end(mut self) -> Run {
        Run::new(self.0.take().unwrap().wait_with_output().unwrap())
    }

    fn kill(mut self) -> Run {
        self.child().kill().unwrap();
        self.end()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// `dv replicate leader --from POSITION | dv replica copy`
struct Pipe {
    sender: Running,
    receiver: Running,
}

impl Pipe {
    fn start(sandbox: &Sandbox) -> Pipe {
        let position = position(sandbox, "copy");
        let mut sender = sandbox.command(&["replicate", "leader", "--from", &position]);
        let mut sender = Running::start(sender.stdout(Stdio::piped()));
        let mut receiver = sandbox.command(&["replica", "copy", "--commit-every", "50ms"]);
        receiver.stdin(sender.child().stdout.take().unwrap()).stdout(Stdio::piped());
        Pipe { sender, receiver: Running::start(&mut receiver) }
    }

    /// Kills the leader's side, or the replica's, and waits for the other one to end.
    fn kill(self, sender: bool) -> [Run; 2] {
        if sender {
            let sent = self.sender.kill();
            return [self.receiver.end(), sent];
        }
        [self.receiver.kill(), self.sender.end()]
    }
}

fn position(sandbox: &Sandbox, folder: &str) -> String {
    sandbox.ok(&["replica", folder, "--position"]).trim_end().to_owned()
}

/// Waits until the replica has what the leader has committed.
fn wait_until_equal(sandbox: &Sandbox, copy: &str) {
    let began = Instant::now();
    while position(sandbox, copy) != position(sandbox, "leader") {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{} {}",
            position(sandbox, copy),
            position(sandbox, "leader")
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(sandbox.dv(&["diff", "leader", copy, "--by", "id"]).code, 0);
}

/// A change of the lines for each round.
fn changed(lines: &[String], round: usize) -> String {
    let change = |line: &String| line.replace("\"priority\":\"", &format!("\"priority\":\"{round}-"));
    lines.iter().map(change).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_replica_follows_through_a_pipe() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    let lines = leader(&sandbox);
    assert_eq!(position(&sandbox, "copy"), "0:0000000000000000:0");
    let mut pipe = Some(Pipe::start(&sandbox));
    for (round, lines) in lines.chunks(lines.len() / 8).enumerate() {
        // From a pipe, with a log and commits, and killed twice.
        let put = words("put leader - --input-format ndjson --batch 50 --keep-frames 64MiB -q");
        let mut child =
            sandbox.command(&[&put[..], &["--durability", "batch", "--commit-every", "20ms"]].concat());
        let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(changed(lines, round).as_bytes()).unwrap();
        if round % 3 == 2 {
            std::thread::sleep(Duration::from_millis(30));
            child.kill().unwrap();
        }
        drop(input);
        child.wait().unwrap();
        let [received, sent] = pipe.take().unwrap().kill(round % 2 == 0);
        // Whoever was not killed ends with its pipe.
        match round % 2 {
            0 => assert!([1, 3].contains(&received.code), "{received:?}"),
            _ => assert_eq!((sent.code, &*sent.err), (0, ""), "{sent:?}"),
        }
        pipe = Some(Pipe::start(&sandbox));
    }
    wait_until_equal(&sandbox, "copy");
    // The whole of the input, after a change by a query, which comes as files.
    sandbox.write("all.ndjson", changed(&lines, 99));
    sandbox.ok(&["put", "leader", "all.ndjson", "-q", "--keep-frames", "64MiB"]);
    sandbox.ok(&["rm", "leader", "--where", "section = \"games\"", "-q"]);
    wait_until_equal(&sandbox, "copy");
    // A replica is read as any store, and changed by its leader only.
    assert_eq!(sandbox.ok(&["count", "copy"]), sandbox.ok(&["count", "leader"]));
    let [received, _] = pipe.take().unwrap().kill(true);
    // It has all that came, but the sender did not say that this was everything.
    assert!(received.code == 3 && received.err.contains("expected the end of the stream"), "{received:?}");
    let refused = sandbox.dv(&["put", "copy", "all.ndjson"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("found a replica") && refused.err.contains("dv replica --promote"),
        "{refused:?}"
    );
    let check: Value = serde_json::from_str(&sandbox.ok(&["check", "copy", "--json"])).unwrap();
    assert_eq!(check["clean"], true, "{check}");
}

#[test]
fn replicas_follow_through_a_folder() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    let lines = leader(&sandbox);
    let spawn = |args: &[&str]| Running::start(sandbox.command(args).stdout(Stdio::piped()));
    let publisher = || spawn(&["replicate", "leader", "--to", "shared", "--every", "20ms"]);
    let follower =
        |name: &str| spawn(&["replica", name, "--follow", "shared", "--commit-every", "20ms", "--json"]);
    let (mut publishing, mut following) = (publisher(), [follower("a"), follower("b")]);
    for (round, lines) in lines.chunks(lines.len() / 6).enumerate() {
        sandbox.write("some.ndjson", changed(lines, round));
        sandbox.ok(&["put", "leader", "some.ndjson", "-q"]);
        if round % 2 == 1 {
            publishing.kill();
            publishing = publisher();
            // The old one first: a replica has one writer.
            following[0] = Running(None);
            following[0] = follower("a");
        }
    }
    for copy in ["a", "b"] {
        wait_until_equal(&sandbox, copy);
    }
    publishing.kill();
    // SIGTERM ends a replica between two commits, and it says what it did.
    let [first, second] = following;
    for mut child in [first, second] {
        let process = child.child().id().to_string();
        assert!(Command::new("kill").arg(process).status().unwrap().success());
        let run = child.end();
        let report: Value = serde_json::from_str(&run.out).unwrap();
        assert!(run.code == 143 && report["commits"].as_u64().unwrap() >= 1, "{run:?}");
    }
    // A new leader: the old one does not overwrite what it puts there.
    sandbox.ok(&["replica", "b", "--promote"]);
    sandbox.ok(&["rm", "b", "--where", "section = \"games\"", "-q"]);
    let refused = sandbox.dv(&["replicate", "b", "--to", "shared", "--once"]);
    assert!(refused.code == 5 && refused.err.contains("--discard"), "{refused:?}");
    sandbox.ok(&["replicate", "b", "--to", "shared", "--once", "--discard"]);
    sandbox.ok(&["replicate", "b", "--to", "shared", "--once"]);
    sandbox.ok(&["rm", "leader", "--where", "section = \"admin\"", "-q"]);
    let refused = sandbox.dv(&["replicate", "leader", "--to", "shared", "--once"]);
    assert!(refused.code == 5 && refused.err.contains("a leader that was replaced"), "{refused:?}");
    sandbox.ok(&["replica", "a", "--follow", "shared", "--once"]);
    assert_eq!(sandbox.dv(&["diff", "b", "a", "--by", "id"]).code, 0);
}

#[test]
fn gaps_and_other_histories_have_exit_codes() {
    let sandbox = Sandbox::with("a.ndjson", "{\"id\":\"a\",\"n\":1}\n");
    for store in ["leader", "other"] {
        sandbox.ok(&["store", "create", store, "--id-field", "id"]);
        sandbox.ok(&["put", store, "a.ndjson", "-q", "--keep-frames", "1MiB"]);
    }
    let send = |store: &str, from: &str| {
        let output = sandbox.command(&["replicate", store, "--from", from, "--once"]).output().unwrap();
        (
            output.stdout.clone(),
            Run {
                out: String::new(),
                err: String::from_utf8(output.stderr).unwrap(),
                code: output.status.code().unwrap(),
            },
        )
    };
    let (stream, sent) = send("leader", "0");
    assert_eq!(sent.code, 0, "{sent:?}");
    assert_eq!(sandbox.dv_with(&["replica", "copy"], &stream).code, 0);
    let at = position(&sandbox, "copy");
    for text in ["b", "c"] {
        sandbox.write("b.ndjson", format!("{{\"id\":\"{text}\",\"n\":2}}\n"));
        sandbox.ok(&["put", "leader", "b.ndjson", "-q", "--keep-frames", "1MiB"]);
    }
    let from: u64 = at.split_once(':').unwrap().0.parse().unwrap();
    let (gap, _) = send("leader", &(from + 1).to_string());
    let refused = sandbox.dv_with(&["replica", "copy"], &gap);
    assert!(refused.code == 4 && refused.err.contains("dv replica --position"), "{refused:?}");
    assert_eq!(position(&sandbox, "copy"), at);
    // The frames alone, after what the replica has.
    let (frames, _) = send("leader", &at);
    assert!(frames.len() < stream.len(), "{} {}", frames.len(), stream.len());
    let mut cut = frames.clone();
    cut.truncate(frames.len() - 3);
    let refused = sandbox.dv_with(&["replica", "copy"], &cut);
    assert!(refused.code == 3 && refused.err.contains("found the end"), "{refused:?}");
    assert_eq!(sandbox.dv_with(&["replica", "copy"], &frames).code, 0);
    assert_eq!(position(&sandbox, "copy"), position(&sandbox, "leader"));
    let (other, _) = send("other", "0");
    let refused = sandbox.dv_with(&["replica", "copy"], &other);
    assert!(refused.code == 5 && refused.err.contains("those of store"), "{refused:?}");
    let (_, ahead) = send("other", &position(&sandbox, "copy"));
    assert!(ahead.code == 5 && ahead.err.contains("the leader lost"), "{ahead:?}");
    let usage = sandbox.dv(&["replicate", "leader", "--from", "7:x"]);
    assert!(usage.code == 2 && usage.err.contains("107:0123456789abcdef:1"), "{usage:?}");
}

/// A sender that failed, or had nothing to send, is not taken for one that is done.
#[test]
fn a_replica_of_nothing_is_refused() {
    let sandbox = Sandbox::with("a.ndjson", "{\"id\":\"a\",\"n\":1}\n");
    let send = |args: &[&str]| {
        let output = sandbox.command(args).output().unwrap();
        (output.status.code().unwrap(), output.stdout)
    };
    let is_there = |folder: &str| sandbox.path(folder).exists();
    // No store, an empty folder, and a file.
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    for nothing in ["no-such-store", "empty", "a.ndjson"] {
        let (code, stream) = send(&["replicate", nothing, "--once"]);
        assert!(code == 3 && stream.is_empty(), "{nothing}: {code}");
        let refused = sandbox.dv_with(&["replica", "copy"], &stream);
        assert!(refused.code == 3 && refused.err.contains("found an empty stream"), "{refused:?}");
        let refused = sandbox.dv(&["replicate", nothing, "--to", "shared", "--once"]);
        assert!(refused.code == 3 && !is_there("shared"), "{refused:?}");
        std::fs::create_dir(sandbox.path("shared")).unwrap();
        let refused = sandbox.dv(&["replica", "copy", "--follow", "shared", "--once"]);
        assert!(refused.code == 3 && refused.err.contains("expected commits of a leader"), "{refused:?}");
        assert!(!is_there("copy"));
        std::fs::remove_dir(sandbox.path("shared")).unwrap();
    }
    // A store with nothing new has something to say.
    sandbox.ok(&["store", "create", "leader", "--id-field", "id"]);
    sandbox.ok(&["put", "leader", "a.ndjson", "-q"]);
    let (_, stream) = send(&["replicate", "leader", "--once"]);
    sandbox.dv_with(&["replica", "copy"], &stream);
    let (code, nothing_new) = send(&["replicate", "leader", "--once", "--from", &position(&sandbox, "copy")]);
    assert_eq!((code, nothing_new.len()), (0, 20));
    assert_eq!(sandbox.dv_with(&["replica", "copy"], &nothing_new).code, 0);
    let refused = sandbox.dv_with(&["replica", "another"], &nothing_new);
    assert!(refused.code == 1 && refused.err.contains("the replica is empty"), "{refused:?}");
    // Neither is an empty replica a leader.
    assert_eq!(send(&["replicate", "another", "--once"]).0, 1);
    assert_eq!(send(&["replicate", "another", "--to", "shared", "--once"]).0, 1);
    // All that was sent but the end, such as before damage in the store.
    let refused = sandbox.dv_with(&["replica", "third"], &stream[..stream.len() - 20]);
    assert!(refused.code == 3 && refused.err.contains("expected the end of the stream"), "{refused:?}");
    assert_eq!(sandbox.ok(&["count", "third"]), "1\n");
    let refused = sandbox.dv_with(&["replica", "third"], b"");
    assert_eq!((refused.code, &*sandbox.ok(&["count", "third"])), (3, "1\n"));
}

/// Damage in a depot is named with the file there, whatever file it is, and the leader mends it.
#[test]
fn damage_in_a_folder_of_commits_is_named_and_mended() {
    let sandbox = Sandbox::with("a.ndjson", "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":1}\n");
    sandbox.ok(&["store", "create", "leader", "--id-field", "id"]);
    sandbox.ok(&["put", "leader", "a.ndjson", "-q"]);
    sandbox.ok(&["replicate", "leader", "--to", "depot", "--once"]);
    sandbox.ok(&["set", "leader", "a", "n=2", "-q"]);
    sandbox.ok(&["replicate", "leader", "--to", "depot", "--once"]);
    let files = || {
        let names = std::fs::read_dir(sandbox.path("depot")).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let all = files();
    let kinds = ["commit-", "seg-", "delta-"];
    assert!(kinds.iter().all(|kind| all.iter().any(|name| name.starts_with(kind))), "{all:?}");
    let newest = all.iter().rfind(|name| name.starts_with("commit-")).unwrap();
    for (round, name) in all.iter().enumerate() {
        let path = sandbox.path("depot").join(name);
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for (at, damaged) in [&flipped[..], &whole[..whole.len() - 1], b""].into_iter().enumerate() {
            std::fs::write(&path, damaged).unwrap();
            let copy = format!("copy-{round}-{at}");
            let refused = sandbox.dv(&["replica", &copy, "--follow", "depot", "--once"]);
            assert!(refused.code == 1 && refused.err.contains(&format!("depot/{name}")), "{refused:?}");
            assert!(refused.err.contains("dv replicate --to"), "{refused:?}");
            let mended = sandbox.dv(&["replicate", "leader", "--to", "depot", "--once"]);
            assert!(mended.code == 0 && mended.err.contains(&format!("depot/{name}")), "{mended:?}");
            assert_eq!(sandbox.dv(&["replica", &copy, "--follow", "depot", "--once"]).code, 0);
            assert_eq!(sandbox.dv(&["diff", "leader", &copy, "--by", "id"]).code, 0);
        }
        // An older commit is removed, and everything else as before.
        match name.starts_with("commit-") && name != newest {
            true => assert!(!path.exists()),
            false => assert!(std::fs::read(&path).unwrap() == whole),
        }
    }
    // A damaged commit that may be of another leader is not overwritten, and neither are whole files by damaged ones.
    std::fs::write(sandbox.path("depot/commit-00000099"), "torn").unwrap();
    let refused = sandbox.dv(&["replicate", "leader", "--to", "depot", "--once"]);
    assert!(refused.code == 1 && refused.err.contains("depot/commit-00000099"), "{refused:?}");
    std::fs::remove_file(sandbox.path("depot/commit-00000099")).unwrap();
    let segment = all.iter().find(|name| name.starts_with("seg-")).unwrap();
    let mut bytes = std::fs::read(sandbox.path("leader").join(segment)).unwrap();
    bytes[300] ^= 1;
    std::fs::write(sandbox.path("leader").join(segment), bytes).unwrap();
    let refused = sandbox.dv(&["replicate", "leader", "--to", "depot", "--once"]);
    assert!(refused.code == 1 && refused.err.contains(&format!("leader/{segment}")), "{refused:?}");
    assert_eq!(sandbox.dv(&["replica", "last", "--follow", "depot", "--once"]).code, 0);
}
