//! The small segment has every encoding. The encoders themselves are asked, so a new encoding without a column fails.

use std::collections::BTreeSet;

use docvalues_column::bits;
use docvalues_format::dictionary;
use docvalues_format::file::field::Field;
use docvalues_format::file::kind::LogicalType;
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{self, Encoding, Numeric, NumericOptions, NumericReader, Role};
use docvalues_format::presence::{self, Presence, PresenceReader};
use docvalues_format::source::Owned;

use crate::model::{Cell, ModelColumn};
use crate::shapes::{Dataset, small_of_every_kind};

fn encoded(values: &[i64], logical: LogicalType) -> Numeric<Vec<u8>> {
    let doubles = logical == LogicalType::F64;
    numeric::encode(values, &NumericOptions { role: Role::Values, doubles, jump_tables: true, zones: true })
}

fn presence_of(dataset: &Dataset, column: &ModelColumn) -> Presence<Vec<u8>> {
    let mut present = vec![0; bits::words(0..dataset.docs)];
    for doc in (0..dataset.docs).filter(|doc| column.cell(*doc) != Cell::Missing) {
        bits::set(&mut present, doc as usize);
    }
    presence::encode(dataset.docs, &present, true)
}

/// The numbers of all documents, end to end, as a writer encodes them.
fn numbers_of(column: &ModelColumn) -> Vec<i64> {
    match column {
        ModelColumn::Numeric(slots) => slots.iter().flatten().copied().collect(),
        ModelColumn::SortedNumeric(slots) => {
            let mut slots = slots.clone();
            slots.iter_mut().for_each(|slot| slot.sort_unstable());
            slots.concat()
        }
        _ => vec![],
    }
}

fn columns(dataset: &Dataset) -> impl Iterator<Item = (&Field, &ModelColumn)> {
    dataset.columns.iter().map(|(field, column)| (field, column))
}

#[test]
fn every_presence_is_in_the_small_segment() {
    let dataset = small_of_every_kind();
    let (mut shapes, mut blocks, mut most) = (BTreeSet::new(), [0; presence::Kind::ALL.len()], 0);
    for (_, column) in columns(&dataset) {
        let presence = presence_of(&dataset, column);
        shapes.insert(match presence {
            Presence::All => "all",
            Presence::Blocks { .. } => "blocks",
            Presence::None => "none",
        });
        let opened = presence.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)));
        let kinds = opened
            .and_then(|opened| PresenceReader::open(opened, dataset.docs, JumpTables::Baked))
            .and_then(|reader| reader.block_kinds())
            .unwrap();
        most = most.max(kinds.iter().filter(|blocks| **blocks > 0).count());
        blocks.iter_mut().zip(kinds).for_each(|(all, these)| *all += these);
    }
    assert_eq!(shapes, BTreeSet::from(["all", "blocks", "none"]));
    assert!(blocks.iter().all(|&blocks| blocks > 0), "of {:?}: {blocks:?}", presence::Kind::ALL);
    assert_eq!(most, 3, "one column with three kinds of blocks");
}

#[test]
fn every_encoding_of_numbers_is_in_the_small_segment() {
    let dataset = small_of_every_kind();
    let (mut transforms, mut encodings) = (BTreeSet::new(), BTreeSet::new());
    let (mut widest, mut zones, mut most) = (0, 0, 0);
    for (field, column) in columns(&dataset) {
        let numeric = encoded(&numbers_of(column), field.logical);
        let gcd = matches!(numeric.transform, numeric::Transform::Affine { gcd: 2.., .. });
        transforms.insert((numeric.transform.name(), gcd));
        zones += usize::from(numeric.zones.is_some());
        let opened = numeric.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)));
        let found = opened
            .and_then(|opened| NumericReader::open(opened, JumpTables::Baked))
            .and_then(|reader| reader.encodings())
            .unwrap();
        most = most.max(found.blocks.len());
        widest = found.blocks.iter().map(|count| count.widest).fold(widest, u8::max);
        encodings.extend(found.blocks.iter().map(|count| count.encoding.name()));
    }
    let all =
        [("affine", false), ("affine", true), ("constant", false), ("decimal", false), ("table", false)];
    assert_eq!(transforms, BTreeSet::from(all));
    let all = [Encoding::Constant, Encoding::Packed, Encoding::Linear].map(Encoding::name);
    assert_eq!(encodings, BTreeSet::from(all));
    assert_eq!((widest, most), (64, 3), "widest residual, and encodings in one column");
    assert!(zones >= 5, "{zones}");
}

#[test]
fn dictionaries_of_zero_one_and_several_blocks_are_in_the_small_segment() {
    let dataset = small_of_every_kind();
    let mut blocks = BTreeSet::new();
    for (_, column) in columns(&dataset) {
        let terms: BTreeSet<&Vec<u8>> = match column {
            ModelColumn::Sorted(slots) => slots.iter().flatten().collect(),
            ModelColumn::SortedSet(slots) => slots.iter().flatten().collect(),
            _ => continue,
        };
        let terms = terms.into_iter().map(Vec::as_slice);
        blocks.insert(dictionary::encode(terms, true).unwrap().block_count().min(4));
    }
    assert!(blocks.is_superset(&BTreeSet::from([0, 1, 4])), "{blocks:?}");
}
