//! Writes a recording in the Chrome trace-event format, as Perfetto and
//! `chrome://tracing` read it.
//!
//! A process of the trace is a device (or the host), and a thread is a lane of it: the format wants
//! the complete events of one thread to nest, as those of a [lane](crate::lanes) do.

use std::io::{self, Write};

use crate::json::Quoted;
use crate::recording::{Event, Key, Note, Recording};
use crate::{Kind, Shape, lanes, name};

pub fn write(recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"producer\":\"gangway {}\",\"program\":{},\"pid\":{},\"dropped\":{}}},\"traceEvents\":[",
        env!("CARGO_PKG_VERSION"),
        Quoted(&recording.program),
        recording.pid,
        recording.dropped,
    )?;
    let mut lines = Lines { out, first: true };
    let lanes = lanes::of(recording);
    for lane in &lanes {
        for event in &lane.events {
            lines.complete(&recording.rows[event.key as usize].0, event, process(lane.device), lane.id)?;
        }
        let title = format!("\"name\":{}", Quoted(&lane.title));
        lines.metadata("thread_name", process(lane.device), lane.id, &title)?;
    }
    for note in &recording.notes {
        lines.note(note)?;
    }
    let mut devices: Vec<i32> = lanes.iter().map(|lane| lane.device).collect();
    if !recording.notes.is_empty() && devices.first() != Some(&-1) {
        devices.insert(0, -1);
    }
    devices.dedup();
    for device in devices {
        let title = lanes::device_title(device);
        let process = process(device);
        lines.metadata("process_name", process, 0, &format!("\"name\":{}", Quoted(&title)))?;
        lines.metadata("process_sort_index", process, 0, &format!("\"sort_index\":{process}"))?;
    }
    lines.out.write_all(b"\n]}\n")
}

/// Process ids of the trace: 1 is the host, devices follow. 0 is special to viewers.
fn process(device: i32) -> i64 {
    i64::from(device.max(-1)) + 2
}

/// The elements of the event array.
struct Lines<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Lines<'_> {
    fn separate(&mut self) -> io::Result<()> {
        let separator: &[u8] = if self.first { b"\n" } else { b",\n" };
        self.first = false;
        self.out.write_all(separator)
    }

    fn metadata(&mut self, name: &str, process: i64, thread: u64, argument: &str) -> io::Result<()> {
        self.separate()?;
        write!(
            self.out,
            "{{\"ph\":\"M\",\"name\":\"{name}\",\"pid\":{process},\"tid\":{thread},\"args\":{{{argument}}}}}"
        )
    }

    fn note(&mut self, note: &Note) -> io::Result<()> {
        self.separate()?;
        write!(
            self.out,
            "{{\"ph\":\"i\",\"s\":\"g\",\"name\":{},\"cat\":\"note\",\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{{\"count\":{}}}}}",
            Quoted(&note.text),
            process(-1),
            Microseconds(note.at),
            note.count,
        )
    }

    fn complete(&mut self, key: &Key, event: &Event, process: i64, thread: u64) -> io::Result<()> {
        self.separate()?;
        let pretty = name::pretty(&key.name);
        let shown: &str = if pretty.is_empty() { key.kind.label() } else { &pretty };
        write!(
            self.out,
            "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{process},\"tid\":{thread},\"ts\":{},\"dur\":{},\"args\":{{\"device\":{},\"{}\":{}",
            Quoted(shown),
            key.kind.label(),
            Microseconds(event.start),
            Microseconds(event.duration),
            key.device,
            if key.kind == Kind::HostCall { "waited_ns" } else { "bytes" },
            event.measure,
        )?;
        if *pretty != *key.name {
            write!(self.out, ",\"symbol\":{}", Quoted(&key.name))?;
        }
        if let Some(Shape { grid: [x, y, z], block: [i, j, k] }) = key.shape {
            write!(self.out, ",\"grid\":[{x},{y},{z}],\"block\":[{i},{j},{k}]")?;
        }
        if let Some(registers) = key.resources.registers {
            write!(self.out, ",\"registers\":{registers}")?;
        }
        if let Some(shared) = key.resources.shared {
            write!(self.out, ",\"shared_bytes\":{shared}")?;
        }
        if !key.detail.is_empty() {
            write!(self.out, ",\"detail\":{}", Quoted(&key.detail))?;
        }
        if let Some(place) = &key.place {
            write!(self.out, ",\"source\":{}", Quoted(&place.to_string()))?;
            if !place.function.is_empty() {
                write!(self.out, ",\"function\":{}", Quoted(&place.function))?;
            }
        }
        self.out.write_all(b"}}")
    }
}

/// Nanoseconds as the format's microseconds, without losing digits to a float.
struct Microseconds(u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lane;
    use crate::recording::{Place, Sums, Thread, Track};

    fn recording() -> Recording {
        let key = |kind, device, name: &str| Key {
            kind,
            device,
            name: name.into(),
            place: Some(Place { file: "dir\\a \"b\".c".into(), function: "main".into(), line: 7, column: 3 }),
            shape: (kind == Kind::Kernel && device == 1)
                .then_some(Shape { grid: [40, 2, 1], block: [256, 1, 1] }),
            resources: Default::default(),
            detail: "".into(),
        };
        let on = |start, duration, key, track| Event { start, duration, measure: 64, key, track };
        let event = |start, duration, key, thread| on(start, duration, key, Track::of(Lane::Thread, thread));
        let stream = |id, default| Track::of(Lane::Stream { id, default }, 0);
        Recording {
            program: "tri\tad".into(),
            pid: 42,
            about: Default::default(),
            elapsed: 10_000,
            busy: Default::default(),
            rows: vec![
                (key(Kind::Kernel, 0, "__omp_offloading_fe00_98c021_main_l7"), Sums::NONE),
                (key(Kind::DataBegin, 0, ""), Sums::NONE),
                (key(Kind::ToDevice, 1, "x"), Sums::NONE),
                (key(Kind::Allocate, -1, "x"), Sums::NONE),
                (key(Kind::Kernel, 1, "axpy"), Sums::NONE),
            ],
            // The second kernel crosses the first: they ran asynchronously.
            events: vec![
                event(1_500, 1_000, 0, 0),
                event(2_000, 1_000, 0, 0),
                event(1_000, 3_000, 1, 0),
                event(500, 100, 2, 1),
                event(1, 2, 3, 1),
                on(600, 100, 4, stream(7, false)),
                on(800, 100, 4, stream(1, true)),
            ],
            running: Vec::new(),
            threads: vec![Thread { number: 0, tid: 4242, name: "triad".into() }],
            notes: vec![Note { text: "a \"note\"".into(), count: 2, at: 1500 }],
            dropped: 3,
        }
    }

    #[test]
    fn is_valid_and_complete() {
        let mut text = Vec::new();
        write(&recording(), &mut text).unwrap();
        let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(trace["otherData"]["dropped"], 3);
        let events = trace["traceEvents"].as_array().unwrap();
        let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(complete.len(), 7);
        let kernel = complete.iter().find(|event| event["cat"] == "kernel").unwrap();
        assert_eq!(kernel["name"], "main:7");
        assert_eq!((kernel["ts"].as_f64(), kernel["dur"].as_f64()), (Some(1.5), Some(1.0)));
        assert_eq!(kernel["args"]["source"], "dir\\a \"b\".c:7:3");
        assert_eq!(kernel["args"]["symbol"], "__omp_offloading_fe00_98c021_main_l7");
        assert_eq!((&kernel["args"]["device"], &kernel["args"]["bytes"]), (&0.into(), &64.into()));
        let processes: Vec<_> = events.iter().filter(|event| event["name"] == "process_name").collect();
        let titles: Vec<_> = processes.iter().map(|event| event["args"]["name"].as_str().unwrap()).collect();
        assert_eq!(titles, ["host", "device 0", "device 1"]);
        let on_stream = complete.iter().find(|event| event["name"] == "axpy").unwrap();
        assert_eq!(on_stream["args"]["grid"], serde_json::json!([40, 2, 1]));
        assert_eq!(on_stream["args"]["block"], serde_json::json!([256, 1, 1]));
        let lanes = events.iter().filter(|event| event["name"] == "thread_name" && event["pid"] == 3);
        let lanes: Vec<_> = lanes.map(|event| event["args"]["name"].as_str().unwrap()).collect();
        assert_eq!(lanes, ["thread #1", "stream 7", "default stream 1"]);
        let note = events.iter().find(|event| event["cat"] == "note").unwrap();
        assert_eq!((&note["name"], &note["args"]["count"]), (&"a \"note\"".into(), &2.into()));
        // Every event belongs to a named process and a named thread.
        for event in complete {
            for name in ["process_name", "thread_name"] {
                assert!(events.iter().any(|meta| {
                    meta["name"] == name
                        && meta["pid"] == event["pid"]
                        && (name == "process_name" || meta["tid"] == event["tid"])
                }));
            }
        }
    }

    #[test]
    fn crossing_spans_get_their_own_lane() {
        let mut text = Vec::new();
        write(&recording(), &mut text).unwrap();
        let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let tids: Vec<_> = events
            .iter()
            .filter(|event| event["ph"] == "X" && event["pid"] == 2)
            .map(|event| event["tid"].as_u64().unwrap())
            .collect();
        assert_eq!(tids, [4242, 4242, 4242 + (1 << 32)]);
    }
}
