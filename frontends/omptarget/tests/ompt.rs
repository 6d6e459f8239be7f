//! OMPT as a tool sees it, with several host threads and tasks at once: order,
//! pairing, addresses, and where the calls came from. That single constructs give
//! what they give under the stock library is the conformance suite's business.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;
use support::{OFFLOAD, compile, run, source, staged};

/// As in `ompt_threads.c`.
const THREADS: usize = 4;
const ROUNDS: usize = 25;
const LENGTH: usize = 64;

/// A line of the tool's log.
#[derive(Debug)]
struct Event {
    what: String,
    endpoint: String,
    fields: BTreeMap<String, String>,
}

impl Event {
    fn parse(line: &str) -> Self {
        let mut words = line.split(' ').map(str::to_owned);
        let what = words.next().unwrap();
        let endpoint = words.next().unwrap();
        let split =
            |word: String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { what, endpoint, fields: words.filter_map(split).collect() }
    }

    fn text(&self, field: &str) -> &str {
        self.fields.get(field).unwrap_or_else(|| panic!("no field {field} in {self:?}"))
    }

    fn number(&self, field: &str) -> i64 {
        self.text(field).parse().unwrap_or_else(|_| panic!("field {field} in {self:?}"))
    }

    fn is(&self, what: &str, endpoint: &str) -> bool {
        self.what == what && self.endpoint == endpoint
    }

    fn is_operation(&self, kind: i64) -> bool {
        self.what == "op" && self.number("kind") == kind
    }
}

const ALLOCATE: i64 = 1;
const TO_DEVICE: i64 = 2;
const FROM_DEVICE: i64 = 3;
const DELETE: i64 = 4;

/// The log of a run with the EMI callbacks.
fn events() -> &'static [Event] {
    static EVENTS: LazyLock<Vec<Event>> = LazyLock::new(|| log(false));
    &EVENTS
}

/// Runs the program under the tool and reads the log.
fn log(plain: bool) -> Vec<Event> {
    let directory = tempfile::tempdir().unwrap();
    let [program, tool, log] = ["program", "tool.so", "log"].map(|name| directory.path().join(name));
    compile(&source("ompt_threads.c"), &program, &[OFFLOAD]);
    compile(&source("ompt_log.c"), &tool, &["-shared", "-fPIC"]);
    let mut variables: Vec<(&str, &OsStr)> =
        vec![("OMP_TOOL_LIBRARIES", tool.as_ref()), ("OMPT_LOG", log.as_ref())];
    if plain {
        variables.push(("OMPT_LOG_PLAIN", OsStr::new("1")));
    }
    run(&program, &staged(), &variables).printed(&format!("wrong 0, tasks {ROUNDS}\n"));
    read(&log)
}

fn read(log: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(log).expect("the tool was started and wrote its log");
    text.lines().map(Event::parse).collect()
}

/// Counts events that fit.
fn count(events: &[Event], fits: impl Fn(&Event) -> bool) -> usize {
    events.iter().filter(|event| fits(event)).count()
}

#[test]
fn events_nest_and_pair_on_every_thread() {
    let events = events();
    // Per thread, the regions and operations that have begun and not ended.
    let mut open: BTreeMap<String, Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.endpoint != "only") {
        let stack = open.entry(event.text("thread").to_owned()).or_default();
        if event.endpoint == "begin" {
            match (stack.last(), event.what.as_str()) {
                (None, "target") => {}
                // Only the memory routines have operations outside constructs.
                (None, "op") => assert_eq!(event.number("region"), 0, "{event:?}"),
                (Some(around), "op" | "submit") => {
                    assert!(around.is("target", "begin"), "{event:?} within {around:?}");
                    assert_eq!(event.number("region"), around.number("region"), "{event:?}");
                }
                (around, _) => panic!("{event:?} within {around:?}"),
            }
            stack.push(event);
        } else {
            let begun = stack.pop().unwrap_or_else(|| panic!("{event:?} has not begun"));
            assert_eq!(begun.what, event.what);
            let same: &[&str] = match event.what.as_str() {
                "target" => &["kind", "device", "task", "target_task", "region", "address"],
                "submit" => &["id", "region", "teams"],
                _ => &["kind", "id", "region", "source", "source_device", "to_device", "bytes", "address"],
            };
            for field in same {
                assert_eq!(begun.text(field), event.text(field), "{field} of {begun:?}, {event:?}");
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "not ended: {open:?}");
    assert!(open.len() > THREADS, "tasks run on threads of their own, so there are more: {}", open.len());
}

#[test]
fn every_construct_and_operation_is_told_once() {
    let events = events();
    let constructs =
        |kind| count(events, |event| event.is("target", "begin") && event.number("kind") == kind);
    let tasks = 2 * ROUNDS;
    assert_eq!(constructs(1), 2 * THREADS * ROUNDS + tasks);
    assert_eq!([2, 3, 4].map(constructs), [THREADS * ROUNDS; 3]);
    assert_eq!(count(events, |event| event.is("submit", "begin")), 2 * THREADS * ROUNDS + tasks);
    let teams = |teams| count(events, |event| event.is("submit", "begin") && event.number("teams") == teams);
    assert_eq!([teams(2), teams(1)], [THREADS * ROUNDS, THREADS * ROUNDS + tasks]);
    let operations = |kind| count(events, |event| event.endpoint == "begin" && event.is_operation(kind));
    // The tasks' cells, the routines' storage; per round two allocations of `data`.
    assert_eq!(operations(ALLOCATE), 2 * THREADS * ROUNDS + tasks + 1);
    assert_eq!(operations(DELETE), operations(ALLOCATE));
    assert_eq!(operations(TO_DEVICE), 2 * THREADS * ROUNDS + tasks + 1);
    assert_eq!(operations(FROM_DEVICE), 2 * THREADS * ROUNDS + tasks + 1);
    let half = (LENGTH / 2 * size_of::<i32>()) as i64;
    let updates = count(events, |event| {
        event.endpoint == "begin" && event.what == "op" && event.number("bytes") == half
    });
    assert_eq!(updates, THREADS * ROUNDS);
    let identifiers: Vec<_> =
        events.iter().filter(|event| event.is("op", "begin")).map(|e| e.number("id")).collect();
    assert_eq!(identifiers.iter().collect::<BTreeSet<_>>().len(), identifiers.len());
}

#[test]
fn addresses_and_devices_are_those_of_the_storage() {
    let events = events();
    // Live allocations: device and address, with the host address and size.
    let mut live: BTreeMap<(i64, String), (String, i64)> = BTreeMap::new();
    for event in events.iter().filter(|event| event.what == "op") {
        let (source, to) = (event.text("source").to_owned(), event.text("to").to_owned());
        let (source_device, to_device) = (event.number("source_device"), event.number("to_device"));
        let bytes = event.number("bytes");
        match (event.number("kind"), event.endpoint.as_str()) {
            (ALLOCATE, "end") => {
                assert_ne!(to, "(nil)");
                let previous = live.insert((to_device, to), (source, bytes));
                assert!(previous.is_none(), "allocated twice: {event:?}");
            }
            (DELETE, "begin") => {
                assert_eq!((to_device, to.as_str(), bytes), (-1, "(nil)", 0));
                assert!(live.remove(&(source_device, source)).is_some(), "not allocated: {event:?}");
            }
            (TO_DEVICE, "begin") => {
                let (host, size) = &live[&(to_device, to)];
                assert!(bytes <= *size && (host == "(nil)" || *host == source), "{event:?} to {host}");
            }
            (FROM_DEVICE, "begin") => {
                let (host, size) = &live[&(source_device, source)];
                assert!(bytes <= *size && (host == "(nil)" || *host == to), "{event:?} from {host}");
            }
            _ => {}
        }
    }
    assert!(live.is_empty(), "never deleted: {live:?}");
}

#[test]
fn calls_come_from_the_program_and_from_different_places() {
    let events = events();
    let mut places = BTreeSet::new();
    for event in events.iter().filter(|event| event.what == "target" || event.what == "op") {
        assert_eq!(event.text("from"), "program", "{event:?}");
        places.insert(event.text("address"));
    }
    // Seven constructs and four routines; the compiler may duplicate a place, never merge two.
    assert!(places.len() >= 11, "{places:?}");
}

#[test]
fn constructs_have_their_tasks() {
    for event in events().iter().filter(|event| event.what == "target") {
        assert_eq!((event.number("task"), event.number("target_task")), (1, 1), "{event:?}");
    }
}

#[test]
fn devices_live_around_their_use() {
    let events = events();
    let position = |what: &str, device: i64| {
        let found: Vec<_> = (0..events.len())
            .filter(|&index| events[index].what == what && events[index].number("device") == device)
            .collect();
        assert!(!found.is_empty(), "no {what} of device {device}");
        found
    };
    for device in [0, 1] {
        let [initialize, load, finalize] =
            ["initialize", "load", "finalize"].map(|what| position(what, device));
        assert_eq!([initialize.len(), load.len(), finalize.len()], [1, 1, 1]);
        let used = position("target", device);
        assert!(initialize[0] < load[0] && load[0] < used[0], "device {device} is used before it is ready");
        assert!(*used.last().unwrap() < finalize[0], "device {device} is used after its end");
        assert_eq!(events[initialize[0]].text("type"), "generic-64bit");
    }
    assert_eq!(events.last().unwrap().what, "over");
}

#[test]
fn plain_callbacks_come_once_with_identifiers() {
    let events = log(true);
    let begun: BTreeSet<_> = events
        .iter()
        .filter(|event| event.is("target", "begin"))
        .map(|event| event.number("region"))
        .collect();
    let ended: BTreeSet<_> =
        events.iter().filter(|event| event.is("target", "end")).map(|event| event.number("region")).collect();
    assert_eq!(begun.len(), 5 * THREADS * ROUNDS + 2 * ROUNDS);
    assert_eq!(begun, ended);
    let inside = events.iter().filter(|event| event.what == "op" || event.what == "submit");
    let mut outside = 0;
    for event in inside {
        assert_eq!(event.endpoint, "only");
        match event.number("region") {
            0 => outside += 1,
            region => assert!(begun.contains(&region), "{event:?}"),
        }
    }
    // Allocation, two copies, deletion.
    assert_eq!(outside, 4);
}
