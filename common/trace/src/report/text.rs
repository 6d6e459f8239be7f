//! The report as aligned tables.

use std::fmt::Write;
use std::path::Path;

use super::{Kernel, OnDevice, Row, Summary, share};
use crate::busy::BusyTimes;
use crate::recording::{Key, Recording, Sums};
use crate::table::Align::{Left, Right};
use crate::table::{Table, bytes, time, wrapped};
use crate::{Kind, Resources, Shape, name};

/// What a narrow terminal does without, the least needed first; the forms for scripts have it.
const UNIMPORTANT: [&str; 10] =
    ["shortest", "average", "registers", "shared", "waited", "longest", "block", "grid", "share", "GB/s"];

/// Lines have at most `width` columns, where names allow it.
pub fn text(recording: &Recording, trace: Option<&Path>, width: usize) -> String {
    let summary = Summary::of(recording);
    let mut out = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(out, "{}", wrapped(text, width));
    };
    let Recording { program, pid, elapsed, about, .. } = recording;
    line(&format!("gangway: report of {program} (pid {pid}), {} recorded", time(*elapsed)));
    let rank = about.rank.map_or(String::new(), |rank| format!("{rank}, "));
    line(&format!("  {rank}{} on {}, gangway {}", about.date(), about.host, env!("CARGO_PKG_VERSION")));
    line(&format!("  command: {}", about.command));
    for (number, what) in &about.devices {
        line(&format!("  device {number}: {what}"));
    }
    let mut section = |title: &str, table: Table| {
        if !table.is_empty() {
            let _ = write!(out, "\n{title}\n{}", table.fit(width, &UNIMPORTANT));
        }
    };
    section("still running at the end", running_table(recording));
    section("devices", summary.device_table());
    section("kernels", summary.kernel_table());
    section("on the host", summary.on_host_table());
    section("transfers", summary.transfer_table());
    section("operations", summary.operation_table());
    section("host calls", summary.host_call_table());
    section("calls of the driver", summary.call_table());
    let mut line = |text: &str| {
        let _ = writeln!(out, "{}", wrapped(text, width));
    };
    line("");
    line(&summary.totals_line());
    line(&busy_line(recording));
    for note in &recording.notes {
        let times = if note.count == 1 { String::new() } else { format!(" ({} times)", note.count) };
        line(&format!("note: {}{times}", note.text));
    }
    if recording.dropped != 0 {
        line(&dropped_note(recording.events.len(), recording.dropped));
    }
    if let Some(file) = trace {
        line(&format!(
            "trace: {} ({} spans); open it with https://ui.perfetto.dev or chrome://tracing",
            file.display(),
            recording.events.len()
        ));
    }
    out
}

/// What the run was, without counting twice what overlapped.
fn busy_line(recording: &Recording) -> String {
    let BusyTimes { kernels, transfers, operations } = recording.busy;
    let part = |time: u64| format!("{:.1} %", 100.0 * share(time, recording.elapsed));
    format!(
        "of the run: {} with a kernel running ({}), {} in copies alone, {} in other operations alone",
        part(kernels),
        time(kernels),
        part(transfers),
        part(operations)
    )
}

/// A kernel that hangs is the first thing to look for.
fn running_table(recording: &Recording) -> Table {
    let columns = [
        ("kernel or operation", Left),
        ("device", Right),
        ("grid", Right),
        ("block", Right),
        ("for", Right),
        ("source", Left),
    ];
    let mut table = Table::new(&columns);
    for span in &recording.running {
        let key = &recording.rows[span.key as usize].0;
        let of = |side: fn(&Shape) -> [u32; 3]| key.shape.map_or("-".to_owned(), |shape| size(side(&shape)));
        table.row([
            shown(key),
            device(key.device),
            of(|shape| shape.grid),
            of(|shape| shape.block),
            time(span.age),
            source(key),
        ]);
    }
    table
}

/// What a span is called: a kernel by its name, an operation with what it is about.
fn shown(key: &Key) -> String {
    let name = name::pretty(&key.name);
    match key.kind {
        Kind::Kernel => name.into_owned(),
        kind => format!("{} {name}", kind.label().replace('_', " ")).trim_end().to_owned(),
    }
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
        // What no device says has no column.
        let known = |of: fn(&Resources) -> Option<u32>| {
            self.kernels.iter().any(|kernel| of(&kernel.resources).is_some())
        };
        let (registers, shared) = (known(|of| of.registers), known(|of| of.shared));
        let mut resources = Vec::new();
        resources.extend(registers.then_some(("registers", Right)));
        resources.extend(shared.then_some(("shared", Right)));
        let before = if shaped { 4 } else { 2 };
        columns.splice(before..before, resources);
        let mut table = Table::new(&columns);
        let all = self.launched().time;
        for kernel in &self.kernels {
            let Kernel { key, sums, .. } = kernel;
            let mut cells = vec![name::pretty(&key.name).into_owned(), device(key.device)];
            if shaped {
                cells.push(kernel.sizes(|shape| shape.grid));
                cells.push(kernel.sizes(|shape| shape.block));
            }
            if registers {
                cells.push(kernel.resources.registers.map_or("-".to_owned(), |count| count.to_string()));
            }
            if shared {
                cells.push(kernel.resources.shared.map_or("-".to_owned(), |size| bytes(size.into())));
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

    /// Where there are several: what went where.
    fn device_table(&self) -> Table {
        let mut table = Table::new(&[
            ("device", Right),
            ("launches", Right),
            ("time", Right),
            ("transfers", Right),
            ("size", Right),
            ("time", Right),
        ]);
        let devices = self.by_device();
        if devices.len() > 1 {
            for (number, OnDevice { launched, moved }) in &devices {
                table.row([
                    device(*number),
                    launched.count.to_string(),
                    time(launched.time),
                    moved.count.to_string(),
                    bytes(moved.bytes),
                    time(moved.time),
                ]);
            }
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
