//! The decoders of `docvalues-format`, one by one, over fields and sections from the fuzzer.
//!
//! The input has the fields of the directory, then the sections, with the lengths in the fields. Every read must
//! return. If a decoder's `verify` finds no error, all read methods must agree, in every jump-table mode.

use std::convert::Infallible;
use std::ops::ControlFlow;

use docvalues_format::binary::{Binary, BinaryReader, Scratch};
use docvalues_format::cursor::Cursor;
use docvalues_format::dictionary::{Dictionary, DictionaryReader};
use docvalues_format::error::{Place, Result, Section};
use docvalues_format::file::directory::Page;
use docvalues_format::file::frame::{FOOTER_LEN, Footer, HEADER_LEN, Header};
use docvalues_format::file::root::Root;
use docvalues_format::granule::SectionRef;
use docvalues_format::id::{DocId, TermOrd, ValueIndex};
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{Numeric, NumericReader, Pruning, Role};
use docvalues_format::presence::{NO_VALUE, Presence, PresenceReader};
use docvalues_format::source::Owned;

/// The number of values and documents read one by one.
const LIMIT: u64 = 600;

pub(crate) fn cursor(input: &[u8]) -> Cursor<'_> {
    Cursor::new(Place { section: Section::DirectoryPage, offset: 0 }, input)
}

/// Splits the input after the fields into sections.
pub(crate) struct Sections<'a>(&'a [u8]);

impl Sections<'_> {
    pub(crate) fn cut(&mut self, section: Section, at: SectionRef) -> Result<Owned, Infallible> {
        let len = usize::try_from(at.len).unwrap_or(usize::MAX).min(self.0.len());
        let (payload, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok(Owned::new(section, payload.to_vec()))
    }
}

pub(crate) fn sections<'a>(input: &'a [u8], fields: &Cursor<'_>) -> Sections<'a> {
    Sections(&input[fields.position()..])
}

/// A column of numbers.
pub fn numeric(input: &[u8]) {
    let mut fields = cursor(input);
    let Ok(meta) = Numeric::decode_meta(&mut fields, Role::Values) else { return };
    let (mut answers, mut sound) = (Vec::new(), false);
    for mode in JumpTables::ALL {
        let mut rest = sections(input, &fields);
        let Ok(opened) = meta.clone().try_map(&mut |section, at| rest.cut(section, at));
        let Ok(numbers) = NumericReader::open(opened, mode) else { return };
        answers.push(ask_numbers(&numbers));
        sound = verify(&numbers);
        std::hint::black_box(numbers.encodings().is_ok());
    }
    if sound {
        assert!(answers[0].is_ok(), "verified, but not readable: {:?}", answers[0]);
        assert_eq!(answers[0], answers[1]);
    }
}

/// Whether the numbers pass `verify`. A few bytes may claim billions of numbers; verifying them ends, but finds no
/// more than verifying fewer. More numbers than documents can have must be refused at once.
fn verify(numbers: &NumericReader<Owned>) -> bool {
    let count = numbers.count();
    (count <= 1 << 22 || count > 1 << 32) && numbers.verify().is_ok()
}

/// Reads the first values with every method; the methods must agree if the values are verified.
fn ask_numbers(numbers: &NumericReader<Owned>) -> Result<Vec<i64>> {
    let count = numbers.count();
    let requested = count.min(LIMIT);
    let mut past = [0];
    assert!(numbers.get(count).is_err(), "a value past the end");
    if let Some(end) = count.checked_add(1) {
        assert!(numbers.decode(count..end, &mut past).is_err());
    }
    let _ = numbers.get(count.saturating_sub(1));
    let _ = numbers.get_pair(count / 2);
    let mut decoded = vec![0; usize::try_from(requested).unwrap_or(0)];
    let run = numbers.decode(0..requested, &mut decoded);
    let indices: Vec<u32> = (0..u32::try_from(requested).unwrap_or(0)).rev().collect();
    let mut gathered = vec![0; indices.len()];
    let batch = numbers.gather(&indices, &mut gathered);
    let single: Result<Vec<i64>> = (0..requested).map(|i| numbers.get(i)).collect();
    let mut bits = vec![0_u64; decoded.len().div_ceil(64)];
    let (low, high) = (numbers.meta().min, numbers.meta().min.midpoint(numbers.meta().max));
    let filter = numbers.filter(0..requested, low..=high, &mut bits, &mut Pruning::default());
    // Far apart, in different blocks.
    let far = (0..requested.min(200)).filter_map(|i| u32::try_from((i * 7_919) % count.max(1)).ok());
    let far: Vec<u32> = far.collect();
    let mut scattered = vec![0; far.len()];
    let apart = numbers.gather(&far, &mut scattered);
    if verify(numbers) {
        run.and(batch).and(filter).and(apart)?;
        for (index, value) in far.iter().zip(scattered) {
            assert_eq!(value, numbers.get((*index).into())?, "{index}");
        }
        gathered.reverse();
        assert_eq!(decoded, gathered);
        assert_eq!(single.as_ref().ok(), Some(&decoded));
        for (i, value) in decoded.iter().enumerate() {
            assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, (low..=high).contains(value), "value {i}");
        }
    }
    single
}

/// Presence, in a segment whose number of documents is in the first four bytes.
pub fn presence(input: &[u8]) {
    let mut fields = cursor(input);
    let Ok(docs) = fields.u32() else { return };
    let Ok(meta) = Presence::decode_meta(&mut fields, docs) else { return };
    let (mut answers, mut sound) = (Vec::new(), false);
    for mode in JumpTables::ALL {
        let mut rest = sections(input, &fields);
        let Ok(opened) = meta.clone().try_map(&mut |section, at| rest.cut(section, at));
        let Ok(presence) = PresenceReader::open(opened, docs, mode) else { return };
        answers.push(ask_presence(&presence));
        sound = presence.verify().is_ok();
        std::hint::black_box(presence.block_kinds().is_ok());
    }
    if sound {
        assert!(answers[0].is_ok(), "verified, but not readable: {:?}", answers[0]);
        assert_eq!(answers[0], answers[1]);
    }
}

fn ask_presence(presence: &PresenceReader<Owned>) -> Result<Vec<u32>> {
    let docs = presence.docs();
    let requested = docs.min(u32::try_from(LIMIT).unwrap_or(u32::MAX));
    // The first documents, and the last one.
    let list: Vec<DocId> = (0..requested).map(DocId::new).chain([DocId::new(docs - docs.min(1))]).collect();
    assert_eq!(presence.rank(DocId::new(docs)).ok(), Some(None), "a document past the end");
    let mut ranks = vec![0; list.len()];
    let many = presence.rank_many(&list, &mut ranks);
    let single: Result<Vec<u32>> =
        list.iter().map(|&doc| Ok(presence.rank(doc)?.map_or(NO_VALUE, ValueIndex::get))).collect();
    let (mut found, mut end, mut bits) = (Vec::new(), 0, vec![0_u64; (requested as usize).div_ceil(64)]);
    let first = presence.collect(0..requested, &mut found, &mut end);
    found.truncate(end);
    let exists = presence.exists(0..requested, &mut bits);
    let values = presence.values_in(0..requested);
    let _ = presence.values_in(docs / 2..docs);
    if let Ok(values) = values.clone() {
        let every = vec![u64::MAX; values.len().div_ceil(64)];
        let mut expanded = vec![0; bits.len()];
        if presence.expand(0..requested, &every, &mut expanded).is_ok() && presence.verify().is_ok() {
            assert_eq!(expanded, bits);
        }
    }
    if presence.verify().is_ok() {
        many.clone().and(exists)?;
        assert_eq!(single.as_ref().ok(), Some(&ranks));
        let (first, values) = (first?, values?);
        assert_eq!(values, first.get()..first.get() + u32::try_from(found.len()).unwrap_or(u32::MAX));
        for (i, rank) in ranks[..requested as usize].iter().enumerate() {
            assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, *rank != NO_VALUE, "document {i}");
        }
        for (doc, value) in found.iter().zip(values) {
            assert_eq!(ranks[..requested as usize].get(doc.get() as usize), Some(&value), "{doc:?}");
        }
    }
    many.map(|()| ranks)
}

/// A dictionary of terms.
pub fn dictionary(input: &[u8]) {
    let mut fields = cursor(input);
    let Ok(meta) = Dictionary::decode_meta(&mut fields) else { return };
    for mode in JumpTables::ALL {
        let mut rest = sections(input, &fields);
        let Ok(opened) = meta.clone().try_map(&mut |section, at| rest.cut(section, at));
        let Ok(terms) = DictionaryReader::open(opened, mode) else { return };
        ask_terms(&terms, meta.max_len);
    }
}

fn ask_terms(terms: &DictionaryReader<Owned>, max_len: u32) {
    let (len, mut term) = (terms.len(), Vec::new());
    let sound = terms.verify().is_ok();
    assert!(terms.term(TermOrd::new(len), &mut term).is_err(), "a term past the end");
    let mut in_order = Vec::new();
    let walked = terms.for_each(0..len.min(200), |ord, term| {
        in_order.push((ord, term.to_vec()));
        ControlFlow::Continue(())
    });
    assert!(walked.is_ok() || !sound);
    for ord in (0..len.min(200)).chain([len.saturating_sub(1)]) {
        let read = terms.term(TermOrd::new(ord), &mut term);
        assert!(term.len() <= max_len as usize);
        let (mut gather, mut gathered) = (terms.gather(), Vec::new());
        let found = gather.locate(&[TermOrd::new(ord)]).and_then(|()| gather.append_to(&mut gathered));
        assert!(found.is_err() || gathered.len() <= max_len as usize);
        assert!(read.is_err() || found.is_ok() && gathered == term, "one of many is another");
        let exact = terms.seek_exact(&term);
        let ceil = terms.seek_ceil(&term);
        if sound && ord < len {
            assert!(read.is_ok(), "verified, but not readable: {read:?}");
            assert_eq!((exact.ok(), ceil.ok()), (Some(Some(TermOrd::new(ord))), Some(TermOrd::new(ord))));
            if let Some(other) = in_order.get(ord as usize) {
                assert_eq!((other.0.get(), &other.1), (ord, &term));
            }
        }
        term.push(0);
        let _ = terms.seek_exact(&term);
        let _ = terms.seek_ceil(&term[..term.len() / 2]);
    }
}

/// Byte strings.
pub fn binary(input: &[u8]) {
    let mut fields = cursor(input);
    let Ok(meta) = Binary::decode_meta(&mut fields) else { return };
    for mode in JumpTables::ALL {
        let mut rest = sections(input, &fields);
        let Ok(opened) = meta.clone().try_map(&mut |section, at| rest.cut(section, at));
        let Ok(strings) = BinaryReader::open(opened, mode) else { return };
        let (sound, count) = (strings.verify().is_ok(), strings.count());
        let (mut buffer, mut scratch) = (Vec::new(), Scratch::default());
        assert!(strings.get(count, &mut buffer).is_err(), "a value past the end");
        let requested = count.min(LIMIT);
        let mut run = Vec::new();
        let (mut ran, mut at) = (Ok(()), 0);
        while at < requested && ran.is_ok() {
            ran = strings.decode(at..requested, &mut scratch).map(|some| {
                run.extend_from_slice(some.bytes);
                at += some.len() as u64;
            });
        }
        let mut gathered = Vec::new();
        let indices: Vec<u32> = (0..).take(usize::try_from(requested).unwrap_or(0)).collect();
        let gather = strings.gather(&indices, &mut scratch, |value| {
            gathered.extend_from_slice(value.expect("no index was skipped"));
        });
        let mut single = Vec::new();
        let got: Result<()> = (0..requested).try_for_each(|i| {
            single.extend_from_slice(strings.get(i, &mut buffer)?);
            Ok(())
        });
        if sound {
            assert_eq!((got, ran, gather), (Ok(()), Ok(()), Ok(())));
            assert_eq!((&single, &single), (&run, &gathered));
        }
    }
}

/// Header, footer, root and first page, with checksums that match.
pub fn directory(input: &[u8]) {
    let mut file = input.to_vec();
    crate::reseal(&mut file);
    let Some((footer, _)) = file.split_last_chunk::<FOOTER_LEN>().map(|(_, footer)| (footer, ())) else {
        return;
    };
    if let Some(header) = file.first_chunk::<HEADER_LEN>() {
        let _ = Header::decode(header);
    }
    let Ok(footer) = Footer::decode(footer, file.len() as u64) else { return };
    let range = |range: std::ops::Range<u64>| {
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        file.get(start..end)
    };
    let Some(root) = range(footer.root()) else { return };
    let Ok(root) = Root::parse(root, &footer) else { return };
    for page_ref in root.pages {
        let Some(bytes) = range(page_ref.bytes.clone()) else { continue };
        let Ok(page) = Page::parse(bytes, &page_ref) else { continue };
        for i in 0..page.len() {
            let name = page.name(i).expect("a page that parsed has names");
            assert_eq!(page.find(name).ok(), Some(Ok(i)));
            let _ = page.column(i, footer.docs);
        }
        let _ = page.find("");
        let _ = page.find("\u{10ffff}");
    }
}
