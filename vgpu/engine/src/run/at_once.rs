//! How many kernels a device runs at once, where that is limited.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a launch waits before it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(5);

/// The kernels of one device that are running.
#[derive(Debug, Default)]
pub struct AtOnce {
    /// 0: as many as there are.
    most: AtomicUsize,
    running: Mutex<usize>,
    ended: Condvar,
}

/// A kernel may run as long as it has this.
#[derive(Debug)]
pub struct Turn<'a>(Option<&'a AtOnce>);

impl AtOnce {
    /// From the next launch on so many run at once; 0 sets no limit.
    pub fn set(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Waits until one more may run, or `stop` becomes true.
    pub fn take(&self, stop: Option<&AtomicBool>) -> Turn<'_> {
        let most = self.most.load(Ordering::Relaxed);
        if most == 0 {
            return Turn(None);
        }
        let mut running = self.running();
        while *running >= most && !stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            let waited = self.ended.wait_timeout(running, LOOK);
            running = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *running += 1;
        Turn(Some(self))
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(of) = self.0 {
            *of.running() -= 1;
            of.ended.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn no_more_run_than_may() {
        let (at_once, now, seen) = (AtOnce::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        at_once.set(2);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _turn = at_once.take(None);
                        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&seen.into_inner()));
        assert_eq!(*at_once.running(), 0);
    }

    #[test]
    fn one_that_is_to_end_does_not_wait() {
        let at_once = AtOnce::default();
        at_once.set(1);
        let _running = at_once.take(None);
        let _ending = at_once.take(Some(&AtomicBool::new(true)));
    }

    #[test]
    fn without_a_limit_nobody_waits() {
        let at_once = AtOnce::default();
        let _turns: Vec<_> = (0..200).map(|_| at_once.take(None)).collect();
    }
}
