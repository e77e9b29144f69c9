//! Plots as SVG, by hand: one row for each column, one mark for each peer, on a scale of powers of ten.

use std::fmt::Write;
use std::ops::Range;

use crate::cpus;
use crate::report::figure;
use crate::results::{Figure, Results, unit};
use crate::task::{Column, Work};

const WIDTH: f64 = 860.0;
const LABELS: f64 = 120.0;
const RIGHT: f64 = 24.0;
const ROW: f64 = 26.0;
/// Room for the title, the legend and the scale.
const HEAD: f64 = 84.0;

/// How each peer is drawn: its colour, and whether its mark is filled.
fn look(peer: &str) -> (&'static str, bool) {
    match peer {
        "docvalues" => ("#111827", true),
        "docvalues-files" => ("#6b7280", true),
        "docvalues-bare" => ("#6b7280", false),
        "lucene-10.5.0" => ("#2563eb", true),
        "lucene-9.12.3" => ("#60a5fa", true),
        "lucene-8.0.0" => ("#93c5fd", false),
        "lucene-7.7.3" => ("#1e3a8a", false),
        "lucene-10.3.1" => ("#60a5fa", false),
        "lucene-10.5.0-bloom" => ("#7c3aed", true),
        "tantivy" => ("#ea580c", true),
        "fst" => ("#db2777", true),
        "parquet" => ("#16a34a", false),
        "vortex" => ("#ca8a04", true),
        "lance" => ("#0891b2", true),
        _ => ("#16a34a", true),
    }
}

/// A picture that grows downwards.
struct Picture {
    body: String,
    height: f64,
    /// Where rows begin.
    labels: f64,
    scale: Range<f64>,
}

impl Picture {
    /// `scale`: the powers of ten from the left to the right.
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

    /// A peer's mark; docvalues is a diamond.
    fn mark(&mut self, x: f64, y: f64, peer: &str, told: &str) {
        let (colour, filled) = look(peer);
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
            r#"{shape} fill="{fill}" stroke="{colour}" stroke-width="1.8" fill-opacity="0.85"><title>{told}</title></{}>"#,
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

    /// Lines at the powers of ten, from `top` down to here, and their numbers.
    fn grid(&mut self, top: f64) -> String {
        let rows = std::mem::take(&mut self.body);
        let bottom = self.height;
        let (first, last) = (self.scale.start.ceil() as i32, self.scale.end.floor() as i32);
        for power in first - 1..=last {
            // 2 and 5 between powers of ten, where there is room for them.
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
        std::mem::replace(&mut self.body, rows)
    }

    fn finish(self, behind: &str) -> String {
        let height = self.height + 30.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} \
             {height}\" font-family=\"ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif\">\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n{behind}{}</svg>\n",
            self.body
        )
    }
}

/// A power of ten, without digits that say nothing.
fn figure_plain(value: f64) -> String {
    if value >= 1.0 {
        figure(value).split('.').next().unwrap_or_default().to_owned()
    } else {
        // 2 × 10^-1 is not exactly 0.2.
        let text = format!("{value:.6}");
        text.trim_end_matches('0').to_owned()
    }
}

/// The powers of ten around all of `values`.
fn around(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let logs = values.filter(|value| *value > 0.0).map(f64::log10);
    let (low, high) = (logs.clone().fold(f64::INFINITY, f64::min), logs.fold(f64::NEG_INFINITY, f64::max));
    if low > high { 0.0..1.0 } else { low - 0.15..(high + 0.15).max(low + 1.0) }
}

/// A work: a row for each column.
pub fn bars(results: &Results, work: Work, title: &str) -> String {
    let (columns, mut peers) = (results.columns(work), results.peers_of(work));
    // They would hide docvalues.
    peers.retain(|peer| !cpus::is_limited(peer.0));
    // Strings are not to be seen beside ords.
    let alike = |column, found: &Figure| {
        results.get(work, column, "docvalues").is_none_or(|ours| ours.strings == found.strings)
    };
    let row = |column| {
        let found = peers.iter().filter_map(|peer| Some((peer, results.get(work, column, peer.0)?)));
        found.filter(|(_, found)| alike(column, found)).collect()
    };
    let figures: Vec<(Column, Vec<_>)> = columns.iter().map(|&column| (column, row(column))).collect();
    let rows = figures.iter().map(|(column, row)| {
        let mark = |(peer, found): &(&(&'static str, &'static str), &Figure)| (**peer, found.value);
        (column.name().to_owned(), row.iter().map(mark).collect())
    });
    rows_of_marks(title, unit(work), LABELS, &peers, &rows.collect::<Vec<_>>())
}

/// A peer, with what it is called, and its figure.
pub type Mark = ((&'static str, &'static str), f64);

/// A row of marks for each of `rows`, whose names have `labels` pixels.
pub fn rows_of_marks(
    title: &str,
    unit: &str,
    labels: f64,
    peers: &[(&'static str, &'static str)],
    rows: &[(String, Vec<Mark>)],
) -> String {
    let values = rows.iter().flat_map(|row| &row.1).map(|(_, value)| *value);
    let mut picture = Picture::new(title, &format!("{unit}; further left is better"), around(values));
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
        // Ours last: on top.
        for ((peer, name), value) in row.iter().rev() {
            let told = format!("{name}: {} {unit}", figure(*value));
            picture.mark(picture.x(*value), y, peer, &told);
        }
    }
    // What is above the rows has been drawn already and stays.
    let behind = picture.grid(top);
    picture.finish(&behind)
}

/// Ratios of all works and columns.
pub fn overview(results: &Results, works: &[Work]) -> String {
    let peers: Vec<_> = results.rivals();
    let mut rows: Vec<(Work, Column, Vec<_>)> = Vec::new();
    for &work in works {
        for column in results.columns(work) {
            let ratios = peers.iter().filter_map(|peer| Some((peer, results.ratio(work, column, peer.0)?)));
            rows.push((work, column, ratios.collect::<Vec<_>>()));
        }
    }
    rows.retain(|row| !row.2.is_empty());
    let values = rows.iter().flat_map(|row| &row.2).map(|(_, ratio)| *ratio).chain([0.5, 20.0]);
    let mut picture = Picture::new(
        "What the peers need, as a multiple of what docvalues needs",
        "marks in the red are ahead of docvalues; further right is slower or larger",
        around(values),
    );
    picture.legend(&peers);
    let top = picture.height;
    let mut last = None;
    for (work, column, ratios) in &rows {
        if last != Some(work) {
            picture.height += 24.0;
            let y = picture.height - 6.0;
            picture.text(16.0, y, "start", 13.0, "#111827", work.name());
            picture.line((16.0, y + 5.0), (WIDTH - RIGHT, y + 5.0), "#9ca3af", 0.6);
            last = Some(work);
        }
        picture.height += 19.0;
        let y = picture.height - 8.0;
        picture.text(LABELS - 14.0, y + 4.0, "end", 12.0, "#374151", column.name());
        for (peer, ratio) in ratios.iter().rev() {
            let told = format!("{work} {column}: {} x{}", peer.1, figure(*ratio));
            picture.mark(picture.x(*ratio), y, peer.0, &told);
        }
    }
    let mut behind = String::new();
    let (bottom, one) = (picture.height, picture.x(1.0));
    let _ = writeln!(
        behind,
        r##"<rect x="{LABELS}" y="{top}" width="{:.1}" height="{:.1}" fill="#fee2e2"/>"##,
        one - LABELS,
        bottom - top
    );
    behind.push_str(&picture.grid(top));
    let _ = writeln!(
        behind,
        r##"<line x1="{one:.1}" y1="{top}" x2="{one:.1}" y2="{bottom:.1}" stroke="#111827" stroke-width="1.5"/>"##
    );
    picture.finish(&behind)
}
