//! Readings of the process and of its threads. Where the system has no `/proc`, they are 0.

use std::fs;
use std::time::Duration;

/// The CPU time of the process, in seconds.
pub fn cpu() -> f64 {
    time(rustix::time::ClockId::ProcessCPUTime)
}

/// The CPU time of this thread, in seconds.
pub fn thread_cpu() -> f64 {
    time(rustix::time::ClockId::ThreadCPUTime)
}

fn time(clock: rustix::time::ClockId) -> f64 {
    Duration::try_from(rustix::time::clock_gettime(clock)).unwrap_or_default().as_secs_f64()
}

/// The seconds for which this thread was ready to run, and no core was free.
pub fn waited() -> f64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = times.split_whitespace().nth(1).and_then(|time| time.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e9
}

/// A line of `/proc/self/status` in MiB, such as `VmHWM`.
pub fn mib(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = value.and_then(|value| value.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// The number of mappings, of which Linux allows 65,530 by default.
pub fn maps() -> usize {
    fs::read_to_string("/proc/self/maps").unwrap_or_default().lines().count()
}

/// The page faults so far: those that the page cache answered, and those that waited for the disk.
pub fn faults() -> [u64; 2] {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces. The state is the next field, the third.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map_or(Vec::new(), |(_, fields)| fields.split_whitespace().collect());
    [10, 12].map(|field| fields.get(field - 3).and_then(|count| count.parse().ok()).unwrap_or_default())
}

/// The number of threads.
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The number of open files, of which a process often may have 1,024.
pub fn handles() -> usize {
    // One is the folder that is read.
    fs::read_dir("/proc/self/fd").map_or(0, |handles| handles.count().saturating_sub(1))
}
