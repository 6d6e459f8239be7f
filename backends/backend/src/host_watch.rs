//! What the program's own threads do, for a back end whose devices look for races with it.

use crate::accesses::AccessPlace;
use std::sync::atomic::AtomicU64;

/// Finds the place of an instruction of the program.
pub type FindCode = fn(code: usize) -> AccessPlace;

/// Whoever wants to hear of it.
pub trait HostWatcher: Sync {
    /// The program tells its accesses to pages of 4 KiB whose bit is set in a table, by the low bits of their numbers.
    /// Whoever watches sets the bits of pages that devices use. False: nothing is wanted.
    fn hear(&self, pages: &'static [AtomicU64], find: FindCode) -> bool;

    /// The program is about to access memory.
    fn accessed(&self, access: &HostAccess);

    /// Memory of the program is given back.
    fn freed(&self, address: usize, size: usize);

    /// What a task of the program's does, on its thread.
    fn task(&self, event: TaskEvent) -> u64;
}

/// An access of the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAccess {
    /// Of its first byte.
    pub address: usize,
    /// Bytes.
    pub size: usize,
    /// The instruction.
    pub code: usize,
    /// Whether it writes.
    pub write: bool,
}

/// What tasks of the program do, and with which numbers drivers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    /// One is made, which is answered with the moment.
    Made,
    /// The calling thread begins one that runs code of the program.
    Begin {
        /// On others.
        depends: bool,
    },
    /// The calling thread begins one that moves data or launches kernels.
    BeginForDevice {
        /// The moment.
        made: u64,
        /// On others.
        depends: bool,
    },
    /// The calling thread ends the one that it has begun last.
    End,
    /// The program has waited for tasks.
    Met,
    /// What a task does is done by several threads from now on, or no more.
    Spreads(bool),
    /// The calling thread waits on behalf of the task that was made at a moment from now on, or of none, if that is 0; the answer
    /// is on behalf of which it did.
    Waits(u64),
    /// Answers the moment at which the task for a device was made that the calling thread is in, or 0.
    ForDevice,
    /// The task for a device that the calling thread begins next comes after others.
    Follows(Follows),
    /// The program has waited for the task for a device that was made at a moment.
    MetOne(u64),
    /// The calling thread is about to run a function that a kernel has asked for and waits for.
    Serves,
}

/// What a task comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// All tasks.
    All,
    /// One that runs code of the program.
    OfProgram,
    /// The one for a device that was made at a moment.
    ForDevice(u64),
}

/// A copy's part that is memory of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCopy {
    /// Of its first byte.
    pub address: usize,
    /// Bytes.
    pub size: usize,
    /// Whether the copy writes it.
    pub write: bool,
    /// It makes data present or brings it back, and is not what the program asks for.
    pub mapped: bool,
}
