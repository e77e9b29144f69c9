//! Errors of docvalues as those of DataFusion.

use datafusion_common::DataFusionError;

/// An error of docvalues as one of DataFusion.
pub(crate) fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
