//! The report: where the time of the kernels went, what was moved, and the totals.
//!
//! Both forms are made from the same [`Summary`]; docs/cli.md describes the JSON one,
//! whose names and units only change together with its `version`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::json::Quoted;
use crate::recording::{Key, Recording, Sums};
use crate::table::{Align, Table, bytes, time};
use crate::{Kind, name};

/// Rows by purpose, each sorted by the time it took.
struct Summary<'a> {
    kernels: Vec<(&'a Key, Sums)>,
    /// Joined over source locations: a variable is one row per direction and device.
    transfers: Vec<(&'a Key, Sums)>,
    /// Joined over names and locations: a row per operation and device.
    operations: Vec<(&'a Key, Sums)>,
}

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
    section("transfers", summary.transfer_table());
    section("operations", summary.operation_table());
    let _ = writeln!(out, "\n{}", summary.totals_line());
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

pub fn json(recording: &Recording, trace: Option<&Path>) -> String {
    let summary = Summary::of(recording);
    let kernel_time = total(&summary.kernels).time;
    let kernels = array(&summary.kernels, |key, sums| {
        format!(
            "\"name\":{},\"symbol\":{},\"device\":{},\"count\":{},\"time_ns\":{},\"min_ns\":{},\"max_ns\":{},\"share\":{:.6},\"location\":{}",
            Quoted(&name::pretty(&key.name)),
            Quoted(&key.name),
            key.device,
            sums.count,
            sums.time,
            sums.min,
            sums.max,
            share(sums.time, kernel_time),
            location(key),
        )
    });
    let transfers = array(&summary.transfers, |key, sums| {
        format!(
            "\"direction\":\"{}\",\"variable\":{},\"device\":{},\"count\":{},\"bytes\":{},\"time_ns\":{}",
            key.kind.label(),
            Quoted(&key.name),
            key.device,
            sums.count,
            sums.bytes,
            sums.time,
        )
    });
    let operations = array(&summary.operations, |key, sums| {
        format!(
            "\"operation\":\"{}\",\"device\":{},\"count\":{},\"bytes\":{},\"time_ns\":{}",
            key.kind.label(),
            key.device,
            sums.count,
            sums.bytes,
            sums.time,
        )
    });
    let trace = match trace {
        None => "null".to_owned(),
        Some(file) => format!(
            "{{\"file\":{},\"spans\":{},\"dropped\":{}}}",
            Quoted(&file.to_string_lossy()),
            recording.events.len(),
            recording.dropped
        ),
    };
    let (launched, moved) = (total(&summary.kernels), total(&summary.transfers));
    format!(
        "{{\"format\":\"gangway-report\",\"version\":1,\"program\":{},\"pid\":{},\"elapsed_ns\":{},\n\"kernels\":{kernels},\n\"transfers\":{transfers},\n\"operations\":{operations},\n\"totals\":{{\"launches\":{},\"kernel_time_ns\":{},\"transfers\":{},\"transfer_bytes\":{},\"transfer_time_ns\":{}}},\n\"trace\":{trace}}}\n",
        Quoted(&recording.program),
        recording.pid,
        recording.elapsed,
        launched.count,
        launched.time,
        moved.count,
        moved.bytes,
        moved.time,
    )
}

pub fn dropped_note(kept: usize, dropped: u64) -> String {
    format!(
        "the trace keeps the first {kept} spans; {dropped} later ones were dropped (GANGWAY_TRACE_EVENTS raises the limit)"
    )
}

impl<'a> Summary<'a> {
    fn of(recording: &'a Recording) -> Self {
        let mut kernels = Vec::new();
        let mut transfers = BTreeMap::new();
        let mut operations = BTreeMap::new();
        for (key, sums) in &recording.rows {
            let joined = match key.kind {
                Kind::Kernel => {
                    kernels.push((key, *sums));
                    continue;
                }
                Kind::ToDevice | Kind::FromDevice | Kind::DeviceToDevice => {
                    transfers.entry((key.kind, key.device, &*key.name))
                }
                _ => operations.entry((key.kind, key.device, "")),
            };
            joined.or_insert((key, Sums::NONE)).1.merge(sums);
        }
        let by_time = |mut rows: Vec<(&'a Key, Sums)>| {
            rows.sort_by(|(a, x), (b, y)| y.time.cmp(&x.time).then_with(|| a.cmp(b)));
            rows
        };
        Summary {
            kernels: by_time(kernels),
            transfers: by_time(transfers.into_values().collect()),
            operations: by_time(operations.into_values().collect()),
        }
    }

    fn kernel_table(&self) -> Table {
        use Align::{Left, Right};
        let mut table = Table::new(&[
            ("kernel", Left),
            ("device", Right),
            ("count", Right),
            ("time", Right),
            ("average", Right),
            ("shortest", Right),
            ("longest", Right),
            ("share", Right),
            ("source", Left),
        ]);
        let all = total(&self.kernels).time;
        for (key, sums) in &self.kernels {
            table.row([
                name::pretty(&key.name).into_owned(),
                device(key.device),
                sums.count.to_string(),
                time(sums.time),
                time(sums.time / sums.count.max(1)),
                time(sums.min),
                time(sums.max),
                format!("{:.1} %", 100.0 * share(sums.time, all)),
                key.place.as_ref().map_or(String::new(), |place| place.to_string()),
            ]);
        }
        table
    }

    fn transfer_table(&self) -> Table {
        use Align::{Left, Right};
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
        use Align::{Left, Right};
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

    fn totals_line(&self) -> String {
        let (launched, moved) = (total(&self.kernels), total(&self.transfers));
        format!(
            "total: {} in {}, {} of {} in {}",
            counted(launched.count, "launch", "launches"),
            time(launched.time),
            counted(moved.count, "transfer", "transfers"),
            bytes(moved.bytes),
            time(moved.time),
        )
    }
}

fn total(rows: &[(&Key, Sums)]) -> Sums {
    let mut all = Sums::NONE;
    for (_, sums) in rows {
        all.merge(sums);
    }
    all
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
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

fn location(key: &Key) -> String {
    match &key.place {
        None => "null".to_owned(),
        Some(place) => format!(
            "{{\"file\":{},\"function\":{},\"line\":{},\"column\":{}}}",
            Quoted(&place.file),
            Quoted(&place.function),
            place.line,
            place.column
        ),
    }
}

fn array(rows: &[(&Key, Sums)], mut fields: impl FnMut(&Key, &Sums) -> String) -> String {
    let objects: Vec<String> =
        rows.iter().map(|(key, sums)| format!("\n{{{}}}", fields(key, sums))).collect();
    format!("[{}]", objects.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Place;

    fn sums(count: u64, time: u64, min: u64, max: u64, bytes: u64) -> Sums {
        Sums { count, time, min, max, bytes }
    }

    fn recording() -> Recording {
        let key = |kind, device, name: &str, line| Key {
            kind,
            device,
            name: name.into(),
            place: (line != 0).then(|| Place {
                file: "heat.c".into(),
                function: "step".into(),
                line,
                column: 9,
            }),
        };
        let rows = vec![
            (
                key(Kind::Kernel, 0, "__omp_offloading_10_2a_step_l41", 41),
                sums(1000, 12_500_000, 9_000, 41_000, 0),
            ),
            (
                key(Kind::Kernel, 0, "__omp_offloading_10_2a__ZN4heat4normEPKdi_l60", 60),
                sums(10, 260_000, 20_000, 30_000, 0),
            ),
            (key(Kind::ToDevice, 0, "field", 33), sums(1, 1_000_000, 1_000_000, 1_000_000, 8 << 20)),
            (key(Kind::ToDevice, 0, "field", 77), sums(1, 1_000_000, 1_000_000, 1_000_000, 8 << 20)),
            (key(Kind::FromDevice, 0, "", 0), sums(3, 0, 0, 0, 24)),
            (key(Kind::Allocate, 0, "field", 33), sums(2, 5_000, 2_000, 3_000, 16 << 20)),
            (key(Kind::LoadImage, 0, "", 0), sums(1, 130_000, 130_000, 130_000, 0)),
        ];
        Recording {
            program: "heat".into(),
            pid: 4242,
            elapsed: 1_234_000_000,
            rows,
            events: Vec::new(),
            threads: Vec::new(),
            dropped: 7,
        }
    }

    #[test]
    fn text_is_as_written_down() {
        let expected = include_str!("../tests/report.txt");
        assert_eq!(text(&recording(), Some(Path::new("heat.json"))), expected);
    }

    #[test]
    fn json_has_the_documented_form() {
        let parsed: serde_json::Value = serde_json::from_str(&json(&recording(), None)).unwrap();
        assert_eq!(parsed["format"], "gangway-report");
        assert_eq!(parsed["version"], 1);
        assert_eq!(parsed["kernels"][0]["name"], "step:41");
        assert_eq!(parsed["kernels"][0]["location"]["line"], 41);
        assert_eq!(parsed["kernels"][1]["name"], "heat::norm:60");
        assert_eq!(parsed["transfers"][0]["bytes"], 16 << 20);
        assert_eq!(parsed["operations"][0]["operation"], "load_image");
        assert_eq!(parsed["totals"]["launches"], 1010);
        assert_eq!(parsed["totals"]["transfer_bytes"], (16 << 20) + 24);
        assert!(parsed["trace"].is_null());
        let with_trace: serde_json::Value =
            serde_json::from_str(&json(&recording(), Some(Path::new("a\"b")))).unwrap();
        assert_eq!(with_trace["trace"]["file"], "a\"b");
        assert_eq!(with_trace["trace"]["dropped"], 7);
    }
}
