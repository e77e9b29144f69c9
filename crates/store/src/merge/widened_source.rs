//! [`WidenedSource`]: a segment whose fields get a wider kind. A merge with [`WiderTypes`] gives them their types.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues_column::{AbsentColumn, Column, ColumnSource, ErrorKind, Field, Result, SortKey};
use docvalues_search::widened;

use crate::schema::StoreSchema;

/// The columns of a segment, some of them in the kinds and formats of a later schema. They keep their types: the values of deleted
/// documents may have no equal in another one.
pub(crate) struct WidenedSource {
    source: Arc<dyn ColumnSource + Send + Sync>,
    wider: HashMap<String, Field>,
}

impl WidenedSource {
    pub(crate) fn of(
        source: Arc<dyn ColumnSource + Send + Sync>,
        before: &StoreSchema,
        after: &StoreSchema,
    ) -> WidenedSource {
        let wider = after.changed_fields(before).map(|(place, field)| {
            let logical = before.fields()[place].logical;
            (field.name.clone(), Field { logical, ..field.clone() })
        });
        let wider = wider.collect();
        WidenedSource { source, wider }
    }
}

impl ColumnSource for WidenedSource {
    fn docs(&self) -> u32 {
        self.source.docs()
    }

    fn fields(&self) -> Result<Vec<Field>> {
        let mut fields = self.source.fields()?;
        for field in &mut fields {
            if let Some(wider) = self.wider.get(&*field.name) {
                *field = Field::clone(wider);
            }
        }
        Ok(fields)
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let column = self.source.column(name)?;
        Ok(match self.wider.get(name) {
            Some(field) => widened(column, field),
            None => column,
        })
    }

    fn sort(&self) -> &[SortKey] {
        self.source.sort()
    }
}

/// A source without documents whose columns have other types, so that a merge promotes numbers to them.
pub(crate) struct WiderTypes<'s>(Vec<&'s Field>);

impl<'s> WiderTypes<'s> {
    /// `None` if there are none.
    pub(crate) fn of(before: &StoreSchema, after: &'s StoreSchema) -> Option<WiderTypes<'s>> {
        let mut fields: Vec<&Field> = after.changed_fields(before).map(|(_, field)| field).collect();
        fields.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        (!fields.is_empty()).then_some(WiderTypes(fields))
    }
}

impl ColumnSource for WiderTypes<'_> {
    fn docs(&self) -> u32 {
        0
    }

    fn fields(&self) -> Result<Vec<Field>> {
        Ok(self.0.iter().copied().cloned().collect())
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let field = self.0.iter().find(|field| field.name == name);
        let unknown = || ErrorKind::NoSuchColumn { file: String::new(), field: name.to_owned() };
        Ok(Arc::new(AbsentColumn::of(Field::clone(field.ok_or_else(unknown)?), 0)))
    }
}
