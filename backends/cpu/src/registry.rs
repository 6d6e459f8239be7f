//! Lists that a signal handler can walk.
//!
//! Threads and loaded images are kept in these. A node is never freed, only given
//! up and taken again, so a walk needs no lock and cannot meet freed memory; the
//! list grows to the largest number of threads (images) alive at one time.
//! Values must be made of atomics: a walk may meet one that is being changed.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A list that only grows.
pub(crate) struct Registry<T: 'static> {
    head: AtomicPtr<Node<T>>,
}

/// One entry, owned by whoever has taken it.
pub(crate) struct Node<T: 'static> {
    taken: AtomicBool,
    next: AtomicPtr<Node<T>>,
    value: T,
}

impl<T: Default + Sync> Registry<T> {
    pub const fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// An entry that nobody else has; its value is as the last owner left it.
    pub fn take(&self) -> &'static Node<T> {
        if let Some(node) = self.nodes().find(|node| {
            node.taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        }) {
            return node;
        }
        let node: &'static Node<T> = Box::leak(Box::new(Node {
            taken: AtomicBool::new(true),
            next: AtomicPtr::new(self.head.load(Ordering::Relaxed)),
            value: T::default(),
        }));
        let raw = ptr::from_ref(node).cast_mut();
        while let Err(head) = self.head.compare_exchange_weak(
            node.next.load(Ordering::Relaxed),
            raw,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            node.next.store(head, Ordering::Relaxed);
        }
        node
    }

    /// The values of all entries that are taken.
    pub fn iter(&self) -> impl Iterator<Item = &'static T> {
        self.nodes().filter(|node| node.taken.load(Ordering::Acquire)).map(|node| &node.value)
    }

    /// The entries that are taken.
    pub fn taken(&self) -> impl Iterator<Item = &'static Node<T>> {
        self.nodes().filter(|node| node.taken.load(Ordering::Acquire))
    }

    fn nodes(&self) -> impl Iterator<Item = &'static Node<T>> {
        let mut at = self.head.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: nodes are leaked, and published with release ordering.
            let node = unsafe { at.as_ref() }?;
            at = node.next.load(Ordering::Acquire);
            Some(node)
        })
    }
}

impl<T> Node<T> {
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Lets somebody else take the entry.
    pub fn give_up(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn entries_are_reused() {
        static LIST: Registry<AtomicUsize> = Registry::new();
        let (first, second) = (LIST.take(), LIST.take());
        first.value().store(1, Ordering::Relaxed);
        second.value().store(2, Ordering::Relaxed);
        assert_eq!(LIST.iter().map(|v| v.load(Ordering::Relaxed)).sum::<usize>(), 3);
        first.give_up();
        assert_eq!(LIST.iter().count(), 1);
        assert_eq!(LIST.take().value().load(Ordering::Relaxed), 1);
    }

    #[test]
    fn threads_never_share_an_entry() {
        static LIST: Registry<AtomicUsize> = Registry::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let node = LIST.take();
                        assert_eq!(node.value().fetch_add(1, Ordering::Relaxed), 0);
                        node.value().store(0, Ordering::Relaxed);
                        node.give_up();
                    }
                });
            }
        });
        assert!(LIST.nodes().count() <= 4);
    }
}
