//! Pointers that a construct attaches.

use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_present::EntryRef;

/// What the construct's items ask for, until all of them are present, and what it has counted
/// of that, until its end.
#[derive(Default)]
pub(in crate::environment) struct Attachments {
    requests: Vec<AttachRequest>,
    /// Counted attachments that it has made: entry and host pointer.
    counted: Vec<(EntryRef<'static>, usize)>,
}

/// A pointer to be attached when all items are present.
#[derive(Clone, Copy)]
pub(in crate::environment) struct AttachRequest {
    /// Address of the host pointer or descriptor.
    pub(in crate::environment) pointer: usize,
    /// First byte of the pointee's section.
    pub(in crate::environment) pointee: usize,
    /// Size of the pointer or descriptor.
    pub(in crate::environment) size: usize,
    /// Of the item's kind, what is about the attachment.
    pub(in crate::environment) kind: MapKind,
}

impl AttachRequest {
    /// What an item that is an attachment asks for.
    #[inline]
    pub(in crate::environment) fn of(item: &Item) -> Self {
        Self { pointer: item.base, pointee: item.begin, size: item.size, kind: item.kind }
    }
}

impl Attachments {
    /// Another construct begins. What the last one has counted stays so.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.counted.clear();
    }

    /// A pointer is to be attached.
    #[inline(always)]
    pub(in crate::environment) fn request(&mut self, request: AttachRequest) {
        self.requests.push(request);
    }

    /// Whether none is to be attached.
    #[inline]
    pub(in crate::environment) fn has_no_requests(&self) -> bool {
        self.requests.is_empty()
    }

    /// The requests, for the caller to give back.
    pub(in crate::environment) fn take_requests(&mut self) -> Vec<AttachRequest> {
        std::mem::take(&mut self.requests)
    }

    /// The requests are done with. Their memory stays.
    pub(in crate::environment) fn give_back(&mut self, mut requests: Vec<AttachRequest>) {
        debug_assert!(self.requests.is_empty(), "pointers are attached when all have been asked for");
        requests.clear();
        self.requests = requests;
    }

    /// Nothing more is attached.
    pub(in crate::environment) fn forget_requests(&mut self) {
        self.requests.clear();
    }

    /// The construct has counted an attachment.
    pub(in crate::environment) fn add_counted(&mut self, entry: EntryRef<'static>, pointer: usize) {
        self.counted.push((entry, pointer));
    }

    /// A counted attachment that is to be given up.
    #[inline]
    pub(in crate::environment) fn pop_counted(&mut self) -> Option<(EntryRef<'static>, usize)> {
        self.counted.pop()
    }
}
