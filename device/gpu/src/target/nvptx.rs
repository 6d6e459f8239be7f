//! NVIDIA's GPUs, through LLVM's intrinsics. sm_70 and newer: threads of a warp wait for each other.

use super::Axis;
use core::ffi::{c_char, c_void};

/// The most threads of a block.
pub const MOST_THREADS: usize = 1024;

/// `acc_device_nvidia`.
pub const ACC_DEVICE: i32 = 5;

/// Whether threads can end while others of their warp go on ([`exit_if`]).
pub const THREADS_END_ALONE: bool = true;

/// Whether a part of a block, whole warps, has a barrier of the hardware ([`barrier_of`]).
pub const PARTS_HAVE_BARRIERS: bool = true;

/// Threads of a warp.
const WARP: u32 = 32;

/// Lanes of a warp, one bit each.
pub type Mask = u32;

mod intrinsic {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
        pub safe fn tid_x() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.tid.y"]
        pub safe fn tid_y() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.tid.z"]
        pub safe fn tid_z() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
        pub safe fn ntid_x() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.y"]
        pub safe fn ntid_y() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.z"]
        pub safe fn ntid_z() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
        pub safe fn ctaid_x() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.y"]
        pub safe fn ctaid_y() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.z"]
        pub safe fn ctaid_z() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
        pub safe fn nctaid_x() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.y"]
        pub safe fn nctaid_y() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.z"]
        pub safe fn nctaid_z() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
        pub safe fn laneid() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.lanemask.lt"]
        pub safe fn lanemask_lt() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
        pub safe fn globaltimer() -> u64;
        #[link_name = "llvm.nvvm.activemask"]
        pub safe fn activemask() -> u32;
        #[link_name = "llvm.nvvm.bar.warp.sync"]
        pub safe fn bar_warp_sync(mask: u32);
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub safe fn ballot(mask: u32, predicate: bool) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub safe fn shuffle_index(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
        pub safe fn shuffle_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
        pub safe fn barrier_aligned_all(barrier: u32);
        #[link_name = "llvm.nvvm.barrier.cta.sync.all"]
        pub safe fn barrier_all(barrier: u32);
        #[link_name = "llvm.nvvm.barrier.cta.sync.count"]
        pub safe fn barrier_count(barrier: u32, threads: u32);
        #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
        pub safe fn barrier_or(barrier: u32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.membar.cta"]
        pub safe fn membar_cta();
        #[link_name = "llvm.nvvm.membar.gl"]
        pub safe fn membar_gl();
        #[link_name = "llvm.nvvm.membar.sys"]
        pub safe fn membar_sys();
        #[link_name = "llvm.nvvm.nanosleep"]
        pub safe fn nanosleep(nanoseconds: u32);
        #[link_name = "llvm.trap"]
        pub safe fn trap() -> !;
    }
}

/// Threads of a warp.
#[must_use]
#[inline(always)]
pub const fn warp_size() -> u32 {
    WARP
}

/// The warp of a thread of the block, and how many whole warps so many threads are.
#[must_use]
#[inline(always)]
pub const fn warp_of(thread: u32) -> u32 {
    thread / WARP
}

/// The thread's number in its block, along x: OpenMP's blocks have one dimension.
#[must_use]
#[inline(always)]
pub fn thread_id() -> u32 {
    intrinsic::tid_x()
}

/// How many threads the block was launched with.
#[must_use]
#[inline(always)]
pub fn threads_in_block() -> u32 {
    intrinsic::ntid_x()
}

#[must_use]
#[inline(always)]
pub fn block_id() -> u32 {
    intrinsic::ctaid_x()
}

#[must_use]
#[inline(always)]
pub fn blocks_in_grid() -> u32 {
    intrinsic::nctaid_x()
}

#[must_use]
#[inline(always)]
pub fn thread_id_along(axis: Axis) -> u32 {
    match axis {
        Axis::X => intrinsic::tid_x(),
        Axis::Y => intrinsic::tid_y(),
        Axis::Z => intrinsic::tid_z(),
    }
}

#[must_use]
#[inline(always)]
pub fn threads_along(axis: Axis) -> u32 {
    match axis {
        Axis::X => intrinsic::ntid_x(),
        Axis::Y => intrinsic::ntid_y(),
        Axis::Z => intrinsic::ntid_z(),
    }
}

#[must_use]
#[inline(always)]
pub fn block_id_along(axis: Axis) -> u32 {
    match axis {
        Axis::X => intrinsic::ctaid_x(),
        Axis::Y => intrinsic::ctaid_y(),
        Axis::Z => intrinsic::ctaid_z(),
    }
}

#[must_use]
#[inline(always)]
pub fn blocks_along(axis: Axis) -> u32 {
    match axis {
        Axis::X => intrinsic::nctaid_x(),
        Axis::Y => intrinsic::nctaid_y(),
        Axis::Z => intrinsic::nctaid_z(),
    }
}

/// The thread's number in its warp.
#[must_use]
#[inline(always)]
pub fn lane() -> u32 {
    intrinsic::laneid()
}

/// The lanes before this one.
#[must_use]
#[inline(always)]
pub fn lanes_below() -> Mask {
    intrinsic::lanemask_lt()
}

/// The lanes that run together with this one now; only a hint, as they may part at any time.
#[must_use]
#[inline(always)]
pub fn active_lanes() -> Mask {
    intrinsic::activemask()
}

/// Waits for the lanes of `mask`, of which this one must be one; orders memory among them.
#[inline(always)]
pub fn sync_warp(mask: Mask) {
    intrinsic::bar_warp_sync(mask);
}

/// The lanes of `mask` whose predicate holds. All of them must call it.
#[must_use]
#[inline(always)]
pub fn ballot(mask: Mask, predicate: bool) -> Mask {
    intrinsic::ballot(mask, predicate)
}

/// The value that `lane` passes, of those of `mask`, all of which must call it.
#[must_use]
#[inline(always)]
pub fn shuffle(mask: Mask, value: u32, lane: u32) -> u32 {
    intrinsic::shuffle_index(mask, value, lane, 31)
}

/// The value of the lane `delta` further on in a segment of `width` lanes, a power of two; beyond
/// its end the own one.
#[must_use]
#[inline(always)]
pub fn shuffle_down(mask: Mask, value: u32, delta: u32, width: u32) -> u32 {
    intrinsic::shuffle_down(mask, value, delta, ((WARP - width) << 8) | 0x1f)
}

/// Lanes wait for each other: none needs a turn.
#[inline(always)]
pub fn in_turn<R>(act: impl FnOnce() -> R) -> R {
    act()
}

/// Whether one lane would wait for another of its warp that holds the lock at that address, for ever.
#[must_use]
#[inline(always)]
pub const fn would_wait_for_ever(_: usize) -> bool {
    false
}

/// Waits for all threads of the block, whose warps call it as a whole.
#[inline(always)]
pub fn barrier_aligned() {
    intrinsic::barrier_aligned_all(0);
}

/// Waits as [`barrier_aligned`] does, and says whether `predicate` holds for any thread.
#[must_use]
#[inline(always)]
pub fn any_in_block(predicate: bool) -> bool {
    intrinsic::barrier_or(0, predicate)
}

/// Waits for all threads of the block that have not ended, wherever each of them calls it.
#[inline(always)]
pub fn barrier() {
    intrinsic::barrier_all(8);
}

/// Waits until `threads` threads, whole warps, have come to the barrier of that number (1 to 15,
/// but not the 8 of [`barrier`]).
#[inline(always)]
pub fn barrier_of(number: u32, threads: u32) {
    intrinsic::barrier_count(number, threads);
}

/// Orders memory accesses for the threads of the block.
#[inline(always)]
pub fn fence_block() {
    intrinsic::membar_cta();
}

/// Orders memory accesses for the threads of the device.
#[inline(always)]
pub fn fence_device() {
    intrinsic::membar_gl();
}

/// Orders memory accesses for the host and other devices, too.
#[inline(always)]
pub fn fence_system() {
    intrinsic::membar_sys();
}

/// Nanoseconds since some moment, the same for all threads of the device.
#[must_use]
#[inline(always)]
pub fn nanoseconds() -> u64 {
    intrinsic::globaltimer()
}

/// A number of the launch's, which no other has that runs at the same time.
#[must_use]
#[inline(always)]
pub fn launch_id() -> u64 {
    let number: u64;
    // SAFETY: the register can always be read.
    unsafe {
        core::arch::asm!("mov.u64 {}, %gridid;", out(reg64) number, options(pure, nomem, nostack));
    }
    number
}

/// Lets other threads run for about that long.
#[inline(always)]
pub fn sleep(nanoseconds: u32) {
    intrinsic::nanosleep(nanoseconds);
}

/// Ends the kernel with an error.
#[inline(always)]
pub fn trap() -> ! {
    intrinsic::trap()
}

/// Ends threads, without a branch: the others of the warp go on together.
#[inline(always)]
pub fn exit_if(condition: bool) {
    // SAFETY: the thread holds nothing that anybody waits for.
    unsafe {
        core::arch::asm!(
            "{{", ".reg .pred %leaves;", "setp.ne.u32 %leaves, {}, 0;", "@%leaves exit;", "}}",
            in(reg32) u32::from(condition),
            options(nomem, nostack),
        );
    }
}

/// The shared memory whose size the launch says: its start, and how many bytes it has.
#[must_use]
#[inline(always)]
pub fn dynamic_shared_memory() -> (*mut c_void, u32) {
    unsafe extern "C" {
        // The build moves it to shared memory.
        static __gangway_dynamic_shared: u8;
    }
    let bytes: u32;
    // SAFETY: the register can always be read.
    unsafe {
        core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack));
    }
    ((&raw const __gangway_dynamic_shared).cast_mut().cast(), bytes)
}

/// What NVIDIA's driver gives every module.
mod driver {
    use super::{c_char, c_void};

    unsafe extern "C" {
        pub fn malloc(bytes: u64) -> *mut c_void;
        pub fn free(pointer: *mut c_void);
        pub fn vprintf(format: *const c_char, arguments: *const c_void) -> i32;
        pub fn __assertfail(
            message: *const c_char,
            file: *const c_char,
            line: u32,
            function: *const c_char,
            character: usize,
        ) -> !;
    }
}

/// Memory of the device's heap, aligned to 16 bytes; null if there is none.
#[must_use]
#[inline(always)]
pub fn allocate(bytes: u64) -> *mut c_void {
    // SAFETY: any size is allowed.
    unsafe { driver::malloc(bytes) }
}

/// Gives memory of [`allocate`] back.
///
/// # Safety
/// `pointer` is null or comes from [`allocate`], and nobody uses it any more.
#[inline(always)]
pub unsafe fn release(pointer: *mut c_void) {
    // SAFETY: as the caller says.
    unsafe { driver::free(pointer) }
}

/// Prints through the host; `arguments` is a structure with one field for each argument.
///
/// # Safety
/// The format matches the arguments.
#[inline(always)]
pub unsafe fn print(format: *const c_char, arguments: *const c_void) -> i32 {
    // SAFETY: as the caller says.
    unsafe { driver::vprintf(format, arguments) }
}

/// Reports a failed assertion, and ends the kernel with an error.
///
/// # Safety
/// The texts end with a null byte.
#[inline(always)]
pub unsafe fn fail(message: *const c_char, file: *const c_char, line: u32, function: *const c_char) -> ! {
    // SAFETY: as the caller says.
    unsafe { driver::__assertfail(message, file, line, function, 1) }
}
