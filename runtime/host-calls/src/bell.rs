//! What the watcher sleeps by, and what the device rings.

use gangway_sync::{AtomicBool, Mutex, Ordering, fence, lock};
use std::time::Duration;

#[cfg(loom)]
use loom::sync::Condvar;
#[cfg(not(loom))]
use std::sync::Condvar;

/// A bell that wakes one thread. A ring is never lost: it is heard before the next sleep, or ends
/// it.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: AtomicBool,
    sleeper: Mutex<()>,
    wake: Condvar,
}

impl Default for Bell {
    fn default() -> Self {
        Self { rung: AtomicBool::new(false), sleeper: Mutex::new(()), wake: Condvar::new() }
    }
}

impl Bell {
    /// What rings from here on is heard. Comes before looking for what has rung.
    pub(crate) fn listen(&self) {
        self.rung.store(false, Ordering::Relaxed);
        // Either the ring comes behind this, or what has rung is seen behind it.
        fence(Ordering::SeqCst);
    }

    /// Wakes the thread that sleeps, if none has since it began to listen. Comes behind that which
    /// it is to see.
    pub(crate) fn ring(&self) {
        fence(Ordering::SeqCst);
        if !self.rung.load(Ordering::Relaxed) && !self.rung.swap(true, Ordering::AcqRel) {
            // With the lock, as the watcher may be between looking and sleeping.
            drop(lock(&self.sleeper));
            self.wake.notify_one();
        }
    }

    /// Sleeps until the bell rings, or has rung since [`listen`](Self::listen); no longer than
    /// `most`.
    pub(crate) fn sleep(&self, most: Duration) {
        let asleep = lock(&self.sleeper);
        #[cfg(not(loom))]
        drop(self.wake.wait_timeout_while(asleep, most, |()| !self.rung.load(Ordering::Acquire)));
        #[cfg(loom)]
        {
            // No time passes there: a ring that is lost is a deadlock.
            let (mut asleep, _) = (asleep, most);
            while !self.rung.load(Ordering::Acquire) {
                asleep = self.wake.wait(asleep).unwrap();
            }
        }
    }
}
