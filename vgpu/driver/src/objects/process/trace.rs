//! The trace of calls: `GANGWAY_VGPU_TRACE`.
//!
//! `1` prints, when the process ends, how often each function was called and how long it took. Any
//! other value names a file that every call is written to, in the trace format that Chrome's and
//! Perfetto's viewers read. Without the variable a call costs one load.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use gangway_engine::file_variable;

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
}

/// Tells the statistics of all functions.
pub type Calls = fn() -> Vec<&'static CallStatistics>;

static ON: AtomicBool = AtomicBool::new(false);
static SINK: OnceLock<Sink> = OnceLock::new();

struct Sink {
    start: Instant,
    calls: Calls,
    file: Option<Mutex<BufWriter<File>>>,
}

/// Begins, if `GANGWAY_VGPU_TRACE` says so; once per process.
pub fn start(calls: Calls) {
    let Some(value) = file_variable("GANGWAY_VGPU_TRACE").filter(|value| !value.is_empty() && value != "0")
    else {
        return;
    };
    SINK.get_or_init(|| {
        let mut file = None;
        if value != "1" {
            match File::create(&value) {
                Ok(created) => {
                    let mut writer = BufWriter::new(created);
                    // The array stays open: viewers take it so, also from a process that was
                    // killed.
                    let _ = writer.write_all(b"[\n");
                    file = Some(Mutex::new(writer));
                }
                Err(error) => report!("no trace in {}: {error}", value.display()),
            }
        }
        // SAFETY: `finish` is a function without parameters that may run at any exit.
        unsafe { libc::atexit(finish) };
        ON.store(true, Ordering::Release);
        Sink { start: Instant::now(), calls, file }
    });
}

/// Says in the trace, if there is one, what a user may wonder about.
pub fn note(text: &str) {
    if !ON.load(Ordering::Relaxed) {
        return;
    }
    let Some(Sink { start, file, .. }) = SINK.get() else { return };
    let Some(file) = file else { return report!("{text}") };
    let at = start.elapsed().as_nanos() as f64 / 1e3;
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let _ = writeln!(
        file,
        r#"{{"name":"{}","ph":"i","s":"p","ts":{at:.3},"pid":{process},"tid":{process}}},"#,
        escaped(text)
    );
}

/// As the inside of a string of JSON.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            character if u32::from(character) < 0x20 => out += &format!("\\u{:04x}", u32::from(character)),
            character => out.push(character),
        }
    }
    out
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
    let taken = begin.elapsed().as_nanos() as u64;
    statistics.calls.fetch_add(1, Ordering::Relaxed);
    statistics.nanoseconds.fetch_add(taken, Ordering::Relaxed);
    statistics.longest.fetch_max(taken, Ordering::Relaxed);
    let Some(Sink { start, file: Some(file), .. }) = SINK.get() else { return };
    let at = begin.saturating_duration_since(*start).as_nanos() as f64 / 1e3;
    // SAFETY: these two have no preconditions.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(
        file,
        r#"{{"name":"{}","ph":"X","ts":{at:.3},"dur":{:.3},"pid":{process},"tid":{thread}}},"#,
        statistics.name,
        taken as f64 / 1e3,
    );
}

/// In a forked child: the trace is its parent's.
pub fn stop() {
    ON.store(false, Ordering::Relaxed);
}

extern "C" fn finish() {
    // Runs under exit(), where a panic would abort: everything here ignores its failures.
    if !ON.swap(false, Ordering::Relaxed) {
        return;
    }
    match SINK.get() {
        Some(Sink { file: Some(file), .. }) => {
            if let Ok(mut file) = file.try_lock() {
                for fall_back in gangway_engine::fall_backs() {
                    let launches = fall_back.launches;
                    let name = format!("interpreted, not compiled (launches: {launches}): {fall_back}");
                    let _ =
                        writeln!(file, r#"{{"name":"{}","ph":"i","ts":0,"pid":0,"tid":0}},"#, escaped(&name));
                }
                let _ = file.flush();
            }
        }
        Some(Sink { calls, file: None, .. }) => {
            let _ = std::io::stderr().write_all(table(&calls()).as_bytes());
        }
        None => {}
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
    for fall_back in gangway_engine::fall_backs() {
        let launches = fall_back.launches;
        text += &format!("gangway: interpreted, not compiled (launches: {launches}): {fall_back}\n");
    }
    text
}
