//! Objects of which a construct uses members that are not on the device, while others are, each by itself: a member
//! function uses more of `this` than a data construct around, or one before, has brought. For such a construct all of
//! the object is put together on the device: what no clause has brought comes from the host and goes back there, as
//! what an implicit `copy` says of it does (OpenACC 3.3 section 2.6.2).
//!
//! The construct is waited for. Who wants none of this brings the object, as with `copyin(this[0:1])`.

use super::abi::{AccItem, kind};
use super::data::failed;
use super::items::between;
use gangway_backend::{AllocationKind, DevicePtr};
use gangway_openacc::present;
use gangway_runtime::memory::{self, Place};
use gangway_runtime::{Device, Result, events};
use std::ops::Range;

/// An object that has been put together.
pub(super) struct Assembled {
    device: &'static Device,
    /// Where it is.
    block: DevicePtr,
    object: Range<usize>,
    /// What of it was on the device, and where.
    parts: Vec<(Range<usize>, DevicePtr)>,
    /// Pointers that lead to the device there, and not on the host.
    attached: Vec<Range<usize>>,
}

/// The items that are objects of which members are missing.
pub(super) fn wanted(device: &'static Device, items: &[AccItem]) -> Vec<usize> {
    let is_wanted =
        |item: &AccItem| item.is_object() && used(item, items).any(|used| is_missing(device, item, used));
    (0..items.len()).filter(|at| is_wanted(&items[*at])).collect()
}

/// What the construct uses of an object.
fn used<'i>(object: &AccItem, items: &'i [AccItem]) -> impl Iterator<Item = &'i AccItem> {
    let object = object.range();
    let is_of_it = move |item: &&AccItem| {
        item.kind == kind::USED && object.start <= item.begin.addr() && item.range().end <= object.end
    };
    items.iter().filter(is_of_it)
}

/// Whether a member is not where the object would begin if its first part that is there says so.
fn is_missing(device: &'static Device, object: &AccItem, member: &AccItem) -> bool {
    let begin = |range: &Range<usize>| {
        let mut parts = present::entries_in(device, range);
        let (part, address) = parts.next()?;
        Some((address.0.wrapping_sub(part.start), part.end))
    };
    let Some((first, _)) = begin(&object.range()) else { return false };
    let Range { mut start, end } = member.range();
    // Parts that follow each other are one.
    while start < end {
        match begin(&(start..start + 1)) {
            Some((own, part_end)) if own == first => start = part_end,
            _ => return true,
        }
    }
    false
}

impl Assembled {
    /// Puts an object together, and says in its item where it is.
    pub fn new(device: &'static Device, site: &events::Site, at: usize, items: &mut [AccItem]) -> Self {
        let object = items[at].range();
        let parts: Vec<_> = present::entries_in(device, &object).collect();
        let is_there = |range: &Range<usize>| parts.iter().any(|(part, _)| part.contains(&range.start));
        let pointers = used(&items[at], items).filter(|member| !member.pointer.is_null());
        let attached = pointers.map(AccItem::range).filter(|range| !is_there(range)).collect();
        let block = memory::allocate(device, object.len(), AllocationKind::Device, site);
        let block = block.unwrap_or_else(|error| failed(&error));
        let mut assembled = Self { device, block, object, parts, attached };
        assembled.fill(site).unwrap_or_else(|error| failed(&error));
        items[at].device = block.0 as *mut _;
        assembled
    }

    fn fill(&mut self, site: &events::Site) -> Result<()> {
        self.copy(site, self.there(self.object.start), self.host(self.object.start), self.object.len())?;
        for (part, address) in &self.parts {
            let from = Place { device: Some(self.device), address: address.0 };
            self.copy(site, self.there(part.start), from, part.len())?;
        }
        // What pointers lead to may be there.
        for range in std::mem::take(&mut self.attached) {
            // SAFETY: the item says that a pointer of the program's is there.
            let pointer = unsafe { std::ptr::with_exposed_provenance::<usize>(range.start).read() };
            if let Some(address) = memory::mapped_address(self.device, pointer) {
                let from = Place { device: None, address: (&raw const address.0).expose_provenance() };
                self.copy(site, self.there(range.start), from, range.len())?;
                self.attached.push(range);
            }
        }
        Ok(())
    }

    /// Brings everything back to where it came from.
    pub fn end(self, site: &events::Site) {
        let ended = self.give_back(site).and_then(|()| {
            // SAFETY: the construct has been waited for, and nobody else has the address.
            unsafe { memory::free(self.device, self.block, AllocationKind::Device, site) }
        });
        ended.unwrap_or_else(|error| failed(&error));
    }

    fn give_back(&self, site: &events::Site) -> Result<()> {
        for (part, address) in &self.parts {
            let to = Place { device: Some(self.device), address: address.0 };
            self.copy(site, to, self.there(part.start), part.len())?;
        }
        let others = self.parts.iter().map(|(part, _)| part).chain(&self.attached);
        for rest in between(self.object.clone(), others.cloned().collect()) {
            self.copy(site, self.host(rest.start), self.there(rest.start), rest.len())?;
        }
        Ok(())
    }

    const fn host(&self, address: usize) -> Place {
        Place { device: None, address }
    }

    /// Where a byte of the object is.
    const fn there(&self, host: usize) -> Place {
        Place { device: Some(self.device), address: self.block.0 + (host - self.object.start) }
    }

    fn copy(&self, site: &events::Site, to: Place, from: Place, size: usize) -> Result<()> {
        // SAFETY: these are bytes of the object, of its block, and of present data, which the construct keeps.
        unsafe { memory::copy(to, from, size, site) }
    }
}
