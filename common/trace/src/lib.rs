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
//! Two libraries record with it: the runtime, and the driver of the virtual GPU for programs
//! without the runtime. Each has a recorder of its own, and one of them writes. [`at_end`] calls
//! what writes when a process ends by a signal, by `abort` or by `quick_exit`.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`memory`] | what is said when memory has run out |
//! | [`table`] | aligned tables and readable units |
//! | `json` | JSON output |
//! | `name` | kernels' names for people |
//! | `files` | files that are written as a whole |
//! | `say` | messages on standard error |
//! | `about` | who ran what, where and when |
//! | `busy` | for how long something was under way |
//! | `ending` | ends of a process that no exit handler sees |
//! | `recording` | what was recorded, over all threads |
//! | `buffer` | what one thread has recorded |
//! | `config` | the environment |
//! | `lanes` | the lines of a time line |
//! | `chrome` | the trace |
//! | `report` | the report |
//! | `output` | writes both |
//! | `recorder` | one buffer per thread, merged at the end |
//! | `running` | spans that are under way |
//! | `fork` | the recorder across forks |
//!
//! ```
//! use gangway_trace::{Kind, Report, Span};
//! gangway_trace::configure(None, Report::Text(None));
//! if gangway_trace::enabled() {
//!     let start = gangway_trace::now();
//!     // ... launch ...
//!     gangway_trace::record(&Span {
//!         end: gangway_trace::now(),
//!         ..Span::new(Kind::Kernel, 0, "__omp_offloading_fe00_98c021_main_l7", start)
//!     });
//! }
//! gangway_trace::finish();
//! ```

mod about;
mod buffer;
mod busy;
mod chrome;
mod config;
mod ending;
mod files;
mod fork;
mod json;
mod lanes;
pub mod memory;
mod name;
mod output;
mod recorder;
mod recording;
mod report;
mod running;
mod say;
pub mod table;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use buffer::DEFAULT_EVENT_LIMIT;
pub use config::{PAGE, Request};
pub use ending::{at_end, find_library_of_endings};
pub use files::{Fill, write_whole};
pub use json::Quoted;
pub use name::pretty as pretty_kernel_name;
pub use running::{Running, begin};

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
    /// A kernel made ready for a device that compiles when it is launched.
    Compile,
    /// A function of the host that code on a device has called.
    HostCall,
    /// A call of the device's driver by the program.
    Call,
    /// A target region that the host ran; [`Span::detail`] says why.
    OnHost,
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
            Kind::Compile => "compile",
            Kind::HostCall => "host_call",
            Kind::Call => "call",
            Kind::OnHost => "on_host",
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

/// How a kernel was launched on a device that has blocks of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
}

/// What a kernel takes of a multiprocessor, as far as its device says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of shared memory of a block: what the kernel declares, and what the launch adds.
    pub shared: Option<u32>,
}

/// The line of the trace that a span is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lane {
    /// That of the thread that records it.
    #[default]
    Thread,
    /// That of a stream of the device.
    Stream {
        /// What tells it from the other streams of the process; below 2³⁰.
        id: u32,
        /// It is one that nobody has created.
        default: bool,
    },
}

/// One thing that took time. Strings are copied when they are first seen.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    pub kind: Kind,
    /// The OpenMP device number; negative for the host.
    pub device: i32,
    /// The kernel's symbol, the variable that is moved, or the function that is called.
    pub name: &'a str,
    pub location: Option<Location<'a>>,
    /// Of kernels.
    pub shape: Option<Shape>,
    /// Of kernels.
    pub resources: Resources,
    /// What more there is to say, such as why the host ran a region.
    pub detail: &'a str,
    pub lane: Lane,
    pub bytes: u64,
    /// [`now`] when it began.
    pub start: u64,
    /// [`now`] when it ended.
    pub end: u64,
    /// Nanoseconds of it in which it waited: a call of the driver for a device, a host call, before
    /// anything else, for a thread that serves it. The report has them apart.
    pub waited: u64,
}

impl<'a> Span<'a> {
    /// A span that ends as it begins, with nothing more known of it.
    #[must_use]
    pub const fn new(kind: Kind, device: i32, name: &'a str, start: u64) -> Self {
        Span {
            kind,
            device,
            name,
            location: None,
            shape: None,
            resources: Resources { registers: None, shared: None },
            detail: "",
            lane: Lane::Thread,
            bytes: 0,
            start,
            end: start,
            waited: 0,
        }
    }
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
    /// A page for a browser, with a time line.
    Html(PathBuf),
}

/// The [`Span::detail`] of a region that the program wanted on the host: no advice is due.
pub const HOST_WAS_ASKED_FOR: &str = "its device is the host";

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
/// `%p` in a file name stands for the process id, `%r` for the rank among the processes of a
/// parallel program, which gets into the name by itself where neither is. What an earlier configuration
/// recorded and did not write is forgotten. Any thread may call this.
pub fn configure(trace: Option<&Path>, report: Report) {
    let traces = trace.map(Path::to_path_buf).into_iter().collect();
    configure_for(Request { traces, report, ..Request::default() });
}

/// [`configure`] from `GANGWAY_TRACE=FILE` and `GANGWAY_REPORT=1|text[:FILE]|json[:FILE]|html[:FILE]`.
///
/// Costs three environment look-ups when neither is set.
pub fn configure_from_env() {
    let request = Request::from_env();
    output::check(&request);
    start(request);
}

/// Starts recording for what is asked for, if that is anything.
pub fn start(request: Request) {
    if request.is_wanted() {
        configure_for(request);
    }
}

fn configure_for(request: Request) {
    if request.is_wanted() {
        fork::install();
    }
    recorder::configure(request);
}

/// Leaves the report and the traces to others, but for these files; goes on recording for them.
pub fn keep_only(traces: &[PathBuf]) {
    recorder::keep_only(traces);
}

/// A device has been opened; the report says what it is.
pub fn device(number: i32, what: &str) {
    if enabled() {
        recorder::device(number, what);
    }
}

/// Something that the user of the trace or the report should know. Said once with its count.
pub fn note(text: &str) {
    if enabled() {
        recorder::note(text);
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
