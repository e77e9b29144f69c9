//! An executor of Ballista that knows tables of docvalues.

use std::net::IpAddr;
use std::process::ExitCode;

use ballista_executor::executor_process::ExecutorProcessConfig;
use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

/// The examples of the help.
const EXAMPLES: &str = "\
Examples:
  docvalues-executor
  docvalues-executor --scheduler scheduler.example:50050 --bind 0.0.0.0 --name worker1.example --vcores 8

It opens the files of a table under the paths that the client has for them. Anyone who reaches its port can read
results: keep it in a private network.";

/// Runs tasks of queries over segments and stores for a scheduler.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Options {
    /// The scheduler.
    #[arg(long, value_name = "HOST:PORT", default_value = "localhost:50050", value_parser = host_and_port)]
    scheduler: (String, u16),
    /// The address to listen at.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The host name or address by which others reach this machine [default: the address from which the scheduler is reached]
    #[arg(long, value_name = "HOST")]
    name: Option<String>,
    /// The port at which others fetch results.
    #[arg(long, value_name = "PORT", default_value_t = 50051)]
    port: u16,
    /// Partitions that run at once [default: the number of CPUs]
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true)]
    vcores: usize,
    /// The folder for intermediate results [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    work_dir: Option<String>,
    /// The log level: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    parts.ok_or_else(|| format!("expected a host and a port, found \"{text}\""))
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    tracing_subscriber::fmt().with_max_level(options.log).with_writer(std::io::stderr).init();
    let (scheduler_host, scheduler_port) = options.scheduler;
    let config = ExecutorProcessConfig {
        bind_host: options.bind.to_string(),
        external_host: options.name,
        port: options.port,
        scheduler_host,
        scheduler_port,
        scheduler_connect_timeout_seconds: 30,
        vcores: options.vcores,
        work_dir: options.work_dir,
        ..ExecutorProcessConfig::default()
    };
    match docvalues_ballista::run_executor(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("docvalues-executor: {error}");
            ExitCode::FAILURE
        }
    }
}
