//! What is recorded of the driver's work: `GANGWAY_REPORT`, `GANGWAY_TRACE`, `GANGWAY_VGPU_TRACE`.
//!
//! Calls of the program's threads and operations of devices go to the recorder that the runtime
//! has, too (`gangway-trace`), which writes the same reports and traces. Under Gangway's own
//! runtime the report and `GANGWAY_TRACE` are the runtime's: [`leave_to_runtime`]. A trace that is
//! asked for by `GANGWAY_VGPU_TRACE=FILE` is always the driver's. The runtime does not know of
//! kernels that the program loads and launches beside it: they are counted here, and told at the end.
//!
//! `GANGWAY_VGPU_TRACE=1` prints, when the process ends, how often each function was called and how
//! long it took. Where nothing is asked for a call costs one load, and so does an operation.

use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use gangway_settings::file_variable;
use gangway_trace::{Kind, Lane, Request, Running, Span};

use super::report::report;

/// How often a function was called, and how long that took.
#[derive(Debug)]
pub struct CallStatistics {
    /// The function's.
    pub name: &'static str,
    calls: AtomicU64,
    nanoseconds: AtomicU64,
    longest: AtomicU64,
}

impl CallStatistics {
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, calls: AtomicU64::new(0), nanoseconds: AtomicU64::new(0), longest: AtomicU64::new(0) }
    }

    fn add(&self, taken: u64) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(taken, Ordering::Relaxed);
        self.longest.fetch_max(taken, Ordering::Relaxed);
    }
}

/// Tells the statistics of all functions.
pub type Calls = fn() -> Vec<&'static CallStatistics>;

/// Calls are timed, for the table or for the recorder.
static ON: AtomicBool = AtomicBool::new(false);
/// The table is to be printed.
static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: OnceLock<Calls> = OnceLock::new();
/// The report, and the trace of `GANGWAY_TRACE`, are the runtime's.
static RUNTIME_REPORTS: AtomicBool = AtomicBool::new(false);
/// A report or a trace is asked for that may become the runtime's.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Launches of kernels that are not the runtime's, and the name of the first.
static PROGRAMS_OWN: AtomicU64 = AtomicU64::new(0);
static FIRST_OF_ITS_OWN: OnceLock<String> = OnceLock::new();

/// Begins, if the environment says so; once per process.
pub fn start(calls: Calls) {
    let own = own_file();
    let counting = own.as_ref().is_some_and(|value| value.as_os_str() == "1");
    let mut request = Request::default();
    let asked = named("GANGWAY_TRACE").or_else(|| named("GANGWAY_REPORT")).is_some();
    if asked && !RUNTIME_REPORTS.load(Ordering::Acquire) {
        request = Request::from_env();
    }
    request.traces.extend(own.filter(|_| !counting));
    if !counting && !request.is_wanted() && !asked {
        return;
    }
    ASKED.store(asked, Ordering::Release);
    let _ = CALLS.set(calls);
    COUNTING.store(counting, Ordering::Release);
    gangway_trace::at_end(finish);
    if request.is_wanted() {
        gangway_streams::observe();
    }
    let on = counting || request.is_wanted();
    gangway_trace::start(request);
    ON.store(on, Ordering::Release);
}

/// The libraries that `gangway run` has put before the program, if it has.
#[derive(Clone, Copy, Debug)]
pub struct InFront {
    opened: Option<extern "C" fn()>,
}

impl InFront {
    /// Asks the loader for all that [`start`] and the function below want of them.
    pub fn find() -> Self {
        gangway_trace::find_library_of_endings();
        // SAFETY: a name with its terminator.
        let opened = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_driver_opened".as_ptr()) };
        // SAFETY: the type that the library gives it; null is none.
        let opened = unsafe { std::mem::transmute::<*mut libc::c_void, Option<extern "C" fn()>>(opened) };
        Self { opened }
    }

    /// Tells them that the driver is in use.
    pub fn tell_of_opening(self) {
        if let Some(opened) = self.opened {
            opened();
        }
    }
}

/// What a variable names that may be switched off.
fn named(variable: &str) -> Option<PathBuf> {
    file_variable(variable).filter(|value| !value.is_empty() && value != "0").map(PathBuf::from)
}

/// The file that `GANGWAY_VGPU_TRACE` names, or what else it says.
fn own_file() -> Option<PathBuf> {
    named("GANGWAY_VGPU_TRACE")
}

/// Gangway's own runtime uses the driver, and reports.
pub fn leave_to_runtime() {
    if !RUNTIME_REPORTS.swap(true, Ordering::AcqRel) && ON.load(Ordering::Acquire) {
        let own: Vec<PathBuf> = own_file().into_iter().collect();
        gangway_trace::keep_only(&own);
    }
}

/// A kernel is launched, of a module that is the runtime's or not: one that the runtime will not
/// report is counted.
#[inline]
pub fn count_launch(runtimes: bool, kernel: &str) {
    if !runtimes && ASKED.load(Ordering::Relaxed) {
        PROGRAMS_OWN.fetch_add(1, Ordering::Relaxed);
        FIRST_OF_ITS_OWN.get_or_init(|| gangway_trace::pretty_kernel_name(kernel).into_owned());
    }
}

/// Says what the runtime's report and trace lack.
fn tell_of_programs_own() {
    let launches = PROGRAMS_OWN.load(Ordering::Relaxed);
    if ASKED.swap(false, Ordering::Relaxed)
        && RUNTIME_REPORTS.load(Ordering::Relaxed)
        && launches > 0
        && let Some(first) = FIRST_OF_ITS_OWN.get()
    {
        report!(
            "note: the program has launched kernels through the CUDA driver itself (launches: {launches}; the first: \
             {first}); report and trace have only what the offload runtime did, so set GANGWAY_VGPU_TRACE=FILE for a \
             trace of all of it"
        );
    }
}

/// Says in trace and report, if there are any, what a user may wonder about.
pub fn note(text: &str) {
    if COUNTING.load(Ordering::Relaxed) {
        report!("{text}");
    }
    gangway_trace::note(text);
}

/// What is being timed; ends when dropped.
#[must_use = "the call ends when it is dropped"]
pub struct Timed(Option<(&'static CallStatistics, Instant)>);

/// A call begins.
#[inline]
pub fn enter(call: &'static CallStatistics) -> Timed {
    Timed(ON.load(Ordering::Relaxed).then(|| (call, Instant::now())))
}

impl Drop for Timed {
    #[inline]
    fn drop(&mut self) {
        // It has been switched off when a function of the program has forked within the call.
        if let Some((call, begin)) = self.0
            && ON.load(Ordering::Relaxed)
        {
            leave(call, begin);
        }
    }
}

#[cold]
fn leave(statistics: &'static CallStatistics, begin: Instant) {
    let end = Instant::now();
    statistics.add(end.saturating_duration_since(begin).as_nanos() as u64);
    gangway_trace::record(&Span {
        end: gangway_trace::at(end),
        waited: gangway_streams::take_waited(),
        ..Span::new(Kind::Call, -1, statistics.name, gangway_trace::at(begin))
    });
}

/// An operation of a device that has begun and is to be recorded.
#[must_use = "the operation ends when it is dropped"]
pub struct Begun {
    start: u64,
    lane: Lane,
    running: Option<Running>,
}

/// An operation begins; `None` if nothing is recorded. `span` says what it is, for its beginning;
/// it is drawn on the line of the stream that it runs in, if it does.
#[inline]
#[must_use]
pub fn begin<'a>(span: impl FnOnce() -> Span<'a>) -> Option<Begun> {
    if gangway_trace::enabled() { Some(begin_now(&span())) } else { None }
}

#[cold]
fn begin_now(span: &Span<'_>) -> Begun {
    let start = gangway_trace::now();
    let lane = gangway_streams::running()
        .map_or(Lane::Thread, |stream| Lane::Stream { id: stream.id as u32, default: stream.legacy });
    Begun { start, lane, running: gangway_trace::begin(&Span { start, lane, ..*span }) }
}

impl Begun {
    /// It has ended, and `span` says all that is known of it but its times.
    #[cold]
    pub fn end(self, span: &Span<'_>) {
        drop(self.running);
        let (start, lane) = (self.start, self.lane);
        gangway_trace::record(&Span { start, end: gangway_trace::now(), lane, ..*span });
    }
}

/// In a forked child nothing of the driver works, so nothing is recorded.
pub fn stop() {
    ON.store(false, Ordering::Relaxed);
    COUNTING.store(false, Ordering::Relaxed);
    ASKED.store(false, Ordering::Relaxed);
}

/// The loader calls it when the process ends, behind all exit handlers and the program's own destructors. A
/// handler of ours would be called before them, as the driver is opened late, and the runtimes of OpenACC wait
/// for queues that the program has not waited for in a destructor: those kernels would be missing.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    finish();
}

/// Runs under `exit`, where a panic would abort, or when the process has crashed: everything here
/// ignores its failures.
fn finish() {
    tell_of_programs_own();
    if !ON.swap(false, Ordering::Relaxed) {
        return;
    }
    for fall_back in gangway_engine::fall_backs() {
        let launches = fall_back.launches;
        gangway_trace::note(&format!("interpreted, not compiled (launches: {launches}): {fall_back}"));
    }
    gangway_trace::finish();
    if COUNTING.load(Ordering::Relaxed)
        && let Some(calls) = CALLS.get()
    {
        let _ = std::io::stderr().write_all(table(&calls()).as_bytes());
    }
}

fn table(all: &[&'static CallStatistics]) -> String {
    let mut rows: Vec<(&'static str, u64, u64, u64)> = all
        .iter()
        .map(|statistics| {
            let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let (calls, time) = (value(&statistics.calls), value(&statistics.nanoseconds));
            (statistics.name, calls, time, value(&statistics.longest))
        })
        .filter(|row| row.1 > 0)
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.2), row.0));
    let mut text = format!(
        "gangway: calls of the driver API\n{:>10} {:>14} {:>12} {:>12}  function\n",
        "calls", "total (us)", "mean (us)", "longest (us)"
    );
    for (name, calls, time, longest) in rows {
        let micro = |nanoseconds: u64| nanoseconds as f64 / 1e3;
        text += &format!(
            "{calls:>10} {:>14.3} {:>12.3} {:>12.3}  {name}\n",
            micro(time),
            micro(time) / calls as f64,
            micro(longest)
        );
    }
    let [full, quick, memory] = gangway_engine::compiled();
    text += &format!(
        "gangway: functions compiled: {full} in full, {quick} with registers allocated in one pass, \
         {memory} so large that their registers are in memory\n"
    );
    for noted in gangway_engine::lanewise() {
        let function = noted.function;
        text += &match noted.outcome {
            Ok(regions) => format!("gangway: LLVM: {regions} regions of '{function}', lane by lane\n"),
            Err(why) => format!("gangway: no code of LLVM's for '{function}': {why}\n"),
        };
    }
    for fall_back in gangway_engine::fall_backs() {
        let launches = fall_back.launches;
        text += &format!("gangway: interpreted, not compiled (launches: {launches}): {fall_back}\n");
    }
    text
}
