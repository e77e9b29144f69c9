//! The three ways to update a value, over the same segments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use docvalues::column::{Changes, ColumnChanges, DocAddress, ErrorKind, OverlaySource, Part, PlainColumn};
use docvalues::search::{PartChange, Parts};
use docvalues::store::{Snapshot, Store, StoreOptions};
use docvalues::{
    Column, ColumnSource, DocId, Field, FieldSpec, Kind, LogicalType, OpenOptions, Schema, Segment,
    SegmentWriter, SortKey, WriterOptions,
};

use crate::{Kind as Update, set as set_fields};
use docvalues_benches::updated_docs::{Fields, id, time, title};

/// The most layers of the stacked way.
const MAX_LAYERS: usize = 8;

/// An update of the document with a number: a seed of its new values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) number: u32,
    pub(crate) seed: u64,
}

/// A way to update documents.
pub(crate) trait Way: Sync {
    /// Updates documents, which the next refresh shows.
    fn apply(&self, kind: Update, ops: &[Op]);
    /// Shows the updates so far. Returns what is searched now.
    fn refresh(&self) -> Parts;
    /// The bytes that were written for updates.
    fn written(&self) -> u64;
    fn find(&self, number: u32) -> DocAddress;
}

/// The store: new values in memory, deltas at commits.
pub(crate) struct Hybrid(pub(crate) Arc<Store>);

impl Way for Hybrid {
    fn apply(&self, kind: Update, ops: &[Op]) {
        let mut batch = self.0.batch().expect("a schema");
        let fields = Fields::of(|name| batch.field(name).expect("a field"));
        for (at, Op { number, seed }) in ops.iter().enumerate() {
            let is_whole = kind == Update::Mixed && at % 10 == 0;
            let mut doc = if is_whole { batch.upsert() } else { batch.update() };
            if is_whole {
                fields.write(&mut doc, *number, time(*seed), *seed);
            } else {
                doc.bytes(fields.id, &id(*number)).expect("an id");
                set_fields(&fields, &mut doc, kind, *seed);
            }
            doc.finish().expect("a document");
        }
        self.0.apply(batch).expect("a disk with room");
    }

    fn refresh(&self) -> Parts {
        self.0.refresh().expect("a store");
        self.0.snapshot().parts().clone()
    }

    fn written(&self) -> u64 {
        let files = std::fs::read_dir(self.0.directory().path()).expect("a folder");
        let deltas = files.flatten().filter(|file| file.file_name().to_string_lossy().starts_with("delta"));
        deltas.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }

    fn find(&self, number: u32) -> DocAddress {
        self.0.snapshot().find(&id(number)).expect("good bytes").expect("a document")
    }
}

/// Changed rows that no refresh has yet, by segment and document: seeds.
type Pending = BTreeMap<(u32, DocId), u64>;

/// The other two ways, which only read the segments of a store.
pub(crate) struct Base {
    snapshot: Snapshot,
    sources: Vec<Arc<dyn ColumnSource + Send + Sync>>,
    pending: Mutex<(Update, Pending)>,
    folder: PathBuf,
    shown: Mutex<Shown>,
    refresh: fn(&Base) -> Parts,
}

/// The parts that are searched, and the files that were written for them.
struct Shown {
    parts: Parts,
    /// The layers of each segment, from the oldest.
    layers: Vec<Vec<ColumnChanges>>,
    files: u64,
    written: u64,
}

impl Base {
    /// Deltas that are read one over the other: each refresh writes one, and eight are folded into one.
    pub(crate) fn stacked(store: &Path, folder: PathBuf) -> Base {
        Base::new(store, folder, refresh_stacked)
    }

    /// The whole column of a segment is written again when one of its documents changed.
    pub(crate) fn rewritten(store: &Path, folder: PathBuf) -> Base {
        Base::new(store, folder, refresh_rewritten)
    }

    fn new(store: &Path, folder: PathBuf, refresh: fn(&Base) -> Parts) -> Base {
        let snapshot = Store::open(store, StoreOptions::default()).expect("a store").snapshot();
        let parts = snapshot.parts().clone();
        let sources: Vec<_> = (0..parts.len()).map(|part| parts.source(part).clone()).collect();
        let layers = vec![Vec::new(); sources.len()];
        std::fs::create_dir_all(&folder).expect("a folder");
        let shown = Mutex::new(Shown { parts, layers, files: 0, written: 0 });
        let pending = Mutex::new((Update::Numeric, Pending::new()));
        Base { snapshot, sources, pending, folder, shown, refresh }
    }

    /// The field of the pending updates, and the rows by segment.
    fn take(&self) -> (Update, BTreeMap<u32, Vec<(DocId, u64)>>) {
        let mut pending = self.pending.lock().expect("no panic");
        let mut rows = BTreeMap::<u32, Vec<(DocId, u64)>>::new();
        for ((part, doc), seed) in std::mem::take(&mut pending.1) {
            rows.entry(part).or_default().push((doc, seed));
        }
        (pending.0, rows)
    }

    /// Writes a file of the updates.
    fn write(&self, shown: &mut Shown, bytes: &[u8]) -> PathBuf {
        shown.files += 1;
        shown.written += bytes.len() as u64;
        let path = self.folder.join(format!("{}.dv", shown.files));
        std::fs::write(&path, bytes).expect("a disk with room");
        path
    }
}

impl Way for Base {
    fn apply(&self, kind: Update, ops: &[Op]) {
        let found = ops.iter().map(|op| (self.find(op.number), op.seed));
        let found: Vec<_> = found.collect();
        let mut pending = self.pending.lock().expect("no panic");
        pending.0 = kind;
        pending.1.extend(found.into_iter().map(|(at, seed)| ((at.part, at.doc), seed)));
    }

    fn refresh(&self) -> Parts {
        (self.refresh)(self)
    }

    fn written(&self) -> u64 {
        self.shown.lock().expect("no panic").written
    }

    fn find(&self, number: u32) -> DocAddress {
        self.snapshot.find(&id(number)).expect("good bytes").expect("a document")
    }
}

/// The field that an update changes.
fn field(kind: Update) -> Field {
    match kind {
        Update::Numeric => Field::new("time", Kind::Numeric, LogicalType::I64),
        Update::Binary => Field::new("title", Kind::Binary, LogicalType::Utf8),
        Update::Mixed => panic!("numbers and byte strings only"),
    }
}

/// Adds rows to changes, which may be none yet.
fn set(changes: &mut Option<ColumnChanges>, kind: Update, docs: u32, rows: &[(DocId, u64)]) {
    match (kind, changes.get_or_insert_with(|| none(kind, docs))) {
        (Update::Numeric, ColumnChanges::Numbers(changes)) => {
            let values: Vec<[i64; 1]> = rows.iter().map(|(_, seed)| [time(*seed)]).collect();
            changes.set(rows.iter().zip(&values).map(|((doc, _), value)| (*doc, Some(&value[..]))));
        }
        (_, ColumnChanges::Bytes(changes)) => {
            let values: Vec<String> = rows.iter().map(|(_, seed)| title(*seed)).collect();
            changes.set(rows.iter().zip(&values).map(|((doc, _), value)| (*doc, Some(value.as_bytes()))));
        }
        _ => panic!("changes of another kind"),
    }
}

fn none(kind: Update, docs: u32) -> ColumnChanges {
    match kind {
        Update::Numeric => ColumnChanges::Numbers(Changes::new(docs, false)),
        _ => ColumnChanges::Bytes(Changes::new(docs, true)),
    }
}

/// A file with the rows of a refresh.
fn delta(kind: Update, rows: &BTreeMap<u32, Vec<(DocId, u64)>>) -> Vec<u8> {
    let mut schema = Schema::new();
    let part = schema.add(FieldSpec::new("_segment", LogicalType::I64)).expect("a field");
    let doc = schema.add(FieldSpec::new("_doc", LogicalType::I64)).expect("a field");
    let Field { name, logical, .. } = field(kind);
    let value = schema.add(FieldSpec::new(name, logical)).expect("a field");
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.sort_by([SortKey::of("_segment"), SortKey::of("_doc")]).expect("fields");
    for (segment, rows) in rows {
        for (changed, seed) in rows {
            let mut row = writer.document();
            row.i64(part, (*segment).into())
                .expect("a number")
                .i64(doc, changed.get().into())
                .expect("a number");
            match kind {
                Update::Numeric => row.i64(value, time(*seed)),
                _ => row.str(value, &title(*seed)),
            }
            .expect("a value");
            row.finish().expect("a row");
        }
    }
    writer.finish_bytes().expect("memory")
}

fn refresh_stacked(base: &Base) -> Parts {
    let (kind, rows) = base.take();
    let mut shown = base.shown.lock().expect("no panic");
    if rows.is_empty() {
        return shown.parts.clone();
    }
    base.write(&mut shown, &delta(kind, &rows));
    let mut changes: Vec<PartChange> = (0..base.sources.len()).map(PartChange::Kept).collect();
    for (part, rows) in rows {
        let (at, segment) = (part as usize, &base.sources[part as usize]);
        let layers = &mut shown.layers[at];
        let mut layer = None;
        set(&mut layer, kind, segment.docs(), &rows);
        layers.extend(layer);
        if layers.len() > MAX_LAYERS {
            let folded = folded(layers);
            *layers = vec![folded];
        }
        let mut source = segment.clone();
        for layer in layers.iter() {
            source = Arc::new(OverlaySource::new(source, [(field(kind), layer.clone())]));
        }
        changes[at] = PartChange::Columns(at, Part { source, live: None }, vec![field(kind).name]);
    }
    shown.parts = shown.parts.changed(changes);
    shown.parts.clone()
}

/// The layers as one.
fn folded(layers: &[ColumnChanges]) -> ColumnChanges {
    let mut all = layers[0].clone();
    for layer in &layers[1..] {
        match (&mut all, layer) {
            (ColumnChanges::Numbers(all), ColumnChanges::Numbers(layer)) => {
                all.set(layer.rows(docvalues::DocRange::new(0, layer.docs())));
            }
            (ColumnChanges::Bytes(all), ColumnChanges::Bytes(layer)) => {
                all.set(layer.rows(docvalues::DocRange::new(0, layer.docs())));
            }
            _ => panic!("changes of another kind"),
        }
    }
    all
}

/// A file with the column of a source.
fn column_of(source: &dyn ColumnSource, kind: Update) -> Vec<u8> {
    const AT_ONCE: u32 = 1 << 16;
    let Field { name, logical, kind: of, .. } = field(kind);
    let mut schema = Schema::new();
    schema.add(FieldSpec::new(&name, logical)).expect("a field");
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::new().budget(usize::MAX));
    let column = source.column(&name).expect("good bytes");
    for first in (0..source.docs()).step_by(AT_ONCE as usize) {
        let docs = docvalues::DocRange::new(first, (first + AT_ONCE).min(source.docs()));
        let mut plain = PlainColumn::of_kind(of);
        match column.values() {
            docvalues::column::Values::Numbers(rows) => rows.scan(docs, &mut |batch| {
                (0..batch.values.len()).for_each(|at| plain.push_numbers(batch.values.row(at)));
                std::ops::ControlFlow::Continue(())
            }),
            docvalues::column::Values::Bytes(rows) => rows.scan(docs, &mut |batch| {
                (0..batch.values.len()).for_each(|at| plain.push_strings([batch.values.row(at)]));
                std::ops::ControlFlow::Continue(())
            }),
            docvalues::column::Values::Ords(..) => panic!("numbers and byte strings only"),
        }
        .expect("good bytes");
        let plain = docvalues::column::PlainColumns::new(plain.docs(), vec![plain]).expect("one column");
        writer.append_plain(&plain).expect("memory");
    }
    writer.finish_bytes().expect("memory")
}

fn refresh_rewritten(base: &Base) -> Parts {
    let (kind, rows) = base.take();
    let mut shown = base.shown.lock().expect("no panic");
    let mut changes: Vec<PartChange> = (0..base.sources.len()).map(PartChange::Kept).collect();
    for (part, rows) in rows {
        let (at, now) = (part as usize, shown.parts.source(part as usize).clone());
        let mut changed = None;
        set(&mut changed, kind, now.docs(), &rows);
        let changed = changed.expect("rows");
        let updated = OverlaySource::new(now.clone(), [(field(kind), changed)]);
        let path = base.write(&mut shown, &column_of(&updated, kind));
        let column = Segment::open_with(&path, OpenOptions::new()).expect("good bytes");
        let base = base.sources[at].clone();
        let source = Arc::new(Replaced { base, column: Arc::new(column) });
        // Open files stay readable.
        std::fs::remove_file(path).expect("a file");
        changes[at] = PartChange::Columns(at, Part { source, live: None }, vec![field(kind).name]);
    }
    shown.parts = shown.parts.changed(changes);
    shown.parts.clone()
}

/// A source one of whose columns is that of another.
struct Replaced {
    base: Arc<dyn ColumnSource + Send + Sync>,
    column: Arc<Segment>,
}

impl ColumnSource for Replaced {
    fn docs(&self) -> u32 {
        self.base.docs()
    }

    fn fields(&self) -> docvalues::column::Result<Vec<Field>> {
        self.base.fields()
    }

    fn column(&self, name: &str) -> docvalues::column::Result<Arc<dyn Column>> {
        match ColumnSource::column(&*self.column, name) {
            Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => self.base.column(name),
            column => column,
        }
    }
}
