//! Signals (HSA runtime 1.2, 2.4): values that the host and kernels change and wait for.
//!
//! A signal's handle is the address of its [`AmdSignal`], as in ROCm, so that kernels can work with
//! it. All of them are in one block of memory that kernels can access ([`arena`]). A handle is
//! one only if it is the address of a place there that is in use.
//!
//! Whoever waits sleeps on one of [`futex`]'s words, which whoever changes a value wakes. Kernels
//! that follow AMD's convention send an interrupt, which does the same. What they store without one
//! is seen by a look at the value now and then.

pub mod arena;
pub mod futex;
pub mod handler;
pub mod wait;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::abi::handle::Kind;
use crate::abi::structure::{AmdSignal, SIGNAL_KIND_INVALID, SIGNAL_KIND_USER, Times};
use crate::abi::{Handle, Result, Status};
use crate::objects::table::Table;
use arena::Arena;
use futex::Word;

/// Signals of a process, at most.
const MOST: u32 = 1 << 20;
/// Words to sleep on; signals share them.
const WORDS: usize = 256;

struct Signals {
    arena: Arena<AmdSignal>,
    /// Where an interrupt's number goes; nobody reads it.
    mailbox: u64,
}

static SIGNALS: OnceLock<Option<Signals>> = OnceLock::new();
/// Waiters for one signal.
static ONE: [Word; WORDS] = [const { Word::new() }; WORDS];
/// Waiters for any of several.
static ANY: Word = Word::new();

/// A signal that is there: its place and its number.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    number: u32,
    memory: &'static AmdSignal,
}

impl PartialEq for Signal {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// Takes the memory for signals; once in a process. Without it no signal can be made.
pub fn start() {
    SIGNALS.get_or_init(|| {
        let arena = Arena::<AmdSignal>::new(MOST)?;
        // The first place is the mailbox, and never a signal.
        let (_, mailbox) = arena.take().ok()?;
        Some(Signals { mailbox: std::ptr::from_ref(mailbox).expose_provenance() as u64, arena })
    });
}

fn signals() -> Result<&'static Signals> {
    let made = SIGNALS.get().ok_or(Status::ERROR_NOT_INITIALIZED)?;
    made.as_ref().ok_or(Status::ERROR_OUT_OF_RESOURCES)
}

impl Signal {
    pub fn create(value: i64) -> Result<Self> {
        let all = signals()?;
        let (number, memory) = all.arena.take()?;
        memory.value.store(value, Ordering::Relaxed);
        memory.event_mailbox.store(all.mailbox, Ordering::Relaxed);
        // Kernels send the lower 8 bits, which say what word the waiters sleep on.
        memory.event_id.store((1 << 8) | (number % WORDS as u32), Ordering::Relaxed);
        memory.start.store(0, Ordering::Relaxed);
        memory.end.store(0, Ordering::Relaxed);
        memory.queue.store(0, Ordering::Relaxed);
        memory.kind.store(SIGNAL_KIND_USER, Ordering::Release);
        Ok(Self { number, memory })
    }

    /// The signal of a handle, if it is one.
    #[inline]
    pub fn get(handle: Handle) -> Result<Self> {
        let (number, memory) = signals()?.arena.find(handle.0).ok_or(Status::ERROR_INVALID_SIGNAL)?;
        if number == 0 { Err(Status::ERROR_INVALID_SIGNAL) } else { Ok(Self { number, memory }) }
    }

    /// The same, where handle 0 is no signal.
    pub fn optional(handle: Handle) -> Result<Option<Self>> {
        if handle == Handle::NULL { Ok(None) } else { Self::get(handle).map(Some) }
    }

    /// Ends it: from here on the handle is invalid. Nobody may wait for it.
    pub fn destroy(self) -> Result {
        let all = signals()?;
        if !all.arena.give(self.number) {
            return Err(Status::ERROR_INVALID_SIGNAL);
        }
        self.memory.kind.store(SIGNAL_KIND_INVALID, Ordering::Relaxed);
        Ok(())
    }

    #[must_use]
    pub fn handle(self) -> Handle {
        Handle(std::ptr::from_ref(self.memory).expose_provenance() as u64)
    }

    /// Where its value is.
    #[must_use]
    pub fn value_address(self) -> u64 {
        std::ptr::from_ref(&self.memory.value).expose_provenance() as u64
    }

    /// Its value, with everything that whoever set it had written before.
    #[inline]
    #[must_use]
    pub fn load(self) -> i64 {
        self.memory.value.load(Ordering::SeqCst)
    }

    /// Changes the value and wakes whoever waits for it.
    #[inline]
    pub fn change<T>(self, change: impl FnOnce(&AtomicI64) -> T) -> T {
        let result = change(&self.memory.value);
        self.wake();
        result
    }

    /// Changes the value without waking anybody (`hsa_signal_silent_store_*`).
    pub fn change_silently(self, change: impl FnOnce(&AtomicI64)) {
        change(&self.memory.value);
    }

    /// The work that it tells of is done: one less.
    pub fn complete(self) {
        self.change(|value| value.fetch_sub(1, Ordering::SeqCst));
    }

    /// Notes when the work began and ended, in ticks of the system's clock.
    pub fn set_times(self, times: Times) {
        self.memory.start.store(times.start, Ordering::Relaxed);
        self.memory.end.store(times.end, Ordering::Relaxed);
    }

    #[must_use]
    pub fn times(self) -> Times {
        Times {
            start: self.memory.start.load(Ordering::Relaxed),
            end: self.memory.end.load(Ordering::Relaxed),
        }
    }

    fn word(self) -> &'static Word {
        &ONE[self.number as usize % WORDS]
    }

    #[inline]
    fn wake(self) {
        self.word().wake();
        if signals().is_ok_and(|all| all.arena.is_marked(self.number)) {
            ANY.wake();
        }
    }

    /// Somebody waits for any of several signals, of which it is one.
    fn watch(self) {
        if let Ok(all) = signals() {
            all.arena.mark(self.number);
        }
    }
}

/// A kernel has sent an interrupt with this number.
pub fn interrupt(event: u32) {
    ONE[event as usize % WORDS].wake();
    ANY.wake();
}

/// Wakes whoever waits for any of several signals, since what they wait for has changed.
pub fn wake_watchers() {
    ANY.wake();
}

/// What is in a group of signals (HSA runtime 1.2, 2.4.1.23).
#[derive(Debug)]
pub struct Group {
    pub signals: Vec<Handle>,
}

/// All that programs have made ends; the last `hsa_shut_down` does this.
pub fn end_all() {
    handler::forget_all();
    if let Ok(all) = signals() {
        all.arena.give_all_but(0);
    }
}

/// Groups by their handles.
pub static GROUPS: Table<Group> = Table::new(Kind::SignalGroup);
