//! Device memory of the virtual GPU: one reserved range of addresses, what is allocated in
//! it, host memory that devices may use, and the checks of accesses.
//!
//! The range is reserved once per process, at [`BASE`], [`SIZE`] bytes. Every allocation of
//! every device is in it and starts at a page of its own, with an inaccessible page after it; its end is
//! as near to that page as an alignment of 256 bytes allows. What is not allocated cannot be
//! accessed at all. Reads and writes by engines go straight to the addresses; this crate
//! is asked where memory comes from, and afterwards what an address that faulted is near to.
//!
//! Everything may be called from any thread, and look-ups do not wait for allocations.

/// Where the range begins; aligned to its size, so that one mask tells what is inside.
pub const BASE: u64 = 1 << 44;
/// The length of the range in bytes.
pub const SIZE: u64 = 1 << 42;
/// The last part of the range holds no memory: addresses there stand for other things.
pub const WINDOWS: u64 = BASE + SIZE - (1 << 36);
/// Generic addresses of local memory, the lane's own: the same in every lane.
pub const LOCAL_WINDOW: u64 = WINDOWS;
/// The length of [`LOCAL_WINDOW`].
pub const LOCAL_SIZE: u64 = 1 << 32;
/// What function addresses count from.
pub const FUNCTIONS: u64 = WINDOWS + (1 << 34);
/// Generic addresses of shared memory in the interpreter; the engine uses real ones.
pub const SHARED_WINDOW: u64 = WINDOWS + (1 << 35);
