//! Aligned text tables and readable units, for reports and for the command-line tool.

use std::fmt::{self, Display};

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of text under a header, every column as wide as its widest cell.
#[derive(Debug)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
    /// The last column stands on a line of its own below each row.
    last_below: bool,
}

impl Table {
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Table { columns: columns.to_vec(), rows: Vec::new(), last_below: false }
    }

    /// Adds a row; missing cells at its end are empty.
    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        assert!(
            cells.len() <= self.columns.len(),
            "{} cells for {} columns",
            cells.len(),
            self.columns.len()
        );
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes it as narrow as `width` columns: the last column, if it is text, goes below its row;
    /// then those of these titles are left out, one after the other. What is still too wide stays.
    #[must_use]
    pub fn fit(mut self, width: usize, unimportant: &[&str]) -> Self {
        if self.width() > width && self.columns.len() > 1 {
            self.last_below = self.columns.last().is_some_and(|(_, align)| *align == Align::Left);
        }
        for title in unimportant {
            if self.width() <= width {
                break;
            }
            if let Some(at) = self.columns.iter().position(|(known, _)| known == title) {
                self.columns.remove(at);
                self.rows.iter_mut().filter(|row| at < row.len()).for_each(|row| {
                    row.remove(at);
                });
            }
        }
        self
    }

    /// Of each column.
    fn widths(&self) -> Vec<usize> {
        let column = |(at, (title, _)): (usize, &(&'static str, Align))| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| columns_of(cell)).max().unwrap_or(0).max(columns_of(title))
        };
        self.columns.iter().enumerate().map(column).collect()
    }

    /// Of all of it, without what is below the rows.
    fn width(&self) -> usize {
        self.widths()[..self.in_line()].iter().map(|wide| wide + GAP).sum()
    }

    /// How many columns a row has in its line.
    fn in_line(&self) -> usize {
        self.columns.len() - usize::from(self.last_below)
    }
}

/// Spaces before each column.
const GAP: usize = 2;

fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// Breaks lines at spaces, so that they have at most `width` columns where words allow it; what
/// continues a line is indented.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> String {
    const INDENT: &str = "    ";
    let mut out = String::new();
    let mut column = 0;
    for (at, word) in text.split(' ').enumerate() {
        let length = columns_of(word);
        if at == 0 {
            column = length;
        } else if column + 1 + length > width && column > INDENT.len() {
            out.extend(["\n", INDENT]);
            column = INDENT.len() + length;
        } else {
            out.push(' ');
            column += 1 + length;
        }
        out.push_str(word);
    }
    out
}

impl Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let in_line = self.in_line();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::from(" ");
            for ((cell, wide), (_, align)) in cells.zip(&widths).zip(&self.columns).take(in_line) {
                let gap = " ".repeat(wide - columns_of(cell));
                text.push(' ');
                match align {
                    Align::Left => text.extend([cell, &gap]),
                    Align::Right => text.extend([&gap, cell]),
                }
                text.push(' ');
            }
            text.truncate(text.trim_end().len());
            text
        };
        writeln!(out, "{}", line(&mut self.columns.iter().map(|(title, _)| *title)))?;
        for row in &self.rows {
            writeln!(out, "{}", line(&mut row.iter().map(String::as_str)))?;
            if let Some(below) = row.get(in_line).filter(|below| !below.is_empty()) {
                writeln!(out, "    {below}")?;
            }
        }
        Ok(())
    }
}

/// Nanoseconds with three or four significant digits and a unit.
pub fn time(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => scaled(value / 1e3, "µs"),
        1_000_000..1_000_000_000 => scaled(value / 1e6, "ms"),
        _ => scaled(value / 1e9, "s"),
    }
}

/// Bytes in binary units.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would print as 1024.0, so move on a little earlier.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

fn scaled(value: f64, unit: &str) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2} {unit}"),
        _ if value < 99.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align() {
        let mut table = Table::new(&[("name", Align::Left), ("n", Align::Right), ("note", Align::Left)]);
        table.row(["a".into(), "1".into(), "x".into()]);
        table.row(["größer".into(), "100".into()]);
        let expected = "  name      n  note\n  a         1  x\n  größer  100\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn narrow_tables_lose_no_text() {
        let columns =
            [("name", Align::Left), ("n", Align::Right), ("m", Align::Right), ("note", Align::Left)];
        let table = || {
            let mut table = Table::new(&columns);
            table.row(["a".into(), "1".into(), "23".into(), "a long one".into()]);
            table.row(["b".into(), "4".into(), "5".into()]);
            table
        };
        let wide = "  name  n   m  note\n  a     1  23  a long one\n  b     4   5\n";
        assert_eq!(table().fit(80, &["n"]).to_string(), wide);
        let below = "  name  n   m\n  a     1  23\n    a long one\n  b     4   5\n";
        assert_eq!(table().fit(20, &["n"]).to_string(), below);
        let narrow = "  name   m\n  a     23\n    a long one\n  b      5\n";
        assert_eq!(table().fit(10, &["n"]).to_string(), narrow);
    }

    #[test]
    fn long_lines_break_at_spaces() {
        assert_eq!(wrapped("one two three", 80), "one two three");
        assert_eq!(wrapped("  one two three", 9), "  one two\n    three");
        assert_eq!(wrapped("unbreakable", 4), "unbreakable");
    }

    #[test]
    fn units() {
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(1_234), "1.23 µs");
        assert_eq!(time(99_960), "100 µs");
        assert_eq!(time(12_345_678), "12.3 ms");
        assert_eq!(time(61_000_000_000), "61.0 s");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }
}
