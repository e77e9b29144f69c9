//! A second import of the same inputs, after a value that does not fit the type of the sample.

use super::error::Result;
use super::{Import, ImportOptions};

impl Import {
    /// Whether the import failed at a value that does not fit the type of the sample, and can begin again with types that
    /// fit all rows.
    ///
    /// A pipe cannot be read again. To go on with it, the writer would have to convert the values that it has, of which some
    /// may be in a temporary file.
    pub(crate) fn can_widen(&self) -> bool {
        self.options.widens && self.has_misfit && self.inputs.iter().all(|input| input.source.is_replayable())
    }

    /// Begins again, with types that are inferred from all rows. One pass finds them for all columns, however many have
    /// values that do not fit.
    ///
    /// # Errors
    ///
    /// Those of [`Import::prepare`].
    pub(crate) fn with_all_rows(self) -> Result<Import> {
        let types = self.columns.into_iter().filter_map(|column| Some((column.name, column.ty?)));
        let sources = self.inputs.into_iter().map(|input| input.source).collect();
        let options = ImportOptions { sample: u64::MAX, widens: false, ..self.options };
        Import::prepare_after(sources, options, &types.collect())
    }
}
