//! Runs a query in DataFusion, and prints batches as they come.

use std::fs;
use std::iter;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use datafusion::arrow::array::{AsArray as _, RecordBatch};
use datafusion::arrow::error::ArrowError;
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, SchemaError, TableReference};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::common::spawn_buffered;
use datafusion::prelude::{SessionConfig, SessionContext};
use docvalues_datafusion::{DocvaluesTable, GroupByOrds, functions};
use futures::StreamExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::{hints, raw_files};
use crate::answer::batch_rows::BatchRows;
use crate::answer::rows::{RecordFormat, usual_format};
use crate::api::{Error, SearchError};
use crate::args::sql::SqlArgs;
use crate::console::Console;
use crate::console::destination::refuse_input;
use crate::error::{CliError, Exit, Result};
use crate::open::sql_tables::{self, SqlTable, TableData};
use crate::open::{OpenSegment, Opener, Segments, files};
use crate::process::end_signal::EndSignal;
use crate::process::machine_memory::machine_memory;
use crate::process::temporary::Temporary;

/// The columns of the places of rows.
const PLACES: [&str; 2] = ["_part", "_doc"];

/// Batches that are computed before the ones before them are printed.
const AHEAD: usize = 2;

/// A signal ends a wait for a batch after this time at the latest.
const TURN: Duration = Duration::from_millis(50);

/// The time for threads to stop after an early end, so that temporary files are removed.
const PATIENCE: Duration = Duration::from_secs(1);

/// The attempts to remove a folder.
const ATTEMPTS: usize = 10;

pub(super) fn run(args: &SqlArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let query = match args.query.as_str() {
        "-" => files::text("-", "write the query to standard input, or as an argument")?.1,
        query => query.to_owned(),
    };
    let tables = sql_tables::open(opener, &args.tables)?;
    if let Some(output) = &args.output {
        let of_query = (args.query == "-").then(|| PathBuf::from("-"));
        let of_tables = tables.iter().flat_map(|table| match &table.data {
            TableData::Files(_, files) => files.as_slice(),
            TableData::Segments(_) => &[][..],
        });
        refuse_input(&of_query.into_iter().chain(of_tables.cloned()).collect::<Vec<_>>(), output)?;
    }
    let threads = args.threads.map_or_else(|| available_parallelism().map_or(1, NonZero::get), usize::from);
    let signal = EndSignal::watch()?;
    let runtime = Builder::new_multi_thread().worker_threads(threads).enable_time().build();
    let runtime = runtime.map_err(|error| CliError::failed(format!("threads: {error}")))?;
    // Else they would be in each `select *`.
    let has_places = names_places(&query);
    let mut spilled = None;
    let result = context(&runtime, &tables, has_places, threads, args.memory).and_then(|context| {
        let disk = context.runtime_env().disk_manager.clone();
        spilled = Some(Temporary::new(move || remove_folders(&disk.temp_dir_paths())));
        let engine = Engine { runtime: &runtime, context, tables: &tables, signal };
        engine.answer(&query, (args.format, args.output.as_deref()), console)
    });
    runtime.shutdown_timeout(PATIENCE);
    drop(spilled);
    result
}

/// Half of the memory that this process may use.
fn half_of_machine() -> Option<usize> {
    machine_memory().map(|bytes| usize::try_from(bytes / 2).unwrap_or(usize::MAX))
}

/// Removes folders in which threads may still create files. Errors are ignored: the answer is not wrong if a file stays.
fn remove_folders(folders: &[PathBuf]) {
    for folder in folders {
        let _ = (0..ATTEMPTS).any(|_| fs::remove_dir_all(folder).is_ok());
    }
}

/// A session in which each table is registered; `memory` is its limit, if not the default.
fn context(
    runtime: &Runtime,
    tables: &[SqlTable],
    has_places: bool,
    threads: usize,
    memory: Option<usize>,
) -> Result<SessionContext> {
    // DataFusion makes filters of `min` and `max` that can be false for rows that others of these functions want.
    let of_aggregates = "datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown";
    let config = SessionConfig::new().with_target_partitions(threads).with_information_schema(true);
    let config = config.set_bool(of_aggregates, false);
    let env = RuntimeEnvBuilder::new();
    let env = match memory.or_else(half_of_machine) {
        Some(bytes) => env.with_memory_limit(bytes, 1.0),
        None => env,
    };
    let state = SessionStateBuilder::new().with_default_features().with_config(config);
    let state = state.with_runtime_env(env.build_arc()?).with_physical_optimizer_rule(Arc::new(GroupByOrds));
    let context = SessionContext::new_with_state(state.build());
    functions().into_iter().for_each(|function| context.register_udf(function));
    for table in tables {
        let name = TableReference::bare(table.name.as_str());
        let provider: Arc<dyn TableProvider> = match &table.data {
            TableData::Segments(segments) => Arc::new(provider(segments, has_places)?),
            TableData::Files(format, files) => {
                Arc::new(runtime.block_on(raw_files::table(&context.state(), *format, files))?)
            }
        };
        context.register_table(name, provider)?;
    }
    Ok(context)
}

fn provider(segments: &Segments, has_places: bool) -> Result<DocvaluesTable> {
    let provider = DocvaluesTable::new(&segments.parts()).map_err(|error| match error {
        DataFusionError::External(cause) => match cause.downcast::<SearchError>() {
            // It names files instead of parts.
            Ok(cause) => segments.failure(*cause),
            Err(cause) => DataFusionError::External(cause).into(),
        },
        error => CliError::from(error),
    })?;
    let has_name = |name: &&str| provider.schema().index_of(name).is_ok();
    let has_places = has_places && !PLACES.iter().any(has_name);
    Ok(if has_places { provider.with_places()? } else { provider })
}

/// Whether a query has an identifier that is the name of a column of places.
fn names_places(query: &str) -> bool {
    hints::words(query).iter().any(|word| match word.quote_style {
        None => PLACES.contains(&word.value.to_lowercase().as_str()),
        Some(_) => PLACES.contains(&word.value.as_str()),
    })
}

struct Engine<'r> {
    runtime: &'r Runtime,
    context: SessionContext,
    tables: &'r [SqlTable],
    signal: EndSignal,
}

impl Engine<'_> {
    fn answer(
        &self,
        query: &str,
        (format, output): (Option<RecordFormat>, Option<&Path>),
        console: &mut Console<'_>,
    ) -> Result<Exit> {
        let plan = self.runtime.block_on(self.context.state().create_logical_plan(query));
        let plan = plan.map_err(|error| hints::unplanned(error, query, self.tables))?;
        let reads =
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        reads.verify_plan(&plan).map_err(|error| {
            CliError::usage(format!("expected a query that only reads ({})", error.message()))
                .hint("`dv put`, `dv set` and `dv rm` change a store")
        })?;
        let is_text = format.is_none() && matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
        // Rows are no text.
        let format = if is_text { None } else { RecordFormat::chosen(false, format, output, "")? };
        let stream = async { self.context.execute_logical_plan(plan).await?.execute_stream().await };
        let stream = self.runtime.block_on(stream)?;
        if is_text {
            return self.each(stream, |batch| print_plans(batch, console));
        }
        let format = format.unwrap_or_else(|| usual_format(console));
        let mut rows = BatchRows::begin(stream.schema(), format, console)?;
        let exit = self.each(stream, |batch| rows.print(batch, console))?;
        rows.finish(console)?;
        Ok(exit)
    }

    /// Calls `print` with each batch, until a signal asks to end.
    fn each(
        &self,
        stream: SendableRecordBatchStream,
        mut print: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<Exit> {
        let mut stream = {
            let _entered = self.runtime.enter();
            spawn_buffered(stream, AHEAD)
        };
        loop {
            if let Some(exit) = self.signal.exit() {
                return Ok(exit);
            }
            match self.runtime.block_on(async { timeout(TURN, stream.next()).await }) {
                Err(_) => {}
                Ok(None) => return Ok(Exit::Ok),
                Ok(Some(batch)) => print(&batch.map_err(|error| self.failure(error))?)?,
            }
        }
    }

    /// An error of a query that runs, with the file of the value that it is about, if that is known.
    fn failure(&self, error: DataFusionError) -> CliError {
        let value = causes(&error).find_map(|cause| {
            let search = cause.downcast_ref::<SearchError>()?;
            matches!(search.inner(), SearchError::Value { .. }).then(|| search.part().unwrap_or(0))
        });
        let file = match self.tables {
            [SqlTable { data: TableData::Segments(segments), .. }] => {
                value.and_then(|part| segments.all().get(part)).map(OpenSegment::file)
            }
            _ => None,
        };
        let is_raw = |table: &SqlTable| matches!(table.data, TableData::Files(..));
        let is_of_text = matches!(error.find_root(), DataFusionError::ArrowError(cause, _)
            if matches!(**cause, ArrowError::ParseError(_) | ArrowError::CsvError(_) | ArrowError::JsonError(_)));
        let failure = CliError::from(error);
        if is_of_text && self.tables.iter().any(is_raw) {
            return failure.hint(raw_files::OF_TYPES);
        }
        match file {
            Some(file) => CliError { message: format!("{file}: {}", failure.message), ..failure },
            None => failure,
        }
    }
}

/// Prints plans line by line, each below its kind.
fn print_plans(batch: &RecordBatch, console: &mut Console<'_>) -> Result<()> {
    let [kinds, plans] = [0, 1].map(|column| batch.column(column).as_string::<i32>());
    for (kind, plan) in kinds.iter().zip(plans) {
        writeln!(console.out, "{}", kind.unwrap_or_default())?;
        for line in plan.unwrap_or_default().lines() {
            writeln!(console.out, "  {line}")?;
        }
    }
    Ok(())
}

/// An error and its causes.
fn causes(error: &DataFusionError) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    iter::successors(Some(error as &(dyn std::error::Error + 'static)), |cause| cause.source())
}

/// A query failed.
impl From<DataFusionError> for CliError {
    fn from(error: DataFusionError) -> CliError {
        let of_segment = causes(&error).find_map(|cause| {
            let search = cause.downcast_ref::<SearchError>().map(|search| match search.inner() {
                SearchError::Column(error) => CliError::from(error),
                search => CliError::failed(search.to_string()),
            });
            search.or_else(|| cause.downcast_ref::<Error>().map(CliError::from))
        });
        if let Some(failure) = of_segment {
            return failure;
        }
        match error.find_root() {
            DataFusionError::SQL(error, _) => CliError::usage(error.to_string()),
            DataFusionError::Plan(message) => CliError::usage(message),
            DataFusionError::SchemaError(error, _) => match &**error {
                SchemaError::FieldNotFound { field, valid_fields } => {
                    hints::no_column(field.name(), valid_fields)
                }
                error => CliError::usage(error.to_string()),
            },
            root @ DataFusionError::NotImplemented(_) => CliError::usage(root.to_string()),
            DataFusionError::ResourcesExhausted(message) => {
                // The lines before list who has memory.
                let last = message.lines().last().unwrap_or_default();
                CliError::failed(last.trim_start_matches("Error: "))
                    .hint("raise --memory, or use fewer --threads, each of which takes memory for each step")
            }
            root => CliError::failed(root.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::MemoryLimit;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn half_of_the_memory_is_the_default() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let limit = |memory| {
            let context = context(&runtime, &[], false, 1, memory).unwrap();
            match context.runtime_env().memory_pool.memory_limit() {
                MemoryLimit::Finite(bytes) => bytes,
                _ => usize::MAX,
            }
        };
        assert_eq!(limit(Some(1 << 20)), 1 << 20);
        assert_eq!(limit(None), usize::try_from(machine_memory().unwrap() / 2).unwrap());
    }
}
