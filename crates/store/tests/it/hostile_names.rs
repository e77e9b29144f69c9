//! Commits and folders made to lead a store out of its folder: whatever they say, each call names a file of the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use docvalues_storage::{Directory, FsDirectory};
use docvalues_store::error::Result;
use docvalues_store::{Store, StoreOptions, StoreReader};
use docvalues_testkit::faults::{Call, FaultyDirectory};
use serde_json::{Value, json};

use crate::fixture::{add, files};
use crate::id_files::Ids;
use crate::script::{Run, script};

/// A folder with a store, and a file beside it that no store may touch.
struct Folder(tempfile::TempDir);

impl Folder {
    /// A store with a fold, a delta and side files.
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::create_dir(folder.store()).unwrap();
        fs::write(folder.0.path().join("outside"), "untouched").unwrap();
        let mut run = Run::new(Arc::new(FsDirectory::new(folder.store())));
        run.run(&script(1, 12), |_, _| {});
        assert_eq!(run.failed, 0);
        folder
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    fn copy(&self) -> Folder {
        let copy = Folder(tempfile::tempdir().unwrap());
        fs::create_dir(copy.store()).unwrap();
        fs::copy(self.0.path().join("outside"), copy.0.path().join("outside")).unwrap();
        for (name, bytes) in self.files() {
            fs::write(copy.store().join(name), bytes).unwrap();
        }
        copy
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.store())
    }

    fn commit(&self) -> String {
        self.files().into_keys().rfind(|name| name.starts_with("commit-")).unwrap()
    }

    fn json(&self) -> Value {
        let text = fs::read_to_string(self.store().join(self.commit())).unwrap();
        serde_json::from_str(text.rsplit_once("crc32").unwrap().0).unwrap()
    }

    /// Reads, opens, changes and commits the store. Returns the names of all calls, and whether all succeeded.
    fn use_it(&self) -> (BTreeSet<String>, bool) {
        let beside = || fs::read_dir(self.0.path()).unwrap().count();
        let before = beside();
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let log = names.clone();
        let record = move |call: &Call<'_>| {
            let all = [Some(call.name), call.new_name].into_iter().flatten();
            log.lock().unwrap().extend(all.map(|name| name.to_str().unwrap().to_owned()));
            Ok(call.bytes)
        };
        let directory: Arc<dyn Directory> =
            Arc::new(FaultyDirectory::new(Arc::new(FsDirectory::new(self.store())), record));
        let read = StoreReader::open_in(directory.clone(), StoreOptions::default().open).map(drop);
        let written = change(directory.clone());
        if written.is_ok() {
            StoreReader::open_in(directory, StoreOptions::default().open).unwrap();
        }
        assert_eq!(fs::read(self.0.path().join("outside")).unwrap(), b"untouched");
        assert_eq!(beside(), before, "files outside of the folder");
        let names = names.lock().unwrap().clone();
        for name in &names {
            assert!(name.is_empty() || is_of_store(name), "{name:?}");
        }
        (names, read.is_ok() && written.is_ok())
    }
}

/// Opens a store and commits changes of each kind.
fn change(directory: Arc<dyn Directory>) -> Result<()> {
    let store = Store::open_in_with(directory, StoreOptions::default(), Ids::new())?;
    add(&store, &[(1, 1), (9_000, 2)])?;
    store.delete_ids([crate::fixture::id(9_000)])?;
    store.commit()?;
    store.merge_to(1)?;
    store.commit().map(drop)
}

/// Whether a name has the form of those of a store: short, with digits and a few letters only.
fn is_of_store(name: &str) -> bool {
    let is_number = |digits: &str, most| {
        (6..=most).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let commit = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).unwrap_or(name);
    let file = name.strip_suffix(".dv").unwrap_or_default();
    let delta_or_segment = file.strip_prefix("delta-").or_else(|| file.strip_prefix("seg-"));
    let (number, fold) =
        file.strip_prefix("seg-").and_then(|numbers| numbers.split_once(".g")).unwrap_or_default();
    let (segment, side) = name
        .strip_suffix(".side")
        .and_then(|file| file.strip_prefix("seg-")?.split_once(".s"))
        .unwrap_or_default();
    ["LOCK", "LOCK.info"].contains(&name)
        || commit.strip_prefix("commit-").is_some_and(|number| is_number(number, 15))
        || delta_or_segment.is_some_and(|number| is_number(number, 13))
        || (is_number(number, 13) && is_number(fold, 13))
        || (is_number(segment, 13) && is_number(side, 13))
}

/// Values that are no number of a file, or a number that none has.
fn hostile() -> Vec<Value> {
    let long = "7".repeat(1 << 16);
    let strings =
        ["", "1", "..", "../outside", "/etc/passwd", "seg-000001.dv", "1/../../outside", "\0", "1\0", "a\nb"];
    let strings = strings.into_iter().map(Value::from).chain([Value::from(long.clone())]);
    let numbers =
        [json!(-1), json!(0.5), json!(1e300), json!(u64::MAX), json!(1_u64 << 48), json!((1_u64 << 48) + 1)];
    let others = [json!(null), json!(true), json!([1]), json!({"number": 1}), json!([long])];
    strings.chain(numbers).chain(others).collect()
}

/// The places of numbers and strings in a commit, as JSON pointers.
const PLACES: [&str; 29] = [
    "/docvalues_store",
    "/number",
    "/previous/number",
    "/previous/crc32",
    "/sequence",
    "/epoch",
    "/next_number",
    "/highest_version",
    "/first_log",
    "/segments/0/number",
    "/segments/0/docs",
    "/segments/0/live",
    "/segments/0/bytes",
    "/segments/0/id",
    "/segments/0/fold",
    "/segments/0/fold/number",
    "/segments/0/fold/bytes",
    "/segments/0/fold/id",
    "/segments/0/side",
    "/segments/0/side/0/name",
    "/segments/0/side/0/number",
    "/segments/0/side/0/bytes",
    "/segments/0/side/0/id",
    "/deltas/0/number",
    "/deltas/0/bytes",
    "/deltas/0/id",
    "/schema/fields/0/name",
    "/schema/fields/1/name",
    "/schema/id_field",
];

#[test]
fn no_commit_makes_a_call_name_another_file() {
    let good = Folder::new();
    let (json, commit) = (good.json(), good.commit());
    assert!(good.copy().use_it().1);
    let (mut commits, mut accepted, mut all) = (0, 0, BTreeSet::new());
    for place in PLACES {
        for value in hostile() {
            let mut edited = json.clone();
            *edited.pointer_mut(place).unwrap() = value;
            if edited == json {
                continue;
            }
            let text = edited.to_string();
            let text = format!("{text}crc32 {:08x}\n", crc32fast::hash(text.as_bytes()));
            let folder = good.copy();
            fs::write(folder.store().join(&commit), text).unwrap();
            let (names, is_accepted) = folder.use_it();
            (commits, accepted) = (commits + 1, accepted + usize::from(is_accepted));
            all.extend(names);
        }
    }
    println!("{commits} hostile commits, {accepted} accepted; {} names in calls", all.len());
    // A sequence, an epoch or a log may have any number, and a field any name.
    assert!(commits > 400 && accepted < 60 && all.len() > 10);
}

/// Plants a link under this name, in place of a file that has it.
#[cfg(unix)]
fn plant(folder: &Folder, name: &str, target: &str) {
    let path = folder.store().join(name);
    let _ = fs::remove_file(&path);
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_folder() {
    let good = Folder::new();
    let mut names: Vec<String> = good.files().into_keys().collect();
    // Those that the next changes create; a file beside them has the bytes that the commit expects.
    let next = good.json()["next_number"].as_u64().unwrap();
    let commit: u64 = good.commit().strip_prefix("commit-").unwrap().parse().unwrap();
    names.extend((next..next + 5).flat_map(|number| {
        let side = format!("seg-{:06x}.s{number:06x}.side", number - 1);
        [format!("seg-{number:06x}.dv"), format!("delta-{number:06x}.dv"), side]
    }));
    names.extend((commit + 1..commit + 3).flat_map(|number| {
        let name = format!("commit-{number:08}");
        [format!(".{name}.tmp"), name]
    }));
    let (mut links, mut refused) = (0, 0);
    for name in &names {
        for target in ["../outside", "../twin", "..", "../created", "/dev/zero"] {
            let folder = good.copy();
            if let Some(bytes) = good.files().get(name) {
                fs::write(folder.0.path().join("twin"), bytes).unwrap();
            }
            plant(&folder, name, target);
            let (_, succeeded) = folder.use_it();
            links += 1;
            refused += usize::from(!succeeded);
            // Links are followed neither to read nor to write; a link in place of a named file is refused.
            let is_needed = good.files().contains_key(name) && name != "LOCK.info";
            assert!(!succeeded || !is_needed, "{name} -> {target}");
        }
    }
    println!("{links} links, {refused} refused");
}

/// Names of other programs, and of nothing that a store would write.
#[cfg(unix)]
#[test]
fn other_names_in_the_folder_are_left_alone() {
    use std::os::unix::ffi::OsStrExt as _;
    let long = "7".repeat(240);
    let names =
        ["commit-7", "commit-99999999999999999999", "seg-1.dv", "delta-.dv", "LOCK.bak", "a\nb", &long];
    let names = names.into_iter().map(str::as_bytes).chain([&b"commit-\xff"[..], b"seg-00000\xff.dv"]);
    let folder = Folder::new();
    for name in names.clone() {
        fs::write(folder.store().join(std::ffi::OsStr::from_bytes(name)), "another's").unwrap();
    }
    assert!(folder.use_it().1);
    for name in names {
        let path = folder.store().join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(fs::read(path).unwrap(), b"another's");
    }
}
