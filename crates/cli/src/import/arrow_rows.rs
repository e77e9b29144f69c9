//! Rows of Parquet and Arrow files, converted in batches.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_select::filter::filter;

use super::arrow::{ArrowFile, ConvertedColumn, Styles, ValueError, convert, guarded};
use super::column::{Column, DeclaredType};
use super::column_type::ColumnType;
use super::convert_rows::without_id;
use super::error::{BadRow, InputError, Place, Result};
use super::hints::{describe, type_flag};
use super::row_batch::Batch;
#[cfg(test)]
use super::row_batch::RowBatch;
use super::source::Source;
use super::{Import, Imported};
use crate::api::writer::{self, ColumnBatch, FieldId};
use crate::api::{Holds, MAX_NAME, PlainValues, promotion, weight};
use crate::text::quoting::option;

/// The length to which messages cut the name of a type, in characters.
const SHOWN: usize = 48;

/// Converted rows of a Parquet or Arrow file.
struct DocBatch {
    docs: u32,
    /// The columns with their index.
    columns: Vec<(usize, ConvertedColumn)>,
}

impl Batch for DocBatch {
    fn docs(&self) -> u32 {
        self.docs
    }

    fn columns(&self) -> Vec<usize> {
        self.columns.iter().map(|(index, _)| *index).collect()
    }

    fn add_to(&self, target: &mut ColumnBatch<'_>, fields: &[Option<FieldId>]) -> writer::Result<()> {
        for (index, ConvertedColumn { stored, lists, validity, .. }) in &self.columns {
            if let Some(Some(field)) = fields.get(*index) {
                target.plain(*field, stored, lists.as_deref(), validity.as_deref())?;
            }
        }
        Ok(())
    }

    #[cfg(test)]
    fn rows(&self) -> &RowBatch {
        panic!("no file of these tests has columns")
    }
}

impl Import {
    /// Adds the columns of a file.
    ///
    /// # Errors
    ///
    /// If a type has no equivalent in a segment, or differs from the type in an earlier file.
    pub(super) fn declare(&mut self, source: &Source, file: &ArrowFile) -> Result<()> {
        let (mut names, mut others) = (HashSet::new(), Vec::new());
        for leaf in file.leaves() {
            let index = self.fields.id(&leaf.name).index();
            self.add_columns();
            let Some(column) = self.columns.get_mut(index).filter(|column| !column.excluded) else {
                continue;
            };
            let problem = match leaf.name.len() {
                0 => Some("a column has no name".to_owned()),
                len if len > MAX_NAME => Some(format!("a name of {len} bytes, more than {MAX_NAME}")),
                _ if !names.insert(index) => Some(format!("two columns are named {:?}", leaf.name)),
                _ => None,
            };
            if let Some(problem) = problem {
                let message = format!("{}: {problem}", source.name);
                return Err(InputError::refused(message, "name columns otherwise where the file is written"));
            }
            column.in_header = true;
            match leaf.holds {
                Holds::Values { logical, multi_valued: multi } => {
                    let ty = ColumnType { multi, ..ColumnType::single(logical) };
                    let (called, file) = (leaf.called, source.name.clone());
                    column.declare(DeclaredType { ty, called, file })?;
                }
                Holds::Nothing => {}
                Holds::Other => others.push((leaf.name, leaf.called)),
            }
        }
        if others.is_empty() { Ok(()) } else { Err(unknown_types(&source.name, &others)) }
    }

    /// Converts the rows of a file and passes them to `sink`.
    pub(super) fn add_file<E: From<InputError>>(
        &mut self,
        source: &Source,
        file: ArrowFile,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batches =
            file.batches(|leaf| !self.options.exclude.has(&leaf.name), self.options.batch_bytes)?;
        let names = batches.leaves().iter().map(|leaf| self.fields.id(&leaf.name).index());
        let columns: Vec<usize> = names.collect();
        self.add_columns();
        let mut first = 0;
        while let Some((rows, arrays)) = batches.next()? {
            let mut pieces = Vec::from([(0, rows)]);
            while let Some((start, end)) = pieces.pop() {
                let piece = start..end;
                let arrays: Vec<ArrayRef> =
                    arrays.iter().map(|a| a.slice(piece.start, piece.len())).collect();
                let bytes = guarded(&source.name, || Ok(arrays.iter().map(|a| weight(a)).sum::<usize>()))?;
                let is_large = bytes > self.options.batch_bytes || piece.len() > self.options.batch_rows;
                if is_large && piece.len() > 1 {
                    let middle = start.midpoint(end);
                    pieces.extend([(middle, end), (start, middle)]);
                    continue;
                }
                let rows = first + start as u64..first + end as u64;
                self.add_rows(source, rows, &columns, arrays, sink)?;
            }
            first += rows as u64;
        }
        Ok(())
    }

    /// Converts rows to documents, except bad rows that are skipped.
    fn add_rows<E: From<InputError>>(
        &mut self,
        source: &Source,
        rows: Range<u64>,
        columns: &[usize],
        mut arrays: Vec<ArrayRef>,
        sink: &mut impl FnMut(&Import, Imported<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut filled, faults) = self.convert_arrays(source, columns, &arrays)?;
        let arrays_len = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
        let mut bad = BTreeMap::new();
        for (index, fault) in faults {
            let place = Place::Row(rows.start + fault.row as u64);
            bad.entry(fault.row)
                .or_insert_with(|| self.bad_row(index, fault, BadRow::at(&source.name, place, "")));
        }
        if let Some(name) = &self.options.ids {
            let ids = filled.iter().find(|(index, _)| Some(*index) == self.ids).map(|(_, ids)| ids);
            for row in (0..arrays_len).filter(|row| !ids.is_some_and(|ids| ids.has_value(*row))) {
                let place = Place::Row(rows.start + row as u64);
                bad.entry(row).or_insert_with(|| without_id(name, BadRow::at(&source.name, place, "")));
            }
        }
        let docs = u32::try_from(arrays_len - bad.len().min(arrays_len)).unwrap_or(u32::MAX);
        if !bad.is_empty() {
            let good: BooleanArray = (0..arrays_len).map(|row| Some(!bad.contains_key(&row))).collect();
            bad.into_values().try_for_each(|bad| self.skip(bad))?;
            arrays = guarded(&source.name, || arrays.iter().map(|array| filter(array, &good)).collect())?;
            (filled, _) = self.convert_arrays(source, columns, &arrays)?;
        }
        self.documents += u64::from(docs);
        for (index, filled) in &filled {
            if let Some(column) = self.columns.get_mut(*index) {
                observe(column, filled);
            }
        }
        if docs == 0 { Ok(()) } else { sink(self, Imported::Batch(&DocBatch { docs, columns: filled })) }
    }

    /// The values of some rows, and the values that do not fit their column.
    fn convert_arrays(&self, source: &Source, columns: &[usize], arrays: &[ArrayRef]) -> Result<Converted> {
        guarded(&source.name, || {
            let (mut all, mut all_faults) = (Vec::new(), Vec::new());
            for (index, array) in columns.iter().zip(arrays) {
                let Some(column) = self.columns.get(*index) else { continue };
                let Some(ty) = column.ty else { continue };
                let mut faults = Vec::new();
                all.extend(convert(column, ty, array, &mut faults)?.map(|filled| (*index, filled)));
                all_faults.extend(faults.into_iter().map(|fault| (*index, fault)));
            }
            Ok((all, all_faults))
        })
    }

    /// The error for a row.
    fn bad_row(&self, index: usize, fault: ValueError, bad: BadRow) -> BadRow {
        let Some((column, ty)) = self.columns.get(index).and_then(|column| Some((column, column.ty?))) else {
            return bad;
        };
        let ValueError { mismatch, text, .. } = fault;
        match mismatch.wider {
            // No other type stores it, so there is no hint.
            "" => BadRow { problem: format!("column {:?}: {}", column.name, mismatch.problem), ..bad },
            _ => {
                describe(column, ty, &mismatch, (bad, self.options.of_store.as_deref())).text(text.as_bytes())
            }
        }
    }
}

type Converted = (Vec<(usize, ConvertedColumn)>, Vec<(usize, ValueError)>);

/// Records the values of a column and their format.
fn observe(column: &mut Column, filled: &ConvertedColumn) {
    column.documents += filled.rows;
    if let Some(lists) = &filled.lists {
        column.reordered |= !lists.windows(2).all(|list| are_in_order(&filled.stored, list[0], list[1]));
    }
    match &filled.seen {
        Styles::Alike(mark) => column.observe_alike(*mark, filled.values),
        Styles::Each(marks) => marks.iter().for_each(|mark| column.observe(*mark)),
    }
}

/// Whether a column stores the values of a list as they are: in ascending order, and equal strings once.
fn are_in_order(stored: &PlainValues, start: u64, end: u64) -> bool {
    let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
    match stored {
        PlainValues::Numbers(numbers) => numbers.get(at(start)..at(end)).is_none_or(<[i64]>::is_sorted),
        PlainValues::Strings(strings) => {
            (at(start)..at(end)).skip(1).all(|next| strings.get(next - 1) < strings.get(next))
        }
    }
}

impl Column {
    /// Combines the type of the column in a file with its type in earlier files.
    fn declare(&mut self, new: DeclaredType) -> Result<()> {
        let Some(old) = &mut self.declared else {
            self.declared = Some(new);
            return Ok(());
        };
        old.ty.multi |= new.ty.multi;
        match promotion::common(old.ty.logical, new.ty.logical) {
            Some(logical) => {
                old.ty = ColumnType { logical, ..old.ty };
                Ok(())
            }
            // The user has chosen a type.
            None if self.explicit => Ok(()),
            None => Err(InputError::refused(
                format!(
                    "column {:?} is {} in \"{}\" and {} in \"{}\"",
                    self.name, old.called, old.file, new.called, new.file
                ),
                format!("{} takes the text of both", type_flag(&self.name, "string")),
            )),
        }
    }
}

/// The error for columns whose types have no equivalent in a segment.
fn unknown_types(file: &str, others: &[(String, String)]) -> InputError {
    let (columns, are) =
        if others.len() == 1 { ("a column", "is of a type") } else { ("columns", "are of types") };
    let each = others.iter().map(|(name, called)| {
        let shown: String = called.chars().take(SHOWN).collect();
        let more = if shown.len() < called.len() { "…" } else { "" };
        format!("{name:?} ({shown}{more})")
    });
    // A name that contains a comma needs an option of its own.
    let (alone, batch_bytes): (Vec<&str>, Vec<&str>) =
        others.iter().map(|(name, _)| name.as_str()).partition(|name| name.contains(','));
    let batch_bytes = (!batch_bytes.is_empty()).then(|| batch_bytes.join(","));
    let options = batch_bytes.iter().map(String::as_str).chain(alone);
    let options: Vec<String> = options.map(|names| option("--exclude", names)).collect();
    InputError::refused(
        format!("{file}: {columns} that {are} no segment has: {}", each.collect::<Vec<_>>().join(", ")),
        format!("leave out what cannot be kept: {}", options.join(" ")),
    )
}
