//! Takes a segment apart, changes its parts, and puts it together again.

use std::convert::Infallible;

use docvalues::LogicalType;
use docvalues::terms::ids::{IDS_TAG, Ids};
use docvalues_format::cursor::Cursor;
use docvalues_format::error::{Place, Section};
use docvalues_format::file::column::Column;
use docvalues_format::file::directory::{DirectoryBuilder, Page};
use docvalues_format::file::frame::{Footer, HEADER_LEN};
use docvalues_format::file::root::Root;
use docvalues_format::granule::{SectionRef, seal};
use docvalues_format::numeric::{FINE_ZONES_TAG, FineZones};
use docvalues_testkit::rng::SplitMix64;

use super::{Mutator, edit::edit, place};

/// The contents of a segment without their offsets.
pub(super) struct Parts {
    header: [u8; HEADER_LEN],
    docs: u32,
    /// Columns, with the payload numbers of their sections.
    columns: Vec<Column<usize>>,
    payloads: Vec<Vec<u8>>,
    extensions: Vec<Extension>,
}

struct Extension {
    tag: u32,
    sections: Vec<u8>,
    body: Vec<u8>,
    /// The body, with payload numbers, of an index of ids.
    ids: Option<(String, Ids<usize>)>,
    /// The column numbers and payload numbers of fine zones.
    fine_zones: Vec<(u32, usize)>,
}

impl Parts {
    /// Takes a segment apart, if every part can be found.
    pub(super) fn of(file: &[u8]) -> Option<Parts> {
        let footer = Footer::decode(file.last_chunk()?, file.len() as u64).ok()?;
        let root = Root::parse(file.get(place(footer.root())?)?, &footer).ok()?;
        let (columns, payloads, extensions) = Default::default();
        let mut parts =
            Parts { header: *file.first_chunk()?, docs: footer.docs, columns, payloads, extensions };
        for page_ref in &root.pages {
            let page = Page::parse(file.get(place(page_ref.bytes.clone())?)?, page_ref).ok()?;
            for number in 0..page.len() {
                let column = page.column(number, footer.docs).ok()?;
                let column = column.try_map(&mut |_, at: SectionRef| {
                    let payload =
                        place(at.offset..at.offset + at.len).and_then(|at| file.get(at)).ok_or(())?;
                    parts.payloads.push(payload.to_vec());
                    Ok::<usize, ()>(parts.payloads.len() - 1)
                });
                parts.columns.push(column.ok()?);
            }
        }
        let mut fine_zones = root.fine_zones(&footer).ok()?;
        for extension in root.extensions {
            let sections = file.get(place(extension.sections)?)?.to_vec();
            let ids = (extension.tag == IDS_TAG).then(|| parts.ids(file, &extension.body)).flatten();
            let fine_zones =
                if extension.tag == FINE_ZONES_TAG { std::mem::take(&mut fine_zones) } else { Vec::new() };
            let fine_zones = fine_zones.into_iter().map(|fine_zones| {
                let SectionRef { offset, len, .. } = fine_zones.section;
                parts.payloads.push(file.get(place(offset..offset.checked_add(len)?)?)?.to_vec());
                Some((fine_zones.column, parts.payloads.len() - 1))
            });
            let fine_zones = fine_zones.collect::<Option<_>>()?;
            parts.extensions.push(Extension {
                tag: extension.tag,
                sections,
                body: extension.body,
                ids,
                fine_zones,
            });
        }
        Some(parts)
    }

    /// Takes the index of ids apart.
    fn ids(&mut self, file: &[u8], body: &[u8]) -> Option<(String, Ids<usize>)> {
        let nowhere = Place { section: Section::DirectoryRoot, offset: 0 };
        let (field, ids) = Ids::decode_meta(&mut Cursor::new(nowhere, body)).ok()?;
        let ids = ids.try_map(&mut |_, at: SectionRef| {
            let payload =
                place(at.offset..at.end().ok_or(())?.min(at.offset + at.len)).and_then(|at| file.get(at));
            self.payloads.push(payload.ok_or(())?.to_vec());
            Ok::<usize, ()>(self.payloads.len() - 1)
        });
        Some((field.to_owned(), ids.ok()?))
    }

    /// The segment of these parts, written without checking them.
    pub(super) fn assemble(self) -> Vec<u8> {
        let mut file = self.header.to_vec();
        let mut directory = DirectoryBuilder::default();
        for column in self.columns {
            let Ok(column) = column.try_map(&mut |_, payload: usize| {
                let payload = &self.payloads[payload];
                let (offset, len) = (file.len() as u64, payload.len() as u64);
                let (bytes, crc) = seal(payload.clone());
                file.extend(bytes);
                Ok::<SectionRef, Infallible>(SectionRef { offset, len, crc })
            });
            directory.push(&column, file.len() as u64);
        }
        for Extension { tag, sections, mut body, ids, fine_zones } in self.extensions {
            if let Some((field, ids)) = ids {
                let Ok(ids) = ids.try_map(&mut |_, payload: usize| {
                    let payload = &self.payloads[payload];
                    let (offset, len) = (file.len() as u64, payload.len() as u64);
                    let (bytes, crc) = seal(payload.clone());
                    file.extend(bytes);
                    Ok::<SectionRef, Infallible>(SectionRef { offset, len, crc })
                });
                body.clear();
                ids.encode_meta(&field, &mut body);
            } else if !fine_zones.is_empty() {
                let fine_zones = fine_zones.into_iter().map(|(column, payload)| {
                    let payload = &self.payloads[payload];
                    let (offset, len) = (file.len() as u64, payload.len() as u64);
                    let (bytes, crc) = seal(payload.clone());
                    file.extend(bytes);
                    FineZones { column, section: SectionRef { offset, len, crc } }
                });
                body = FineZones::encode_all(&fine_zones.collect::<Vec<_>>());
            } else {
                file.extend(sections);
            }
            directory.push_extension(tag, file.len() as u64, body);
        }
        let (end, _) = directory.finish(file.len() as u64, self.docs);
        file.extend(end);
        file
    }

    /// Changes one of the parts. All parts together may grow by `room` bytes.
    pub(super) fn change(&mut self, room: usize, rng: &mut SplitMix64, bytes: &mut Mutator<'_>) {
        match rng.below(16) {
            0 => self.docs = self.docs.wrapping_add(*rng.pick(&[1, 64, u32::MAX, 1 << 16])),
            1 if !self.columns.is_empty() => drop(self.columns.remove(rng.place(self.columns.len()))),
            2 => self.double(rng),
            3 => self.add_extra(rng),
            4 => self.rename(rng),
            5 => self.change_fine_zones(rng),
            _ => self.payload(room, rng, bytes),
        }
    }

    /// Changes the payload of one section, and usually its length.
    fn payload(&mut self, room: usize, rng: &mut SplitMix64, bytes: &mut Mutator<'_>) {
        if self.payloads.is_empty() {
            return;
        }
        let another = rng.pick(&self.payloads).clone();
        let number = rng.place(self.payloads.len());
        let payload = &mut self.payloads[number];
        let at = rng.place(payload.len() + 1);
        match rng.below(8) {
            0 => payload.truncate(at),
            1 => payload.extend(vec![0; (1 + rng.place(64)).min(room)]),
            2 => drop(payload.drain(at..(at + 1 + rng.place(16)).min(payload.len()))),
            3 => {
                let more = vec![rng.below(256) as u8; (1 + rng.place(16)).min(room)];
                drop(payload.splice(at..at, more));
            }
            4 => *payload = another,
            5 if !payload.is_empty() => edit(payload, self.docs, rng, bytes),
            _ => {
                let most = payload.len() + room;
                bytes(payload, most);
            }
        }
    }

    /// Adds a copy of a column under a later name.
    fn double(&mut self, rng: &mut SplitMix64) {
        if !self.columns.is_empty() {
            let number = rng.place(self.columns.len());
            let mut double = self.columns[number].clone();
            double.field.name.push('~');
            self.columns.insert(number + 1, double);
        }
    }

    fn add_extra(&mut self, rng: &mut SplitMix64) {
        let tag = self.extensions.last().map_or(0, |last| last.tag).saturating_add(rng.below_u32(3));
        let bytes =
            |rng: &mut SplitMix64| (0..rng.place(40)).map(|_| rng.below(256) as u8).collect::<Vec<_>>();
        let (sections, body) = (seal(bytes(rng)).0, bytes(rng));
        self.extensions.push(Extension { tag, sections, body, ids: None, fine_zones: Vec::new() });
    }

    /// Adds fine zones to a column, or removes them.
    fn change_fine_zones(&mut self, rng: &mut SplitMix64) {
        let Some(extension) = self.extensions.iter_mut().find(|extension| !extension.fine_zones.is_empty())
        else {
            return;
        };
        let number = rng.place(extension.fine_zones.len());
        match rng.below(4) {
            0 => drop(extension.fine_zones.remove(number)),
            1 => {
                let double = extension.fine_zones[number];
                extension.fine_zones.push(double);
            }
            2 => extension.fine_zones[number].1 = rng.place(self.payloads.len()),
            _ => extension.fine_zones[number].0 = rng.below_u32(8),
        }
    }

    /// Changes the name or the description of a column.
    fn rename(&mut self, rng: &mut SplitMix64) {
        if self.columns.is_empty() {
            return;
        }
        let number = rng.place(self.columns.len());
        let column = &mut self.columns[number];
        match rng.below(4) {
            0 => column.field.logical = *rng.pick(&LogicalType::ALL),
            1 => column.field.name = "\u{10ffff}".repeat(rng.place(9)),
            2 => column.statistics.sum = Some(i128::from(rng.next_i64()) << rng.below(64)),
            _ => column.field.format = Some("%Y".repeat(rng.place(127))),
        }
    }
}
