//! The log: batches as frames, those that were applied since the last commit, and older ones that are kept for replicas.
//!
//! ```text
//! log-000000c0
//!   0  header    64 bytes
//!  64  frame     56 bytes, a body, and zeros to a multiple of 8
//!      frame     ...
//!      zeros     written ahead of the frames, so that a sync of a frame does not change the length of the file
//!
//! header   0  "dvlg"                            frame    0  "dvfr"
//!          4  version: 1                                 4  length of the body
//!          8  number in the name of the file             8  id of the log
//!         16  id: random                                16  sequence number of the batch
//!         24  epoch                                     24  epoch
//!         32  sequence number of the batch before       32  synced_to: offset in this file below which all
//!             the first one                                 bytes were durable when the frame was written
//!         40  number of the previous log                40  history: a hash of all batches up to this one
//!         48  length of the previous log                48  CRC-32 of the body, its zeros, and the id
//!         56  zero                                      52  CRC-32 of bytes 0 to 52
//!         60  CRC-32 of bytes 0 to 60                   56  body
//! ```
//!
//! All numbers are little-endian. Without a previous log, its number is 2^64 - 1 and its length 0. A log is durable up
//! to its end before the next one is created.
//!
//! # The end of a log
//!
//! A log ends before the first frame that is not whole, such as zeros. After a power loss this is a frame that was
//! not synced. It may be followed by a whole one, as pages reach the disk in any order. So what follows a bad frame at
//! offset *o* tells whether it was lost or damaged:
//!
//! | found | |
//! | --- | --- |
//! | a later frame whose `synced_to` is greater than *o* | damage |
//! | a later log, and the length of this one in its header is greater than *o* | damage |
//! | neither | the end |
//!
//! Two things leave no trace in a last log, and are no error: damage to its last synced frame, which looks like a torn
//! write, and bytes cut off its end. In all other logs, every flipped bit and missing byte
//! before the end is an error.
//!
//! A file that has no header, or whose header names no previous log though it is not the first one, and that has no
//! frames, is passed over: it was being created when a process ended.
//!
//! | module | |
//! | --- | --- |
//! | `frame` | the bytes of headers and frames |
//! | `log_writer` | appends frames; callers share syncs |
//! | `log_source` | reads a log |
//! | `log_reader` | reads the frames of all logs after a commit |
//! | `log_frames` | lists the frames of a store |
//! | `read_after_loss` | reads the frames that follow an older commit than the one that names the logs |
//!
//! Of bodies, which `batch` encodes, a log only knows the histories; it does not know how they are applied.

mod frame;
mod log_file;
mod log_frames;
mod log_reader;
mod log_source;
mod log_writer;
mod read_after_loss;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod tests;

pub(crate) use frame::{FRAME_HEADER, LOG_HEADER, MAX_BODY, Queued, decode_frame};
pub use log_file::LogStats;
pub use log_frames::{FrameInfo, LogFrames};
pub(crate) use log_reader::{LogStart, read_logs_after};
pub(crate) use log_source::LogSource;
pub(crate) use log_writer::LogWriter;
pub(crate) use read_after_loss::{LogBatches, read_logs_after_loss};
