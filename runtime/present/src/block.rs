//! Device memory that several entries share: the small ones that one construct makes.

use crate::left::Left;
use gangway_backend::DevicePtr;
use gangway_sync::{AtomicUsize, Ordering};

/// A block of device memory, with those who need it.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) users: AtomicUsize,
    pub(crate) base: AtomicUsize,
    pub(crate) size: AtomicUsize,
    /// What other threads have left to the construct that fills the block.
    pub(crate) left: Left,
}

impl Default for Block {
    fn default() -> Self {
        let [users, base, size] = [0; 3].map(AtomicUsize::new);
        Self { users, base, size, left: Left::none() }
    }
}

impl Block {
    /// Counts one more user; false if there is none, and the object may be recycled.
    pub(crate) fn pin(&self) -> bool {
        let more = |users| if users == 0 { None } else { Some(users + 1) };
        self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }
}

/// A block that its holder uses. Copying it does not count.
#[derive(Debug, Clone, Copy)]
pub struct BlockRef<'t>(&'t Block);

impl PartialEq for BlockRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl<'t> BlockRef<'t> {
    /// The caller has counted a use.
    pub(crate) fn new(block: &'t Block) -> Self {
        Self(block)
    }

    pub(crate) fn of(self) -> &'t Block {
        self.0
    }

    /// Its address and bytes.
    #[must_use]
    pub fn range(self) -> (DevicePtr, usize) {
        (DevicePtr(self.0.base.load(Ordering::Relaxed)), self.0.size.load(Ordering::Relaxed))
    }
}
