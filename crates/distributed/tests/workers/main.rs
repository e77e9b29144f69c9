//! Two workers, whose answers are those of one machine, or errors.
#![expect(clippy::unwrap_used, reason = "tests")]

mod cluster;
#[path = "../../../ballista/tests/cluster/data.rs"]
mod data;

use std::collections::BTreeSet;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cluster::Cluster;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use docvalues::store::Dataset;
use docvalues_datafusion::DocvaluesTable;
use docvalues_distributed::{TablePart, Workers};

/// Documents of each file.
const DOCS: u32 = 9_000;

/// The number of files.
const FILES: u32 = 12;

/// The documents of the store, and those of each of its segments.
const STORED: u32 = 60_000;
const SEGMENT: u32 = 10_000;

/// Over `hits`, of files, and `changed`, of a store.
const QUERIES: [&str; 13] = [
    "select count(*) as n, sum(size) as s, count(price) as p from hits where size >= 300 and host <> 'host-3'",
    "select count(*) as n, sum(size) as s, count(number) as c from changed where size > 500",
    "select host, count(*) as n, sum(size) as s, max(price) as p from hits group by host order by host",
    "select number, price from hits where price > 2.5 order by number desc limit 7",
    "select size, count(*) as n from changed where size < 9 or size > 1000 group by size order by size",
    "select count(*) as n, sum(a.size) as s from hits a join changed b on a.number = b.number where b.size < 50",
    "select count(*) as n from (select * from hits where size < 900 limit 50000)",
    "select count(*) as n, sum(size) as s from (select size from hits union all select size from changed)",
    "select count(*) as n, min(number), max(number) from hits",
    "select count(*) as n, count(id) as i from changed",
    "select number, size from changed order by size desc, number limit 5",
    "select number from hits where size = (select max(size) from changed where size < 1000) order by number limit 3",
    "select v.name, count(*) as n from hits join (values ('host-1', 'one'), ('host-2', 'two')) v(host, name) on hits.host = v.host group by v.name order by v.name",
];

/// The longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A query that reads all values of `hits`.
const ALL: &str =
    "select sum(size), sum(number), sum(price), count(host) from hits where host <> 'host-3' and price > 0";

async fn answer(context: &SessionContext, query: &str) -> datafusion::error::Result<String> {
    let found = tokio::time::timeout(PATIENCE, context.sql(query).await?.collect()).await;
    let batches = found.unwrap_or_else(|_| panic!("no answer: {query}"))?;
    Ok(pretty_format_batches(&batches)?.to_string())
}

fn register(context: &SessionContext, name: &str, dataset: &Dataset) {
    let table = DocvaluesTable::of_dataset(dataset.clone()).unwrap();
    context.register_table(name, Arc::new(table)).unwrap();
}

fn tables(folder: &Path) -> (Vec<PathBuf>, Dataset, Dataset) {
    let (files, stored) = (data::files(folder), folder.join("store"));
    drop(data::store(&stored));
    let hits = Dataset::of_files(&files).unwrap();
    (files, hits, Dataset::of_store(&stored).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (_, hits, changed) = tables(folder.path());
    let cluster = Cluster::start(2).await;
    let (local, context) = (SessionContext::new(), cluster.workers().session().unwrap());
    for context in [&local, &context] {
        register(context, "hits", &hits);
        register(context, "changed", &changed);
    }
    for query in QUERIES {
        let expected = answer(&local, query).await.unwrap();
        assert_eq!(answer(&context, query).await.unwrap(), expected, "{query}");
    }
    assert!(cluster.parts(0).len() > 1 && cluster.parts(1).len() > 1, "a worker was idle");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_where_the_caller_says() {
    let folder = tempfile::tempdir().unwrap();
    let (files, hits, _) = tables(folder.path());
    let cluster = Cluster::start(2).await;
    let second = files[3..8].iter().map(|file| file.to_str().unwrap().to_owned());
    let second: BTreeSet<String> = second.collect();
    let place = move |part: &TablePart<'_>, workers: usize| {
        assert_eq!(workers, 2);
        usize::from(second.contains(part.file.unwrap()))
    };
    let context = cluster.workers().with_place(place).session().unwrap();
    register(&context, "hits", &hits);
    let twice =
        "select count(*), sum(b.price) from hits a join hits b on a.number = b.number where b.size < 50";
    let union = "select sum(size) from (select size from hits union all select number from hits)";
    for query in [ALL, QUERIES[2], QUERIES[3], twice, union] {
        cluster.forget();
        answer(&context, query).await.unwrap();
        let last = u32::try_from(files.len()).unwrap();
        assert_eq!(cluster.parts(1), (3..8).collect::<Vec<u32>>(), "{query}");
        assert_eq!(cluster.parts(0), (0..3).chain(8..last).collect::<Vec<u32>>(), "{query}");
    }
    let beyond =
        cluster.workers().with_place(|part, workers| part.number % 3 + workers - 2).session().unwrap();
    register(&beyond, "hits", &hits);
    let error = answer(&beyond, ALL).await.unwrap_err().to_string();
    assert!(error.contains("expected a worker below 2") && error.contains("02.dv"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_gone_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (_, hits, _) = tables(folder.path());
    let mut cluster = Cluster::start(2).await;
    let context = cluster.workers().session().unwrap();
    register(&context, "hits", &hits);
    let expected = answer(&context, ALL).await.unwrap();
    cluster.stop(1).await;
    for _ in 0..3 {
        let error = answer(&context, ALL).await.unwrap_err().to_string();
        assert!(error.contains(&cluster.urls()[1]["http://".len()..]), "{error}");
    }
    let context = Workers::new(&cluster.urls()[..1]).unwrap().session().unwrap();
    register(&context, "hits", &hits);
    assert_eq!(answer(&context, ALL).await.unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_dies_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (_, hits, changed) = tables(folder.path());
    let local = SessionContext::new();
    register(&local, "hits", &hits);
    register(&local, "changed", &changed);
    let mut failed = 0;
    for (query, moment) in [(2, 0), (2, 40), (5, 10), (5, 80), (5, 200), (7, 30)] {
        let mut cluster = Cluster::start(2).await;
        let context = cluster.workers().session().unwrap();
        register(&context, "hits", &hits);
        register(&context, "changed", &changed);
        let expected = answer(&local, QUERIES[query]).await.unwrap();
        let found = tokio::spawn(async move { answer(&context, QUERIES[query]).await });
        tokio::time::sleep(Duration::from_millis(moment)).await;
        cluster.stop(1).await;
        match found.await.unwrap() {
            Ok(found) => assert_eq!(found, expected, "{}", QUERIES[query]),
            Err(_) => failed += 1,
        }
    }
    assert!(failed > 0, "each worker died too late");
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_and_missing_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (files, hits, _) = tables(folder.path());
    let cluster = Cluster::start(2).await;
    let context = cluster.workers().session().unwrap();
    register(&context, "hits", &hits);
    // Values, which are compared with their checksums when they are first touched; length and directory are as they were.
    let len = std::fs::metadata(&files[7]).unwrap().len();
    let mut file = std::fs::OpenOptions::new().write(true).open(&files[7]).unwrap();
    file.seek(SeekFrom::Start(len / 4)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(len / 2).unwrap()]).unwrap();
    drop(file);
    let error = answer(&context, ALL).await.unwrap_err().to_string();
    assert!(error.contains(files[7].to_str().unwrap()), "{error}");

    let cluster = Cluster::start(2).await;
    let context = cluster.workers().session().unwrap();
    register(&context, "hits", &hits);
    std::fs::remove_file(&files[2]).unwrap();
    let error = answer(&context, ALL).await.unwrap_err().to_string();
    assert!(error.contains(files[2].to_str().unwrap()), "{error}");
}

#[test]
fn workers_have_urls() {
    let none: [&str; 0] = [];
    assert!(Workers::new(none).unwrap_err().to_string().contains("expected at least one worker"));
    assert!(Workers::new(["one.example"]).unwrap_err().to_string().contains("one.example"));
}

/// Tables of opened segments cannot be sent.
#[tokio::test(flavor = "multi_thread")]
async fn other_tables_are_right_or_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (_, hits, changed) = tables(folder.path());
    let cluster = Cluster::start(2).await;
    let (local, context) = (SessionContext::new(), cluster.workers().session().unwrap());
    for context in [&local, &context] {
        register(context, "hits", &hits);
        let opened = DocvaluesTable::new(&changed.open().unwrap()).unwrap();
        context.register_table("changed", Arc::new(opened)).unwrap();
        let sliced = DocvaluesTable::of_dataset(changed.clone()).unwrap().sliced();
        context.register_table("sliced", Arc::new(sliced)).unwrap();
    }
    let mut errors = 0;
    for query in QUERIES {
        for query in [query.to_owned(), query.replace("changed", "sliced")] {
            match answer(&context, &query).await {
                Ok(found) => assert_eq!(found, answer(&local, &query).await.unwrap(), "{query}"),
                Err(error) => {
                    assert!(error.to_string().contains("make it by `DocvaluesTable::of_dataset`"), "{error}");
                    errors += 1;
                }
            }
        }
    }
    assert!(errors > 0);
}
