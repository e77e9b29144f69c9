//! Whole indexes, written by the encoders of the modules, and read through the traits.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use docvalues_column::{ColumnSource, DocAddress, DocId, Field, Kind, LogicalType, Part};
use docvalues_format::file::kind::from_f64;
use docvalues_storage::{Directory, DirectoryEntry, DirectoryFile, FileLock, FsDirectory, Source};
use docvalues_testkit::conformance::{check_column, check_panics, check_source};
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;

use crate::codec::{self, InfoLayout};
use crate::doc_values::Layout;
use crate::field_infos::tests::{TestField, field_infos};
use crate::live_docs::tests::live_docs;
use crate::numeric::tests::Form;
use crate::packed::tests::{pack, width_of};
use crate::segment_info::tests::segment_info;
use crate::testing::{Encoder, ID, encode, reseal};
use crate::{
    ErrorKind, FieldType, Index, JumpTables, Options, Segment, binary, dictionary, dictionary::TermsLayout,
    monotonic, numeric, presence, skip_index,
};

/// A release of Lucene: its codec, and the layouts of its files.
#[derive(Clone, Copy, Debug)]
struct Release {
    codec: &'static str,
    layout: Layout,
    /// The version of doc values.
    version: i32,
    /// The layout of `.fnm`, and its version.
    fields: (usize, i32),
    commit: i32,
}

const RELEASES: [Release; 8] = [
    Release { codec: "Lucene70", layout: Layout::V70, version: 0, fields: (0, 0), commit: 7 },
    Release { codec: "Lucene80", layout: Layout::V80, version: 0, fields: (0, 2), commit: 9 },
    Release { codec: "Lucene86", layout: Layout::V80, version: 1, fields: (0, 2), commit: 10 },
    Release { codec: "Lucene87", layout: Layout::V80, version: 2, fields: (0, 2), commit: 10 },
    Release { codec: "Lucene90", layout: Layout::V90, version: 0, fields: (1, 0), commit: 10 },
    Release { codec: "Lucene100", layout: Layout::V90, version: 0, fields: (2, 2), commit: 10 },
    Release { codec: "Lucene104", layout: Layout::V90, version: 2, fields: (2, 2), commit: 10 },
    Release { codec: "Lucene104", layout: Layout::V90, version: 3, fields: (2, 2), commit: 11 },
];

/// A column to write.
#[derive(Clone)]
struct Wanted {
    name: &'static str,
    form: Form,
    has_skip_index: bool,
    column: ModelColumn,
}

/// The files of doc values.
struct DocValues {
    release: Release,
    meta: Encoder,
    data: Encoder,
    presence: Encoder,
    skip_indexes: Encoder,
}

impl Release {
    fn info(self) -> InfoLayout {
        codec::layout(self.codec).unwrap()
    }

    fn format(self) -> &'static str {
        match self.layout {
            Layout::V70 => "Lucene70",
            Layout::V80 => "Lucene80",
            Layout::V90 => "Lucene90",
        }
    }

    fn has_skip_indexes(self) -> bool {
        self.fields == (2, 2)
    }

    fn terms(self) -> (TermsLayout, bool) {
        match (self.layout, self.version) {
            (Layout::V90, _) => (TermsLayout::V90, true),
            (_, version) => (TermsLayout::Coded, version == 2),
        }
    }

    /// The files of doc values of these columns, by their endings. Fields have the numbers from `first` on.
    fn doc_values(
        self,
        suffix: &str,
        docs: u32,
        first: i32,
        columns: &[Wanted],
    ) -> BTreeMap<&'static str, Vec<u8>> {
        let mut out = self.without_columns(suffix);
        for (number, column) in (first..).zip(columns) {
            out.column(number, docs, column);
        }
        out.files(suffix)
    }

    /// Doc values to which columns are appended.
    fn without_columns(self, suffix: &str) -> DocValues {
        let file = |name| Encoder::of_file(self.info().order(), name, suffix);
        DocValues {
            release: self,
            meta: file(self.layout.metadata().name),
            data: file(self.layout.data().name),
            presence: file(DISI),
            skip_indexes: file(SKIPS),
        }
    }
}

/// The contents of the files of presence and of skip indexes.
const DISI: &str = "Lucene90DocValuesDISI";
const SKIPS: &str = "Lucene90DocValuesSkipIndex";

impl DocValues {
    /// The files, by their endings.
    fn files(mut self, suffix: &str) -> BTreeMap<&'static str, Vec<u8>> {
        self.meta.i32(-1);
        let Release { layout, version, .. } = self.release;
        let seal = |name, body: &Encoder| encode(name, version, suffix, &body.out);
        let (meta, data) = (layout.metadata().name, layout.data().name);
        let mut files = BTreeMap::from([("dvm", seal(meta, &self.meta)), ("dvd", seal(data, &self.data))]);
        if layout == Layout::V90 && version >= 1 {
            files.insert("dvs", seal(SKIPS, &self.skip_indexes));
        }
        if version >= 3 {
            files.insert("dvp", seal(DISI, &self.presence));
        }
        files
    }

    fn has_tables(&self) -> bool {
        self.release.layout != Layout::V70
    }

    fn column(&mut self, number: i32, docs: u32, wanted: &Wanted) {
        self.meta.i32(number);
        let rows: Vec<Vec<i64>> = match &wanted.column {
            ModelColumn::Numeric(slots) => slots.iter().map(|slot| slot.iter().copied().collect()).collect(),
            ModelColumn::SortedNumeric(slots) => slots.clone(),
            _ => vec![vec![]],
        };
        let tag = match wanted.column.kind() {
            Kind::Numeric => 0,
            Kind::Binary => 1,
            Kind::Sorted => 2,
            Kind::SortedSet => 3,
            Kind::SortedNumeric => 4,
        };
        self.meta.u8(tag);
        if wanted.has_skip_index && self.release.has_skip_indexes() {
            let version = self.release.version;
            let out = if version == 0 { &mut self.data } else { &mut self.skip_indexes };
            skip_index::tests::encode(&mut self.meta, out, &rows, 4_096, version);
        }
        match &wanted.column {
            ModelColumn::Numeric(_) => self.numbers(docs, &rows, wanted.form),
            ModelColumn::SortedNumeric(_) => {
                self.numbers(docs, &rows, wanted.form);
                self.counts(&rows);
            }
            ModelColumn::Binary(slots) => {
                let slots = (0..).zip(slots).filter_map(|(doc, slot)| Some((doc, slot.as_deref()?)));
                let slots: Vec<(u32, &[u8])> = slots.collect();
                assert!(
                    self.release.version < 3 || slots.len() == docs as usize,
                    "presence would be elsewhere"
                );
                let is_compressed = self.release.layout == Layout::V80 && self.release.version > 0;
                let kind = (self.has_tables(), is_compressed);
                binary::tests::encode(&mut self.meta, &mut self.data, docs, &slots, kind);
            }
            ModelColumn::Sorted(slots) => {
                let rows: Vec<BTreeSet<&[u8]>> =
                    slots.iter().map(|slot| slot.as_deref().into_iter().collect()).collect();
                self.terms(docs, &rows, wanted.form);
            }
            ModelColumn::SortedSet(slots) => {
                let rows: Vec<BTreeSet<&[u8]>> =
                    slots.iter().map(|slot| slot.iter().map(Vec::as_slice).collect()).collect();
                self.meta.u8(u8::from(rows.iter().any(|row| row.len() > 1)));
                self.terms(docs, &rows, wanted.form);
            }
        }
    }

    fn presence<T>(&mut self, docs: u32, rows: &[T], is_empty: impl Fn(&T) -> bool) {
        let with_value = (0..).zip(rows).filter(|(_, row)| !is_empty(row)).map(|(doc, _)| doc);
        let (with_value, has_tables) = (with_value.collect::<Vec<u32>>(), self.has_tables());
        let out = if self.release.version >= 3 { &mut self.presence } else { &mut self.data };
        presence::tests::encode(&mut self.meta, out, docs, &with_value, has_tables);
    }

    /// The entry of numbers.
    fn numbers(&mut self, docs: u32, rows: &[Vec<i64>], form: Form) {
        self.presence(docs, rows, Vec::is_empty);
        let has_tables = self.has_tables();
        numeric::tests::encode(&mut self.meta, &mut self.data, &rows.concat(), form, has_tables);
    }

    /// The number of documents with a value, and the addresses of their lists, if any has several values.
    fn counts<T>(&mut self, rows: &[Vec<T>]) {
        let docs = rows.iter().filter(|row| !row.is_empty()).count();
        self.meta.i32(docs as i32);
        if rows.iter().any(|row| row.len() > 1) {
            self.addresses(rows.iter().map(Vec::len));
        }
    }

    fn addresses(&mut self, lens: impl Iterator<Item = usize>) {
        let mut addresses = vec![0];
        for len in lens.filter(|len| *len > 0) {
            addresses.push(addresses[addresses.len() - 1] + len as i64);
        }
        let offset = self.data.offset();
        self.meta.i64(offset).vint(5);
        monotonic::tests::encode(&mut self.meta, &mut self.data, 5, &addresses);
        self.meta.i64(self.data.offset() - offset);
    }

    /// Ords, and their dictionary.
    fn terms(&mut self, docs: u32, rows: &[BTreeSet<&[u8]>], form: Form) {
        let terms: BTreeSet<&[u8]> = rows.iter().flatten().copied().collect();
        let terms: Vec<Vec<u8>> = terms.into_iter().map(<[u8]>::to_vec).collect();
        let ord = |term: &&[u8]| terms.binary_search_by(|other| other[..].cmp(term)).unwrap() as i64;
        let ords: Vec<Vec<i64>> = rows.iter().map(|row| row.iter().map(ord).collect()).collect();
        let has_lists = ords.iter().any(|row| row.len() > 1);
        if self.release.layout == Layout::V90 {
            self.numbers(docs, &ords, form);
            if has_lists {
                self.counts(&ords);
            }
        } else {
            self.presence(docs, &ords, Vec::is_empty);
            let with_value = ords.iter().filter(|row| !row.is_empty()).count() as i32;
            let width = width_of(terms.len().saturating_sub(1) as u64);
            let all: Vec<u64> = ords.concat().iter().map(|ord| ord.cast_unsigned()).collect();
            let packed = pack(self.data.order, width, &all);
            let offset = self.data.offset();
            self.data.bytes(&packed).bytes(&[0; 3]);
            let len = self.data.offset() - offset;
            if has_lists {
                self.meta.u8(width).i64(offset).i64(len).i32(with_value);
                self.addresses(ords.iter().map(Vec::len));
            } else {
                self.meta.i32(with_value).u8(width).i64(offset).i64(len);
            }
        }
        dictionary::tests::encode(&mut self.meta, &mut self.data, &terms, self.release.terms());
    }
}

/// Columns of all kinds, with gaps and without.
fn columns(docs: u32, release: Release) -> Vec<Wanted> {
    let mut rng = SplitMix64::new(docs.into());
    let word = |number: u64| format!("term-{:03}", number * number % 997).into_bytes();
    let mut number = |below: u64| rng.below(below).cast_signed();
    let dense = |_: u32| true;
    let sparse = |doc: u32| doc % 7 == 3 || doc / 100 == 2;
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let mut numeric = |has_value: fn(u32) -> bool, below: u64| {
        ModelColumn::Numeric((0..docs).map(|doc| has_value(doc).then(|| number(below) - 50)).collect())
    };
    let mut all = vec![
        wanted("dense", numeric(dense, 1_000)),
        wanted("sparse", numeric(sparse, 1 << 40)),
        Wanted { form: Form::Table, ..wanted("table", numeric(dense, 3)) },
        Wanted { form: Form::Blocks(6), ..wanted("blocks", numeric(dense, 1 << 20)) },
        Wanted { form: Form::Blocks(7), ..wanted("sparse_blocks", numeric(sparse, 1 << 20)) },
        Wanted { has_skip_index: true, ..wanted("skipped", numeric(sparse, 1_000)) },
        wanted("none", numeric(|_| false, 1)),
        wanted("same", numeric(dense, 1)),
    ];
    let mut rng = SplitMix64::new(9);
    let lists = (0..docs).map(|doc| {
        let mut list: Vec<i64> = (0..rng.below(4)).map(|_| rng.next_i64() >> (doc % 60)).collect();
        list.sort_unstable();
        list
    });
    let lists: Vec<Vec<i64>> = lists.collect();
    all.push(Wanted { has_skip_index: true, ..wanted("lists", ModelColumn::SortedNumeric(lists)) });
    let mut some = |doc: u32| sparse(doc).then(|| word(rng.below(300)));
    all.push(wanted("host", ModelColumn::Sorted((0..docs).map(&mut some).collect())));
    let one = |doc: u32| Some(word((doc / 1_000).into()));
    all.push(wanted("one_term", ModelColumn::Sorted((0..docs.min(900)).map(one).collect())));
    let mut rng = SplitMix64::new(10);
    let sets = (0..docs).map(|_| (0..rng.below(4)).map(|_| word(rng.below(100))).collect::<BTreeSet<_>>());
    let tags = wanted("tags", ModelColumn::SortedSet(sets.collect()));
    all.push(Wanted { form: Form::Blocks(6), ..tags });
    let text = |doc: u32| {
        (release.version == 3 || !doc.is_multiple_of(5)).then(|| word(doc.into()).repeat(doc as usize % 3))
    };
    all.push(wanted("text", ModelColumn::Binary((0..docs).map(text).collect())));
    let fixed = |doc: u32| Some(doc.to_be_bytes().to_vec());
    all.push(wanted("fixed", ModelColumn::Binary((0..docs).map(fixed).collect())));
    all
}

/// The field of a column, as a segment has it.
fn field(wanted: &Wanted) -> Field {
    let logical = match wanted.column.kind() {
        Kind::Numeric | Kind::SortedNumeric => LogicalType::I64,
        Kind::Sorted | Kind::SortedSet => LogicalType::Utf8,
        Kind::Binary => LogicalType::Bytes,
    };
    Field::new(wanted.name, wanted.column.kind(), logical)
}

fn model(docs: u32, columns: &[Wanted]) -> MemSource {
    MemSource::new(docs, columns.iter().map(|wanted| (field(wanted), wanted.column.clone())))
}

/// The `.fnm` of columns. The doc values of those in `updated` are of this generation.
fn fields(release: Release, columns: &[Wanted], suffix: &str, updated: &[(&str, i64)]) -> Vec<u8> {
    let format = [
        ("PerFieldDocValuesFormat.format", release.format()),
        ("PerFieldDocValuesFormat.suffix", "0"),
        ("Lucene80DocValuesFormat.mode", "BEST_COMPRESSION"),
    ];
    let fields = columns.iter().map(|wanted| {
        let tag = match wanted.column.kind() {
            Kind::Numeric => 1,
            Kind::Binary => 2,
            Kind::Sorted => 3,
            Kind::SortedSet => 4,
            Kind::SortedNumeric => 5,
        };
        let generation = updated.iter().find(|(name, _)| *name == wanted.name).map_or(-1, |(_, at)| *at);
        (wanted.name, tag, wanted.has_skip_index, generation, &format[..])
    });
    let fields: Vec<TestField<'_>> = fields.collect();
    field_infos(release.fields.0, release.fields.1, suffix, &fields)
}

/// Generations of live documents and of fields, and the number of deletes.
#[derive(Clone, Copy)]
struct Generations(i64, i64, i32);

const NONE: Generations = Generations(-1, -1, 0);

/// The commit `segments_1` of one segment. Overlays lie over the doc values that the segment was written with.
fn commit(
    release: Release,
    Generations(live, fields, deleted): Generations,
    overlays: &[(i32, &[i64])],
) -> Vec<u8> {
    commit_of(release, &[("_0", Generations(live, fields, deleted), overlays)])
}

/// A segment of a commit: its name, and what was changed in it.
type Committed<'a> = (&'a str, Generations, &'a [(i32, &'a [i64])]);

/// The commit `segments_1` of these segments.
fn commit_of(release: Release, segments: &[Committed<'_>]) -> Vec<u8> {
    commit_noted(release, segments, &[("by", "a test")])
}

/// As [`commit_of`], with what its writer notes.
fn commit_noted(release: Release, segments: &[Committed<'_>], noted: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Encoder::new(crate::order::Order::Big);
    out.vint(10).vint(6).vint(0).vint(7).i64(1);
    if release.commit == 7 {
        out.i32(1)
    } else {
        out.vlong(1)
    };
    out.i32(segments.len() as i32).vint(7).vint(0).vint(0);
    for (name, Generations(live, fields, deleted), overlays) in segments {
        out.string(name).bytes(&ID).string(release.codec);
        out.i64(*live).i32(*deleted).i64(*fields).i64(-1);
        if release.commit >= 9 {
            out.i32(0);
        }
        if release.commit >= 10 {
            out.u8(0);
        }
        out.set(&[]).i32(0);
        if release.commit < 11 {
            continue;
        }
        out.i32(overlays.len() as i32);
        for (field, generations) in *overlays {
            out.i32(*field).i64(-1).i32(generations.len() as i32);
            generations.iter().for_each(|generation| {
                out.i64(*generation);
            });
        }
    }
    out.map(noted);
    encode("segments", release.commit, "1", &out.out)
}

/// Writes an index of one segment.
fn write(folder: &Path, release: Release, docs: u32, columns: &[Wanted], is_compound: bool) {
    let save = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    save("segments_1", &commit(release, NONE, &[]));
    write_segment(&|ending, bytes| save(&format!("_0{ending}"), bytes), release, docs, columns, is_compound);
}

/// Writes the files of a segment, of which `save` takes the ends of the names.
fn write_segment(
    save: &dyn Fn(&str, &[u8]),
    release: Release,
    docs: u32,
    columns: &[Wanted],
    is_compound: bool,
) {
    save(".si", &segment_info(release.info(), docs as i32, is_compound));
    let suffix = format!("{}_0", release.format());
    let mut members = vec![(".fnm".to_owned(), fields(release, columns, "", &[]))];
    for (ending, bytes) in release.doc_values(&suffix, docs, 3, columns) {
        members.push((format!("_{suffix}.{ending}"), bytes));
    }
    if !is_compound {
        return members.iter().for_each(|(name, bytes)| save(name, bytes));
    }
    let order = release.info().order();
    let version = if order == crate::order::Order::Big { "50" } else { "90" };
    let name = format!("Lucene{version}CompoundData");
    let (mut entries, mut data) = (Encoder::new(order), Encoder::of_file(order, &name, ""));
    entries.vint(members.len() as i32);
    for (name, bytes) in members {
        // Members begin at multiples of eight in later releases.
        while order == crate::order::Order::Little && data.offset() % 8 > 0 {
            data.u8(0xAA);
        }
        entries.string(&name).i64(data.offset()).i64(bytes.len() as i64);
        data.bytes(&bytes);
    }
    save(".cfs", &encode(&name, 0, "", &data.out));
    save(".cfe", &encode(&format!("Lucene{version}CompoundEntries"), 0, "", &entries.out));
}

fn open(folder: &Path, jump_tables: JumpTables) -> crate::Result<Index> {
    Index::open_with(Arc::new(FsDirectory::new(folder)), Options::new().jump_tables(jump_tables))
}

/// The only part of an index.
fn part(index: &Index) -> Part {
    let parts = index.parts();
    assert_eq!(parts.len(), 1);
    parts[0].clone()
}

#[test]
fn indexes_of_all_releases_follow_the_rules_of_the_traits() {
    for (number, release) in RELEASES.into_iter().enumerate() {
        let docs = 1_500;
        let columns = columns(docs, release);
        let model = model(docs, &columns);
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), release, docs, &columns, number % 2 == 1);
        for mode in JumpTables::ALL {
            let index = open(folder.path(), mode).unwrap();
            assert_eq!((index.segments().len(), index.live_docs()), (1, 1_500), "{release:?}");
            assert_eq!(index.segments()[0].codec(), release.codec);
            let part = part(&index);
            check_source(&*part.source, &model);
            for wanted in &columns {
                check_panics(&*part.source.column(wanted.name).unwrap());
            }
            index.verify().unwrap();
        }
    }
}

/// Codecs of Elasticsearch, of the k-NN plugin and of compression in OpenSearch, by a release with the same layouts.
const WRAPPERS: [(usize, &[&str]); 5] = [
    (1, &["KNN80Codec", "KNN84Codec"]),
    (2, &["KNN86Codec"]),
    (3, &["KNN87Codec"]),
    (4, &["KNN910Codec", "KNN920Codec", "KNN940Codec", "KNN950Codec", "ZSTD", "ZSTDNODICT"]),
    (
        6,
        &[
            "KNN990Codec",
            "KNN9120Codec",
            "KNN10010Codec",
            "KNN1030Codec",
            "KNN1040Codec",
            "Elasticsearch814",
            "Elasticsearch816",
            "Elasticsearch900",
            "Elasticsearch900Lucene101",
            "Elasticsearch92Lucene103",
            "Elasticsearch93Lucene104",
            "Elasticsearch96",
            "ZSTD99",
            "ZSTDNODICT912",
            "QATDEFLATE101",
            "QATLZ4104",
        ],
    ),
];

#[test]
fn segments_of_codecs_that_wrap_one_of_lucene_are_read() {
    for (release, codecs) in WRAPPERS {
        let (release, docs) = (RELEASES[release], 300);
        let columns = columns(docs, release);
        let model = model(docs, &columns);
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), release, docs, &columns, true);
        for codec in codecs {
            let commit = commit(Release { codec, ..release }, NONE, &[]);
            fs::write(folder.path().join("segments_1"), commit).unwrap();
            let index = open(folder.path(), JumpTables::Baked).unwrap();
            assert_eq!(index.segments()[0].codec(), *codec);
            check_source(&*part(&index).source, &model);
        }
    }
}

/// Blocks of presence of all kinds and many blocks of numbers, in both orders of bytes; skip indexes of many zones.
#[test]
fn a_large_segment_is_read() {
    let docs = 3 * 65_536 + 5_000;
    let is_there = |doc: u32| match doc >> 16 {
        0 => doc % 100 == 7,
        1 => doc.is_multiple_of(2),
        2 => true,
        _ => doc % 3_000 == 1,
    };
    let value = |doc: u32| is_there(doc).then(|| i64::from(doc) / 10 * 10);
    let slots: Vec<Option<i64>> = (0..docs).map(value).collect();
    let lists =
        slots.iter().map(|slot| slot.iter().flat_map(|number| [*number, number + 3]).collect()).collect();
    let wanted = |name, form, column| Wanted { name, form, has_skip_index: name != "plain", column };
    let columns = [
        wanted("lists", Form::Packed, ModelColumn::SortedNumeric(lists)),
        wanted("plain", Form::Blocks(14), ModelColumn::Numeric(slots.clone())),
        wanted("skipped", Form::Blocks(14), ModelColumn::Numeric(slots)),
    ];
    for release in [RELEASES[0], RELEASES[6]] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), release, docs, &columns, false);
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        check_source(&*part(&index).source, &model(docs, &columns));
    }
}

/// Lists that are short on average, of which some are long, and long ones.
#[test]
fn lists_of_many_values_are_read() {
    let (release, docs) = (RELEASES[6], 600);
    let lists = |len: fn(i64) -> i64| -> Vec<Vec<i64>> {
        (0..i64::from(docs)).map(|doc| (doc..doc + len(doc)).collect()).collect()
    };
    let wanted = |name, lists| {
        let column = ModelColumn::SortedNumeric(lists);
        Wanted { name, form: Form::Packed, has_skip_index: false, column }
    };
    let short = lists(|doc| if doc % 100 == 7 { 90 } else { doc % 3 });
    let columns = [wanted("short", short), wanted("long", lists(|doc| doc % 5 * 20))];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &columns, false);
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    check_source(&*part(&index).source, &model(docs, &columns));
}

#[test]
fn a_list_of_one_is_a_single_value() {
    let release = RELEASES[6];
    let lists = ModelColumn::SortedNumeric((0..100).map(|doc| vec![doc]).collect());
    let sets = (0..100).map(|doc: u32| BTreeSet::from([doc.to_string().into_bytes()]));
    let sets = ModelColumn::SortedSet(sets.collect());
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, 100, &[wanted("lists", lists), wanted("sets", sets)], false);
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    let kinds: Vec<Kind> = part(&index).source.fields().unwrap().iter().map(|field| field.kind).collect();
    assert_eq!(kinds, [Kind::Numeric, Kind::Sorted]);
    let model = model(
        100,
        &[
            wanted("lists", ModelColumn::Numeric((0..100).map(Some).collect())),
            wanted(
                "sets",
                ModelColumn::Sorted((0..100).map(|doc: u32| Some(doc.to_string().into_bytes())).collect()),
            ),
        ],
    );
    check_source(&*part(&index).source, &model);
}

/// Deleted documents, doc values that were written again, and a field that was added by it, on a compound segment.
#[test]
fn later_generations_replace_earlier_ones() {
    let (release, docs) = (RELEASES[6], 130);
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let numbers = |step: i64| ModelColumn::Numeric((0..130).map(|doc| Some(doc * step)).collect());
    let marked = (0..130).map(|doc| (doc % 50 == 1).then_some(1)).collect();
    let original = [wanted("a", numbers(1)), wanted("b", numbers(2))];
    let later =
        [original[0].clone(), original[1].clone(), wanted("__soft_deletes", ModelColumn::Numeric(marked))];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &original, true);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    // A file of one field has the number that the field has among all.
    for (generation, number, column) in [(36, 4, wanted("b", numbers(-7))), (2, 5, later[2].clone())] {
        let suffix = format!("{}_Lucene90_0", crate::files::to_base_36(generation));
        for (ending, bytes) in release.doc_values(&suffix, docs, number, &[column]) {
            save(&format!("_0_{suffix}.{ending}"), &bytes);
        }
    }
    let updated = [("b", 36), ("__soft_deletes", 2)];
    save("_0_3.fnm", &fields(release, &later, "3", &updated));
    let words = [!0, !(1 << 5), 0b11];
    save("_0_1.liv", &live_docs(release.info().order(), "1", &words));
    save("segments_1", &commit(release, Generations(1, 3, 1), &[]));

    let index = open(folder.path(), JumpTables::Baked).unwrap();
    let updated = [later[0].clone(), wanted("b", numbers(-7))];
    let found = part(&index);
    check_source(&*found.source, &model(docs, &updated));
    // The field that marks deletes is listed apart.
    let (internal, model) = (index.segments()[0].internal_fields().cloned(), model(docs, &later[2..]));
    assert!(internal.eq(model.fields().unwrap()));
    check_column(&*found.source.column("__soft_deletes").unwrap(), &*model.column("__soft_deletes").unwrap());
    let live = found.live.unwrap();
    // Document 69 is deleted, and 1, 51 and 101 softly.
    assert_eq!((live.count(), index.live_docs()), (126, 126));
    assert!([1, 51, 69, 101].iter().all(|doc| !live.contains(DocId::new(*doc))));
    let all = Options::new().keep_soft_deletes(true);
    let index = Index::open_with(Arc::new(FsDirectory::new(folder.path())), all).unwrap();
    assert_eq!(index.live_docs(), 129);
    assert_eq!(index.user_data(), [("by".to_owned(), "a test".to_owned())]);
}

/// Later values of some documents, in several generations, of fields that were there and of others.
#[test]
fn overlays_replace_values_of_some_documents() {
    let (release, docs) = (Release { commit: 11, ..RELEASES[6] }, 300);
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let numbers = |of: fn(i64) -> Option<i64>| ModelColumn::Numeric((0..300).map(of).collect());
    let lists = |of: fn(i64) -> Vec<i64>| ModelColumn::SortedNumeric((0..300).map(of).collect());
    let texts = |of: fn(i64) -> Option<&'static [u8]>| {
        ModelColumn::Binary((0..300).map(|doc| of(doc).map(<[u8]>::to_vec)).collect())
    };
    let original = [
        wanted("a", numbers(|doc| (doc % 4 > 0).then_some(doc))),
        wanted("lists", lists(|doc| (0..doc % 3).collect())),
        wanted("text", texts(|_| Some(b"old"))),
        wanted("ones", lists(|doc| vec![doc])),
    ];
    let added = [wanted("added", numbers(|_| None)), wanted("__soft_deletes", numbers(|_| None))];
    let fields_now = [&original[..], &added[..]].concat();
    let overlays = [
        (4, 3, wanted("a", numbers(|doc| (doc % 3 == 0).then_some(1_000 + doc)))),
        (9, 3, wanted("a", numbers(|doc| (doc % 9 == 0).then_some(2_000 + doc)))),
        (5, 4, wanted("lists", lists(|doc| if doc % 7 == 1 { vec![7, 8, 9] } else { vec![] }))),
        (6, 5, wanted("text", texts(|doc| (doc % 5 == 0).then_some(&b"newer"[..])))),
        (10, 6, wanted("ones", lists(|doc| if doc % 50 == 3 { vec![doc, doc + 1] } else { vec![] }))),
        (7, 7, wanted("added", numbers(|doc| (doc % 2 == 0).then_some(-doc)))),
        (8, 8, wanted("__soft_deletes", numbers(|doc| (doc == 1 || doc == 64).then_some(1)))),
    ];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &original, true);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    for (generation, number, column) in overlays {
        let suffix = format!("{}_Lucene90_0", crate::files::to_base_36(generation));
        for (ending, bytes) in release.doc_values(&suffix, docs, number, &[column]) {
            save(&format!("_0_{suffix}.{ending}"), &bytes);
        }
    }
    let updated = [("a", 9), ("lists", 5), ("text", 6), ("ones", 10), ("added", 7), ("__soft_deletes", 8)];
    save("_0_2.fnm", &fields(release, &fields_now, "2", &updated));
    let of_fields: [(i32, &[i64]); 6] =
        [(3, &[9, 4]), (4, &[5]), (5, &[6]), (6, &[10]), (7, &[7]), (8, &[8])];
    save("segments_1", &commit(release, Generations(-1, 2, 0), &of_fields));

    let index = open(folder.path(), JumpTables::Baked).unwrap();
    let now = [
        wanted(
            "a",
            numbers(|doc| match doc {
                _ if doc % 9 == 0 => Some(2_000 + doc),
                _ if doc % 3 == 0 => Some(1_000 + doc),
                _ => (doc % 4 > 0).then_some(doc),
            }),
        ),
        wanted("added", numbers(|doc| (doc % 2 == 0).then_some(-doc))),
        wanted("lists", lists(|doc| if doc % 7 == 1 { vec![7, 8, 9] } else { (0..doc % 3).collect() })),
        wanted("ones", lists(|doc| if doc % 50 == 3 { vec![doc, doc + 1] } else { vec![doc] })),
        wanted("text", texts(|doc| if doc % 5 == 0 { Some(b"newer") } else { Some(b"old") })),
    ];
    check_source(&*part(&index).source, &model(docs, &now));
    assert_eq!(index.live_docs(), 298);
    index.verify().unwrap();
}

/// Overlays are read some documents at a time.
#[test]
fn overlays_of_many_documents_are_read() {
    let (release, docs) = (Release { commit: 11, ..RELEASES[6] }, 40_000);
    let wanted = |of: fn(i64) -> Option<i64>| {
        let column = ModelColumn::Numeric((0..40_000).map(of).collect());
        [Wanted { name: "a", form: Form::Packed, has_skip_index: false, column }]
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &wanted(Some), false);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    // Document 16,384 begins a block.
    let later = wanted(|doc| (doc % 3 == 0 || doc / 100 == 163).then_some(-doc));
    for (ending, bytes) in release.doc_values("1_Lucene90_0", docs, 3, &later) {
        save(&format!("_0_1_Lucene90_0.{ending}"), &bytes);
    }
    save("_0_2.fnm", &fields(release, &later, "2", &[("a", 1)]));
    save("segments_1", &commit(release, Generations(-1, 2, 0), &[(3, &[1])]));
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    let now = wanted(|doc| Some(if doc % 3 == 0 || doc / 100 == 163 { -doc } else { doc }));
    check_source(&*part(&index).source, &model(docs, &now));
}

/// A number for each of many documents takes no bytes.
#[test]
fn values_of_overlays_are_bounded() {
    let (release, docs) = (Release { commit: 11, ..RELEASES[6] }, (1 << 26) + 1);
    let columns = [Wanted {
        name: "a",
        form: Form::Packed,
        has_skip_index: false,
        column: ModelColumn::Numeric(vec![]),
    }];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &columns, false);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let mut later = release.without_columns("1_Lucene90_0");
    // Present in all documents; no table, 0 bits each, from 7 on in steps of 1; no blocks.
    later.meta.i32(3).u8(0).i64(-1).i64(0).i16(-1).u8(0xFF);
    later.meta.i64(docs.into()).i32(-1).u8(0).i64(7).i64(1).i64(0).i64(0).i64(-1);
    for (ending, bytes) in later.files("1_Lucene90_0") {
        save(&format!("_0_1_Lucene90_0.{ending}"), &bytes);
    }
    save("_0_2.fnm", &fields(release, &columns, "2", &[("a", 1)]));
    save("segments_1", &commit(release, Generations(-1, 2, 0), &[(3, &[1])]));
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    let error = part(&index).source.column("a").unwrap_err().to_string();
    assert!(error.contains("unsupported overlays"), "{error}");
}

/// Overlays of doubles, which Lucene stores in another form.
#[test]
fn overlays_of_doubles_are_read() {
    let (release, docs) = (Release { commit: 11, ..RELEASES[6] }, 300);
    let price = |doc: u32| f64::from(doc) / 8.0 - 20.0;
    let before = |doc: u32| (!doc.is_multiple_of(4)).then(|| price(doc));
    let later = |doc: u32| doc.is_multiple_of(3).then(|| -price(doc) / 2.0);
    let wanted = |of: &dyn Fn(u32) -> Option<f64>| {
        let bits = |doc: u32| of(doc).map(|price| price.to_bits().cast_signed());
        let column = ModelColumn::Numeric((0..docs).map(bits).collect());
        [Wanted { name: "price", form: Form::Packed, has_skip_index: false, column }]
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &wanted(&before), false);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    for (ending, bytes) in release.doc_values("1_Lucene90_0", docs, 3, &wanted(&later)) {
        save(&format!("_0_1_Lucene90_0.{ending}"), &bytes);
    }
    save("_0_2.fnm", &fields(release, &wanted(&later), "2", &[("price", 1)]));
    save("segments_1", &commit(release, Generations(-1, 2, 0), &[(3, &[1])]));
    let types = Options::new().field("price", LogicalType::F64);
    let index = Index::open_with(Arc::new(FsDirectory::new(folder.path())), types).unwrap();
    let now = |doc: u32| later(doc).or_else(|| before(doc)).map(from_f64);
    let column = ModelColumn::Numeric((0..docs).map(now).collect());
    let field = Field::new("price", Kind::Numeric, LogicalType::F64);
    check_source(&*part(&index).source, &MemSource::new(docs, [(field, column)]));
}

/// A field has lists in one segment, and single values in the other; another field is only in one.
#[test]
fn segments_have_kinds_of_their_own_unless_they_are_united() {
    let release = RELEASES[6];
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let numbers =
        |len: i64| ModelColumn::SortedNumeric((0..70).map(|doc| (doc..doc + len).collect()).collect());
    let terms = |len: u8| {
        let set = |doc: u8| (doc..doc + len).map(|term| vec![b'a' + term % 20]).collect();
        ModelColumn::SortedSet((0..70).map(set).collect())
    };
    let single = [wanted("numbers", numbers(1)), wanted("terms", terms(1))];
    let lists = [wanted("numbers", numbers(2)), wanted("terms", terms(3)), wanted("time", numbers(1))];
    let folder = tempfile::tempdir().unwrap();
    for (segment, columns, is_compound) in [("_0", &single[..], false), ("_1z", &lists[..], true)] {
        let save = |ending: &str, bytes: &[u8]| {
            fs::write(folder.path().join(format!("{segment}{ending}")), bytes).unwrap()
        };
        write_segment(&save, release, 70, columns, is_compound);
    }
    let commit = commit_of(release, &[("_0", NONE, &[]), ("_1z", NONE, &[])]);
    fs::write(folder.path().join("segments_1"), commit).unwrap();

    let kinds = |options: Options| {
        let index = Index::open_with(Arc::new(FsDirectory::new(folder.path())), options).unwrap();
        assert_eq!((index.parts().len(), index.live_docs()), (2, 140));
        let kinds = |part: Part| part.source.fields().unwrap().iter().map(|field| field.kind).collect();
        index.parts().into_iter().map(kinds).collect::<Vec<Vec<Kind>>>()
    };
    let of_lists = vec![Kind::SortedNumeric, Kind::SortedSet, Kind::Numeric];
    assert_eq!(kinds(Options::new()), [vec![Kind::Numeric, Kind::Sorted], of_lists.clone()]);
    assert_eq!(
        kinds(Options::new().unite_kinds(true)),
        [vec![Kind::SortedNumeric, Kind::SortedSet], of_lists]
    );

    let united = Options::new().unite_kinds(true);
    let index = Index::open_with(Arc::new(FsDirectory::new(folder.path())), united).unwrap();
    check_source(&*index.parts()[0].source, &model(70, &single));
}

/// A segment that is listed twice, and more documents together than an index can have.
#[test]
fn documents_of_an_index_are_bounded() {
    let release = RELEASES[6];
    for (docs, is_read) in [((1 << 30) - 65, true), ((1 << 30) - 64, false)] {
        let folder = tempfile::tempdir().unwrap();
        let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        for segment in ["_0", "_1"] {
            let save = |ending: &str, bytes: &[u8]| save(&format!("{segment}{ending}"), bytes);
            // The segment has no columns, and so no bytes.
            write_segment(&save, release, docs, &[], false);
        }
        save("segments_1", &commit_of(release, &[("_0", NONE, &[]), ("_1", NONE, &[])]));
        match open(folder.path(), JumpTables::Baked) {
            Ok(index) => assert!(is_read && index.live_docs() == u64::from(2 * docs)),
            Err(error) => {
                let is_sum =
                    matches!(error.kind(), ErrorKind::OutOfRange { what, .. } if what.contains("index"));
                assert!(!is_read && is_sum && error.file().ends_with("segments_1"), "{error}");
            }
        }
        save("segments_1", &commit_of(release, &[("_0", NONE, &[]), ("_0", NONE, &[])]));
        let error = open(folder.path(), JumpTables::Baked).unwrap_err();
        assert!(error.to_string().contains("two segments of one name"), "{error}");
    }
}

#[test]
fn a_document_has_no_more_ords_than_there_are_terms() {
    use docvalues_column::ErrorKind as Damage;

    let (release, folder) = (RELEASES[6], tempfile::tempdir().unwrap());
    let column = ModelColumn::SortedSet(vec![BTreeSet::new(); 3]);
    let sets = Wanted { name: "sets", form: Form::Packed, has_skip_index: false, column };
    write(folder.path(), release, 3, &[sets], false);
    let terms = [b"x".to_vec(), b"y".to_vec()];
    for (rows, is_read) in [
        (vec![vec![0, 1]; 3], true),
        (vec![vec![0, 1, 1]; 3], false),
        (vec![vec![0, 1, 1], vec![0], vec![1]], false),
    ] {
        let mut out = release.without_columns("Lucene90_0");
        out.meta.i32(3).u8(3).u8(1);
        out.numbers(3, &rows, Form::Packed);
        out.counts(&rows);
        dictionary::tests::encode(&mut out.meta, &mut out.data, &terms, release.terms());
        for (ending, bytes) in out.files("Lucene90_0") {
            fs::write(folder.path().join(format!("_0_Lucene90_0.{ending}")), bytes).unwrap();
        }
        let column = part(&open(folder.path(), JumpTables::Baked).unwrap()).source.column("sets");
        let read = column.and_then(|column| match column.values() {
            docvalues_column::Values::Ords(rows, _) => rows.get(DocId::new(0), &mut Vec::new()),
            _ => panic!("no ords"),
        });
        assert_eq!(read.is_ok(), is_read, "{rows:?}");
        // Ords follow the 57 bytes of the header, and addresses the ords.
        let start = if rows[1] == [0] { 58 } else { 57 };
        if let Err(error) = read {
            let has_place = matches!(error.kind(), Damage::CorruptOther { offset, .. } if *offset >= start);
            assert!(has_place, "{error:?}");
        }
    }
}

/// The segment of an index that nobody read, with all of its fields as lists.
fn of_lists(index: Index) -> Segment {
    let segment = Arc::clone(&index.segments()[0]);
    drop(index);
    let mut segment = Arc::into_inner(segment).unwrap();
    let names = segment.fields().unwrap().into_iter().map(|field| field.name).collect();
    segment.read_as_lists(&names);
    segment
}

/// The values of a column, single ones as lists.
fn lists_of_one(column: ModelColumn) -> ModelColumn {
    match column {
        ModelColumn::Numeric(slots) => {
            ModelColumn::SortedNumeric(slots.into_iter().map(|slot| slot.into_iter().collect()).collect())
        }
        ModelColumn::Sorted(slots) => {
            ModelColumn::SortedSet(slots.into_iter().map(|slot| slot.into_iter().collect()).collect())
        }
        others => others,
    }
}

/// Single values as lists, for merges with segments that have lists.
#[test]
fn single_values_are_lists_of_one() {
    let (release, docs) = (RELEASES[6], 1_000);
    let columns = columns(docs, release);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &columns, false);
    let segment = of_lists(open(folder.path(), JumpTables::Baked).unwrap());
    for wanted in columns {
        let lists = lists_of_one(wanted.column);
        let found = segment.column(wanted.name).unwrap();
        let field = Field::new(wanted.name, lists.kind(), found.info().field.logical);
        check_column(&*found, &*lists.open(field, docs));
    }
}

/// Appends a header that lies inside of a file.
fn inner_header<'e>(out: &'e mut Encoder, name: &str, version: i32) -> &'e mut Encoder {
    out.bytes(&crate::envelope::MAGIC.to_be_bytes()).string(name).bytes(&version.to_be_bytes())
}

/// The header of postings, and the documents of a block.
fn postings_header(out: &mut Encoder, name: &str, suffix: &str) {
    inner_header(out, name, 0).bytes(&ID).u8(suffix.len() as u8).bytes(suffix.as_bytes()).vint(128);
}

/// The record of a field with the terms "k1" to "k4", up to its index.
fn record(out: &mut Encoder, number: i32, root: Option<&[u8]>, has_longs: bool) {
    out.vint(number).vlong(4);
    root.iter().for_each(|root| {
        out.vint(root.len() as i32).bytes(root);
    });
    out.vlong(5).vint(5);
    if has_longs {
        out.vint(1);
    }
    out.string("k1").string("k4");
}

/// Appends the header and the only node of a transducer without arcs, whose root has this output.
fn without_arcs(header: &mut Encoder, root: &[u8]) {
    let output: Vec<u8> = root.iter().rev().copied().chain([root.len() as u8]).collect();
    inner_header(header, "FST", 6).u8(1).vint(output.len() as i32).bytes(&output);
    header.u8(0).vlong(0).vlong(1);
}

/// A release, a format of postings, and the name of its writer.
type Postings = (Release, &'static str, &'static str);

/// A trie, an FST of Elasticsearch, and one of an early release, which is at the ends of two files.
const POSTINGS: [Postings; 3] = [
    (RELEASES[6], "Lucene103", "Lucene103PostingsWriter"),
    (RELEASES[4], "ES812Postings", "ES812PostingsWriter"),
    (RELEASES[1], "Lucene50", "Lucene50PostingsWriter"),
];

/// Writes an index of one segment of 9 documents, of `field` and "other" with the same terms, "k1" to "k4", and columns of
/// numbers.
fn write_terms(folder: &Path, (release, format, writer): Postings, field: &str, columns: &[Wanted]) {
    let docs = 9;
    write(folder, release, docs, columns, false);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    let suffix = format!("{format}_0");
    let (order, is_trie, is_old) = (release.info().order(), format == "Lucene103", format == "Lucene50");
    let file = |name: &str| Encoder::of_file(order, name, &suffix);
    let of_values =
        [("PerFieldDocValuesFormat.format", release.format()), ("PerFieldDocValuesFormat.suffix", "0")];
    let of_terms = [("PerFieldPostingsFormat.format", format), ("PerFieldPostingsFormat.suffix", "0")];
    let of_columns = columns.iter().map(|wanted| (wanted.name, 1, false, -1, &of_values[..]));
    let indexed = [field, "other"].into_iter().map(|name| (name, 0, false, -1, &of_terms[..]));
    let fields = indexed.chain(of_columns);
    let fields: Vec<TestField<'_>> = fields.collect();
    save("_0.fnm", &field_infos(release.fields.0, release.fields.1, "", &fields));
    let values = format!("{}_0", release.format());
    for (ending, bytes) in release.doc_values(&values, docs, 5, columns) {
        save(&format!("_0_{values}.{ending}"), &bytes);
    }
    let (mut tim, mut tip) = (file("BlockTreeTermsDict"), file("BlockTreeTermsIndex"));
    let (terms, of_docs) = ("BlockTreeTermsMeta", format!("{writer}Doc"));
    // The documents 5 and 8 of "k4", the first as a distance from -1 in later releases.
    let mut doc = file(&of_docs);
    let list = doc.offset();
    doc.vint(5 + i32::from(is_trie)).vint(3);
    save(&format!("_0_{suffix}.doc"), &encode(&of_docs, 0, &suffix, &doc.out));
    if is_old {
        postings_header(&mut tim, &format!("{writer}Terms"), &suffix);
    }
    let block = tim.offset();
    let mut root = Encoder::new(order);
    root.vlong(block << 2 | 2);
    let root = root.out;
    if is_old {
        tim.vint(4 << 1 | 1).vint(12 << 1 | 1).bytes(b"\x02k1\x02k2\x02k3\x02k4");
        tim.vint(4).bytes(&[1, 1, 1, 2]).vint(7).bytes(&[0, 5, 0, 0, 0, 7]).vlong(list);
        let directory = tim.offset();
        tim.vint(2);
        [3, 4].into_iter().for_each(|number| record(&mut tim, number, Some(&root), true));
        tim.i64(directory);
        let start = tip.offset();
        without_arcs(&mut tip, &root);
        tip.u8(0);
        let directory = tip.offset();
        tip.vlong(start).vlong(start).i64(directory);
    } else {
        // Suffixes of two bytes, a run of single documents: 5, and then differences of -5 and 7.
        tim.vint(4 << 1 | 1).vlong(8 << 3 | 4).bytes(b"k1k2k3k4").vint(4 << 1 | 1).u8(2);
        tim.vint(2).vint(2 << 1 | 1).vint(2 << 1);
        tim.vint(5).bytes(&[0, 5, 9 << 1 | 1, 14 << 1 | 1]).vlong(list << 1);
        let start = tip.offset();
        let mut meta = file(terms);
        postings_header(&mut meta, &format!("{writer}Terms"), &suffix);
        meta.vint(2);
        if is_trie {
            tip.u8(1 << 5).u8(block as u8);
        } else {
            tip.u8(0);
        }
        for number in [3, 4] {
            record(&mut meta, number, Some(&root[..]).filter(|_| !is_trie), false);
            meta.vlong(start);
            if is_trie {
                meta.vlong(0).vlong(tip.offset());
            } else {
                without_arcs(&mut meta, &root);
            }
        }
        // The lengths of both files, with their footers.
        meta.i64(tip.offset() + 16).i64(tim.offset() + 16);
        save(&format!("_0_{suffix}.tmd"), &encode(terms, 0, &suffix, &meta.out));
    }
    let version = if is_old { 3 } else { 0 };
    save(&format!("_0_{suffix}.tim"), &encode("BlockTreeTermsDict", version, &suffix, &tim.out));
    save(&format!("_0_{suffix}.tip"), &encode("BlockTreeTermsIndex", version, &suffix, &tip.out));
}

#[test]
fn ids_are_looked_up() {
    let numbers = ModelColumn::Numeric((0..9).map(Some).collect());
    let columns = [Wanted { name: "a", form: Form::Packed, has_skip_index: false, column: numbers }];
    for postings @ (_, format, _) in POSTINGS {
        let folder = tempfile::tempdir().unwrap();
        write_terms(folder.path(), postings, "id", &columns);
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        let segment = &index.segments()[0];
        assert!(segment.is_indexed("id") && !segment.is_indexed("a"));
        // A look-up without one of the files fails, and the next one tries again.
        let (path, moved) = (folder.path().join(format!("_0_{format}_0.doc")), folder.path().join("moved"));
        fs::rename(&path, &moved).unwrap();
        let error = segment.find_term("id", b"k1").unwrap_err();
        assert!(error.is_missing() && error.file().ends_with(".doc"), "{error}");
        fs::rename(&moved, &path).unwrap();
        let of = |term: &str| segment.find_term("id", term.as_bytes()).unwrap();
        assert_eq!(["k1", "k2", "k3"].map(of), [5, 0, 7].map(|doc| vec![DocId::new(doc)]), "{format}");
        assert_eq!(of("k4"), [DocId::new(5), DocId::new(8)], "{format}");
        assert!(["", "k", "k0", "k1x", "k5"].map(of).iter().all(Vec::is_empty));
        assert_eq!(index.find_id("id", "k3").unwrap(), [DocAddress::from(DocId::new(7))]);
        assert!(index.find_id("a", "k3").unwrap().is_empty());
        check_column(&*part(&index).source.column("a").unwrap(), &*model(9, &columns).column("a").unwrap());
        // The files are not opened again for another field.
        fs::rename(&path, &moved).unwrap();
        assert_eq!(segment.find_term("other", b"k3").unwrap(), [DocId::new(7)], "{format}");
    }
}

/// Files of terms may list a field whose terms are in other files.
#[test]
fn terms_of_a_field_are_in_its_own_files() {
    let postings @ (release, format, _) = POSTINGS[0];
    let folder = tempfile::tempdir().unwrap();
    write_terms(folder.path(), postings, "id", &[]);
    let [there, missing] = ["0", "1"]
        .map(|suffix| [("PerFieldPostingsFormat.format", format), ("PerFieldPostingsFormat.suffix", suffix)]);
    let fields: [TestField<'_>; 2] = [("id", 0, false, -1, &there), ("other", 0, false, -1, &missing)];
    let fields = field_infos(release.fields.0, release.fields.1, "", &fields);
    fs::write(folder.path().join("_0.fnm"), fields).unwrap();
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    assert_eq!(index.find_id("id", "k3").unwrap().len(), 1);
    let error = index.find_id("other", "k3").unwrap_err();
    assert!(error.is_missing() && error.file().ends_with("_1.tim"), "{error}");
}

/// As if the segment had fewer documents.
#[test]
fn documents_of_terms_exist() {
    let folder = tempfile::tempdir().unwrap();
    for postings @ (release, ..) in POSTINGS {
        write_terms(folder.path(), postings, "id", &[]);
        for (docs, term, ending) in [(8, "k4", ".doc"), (7, "k3", ".tim")] {
            let info = segment_info(release.info(), docs, false);
            fs::write(folder.path().join("_0.si"), info).unwrap();
            let index = open(folder.path(), JumpTables::Baked).unwrap();
            let error = index.find_id("id", term).unwrap_err();
            assert!(error.file().ends_with(ending) && error.offset() > 40, "{error}");
            assert_eq!(index.find_id("id", "k1").unwrap().len(), 1);
        }
    }
}

/// Files of terms are compared with their checksums before the first look-up, and by `verify`, if their format is read.
#[test]
fn damaged_terms_are_found() {
    for postings @ (release, format, _) in POSTINGS {
        let folder = tempfile::tempdir().unwrap();
        write_terms(folder.path(), postings, "id", &[]);
        open(folder.path(), JumpTables::Baked).unwrap().verify().unwrap();
        for ending in [".tim", ".tip", ".doc"] {
            let path = folder.path().join(format!("_0_{format}_0{ending}"));
            let good = fs::read(&path).unwrap();
            let mut bytes = good.clone();
            // The last byte before the footer, which has 16.
            bytes[good.len() - 17] ^= 1;
            fs::write(&path, bytes).unwrap();
            let index = open(folder.path(), JumpTables::Baked).unwrap();
            for error in [index.find_id("id", "k1").unwrap_err(), index.verify().unwrap_err()] {
                let is_damage = matches!(error.kind(), ErrorKind::Checksum { .. });
                assert!(is_damage && error.file().ends_with(ending), "{error}");
            }
            fs::write(&path, good).unwrap();
        }
        let of_terms = [("PerFieldPostingsFormat.format", "Direct"), ("PerFieldPostingsFormat.suffix", "0")];
        let fields = field_infos(release.fields.0, release.fields.1, "", &[("id", 0, false, -1, &of_terms)]);
        fs::write(folder.path().join("_0.fnm"), fields).unwrap();
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        let error = index.find_id("id", "k1").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Postings { .. }), "{error}");
        index.verify().unwrap();
    }
}

/// A list as long as a block of postings, whose length the file has.
#[test]
fn terms_of_many_documents_are_refused() {
    for postings @ (_, format, _) in POSTINGS {
        let folder = tempfile::tempdir().unwrap();
        write_terms(folder.path(), postings, "id", &[]);
        let ending = if format == "Lucene50" { "tim" } else { "tmd" };
        let path = folder.path().join(format!("_0_{format}_0.{ending}"));
        let mut bytes = fs::read(&path).unwrap();
        // 128 follows the suffix: 2 in as many bytes.
        let header = [format.as_bytes(), b"_0\x80\x01"].concat();
        let end = header.len() + bytes.windows(header.len()).position(|found| found == header).unwrap();
        bytes[end - 2..end].copy_from_slice(b"\x82\x00");
        reseal(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        assert_eq!(index.find_id("id", "k3").unwrap().len(), 1, "{format}");
        let error = index.find_id("id", "k4").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ManyDocs { docs: 2 }), "{error}");
    }
}

/// A nested document has the id of its root, and no primary term.
#[test]
fn nested_documents_are_not_found_by_their_ids() {
    let slots = (0..9).map(|doc| (doc == 8).then_some(1)).collect();
    let column = ModelColumn::Numeric(slots);
    let columns = [Wanted { name: "_primary_term", form: Form::Packed, has_skip_index: false, column }];
    for postings @ (release, ..) in POSTINGS {
        let folder = tempfile::tempdir().unwrap();
        write_terms(folder.path(), postings, "_id", &columns);
        // The id whose term is "k4".
        let of = |id| open(folder.path(), JumpTables::Baked).unwrap().find_id("_id", id).unwrap();
        let docs = [5, 8].map(|doc| DocAddress::from(DocId::new(doc)));
        assert_eq!(of("k4"), docs, "of no engine");
        let commit = commit_noted(release, &[("_0", NONE, &[])], &[("translog_uuid", "1")]);
        fs::write(folder.path().join("segments_1"), commit).unwrap();
        assert_eq!(of("azQ"), docs[1..]);
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        assert_eq!(index.segments()[0].find_term("_id", b"k4").unwrap(), [5, 8].map(DocId::new));
    }
}

/// Numbers and terms as doubles, flags and addresses.
#[test]
fn fields_have_the_types_that_were_asked_for() {
    let release = RELEASES[6];
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let doubles: Vec<f64> =
        (0..200).map(|doc| f64::from(doc - 100) / 8.0).chain([-0.0, f64::INFINITY]).collect();
    let docs = doubles.len() as u32;
    let has_value = |at: usize| at % 6 != 5;
    let one = |of: &dyn Fn(f64) -> i64| {
        let slots = doubles.iter().enumerate().map(|(at, double)| has_value(at).then(|| of(*double)));
        ModelColumn::Numeric(slots.collect())
    };
    let many = |of: &dyn Fn(f64) -> i64| {
        let slots = doubles
            .iter()
            .map(|double| if double.is_infinite() { vec![] } else { vec![of(*double), of(99.5)] });
        ModelColumn::SortedNumeric(slots.collect())
    };
    let float = |double: f64| (double as f32).to_bits().cast_signed();
    let sortable = |double: f64| i64::from(float(double) ^ ((float(double) >> 31) & i32::MAX));
    let terms = |of: &dyn Fn(usize) -> &'static [u8]| {
        ModelColumn::Sorted((0..docs as usize).map(|at| has_value(at).then(|| of(at).to_vec())).collect())
    };
    let flags = |of: &dyn Fn(usize) -> i64| {
        ModelColumn::Numeric((0..docs as usize).map(|at| has_value(at).then(|| of(at))).collect())
    };
    let address: &[u8; 16] = b"\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01";
    let written = [
        wanted("address", terms(&|_| address)),
        wanted("flag", terms(&|at| if at % 3 == 0 { b"T" } else { b"F" })),
        wanted("float", one(&|double| float(double).into())),
        wanted("floats", many(&sortable)),
        wanted("price", one(&|double| double.to_bits().cast_signed())),
        wanted("prices", many(&from_f64)),
        wanted("time", one(&|double| double as i64)),
        wanted("yes", terms(&|_| b"T")),
    ];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, docs, &written, false);
    let types = Options::new()
        .field("address", LogicalType::Ip)
        .field("flag", LogicalType::Bool)
        .field("float", FieldType::Float)
        .field("floats", FieldType::Float)
        .field("price", LogicalType::F64)
        .field("prices", LogicalType::F64)
        .field("time", LogicalType::TimestampMillis)
        .field("yes", LogicalType::Bool);
    let directory = || Arc::new(FsDirectory::new(folder.path()));
    let index = Index::open_with(directory(), types.clone()).unwrap();
    let of_float = |double: f64| from_f64((double as f32).into());
    let read = [
        ("address", LogicalType::Ip, terms(&|_| address)),
        ("flag", LogicalType::Bool, flags(&|at| i64::from(at % 3 == 0))),
        ("float", LogicalType::F64, one(&of_float)),
        ("floats", LogicalType::F64, many(&of_float)),
        ("price", LogicalType::F64, one(&from_f64)),
        ("prices", LogicalType::F64, many(&from_f64)),
        ("time", LogicalType::TimestampMillis, one(&|double| double as i64)),
        ("yes", LogicalType::Bool, flags(&|_| 1)),
    ];
    let fields = read.map(|(name, logical, column)| (Field::new(name, column.kind(), logical), column));
    check_source(&*part(&index).source, &MemSource::new(docs, fields.clone()));
    let segment = of_lists(Index::open_with(directory(), types).unwrap());
    for (field, column) in fields {
        let lists = lists_of_one(column);
        let field = Field { kind: lists.kind(), ..field };
        check_column(&*segment.column(&field.name).unwrap(), &*lists.open(field, docs));
    }

    let refused = Options::new().field("price", LogicalType::Ip);
    let error = Index::open_with(directory(), refused).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Type { asked: "ip", found: "NUMERIC", .. }), "{error}");
    let refused = Index::open_with(directory(), Options::new().field("address", LogicalType::Bool)).unwrap();
    let error = part(&refused).source.column("address").unwrap_err().to_string();
    assert!(error.contains("expected doc values of type bool, found other terms"), "{error}");
    assert!(index.segments()[0].bytes_of("price").is_some_and(|bytes| bytes > 100));
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    let release = RELEASES[7];
    let wanted = |name, column| Wanted { name, form: Form::Packed, has_skip_index: false, column };
    let terms = |prefix: &str| {
        ModelColumn::Sorted((0..9).map(|doc: i64| Some(format!("{prefix}{doc}").into_bytes())).collect())
    };
    let columns = [wanted("a", ModelColumn::Numeric((0..9).map(Some).collect())), wanted("b", terms("old"))];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, 9, &columns, false);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();

    // Overlays of terms of one field: the other is read.
    for (ending, bytes) in release.doc_values("7_Lucene90_0", 9, 4, &[wanted("b", terms("new"))]) {
        save(&format!("_0_7_Lucene90_0.{ending}"), &bytes);
    }
    save("segments_1", &commit(release, NONE, &[(4, &[7])]));
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    let source = part(&index).source;
    assert_eq!(source.fields().unwrap(), [field(&columns[0])]);
    source.column("a").unwrap();
    let error = source.column("b").unwrap_err().to_string();
    assert!(error.contains("column \"b\": unsupported overlays"), "{error}");
    assert_eq!(index.segments()[0].unreadable().map(|(name, _)| name).collect::<Vec<_>>(), ["b"]);
    // Its files are checked nevertheless: a byte before the footer.
    index.verify().unwrap();
    let mut damaged = fs::read(folder.path().join("_0_7_Lucene90_0.dvd")).unwrap();
    let last = damaged.len() - 17;
    damaged[last] ^= 1;
    save("_0_7_Lucene90_0.dvd", &damaged);
    let error = open(folder.path(), JumpTables::Baked).unwrap().verify().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");

    // A format of one field.
    save("segments_1", &commit(release, NONE, &[]));
    let readable = [("PerFieldDocValuesFormat.format", "Lucene90"), ("PerFieldDocValuesFormat.suffix", "0")];
    let other = [("PerFieldDocValuesFormat.format", "ES819TSDB"), ("PerFieldDocValuesFormat.suffix", "0")];
    let both: [TestField<'_>; 2] = [("a", 1, false, -1, &readable), ("b", 3, false, -1, &other)];
    save("_0.fnm", &field_infos(2, 2, "", &both));
    let index = open(folder.path(), JumpTables::Baked).unwrap();
    part(&index).source.column("a").unwrap();
    let error = part(&index).source.column("b").unwrap_err().to_string();
    assert!(error.contains("unsupported doc values format \"ES819TSDB\""), "{error}");

    // A codec, and a version.
    let newer = Release { codec: "Lucene200", ..release };
    save("segments_1", &commit(newer, NONE, &[]));
    let error = open(folder.path(), JumpTables::Baked).unwrap_err();
    let expected = "segment _0: unsupported codec \"Lucene200\"; those of Lucene up to Lucene104 are read";
    assert!(error.to_string().ends_with(expected), "{error}");
    save("segments_1", &commit(Release { commit: 12, ..release }, NONE, &[]));
    let error = open(folder.path(), JumpTables::Baked).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Version { found: 12, .. }));
}

/// Lucene reads a newer release as far as its codecs and versions are known. So is it here, but for major ones.
#[test]
fn newer_releases_are_refused_by_their_version() {
    let release = RELEASES[7];
    let column = ModelColumn::Numeric((0..9).map(Some).collect());
    let columns = [Wanted { name: "a", form: Form::Packed, has_skip_index: false, column }];
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let opened = |release: Release, lucene: [u8; 3]| {
        write(folder.path(), Release { codec: "Lucene104", ..release }, 9, &columns, false);
        // The release follows the 35 bytes of the header.
        let mut bytes = commit(release, NONE, &[]);
        bytes[35..38].copy_from_slice(&lucene);
        reseal(&mut bytes);
        save("segments_1", &bytes);
        open(folder.path(), JumpTables::Baked)
    };
    let known = opened(release, [10, 7, 0]).unwrap();
    assert_eq!(known.lucene(), [10, 7, 0]);
    check_source(&*part(&known).source, &model(9, &columns));

    let (other_codec, other_commit) =
        (Release { codec: "Lucene107", ..release }, Release { commit: 12, ..release });
    let other_values = Release { version: 4, ..release };
    for (release, lucene, file, expected) in [
        (release, [11, 0, 0], "segments_1", "expected Lucene 10.6 or earlier, found 11.0.0"),
        (other_commit, [11, 0, 0], "segments_1", "expected Lucene 10.6 or earlier, found 11.0.0"),
        (
            other_codec,
            [10, 7, 1],
            "segments_1",
            "10.7.1: segment _0: unsupported codec \"Lucene107\"; those of Lucene up to Lucene104 are read",
        ),
        (
            other_commit,
            [10, 7, 0],
            "segments_1",
            "expected Lucene 10.6 or earlier, found 10.7.0: segments: expected version 7 to 11, found 12",
        ),
        (
            other_values,
            [10, 7, 0],
            "_0_Lucene90_0.dvm",
            "found 10.7.0: Lucene90DocValuesMetadata: expected version 0 to 3, found 4",
        ),
    ] {
        let error = opened(release, lucene).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Release { .. }), "{error}");
        assert!(error.file().ends_with(file) && error.to_string().ends_with(expected), "{error}");
    }
    // A later bugfix is no newer release.
    let error = opened(other_codec, [10, 6, 9]).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Codec { .. }) && error.file().ends_with("segments_1"),
        "{error}"
    );
    let error = opened(other_values, [10, 6, 9]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Version { found: 4, newest: 3, .. }), "{error}");

    // Segments of newer releases, in a commit of an earlier one.
    opened(release, [10, 6, 0]).unwrap();
    save("_0.si", &info_of(release, [10, 7]));
    let known = open(folder.path(), JumpTables::Baked).unwrap();
    assert_eq!((known.lucene(), known.segments()[0].lucene()), ([10, 6, 0], [10, 7, 3]));
    check_source(&*part(&known).source, &model(9, &columns));
    opened(other_values, [10, 6, 0]).unwrap_err();
    for (lucene, file, expected) in [
        (
            [10, 7],
            "_0_Lucene90_0.dvm",
            "found 10.7.3: Lucene90DocValuesMetadata: expected version 0 to 3, found 4",
        ),
        ([11, 12], "_0.si", "expected Lucene 10.6 or earlier, found 11.12.3"),
    ] {
        save("_0.si", &info_of(release, lucene));
        let error = open(folder.path(), JumpTables::Baked).unwrap_err();
        assert!(error.file().ends_with(file) && error.to_string().ends_with(expected), "{error}");
    }
}

/// The `.si` of a segment of 9 documents that Lucene `major.minor.3` wrote.
fn info_of(release: Release, [major, minor]: [u8; 2]) -> Vec<u8> {
    let mut info = segment_info(release.info(), 9, false);
    // Numbers of four bytes follow the 45 of the header.
    (info[45], info[49]) = (major, minor);
    reseal(&mut info);
    info
}

/// Files of terms are opened by the first look-up, so an index with newer ones opens.
#[test]
fn newer_terms_are_refused_by_their_version() {
    let postings @ (release, format, _) = POSTINGS[0];
    let folder = tempfile::tempdir().unwrap();
    for ending in [".tim", ".tip", ".tmd", ".doc"] {
        write_terms(folder.path(), postings, "id", &[]);
        let path = folder.path().join(format!("_0_{format}_0{ending}"));
        let mut bytes = fs::read(&path).unwrap();
        // The version follows the name of the contents.
        let at = 5 + usize::from(bytes[4]);
        bytes[at..at + 4].copy_from_slice(&9_i32.to_be_bytes());
        reseal(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let error = open(folder.path(), JumpTables::Baked).unwrap().find_id("id", "k1").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Version { found: 9, .. }), "{error}");
        fs::write(folder.path().join("_0.si"), info_of(release, [10, 7])).unwrap();
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        let error = index.find_id("id", "k1").unwrap_err();
        assert!(error.file().ends_with(ending), "{error}");
        assert!(error.to_string().contains("expected Lucene 10.6 or earlier, found 10.7.3: "), "{error}");
        // As a format that is not read.
        index.verify().unwrap();
    }
}

/// Names of files are made of numbers, names of segments, and the suffixes of fields.
#[test]
fn names_of_files_are_no_paths() {
    let release = RELEASES[6];
    let column = ModelColumn::Numeric((0..9).map(Some).collect());
    let columns = [Wanted { name: "a", form: Form::Packed, has_skip_index: false, column }];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, 9, &columns, false);
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    for path in ["/../../_0_Lucene90_0", "../x", "/etc/passwd", "a/b", "", "."] {
        let of_values =
            [("PerFieldDocValuesFormat.format", "Lucene90"), ("PerFieldDocValuesFormat.suffix", path)];
        let of_terms =
            [("PerFieldPostingsFormat.format", "Lucene103"), ("PerFieldPostingsFormat.suffix", path)];
        if !path.is_empty() {
            save(
                "_0.fnm",
                &field_infos(release.fields.0, release.fields.1, "", &[("a", 1, false, -1, &of_values)]),
            );
            let error = open(folder.path(), JumpTables::Baked).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::FileName(_)), "{path}: {error}");
        }
        save(
            "_0.fnm",
            &field_infos(release.fields.0, release.fields.1, "", &[("id", 0, false, -1, &of_terms)]),
        );
        let index = open(folder.path(), JumpTables::Baked).unwrap();
        assert!(index.find_id("id", "k1").is_err(), "{path}");
        for name in [path, &format!("_0{path}")] {
            if name != "_0" {
                save("segments_1", &commit_of(release, &[(name, NONE, &[])]));
                let error = open(folder.path(), JumpTables::Baked).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::FileName(_)), "{name}: {error}");
            }
        }
        save("segments_1", &commit(release, NONE, &[]));
    }
}

#[test]
fn a_missing_file_is_named() {
    let release = RELEASES[4];
    let column = ModelColumn::Numeric((0..9).map(Some).collect());
    let columns = [Wanted { name: "a", form: Form::Packed, has_skip_index: false, column }];
    for name in ["_0.si", "_0.fnm", "_0_Lucene90_0.dvm", "_0_Lucene90_0.dvd"] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), release, 9, &columns, false);
        fs::remove_file(folder.path().join(name)).unwrap();
        let error = open(folder.path(), JumpTables::Baked).unwrap_err();
        assert!(error.is_missing() && error.file().ends_with(name), "{error}");
    }
}

/// A directory in which a writer replaces the commit while it is opened, if there is a next one: the file is gone at the first
/// call.
#[derive(Debug)]
struct Live {
    inner: FsDirectory,
    /// The next commit, until it is there.
    next: Mutex<Option<Vec<u8>>>,
    /// The names of the files that were asked for.
    opened: Mutex<Vec<String>>,
}

impl Directory for Live {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn open(&self, name: &OsStr) -> docvalues_storage::Result<Source> {
        self.opened.lock().unwrap().push(name.to_string_lossy().into_owned());
        if name == "_0.si"
            && let Some(commit) = self.next.lock().unwrap().take()
        {
            fs::write(self.path().join("segments_2"), commit).unwrap();
            return self.inner.open(OsStr::new("gone"));
        }
        self.inner.open(name)
    }

    fn list(&self) -> docvalues_storage::Result<Vec<DirectoryEntry>> {
        self.inner.list()
    }

    fn create(&self, _: &OsStr) -> docvalues_storage::Result<Box<dyn DirectoryFile>> {
        panic!("nothing is written")
    }

    fn claim(&self, _: &OsStr) -> docvalues_storage::Result<Box<dyn DirectoryFile>> {
        panic!("nothing is written")
    }

    fn hold(&self, _: &OsStr, _: FileLock) -> docvalues_storage::Result<Box<dyn DirectoryFile>> {
        panic!("nothing is locked")
    }

    fn rename(&self, _: &OsStr, _: &OsStr) -> docvalues_storage::Result<()> {
        panic!("nothing is written")
    }

    fn remove(&self, _: &OsStr) -> docvalues_storage::Result<()> {
        panic!("nothing is written")
    }

    fn sync(&self) -> docvalues_storage::Result<()> {
        panic!("nothing is written")
    }
}

#[test]
fn a_newer_commit_is_opened_if_files_of_an_older_one_are_gone() {
    let release = RELEASES[6];
    let column = ModelColumn::Numeric((0..9).map(Some).collect());
    let columns = [Wanted { name: "a", form: Form::Packed, has_skip_index: false, column }];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, 9, &columns, false);
    let mut next = commit(release, NONE, &[]);
    // The suffix follows the other 34 bytes of the header.
    next[34] = b'2';
    reseal(&mut next);
    let inner = FsDirectory::new(folder.path());
    let live = Live { inner, next: Mutex::new(Some(next)), opened: Mutex::default() };
    let index = Index::open_with(Arc::new(live), Options::new()).unwrap();
    assert_eq!(index.live_docs(), 9);
    assert!(folder.path().join("segments_2").exists());
}

/// The suffix of a Bloom filter names a file before its postings do.
#[test]
fn the_suffix_of_a_bloom_filter_is_no_path() {
    let release = RELEASES[6];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), release, 9, &[], false);
    for suffix in ["/../../x", "../x", "."] {
        let of_terms =
            [("PerFieldPostingsFormat.format", "ES87BloomFilter"), ("PerFieldPostingsFormat.suffix", suffix)];
        let fields = field_infos(release.fields.0, release.fields.1, "", &[("id", 0, false, -1, &of_terms)]);
        fs::write(folder.path().join("_0.fnm"), fields).unwrap();
        let inner = FsDirectory::new(folder.path());
        let live = Arc::new(Live { inner, next: Mutex::new(None), opened: Mutex::default() });
        let index = Index::open_with(live.clone(), Options::new()).unwrap();
        let error = index.find_id("id", "k1").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::FileName(_)), "{error}");
        assert!(error.file().ends_with("/_0.fnm"), "{error}");
        assert!(live.opened.lock().unwrap().iter().all(|name| !name.contains("ES87")));
    }
}

/// Reads all of an index, as far as it can be read.
fn read_all(folder: &Path) -> crate::Result<()> {
    use docvalues_column::{BatchDocs, DocRange, Gathered, Lists, TermOrd, Values};
    use std::ops::ControlFlow;

    for part in open(folder, JumpTables::Baked)?.parts() {
        let docs = part.source.docs().min(2_000);
        let run = DocRange::new(0, docs);
        for field in part.source.fields().unwrap() {
            let Ok(column) = part.source.column(&field.name) else { continue };
            let mut bits = vec![0; run.words()];
            let _ = column.exists(run, &mut bits);
            match column.values() {
                Values::Numbers(rows) => {
                    let mut gathered = Gathered::new();
                    if rows.gather(BatchDocs::Run(run), &mut gathered).is_ok() {
                        assert_eq!(gathered.len(), run.len());
                    }
                    let _ = rows.filter(run, &(3..=500), &mut bits, &mut Default::default());
                    let _ = rows.get(DocId::new(7), &mut Vec::new());
                }
                Values::Ords(rows, terms) => {
                    let _ = rows.scan(run, &mut |_| ControlFlow::Continue(()));
                    let _ = terms.gather_terms(&[TermOrd::new(0), TermOrd::new(40)], &mut Lists::new());
                    let _ = terms.seek_ceil(b"term-500");
                }
                Values::Bytes(rows) => {
                    let _ = rows.scan(run, &mut |_| ControlFlow::Continue(()));
                    let _ = rows.get(DocId::new(7), &mut Vec::new());
                }
            }
        }
    }
    Ok(())
}

/// Damage is found by checksums. Where they are right nevertheless, it is an error or other values.
#[test]
fn damage_is_found_and_never_panics() {
    let is_full = std::env::var_os("DOCVALUES_SWEEP").is_some_and(|sweep| sweep == "full");
    for (number, release) in [RELEASES[0], RELEASES[3], RELEASES[6]].into_iter().enumerate() {
        let (docs, folder) = (200, tempfile::tempdir().unwrap());
        write(folder.path(), release, docs, &columns(docs, release), false);
        read_all(folder.path()).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        for path in names {
            let good = fs::read(&path).unwrap();
            let step = if is_full { 1 } else { 1 + good.len() / 40 };
            for at in (number..good.len()).step_by(step) {
                let mut bytes = good.clone();
                bytes[at] ^= 0x41;
                fs::write(&path, &bytes).unwrap();
                let is_found = match open(folder.path(), JumpTables::Baked) {
                    Ok(index) => index.verify().is_err(),
                    Err(_) => true,
                };
                // The file of skip indexes is not opened if no field has one.
                assert!(
                    is_found || path.extension().is_some_and(|ending| ending == "dvs"),
                    "{path:?}, byte {at}"
                );
                reseal(&mut bytes);
                fs::write(&path, &bytes).unwrap();
                let _ = read_all(folder.path());
                fs::write(&path, &good[..at]).unwrap();
                assert!(open(folder.path(), JumpTables::Baked).is_err(), "{path:?} of {at} bytes");
            }
            fs::write(&path, &good).unwrap();
        }
    }
}
