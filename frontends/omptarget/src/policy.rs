//! When the host takes over, and when the program ends.
//!
//! OpenMP 6.0 section 4.3.8 (`OMP_TARGET_OFFLOAD`): `MANDATORY` makes every failure to
//! offload an error that terminates; `DISABLED` behaves as if there were no
//! devices; with the default the host runs what no device can. "Cannot" is meant
//! strictly: a wrong map clause or a failed copy has left data in a state that
//! the host version knows nothing about, so it terminates under the default too.

use crate::libomp::libomp;
use crate::state::RUNTIME;
use gangway_runtime::events::Site;
use gangway_runtime::{Device, Error, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// `OMP_TARGET_OFFLOAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offload {
    /// As if there were no devices.
    Disabled,
    /// Devices where possible.
    Default,
    /// Devices or nothing.
    Mandatory,
}

/// The policy, asked of libomp once.
#[inline]
#[must_use]
pub fn offload() -> Offload {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        1 => Offload::Disabled,
        2 => Offload::Default,
        3 => Offload::Mandatory,
        _ => {
            let policy = ask();
            KNOWN.store(policy as u8 + 1, Ordering::Relaxed);
            policy
        }
    }
}

#[cold]
fn ask() -> Offload {
    // SAFETY: takes nothing, always callable.
    match libomp().target_offload.map(|f| unsafe { f() }) {
        Some(0) => Offload::Disabled,
        Some(2) => Offload::Mandatory,
        Some(_) => Offload::Default,
        None => match std::env::var("OMP_TARGET_OFFLOAD").as_deref().map(str::trim) {
            Ok(value) if value.eq_ignore_ascii_case("disabled") => Offload::Disabled,
            Ok(value) if value.eq_ignore_ascii_case("mandatory") => Offload::Mandatory,
            _ => Offload::Default,
        },
    }
}

/// Where a construct is to run.
pub enum Destination {
    /// On a device that is ready.
    Device(&'static Device),
    /// On the host.
    Host,
}

/// Resolves a construct's device number: -1 is the default device, the number of
/// devices is the host, and so is everything if there are no devices.
#[inline]
pub fn destination(number: i64, site: &Site) -> Destination {
    let policy = offload();
    if policy == Offload::Disabled {
        return Destination::Host;
    }
    let number = if number == DEFAULT_DEVICE { crate::libomp::default_device() } else { number };
    let count = RUNTIME.device_count() as i64;
    if number == count || count == 0 {
        if count == 0 {
            without_devices(policy, site);
        }
        return Destination::Host;
    }
    match ready(number, site) {
        Ok(device) => Destination::Device(device),
        Err(error) => {
            settle(&error, None);
            Destination::Host
        }
    }
}

/// The program has no device: an error, or worth a word to who asks.
#[cold]
fn without_devices(policy: Offload, site: &Site) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if policy == Offload::Mandatory {
        terminate(&RUNTIME.why_no_devices(site));
    }
    if !TOLD.swap(true, Ordering::Relaxed) {
        let why = RUNTIME.why_no_devices(site);
        crate::info::debug(format_args!("{why}\n  note: the host runs the program's target regions"));
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
            crate::ending::watch();
            RUNTIME.device(number, site)
        }
    }
}

/// Numbers of the devices that a special device number stands for: all, or those
/// in use. `None` for ordinary numbers.
#[inline]
#[must_use]
pub fn several(number: i64) -> Option<Vec<i64>> {
    if number != ALL_DEVICES && number != USED_DEVICES {
        return None;
    }
    let used = |device: &&Device| number == ALL_DEVICES || device.is_open();
    let devices = RUNTIME.devices();
    Some(devices.filter(used).map(|device| i64::from(device.number())).collect())
}

/// What compilers pass for an action on every device (global constructors).
const ALL_DEVICES: i64 = -2;
/// What compilers pass for an action on every device in use (global destructors).
const USED_DEVICES: i64 = -3;

/// What compilers pass for "the default device".
pub const DEFAULT_DEVICE: i64 = -1;

/// Decides about a failure: returns if the host may take over, ends the program
/// if not.
#[cold]
pub fn settle(error: &Error, device: Option<&Device>) {
    let device = device.or_else(|| RUNTIME.device_unprepared(usize::try_from(error.device).ok()?));
    let nothing_lost = device.is_none_or(|device| !has_mapped_data(device));
    let host_may = match error.kind {
        ErrorKind::NoDevices { .. }
        | ErrorKind::NoImage { .. }
        | ErrorKind::DeviceOpen(_)
        | ErrorKind::ImageLoad(_)
        | ErrorKind::NoKernel(_) => true,
        // The host version would work on stale data if anything is mapped.
        ErrorKind::OutOfMemory { .. } | ErrorKind::Forked => nothing_lost,
        _ => false,
    };
    if offload() == Offload::Mandatory || !host_may {
        if matches!(error.kind, ErrorKind::OutOfMemory { .. } | ErrorKind::Forked) && !nothing_lost {
            end(error, "\n  note: the host cannot take over, as the device holds data of the program");
        }
        terminate(error);
    }
    crate::info::print_line(format_args!("gangway: warning: {error}\n  note: the host takes over"));
}

/// Whether the device holds data of the program's that is not a global's.
fn has_mapped_data(device: &Device) -> bool {
    device.table.entries().iter().any(|entry| entry.snapshot().is_some_and(|counts| !counts.is_infinite()))
}

/// Ends the program with an error message, as the stock library does: by
/// `abort`, after everything buffered has been written.
#[cold]
pub fn terminate(error: &Error) -> ! {
    end(error, "")
}

#[cold]
fn end(error: &Error, reason: &str) -> ! {
    let note = if offload() == Offload::Mandatory { "\n  note: OMP_TARGET_OFFLOAD=MANDATORY" } else { "" };
    let debug = match error.construct {
        None if error.device >= 0
            && !matches!(error.kind, ErrorKind::Backend(_) | ErrorKind::WrongFree(_)) =>
        {
            "\n  note: compile with -g to see source lines and variable names"
        }
        _ => "",
    };
    crate::info::print_line(format_args!("gangway: error: {error}{reason}{note}{debug}"));
    gangway_trace::finish();
    // SAFETY: flushes the program's own streams; then ends it.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::abort()
    }
}
