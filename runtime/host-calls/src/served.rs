//! Who serves a port or a mailbox: one thread at a time, and no request is left behind.

use gangway_sync::{AtomicBool, AtomicUsize, Ordering, fence};

const NOT: usize = 0;
const NOW: usize = 1;
/// And has to look again.
const AGAIN: usize = 2;

/// Whether somebody serves a port.
#[derive(Debug)]
pub(crate) struct Served(AtomicUsize);

impl Default for Served {
    fn default() -> Self {
        Self(AtomicUsize::new(NOT))
    }
}

impl Served {
    /// Begins to serve the port. False: another thread does, and will look again.
    pub(crate) fn begin(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let next = if now == NOT { NOW } else { AGAIN };
            match self.0.compare_exchange(now, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(before) => return before == NOT,
                Err(other) => now = other,
            }
        }
    }

    /// Ends to serve it. False: there may be another request, so that it goes on.
    pub(crate) fn end(&self) -> bool {
        if self.0.compare_exchange(NOW, NOT, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return true;
        }
        // With acquire: what the other thread has seen, this one sees when it looks again.
        self.0.swap(NOW, Ordering::AcqRel);
        false
    }
}

/// Whether a thread has found the call in a mailbox, and serves it.
#[derive(Debug)]
pub(crate) struct Taken(AtomicBool);

impl Default for Taken {
    fn default() -> Self {
        Self(AtomicBool::new(false))
    }
}

impl Taken {
    pub(crate) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// False: another thread has it.
    pub(crate) fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Gives it up. False: there is another call, and this thread has it still.
    pub(crate) fn leave(&self, is_there_news: impl FnOnce() -> bool) -> bool {
        self.0.store(false, Ordering::Release);
        // Either the device's next call is seen here, or who hears of it sees that nobody has it.
        fence(Ordering::SeqCst);
        !(is_there_news() && self.take())
    }
}

/// Who ends the call of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    This,
    /// A thread that runs the function of another lane.
    Another,
}

/// The lanes of a call whose functions run: threads take them one by one, and the one that is done
/// last ends the call.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// One bit for each lane that nobody has taken.
    waiting: AtomicUsize,
    /// Lanes of threads that may still take some.
    unfinished: AtomicUsize,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { waiting: AtomicUsize::new(0), unfinished: AtomicUsize::new(0) }
    }
}

impl Lanes {
    /// These lanes are to be run, of which there is one at least. None runs still.
    pub(crate) fn begin(&self, lanes: u32) {
        self.unfinished.store(lanes.count_ones() as usize, Ordering::Relaxed);
        // Who takes a lane sees what has been done before. A swap, as a thread that looks for lanes of
        // the call before may be about to write here.
        self.waiting.swap(lanes as usize, Ordering::AcqRel);
    }

    /// Runs lanes, as long as there is one that nobody has taken.
    pub(crate) fn run(&self, mut run: impl FnMut(usize)) -> Ends {
        let mut ended = 0;
        loop {
            let waiting = self.waiting.load(Ordering::Relaxed);
            if waiting == 0 {
                // Who took none is none of those that are waited for.
                let last = ended != 0 && self.unfinished.fetch_sub(ended, Ordering::AcqRel) == ended;
                return if last { Ends::This } else { Ends::Another };
            }
            let lane = waiting.trailing_zeros() as usize;
            if self.waiting.fetch_and(!(1 << lane), Ordering::AcqRel) & 1 << lane != 0 {
                run(lane);
                ended += 1;
            }
        }
    }
}
