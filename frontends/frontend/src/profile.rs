//! `LIBOMPTARGET_PROFILE=FILE`: the stock library's time profile.
//!
//! A JSON file in the Chrome trace format, with the stock library's names for constructs,
//! launches and copies: those that took at least `LIBOMPTARGET_PROFILE_GRANULARITY`
//! microseconds (default 500), and the sum of all of each name. Constructs that outlive their calls
//! stand in rows of their own, as sections of one row may not overlap. What the stock library tells
//! of its own insides has no counterpart here. `GANGWAY_TRACE` has more, and costs less.

use crate::environment::{file_variable, variable};
use crate::message;
use gangway_runtime::events::{Site, Step};
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
    shown: Vec<Shown>,
    /// How many there were of each name, and the time of all.
    sums: BTreeMap<&'static str, (u64, Duration)>,
    threads: BTreeMap<i32, String>,
}

struct Shown {
    name: &'static str,
    detail: String,
    /// Whose row it stands in; `None`: one of those for what overlaps.
    thread: Option<i32>,
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

/// The section of a construct under way; it ends when this goes.
pub(crate) struct Section {
    name: &'static str,
    detail: String,
    overlaps: bool,
    start: Instant,
}

impl Section {
    /// `detail` says more than the place. `None` if there is no profile.
    pub(crate) fn begin(name: &'static str, site: &Site, detail: impl FnOnce() -> String) -> Option<Self> {
        PROFILE.get()?;
        Some(Self { name, detail: place(site) + &detail(), overlaps: false, start: Instant::now() })
    }

    /// It may overlap others of its thread.
    pub(crate) fn overlaps(&mut self) {
        self.overlaps = true;
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        if let Some(profile) = PROFILE.get() {
            let detail = std::mem::take(&mut self.detail);
            profile.add(self.name, self.start, Instant::now(), self.overlaps, || detail);
        }
    }
}

/// Records a step: a section within a construct.
pub(crate) fn record(site: &Site, step: &Step<'_>, start: Instant, end: Instant) {
    let Some(profile) = PROFILE.get() else { return };
    let add =
        |name, what: &dyn Fn() -> String| profile.add(name, start, end, false, || place(site) + &what());
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
    fn add(
        &self,
        name: &'static str,
        start: Instant,
        end: Instant,
        overlaps: bool,
        detail: impl FnOnce() -> String,
    ) {
        let duration = end.saturating_duration_since(start);
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::gettid() };
        let mut sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = sections.sums.entry(name).or_default();
        *sum = (sum.0 + 1, sum.1 + duration);
        sections.threads.entry(thread).or_insert_with(thread_name);
        if duration >= self.granularity {
            let start = start.saturating_duration_since(self.began);
            let thread = (!overlaps).then_some(thread);
            sections.shown.push(Shown { name, detail: detail(), thread, start, duration });
        }
    }

    fn text(&self) -> String {
        let sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let process = self.process;
        let mut text = String::from("{\"traceEvents\":[");
        // Writing to a string cannot fail.
        let mut row = sections.threads.keys().copied().max().unwrap_or(process);
        let (lanes, used) = lanes(&sections.shown);
        for (Shown { name, detail, thread, start, duration }, lane) in sections.shown.iter().zip(lanes) {
            let row = thread.unwrap_or(row + 1 + lane);
            let _ = write!(
                text,
                "{{\"pid\":{process},\"tid\":{row},\"ts\":{},\"ph\":\"X\",\"dur\":{},\"name\":{},\
                 \"args\":{{\"detail\":{}}}}},",
                start.as_micros(),
                duration.as_micros(),
                Quoted(name),
                Quoted(detail)
            );
        }
        // The sums look like threads of their own, the largest first.
        let first_lane = row + 1;
        row += used;
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
        for lane in 0..used {
            let name = format!("nowait {}", lane + 1);
            let _ = write!(text, ",{}", metadata(process, first_lane + lane, "thread_name", &name));
        }
        let _ = write!(text, "],\"beginningOfTime\":{}}}", self.began_at);
        text
    }
}

/// The rows of sections that may overlap, by their place among all, and how many rows there are.
fn lanes(shown: &[Shown]) -> (Vec<i32>, i32) {
    let mut lanes = vec![0; shown.len()];
    let mut overlapping: Vec<usize> = (0..shown.len()).filter(|&at| shown[at].thread.is_none()).collect();
    overlapping.sort_by_key(|&at| shown[at].start);
    // Until when each of them is taken.
    let mut taken: Vec<Duration> = Vec::new();
    for at in overlapping {
        let Shown { start, duration, .. } = shown[at];
        let free = taken.iter().position(|&until| until <= start).unwrap_or(taken.len());
        if free == taken.len() {
            taken.push(Duration::ZERO);
        }
        taken[free] = start + duration;
        lanes[at] = free as i32;
    }
    (lanes, taken.len() as i32)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_one_row_do_not_overlap() {
        let shown = |thread, start, duration| Shown {
            name: "",
            detail: String::new(),
            thread,
            start: Duration::from_micros(start),
            duration: Duration::from_micros(duration),
        };
        // As they end: the last one began first.
        let all = [
            shown(None, 10, 20),
            shown(Some(7), 0, 100),
            shown(None, 30, 5),
            shown(None, 12, 40),
            shown(None, 0, 90),
        ];
        assert_eq!(lanes(&all), (vec![1, 0, 1, 2, 0], 3));
        assert_eq!(lanes(&all[1..2]), (vec![0], 0));
    }
}
