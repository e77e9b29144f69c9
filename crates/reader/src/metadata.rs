//! The metadata of a file, read when a segment is opened: header, footer and directory root.

use std::borrow::Cow;
use std::ops::Range;

use docvalues_column::SortKey;
use docvalues_format::error::{Error, ErrorKind, Place, Section as Role};
use docvalues_format::file::frame::{FOOTER_LEN, Footer, HEADER_LEN, Header};
use docvalues_format::file::root::Root;
use docvalues_format::numeric::FineZones;
use docvalues_storage::Source;

use crate::column::FormatResult;
use crate::options::OpenOptions;

/// The length of the shortest file: a header and a footer.
const LEAST: u64 = (HEADER_LEN + FOOTER_LEN) as u64;

/// The header, the footer, and the decoded directory root.
pub(crate) struct Metadata {
    pub(crate) header: Header,
    pub(crate) footer: Footer,
    pub(crate) root: Root,
    pub(crate) sort: Vec<SortKey>,
    /// The sections of fine zones, ascending by column; empty if the file has none.
    pub(crate) fine_zones: Vec<FineZones>,
}

impl Metadata {
    /// Reads and checks the metadata. Refuses a file with more documents than `options` allow.
    pub(crate) fn read(source: &Source, options: &OpenOptions) -> FormatResult<Metadata> {
        let len = source.len();
        let footer_at = len.saturating_sub(FOOTER_LEN as u64).max(HEADER_LEN as u64);
        let header = Header::decode(&array(&source.read_at(Role::Header, 0, HEADER_LEN)?))?;
        let at_footer = Place { section: Role::Footer, offset: footer_at };
        if len < LEAST {
            return Err(Error::at(at_footer, 0, ErrorKind::TooShort { found: len, least: LEAST }));
        }
        let footer = source.read_at(Role::Footer, footer_at, FOOTER_LEN)?;
        let footer = Footer::decode(&array(&footer), len)?;
        let docs = ErrorKind::at_most("number of documents", footer.docs.into(), options.most_docs(len));
        at_footer.check(0, docs)?;
        let root = Root::parse(&read_range(source, Role::DirectoryRoot, footer.root())?, &footer)?;
        let (sort, fine_zones) = (root.sort(&footer)?, root.fine_zones(&footer)?);
        Ok(Metadata { header, footer, root, sort, fine_zones })
    }
}

/// The bytes `range` of the file, which hold `role`.
pub(crate) fn read_range(source: &Source, role: Role, range: Range<u64>) -> FormatResult<Cow<'_, [u8]>> {
    // A length that does not fit a `usize` does not fit the file either.
    let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    source.read_at(role, range.start, len)
}

/// An array of `bytes`. `read_at` returns as many bytes as were requested, or an error.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}
