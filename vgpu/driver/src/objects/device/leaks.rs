//! Memory that a program has not freed. Check mode (`GANGWAY_VGPU_CHECK=memory`) tells of it
//! when its context is destroyed and when the process ends.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use gangway_device_memory::{Allocation, Space};

use crate::objects::process::state;

/// Has what is left at the end of the process told.
pub fn watch() {
    static ONCE: Once = Once::new();
    extern "C" fn at_exit() {
        // What a forked child has is its parent's.
        if !state::is_forked()
            && !state::has_failed()
            && let Ok(space) = Space::get()
        {
            tell(space, left_at_exit(space));
        }
    }
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

/// Allocations that Gangway's runtime has for itself until the end of the process, by their numbers.
static KEPT: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// The runtime keeps what it has allocated at an address: the program has not forgotten it.
pub fn keep(address: u64) {
    if let Ok(space) = Space::get()
        && let Some(allocation) = space.find(address)
    {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(allocation.id);
    }
}

fn forgotten(space: &Space) -> Vec<Allocation> {
    let mut left = space.leaks();
    leave_out_kept(&mut left);
    left
}

fn leave_out_kept(left: &mut Vec<Allocation>) {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|left| !kept.contains(&left.id));
}

/// So long what streams free must not go on for the process to end.
const PATIENCE: Duration = Duration::from_millis(10);

/// What is left. Nobody waits for what streams free last, so that they have a moment for it.
fn left_at_exit(space: &Space) -> Vec<Allocation> {
    let mut left = forgotten(space);
    while !left.is_empty() {
        std::thread::sleep(PATIENCE);
        let before = std::mem::replace(&mut left, forgotten(space));
        // Threads that live on may allocate as well: that must not go on for ever.
        if left.len() >= before.len() {
            break;
        }
    }
    left
}

/// Tells of allocations that can no longer be freed.
pub fn tell(space: &Space, mut left: Vec<Allocation>) {
    leave_out_kept(&mut left);
    if let Some(report) = space.leak_report(&left) {
        // The end of a process is no place to fail in.
        let _ = std::io::stderr().write_all(format!("gangway: {report}").as_bytes());
    }
}
