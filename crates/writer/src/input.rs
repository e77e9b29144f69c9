//! Documents into the buffers of fields, one at a time or in batches of columns: all or nothing of each.
//!
//! Input knows buffers, and of the encoders only the sample that decides whether byte strings are interned. It does not
//! know how a segment is sorted and written.
//!
//! | module | contents |
//! | --- | --- |
//! | `document`, `column_batch` | the builders of a document and of a batch |
//! | `field_buffers` | the buffers of all fields, with commit and rollback |
//! | `input_column` | a column of a batch, checked and copied run by run |
//! | `check_value` | checks of values against the type of their field |

mod check_value;
mod column_batch;
mod document;
mod field_buffers;
mod input_column;

pub use check_value::MAX_VALUE;
pub(crate) use check_value::{check_bytes, check_number};
pub use column_batch::ColumnBatch;
pub use document::Document;
pub(crate) use field_buffers::FieldBuffers;
pub(crate) use input_column::{Bytes, InputColumn};
