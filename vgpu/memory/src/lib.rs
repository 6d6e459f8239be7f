//! Device memory of the virtual GPU: one reserved range of addresses and what is allocated in it.
//! Also host memory that devices may use, and the checks of accesses.
//!
//! The range is reserved once per process, at [`BASE`], [`SIZE`] bytes; that of AMD's devices is [another one](AMD). Every allocation of every
//! device is in it and has pages of its own, with an inaccessible page after them. Its end is as
//! near to that page as an alignment of 256 bytes allows. What is not allocated cannot be accessed
//! at all. What is freed is given back to the kernel and not used again for a while. Reads and
//! writes by engines go straight to the addresses. This crate is asked where memory comes from, and
//! after a fault what the address is near to.
//!
//! What its users ask for:
//!
//! * the driver API: [`Space::allocate`], [`Space::free`], [`Space::find`], totals per device,
//!   [`Space::register_host`];
//! * the driver's copies and fills: [`Space::hold`], so that what they work on stays until they
//!   are done;
//! * the engine: memory for modules and arenas, [`DeviceHeap`] for the device's `malloc`,
//!   [`Space::describe`] for reports;
//! * the check mode: [`Space::check`] for each access, [`Space::leak_report`] at the end.
//!
//! Everything may be called from any thread. [`Space::find`] and [`Space::is_host_registered`] do
//! not wait for allocations, nor does [`Space::check`] but in a heap. Nothing here panics on an
//! address, whatever it is.
//!
//! Devices with unified memory use all that the process has: [`Space::share_host`].
//!
//! Constants are read-only at their addresses. The same pages are mapped once more behind the
//! range, where the host writes them: [`Space::host_address`].
//!
//! A forked child has private copies of all memory but constants, as of all else. If another thread
//! was allocating at the time of the fork, the child must not allocate any more. CUDA does not work
//! after a fork, either.
//!
//! | Module | What is in it |
//! |---|---|
//! | `range` | which addresses the devices of a library have |
//! | `error` | errors |
//! | `fault` | wrong accesses |
//! | `distance` | how far an address is from memory, in words |
//! | `reserve` | the calls to the operating system |
//! | `filled` | memory that is full of one word |
//! | `poison` | what new memory holds in check mode |
//! | [`shadow`] | which bytes have been written |
//! | `records` | what is known about each allocation |
//! | `classes` | slots of addresses, by their size |
//! | `host` | registered host memory |
//! | `blocks` | the blocks of a heap |
//! | `space` | allocating, freeing, finding, counting |
//! | `describe` | what an address is, in words |
//! | `hold` | memory that stays while an operation works on it |
//! | `access` | checks of accesses, and access by the host |
//! | `heap` | `malloc` and `free` of device code |
//! | `leaks` | what has not been freed |

#![warn(clippy::must_use_candidate, clippy::use_self)]

mod access;
mod blocks;
mod classes;
mod describe;
mod distance;
mod error;
mod fault;
mod filled;
mod heap;
mod hold;
mod host;
mod leaks;
mod poison;
mod range;
mod records;
mod reserve;
pub mod shadow;
mod space;

pub use blocks::Block;
pub use describe::host_mapping;
pub use distance::distance;
pub use error::Error;
pub use fault::{Fault, Violation};
pub use heap::DeviceHeap;
pub use hold::Hold;
pub use range::{AMD, NVIDIA, Range, is_device_address, range};
pub use records::{Allocation, AllocationKind};
pub use space::{MAX_DEVICES, Request, Space};

/// Where the range of NVIDIA's devices begins.
pub const BASE: u64 = 1 << 45;
/// The length of the range in bytes.
pub const SIZE: u64 = 1 << 42;
/// What is reserved begins here: the [`shadow`]s of the range lie below it. Kernels may use them as if they were device
/// memory; they cannot be accessed unless they are there.
pub const FIRST: u64 = BASE - 2 * SIZE;
/// Behind the range and its mirror.
const END: u64 = BASE + 2 * SIZE;
/// The last part of the range holds no memory: addresses there stand for other things.
pub const WINDOWS: u64 = BASE + SIZE - (1 << 36);
/// Generic addresses of local memory, the lane's own: the same in every lane.
pub const LOCAL_WINDOW: u64 = WINDOWS;
/// The length of [`LOCAL_WINDOW`].
pub const LOCAL_SIZE: u64 = 1 << 32;
/// What function addresses count from.
pub const FUNCTIONS: u64 = WINDOWS + (1 << 34);
/// How far the addresses of functions are apart.
pub const FUNCTION_STEP: u64 = 16;

/// The address of a function, which its pointers hold.
#[must_use]
pub const fn function_address(number: u32) -> u64 {
    FUNCTIONS + number as u64 * FUNCTION_STEP
}

/// Generic addresses of shared memory in the interpreter; the engine uses real ones.
pub const SHARED_WINDOW: u64 = WINDOWS + (1 << 35);
/// The length of [`SHARED_WINDOW`].
pub const SHARED_SIZE: u64 = 1 << 32;

/// Addresses below count as offsets from a null pointer.
pub(crate) const NULL_ZONE: u64 = 1 << 16;

const _: () = assert!(SHARED_WINDOW + SHARED_SIZE <= BASE + SIZE && FUNCTIONS + (1 << 32) <= SHARED_WINDOW);
