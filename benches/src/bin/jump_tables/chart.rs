//! Box plots by the magnitude of the hits, as SVG: quartiles, median, and whiskers to the least and the 95th
//! percentile.

use std::error::Error;
use std::time::Duration;

use plotters::prelude::*;

use crate::corpus::Contender;
use crate::measure::{Bucket, ByHits};

const SIZE: (u32, u32) = (860, 420);

/// The width of a box, as a share of the width of a magnitude.
const BOX: f64 = 0.2;

/// The contenders of a chart, in colours that are distinct for colour-blind readers and in grey (Okabe and Ito).
const DRAWN: [(Contender, RGBColor); 3] = [
    (Contender::Lucene7, RGBColor(0, 114, 178)),
    (Contender::Lucene8, RGBColor(0, 158, 115)),
    (Contender::Baked, RGBColor(230, 159, 0)),
];

fn place(contender: Contender) -> usize {
    Contender::ALL.iter().position(|other| *other == contender).unwrap_or(0)
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
        let samples = || {
            by_hits
                .buckets
                .iter()
                .flat_map(|bucket| DRAWN.map(|(contender, _)| &bucket.samples[place(contender)]))
        };
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
        for (at, (contender, colour)) in DRAWN.into_iter().enumerate() {
            let boxes = by_hits.buckets.iter().flat_map(|bucket| pieces(bucket, contender, at, colour));
            chart.draw_series(boxes)?.label(contender.name()).legend(move |(x, y)| {
                Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()).into_dyn()
            });
        }
        legend(&mut chart, SeriesLabelPosition::UpperLeft).map_err(|error| error.to_string())?;
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
fn pieces<'a>(bucket: &Bucket, contender: Contender, at: usize, colour: RGBColor) -> Vec<Piece<'a>> {
    let sample = &bucket.samples[place(contender)];
    let [least, low, middle, high, most] =
        [0, 25, 50, 75, 95].map(|percent| millis(sample.percentile(percent)));
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
