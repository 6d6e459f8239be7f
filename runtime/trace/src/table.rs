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
}

impl Table {
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Table { columns: columns.to_vec(), rows: Vec::new() }
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
}

impl Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: &str| text.chars().count();
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, (title, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.map(|cell| width(cell)).max().unwrap_or(0).max(width(title))
            })
            .collect();
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::from(" ");
            for ((cell, wide), (_, align)) in cells.zip(&widths).zip(&self.columns) {
                let gap = " ".repeat(wide - width(cell));
                text.push(' ');
                match align {
                    Align::Left => text.extend([cell, &gap]),
                    Align::Right => text.extend([&gap, cell]),
                }
                text.push(' ');
            }
            writeln!(out, "{}", text.trim_end())
        };
        line(&mut self.columns.iter().map(|(title, _)| *title))?;
        for row in &self.rows {
            line(&mut row.iter().map(String::as_str))?;
        }
        Ok(())
    }
}

/// Nanoseconds with three or four significant digits and a unit.
pub fn time(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => scaled(value / 1e3, "us"),
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
    fn units() {
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(1_234), "1.23 us");
        assert_eq!(time(99_960), "100 us");
        assert_eq!(time(12_345_678), "12.3 ms");
        assert_eq!(time(61_000_000_000), "61.0 s");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }
}
