//! Writes documents as Parquet or Arrow IPC.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::api::{Batches, SearchError};
use crate::error::CliError;

/// The approximate size of a Parquet row group, which is buffered in memory.
const GROUP_BYTES: usize = 64 << 20;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrowFormat {
    Parquet,
    /// The Arrow file format, with a footer.
    ArrowFile,
    /// The Arrow stream format.
    ArrowStream,
}

/// Writes all batches.
pub(crate) fn write(batches: Batches<'_>, format: ArrowFormat, out: &mut dyn Write) -> Result<(), CliError> {
    let written = Written::default();
    let schema = batches.schema();
    match format {
        ArrowFormat::Parquet => {
            let zstd = Compression::ZSTD(ZstdLevel::default());
            let properties = WriterProperties::builder().set_compression(zstd).build();
            let mut writer = ArrowWriter::try_new(written.clone(), schema, Some(properties))?;
            each(batches, &written, out, |batch| {
                writer.write(batch)?;
                if writer.in_progress_size() >= GROUP_BYTES {
                    writer.flush()?;
                }
                Ok(())
            })?;
            writer.close()?;
        }
        ArrowFormat::ArrowFile => {
            let mut writer = FileWriter::try_new(written.clone(), &schema)?;
            each(batches, &written, out, |batch| Ok(writer.write(batch)?))?;
            writer.finish()?;
        }
        ArrowFormat::ArrowStream => {
            let mut writer = StreamWriter::try_new(written.clone(), &schema)?;
            each(batches, &written, out, |batch| Ok(writer.write(batch)?))?;
            writer.finish()?;
        }
    }
    written.move_to(out)
}

/// Writes each batch by `write`, and moves what was written to `out`.
fn each(
    batches: Batches<'_>,
    written: &Written,
    out: &mut dyn Write,
    mut write: impl FnMut(&RecordBatch) -> Result<(), CliError>,
) -> Result<(), CliError> {
    for batch in batches {
        write(&batch?)?;
        written.move_to(out)?;
    }
    Ok(())
}

/// A buffer between a writer of the libraries, which needs an owned `Send` sink, and the output.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn move_to(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let bytes = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(out.write_all(&bytes)?)
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<ArrowError> for CliError {
    fn from(error: ArrowError) -> CliError {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<SearchError>() {
                Ok(error) => CliError::from(*error),
                Err(error) => CliError::failed(error.to_string()),
            },
            error => CliError::failed(format!("cannot write Arrow: {error}")),
        }
    }
}

impl From<ParquetError> for CliError {
    fn from(error: ParquetError) -> CliError {
        CliError::failed(format!("cannot write Parquet: {error}"))
    }
}
