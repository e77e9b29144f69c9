//! Commands that print documents: `dv get`, `head`, `sample` and `cat`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::answer::records::{self, Parts, print_documents};
use crate::answer::rows::RecordFormat;
use crate::args::records::{CatArgs, GetArgs, HeadArgs, SampleArgs};
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::import::notes::tell_notes;
use crate::import::source::Source;
use crate::import::{Import, ImportOptions, segment_input};
use crate::open::files::is_readable;
use crate::open::{Opener, Segments, columns};
use crate::text::{counted, printable};

/// Rows of other files to infer types from, so that a large file takes no longer than a small one.
const SAMPLE: u64 = 2_000;

/// `dv get`: prints documents by number.
pub(crate) fn get(args: &GetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = Segments::open_all(opener, [&args.file])?;
    let found = segments.at(args.docs.iter().map(|doc| u64::from(*doc)));
    let printed = found.iter().flatten().copied();
    records::print(&segments, printed, &args.records.options(), console)?;
    segments.require(&args.docs, &found)?;
    Ok(Exit::Ok)
}

/// `dv cat`: prints all documents of several segments.
pub(crate) fn cat(args: &CatArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = Segments::open_all(opener, &args.files)?;
    let fields =
        segments.in_order(columns::select(segments.all(), &args.records.columns)?, &args.records.columns);
    let documents = &mut Parts(segments.all().iter());
    print_documents(&fields, documents, &args.records.options(), RecordFormat::Ndjson, console)?;
    Ok(Exit::Ok)
}

/// `dv head`: the first documents of a segment or a store, or the first rows of another file.
pub(crate) fn head(args: &HeadArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    if opener.commit.is_none() && is_other_file(&args.file) {
        return first_rows(args, opener, console);
    }
    let segments = Segments::open_all(opener, [&args.file])?;
    print_first(&segments, args, console)?;
    Ok(Exit::Ok)
}

fn print_first(segments: &Segments, args: &HeadArgs, console: &mut Console<'_>) -> Result<()> {
    let docs = segments.addresses().take(args.count as usize);
    records::print(segments, docs, &args.records.options(), console)
}

/// Whether a path is an input of `dv build`, not a segment, nor one that is damaged.
fn is_other_file(path: &Path) -> bool {
    let is_named_so = path.extension().is_some_and(|extension| extension == "dv");
    path.as_os_str() == "-" || path.exists() && !is_named_so && !path.is_dir() && !is_readable(path)
}

/// Prints the first rows as `dv build` would store them, and the types that it would infer. Reads no more of the file than
/// these take.
fn first_rows(args: &HeadArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let options = ImportOptions {
        format: args.input_format,
        sample: SAMPLE.max(args.count.into()),
        skip_bad: true,
        batch_bytes: 64 << 10,
        batch_rows: args.count as usize,
        ..ImportOptions::usual()
    };
    let mut import = Import::prepare(vec![Source::new(&args.file)], options)?;
    let bytes = segment_input::first(&mut import, args.count)?;
    print_first(&Segments::in_memory(opener, &args.file, bytes)?, args, console)?;
    console.out.flush()?;
    tell_notes(&import, &import.file_notes().collect::<Vec<_>>(), console);
    let types = import.columns.iter().map(|column| {
        let ty = column.ty.map_or_else(|| "unknown".to_owned(), |ty| ty.to_string());
        format!("{} {ty}", printable(&column.name))
    });
    let types: Vec<_> = types.collect();
    let types = if types.is_empty() { "no columns".to_owned() } else { types.join(", ") };
    let rows = counted(import.sampled, "row", "rows");
    let by = if import.is_text() { format!(" by {rows}") } else { String::new() };
    console.note(&format!("note: types{by}: {types}"));
    Ok(Exit::Ok)
}

/// `dv sample`: prints random documents.
pub(crate) fn sample(args: &SampleArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = Segments::open_all(opener, [&args.file])?;
    let docs = draw(segments.docs(), args.count.into(), args.seed);
    let docs = segments.at(docs.into_iter());
    records::print(&segments, docs.into_iter().flatten(), &args.records.options(), console)?;
    Ok(Exit::Ok)
}

/// Draws `count` of `docs` documents with Floyd's algorithm; every set is equally likely.
///
/// Uses O(`count`) memory.
fn draw(docs: u64, count: u64, seed: u64) -> BTreeSet<u64> {
    let mut random = SplitMix(seed);
    let mut drawn = BTreeSet::new();
    for last in docs - count.min(docs)..docs {
        let doc = random.up_to(last);
        if !drawn.insert(doc) {
            drawn.insert(last);
        }
    }
    drawn
}

/// SplitMix64 by Steele, Lea and Flood: small, and stable across releases.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `last`, with a bias of at most `last` in 2<sup>64</sup>.
    fn up_to(&mut self, last: u64) -> u64 {
        let scaled = (u128::from(self.next()) * (u128::from(last) + 1)) >> 64;
        u64::try_from(scaled).unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_drawn_as_asked_for_or_as_there_are() {
        for (docs, count) in [(0, 0), (0, 5), (1, 1), (10, 0), (10, 3), (10, 10), (10, 11), (1000, 999)] {
            let drawn = draw(docs, count, 7);
            assert_eq!(drawn.len(), usize::try_from(count.min(docs)).unwrap(), "{count} of {docs}");
            assert!(drawn.last().is_none_or(|last| *last < docs));
        }
        assert_eq!(draw(u64::MAX, 4, 1).len(), 4);
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(draw(1000, 10, 3), draw(1000, 10, 3));
        assert_ne!(draw(1000, 10, 3), draw(1000, 10, 4));
    }

    /// With 10,000 draws of 3 among 10, each is drawn 3,000 times, give or take 46 (the standard deviation).
    #[test]
    fn every_document_is_as_likely_as_any_other() {
        let mut drawn = [0; 10];
        for seed in 0..10_000 {
            draw(10, 3, seed).into_iter().for_each(|doc| drawn[usize::try_from(doc).unwrap()] += 1);
        }
        assert!(drawn.iter().all(|times| (2750..3250).contains(times)), "{drawn:?}");
    }
}
