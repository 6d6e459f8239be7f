//! Check mode: memory that a kernel may use, as a warp remembers it.
//!
//! The space knows every allocation, and a warp remembers its last answer for each site: the accesses of a
//! function by one register, reads and writes apart. Compiled code looks at the site's range where it would
//! look at the ends of all device memory otherwise. What is in no such range goes to the helpers, which look
//! it up to the byte and renew what the site remembers. So a warp asks once for each array that an
//! instruction goes through.
//!
//! When memory has been freed since, nothing that is remembered holds any more.

use std::cell::Cell;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

use gangway_device_memory::{BASE, FIRST, Space, shadow};

use crate::windows::Window;

/// Sites of a warp; those of writes are odd. A function with more than that has some that share a range.
pub(crate) const SITES: usize = 128;
/// Where the range of the first site is, the one that has been asked for, and the counter as it was then.
pub(crate) const EACH: i32 = offset_of!(Grants, each) as i32;
pub(crate) const GIVEN: i32 = offset_of!(Grants, given) as i32;
pub(crate) const KNOWN: i32 = offset_of!(Grants, known) as i32;

/// What a warp remembers.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Grants {
    each: [Cell<Window>; SITES],
    /// What compiled code has asked for last.
    given: Cell<Window>,
    /// [`Space::freed`] before the first of them was asked for.
    known: Cell<u64>,
}

impl Grants {
    /// The range around an address that a site may access.
    #[must_use]
    pub fn around(&self, freed: &AtomicU64, site: u8, address: u64) -> Option<Window> {
        let now = freed.load(Ordering::Acquire);
        if self.known.replace(now) != now {
            self.each.iter().for_each(|each| each.set(Window::default()));
        }
        let place = &self.each[usize::from(site) % SITES];
        if shadow::is_enabled() && (FIRST..BASE).contains(&address) {
            // The shadows of device memory, which code goes to that looks for uses of what nothing has written.
            place.set(Window::new(FIRST, BASE - FIRST));
        } else if !place.get().covers(address, 1) {
            let (start, length) = Space::get().ok()?.grant(address, is_of_writes(site))?;
            place.set(Window::new(start, length));
        }
        Some(place.get())
    }

    /// Puts a range where compiled code finds it that has asked for it; an empty one if there is none.
    pub fn give(&self, range: Option<Window>) {
        self.given.set(range.unwrap_or_default());
    }
}

/// The number of a site, the so manieth of a kind in its function. Functions that call each other mostly
/// have ranges of their own.
#[must_use]
pub(crate) const fn number(function: u32, index: usize, writes: bool) -> u8 {
    const EACH: usize = SITES / 2;
    let index = (function as usize * 11 + index) % EACH;
    (2 * index + writes as usize) as u8
}

const fn is_of_writes(site: u8) -> bool {
    !site.is_multiple_of(2)
}

const _: () = assert!(SITES <= 1 + u8::MAX as usize);
