//! The choice between a dictionary and a binary column by the first values.

use docvalues_storage::Spill;

use super::*;
use crate::buffer::SAMPLE;

const DOCS: u32 = 4 * SAMPLE;

fn unique(i: u32) -> String {
    format!("{:016x}", (u64::from(i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The value of a document, by its number.
type Shape = fn(u32) -> String;

const SHAPES: [Shape; 5] = [
    unique,
    |i| unique(i % 40),
    // The sample does not repeat, but later values do.
    |i| unique(if i < SAMPLE { i } else { i % 40 }),
    // A single long value, whose hash may not be among those that are counted.
    |i| if i < SAMPLE || i % 16 == 0 { unique(i) } else { (0..12).map(unique).collect() },
    // The sample repeats, but later values do not.
    |i| unique(if i < SAMPLE { i % 40 } else { i }),
];

/// A segment of all documents, in batches of this size. Deleted documents are added before and among them.
fn write(shape: Shape, kind: BytesKind, batch: u32, budget: Option<usize>, deleted: bool) -> Vec<u8> {
    let (schema, [field]) = schema([FieldSpec::new("f", LogicalType::Utf8).kind(kind)]);
    let options = WriterOptions { budget: budget.unwrap_or(usize::MAX), ..WriterOptions::default() };
    let mut writer = SegmentWriter::in_memory(schema, options);
    if budget.is_some() {
        writer.spill_to(Spill::in_folder(std::env::temp_dir()));
    }
    let mut values = (0..DOCS).map(shape);
    for first in (0..DOCS).step_by(batch as usize) {
        let values: Vec<String> = values.by_ref().take(batch as usize).collect();
        if deleted {
            let mut doc = writer.document();
            doc.str(field, &unique(first / 7)).unwrap();
            let doc = doc.finish().unwrap();
            writer.delete(doc).unwrap();
        }
        if let [value] = &values[..] {
            let mut doc = writer.document();
            doc.str(field, value).unwrap();
            doc.finish().unwrap();
            continue;
        }
        let mut offsets = vec![0];
        values.iter().for_each(|value| offsets.push(offsets[offsets.len() - 1] + value.len() as u64));
        let mut docs = writer.batch(values.len().try_into().unwrap()).unwrap();
        docs.bytes(field, &offsets, values.concat().as_bytes(), None).unwrap();
        docs.finish();
    }
    writer.finish_bytes().unwrap()
}

#[test]
fn the_choice_depends_on_the_values_only() {
    let mut chosen = Vec::new();
    for shape in SHAPES {
        let expected = write(shape, BytesKind::Auto, DOCS, None, false);
        let kind = columns(&expected).1[0].field.kind;
        let declared = if kind == Kind::Sorted { BytesKind::Sorted } else { BytesKind::Binary };
        assert!(write(shape, declared, DOCS, None, false) == expected);
        chosen.push(kind);
        for batch in [1, 100, SAMPLE, SAMPLE + 1, DOCS] {
            for budget in [None, Some((batch as usize * 500).max(30_000))] {
                for deleted in [false, true] {
                    let found = write(shape, BytesKind::Auto, batch, budget, deleted);
                    assert!(found == expected, "{}, {batch}, {budget:?}, {deleted}", shape(DOCS - 1));
                }
            }
        }
    }
    assert_eq!(chosen, [Kind::Binary, Kind::Sorted, Kind::Sorted, Kind::Sorted, Kind::Binary]);
}
