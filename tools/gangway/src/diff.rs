//! `gangway report diff`: what has changed between two runs of a program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use anyhow::{Context, bail};
use gangway_trace::table::{Align, Table, bytes, time};
use serde::Deserialize;

use crate::arguments::Diff;
use crate::exit::{FAILURE, Outcome, SUCCESS};

/// What of a report is compared. Unknown fields are of newer versions.
#[derive(Deserialize)]
struct Report {
    format: String,
    version: u32,
    program: String,
    elapsed_ns: u64,
    kernels: Vec<Kernel>,
    transfers: Vec<Transfer>,
    totals: Totals,
}

#[derive(Deserialize)]
struct Kernel {
    name: String,
    device: i32,
    count: u64,
    time_ns: u64,
}

#[derive(Deserialize)]
struct Transfer {
    direction: String,
    variable: String,
    device: i32,
    count: u64,
    bytes: u64,
    time_ns: u64,
}

#[derive(Deserialize)]
struct Totals {
    launches: u64,
    kernel_time_ns: u64,
    transfers: u64,
    transfer_bytes: u64,
    transfer_time_ns: u64,
    #[serde(default)]
    on_host: u64,
}

/// The sums of a row in one of the reports.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    bytes: u64,
    time: u64,
}

impl Sums {
    fn add(&mut self, other: Sums) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.time += other.time;
    }
}

/// What a row is about, the same in both reports.
type Name = (String, i32);
/// A row in the old and in the new report.
type Pair = (Sums, Sums);

pub fn diff(options: &Diff) -> Outcome {
    let (old, new) = (read(&options.old)?, read(&options.new)?);
    let mut out = std::io::stdout().lock();
    if old.program != new.program {
        writeln!(out, "two programs: {} and {}\n", old.program, new.program)?;
    }
    let kernels = paired(&old, &new, |report| {
        report.kernels.iter().map(|kernel| {
            let sums = Sums { count: kernel.count, bytes: 0, time: kernel.time_ns };
            ((kernel.name.clone(), kernel.device), sums)
        })
    });
    let transfers = paired(&old, &new, |report| {
        report.transfers.iter().map(|transfer| {
            let sums = Sums { count: transfer.count, bytes: transfer.bytes, time: transfer.time_ns };
            let name = format!("{} {}", transfer.variable, transfer.direction.replace('_', " "));
            ((name.trim_start().to_owned(), transfer.device), sums)
        })
    });
    section(&mut out, "kernels", "kernel", &kernels, false)?;
    section(&mut out, "transfers", "variable", &transfers, true)?;
    let totals = totals(&old, &new);
    writeln!(out, "totals")?;
    let columns = [("", Align::Left), ("old", Align::Right), ("new", Align::Right), ("change", Align::Right)];
    let mut table = Table::new(&columns);
    let elapsed = ("elapsed", old.elapsed_ns, new.elapsed_ns, time as fn(u64) -> String);
    for &(name, before, after, show) in std::iter::once(&elapsed).chain(&totals) {
        table.row([name.to_owned(), show(before), show(after), change(before, after)]);
    }
    write!(out, "{table}")?;
    let Some(limit) = options.limit else { return Ok(SUCCESS) };
    let over = totals.iter().filter(|&&(_, before, after, _)| grown(before, after, limit));
    let over: Vec<&str> = over.map(|&(name, ..)| name).collect();
    if over.is_empty() {
        return Ok(SUCCESS);
    }
    writeln!(out, "\ngrown by more than {limit} %: {}", over.join(", "))?;
    Ok(FAILURE)
}

fn read(file: &Path) -> anyhow::Result<Report> {
    let content = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let report: Report = serde_json::from_reader(BufReader::new(content)).with_context(|| {
        format!("{} is no report in JSON (gangway run --report=json:FILE)", file.display())
    })?;
    if report.format != "gangway-report" || report.version != 1 {
        let (format, version) = (&report.format, report.version);
        bail!("{} is {format} {version}, expected gangway-report 1", file.display());
    }
    Ok(report)
}

/// The rows of both reports, those with the largest change of time first.
fn paired<'a, Rows: Iterator<Item = (Name, Sums)>>(
    old: &'a Report,
    new: &'a Report,
    rows: impl Fn(&'a Report) -> Rows,
) -> Vec<(Name, Pair)> {
    let mut pairs: BTreeMap<Name, Pair> = BTreeMap::new();
    // A name may stand in several rows, such as the kernels of one line in several files.
    for (name, sums) in rows(old) {
        pairs.entry(name).or_default().0.add(sums);
    }
    for (name, sums) in rows(new) {
        pairs.entry(name).or_default().1.add(sums);
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by_key(|(_, (old, new))| std::cmp::Reverse(old.time.abs_diff(new.time)));
    pairs
}

fn section(
    out: &mut impl Write,
    title: &str,
    what: &'static str,
    rows: &[(Name, Pair)],
    sized: bool,
) -> std::io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut columns = vec![(what, Align::Left), ("device", Align::Right), ("count", Align::Right)];
    if sized {
        columns.push(("size", Align::Right));
    }
    columns.extend([("old", Align::Right), ("new", Align::Right), ("change", Align::Right)]);
    let mut table = Table::new(&columns);
    for ((name, device), (old, new)) in rows {
        let mut row = vec![name.clone(), device.to_string(), both(old.count, new.count, |n| n.to_string())];
        if sized {
            row.push(both(old.bytes, new.bytes, bytes));
        }
        let shown = |sums: &Sums| if sums.count == 0 { "-".to_owned() } else { time(sums.time) };
        let change = match (old.count, new.count) {
            (0, _) => "new".to_owned(),
            (_, 0) => "gone".to_owned(),
            _ => change(old.time, new.time),
        };
        row.extend([shown(old), shown(new), change]);
        table.row(row);
    }
    writeln!(out, "{title}\n{table}")
}

type Total = (&'static str, u64, u64, fn(u64) -> String);

fn totals(old: &Report, new: &Report) -> [Total; 6] {
    let (a, b) = (&old.totals, &new.totals);
    let number: fn(u64) -> String = |n| n.to_string();
    [
        ("launches", a.launches, b.launches, number),
        ("time in kernels", a.kernel_time_ns, b.kernel_time_ns, time),
        ("transfers", a.transfers, b.transfers, number),
        ("bytes moved", a.transfer_bytes, b.transfer_bytes, bytes),
        ("time in transfers", a.transfer_time_ns, b.transfer_time_ns, time),
        ("regions on the host", a.on_host, b.on_host, number),
    ]
}

fn both(old: u64, new: u64, show: impl Fn(u64) -> String) -> String {
    if old == new { show(new) } else { format!("{} to {}", show(old), show(new)) }
}

fn change(old: u64, new: u64) -> String {
    match (old, new) {
        (0, 0) => String::new(),
        (0, _) => "new".to_owned(),
        _ => format!("{:+.1} %", 100.0 * (new as f64 / old as f64 - 1.0)),
    }
}

/// Whether a total has grown by more than so many percent; anything is more than nothing.
fn grown(old: u64, new: u64, percent: u32) -> bool {
    u128::from(new) * 100 > u128::from(old) * (100 + u128::from(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth() {
        assert!(!grown(100, 110, 10) && grown(100, 111, 10));
        assert!(grown(0, 1, 1000) && !grown(0, 0, 0) && !grown(5, 4, 0));
        assert!(!grown(u64::MAX, u64::MAX, 0));
        assert_eq!(
            (change(100, 95), change(0, 3), change(0, 0)),
            ("-5.0 %".into(), "new".into(), String::new())
        );
    }
}
