//! A store that is filled, thinned and merged by processes that are killed now and then, while another process counts.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use docvalues_testkit::damage::cases;
use serde_json::Value;

use crate::compare_with_python::compare;
use crate::round_trip::data_of_full_sweep;
use crate::sandbox::{Sandbox, id, packages, words};

/// Tells the counting thread to stop, also after a panic.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Kills commands that change the store `st`, one in `each`, at moments that a random number chooses.
struct Killer<'s> {
    sandbox: &'s Sandbox,
    random: u64,
    each: u64,
    killed: usize,
    /// The number of killed commands that had committed already.
    committed: usize,
    took: Duration,
}

impl Killer<'_> {
    fn next(&mut self, below: u64) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    fn start(&self, args: &[&str], input: &str) -> Child {
        let mut command = self.sandbox.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // It ends when the child does.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        child
    }

    /// Runs a command after which the store has `after` documents, again if it was killed before its commit.
    fn run(&mut self, args: &[&str], input: &str, after: u64) {
        let before = count(self.sandbox);
        if self.next(self.each) == 0 {
            let mut child = self.start(args, input);
            let micros = u64::try_from(self.took.as_micros()).unwrap() + 1;
            std::thread::sleep(Duration::from_micros(self.next(micros)));
            child.kill().unwrap();
            child.wait().unwrap();
            self.killed += 1;
            let check: Value = serde_json::from_str(&self.sandbox.ok(&["check", "st", "--json"])).unwrap();
            let found = check["documents"].as_u64().unwrap();
            assert!(check["clean"] == true && [before, after].contains(&found), "{check}");
            if found == after && before != after {
                self.committed += 1;
                return;
            }
        }
        let start = Instant::now();
        let mut child = self.start(args, input);
        assert!(child.wait().unwrap().success(), "{args:?}");
        self.took = start.elapsed();
        assert_eq!(count(self.sandbox), after, "{args:?}");
    }
}

fn count(sandbox: &Sandbox) -> u64 {
    sandbox.ok(&["count", "st"]).trim_end().parse().unwrap()
}

/// Fills a store in `runs` runs, removes a tenth, merges, and compares the answers with those of a script. Meanwhile,
/// another process never sees another number of documents than those between the commits.
fn fill(sandbox: &Sandbox, source: &str, runs: usize, each: u64) {
    sandbox.ok(&["build", source, "-o", "all.dv", "-q"]);
    let lines: Vec<String> = sandbox.ok(&["cat", "all.dv"]).lines().map(str::to_owned).collect();
    let size = lines.len().div_ceil(runs);
    let (gone, kept): (Vec<_>, Vec<_>) = lines.iter().enumerate().partition(|(at, _)| at % 10 == 3);
    let steps = (1..=runs).map(|run| lines.len().min(run * size)).chain([kept.len()]);
    let steps: Vec<u64> = std::iter::once(0).chain(steps.map(|docs| docs as u64)).collect();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);

    let is_done = AtomicBool::new(false);
    let mut killer =
        Killer { sandbox, random: lines.len() as u64, each, killed: 0, committed: 0, took: Duration::ZERO };
    let looks = std::thread::scope(|scope| {
        let counting = scope.spawn(|| {
            let (mut looks, mut at) = (0, 0);
            while !is_done.load(Ordering::Relaxed) {
                let docs = count(sandbox);
                let place = steps[at..].iter().position(|step| *step == docs);
                at += place.unwrap_or_else(|| panic!("{docs} documents after {}", steps[at]));
                looks += 1;
            }
            looks
        });
        let _stop = Stop(&is_done);
        for (run, after) in lines.chunks(size).zip(&steps[1..]) {
            let put = ["put", "st", "-", "--input-format", "ndjson", "--commit-every", "end", "-q"];
            killer.run(&put, &run.join("\n"), *after);
        }
        let ids = gone.iter().map(|(_, line)| {
            let object: Value = serde_json::from_str(line).unwrap();
            object["id"].as_str().unwrap().to_owned() + "\n"
        });
        killer.run(&["rm", "st", "-", "-q"], &ids.collect::<String>(), kept.len() as u64);
        for _ in 0..3 {
            killer.run(&["merge", "st", "-q"], "", kept.len() as u64);
        }
        killer.run(&["merge", "st", "--to", "1", "-q"], "", kept.len() as u64);
        drop(_stop);
        counting.join().unwrap()
    });
    let Killer { killed, committed, .. } = killer;
    println!(
        "{runs} runs, {killed} killed, of which {committed} had committed; {looks} looks of another process"
    );
    assert!(killed > 0 || each == u64::MAX);
    let info: Value = serde_json::from_str(&sandbox.ok(&["info", "st", "--json"])).unwrap();
    assert_eq!(info["segments"].as_array().unwrap().len(), 1);
    // Merges move documents.
    let found = sandbox.ok(&["cat", "st"]);
    let (mut sorted, mut kept): (Vec<&str>, Vec<&str>) =
        (found.lines().collect(), kept.iter().map(|(_, line)| line.as_str()).collect());
    sorted.sort_unstable();
    kept.sort_unstable();
    assert!(sorted == kept, "documents differ");
    sandbox.write("kept.ndjson", &found);
    compare(&sandbox.path("st"), &sandbox.path("kept.ndjson"));
}

/// The documents of the store by id.
fn contents(sandbox: &Sandbox) -> BTreeMap<String, String> {
    sandbox.ok(&["cat", "st"]).lines().map(|line| (id(line), line.to_owned())).collect()
}

/// Puts all packages again and again, each time with another change, and kills it when a part of
/// them is durable. All documents that were reported durable are there, and of the others the first ones.
fn kill_puts(sandbox: &Sandbox, source: &str, batch: &str, kills: usize) {
    sandbox.ok(&["build", source, "-o", "all.dv", "-q"]);
    let lines: Vec<String> = sandbox.ok(&["cat", "all.dv"]).lines().map(str::to_owned).collect();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.write("none.ndjson", "");
    let (mut before, mut durable_each) = (BTreeMap::new(), Vec::new());
    for kill in 0..kills {
        let change = |line: &String| line.replace("\"priority\":\"", &format!("\"priority\":\"{kill}-"));
        let changed: Vec<String> = lines.iter().map(change).collect();
        sandbox.write("p.ndjson", changed.join("\n"));
        let args = format!("put st p.ndjson --durability batch --batch {batch} --progress json --json");
        let mut child =
            sandbox.command(&words(&args)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut reports = BufReader::new(child.stderr.take().unwrap()).lines();
        let documents = |line: String| {
            let line: Value = serde_json::from_str(&line).unwrap();
            usize::try_from(line["documents"].as_u64().unwrap()).unwrap()
        };
        let wanted = kill * lines.len() / kills;
        let mut durable = 0;
        while durable < wanted {
            durable = documents(reports.next().unwrap().unwrap());
        }
        std::thread::sleep(Duration::from_micros(kill as u64 % 5 * 300));
        child.kill().unwrap();
        child.wait().unwrap();
        durable = reports.map(|line| documents(line.unwrap())).last().unwrap_or(durable);
        let check: Value = serde_json::from_str(&sandbox.ok(&["check", "st", "--json"])).unwrap();
        assert_eq!(check["clean"], true, "{check}");
        // The next writer applies what is in the log.
        sandbox.ok(&["put", "st", "none.ndjson", "-q"]);
        let after = contents(sandbox);
        let is_put = |line: &String| after.get(&id(line)) == Some(line);
        let put = changed.iter().take_while(|line| is_put(line)).count();
        assert!(put >= durable, "kill {kill}: {durable} were durable, found {put}");
        before.extend(changed[..put].iter().map(|line| (id(line), line.clone())));
        assert!(after == before, "kill {kill}: after {put} documents");
        durable_each.push(durable);
    }
    println!("durable when killed: {durable_each:?} of {}", lines.len());
    assert!(durable_each.iter().any(|durable| (1..lines.len()).contains(durable)));
}

#[test]
fn durable_packages_survive_a_kill() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    kill_puts(&sandbox, "p.ndjson.gz", "50", cases(8, 20));
}

#[test]
fn all_durable_packages_survive_a_kill() {
    let name = "debian-packages.ndjson.gz";
    if let Some(sandbox) = data_of_full_sweep(name) {
        kill_puts(&sandbox, name, "1000", 20);
    }
}

#[test]
fn packages_that_the_repository_ships() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    fill(&sandbox, "p.ndjson.gz", 16, 2);
}

#[test]
fn all_packages_in_several_runs() {
    let name = "debian-packages.ndjson.gz";
    if let Some(sandbox) = data_of_full_sweep(name) {
        fill(&sandbox, name, 64, 3);
    }
}
