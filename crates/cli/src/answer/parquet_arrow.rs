//! Writes documents as Parquet or Arrow IPC.

use std::io::Write;
use std::mem;

use arrow_array::RecordBatchReader as _;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::api::{Batches, SearchError};
use crate::error::{CliError, Result};

/// The approximate size of a Parquet row group, which is buffered in memory.
const GROUP_BYTES: usize = 64 << 20;

/// Writes all batches as Parquet.
pub(crate) fn write_parquet(batches: Batches<'_>, out: &mut dyn Write) -> Result<()> {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(zstd).build();
    // Its output must be `Send`, which `out` is not.
    let mut writer = ArrowWriter::try_new(Vec::new(), batches.schema(), Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
        if writer.in_progress_size() >= GROUP_BYTES {
            writer.flush()?;
        }
        out.write_all(&mem::take(writer.inner_mut()))?;
    }
    Ok(out.write_all(&writer.into_inner()?)?)
}

/// Writes all batches in the Arrow file format, with a footer.
pub(crate) fn write_arrow_file(mut batches: Batches<'_>, out: &mut dyn Write) -> Result<()> {
    let mut writer = FileWriter::try_new(out, &batches.schema())?;
    batches.try_for_each(|batch| writer.write(&batch?))?;
    Ok(writer.finish()?)
}

/// Writes all batches in the Arrow stream format.
pub(crate) fn write_arrow_stream(mut batches: Batches<'_>, out: &mut dyn Write) -> Result<()> {
    let mut writer = StreamWriter::try_new(out, &batches.schema())?;
    batches.try_for_each(|batch| writer.write(&batch?))?;
    Ok(writer.finish()?)
}

impl From<ArrowError> for CliError {
    fn from(error: ArrowError) -> CliError {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<SearchError>() {
                Ok(error) => CliError::from(*error),
                Err(error) => CliError::failed(error.to_string()),
            },
            ArrowError::IoError(_, error) => CliError::from(error),
            error => CliError::failed(format!("cannot write Arrow: {error}")),
        }
    }
}

impl From<ParquetError> for CliError {
    fn from(error: ParquetError) -> CliError {
        CliError::failed(format!("cannot write Parquet: {error}"))
    }
}
