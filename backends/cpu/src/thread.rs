//! What the back end keeps for each host thread that maps or launches.
//!
//! Found through a thread-local pointer on every allocation and launch, so that
//! has to stay a plain load. A thread that ends gives its entry, with the blocks
//! it has cached, to the next one that starts. The signal handler must never use
//! the thread-local pointer (its first use may allocate): it walks [`THREADS`].

use crate::activity::Activity;
use crate::arena::Cache;
use crate::registry::{Node, Registry};
use crate::signal_stack;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// All threads that have mapped or launched and not yet ended.
static THREADS: Registry<Thread> = Registry::new();

/// One host thread.
pub(crate) struct Thread {
    /// The thread pointer of the owner: the value that names it in a signal handler.
    pointer: AtomicUsize,
    /// What it is running, if it is inside a device image.
    activity: AtomicPtr<Activity<'static>>,
    /// Its crashes are reported. Only the owner uses it.
    watched: Cell<bool>,
    /// The signal stack that was made for it, kept for the entry's next owner.
    signal_stack: AtomicPtr<u8>,
    /// Only the owner uses it.
    cache: Cache,
}

// SAFETY: `cache` and `watched` are used by the owning thread only, through `current`; an entry
// passes from one owner to the next with acquire and release ordering.
unsafe impl Sync for Thread {}

impl Default for Thread {
    fn default() -> Self {
        Self {
            pointer: AtomicUsize::new(0),
            activity: AtomicPtr::new(ptr::null_mut()),
            watched: Cell::new(false),
            signal_stack: AtomicPtr::new(ptr::null_mut()),
            cache: Cache::new(),
        }
    }
}

thread_local! {
    static CURRENT: Cell<Option<&'static Thread>> = const { Cell::new(None) };
    static OWNED: Owned = const { Owned(Cell::new(None)) };
}

/// Gives the entry up when the thread ends.
struct Owned(Cell<Option<&'static Node<Thread>>>);

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(node) = self.0.take() {
            CURRENT.set(None);
            signal_stack::disable(&node.value().signal_stack);
            node.value().pointer.store(0, Ordering::Relaxed);
            node.give_up();
        }
    }
}

/// The calling thread's entry. `None` once the thread has begun to end; the
/// callers then do without.
#[inline]
pub(crate) fn current() -> Option<&'static Thread> {
    match CURRENT.get() {
        Some(thread) => Some(thread),
        None => enter(),
    }
}

#[cold]
fn enter() -> Option<&'static Thread> {
    OWNED
        .try_with(|owned| {
            let node = THREADS.take();
            node.value().activity.store(ptr::null_mut(), Ordering::Relaxed);
            node.value().watched.set(false);
            node.value().pointer.store(thread_pointer(), Ordering::Release);
            owned.0.set(Some(node));
            CURRENT.set(Some(node.value()));
            node.value()
        })
        .ok()
}

/// The entry of the thread that a signal handler runs on, without thread-local storage.
pub(crate) fn interrupted() -> Option<&'static Thread> {
    let pointer = thread_pointer();
    THREADS.iter().find(|thread| thread.pointer.load(Ordering::Acquire) == pointer)
}

/// In a forked child: gives up the entries of the threads that are not there, without
/// the blocks in their caches, as they may have been about to hand those on.
pub(crate) fn forget_others() {
    let this = CURRENT.get().map_or(ptr::null(), ptr::from_ref);
    for node in THREADS.taken().filter(|node| !ptr::eq(node.value(), this)) {
        let thread = node.value();
        thread.pointer.store(0, Ordering::Relaxed);
        thread.activity.store(ptr::null_mut(), Ordering::Relaxed);
        thread.cache.clear();
        node.give_up();
    }
}

/// All entries.
pub(crate) fn all() -> impl Iterator<Item = &'static Thread> {
    THREADS.iter()
}

impl Thread {
    #[inline]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// True the first time that the owner asks.
    #[inline]
    pub fn starts_watch(&self) -> bool {
        !self.watched.replace(true)
    }

    /// Makes `activity` the one that this thread is in, and returns the one before.
    ///
    /// The caller restores that one with [`leave`](Self::leave) before `activity` goes.
    #[inline]
    pub fn enter(&self, activity: &Activity<'_>) -> *mut Activity<'static> {
        let prior = self.activity.load(Ordering::Relaxed);
        // Release, with the compiler in mind: the activity is complete before a
        // signal handler on this thread can see it.
        self.activity.store(ptr::from_ref(activity).cast_mut().cast(), Ordering::Release);
        prior
    }

    #[inline]
    pub fn leave(&self, prior: *mut Activity<'static>) {
        self.activity.store(prior, Ordering::Release);
    }

    /// What the thread is running; the owner may be leaving it at this moment,
    /// unless it is the calling thread.
    pub fn activity(&self) -> *const Activity<'static> {
        self.activity.load(Ordering::Acquire)
    }

    pub fn signal_stack(&self) -> &AtomicPtr<u8> {
        &self.signal_stack
    }
}

/// The x86-64 ABI keeps the thread pointer at the address it points to.
fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: reads one word of the thread control block.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_entry_and_finds_it_both_ways() {
        let here = ptr::from_ref(current().unwrap());
        assert_eq!(here, interrupted().map_or(ptr::null(), ptr::from_ref));
        let there = std::thread::spawn(|| {
            let here = ptr::from_ref(current().unwrap());
            assert_eq!(here, interrupted().map_or(ptr::null(), ptr::from_ref));
            here.addr()
        });
        assert_ne!(here.addr(), there.join().unwrap());
    }
}
