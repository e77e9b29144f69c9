//! [`ScanMetrics`]: the counters of a scan in `explain analyze`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use datafusion_physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use docvalues::column::Pruning;
use docvalues::search::Parts;

/// The counters of a partition.
pub(crate) struct ScanMetrics {
    /// Documents that a filter was evaluated for.
    pub(crate) visited: Count,
    /// Documents that are returned.
    pub(crate) matched: Count,
    zones_skipped: Count,
    bytes_touched: Count,
    counted: CountedBytes,
}

/// The bytes of each part that are in `bytes_touched` of some partition, or were touched before the scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedBytes(Arc<OnceLock<Vec<AtomicU64>>>);

impl ScanMetrics {
    pub(crate) fn new(
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        parts: &Parts,
        counted: &CountedBytes,
    ) -> ScanMetrics {
        // The first partition leaves out what was touched before.
        let touched = |part| AtomicU64::new(parts.source(part).bytes_touched());
        counted.0.get_or_init(|| (0..parts.len()).map(touched).collect());
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        ScanMetrics {
            visited: counter("docs_visited"),
            matched: counter("docs_matched"),
            zones_skipped: counter("zones_skipped"),
            bytes_touched: counter("bytes_touched"),
            counted: counted.clone(),
        }
    }

    /// Adds the zones and blocks of a window whose bounds excluded them.
    pub(crate) fn add_pruning(&self, pruned: &Pruning) {
        let skipped = pruned.zones.none + pruned.fine_zones.none + pruned.blocks.none;
        self.zones_skipped.add(usize::try_from(skipped).unwrap_or(usize::MAX));
    }

    /// Adds the bytes of a part that were touched since any partition called this.
    pub(crate) fn add_bytes(&self, parts: &Parts, part: usize) {
        let Some(counted) = self.counted.0.get().and_then(|parts| parts.get(part)) else { return };
        let touched = parts.source(part).bytes_touched();
        let more = touched.saturating_sub(counted.fetch_max(touched, Ordering::Relaxed));
        self.bytes_touched.add(usize::try_from(more).unwrap_or(usize::MAX));
    }
}
