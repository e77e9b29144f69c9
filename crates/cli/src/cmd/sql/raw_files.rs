//! Tables of CSV, TSV, NDJSON and Parquet files, which DataFusion reads.

use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SessionState;
use futures::TryStreamExt as _;

use crate::error::{CliError, Result};
use crate::open::sql_tables::RawFormat;
use crate::text::quoting::hex;

/// The rows of text from which types are inferred.
const SAMPLE: usize = 100_000;

/// The hint for text that does not have its type.
pub(super) const OF_TYPES: &str = "types of CSV and NDJSON are those of the first 100,000 rows; `dv build` \
                                   makes a segment whose types hold all of them";

/// The table of some files, at least one. Its columns are those of all of them, by name.
pub(super) async fn table(
    state: &SessionState,
    format: RawFormat,
    files: &[PathBuf],
) -> Result<ListingTable> {
    let is_csv = matches!(format, RawFormat::Csv | RawFormat::Tsv);
    let format = reader(format)?;
    let urls = files.iter().map(|file| url(file)).collect::<Result<Vec<_>, _>>()?;
    let mut schemas = Vec::with_capacity(files.len());
    let store = state.runtime_env().object_store(&urls[0])?;
    for url in &urls {
        let listed = url.list_all_files(state, &*store, "").await?.try_collect::<Vec<_>>().await?;
        schemas.push(format.infer_schema(state, &store, &listed).await?);
    }
    // A cell of CSV belongs to a column by its place.
    let is_other = |schema: &SchemaRef| !names(schema).eq(names(&schemas[0]));
    if let Some(other) = schemas.iter().position(is_other).filter(|_| is_csv) {
        let [first, other] = [&files[0], &files[other]].map(|file| file.display());
        return Err(CliError::usage(format!("{other}: expected the columns of \"{first}\", found others"))
            .hint("name it as a table of its own"));
    }
    let schemas = schemas.iter().map(|schema| schema.as_ref().clone());
    let schema = Arc::new(Schema::try_merge(schemas).map_err(DataFusionError::from)?);
    let options = ListingOptions::new(format).with_file_extension("");
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
    Ok(ListingTable::try_new(config.with_schema(schema))?)
}

fn names(schema: &SchemaRef) -> impl Iterator<Item = &String> {
    schema.fields().iter().map(|field| field.name())
}

/// The reader of a format. Fails if it needs the feature `parquet` and that is off.
fn reader(format: RawFormat) -> Result<Arc<dyn FileFormat>> {
    // A quoted cell may have line breaks, so parts of a file cannot be read alone.
    let csv = || CsvFormat::default().with_has_header(true).with_newlines_in_values(true);
    let reader: Arc<dyn FileFormat> = match format {
        RawFormat::Csv => Arc::new(csv().with_schema_infer_max_rec(SAMPLE)),
        RawFormat::Tsv => Arc::new(csv().with_schema_infer_max_rec(SAMPLE).with_delimiter(b'\t')),
        RawFormat::Ndjson => Arc::new(JsonFormat::default().with_schema_infer_max_rec(SAMPLE)),
        #[cfg(feature = "parquet")]
        RawFormat::Parquet => {
            Arc::new(datafusion::datasource::file_format::parquet::ParquetFormat::default())
        }
        #[cfg(not(feature = "parquet"))]
        RawFormat::Parquet => {
            return Err(CliError::failed("this dv was built without support for Parquet")
                .hint("install it from a checkout: cargo install --path crates/cli --features sql,parquet"));
        }
    };
    Ok(reader)
}

/// The URL of a file. Characters are escaped, so that a name is no pattern.
fn url(file: &Path) -> Result<ListingTableUrl> {
    let path = absolute(file).map_err(|error| CliError::file(file.display(), &error))?;
    let text = path.to_str().ok_or_else(|| {
        CliError::usage(format!("{}: expected a path in UTF-8", file.display())).hint("rename the file")
    })?;
    let text = if cfg!(windows) { format!("/{}", text.replace('\\', "/")) } else { text.to_owned() };
    let mut url = "file://".to_owned();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/.-_:".contains(&byte) {
            url.push(byte.into());
        } else {
            url.push('%');
            hex(byte, &mut url);
        }
    }
    Ok(ListingTableUrl::parse(url)?)
}
