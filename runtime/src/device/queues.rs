//! The queues that the program owns, as far as their device has to do with them.

use super::{Device, Marker, Opened};
use crate::error::Result;
use gangway_backend::EventHandle;
use gangway_present::{EntryRef, StreamRef};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

/// A queue, see [`Queue`](crate::queue::Queue).
pub(crate) trait DeviceQueue: Send + Sync {
    /// Whether constructs outside of queues come behind it.
    fn is_blocking(&self) -> bool;

    /// Whether something is under way in its stream, of the program's, too.
    fn is_busy(&self) -> bool;

    /// Waits for all that was issued, and ends it. What fails is kept for whoever asks.
    fn drain(&self);

    /// Ends what is done, for the sake of its memory. False: nothing is.
    fn end_done(&self) -> bool;

    /// Whether constructs use one of the entries until they are ended.
    fn uses_any(&self, entries: &[EntryRef<'static>]) -> bool;

    /// Gives up its constructs' uses of the entries, which another construct frees behind them.
    fn hand_over(&self, entries: &[EntryRef<'static>]);

    /// The end of what has been issued so far.
    ///
    /// # Errors
    /// What the driver says.
    fn mark(&self) -> Result<Marker>;

    /// Has what is issued next to another stream of the device come behind what has been issued
    /// to this queue. The event that this takes is the caller's; `None` if the queue has been
    /// waited for instead, as the device has no events.
    ///
    /// # Errors
    /// What the driver says.
    fn precede(
        &self,
        opened: &Opened,
        stream: StreamRef,
    ) -> std::result::Result<Option<EventHandle>, gangway_backend::Error>;
}

impl Device {
    pub(super) fn queues(&self) -> MutexGuard<'_, Vec<Arc<dyn DeviceQueue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps account of a queue that the program has made.
    pub(crate) fn remember_queue(&self, queue: Arc<dyn DeviceQueue>) {
        let mut queues = self.queues();
        queues.push(queue);
        self.count_queues(&queues);
    }

    /// The program has destroyed a queue.
    pub(crate) fn forget_queue(&self, queue: &impl DeviceQueue) {
        let mut queues = self.queues();
        let position = queues.iter().position(|known| std::ptr::addr_eq(&raw const **known, queue));
        let forgotten = position.map(|position| queues.swap_remove(position));
        self.count_queues(&queues);
        drop(queues);
        // Destroys the stream if nobody else has it: without the lock.
        drop(forgotten);
    }

    fn count_queues(&self, queues: &[Arc<dyn DeviceQueue>]) {
        let blocking = queues.iter().filter(|queue| queue.is_blocking()).count();
        self.queue_count.store(queues.len(), Ordering::Release);
        self.blocking_queues.store(blocking, Ordering::Release);
    }

    /// Whether the program has made queues.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        self.queue_count.load(Ordering::Acquire) != 0
    }

    /// Whether it has queues that constructs outside of queues come behind.
    #[inline]
    pub(crate) fn has_blocking_queues(&self) -> bool {
        self.blocking_queues.load(Ordering::Acquire) != 0
    }

    /// Those of them with something under way.
    #[cold]
    pub(crate) fn busy_blocking_queues(&self) -> Vec<Arc<dyn DeviceQueue>> {
        let mut queues = self.all_queues();
        queues.retain(|queue| queue.is_blocking() && queue.is_busy());
        queues
    }

    /// Waits for all that has been issued to queues of the program's.
    pub(crate) fn drain_queues(&self) {
        self.all_queues().iter().for_each(|queue| queue.drain());
    }

    /// The queues that the program has made, to be used without a lock.
    pub(crate) fn all_queues(&self) -> Vec<Arc<dyn DeviceQueue>> {
        self.queues().clone()
    }
}
