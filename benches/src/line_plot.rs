//! Plots of lines, as SVG.

use std::error::Error;

use plotters::prelude::*;

const SIZE: (u32, u32) = (860, 420);

/// Colours that are distinct for colour-blind readers and in grey (Okabe and Ito).
pub(crate) const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(240, 228, 66),
    RGBColor(0, 0, 0),
];

/// The horizontal scale.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Numbers.
    Linear,
    /// The logarithms of numbers of 1 and more.
    Logarithmic,
    /// Names of the whole numbers from 0 on.
    Names(Vec<String>),
}

/// Lines over one scale; the vertical one is logarithmic.
#[derive(Clone, Debug)]
pub struct LinePlot {
    /// The caption.
    pub title: String,
    /// The names of the horizontal and the vertical scale.
    pub scales: [&'static str; 2],
    /// The horizontal scale.
    pub horizontal: Scale,
    /// The name of each line, and its points.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl LinePlot {
    /// The plot as SVG.
    ///
    /// # Errors
    ///
    /// If there are no points, or they cannot be drawn.
    pub fn draw(&self) -> Result<String, Box<dyn Error>> {
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let place = |x: f64| if self.horizontal == Scale::Logarithmic { x.log10() } else { x };
        let values = || points().map(|(_, y)| *y);
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        let last = points().map(|(x, _)| place(*x)).fold(0.0, f64::max);
        let first = match self.horizontal {
            Scale::Logarithmic => points().map(|(x, _)| place(*x)).fold(last, f64::min).floor(),
            Scale::Linear | Scale::Names(_) => 0.0,
        };
        // Space for the legend.
        let top = most * (most / least).powf(0.5).max(2.0);
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            area.fill(&WHITE)?;
            let mut chart = ChartBuilder::on(&area)
                .caption(&self.title, ("sans-serif", 18))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(70)
                .build_cartesian_2d(first..last, (least / 1.5..top).log_scale())?;
            let label = |x: &f64| match &self.horizontal {
                Scale::Linear => x.to_string(),
                Scale::Logarithmic => 10_f64.powf(*x).round().to_string(),
                Scale::Names(names) if x.fract() == 0.0 => {
                    names.get(*x as usize).cloned().unwrap_or_default()
                }
                Scale::Names(_) => String::new(),
            };
            let labels = if let Scale::Names(names) = &self.horizontal { names.len() } else { 10 };
            chart
                .configure_mesh()
                .disable_x_mesh()
                .x_labels(labels)
                .x_label_formatter(&label)
                .y_label_formatter(&|y| y.to_string())
                .x_desc(self.scales[0])
                .y_desc(self.scales[1])
                .draw()?;
            for ((name, points), colour) in self.lines.iter().zip(COLOURS.into_iter().cycle()) {
                let points: Vec<_> = points.iter().map(|(x, y)| (place(*x), *y)).collect();
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
}
