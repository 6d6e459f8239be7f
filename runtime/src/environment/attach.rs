//! Attaching device pointers to their pointees.
//!
//! OpenMP 6.0 section 7.9.6: when a pointer or what it points to becomes present and
//! both are, the device pointer is made to point to the device pointee. With
//! `attach(always)` it happens even if nothing is new.

use super::tell;
use super::wanted::mapped_by;
use super::work::{AttachRequest, Construct, Work};
use crate::error::{ErrorKind, HostRange, Result};
use crate::events;
use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_backend::DevicePtr;
use gangway_present::Label;
use gangway_present::{Attached, Attachment, Detached, EntryRef, Phase, Relation};
use std::sync::atomic::{AtomicBool, Ordering};

static AUTO_AS_ALWAYS: AtomicBool = AtomicBool::new(false);

/// For the rest of the process pointers are attached whenever they and their pointees are
/// present, new or not (`LIBOMPTARGET_TREAT_ATTACH_AUTO_AS_ALWAYS`).
pub fn treat_attach_auto_as_always() {
    AUTO_AS_ALWAYS.store(true, Ordering::Relaxed);
}

/// Whether pointers of this kind are attached only if they, or what they point to, are new.
pub(super) fn is_for_new_items(kind: MapKind) -> bool {
    !kind.has(MapKind::ALWAYS | MapKind::COUNTED) && !AUTO_AS_ALWAYS.load(Ordering::Relaxed)
}

impl Work {
    /// Attaches what the construct's items asked for.
    #[inline]
    pub(super) fn attach_all(&mut self) -> Result<()> {
        if self.attachments.has_no_requests() { Ok(()) } else { self.attach_requested() }
    }

    #[inline(never)]
    fn attach_requested(&mut self) -> Result<()> {
        // If others have changed the table, too, or pointers dangle, all requests are looked at.
        let disturbed = self.lookups.are_disturbed(self.construct.table());
        let requests = self.attachments.take_requests();
        let mut result = Ok(());
        for request in &requests {
            let always = !is_for_new_items(request.kind);
            if !always && !disturbed && !self.unpublished.has_own() && !self.batch.is_deferred() {
                continue;
            }
            // Of a pointer that is not there nothing is to be done, unless the item says so. Most
            // are variables of the host's functions.
            let told = MapKind::PRESENT | MapKind::COUNTED | MapKind::NULL_IF_ABSENT;
            let (pointer, size) = (request.pointer, request.size);
            if !request.kind.has(told)
                && self.lookups.remember_gaps()
                && !events::observed()
                && self.lookups.absent(self.construct.table(), pointer, size).is_some()
            {
                continue;
            }
            // It may be about what has been deferred.
            self.make_deferred();
            let new = |host| self.unpublished.has(host);
            let wanted = always || new(request.pointee) || new(request.pointer);
            if !wanted && !disturbed {
                continue;
            }
            result = if wanted { self.attach(request) } else { self.attach_anew(request) };
            if result.is_err() {
                break;
            }
        }
        self.attachments.give_back(requests);
        result
    }

    fn attach(&mut self, request: &AttachRequest) -> Result<()> {
        let (Some(pointee), Some(pointer)) = (
            present(&self.construct, request.pointee, 0),
            present(&self.construct, request.pointer, request.size),
        ) else {
            return self.nothing_to_attach(request);
        };
        self.attach_to(pointer, request, pointee)
    }

    /// Attaches a pointer if it, or what it points to, has been made since this construct
    /// began, or if what it pointed to has gone. The construct found one of them before
    /// others changed the other.
    #[cold]
    fn attach_anew(&mut self, request: &AttachRequest) -> Result<()> {
        let AttachRequest { pointer, pointee, size, .. } = *request;
        let find = |host, size| match self.construct.table().lookup(host, size) {
            Relation::Contained(entry) if entry.wait_allocated() => Some(entry),
            _ => None,
        };
        let (Some(holder), Some(target)) = (find(pointer, size), find(pointee, 0)) else { return Ok(()) };
        let newer = |entry: EntryRef<'_>, host| self.lookups.precede(entry) && entry.has(host);
        if !(newer(holder, pointer) || newer(target, pointee) || holder.is_dangling(pointer)) {
            return Ok(());
        }
        // Nobody else waits for what this construct copies: they wait for the pointer.
        let _mending = self.construct.table().begin_mending();
        self.attach_with(holder, request, Some(target), true)
    }

    /// OpenMP 6.0 section 7.9.6 and OpenACC 3.3 section 2.7.2: no action, unless the item
    /// says that it is an error.
    #[cold]
    fn nothing_to_attach(&mut self, request: &AttachRequest) -> Result<()> {
        let AttachRequest { pointer, pointee, size, kind } = *request;
        if kind.has(MapKind::NULL_IF_ABSENT)
            && let Some(holder) = present(&self.construct, pointer, size)
        {
            return self.attach_with(holder, request, None, kind.has(MapKind::COUNTED));
        }
        // What is attached is so once more, wherever the host's pointer points.
        if kind.has(MapKind::COUNTED)
            && let Some(holder) = present(&self.construct, pointer, size)
            && holder.attach_again(pointer)
        {
            self.attachments.add_counted(holder, pointer);
            return Ok(());
        }
        if !kind.has(MapKind::PRESENT) || self.construct.has_unified_shared_memory() {
            return Ok(());
        }
        let pointer_is_present = present(&self.construct, pointer, size).is_some();
        let (begin, size) = if pointer_is_present { (pointee, 0) } else { (pointer, size) };
        let wanted = HostRange { begin, size, label: Label::NONE };
        Err(self.construct.fail(ErrorKind::NotPresent { wanted, near: self.construct.device().near(begin) }))
    }

    /// Makes the device pointer inside `pointer`'s storage point to the section in `pointee`'s.
    pub(super) fn attach_to(
        &mut self,
        pointer: EntryRef<'static>,
        request: &AttachRequest,
        pointee: EntryRef<'static>,
    ) -> Result<()> {
        // Others count on what has been counted.
        self.attach_with(pointer, request, Some(pointee), request.kind.has(MapKind::COUNTED))
    }

    /// `at_once`: other constructs rely on the pointer without waiting for this one's copies.
    /// Without a pointee the device pointer becomes null, or what the host's is.
    fn attach_with(
        &mut self,
        pointer: EntryRef<'static>,
        request: &AttachRequest,
        pointee: Option<EntryRef<'static>>,
        at_once: bool,
    ) -> Result<()> {
        let size = request.size.max(size_of::<usize>());
        // SAFETY: the compiler says that a pointer (or descriptor) of this size is there.
        let host_content: Box<[u8]> =
            unsafe { std::slice::from_raw_parts(request.pointer as *const u8, size) }.into();
        let device_content = match pointee {
            Some(pointee) => {
                pointer_image(&host_content, request.pointee, pointee.translate(request.pointee))
            }
            None if request.kind.has(MapKind::KEEP_IF_ABSENT) => host_content.clone(),
            None => null_image(&host_content),
        };
        let device_pointer = pointer.translate(request.pointer);
        let own = self.unpublished.contains(pointer);
        let counted = request.kind.has(MapKind::COUNTED);
        let attachment = Attachment {
            host_pointer: request.pointer,
            device_pointer,
            host_content,
            device_content: device_content.clone(),
            count: u32::from(counted),
            busy: at_once && !own,
            pointee: None,
        };
        let live = pointer.snapshot().is_some_and(|counts| counts.phase == Phase::Live);
        let attached = self.construct.table().attach(pointer, pointee, attachment, own);
        if !own && !live {
            // Another thread is still filling it: the pointer is not there before.
            self.unpublished.await_once(pointer);
        }
        if counted {
            self.attachments.add_counted(pointer, request.pointer);
        }
        match attached {
            Attached::Known if request.kind.has(MapKind::REWRITE) => {}
            Attached::Known | Attached::LeftToFiller => return Ok(()),
            Attached::WriteWhenFilled => _ = pointer.wait_filled(),
            Attached::Write => {}
        }
        if !at_once || own {
            if !own && !live {
                self.operations.order.wait_until_ready(&self.construct, pointer)?;
            }
            return self.operations.copy_value_to(
                &self.construct,
                &device_content,
                device_pointer,
                pointer.label(),
            );
        }
        let written = self.operations.write_at_once(&self.construct, pointer, device_content, device_pointer);
        pointer.written(request.pointer);
        written
    }

    /// Gives up an attachment, OpenACC 3.3 section 2.7.2 (detach action): no action if the pointer is
    /// not attached, unless the item says that it is an error.
    #[cold]
    pub(super) fn detach(&mut self, item: &Item) -> Result<()> {
        let (pointer, size, kind) = (item.base, size_of::<usize>(), item.kind);
        match self.construct.table().lookup(pointer, size) {
            Relation::Contained(entry) if entry.wait_filled() => {
                for attachment in entry.attachments_in(pointer, pointer + size) {
                    self.given_up.detach(attachment.host_pointer, attachment.host_content.len());
                }
                self.detach_from(entry, pointer, kind.only(MapKind::DELETE | MapKind::COUNTED))
            }
            _ if kind.has(MapKind::PRESENT) && !self.construct.has_unified_shared_memory() => {
                let wanted = HostRange { begin: pointer, size, label: Label::NONE };
                Err(self
                    .construct
                    .fail(ErrorKind::NotPresent { wanted, near: self.construct.device().near(pointer) }))
            }
            _ => Ok(()),
        }
    }

    /// Gives up the counted attachments that the construct has made.
    #[inline]
    pub(super) fn detach_attached(&mut self) -> Result<()> {
        let mut result = Ok(());
        while let Some((entry, pointer)) = self.attachments.pop_counted() {
            result = result.and(self.detach_from(entry, pointer, MapKind::ALLOC));
        }
        result
    }

    /// The last one gives the device pointer the host's value.
    fn detach_from(&mut self, entry: EntryRef<'static>, pointer: usize, kind: MapKind) -> Result<()> {
        let not_attached = |within| match kind.has(MapKind::COUNTED) {
            true => Err(self.construct.fail(ErrorKind::NotAttached { pointer, within })),
            false => Ok(()),
        };
        let attachment = match entry.detach(pointer, kind.has(MapKind::DELETE)) {
            Detached::Last(attachment) => attachment,
            Detached::Counted => return Ok(()),
            Detached::NotAttached => return not_attached(None),
            Detached::NothingAttached => return not_attached(Some(mapped_by(entry))),
        };
        let Attachment { device_pointer, host_content, .. } = attachment;
        // SAFETY: the compiler says that a pointer (or descriptor) of this size is there.
        let host = unsafe { std::slice::from_raw_parts(pointer as *const u8, host_content.len()) };
        let written = self.operations.write_at_once(&self.construct, entry, host.into(), device_pointer);
        self.construct.table().detached(entry, pointer);
        written
    }
}

/// The entry that contains a range, with its storage known.
fn present(construct: &Construct, host: usize, size: usize) -> Option<EntryRef<'static>> {
    match construct.table().lookup(host, size) {
        Relation::Contained(entry) if entry.wait_allocated() => {
            if events::observed() {
                tell::found(construct, entry, host, size);
            }
            Some(entry)
        }
        _ => None,
    }
}

/// What the device's pointer holds when the host's holds `host`: the base of the
/// device pointee, as far before the section as on the host. A Fortran descriptor
/// keeps its bounds.
pub(super) fn pointer_image(host: &[u8], host_section: usize, device_section: DevicePtr) -> Box<[u8]> {
    let mut image: Box<[u8]> = host.into();
    let mut base = [0; size_of::<usize>()];
    base.copy_from_slice(&host[..size_of::<usize>()]);
    let base = usize::from_ne_bytes(base);
    let device_base = device_section.0.wrapping_sub(host_section.wrapping_sub(base));
    image[..size_of::<usize>()].copy_from_slice(&device_base.to_ne_bytes());
    image
}

/// What the device's pointer holds when there is nothing for it to point to.
fn null_image(host: &[u8]) -> Box<[u8]> {
    let mut image: Box<[u8]> = host.into();
    image[..size_of::<usize>()].fill(0);
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_keep_their_distance_to_the_section() {
        let host = 0x1000usize.to_ne_bytes();
        let image = pointer_image(&host, 0x1040, DevicePtr(0x9040));
        assert_eq!(*image, 0x9000usize.to_ne_bytes());
    }

    #[test]
    fn descriptors_keep_their_bounds() {
        let mut host = [7u8; 24];
        host[..8].copy_from_slice(&0x1000usize.to_ne_bytes());
        let image = pointer_image(&host, 0x1000, DevicePtr(0x9000));
        assert_eq!(image[..8], 0x9000usize.to_ne_bytes());
        assert_eq!(image[8..], [7; 16]);
    }
}
