//! The report as one page that needs nothing beside it.
//!
//! The page is `page.html`; what it shows is put into it as one JSON object.

use std::fmt::Write;
use std::path::Path;

use super::{advice, json};
use crate::json::Quoted;
use crate::lanes;
use crate::recording::Recording;
use crate::{Shape, name};

const PAGE: &str = include_str!("page.html");
/// What the page has in the place of the data.
const PLACE: &str = "\"the data\"";

/// Spans that the page shows. A browser draws so many without delay, and the page stays small.
const SPANS: usize = 200_000;

pub fn html(recording: &Recording, trace: Option<&Path>) -> String {
    let (before, behind) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    // In a script element "<" could begin its end; JSON has it only within strings.
    let data = data(recording, trace).replace('<', "\\u003c");
    [before, &data, behind].concat()
}

fn data(recording: &Recording, trace: Option<&Path>) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_data(&mut out, recording, trace);
    out
}

fn write_data(out: &mut String, recording: &Recording, trace: Option<&Path>) -> std::fmt::Result {
    write!(out, "{{\"report\":{},\"advice\":[", json(recording, trace).trim_end())?;
    for (number, advice) in advice::of(recording).iter().enumerate() {
        let separator = if number == 0 { "" } else { "," };
        write!(
            out,
            "{separator}{{\"text\":{},\"evidence\":{},\"source\":{},\"gain_ns\":{}}}",
            Quoted(&advice.text),
            Quoted(&advice.evidence),
            Quoted(&advice.source),
            advice.gain.map_or("null".to_owned(), |gain| gain.to_string())
        )?;
    }
    out.push_str("],\n\"rows\":[");
    for (number, (key, _)) in recording.rows.iter().enumerate() {
        let separator = if number == 0 { "" } else { ",\n" };
        let pretty = name::pretty(&key.name);
        write!(
            out,
            "{separator}{{\"kind\":\"{}\",\"name\":{},\"detail\":{},\"source\":{}",
            key.kind.label(),
            Quoted(if pretty.is_empty() { key.kind.label() } else { &pretty }),
            Quoted(&key.detail),
            Quoted(&key.place.as_ref().map(ToString::to_string).unwrap_or_default())
        )?;
        if let Some(Shape { grid, block }) = key.shape {
            write!(out, ",\"grid\":{grid:?},\"block\":{block:?}")?;
        }
        out.push('}');
    }
    out.push_str("],\n\"lanes\":[");
    let mut room = SPANS;
    for (number, lane) in lanes::of(recording).iter().enumerate() {
        let separator = if number == 0 { "" } else { ",\n" };
        write!(
            out,
            "{separator}{{\"group\":{},\"title\":{},\"spans\":[",
            Quoted(&lanes::device_title(lane.device)),
            Quoted(&lane.title)
        )?;
        let shown = lane.events.len().min(room);
        room -= shown;
        for (number, event) in lane.events[..shown].iter().enumerate() {
            let separator = if number == 0 { "" } else { "," };
            write!(out, "{separator}[{},{},{},{}]", event.key, event.start, event.duration, event.measure)?;
        }
        out.push_str("]}");
    }
    let left_out = recording.dropped + recording.events.len().saturating_sub(SPANS) as u64;
    write!(out, "],\n\"left_out\":{left_out}}}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on_virtual_gpu, recording};
    use super::*;
    use crate::recording::{Event, Track};
    use crate::{Kind, Lane};

    fn parsed(recording: &Recording) -> serde_json::Value {
        let page = html(recording, None);
        assert_eq!(page.matches("</script>").count(), PAGE.matches("</script>").count());
        let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        serde_json::from_str(data).unwrap()
    }

    #[test]
    fn the_page_has_one_place_for_the_data() {
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        // Nothing is fetched.
        assert!(!PAGE.contains("http://") && !PAGE.contains("https://"));
    }

    #[test]
    fn everything_is_in_the_page() {
        let mut recording = on_virtual_gpu();
        recording.program = "</script><b>".into();
        let event =
            |start, key| Event { start, duration: 10, measure: 4, key, track: Track::of(Lane::Thread, 3) };
        recording.events = vec![event(20, 0), event(25, 0), event(5, 3)];
        let page = parsed(&recording);
        assert_eq!(page["report"]["program"], "</script><b>");
        assert_eq!(page["rows"][0]["name"], "saxpy");
        assert_eq!(page["rows"][0]["grid"], serde_json::json!([4, 1, 1]));
        let lanes = page["lanes"].as_array().unwrap();
        assert_eq!(lanes.len(), 2, "the third span crosses the second");
        assert_eq!(lanes[0]["spans"], serde_json::json!([[3, 5, 10, 4], [0, 20, 10, 4]]));
        assert_eq!(lanes[0]["group"], "device 0");
        assert_eq!(page["advice"].as_array().unwrap().len(), advice::of(&recording).len());
    }

    #[test]
    fn spans_that_are_left_out_are_counted() {
        let mut recording = recording();
        let track = Track::of(Lane::Thread, 0);
        recording.events = (0..SPANS as u64 + 5)
            .map(|start| Event { start: start * 2, duration: 1, measure: 0, key: 0, track })
            .collect();
        assert_eq!(recording.rows[0].0.kind, Kind::Kernel);
        let page = parsed(&recording);
        assert_eq!(page["left_out"], 5 + 7);
        assert_eq!(page["lanes"][0]["spans"].as_array().unwrap().len(), SPANS);
    }
}
