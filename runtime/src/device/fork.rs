//! A device across `fork`: the forking thread takes all locks of it, and the child goes on
//! with what survives.

use super::{Device, DeviceQueue};
use crate::pool::Pool;
use crate::staging::{Staging, StagingLock};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::thread::ThreadId;

/// The locks of a device, in the order in which they are taken.
pub(crate) struct DeviceLocks<'d> {
    opening: MutexGuard<'d, Vec<ThreadId>>,
    loading: MutexGuard<'d, Vec<ThreadId>>,
    idle_streams: super::idle_streams::Held<'d>,
    pool: Option<crate::pool::PoolLock<'d>>,
    staging: Option<StagingLock<'d>>,
    queues: MutexGuard<'d, Vec<Arc<dyn DeviceQueue>>>,
    table: gangway_present::TableLocks<'d>,
}

impl Device {
    /// Takes all locks of the device, for a fork.
    pub(crate) fn lock_all(&self) -> DeviceLocks<'_> {
        DeviceLocks {
            opening: self.opening.lock(),
            loading: self.loading.lock(),
            idle_streams: self.idle_streams.hold(),
            pool: self.opened_if_usable().and_then(|opened| opened.pool.as_ref()).map(Pool::hold),
            staging: self.opened_if_usable().and_then(|opened| opened.staging.as_ref()).map(Staging::hold),
            queues: self.queues(),
            table: self.table.lock_all(),
        }
    }

    /// In a forked child: makes the device usable for the only thread there is. False: it
    /// is open and its back end does not survive a fork, so it cannot be used here. What
    /// it was opened with is left alone, as nothing of it may be called.
    pub(crate) fn after_fork(&self, locks: DeviceLocks<'_>, survives: bool) -> bool {
        let DeviceLocks { mut opening, mut loading, mut idle_streams, pool, staging, mut queues, table } =
            locks;
        drop((pool, staging));
        let this = std::thread::current().id();
        opening.retain(|taker| *taker == this);
        loading.retain(|taker| *taker == this);
        self.table.forget_other_threads(table);
        // The threads that serve a channel are gone.
        let served = self.opened_if_usable().is_some_and(|opened| opened.host_calls.has_workers());
        if survives && !served || !self.is_open() {
            return true;
        }
        idle_streams.clear();
        let queues = std::mem::take(&mut *queues);
        self.blocking_queues.store(0, Ordering::Relaxed);
        self.lost.store(true, Ordering::Relaxed);
        let message = "it was open when the process was forked".to_owned();
        let error = Err(gangway_backend::Error::Device { code: 0, message });
        self.opened.store(Box::into_raw(Box::new(error)), Ordering::Release);
        // Only now, as the device must not be called for them.
        drop(queues);
        false
    }
}
