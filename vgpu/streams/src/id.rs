//! Numbers that no two streams, captures or nodes of the process share.

/// The next one.
pub(crate) fn next_id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A node of a graph. Unique in the process, in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

impl NodeId {
    /// That of a new node.
    pub(crate) fn next() -> Self {
        Self(next_id())
    }
}
