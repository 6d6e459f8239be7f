//! The runtime's half of translated reverse offload: `gangway/reverse_offload.h`.
//!
//! The host's function of a region calls these with its copy of the device's block. What
//! stands in a block comes from a device: every number is checked before it is used.

use crate::devices::{Named, named};
use crate::words;
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::policy;
use gangway_frontend::state::routine;
use gangway_frontend::words::of_first;
use gangway_reverse_kinds::{ALWAYS, ATTACH, FROM, KNOWN, PRESENT, TO};
use gangway_runtime::reverse::{Item, Kind, Refusal, Region};
use std::ffi::{c_int, c_void};
use std::ptr;

/// What a block starts with.
#[repr(C)]
struct Head {
    count: usize,
    /// Ours, between the calls.
    state: *mut Region,
}

/// One entry of the list behind the head.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawItem {
    base: usize,
    begin: usize,
    size: usize,
    kind: u32,
    group: u32,
    carried: usize,
}

// gangway/reverse_offload.h says the same.
const _: () = assert!(size_of::<Head>() == 16 && size_of::<RawItem>() == 40);

/// Gives a region its data: the bases in the block become the host's.
///
/// # Safety
/// The block has `size` bytes, and is the calling thread's until
/// [`__gangway_reverse_leave`]. What the device names of its memory is valid.
pub unsafe extern "C" fn __gangway_reverse_enter<H: Host>(device: c_int, block: *mut c_void, size: usize) {
    guard((), || {
        let Some(list) = list(block, size) else { damaged(size) };
        let Head { count, .. } = list.head();
        // A host that runs the whole construct has its own data, and so it stays.
        let device = match named::<H>(device) {
            Named::Device(device) => Some(device),
            Named::Host => None,
            Named::Nothing => policy::mistake(format_args!(
                "a region of device(ancestor: 1) is called by device {device}, which there is not"
            )),
        };
        let state = device.map_or(ptr::null_mut(), |device| {
            let items: Option<Vec<Item>> = (0..count).map(|at| item(list.item(at), block, size)).collect();
            let Some(items) = items else { damaged(size) };
            // SAFETY: the caller's promise; what is carried is in the block.
            let region = match unsafe { Region::enter(device, items.clone(), &routine()) } {
                Ok(region) => region,
                Err(refusal) => refuse(&refusal),
            };
            for (at, item) in items.iter().enumerate() {
                list.set_base(at, region.base(item));
            }
            Box::into_raw(Box::new(region))
        });
        list.set_state(state);
    });
}

/// Takes a region's data back to the device.
///
/// # Safety
/// [`__gangway_reverse_enter`] has had the same block.
pub unsafe extern "C" fn __gangway_reverse_leave(block: *mut c_void, size: usize) {
    guard((), || {
        let Some(list) = list(block, size) else { damaged(size) };
        let Head { state, .. } = list.head();
        if state.is_null() {
            return;
        }
        list.set_state(ptr::null_mut());
        // SAFETY: the other routine left it there.
        let region = unsafe { Box::from_raw(state) };
        // SAFETY: the caller's promise.
        if let Err(refusal) = unsafe { region.leave(&routine()) } {
            refuse(&refusal);
        }
    });
}

/// A block whose list is within it.
#[derive(Clone, Copy)]
struct List(*mut u8);

fn list(block: *mut c_void, size: usize) -> Option<List> {
    if block.is_null() || size < size_of::<Head>() {
        return None;
    }
    let list = List(block.cast());
    let bytes = list.head().count.checked_mul(size_of::<RawItem>())?;
    (bytes <= size - size_of::<Head>()).then_some(list)
}

impl List {
    fn head(self) -> Head {
        // SAFETY: there are as many bytes.
        unsafe { self.0.cast::<Head>().read_unaligned() }
    }

    fn set_state(self, state: *mut Region) {
        let count = self.head().count;
        // SAFETY: as above.
        unsafe { self.0.cast::<Head>().write_unaligned(Head { count, state }) };
    }

    fn place(self, at: usize) -> *mut RawItem {
        self.0.wrapping_add(size_of::<Head>()).cast::<RawItem>().wrapping_add(at)
    }

    fn item(self, at: usize) -> RawItem {
        // SAFETY: `list` has checked the count.
        unsafe { self.place(at).read_unaligned() }
    }

    fn set_base(self, at: usize, base: usize) {
        let item = RawItem { base, ..self.item(at) };
        // SAFETY: as above.
        unsafe { self.place(at).write_unaligned(item) };
    }
}

/// An item as the runtime has it; `None` if it cannot be.
fn item(raw: RawItem, block: *mut c_void, block_size: usize) -> Option<Item> {
    let RawItem { base, begin, size, kind, group, carried } = raw;
    if kind & !KNOWN != 0 || begin.checked_add(size).is_none() {
        return None;
    }
    let carried = match carried {
        0 => None,
        at => Some(at.checked_add(size).filter(|end| *end <= block_size).map(|_| block.addr() + at)?),
    };
    let is = |bit: u32| kind & bit != 0;
    let kind = Kind {
        to: is(TO),
        from: is(FROM),
        always: is(ALWAYS),
        present: is(PRESENT),
        attach: is(ATTACH),
        private: false,
    };
    Some(Item { base, begin, size, group, kind, carried })
}

fn refuse(refusal: &Refusal) -> ! {
    policy::mistake(format_args!("{}", words::refusal(refusal, of_first())))
}

fn damaged(size: usize) -> ! {
    policy::mistake(format_args!(
        "a region of device(ancestor: 1) is called with {size} bytes that are no list of its data; \
         something has written over them on the device"
    ))
}
