//! The process-wide recorder of what an offload program did: launches, transfers,
//! allocations, and the time and place of each.
//!
//! The runtime asks [`enabled`] on its hot path (one relaxed load) and, only when
//! that says yes, takes two time stamps with [`now`] and hands over a [`Span`].
//! [`finish`] turns what was recorded into a Chrome trace file (which Perfetto and
//! `chrome://tracing` open) and a report for people or scripts.
//!
//! What it must never do: take a lock that two launching threads share, fail the
//! program because a file cannot be written, or grow without bound. The report is
//! made from running sums, so it is exact however long the program runs. The trace
//! keeps the first [`DEFAULT_EVENT_LIMIT`] spans of the process (32 bytes each;
//! `GANGWAY_TRACE_EVENTS` changes the number); later ones are counted, and the
//! trace and the report both say how many were dropped.
//!
//! ```
//! use gangway_trace::{Kind, Report, Span};
//! gangway_trace::configure(None, Report::Text(None));
//! if gangway_trace::enabled() {
//!     let start = gangway_trace::now();
//!     // ... launch ...
//!     gangway_trace::record(&Span {
//!         kind: Kind::Kernel,
//!         device: 0,
//!         name: "__omp_offloading_fe00_98c021_main_l7",
//!         location: None,
//!         bytes: 0,
//!         start,
//!         end: gangway_trace::now(),
//!     });
//! }
//! gangway_trace::finish();
//! ```

mod chrome;
mod config;
mod fork;
mod json;
mod name;
mod recorder;
mod recording;
mod report;
pub mod table;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use json::Quoted;
pub use name::pretty as pretty_kernel_name;
pub use recorder::DEFAULT_EVENT_LIMIT;

/// What a [`Span`] measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A kernel, from its launch to its completion.
    Kernel,
    /// A copy from host to device memory.
    ToDevice,
    /// A copy from device to host memory.
    FromDevice,
    /// A copy between two devices, or within one.
    DeviceToDevice,
    /// Device memory obtained.
    Allocate,
    /// Device memory given back.
    Free,
    /// The start of a data region: `target data`, `target enter data`, or the maps of a `target`.
    DataBegin,
    /// The end of a data region.
    DataEnd,
    /// A `target update`.
    Update,
    /// A device image loaded onto a device.
    LoadImage,
}

impl Kind {
    /// The stable word for this kind in traces and JSON reports.
    pub const fn label(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::ToDevice => "to_device",
            Kind::FromDevice => "from_device",
            Kind::DeviceToDevice => "device_to_device",
            Kind::Allocate => "allocate",
            Kind::Free => "free",
            Kind::DataBegin => "data_begin",
            Kind::DataEnd => "data_end",
            Kind::Update => "update",
            Kind::LoadImage => "load_image",
        }
    }
}

/// The source position that the compiler gave for a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    pub file: &'a str,
    pub function: &'a str,
    /// From 1; 0 when unknown.
    pub line: u32,
    /// From 1; 0 when unknown.
    pub column: u32,
}

/// One thing that took time. Strings are copied when they are first seen.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    pub kind: Kind,
    /// The OpenMP device number; negative for the host.
    pub device: i32,
    /// The kernel's symbol, or the variable that is moved.
    pub name: &'a str,
    pub location: Option<Location<'a>>,
    pub bytes: u64,
    /// [`now`] when it began.
    pub start: u64,
    /// [`now`] when it ended.
    pub end: u64,
}

/// Which report [`finish`] makes. `None` as the file means standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Report {
    #[default]
    Off,
    /// Aligned tables for people.
    Text(Option<PathBuf>),
    /// One JSON object; docs/cli.md describes it.
    Json(Option<PathBuf>),
}

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether spans are wanted. One relaxed load.
#[inline(always)]
pub fn enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Monotonic nanoseconds since the first call in this process.
#[inline]
pub fn now() -> u64 {
    at(Instant::now())
}

/// What [`now`] answers at an instant; 0 for one before its first call.
#[inline]
pub fn at(instant: Instant) -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    instant.saturating_duration_since(*ORIGIN.get_or_init(Instant::now)).as_nanos() as u64
}

/// Starts recording for a trace file, a report or both; with neither, stops recording.
///
/// `%p` in a file name stands for the process id. What an earlier configuration
/// recorded and did not write is forgotten. Any thread may call this.
pub fn configure(trace: Option<&Path>, report: Report) {
    recorder::configure(trace.map(Path::to_path_buf), report, DEFAULT_EVENT_LIMIT);
}

/// [`configure`] from `GANGWAY_TRACE=FILE` and `GANGWAY_REPORT=1|text|json[:FILE]`.
///
/// Costs three environment look-ups when neither is set.
pub fn configure_from_env() {
    let requested = config::from_env();
    for complaint in &requested.complaints {
        recorder::say(complaint);
    }
    if requested.trace.is_some() || requested.report != Report::Off {
        recorder::configure(requested.trace, requested.report, requested.event_limit);
    }
}

/// Adds one span. Does nothing unless [`enabled`]. Any thread may call this at any
/// time; threads do not wait for each other.
#[inline]
pub fn record(span: &Span<'_>) {
    if enabled() {
        recorder::record(span);
    }
}

/// Writes the trace and the report, and stops recording.
///
/// A second call does nothing. Safe at process exit while other threads still
/// launch: what they record after this point is ignored. A forked child reports only
/// what it did itself, into files with `.PID` appended.
pub fn finish() {
    recorder::finish();
}
