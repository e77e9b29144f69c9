//! Plots as SVG: one row for each column or workload, one mark for each peer, on a logarithmic axis.
//!
//! docvalues is always a black diamond, a peer a circle of its own colour.

use std::fmt::Write;
use std::ops::Range;

use crate::report::figure;
use crate::results::Results;
use crate::task::Workload;

const WIDTH: f64 = 860.0;
const LABELS: f64 = 120.0;
const RIGHT: f64 = 24.0;
const ROW: f64 = 26.0;
/// Height of the title and the legend.
const HEAD: f64 = 84.0;
/// Height of the numbers and the label of the axis.
const AXIS: f64 = 46.0;

/// The colour of a peer, and whether its mark is filled.
fn style(peer: &str) -> (&'static str, bool) {
    match peer {
        "docvalues" => ("#111827", true),
        "lucene-10.5.0" => ("#2563eb", true),
        "lucene-9.12.3" => ("#60a5fa", true),
        "lucene-8.0.0" => ("#93c5fd", false),
        "lucene-7.7.3" => ("#1e3a8a", false),
        "tantivy" => ("#ea580c", true),
        "parquet" => ("#16a34a", false),
        "vortex" => ("#ca8a04", true),
        "lance" => ("#0891b2", true),
        _ => ("#16a34a", true),
    }
}

/// An SVG image that grows downwards.
struct Picture {
    body: String,
    height: f64,
    /// Width of the row labels, left of the axis.
    labels: f64,
    /// Decimal logarithms of the ends of the axis.
    scale: Range<f64>,
}

impl Picture {
    fn new(title: &str, subtitle: &str, scale: Range<f64>) -> Picture {
        let mut picture = Picture { body: String::new(), height: HEAD, labels: LABELS, scale };
        picture.text(16.0, 26.0, "start", 17.0, "#111827", title);
        picture.text(16.0, 44.0, "start", 12.0, "#6b7280", subtitle);
        picture
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, size: f64, colour: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{text}</text>"#
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.body,
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{colour}" stroke-width="{width}"/>"#
        );
    }

    fn x(&self, value: f64) -> f64 {
        let Range { start, end } = self.scale;
        let along = ((value.max(1e-9).log10() - start) / (end - start)).clamp(0.0, 1.0);
        self.labels + along * (WIDTH - self.labels - RIGHT)
    }

    /// The mark of a peer with a tooltip.
    fn mark(&mut self, x: f64, y: f64, peer: &str, tooltip: &str) {
        let (colour, filled) = style(peer);
        let fill = if filled { colour } else { "#ffffff" };
        let ours = peer.starts_with("docvalues");
        let shape = if ours {
            let points = [(0.0, -8.0), (8.0, 0.0), (0.0, 8.0), (-8.0, 0.0)];
            let points: Vec<String> =
                points.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
            format!(r#"<polygon points="{}""#, points.join(" "))
        } else {
            format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="5.5""#)
        };
        let _ = writeln!(
            self.body,
            r#"{shape} fill="{fill}" stroke="{colour}" stroke-width="1.8" fill-opacity="0.85"><title>{tooltip}</title></{}>"#,
            if ours { "polygon" } else { "circle" }
        );
    }

    fn legend(&mut self, peers: &[(&'static str, &'static str)]) {
        const LINE: f64 = 18.0;
        let (mut x, mut y) = (24.0, 62.0);
        for (peer, name) in peers {
            let width = 34.0 + 6.6 * name.len() as f64;
            if x + width > WIDTH {
                (x, y) = (24.0, y + LINE);
                self.height += LINE;
            }
            self.mark(x, y, peer, name);
            self.text(x + 12.0, y + 4.0, "start", 12.0, "#374151", name);
            x += width;
        }
    }

    /// The grid from `top` to the last row, its numbers, and the label of the axis: to be drawn below the rows.
    fn grid(&mut self, top: f64, axis: &str) -> String {
        let rows = std::mem::take(&mut self.body);
        let bottom = self.height;
        let (first, last) = (self.scale.start.ceil() as i32, self.scale.end.floor() as i32);
        for power in first - 1..=last {
            // 2 and 5 between powers of ten if there is room for them.
            let between: &[f64] = if last - first < 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            for times in between {
                let value = times * 10_f64.powi(power);
                if !self.scale.contains(&value.log10()) {
                    continue;
                }
                let (x, width) = (self.x(value), if *times == 1.0 { 1.2 } else { 0.6 });
                self.line((x, top), (x, bottom), "#e5e7eb", width);
                self.text(x, bottom + 16.0, "middle", 11.0, "#6b7280", &figure_plain(value));
            }
        }
        let middle = (self.labels + WIDTH - RIGHT) / 2.0;
        self.text(middle, bottom + 36.0, "middle", 12.0, "#374151", axis);
        std::mem::replace(&mut self.body, rows)
    }

    fn finish(self, background: &str) -> String {
        let height = self.height + AXIS;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} \
             {height}\" font-family=\"ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif\">\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n{background}{}</svg>\n",
            self.body
        )
    }
}

/// A number of the axis, without trailing zeros.
fn figure_plain(value: f64) -> String {
    if value >= 1.0 {
        figure(value).split('.').next().unwrap_or_default().to_owned()
    } else {
        // 2 × 10^-1 is not exactly 0.2.
        let text = format!("{value:.6}");
        text.trim_end_matches('0').to_owned()
    }
}

/// The ends of an axis that holds all `values`, as decimal logarithms.
fn around(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let logs = values.filter(|value| *value > 0.0).map(f64::log10);
    let (low, high) = (logs.clone().fold(f64::INFINITY, f64::min), logs.fold(f64::NEG_INFINITY, f64::max));
    if low > high { 0.0..1.0 } else { low - 0.15..(high + 0.15).max(low + 1.0) }
}

/// A peer, its name in the legend, and its figure.
pub type Mark = ((&'static str, &'static str), f64);

/// A plot of `rows`, whose labels are `labels` pixels wide.
pub fn rows_of_marks(
    title: &str,
    unit: &str,
    labels: f64,
    peers: &[(&'static str, &'static str)],
    rows: &[(String, Vec<Mark>)],
) -> String {
    let values = rows.iter().flat_map(|row| &row.1).map(|(_, value)| *value);
    let mut picture = Picture::new(title, "further left is better; logarithmic axis", around(values));
    picture.labels = labels;
    picture.legend(peers);
    let top = picture.height;
    for (name, row) in rows {
        picture.height += ROW;
        let y = picture.height - ROW / 2.0;
        picture.text(labels - 14.0, y + 4.0, "end", 13.0, "#111827", name);
        let ends = row.iter().map(|(_, value)| picture.x(*value));
        let (left, right) = (ends.clone().fold(WIDTH, f64::min), ends.fold(0.0, f64::max));
        picture.line((left, y), (right, y), "#d1d5db", 2.0);
        // docvalues is first in a row, and drawn last, on top.
        for ((peer, name), value) in row.iter().rev() {
            let tooltip = format!("{name}: {} {unit}", figure(*value));
            picture.mark(picture.x(*value), y, peer, &tooltip);
        }
    }
    let background = picture.grid(top, unit);
    picture.finish(&background)
}

/// The ratios of one peer in one workload, over all columns.
struct Spread {
    least: f64,
    median: f64,
    greatest: f64,
}

impl Spread {
    fn new(mut ratios: Vec<f64>) -> Option<Spread> {
        ratios.sort_by(f64::total_cmp);
        let (least, greatest) = (*ratios.first()?, *ratios.last()?);
        Some(Spread { least, median: ratios[ratios.len() / 2], greatest })
    }
}

/// A plot of ratios: a row for each workload with its label, and in it a line for each of `peers` from the least to
/// the greatest ratio of all columns, with a mark at the median.
pub fn overview(
    results: &Results,
    workloads: &[(Workload, &str)],
    peers: &[(&'static str, &'static str)],
    title: &str,
    axis: &str,
) -> String {
    const LABELS: f64 = 330.0;
    const LANE: f64 = 13.0;
    let spread = |work, peer: &str| {
        let columns = results.columns(work).into_iter();
        Spread::new(columns.filter_map(|column| results.ratio(work, column, peer)).collect())
    };
    let mut rows = Vec::new();
    for &(work, label) in workloads {
        let lanes = peers.iter().filter_map(|&(peer, name)| Some((peer, name, spread(work, peer)?)));
        rows.push((label, lanes.collect::<Vec<_>>()));
    }
    rows.retain(|row| !row.1.is_empty());
    let spreads = rows.iter().flat_map(|row| &row.1);
    let ends = spreads.flat_map(|(_, _, found)| [found.least, found.greatest]).chain([0.5, 20.0]);
    let subtitle = "mark: median over the columns; line: from the least to the greatest; red: docvalues loses; logarithmic axis";
    let mut picture = Picture::new(title, subtitle, around(ends.collect::<Vec<_>>().into_iter()));
    picture.labels = LABELS;
    let legend: Vec<_> = [("docvalues", "docvalues = 1")].into_iter().chain(peers.iter().copied()).collect();
    picture.legend(&legend);
    let top = picture.height;
    let one = picture.x(1.0);
    for (label, lanes) in &rows {
        let height = lanes.len() as f64 * LANE + 10.0;
        let middle = picture.height + height / 2.0;
        picture.text(LABELS - 14.0, middle + 4.0, "end", 12.0, "#111827", label);
        // Below the others, which it would hide.
        picture.mark(one, middle, "docvalues", "docvalues");
        for (lane, (peer, name, found)) in lanes.iter().enumerate() {
            let y = picture.height + 5.0 + (lane as f64 + 0.5) * LANE;
            let (least, greatest) = (picture.x(found.least), picture.x(found.greatest));
            picture.line((least, y), (greatest, y), style(peer).0, 1.6);
            let range = format!("{} to {}", figure(found.least), figure(found.greatest));
            let tooltip = format!("{label}: {name} x{} ({range})", figure(found.median));
            picture.mark(picture.x(found.median), y, peer, &tooltip);
        }
        picture.height += height;
        picture.line((16.0, picture.height), (WIDTH - RIGHT, picture.height), "#e5e7eb", 0.6);
    }
    let bottom = picture.height;
    let mut background = String::new();
    let (width, height) = (one - LABELS, bottom - top);
    let _ = writeln!(
        background,
        r##"<rect x="{LABELS}" y="{top}" width="{width:.1}" height="{height:.1}" fill="#fee2e2"/>"##
    );
    background.push_str(&picture.grid(top, axis));
    let _ = writeln!(
        background,
        r##"<line x1="{one:.1}" y1="{top}" x2="{one:.1}" y2="{bottom:.1}" stroke="#111827" stroke-width="1.5"/>"##
    );
    picture.finish(&background)
}
