//! The report as one JSON object.
//!
//! docs/cli.md describes it; names and units only change together with its `version`.

use std::path::Path;

use super::{Kernel, OnDevice, Row, Summary, share};
use crate::about::{About, Rank};
use crate::busy::BusyTimes;
use crate::json::Quoted;
use crate::recording::{Key, Recording};
use crate::{Shape, name};

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
    let by_device: Vec<_> = summary.by_device().into_iter().collect();
    let by_device = array(&by_device, |(device, OnDevice { launched, moved })| {
        format!(
            "\"device\":{device},\"launches\":{},\"kernel_time_ns\":{},\"transfers\":{},\
             \"transfer_bytes\":{},\"transfer_time_ns\":{}",
            launched.count, launched.time, moved.count, moved.bytes, moved.time,
        )
    });
    let running = array(&recording.running, |span| {
        let key = &recording.rows[span.key as usize].0;
        let shape = key
            .shape
            .map_or(String::new(), |Shape { grid, block }| format!(",\"grid\":{grid:?},\"block\":{block:?}"));
        format!(
            "\"kind\":\"{}\",{},\"device\":{},\"age_ns\":{},\"location\":{}{shape}",
            key.kind.label(),
            names(key),
            key.device,
            span.age,
            location(key),
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
    let BusyTimes { kernels: in_kernels, transfers: in_transfers, operations: in_operations } =
        recording.busy;
    [
        "{\"format\":\"gangway-report\",\"version\":1".to_owned(),
        format!(",\"program\":{},\"pid\":{}", Quoted(&recording.program), recording.pid),
        format!(",\"elapsed_ns\":{}{}", recording.elapsed, about(&recording.about)),
        format!(",\n\"running\":{running}"),
        format!(",\n\"by_device\":{by_device}"),
        format!(",\n\"kernels\":{kernels}"),
        format!(",\n\"on_host\":{on_host}"),
        format!(",\n\"transfers\":{transfers}"),
        format!(",\n\"operations\":{operations}"),
        format!(",\n\"host_calls\":{host_calls}"),
        format!(",\n\"calls\":{calls}"),
        format!(",\n\"totals\":{{\"launches\":{},\"kernel_time_ns\":{}", launched.count, launched.time),
        format!(
            ",\"transfers\":{},\"transfer_bytes\":{},\"transfer_time_ns\":{}",
            moved.count, moved.bytes, moved.time
        ),
        format!(",\"on_host\":{},\"busy\":{{\"kernels_ns\":{in_kernels}", summary.ran_on_host()),
        format!(",\"transfers_ns\":{in_transfers},\"operations_ns\":{in_operations}}}}}"),
        format!(",\n\"notes\":{notes}"),
        format!(",\n\"trace\":{trace}}}\n"),
    ]
    .concat()
}

/// Who ran what, where and when.
fn about(about: &About) -> String {
    let rank = match about.rank {
        None => "null".to_owned(),
        Some(Rank { rank, of }) => {
            let of = of.map_or("null".to_owned(), |of| of.to_string());
            format!("{{\"rank\":{rank},\"of\":{of}}}")
        }
    };
    let devices: Vec<(&i32, &String)> = about.devices.iter().collect();
    let devices = array(&devices, |(device, what)| format!("\"device\":{device},\"what\":{}", Quoted(what)));
    format!(
        ",\"command\":{},\"host\":{},\"rank\":{rank},\"date\":\"{}\",\"gangway\":\"{}\",\n\"devices\":{devices}",
        Quoted(&about.command),
        Quoted(&about.host),
        about.date(),
        env!("CARGO_PKG_VERSION"),
    )
}

fn kernel_fields(Kernel { key, sums, shapes, resources }: &Kernel<'_>, all: u64) -> String {
    let known = |number: Option<u32>| number.map_or("null".to_owned(), |number| number.to_string());
    let shapes = array(shapes, |(shape, sums)| {
        let ([x, y, z], [i, j, k]) = (shape.grid, shape.block);
        format!(
            "\"grid\":[{x},{y},{z}],\"block\":[{i},{j},{k}],\"count\":{},\"time_ns\":{}",
            sums.count, sums.time
        )
    });
    format!(
        "{},\"device\":{},\"count\":{},\"time_ns\":{},\"min_ns\":{},\"max_ns\":{},\"share\":{:.6},\"location\":{},\"registers\":{},\"shared_bytes\":{},\"shapes\":{shapes}",
        names(key),
        key.device,
        sums.count,
        sums.time,
        sums.min,
        sums.max,
        share(sums.time, all),
        location(key),
        known(resources.registers),
        known(resources.shared),
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
