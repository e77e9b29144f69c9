//! A structure-aware mutator: the changes that libFuzzer makes to the inputs of `structured`.
//!
//! A random bit flip usually ends at a checksum. This mutator changes one part of the structure, each with the same
//! probability whatever its length, and then recomputes the checksums:
//!
//! ```text
//! in place     bytes of a header, section, entry, page, root or footer change; all offsets stay
//! taken apart  sections grow, shrink and move, columns come and go; the file is put together again
//! ```

mod edit;
mod parts;

use std::convert::Infallible;
use std::ops::Range;

use docvalues::terms::ids::{IDS_TAG, Ids};
use docvalues_format::cursor::Cursor;
use docvalues_format::error::{Place, Section};
use docvalues_format::file::directory::Page;
use docvalues_format::file::frame::{FOOTER_LEN, Footer, HEADER_LEN};
use docvalues_format::file::root::{Extension, PageRef, Root};
use docvalues_format::granule::SectionRef;
use docvalues_testkit::rng::SplitMix64;

use crate::reseal;
use edit::edit;
use parts::Parts;

/// A mutator of bytes, given the maximum length: that of libFuzzer.
pub type Mutator<'m> = dyn FnMut(&mut Vec<u8>, usize) + 'm;

/// Changes `file` to another one of at most `most` bytes, with correct checksums for all parts that can be found.
pub fn mutate(file: &mut Vec<u8>, most: usize, seed: u32, bytes: &mut Mutator<'_>) {
    let rng = &mut SplitMix64::new(seed.into());
    match rng.below(10) {
        0 => bytes(file, most),
        1..4 => apart(file, most, rng, bytes),
        _ => in_place(file, rng, bytes),
    }
    file.truncate(most);
    reseal(file);
}

/// Changes the first `len` bytes of `data` as a mutator of libFuzzer. Returns their new length.
#[cfg(feature = "libfuzzer")]
pub fn mutate_data(data: &mut [u8], len: usize, most: usize, seed: u32) -> usize {
    let mut file = data[..len].to_vec();
    mutate(&mut file, most, seed, &mut |bytes, most| {
        let len = bytes.len();
        bytes.resize(len.max(most), 0);
        let len = libfuzzer_sys::fuzzer_mutate(bytes, len, most.max(1));
        bytes.truncate(len);
    });
    data[..file.len()].copy_from_slice(&file);
    file.len()
}

/// Takes the file apart, changes its parts, and puts it together; changes it in place if that fails.
fn apart(file: &mut Vec<u8>, most: usize, rng: &mut SplitMix64, bytes: &mut Mutator<'_>) {
    let Some(mut parts) = Parts::of(file) else { return in_place(file, rng, bytes) };
    parts.change(most.saturating_sub(file.len()), rng, bytes);
    let changed = parts.assemble();
    if changed.len() <= most {
        *file = changed;
    } else {
        in_place(file, rng, bytes);
    }
}

/// Changes bytes of one part, and no offsets.
fn in_place(file: &mut Vec<u8>, rng: &mut SplitMix64, bytes: &mut Mutator<'_>) {
    let Some(Outline { docs, spans }) = Outline::of(file) else {
        let most = file.len();
        return bytes(file, most);
    };
    for _ in 0..=rng.below(3) {
        let span = rng.pick(&spans).clone();
        edit(&mut file[span], docs, rng, bytes);
    }
}

/// The offsets of the parts of a segment that can be found through valid ones.
struct Outline {
    docs: u32,
    spans: Vec<Range<usize>>,
}

impl Outline {
    fn of(file: &[u8]) -> Option<Outline> {
        let footer_at = file.len().checked_sub(FOOTER_LEN)?;
        let footer = Footer::decode(file.last_chunk()?, file.len() as u64).ok()?;
        let root_at = place(footer.root())?;
        let root = Root::parse(file.get(root_at.clone())?, &footer).ok()?;
        let mut outline =
            Outline { docs: footer.docs, spans: vec![0..HEADER_LEN, root_at, footer_at..file.len()] };
        for page in &root.pages {
            outline.page(file, page);
        }
        for extension in &root.extensions {
            outline.spans.extend(place(extension.sections.clone()));
            if extension.tag == IDS_TAG {
                outline.ids(extension);
            }
        }
        for fine_zones in root.fine_zones(&footer).unwrap_or_default() {
            let SectionRef { offset, len, .. } = fine_zones.section;
            outline.spans.extend(place(offset..offset.saturating_add(len)));
        }
        outline.spans.retain(|span| !span.is_empty() && span.end <= file.len());
        Some(outline)
    }

    /// Adds the sections of the index of ids.
    fn ids(&mut self, extension: &Extension) -> Option<()> {
        let nowhere = Place { section: Section::DirectoryRoot, offset: 0 };
        let (_, ids) = Ids::decode_meta(&mut Cursor::new(nowhere, &extension.body)).ok()?;
        let Ok(_) = ids.try_map(&mut |_, section: SectionRef| {
            self.spans.extend(place(section.offset..section.offset.saturating_add(section.len)));
            Ok::<(), Infallible>(())
        });
        Some(())
    }

    /// Adds the head of a page, its entries, and their sections.
    fn page(&mut self, file: &[u8], page_ref: &PageRef) -> Option<()> {
        let at = place(page_ref.bytes.clone())?;
        let bytes = file.get(at.clone())?;
        let page = Page::parse(bytes, page_ref).ok()?;
        let entries = 4 * (page.len() + 2);
        self.spans.push(at.start..at.start + entries);
        let offsets =
            bytes.get(4..entries)?.as_chunks().0.iter().map(|offset| u32::from_le_bytes(*offset) as usize);
        let offsets: Vec<usize> = offsets.collect();
        for (number, pair) in offsets.windows(2).enumerate() {
            let entry = at.start + pair[0]..at.start + pair[1];
            let Ok(column) = page.column(number, self.docs) else {
                self.spans.push(entry);
                continue;
            };
            let Ok(_) = column.try_map(&mut |_, section: SectionRef| {
                // Descriptions of sections change as often as their contents.
                self.spans.extend(place(section.offset..section.offset.saturating_add(section.len)));
                self.spans.push(entry.clone());
                Ok::<(), Infallible>(())
            });
        }
        Some(())
    }
}

/// A range of the file in memory.
fn place(range: Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}
