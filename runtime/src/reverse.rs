//! The data of a region that a device has the host run: reverse offload.
//!
//! OpenMP 6.0 section 15.8: the data environment of such a region is the host's. What is mapped on the
//! calling device stands for the host's original, which is found by its *device* address
//! ([`memory::host_address`]). Anything else gets storage on the host for as long as the
//! region runs, copied there and back as its map type says. Pointers that lead to mapped
//! data are attached: they lead to the host's storage while the region runs.
//!
//! The front end has read the device's list of mappings; addresses in it may be anything.

use crate::device::Device;
use crate::error::Result;
use crate::events::Site;
use crate::memory::{self, Place, host_address};
use gangway_backend::DevicePtr;
use std::fmt;

/// One mapping of the region. All addresses are the device's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Item {
    /// What the region reaches the data by: where the variable or the pointer's array is.
    pub base: usize,
    pub begin: usize,
    pub size: usize,
    /// Items of one group have one base, and are placed together.
    pub group: u32,
    pub kind: Kind,
    /// Where the bytes are on the host, if the host cannot reach them on the device.
    pub carried: Option<usize>,
}

/// What is to be done with a mapping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    pub to: bool,
    pub from: bool,
    pub always: bool,
    /// It is an error if it is not present.
    pub present: bool,
    /// The region's own copy, present or not.
    pub private: bool,
    /// `begin` is where a pointer stands that leads to the group's base.
    pub attach: bool,
}

/// Why a region cannot have its data. Front ends have the words for it.
#[derive(Debug)]
pub enum Refusal {
    /// A part of it is mapped on the device and a part is not.
    Partly { begin: usize, size: usize },
    /// `present` is asked for, and it is not.
    Absent { begin: usize, size: usize },
    /// There is no room, or no such size.
    TooLarge { size: usize },
    /// A copy failed.
    Copy(Box<crate::error::Error>),
}

/// Storage of the host's for one group.
#[derive(Debug)]
enum Storage {
    /// The host's original.
    Present,
    /// Made for this region.
    Made { _memory: Vec<u64> },
}

/// Where one group is.
#[derive(Debug)]
struct Placement {
    group: u32,
    begin: usize,
    size: usize,
    host: usize,
    storage: Storage,
    device_base: usize,
}

impl Placement {
    /// The host's address for one of the device's.
    const fn on_host(&self, address: usize) -> usize {
        address.wrapping_sub(self.begin).wrapping_add(self.host)
    }

    const fn holds(&self, address: usize, size: usize) -> bool {
        let offset = address.wrapping_sub(self.begin);
        offset < self.size && size <= self.size - offset
    }

    const fn is_made(&self) -> bool {
        matches!(self.storage, Storage::Made { .. })
    }
}

/// A pointer of the host's that leads elsewhere while the region runs.
#[derive(Debug)]
struct Attached {
    at: usize,
    /// What stood there before.
    original: usize,
    /// What it leads to on the device, and here.
    device: usize,
    host: usize,
    /// It stands in storage that was made.
    made: bool,
}

/// The data of one region on the host.
pub struct Region {
    device: &'static Device,
    items: Vec<Item>,
    placements: Vec<Placement>,
    attached: Vec<Attached>,
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region").field("items", &self.items).finish_non_exhaustive()
    }
}

impl Region {
    /// Places the items.
    ///
    /// # Safety
    /// The device's memory that the items name is valid, and so is the host's where it is
    /// mapped; bytes that are carried are there, until [`Region::leave`].
    ///
    /// # Errors
    /// See [`Refusal`].
    pub unsafe fn enter(
        device: &'static Device,
        items: Vec<Item>,
        site: &Site,
    ) -> std::result::Result<Self, Refusal> {
        let mut region = Self { device, items, placements: Vec::new(), attached: Vec::new() };
        for item in region.items.clone() {
            let known = region.placements.iter().any(|placement| placement.group == item.group);
            if !item.kind.attach && !known {
                region.place(item.group)?;
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            region.find_attached();
            region.copy_in(site)?;
        }
        for attached in &region.attached {
            // SAFETY: a pointer stands there, as `find_attached` has found.
            unsafe { (attached.at as *mut usize).write_unaligned(attached.host) };
        }
        Ok(region)
    }

    /// The host's address for an item's base: the device's own, if nothing is known of it.
    #[must_use]
    pub fn base(&self, item: &Item) -> usize {
        self.placement(item.group).map_or(item.base, |placement| placement.on_host(item.base))
    }

    /// The host's address of a pointer that is attached; `None` if it stands in memory of the device that
    /// the host has no counterpart of.
    #[must_use]
    pub fn pointer(&self, item: &Item) -> Option<usize> {
        let holds = |placement: &&Placement| placement.holds(item.begin, size_of::<usize>());
        match self.placements.iter().find(holds) {
            Some(holder) => Some(holder.on_host(item.begin)),
            None => host_address(self.device, DevicePtr(item.begin)),
        }
    }

    /// Takes the data back.
    ///
    /// # Safety
    /// As for [`Region::enter`].
    ///
    /// # Errors
    /// A copy failed.
    pub unsafe fn leave(self, site: &Site) -> std::result::Result<(), Refusal> {
        for attached in &self.attached {
            // SAFETY: the pointer was written to when the region was entered.
            unsafe { (attached.at as *mut usize).write_unaligned(attached.device) };
        }
        let mut copied = Ok(());
        for item in self.items.iter().filter(|item| item.kind.from) {
            // SAFETY: the caller's promise.
            copied = copied.and(unsafe { self.copy(item, false, site) });
        }
        for attached in self.attached.iter().filter(|attached| !attached.made) {
            // SAFETY: as above.
            unsafe { (attached.at as *mut usize).write_unaligned(attached.original) };
        }
        copied
    }

    fn placement(&self, group: u32) -> Option<&Placement> {
        self.placements.iter().find(|placement| placement.group == group)
    }

    fn place(&mut self, group: u32) -> std::result::Result<(), Refusal> {
        let members = || self.items.iter().filter(|item| item.group == group && !item.kind.attach);
        let Some(first) = members().next() else { return Ok(()) };
        let sized = || members().filter(|item| item.size > 0);
        let begin = sized().map(|item| item.begin).min().unwrap_or(first.begin);
        let end = sized().map(|item| item.begin.saturating_add(item.size)).max().unwrap_or(begin);
        let size = end - begin;
        let at = |offset: usize| host_address(self.device, DevicePtr(begin.wrapping_add(offset)));
        let device_base = first.base;
        let placement = |host, storage| Placement { group, begin, size, host, storage, device_base };
        let own = members().any(|item| item.carried.is_some() || item.kind.private);
        if size == 0 {
            // A section without elements: its pointer is translated if it leads to something.
            self.placements.extend(at(0).map(|host| placement(host, Storage::Present)));
            return Ok(());
        }
        let found = if own { None } else { at(0) };
        match (found, if own { None } else { at(size - 1) }) {
            (Some(host), Some(last)) if host.wrapping_add(size - 1) == last => {
                self.placements.push(placement(host, Storage::Present));
                return Ok(());
            }
            (None, None) => {}
            _ => return Err(Refusal::Partly { begin, size }),
        }
        if members().any(|item| item.kind.present) {
            return Err(Refusal::Absent { begin, size });
        }
        // No object is more aligned than it is large. What the device has aligned to 16 bytes, as
        // far as it aligns any variable, may be an object that the host wants to be more aligned.
        let align = (1 << size.ilog2()).clamp(64, 4096);
        let offset = if device_base % 16 == 0 { begin.wrapping_sub(device_base) } else { begin };
        let words = size.div_ceil(8).checked_add(align / 8 + 8).ok_or(Refusal::TooLarge { size })?;
        let mut memory: Vec<u64> = Vec::new();
        memory.try_reserve_exact(words).map_err(|_| Refusal::TooLarge { size })?;
        memory.resize(words, 0);
        let address = memory.as_ptr().addr();
        let host = address + (offset.wrapping_sub(address) & (align - 1));
        self.placements.push(placement(host, Storage::Made { _memory: memory }));
        Ok(())
    }

    /// # Safety
    /// As for [`Region::enter`].
    unsafe fn find_attached(&mut self) {
        for item in self.items.iter().filter(|item| item.kind.attach) {
            let holder =
                self.placements.iter().find(|placement| placement.holds(item.begin, size_of::<usize>()));
            let (Some(at), Some(pointee)) = (self.pointer(item), self.placement(item.group)) else {
                continue;
            };
            // SAFETY: a pointer stands there: in storage that was made, or in mapped data.
            let original = unsafe { (at as *const usize).read_unaligned() };
            let made = holder.is_some_and(Placement::is_made);
            let (device, host) = (pointee.device_base, pointee.on_host(pointee.device_base));
            self.attached.push(Attached { at, original, device, host, made });
        }
    }

    /// # Safety
    /// As for [`Region::enter`].
    unsafe fn copy_in(&self, site: &Site) -> std::result::Result<(), Refusal> {
        for item in self.items.iter().filter(|item| item.kind.to) {
            // SAFETY: the caller's promise.
            unsafe { self.copy(item, true, site)? };
        }
        Ok(())
    }

    /// Copies one item, if its storage was made or it is always copied.
    ///
    /// # Safety
    /// As for [`Region::enter`].
    unsafe fn copy(&self, item: &Item, to_host: bool, site: &Site) -> std::result::Result<(), Refusal> {
        let Some(placement) = self.placement(item.group) else { return Ok(()) };
        if item.kind.attach || item.size == 0 || !(placement.is_made() || item.kind.always) {
            return Ok(());
        }
        let host = Place { device: None, address: placement.on_host(item.begin) };
        let device = match item.carried {
            Some(address) => Place { device: None, address },
            None => Place { device: Some(self.device), address: item.begin },
        };
        let (to, from) = if to_host { (host, device) } else { (device, host) };
        // SAFETY: the caller's promise.
        let copied: Result<()> = unsafe { memory::copy(to, from, item.size, site) };
        copied.map_err(Refusal::Copy)
    }
}
