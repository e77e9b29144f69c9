//! `dv import`: makes a segment or a store of the doc values of an index of Lucene.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::merge::ids::IdIndexPlan;
use super::merge::{add, failure, sort_keys};
use crate::answer::commit_info::{commit_line, print_json};
use crate::answer::segment_info;
use crate::api::store::{Store, StoreSchema};
use crate::api::writer::Merger;
use crate::api::{Segment, SortKey};
use crate::args::import::ImportArgs;
use crate::console::Console;
use crate::console::destination::{followed, is_stdout, refuse_no_segment};
use crate::console::progress::Progress;
use crate::error::{CliError, Exit, Result};
use crate::open::files::{is_lucene, is_store};
use crate::open::lucene::note_left_out;
use crate::open::store::commit;
use crate::open::{Opener, Segments};
use crate::process::temporary::Temporary;
use crate::process::unfinished_files;
use crate::text::{counted, thousands};

pub(crate) fn run(args: &ImportArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    if !is_lucene(&args.folder) {
        let message = format!("{}: expected an index of Lucene, found no segments_N", args.folder.display());
        let hint = "`dv build` reads text, Parquet and Arrow, `dv merge` segments and stores";
        return Err(CliError::new(Exit::Unreadable, message).hint(hint));
    }
    if is_stdout(&args.output) || is_lucene(&args.output) {
        let message = format!("{}: expected a segment or a store to write", args.output.display());
        return Err(
            CliError::usage(message).hint("a name that ends in .dv is a segment, another one a store")
        );
    }
    let import = Import { args, segments: Segments::of_lucene(opener, &args.folder)? };
    note_left_out(import.segments.all(), console);
    let is_segment =
        args.output.is_file() || args.output.extension().is_some_and(|extension| extension == "dv");
    if is_segment && !args.output.is_dir() {
        return import.to_segment(console);
    }
    import.to_store(opener, console)
}

/// An index to import.
struct Import<'a> {
    args: &'a ImportArgs,
    segments: Segments,
}

impl Import<'_> {
    /// Writes a segment.
    fn to_segment(&self, console: &mut Console<'_>) -> Result<Exit> {
        let args = self.args;
        refuse_no_segment(&args.output, args.write.json, console)?;
        self.write(&followed(&args.output)?, args.id_field.as_deref(), self.sort_keys()?, console)?;
        console.done = Some(format!("{} is complete", args.output.display()));
        if !args.write.quiet {
            let line = |bytes| format!("{} bytes, {}", thousands(bytes), self.origin());
            segment_info::report(&args.output, [], line, args.write.json, console)?;
        }
        Ok(Exit::Ok)
    }

    /// Adds a segment to a store, which is made if it is not there.
    fn to_store(&self, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
        let (args, folder) = (self.args, &self.args.output);
        let options = opener.store_options(None, args.write.options(args.memory));
        let known = is_store(folder).then(|| Store::open(folder, options)).transpose()?;
        let (mut ids, mut sort) = (args.id_field.clone(), self.sort_keys()?);
        if let Some(store) = &known {
            let snapshot = store.snapshot();
            ids = self.ids_of_store(ids, snapshot.schema())?;
            sort = snapshot.schema().sort().to_vec();
        }
        let beside = beside(folder);
        let copied = beside.clone();
        // Whether it is added or not, the store has a copy.
        let temporary = Temporary::new(move || drop(fs::remove_file(&copied)));
        let added = self.write(&beside, ids.as_deref(), sort.clone(), console).and_then(|()| {
            let store = match known {
                Some(store) => store,
                None => {
                    let mut schema = StoreSchema::new().with_fields(Segment::open(&beside)?.fields()?)?;
                    if let Some(ids) = &ids {
                        schema = schema.with_id_field(ids)?;
                    }
                    Store::create(folder, schema.with_sort(sort)?, options)?
                }
            };
            store.add_segment(&beside)?;
            Ok(store)
        });
        drop(temporary);
        let store = added?;
        commit(&store, console)?;
        if args.write.json {
            print_json(folder, &store, [("imported", self.segments.docs().into())], console)?;
        } else if !args.write.quiet {
            let (line, origin) = (commit_line(&store), self.origin());
            console.line(format_args!("{}: {line}, {origin}", folder.display()))?;
        }
        Ok(Exit::Ok)
    }

    /// The column of ids of a store.
    fn ids_of_store(&self, ids: Option<String>, schema: &StoreSchema) -> Result<Option<String>> {
        let of_store = schema.id_field().map(str::to_owned);
        if let Some(name) = ids.filter(|name| of_store.as_ref() != Some(name)) {
            let output = self.args.output.display();
            let message = format!("{output}: --id-field: expected the ids of the store, found {name:?}");
            return Err(CliError::usage(message).hint("leave it out: the store has its own ids"));
        }
        Ok(of_store)
    }

    /// The keys of the index sort.
    fn sort_keys(&self) -> Result<Vec<SortKey>> {
        sort_keys(&self.args.sort_by, self.segments.all())
    }

    /// Merges the live documents into the segment `output`.
    fn write(
        &self,
        output: &Path,
        ids: Option<&str>,
        sort: Vec<SortKey>,
        console: &Console<'_>,
    ) -> Result<()> {
        let (args, segments) = (self.args, &self.segments);
        let ids = ids.map(|column| IdIndexPlan::of(column, segments.all())).transpose()?;
        let mut progress = Progress::new(console.err_width.is_some() && !args.write.quiet, None);
        let mut merger = Merger::new(args.write.options(args.memory)).promote(true).sort_by(sort);
        merger = merger.watch(|at| progress.show_merge(at));
        let merger = add(merger, segments, ids.as_ref())?;
        unfinished_files::remove_at_end()?;
        let written = merger.finish(output);
        progress.clear();
        let hint = "import without an index of ids, or choose another column";
        written.map(drop).map_err(|error| failure(error, segments, ids.as_ref(), hint))
    }

    /// The imported documents, segments and folder, for messages.
    fn origin(&self) -> String {
        // One without segments has a stand-in.
        let segments = self.segments.all().iter().filter(|segment| segment.lucene().is_some()).count();
        let segments = counted(segments as u64, "segment", "segments");
        let docs = thousands(self.segments.docs());
        format!("of {docs} documents in {segments} of {}", self.args.folder.display())
    }
}

/// The hidden file beside a store into which a segment is written before it is added.
fn beside(folder: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".import.dv");
    folder.with_file_name(name)
}
