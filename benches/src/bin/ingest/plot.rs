//! Plots of documents a second over time.

use std::error::Error;

use docvalues_benches::line_plot::{LinePlot, Scale};

use super::million::STEPS;
use super::{Args, Peer};

/// The rates of all cases over the documents that were added, as SVG.
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
    let title = match segments {
        0 => "new ids into an empty index".to_owned(),
        _ => format!("new ids beside {} documents in {segments} segments", args.docs),
    };
    let scales = ["thousands of documents added", "thousands a second"];
    LinePlot { title, scales, horizontal: Scale::Linear, lines }.draw()
}
