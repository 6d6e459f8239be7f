//! AMD's GPUs, through LLVM's intrinsics and the implicit arguments of code objects of version 5 and newer.
//! A warp is a wave of 64 or 32 lanes: one bitcode serves both, as LLVM puts the number where the image is linked.
//!
//! The lanes of a wave do not run by themselves. One that waits for another lane of its wave in a loop
//! waits for ever, if that one has left the loop: all lanes meet where it ends. So what waits here for
//! threads of its own wave does it behind what those have to do, and no lock is held by a lane
//! while others of its wave try to take it. What programs do under locks of their own `gangway cc` and `fc` have
//! lanes do in turns (`tools/gangway/src/stand_in/lock_turns`).

use super::Axis;
use core::ffi::{c_char, c_void};
use core::sync::atomic::{Ordering, fence};

/// The most threads of a block.
pub const MOST_THREADS: usize = 1024;

/// `acc_device_radeon`.
pub const ACC_DEVICE: i32 = 8;

/// Whether threads can end while others of their warp go on ([`exit_if`]).
pub const THREADS_END_ALONE: bool = false;

/// Whether a part of a block, whole warps, has a barrier of the hardware ([`barrier_of`]).
pub const PARTS_HAVE_BARRIERS: bool = false;

/// Lanes of a warp, one bit each.
pub type Mask = u64;

mod intrinsic {
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.workitem.id.x"]
        pub safe fn workitem_id_x() -> u32;
        #[link_name = "llvm.amdgcn.workitem.id.y"]
        pub safe fn workitem_id_y() -> u32;
        #[link_name = "llvm.amdgcn.workitem.id.z"]
        pub safe fn workitem_id_z() -> u32;
        #[link_name = "llvm.amdgcn.workgroup.id.x"]
        pub safe fn workgroup_id_x() -> u32;
        #[link_name = "llvm.amdgcn.workgroup.id.y"]
        pub safe fn workgroup_id_y() -> u32;
        #[link_name = "llvm.amdgcn.workgroup.id.z"]
        pub safe fn workgroup_id_z() -> u32;
        #[link_name = "llvm.amdgcn.wavefrontsize"]
        pub safe fn wavefrontsize() -> u32;
        #[link_name = "llvm.amdgcn.mbcnt.lo"]
        pub safe fn mbcnt_lo(mask: u32, sum: u32) -> u32;
        #[link_name = "llvm.amdgcn.mbcnt.hi"]
        pub safe fn mbcnt_hi(mask: u32, sum: u32) -> u32;
        #[link_name = "llvm.amdgcn.ballot.i64"]
        pub safe fn ballot(predicate: bool) -> u64;
        #[link_name = "llvm.amdgcn.ds.bpermute"]
        pub safe fn permute(byte: u32, value: u32) -> u32;
        #[link_name = "llvm.amdgcn.wave.barrier"]
        pub safe fn wave_barrier();
        #[link_name = "llvm.amdgcn.s.barrier"]
        pub safe fn barrier();
        #[link_name = "llvm.amdgcn.s.sleep"]
        pub safe fn s_sleep(clocks_by_64: u32);
        #[link_name = "llvm.readsteadycounter"]
        pub safe fn steady_counter() -> u64;
        #[link_name = "llvm.trap"]
        pub safe fn trap() -> !;
    }
}

/// What Rust has no spelling for: the build puts an instruction in the place of each (`xtask/src/gpu/ir.rs`).
mod stand_in {
    unsafe extern "C" {
        pub safe fn __gangway_implicit_arguments() -> *const u8;
        pub safe fn __gangway_fence_wave();
        pub safe fn __gangway_fence_block();
        pub safe fn __gangway_fence_device();
    }
}

/// Where the implicit arguments of a kernel stand (AMDGPU backend guide, code object V5 kernel argument metadata).
mod implicit {
    pub const BLOCKS: usize = 0;
    pub const THREADS: usize = 12;
    pub const DYNAMIC_SHARED_BYTES: usize = 120;
}

/// The implicit argument at an offset.
#[inline(always)]
fn argument<T: Copy>(offset: usize) -> T {
    // SAFETY: whoever launches a kernel whose code object asks for implicit arguments fills in all of them.
    unsafe { stand_in::__gangway_implicit_arguments().add(offset).cast::<T>().read() }
}

/// Threads of a warp.
#[must_use]
#[inline(always)]
pub fn warp_size() -> u32 {
    intrinsic::wavefrontsize()
}

/// The warp of a thread of the block, and how many whole warps so many threads are. By a shift, as LLVM does not
/// know that the size is a power of two; of a division in 16 bits, which it would make of it, it cannot make code
/// without optimisation.
#[must_use]
#[inline(always)]
pub fn warp_of(thread: u32) -> u32 {
    thread >> (5 + (warp_size() >> 6))
}

/// The thread's number in its block, along x: OpenMP's blocks have one dimension.
#[must_use]
#[inline(always)]
pub fn thread_id() -> u32 {
    intrinsic::workitem_id_x()
}

/// How many threads the block was launched with.
#[must_use]
#[inline(always)]
pub fn threads_in_block() -> u32 {
    threads_along(Axis::X)
}

#[must_use]
#[inline(always)]
pub fn block_id() -> u32 {
    intrinsic::workgroup_id_x()
}

#[must_use]
#[inline(always)]
pub fn blocks_in_grid() -> u32 {
    blocks_along(Axis::X)
}

#[must_use]
#[inline(always)]
pub fn thread_id_along(axis: Axis) -> u32 {
    match axis {
        Axis::X => intrinsic::workitem_id_x(),
        Axis::Y => intrinsic::workitem_id_y(),
        Axis::Z => intrinsic::workitem_id_z(),
    }
}

#[must_use]
#[inline(always)]
pub fn threads_along(axis: Axis) -> u32 {
    argument::<u16>(implicit::THREADS + 2 * axis as usize).into()
}

#[must_use]
#[inline(always)]
pub fn block_id_along(axis: Axis) -> u32 {
    match axis {
        Axis::X => intrinsic::workgroup_id_x(),
        Axis::Y => intrinsic::workgroup_id_y(),
        Axis::Z => intrinsic::workgroup_id_z(),
    }
}

#[must_use]
#[inline(always)]
pub fn blocks_along(axis: Axis) -> u32 {
    argument(implicit::BLOCKS + 4 * axis as usize)
}

/// The thread's number in its warp.
#[must_use]
#[inline(always)]
pub fn lane() -> u32 {
    intrinsic::mbcnt_hi(u32::MAX, intrinsic::mbcnt_lo(u32::MAX, 0))
}

/// The lanes before this one.
#[must_use]
#[inline(always)]
pub fn lanes_below() -> Mask {
    (1 << lane()) - 1
}

/// The lanes that run together with this one now.
#[must_use]
#[inline(always)]
pub fn active_lanes() -> Mask {
    intrinsic::ballot(true)
}

/// Lanes of a wave run together: only memory is ordered among them.
#[inline(always)]
pub fn sync_warp(_: Mask) {
    stand_in::__gangway_fence_wave();
    intrinsic::wave_barrier();
    stand_in::__gangway_fence_wave();
}

/// The lanes of `mask` whose predicate holds. All of them must call it.
#[must_use]
#[inline(always)]
pub fn ballot(mask: Mask, predicate: bool) -> Mask {
    intrinsic::ballot(predicate) & mask
}

/// The value that `lane` passes, of those of `mask`, all of which must call it.
#[must_use]
#[inline(always)]
pub fn shuffle(_: Mask, value: u32, lane: u32) -> u32 {
    intrinsic::permute(lane << 2, value)
}

/// The value of the lane `delta` further on in a segment of `width` lanes, a power of two; beyond
/// its end the own one.
#[must_use]
#[inline(always)]
pub fn shuffle_down(mask: Mask, value: u32, delta: u32, width: u32) -> u32 {
    let own = lane();
    let is_inside = (own & (width - 1)) + delta < width;
    shuffle(mask, value, if is_inside { own + delta } else { own })
}

/// Has the lanes that run together do something one behind the other. All of them go through all turns: none
/// waits behind the loop for those that have still to come.
#[inline(always)]
pub fn in_turn<R>(act: impl FnOnce() -> R) -> R {
    let own = lane();
    let (mut act, mut result) = (Some(act), None);
    let mut waiting = active_lanes();
    while waiting != 0 {
        if own == waiting.trailing_zeros() {
            result = act.take().map(|act| act());
        }
        waiting &= waiting - 1;
    }
    result.unwrap_or_else(|| trap())
}

/// Whether one lane would wait for another of its wave that holds the lock at that address, for ever: whether two of
/// the lanes that run together want the same one.
#[must_use]
#[inline(always)]
pub fn would_wait_for_ever(address: usize) -> bool {
    let lanes = active_lanes();
    let mut rest = lanes;
    while rest != 0 {
        let first = rest.trailing_zeros();
        let half = |number: usize| shuffle(lanes, number as u32, first) == number as u32;
        let is_the_same = half(address) & half(address >> 32);
        let alike = ballot(lanes, is_the_same);
        if alike & (alike - 1) != 0 {
            return true;
        }
        rest &= !alike;
    }
    false
}

/// Waits for all threads of the block, whose warps call it as a whole.
#[inline(always)]
pub fn barrier_aligned() {
    stand_in::__gangway_fence_block();
    intrinsic::barrier();
    stand_in::__gangway_fence_block();
}

crate::shared! {
    /// Whether the predicate of [`any_in_block`] holds for a thread.
    static ANY: u32
}

/// Waits as [`barrier_aligned`] does, and says whether `predicate` holds for any thread.
#[must_use]
#[inline(always)]
pub fn any_in_block(predicate: bool) -> bool {
    // SAFETY: the barriers separate the writes of the first thread, those of the others, which write the same
    // value, and the reads. A thread comes back here behind all reads, as it meets the others first.
    unsafe {
        barrier_aligned();
        if thread_id() == 0 {
            ANY.set(0);
        }
        barrier_aligned();
        if predicate {
            ANY.set(1);
        }
        barrier_aligned();
        ANY.get() != 0
    }
}

/// Waits for all threads of the block that have not ended, wherever each warp of them calls it: the hardware
/// counts waves.
#[inline(always)]
pub fn barrier() {
    barrier_aligned();
}

/// There is none: the runtime has parts of a block meet in memory.
#[inline(always)]
pub fn barrier_of(_: u32, _: u32) {
    trap()
}

/// Orders memory accesses for the threads of the block.
#[inline(always)]
pub fn fence_block() {
    stand_in::__gangway_fence_block();
}

/// Orders memory accesses for the threads of the device.
#[inline(always)]
pub fn fence_device() {
    stand_in::__gangway_fence_device();
}

/// Orders memory accesses for the host and other devices, too.
#[inline(always)]
pub fn fence_system() {
    fence(Ordering::SeqCst);
}

/// Nanoseconds between two ticks of the counter, which runs at 100 MHz.
const TICK: u64 = 10;

/// Nanoseconds since some moment, the same for all threads of the device.
#[must_use]
#[inline(always)]
pub fn nanoseconds() -> u64 {
    intrinsic::steady_counter() * TICK
}

/// A number of the launch's, which no other has that runs at the same time: where its arguments are, which
/// stay until it ends.
#[must_use]
#[inline(always)]
pub fn launch_id() -> u64 {
    stand_in::__gangway_implicit_arguments().addr() as u64 >> 3
}

/// Lets other threads run for about that long. The instruction takes a constant.
#[inline(always)]
pub fn sleep(nanoseconds: u32) {
    if nanoseconds < 1000 {
        intrinsic::s_sleep(1);
    } else {
        intrinsic::s_sleep(32);
    }
}

/// Ends the kernel with an error.
#[inline(always)]
pub fn trap() -> ! {
    intrinsic::trap()
}

/// Threads do not end alone: who calls it has them return.
#[inline(always)]
pub fn exit_if(_: bool) {}

/// The shared memory whose size the launch says: its start, and how many bytes it has.
#[must_use]
#[inline(always)]
pub fn dynamic_shared_memory() -> (*mut c_void, u32) {
    unsafe extern "C" {
        // The build moves it to shared memory.
        static __gangway_dynamic_shared: u8;
    }
    ((&raw const __gangway_dynamic_shared).cast_mut().cast(), argument(implicit::DYNAMIC_SHARED_BYTES))
}

/// What other members of the archive provide.
mod member {
    use super::{c_char, c_void};

    unsafe extern "C" {
        pub fn malloc(bytes: u64) -> *mut c_void;
        pub fn free(pointer: *mut c_void);
    }

    type Print = unsafe extern "C" fn(*const c_char, *const c_void) -> i32;

    unsafe extern "C" {
        /// Where the program prints: else the member, and with it the channel to the host, stays out of the image.
        #[linkage = "extern_weak"]
        pub static __gangway_vprintf: Option<Print>;
    }
}

/// Memory of the device's heap, aligned to 16 bytes; null if there is none.
#[must_use]
#[inline(always)]
pub fn allocate(bytes: u64) -> *mut c_void {
    // SAFETY: any size is allowed.
    unsafe { member::malloc(bytes) }
}

/// Gives memory of [`allocate`] back.
///
/// # Safety
/// `pointer` is null or comes from [`allocate`], and nobody uses it any more.
#[inline(always)]
pub unsafe fn release(pointer: *mut c_void) {
    // SAFETY: as the caller says.
    unsafe { member::free(pointer) }
}

/// Prints through the host, if the program itself has something to print; `arguments` is a structure with one
/// field for each argument.
///
/// # Safety
/// The format matches the arguments.
#[inline(always)]
pub unsafe fn print(format: *const c_char, arguments: *const c_void) -> i32 {
    // SAFETY: as the caller says.
    unsafe { member::__gangway_vprintf.map_or(-1, |print| print(format, arguments)) }
}
