//! Scans and tables as bytes, for engines that run a plan in several processes.
//!
//! ```text
//! client                  DocvaluesLogicalCodec      a table as its dataset
//! planner                 DocvaluesLogicalCodec      opens the dataset, plans its scans
//!                         DocvaluesCodec             a scan as a request
//! workers                 DocvaluesCodec             open the dataset, scan
//! ```
//!
//! Either begins its own bytes with a tag, followed by a [`ScanRequest`], and leaves all others to the codec within it.

/// The methods of a codec that leave functions to the codec within it.
macro_rules! leave_functions {
    () => {
        leave_functions! {
            ScalarUDF: try_decode_udf, try_encode_udf;
            HigherOrderUDF: try_decode_higher_order_function, try_encode_higher_order_function;
            AggregateUDF: try_decode_udaf, try_encode_udaf;
            WindowUDF: try_decode_udwf, try_encode_udwf;
        }
    };
    ($($function:ident: $decode:ident, $encode:ident;)*) => {$(
        fn $decode(&self, name: &str, bytes: &[u8]) -> Result<Arc<datafusion_expr::$function>> {
            self.inner.$decode(name, bytes)
        }

        fn $encode(&self, function: &datafusion_expr::$function, bytes: &mut Vec<u8>) -> Result<()> {
            self.inner.$encode(function, bytes)
        }
    )*};
}

mod logical;
mod opened;
mod physical;
mod schema;

use arrow::datatypes::Schema;
use datafusion_common::{DataFusionError, Result, plan_datafusion_err};
use docvalues::store::ScanRequest;

pub use logical::DocvaluesLogicalCodec;
pub use physical::DocvaluesCodec;

use crate::error::external;

/// The kind of the bytes after a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Table,
    Scan,
    /// A scan whose partitions a child lists. Its schema precedes the request.
    Sliced,
}

impl Tag {
    const ALL: [Tag; 3] = [Tag::Table, Tag::Scan, Tag::Sliced];

    fn bytes(self) -> &'static [u8] {
        match self {
            Tag::Table => b"docvalues.table\0",
            Tag::Scan => b"docvalues.scan\0",
            Tag::Sliced => b"docvalues.sliced\0",
        }
    }

    /// The tag of `bytes`, and what follows it. `None` if they are of another codec.
    fn of(bytes: &[u8]) -> Option<(Tag, &[u8])> {
        Tag::ALL.into_iter().find_map(|tag| Some((tag, bytes.strip_prefix(tag.bytes())?)))
    }

    fn write(self, schema: Option<&Schema>, request: &ScanRequest, bytes: &mut Vec<u8>) -> Result<()> {
        let request = request.encode().map_err(external)?;
        bytes.extend(self.bytes());
        if let Some(schema) = schema {
            schema::put(schema, bytes)?;
        }
        bytes.extend(request);
        Ok(())
    }

    /// An error of bytes with a tag of the other codec.
    fn misplaced(self) -> DataFusionError {
        plan_datafusion_err!("expected another node than {self:?} in a plan of this kind")
    }
}
