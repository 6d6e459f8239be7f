//! The operations that a construct issues to its stream, and its copies above all.
//!
//! Attached pointers are not data: a copy to the device must not put host
//! addresses into them, a copy from the device must not put device addresses into
//! the host's (OpenMP 6.0 section 7.9.6). So copies go around them: one large copy
//! and a repair would be fewer operations, but leave wrong addresses for a while
//! where other threads, or kernels in other streams, may look.

use super::construct::{Construct, Direction};
use super::order::Order;
use super::pack::Pack;
use crate::error::{ErrorKind, Result};
use crate::events::{self, Step};
use gangway_backend::{DevicePtr, Stream};
use gangway_present::Label;
use gangway_present::{EntryRef, OwedCopy};

/// What a construct issues: in which order, what of it goes together, and what it reads.
///
/// Every operation comes behind the queues that stand before it. A copy of what is small goes into
/// the construct's block where it can.
#[derive(Default)]
pub(in crate::environment) struct Operations {
    pub(in crate::environment) order: Order,
    pub(in crate::environment) pack: Pack,
    /// Host buffers that copies in flight read from.
    buffers: Vec<Box<[u8]>>,
}

impl Operations {
    /// Whether nothing has been issued that needs an end of its own.
    #[inline]
    pub(super) fn leave_nothing(&self) -> bool {
        self.buffers.is_empty() && !self.pack.has_block()
    }

    /// All copies are done: their buffers are not needed any more.
    pub(super) fn free_buffers(&mut self) {
        self.buffers.clear();
    }

    /// Copies `[host, host + size)` to the entry's storage.
    #[inline]
    pub(in crate::environment) fn copy_in(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
        label: Label,
    ) -> Result<()> {
        self.copy(construct, entry, (host, size), label, &[], Direction::In)
    }

    /// Makes the storage of `[host, host + size)` zero, in an entry that has no attached pointers yet.
    #[cold]
    pub(in crate::environment) fn zero(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
        label: Label,
    ) -> Result<()> {
        if size == 0 {
            return Ok(());
        }
        let device = entry.translate(host);
        let in_block = construct.packs() && self.pack.is_to_be_sent(device, size);
        let mut by_copy = in_block;
        if !in_block {
            let step = || Step::Fill { device, byte: &0, size };
            transferred(construct, step, || {
                self.order.come_behind_queues(construct)?;
                // SAFETY: the range is storage of the entry, which this construct has just made.
                match unsafe { construct.at_stream().fill(device, 0, size) } {
                    Err(gangway_backend::Error::Unsupported { .. }) => {
                        by_copy = true;
                        Ok(())
                    }
                    done => done,
                }
            })?;
        }
        if by_copy {
            self.copy_bytes_to(construct, vec![0; size].into(), device, declared(entry, label))?;
        }
        Ok(())
    }

    /// Copies the entry's storage to `[host, host + size)`, but what attached pointers have there, and what
    /// is `detached`: pointers, with their sizes.
    #[inline]
    pub(in crate::environment) fn copy_out(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
        label: Label,
        detached: &[(usize, usize)],
    ) -> Result<()> {
        self.copy(construct, entry, (host, size), label, detached, Direction::Out)
    }

    /// `direction` is known where it is called.
    #[inline(always)]
    fn copy(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        (host, size): (usize, usize),
        label: Label,
        detached: &[(usize, usize)],
        direction: Direction,
    ) -> Result<()> {
        let label = declared(entry, label);
        if size != 0 && !entry.has_attachments() {
            return self.copy_part(construct, entry, (host, size), label, direction);
        }
        self.copy_between(construct, entry, (host, size), label, detached, direction)
    }

    /// The same for what lies between pointers, attached or `detached`.
    #[cold]
    fn copy_between(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        (host, size): (usize, usize),
        label: Label,
        detached: &[(usize, usize)],
        direction: Direction,
    ) -> Result<()> {
        let pointers = attached_in(entry, host, size).chain(detached.iter().copied());
        let mut parts = around(host, size, pointers).into_iter();
        parts.try_for_each(|part| self.copy_part(construct, entry, part, label, direction))
    }

    #[inline(always)]
    fn copy_part(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        (host, size): (usize, usize),
        label: Label,
        direction: Direction,
    ) -> Result<()> {
        let device = entry.translate(host);
        match direction {
            Direction::In => self.copy_to(construct, host, device, size, label),
            Direction::Out => self.copy_from(construct, host, device, size, label),
        }?;
        construct.tell_host_copy(construct.at_stream(), (host, size), direction);
        Ok(())
    }

    /// Copies a value as it is now: into the image of the construct's block, or from bytes
    /// of the runtime's own.
    pub(in crate::environment) fn copy_value_to(
        &mut self,
        construct: &Construct,
        value: &[u8],
        device: DevicePtr,
        label: Label,
    ) -> Result<()> {
        if construct.packs() && self.pack.is_to_be_sent(device, value.len()) {
            return self.copy_to(construct, value.as_ptr().addr(), device, value.len(), label);
        }
        self.copy_bytes_to(construct, value.into(), device, label)
    }

    /// Copies bytes of the runtime's own, which are kept until the copy is done.
    pub(in crate::environment) fn copy_bytes_to(
        &mut self,
        construct: &Construct,
        bytes: Box<[u8]>,
        device: DevicePtr,
        label: Label,
    ) -> Result<()> {
        let (host, size) = (bytes.as_ptr().addr(), bytes.len());
        self.buffers.push(bytes);
        self.copy_to(construct, host, device, size, label)
    }

    /// Writes a pointer of an entry that others may use, and waits until it has been written.
    #[cold]
    pub(in crate::environment) fn write_at_once(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        content: Box<[u8]>,
        device: DevicePtr,
    ) -> Result<()> {
        self.order.wait_until_ready(construct, entry)?;
        self.copy_bytes_to(construct, content, device, entry.label())?;
        construct.settle()
    }

    #[inline]
    pub(in crate::environment) fn copy_to(
        &mut self,
        construct: &Construct,
        host: usize,
        device: DevicePtr,
        size: usize,
        label: Label,
    ) -> Result<()> {
        let step = || Step::ToDevice { host, device, size, label };
        transferred(construct, step, || self.send(construct, host, device, size))
    }

    #[inline]
    fn copy_from(
        &mut self,
        construct: &Construct,
        host: usize,
        device: DevicePtr,
        size: usize,
        label: Label,
    ) -> Result<()> {
        let step = || Step::FromDevice { host, device, size, label };
        transferred(construct, step, || self.fetch(construct, host, device, size))
    }

    #[inline]
    fn send(
        &mut self,
        construct: &Construct,
        host: usize,
        device: DevicePtr,
        size: usize,
    ) -> gangway_backend::Result<()> {
        if construct.packs() && self.pack.copy_in(host, device, size) {
            return Ok(());
        }
        self.order.come_behind_queues(construct)?;
        // SAFETY: the host range is the program's list item (or a buffer that is kept until the
        // operations are done), the device range its storage.
        unsafe { construct.at_stream().copy_to_device(device, host as *const u8, size) }
    }

    #[inline]
    fn fetch(
        &mut self,
        construct: &Construct,
        host: usize,
        device: DevicePtr,
        size: usize,
    ) -> gangway_backend::Result<()> {
        if construct.packs() && self.pack.copy_out(host, device, size) {
            return Ok(());
        }
        self.order.come_behind_queues(construct)?;
        // SAFETY: as in `send`.
        unsafe { construct.at_stream().copy_from_device(host as *mut u8, device, size) }
    }

    /// Sends what has been put into the block.
    #[inline]
    pub(in crate::environment) fn send_pack(&mut self, construct: &Construct) -> Result<()> {
        if self.pack.has_block() { self.send_image(construct) } else { Ok(()) }
    }

    #[cold]
    fn send_image(&mut self, construct: &Construct) -> Result<()> {
        let Self { order, pack, .. } = self;
        let Some((image, to)) = pack.take_unsent() else { return Ok(()) };
        order
            .come_behind_queues(construct)
            // SAFETY: the image is not touched, and the block kept, until the work is complete.
            .and_then(|()| unsafe { construct.at_stream().copy_to_device(to, image.as_ptr(), image.len()) })
            .map_err(|error| construct.fail(ErrorKind::Transfer(error)))
    }

    /// Fetches what is to be copied back with the block.
    #[inline]
    pub(in crate::environment) fn fetch_pack(&mut self, construct: &Construct) -> Result<()> {
        if self.pack.has_parts_out() { self.fetch_block(construct) } else { Ok(()) }
    }

    #[cold]
    fn fetch_block(&mut self, construct: &Construct) -> Result<()> {
        let (to, from, size) = self.pack.begin_fetch(construct);
        let issued = self.order.come_behind_queues(construct).and_then(|()| {
            // SAFETY: the landing place is not touched, and the block kept, until the work is
            // complete.
            unsafe { construct.at_stream().copy_from_device(to, from, size) }
        });
        issued.map_err(|error| {
            self.pack.forget_fetched();
            construct.fail(ErrorKind::Transfer(error))
        })
    }
}

/// Does a copy, which observers see if there are any.
#[inline(always)]
fn transferred(
    construct: &Construct,
    step: impl Fn() -> Step<'static>,
    operation: impl FnOnce() -> gangway_backend::Result<()>,
) -> Result<()> {
    let done = if events::observed() { watched(construct, step, operation) } else { operation() };
    done.map_err(|error| construct.fail(ErrorKind::Transfer(error)))
}

/// Does something as a step that observers see.
#[cold]
fn watched(
    construct: &Construct,
    step: impl Fn() -> Step<'static>,
    operation: impl FnOnce() -> gangway_backend::Result<()>,
) -> gangway_backend::Result<()> {
    let (number, site) = (construct.device().number(), construct.site());
    events::operation(number, &site, construct.place(), step, operation)
}

/// Makes the copies that have been left to the last construct that is done with an entry, which
/// this one is. They are done when this returns.
#[cold]
pub(super) fn make_owed_copies(construct: &Construct, entry: EntryRef<'static>) -> Result<()> {
    let mut result = Ok(());
    for OwedCopy { begin, size, label } in entry.take_owed_copies() {
        let label = declared(entry, label);
        let parts = around(begin, size, attached_in(entry, begin, size));
        let copied = parts.into_iter().try_for_each(|(host, size)| {
            let (number, site) = (construct.device().number(), construct.site());
            let device = entry.translate(host);
            let step = || Step::FromDevice { host, device, size, label };
            let fetch = |stream: &dyn Stream| {
                // SAFETY: as in `send`; the copy is waited for.
                unsafe { stream.copy_from_device(host as *mut u8, device, size) }?;
                construct.tell_host_copy(stream, (host, size), Direction::Out);
                Ok(())
            };
            let copy = || construct.device().at_once(construct.opened(), fetch);
            events::step(number, &site, step, copy, |_| step())
                .map_err(|error| construct.fail(ErrorKind::Transfer(error)))
        });
        result = result.and(copied);
    }
    result
}

/// What is copied is (part of) what the entry was declared as.
fn declared(entry: EntryRef<'static>, label: Label) -> Label {
    if entry.label() == Label::NONE { label } else { entry.label() }
}

/// The attached pointers in a part of an entry, with their sizes.
fn attached_in(entry: EntryRef<'_>, host: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let attachments = entry.attachments_in(host, host + size);
    attachments.into_iter().map(|attachment| (attachment.host_pointer, attachment.host_content.len()))
}

/// The parts of `[host, host + size)` that are not in pointers, which have sizes: first byte and size.
#[cold]
pub(in crate::environment) fn around(
    host: usize,
    size: usize,
    pointers: impl Iterator<Item = (usize, usize)>,
) -> Vec<(usize, usize)> {
    let end = host + size;
    let mut pointers: Vec<_> =
        pointers.filter(|&(pointer, size)| pointer < end && pointer + size > host).collect();
    pointers.sort_unstable();
    let mut parts = Vec::with_capacity(pointers.len() + 1);
    let mut begin = host;
    for (pointer, size) in pointers {
        if pointer > begin {
            parts.push((begin, pointer - begin));
        }
        begin = begin.max(pointer + size);
    }
    if begin < end {
        parts.push((begin, end - begin));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_between_pointers() {
        let parts = |pointers: Vec<(usize, usize)>| around(100, 40, pointers.into_iter());
        assert_eq!(parts(vec![]), [(100, 40)]);
        assert_eq!(parts(vec![(120, 8), (100, 8), (120, 8)]), [(108, 12), (128, 12)]);
        assert_eq!(parts(vec![(132, 24)]), [(100, 32)]);
        assert_eq!(parts(vec![(96, 8), (104, 36)]), []);
        assert_eq!(parts(vec![(92, 8), (140, 8)]), [(100, 40)]);
    }
}
