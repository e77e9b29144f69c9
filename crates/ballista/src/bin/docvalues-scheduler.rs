//! A scheduler of Ballista that knows tables of docvalues.

use std::net::SocketAddr;
use std::process::ExitCode;

use ballista_scheduler::config::SchedulerConfig;
use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

/// The examples of the help.
const EXAMPLES: &str = "\
Examples:
  docvalues-scheduler
  docvalues-scheduler --bind 0.0.0.0:50050 --name scheduler.example

Anyone who reaches the port can run queries and read the files of the executors: keep it in a private network.";

/// Plans queries over segments and stores, and hands out their tasks to executors.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Options {
    /// The address to listen at.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
    /// The host name or address by which executors reach this machine.
    #[arg(long, value_name = "HOST", default_value = "localhost")]
    name: String,
    /// Seconds of silence after which an executor counts as lost, at least 7; a busy executor asks every 5.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(7..))]
    executor_timeout: u64,
    /// The log level: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    tracing_subscriber::fmt().with_max_level(options.log).with_writer(std::io::stderr).init();
    let config = SchedulerConfig {
        external_host: options.name,
        executor_timeout_seconds: options.executor_timeout,
        no_executors_grace_period_seconds: options.executor_timeout,
        expire_dead_executor_interval_seconds: options.executor_timeout.div_ceil(4).max(1),
        ..SchedulerConfig::default()
    };
    match docvalues_ballista::run_scheduler(options.bind, config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("docvalues-scheduler: {error}");
            ExitCode::FAILURE
        }
    }
}
