//! Columns of every shape in every layout, for the decoders that are fuzzed alone, and damaged ones.

use docvalues::DocId;
use docvalues::reader::IdForm;
use docvalues::terms::build::IdsBuilder;
use docvalues::terms::ids::Ids;
use docvalues::writer::IdOptions;
use docvalues_format::binary::{self, BinaryOptions, Compression};
use docvalues_format::error::Section;
use docvalues_format::granule::SectionRef;
use docvalues_format::numeric::{self, NumericOptions, Role};
use docvalues_format::{dictionary, presence};
use docvalues_fuzz::neighbours;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::{Numbers, Presence, Strings};

use crate::Result;

/// The longest input.
const MOST: usize = 20_000;

/// Inputs up to this length are damaged, each of their first bytes.
const SHORT: usize = 400;
const DAMAGED: usize = 160;

/// Adds inputs near the short ones, and leaves out those that are too long.
fn with_neighbours(mut inputs: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    inputs.retain(|input| input.len() <= MOST);
    let short = inputs.iter().filter(|input| input.len() <= SHORT);
    let near: Vec<Vec<u8>> = short.flat_map(|input| neighbours(input, DAMAGED)).collect();
    inputs.extend(near);
    inputs
}

/// Numbers of every shape, with and without jump tables and zone maps.
pub fn numbers() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for (turn, shape) in Numbers::ALL.into_iter().enumerate() {
        for count in [1, 40, 700, 1_300, 9_000] {
            let values = shape.make(count, &mut SplitMix64::new(turn as u64));
            let options = |jump_tables| NumericOptions {
                role: Role::Values,
                doubles: matches!(shape, Numbers::Prices | Numbers::Doubles),
                jump_tables,
                zones: turn % 3 > 0,
            };
            for jump_tables in [false, true] {
                let made = numeric::encode(&values, &options(jump_tables));
                inputs.push(joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)));
            }
        }
    }
    with_neighbours(inputs)
}

/// Presence of every shape in few and in many documents.
pub fn presences() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for (turn, shape) in Presence::ALL.into_iter().enumerate() {
        for docs in [1, 100, 3_000, 70_000, 140_000] {
            let mut words = vec![0_u64; (docs as usize).div_ceil(64)];
            for (doc, _) in shape.bits(docs, turn as u64).iter().enumerate().filter(|(_, has)| **has) {
                words[doc / 64] |= 1 << (doc % 64);
            }
            for jump_table in [false, true] {
                let made = presence::encode(docs, &words, jump_table);
                let mut input = docs.to_le_bytes().to_vec();
                input.extend(joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)));
                inputs.push(input);
            }
        }
    }
    with_neighbours(inputs)
}

/// Dictionaries of one block, of several, and of none.
pub fn dictionaries() -> Result<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    for strings in strings() {
        let mut terms = strings;
        terms.sort();
        terms.dedup();
        for jump_tables in [false, true] {
            let made = dictionary::encode(terms.iter().map(Vec::as_slice), jump_tables)?;
            inputs.push(joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)));
        }
    }
    Ok(with_neighbours(inputs))
}

/// Byte strings in every coding.
pub fn binaries() -> Result<Vec<Vec<u8>>> {
    let codings = [Compression::None, Compression::Fsst, Compression::OnPair];
    let mut inputs = Vec::new();
    for strings in strings() {
        let ends: Vec<u64> = strings
            .iter()
            .scan(0, |end, string| {
                *end += string.len() as u64;
                Some(*end)
            })
            .collect();
        for (turn, compression) in codings.into_iter().enumerate() {
            let options = BinaryOptions { compression, jump_tables: (turn + strings.len()) % 2 == 0 };
            let made = binary::encode(strings.concat(), &ends, &options)?;
            inputs.push(joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)));
        }
    }
    Ok(with_neighbours(inputs))
}

/// Byte strings of every shape, few and many, and of one length.
fn strings() -> Vec<Vec<Vec<u8>>> {
    let mut all = vec![vec![], vec![vec![]], vec![b"a".to_vec(); 300], vec![vec![b'x'; 300]]];
    for (turn, shape) in Strings::ALL.into_iter().enumerate() {
        for count in [1, 9, 40, 150, 700] {
            all.push(shape.make(count, &mut SplitMix64::new(turn as u64)));
        }
    }
    // Compressible.
    let rows = |len: usize| move |i: usize| format!("{i} GET /index.html HTTP/1.0 ").repeat(len).into_bytes();
    all.push((0..300).map(rows(1)).collect());
    all.push((0..12).map(rows(60)).collect());
    all
}

/// Each form of the index of ids, with and without a filter, with packed and other ids.
pub fn ids() -> Result<Vec<Vec<u8>>> {
    let shapes: [fn(u32) -> String; 4] = [
        |i| format!("{i:06}"),
        |i| format!("{}{:x}", ["same beginning ", "x"][i as usize % 2], i.wrapping_mul(0x9e37_79b9)),
        |i| format!("{:08x}-0000-4000-8000-{:012x}", i.wrapping_mul(0x9e37_79b9), i),
        |i| format!("{}{}", char::from(b'0' + (i / 26) as u8), i % 26),
    ];
    let mut inputs = Vec::new();
    for form in [IdForm::Blocks, IdForm::Exact, IdForm::Fst] {
        let few = shapes.iter().map(|shape| (shape, 3));
        for (shape, count) in
            shapes.iter().zip([60, 90, 30, 1_000]).chain([(&shapes[0], 0), (&shapes[1], 1)]).chain(few)
        {
            inputs.push(docvalues_fuzz::ids_input(ids_of(form, *shape, count)?, &[]));
        }
    }
    for count in [1, 97, 300] {
        inputs.push(ids_in_column(count)?);
    }
    Ok(with_neighbours(inputs))
}

fn ids_of(form: IdForm, shape: fn(u32) -> String, count: u32) -> Result<Ids<Vec<u8>>> {
    let mut ids: Vec<String> = (0..count).map(shape).collect();
    ids.sort();
    let ids: Vec<_> = (0..).map(DocId::new).zip(ids).map(|(doc, id)| (id, doc)).collect();
    let filter_bits = if count.is_multiple_of(60) { 8 } else { 0 };
    let options = IdOptions::new().form(form).filter_bits(filter_bits).seed(7);
    Ok(IdsBuilder::new(options).build(&ids[..], count + 5)?)
}

/// Ids that are values of a column, whose documents are in the order opposite to that of their ids.
fn ids_in_column(count: u32) -> Result<Vec<u8>> {
    let id = |i: u32| u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let mut ids: Vec<[u8; 8]> = (0..count).map(id).collect();
    ids.sort_unstable();
    let values: Vec<u8> = ids.iter().rev().flatten().copied().collect();
    let ids: Vec<_> = ids.into_iter().zip((0..count).rev().map(DocId::new)).collect();
    let options = IdOptions::new().form(IdForm::Column).seed(7);
    let made = IdsBuilder::new(options).in_column(true).build(&ids[..], count)?;
    Ok(docvalues_fuzz::ids_input(made, &values))
}

type Place<'a> =
    dyn FnMut(Section, Vec<u8>) -> std::result::Result<SectionRef, std::convert::Infallible> + 'a;

/// Fields, then sections.
fn joined<M>(
    map: impl FnOnce(&mut &mut Place<'_>) -> std::result::Result<M, std::convert::Infallible>,
    encode: impl FnOnce(&M, &mut Vec<u8>),
) -> Vec<u8> {
    let mut sections = Vec::new();
    let mut place = |_, bytes: Vec<u8>| {
        let at = SectionRef { offset: sections.len() as u64, len: bytes.len() as u64, crc: 0 };
        sections.extend(bytes);
        Ok(at)
    };
    let Ok(meta) = map(&mut (&mut place as &mut Place<'_>));
    let mut input = Vec::new();
    encode(&meta, &mut input);
    input.extend(sections);
    input
}
