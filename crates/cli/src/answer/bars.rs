//! Values with their counts, as bars.

use super::table::{Align, MAX_PADDED};
use crate::console::Console;
use crate::error::Result;
use crate::text::fit::{fit, is_number, width};
use crate::text::thousands;

/// The most and the least width to which a value is cut if the lines are too wide.
const MAX_VALUE: usize = 40;
const MIN_VALUE: usize = 8;

/// The widths of the longest bar, on a wide and on a narrow terminal.
const MAX_BAR: usize = 30;
const MIN_BAR: usize = 10;

/// Prints values, their counts, a note on each, and bars.
pub(crate) fn print_bars(
    rows: &[(String, u64, String)],
    align: Align,
    console: &mut Console<'_>,
) -> Result<()> {
    let longest = rows.iter().map(|(value, ..)| width(value)).max().unwrap_or(0);
    let most = rows.iter().map(|(_, count, _)| *count).max().unwrap_or(0);
    let digits = thousands(most).len();
    let notes = rows.iter().map(|(.., more)| width(more)).max().unwrap_or(0);
    // Blanks before the value, the count and the bar.
    let others = 2 + 2 + digits + notes + 2;
    let room = console.out_width.map_or(usize::MAX, |width| width.saturating_sub(others));
    // Numbers are never cut, and other values only if they leave no room for the bars.
    let max = if align == Align::Right || longest.saturating_add(MAX_BAR) <= room {
        longest
    } else {
        let numbers = rows.iter().map(|(value, ..)| value).filter(|value| is_number(value));
        let number = numbers.map(|value| width(value)).max().unwrap_or(0);
        room.saturating_sub(MIN_BAR).clamp(MIN_VALUE, MAX_VALUE).max(number)
    };
    let widest = longest.min(max).min(MAX_PADDED);
    let longest_bar = room.saturating_sub(widest).min(MAX_BAR);
    for (value, count, more) in rows {
        let value = align.pad(&fit(value, max), widest);
        let line =
            format!("  {value}  {:>digits$}{more}  {}", thousands(*count), bar(*count, most, longest_bar));
        writeln!(console.out, "{}", line.trim_end())?;
    }
    if longest > max {
        console.note_cut();
    }
    Ok(())
}

/// A bar of up to `longest` characters, drawn in eighths of a character.
fn bar(count: u64, most: u64, longest: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = count.saturating_mul(8 * longest as u64).div_ceil(most.max(1));
    let [whole, rest] = [eighths / 8, eighths % 8].map(|n| usize::try_from(n).unwrap_or(0));
    format!("{}{}", "█".repeat(whole), EIGHTHS[rest])
}
