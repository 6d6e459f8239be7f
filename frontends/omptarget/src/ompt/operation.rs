//! Data operations and kernel launches, as the runtime tells them.

use super::abi::{DataOperation, Endpoint, INITIAL_DEVICE};
use super::callbacks::{callbacks, next_identifier};
use super::{device, region};
use crate::libomp::Libomp;
use gangway_runtime::events::{Observer, Site, Step};
use std::cell::Cell;
use std::ffi::c_void;

/// The one observer that is registered when a tool is connected.
pub static OBSERVER: Ompt = Ompt;

/// Turns the runtime's events into the tool's callbacks.
pub struct Ompt;

impl Observer for Ompt {
    fn opened(&self, number: i32, architecture: &str) {
        device::initialize(number, architecture);
    }

    fn begin(&self, number: i32, site: &Site, step: &Step<'_>) {
        match step {
            Step::Launch { launch, .. } => submit(Endpoint::Begin, launch.teams[0]),
            Step::Load { .. } => device::ensure_initialized(number),
            _ => operate(Endpoint::Begin, number, site, step),
        }
    }

    fn end(&self, number: i32, site: &Site, step: &Step<'_>) {
        match step {
            Step::Launch { launch, .. } => submit(Endpoint::End, launch.teams[0]),
            Step::Load { image, loaded } => {
                if *loaded {
                    device::load(number, image);
                }
            }
            _ => operate(Endpoint::End, number, site, step),
        }
    }
}

/// Operations that may be within one another on one thread: a kernel on the host's
/// processors may call memory routines.
const DEPTH: usize = 4;

thread_local! {
    /// The tool's word for each operation under way (`host_op_id`).
    static WORDS: [Cell<u64>; DEPTH] = const { [const { Cell::new(0) }; DEPTH] };
    /// How many operations are under way.
    static UNDER_WAY: Cell<usize> = const { Cell::new(0) };
}

/// The word of the operation that begins or ends.
fn word(endpoint: Endpoint) -> *mut u64 {
    let at = |depth: usize| WORDS.with(|words| words[depth.min(DEPTH - 1)].as_ptr());
    match endpoint {
        Endpoint::Begin => {
            let depth = UNDER_WAY.get();
            UNDER_WAY.set(depth + 1);
            let word = at(depth);
            // SAFETY: the thread's own word.
            unsafe { *word = 0 };
            word
        }
        Endpoint::End => {
            let depth = UNDER_WAY.get().saturating_sub(1);
            UNDER_WAY.set(depth);
            at(depth)
        }
    }
}

fn submit(endpoint: Endpoint, teams: u32) {
    let Some(callbacks) = callbacks() else { return };
    let word = word(endpoint);
    let (_, target) = region::current();
    // SAFETY: the tool's callbacks with what their types say; both words are the
    // thread's.
    unsafe {
        if let Some(callback) = callbacks.submit_emi {
            callback(endpoint, target, word, teams);
        } else if let (Some(callback), Endpoint::Begin) = (callbacks.submit, endpoint) {
            *word = next_identifier();
            callback((*target).value, *word, teams);
        }
    }
}

/// A place in some device's memory.
struct End {
    address: usize,
    device: i32,
}

impl End {
    fn pointer(&self) -> *mut c_void {
        self.address as *mut c_void
    }
}

/// A step in OMPT's terms: what, from where, to where, how many bytes.
fn describe(number: i32, step: &Step<'_>) -> Option<(DataOperation, End, End, usize)> {
    let on_host =
        |address| End { address, device: gangway_openmp::devices::omp_get_initial_device::<Libomp>() };
    let on_device = |address: gangway_backend::DevicePtr| End { address: address.0, device: number };
    Some(match *step {
        Step::Allocate { host, device, size, .. } => {
            // Null before it is known: what the specification has tools expect.
            (DataOperation::Allocate, on_host(host), on_device(device.unwrap_or_default()), size)
        }
        Step::Deallocate { device } => {
            let nowhere = End { address: 0, device: INITIAL_DEVICE };
            (DataOperation::Delete, on_device(device), nowhere, 0)
        }
        Step::ToDevice { host, device, size, .. } => {
            (DataOperation::ToDevice, on_host(host), on_device(device), size)
        }
        Step::FromDevice { host, device, size, .. } => {
            (DataOperation::FromDevice, on_device(device), on_host(host), size)
        }
        // LLVM 22 has no number for it; as there, a copy from one device whose
        // destination is another device.
        Step::BetweenDevices { from, to_device, to, size } => {
            let to = End { address: to.0, device: to_device };
            (DataOperation::FromDevice, on_device(from), to, size)
        }
        // Nor for this one; the stock library copies from a filled buffer.
        Step::Fill { device, byte, size } => {
            let source = on_host(std::ptr::from_ref(byte).addr());
            (DataOperation::ToDevice, source, on_device(device), size)
        }
        Step::Associate { host, device, size } => {
            (DataOperation::Associate, on_host(host), on_device(device), size)
        }
        Step::Disassociate { host, .. } => {
            let nothing = End { address: 0, device: number };
            (DataOperation::Disassociate, on_host(host), nothing, 0)
        }
        Step::Launch { .. } | Step::Load { .. } => return None,
    })
}

fn operate(endpoint: Endpoint, number: i32, site: &Site, step: &Step<'_>) {
    let Some(callbacks) = callbacks() else { return };
    let Some((operation, source, target, bytes)) = describe(number, step) else { return };
    let word = word(endpoint);
    if endpoint == Endpoint::Begin {
        region::begin_outside();
    }
    let (target_task, data) = region::current();
    // SAFETY: the tool's callbacks with what their types say; the words are the
    // thread's.
    unsafe {
        if let Some(callback) = callbacks.data_op_emi {
            callback(
                endpoint,
                target_task,
                data,
                word,
                operation,
                source.pointer(),
                source.device,
                target.pointer(),
                target.device,
                bytes,
                site.return_address,
            );
        } else if let (Some(callback), Endpoint::Begin) = (callbacks.data_op, endpoint) {
            *word = next_identifier();
            callback(
                (*data).value,
                *word,
                operation,
                source.pointer(),
                source.device,
                target.pointer(),
                target.device,
                bytes,
                site.return_address,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_backend::DevicePtr;

    #[test]
    fn a_word_lasts_from_begin_to_end_of_its_operation() {
        let outer = word(Endpoint::Begin);
        // SAFETY: this thread's words.
        unsafe { *outer = 5 };
        let inner = word(Endpoint::Begin);
        assert_ne!(outer, inner);
        assert_eq!(word(Endpoint::End), inner);
        assert_eq!(word(Endpoint::End), outer);
        // SAFETY: as above.
        assert_eq!(unsafe { *outer }, 5);
    }

    #[test]
    fn deletions_go_nowhere_and_exchanges_name_both_devices() {
        let (operation, from, to, bytes) =
            describe(2, &Step::Deallocate { device: DevicePtr(0x40) }).unwrap();
        assert_eq!((operation, from.address, from.device), (DataOperation::Delete, 0x40, 2));
        assert_eq!((to.address, to.device, bytes), (0, INITIAL_DEVICE, 0));
        let step = Step::BetweenDevices { from: DevicePtr(1), to_device: 3, to: DevicePtr(2), size: 9 };
        let (operation, from, to, bytes) = describe(0, &step).unwrap();
        assert_eq!(operation, DataOperation::FromDevice);
        assert_eq!((from.device, to.device, bytes), (0, 3, 9));
    }
}
