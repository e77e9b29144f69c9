//! Three columns of the same documents, two of numbers and one of ords: one document at a time, and 64 documents of
//! each column at a time.

use std::path::PathBuf;

use docvalues::{DocId, Segment, TermOrd};

use super::{BATCH, docvalues as ours, tantivy as theirs};
use crate::data;
use crate::session::Session;
use crate::task::{Column, Workload};

/// Documents of a block.
const BLOCK: usize = 64;

/// Measures `get`, the sum of the three values of a document, and `gather`, the sum of a block of documents.
fn measure<D>(
    session: &Session,
    docs: &[D],
    (one, many): (&str, &str),
    get: impl Fn(&D) -> i64,
    mut gather: impl FnMut(&[D]) -> i64,
) {
    let units = docs.len() as u64;
    session.measure(Workload::ThreeColumns, one, units, || {
        docs.iter().fold(0, |total: i64, doc| total.wrapping_add(get(doc)))
    });
    session.measure(Workload::ThreeColumns64, many, units, || {
        docs.chunks(BLOCK).fold(0, |total: i64, block| total.wrapping_add(gather(block)))
    });
}

fn is_second_dense(session: &Session) -> bool {
    session.column.parts().is_some_and(|parts| parts.map(Column::is_dense)[1])
}

pub fn docvalues(session: &Session, files: &[PathBuf; 3]) {
    let [first, second, third] = files.each_ref().map(|file| Segment::open(file).expect("a good segment"));
    let [first, second] = [first, second].map(|segment| segment.numeric(ours::FIELD).expect("a column"));
    let third = third.sorted(ours::FIELD).expect("a column");
    let docs = data::hits(session.docs, 100);
    let get = |&doc: &DocId| {
        ours::get(&first, doc).wrapping_add(ours::get(&second, doc)).wrapping_add(ours::get_ord(&third, doc))
    };
    let (mut values, mut ords) = ([0; BATCH], [TermOrd::new(0); BATCH]);
    let gather_second = if is_second_dense(session) { ours::gather_dense } else { ours::gather_sparse };
    measure(session, &docs, ("get, ord", "gather"), get, |block| {
        ours::gather_dense(&first, block, &mut values)
            .wrapping_add(gather_second(&second, block, &mut values))
            .wrapping_add(ours::gather_ords(&third, block, &mut ords))
    });
}

pub fn tantivy(session: &Session, files: &[PathBuf; 3]) {
    let [first, second, third] = files;
    let [first, second] = [first, second].map(|file| theirs::open_numbers(file));
    let third = theirs::open_bytes(third);
    let third = third.ords();
    let docs: Vec<u32> = data::hits(session.docs, 100).into_iter().map(DocId::get).collect();
    let get = |&doc: &u32| {
        theirs::get_val(&first, doc)
            .wrapping_add(theirs::get_val(&second, doc))
            .wrapping_add(theirs::get_val(third, doc))
    };
    let (is_dense, mut values, mut found) = (is_second_dense(session), [0; BATCH], [None; BATCH]);
    measure(session, &docs, ("values.get_val", "get_vals, first_vals"), get, |block| {
        let of_second = if is_dense {
            theirs::gather_dense(&second, block, &mut values)
        } else {
            theirs::gather_sparse(&second, block, &mut found)
        };
        theirs::gather_dense(&first, block, &mut values)
            .wrapping_add(of_second)
            .wrapping_add(theirs::gather_dense(third, block, &mut values))
    });
}
