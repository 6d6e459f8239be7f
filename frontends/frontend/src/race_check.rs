//! What the program's own threads do, told to devices that look for races (`GANGWAY_CHECK=race`).
//!
//! Whoever watches knows which memory devices use and what comes before what. Here are the two things it cannot know:
//! the program's [accesses](crate::host_accesses), and what the program's tasks do, which `libgangway-host-access.so`
//! tells. A task that moves data does so on another thread and some time later. So from when it is made until it has put
//! its copies into a stream, all accesses are told.

use crate::host_accesses::{self, Access, Consumer};
use crate::state::RUNTIME;
use gangway_backend::{AccessPlace, Follows, HostAccess, HostWatcher, TaskEvent};
use gangway_runtime::events::{self, Observer, Site, Step};
use gangway_runtime::host_calls;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;

/// Begins to tell. Called once, before a device is opened.
pub(crate) fn start() {
    // Copies are told one by one where somebody observes.
    events::observe(&Connection);
    host_accesses::tell(&Races);
    listen_to_tasks();
    host_calls::on_call(|| {
        connect();
        watchers().iter().for_each(|watcher| {
            watcher.task(TaskEvent::Serves);
        });
    });
}

/// Those who want to hear of it, once there are any.
static WATCHERS: OnceLock<Vec<&'static dyn HostWatcher>> = OnceLock::new();

fn watchers() -> &'static [&'static dyn HostWatcher] {
    WATCHERS.get().map_or(&[], Vec::as_slice)
}

fn connect() {
    if WATCHERS.get().is_none() {
        let found = RUNTIME.host_watchers().into_iter();
        let found: Vec<_> = found.filter(|watcher| watcher.hear(host_accesses::pages(), place)).collect();
        if !found.is_empty() {
            let _ = WATCHERS.set(found);
        }
    }
}

fn place(code: usize) -> AccessPlace {
    gangway_backends::code_place(code).unwrap_or_default()
}

/// The first step of a device connects it with what the program does.
struct Connection;

impl Observer for Connection {
    fn begin(&self, _device: i32, _site: &Site, _step: &Step<'_>) {
        connect();
    }
}

thread_local! {
    /// This thread tells something: what it allocates for that is not the program's.
    static TELLS: Cell<bool> = const { Cell::new(false) };
}

/// Tells something, unless this thread is at that already: in a signal handler, or in the C library.
fn telling(tell: impl Fn(&dyn HostWatcher)) {
    let watchers = watchers();
    if watchers.is_empty() || TELLS.replace(true) {
        return;
    }
    watchers.iter().for_each(|watcher| tell(*watcher));
    TELLS.set(false);
}

struct Races;

impl Consumer for Races {
    fn accessed(&self, address: usize, size: usize, writes: bool, code: usize) {
        telling(|watcher| watcher.accessed(&HostAccess { address, size, code, write: writes }));
    }

    fn library(&self, address: usize, size: usize, access: Access) {
        if watchers().is_empty() {
            return;
        }
        match access {
            Access::Free => telling(|watcher| watcher.freed(address, size)),
            Access::Read | Access::Write => {
                // Most is of the C library itself.
                let is_of_interest = |part: &(usize, usize)| host_accesses::is_marked(part.0);
                let mut parts = pages_of(address, size).filter(is_of_interest).peekable();
                if parts.peek().is_none() || TELLS.get() {
                    return;
                }
                let Some(code) = host_accesses::library_caller() else { return };
                for (address, size) in parts {
                    let access = HostAccess { address, size, code, write: access == Access::Write };
                    telling(|watcher| watcher.accessed(&access));
                }
            }
            // Nothing is known of what is done.
            Access::Protect | Access::Open | Access::Use => {}
        }
    }
}

/// A range page by page, up to a size that nobody passes without meaning another.
fn pages_of(address: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    const PAGE: usize = 4096;
    let end = address.saturating_add(size.min(1 << 30));
    let mut at = address;
    std::iter::from_fn(move || {
        let begin = (at < end).then_some(at)?;
        at = end.min((at | (PAGE - 1)).saturating_add(1));
        Some((begin, at - begin))
    })
}

/// A task that moves data, by which what is waited for on its behalf is known to the program only later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task(u64);

impl Task {
    /// Makes one, where somebody looks for races.
    #[must_use]
    pub fn made() -> Option<Self> {
        tell(TaskEvent::Made).map(Self)
    }

    /// The one that the calling thread runs.
    #[must_use]
    pub fn running() -> Option<Self> {
        tell(TaskEvent::ForDevice).filter(|made| *made != 0).map(Self)
    }

    /// Does something as this task, which comes after others if it depends on any.
    pub fn run<R>(self, depends: bool, after: impl IntoIterator<Item = Self>, act: impl FnOnce() -> R) -> R {
        for Self(made) in after {
            tell(TaskEvent::Follows(Follows::ForDevice(made)));
        }
        tell(TaskEvent::BeginForDevice { made: self.0, depends });
        let _end = Finally(|| {
            tell(TaskEvent::End);
        });
        act()
    }

    /// Waits on behalf of this task.
    pub fn wait<R>(self, wait: impl FnOnce() -> R) -> R {
        let before: Vec<_> =
            watchers().iter().map(|watcher| watcher.task(TaskEvent::Waits(self.0))).collect();
        let _restore = Finally(|| {
            for (watcher, before) in watchers().iter().zip(&before) {
                watcher.task(TaskEvent::Waits(*before));
            }
        });
        wait()
    }

    /// The program has waited for it.
    pub fn met(self) {
        tell(TaskEvent::MetOne(self.0));
    }
}

struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Tells all who watch; the answer of the first: there is one driver that watches, and of several each has moments of its own.
fn tell(event: TaskEvent) -> Option<u64> {
    let answers: Vec<u64> = watchers().iter().map(|watcher| watcher.task(event)).collect();
    answers.first().copied()
}

/// Waits on behalf of a task, if there is one.
pub fn wait_for_task<R>(task: Option<Task>, wait: impl FnOnce() -> R) -> R {
    match task {
        Some(task) => task.wait(wait),
        None => wait(),
    }
}

/// What the library tells of tasks, by its numbers.
mod event {
    pub const MADE_FOR_DEVICE: u32 = 0;
    pub const BEGIN: u32 = 1;
    pub const BEGIN_DEPENDENT: u32 = 2;
    pub const BEGIN_FOR_DEVICE: u32 = 3;
    pub const BEGIN_DEPENDENT_FOR_DEVICE: u32 = 4;
    pub const END: u32 = 5;
    pub const END_FOR_DEVICE: u32 = 6;
    pub const MET: u32 = 7;
    pub const SPREADS: u32 = 8;
    pub const GATHERS: u32 = 9;
    pub const DROPPED: u32 = 10;
    pub const FOLLOWS: u32 = 11;
    pub const MET_ONE: u32 = 12;
    /// What it follows, where that is not the moment of a task for a device.
    pub const OF_PROGRAM: u64 = 0;
    pub const ALL: u64 = u64::MAX;
}

type TaskListener = extern "C" fn(event: u32, made: u64) -> u64;

fn listen_to_tasks() {
    // SAFETY: a name with a null behind it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_listen_to_tasks".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library's function of that name has this type.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(TaskListener)>(found)(hear_task) };
    }
}

extern "C" fn hear_task(number: u32, made: u64) -> u64 {
    let event = match number {
        event::MADE_FOR_DEVICE => {
            connect();
            host_accesses::watch_all(true);
            TaskEvent::Made
        }
        event::BEGIN => TaskEvent::Begin { depends: false },
        event::BEGIN_DEPENDENT => TaskEvent::Begin { depends: true },
        event::BEGIN_FOR_DEVICE => TaskEvent::BeginForDevice { made, depends: false },
        event::BEGIN_DEPENDENT_FOR_DEVICE => TaskEvent::BeginForDevice { made, depends: true },
        event::END => TaskEvent::End,
        event::END_FOR_DEVICE => {
            host_accesses::watch_all(false);
            TaskEvent::End
        }
        event::MET => TaskEvent::Met,
        event::SPREADS => TaskEvent::Spreads(true),
        event::GATHERS => TaskEvent::Spreads(false),
        event::FOLLOWS => TaskEvent::Follows(match made {
            event::ALL => Follows::All,
            event::OF_PROGRAM => Follows::OfProgram,
            made => Follows::ForDevice(made),
        }),
        // What the program's own have waited for is known already.
        event::MET_ONE => TaskEvent::MetOne(made),
        event::DROPPED => {
            host_accesses::watch_all(false);
            return 0;
        }
        _ => return 0,
    };
    tell(event).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_told_page_by_page() {
        let pages: Vec<_> = pages_of(4000, 5000).collect();
        assert_eq!(pages, [(4000, 96), (4096, 4096), (8192, 808)]);
        assert_eq!(pages_of(4096, 0).count(), 0);
    }
}
