//! Which devices the program has, and making one ready.

use crate::environment::variable;
use crate::host::{Host, Offload};
use crate::state::RUNTIME;
use crate::words::{Told, Words};
use crate::{ending, message, policy};
use gangway_runtime::Device;
use gangway_runtime::events::Site;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of devices; none where offloading is disabled.
#[inline]
#[must_use]
pub fn count<H: Host>() -> usize {
    if policy::offload() == Offload::Disabled { 0 } else { numbered::<H>() }
}

/// The same whatever the policy, for those who have asked for that.
#[inline]
#[must_use]
pub fn numbered<H: Host>() -> usize {
    match RUNTIME.device_count() {
        0 => {
            H::number_devices();
            RUNTIME.device_count()
        }
        count => count,
    }
}

/// A device that is ready for use.
///
/// # Errors
/// There is none of that number, or it cannot be made ready.
#[inline]
pub fn ready(number: i64, site: &Site) -> gangway_runtime::Result<&'static Device> {
    let device = usize::try_from(number).ok().and_then(|index| RUNTIME.device_unprepared(index));
    match device {
        Some(device) if !device.has_pending_images() => Ok(device),
        _ => {
            ending::watch();
            RUNTIME.device(number, site)
        }
    }
}

/// Tells once that the host runs all regions, and why: who has named a device is told without asking.
#[cold]
pub fn tell_without_devices(site: &Site, words: &dyn Words) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let error = RUNTIME.why_no_devices(site);
    let why = Told(&error, words);
    let note = "the host runs the program's target regions";
    match asked_for() {
        Some(names) => message::print_line(format_args!(
            "gangway: warning: {why}\n  note: {note}, although GANGWAY_DEVICE names {names}"
        )),
        None => message::debug(format_args!("{why}\n  note: {note}")),
    }
}

/// What the user has named to run regions, with `GANGWAY_DEVICE` or `gangway run --device`.
#[cold]
#[must_use]
pub fn asked_for() -> Option<String> {
    variable("GANGWAY_DEVICE").filter(|names| names.split(',').any(|name| !name.is_empty() && name != "none"))
}
