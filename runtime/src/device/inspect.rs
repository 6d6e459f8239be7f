//! What those who watch a program ask a device: what its memory has, and what its kernels have accessed.

use super::Device;
use gangway_backend::{AccessPlace, Accesses, Copies, DevicePtr};

impl Device {
    /// Reads memory of the device behind all that has been issued before and waited for. False: it cannot be read.
    ///
    /// # Safety
    /// So many bytes at the address are the device's.
    #[must_use]
    pub unsafe fn read_memory(&self, from: DevicePtr, to: &mut [u8]) -> bool {
        let Some(opened) = self.opened_if_usable() else { return false };
        let (host, size) = (to.as_mut_ptr(), to.len());
        self.at_once(opened, |stream| {
            let mut copied = Ok(());
            // SAFETY: the caller's promise, and `to` has room for as much; `at_once` waits.
            let mut copy = || copied = unsafe { stream.copy_from_device(host, from, size) };
            stream.on_behalf(Copies::Looks, &mut copy);
            copied
        })
        .is_ok()
    }

    /// Which bytes of a range kernels have accessed since this was last asked, if the device notes that.
    #[must_use]
    pub fn take_accesses(&self, from: DevicePtr, size: usize) -> Option<Accesses> {
        self.opened_if_usable()?.device.take_accesses(from, size)
    }

    /// Has reads of a range told with their numbers, or only that there were some.
    pub fn watch_reads(&self, from: DevicePtr, size: usize, whether: bool) {
        if let Some(opened) = self.opened_if_usable() {
            opened.device.watch_reads(from, size, whether);
        }
    }

    /// The place of an access.
    #[must_use]
    pub fn access_place(&self, number: u32) -> Option<AccessPlace> {
        self.opened_if_usable()?.device.access_place(number)
    }
}
