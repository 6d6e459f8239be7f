//! The report as one JSON object.
//!
//! docs/cli.md describes it; names and units only change together with its `version`.

use std::path::Path;

use super::{Kernel, Row, Summary, share};
use crate::json::Quoted;
use crate::name;
use crate::recording::{Key, Recording};

pub fn json(recording: &Recording, trace: Option<&Path>) -> String {
    let summary = Summary::of(recording);
    let (launched, moved) = (summary.launched(), summary.moved());
    let kernels = array(&summary.kernels, |kernel| kernel_fields(kernel, launched.time));
    let on_host = array(&summary.on_host, |(key, sums)| {
        format!(
            "{},\"count\":{},\"reason\":{},\"location\":{}",
            names(key),
            sums.count,
            Quoted(&key.detail),
            location(key),
        )
    });
    let transfers = array(&summary.transfers, |(key, sums)| {
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
    let operations = array(&summary.operations, |(key, sums)| {
        format!(
            "\"operation\":\"{}\",\"device\":{},\"count\":{},\"bytes\":{},\"time_ns\":{}",
            key.kind.label(),
            key.device,
            sums.count,
            sums.bytes,
            sums.time,
        )
    });
    let host_calls = array(&summary.host_calls, |(key, sums): &Row<'_>| {
        format!(
            "\"function\":{},\"device\":{},\"count\":{},\"bytes\":{},\"time_ns\":{},\"max_ns\":{},\"waited_ns\":{}",
            Quoted(&key.name),
            key.device,
            sums.count,
            sums.bytes,
            sums.time,
            sums.max,
            sums.waited,
        )
    });
    let calls = array(&summary.calls, |(key, sums): &Row<'_>| {
        format!(
            "\"function\":{},\"count\":{},\"time_ns\":{},\"max_ns\":{},\"waited_ns\":{}",
            Quoted(&key.name),
            sums.count,
            sums.time,
            sums.max,
            sums.waited,
        )
    });
    let notes =
        array(&recording.notes, |note| format!("\"text\":{},\"count\":{}", Quoted(&note.text), note.count));
    let trace = match trace {
        None => "null".to_owned(),
        Some(file) => format!(
            "{{\"file\":{},\"spans\":{},\"dropped\":{}}}",
            Quoted(&file.to_string_lossy()),
            recording.events.len(),
            recording.dropped
        ),
    };
    format!(
        "{{\"format\":\"gangway-report\",\"version\":1,\"program\":{},\"pid\":{},\"elapsed_ns\":{},\n\"kernels\":{kernels},\n\"on_host\":{on_host},\n\"transfers\":{transfers},\n\"operations\":{operations},\n\"host_calls\":{host_calls},\n\"calls\":{calls},\n\"totals\":{{\"launches\":{},\"kernel_time_ns\":{},\"transfers\":{},\"transfer_bytes\":{},\"transfer_time_ns\":{},\"on_host\":{}}},\n\"notes\":{notes},\n\"trace\":{trace}}}\n",
        Quoted(&recording.program),
        recording.pid,
        recording.elapsed,
        launched.count,
        launched.time,
        moved.count,
        moved.bytes,
        moved.time,
        summary.ran_on_host(),
    )
}

fn kernel_fields(Kernel { key, sums, shapes }: &Kernel<'_>, all: u64) -> String {
    let shapes = array(shapes, |(shape, sums)| {
        let ([x, y, z], [i, j, k]) = (shape.grid, shape.block);
        format!(
            "\"grid\":[{x},{y},{z}],\"block\":[{i},{j},{k}],\"count\":{},\"time_ns\":{}",
            sums.count, sums.time
        )
    });
    format!(
        "{},\"device\":{},\"count\":{},\"time_ns\":{},\"min_ns\":{},\"max_ns\":{},\"share\":{:.6},\"location\":{},\"shapes\":{shapes}",
        names(key),
        key.device,
        sums.count,
        sums.time,
        sums.min,
        sums.max,
        share(sums.time, all),
        location(key),
    )
}

fn names(key: &Key) -> String {
    format!("\"name\":{},\"symbol\":{}", Quoted(&name::pretty(&key.name)), Quoted(&key.name))
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

fn array<T>(rows: &[T], fields: impl Fn(&T) -> String) -> String {
    let objects: Vec<String> = rows.iter().map(|row| format!("\n{{{}}}", fields(row))).collect();
    format!("[{}]", objects.join(","))
}
