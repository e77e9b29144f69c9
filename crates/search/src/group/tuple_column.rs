//! A virtual binary column over several columns, to group by all of them: each value is an order-preserving encoding of a
//! document's values.
//!
//! ```text
//! tuple    value of the first column | of the second | ...
//! number   8 bytes, big-endian, with the sign bit inverted
//! bytes    each byte, with 00 FF for 00 | 00 01
//! ```
//!
//! Tuples are in the order of their values, column by column. If documents without a value are grouped as well, 00 comes
//! before each value, and 01 stands for a missing one, which so comes last.

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, Count, DocRange, Each, Field, Gathered, Kind, Lists, LogicalType,
    Result as ColumnResult, Rows, TermOrd, Value, Values, bits, scan_by_gather,
};
use docvalues_format::file::kind::{from_u64, to_u64};

use crate::engine::dedup::{Dedup, NOWHERE};
use crate::engine::{ColumnSet, NO_ORD, value};

/// The byte before a value, and that of a missing one, if documents without a value are grouped.
const PRESENT: u8 = 0;
const MISSING: u8 = 1;

/// The tuples of some columns with one value a document.
pub(super) struct TupleColumn {
    info: ColumnInfo,
    members: Vec<Arc<dyn Column>>,
    /// Whether each document has a tuple, or only those with a value in every column.
    with_missing: bool,
}

impl TupleColumn {
    /// The columns of each part as one column of tuples.
    pub(super) fn over(sets: &[Arc<ColumnSet>], parts: usize, with_missing: bool) -> ColumnSet {
        let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        let field = Field::new(names.join(", "), Kind::Binary, LogicalType::Bytes);
        let part = |part: usize| {
            let members = sets.iter().map(|set| Arc::clone(&set.parts[part]));
            Arc::new(TupleColumn::new(field.clone(), members.collect(), with_missing)) as Arc<dyn Column>
        };
        ColumnSet::new(field.clone(), (0..parts).map(part).collect())
    }

    fn new(field: Field, members: Vec<Arc<dyn Column>>, with_missing: bool) -> TupleColumn {
        let infos = members.iter().map(|member| member.info());
        let info = tuple_info(field, infos, with_missing);
        TupleColumn { info, members, with_missing }
    }
}

/// The values of a member for a batch of documents.
enum MemberValues {
    /// Numbers, and whether some may be -0.0.
    Numbers(Gathered<i64>, bool),
    /// The different ords, and the encoded term of each.
    Terms(Dedup<TermOrd>, Lists<u8>),
    Bytes(Gathered<u8>),
}

impl MemberValues {
    /// Reads the values of `docs`.
    fn read(column: &dyn Column, docs: BatchDocs<'_>) -> ColumnResult<MemberValues> {
        Ok(match column.values() {
            Values::Numbers(rows) => {
                let mut numbers = Gathered::new();
                rows.gather(docs, &mut numbers)?;
                MemberValues::Numbers(numbers, value::has_negative_zero(column.info()))
            }
            Values::Ords(rows, dictionary) => {
                let (mut ords, mut unique) = (Gathered::filled(NO_ORD), Dedup::default());
                rows.gather(docs, &mut ords)?;
                unique.find(ords.values().iter().map(|ord| ord.get()), TermOrd::new);
                let (mut found, mut terms) = (Lists::new(), Lists::new());
                dictionary.gather_terms(&unique.values, &mut found)?;
                found.slices().iter().for_each(|term| terms.push_with(|out| push_bytes(term, out)));
                MemberValues::Terms(unique, terms)
            }
            Values::Bytes(rows) => {
                let mut strings = Gathered::new();
                rows.gather(docs, &mut strings)?;
                MemberValues::Bytes(strings)
            }
        })
    }

    /// Appends the value of document `at` to a tuple. Returns false if it has none.
    fn push(&self, at: usize, out: &mut Vec<u8>) -> bool {
        match self {
            MemberValues::Numbers(numbers, has_negative_zero) => {
                let number = numbers.value(at);
                let one_zero = |number| if *has_negative_zero { value::one_zero(number) } else { number };
                number.map(|number| push_number(one_zero(number), out)).is_some()
            }
            MemberValues::Terms(unique, terms) => {
                let place = Some(unique.places[at]).filter(|place| *place != NOWHERE);
                place.map(|place| out.extend_from_slice(terms.get(place as usize))).is_some()
            }
            MemberValues::Bytes(strings) => strings.row(at).map(|bytes| push_bytes(bytes, out)).is_some(),
        }
    }
}

/// The description of the tuples of these columns, without bounds.
pub(super) fn tuple_info<'c>(
    field: Field,
    infos: impl Iterator<Item = &'c ColumnInfo> + Clone,
    with_missing: bool,
) -> ColumnInfo {
    let docs = infos.clone().map(|info| info.docs).min().unwrap_or(0);
    let most = infos.clone().map(|info| info.with_value.most()).min().unwrap_or(0);
    let with_value = match most == 0 || infos.clone().all(ColumnInfo::all_present) {
        _ if with_missing => Count::Exact(docs.into()),
        true => Count::Exact(most),
        false => Count::AtMost(most),
    };
    ColumnInfo { field, docs, with_value, value_count: with_value, bounds: Bounds::Unknown, sum: None }
}

/// Appends the value that `push` appends, if it returns true, or a missing one.
pub(super) fn push_optional(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>) -> bool) {
    let start = out.len();
    out.push(PRESENT);
    if !push(out) {
        out.truncate(start);
        out.push(MISSING);
    }
}

pub(super) fn push_number(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&to_u64(number).to_be_bytes());
}

pub(super) fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let mut pieces = bytes.split(|byte| *byte == 0);
    out.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.extend_from_slice(&[0, 0xff]);
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(&[0, 1]);
}

/// Decodes a tuple of these columns; `None` if the bytes are malformed.
pub(crate) fn values(tuple: &[u8], fields: &[Field], with_missing: bool) -> Option<Vec<Option<Value>>> {
    let mut rest = tuple;
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        if with_missing {
            match *rest.split_off_first()? {
                PRESENT => {}
                MISSING => {
                    values.push(None);
                    continue;
                }
                _ => return None,
            }
        }
        values.push(Some(if field.kind.is_bytes() {
            Value::Bytes(take_bytes(&mut rest)?)
        } else {
            let (number, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Value::of(field.logical, from_u64(u64::from_be_bytes(*number)))
        }));
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
        !self.with_missing && self.members.iter().any(|member| member.is_absent())
    }
}

impl Rows<u8> for TupleColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<u8>) -> ColumnResult<()> {
        let members = self.members.iter().map(|member| MemberValues::read(&**member, docs));
        let members = members.collect::<ColumnResult<Vec<_>>>()?;
        let (lists, mut presence) = out.begin_many(docs.len());
        for (at, doc) in docs.iter().enumerate() {
            presence.mark(
                at,
                lists.push_with(|out| {
                    // Past the last document, there are no missing values either.
                    if doc.get() >= self.info.docs {
                        return false;
                    }
                    let start = out.len();
                    let is_whole = members.iter().all(|member| {
                        if self.with_missing {
                            push_optional(out, |out| member.push(at, out));
                            return true;
                        }
                        member.push(at, out)
                    });
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
        scan_by_gather(self, docs.clip(self.info.docs), each)
    }
}
