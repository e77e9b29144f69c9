//! Operations of a batch, with their conditions and updates; and the bytes of a batch in the frame of a log.
//!
//! Knows nothing of segments, nor of the files of a log. How a batch is applied is in `write`.

mod arithmetic;
pub(crate) mod body;
mod operation;
mod plain_body;
mod update;
mod write_batch;

pub use arithmetic::Arithmetic;
pub use operation::{Applied, Condition, Outcome};
pub(crate) use operation::{Operation, What};
pub(crate) use update::{Before, Updates};
pub use update::{Change, Update};
pub use write_batch::WriteBatch;
