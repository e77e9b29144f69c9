//! Bytes as the files of an index of Lucene in memory, with and without their checksums made right: opened, or refused.

mod fixtures;

use std::sync::{Arc, LazyLock};

use docvalues::{ColumnSource as _, LogicalType};
use docvalues_lucene::{FieldType, Index, JumpTables, Options};
use docvalues_storage::Directory as _;
use docvalues_testkit::faults::PowerLossDirectory;
use docvalues_testkit::lucene::{LuceneColumn, lucene_index, reseal_lucene};

use crate::exercise::{Plan, exercise};
use crate::neighbours::neighbours;

/// The first names of [`ALL_NAMES`].
const NAMES: [&str; 25] = [
    "segments_1",
    "_0.si",
    "_0.fnm",
    "_0_Lucene90_0.dvm",
    "_0_Lucene90_0.dvd",
    "_0_Lucene90_0.dvs",
    "_0_Lucene90_0.dvp",
    "_0_Lucene80_0.dvm",
    "_0_Lucene80_0.dvd",
    "_0_Lucene70_0.dvm",
    "_0_Lucene70_0.dvd",
    "_0.cfe",
    "_0.cfs",
    "_0_1.liv",
    "_0_1.fnm",
    "_0_1_Lucene90_0.dvm",
    "_0_1_Lucene90_0.dvd",
    "_0_1_Lucene90_0.dvs",
    "_0_Lucene103_0.tim",
    "_0_Lucene103_0.tip",
    "_0_Lucene103_0.tmd",
    "_0_Lucene103_0.doc",
    "_0_Lucene50_0.tim",
    "_0_Lucene50_0.tip",
    "_0_Lucene50_0.doc",
];

/// Formats of terms with other names.
const TERMS: [&str; 3] = ["Lucene84", "Lucene90", "Lucene104"];

/// The ends of files of a later generation.
const LATER: [&str; 10] = [
    ".fnm",
    ".liv",
    "_Lucene90_0.dvm",
    "_Lucene90_0.dvd",
    "_Lucene90_0.dvs",
    "_Lucene90_0.dvp",
    "_Lucene80_0.dvm",
    "_Lucene80_0.dvd",
    "_Lucene70_0.dvm",
    "_Lucene70_0.dvd",
];

/// Files of an index, of all releases, with those of updates.
static ALL_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = |format: &&str| [".tim", ".tip", ".tmd", ".doc"].map(|end| format!("_0_{format}_0{end}"));
    let later = |generation: i32| LATER.map(|end| format!("_0_{generation}{end}"));
    let names = NAMES.map(str::to_owned).into_iter();
    let names = names.chain(TERMS.iter().flat_map(files)).chain((1..=8).flat_map(later));
    names.chain(["_0_ES87BloomFilter_0.bfm".to_owned()]).collect()
});

/// Terms that are looked up, some of which there are.
const LOOK_UPS: [(&str, &str); 5] =
    [("a", "k1"), ("id", "k60"), ("id", "k100"), ("group", "g20"), ("words", "word number 33")];

/// The most documents of an index that is read.
const MOST_DOCS: u32 = 200_000;

/// Bytes of an input that are damaged.
const DAMAGED: usize = 700;

/// A byte, which says whether checksums are made right and columns have other types; then for each file a byte for its name, two
/// for its length, and its bytes.
pub fn lucene(input: &[u8]) {
    open(input);
}

/// The directory of an input, after its first byte.
fn directory(input: &[u8]) -> Option<(u8, Arc<PowerLossDirectory>)> {
    let (&how, mut rest) = input.split_first()?;
    let disk = PowerLossDirectory::new("index");
    while let Some(([name, low, high], after)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
        let (bytes, next) = after.split_at(len);
        let mut bytes = bytes.to_vec();
        if how & 1 == 1 {
            reseal_lucene(&mut bytes);
        }
        // A second file of the same name is an error, and left out.
        let name = &ALL_NAMES[usize::from(*name) % ALL_NAMES.len()];
        if let Ok(file) = disk.create(name.as_ref()) {
            assert!(file.write_at(&bytes, 0).is_ok());
        }
        rest = next;
    }
    Some((how, Arc::new(disk)))
}

/// Reads an index in all modes. Returns the number of its columns; `None` if it is refused.
fn open(input: &[u8]) -> Option<usize> {
    let (how, disk) = directory(input)?;
    let mut columns = 0;
    for mode in JumpTables::ALL {
        let options =
            Options::new().jump_tables(mode).unite_kinds(how & 4 == 4).keep_soft_deletes(how & 8 == 0);
        let options = match how & 2 {
            0 => options,
            _ => options.field("c", FieldType::Float).field("d", LogicalType::Bool),
        };
        let index = Index::open_with(disk.clone(), options).ok()?;
        std::hint::black_box((index.live_docs(), index.verify().is_ok()));
        columns = 0;
        for segment in index.segments() {
            std::hint::black_box(segment.unreadable().count());
            for (field, id) in LOOK_UPS {
                std::hint::black_box(segment.find_id(field, id).is_ok());
            }
            let Ok(plan) = Plan::small(&**segment) else { continue };
            if segment.docs() <= MOST_DOCS {
                exercise(&plan, &**segment, &mut |answer| {
                    std::hint::black_box(answer.is_ok());
                });
            }
            columns += segment.fields().map_or(0, |fields| fields.len());
        }
    }
    Some(columns)
}

/// Genuine indexes, and damaged ones; and segments that Lucene wrote.
pub fn lucene_inputs() -> Vec<Vec<u8>> {
    let mut inputs = genuine_inputs();
    let damaged: Vec<Vec<u8>> = inputs.iter().flat_map(|input| neighbours(input, DAMAGED)).collect();
    inputs.extend(damaged);
    inputs.extend(fixture_inputs());
    inputs
}

/// Segments that Lucene wrote, whose checksums are made right, without documents that are soft-deleted.
fn fixture_inputs() -> Vec<Vec<u8>> {
    fixtures::segments().iter().map(|files| input_of(9, files)).collect()
}

/// The input of these files.
fn input_of<N: AsRef<str>>(how: u8, files: &[(N, Vec<u8>)]) -> Vec<u8> {
    let mut input = vec![how];
    for (name, bytes) in files {
        let place = ALL_NAMES.iter().position(|known| known == name.as_ref()).unwrap_or(0);
        input.push(place as u8);
        input.extend((bytes.len() as u16).to_le_bytes());
        input.extend(bytes);
    }
    input
}

/// Indexes of some sizes, whose checksums are made right and whose columns have other types, or not.
fn genuine_inputs() -> Vec<Vec<u8>> {
    use LuceneColumn::{Numbers, Terms};
    let mut inputs = Vec::new();
    for docs in [0, 1, 9, 70] {
        let terms = |all: &[&'static str]| Terms(all.iter().copied().cycle().take(docs).collect());
        let numbers = |step: i64| Numbers((0..docs as i64).map(|doc| doc.wrapping_mul(step)).collect());
        let mut columns = vec![("a", numbers(7)), ("c", numbers(0x9E37_79B9_7F4A_7C15_u64.cast_signed()))];
        if docs > 0 {
            columns.extend([("b", terms(&["x", "y", "z"])), ("d", terms(&["F", "T"]))]);
        }
        let files = lucene_index(docs, &columns, &[("translog_uuid", "1")]);
        inputs.extend([0, 1, 3, 5].map(|how| input_of(how, &files)));
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genuine_indexes_are_opened() {
        let counts: Vec<_> = genuine_inputs().iter().map(|input| open(input)).collect();
        // A field that has another type than doc values can have is an error only if it is there.
        assert_eq!(counts, [[Some(2); 4], [Some(4); 4], [Some(4); 4], [Some(4); 4]].concat());
    }

    #[test]
    fn segments_of_lucene_are_opened() {
        let inputs = fixture_inputs();
        if inputs.is_empty() {
            println!("SKIPPED: no fixtures");
        }
        for input in inputs {
            assert!(open(&input).is_some_and(|columns| columns > 12));
        }
    }

    #[test]
    fn terms_behind_a_bloom_filter_are_found() {
        let inputs = fixture_inputs();
        let [.., plain, filtered] = &inputs[..] else { return println!("SKIPPED: no fixtures") };
        let find = |input: &[u8]| {
            let index = Index::open_with(directory(input).unwrap().1, Options::new()).unwrap();
            LOOK_UPS.map(|(field, id)| index.segments()[0].find_id(field, id).unwrap())
        };
        let found = find(plain);
        assert!(found.iter().any(|docs| !docs.is_empty()));
        assert_eq!(find(filtered), found);
    }
}
