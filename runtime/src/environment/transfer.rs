//! Copies between a host range and its entry's storage.
//!
//! Attached pointers are not data: a copy to the device must not put host
//! addresses into them, a copy from the device must not put device addresses into
//! the host's (OpenMP 6.0 section 7.9.6). So copies go around them: one large copy
//! and a repair would be fewer operations, but leave wrong addresses for a while
//! where other threads, or kernels in other streams, may look.

use super::work::Work;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{self, Step};
use gangway_backend::{DevicePtr, Stream};
use gangway_present::Label;
use gangway_present::{Attachment, EntryRef, OwedCopy};

impl Work {
    /// Copies `[host, host + size)` to the entry's storage.
    #[inline]
    pub(super) fn copy_in(
        &mut self,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
        label: Label,
    ) -> Result<()> {
        let label = declared(entry, label);
        if size != 0 && !entry.has_attachments() {
            return self.copy_to(host, entry.translate(host), size, label);
        }
        around(host, size, entry.attachments_in(host, host + size), |begin, length| {
            self.copy_to(begin, entry.translate(begin), length, label)
        })
    }

    /// Copies the entry's storage to `[host, host + size)`.
    #[inline]
    pub(super) fn copy_out(
        &mut self,
        entry: EntryRef<'static>,
        host: usize,
        size: usize,
        label: Label,
    ) -> Result<()> {
        let label = declared(entry, label);
        if size != 0 && !entry.has_attachments() {
            return self.copy_from(host, entry.translate(host), size, label);
        }
        around(host, size, entry.attachments_in(host, host + size), |begin, length| {
            self.copy_from(begin, entry.translate(begin), length, label)
        })
    }

    /// Makes the copies that have been left to the last construct that is done with an entry, which
    /// this one is. They are done when this returns.
    #[cold]
    pub(super) fn make_owed_copies(&mut self, entry: EntryRef<'static>) -> Result<()> {
        let mut result = Ok(());
        for OwedCopy { begin, size, label } in entry.take_owed_copies() {
            let label = declared(entry, label);
            let pointers = entry.attachments_in(begin, begin + size);
            let copied = around(begin, size, pointers, |host, size| {
                let (device, number, site) = (entry.translate(host), self.device.number(), self.site);
                let step = || Step::FromDevice { host, device, size, label };
                // SAFETY: as in `send`; the copy is waited for.
                let fetch =
                    |stream: &dyn Stream| unsafe { stream.copy_from_device(host as *mut u8, device, size) };
                let copy = || self.device.at_once(self.opened, fetch);
                events::step(number, &site, step, copy, |_| step())
                    .map_err(|error| self.transfer_error(error))
            });
            result = result.and(copied);
        }
        result
    }

    /// Copies a value as it is now: into the image of the construct's block, or from bytes
    /// of the runtime's own.
    pub(super) fn copy_value_to(&mut self, value: &[u8], device: DevicePtr, label: Label) -> Result<()> {
        if self.packs() && self.is_to_be_sent(device, value.len()) {
            return self.copy_to(value.as_ptr().addr(), device, value.len(), label);
        }
        self.copy_bytes_to(value.into(), device, label)
    }

    /// Copies bytes of the runtime's own, which are kept until the copy is done.
    pub(super) fn copy_bytes_to(&mut self, bytes: Box<[u8]>, device: DevicePtr, label: Label) -> Result<()> {
        let (host, size) = (bytes.as_ptr().addr(), bytes.len());
        self.staging.push(bytes);
        self.copy_to(host, device, size, label)
    }

    #[inline]
    pub(super) fn copy_to(
        &mut self,
        host: usize,
        device: DevicePtr,
        size: usize,
        label: Label,
    ) -> Result<()> {
        let copied = if events::observed() {
            let step = || Step::ToDevice { host, device, size, label };
            self.watched(step, |work| work.send(host, device, size))
        } else {
            self.send(host, device, size)
        };
        copied.map_err(|error| self.transfer_error(error))
    }

    #[inline]
    fn copy_from(&mut self, host: usize, device: DevicePtr, size: usize, label: Label) -> Result<()> {
        let copied = if events::observed() {
            let step = || Step::FromDevice { host, device, size, label };
            self.watched(step, |work| work.fetch(host, device, size))
        } else {
            self.fetch(host, device, size)
        };
        copied.map_err(|error| self.transfer_error(error))
    }

    /// Does something as a step that observers see.
    #[cold]
    fn watched(
        &mut self,
        step: impl Fn() -> Step<'static>,
        work: impl FnOnce(&mut Self) -> gangway_backend::Result<()>,
    ) -> gangway_backend::Result<()> {
        let (number, site, place) = (self.device.number(), self.site, self.place());
        events::operation(number, &site, place, step, || work(self))
    }

    #[inline]
    fn send(&mut self, host: usize, device: DevicePtr, size: usize) -> gangway_backend::Result<()> {
        if self.packs() && self.pack_copy(host, device, size) {
            return Ok(());
        }
        self.come_behind_queues()?;
        // SAFETY: the host range is the program's list item (or staging kept alive by this
        // work), the device range its storage.
        unsafe { self.at_stream().copy_to_device(device, host as *const u8, size) }
    }

    #[inline]
    fn fetch(&mut self, host: usize, device: DevicePtr, size: usize) -> gangway_backend::Result<()> {
        if self.packs() && self.pack_copy_back(host, device, size) {
            return Ok(());
        }
        self.come_behind_queues()?;
        // SAFETY: as in `send`.
        unsafe { self.at_stream().copy_from_device(host as *mut u8, device, size) }
    }

    #[cold]
    fn transfer_error(&self, error: gangway_backend::Error) -> Box<Error> {
        self.device.error(ErrorKind::Transfer(error), self.site.location())
    }
}

/// What is copied is (part of) what the entry was declared as.
fn declared(entry: EntryRef<'static>, label: Label) -> Label {
    if entry.label() == Label::NONE { label } else { entry.label() }
}

/// Calls `copy` for the parts of `[host, host + size)` that are not attached pointers.
#[cold]
fn around(
    host: usize,
    size: usize,
    mut attachments: Vec<Attachment>,
    mut copy: impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    attachments.sort_unstable_by_key(|attachment| attachment.host_pointer);
    let end = host + size;
    let mut begin = host;
    for attachment in attachments {
        if attachment.host_pointer > begin {
            copy(begin, attachment.host_pointer - begin)?;
        }
        begin = begin.max(attachment.host_pointer + attachment.host_content.len());
    }
    if begin < end { copy(begin, end - begin) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_between_pointers() {
        let pointer = |host_pointer, length: usize| Attachment {
            host_pointer,
            device_pointer: DevicePtr(0),
            host_content: vec![0; length].into(),
            device_content: vec![0; length].into(),
            count: 0,
            busy: false,
            pointee: None,
        };
        let parts = |pointers| {
            let mut parts = Vec::new();
            around(100, 40, pointers, |begin, length| {
                parts.push((begin, length));
                Ok(())
            })
            .unwrap();
            parts
        };
        assert_eq!(parts(vec![]), [(100, 40)]);
        assert_eq!(parts(vec![pointer(120, 8), pointer(100, 8)]), [(108, 12), (128, 12)]);
        assert_eq!(parts(vec![pointer(132, 24)]), [(100, 32)]);
        assert_eq!(parts(vec![pointer(96, 8), pointer(104, 36)]), []);
    }
}
