//! `dv export`: writes documents as NDJSON, CSV, TSV, Parquet or Arrow.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::request::{answer, open};
use crate::answer::records;
use crate::answer::rows::RecordFormat;
use crate::api::search::SearchRequest;
use crate::api::{DocAddress, DocId, Field};
use crate::args::records::ExportArgs;
use crate::console::Console;
use crate::console::destination::{Destination, refuse_input, refuse_no_text, refuse_other_format};
use crate::error::{CliError, Exit, Result};
#[cfg(feature = "lucene")]
use crate::open::lucene::note_left_out;
use crate::open::{Opener, Segments, files};
use crate::text::counted;

pub(crate) fn run(args: &ExportArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let destination = Destination::of(args.records.output.as_deref())?;
    let format = format(args)?;
    if let Destination::File(path) = &destination {
        let list = args.docs.iter().filter(|docs| parse_range(docs, 0).is_none()).map(PathBuf::from);
        refuse_input(&list.collect::<Vec<_>>(), path)?;
        refuse_file(path, format)?;
    }
    let segments = open(&args.files, &args.filter, opener, console)?;
    let docs = if args.filter.query.is_some() || !args.sort.is_empty() || args.limit.is_some() {
        DocSelection::found(args, &segments, console)?
    } else {
        DocSelection::of(args.docs.as_deref(), &segments)?
    };
    let fields = segments.select(&args.records.columns)?;
    records::check_doc_ids(&fields, args.records.doc_ids, segments.only().is_none())?;
    #[cfg(feature = "lucene")]
    if args.records.columns.is_empty() {
        note_left_out(segments.all(), console);
    }
    // All arguments are checked before anything is written.
    let to_file = matches!(destination, Destination::File(_));
    let export = Export { args, segments: &segments, fields, format, to_file };
    destination.write(console, |console| export.write(docs, console))?;
    Ok(Exit::Ok)
}

/// The output format. Fails if it needs the feature `parquet` and that is off.
fn format(args: &ExportArgs) -> Result<RecordFormat> {
    let format = args.records.format.unwrap_or(RecordFormat::Ndjson);
    let name = match format {
        RecordFormat::Parquet => "Parquet",
        RecordFormat::Arrow => "Arrow",
        _ => return Ok(format),
    };
    if cfg!(feature = "parquet") {
        return Ok(format);
    }
    Err(CliError::failed(format!("this dv was built without support for {name}"))
        .hint("install it from a checkout: cargo install --path crates/cli --features parquet"))
}

/// Fails if the output exists in another format.
fn refuse_file(path: &Path, format: RecordFormat) -> Result<()> {
    match format {
        RecordFormat::Parquet => {
            refuse_other_format(path, "a Parquet file", |head| head.starts_with(b"PAR1"))
        }
        RecordFormat::Arrow => refuse_other_format(path, "an Arrow file", |head| head.starts_with(b"ARROW1")),
        _ => refuse_no_text(path),
    }
}

/// The documents to export.
enum DocSelection {
    All,
    /// A range of the only segment.
    Range(Range<u32>),
    /// A list, in output order.
    List(Vec<DocAddress>),
}

impl DocSelection {
    /// The documents that match, in order.
    fn found(args: &ExportArgs, segments: &Segments, console: &mut Console<'_>) -> Result<DocSelection> {
        let (sort, top) = (segments.sort_keys("--sort", &args.sort)?, args.limit.unwrap_or(usize::MAX));
        let request = SearchRequest::new().sort(sort).top(top);
        let answer = answer(segments, (&args.filter, None), request)?;
        answer.explain(args.limit.is_some(), &[("put in order", answer.found.times.top)], console);
        Ok(DocSelection::List(answer.found.top))
    }

    fn of(text: Option<&str>, segments: &Segments) -> Result<DocSelection> {
        let Some(text) = text else { return Ok(DocSelection::All) };
        let docs = u32::try_from(segments.docs()).unwrap_or(u32::MAX);
        match parse_range(text, docs) {
            Some(range) if range.end > docs => Err(segments.no_such_documents(&[range.end - 1])),
            Some(range) if range.start > range.end => {
                let message = format!("--docs: expected a range that ends after it begins, found {text}");
                let docs = counted(docs.into(), "document", "documents");
                Err(CliError::usage(message).hint(format!("there are {docs}, numbered from 0")))
            }
            Some(range) if segments.only().is_some() => Ok(DocSelection::Range(range)),
            Some(range) => {
                Ok(DocSelection::List(segments.at(range.map(u64::from)).into_iter().flatten().collect()))
            }
            None => {
                let list = read_list(text)?;
                let found = segments.at(list.iter().map(|doc| u64::from(*doc)));
                segments.require(&list, &found)?;
                Ok(DocSelection::List(found.into_iter().flatten().collect()))
            }
        }
    }
}

/// The columns and format of an export.
struct Export<'a> {
    args: &'a ExportArgs,
    segments: &'a Segments,
    fields: Vec<Field>,
    format: RecordFormat,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text is the same anywhere"))]
    to_file: bool,
}

impl Export<'_> {
    fn write(&self, docs: DocSelection, console: &mut Console<'_>) -> Result<()> {
        #[cfg(feature = "parquet")]
        if matches!(self.format, RecordFormat::Parquet | RecordFormat::Arrow) {
            return self.columnar(docs, console).map_err(CliError::or_columns);
        }
        let Export { args, segments, fields, format, .. } = self;
        let docs: Box<dyn Iterator<Item = DocAddress>> = match docs {
            DocSelection::All => Box::new(segments.addresses()),
            DocSelection::Range(range) => Box::new(range.map(|doc| DocId::new(doc).into())),
            DocSelection::List(list) => Box::new(list.into_iter()),
        };
        let documents = &mut records::Found { segments, docs };
        records::print_documents(fields, documents, &args.records.options(), *format, console)
    }

    #[cfg(feature = "parquet")]
    fn columnar(&self, docs: DocSelection, console: &mut Console<'_>) -> Result<()> {
        use crate::answer::parquet_arrow::{write_arrow_file, write_arrow_stream, write_parquet};
        use crate::api::DocOrder;
        use crate::api::search::DocsByPart;

        if console.out_width.is_some() {
            return Err(CliError::usage("Parquet and Arrow cannot be printed on a terminal")
                .hint("name a file with -o"));
        }
        if self.args.records.doc_ids && self.segments.only().is_none() {
            let message =
                "--doc-ids: Parquet and Arrow have no column of files: expected one file, found several";
            return Err(CliError::usage(message).hint("export them one by one, or as CSV or NDJSON"));
        }
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        let order = match &docs {
            DocSelection::All => DocOrder::Set(DocsByPart::All),
            DocSelection::Range(range) => DocOrder::from(range.clone()),
            DocSelection::List(docs) => DocOrder::List(docs),
        };
        let batches = self.segments.search().export(order, &names)?.batches();
        let batches = if self.args.records.doc_ids { batches.doc_ids(records::DOC) } else { batches };
        match self.format {
            RecordFormat::Parquet => write_parquet(batches, console.out),
            _ if self.to_file => write_arrow_file(batches, console.out),
            // A reader of a pipe cannot seek to a footer.
            _ => write_arrow_stream(batches, console.out),
        }
    }
}

/// Parses `a..b`, `a..`, `..b`, `a..=b` or `..`; `None` for other text.
fn parse_range(text: &str, docs: u32) -> Option<Range<u32>> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { 0 } else { start.parse().ok()? };
    let end = match end.strip_prefix('=') {
        Some(last) => last.parse::<u32>().ok()?.checked_add(1)?,
        None if end.is_empty() => docs,
        None => end.parse().ok()?,
    };
    Some(start..end)
}

/// Reads document numbers from a file or from standard input.
fn read_list(path: &str) -> Result<Vec<u32>> {
    let hint = "--docs takes a range such as 1000..2000, a file of document numbers, or -";
    let (name, text) = files::text(path, hint)?;
    let mut docs = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
            let doc = word.parse().map_err(|_| {
                let shown = crate::text::words::excerpt(word.as_bytes());
                CliError::failed(format!("{name}:{}: expected a document number, found {shown}", index + 1))
            })?;
            docs.push(doc);
        }
    }
    Ok(docs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_two_ends_one_or_none() {
        let range = |text| parse_range(text, 100);
        assert_eq!(range("10..20"), Some(10..20));
        assert_eq!(range("10..=20"), Some(10..21));
        assert_eq!(range("10.."), Some(10..100));
        assert_eq!(range("..10"), Some(0..10));
        assert_eq!(range(".."), Some(0..100));
        for none in ["10", "a..b", "../docs.txt", "-", "1..2..3", "..=4294967295"] {
            assert_eq!(range(none), None, "{none}");
        }
    }
}
