//! A page of HTML that describes columns.
//!
//! It has no script, and a policy that lets none run. [`html`] escapes all that is of the data.

mod charts;
mod html;
mod warnings;
pub(crate) mod zones;

use self::html::{Html, cut};
use self::warnings::warnings;
use self::zones::ZoneMap;
use super::figure::{self, sum_and_mean};
use super::histograms::begin;
use crate::api::search::Value;
use crate::api::search::facet::FacetCounts;
use crate::api::search::histogram::HistogramCounts;
use crate::api::search::stats::ColumnStats;
use crate::api::{DocAddress, Field, LogicalType, SortKey, to_f64, to_u64};
use crate::error::Result;
use crate::open::Segments;
use crate::open::records::Records;
use crate::text::quoting::{decimal, first_few};
use crate::text::{Printer, counted, thousands};

/// The length of a page after which no column is described, in bytes. What follows takes a fifth of it at most.
const MAX_BYTES: usize = 1_600_000;

/// The most warnings, frequent values of a column, columns of the sample, and names of columns that are left out.
const WARNINGS: usize = 50;
const VALUES: usize = 10;
const SAMPLE_COLUMNS: usize = 30;
const LEFT_OUT: usize = 100;

const BEGIN: &str = "<!doctype html>
<html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\">
<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">
<title>{}</title><style>
";

const OVERVIEW: &str = "<section><h2>Columns</h2><div class=scroll><table>
<thead><tr><th>column<th>type<th>kind<th class=n>missing<th class=n>distinct<th class=n>bytes<th colspan=2>share
<th>encodings<tbody>";

/// The answers that a page about segments shows.
pub(crate) struct Report<'r> {
    pub(crate) segments: &'r Segments,
    /// The condition of --where.
    pub(crate) query: Option<&'r str>,
    /// The number of documents that it matches.
    pub(crate) matching: u64,
    /// The bytes of all segments.
    pub(crate) bytes: u64,
    pub(crate) columns: Vec<ColumnReport>,
    /// Columns that were not looked at.
    pub(crate) left_out: Vec<Field>,
    pub(crate) sample: Vec<DocAddress>,
}

/// The answers about a column.
pub(crate) struct ColumnReport {
    pub(crate) stats: ColumnStats,
    /// The bytes in all segments.
    pub(crate) bytes: u64,
    /// Those of the segment in which it is largest.
    pub(crate) encodings: Vec<String>,
    pub(crate) facet: Option<FacetCounts>,
    pub(crate) histogram: Option<HistogramCounts>,
    pub(crate) zones: Option<ZoneMap>,
}

/// A stored number as a double, for charts.
pub(crate) fn double(logical: LogicalType, stored: i64) -> f64 {
    match logical {
        LogicalType::F64 => to_f64(stored),
        LogicalType::U64 => to_u64(stored) as f64,
        _ => stored as f64,
    }
}

impl Report<'_> {
    /// The page, of at most 2 MB.
    pub(crate) fn to_html(&self) -> Result<String> {
        let mut page = Html::default();
        page.put(BEGIN, &[&self.segments.named()]);
        page.put(include_str!("report/style.css"), &[]);
        page.put("</style></head><body>", &[]);
        self.heading(&mut page);
        self.warnings(&mut page);
        self.overview(&mut page);
        page.put("<section class=cards>", &[]);
        let mut left_out: Vec<String> = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let card = column.card(at, self.bytes);
            if page.len() + card.len() > MAX_BYTES {
                left_out.push(cut(&column.stats.field.name));
            } else {
                page.add(&card);
            }
        }
        page.put("</section>", &[]);
        left_out.extend(self.left_out.iter().map(|field| cut(&field.name)));
        if !left_out.is_empty() {
            let names = first_few(left_out.into_iter(), LEFT_OUT);
            page.put(
                "<p>Left out, to keep the page small: {}. <code>--columns</code> names those to see.</p>",
                &[&names],
            );
        }
        self.sample(&mut page)?;
        page.put("<footer>dv {}</footer></body></html>\n", &[env!("CARGO_PKG_VERSION")]);
        Ok(page.into_string())
    }

    fn heading(&self, page: &mut Html) {
        let Report { segments, columns, left_out, .. } = self;
        let files = segments.all();
        let docs = counted(segments.docs(), "document", "documents");
        let columns = counted((columns.len() + left_out.len()) as u64, "column", "columns");
        let (bytes, parts) = (thousands(self.bytes), counted(files.len() as u64, "segment", "segments"));
        let markup = "<h1>{}</h1><p>{}, {}, {} bytes in {}</p>";
        page.put(markup, &[&segments.named(), &docs, &columns, &bytes, &parts]);
        if let Some(query) = self.query {
            let markup = "<p>{} of the documents match <code>{}</code>, and values below are theirs</p>";
            page.put(markup, &[&thousands(self.matching), query]);
        }
        let sorted =
            |sort: &[SortKey]| sort.iter().map(SortKey::to_string).collect::<Vec<_>>().join(", then ");
        let sort = files.first().map(|file| file.sort()).unwrap_or_default();
        if !sort.is_empty() && files.iter().all(|file| file.sort() == sort) {
            page.put("<p>Sorted by {}: a filter of the first is two binary searches</p>", &[&sorted(sort)]);
        }
    }

    fn warnings(&self, page: &mut Html) {
        let of_column = |(at, column): (usize, &ColumnReport)| {
            let (at, name) = (at.to_string(), cut(&column.stats.field.name));
            let found = warnings(&column.stats, column.facet.as_ref()).into_iter();
            found.map(move |warning| (at.clone(), name.clone(), warning))
        };
        let found: Vec<_> = self.columns.iter().enumerate().flat_map(of_column).collect();
        if found.is_empty() {
            return;
        }
        page.put("<section class=warnings><h2>Warnings</h2><ul>", &[]);
        for (at, name, warning) in found.iter().take(WARNINGS) {
            page.put("<li><a href=\"#c{}\">{}</a>: {}", &[at, name, warning]);
        }
        if let Some(more @ 1..) = found.len().checked_sub(WARNINGS) {
            page.put("<li>and {} more", &[&thousands(more as u64)]);
        }
        page.put("</ul></section>", &[]);
    }

    /// A row for each column.
    fn overview(&self, page: &mut Html) {
        page.put(OVERVIEW, &[]);
        let most = self.columns.iter().map(|column| column.bytes).max().unwrap_or(0);
        for (at, column) in self.columns.iter().enumerate() {
            let ColumnStats { field, docs, missing, .. } = &column.stats;
            let types = [field.logical.name(), field.kind.name()];
            page.put(
                "<tr><td><a href=\"#c{}\">{}</a><td>{}<td>{}",
                &[&at.to_string(), &cut(&field.name), types[0], types[1]],
            );
            let cells = [percent(*missing, *docs), figure::distinct(&column.stats), thousands(column.bytes)];
            cells.iter().for_each(|cell| page.put("<td class=n>{}", &[cell]));
            share(page, column.bytes, (self.bytes, most));
            page.put("<td>{}", &[&column.encodings.join(", ")]);
        }
        page.put("</table></div></section>", &[]);
    }

    fn sample(&self, page: &mut Html) -> Result<()> {
        let columns = &self.columns[..self.columns.len().min(SAMPLE_COLUMNS)];
        if columns.is_empty() || self.sample.is_empty() {
            return Ok(());
        }
        let mut records =
            Records::over(self.segments, columns.iter().map(|column| Some(&column.stats.field)))?;
        records.load(&self.sample)?;
        page.put("<section><h2>Some documents</h2><div class=scroll><table><thead><tr>", &[]);
        columns.iter().for_each(|column| page.put("<th>{}", &[&cut(&column.stats.field.name)]));
        page.put("<tbody>", &[]);
        for at in 0..self.sample.len() {
            page.put("<tr>", &[]);
            for column in records.columns() {
                let mut cell = String::new();
                column.values(at, |values| column.printer.plain(values, &mut cell));
                page.put("<td>{}", &[&cut(&cell)]);
            }
        }
        page.put("</table></div></section>", &[]);
        Ok(())
    }
}

impl ColumnReport {
    /// Everything about the column, which is the one at index `at`.
    fn card(&self, at: usize, all_bytes: u64) -> Html {
        let (mut card, field) = (Html::default(), &self.stats.field);
        let (at, name, types) = (at.to_string(), cut(&field.name), [field.logical.name(), field.kind.name()]);
        card.put("<article id=c{}><h3>{} <small>{}, {}</small></h3><dl>", &[&at, &name, types[0], types[1]]);
        for (name, text) in self.facts(all_bytes) {
            card.put("<dt>{}<dd>{}", &[name, &cut(&text)]);
        }
        card.put("</dl>", &[]);
        let printer = Printer::of(field);
        if let Some(found) = &self.histogram {
            let from = |from| printer.to_text(&begin(field, from));
            let ranges = found.buckets.iter().map(|range| (from(range.from), range.count));
            charts::counts(&mut card, &field.name, &ranges.collect::<Vec<_>>());
        }
        if let Some(found) = self.facet.as_ref().filter(|found| !found.values.is_empty()) {
            card.put("<table>", &[]);
            let most = found.values.iter().map(|(_, count)| *count).max().unwrap_or(0);
            for (value, count) in found.values.iter().take(VALUES) {
                let value = cut(&printer.to_text(value));
                card.put("<tr><td>{}<td class=n>{}", &[&value, &thousands(*count)]);
                share(&mut card, *count, (found.docs, most));
            }
            card.put("</table>", &[]);
        }
        if let Some(found) = &self.zones {
            let [open, count] = [found.open, found.count].map(|count| thousands(count as u64));
            card.put(
                "<p>Zones of documents: a filter for the median looks into {} of {}</p>",
                &[&open, &count],
            );
            charts::zones(&mut card, &field.name, found);
        }
        card.put("</article>", &[]);
        card
    }

    fn facts(&self, all_bytes: u64) -> Vec<(&'static str, String)> {
        let ColumnStats { field, docs, missing, values, nans, min, max, percentiles, .. } = &self.stats;
        let printer = Printer::of(field);
        let text = |value: &Value| printer.to_text(value);
        let mut facts = vec![("values", thousands(*values)), ("missing", percent(*missing, *docs))];
        facts.extend((*nans > 0).then(|| ("NaN", thousands(*nans))));
        facts.push(("distinct", figure::distinct(&self.stats)));
        facts.extend(min.as_ref().map(|value| ("least", text(value))));
        if let [(_, median), (_, most)] = percentiles.as_slice()
            && field.logical != LogicalType::Bool
        {
            facts.extend([("median", text(median)), ("99 % up to", text(most))]);
        }
        facts.extend(max.as_ref().map(|value| ("greatest", text(value))));
        facts.extend(sum_and_mean(&self.stats).1.map(|mean| ("mean", figure::text(&mean, &printer))));
        facts.push(("bytes", format!("{} ({})", thousands(self.bytes), percent(self.bytes, all_bytes))));
        facts
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{} %", decimal(part * 100, whole, 1))
}

/// Appends cells with a share: a number, and a bar relative to the greatest share.
fn share(page: &mut Html, part: u64, (whole, most): (u64, u64)) {
    let width = decimal(part * 100, most, 1);
    page.put("<td class=n>{}<td class=share><i style=\"width:{}%\"></i>", &[&percent(part, whole), &width]);
}
