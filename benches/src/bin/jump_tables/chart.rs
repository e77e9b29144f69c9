//! Box plots by the magnitude of the hits, as SVG: quartiles, median, and whiskers to the least and the 95th
//! percentile.

use std::error::Error;
use std::time::Duration;

use plotters::prelude::*;

use crate::corpus::Contender;
use crate::export::Export;
use crate::measure::{Bucket, ByHits};

const SIZE: (u32, u32) = (860, 420);

/// The width of a box, as a share of the width of a magnitude.
const BOX: f64 = 0.2;

/// Colours that are distinct for colour-blind readers and in grey (Okabe and Ito).
fn colour(contender: Contender) -> RGBColor {
    match contender {
        Contender::Walk => RGBColor(0, 114, 178),
        Contender::Built => RGBColor(0, 158, 115),
        Contender::Baked => RGBColor(230, 159, 0),
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The chart of a workload.
pub(crate) fn draw(by_hits: &ByHits, docs: u32) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let title = format!("{}, {} million documents", by_hits.work.name(), f64::from(docs) / 1e6);
        let samples = || by_hits.buckets.iter().flat_map(|bucket| &bucket.samples);
        let least = samples().map(|sample| millis(sample.percentile(0))).fold(f64::MAX, f64::min);
        let most = samples().map(|sample| millis(sample.percentile(95))).fold(0.0, f64::max);
        // Space for the legend.
        let top = most * (most / least).powf(0.4).max(1.5);
        let magnitudes = by_hits.buckets.iter().map(|bucket| f64::from(bucket.magnitude));
        let (first, last) = (magnitudes.clone().fold(f64::MAX, f64::min), magnitudes.fold(0.0, f64::max));
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d(first - 0.5..last + 0.5, (least / 1.5..top).log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(by_hits.buckets.len())
            .x_label_formatter(&|magnitude| hits(*magnitude))
            .y_label_formatter(&|millis| format!("{millis}"))
            .x_desc("hits")
            .y_desc("milliseconds")
            .draw()?;
        for (at, contender) in Contender::ALL.into_iter().enumerate() {
            let colour = colour(contender);
            let boxes = by_hits.buckets.iter().flat_map(|bucket| pieces(bucket, at, colour));
            chart.draw_series(boxes)?.label(contender.name()).legend(move |(x, y)| {
                Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()).into_dyn()
            });
        }
        legend(&mut chart, SeriesLabelPosition::UpperLeft).map_err(|error| error.to_string())?;
        area.present()?;
    }
    Ok(svg)
}

/// The chart of the runs of an export, one bar for each.
pub(crate) fn runs(export: &Export, docs: u32) -> Result<String, Box<dyn Error>> {
    let totals: Vec<Vec<f64>> = (0..Contender::ALL.len())
        .map(|at| {
            let runs = export.runs[at].iter().map(|run| run.sort + run.fetch);
            runs.chain([export.one_by_one[at]]).map(millis).collect()
        })
        .collect();
    let all = || totals.iter().flatten().copied();
    let (least, most) = (all().fold(f64::MAX, f64::min) / 3.0, all().fold(0.0, f64::max) * 20.0);
    let groups = totals[0].len();
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let title = format!("export of {} rows, {} million documents", export.rows, f64::from(docs) / 1e6);
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d(-0.5..groups as f64 - 0.5, (least..most).log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(groups)
            .x_label_formatter(&|at| match at.round() as usize {
                0 => "run 1 (cold)".to_owned(),
                at if at + 1 < groups => format!("run {}", at + 1),
                _ => "one by one".to_owned(),
            })
            .y_label_formatter(&|millis| format!("{millis}"))
            .y_desc("milliseconds")
            .draw()?;
        for (at, contender) in Contender::ALL.into_iter().enumerate() {
            let colour = colour(contender);
            let bars = (0..groups).map(|group| {
                let x = group as f64 + (at as f64 - 1.0) * 1.3 * BOX;
                Rectangle::new([(x - BOX / 2.0, least), (x + BOX / 2.0, totals[at][group])], colour.filled())
            });
            chart.draw_series(bars)?.label(contender.name()).legend(move |(x, y)| {
                Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()).into_dyn()
            });
        }
        legend(&mut chart, SeriesLabelPosition::UpperRight).map_err(|error| error.to_string())?;
        area.present()?;
    }
    Ok(svg)
}

/// From 10 of a magnitude up to ten times as many.
fn hits(magnitude: f64) -> String {
    let power = |magnitude: f64| match magnitude as i32 {
        ..3 => format!("{}", 10_i32.pow(magnitude as u32)),
        3..6 => format!("{}k", 10_i32.pow(magnitude as u32 - 3)),
        6..9 => format!("{}M", 10_i32.pow(magnitude as u32 - 6)),
        _ => format!("{}G", 10_i32.pow(magnitude as u32 - 9)),
    };
    format!("{}–{}", power(magnitude), power(magnitude + 1.0))
}

/// The legend.
fn legend<'a, B: DrawingBackend + 'a, X: Ranged<ValueType = f64>, Y: Ranged<ValueType = f64>>(
    chart: &mut ChartContext<'a, B, Cartesian2d<X, Y>>,
    place: SeriesLabelPosition,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let mut labels = chart.configure_series_labels();
    labels.position(place).background_style(WHITE.mix(0.9));
    labels.border_style(BLACK.mix(0.3)).draw()
}

type Piece<'a> = DynElement<'static, SVGBackend<'a>, (f64, f64)>;

/// A box and its whiskers.
fn pieces<'a>(bucket: &Bucket, at: usize, colour: RGBColor) -> Vec<Piece<'a>> {
    let [least, low, middle, high, most] =
        [0, 25, 50, 75, 95].map(|percent| millis(bucket.samples[at].percentile(percent)));
    let x = f64::from(bucket.magnitude) + (at as f64 - 1.0) * 1.3 * BOX;
    let (left, right) = (x - BOX / 2.0, x + BOX / 2.0);
    let line = |from, to, style: ShapeStyle| PathElement::new(vec![from, to], style).into_dyn();
    vec![
        line((x, least), (x, low), colour.stroke_width(2)),
        line((x, high), (x, most), colour.stroke_width(2)),
        Rectangle::new([(left, low), (right, high)], colour.filled()).into_dyn(),
        line((left, middle), (right, middle), BLACK.stroke_width(2)),
        line((left, least), (right, least), colour.stroke_width(2)),
        line((left, most), (right, most), colour.stroke_width(2)),
    ]
}
