//! What programs have allocated by a routine, so that a wrong call to free it is named.
//!
//! Plain device memory is recorded on request only ([`track_allocations`]), with
//! the places of its allocation and deallocation: without it [`memory`](crate::memory) asks
//! one relaxed atomic, and back ends still tell what they did not allocate. The other kinds
//! are rare and always recorded, as a back end may treat all kinds alike.

use gangway_backend::AllocationKind;
use std::backtrace::Backtrace;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static TRACKING: AtomicBool = AtomicBool::new(false);
/// How many records there are: while there are none, nobody takes the lock.
static RECORDS: AtomicUsize = AtomicUsize::new(0);
static TABLE: Mutex<Option<Table>> = Mutex::new(None);

/// By device and address.
type Table = HashMap<(i32, usize), Record>;

/// For the rest of the process every allocation is recorded, with the calls that led to it.
pub fn track_allocations() {
    TRACKING.store(true, Ordering::Relaxed);
}

struct Record {
    kind: AllocationKind,
    size: usize,
    allocated: Trace,
    /// Set once it has been freed; only kept where traces are wanted.
    freed: Option<Trace>,
}

/// A free that cannot be meant, and what is known of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongFree {
    address: usize,
    /// None: the host's memory.
    wanted: Option<AllocationKind>,
    what: Mistake,
    /// Headings, and the calls below them.
    traces: Vec<(String, Trace)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mistake {
    FreedAlready,
    OtherKind(AllocationKind),
    OtherDevice(i32),
    Unknown,
}

/// Notes an allocation.
pub(crate) fn allocated(device: i32, address: usize, size: usize, kind: AllocationKind) {
    let tracking = TRACKING.load(Ordering::Relaxed);
    if !tracking && kind == AllocationKind::Device && RECORDS.load(Ordering::Relaxed) == 0 {
        return;
    }
    // Captured before the lock: it reads debug information and may allocate.
    let trace = Trace::capture();
    let mut table = table();
    let table = table.get_or_insert_default();
    if tracking || kind != AllocationKind::Device {
        table.insert((device, address), Record { kind, size, allocated: trace, freed: None });
    } else {
        // The address may have been another kind's.
        table.remove(&(device, address));
    }
    RECORDS.store(table.len(), Ordering::Relaxed);
}

/// Notes that memory is about to be freed by the routine for `kind`.
///
/// # Errors
/// It is not such memory. It has not been freed then.
pub(crate) fn freeing(device: i32, address: usize, kind: AllocationKind) -> Result<(), Box<WrongFree>> {
    let tracking = TRACKING.load(Ordering::Relaxed);
    if !tracking && kind == AllocationKind::Device && RECORDS.load(Ordering::Relaxed) == 0 {
        return Ok(());
    }
    let trace = Trace::capture();
    let mut table = table();
    let table = table.get_or_insert_default();
    let Some(record) = table.get_mut(&(device, address)) else {
        if !tracking && kind == AllocationKind::Device {
            return Ok(());
        }
        return Err(unknown(table, address, kind));
    };
    let what = match (&record.freed, record.kind) {
        (Some(_), _) => Some(Mistake::FreedAlready),
        (None, was) if was != kind => Some(Mistake::OtherKind(was)),
        (None, _) => None,
    };
    match what {
        Some(what) => Err(WrongFree::of(address, Some(kind), what, record)),
        None if tracking => {
            record.freed = Some(trace);
            Ok(())
        }
        None => {
            table.remove(&(device, address));
            RECORDS.store(table.len(), Ordering::Relaxed);
            Ok(())
        }
    }
}

/// What is known of memory that is about to be freed as the host's; none that came from
/// a device, as far as it is recorded.
///
/// # Errors
/// It is a device's.
pub fn freeing_on_host(address: usize) -> Result<(), Box<WrongFree>> {
    if RECORDS.load(Ordering::Relaxed) == 0 {
        return Ok(());
    }
    let found = table().as_ref().and_then(|table| on_any_device(table, address, None));
    found.map_or(Ok(()), Err)
}

/// An address without a record on its device: perhaps another has it.
fn unknown(table: &Table, address: usize, kind: AllocationKind) -> Box<WrongFree> {
    on_any_device(table, address, Some(kind)).unwrap_or_else(|| {
        Box::new(WrongFree { address, wanted: Some(kind), what: Mistake::Unknown, traces: Vec::new() })
    })
}

fn on_any_device(table: &Table, address: usize, wanted: Option<AllocationKind>) -> Option<Box<WrongFree>> {
    let (&(device, _), record) =
        table.iter().find(|((_, at), record)| *at == address && record.freed.is_none())?;
    Some(WrongFree::of(address, wanted, Mistake::OtherDevice(device), record))
}

fn table() -> MutexGuard<'static, Option<Table>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WrongFree {
    fn of(address: usize, wanted: Option<AllocationKind>, what: Mistake, record: &Record) -> Box<Self> {
        let mut traces = vec![(format!("allocated ({} bytes):", record.size), record.allocated.clone())];
        traces.extend(record.freed.iter().map(|freed| ("freed:".to_owned(), freed.clone())));
        traces.retain(|(_, trace)| trace.0.is_some());
        Box::new(Self { address, wanted, what, traces })
    }

    /// The kind of memory that it is instead, if that is the mistake.
    #[must_use]
    pub fn other_kind(&self) -> Option<AllocationKind> {
        if let Mistake::OtherKind(was) = self.what { Some(was) } else { None }
    }

    /// Whether more would be known if all allocations were [recorded](track_allocations).
    #[must_use]
    pub fn lacks_traces(&self) -> bool {
        self.traces.is_empty() && !TRACKING.load(Ordering::Relaxed)
    }
}

/// A kind of memory.
pub(crate) const fn name(kind: AllocationKind) -> &'static str {
    match kind {
        AllocationKind::Device => "device memory",
        AllocationKind::Host => "pinned host memory",
        AllocationKind::Shared => "shared memory",
    }
}

impl fmt::Display for WrongFree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.wanted.map_or("host memory", name);
        write!(f, "cannot free {:#x} as {wanted}: ", self.address)?;
        match self.what {
            Mistake::FreedAlready => f.write_str("it has been freed already")?,
            Mistake::OtherKind(was) => write!(f, "it is {}", name(was))?,
            Mistake::OtherDevice(device) => write!(f, "it was allocated on device {device}")?,
            Mistake::Unknown => f.write_str("no routine returned it, or it has been freed since")?,
        }
        for (heading, trace) in &self.traces {
            write!(f, "\n  {heading}{trace}")?;
        }
        match self.what {
            Mistake::OtherDevice(device) => write!(f, "\n  help: free it on device {device}"),
            Mistake::OtherKind(_) | Mistake::FreedAlready | Mistake::Unknown => Ok(()),
        }
    }
}

/// The calls that led somewhere, if they are wanted. Names are looked up when they are shown.
#[derive(Clone)]
struct Trace(Option<Arc<Backtrace>>);

impl Trace {
    fn capture() -> Self {
        Self(TRACKING.load(Ordering::Relaxed).then(|| Arc::new(Backtrace::force_capture())))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(trace) = &self.0 else { return Ok(()) };
        let text = trace.to_string();
        let frames = frames(&text);
        // The innermost calls are this library's own; what is outside of `main` is the C library's.
        let root = root(&frames);
        let first = frames.iter().rposition(|frame| is_ours(frame, root)).map_or(0, |at| at + 1);
        for (function, place) in &frames[first..] {
            write!(f, "\n    {function}{}{place}", if place.is_empty() { "" } else { " " })?;
            if *function == "main" {
                break;
            }
        }
        Ok(())
    }
}

/// Where the sources of this library were, as backtraces have it: this file is in each of them.
/// The compiler is not asked, as its answer would be a path of the machine that built this.
fn root<'a>(frames: &[(&str, &'a str)]) -> Option<&'a str> {
    frames.iter().find_map(|(_, place)| {
        let place = place.strip_prefix("at ")?;
        Some(&place[..place.find(file!())?])
    })
}

/// Whether a frame is this library's. Of functions that were inlined the compiler notes
/// the bare name, so their place has to tell.
fn is_ours(&(function, place): &(&str, &str), root: Option<&str>) -> bool {
    let from_here = || {
        // Places below the current folder are told relative to it.
        let current = std::env::current_dir().ok()?;
        Some(current.join(place.strip_prefix("at ")?).starts_with(current.join(root?)))
    };
    (function.starts_with("gangway_") && function.contains("::"))
        || (place.contains(".rs:") && from_here() == Some(true))
}

/// The functions in a backtrace and their places: a line with a number and a function, and
/// perhaps one with the place.
fn frames(text: &str) -> Vec<(&str, &str)> {
    let mut frames: Vec<(&str, &str)> = Vec::new();
    for line in text.lines().map(str::trim) {
        let numbered = line.split_once(": ").filter(|(number, _)| number.parse::<u32>().is_ok());
        match (numbered, frames.last_mut()) {
            (Some((_, function)), _) => frames.push((function, "")),
            (None, Some(last)) => last.1 = line,
            (None, None) => {}
        }
    }
    frames
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Trace" } else { "no trace" })
    }
}

/// Traces say where; whether two errors are the same does not depend on it.
impl PartialEq for Trace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Trace {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that no other test has.
    const DEVICE: i32 = -78;

    #[test]
    fn frames_with_and_without_places() {
        let text = "   0: inner\n             at ./a.c:1:2\n   1: <a as b>::c: d\n   2: main\n             at ./a.c:9\n";
        assert_eq!(frames(text), [("inner", "at ./a.c:1:2"), ("<a as b>::c: d", ""), ("main", "at ./a.c:9")]);
    }

    #[test]
    fn frames_of_this_library() {
        for folder in ["/home/user/gangway/", "gangway/", "./"] {
            let (here, near) =
                (format!("at {folder}{}:9:1", file!()), format!("at {folder}runtime/src/a.rs:1:1"));
            let root =
                root(&[("std::backtrace", "at /rustc/b.rs:1:1"), ("capture", &here), ("allocate", &near)]);
            assert_eq!(root, Some(folder));
            assert!(is_ours(&("allocate", &near), root));
            assert!(is_ours(&("gangway_runtime::memory::allocate", ""), root));
            assert!(!is_ours(&("main", "at program.c:9:1"), root));
            assert!(!is_ours(&("gangway_probe", "at /elsewhere/a.rs:1:1"), root));
        }
        let below = std::env::current_dir().unwrap();
        let root_of_all = format!("{}/", below.parent().unwrap().display());
        assert!(is_ours(&("allocate", "at ./src/extensions.rs:1:1"), Some(&root_of_all)));
        assert!(!is_ours(&("allocate", "at ./src/extensions.rs:1:1"), Some("/elsewhere/")));
        assert_eq!(root(&[("main", "at program.c:9:1"), ("a", "")]), None);
        assert!(!is_ours(&("a", "at /elsewhere/a.rs:1:1"), None));
    }

    #[test]
    fn kinds_are_told_apart_without_traces() {
        use AllocationKind::{Device, Host, Shared};
        allocated(DEVICE, 0x10, 8, Host);
        allocated(DEVICE, 0x20, 8, Shared);
        allocated(DEVICE, 0x30, 8, Device);
        for (address, kind, why) in [
            (0x10, Device, "it is pinned host memory"),
            (0x20, Host, "it is shared memory"),
            (0x30, Shared, "no routine returned it, or it has been freed since"),
        ] {
            let said = freeing(DEVICE, address, kind).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
        assert!(freeing_on_host(0x20).unwrap_err().to_string().contains("as host memory"));
        for (address, kind) in [(0x10, Host), (0x20, Shared), (0x30, Device)] {
            freeing(DEVICE, address, kind).unwrap();
        }
        assert!(freeing(DEVICE, 0x10, Host).is_err());
    }
}
