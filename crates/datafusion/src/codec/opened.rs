//! [`OpenedTables`]: the datasets that a codec opened last.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion_common::Result;
use datafusion_execution::TaskContext;
use docvalues::store::Dataset;

use crate::objects::{ObjectMemory, Objects};
use crate::table::DocvaluesTable;
use crate::table_data::TableData;

/// The most datasets that stay open. The files of a commit that was removed take room on the disk as long as they do.
const MOST: usize = 16;

/// Tables by their datasets, from the one that was used last on. A file of an open one may be removed or replaced by another;
/// the table keeps its documents.
#[derive(Debug, Default)]
pub(super) struct OpenedTables {
    tables: Mutex<Vec<Arc<TableData>>>,
    memory: ObjectMemory,
}

impl OpenedTables {
    /// None, with a cache of `bytes` bytes for objects.
    pub(super) fn with_object_memory(bytes: u64) -> OpenedTables {
        OpenedTables { memory: ObjectMemory::new(bytes), ..OpenedTables::default() }
    }

    /// The table of a dataset. Objects are in the stores of the context that first asks for them.
    pub(super) fn open(&self, dataset: Dataset, context: &TaskContext) -> Result<Arc<TableData>> {
        if let Some(known) = self.find(&dataset) {
            return Ok(known);
        }
        // Others do not wait. If two open the same, the second one is dropped.
        let table = match dataset.has_objects() {
            true => Objects::with(context.runtime_env(), self.memory.clone()).blocking_table(dataset)?,
            false => DocvaluesTable::of_dataset(dataset)?,
        };
        let data = table.data;
        if let Some(known) = data.dataset.as_deref().and_then(|dataset| self.find(dataset)) {
            return Ok(known);
        }
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.insert(0, Arc::clone(&data));
        tables.truncate(MOST);
        Ok(data)
    }

    fn find(&self, dataset: &Dataset) -> Option<Arc<TableData>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let place = tables.iter().position(|data| data.dataset.as_deref() == Some(dataset))?;
        tables[..=place].rotate_right(1);
        tables.first().cloned()
    }
}

#[cfg(test)]
mod tests {
    use docvalues::prelude::*;

    use super::*;

    #[test]
    fn the_datasets_that_were_used_last_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        let datasets: Vec<_> = (0..MOST + 1)
            .map(|number| {
                let path = folder.path().join(format!("{number}.dv"));
                let mut schema = Schema::new();
                schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
                let writer = SegmentWriter::in_memory(schema, WriterOptions::default());
                std::fs::write(&path, writer.finish_bytes().unwrap()).unwrap();
                Dataset::of_files([path]).unwrap()
            })
            .collect();
        let (opened, context) = (OpenedTables::default(), TaskContext::default());
        let first = opened.open(datasets[0].clone(), &context).unwrap();
        datasets[1..MOST].iter().for_each(|dataset| drop(opened.open(dataset.clone(), &context).unwrap()));
        assert!(Arc::ptr_eq(&opened.open(datasets[0].clone(), &context).unwrap(), &first));
        opened.open(datasets[MOST].clone(), &context).unwrap();
        assert!(opened.find(&datasets[0]).is_some() && opened.find(&datasets[1]).is_none());
        // It stays as it is, whatever becomes of the file.
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(opened.open(datasets[0].clone(), &context).is_ok());
        assert!(opened.open(datasets[1].clone(), &context).is_err());
    }
}
