//! The columns of a segment of a store, in the text formats of the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{
    AbsentColumn, Column, ColumnInfo, ColumnSource, DocRange, Error, ErrorKind, Field, SkipIndex, SortKey,
    Values,
};
use crate::text::text_format::TextFormat;

/// The fields of a store, by name.
pub(crate) type StoreFields = BTreeMap<String, Field>;

/// A segment of a store with its updates. It has all columns of the store, some perhaps without values.
///
/// A column has the text format that the segment and the store have in common, because updates may lack that of the
/// segment: 1.234 is not to be printed as 1.23.
pub(crate) struct StoreSource {
    pub(crate) source: Arc<dyn ColumnSource + Send + Sync>,
    pub(crate) fields: Arc<StoreFields>,
}

impl StoreSource {
    /// The text format in common.
    fn format(&self, field: &Field) -> Option<String> {
        let own = field.format.as_deref();
        match self.fields.get(&field.name).map(|of_store| of_store.format.as_deref()) {
            Some(of_store) if of_store != own => TextFormat::in_common([own, of_store].into_iter()),
            _ => field.format.clone(),
        }
    }
}

impl ColumnSource for StoreSource {
    fn docs(&self) -> u32 {
        self.source.docs()
    }

    fn fields(&self) -> Result<Vec<Field>, Error> {
        let mut fields = (*self.fields).clone();
        for field in self.source.fields()? {
            let format = self.format(&field);
            fields.insert(field.name.clone(), Field { format, ..field });
        }
        Ok(fields.into_values().collect())
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>, Error> {
        let column = match (self.source.column(name), self.fields.get(name)) {
            (Err(error), Some(field)) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => {
                return Ok(Arc::new(AbsentColumn::of(field.clone(), self.source.docs())));
            }
            (column, _) => column?,
        };
        let format = self.format(&column.info().field);
        if format == column.info().field.format {
            return Ok(column);
        }
        let mut info = column.info().clone();
        info.field.format = format;
        Ok(Arc::new(StoreColumn { column, info }))
    }

    fn sort(&self) -> &[SortKey] {
        self.source.sort()
    }

    fn bytes_touched(&self) -> u64 {
        self.source.bytes_touched()
    }
}

/// A column with another text format.
struct StoreColumn {
    column: Arc<dyn Column>,
    info: ColumnInfo,
}

impl Column for StoreColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<(), Error> {
        self.column.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        self.column.values()
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.column.skip_index()
    }

    fn is_absent(&self) -> bool {
        self.column.is_absent()
    }
}

#[cfg(test)]
mod tests {
    use docvalues_testkit::conformance::{check_source, check_stand_in};
    use docvalues_testkit::model::{MemSource, ModelColumn};

    use super::*;
    use crate::api::{Kind, LogicalType};

    #[test]
    fn columns_in_the_format_of_the_store_follow_the_rules() {
        let text = |doc: i64| (doc % 3 > 0).then(|| (doc % 7).to_string().into_bytes());
        let columns = [
            ("host", LogicalType::Utf8, ModelColumn::Sorted((0..300).map(text).collect())),
            ("path", LogicalType::Utf8, ModelColumn::Binary((0..300).map(text).collect())),
            ("sizes", LogicalType::I64, ModelColumn::SortedNumeric((0..300).map(|doc| vec![doc]).collect())),
            ("time", LogicalType::I64, ModelColumn::Numeric((0..300).map(Some).collect())),
        ];
        let source = |format: Option<&str>| {
            let fields = columns.iter().map(|(name, logical, column)| {
                let format = format.map(str::to_owned);
                (Field { format, ..Field::new(*name, column.kind(), *logical) }, column.clone())
            });
            MemSource::new(300, fields)
        };
        // The store does not print missing values as the segment does.
        let (segment, model) = (source(Some("missing=NA")), source(None));
        let mut fields: StoreFields =
            model.fields().unwrap().into_iter().map(|field| (field.name.clone(), field)).collect();
        let in_store = |fields: &StoreFields| StoreSource {
            source: Arc::new(segment.clone()),
            fields: Arc::new(fields.clone()),
        };
        check_source(&in_store(&fields), &model);
        // A field that the segment lacks.
        fields.insert("new".into(), Field::new("new", Kind::SortedSet, LogicalType::Utf8));
        check_stand_in(&*in_store(&fields).column("new").unwrap());
    }
}
