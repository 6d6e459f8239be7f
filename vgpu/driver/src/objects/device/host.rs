//! What the program itself does with memory that devices use, as Gangway's runtime tells it: for who looks for races.
//!
//! Code of the program tells each of its loads and stores. Most are of pages that no device has to do with: the runtime
//! has a table of those that are to be heard of, and they are marked there.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gangway_engine::{HostAccess, Past};
use gangway_findings::Source;
use gangway_private_table::{FindPlace, Place};
use gangway_streams::{Clock, Moment, Task};

use super::Device;

const PAGE: u64 = 4096;

/// The function and the line of an instruction of the program's.
pub fn place(find: FindPlace, code: u64) -> (String, Option<Source>) {
    extern "C" fn receive(found: *mut c_void, place: &Place<'_>) {
        // SAFETY: what is passed below.
        unsafe {
            *found.cast::<(String, Option<Source>)>() =
                (place.function.copy(), place.source.copy().map(Source::from));
        }
    }
    let mut found = (String::new(), None);
    find(code, receive, (&raw mut found).cast());
    found
}

/// Whom the program's accesses come from.
struct Heard {
    /// A bit for each page, by the low bits of its number.
    pages: &'static [AtomicU64],
    code: FindPlace,
}

static HEARD: OnceLock<Heard> = OnceLock::new();

/// The program tells its accesses to marked pages from now on. Answers whether they are wanted: to all threads that ask at the same
/// time, as each of them goes on to make tasks.
pub fn hear(pages: &'static [AtomicU64], code: FindPlace) -> bool {
    if !Device::looks_for_races() || !std::ptr::eq(HEARD.get_or_init(|| Heard { pages, code }).pages, pages) {
        return false;
    }
    // What the program does before a device has work counts as well.
    Device::all().iter().for_each(|device| {
        let _started = device.engine();
    });
    true
}

/// Has accesses of the program to a range told.
pub fn watch(address: u64, size: u64) {
    let Some(Heard { pages, .. }) = HEARD.get() else { return };
    let (first, last) = (address / PAGE, address.saturating_add(size.max(1) - 1) / PAGE);
    let count = pages.len() as u64 * 64;
    for page in first..=last.min(first + count) {
        pages[(page % count / 64) as usize].fetch_or(1 << (page % 64), Ordering::Relaxed);
    }
}

/// The function and the line of an instruction of the program's.
pub fn find_code(code: u64) -> (String, Option<Source>) {
    HEARD.get().map(|heard| place(heard.code, code)).unwrap_or_default()
}

/// The program is about to access memory.
pub fn accessed(access: &HostAccess) {
    let moment = gangway_streams::program_moment();
    for engine in Device::all().iter().filter_map(Device::started) {
        engine.program_accesses(access, moment, || after(moment));
    }
}

/// What the program does now comes after.
#[must_use]
pub fn now() -> Arc<dyn Past> {
    after(gangway_streams::program_moment())
}

fn after(moment: Moment) -> Arc<dyn Past> {
    Arc::new(After(gangway_streams::program_after(moment)))
}

/// Memory of the program is given back.
/// No lock is taken: the driver frees memory of its own with any of them held.
pub fn freed(address: u64, size: u64) {
    Device::all().iter().filter_map(Device::started).for_each(|engine| engine.forget_host(address, size));
}

/// The process ends.
pub fn end() {
    Device::all().iter().filter_map(Device::started).for_each(|engine| engine.program_ends());
}

/// What an operation comes after.
#[derive(Debug)]
pub struct After(pub Arc<Clock>);

impl Past for After {
    fn own(&self) -> Moment {
        self.0.own()
    }

    fn has(&self, operation: Moment) -> bool {
        self.0.has(operation)
    }
}

thread_local! {
    /// The tasks that the calling thread is in, but for the last.
    static TASKS: RefCell<Vec<Option<Task>>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread begins a task of the program's.
pub fn begin_task(task: Task) {
    let before = gangway_streams::run_task(Some(task));
    TASKS.with_borrow_mut(|tasks| tasks.push(before));
}

/// It ends the task that it has begun last.
pub fn end_task() {
    if let Some(before) = TASKS.with_borrow_mut(Vec::pop) {
        gangway_streams::run_task(before);
    }
}
