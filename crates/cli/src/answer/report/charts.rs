//! Charts as SVG, 40 units high.

use super::html::{Html, cut};
use super::zones::ZoneMap;
use crate::text::thousands;

const HEIGHT: f64 = 40.0;

/// Appends the beginning of a chart of `places` bars.
fn begin(page: &mut Html, places: usize, what: &str, name: &str) {
    let markup = "<svg preserveAspectRatio=none viewBox=\"0 0 {} 40\" role=img aria-label=\"{} {}\">";
    page.put(markup, &[&places.to_string(), what, &cut(name)]);
}

/// Appends a bar from `low` to `high`, both from 0 to 1, with a text for a pointer.
fn bar(page: &mut Html, place: usize, (low, high): (f64, f64), title: &str) {
    // A bar can be seen, however short it is.
    let height = ((high - low) * HEIGHT).max(0.7);
    let top = (HEIGHT - low * HEIGHT - height).max(0.0);
    let [top, height] = [top, height].map(|number| format!("{number:.1}"));
    let markup = "<rect width=.92 x={} y={} height={}><title>{}</title></rect>";
    page.put(markup, &[&place.to_string(), &top, &height, title]);
}

/// Appends the counts of ranges, each with the start of its range.
pub(super) fn counts(page: &mut Html, name: &str, ranges: &[(String, u64)]) {
    let most = ranges.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1) as f64;
    begin(page, ranges.len(), "Histogram of", name);
    for (place, (from, count)) in ranges.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
        let title = format!("{from}: {}", thousands(*count));
        bar(page, place, (0.0, *count as f64 / most), &title);
    }
    page.put("</svg>", &[]);
    if let [(first, _), .., (last, _)] = ranges {
        page.put("<p class=ends><span>{}</span><span>{} …</span></p>", &[first, last]);
    }
}

/// Appends the ranges of zones, in the order of the documents.
pub(super) fn zones(page: &mut Html, name: &str, zones: &ZoneMap) {
    begin(page, zones.spans.len(), "Ranges of the zones of", name);
    zones.spans.iter().enumerate().for_each(|(place, span)| bar(page, place, *span, ""));
    page.put("</svg>", &[]);
}
