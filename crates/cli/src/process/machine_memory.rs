//! The memory of the machine.

use std::fs;
use std::path::Path;

/// The bytes of memory that this process may use: those of the machine, or of its cgroup if that has less. `None` on systems
/// other than Linux.
pub(crate) fn machine_memory() -> Option<u64> {
    below(Path::new("/"))
}

/// [`machine_memory`] with the system's files in the folder `root`.
fn below(root: &Path) -> Option<u64> {
    let of_machine = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| total(&text));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let of_groups = groups.lines().filter_map(|line| of_group(root, line));
    of_machine.into_iter().chain(of_groups).min()
}

/// The total of a `/proc/meminfo`, which counts in KiB.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The limit of a cgroup and of those around it, from a line such as `4:memory:/a/b`, or `0::/a/b` of version 2.
fn of_group(root: &Path, line: &str) -> Option<u64> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (folder, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        "memory" => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    let folder = root.join(folder);
    // In a container, some of the folders may be missing. A group without a limit has the text `max`.
    let limit =
        |group: &Path| fs::read_to_string(folder.join(group).join(file)).ok()?.trim().parse::<u64>().ok();
    Path::new(path.trim_start_matches('/')).ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_the_machine_and_its_groups() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(below(root.path()), None);
        write("proc/meminfo", "MemFree:   7 kB\nMemTotal:       24684084 kB\nSwapTotal: 0 kB\n");
        assert_eq!(below(root.path()), Some(24_684_084 * 1024));
        write("proc/self/cgroup", "5:cpu:/c\n4:memory:/a/b\n0::/d/e\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("sys/fs/cgroup/d/e/memory.max", "max\n");
        write("sys/fs/cgroup/cpu/c/memory.max", "1\n");
        assert_eq!(below(root.path()), Some(24_684_084 * 1024));
        write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "4096000\n");
        assert_eq!(below(root.path()), Some(4_096_000));
        write("sys/fs/cgroup/d/memory.max", "2048000\n");
        assert_eq!(below(root.path()), Some(2_048_000));
    }
}
