//! `LIBOMPTARGET_PROFILE=FILE`: the stock library's time profile.
//!
//! A JSON file in the Chrome trace format, with the stock library's names for constructs,
//! launches and copies: those that took at least `LIBOMPTARGET_PROFILE_GRANULARITY`
//! microseconds (default 500), and the sum of all of each name. What the stock library tells
//! of its own insides has no counterpart here. `GANGWAY_TRACE` has more, and costs less.

use crate::environment::{file_variable, variable};
use crate::message;
use gangway_runtime::events::{self, Site, Step};
use gangway_trace::Quoted;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Microseconds that a section takes at least to be shown by itself.
const GRANULARITY: u64 = 500;

static PROFILE: OnceLock<Profile> = OnceLock::new();

struct Profile {
    file: String,
    granularity: Duration,
    began: Instant,
    /// The same in microseconds since 1970.
    began_at: u128,
    process: i32,
    sections: Mutex<Sections>,
}

#[derive(Default)]
struct Sections {
    shown: Vec<Section>,
    /// How many there were of each name, and the time of all.
    sums: BTreeMap<&'static str, (u64, Duration)>,
    threads: BTreeMap<i32, String>,
}

struct Section {
    name: &'static str,
    detail: String,
    thread: i32,
    start: Duration,
    duration: Duration,
}

/// Reads the environment; called once at start-up. Answers whether steps are wanted.
pub(crate) fn start() -> bool {
    let Some(file) = file_variable("LIBOMPTARGET_PROFILE") else { return false };
    let granularity = variable("LIBOMPTARGET_PROFILE_GRANULARITY").and_then(|text| text.trim().parse().ok());
    let profile = Profile {
        file,
        granularity: Duration::from_micros(granularity.unwrap_or(GRANULARITY)),
        began: Instant::now(),
        began_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros(),
        // SAFETY: has no preconditions.
        process: unsafe { libc::getpid() },
        sections: Mutex::default(),
    };
    PROFILE.set(profile).is_ok()
}

/// A construct under way; its section ends when this goes.
pub struct Construct {
    running: Option<(Instant, &'static str, String)>,
}

impl Construct {
    /// `detail` says more than the place.
    #[inline]
    pub fn begin(name: &'static str, site: &Site, detail: impl FnOnce() -> String) -> Self {
        let running = if events::observed() && PROFILE.get().is_some() {
            Some((Instant::now(), name, place(site) + &detail()))
        } else {
            None
        };
        Self { running }
    }

    #[cold]
    fn finish(&mut self) {
        if let (Some((start, name, detail)), Some(profile)) = (self.running.take(), PROFILE.get()) {
            profile.add(name, start, Instant::now(), || detail);
        }
    }
}

impl Drop for Construct {
    #[inline(always)]
    fn drop(&mut self) {
        if self.running.is_some() {
            self.finish();
        }
    }
}

/// Records a step: a section within a construct.
pub(crate) fn record(site: &Site, step: &Step<'_>, start: Instant, end: Instant) {
    let Some(profile) = PROFILE.get() else { return };
    let add = |name, what: &dyn Fn() -> String| profile.add(name, start, end, || place(site) + &what());
    match *step {
        Step::Launch { launch, .. } => {
            add("Kernel Target", &|| format!("NumTeams={};TripCount={}", launch.teams[0], launch.trip_count))
        }
        Step::ToDevice { size, .. } => add("HostToDev", &|| format!("Size={size}B")),
        Step::FromDevice { size, .. } => add("DevToHost", &|| format!("Size={size}B")),
        Step::BetweenDevices { size, .. } => add("DevToDev", &|| format!("Size={size}B")),
        _ => {}
    }
}

/// A place as the compiler writes it, for the beginning of a detail.
fn place(site: &Site) -> String {
    match site.location() {
        Some(at) => format!(";{};{};{};{};;", at.file, at.function, at.line, at.column),
        None => ";unknown;unknown;0;0;;".to_owned(),
    }
}

impl Profile {
    fn add(&self, name: &'static str, start: Instant, end: Instant, detail: impl FnOnce() -> String) {
        let duration = end.saturating_duration_since(start);
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::gettid() };
        let mut sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = sections.sums.entry(name).or_default();
        *sum = (sum.0 + 1, sum.1 + duration);
        sections.threads.entry(thread).or_insert_with(thread_name);
        if duration >= self.granularity {
            let start = start.saturating_duration_since(self.began);
            sections.shown.push(Section { name, detail: detail(), thread, start, duration });
        }
    }

    fn text(&self) -> String {
        let sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let process = self.process;
        let mut text = String::from("{\"traceEvents\":[");
        // Writing to a string cannot fail.
        for Section { name, detail, thread, start, duration } in &sections.shown {
            let _ = write!(
                text,
                "{{\"pid\":{process},\"tid\":{thread},\"ts\":{},\"ph\":\"X\",\"dur\":{},\"name\":{},\
                 \"args\":{{\"detail\":{}}}}},",
                start.as_micros(),
                duration.as_micros(),
                Quoted(name),
                Quoted(detail)
            );
        }
        // The sums look like threads of their own, the largest first.
        let mut row = sections.threads.keys().copied().max().unwrap_or(process);
        let mut sums: Vec<_> = sections.sums.iter().collect();
        sums.sort_by_key(|(_, (_, duration))| std::cmp::Reverse(*duration));
        for (name, (count, duration)) in sums {
            row += 1;
            let _ = write!(
                text,
                "{{\"pid\":{process},\"tid\":{row},\"ph\":\"X\",\"ts\":0,\"dur\":{},\"name\":{},\
                 \"args\":{{\"count\":{count},\"avg ms\":{}}}}},",
                duration.as_micros(),
                Quoted(&format!("Total {name}")),
                duration.as_millis() / u128::from(*count).max(1)
            );
        }
        let _ = write!(text, "{}", metadata(process, process, "process_name", "libomptarget"));
        for (thread, name) in &sections.threads {
            let _ = write!(text, ",{}", metadata(process, *thread, "thread_name", name));
        }
        let _ = write!(text, "],\"beginningOfTime\":{}}}", self.began_at);
        text
    }
}

fn metadata(process: i32, thread: i32, what: &str, name: &str) -> String {
    format!(
        "{{\"cat\":\"\",\"pid\":{process},\"tid\":{thread},\"ts\":0,\"ph\":\"M\",\"name\":\"{what}\",\
         \"args\":{{\"name\":{}}}}}",
        Quoted(name)
    )
}

/// The kernel's name for the current thread.
fn thread_name() -> String {
    let mut name = [0_u8; 16];
    // SAFETY: the call writes at most 16 bytes, with the NUL.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..length]).into_owned()
}

/// Writes the file when the last library has gone. A forked child leaves its parent's alone.
pub(crate) fn finish() {
    let Some(profile) = PROFILE.get() else { return };
    // SAFETY: has no preconditions.
    if unsafe { libc::getpid() } != profile.process {
        return;
    }
    let text = profile.text();
    let written = gangway_trace::write_whole(profile.file.as_ref(), &|out| out.write_all(text.as_bytes()));
    if let Err(error) = written {
        message::print_line(format_args!(
            "gangway: warning: cannot write the profile {}: {error}\n  \
             help: LIBOMPTARGET_PROFILE names the file",
            profile.file
        ));
    }
}
