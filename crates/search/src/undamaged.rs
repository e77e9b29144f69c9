//! [`Parts::search_undamaged`]: an answer from the parts that can be read.

use std::sync::Arc;

use docvalues_column::{Part, PlainSource};

use crate::engine::{PartChange, Parts};
use crate::error::{Error, PartError, Result};

impl Parts {
    /// Calls `search` with these parts and, as long as the bytes of one are damaged or cannot be read, again with
    /// that part empty. Returns the first answer, and the errors of the parts that were left out.
    ///
    /// Addresses in the answer stay those of this set. `search` must take its documents from the parts that it is
    /// given.
    ///
    /// # Errors
    ///
    /// All others of `search`, and the last error if no part can be read.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use docvalues_column::{Column, ColumnSource, ErrorKind, Field, Kind, LogicalType, Part, Result};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// # struct Damaged;
    /// # impl ColumnSource for Damaged {
    /// #     fn docs(&self) -> u32 { 7 }
    /// #     fn fields(&self) -> Result<Vec<Field>> { Ok(Vec::new()) }
    /// #     fn column(&self, _: &str) -> Result<Arc<dyn Column>> {
    /// #         Err(ErrorKind::Source { name: "b.dv".into(), source: "bad checksum".into() }.into())
    /// #     }
    /// # }
    /// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
    /// # let source = MemSource::new(2, [(field, ModelColumn::Numeric(vec![Some(512), Some(9)]))]);
    /// # let (whole, damaged) = (Part::new(source), Part::new(Damaged));
    /// use docvalues_search::{Parts, Query, Search};
    ///
    /// let parts = Parts::new([whole, damaged]);
    /// let large = Query::range("size", 50..);
    /// assert!(Search::over(&parts).count(&large).is_err());
    ///
    /// let (count, left_out) = parts.search_undamaged(|parts| Search::over(parts).count(&large))?;
    /// assert_eq!(count, 1);
    /// assert_eq!((left_out[0].part(), left_out[0].to_string()), (1, "b.dv: bad checksum".to_owned()));
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn search_undamaged<T>(
        &self,
        mut search: impl FnMut(&Parts) -> Result<T>,
    ) -> Result<(T, Vec<PartError>)> {
        let (mut parts, mut left_out) = (self.clone(), Vec::new());
        loop {
            match search(&parts) {
                Err(Error::Part(error)) if error.is_of_bytes() && left_out.len() + 1 < self.len() => {
                    let empty = PlainSource::new(Arc::default(), Arc::default());
                    parts = parts.with_change(error.part(), PartChange::Added(Part::new(empty)));
                    left_out.push(*error);
                }
                answer => return Ok((answer?, left_out)),
            }
        }
    }
}
