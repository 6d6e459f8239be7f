//! The device pointers inside an entry that have been attached.

use super::EntryRef;
use super::pointee::Pointee;
use gangway_backend::DevicePtr;
use gangway_sync::{MutexGuard, Ordering, back_off, lock};

/// A device pointer that has been attached: which host pointer it stands for,
/// where it is on the device, and both contents, so that copying a structure
/// does not carry addresses across (OpenMP 6.0 section 7.9.6, pointer attachment).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Address of the host pointer (or Fortran descriptor).
    pub host_pointer: usize,
    /// Address of its corresponding device pointer.
    pub device_pointer: DevicePtr,
    /// What the host pointer (descriptor) held.
    pub host_content: Box<[u8]>,
    /// What the device pointer (descriptor) holds.
    pub device_content: Box<[u8]>,
    /// How often it has been attached, less how often detached (OpenACC 3.3 section 2.6.8), to
    /// whatever: the specification has the count begin anew with another target, libgomp does not,
    /// and programs detach as often as they attach.
    /// 0: by OpenMP's attachments alone, which end with the entry.
    pub count: u32,
    /// A thread is about to change the device pointer. Others wait until it has changed: it
    /// waits for nobody but the device.
    pub busy: bool,
    /// The entry whose storage it points to, once it is remembered; `None` for null.
    pub pointee: Option<Pointee>,
}

impl Attachment {
    /// Whether it is of the same pointer to the same thing.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.host_pointer == other.host_pointer
            && self.device_pointer == other.device_pointer
            && self.host_content == other.host_content
            && self.device_content == other.device_content
    }
}

/// What has become of an attachment of which one has been given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detached {
    /// It was the last, of an entry that stays: the caller gives the device pointer the host's
    /// value and then calls [`PresentTable::detached`](crate::PresentTable::detached).
    Last(Attachment),
    /// Nothing is left to do.
    Counted,
    /// The pointer has no count, but the entry has had attached pointers.
    NotAttached,
    /// The entry has never had any.
    NothingAttached,
}

/// What is left to do about an attachment that has been remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// Nothing, the same pointer was attached to the same thing already.
    Known,
    /// The device pointer is to be written.
    Write,
    /// It is to be written when the entry has been filled, which will be soon: its
    /// filler waits for nobody any more.
    WriteWhenFilled,
    /// The construct that fills the entry writes it, behind its own copies.
    LeftToFiller,
}

impl<'t> EntryRef<'t> {
    /// Whether any pointer in the range is attached. One load.
    #[inline]
    #[must_use]
    pub fn has_attachments(self) -> bool {
        self.entry().has_attachments.load(Ordering::Acquire)
    }

    /// Whether a pointer in the entry is attached to what is not there any more. Waits while a
    /// thread is about to change it.
    #[must_use]
    pub fn is_dangling(self, host_pointer: usize) -> bool {
        if !self.has_attachments() {
            return false;
        }
        let attachments = self.idle_attachments(host_pointer);
        let attachment = attachments.iter().find(|a| a.host_pointer == host_pointer);
        attachment.and_then(|attachment| attachment.pointee).is_some_and(Pointee::is_gone)
    }

    /// Has others write their attachments themselves from now on, in this entry and in all that
    /// are parts of the same block. False: they have left some to the construct which fills the
    /// entries, which [takes](Self::take_left) those of each entry and then seals again.
    #[inline]
    #[must_use]
    pub fn seal(self) -> bool {
        let left = self.block().map_or(&self.entry().left_to_filler.state, |block| &block.left);
        left.seal() || {
            left.look_again();
            false
        }
    }

    /// Whether [sealing](Self::seal) one of the two seals both.
    #[cold]
    #[must_use]
    pub fn seals_with(self, other: Self) -> bool {
        self == other
            || self.block().is_some_and(|block| other.block().is_some_and(|its| std::ptr::eq(block, its)))
    }

    /// Takes the attachments that others have left to the construct which fills the entry.
    #[cold]
    #[must_use]
    pub fn take_left(self) -> Vec<Attachment> {
        let pointers = self.entry().left_to_filler.take();
        let attachments = lock(&self.entry().attachments);
        attachments.iter().filter(|a| pointers.contains(&a.host_pointer)).cloned().collect()
    }

    /// Adds one to the count of a pointer that has been attached. False: it has not.
    #[cold]
    #[must_use]
    pub fn attach_again(self, host_pointer: usize) -> bool {
        if !self.has_attachments() {
            return false;
        }
        let mut attachments = self.idle_attachments(host_pointer);
        let found = attachments.iter_mut().find(|a| a.host_pointer == host_pointer && a.count != 0);
        found.map(|attachment| attachment.count += 1).is_some()
    }

    /// Adds one to the count of a pointer that has been attached, if the host's has that value still
    /// and the device's has this one. False: [`PresentTable::attach`](crate::PresentTable::attach) says what is to be done.
    pub fn attach_same(self, host_pointer: usize, host: usize, device: usize) -> bool {
        self.recount(host_pointer, |attachment| {
            let same = attachment.count != 0
                && *attachment.host_content == host.to_ne_bytes()
                && *attachment.device_content == device.to_ne_bytes()
                && attachment.pointee.is_some_and(|pointee| !pointee.is_gone());
            same.then(|| attachment.count.saturating_add(1))
        })
    }

    /// Takes one from the count of a pointer, if that is not the last. False:
    /// [`detach`](Self::detach) says what is to be done.
    pub fn detach_shared(self, host_pointer: usize) -> bool {
        self.recount(host_pointer, |attachment| (attachment.count > 1).then(|| attachment.count - 1))
    }

    /// Changes the count of an attachment that nobody is about to change the pointer of.
    fn recount(self, host_pointer: usize, count: impl FnOnce(&Attachment) -> Option<u32>) -> bool {
        if !self.has_attachments() {
            return false;
        }
        let mut attachments = lock(&self.entry().attachments);
        // They go with the entry's life, under this lock.
        let found = attachments.iter_mut().find(|a| a.host_pointer == host_pointer && !a.busy);
        let Some(attachment) = found.filter(|_| self.is_live()) else { return false };
        let Some(count) = count(attachment) else { return false };
        attachment.count = count;
        true
    }

    /// Takes one from an attachment's count, or `all`.
    #[must_use]
    pub fn detach(self, host_pointer: usize, all: bool) -> Detached {
        if !self.has_attachments() {
            return Detached::NothingAttached;
        }
        let mut attachments = self.idle_attachments(host_pointer);
        let found = attachments.iter_mut().find(|a| a.host_pointer == host_pointer && a.count != 0);
        let Some(attachment) = found else {
            // None is all there were.
            return if all { Detached::Counted } else { Detached::NotAttached };
        };
        attachment.count = if all { 0 } else { attachment.count - 1 };
        // Whoever takes up an entry that is leaving finds the pointer still attached.
        let leaving = self.snapshot().is_none_or(|counts| counts.total() == 0);
        attachment.busy = attachment.count == 0 && !leaving;
        if attachment.busy { Detached::Last(attachment.clone()) } else { Detached::Counted }
    }

    /// The attachments, none of which anybody is about to change the pointer of.
    pub(crate) fn idle_attachments(self, host_pointer: usize) -> MutexGuard<'t, Vec<Attachment>> {
        for attempt in 0.. {
            let attachments = lock(&self.entry().attachments);
            if !attachments.iter().any(|a| a.busy && a.host_pointer == host_pointer) {
                return attachments;
            }
            drop(attachments);
            back_off(attempt);
        }
        unreachable!("the loop ends by returning")
    }

    /// A pointer that was busy has been written.
    pub fn written(self, host_pointer: usize) {
        let mut attachments = lock(&self.entry().attachments);
        if let Some(attachment) = attachments.iter_mut().find(|a| a.host_pointer == host_pointer) {
            attachment.busy = false;
        }
    }

    /// In a forked child: nobody is about to change any pointer.
    #[cfg(not(loom))]
    pub(crate) fn forget_attaching_threads(self) {
        lock(&self.entry().attachments).iter_mut().for_each(|attachment| attachment.busy = false);
    }

    /// The attachments whose host pointers lie in `[begin, end)`.
    #[inline]
    #[must_use]
    pub fn attachments_in(self, begin: usize, end: usize) -> Vec<Attachment> {
        if self.has_attachments() { self.find_attachments(begin, end) } else { Vec::new() }
    }

    #[cold]
    fn find_attachments(self, begin: usize, end: usize) -> Vec<Attachment> {
        let in_range =
            |a: &&Attachment| a.host_pointer < end && a.host_pointer + a.host_content.len() > begin;
        lock(&self.entry().attachments).iter().filter(in_range).cloned().collect()
    }
}
