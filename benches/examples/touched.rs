//! What the documents with one term take to be read, column by column, in segments that have them in different orders.
//!
//! ```text
//! cargo run --release -p docvalues-benches --example touched -- COLUMN TERM A.dv B.dv...
//! ```
//!
//! For each segment: bytes of each column, and how many of these are verified, or read, to find the documents and to
//! take their values; a segment is opened anew for each column. Bytes come in granules of 4 KiB, and the last one of a
//! section may be shorter; checksums count.

use docvalues::column::bits;
use docvalues::{AnyColumn, ColumnSource as _, DocId, Lists, Segment, TermOrd};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [column, term, files @ ..] = &arguments[..] else { return Err("COLUMN TERM FILE.dv...".into()) };
    for file in files {
        let segment = Segment::open(file)?;
        let stats = segment.stats()?;
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

/// The documents that have `term`, and the bytes that were touched behind the dictionary.
fn matching(segment: &Segment, column: &str, term: &str) -> Outcome<(Vec<DocId>, u64)> {
    let AnyColumn::Sorted(column) = segment.column(column)? else {
        return Err("the column has no terms".into());
    };
    let ord = column.seek_exact(term.as_bytes())?.ok_or("there is no such term")?.get();
    let before = segment.bytes_touched();
    let mut found = vec![0; bits::words(0..segment.docs())];
    column.filter(0..segment.docs(), ord..ord + 1, &mut found)?;
    let docs = bits::ones(&found).map(|doc| u32::try_from(doc).map(DocId::new));
    Ok((docs.collect::<Result<_, _>>()?, segment.bytes_touched() - before))
}

/// The bytes of a column that are touched to read the values of `docs`.
fn touched(segment: &Segment, name: &str, docs: &[DocId]) -> Outcome<u64> {
    let column = segment.column(name)?;
    let (before, mut present) = (segment.bytes_touched(), vec![0; docs.len().div_ceil(64)]);
    match column {
        AnyColumn::Numeric(column) => column.gather(docs, &mut vec![0; docs.len()], &mut present)?,
        AnyColumn::Binary(column) => column.gather(docs, &mut Lists::default(), &mut present)?,
        AnyColumn::Sorted(column) => {
            column.gather(docs, &mut vec![TermOrd::new(0); docs.len()], &mut present)?
        }
        AnyColumn::SortedNumeric(column) => column.gather(docs, &mut Lists::default())?,
        AnyColumn::SortedSet(column) => column.gather(docs, &mut Lists::default())?,
    }
    Ok(segment.bytes_touched() - before)
}
