//! Which bytes of device memory something has written, for the check that looks for reads of others.
//!
//! Each byte of the range has one of eight bits behind it that says which bits nothing has written: its *shadow*,
//! [`SHADOW`] bytes below. Eight bytes share a word that says where what is undefined came from: their *origin*, twice as far
//! below. Both are there when [`enable`] has been called. Zero means that all is well, so that what nobody speaks of
//! is defined, and pages of the shadow come only where memory is undefined or was.
//!
//! Kernels that are checked read and write shadows themselves. The functions here do it for whoever else writes,
//! copies, takes and gives memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::mm::{Advice, MprotectFlags, madvise, mprotect};

use crate::range::{is_device_address, range};
use crate::reserve::{self, PAGE, pointer};
use crate::{BASE, SIZE, WINDOWS, filled};

/// The shadow of a byte is so far below it.
pub const SHADOW: u64 = SIZE;
/// The origin of eight bytes is so far below the first of them.
pub const ORIGIN: u64 = 2 * SIZE;
/// Origins are words of so many bytes, for so many bytes.
pub const GRAIN: u64 = 8;

/// In the shadow of what is no memory: what is loaded around here is zero...
pub const NOTHING: u64 = WINDOWS + (22 << 30) - SHADOW;
/// ...and what is stored around here is never looked at. The same goes for origins, [`SHADOW`] bytes below.
pub const NOWHERE: u64 = WINDOWS + (28 << 30) - SHADOW;

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Some pages of shadows may be [full](filled) when they are new.
static FILLED: AtomicBool = AtomicBool::new(false);

/// Memory that the host writes without telling anybody.
static HOSTS: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

/// Makes shadows of the whole range. From now on new memory is undefined.
pub fn enable() -> Result<(), Errno> {
    if ENABLED.load(Ordering::Relaxed) {
        return Ok(());
    }
    if !range().is_full {
        return Err(Errno::OPNOTSUPP);
    }
    let (start, length) = (pointer(BASE - ORIGIN), ORIGIN as usize);
    // SAFETY: it is in what is reserved, and nothing else is there.
    unsafe {
        mprotect(start, length, MprotectFlags::READ | MprotectFlags::WRITE)?;
        // Only a hint. Single bytes of it are written here and there.
        let _ = madvise(start, length, Advice::LinuxNoHugepage);
    }
    ENABLED.store(true, Ordering::Release);
    Ok(())
}

#[must_use]
pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Whether there are shadows of all these bytes.
fn covers(address: u64, size: u64) -> bool {
    size > 0 && is_enabled() && is_device_address(address) && is_device_address(address + (size - 1))
}

/// Nothing has written these bytes yet.
pub fn undefine(address: u64, size: u64) {
    if covers(address, size) {
        if filled::is_large(size) {
            FILLED.store(true, Ordering::Relaxed);
        }
        // SAFETY: shadows are mapped as long as the process lives; those who use them at the same time race as the
        // program does.
        unsafe { filled::fill_later(address - SHADOW, size, u64::MAX) };
        clear(address / GRAIN * GRAIN - ORIGIN, size.next_multiple_of(GRAIN));
    }
}

/// They have been written.
pub fn define(address: u64, size: u64) {
    if covers(address, size) {
        clear(address - SHADOW, size);
    }
}

/// Writes zeros; whole pages of them need no memory.
fn clear(start: u64, size: u64) {
    const LARGE: u64 = 16 * PAGE;
    let zero = |from: u64, to: u64| {
        // SAFETY: as in `undefine`.
        unsafe { pointer::<u8>(from).write_bytes(0, (to - from) as usize) };
    };
    let end = start + size;
    if size < LARGE {
        return zero(start, end);
    }
    let (first, last) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
    zero(start, first);
    zero(last, end);
    let gone = if FILLED.load(Ordering::Relaxed) {
        reserve::renew(first, last - first)
    } else {
        reserve::clear(first, last - first)
    };
    if gone.is_err() {
        zero(first, last);
    }
}

/// Bytes of device memory have been copied.
pub fn copy(to: u64, from: u64, size: u64) {
    if !covers(to, size) {
        return;
    }
    // Mostly all is defined: then no page of shadows has to be there.
    if !covers(from, size) || first_undefined(from, size).is_none() {
        return define(to, size);
    }
    // SAFETY: as in `undefine`.
    unsafe { std::ptr::copy(pointer::<u8>(from - SHADOW), pointer::<u8>(to - SHADOW), size as usize) };
    for offset in (0..size).step_by(GRAIN as usize) {
        let origin = origin(from + offset);
        if origin != 0 && first_undefined(to + offset, GRAIN.min(size - offset)).is_some() {
            // SAFETY: as above.
            unsafe { origin_of(to + offset).write(origin) };
        }
    }
}

fn origin_of(address: u64) -> *mut u64 {
    pointer(address / GRAIN * GRAIN - ORIGIN)
}

/// Where what is undefined at an address came from; 0 where nothing has written there.
#[must_use]
pub fn origin(address: u64) -> u64 {
    // SAFETY: as in `undefine`.
    if covers(address, 1) { unsafe { origin_of(address).read() } } else { 0 }
}

/// The shadows of some bytes.
fn shadows<'a>(address: u64, size: u64) -> &'a [u8] {
    if !covers(address, size) {
        return &[];
    }
    // SAFETY: as in `undefine`.
    unsafe { std::slice::from_raw_parts(pointer(address - SHADOW), size as usize) }
}

/// The first of some bytes that is undefined, and how many follow, as offsets.
#[must_use]
pub fn first_undefined(address: u64, size: u64) -> Option<(u64, u64)> {
    let shadows = shadows(address, size);
    let first = shadows.iter().position(|&shadow| shadow != 0)?;
    let length = shadows[first..].iter().position(|&shadow| shadow == 0).unwrap_or(shadows.len() - first);
    Some((first as u64, length as u64))
}

/// Whether one of some bytes has been computed of something undefined: its lowest bit is undefined and its highest one is
/// not. Padding is undefined as a whole, and of a bit field the upper bits are.
#[must_use]
pub fn is_computed(address: u64, size: u64) -> bool {
    shadows(address, size).iter().any(|shadow| shadow & 1 != 0 && shadow & 0x80 == 0)
}

/// Memory that the host writes as it likes is there, or is given back.
pub(crate) fn note_hosts(address: u64, size: u64, there: bool) {
    if is_enabled() {
        let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.retain(|&(start, _)| start != address);
        if there {
            hosts.push((address, size));
        }
    }
}

/// A kernel starts: whatever the host could write counts as written.
pub fn define_hosts() {
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    hosts.iter().for_each(|&(address, size)| define(address, size));
}

/// Something has written that nobody knows of: all counts as written.
pub fn define_all() {
    if is_enabled() {
        clear(BASE - SHADOW, SHADOW);
    }
}
