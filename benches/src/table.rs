//! Markdown tables whose columns also line up on a terminal.

use std::fmt::Write;

/// The first line is the head. The first and the last column hold names and verdicts,
/// which start at the left; the others hold figures, which end at the right.
pub fn render<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
    });
    let is_text = |column| column == 0 || column == COLUMNS - 1;
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            // Writing to a string cannot fail.
            let _ = match is_text(column) {
                true => write!(text, "| {cell:<width$} "),
                false => write!(text, "| {cell:>width$} "),
            };
        }
        text.push_str("|\n");
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width + 1);
                let end = if is_text(column) { '-' } else { ':' };
                let _ = write!(text, "|{dashes}{end}");
            }
            text.push_str("|\n");
        }
    }
    text
}

/// Nanoseconds in the unit that suits them.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let line = |cells: [&str; 3]| cells.map(str::to_owned);
        let text = super::render(&[line(["Case", "µs", "Result"]), line(["a", "12.5", "pass"])]);
        assert_eq!(text, "| Case |   µs | Result |\n|------|-----:|--------|\n| a    | 12.5 | pass   |\n");
    }
}
