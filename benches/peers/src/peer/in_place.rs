//! docvalues on the indexes that Lucene's processes wrote, read in place through the traits of columns.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use docvalues::column::{BatchDocs, Element, Gathered, Lists, Pruning, Values, View, bits};
use docvalues::lucene::{FsDirectory, Index, JumpTables, Options};
use docvalues::{ColumnSource as _, DocRange, Rows, TermOrd, Terms};

use super::BATCH;
use super::docvalues::{FIELD, doc_sum};
use crate::results::PEERS;
use crate::session::Session;
use crate::sums;
use crate::task::{Column, Lookups, Requests, Workload, host_lookups, touch};

/// The start of these peers' names. The version of Lucene that wrote the index follows, and how blocks are found if its tables
/// are not used: `in-place-10.5.0-lists`, `in-place-10.5.0-walk`.
pub const PREFIX: &str = "in-place-";

/// The ends of the names of peers that do not use the tables of the file.
const MODES: [(&str, JumpTables); 2] = [("-built", JumpTables::BuildOnFirstUse), ("-walk", JumpTables::Walk)];

/// Whether a peer does not use the tables of the file.
pub fn is_mode(peer: &str) -> bool {
    MODES.iter().any(|(end, _)| peer.ends_with(*end))
}

/// The peer of Lucene whose index a peer reads.
pub fn lucene(peer: &str) -> String {
    let version = peer.trim_start_matches(PREFIX);
    let version = MODES.iter().fold(version, |version, (end, _)| version.trim_end_matches(*end));
    format!("lucene-{version}")
}

/// The peer of this name.
///
/// # Errors
///
/// If there is none.
pub fn known(peer: &str) -> Result<&'static str, String> {
    let mut names = PEERS.iter().map(|peer| peer.0);
    names.find(|name| *name == peer && name.starts_with(PREFIX)).ok_or(format!("no peer `{peer}`"))
}

/// Opens an index as this peer does.
pub fn open(path: &Path, peer: &str) -> Index {
    let mode = MODES.iter().find(|(end, _)| peer.ends_with(*end)).map_or(JumpTables::Baked, |mode| mode.1);
    let options = Options::new().jump_tables(mode);
    Index::open_with(Arc::new(FsDirectory::new(path)), options).expect("an index that Lucene's process wrote")
}

pub fn run(session: &Session) {
    let count = session.column.value_count(&session.column.values(session.docs));
    let requests = Requests::new(session.docs);
    let file = format!("{}.{}", session.column, lucene(session.peer));
    let index = open(&session.folder.join(file), session.peer);
    let column = index.segments()[0].column(FIELD).expect("a column");
    match column.values() {
        Values::Numbers(rows) => {
            measure(session, rows, &requests, count, sums::of);
            range(session, rows);
        }
        Values::Ords(rows, terms) => {
            measure(session, rows, &requests, count, sums::of_ords);
            if session.column == Column::Host {
                dictionary(session, terms);
            }
        }
        Values::Bytes(rows) => strings(session, rows, &requests, count),
    }
}

/// Measures the reads of numbers or ords, of which `sum` is the sum.
fn measure<T: Element>(
    session: &Session,
    rows: &dyn Rows<T>,
    requests: &Requests,
    count: u64,
    sum: fn(&[T]) -> i64,
) {
    let dense = session.column.is_dense();
    session.measure(Workload::Scan, "scan", count, || {
        let mut total = 0_i64;
        let scanned = rows.scan(DocRange::new(0, session.docs), &mut |batch| {
            total = total.wrapping_add(sum(batch.values.items()));
            match batch.values {
                View::One(_) if dense => {}
                View::One(_) => total = total.wrapping_add(doc_sum(batch.docs)),
                View::Many(lists) => {
                    for (doc, list) in batch.docs.iter().zip(lists.iter()) {
                        total += i64::from(doc.get()) * list.len() as i64;
                    }
                }
            }
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
        total
    });
    for Lookups { work, docs, batch, units } in requests.calls() {
        let mut out = if dense { Gathered::filled(T::default()) } else { Gathered::new() };
        session.measure(work, "gather", units, || {
            docs.chunks(batch).fold(0, |total: i64, part| {
                rows.gather(BatchDocs::List(part), &mut out).expect("good bytes");
                let values = out.view().items();
                let missing = out.present().map_or(0, |words| part.len() - with_value(words, part.len()));
                total.wrapping_add(sum(values)).wrapping_add((values.len() - missing) as i64)
            })
        });
        let mut row = Vec::new();
        session.measure(work.singly(), "get", units, || {
            docs.iter().fold(0, |total: i64, &doc| {
                rows.get(doc, &mut row).expect("good bytes");
                total.wrapping_add(sum(&row)).wrapping_add(row.len() as i64)
            })
        });
    }
}

/// The number of set bits of the first `len`.
fn with_value(words: &[u64], len: usize) -> usize {
    let whole = len / 64;
    let rest = words.get(whole).map_or(0, |word| (word & ((1_u64 << (len % 64)) - 1)).count_ones());
    bits::count(&words[..whole]) + rest as usize
}

fn range(session: &Session, rows: &dyn Rows<i64>) {
    let Some(wanted) = session.column.range(session.docs) else { return };
    let docs = DocRange::new(0, session.docs);
    let mut found = vec![0; docs.words()];
    session.measure(Workload::Range, "filter into a bitset", session.docs.into(), || {
        found.fill(0);
        rows.filter(docs, &wanted, &mut found, &mut Pruning::default()).expect("good bytes");
        bits::count(&found) as i64
    });
}

fn dictionary(session: &Session, terms: &dyn Terms) {
    let (names, ords) = host_lookups(session.docs);
    let (mut term, mut lists) = (Vec::new(), Lists::new());
    let asked: Vec<TermOrd> = ords.iter().copied().map(TermOrd::new).collect();
    session.measure_strings(Workload::Terms, "term", ords.len() as u64, || {
        asked.iter().fold(0, |total, &ord| {
            terms.term(ord, &mut term).expect("good bytes");
            total + touch(&term)
        })
    });
    session.measure_strings(Workload::TermsBatch, "gather_terms", ords.len() as u64, || {
        asked.chunks(BATCH).fold(0, |total, part| {
            terms.gather_terms(part, &mut lists).expect("good bytes");
            total + lists.slices().iter().map(touch).sum::<i64>()
        })
    });
    // Lucene's peer sorts them, too: terms of a block are read once then.
    session.measure_strings(Workload::TermsBatch, "sort, gather_terms", ords.len() as u64, || {
        let mut sorted = asked.clone();
        sorted.sort_unstable();
        sorted.chunks(BATCH).fold(0, |total, part| {
            terms.gather_terms(part, &mut lists).expect("good bytes");
            total + lists.slices().iter().map(touch).sum::<i64>()
        })
    });
    session.measure(Workload::Seek, "seek_ceil", ords.len() as u64, || {
        ords.iter().fold(0, |total, &ord| {
            let found = terms.seek_ceil(names[ord as usize].as_bytes()).expect("good bytes");
            total + i64::from(found.get())
        })
    });
}

fn strings(session: &Session, rows: &dyn Rows<u8>, requests: &Requests, count: u64) {
    let touched = |values: View<'_, u8>| {
        values.many().into_iter().flat_map(|lists| lists.iter()).map(touch).sum::<i64>()
    };
    session.measure_strings(Workload::Scan, "scan", count, || {
        let mut total = 0;
        let scanned = rows.scan(DocRange::new(0, session.docs), &mut |batch| {
            total += touched(batch.values);
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
        total
    });
    for Lookups { work, docs, batch, units } in requests.gathers() {
        let mut out = Gathered::new();
        session.measure_strings(work, "gather", units, || {
            docs.chunks(batch).fold(0, |total, part| {
                rows.gather(BatchDocs::List(part), &mut out).expect("good bytes");
                total + touched(out.view())
            })
        });
        let mut row = Vec::new();
        session.measure_strings(work.singly(), "get", units, || {
            docs.iter().fold(0, |total, &doc| {
                rows.get(doc, &mut row).expect("good bytes");
                total + touch(&row)
            })
        });
    }
}
