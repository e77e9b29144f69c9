//! A virtual binary column over several columns, to group by all of them: each value is an order-preserving encoding of a
//! document's values.
//!
//! ```text
//! tuple    value of the first column | of the second | ...
//! number   8 bytes, big-endian, with the sign bit inverted
//! bytes    each byte, with 00 FF for 00 | 00 01
//! ```
//!
//! Tuples are in the order of their values, column by column.

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, Count, DocRange, Each, Field, Gathered, Kind, Lists, LogicalType,
    OrdRange, Result as ColumnResult, Rows, TermOrd, Value, Values, bits, scan_by_gather,
};

use crate::columns::ColumnSet;
use crate::value;

/// The most terms of a dictionary to keep in memory.
const MAX_KEPT: u32 = 1 << 16;

/// The tuples of some columns with one value a document. A document has a tuple if every column has a value.
pub(crate) struct TupleColumn {
    info: ColumnInfo,
    members: Vec<Member>,
}

/// A column of a tuple, and the terms of its dictionary if these are few.
struct Member {
    column: Arc<dyn Column>,
    terms: Option<Lists<u8>>,
}

impl TupleColumn {
    /// The columns of each part as one column of tuples.
    pub(crate) fn over(sets: &[Arc<ColumnSet>], parts: usize) -> ColumnResult<ColumnSet> {
        let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        let field = Field::new(names.join(", "), Kind::Binary, LogicalType::Bytes);
        let part = |part: usize| {
            let members = sets.iter().map(|set| Member::new(Arc::clone(&set.parts[part])));
            let members = members.collect::<ColumnResult<_>>()?;
            Ok(Arc::new(TupleColumn::new(field.clone(), members)) as Arc<dyn Column>)
        };
        Ok(ColumnSet::new(field.clone(), (0..parts).map(part).collect::<ColumnResult<_>>()?))
    }

    fn new(field: Field, members: Vec<Member>) -> TupleColumn {
        let infos = || members.iter().map(|member| member.column.info());
        let docs = infos().map(|info| info.docs).min().unwrap_or(0);
        let with_value = match infos().map(|info| info.with_value.most()).min().unwrap_or(0) {
            most if most == 0 || infos().all(ColumnInfo::all_present) => Count::Exact(most),
            most => Count::AtMost(most),
        };
        let info = ColumnInfo {
            field,
            docs,
            with_value,
            value_count: with_value,
            bounds: Bounds::Unknown,
            sum: None,
        };
        TupleColumn { info, members }
    }
}

impl Member {
    fn new(column: Arc<dyn Column>) -> ColumnResult<Member> {
        let few = column.values().terms().filter(|terms| terms.term_count() <= MAX_KEPT);
        let mut all = few.map(|terms| (terms, Lists::new()));
        if let Some((terms, kept)) = &mut all {
            let ords: Vec<TermOrd> = OrdRange::new(0, terms.term_count()).iter().collect();
            terms.gather_terms(&ords, kept)?;
        }
        let terms = all.map(|(_, kept)| kept);
        Ok(Member { column, terms })
    }

    /// Reads the values of `docs`.
    fn read(&self, docs: BatchDocs<'_>) -> ColumnResult<MemberValues<'_>> {
        Ok(match self.column.values() {
            Values::Numbers(rows) => {
                let mut numbers = Gathered::new();
                rows.gather(docs, &mut numbers)?;
                MemberValues::Numbers(numbers, value::has_negative_zero(self.column.info()))
            }
            Values::Ords(rows, dictionary) => {
                let mut ords = Gathered::new();
                rows.gather(docs, &mut ords)?;
                match &self.terms {
                    Some(terms) => MemberValues::Ords(ords, terms),
                    None => {
                        let present: Vec<TermOrd> = (0..ords.len()).filter_map(|at| ords.value(at)).collect();
                        let mut terms = Lists::new();
                        dictionary.gather_terms(&present, &mut terms)?;
                        MemberValues::Terms { ords, terms, next: 0 }
                    }
                }
            }
            Values::Bytes(rows) => {
                let mut strings = Gathered::new();
                rows.gather(docs, &mut strings)?;
                MemberValues::Bytes(strings)
            }
        })
    }
}

/// The values of a member for a batch of documents.
enum MemberValues<'a> {
    /// Numbers, and whether some may be -0.0.
    Numbers(Gathered<i64>, bool),
    /// Ords, and the terms of the dictionary.
    Ords(Gathered<TermOrd>, &'a Lists<u8>),
    /// Ords, and the terms of those documents that have one; `next` is the term of the next of them.
    Terms {
        ords: Gathered<TermOrd>,
        terms: Lists<u8>,
        next: usize,
    },
    Bytes(Gathered<u8>),
}

impl MemberValues<'_> {
    /// Appends the value of document `at` to a tuple. Returns false if it has none. Call in ascending order of `at`.
    fn push(&mut self, at: usize, out: &mut Vec<u8>) -> bool {
        match self {
            MemberValues::Numbers(numbers, has_negative_zero) => {
                let number = numbers.value(at);
                let one_zero = |number| if *has_negative_zero { value::one_zero(number) } else { number };
                number.map(|number| push_number(one_zero(number), out)).is_some()
            }
            MemberValues::Ords(ords, terms) => {
                ords.value(at).map(|ord| push_bytes(terms.get(ord.get() as usize), out)).is_some()
            }
            MemberValues::Terms { ords, terms, next } => {
                let is_there = ords.value(at).is_some();
                if is_there {
                    push_bytes(terms.get(*next), out);
                    *next += 1;
                }
                is_there
            }
            MemberValues::Bytes(strings) => strings.row(at).map(|bytes| push_bytes(bytes, out)).is_some(),
        }
    }
}

fn push_number(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&(number.cast_unsigned() ^ 1 << 63).to_be_bytes());
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 1]);
}

/// Decodes a tuple of these columns; `None` if the bytes are malformed.
pub(crate) fn values(tuple: &[u8], fields: &[Field]) -> Option<Vec<Value>> {
    let mut rest = tuple;
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        values.push(if field.kind.is_bytes() {
            Value::Bytes(take_bytes(&mut rest)?)
        } else {
            let (number, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Value::of(field.logical, (u64::from_be_bytes(*number) ^ 1 << 63).cast_signed())
        });
    }
    rest.is_empty().then_some(values)
}

fn take_bytes(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let at = rest.iter().position(|&byte| byte == 0)?;
        let (whole, after) = rest.split_at(at);
        bytes.extend_from_slice(whole);
        let (mark, after) = after.split_first_chunk::<2>()?;
        *rest = after;
        match mark[1] {
            0xff => bytes.push(0),
            1 => return Some(bytes),
            _ => return None,
        }
    }
}

impl Column for TupleColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> ColumnResult<()> {
        bits::check(docs, bits);
        let mut tuples = Gathered::new();
        Rows::<u8>::gather(self, BatchDocs::Run(docs), &mut tuples)?;
        (0..docs.len()).filter(|at| tuples.row(*at).is_some()).for_each(|at| bits::set(bits, at));
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        Values::Bytes(self)
    }

    fn is_absent(&self) -> bool {
        self.members.iter().any(|member| member.column.is_absent())
    }
}

impl Rows<u8> for TupleColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<u8>) -> ColumnResult<()> {
        let mut members: Vec<_> =
            self.members.iter().map(|member| member.read(docs)).collect::<ColumnResult<_>>()?;
        let (lists, mut presence) = out.begin_many(docs.len());
        for at in 0..docs.len() {
            presence.mark(
                at,
                lists.push_with(|out| {
                    let start = out.len();
                    let mut is_whole = true;
                    // All are asked, since they count the documents with a value.
                    for member in &mut members {
                        is_whole &= member.push(at, out);
                    }
                    if !is_whole {
                        out.truncate(start);
                    }
                    is_whole
                }),
            );
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, u8>) -> ColumnResult<()> {
        scan_by_gather(self, docs, each)
    }
}
