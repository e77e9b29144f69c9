//! Times workloads of searches, columns and builds, for `benches/pairs`, which compares two builds.
//!
//! `workloads FILE [PREFIX]` writes documents to FILE if it does not exist (a million, or `DOCVALUES_BENCH_DOCS`),
//! maps it, and runs each workload whose name begins with PREFIX. A line is `NAME NANOSECONDS SUM`: the median CPU
//! time of several runs, and a sum of the result, which must be equal in both builds.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

mod aggregations;
mod bitsets;
mod builds;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use docvalues::column::DocAddress;
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::group::{Group, GroupOrder, Metric};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, Query, Search};
use docvalues_benches::clock::cpu_time;
use docvalues_benches::{data, segment};

const COLUMNS: [&str; 8] = ["ts", "size", "status", "price60", "uni24", "host", "url", "tags"];

fn main() {
    let path = std::env::args().nth(1).expect("a file's name");
    let path = Path::new(&path);
    if !path.exists() {
        let bytes = segment::write(docvalues_benches::docs(), &COLUMNS, WriterOptions::default()).bytes;
        std::fs::write(path, bytes).expect("room for the file");
    }
    let segment = Segment::open(path).expect("a segment");
    let docs = segment.docs();
    let hits = [100, 1_000].map(|per_10_000| data::hits(docs, per_10_000));
    let sets = [
        ("1%", Docs::list(&hits[0]).expect("ascending")),
        ("10%", Docs::list(&hits[1]).expect("ascending")),
        ("all", Docs::All),
    ];
    columns(&segment, &hits[0]);
    filters(&segment);
    searches(&segment, &sets);
    pages(&segment);
    bitsets::bitsets(&segment);
    aggregations::aggregations(&segment);
    builds::builds(docs);
}

/// Runs `work` at least five times, for 60 ms or more, and prints the median CPU time.
fn time(name: &str, mut work: impl FnMut() -> u64) {
    time_after(name, || (), |()| work());
}

/// As [`time`], for work with what `prepare` returns, which is not timed.
fn time_after<T>(name: &str, mut prepare: impl FnMut() -> T, mut work: impl FnMut(T) -> u64) {
    if std::env::args().nth(2).is_some_and(|prefix| !name.starts_with(&prefix)) {
        return;
    }
    let sum = work(prepare());
    let (mut times, mut total) = (Vec::new(), Duration::ZERO);
    while times.len() < 5 || total < Duration::from_millis(60) && times.len() < 2_000 {
        let prepared = prepare();
        let start = cpu_time();
        black_box(work(prepared));
        times.push(cpu_time().saturating_sub(start));
        total += times[times.len() - 1];
    }
    times.sort_unstable();
    println!("{name} {} {sum}", times[times.len() / 2].as_nanos());
}

fn columns(segment: &Segment, hits: &[DocId]) {
    let docs = segment.docs();
    let random = data::random_docs(docs, 100_000);
    let mut out = vec![0; hits.len().max(random.len())];
    for name in ["ts", "size", "price60", "uni24"] {
        let column = segment.stored(name).expect("written");
        for (order, requested) in [("ascending", hits), ("random", random.as_slice())] {
            time(&format!("gather/{name}/{order}"), || {
                let out = &mut out[..requested.len()];
                column.gather_or(requested, out, 0).expect("good bytes");
                out.iter().fold(0, |sum, &value| sum.wrapping_add(value.cast_unsigned()))
            });
        }
        time(&format!("scan/{name}"), || {
            let mut sum = 0_u64;
            let scanned = column.scan(0..docs, |_, values| {
                sum = values.iter().fold(sum, |sum, &value| sum.wrapping_add(value.cast_unsigned()));
                ControlFlow::Continue(())
            });
            scanned.expect("good bytes");
            sum
        });
        time(&format!("get/{name}"), || {
            let value = |doc: &DocId| column.get(*doc).expect("good bytes").unwrap_or(0).cast_unsigned();
            random.iter().map(value).fold(0, u64::wrapping_add)
        });
    }
    let (host, mut ords) = (segment.sorted("host").expect("written"), vec![TermOrd::new(0); hits.len()]);
    time("gather/host/ascending", || {
        host.gather_or(hits, &mut ords, TermOrd::new(0)).expect("good bytes");
        ords.iter().map(|ord| u64::from(ord.get())).sum()
    });
    let (tags, mut lists) = (segment.sorted_set("tags").expect("written"), docvalues::column::Lists::new());
    time("gather/tags/ascending", || {
        tags.gather(hits, &mut lists).expect("good bytes");
        lists.slices().items().iter().map(|ord| u64::from(ord.get())).sum()
    });
    let (url, mut urls) = (segment.binary("url").expect("written"), docvalues::column::Lists::new());
    time("gather/url/ascending", || {
        url.gather_or(hits, &mut urls, b"").expect("good bytes");
        urls.slices().items().len() as u64
    });
}

fn filters(segment: &Segment) {
    let search = Search::new(segment).threads(1);
    let queries = [
        ("uni24", "uni24 in 1000000..1167772"),
        ("size", "size in 300000..400000"),
        ("price60", "price60 in 1000..12000"),
        ("host", "host ^= \"host-00\" or host < \"host-01\""),
        ("tags", "tags exists and not tags < \"t\""),
        ("and", "status = 404 and size > 100000 and uni24 < 1000000"),
    ];
    for (name, text) in queries {
        let query = Query::parse(text).expect("a query");
        time(&format!("filter/{name}"), || search.filter(&query).expect("good bytes").count());
        time(&format!("count/{name}"), || search.count(&query).expect("good bytes"));
    }
}

fn searches(segment: &Segment, sets: &[(&str, Docs<'_>)]) {
    let search = Search::new(segment).threads(1);
    for &(set, docs) in sets {
        for name in ["host", "status", "tags", "size"] {
            time(&format!("facet/{name}/{set}"), || {
                search
                    .facet(docs, &Facet::of(name))
                    .expect("good bytes")
                    .values
                    .iter()
                    .map(|(_, count)| count)
                    .sum()
            });
        }
        for name in ["ts", "uni24", "size", "host"] {
            let keys = [SortKey::of(name).descending()];
            time(&format!("top/{name}/{set}"), || {
                let top = search.top(docs, &keys, 20).expect("good bytes");
                top.iter().map(|found| u64::from(found.doc.get())).sum()
            });
        }
        let group = Group::of("host").metric(Metric::Sum("size".into())).order(GroupOrder::Metric(0));
        time(&format!("group/host/{set}"), || {
            search.group(docs, &group).expect("good bytes").groups.iter().map(|group| group.count).sum()
        });
        for name in ["size", "price60"] {
            let stats = Stats::of(name).spread().distinct();
            time(&format!("stats/{name}/{set}"), || search.stats(docs, &stats).expect("good bytes").values);
        }
    }
    // Numbers, ords and byte strings; then long runs, and short ones of numbers and of byte strings.
    for names in ["uni24", "size", "ts", "price60", "host", "url", "status,uni24", "host,size", "host,url"] {
        let keys: Vec<SortKey> = names.split(',').map(SortKey::of).collect();
        // Byte strings of all documents take seconds.
        let sets = if names.ends_with("url") { &sets[..2] } else { sets };
        for &(set, docs) in sets {
            time(&format!("sorted/{names}/{set}"), || {
                let sorted = search.sorted(docs, &keys).expect("good bytes");
                sorted.iter().step_by(97).map(|doc| u64::from(doc.doc.get())).sum()
            });
        }
    }
    let few = &sets[0];
    time(&format!("export/{}", few.0), || {
        let mut rows = 0;
        let mut export = search.export(few.1, &["url", "host", "ts", "size"]).expect("columns");
        while let Some(chunk) = export.next_chunk().expect("good bytes") {
            rows += chunk.len() as u64;
        }
        rows
    });
}

/// Pages 1 and 1,000 of 20 documents, in either direction.
fn pages(segment: &Segment) {
    let search = Search::new(segment).threads(1);
    for name in ["ts", "uni24", "size", "host"] {
        for (direction, key) in [("up", SortKey::of(name)), ("down", SortKey::of(name).descending())] {
            let keys = [key];
            let sum =
                |page: Vec<DocAddress>| -> u64 { page.iter().map(|found| u64::from(found.doc.get())).sum() };
            time(&format!("page/{name}/{direction}/1"), || {
                sum(search.top(Docs::All, &keys, 20).expect("good bytes"))
            });
            let before = search.top(Docs::All, &keys, 999 * 20).expect("good bytes");
            let last = before.last().expect("documents");
            let position = search.sort_cursor(&keys, *last).expect("good bytes");
            time(&format!("page/{name}/{direction}/1000"), || {
                sum(search.top_after(Docs::All, &keys, &position, 20).expect("good bytes"))
            });
        }
    }
}
