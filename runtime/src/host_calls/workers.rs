//! The threads that serve a device's channel.
//!
//! One of them watches at a time. When it has found a call it lets another one watch, which
//! may be a new one, and serves the call. So a function that never returns blocks its caller
//! alone. There are at most as many threads as calls under way, and one.
//!
//! Whoever watches looks for a while and then sleeps: until the device rings, or where it
//! does not, for a time that grows while nothing arrives.

use super::channel::Channel;
use super::functions;
use crate::sync::spin_hint;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Looks before the first sleep.
const LOOKS: u32 = 100;
/// The first sleep, and the longest, where the device does not ring.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);
/// As long as a device that rings is believed to have nothing: a ring is never lost, so this
/// only bounds what a faulty device costs.
const RUNG: Duration = Duration::from_millis(100);
/// Threads that stay without work.
const KEPT: usize = 4;

pub(super) struct Workers {
    device: i32,
    channel: &'static Channel,
    rings: bool,
    crew: Mutex<Crew>,
    /// A place in the crew has become free, or a call has been found.
    changed: Condvar,
    rung: AtomicBool,
    sleeper: Mutex<()>,
    bell: Condvar,
}

#[derive(Default)]
struct Crew {
    /// There is a thread.
    begun: bool,
    watched: bool,
    idle: usize,
    /// Ports that may have a call, for whoever comes next.
    found: VecDeque<usize>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    pub(super) fn new(device: i32, channel: &'static Channel, rings: bool) -> Self {
        Self {
            device,
            channel,
            rings,
            crew: Mutex::default(),
            changed: Condvar::new(),
            rung: AtomicBool::new(false),
            sleeper: Mutex::default(),
            bell: Condvar::new(),
        }
    }

    /// Sees to it that there is a thread: without any, kernels that call would wait for ever.
    ///
    /// # Errors
    /// The system starts no thread. The next call tries again.
    pub(super) fn ensure(&'static self) -> io::Result<()> {
        let mut crew = lock(&self.crew);
        if !crew.begun {
            self.start()?;
            crew.begun = true;
        }
        Ok(())
    }

    /// Starts a thread. One stays at least: who finds no thread watching watches.
    fn start(&'static self) -> io::Result<()> {
        let builder = std::thread::Builder::new().name("gangway-calls".to_owned());
        let serve = move || {
            while let Some(port) = self.next() {
                self.channel.serve(port, |function, block| functions::run(self.device, function, block));
            }
        };
        builder.spawn(serve).map(drop)
    }

    /// Something may have arrived.
    pub(super) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // With the lock, as the watcher may be between looking and sleeping.
            drop(lock(&self.sleeper));
            self.bell.notify_one();
        }
    }

    /// A port to serve; watches for one if nobody does. `None`: enough others wait.
    fn next(&'static self) -> Option<usize> {
        let mut crew = lock(&self.crew);
        loop {
            if let Some(port) = crew.found.pop_front() {
                let (idle, unwatched) = (crew.idle > 0, !crew.watched);
                drop(crew);
                match (idle, unwatched) {
                    (true, _) => self.changed.notify_one(),
                    // Without another one, calls wait for those that there are.
                    (false, true) => _ = self.start(),
                    (false, false) => {}
                }
                return Some(port);
            }
            if crew.watched {
                if crew.idle >= KEPT {
                    return None;
                }
                crew.idle += 1;
                crew = self.changed.wait(crew).unwrap_or_else(PoisonError::into_inner);
                crew.idle -= 1;
                continue;
            }
            crew.watched = true;
            drop(crew);
            let mut found = VecDeque::new();
            self.watch(&mut found);
            crew = lock(&self.crew);
            crew.watched = false;
            crew.found.append(&mut found);
        }
    }

    /// Looks until there is something.
    fn watch(&self, found: &mut VecDeque<usize>) {
        let mut sleep = SHORTEST;
        for attempt in 0.. {
            // Before looking: what rings from here on is not overlooked, and what has rung
            // has its news seen.
            self.rung.swap(false, Ordering::AcqRel);
            self.channel.take_news(found);
            if !found.is_empty() {
                return;
            }
            if attempt < LOOKS {
                spin_hint();
                continue;
            }
            let most = if self.rings { RUNG } else { sleep };
            let rung = |(): &mut ()| !self.rung.load(Ordering::Acquire);
            drop(self.bell.wait_timeout_while(lock(&self.sleeper), most, rung));
            sleep = (sleep * 2).min(LONGEST);
        }
    }
}
