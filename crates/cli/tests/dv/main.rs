//! End-to-end tests of `dv`: the program, files, pipes, exit codes.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

#[cfg(feature = "parquet")]
mod arrow;
mod back_up;
mod bad_input;
mod cat_and_sample;
mod compare_with_python;
mod damage;
#[cfg(unix)]
mod delete_a_person;
mod diff;
mod explain;
mod export;
#[cfg(feature = "parquet")]
mod export_parquet;
mod formats;
mod group;
mod head;
#[cfg(unix)]
mod hints;
mod histogram;
mod ids;
mod install;
mod json;
mod late_values;
#[cfg(feature = "lucene")]
mod lucene;
mod merge;
mod notes;
mod odd_cells;
mod overwrite;
mod pages;
mod people_files;
mod pipes;
mod put;
mod put_partial;
mod query_errors;
#[cfg(unix)]
mod readme;
mod replicas;
mod report;
mod round_trip;
mod sandbox;
mod schema;
mod set;
mod several_files;
mod shell;
#[cfg(unix)]
mod shrinking_files;
mod side_files;
mod snapshots;
mod sort;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
mod sql_memory;
mod stats;
mod store;
mod store_edges;
mod store_killed;
#[cfg(unix)]
mod terminal;
mod terms;
mod time_zones;
mod types_round_trip;
#[cfg(target_os = "linux")]
mod unfinished_files;
mod updates;
#[cfg(not(feature = "sql"))]
mod without_sql;
mod zeros;
mod zip;
