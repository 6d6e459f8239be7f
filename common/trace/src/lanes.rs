//! Lays the spans of a recording out on lines, as a time line shows them.
//!
//! A stream of a device has a line, or the host thread that issued the work. The spans of one
//! line nest; work that runs asynchronously does not, so a span that crosses another moves
//! to an extra line of its thread.

use std::collections::BTreeMap;

use crate::recording::{Event, Recording, Thread, Track};

/// One line.
pub struct Lane {
    /// The device; -1 for the host.
    pub device: i32,
    /// A number that no other lane of the device has.
    pub id: u64,
    pub title: String,
    /// By start, outer spans before inner ones.
    pub events: Vec<Event>,
}

/// What a device is called in a time line.
pub fn device_title(device: i32) -> String {
    match device {
        0.. => format!("device {device}"),
        _ => "host".to_owned(),
    }
}

/// The lanes of a recording, by device.
pub fn of(recording: &Recording) -> Vec<Lane> {
    let mut events = recording.events.clone();
    let track = |event: &Event| (recording.rows[event.key as usize].0.device.max(-1), event.track);
    // Outer spans before inner ones: with equal starts the longer is the outer.
    events.sort_by_key(|event| (track(event), event.start, std::cmp::Reverse(event.duration)));
    events
        .chunk_by(|a, b| track(a) == track(b))
        .flat_map(|events| {
            let (device, track) = track(&events[0]);
            lanes_of_track(recording, device, track, events)
        })
        .collect()
}

fn lanes_of_track(
    recording: &Recording,
    device: i32,
    track: Track,
    events: &[Event],
) -> impl Iterator<Item = Lane> {
    let thread = recording.threads.iter().find(|thread| Some(thread.number) == track.thread());
    let tid = thread.map_or(u64::from(track.raw()), |thread| thread.tid);
    let mut lanes: BTreeMap<usize, (Vec<u64>, Vec<Event>)> = BTreeMap::new();
    for event in events {
        let end = event.start + event.duration;
        let lane = (0..).find(|&lane| fits(&mut lanes.entry(lane).or_default().0, event.start, end));
        lanes.entry(lane.unwrap_or(0)).or_default().1.push(*event);
    }
    lanes.into_iter().map(move |(number, (_, events))| Lane {
        device,
        // Lane 0 is the thread itself; further lanes need ids that no thread has.
        id: tid + ((number as u64) << 32),
        title: title(thread, track, number),
        events,
    })
}

/// Whether a span nests into the open spans (their ends, outermost first) of a lane.
fn fits(open: &mut Vec<u64>, start: u64, end: u64) -> bool {
    while open.last().is_some_and(|&last| last <= start) {
        open.pop();
    }
    let nests = open.last().is_none_or(|&last| end <= last);
    if nests {
        open.push(end);
    }
    nests
}

fn title(thread: Option<&Thread>, track: Track, lane: usize) -> String {
    let mut title = match (thread, track.thread(), track.stream()) {
        (Some(thread), ..) if !thread.name.is_empty() => format!("{} {}", thread.name, thread.tid),
        (Some(thread), ..) => format!("thread {}", thread.tid),
        (None, Some(number), _) => format!("thread #{number}"),
        (None, None, (id, false)) => format!("stream {id}"),
        (None, None, (id, true)) => format!("default stream {id}"),
    };
    if lane > 0 {
        title.push_str(&format!(" (asynchronous {lane})"));
    }
    title
}
