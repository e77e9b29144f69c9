//! [`ScanParts`]: the parts of a scan, for engines that choose which process reads a file.

use std::sync::Arc;

use datafusion_common::{Result, plan_err};
use datafusion_physical_plan::ExecutionPlan;
use docvalues::store::Dataset;

use crate::scan::DocvaluesScan;
use crate::sliced::SlicedScan;

/// The parts of a scan: the files of its table, or the segments of its commit. [`DocvaluesCodec`](crate::DocvaluesCodec) can
/// send the scan, and scans of some of the parts.
#[derive(Clone, Copy, Debug)]
pub struct ScanParts<'p> {
    scan: &'p DocvaluesScan,
    dataset: &'p Dataset,
}

impl<'p> ScanParts<'p> {
    /// The parts of `plan`; `None` if it is no scan, or one that cannot be sent.
    pub fn of(plan: &'p Arc<dyn ExecutionPlan>) -> Option<ScanParts<'p>> {
        let scan: &DocvaluesScan = plan.downcast_ref()?;
        let dataset = scan.selection.data.dataset.as_deref()?;
        scan.request().ok().map(|_| ScanParts { scan, dataset })
    }

    /// The files or the commit.
    pub fn dataset(&self) -> &'p Dataset {
        self.dataset
    }

    /// The number of documents in each part, deleted or not.
    pub fn docs(&self) -> &'p [u32] {
        &self.scan.selection.data.docs
    }

    /// A scan with one partition for each list, which reads the parts of the list. Lists may be empty.
    ///
    /// # Errors
    ///
    /// If there is no such part.
    pub fn read(&self, partitions: &[Vec<usize>]) -> Result<Arc<dyn ExecutionPlan>> {
        let parts = self.docs().len();
        if let Some(part) = partitions.iter().flatten().find(|part| **part >= parts) {
            return plan_err!("expected a part below {parts}, found {part}");
        }
        Ok(Arc::new(SlicedScan::of(self.scan.by_part()?, partitions)?))
    }
}
