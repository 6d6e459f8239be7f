//! First-private arrays of Fortran whose descriptors are first-private, too (GCC 13 and newer).
//!
//! Of such an array a region has three items: the descriptor, the data, both first-private, and an
//! attachment. That does not name a pointer of the host: its address is that of the descriptor's
//! place in the array of addresses, and its size the distance of the pointer in the descriptor. The
//! descriptor of the device has to lead to the data of the device. So the data get memory there
//! before the region runs, and the kernel a descriptor with that address.

use crate::abi::kind::{ATTACH, FIRSTPRIVATE, FIRSTPRIVATE_INT};
use gangway_backend::{AllocationKind, DevicePtr};
use gangway_frontend::state::routine;
use gangway_runtime::memory::{self, Place};
use gangway_runtime::{Device, Result};

/// Whether a region has arrays of this kind.
#[inline]
pub(crate) fn are_there(kinds: &[u16]) -> bool {
    kinds.windows(2).any(|pair| pair[0] as u8 == FIRSTPRIVATE && pair[1] as u8 == ATTACH)
}

/// A region's arrays with what the device gets.
pub(crate) struct Private {
    pub hosts: Vec<usize>,
    pub sizes: Vec<usize>,
    pub kinds: Vec<u16>,
    device: &'static Device,
    descriptors: Vec<Box<[u8]>>,
    memory: Vec<DevicePtr>,
}

impl Private {
    /// Copies the data to the device.
    ///
    /// # Safety
    /// The arrays are the compiler's: what is first-private is there.
    ///
    /// # Errors
    /// The device has no room, or a copy failed.
    pub(crate) unsafe fn new(
        device: &'static Device,
        hosts: &[usize],
        sizes: &[usize],
        kinds: &[u16],
    ) -> Result<Self> {
        let (descriptors, memory) = (Vec::new(), Vec::new());
        let mut all = Self {
            hosts: hosts.into(),
            sizes: sizes.into(),
            kinds: kinds.into(),
            device,
            descriptors,
            memory,
        };
        for (descriptor, data) in arrays(hosts, kinds) {
            let (pointer, attached) = (sizes[data + 1], hosts[data] != 0);
            if attached {
                // SAFETY: the caller's promise.
                let at = unsafe { all.copy(hosts[data], sizes[data]) }?;
                // SAFETY: as above.
                unsafe { all.lead(descriptor, pointer, at.0) };
                all.hosts[data] = at.0;
            }
            all.kinds[data] = FIRSTPRIVATE_INT.into();
            all.kinds[data + 1] = FIRSTPRIVATE_INT.into();
        }
        Ok(all)
    }

    /// # Safety
    /// So many bytes are there.
    unsafe fn copy(&mut self, host: usize, size: usize) -> Result<DevicePtr> {
        let site = routine();
        let at = memory::allocate(self.device, size.max(1), AllocationKind::Device, &site)?;
        self.memory.push(at);
        let (to, from) = (Some(self.device), None);
        let (to, from) = (Place { device: to, address: at.0 }, Place { device: from, address: host });
        // SAFETY: the caller's promise; the memory has just been allocated.
        unsafe { memory::copy(to, from, size, &site) }?;
        Ok(at)
    }

    /// Has a descriptor lead to an address.
    ///
    /// # Safety
    /// The item is a descriptor.
    unsafe fn lead(&mut self, descriptor: usize, pointer: usize, to: usize) {
        let (host, size) = (self.hosts[descriptor], self.sizes[descriptor]);
        if host == 0 || pointer.saturating_add(size_of::<usize>()) > size {
            return;
        }
        // SAFETY: the caller's promise.
        let mut own: Box<[u8]> = unsafe { std::slice::from_raw_parts(host as *const u8, size) }.into();
        own[pointer..pointer + size_of::<usize>()].copy_from_slice(&to.to_ne_bytes());
        self.hosts[descriptor] = own.as_ptr().expose_provenance();
        self.descriptors.push(own);
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        for at in self.memory.drain(..) {
            // SAFETY: whoever has it drops it when the region has ended. A failure has been told of.
            let _ = unsafe { memory::free(self.device, at, AllocationKind::Device, &routine()) };
        }
    }
}

/// The places of descriptors, each with that of its data.
fn arrays(hosts: &[usize], kinds: &[u16]) -> Vec<(usize, usize)> {
    let first = hosts.as_ptr().addr();
    let pairs = kinds.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| pair[0] as u8 == FIRSTPRIVATE && pair[1] as u8 == ATTACH)
        .filter_map(|(data, _)| {
            let descriptor = hosts[data + 1].wrapping_sub(first) / size_of::<usize>();
            (descriptor < data).then_some((descriptor, data))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_found_by_their_places() {
        let [private, attach] = [u16::from(FIRSTPRIVATE) | 3 << 8, u16::from(ATTACH)];
        let kinds = [private, private, attach, private];
        let mut hosts = [0x1000, 0x2000, 0, 0x3000];
        assert!(are_there(&kinds) && !are_there(&kinds[2..]) && !are_there(&[]));
        hosts[2] = hosts.as_ptr().addr();
        assert_eq!(arrays(&hosts, &kinds), [(0, 1)]);
        // An attachment of something else.
        hosts[2] = 0x4000;
        assert_eq!(arrays(&hosts, &kinds), []);
    }
}
