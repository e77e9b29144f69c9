//! Adds the documents of an import to a store, batch by batch.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::column::Column;
use super::column_type::ColumnType;
use super::notes::{column_notes, input_notes, without_values};
use super::segment_input::{refuse_nothing, spec, write_document};
use super::{Batch, Document, Import, Imported, store_schema};
use crate::api::store::{Outcome, Store, Update, WriteBatch};
use crate::api::writer::FieldId;
use crate::api::{Field, LogicalType};
use crate::console::Console;
use crate::console::progress::Progress;
use crate::error::{CliError, Result};
use crate::process::end_signal::EndSignal;
use crate::text::text_format::TextFormat;
use crate::text::{Json, StoredRef, counted, thousands};

/// A batch ends at this many bytes of memory.
const BATCH_BYTES: usize = 4 << 20;

/// The options of a put.
#[derive(Clone, Debug)]
pub(crate) struct PutPlan {
    /// Whether documents change some columns of those with their ids, instead of replacing them.
    pub(crate) partial: bool,
    /// The most documents of a batch.
    pub(crate) batch: usize,
    /// The longest that a document waits for others of its batch; `None` if the input ends anyway.
    pub(crate) apply_every: Option<Duration>,
    /// The time between commits; `None` commits at the end only.
    pub(crate) commit_every: Option<Duration>,
    /// Whether the store has a log, so that batches survive when they are applied.
    pub(crate) has_log: bool,
    /// Whether to print a line of JSON when documents have become durable.
    pub(crate) reports_durable: bool,
    pub(crate) end: EndSignal,
}

/// The number of documents with each outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) added: u64,
    pub(crate) replaced: u64,
    pub(crate) updated: u64,
    pub(crate) not_found: u64,
    pub(crate) stale: u64,
    /// The first document that was not found, and the first stale one, counted from 1.
    pub(crate) first_not_found: Option<u64>,
    pub(crate) first_stale: Option<u64>,
}

impl Outcomes {
    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        self.added + self.replaced + self.updated + self.not_found + self.stale
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Replaced => self.replaced += 1,
            Outcome::Updated => self.updated += 1,
            Outcome::NotFound => {
                self.first_not_found.get_or_insert(self.documents() + 1);
                self.not_found += 1;
            }
            Outcome::Stale { .. } => {
                self.first_stale.get_or_insert(self.documents() + 1);
                self.stale += 1;
            }
            _ => self.added += 1,
        }
    }
}

/// A column of the import as a field of the store.
#[derive(Debug)]
struct StoreColumn {
    /// The field now.
    field: Field,
    /// The format before the import; `None` if the store did not have the field.
    before: Option<TextFormat>,
    is_there: bool,
}

/// The store, and the batch of documents that comes next.
pub(crate) struct StoreInput<'s> {
    store: &'s Store,
    plan: PutPlan,
    batch: WriteBatch,
    /// The field of each column in the batch.
    fields: Vec<Option<FieldId>>,
    columns: Vec<Option<StoreColumn>>,
    /// The outcomes of the documents that were applied, and the number of bad rows skipped before the last of them.
    pub(crate) outcomes: Outcomes,
    skipped: u64,
    /// The places and ids of partial documents in the batch that came one by one, until one is not found: then its id.
    ids: Vec<(usize, Vec<u8>)>,
    pub(crate) not_found: Option<Vec<u8>>,
    /// The number of documents that are durable, now and at the last report.
    durable: u64,
    reported: u64,
    /// The time of the first document of the batch, and of the first one after the last commit.
    batch_since: Option<Instant>,
    uncommitted_since: Option<Instant>,
}

impl<'s> StoreInput<'s> {
    pub(crate) fn new(store: &'s Store, plan: PutPlan) -> Result<StoreInput<'s>> {
        Ok(StoreInput {
            store,
            plan,
            batch: store.batch()?,
            fields: Vec::new(),
            columns: Vec::new(),
            outcomes: Outcomes::default(),
            skipped: 0,
            ids: Vec::new(),
            not_found: None,
            durable: 0,
            reported: 0,
            batch_since: None,
            uncommitted_since: None,
        })
    }

    /// Adds all documents, or those up to a signal.
    pub(crate) fn add_all(
        &mut self,
        import: &mut Import,
        progress: &mut Progress,
        console: &mut Console<'_>,
    ) -> Result<()> {
        let added = import.run(|import, added| {
            progress.show(import.documents, import.bytes_read());
            match added {
                Imported::Document(document) => self.add(import, document)?,
                Imported::Batch(batch) => self.add_batch(import, batch)?,
                Imported::Pause if self.batch.is_empty() => {}
                Imported::Pause => self.apply(import)?,
            }
            self.keep_up(import, console)
        });
        match added {
            Err(_) if self.plan.end.exit().is_some() => Ok(()),
            added => {
                progress.show_step("committing");
                added.and_then(|()| refuse_nothing(import))
            }
        }
    }

    fn add(&mut self, import: &Import, document: &mut Document) -> Result<()> {
        self.require_fields(import, document.values().map(|(column, _)| column))?;
        if self.plan.partial && self.outcomes.not_found == 0 {
            let mut values = document.values();
            if let Some((_, StoredRef::Bytes(id))) = values.find(|(column, _)| Some(*column) == import.ids) {
                self.ids.push((self.batch.len(), id.to_vec()));
            }
        }
        let target = if self.plan.partial { self.batch.update() } else { self.batch.upsert() };
        write_document(document, &self.fields, target)?;
        document.free_large();
        Ok(())
    }

    /// Adds several documents.
    fn add_batch(&mut self, import: &Import, batch: &dyn Batch) -> Result<()> {
        if self.batch.len() + batch.docs() as usize > self.plan.batch {
            self.apply(import)?;
        }
        self.require_fields(import, batch.columns().into_iter())?;
        let mut target = match self.plan.partial {
            true => self.batch.update_columns(batch.docs(), &Update::new())?,
            false => self.batch.upsert_columns(batch.docs())?,
        };
        batch.add_to(&mut target, &self.fields)?;
        target.finish();
        Ok(())
    }

    /// Begins another batch if this one lacks the field of a column.
    fn require_fields(&mut self, import: &Import, mut columns: impl Iterator<Item = usize>) -> Result<()> {
        let is_new = |column| !matches!(self.fields.get(column), Some(Some(_)));
        if columns.any(is_new) { self.apply(import) } else { Ok(()) }
    }

    /// Applies and commits, if it is time. Fails after a signal.
    fn keep_up(&mut self, import: &Import, console: &mut Console<'_>) -> Result<()> {
        let PutPlan { batch, apply_every, commit_every, .. } = self.plan;
        if !self.batch.is_empty() {
            begin(apply_every, &mut self.batch_since);
            begin(commit_every, &mut self.uncommitted_since);
        }
        let is_full = self.batch.len() >= batch || self.batch.bytes() >= BATCH_BYTES;
        if is_full || is_due(apply_every, self.batch_since) {
            self.apply(import)?;
        }
        if is_due(commit_every, self.uncommitted_since) {
            self.apply(import)?;
            self.commit()?;
        }
        self.report_durable(console);
        match self.plan.end.exit() {
            Some(exit) => Err(CliError::new(exit, "interrupted")),
            None => Ok(()),
        }
    }

    /// Applies the batch, and begins another one with the fields of all columns so far.
    fn apply(&mut self, import: &Import) -> Result<()> {
        self.set_fields(import)?;
        let batch = std::mem::replace(&mut self.batch, self.store.batch()?);
        if !batch.is_empty() {
            let first = self.outcomes.documents() + 1;
            let last = first + batch.len() as u64 - 1;
            let applied = self.store.apply(batch).map_err(|error| {
                let failure = CliError::from(error);
                let (first, last) = (thousands(first), thousands(last));
                let message = format!("documents {first} to {last} of the input: {}", failure.message);
                CliError { message, ..failure }
            })?;
            let first = applied.outcomes.iter().position(|outcome| *outcome == Outcome::NotFound);
            // Without ids, another one was the first.
            if let Some(at) = self.ids.iter().position(|(at, _)| Some(*at) == first) {
                self.not_found = Some(self.ids.swap_remove(at).1);
            }
            self.ids.clear();
            applied.outcomes.into_iter().for_each(|outcome| self.outcomes.add(outcome));
        }
        self.batch_since = None;
        (self.skipped, _) = import.skipped();
        if self.plan.has_log {
            self.durable = self.outcomes.documents();
        }
        let names = self.columns.iter().map(|column| column.as_ref().map(|column| &column.field.name));
        let fields = names.map(|name| name.map(|name| self.batch.field(name)).transpose());
        self.fields = fields.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Adds the fields of columns that the store does not have, in the order of the input, and sets the formats that
    /// all values so far have in common.
    fn set_fields(&mut self, import: &Import) -> Result<()> {
        let snapshot = self.store.snapshot();
        self.columns.resize_with(import.columns.len(), || None);
        let mut changed = Vec::new();
        let schema = snapshot.schema();
        let of_store: HashMap<&str, &Field> =
            schema.fields().iter().map(|field| (field.name.as_str(), field)).collect();
        for (column, known) in import.columns.iter().zip(&mut self.columns) {
            // The values of the sample are still to come.
            let is_sampled = column.example.is_some() && !column.excluded;
            if !is_sampled && !column.is_stored() {
                continue;
            }
            let is_changed = is_sampled || column.values > 0;
            if self.plan.partial && is_changed && schema.id_field() != Some(&column.name) {
                store_schema::require_updatable(schema, &column.name)?;
            }
            let known =
                known.get_or_insert_with(|| StoreColumn::of(column, of_store.get(&*column.name).copied()));
            let format = format_of(import, column, (known, self.plan.partial));
            if !known.is_there || known.field.format != format {
                (known.is_there, known.field.format) = (true, format);
                changed.push(known.field.clone());
            }
        }
        if !changed.is_empty() {
            self.store.set_fields(changed)?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.store.commit()?;
        (self.durable, self.uncommitted_since) = (self.outcomes.documents(), None);
        Ok(())
    }

    /// Applies and commits what was added. Returns notes for the user.
    pub(crate) fn finish(&mut self, import: &Import, console: &mut Console<'_>) -> Result<Vec<String>> {
        self.apply(import)?;
        self.commit()?;
        self.report_durable(console);
        let stored = import.columns.iter().filter(|column| column.is_stored());
        let notes_of = |column: &Column| {
            let (_, lost) = column.text_format(import.documents, import.missing_tokens());
            column_notes(column, lost)
        };
        // In a partial document, a missing value is one that stays as it is.
        let without_values = without_values(import).filter(|_| !self.plan.partial);
        let of_columns = stored.flat_map(notes_of).chain(input_notes(import)).chain(without_values);
        Ok(import.file_notes().chain(of_columns).collect())
    }

    /// Ends after a failure. If some documents are durable, commits all that were applied, and adds their number to the
    /// message.
    pub(crate) fn fail(&mut self, failure: CliError) -> CliError {
        if self.durable == 0 {
            return failure;
        }
        // If this fails, the number stays that of the documents that were durable before.
        let _ = self.commit();
        let durable = counted(self.durable, "document", "documents");
        let were = if self.durable == 1 { "was" } else { "were" };
        let done = if self.plan.partial { "applied" } else { "put" };
        let message = format!("{}; {durable} {were} {done} before", failure.message);
        CliError { message, ..failure }
    }

    /// Prints the number of documents that are durable, if it has changed.
    fn report_durable(&mut self, console: &mut Console<'_>) {
        if self.plan.reports_durable && self.reported < self.durable {
            self.reported = self.durable;
            let counts = [("documents", self.durable), ("skipped_rows", self.skipped)];
            let line = Json::object(counts.map(|(name, count)| (name, count.into())));
            console.note(&serde_json::to_string(&line).unwrap_or_default());
        }
    }
}

/// The text format that the values of a column have in common with those that the store had before.
fn format_of(import: &Import, column: &Column, (known, partial): (&StoreColumn, bool)) -> Option<String> {
    let (mut own, _) = column.text_format(import.documents, import.missing_tokens());
    let format = match &known.before {
        Some(before) if column.values > 0 => {
            if partial {
                // A missing value is one that stays as it is.
                (own.missing, own.json_missing) = (before.missing.clone(), before.json_missing);
            }
            before.clone().common(own)
        }
        Some(before) => before.clone(),
        None => own,
    };
    format.to_format()
}

/// Begins to measure a time, unless it has begun.
fn begin(time: Option<Duration>, since: &mut Option<Instant>) {
    if time.is_some() {
        since.get_or_insert_with(Instant::now);
    }
}

/// Whether a time has passed.
fn is_due(time: Option<Duration>, since: Option<Instant>) -> bool {
    time.zip(since).is_some_and(|(time, since)| since.elapsed() >= time)
}

impl StoreColumn {
    /// The column as the field of the store, if that is there, or as a new one.
    fn of(column: &Column, known: Option<&Field>) -> StoreColumn {
        let ty = column.ty.unwrap_or(ColumnType::single(LogicalType::Utf8));
        let field = known.cloned().unwrap_or_else(|| store_schema::field(&spec(&column.name, ty, true)));
        let before = known.map(|known| known.format.as_deref().map(TextFormat::parse).unwrap_or_default());
        StoreColumn { field, before, is_there: known.is_some() }
    }
}
