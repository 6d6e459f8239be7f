//! What helpers ask of the engine that runs the warp.
//!
//! [`Warp::host`](crate::abi::Warp::host) points to a `&dyn Host`. The runtime implements
//! it with fibers and blocks; tests implement it with a single warp and no waiting.

use std::ffi::c_void;
use std::ptr::NonNull;

use gangway_interpreter::FaultKind;
use gangway_ptx::Module;
use gangway_races::{Places, Values};

use crate::abi::{Flavour, Warp};

/// How the threads of a completed barrier came to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// How many came.
    pub arrived: u32,
    /// How many came with a true predicate.
    pub holds: u32,
}

/// What lanes wait for at a barrier: its number and how often it had been completed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub barrier: u32,
    pub generation: u32,
}

/// An access that lanes are about to make, of a kernel that is watched.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'a> {
    pub lanes: u32,
    /// Addresses, of shared memory as well.
    pub places: Places<'a>,
    /// Bytes of each lane.
    pub size: u64,
    pub reads: bool,
    pub writes: bool,
    /// Volatile, atomic, or with an order.
    pub strong: bool,
    pub acquire: bool,
    pub release: bool,
    /// Of scope `.cta`: strong towards threads of its block alone.
    pub narrow: bool,
    /// What is written, of what a store writes.
    pub values: Option<Values<'a>>,
}

/// An instruction comes to a line of memory, of whose words it accesses one after the other, all lanes the same.
#[derive(Clone, Copy, Debug)]
pub struct Began {
    pub lanes: u32,
    /// The first place.
    pub place: u64,
    /// Which of the warp's lines it uses.
    pub number: usize,
    pub instruction: u64,
    pub writes: bool,
}

/// What an instruction has accessed in many turns of a loop, all lanes the same. In between the warp has done nothing that
/// orders accesses, and accessed nothing else of it but in the same turn.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    pub lanes: u32,
    /// The first place and how far the next one is.
    pub first: u64,
    pub step: i64,
    pub count: u64,
    /// Bytes of each: whole words.
    pub size: u64,
    /// What has been written, one after the other, if they have been.
    pub values: Option<&'a [u8]>,
    /// The next one that is told of has read mostly the same, in the same turns and later in each of them. Elements of both
    /// follow each other.
    pub more: bool,
}

pub trait Host {
    /// The module that runs.
    fn module(&self) -> &Module;

    /// What a function takes and returns, as a number. None where there is no function that can be
    /// called.
    fn signature(&self, function: usize) -> Option<u64>;

    /// Ends the launch because of what `lanes` did. Never returns to its caller, and
    /// nothing on the stack is dropped.
    fn fault(&self, warp: &mut Warp, lanes: u32, kind: FaultKind) -> !;

    /// Whether loads and stores need not be at a multiple of their size.
    fn is_unaligned(&self) -> bool {
        false
    }

    /// Check mode has let a lane access the host's memory, which other devices may refuse.
    fn note_host_access(&self, _warp: &Warp, _lane: usize, _address: u64, _size: u64, _write: bool) {}

    /// Whether the code that makes an access does an atomic operation for others.
    fn is_of_atomics(&self, _warp: &Warp) -> bool {
        false
    }

    /// Where accesses are watched, lanes are about to make one.
    fn note_access(&self, _warp: &Warp, _noted: Noted<'_>) {}

    /// Whether lanes whose strong accesses have no order of their own hand nothing on by them so far.
    fn is_quiet(&self) -> bool {
        false
    }

    /// Where accesses are watched, whether the words of a line may be told of together, later.
    fn begin_line(&self, _warp: &Warp, _line: Began) -> bool {
        false
    }

    /// Where accesses are watched, lanes have gone through memory.
    fn note_passed(&self, _warp: &Warp, _passed: Passed<'_>) {}

    /// In check mode, a warp has come to a fence, which is `narrow` if it is one for the block alone.
    fn note_fence(&self, _warp: &Warp, _narrow: bool) {}

    /// In check mode, lanes have waited for each other.
    fn note_meeting(&self, _warp: &Warp, _lanes: u32) {}

    /// Lets other warps run, and fills [`Warp::fuel`] again. Called when it is spent.
    fn turn(&self, warp: &mut Warp);

    /// Lanes come to a barrier, `holds` of them with a true predicate. `count` is how many threads
    /// the barrier is for; all of the block without it.
    fn arrive(&self, warp: &mut Warp, barrier: u32, count: Option<u32>, lanes: u32, holds: u32) -> Ticket;

    /// How the barrier ended, when it is complete. Lanes that have exited since may have completed
    /// it.
    fn passed(&self, warp: &mut Warp, ticket: Ticket) -> Option<Arrivals>;

    /// Suspends the warp until a barrier of the block may have been completed. With nothing left
    /// that could ever do so it is a fault of `lanes`, a deadlock.
    fn wait(&self, warp: &mut Warp, lanes: u32);

    /// The compiled code of a function, which is compiled now when it is not yet. For functions
    /// without a body that the engine provides (`vprintf`) it is the engine's own. What cannot be
    /// compiled is a fault of `lanes`.
    fn code(&self, warp: &mut Warp, function: u32, flavour: Flavour, lanes: u32) -> *const c_void;

    /// Whether lanes may wait for others of their warp in a function.
    fn waits(&self, function: u32) -> bool;

    /// Memory for a frame, until it is given back or the warp ends. None when the warp has as much
    /// as it may have.
    fn allocate(&self, size: usize) -> Option<NonNull<u8>>;
    fn release(&self, memory: NonNull<u8>);

    /// The clock of the device in cycles, and that of the system in nanoseconds.
    fn clock(&self, warp: &Warp) -> u64;
    fn nanoseconds(&self, warp: &Warp) -> u64;
}

impl Warp {
    /// # Safety
    ///
    /// The warp is one that the engine has set up and that runs.
    #[must_use]
    pub unsafe fn host<'a>(&self) -> &'a dyn Host {
        // SAFETY: the engine put a pointer to a `&dyn Host` there, which lives as long as the warp.
        unsafe { *self.host.cast::<&dyn Host>() }
    }
}
