//! Facets, sorts, fetches and updates: columns of docvalues beside the fast fields of tantivy, over the hits of tantivy's queries.
//!
//! `fast_fields-QUESTION/CONTENDER/HITS`: documents have one of 100,000 hosts, a size, and words; a query matches all of them, or
//! one in ten. A `facet` counts the ten most frequent hosts, `top` has the 20 largest documents, `fetch` the fields of 20. An
//! `update` changes the size of one document until a searcher sees it: tantivy deletes and adds the document, commits and
//! reloads; docvalues updates and refreshes (`visible`), or commits as well (`durable`). All run on one thread, but for tantivy's
//! writer. Both have one segment. `DOCVALUES_DOCS` is the number of documents, a million without it.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use docvalues::column::DocAddress;
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues_tantivy::{Index, KEY, Options, Searcher, Writer};
use docvalues_testkit::rng::SplitMix64;
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::agg_result::AggregationResults;
use tantivy::collector::TopDocs;
use tantivy::collector::sort_key::SortByStaticFastValue;
use tantivy::query::{AllQuery, Query as TextQuery, TermQuery};
use tantivy::schema::{self, FAST, INDEXED, IndexRecordOption, STORED, STRING, TEXT, Value as _};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term, doc};
use tempfile::TempDir;

const HOSTS: u64 = 100_000;
const PAGE: usize = 20;

/// The values of a document.
struct Row {
    host: String,
    size: i64,
    words: &'static str,
}

impl Row {
    fn of(key: u64) -> Row {
        let mut rng = SplitMix64::new(key);
        // Some hosts are frequent.
        let host = rng.below(HOSTS).min(rng.below(HOSTS));
        let size = rng.below(1 << 40).cast_signed();
        let words = if rng.below(10) == 0 { "common rare" } else { "common" };
        Row { host: format!("host-{host}.example"), size, words }
    }
}

fn docs() -> u64 {
    std::env::var("DOCVALUES_DOCS").map_or(1_000_000, |docs| docs.parse().expect("a number of documents"))
}

/// An index whose columns are those of docvalues.
struct Ours {
    index: Index,
    writer: Writer,
    _folder: TempDir,
}

impl Ours {
    fn build() -> Ours {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = schema::Schema::builder();
        let body = text.add_text_field("body", TEXT);
        let columns = StoreSchema::new().with_fields([
            Field::new("host", Kind::Sorted, LogicalType::Utf8),
            Field::new("size", Kind::Numeric, LogicalType::I64),
        ]);
        let options = Options::new().text_memory(200_000_000);
        let created = Index::create(folder.path(), text, columns.expect("a schema"), options);
        let (index, mut writer) = created.expect("an index");
        let (host, size) = (writer.field("host").expect("a field"), writer.field("size").expect("a field"));
        for key in 0..docs() {
            let row = Row::of(key);
            let columns = writer.add(key, doc!(body => row.words), |doc| {
                doc.str(host, &row.host)?.i64(size, row.size)?;
                Ok(())
            });
            columns.expect("a document");
        }
        writer.commit().expect("a commit");
        writer.merge().expect("a merge");
        Ours { index, writer, _folder: folder }
    }

    fn facet(searcher: &Searcher, query: &dyn TextQuery) -> Vec<u64> {
        let hits = searcher.hits(query).expect("hits");
        let found = searcher.search().threads(1).facet(&hits, &Facet::of("host")).expect("a facet");
        found.values.iter().map(|(_, count)| *count).collect()
    }

    fn top(searcher: &Searcher, query: &dyn TextQuery) -> Vec<DocAddress> {
        let hits = searcher.hits(query).expect("hits");
        let keys = [SortKey::of("size").descending()];
        searcher.search().threads(1).top(&hits, &keys, PAGE).expect("documents")
    }

    fn fetch(searcher: &Searcher, docs: &[DocAddress]) -> Vec<(String, i64)> {
        let mut retriever = searcher.search().threads(1).retriever(&["host", "size"]).expect("columns");
        let rows = retriever.retrieve(docs).expect("rows").rows();
        rows.map(|row| (row.get(0).expect("a host"), row.get(1).expect("a size"))).collect()
    }

    fn update(&mut self, key: u64, value: i64) {
        let size = self.writer.field("size").expect("a field");
        self.writer.update(key, |doc| doc.i64(size, value).map(drop)).expect("an update");
        self.writer.refresh().expect("a refresh");
        black_box(self.index.searcher());
    }
}

/// An index whose columns are fast fields.
struct Theirs {
    reader: IndexReader,
    writer: IndexWriter,
    key: schema::Field,
    host: schema::Field,
    size: schema::Field,
    body: schema::Field,
    hosts: Aggregations,
    _folder: TempDir,
}

impl Theirs {
    fn build() -> Theirs {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = schema::Schema::builder();
        let key = text.add_u64_field(KEY, INDEXED | FAST);
        let host = text.add_text_field("host", STRING | FAST | STORED);
        let size = text.add_i64_field("size", FAST | STORED);
        let body = text.add_text_field("body", TEXT);
        let index = tantivy::Index::create_in_dir(folder.path(), text.build()).expect("an index");
        let writer = index.writer(200_000_000).expect("a writer");
        let hosts = serde_json::json!({ "hosts": { "terms": { "field": "host", "size": 10 } } });
        let hosts = serde_json::from_value(hosts).expect("a request");
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().expect("a reader");
        let mut theirs = Theirs { reader, writer, key, host, size, body, hosts, _folder: folder };
        for key in 0..docs() {
            theirs.add(key, Row::of(key));
        }
        theirs.writer.commit().expect("a commit");
        let segments = index.searchable_segment_ids().expect("segments");
        if segments.len() > 1 {
            theirs.writer.merge(&segments).wait().expect("a merge");
        }
        theirs.reader.reload().expect("a reload");
        theirs
    }

    fn add(&self, key: u64, row: Row) {
        let doc = doc!(
            self.key => key, self.host => row.host.as_str(), self.size => row.size, self.body => row.words
        );
        self.writer.add_document(doc).expect("a document");
    }

    fn facet(&self, searcher: &tantivy::Searcher, query: &dyn TextQuery) -> Vec<u64> {
        let collector = AggregationCollector::from_aggs(self.hosts.clone(), Default::default());
        let found: AggregationResults = searcher.search(query, &collector).expect("a facet");
        let found = serde_json::to_value(&found).expect("JSON");
        let buckets = found["hosts"]["buckets"].as_array().expect("buckets");
        buckets.iter().filter_map(|bucket| bucket["doc_count"].as_u64()).collect()
    }

    fn top(searcher: &tantivy::Searcher, query: &dyn TextQuery) -> Vec<tantivy::DocAddress> {
        // As `order_by_fast_field` with `Order::Desc`, which chooses the comparison anew for each document.
        let collector = TopDocs::with_limit(PAGE).order_by(SortByStaticFastValue::<i64>::for_field("size"));
        let found: Vec<(Option<i64>, tantivy::DocAddress)> =
            searcher.search(query, &collector).expect("documents");
        found.into_iter().map(|(_, doc)| doc).collect()
    }

    fn fetch_stored(&self, searcher: &tantivy::Searcher, docs: &[tantivy::DocAddress]) -> Vec<(String, i64)> {
        let row = |doc: &tantivy::DocAddress| {
            let doc: TantivyDocument = searcher.doc(*doc).expect("a document");
            let host = doc.get_first(self.host).and_then(|host| host.as_str()).expect("a host").to_owned();
            (host, doc.get_first(self.size).and_then(|size| size.as_i64()).expect("a size"))
        };
        docs.iter().map(row).collect()
    }

    fn fetch_fast(searcher: &tantivy::Searcher, docs: &[tantivy::DocAddress]) -> Vec<(String, i64)> {
        let fields = searcher.segment_reader(0).fast_fields();
        let (hosts, sizes) = (fields.str("host").expect("a column"), fields.i64("size").expect("a column"));
        let hosts = hosts.expect("a column");
        let row = |doc: &tantivy::DocAddress| {
            let (mut host, ord) = (String::new(), hosts.term_ords(doc.doc_id).next().expect("a host"));
            hosts.ord_to_str(ord, &mut host).expect("a host");
            (host, sizes.first(doc.doc_id).expect("a size"))
        };
        docs.iter().map(row).collect()
    }

    fn update(&mut self, key: u64, size: i64) {
        self.writer.delete_term(Term::from_field_u64(self.key, key));
        self.add(key, Row { size, ..Row::of(key) });
        self.writer.commit().expect("a commit");
        self.reader.reload().expect("a reload");
        black_box(self.reader.searcher());
    }
}

fn fast_fields(criterion: &mut Criterion) {
    let (mut ours, mut theirs) = (Ours::build(), Theirs::build());
    let (columns, fast) = (ours.index.searcher(), theirs.reader.searcher());
    for hits in ["all", "tenth"] {
        // Both indexes have the same fields of words, but not the same numbers of fields.
        let query = |schema: &schema::Schema| -> Box<dyn TextQuery> {
            let body = schema.get_field("body").expect("a field");
            match hits {
                "all" => Box::new(AllQuery),
                _ => Box::new(TermQuery::new(Term::from_field_text(body, "rare"), IndexRecordOption::Basic)),
            }
        };
        let (our_query, their_query) = (query(columns.text().schema()), query(fast.schema()));
        assert_eq!(Ours::facet(&columns, &*our_query), theirs.facet(&fast, &*their_query));
        let mut group = criterion.benchmark_group("fast_fields-facet");
        group.bench_function(BenchmarkId::new("docvalues", hits), |b| {
            b.iter(|| Ours::facet(&columns, &*our_query))
        });
        group.bench_function(BenchmarkId::new("tantivy", hits), |b| {
            b.iter(|| theirs.facet(&fast, &*their_query))
        });
        group.finish();

        let mut group = criterion.benchmark_group("fast_fields-top");
        group.bench_function(BenchmarkId::new("docvalues", hits), |b| {
            b.iter(|| Ours::top(&columns, &*our_query))
        });
        group.bench_function(BenchmarkId::new("tantivy", hits), |b| {
            b.iter(|| Theirs::top(&fast, &*their_query))
        });
        group.finish();

        let (our_docs, their_docs) = (Ours::top(&columns, &*our_query), Theirs::top(&fast, &*their_query));
        let expected = Ours::fetch(&columns, &our_docs);
        assert_eq!(expected, theirs.fetch_stored(&fast, &their_docs));
        assert_eq!(expected, Theirs::fetch_fast(&fast, &their_docs));
        let mut group = criterion.benchmark_group("fast_fields-fetch");
        group.bench_function(BenchmarkId::new("docvalues", hits), |b| {
            b.iter(|| Ours::fetch(&columns, &our_docs))
        });
        group.bench_function(BenchmarkId::new("tantivy-stored", hits), |b| {
            b.iter(|| theirs.fetch_stored(&fast, &their_docs));
        });
        group.bench_function(BenchmarkId::new("tantivy-fast", hits), |b| {
            b.iter(|| Theirs::fetch_fast(&fast, &their_docs));
        });
        group.finish();
    }
    drop((columns, fast));

    let (mut rng, docs) = (SplitMix64::new(7), docs());
    let mut group = criterion.benchmark_group("fast_fields-update");
    group.sample_size(20);
    group.bench_function("docvalues-visible/1", |b| b.iter(|| ours.update(rng.below(docs), 7)));
    group.bench_function("docvalues-durable/1", |b| {
        b.iter(|| {
            ours.update(rng.below(docs), 7);
            ours.writer.commit().expect("a commit");
        });
    });
    group.bench_function("tantivy-durable/1", |b| b.iter(|| theirs.update(rng.below(docs), 7)));
    group.finish();
}

criterion_group! { name = benches; config = Criterion::default(); targets = fast_fields }
criterion_main!(benches);
