//! File names that are accepted, and names that are refused.

use super::*;

#[test]
fn names_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    for path in [Path::new(""), Path::new("/"), Path::new(".."), folder.path()] {
        let error = AtomicFile::create(path).unwrap_err();
        assert_eq!((error.step(), error.io_error().kind()), (Step::Create, io::ErrorKind::InvalidInput));
    }
    for slashed in ["a.dv/", "a.dv/.", "missing/a.dv//"] {
        let error = AtomicFile::create(folder.path().join(slashed)).unwrap_err();
        assert!(error.to_string().ends_with("this names a folder"), "{error}");
    }
    let nowhere = folder.path().join("missing/a.dv");
    let error = AtomicFile::create(&nowhere).unwrap_err();
    assert_eq!(error.path(), nowhere);
    assert!(error.to_string().starts_with(&format!("cannot create \"{}\": ", nowhere.display())), "{error}");
    // What is in the way is named.
    let taken = folder.path().join(".a.dv.tmp");
    fs::create_dir(&taken).unwrap();
    assert_eq!(AtomicFile::create(folder.path().join("a.dv")).unwrap_err().path(), taken);
    fs::remove_dir(&taken).unwrap();
    assert!(contents(folder.path()).is_empty());
}

#[test]
fn a_bare_name_lies_in_the_current_folder() {
    let name = format!("docvalues-test-{}.dv", std::process::id());
    let file = AtomicFile::create(&name).unwrap();
    assert!(Path::new(&format!(".{name}.tmp")).exists());
    drop(file);
    assert!(!Path::new(&format!(".{name}.tmp")).exists());
}

/// At once, and not when the first bytes leave the memory. Windows counts otherwise.
#[cfg(unix)]
#[test]
fn a_name_that_is_too_long_for_its_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    for (len, step) in
        [(248, None), (249, Some(Step::Remove)), (250, Some(Step::Remove)), (251, Some(Step::Create))]
    {
        let created = AtomicFile::create(folder.path().join("n".repeat(len)));
        assert_eq!(created.err().map(|error| error.step()), step, "{len} bytes");
        assert!(contents(folder.path()).is_empty());
    }
}

#[cfg(unix)]
#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn what_is_no_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, link) = (folder.path().join("socket"), folder.path().join("link"));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    for path in [&socket, &link, Path::new("/dev/null")] {
        let error = AtomicFile::create(path).unwrap_err();
        assert_eq!((error.step(), error.path()), (Step::Create, path));
        assert!(error.to_string().ends_with("something that is no file has this name"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_not_what_it_points_to() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("a.dv"), folder.path().join("file"));
    for points_somewhere in [false, true] {
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink("file", &path).unwrap();
        if points_somewhere {
            fs::write(&file, "other").unwrap();
        }
        let mut new = AtomicFile::create(&path).unwrap();
        new.append(b"new").unwrap();
        new.commit().unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!((file.exists(), fs::read(&path).unwrap()), (points_somewhere, b"new".to_vec()));
    }
    assert_eq!(fs::read(&file).unwrap(), b"other");
}

/// A read-only folder is not written even by its owner; only by root, who may do anything.
#[cfg(unix)]
#[test]
#[cfg_attr(miri, ignore = "Miri sets no permissions")]
fn a_folder_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.path().join("of root"), "").is_ok() {
        println!("SKIPPED: this user may write everywhere");
        return;
    }
    let error = AtomicFile::create(folder.path().join("a.dv")).unwrap_err();
    assert_eq!((error.step(), error.io_error().kind()), (Step::Create, io::ErrorKind::PermissionDenied));
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_temporary_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join(".a.dv.tmp")).unwrap();
    let error = AtomicFile::create(folder.path().join("a.dv")).unwrap_err();
    assert_eq!((error.step(), error.io_error().kind()), (Step::Create, io::ErrorKind::AlreadyExists));
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}
