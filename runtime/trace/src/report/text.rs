//! The report as aligned tables.

use std::fmt::Write;
use std::path::Path;

use super::{Kernel, Row, Summary, share};
use crate::recording::{Key, Recording, Sums};
use crate::table::Align::{Left, Right};
use crate::table::{Table, bytes, time};
use crate::{Kind, name};

pub fn text(recording: &Recording, trace: Option<&Path>) -> String {
    let summary = Summary::of(recording);
    let mut out = String::new();
    let Recording { program, pid, elapsed, .. } = recording;
    let _ = writeln!(out, "gangway: report of {program} (pid {pid}), {} recorded", time(*elapsed));
    let mut section = |title: &str, table: Table| {
        if !table.is_empty() {
            let _ = write!(out, "\n{title}\n{table}");
        }
    };
    section("kernels", summary.kernel_table());
    section("on the host", summary.on_host_table());
    section("transfers", summary.transfer_table());
    section("operations", summary.operation_table());
    section("host calls", summary.host_call_table());
    section("calls of the driver", summary.call_table());
    let _ = writeln!(out, "\n{}", summary.totals_line());
    for note in &recording.notes {
        let times = if note.count == 1 { String::new() } else { format!(" ({} times)", note.count) };
        let _ = writeln!(out, "note: {}{times}", note.text);
    }
    if recording.dropped != 0 {
        let _ = writeln!(out, "{}", dropped_note(recording.events.len(), recording.dropped));
    }
    if let Some(file) = trace {
        let _ = writeln!(
            out,
            "trace: {} ({} spans); open it with https://ui.perfetto.dev or chrome://tracing",
            file.display(),
            recording.events.len()
        );
    }
    out
}

pub fn dropped_note(kept: usize, dropped: u64) -> String {
    format!(
        "the trace keeps the first {kept} spans; {dropped} later ones were dropped (GANGWAY_TRACE_EVENTS raises the limit)"
    )
}

impl Summary<'_> {
    fn kernel_table(&self) -> Table {
        let mut columns = vec![("kernel", Left), ("device", Right)];
        let shaped = self.kernels.iter().any(|kernel| !kernel.shapes.is_empty());
        if shaped {
            columns.extend([("grid", Right), ("block", Right)]);
        }
        columns.extend([
            ("count", Right),
            ("time", Right),
            ("average", Right),
            ("shortest", Right),
            ("longest", Right),
            ("share", Right),
            ("source", Left),
        ]);
        let mut table = Table::new(&columns);
        let all = self.launched().time;
        for kernel in &self.kernels {
            let Kernel { key, sums, .. } = kernel;
            let mut cells = vec![name::pretty(&key.name).into_owned(), device(key.device)];
            if shaped {
                cells.push(kernel.sizes(|shape| shape.grid));
                cells.push(kernel.sizes(|shape| shape.block));
            }
            cells.extend([
                sums.count.to_string(),
                time(sums.time),
                time(sums.time / sums.count.max(1)),
                time(sums.min),
                time(sums.max),
                format!("{:.1} %", 100.0 * share(sums.time, all)),
                source(key),
            ]);
            table.row(cells);
        }
        table
    }

    fn on_host_table(&self) -> Table {
        let mut table = Table::new(&[("region", Left), ("count", Right), ("source", Left), ("reason", Left)]);
        for (key, sums) in &self.on_host {
            let region = name::pretty(&key.name).into_owned();
            table.row([region, sums.count.to_string(), source(key), key.detail.to_string()]);
        }
        table
    }

    fn transfer_table(&self) -> Table {
        let mut table = Table::new(&[
            ("direction", Left),
            ("variable", Left),
            ("device", Right),
            ("count", Right),
            ("size", Right),
            ("time", Right),
            ("GB/s", Right),
        ]);
        for (key, sums) in &self.transfers {
            let direction = match key.kind {
                Kind::ToDevice => "to device",
                Kind::FromDevice => "from device",
                _ => "on devices",
            };
            table.row([
                direction.to_owned(),
                if key.name.is_empty() { "(unnamed)".to_owned() } else { key.name.to_string() },
                device(key.device),
                sums.count.to_string(),
                bytes(sums.bytes),
                time(sums.time),
                rate(sums),
            ]);
        }
        table
    }

    fn operation_table(&self) -> Table {
        let mut table = Table::new(&[
            ("operation", Left),
            ("device", Right),
            ("count", Right),
            ("size", Right),
            ("time", Right),
        ]);
        for (key, sums) in &self.operations {
            table.row([
                key.kind.label().replace('_', " "),
                device(key.device),
                sums.count.to_string(),
                if sums.bytes == 0 { "-".to_owned() } else { bytes(sums.bytes) },
                time(sums.time),
            ]);
        }
        table
    }

    fn host_call_table(&self) -> Table {
        let mut table = Table::new(&[
            ("function", Left),
            ("device", Right),
            ("count", Right),
            ("size", Right),
            ("time", Right),
            ("longest", Right),
            ("waited", Right),
        ]);
        for (key, sums) in &self.host_calls {
            table.row([
                key.name.to_string(),
                device(key.device),
                sums.count.to_string(),
                if sums.bytes == 0 { "-".to_owned() } else { bytes(sums.bytes) },
                time(sums.time),
                time(sums.max),
                if sums.waited == 0 { "-".to_owned() } else { time(sums.waited) },
            ]);
        }
        table
    }

    fn call_table(&self) -> Table {
        let mut table = Table::new(&[
            ("function", Left),
            ("count", Right),
            ("time", Right),
            ("average", Right),
            ("longest", Right),
            ("waited", Right),
        ]);
        for (key, sums) in &self.calls {
            table.row([
                key.name.to_string(),
                sums.count.to_string(),
                time(sums.time),
                time(sums.time / sums.count.max(1)),
                time(sums.max),
                if sums.waited == 0 { "-".to_owned() } else { time(sums.waited) },
            ]);
        }
        table
    }

    fn totals_line(&self) -> String {
        let (launched, moved) = (self.launched(), self.moved());
        let mut line = format!(
            "total: {} in {}, {} of {} in {}",
            counted(launched.count, "launch", "launches"),
            time(launched.time),
            counted(moved.count, "transfer", "transfers"),
            bytes(moved.bytes),
            time(moved.time),
        );
        if !self.on_host.is_empty() {
            line += &format!(", {} on the host", counted(self.ran_on_host(), "region", "regions"));
        }
        if !self.calls.is_empty() {
            let calls = super::total(self.calls.iter().map(|(_, sums): &Row<'_>| sums));
            line += &format!(", {} in {}", counted(calls.count, "call", "calls"), time(calls.time));
        }
        line
    }
}

impl Kernel<'_> {
    /// Grid or block, if it was always the same.
    fn sizes(&self, of: impl Fn(&crate::Shape) -> [u32; 3]) -> String {
        let mut sizes = self.shapes.iter().map(|(shape, _)| of(shape));
        match sizes.next() {
            None => "-".to_owned(),
            Some(first) if sizes.all(|other| other == first) => size(first),
            Some(_) => "various".to_owned(),
        }
    }
}

/// `40`, `40x2`, `4x4x4`.
fn size([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    }
}

fn source(key: &Key) -> String {
    key.place.as_ref().map_or(String::new(), |place| place.to_string())
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Bytes per nanosecond are gigabytes per second.
fn rate(sums: &Sums) -> String {
    match sums.time {
        0 => "-".to_owned(),
        time => format!("{:.2}", sums.bytes as f64 / time as f64),
    }
}

fn device(number: i32) -> String {
    if number < 0 { "host".to_owned() } else { number.to_string() }
}
