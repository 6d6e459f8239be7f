//! Memory as kernels see it: every access is checked to the byte, and what it works on stays until it is done, as the
//! program may free it at any time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use gangway_device_memory::{Hold, Space, is_device_address};
use gangway_gcn_interpreter::{FaultKind, Memory};

use crate::objects::process::clock;
use crate::objects::signal;

/// Nanoseconds of a tick of the clock that kernels read, which counts 100 MHz.
const TICK: u64 = clock::FREQUENCY / crate::objects::agent::info::DEVICE_CLOCK;

/// The memory of all devices, and the host's that they may use.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    space: &'static Space,
    /// Where memory is that whoever made this holds for as long: the start, and how many bytes.
    held: (u64, u64),
}

fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Device {
    #[must_use]
    pub fn new(space: &'static Space) -> Self {
        Self { space, held: (0, 0) }
    }

    /// The same for the time in which memory stays that is held: accesses to it need not be looked at one by one.
    #[must_use]
    pub fn within(space: &'static Space, start: u64, bytes: u64, _held: &Hold<'static>) -> Self {
        Self { space, held: (start, bytes) }
    }

    /// Checks an access; the memory stays while what is answered does, if it is not held anyhow.
    #[inline]
    fn check(&self, address: u64, size: usize, write: bool) -> Result<Option<Hold<'static>>, FaultKind> {
        let (start, bytes) = self.held;
        if bytes.checked_sub(address.wrapping_sub(start)).is_some_and(|behind| size as u64 <= behind) {
            return Ok(None);
        }
        let fine = self.space.check(address, size as u64, write).is_ok();
        let held = fine.then(|| self.space.hold(address, size as u64)).flatten();
        held.map(Some).ok_or(FaultKind::OutOfBounds { address, size, write })
    }

    /// Whether an address is the host's own: usable, but perhaps not there.
    fn is_unsure(&self, address: u64, size: usize) -> bool {
        !is_device_address(address) && !self.space.is_host_registered(address, size as u64)
    }
}

/// Reads or writes the process's own memory, which may not be there: that is no crash but `false`.
fn try_host(address: u64, bytes: *mut u8, size: usize, write: bool) -> bool {
    let own = libc::iovec { iov_base: bytes.cast(), iov_len: size };
    let other = libc::iovec { iov_base: pointer(address), iov_len: size };
    let process = std::process::id() as libc::pid_t;
    // SAFETY: `bytes` has so many; the other side is checked by the system.
    let done = unsafe {
        if write {
            libc::process_vm_writev(process, &raw const own, 1, &raw const other, 1, 0)
        } else {
            libc::process_vm_readv(process, &raw const own, 1, &raw const other, 1, 0)
        }
    };
    usize::try_from(done) == Ok(size)
}

impl Memory for Device {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        let size = bytes.len();
        let _held = self.check(address, size, false)?;
        if self.is_unsure(address, size) {
            let done = try_host(address, bytes.as_mut_ptr(), size, false);
            return if done { Ok(()) } else { Err(FaultKind::OutOfBounds { address, size, write: false }) };
        }
        match size {
            4 if address.is_multiple_of(4) => {
                // SAFETY: the memory is held and aligned; others may change it at any time.
                let word = unsafe { AtomicU32::from_ptr(pointer(address)) }.load(Ordering::Relaxed);
                bytes.copy_from_slice(&word.to_ne_bytes());
            }
            8 if address.is_multiple_of(8) => {
                // SAFETY: as above.
                let word = unsafe { AtomicU64::from_ptr(pointer(address)) }.load(Ordering::Relaxed);
                bytes.copy_from_slice(&word.to_ne_bytes());
            }
            // SAFETY: the memory is held; what others write meanwhile comes old or new.
            _ => unsafe { std::ptr::copy_nonoverlapping(pointer(address), bytes.as_mut_ptr(), size) },
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        let size = bytes.len();
        let _held = self.check(address, size, true)?;
        if self.is_unsure(address, size) {
            let done = try_host(address, bytes.as_ptr().cast_mut(), size, true);
            return if done { Ok(()) } else { Err(FaultKind::OutOfBounds { address, size, write: true }) };
        }
        match *bytes {
            [a, b, c, d] if address.is_multiple_of(4) => {
                let word = u32::from_ne_bytes([a, b, c, d]);
                // SAFETY: as in `read`.
                unsafe { AtomicU32::from_ptr(pointer(address)) }.store(word, Ordering::Relaxed);
            }
            [a, b, c, d, e, f, g, h] if address.is_multiple_of(8) => {
                let word = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                // SAFETY: as in `read`.
                unsafe { AtomicU64::from_ptr(pointer(address)) }.store(word, Ordering::Relaxed);
            }
            // SAFETY: as in `read`.
            _ => unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer(address), size) },
        }
        Ok(())
    }

    fn update(
        &self,
        address: u64,
        size: usize,
        operation: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, FaultKind> {
        let _held = self.check(address, size, true)?;
        let mut seen = [0; 8];
        if self.is_unsure(address, size) && !try_host(address, seen.as_mut_ptr(), size.min(8), false) {
            return Err(FaultKind::OutOfBounds { address, size, write: true });
        }
        if !matches!(size, 4 | 8) || !address.is_multiple_of(size as u64) {
            return Err(FaultKind::Misaligned { address, size });
        }
        // SAFETY: the memory is held and aligned.
        Ok(unsafe {
            if size == 4 {
                let word = AtomicU32::from_ptr(pointer(address));
                let change = |old: u32| Some(operation(u64::from(old)) as u32);
                u64::from(
                    word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change).unwrap_or_else(|old| old),
                )
            } else {
                let word = AtomicU64::from_ptr(pointer(address));
                let change = |old: u64| Some(operation(old));
                word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change).unwrap_or_else(|old| old)
            }
        })
    }

    fn real_time(&self) -> u64 {
        clock::now() / TICK
    }

    fn interrupt(&self, event: u32) {
        signal::interrupt(event);
    }
}

#[cfg(test)]
mod tests {
    use gangway_device_memory::{AllocationKind, Request};

    use super::*;

    #[test]
    fn held_memory_is_checked_to_its_ends() {
        let space = Space::get().expect("there are addresses");
        let start = space.allocate(&Request::new(0, 256, AllocationKind::Arena)).expect("memory");
        let held = space.hold(start, 256).expect("it is allocated");
        let memory = Device::within(space, start, 256, &held);
        memory.write(start + 252, &7u32.to_ne_bytes()).expect("it is inside");
        let mut word = [0; 4];
        memory.read(start + 252, &mut word).expect("it is inside");
        assert_eq!(u32::from_ne_bytes(word), 7);
        for address in [start + 253, start + 256, start - 4, 0, u64::MAX - 3] {
            let found = memory.read(address, &mut word);
            let expected = FaultKind::OutOfBounds { address, size: 4, write: false };
            assert_eq!(found, Err(expected), "{address:#x}");
        }
        // It stays as long as it is held, and no longer.
        space.free(start).expect("it is allocated");
        memory.read(start, &mut word).expect("it is held");
        drop(held);
        assert!(Device::new(space).read(start, &mut word).is_err());
    }
}
