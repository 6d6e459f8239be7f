//! Who tells the user that a kernel has failed.
//!
//! The driver does, on stderr and at once, where nobody else would tell what it knows. Gangway's
//! runtime has an error of its own to tell, with construct and variable: the facts of its kernels
//! wait for it here, so that the user reads one report and not two. Should the runtime never ask, the
//! driver tells at the end of the process.

use std::sync::{Mutex, Once, PoisonError};

use gangway_engine::{Facts, Fault};

use super::report::report;
use super::state;

struct Waiting {
    device: u32,
    facts: Facts,
    /// The driver has told it.
    told: bool,
}

/// One for each device: after the first failure all else is a consequence.
static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

/// A kernel of a device has failed; it is the runtime's or not.
#[cold]
pub fn add(device: u32, runtimes: bool, fault: &Fault) {
    state::set_failed();
    if !runtimes {
        tell(&fault.facts);
    }
    {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.iter().all(|known| known.device != device) {
            waiting.push(Waiting { device, facts: fault.facts.clone(), told: !runtimes });
        }
    }
    static ONCE: Once = Once::new();
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(tell_the_rest);
    });
}

/// What is known of the failure of a device's kernel, once.
#[must_use]
pub fn take(device: u32) -> Option<Facts> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let at = waiting.iter().position(|known| known.device == device)?;
    Some(waiting.swap_remove(at).facts)
}

fn tell(facts: &Facts) {
    report!("{}", facts.report(gangway_trace::pretty_kernel_name));
}

extern "C" fn tell_the_rest() {
    // The lock of a forked process may have been another thread's.
    if state::is_forked() {
        return;
    }
    let rest = std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner));
    rest.iter().filter(|waiting| !waiting.told).for_each(|waiting| tell(&waiting.facts));
}
