//! The identity of a file: whether a name is still that of a file that is open.

use std::fs::File;
use std::io;
use std::path::Path;

/// The device and the inode of a file; on Windows, its volume and index.
pub(super) type Inode = (u64, u64);

/// Whether `path` names the file with this inode.
pub(super) fn is_named(ours: Inode, path: &Path) -> io::Result<bool> {
    match named(path) {
        Ok(found) => Ok(found == ours),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(unix)]
pub(super) fn inode(file: &File) -> io::Result<Inode> {
    file.metadata().map(|found| of(&found))
}

/// The inode of the file that `path` names.
#[cfg(unix)]
fn named(path: &Path) -> io::Result<Inode> {
    std::fs::symlink_metadata(path).map(|found| of(&found))
}

#[cfg(unix)]
fn of(found: &std::fs::Metadata) -> Inode {
    use std::os::unix::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

/// An open file can be renamed there, too: the standard library opens it so.
#[cfg(windows)]
pub(super) fn inode(file: &File) -> io::Result<Inode> {
    let found = winapi_util::file::information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

#[cfg(windows)]
fn named(path: &Path) -> io::Result<Inode> {
    inode(&File::open(path)?)
}

/// Other systems do not tell files apart.
#[cfg(not(any(unix, windows)))]
pub(super) fn inode(_: &File) -> io::Result<Inode> {
    Ok((0, 0))
}

#[cfg(not(any(unix, windows)))]
fn named(path: &Path) -> io::Result<Inode> {
    std::fs::symlink_metadata(path).map(|_| (0, 0))
}
