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
}

fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Device {
    #[must_use]
    pub fn new(space: &'static Space) -> Self {
        Self { space }
    }

    /// Checks an access; the memory stays while what is answered does.
    fn check(&self, address: u64, size: usize, write: bool) -> Result<Hold<'static>, FaultKind> {
        let fine = self.space.check(address, size as u64, write).is_ok();
        let held = fine.then(|| self.space.hold(address, size as u64)).flatten();
        held.ok_or(FaultKind::OutOfBounds { address, size, write })
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
