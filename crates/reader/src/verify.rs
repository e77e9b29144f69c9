//! Verification of a whole file: every byte is what a writer would have written.
//!
//! Checksums detect damage, but a hostile writer can compute them. So [`Segment::check`] also proves that the parts of
//! the file agree with each other: blocks, ranks, jump entries, the order of terms and of lists, zone maps, fine zones,
//! statistics, and zeros in the padding.

mod ids;

use std::ops::{ControlFlow, Range};

use docvalues_column::{DocRange, Error, Result};
use docvalues_format::error::{self, ErrorKind, Place, Section as Role};
use docvalues_format::file::column::{Column, Statistics};
use docvalues_format::file::directory::{Page, content_id};
use docvalues_format::file::frame::{FOOTER_LEN, HEADER_LEN};
use docvalues_format::file::root::{PageRef, ROOT_ENTRY_LEN};
use docvalues_format::file::sort::SORT_TAG;
use docvalues_format::granule::{ALIGN, GRANULE, SectionRef};
use docvalues_format::numeric::{FINE_ZONES_TAG, NumericReader, Transform};
use docvalues_storage::Section;
use docvalues_terms::ids::IDS_TAG;

use crate::column::{BATCH, FormatResult, corrupt};
use crate::lists::ListReader;
use crate::numeric_column::NumericColumn;
use crate::segment::{OpenColumn, Segment};

/// A callback for problems; it returns whether to continue.
type Report<'r> = dyn FnMut(Error) -> ControlFlow<()> + 'r;

/// The extent of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checks {
    /// Checksums, padding and the content id.
    Checksums,
    /// Also that the parts agree.
    All,
}

impl Segment {
    /// Reads every byte of the file, compares checksums, and proves that its parts agree with each other. What was read at
    /// opening is not read again. O(file).
    ///
    /// # Errors
    ///
    /// The first problem that [`check`](Self::check) finds.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in [512, 9_000] {
    /// #     let mut doc = writer.document();
    /// #     doc.i64(size, value)?;
    /// #     doc.finish()?;
    /// # }
    /// let mut file = writer.finish_bytes()?;
    /// Segment::from_bytes(file.clone(), OpenOptions::new())?.verify()?;
    ///
    /// file[70] ^= 1; // a bit of a value
    /// let error = Segment::from_bytes(file, OpenOptions::new())?.verify().unwrap_err();
    /// assert!(error.is_corrupt());
    /// assert!(error.place().is_some()); // its section, and the offset in the file
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "CheckIndex")]
    #[doc(alias = "checkIntegrity")]
    pub fn verify(&self) -> Result<()> {
        self.first_problem(Checks::All)
    }

    /// Reads every byte of the file and compares checksums, but does not prove that the parts agree: that the file is as its
    /// writer made it, for one that is trusted. O(file).
    ///
    /// # Errors
    ///
    /// The first problem.
    pub fn verify_checksums(&self) -> Result<()> {
        self.first_problem(Checks::Checksums)
    }

    fn first_problem(&self, checks: Checks) -> Result<()> {
        let mut first = Ok(());
        // A report that breaks is not a failure.
        let _ = self.check_all(checks, &mut |problem| {
            first = Err(problem);
            ControlFlow::Break(())
        });
        first
    }

    /// Verifies the file like [`verify`](Self::verify), and calls `report` with every problem, until it breaks.
    ///
    /// It reports at most one problem per section, per column, and per gap of padding.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use docvalues::Segment;
    ///
    /// /// All problems of a file, one a line.
    /// fn report(segment: &Segment) -> String {
    ///     let mut lines = String::new();
    ///     segment.check(&mut |problem| {
    ///         lines.push_str(&format!("{problem}\n"));
    ///         ControlFlow::Continue(())
    ///     });
    ///     lines
    /// }
    /// ```
    pub fn check(&self, report: &mut Report<'_>) {
        // A report that breaks is not a failure.
        let _ = self.check_all(Checks::All, report);
    }

    fn check_all(&self, checks: Checks, report: &mut Report<'_>) -> ControlFlow<()> {
        let mut clean = true;
        self.check_parts(checks, &mut |problem| {
            clean = false;
            report(problem)
        })?;
        // Damaged bytes would be reported again.
        match if clean && checks == Checks::All { self.check_sort() } else { Ok(()) } {
            Ok(()) => ControlFlow::Continue(()),
            Err(problem) => report(problem),
        }
    }

    fn check_parts(&self, checks: Checks, report: &mut Report<'_>) -> ControlFlow<()> {
        let header = 0..HEADER_LEN as u64;
        let (mut parts, mut damaged, mut features) = (Vec::from([header]), false, 0);
        for page in &self.root().pages {
            match self.page_entries(page) {
                Ok(entries) => {
                    for entry in entries {
                        features |= entry.required_features();
                        self.check_column(entry, (page, checks), &mut parts, report)?;
                    }
                }
                Err(e) => {
                    // The sections of a damaged page are unknown.
                    parts.push(page.sections.clone());
                    damaged = true;
                    report(corrupt(self.file(), None, e))?;
                }
            }
        }
        if !damaged && let Err(e) = self.check_features(features).and_then(|()| self.check_id()) {
            report(corrupt(self.file(), None, e))?;
        }
        self.check_ids(checks, |part| parts.push(part)).into_iter().try_for_each(&mut *report)?;
        let fine_zones = self.fine_zones().iter().map(|fine_zones| fine_zones.section);
        parts.extend(fine_zones.map(|section| section.offset..section.end().unwrap_or(u64::MAX)));
        // Sections of extensions that only a later release knows.
        let known = [SORT_TAG, IDS_TAG, FINE_ZONES_TAG];
        let unknown = self.root().extensions.iter().filter(|extension| !known.contains(&extension.tag));
        let sections = unknown.map(|extension| extension.sections.clone());
        parts.extend(sections.filter(|sections| !sections.is_empty()));
        parts.extend(self.root().pages.iter().map(|page| page.bytes.clone()));
        let end = self.len();
        parts.extend([self.footer().root(), end.saturating_sub(FOOTER_LEN as u64)..end]);
        self.check_padding(&parts, report)
    }

    fn page_entries(&self, page: &PageRef) -> FormatResult<Vec<Column<SectionRef>>> {
        let bytes = self.page_bytes(page)?;
        let parsed = Page::parse(&bytes, page)?;
        (0..parsed.len()).map(|i| self.entry(page, &parsed, i)).collect()
    }

    /// Checks that the footer has the features that columns and the id index use.
    fn check_features(&self, used: u32) -> FormatResult<()> {
        let has_all = |used: u32| used & !self.footer().required == 0;
        self.check_footer(has_all(used), "a column uses a feature that the footer does not have")?;
        // `check_ids` reports an entry that is damaged.
        let ids = self.ids_entry().ok().flatten().map_or(0, |entry| entry.ids.required_features());
        self.check_footer(has_all(ids), "the id index uses a feature that the footer does not have")
    }

    fn check_footer(&self, holds: bool, why: &'static str) -> FormatResult<()> {
        let offset = self.len().saturating_sub(FOOTER_LEN as u64);
        Place { section: Role::Footer, offset }.check(0, ErrorKind::rule(holds, why))
    }

    /// Checks that the id in the footer is that of the content.
    fn check_id(&self) -> FormatResult<()> {
        let pages = &self.root().pages;
        let entries = pages.len() * ROOT_ENTRY_LEN;
        let pages = pages.iter().map(|page| self.page_bytes(page)).collect::<FormatResult<Vec<_>>>()?;
        let root = self.read_range(Role::DirectoryRoot, self.footer().root())?;
        let extensions = root.get(entries..).unwrap_or_default();
        let id = content_id(self.docs(), pages.iter().map(|page| &**page), extensions);
        self.check_footer(id == self.id(), "the id is not that of the content")
    }

    fn check_column(
        &self,
        entry: Column<SectionRef>,
        (page, checks): (&PageRef, Checks),
        parts: &mut Vec<Range<u64>>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let named = |problem| corrupt(self.file(), Some(&entry.field.name), problem);
        let mut damaged = Vec::new();
        for (role, at) in entry.sections() {
            // The sections of fine zones are after all columns; the caller adds them.
            if role != Role::FineZones {
                parts.push(at.offset..at.end().unwrap_or(u64::MAX));
            }
            match self.section(at, role) {
                Ok(section) => damaged.extend(section.verify_all().err()),
                Err(problem) => {
                    damaged.push(problem);
                    break;
                }
            }
        }
        if damaged.is_empty() && checks == Checks::All {
            // Only if the checksums are right: otherwise the decoders would report the same bytes again.
            let checked = self.open_column(entry.clone()).map(|column| column.check(&entry.statistics, page));
            match checked {
                Ok(checked) => damaged.extend(checked.err()),
                Err(problem) => report(problem)?,
            }
        }
        damaged.into_iter().try_for_each(|problem| report(named(problem)))
    }

    /// Checks that the bytes between two parts of the file are zero, and no more than alignment requires.
    fn check_padding(&self, parts: &[Range<u64>], report: &mut Report<'_>) -> ControlFlow<()> {
        for pair in parts.windows(2) {
            let gap = pair[0].end..pair[1].start;
            if gap.start >= gap.end {
                continue;
            }
            let align = if gap.end.is_multiple_of(GRANULE as u64) { GRANULE } else { ALIGN };
            let is_short = gap.end - gap.start < align as u64;
            let checked = ErrorKind::rule(is_short, "the bytes belong to no section");
            if let Err(kind) = checked.and_then(|()| self.padding(&gap)) {
                let problem = error::Error::new(Role::Padding, gap.start, kind);
                report(corrupt(self.file(), None, problem))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn padding(&self, gap: &Range<u64>) -> std::result::Result<(), ErrorKind> {
        let bytes = self.read_range(Role::Padding, gap.clone()).map_err(|e| e.kind().clone())?;
        ErrorKind::rule(bytes.iter().all(|&byte| byte == 0), "padding is not zero")
    }
}

impl OpenColumn {
    /// Checks that the parts of a column agree with each other. All checksums were compared before.
    fn check(&self, statistics: &Statistics, page: &PageRef) -> FormatResult<()> {
        let column = match self {
            OpenColumn::Numeric(column) => column,
            OpenColumn::Binary(column) => {
                column.core.presence.verify()?;
                return column.values.verify();
            }
        };
        let NumericColumn { core, offsets, values, terms, .. } = &**column;
        core.presence.verify()?;
        offsets.as_ref().map_or(Ok(()), NumericReader::verify)?;
        values.verify()?;
        if let Some(terms) = terms {
            terms.reader.verify()?;
        }
        if let Some(lists) = column.lists() {
            check_lists(lists, if terms.is_some() { |a, b| a < b } else { |a, b| a <= b })?;
        }
        let distinct = terms.as_ref().map(|terms| u64::from(terms.reader.len()));
        let wrong = if distinct.is_some() && statistics.distinct.is_some_and(|d| Some(d) != distinct) {
            Some("the number of distinct values differs from the number of terms")
        } else {
            check_statistics(values, statistics)?
        };
        let broken =
            |what| Err(error::Error::new(Role::DirectoryPage, page.bytes.start, ErrorKind::Broken(what)));
        wrong.map_or(Ok(()), broken)
    }
}

/// Checks that `ordered` holds for all neighbours within each document's list.
fn check_lists(lists: ListReader<'_>, ordered: fn(i64, i64) -> bool) -> FormatResult<()> {
    let ascend =
        |holds| lists.place().check(0, ErrorKind::rule(holds, "the values of a document do not ascend"));
    let meta = lists.values.meta();
    if matches!(meta.transform, Transform::Constant(_)) {
        // Equal values take no bytes, so a hostile file can claim any number of them: they are not compared one by one.
        lists.check_offsets()?;
        return ascend(ordered(0, 0) || meta.count == u64::from(lists.core.presence.values()));
    }
    let mut good = true;
    lists.scan::<i64>(DocRange::new(0, lists.core.docs), &mut |batch| {
        let ascends = |list: &[i64]| list.windows(2).all(|pair| ordered(pair[0], pair[1]));
        good = batch.values.many().is_none_or(|lists| lists.iter().all(ascends));
        if good { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    ascend(good)
}

/// Compares the statistics with the numbers. Returns the first claim that is wrong.
fn check_statistics(
    numbers: &NumericReader<Section>,
    statistics: &Statistics,
) -> FormatResult<Option<&'static str>> {
    if let Transform::Constant(value) = numbers.meta().transform {
        let sum = i128::from(value) * i128::from(numbers.count());
        return Ok(statistics.sum.is_some_and(|s| s != sum).then_some("the sum is wrong"));
    }
    let (mut sum, mut last, mut ascending, mut descending) = (0_i128, None, true, true);
    let mut buffer = [0; BATCH];
    let mut at = 0;
    while at < numbers.count() {
        let end = at.saturating_add(BATCH as u64).min(numbers.count());
        let buffer = &mut buffer[..usize::try_from(end - at).unwrap_or(0)];
        numbers.decode(at..end, buffer)?;
        for &value in &*buffer {
            sum += i128::from(value);
            ascending &= last.is_none_or(|last| last <= value);
            descending &= last.is_none_or(|last| last >= value);
            last = Some(value);
        }
        at = end;
    }
    Ok(match statistics {
        s if s.sum.is_some_and(|s| s != sum) => Some("the sum is wrong"),
        s if s.ascending && !ascending => Some("the values do not ascend"),
        s if s.descending && !descending => Some("the values do not descend"),
        _ => None,
    })
}
