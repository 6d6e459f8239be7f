//! A channel of host calls: ports in memory that a device and the host both see.
//!
//! The runtime allocates and serves it (`runtime/host-calls`), and kernels call through it.
//! The device's side is [`call`], which the device runtime compiles for GPUs and the runtime's
//! tests for the processor. Device code of others has to follow the same steps:
//!
//! 1. A warp takes a port: a bit among [`Channel::taken`], which only the device writes.
//! 2. Its lanes write numbers of functions, sizes, and the first [`PIECE`] bytes of their blocks;
//!    the leader writes which lanes call, and what it asks for ([`Request`]).
//! 3. The leader adds one to the port's doorbell (release) and waits until the port's answer has
//!    the same number (acquire).
//! 4. Larger blocks go piece by piece, there and back, with a request for each piece. What
//!    stands in the device's memory the host may fetch by itself ([`Lane::address`]).
//! 5. The bit is cleared (release).
//!
//! Each word is written by one side alone, but for those of blocks, whose owner the doorbell
//! changes. So the channel needs no atomic operations between device and host, which not every
//! bus has. Everything is of the scope of the whole system.
//!
//! What stands in a channel may be anything: the host reads each word once, and checks it.
//!
//! Code of compilers that know no channel calls through a [`mailbox`].

#![no_std]

mod device;
pub mod mailbox;

pub use device::{Warp, call};
pub use mailbox::Mailbox;

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Ports of a channel: warps whose calls are under way at a time.
pub const PORTS: usize = 256;

/// Lanes of a port.
pub const LANES: usize = 32;

/// Words of a block that a port carries at a time, and their bytes.
pub const WORDS: usize = 16;
pub const PIECE: usize = WORDS * 8;

/// Bytes that a block may have.
pub const LARGEST: u64 = 1 << 30;

/// The outcome of a call whose block is null or larger than [`LARGEST`].
pub const MALFORMED: u32 = 2;

/// The outcome of a call that nobody serves: there is no channel.
pub const UNSERVED: u32 = 4;

/// What a warp asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Request {
    /// Keep the first pieces; more follow.
    Begin = 1,
    /// Keep further pieces; more follow.
    More = 2,
    /// These are the last pieces (of blocks that are not whole yet): run the functions.
    Run = 3,
    /// The first pieces are the last ones.
    BeginAndRun = 4,
    /// Give the next pieces of the answers.
    Next = 5,
}

impl Request {
    /// The request of a number.
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Begin,
            2 => Self::More,
            3 => Self::Run,
            4 => Self::BeginAndRun,
            5 => Self::Next,
            _ => return None,
        })
    }
}

/// The ports of a device. All zero is a channel without calls.
#[repr(C, align(128))]
pub struct Channel {
    /// One for each port: how many requests the device has made.
    pub doorbells: [AtomicU32; PORTS],
    /// One bit for each port that a warp has. The device's alone.
    pub taken: [AtomicU32; PORTS / 32],
    pub ports: [Port; PORTS],
}

/// One port.
#[repr(C, align(128))]
pub struct Port {
    /// The number of the last request that the host has answered.
    pub answered: AtomicU32,
    _host: [u32; 31],
    pub request: AtomicU32,
    /// The lanes that call, one bit each.
    pub lanes: AtomicU32,
    _device: [u32; 30],
    pub function: [AtomicU64; LANES],
    /// Bytes of each block.
    pub size: [AtomicU64; LANES],
    /// Where a block stands in the device's memory, if the host can copy it from there; or 0.
    pub address: [AtomicU64; LANES],
    pub outcome: [AtomicU32; LANES],
    /// Pieces of the blocks; side by side, as lanes access them together.
    pub words: [[AtomicU64; LANES]; WORDS],
}

// Device code of others relies on these.
const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(Channel, taken) == 1024 && offset_of!(Channel, ports) == 1152);
    assert!(size_of::<Port>() == 5248 && offset_of!(Port, request) == 128);
    assert!(offset_of!(Port, function) == 256 && offset_of!(Port, words) == 1152);
};
