//! A cluster of four processes, whose answers are those of one machine, or errors.
#![expect(clippy::unwrap_used, reason = "tests")]

mod data;
mod processes;

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{CsvReadOptions, SessionContext};
use docvalues::store::Dataset;
use docvalues_datafusion::{DocvaluesTable, Objects};
use processes::{Cluster, Process};

/// Documents of each file: more than those at whose multiples partitions begin.
const DOCS: u32 = 70_000;

/// The number of files: more than all executors have CPUs.
const FILES: u32 = 12;

/// The documents of the store, and those of each of its segments.
const STORED: u32 = 300_000;
const SEGMENT: u32 = 50_000;

/// Over `hits`, of files, and `changed`, of a store.
const QUERIES: [&str; 10] = [
    "select count(*) as n, sum(size) as s, count(price) as p from hits where size >= 300 and host <> 'host-3'",
    "select count(*) as n, sum(size) as s, count(number) as c from changed where size > 500",
    "select host, count(*) as n, sum(size) as s, max(price) as p from hits group by host order by host",
    "select number, price from hits where price > 2.5 order by number desc limit 7",
    "select size, count(*) as n from changed where size < 9 or size > 1000 group by size order by size",
    "select count(*) as n, sum(a.size) as s from hits a join changed b on a.number = b.number where b.size < 50",
    "select count(*) as n from (select * from hits where size < 900 limit 100000)",
    "select count(*) as n, sum(size) as s from (select size from hits union all select size from changed)",
    "select count(*) as n, min(number), max(number) from hits",
    "select count(*) as n, count(id) as i from changed",
];

/// The longest time for an answer: much longer than after which an executor counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

async fn answer(context: &SessionContext, query: &str) -> datafusion::error::Result<String> {
    let found = tokio::time::timeout(PATIENCE, context.sql(query).await?.collect()).await;
    let batches = found.unwrap_or_else(|_| panic!("no answer: {query}"))?;
    Ok(pretty_format_batches(&batches)?.to_string())
}

fn table(dataset: &Dataset) -> Arc<DocvaluesTable> {
    Arc::new(DocvaluesTable::of_dataset(dataset.clone()).unwrap())
}

/// The answers of one machine.
async fn expected(hits: &Dataset, changed: &Dataset) -> Vec<String> {
    let local = SessionContext::new();
    local.register_table("hits", table(hits)).unwrap();
    local.register_table("changed", table(changed)).unwrap();
    let mut answers = Vec::new();
    for query in QUERIES {
        answers.push(answer(&local, query).await.unwrap());
    }
    answers
}

async fn client(cluster: &Cluster, hits: &Dataset, changed: &Dataset) -> SessionContext {
    let context = docvalues_ballista::connect(&cluster.url).await.unwrap();
    context.register_table("hits", table(hits)).unwrap();
    context.register_table("changed", table(changed)).unwrap();
    context
}

/// The tables in a folder, and the answers of one machine.
async fn tables(folder: &Path) -> (Dataset, Dataset, Vec<String>) {
    let (files, stored) = (data::files(folder), folder.join("store"));
    drop(data::store(&stored));
    let (hits, changed) = (Dataset::of_files(files).unwrap(), Dataset::of_store(&stored).unwrap());
    let expected = expected(&hits, &changed).await;
    (hits, changed, expected)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (hits, changed, expected) = tables(folder.path()).await;
    let cluster = Cluster::start(2, 2);
    let context = client(&cluster, &hits, &changed).await;
    for (query, expected) in QUERIES.iter().zip(&expected) {
        let began = Instant::now();
        assert_eq!(answer(&context, query).await.unwrap(), *expected, "{query}");
        println!("{:?}: {query}", began.elapsed());
    }
    assert!(cluster.executors.iter().all(Process::has_worked), "an executor was idle");
    csv_is_still_read(&context, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_dies_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (hits, changed, expected) = tables(folder.path()).await;
    // In queries of several stages, of which the second begins after a while.
    for (query, moment) in [(2, 150), (2, 700), (4, 80), (5, 900)] {
        let mut cluster = Cluster::start(2, 2);
        let context = client(&cluster, &hits, &changed).await;
        // Now executors have the files open.
        assert_eq!(answer(&context, QUERIES[query]).await.unwrap(), expected[query]);
        let running = context.clone();
        let found = tokio::spawn(async move { answer(&running, QUERIES[query]).await });
        tokio::time::sleep(Duration::from_millis(moment)).await;
        cluster.executors[1].kill();
        match found.await.unwrap() {
            Ok(found) => assert_eq!(found, expected[query], "{}", QUERIES[query]),
            // It had results that are lost.
            Err(error) => println!("query {query}, killed after {moment} ms: {error}"),
        }
        for (query, expected) in QUERIES.iter().zip(&expected) {
            assert_eq!(answer(&context, query).await.unwrap(), *expected, "{query}");
        }
    }
}

/// Ballista's own codecs still work.
async fn csv_is_still_read(context: &SessionContext, folder: &Path) {
    let path = folder.join("names.csv");
    std::fs::write(&path, "host,name\nhost-1,one\nhost-2,two\n").unwrap();
    context.register_csv("names", path.to_str().unwrap(), CsvReadOptions::new()).await.unwrap();
    let query = "select name, count(*) as n from hits join names on hits.host = names.host where size < 500 group by name order by name";
    let found = answer(context, query).await.unwrap();
    assert!(found.contains("| one  | 2") && found.contains("| two  | 2"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_changed_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (files, stored) = (data::files(folder.path()), folder.path().join("store"));
    let store = data::store(&stored);
    let (hits, changed) = (Dataset::of_files(&files).unwrap(), Dataset::of_store(&stored).unwrap());
    let cluster = Cluster::start(1, 2);
    let context = client(&cluster, &hits, &changed).await;
    let sum = "select sum(size) as s from hits where price > 1";
    // The scheduler opens the files, and answers from their descriptions.
    answer(&context, "select count(*) from hits").await.unwrap();
    let (first, fifth, saved) = (&files[0], &files[5], folder.path().join("saved"));
    std::fs::copy(fifth, &saved).unwrap();
    std::fs::copy(first, folder.path().join("other")).unwrap();
    std::fs::rename(folder.path().join("other"), fifth).unwrap();
    let error = answer(&context, sum).await.unwrap_err().to_string();
    assert!(error.contains(fifth.to_str().unwrap()) && error.contains("expected"), "{error}");
    std::fs::remove_file(fifth).unwrap();
    let error = answer(&context, sum).await.unwrap_err().to_string();
    assert!(error.contains(fifth.to_str().unwrap()), "{error}");

    std::fs::rename(&saved, fifth).unwrap();
    let expected = {
        let local = SessionContext::new();
        local.register_table("hits", table(&hits)).unwrap();
        answer(&local, sum).await.unwrap()
    };
    assert_eq!(answer(&context, sum).await.unwrap(), expected);

    // The commit that the client opened is removed when the next one is durable.
    data::change(&store, 7);
    let error = answer(&context, "select sum(size) as s from changed where number > 9").await.unwrap_err();
    assert!(error.to_string().contains("found commit 3"), "{error}");
    let changed = Dataset::of_store(&stored).unwrap();
    context.register_table("now", table(&changed)).unwrap();
    answer(&context, "select sum(size) as s from now where number > 9").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_tables() {
    let folder = tempfile::tempdir().unwrap();
    let files = data::files(folder.path());
    let (hits, query) = (Dataset::of_files(&files).unwrap(), QUERIES[2]);
    let local = SessionContext::new();
    local.register_table("hits", table(&hits)).unwrap();
    let cluster = Cluster::start(2, 2);
    let context = docvalues_ballista::connect(&cluster.url).await.unwrap();
    // Each process has the store of files among its object stores.
    let objects = Objects::new(context.runtime_env());
    let urls = files.iter().map(|file| format!("file://{}", file.display()));
    let of_objects = objects.table(objects.dataset(urls).await.unwrap()).await.unwrap();
    context.register_table("hits", Arc::new(of_objects)).unwrap();
    assert_eq!(answer(&context, query).await.unwrap(), answer(&local, query).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let files = data::files(folder.path());
    let hits = Dataset::of_files(&files).unwrap();
    let cluster = Cluster::start(1, 2);
    let context = docvalues_ballista::connect(&cluster.url).await.unwrap();
    context.register_table("hits", table(&hits)).unwrap();
    // Values, which are compared with their checksums when they are first touched; length and directory are as they were.
    let len = std::fs::metadata(&files[7]).unwrap().len();
    let mut file = std::fs::OpenOptions::new().write(true).open(&files[7]).unwrap();
    file.seek(SeekFrom::Start(len / 4)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(len / 2).unwrap()]).unwrap();
    drop(file);
    let all = "select sum(size), sum(number), sum(price), count(host) from hits where host <> 'host-3' and price > 0";
    let error = answer(&context, all).await.unwrap_err().to_string();
    assert!(error.contains(files[7].to_str().unwrap()), "{error}\n{}", cluster.executors[0].log());
}
