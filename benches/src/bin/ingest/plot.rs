//! Plots of documents a second over time, as SVG.

use std::error::Error;

use plotters::prelude::*;

use super::million::STEPS;
use super::{Args, Peer};

const SIZE: (u32, u32) = (860, 420);

/// Colours that are distinct for colour-blind readers and in grey (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(240, 228, 66),
    RGBColor(0, 0, 0),
];

/// The rates of all cases over the documents that were added.
pub(super) fn draw(args: &Args, segments: u32, peers: &[Peer]) -> Result<String, Box<dyn Error>> {
    let step = f64::from(args.operations / STEPS) / 1e3;
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for peer in peers {
        for case in &peer.cases {
            let rates = case["docs_s_by_step"].split(' ').map(|rate| rate.parse::<f64>().unwrap_or(1.0));
            let points = (1..).zip(rates).map(|(at, rate)| (f64::from(at) * step, rate / 1e3)).collect();
            // Without the JVM.
            let name = peer.name.split(" (").next().unwrap_or_default();
            lines.push((format!("{name}, {}", case["case"]), points));
        }
    }
    let rates = || lines.iter().flat_map(|(_, points)| points).map(|(_, rate)| *rate);
    let (least, most) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let title = match segments {
            0 => "new ids into an empty index".to_owned(),
            _ => format!("new ids beside {} documents in {segments} segments", args.docs),
        };
        // Space for the legend.
        let top = most * (most / least).powf(0.4).max(2.0);
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..step * f64::from(STEPS), (least / 1.5..top).log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_label_formatter(&|docs| format!("{docs}"))
            .y_label_formatter(&|rate| format!("{rate}"))
            .x_desc("thousands of documents added")
            .y_desc("thousands a second")
            .draw()?;
        for ((name, points), colour) in lines.into_iter().zip(COLOURS.into_iter().cycle()) {
            let line = [PathElement::new(points, colour.stroke_width(2))];
            chart.draw_series(line)?.label(name).legend(move |(x, y)| {
                Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()).into_dyn()
            });
        }
        let mut labels = chart.configure_series_labels();
        labels.position(SeriesLabelPosition::UpperRight).background_style(WHITE.mix(0.9));
        labels.border_style(BLACK.mix(0.3)).draw().map_err(|error| error.to_string())?;
        area.present()?;
    }
    Ok(svg)
}
