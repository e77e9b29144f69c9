//! Tables that other processes can open, and their scans as requests.

use std::sync::Arc;

use datafusion_common::Result;
#[cfg(feature = "proto")]
use datafusion_common::{DataFusionError, plan_err};
use docvalues::store::Dataset;
#[cfg(feature = "proto")]
use docvalues::{search::Query, store::ScanRequest};

use crate::error::external;
#[cfg(feature = "proto")]
use crate::scan::DocvaluesScan;
#[cfg(feature = "proto")]
use crate::selection::{Selection, Wanted};
use crate::table::DocvaluesTable;
#[cfg(feature = "proto")]
use crate::table_data::TableData;

impl DocvaluesTable {
    /// A table of the documents of a dataset. Unlike others, it can be sent to other processes that see the same files: see
    /// `DocvaluesCodec`, with the feature `proto`.
    ///
    /// ```
    /// # use docvalues::prelude::*;
    /// use docvalues::store::Dataset;
    /// use docvalues_datafusion::DocvaluesTable;
    ///
    /// # let mut schema = Schema::new();
    /// # schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits.dv");
    /// # std::fs::write(&path, SegmentWriter::in_memory(schema, WriterOptions::default()).finish_bytes()?)?;
    /// let table = DocvaluesTable::of_dataset(Dataset::of_files([&path])?)?;
    /// assert!(table.dataset().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Dataset::open`] and [`new`](Self::new).
    pub fn of_dataset(dataset: Dataset) -> Result<DocvaluesTable> {
        let table = DocvaluesTable::new(&dataset.open().map_err(external)?)?;
        Ok(table.map(|data| data.dataset = Some(Arc::new(dataset))))
    }

    /// The dataset that the table was opened from, if it was.
    pub fn dataset(&self) -> Option<&Dataset> {
        self.data.dataset.as_deref()
    }
}

#[cfg(feature = "proto")]
impl TableData {
    /// A request for all rows of the table.
    pub(crate) fn request(&self) -> Result<ScanRequest> {
        if self.has_places {
            return plan_err!(
                "expected a table that can be sent, found one with `_part` and `_doc`: leave out `with_places`"
            );
        }
        let Some(dataset) = &self.dataset else {
            return plan_err!(
                "expected a table that can be sent, found one of opened segments: make it by `DocvaluesTable::of_dataset`"
            );
        };
        let columns = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(ScanRequest {
            dataset: (**dataset).clone(),
            columns,
            query: Query::All,
            limit: None,
            partitions: 1,
        })
    }
}

#[cfg(feature = "proto")]
impl DocvaluesScan {
    /// A request for the rows of this scan, without its dynamic filters: operators above it leave out what these would.
    pub(crate) fn request(&self) -> Result<ScanRequest> {
        let Selection { data, wanted, columns, limit, .. } = &self.selection;
        let all = data.request()?;
        self.refuse_ords()?;
        let too_many = |error| DataFusionError::Plan(format!("expected fewer partitions: {error}"));
        Ok(ScanRequest {
            columns: columns.iter().map(|column| all.columns[*column].clone()).collect(),
            query: wanted.query.clone(),
            limit: limit.map(|limit| limit as u64),
            partitions: u32::try_from(self.target_partitions).map_err(too_many)?,
            ..all
        })
    }

    /// Refuses a scan of ords, which a request does not have.
    fn refuse_ords(&self) -> Result<()> {
        if !self.selection.ords.is_empty() {
            return plan_err!(
                "expected a scan that can be sent, found one of ords: leave out the rule `GroupByOrds`"
            );
        }
        Ok(())
    }

    /// The rows of this scan, with a partition for each part and without its dynamic filters.
    pub(crate) fn by_part(&self) -> Result<DocvaluesScan> {
        self.refuse_ords()?;
        let Selection { data, wanted, columns, limit, .. } = &self.selection;
        DocvaluesScan::new(Arc::clone(data), wanted.clone(), columns.clone(), *limit, 0)
    }

    /// The scan of a request. It has the partitions of the scan that the request was made of.
    pub(crate) fn of_request(data: Arc<TableData>, request: ScanRequest) -> Result<DocvaluesScan> {
        let columns = request.columns.iter().map(|name| Ok(data.schema.index_of(name)?));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let wanted = Wanted { query: request.query, places: None };
        // A limit beyond memory is none.
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
        DocvaluesScan::new(data, wanted, columns, limit, request.partitions as usize)
    }
}
