//! Private and first-private arguments of a kernel.
//!
//! All of a launch's copies stand in one block. Where kernels run in the host's
//! address space the block is session memory: no allocation, no copy beyond the
//! one that makes the value private.

use super::attach::pointer_image;
use super::cells::{ALIGNMENT, Cells};
use super::work::{Construct, Work};
use crate::error::Result;
use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_backend::DevicePtr;
use gangway_present::Label;
use gangway_present::Relation;

/// Larger first-private values are copied straight from where they are.
const STAGING_LIMIT: usize = 1024;

/// The block a launch's private copies stand in. Its memory is kept from launch
/// to launch. Copies keep the host's address modulo [`ALIGNMENT`], and with it any
/// alignment up to that.
#[derive(Default)]
pub(crate) struct PrivateCopies {
    memory: Cells,
    device: DevicePtr,
    used: usize,
    on_host: bool,
    apart: bool,
}

impl PrivateCopies {
    /// Makes room for `bytes` of copies, as computed with [`room_for`](super::cells::room_for).
    #[inline]
    pub(crate) fn reserve(&mut self, work: &mut Work, bytes: usize) -> Result<()> {
        self.used = 0;
        self.on_host = work.construct.opened().capabilities.private_in_session;
        // Small ones are in the construct's block, and large ones by themselves.
        self.apart = !self.on_host && work.construct.packs();
        if bytes == 0 || self.apart {
            return Ok(());
        }
        if self.on_host {
            self.memory.make_room(bytes);
            self.device = DevicePtr(self.memory.bytes().as_mut_ptr().addr());
            return Ok(());
        }
        self.device = work.allocate_for_launch(bytes)?;
        Ok(())
    }

    /// Makes the private copy of one argument; returns its device address.
    pub(crate) fn add(&mut self, work: &mut Work, item: &Item) -> Result<DevicePtr> {
        let attach = item.kind.has(MapKind::ATTACH);
        // A pointer to be initialised with the device address of its pointee comes
        // like an attachment: base is the pointer, begin the pointee.
        let host = if attach { item.base } else { item.begin };
        let size = item.size;
        let skew = host % ALIGNMENT;
        if self.apart {
            self.device = match work.operations.pack.room(&work.construct, skew + size)? {
                Some(place) => place,
                None => work.allocate_for_launch(skew + size)?,
            };
            self.used = 0;
        }
        let device = self.device.offset((self.used + skew) as isize);
        self.used = (self.used + skew + size).next_multiple_of(ALIGNMENT);
        if size == 0 {
            return Ok(device);
        }
        if attach {
            self.write(work, device, &corresponding_pointer(&work.construct, item))?;
        } else if item.kind.has(MapKind::TO) {
            // What a queued construct makes private is the caller's again before it is copied.
            if !self.on_host && size > STAGING_LIMIT && !work.construct.is_queued() {
                work.operations.copy_to(&work.construct, host, device, size, item.label)?;
            } else {
                // SAFETY: the compiler says that the variable is there.
                let value = unsafe { std::slice::from_raw_parts(host as *const u8, size) };
                self.write(work, device, value)?;
            }
        }
        Ok(device)
    }

    /// Writes into a private copy.
    #[inline]
    pub(crate) fn write(&self, work: &mut Work, device: DevicePtr, bytes: &[u8]) -> Result<()> {
        if !self.on_host {
            return work.operations.copy_value_to(&work.construct, bytes, device, Label::NONE);
        }
        // SAFETY: `reserve` made room for every copy, and `device` is inside it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), device.0 as *mut u8, bytes.len()) };
        Ok(())
    }
}

impl Work {
    /// Device memory that the construct frees when it is done, aligned for private copies.
    fn allocate_for_launch(&mut self, size: usize) -> Result<DevicePtr> {
        // Back ends align to 16 at least.
        let memory = self.construct.allocate(0, size + ALIGNMENT, false, Label::NONE)?;
        self.in_use.add_memory(memory);
        Ok(DevicePtr(memory.0.next_multiple_of(ALIGNMENT)))
    }

    /// Puts a launch's arguments into device memory, for kernels that take a pointer to
    /// them; answers where they are.
    pub(crate) fn copy_table(&mut self, arguments: &[u64]) -> Result<DevicePtr> {
        if arguments.is_empty() {
            return Ok(DevicePtr::NULL);
        }
        let size = size_of_val(arguments);
        if self.construct.packs()
            && let Some(place) = self.operations.pack.room(&self.construct, size)?
            && self.operations.pack.copy_in(arguments.as_ptr().addr(), place, size)
        {
            return Ok(place);
        }
        let memory = self.allocate_for_launch(size)?;
        let bytes: Vec<u8> = arguments.iter().flat_map(|argument| argument.to_ne_bytes()).collect();
        self.operations.copy_bytes_to(&self.construct, bytes.into(), memory, Label::NONE)?;
        Ok(memory)
    }
}

/// OpenMP 6.0 section 7.9.6, corresponding-pointer initialisation: the private pointer
/// points to the pointee's storage if it has any, else where the host's does.
fn corresponding_pointer(construct: &Construct, item: &Item) -> Box<[u8]> {
    // SAFETY: the compiler says that a pointer or descriptor of this size is there.
    let host = unsafe { std::slice::from_raw_parts(item.base as *const u8, item.size) };
    if item.begin == 0 {
        return host.into();
    }
    match construct.table().lookup(item.begin, 0) {
        Relation::Contained(entry) if entry.wait_allocated() => {
            pointer_image(host, item.begin, entry.translate(item.begin))
        }
        _ => host.into(),
    }
}
