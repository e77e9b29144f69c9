//! Which types columns have, by what the user says, the files, or a sample.

use super::Import;
use super::hints::{conflicting, type_flag};
use crate::api::LogicalType;
use crate::input::column::Column;
use crate::input::column_type::{BaseType, ColumnType, TypeRequest, timestamp, unit_of};
use crate::input::error::{InputError, Result, meant};
use crate::input::infer_types::{Evidence, narrowest_number};
use crate::input::row::{Cell, Form};

impl Import {
    /// Decides the type of every column of which there is something to know.
    pub(super) fn decide(&mut self, evidence: &[Evidence]) -> Result<()> {
        self.add_columns();
        let nothing = Evidence::default();
        for (index, column) in self.columns.iter_mut().enumerate().filter(|(_, column)| !column.excluded) {
            let evidence = evidence.get(index).unwrap_or(&nothing);
            let request = self.options.schema.get(&column.name);
            let multi = request.is_some_and(|request| request.multi);
            let layout = request.and_then(|request| request.layout);
            let declared = column.declared.as_ref().map(|declared| declared.ty);
            let ty = match (request.and_then(|request| request.ty), declared) {
                (Some(ty), _) => Some(requested(ty, evidence, declared)),
                (None, Some(ty)) => Some(ColumnType { multi: ty.multi || multi, layout, ..ty }),
                (None, None) => {
                    let inferred = evidence.decide(self.options.skip_bad);
                    let inferred = inferred.map_err(|conflict| conflicting(&column.name, &conflict))?;
                    // A column of CSV files is text, where nothing else is known.
                    let text = ColumnType::single(LogicalType::Utf8);
                    column.unsampled = inferred.is_none() && column.in_header;
                    let inferred = inferred.or(column.in_header.then_some(text));
                    inferred.map(|ty| ColumnType { multi: ty.multi || multi, layout, ..ty })
                }
            };
            check_lists(column, ty)?;
            column.ty = ty;
            column.example.clone_from(&evidence.example);
        }
        Ok(())
    }

    /// Refuses names of the command line that no file has, of files that name all their columns.
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
        let hint = meant(name, names(), || format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        InputError::refused(format!("{option} names the column {name:?}, which no input has"), hint)
    }

    /// Names of the command line that no input had.
    pub(crate) fn unknown_names(&self) -> Vec<&str> {
        let known = |name: &&str| !self.fields.names().any(|field| field == *name);
        self.options.schema.required_names().filter(known).collect()
    }

    /// Columns that appear behind the sample have the type that was asked for, or that of their first
    /// value.
    pub(super) fn type_late_columns(&mut self) {
        let nothing = Evidence::default();
        for column in self.columns.iter_mut().filter(|column| column.ty.is_none()) {
            let request = self.options.schema.get(&column.name);
            column.ty = request.and_then(|request| request.ty).map(|ty| requested(ty, &nothing, None));
        }
    }
}

/// Refuses a type of one value for a column that is known to have several.
fn check_lists(column: &Column, ty: Option<ColumnType>) -> Result<()> {
    match (&column.declared, ty) {
        (Some(declared), Some(ty)) if declared.ty.multi && !ty.multi => Err(InputError::refused(
            format!("column {:?} is of lists in {}: {}", column.name, declared.file, declared.called),
            type_flag(&column.name, &ColumnType { multi: true, ..ty }.to_string()),
        )),
        _ => Ok(()),
    }
}

/// The type that was asked for; of a timestamp without a unit, what the file says or the sample tells.
fn requested(request: TypeRequest, evidence: &Evidence, declared: Option<ColumnType>) -> ColumnType {
    let logical = match (request.base, declared.map(|ty| ty.logical)) {
        (BaseType::Logical(logical), _) => logical,
        (BaseType::Timestamp, Some(logical)) if unit_of(logical).is_some() => logical,
        (BaseType::Timestamp, _) => timestamp(evidence.unit()),
    };
    ColumnType { logical, multi: request.multi, layout: request.layout }
}

/// The type of a column of which the sample had no value, by its first one.
pub(super) fn first_type(cell: &Cell, text: &str) -> ColumnType {
    let logical = match cell.form {
        Form::Bool => LogicalType::Bool,
        Form::Number => narrowest_number(text),
        _ => LogicalType::Utf8,
    };
    ColumnType { logical, multi: cell.element, layout: None }
}
