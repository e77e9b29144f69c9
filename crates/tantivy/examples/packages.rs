//! A search over packages: text, facets, sorts, groups, and a value that changes.
//!
//! `cargo run --release --example packages -- [FILE [WORDS]]`: the file has a package a line, as JSON, and may be compressed with
//! gzip; without one, it is that of the repository. The words are a query of tantivy.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use docvalues::column::DocAddress;
use docvalues::prelude::*;
use docvalues::search::SearchRequest;
use docvalues::search::facet::Facet;
use docvalues::search::group::Group;
use docvalues::search::stats::Stats;
use docvalues_tantivy::{Index, Options, Searcher, Writer};
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{self, TEXT};
use tantivy::{TantivyDocument, doc};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/packages.ndjson.gz");

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| PACKAGES.to_owned());
    let words = arguments.next().unwrap_or_else(|| "library utility".to_owned());
    let folder = tempfile::tempdir()?;
    let (index, mut writer) = create(folder.path())?;
    let packages = load(&mut writer, &index, lines(Path::new(&file))?)?;
    println!("{packages} packages");

    let fields = ["package", "description"].map(|name| index.text().schema().get_field(name));
    let fields = fields.into_iter().collect::<Result<_, _>>()?;
    let query = QueryParser::for_index(index.text(), fields).parse_query(&words)?;
    let searcher = index.searcher();
    let hits = searcher.hits(&*query)?;
    println!("{} have {words:?}, of 100 kB and more:", hits.count());

    // Text and a range of a column; facets, statistics, groups and a sort of what both match.
    let by_size = [SortKey::of("size").descending()];
    let request = SearchRequest::new()
        .query(Query::hits(hits).and(Query::parse("size >= 100kB")?))
        .facets([Facet::of("section").top(3), Facet::of("tags").top(3)])
        .stats([Stats::of("size").percentiles([50.0])])
        .groups([Group::of("section").docs(1).sort(by_size.clone()).top(3)])
        .sort(by_size)
        .top(5);
    let answer = searcher.search().request(&request)?;
    for facet in &answer.facets {
        let values: Vec<String> =
            facet.values.iter().map(|(value, count)| format!("{value} {count}")).collect();
        println!("  {}: {}", facet.field.name, values.join(", "));
    }
    for stats in &answer.stats {
        let text =
            |value: &Option<docvalues::Value>| value.as_ref().map(ToString::to_string).unwrap_or_default();
        println!("  {} sizes from {} to {}", stats.docs, text(&stats.min), text(&stats.max));
    }
    for group in answer.groups.iter().flat_map(|groups| &groups.groups) {
        println!("  largest of {} in one section:", group.count);
        show(&searcher, &group.docs)?;
    }
    println!("the largest:");
    show(&searcher, &answer.top)?;

    println!("the best by score:");
    let best = searcher.text().search(&*query, &TopDocs::with_limit(3).order_by_score())?;
    let best: Vec<Option<DocAddress>> =
        best.into_iter().map(|(_, place)| searcher.address(place)).collect::<Result<_, _>>()?;
    show(&searcher, &best.into_iter().flatten().collect::<Vec<_>>())?;

    // One value changes: nothing is written to the text, and the next searcher has it.
    let Some(key) = answer.top.first().map(|first| searcher.key(*first)).transpose()?.flatten() else {
        return Ok(());
    };
    let size = writer.field("size")?;
    writer.update(key, |row| row.i64(size, 100_000).map(drop))?;
    writer.refresh()?;
    let searcher = index.searcher();
    let request = request.query(Query::hits(searcher.hits(&*query)?));
    println!("the largest, after the first one shrank:");
    show(&searcher, &searcher.search().request(&request)?.top)?;
    writer.commit()?;
    Ok(())
}

/// The columns on a page of results.
const SHOWN: [&str; 3] = ["package", "section", "size"];

fn create(folder: &Path) -> Result<(Index, Writer)> {
    let mut text = schema::Schema::builder();
    text.add_text_field("package", TEXT);
    text.add_text_field("description", TEXT);
    let columns = StoreSchema::new().with_fields([
        Field::new("package", Kind::Binary, LogicalType::Utf8),
        Field::new("section", Kind::Sorted, LogicalType::Utf8),
        Field::new("tags", Kind::SortedSet, LogicalType::Utf8),
        Field::new("size", Kind::Numeric, LogicalType::I64),
    ])?;
    Ok(Index::create(folder, text, columns, Options::new())?)
}

fn lines(path: &Path) -> Result<Box<dyn BufRead>> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(match path.extension().is_some_and(|extension| extension == "gz") {
        true => Box::new(BufReader::new(MultiGzDecoder::new(file))),
        false => Box::new(BufReader::new(file)),
    })
}

/// Adds a package for each line, with the number of the line as its key.
fn load(writer: &mut Writer, index: &Index, lines: Box<dyn BufRead>) -> Result<u64> {
    let schema = index.text().schema();
    let (name, description) = (schema.get_field("package")?, schema.get_field("description")?);
    let (package, section) = (writer.field("package")?, writer.field("section")?);
    let (tags, size) = (writer.field("tags")?, writer.field("size")?);
    let mut key = 0;
    for line in lines.lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let string = |name: &str| line[name].as_str().unwrap_or_default();
        let text: TantivyDocument = doc!(name => string("package"), description => string("description"));
        writer.add(key, text, |row| {
            row.str(package, string("package"))?.str(section, string("section"))?;
            for tag in line["tags"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                row.str(tags, tag)?;
            }
            if let Some(bytes) = line["size"].as_i64() {
                row.i64(size, bytes)?;
            }
            Ok(())
        })?;
        key += 1;
        // Values wait in memory for the commit.
        if writer.pending_bytes() > 64 << 20 {
            writer.commit()?;
        }
    }
    writer.commit()?;
    Ok(key)
}

fn show(searcher: &Searcher, docs: &[DocAddress]) -> Result<()> {
    let mut retriever = searcher.search().retriever(&SHOWN)?;
    for row in retriever.retrieve(docs)?.rows() {
        let (package, section): (&str, &str) = (row.get(0)?, row.get(1)?);
        println!("    {package:<40} {section:<20} {:>12}", row.get::<Option<i64>>(2)?.unwrap_or_default());
    }
    Ok(())
}
