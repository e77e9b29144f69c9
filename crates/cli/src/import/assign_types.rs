//! Assigns types to columns: the requested one, that of the file's schema, or the one inferred from a sample.

use std::collections::HashMap;

use super::Import;
use super::column::{Column, Widened};
use super::column_type::ColumnType;
use super::error::{InputError, Result};
use super::hints::{conflicting, type_flag};
use super::infer_types::{Evidence, narrowest_number};
use super::row::{Cell, Form};
use super::schema::ColumnRequest;
use super::spellings::most_numbers;
use crate::api::LogicalType;
use crate::text::time::is_timestamp;
use crate::text::words::{meant, quoted_list};

impl Import {
    /// Assigns the type of every column that has a requested or declared type or a value in the sample.
    /// `before` has the types by name that samples gave to columns before.
    pub(super) fn assign_types(
        &mut self,
        evidence: &[Evidence],
        before: &HashMap<String, ColumnType>,
    ) -> Result<()> {
        self.add_columns();
        let (nothing, most_spellings) = (Evidence::default(), most_numbers(self.columns.len()));
        for (index, column) in self.columns.iter_mut().enumerate().filter(|(_, column)| !column.excluded) {
            let evidence = evidence.get(index).unwrap_or(&nothing);
            let request = self.options.schema.get(&column.name);
            let declared = column.declared.as_ref().map(|declared| declared.ty);
            let ty = match (request.map(|request| requested(request, evidence, declared)), declared) {
                (Some(ty), _) | (None, Some(ty)) => Some(ty),
                (None, None) => {
                    let inferred = evidence.decide(self.options.skip_bad);
                    let inferred = inferred.map_err(|conflict| conflicting(&column.name, &conflict))?;
                    column.kept_as_text = evidence.kept_as_text();
                    let is_text = inferred.is_some_and(|ty| ty.logical == LogicalType::Utf8);
                    column.odd_cells = evidence.odd_cells.note(&column.name).filter(|_| is_text);
                    column.has_no_offsets =
                        inferred.is_some_and(|ty| is_timestamp(ty.logical)) && evidence.has_no_offsets();
                    // A CSV column without values is text.
                    let text = ColumnType::single(LogicalType::Utf8);
                    column.unsampled = inferred.is_none() && column.in_header;
                    let inferred = inferred.or(column.in_header.then_some(text));
                    column.widened = before
                        .get(&column.name)
                        .filter(|from| Some(**from) != inferred)
                        .map(|&from| Widened { from, misfit: evidence.misfit(from).cloned() });
                    inferred
                }
            };
            check_lists(column, ty)?;
            column.ty = ty;
            column.example.clone_from(&evidence.example);
            column.most_spellings = most_spellings;
        }
        Ok(())
    }

    /// Fails if the command line names a column that no file has. Call it only if all files name their columns up
    /// front.
    pub(super) fn check_names(&self) -> Result<()> {
        if let Some(name) = self.options.exclude.unknown(|name| self.fields.names().any(name)) {
            return Err(self.no_such_name("--exclude", name));
        }
        match self.unknown_names().first() {
            Some(name) => Err(self.no_such_name("--type", name)),
            None => Ok(()),
        }
    }

    fn no_such_name(&self, option: &str, name: &str) -> InputError {
        let names = || self.fields.names();
        let hint = meant(name, names(), || format!("the columns are {}", quoted_list(names())));
        InputError::refused(format!("{option}: no input has a column {name:?}"), hint)
    }

    /// Columns that the command line names, but no input has.
    pub(crate) fn unknown_names(&self) -> Vec<&str> {
        let known = |name: &&str| !self.fields.names().any(|field| field == *name);
        self.options.schema.required_names().filter(known).collect()
    }

    /// Gives columns that first appear after the sample their requested types. Without a request, the first value
    /// of the column decides.
    pub(super) fn type_late_columns(&mut self) {
        let nothing = Evidence::default();
        for column in self.columns.iter_mut().filter(|column| column.ty.is_none()) {
            let request = self.options.schema.get(&column.name);
            column.ty = request.map(|request| requested(request, &nothing, None));
        }
    }
}

/// Fails if a column of lists got a type for single values.
fn check_lists(column: &Column, ty: Option<ColumnType>) -> Result<()> {
    match (&column.declared, ty) {
        (Some(declared), Some(ty)) if declared.ty.multi && !ty.multi => Err(InputError::refused(
            format!(
                "column {:?}: expected one value a document, found lists in \"{}\" ({})",
                column.name, declared.file, declared.called
            ),
            format!("use {}", type_flag(&column.name, &ColumnType { multi: true, ..ty }.to_string())),
        )),
        _ => Ok(()),
    }
}

/// The requested type. A timestamp without a unit gets the unit of the file or of the sample.
fn requested(request: &ColumnRequest, evidence: &Evidence, declared: Option<ColumnType>) -> ColumnType {
    let logical = match declared.map(|ty| ty.logical) {
        _ if !request.any_unit => request.ty.logical,
        Some(logical) if is_timestamp(logical) => logical,
        _ => evidence.timestamp(),
    };
    ColumnType { logical, ..request.ty }
}

/// The type of a column without values in the sample, from its first value.
pub(super) fn first_type(cell: &Cell, text: &str) -> ColumnType {
    let logical = match cell.form {
        Form::Bool => LogicalType::Bool,
        Form::Number => narrowest_number(text),
        _ => LogicalType::Utf8,
    };
    ColumnType { logical, multi: cell.element, layout: None }
}
