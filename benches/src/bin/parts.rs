//! Measures searches over the same documents in one part and in several, as in docs/benchmarks/store.md.
//!
//! Prints a table: the least CPU time of several runs of each search, in microseconds; with `--lucene`, Lucene 10.5.0
//! beside it, median CPU time after it was compiled. All numbers of parts must give the same answers.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::Parser;
use docvalues::column::{DocAddress, Part};
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::group::{Group, GroupOrder, Metric};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, Parts, Query, Search};
use docvalues_benches::clock::cpu_time;
use docvalues_benches::column_input::ColumnInput;
use docvalues_benches::lucene::{self, Lucene};
use docvalues_benches::{data, segment};

/// Measure searches over the same documents in one part and in several
#[derive(Parser)]
struct Args {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "10_000_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Numbers of parts
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 13, 400])]
    parts: Vec<u32>,

    /// Also measure Lucene 10.5.0: needs Maven and a JDK from 21 on
    #[arg(long)]
    lucene: bool,
}

const COLUMNS: [&str; 4] = ["ts", "size", "host", "uni24"];

/// Documents of the part that is added to the others.
const ADDED: u32 = 2_500;

/// Milliseconds for each of Lucene's measurements.
const LUCENE_MILLISECONDS: u32 = 300;

/// The microseconds of each search, in the order of the searches: for each number of parts, and of Lucene.
type Times = BTreeMap<usize, (String, Vec<Option<f64>>)>;

fn main() {
    let args = Args::parse();
    let docs = args.docs;
    let inputs = COLUMNS.map(|name| (name, ColumnInput::of(name, docs)));
    let lucene = if args.lucene { lucene::newest() } else { None };
    let mut known: Option<Vec<u64>> = None;
    let (mut heading, mut times, mut notes) = (String::from("| µs |"), Times::new(), Vec::new());
    for (at, &parts) in args.parts.iter().enumerate() {
        // Multiples of 64, as the bits of documents with a value are cut in whole words.
        let start = |part: u32| u32::try_from(u64::from(docs) * u64::from(part) / u64::from(parts) / 64 * 64);
        let starts: Vec<u32> = (0..parts).map(start).collect::<Result<_, _>>().expect("less than `docs`");
        let ends = starts[1..].iter().copied().chain([docs]);
        let bytes: Vec<Vec<u8>> =
            starts.iter().zip(ends).map(|(start, end)| write(&inputs, *start, end)).collect();
        let mut run = Run::default();
        run.opening(&bytes);
        let set = open(&bytes);
        run.identities(&bytes);
        run.searches(&set, &starts, docs);
        run.adding(&set, &write(&inputs, 0, ADDED.min(docs)));
        notes.extend(set.term_memory("host").map(|memory| format!("{parts} parts: {memory:?}")));
        notes.extend(run.notes.iter().map(|note| format!("{parts} parts: {note}")));
        let same = known.get_or_insert_with(|| run.sums.clone());
        assert_eq!(*same, run.sums, "the same answers");
        let beside = lucene.as_ref().map(|lucene| measure_lucene(lucene, docs, parts));
        heading += &format!(" {parts} parts |");
        if beside.is_some() {
            heading += &format!(" Lucene, {parts} segments |");
        }
        let width = if lucene.is_some() { 2 } else { 1 };
        for (row, (name, took)) in run.times.into_iter().enumerate() {
            let (_, cells) = times.entry(row).or_insert_with(|| (name.clone(), Vec::new()));
            cells.resize(at * width, None);
            cells.push(Some(took));
            cells.extend(beside.iter().map(|beside| beside.get(&name).copied()));
        }
    }
    print(&heading, &times, &notes);
}

fn print(heading: &str, times: &Times, notes: &[String]) {
    println!("{heading}\n| --- |{}", " ---: |".repeat(heading.matches('|').count() - 2));
    for (name, cells) in times.values() {
        let cell = |took: &Option<f64>| took.map_or_else(|| " |".to_owned(), |took| format!(" {took:.1} |"));
        println!("| {name} |{}", cells.iter().map(cell).collect::<String>());
    }
    notes.iter().for_each(|note| println!("\n{note}"));
}

/// The microseconds of Lucene's searches by name.
fn measure_lucene(lucene: &Lucene, docs: u32, parts: u32) -> BTreeMap<String, f64> {
    let found = lucene.measure("Parts", "parts", docs, parts, LUCENE_MILLISECONDS);
    found.into_iter().map(|(name, nanos)| (name, nanos / 1e3)).collect()
}

fn write(inputs: &[(&str, ColumnInput)], start: u32, end: u32) -> Vec<u8> {
    let mut schema = Schema::new();
    let fields: Vec<_> =
        inputs.iter().map(|(name, _)| schema.add(segment::spec(name)).expect("names differ")).collect();
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::in_memory(schema, options);
    let mut batch = writer.batch(end - start).expect("few enough documents");
    inputs.iter().zip(fields).for_each(|((_, input), field)| input.add_to(&mut batch, field, start..end));
    batch.finish();
    writer.finish_bytes().expect("memory does not fail")
}

/// The segments as a set of parts that no search has seen.
fn open(bytes: &[Vec<u8>]) -> Parts {
    let open = |bytes: &Vec<u8>| {
        Part::new(Segment::from_bytes(bytes.clone(), OpenOptions::new()).expect("a segment"))
    };
    Parts::new(bytes.iter().map(open))
}

#[derive(Default)]
struct Run {
    sums: Vec<u64>,
    /// The name and the microseconds of each search.
    times: Vec<(String, f64)>,
    notes: Vec<String>,
}

impl Run {
    /// Runs `work` at least five times, for 60 ms or more, and prints the least CPU time.
    fn time(&mut self, name: &str, mut work: impl FnMut() -> u64) {
        self.sums.push(work());
        let (mut least, mut total, mut runs) = (Duration::MAX, Duration::ZERO, 0);
        while runs < 5 || total < Duration::from_millis(60) && runs < 2_000 {
            let start = cpu_time();
            black_box(work());
            let took = cpu_time().saturating_sub(start);
            (least, total, runs) = (least.min(took), total + took, runs + 1);
        }
        self.tell(name, least);
    }

    fn tell(&mut self, name: &str, took: Duration) {
        self.times.push((name.to_owned(), took.as_secs_f64() * 1e6));
    }

    /// The first facet of segments that were just opened.
    fn opening(&mut self, bytes: &[Vec<u8>]) {
        let mut least = Duration::MAX;
        for _ in 0..5 {
            let bytes = bytes.to_vec();
            let start = cpu_time();
            let open = |bytes: Vec<u8>| {
                Part::new(Segment::from_bytes(bytes, OpenOptions::new()).expect("a segment"))
            };
            let set = Parts::new(bytes.into_iter().map(open));
            black_box(
                Search::over(&set).threads(1).facet(Docs::All, &Facet::of("host")).expect("good bytes"),
            );
            least = least.min(cpu_time().saturating_sub(start));
        }
        self.tell("opening and the first facet", least);
    }

    /// The identities of the terms of all parts, with everything verified before.
    fn identities(&mut self, bytes: &[Vec<u8>]) {
        let mut least = Duration::MAX;
        let hosts = Facet::of("host");
        for _ in 0..5 {
            let set = open(bytes);
            // Reads the dictionaries once, so that they are verified.
            for part in 0..set.len() {
                let column = set.source(part).column("host").expect("a column");
                let terms = column.values().terms().expect("terms");
                let all = OrdRange::new(0, terms.term_count());
                terms.each_term(all, &mut |_, _| std::ops::ControlFlow::Continue(())).expect("good bytes");
            }
            let none = vec![Docs::Range(0, 0); set.len()];
            let start = cpu_time();
            black_box(Search::over(&set).threads(1).facet(none.as_slice(), &hosts).expect("good bytes"));
            least = least.min(cpu_time().saturating_sub(start));
        }
        self.tell("identities", least);
    }

    fn searches(&mut self, set: &Parts, starts: &[u32], docs: u32) {
        let search = Search::over(set).threads(1);
        let hits = [100, 1_000].map(|per_10_000| {
            let all = data::hits(docs, per_10_000);
            let of_part = |(at, start): (usize, &u32)| {
                let end = starts.get(at + 1).copied().unwrap_or(docs);
                let own = all.iter().map(|doc| doc.get()).filter(|doc| (*start..end).contains(doc));
                own.map(|doc| DocId::new(doc - start)).collect::<Vec<_>>()
            };
            starts.iter().enumerate().map(of_part).collect::<Vec<_>>()
        });
        let of = |lists: &'static [Vec<DocId>]| -> Vec<Docs<'static>> {
            lists.iter().map(|list| Docs::list(list).expect("ascending")).collect()
        };
        let [few, some] = hits.map(|lists| of(Vec::leak(lists)));
        let all = vec![Docs::All; starts.len()];
        let sets = [("1 %", &few), ("10 %", &some), ("100 %", &all)];
        for (name, docs) in sets {
            self.time(&format!("facet host {name}"), || {
                let found = search.facet(docs.as_slice(), &Facet::of("host")).expect("good bytes");
                found.values.iter().map(|(_, count)| count).sum()
            });
        }
        let doc = |found: &DocAddress| u64::from(starts[found.part as usize] + found.doc.get());
        for key in ["size", "ts", "host"] {
            for (name, docs) in sets {
                self.time(&format!("top 20 {key} {name}"), || {
                    let keys = [SortKey::of(key).descending()];
                    search.top(docs.as_slice(), &keys, 20).expect("good bytes").iter().map(doc).sum()
                });
            }
        }
        let (low, high) = (1_720_000_000_000_i64, 1_720_000_000_000_i64);
        let ts = search.stats(Docs::All, &Stats::of("ts")).expect("good bytes");
        let ends = [ts.min, ts.max].map(|end| end.and_then(|end| end.stored()).unwrap_or(low.min(high)));
        let width = (ends[1] - ends[0]) / 100;
        for (name, from) in [("of ts 1 %", ends[0] + 40 * width), ("of ts none", ends[1] + 1)] {
            let query = Query::range("ts", from..from + width);
            self.time(&format!("count a range {name}"), || search.count(&query).expect("good bytes"));
        }
        let query = Query::eq("host", data::host_name(7));
        self.time("count a host", || search.count(&query).expect("good bytes"));
        let group = Group::of("host").metric(Metric::Sum("size".into())).order(GroupOrder::Metric(0));
        self.time("group by host 100 %", || {
            search.group(Docs::All, &group).expect("good bytes").groups.iter().map(|group| group.count).sum()
        });
        self.time("stats of size, spread", || {
            search.stats(Docs::All, &Stats::of("size").spread()).expect("good bytes").values
        });
        self.time("distinct hosts", || {
            search
                .stats(Docs::All, &Stats::of("host").distinct())
                .expect("good bytes")
                .distinct
                .expect("asked")
                .get()
        });
        let threads = Search::over(set).threads(2);
        let mut least = [Duration::MAX; 2];
        for _ in 0..9 {
            for (least, search) in least.iter_mut().zip([&search, &threads]) {
                let start = Instant::now();
                black_box(search.facet(Docs::All, &Facet::of("host")).expect("good bytes"));
                *least = (*least).min(start.elapsed());
            }
        }
        let factor = least[0].as_secs_f64() / least[1].as_secs_f64();
        self.notes.push(format!("two threads count host {factor:.2} times as fast, wall time"));
    }

    /// A part is added, and the facet is counted again.
    fn adding(&mut self, set: &Parts, added: &[u8]) {
        let facet = Facet::of("host");
        let none = vec![Docs::Range(0, 0); set.len() + 1];
        let (mut adding, mut counted) = (Duration::MAX, Duration::MAX);
        for _ in 0..9 {
            let part = Part::new(Segment::from_bytes(added.to_vec(), OpenOptions::new()).expect("a segment"));
            let start = cpu_time();
            let more = set.with(part);
            let search = Search::over(&more).threads(1);
            black_box(search.facet(none.as_slice(), &facet).expect("good bytes"));
            adding = adding.min(cpu_time().saturating_sub(start));
            black_box(search.facet(Docs::All, &facet).expect("good bytes"));
            counted = counted.min(cpu_time().saturating_sub(start));
        }
        self.tell("adding a part of 2,500 documents", adding);
        self.tell("the same, and facet host 100 %", counted);
    }
}
