//! The way of an image's code to functions of the host.
//!
//! An image is loaded once per device, so each gets a function of its own that calls for its
//! device, as for [`number`](crate::number). The caller's thread runs the function on the
//! caller's block.

use crate::config::MAX_DEVICES;
use crate::elf;
use gangway_backend::{HostCallOutcome, HostCallService};
use std::ffi::c_void;
use std::sync::OnceLock;

/// The name by which device code calls the host: that of the function which host code calls, too.
const NAME: &[u8] = b"gangway_host_call";

/// What devices serve host calls with. A process has one runtime, and never another.
static SERVICES: [OnceLock<HostCallService>; MAX_DEVICES] = [const { OnceLock::new() }; MAX_DEVICES];

type Call = unsafe extern "C" fn(u64, *mut c_void, usize) -> i32;

static FUNCTIONS: [Call; MAX_DEVICES] = functions();

/// # Safety
/// The block has so many bytes, which nobody else writes meanwhile.
unsafe extern "C" fn call_of<const ORDINAL: usize>(function: u64, block: *mut c_void, size: usize) -> i32 {
    let outcome = match SERVICES[ORDINAL].get() {
        // SAFETY: the caller's promise.
        Some(service) => match unsafe { gangway_backend::host_block(block, size) } {
            Some(block) => service.call(function, block),
            None => HostCallOutcome::Malformed,
        },
        // An initialiser of the image calls before anybody can serve it.
        None => HostCallOutcome::Unserved,
    };
    outcome.number().cast_signed()
}

/// Has an image's host calls served from now on.
pub(crate) fn connect(ordinal: usize, service: HostCallService) {
    // A device that is opened again keeps what it has.
    let _ = SERVICES[ordinal].set(service);
}

/// Makes a checked image that is about to be loaded on a device call for that device. False: it
/// makes no host calls.
pub(crate) fn tie_in(image: &mut [u8], ordinal: usize) -> bool {
    elf::define(image, NAME, FUNCTIONS[ordinal] as *const () as u64)
}

const fn functions() -> [Call; MAX_DEVICES] {
    macro_rules! of {
        ($($ordinal:literal)*) => { [$(call_of::<$ordinal>),*] };
    }
    of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60
        61 62 63)
}
