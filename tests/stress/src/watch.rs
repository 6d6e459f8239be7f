//! Whether an attack still gets on: told by what it does, not by the clock.
//!
//! A busy machine may give an attack a tenth of a processor, so no time on the clock tells a slow
//! one from one that hangs. [`Watch`] looks at the calls that have ended and at the processor time:
//! without either an attack waits for ever, and with much of the second alone it runs in a circle.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;

/// How long an attack may do nothing at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// The share of that time in which nothing has happened if a process has run no longer: threads
/// that look now and then whether there is something to do.
const IDLE: f64 = 0.01;
/// How much processor time may pass without a call that ends.
const MOST_WORK: Duration = Duration::from_secs(300);
/// Nothing that gets on takes so long beyond its time.
const LAST: Duration = Duration::from_secs(30 * 60);

/// Why an attack is not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// It has not run for so long.
    Waits(Duration),
    /// It has run for so long, and no call has ended.
    Runs(Duration),
    /// It goes on although its time has been over for so long.
    GoesOn(Duration),
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stuck::Waits(time) => write!(f, "it has waited for {} s, without running", time.as_secs()),
            Stuck::Runs(time) => {
                write!(f, "it has run for {} s of processor time without a call", time.as_secs())
            }
            Stuck::GoesOn(time) => write!(f, "it goes on {} s after its time", time.as_secs()),
        }
    }
}

/// What is known of an attack at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub at: Instant,
    pub calls: u64,
    /// Processor time of all its processes.
    pub ran: Duration,
}

#[derive(Debug)]
pub struct Watch {
    ends: Instant,
    /// When a call was last seen to have ended.
    progress: Sample,
    /// When it was last seen to have run.
    awake: Sample,
}

impl Watch {
    /// For an attack that starts now and has this time.
    pub fn new(now: Instant, time: Duration) -> Self {
        let start = Sample { at: now, calls: 0, ran: Duration::ZERO };
        Self { ends: now + time, progress: start, awake: start }
    }

    /// What a sample says, together with those before it.
    pub fn look(&mut self, now: Sample) -> Option<Stuck> {
        let over = now.at.saturating_duration_since(self.ends);
        if over > LAST {
            return Some(Stuck::GoesOn(over));
        }
        if now.calls != self.progress.calls {
            (self.progress, self.awake) = (now, now);
        }
        // Children that have ended take their time with them until they are waited for.
        let work = now.ran.saturating_sub(self.progress.ran);
        if work > MOST_WORK {
            return Some(Stuck::Runs(work));
        }
        let waited = now.at - self.awake.at;
        if waited >= PATIENCE {
            let ran = now.ran.saturating_sub(self.awake.ran);
            if ran.as_secs_f64() < waited.as_secs_f64() * IDLE {
                return Some(Stuck::Waits(waited));
            }
            self.awake = now;
        }
        None
    }
}

/// The processes of a group.
pub fn processes(group: u32) -> Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("/proc")? {
        let name = entry?.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that has just ended has no file any more.
        let Ok(text) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        found.extend(Process::read(id, &text).filter(|process| process.group == group));
    }
    Ok(found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub id: u32,
    group: u32,
    /// Its processor time, and that of the children it has waited for.
    pub ran: Duration,
}

impl Process {
    /// From `/proc/ID/stat` (proc(5)): the name in brackets may contain anything.
    fn read(id: u32, text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
        let ran = Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64);
        Some(Self { id, group: fields.get(2)?.parse().ok()?, ran })
    }
}

/// Where the threads of some processes are, if there is a debugger to tell.
pub fn stacks(processes: &[Process], place: &Path) -> String {
    let mut text = String::new();
    for process in processes {
        let mut debugger = Command::new("gdb");
        debugger.args(["-batch", "-p", &process.id.to_string()]);
        for command in ["set print frame-arguments none", "thread apply all backtrace 14"] {
            debugger.args(["-ex", command]);
        }
        match debugger.current_dir(place).output() {
            Ok(output) => text.push_str(&String::from_utf8_lossy(&output.stdout)),
            Err(error) => {
                return format!("gdb could tell where its threads are, but cannot be run: {error}\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    /// What a watch says in the end of samples of (seconds, calls, seconds of processor time).
    fn verdict(samples: &[(u64, u64, f64)]) -> Option<Stuck> {
        let start = Instant::now();
        let mut watch = Watch::new(start, Duration::from_secs(10));
        samples.iter().find_map(|(at, calls, ran)| {
            let at = start + Duration::from_secs(*at);
            watch.look(Sample { at, calls: *calls, ran: Duration::from_secs_f64(*ran) })
        })
    }

    #[test]
    fn a_starved_attack_is_waited_for() {
        // A fiftieth of a processor, and no call for five minutes.
        let starved: Vec<_> = (0..300).map(|second| (second, 7, second as f64 / 50.0)).collect();
        assert_eq!(verdict(&starved), None);
        let slow: Vec<_> = (0..1500).map(|second| (second, second / 50, 0.0)).collect();
        assert_eq!(verdict(&slow), None);
    }

    #[test]
    fn an_attack_that_waits_for_ever_is_found() {
        let still: Vec<_> =
            (0..200).map(|second| (second, second.min(10), (second.min(10)) as f64)).collect();
        assert_eq!(verdict(&still), Some(Stuck::Waits(Duration::from_secs(60))));
        // Some threads look around now and then.
        let dozing: Vec<_> = (0..200).map(|second| (second, 0, second as f64 * 0.005)).collect();
        assert_eq!(verdict(&dozing), Some(Stuck::Waits(Duration::from_secs(60))));
    }

    #[test]
    fn an_attack_that_runs_in_a_circle_is_found() {
        let circle: Vec<_> = (0..1000).map(|second| (second, second.min(10), second as f64 * 2.0)).collect();
        assert_eq!(verdict(&circle), Some(Stuck::Runs(Duration::from_secs(302))));
        let endless: Vec<_> = (0..5000).map(|second| (second, second, second as f64)).collect();
        assert_eq!(verdict(&endless), Some(Stuck::GoesOn(Duration::from_secs(1801))));
    }

    #[test]
    fn the_processes_of_a_group_are_told_with_their_time() {
        let line = "77 (a (b) c) S 1 70 70 0 -1 4194304 1 2 3 4 150 50 20 30 20 0 1 0 5 6 7";
        let per_second = clock_ticks_per_second() as f64;
        let ran = Duration::from_secs_f64(250.0 / per_second);
        assert_eq!(Process::read(77, line), Some(Process { id: 77, group: 70, ran }));
        assert_eq!(Process::read(1, "1 (x) S 2"), None);
        let mut child = std::process::Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let found = processes(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.iter().any(|process| process.id == child.id() && process.group == child.id()));
    }
}
