//! Memory of the host that a kernel may use: what a warp remembers of it.
//!
//! It is anywhere in the process, so no single test tells it from what is not the device's. The
//! space knows, and a warp remembers its answers in a small table. Compiled code looks there when
//! an address is outside of device memory (`compile/memory/reach.rs`), and so do helpers. Only
//! what is in none of the windows there is looked up the slow way, once for a window and warp.
//!
//! A window stays when its registration ends while a kernel runs, which programs must not let
//! happen. Then the memory is there, or the access raises a signal. The next launch forgets it.

use std::cell::Cell;
use std::mem::offset_of;

use gangway_device_memory::Space;

/// Windows of a warp.
const COUNT: usize = 16;
/// Addresses that differ in their lower bits alone are looked for in the same place.
pub(crate) const LOW_BITS: u32 = 20;
/// Spreads the upper bits over the table: arrays of one size often lie at distances of powers of
/// two.
pub(crate) const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// The product's bits above these, as a multiple of a window's size, say where.
pub(crate) const SHIFT: u32 = u64::BITS - COUNT.ilog2() - size_of::<Window>().ilog2();
/// Those bits.
pub(crate) const PLACES: i64 = (COUNT * size_of::<Window>() - size_of::<Window>()) as i64;
/// Where the fields of a window are.
pub(crate) const START: i32 = offset_of!(Window, start) as i32;
pub(crate) const LENGTH: i32 = offset_of!(Window, length) as i32;

/// A range of addresses that kernels may access. The length is below 2^63; an empty one has no
/// address.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Window {
    start: u64,
    length: u64,
}

impl Window {
    #[must_use]
    pub fn new(start: u64, length: u64) -> Self {
        Window { start, length }
    }

    /// The first and the last address of an access of some bytes; none if it is shorter.
    #[must_use]
    pub fn bounds(self, size: u64) -> Option<(u64, u64)> {
        Some((self.start, self.start + self.length.checked_sub(size)?))
    }

    #[must_use]
    pub fn covers(self, address: u64, size: u64) -> bool {
        self.bounds(size).is_some_and(|(first, last)| (first..=last).contains(&address))
    }
}

/// What a warp remembers.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Windows {
    each: [Cell<Window>; COUNT],
    generation: u64,
}

impl Windows {
    /// Where an address would be.
    fn place(&self, address: u64) -> &Cell<Window> {
        let bits = (address >> LOW_BITS).wrapping_mul(FACTOR) >> SHIFT & PLACES as u64;
        &self.each[bits as usize / size_of::<Window>()]
    }

    /// What is remembered of the neighbourhood of an address.
    #[must_use]
    pub fn near(&self, address: u64) -> Window {
        self.place(address).get()
    }

    /// Whether an access is known to be in the host's memory that the kernel may use.
    #[must_use]
    pub fn cover(&self, address: u64, size: u64) -> bool {
        self.near(address).covers(address, size)
    }

    /// Looks an access up that is in no window; whether the kernel may do it.
    #[cold]
    pub fn find(&self, space: &Space, address: u64, size: u64) -> bool {
        if let Some((start, length)) = space.host_window(address).filter(|(_, length)| length >> 63 == 0) {
            self.place(address).set(Window { start, length });
        }
        // It may reach from one registration into the next.
        space.is_host_usable(address, size)
    }

    /// Forgets windows that may have ended, at the beginning of a launch.
    pub fn refresh(&mut self, space: &Space) {
        let now = space.host_generation();
        if self.generation != now {
            self.each = Default::default();
            self.generation = now;
        }
    }
}

const _: () = assert!(COUNT.is_power_of_two() && size_of::<Window>().is_power_of_two());

#[cfg(test)]
mod tests {
    use super::*;

    fn windows() -> Windows {
        Windows { each: Default::default(), generation: 0 }
    }

    #[test]
    fn an_empty_window_covers_nothing() {
        let windows = windows();
        for address in [0, 8, 1 << 20, 1 << 46, u64::MAX] {
            assert!(!windows.cover(address, 1), "{address:#x}");
        }
    }

    #[test]
    fn windows_are_found_to_the_byte() {
        let space = Space::get().expect("addresses are there");
        let memory = vec![0u8; 4096];
        let start = memory.as_ptr() as u64;
        let mut windows = windows();
        assert!(!windows.find(space, start, 8) && !windows.cover(start, 8));
        space.register_host(start, 4096).expect("free");
        assert!(windows.find(space, start + 8, 8));
        assert!(windows.cover(start, 4096) && !windows.cover(start, 4097));
        assert!(windows.cover(start + 4095, 1) && !windows.cover(start + 4095, 2));
        assert!(!windows.cover(start - 1, 1) && !windows.cover(start + 4096, 1));
        space.unregister_host(start).expect("registered");
        windows.refresh(space);
        assert!(!windows.cover(start, 1));
    }
}
