//! Bytes touched by reading the documents with one term, column by column, in segments with different document orders.
//!
//! ```text
//! cargo run --release -p docvalues-benches --bin touched -- COLUMN TERM A.dv B.dv...
//! ```
//!
//! Prints for each segment the bytes of each column, and the bytes that finding the documents and reading their values
//! touches. A segment is opened again for each column. Bytes are touched in granules of 4 KiB; the last one
//! of a section may be shorter; checksums are included.

use docvalues::column::{BatchDocs, Gathered, Pruning, Values, bits};
use docvalues::{ColumnSource as _, DocId, DocRange, OrdRange, Segment};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [column, term, files @ ..] = &arguments[..] else { return Err("COLUMN TERM FILE.dv...".into()) };
    for file in files {
        let segment = Segment::open(file)?;
        let stats = segment.usage()?;
        let (docs, filter) = matching(&Segment::open(file)?, column, term)?;
        println!("{file}: {} bytes; {} of {} documents have {term}", stats.bytes, docs.len(), segment.docs());
        println!("  the filter touches {filter} bytes");
        for column in &stats.columns {
            let name = &column.field.name;
            println!(
                "  {name}: {} bytes, {} touched",
                column.bytes(),
                touched(&Segment::open(file)?, name, &docs)?
            );
        }
    }
    Ok(())
}

/// The documents with `term`, and the bytes touched after the dictionary.
fn matching(segment: &Segment, column: &str, term: &str) -> Outcome<(Vec<DocId>, u64)> {
    let column = segment.column(column)?;
    let Values::Ords(ords, terms) = column.values() else {
        return Err("expected a column with terms".into());
    };
    let ord = terms.seek_exact(term.as_bytes())?.ok_or("expected a term of the column")?;
    let (before, all) = (segment.bytes_touched(), DocRange::new(0, segment.docs()));
    let mut found = vec![0; all.words()];
    ords.filter(all, &OrdRange::one(ord), &mut found, &mut Pruning::default())?;
    let docs = bits::ones(&found).map(|doc| u32::try_from(doc).map(DocId::new));
    Ok((docs.collect::<Result<_, _>>()?, segment.bytes_touched() - before))
}

/// The bytes of a column that reading the values of `docs` touches.
fn touched(segment: &Segment, name: &str, docs: &[DocId]) -> Outcome<u64> {
    let column = segment.column(name)?;
    let (before, docs) = (segment.bytes_touched(), BatchDocs::List(docs));
    match column.values() {
        Values::Numbers(numbers) => numbers.gather(docs, &mut Gathered::new())?,
        Values::Ords(ords, _) => ords.gather(docs, &mut Gathered::new())?,
        Values::Bytes(strings) => strings.gather(docs, &mut Gathered::new())?,
    }
    Ok(segment.bytes_touched() - before)
}
