//! Plots of dots: one row for each contender, one dot for each case, on a logarithmic scale, as SVG.

use std::error::Error;

use plotters::prelude::*;

use crate::line_plot::COLOURS;

/// Rows of dots.
#[derive(Clone, Debug)]
pub struct DotPlot {
    /// The caption.
    pub title: String,
    /// The name of the scale.
    pub scale: String,
    /// The names of the cases.
    pub cases: Vec<String>,
    /// The name of each row, and its value in each case.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

impl DotPlot {
    /// The plot as SVG.
    ///
    /// # Errors
    ///
    /// If there are no dots, or they cannot be drawn.
    pub fn draw(&self) -> Result<String, Box<dyn Error>> {
        let values = || self.rows.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        if least > most {
            return Err("no dots".into());
        }
        let count = self.rows.len();
        let mut svg = String::new();
        {
            let size = (860, 110 + 26 * u32::try_from(count)?);
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            area.fill(&WHITE)?;
            // Space for the legend below the rows.
            let mut chart = ChartBuilder::on(&area)
                .caption(&self.title, ("sans-serif", 18))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(230)
                .build_cartesian_2d((least / 1.5..most * 1.5).log_scale(), (0..count).into_segmented())?;
            let name = |at: &SegmentValue<usize>| match at {
                SegmentValue::CenterOf(at) if *at < count => self.rows[count - 1 - at].0.clone(),
                _ => String::new(),
            };
            chart
                .configure_mesh()
                .y_labels(count)
                .y_label_formatter(&name)
                .x_label_formatter(&|x| x.to_string())
                .x_desc(&self.scale)
                .light_line_style(WHITE)
                .draw()?;
            for ((case, at), colour) in self.cases.iter().zip(0..).zip(COLOURS) {
                let dot = |(row, (_, values)): (usize, &(String, Vec<Option<f64>>))| {
                    let place = SegmentValue::CenterOf(count - 1 - row);
                    Some(Circle::new((*values.get(at)?.as_ref()?, place), 5, colour.filled()))
                };
                let dots: Vec<_> = self.rows.iter().enumerate().filter_map(dot).collect();
                let legend = move |(x, y)| Circle::new((x + 7, y), 5, colour.filled());
                chart.draw_series(dots)?.label(case).legend(legend);
            }
            let mut labels = chart.configure_series_labels();
            labels.position(SeriesLabelPosition::UpperRight).background_style(WHITE.mix(0.9));
            labels.border_style(BLACK.mix(0.3)).draw().map_err(|error| error.to_string())?;
            area.present()?;
        }
        Ok(svg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_and_dot_is_drawn() {
        let row = |name: &str, values: [Option<f64>; 2]| (name.to_owned(), values.to_vec());
        let plot = DotPlot {
            title: "title".to_owned(),
            scale: "µs".to_owned(),
            cases: vec!["alone".to_owned(), "beside".to_owned()],
            rows: vec![row("first", [Some(1.0), Some(20.0)]), row("second", [Some(3.0), None])],
        };
        let svg = plot.draw().unwrap();
        assert!(["title", "µs", "first", "second", "alone", "beside"].iter().all(|text| svg.contains(text)));
        // A dot for each value, and one for each case in the legend.
        assert_eq!(svg.matches("<circle").count(), 3 + 2, "{svg}");
        assert!(DotPlot { rows: Vec::new(), ..plot }.draw().is_err());
    }
}
