//! Holding memory: it stays mapped while an operation works on it, even if it is freed meanwhile.
//!
//! The driver holds what a copy or a fill works on, for as long as that takes. Allocations count
//! their holders in the word that says whether they are live. So freeing and holding agree on which
//! of them takes the memory away. Registered host memory is the program's to unmap; there the end
//! of the registration waits for the holders.

use std::sync::Arc;

use crate::host::Registration;
use crate::range::is_device_address;
use crate::space::Space;

/// Memory that stays while this exists.
#[derive(Debug)]
#[must_use = "the memory may go as soon as this is dropped"]
pub struct Hold<'a> {
    space: &'a Space,
    what: What,
}

#[derive(Debug)]
enum What {
    /// An empty range, or the host's memory where devices may use all of it.
    Nothing,
    /// The place of a record.
    Allocation((usize, u32)),
    /// Registrations next to each other.
    Host(Vec<Arc<Registration>>),
}

impl Space {
    /// Holds a range, if it is all in one live allocation or in registered host memory. Takes no
    /// lock for an allocation.
    pub fn hold(&self, address: u64, size: u64) -> Option<Hold<'_>> {
        let what = if size == 0 {
            What::Nothing
        } else if is_device_address(address) {
            What::Allocation(self.hold_allocation(address, size)?)
        } else {
            match self.host.hold(address, size) {
                Some(registrations) => What::Host(registrations),
                // The program's own, which it may unmap at any time.
                None if self.is_host_usable(address, size) => What::Nothing,
                None => return None,
            }
        };
        Some(Hold { space: self, what })
    }

    fn hold_allocation(&self, address: u64, size: u64) -> Option<(usize, u32)> {
        let place = self.records.slot_of(address)?;
        let record = self.records.record(place)?;
        if !record.hold() {
            return None;
        }
        // Only now is it certain that it stays what it is.
        let (_, allocation, _) = record.read();
        if allocation.covers(address, size) {
            return Some(place);
        }
        self.release(place);
        None
    }

    fn release(&self, place: (usize, u32)) {
        if let Some(record) = self.records.record(place) {
            // Before it is released: afterwards it may be another allocation's.
            let (_, allocation, _) = record.read();
            if record.release() {
                self.take_away(place, &allocation);
            }
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        match &self.what {
            What::Nothing => {}
            What::Allocation(place) => self.space.release(*place),
            What::Host(registrations) => registrations.iter().for_each(|one| one.release()),
        }
    }
}
