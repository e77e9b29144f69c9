//! A cluster on one machine: a scheduler and executors, each a process.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The longest time for a process to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes, which are killed in the end, also after a panic.
pub(crate) struct Cluster {
    pub(crate) url: String,
    pub(crate) executors: Vec<Process>,
    _scheduler: Process,
    _folder: TempDir,
}

pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

impl Cluster {
    /// A scheduler and `executors` executors, each of which runs `vcores` partitions at once.
    pub(crate) fn start(executors: usize, vcores: usize) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        let ports = free_ports(1 + executors);
        let address = format!("127.0.0.1:{}", ports[0]);
        let scheduler = Process::start(
            env!("CARGO_BIN_EXE_docvalues-scheduler"),
            &["--bind", &address, "--name", "127.0.0.1", "--executor-timeout", "7", "--log", "info"],
            folder.path().join("scheduler.log"),
        );
        scheduler.wait_for(ports[0]);
        let executor = |number: usize| {
            let port = ports[1 + number];
            let work_dir = work_dir(folder.path(), number);
            std::fs::create_dir(&work_dir).unwrap();
            let options = ["--scheduler", &address, "--port", &port.to_string()];
            let more =
                ["--vcores", &vcores.to_string(), "--log", "info", "--work-dir", work_dir.to_str().unwrap()];
            let executor = Process::start(
                env!("CARGO_BIN_EXE_docvalues-executor"),
                &[&options[..], &more].concat(),
                folder.path().join(format!("executor{number}.log")),
            );
            executor.wait_for(port);
            executor
        };
        let executors = (0..executors).map(executor).collect();
        Cluster { url: format!("df://{address}"), executors, _scheduler: scheduler, _folder: folder }
    }
}

impl Process {
    fn start(program: &str, options: &[&str], log: PathBuf) -> Process {
        let out = std::fs::File::create(&log).unwrap();
        let command = Command::new(program)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(out)
            .spawn();
        Process { child: command.unwrap(), log }
    }

    /// Waits until the process listens at `port`.
    fn wait_for(&self, port: u16) {
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(began.elapsed() < PATIENCE, "nothing listens at {port}: {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether an executor ran a task.
    pub(crate) fn has_worked(&self) -> bool {
        self.log().contains("Finished task")
    }

    /// The log of the process.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Ends the process at once, without a chance to say so.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("== {}\n{}", self.log.display(), self.log());
        }
    }
}

fn work_dir(folder: &Path, executor: usize) -> PathBuf {
    folder.join(format!("work{executor}"))
}

fn free_ports(count: usize) -> Vec<u16> {
    // Held together, so that they differ.
    let listeners: Vec<_> =
        (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}
