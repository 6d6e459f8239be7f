//! Memory in which threads find each other's variables: a stack per thread in shared memory, and the
//! heap where that is too small.
//!
//! A variable on a thread's own stack is out of reach for others, so clang takes the memory of what
//! may be shared from here, in the order of a stack. LLVM turns most of it into plain variables.

use crate::environment::LaunchEnvironmentOfClang23;
use crate::place::Place;
use crate::shared;
use crate::target::{self, MOST_THREADS};
use crate::{debug, device_heap, kernel, team_heap};
use core::ffi::c_void;

const STACK_BYTES: u32 = 8192;
/// What the team has of it: its main thread shares most.
const TEAM_BYTES: u32 = 2048;
const ALIGNMENT: u32 = 16;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Stack([u8; STACK_BYTES as usize]);

shared! {
    static STACK: Stack
}

shared! {
    /// What each thread has taken, as a [`Usage`].
    static USED: [u32; MOST_THREADS]
}

/// What a thread has taken, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Usage(u32);

const OWN_BITS: u32 = 9;
const TEAM_BITS: u32 = 8;
const NUMBER_SHIFT: u32 = OWN_BITS + TEAM_BITS;

impl Usage {
    const NOTHING: Self = Self(0);

    fn current() -> Self {
        // SAFETY: the entry is the thread's own, and written where the kernel starts.
        Self(unsafe { USED.element(target::thread_id()) })
    }

    fn set(self) {
        // SAFETY: the entry is the thread's own.
        unsafe { USED.set_element(target::thread_id(), self.0) };
    }

    const fn shift(team: bool) -> u32 {
        if team { OWN_BITS } else { 0 }
    }

    /// Bytes of the stack, of the thread's own part or of the team's.
    const fn bytes(self, team: bool) -> u32 {
        let bits = if team { TEAM_BITS } else { OWN_BITS };
        (self.0 >> Self::shift(team) & ((1 << bits) - 1)) * ALIGNMENT
    }

    /// With more bytes of the stack, as many as are rounded and fit.
    const fn more(self, team: bool, bytes: u32) -> Self {
        Self(self.0 + ((bytes / ALIGNMENT) << Self::shift(team)))
    }

    /// With fewer bytes of the stack.
    const fn less(self, team: bool, bytes: u32) -> Self {
        Self(self.0 - ((bytes / ALIGNMENT) << Self::shift(team)))
    }

    /// The number of the last block that the thread got of the team's heap; 0 if there was none.
    const fn number(self) -> u32 {
        self.0 >> NUMBER_SHIFT
    }

    /// With the next number, which is not 0.
    const fn next(self) -> Self {
        let next = self.0.wrapping_add(1 << NUMBER_SHIFT);
        if next >> NUMBER_SHIFT == 0 { Self(next | 1 << NUMBER_SHIFT) } else { Self(next) }
    }
}

shared! {
    /// [`mark`] in blocks whose threads have started here. A kernel with `ompx_bare` does not start the
    /// runtime, and its block finds what another one has left in shared memory.
    static STARTED: u64
}

/// A number that no other block has that may have left something in shared memory.
fn mark() -> u64 {
    (target::launch_id() << 32 | u64::from(target::block_id())) ^ 0x6761_6e67_7761_7921
}

shared! {
    /// Threads that run what the compiler has generated for each of them alone. Nobody reads it in programs
    /// without [`__kmpc_alloc_shared`], so it is not there.
    static ALONE: [u8; MOST_THREADS]
}

/// Does what each thread does for itself, outside of regions, too: temporary objects of a combiner are not
/// the team's in a kernel that LLVM has made SPMD.
#[inline(always)]
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the entry is the thread's own.
    unsafe { ALONE.set_element(target::thread_id(), 1) };
    let result = work();
    // SAFETY: as above.
    unsafe { ALONE.set_element(target::thread_id(), 0) };
    result
}

/// A thread starts a kernel.
#[inline(always)]
pub fn start() {
    // SAFETY: the entry is the thread's own.
    unsafe { ALONE.set_element(target::thread_id(), 0) };
    // SAFETY: all threads of the block write the same.
    unsafe { STARTED.set(mark()) };
    Usage::NOTHING.set();
}

/// Whether the thread has given back all that it took of the stack.
#[must_use]
pub fn is_empty() -> bool {
    let usage = Usage::current();
    usage.bytes(false) == 0 && usage.bytes(true) == 0
}

/// Whether there may be variables of the team's, at the start of a region.
#[must_use]
#[inline(always)]
pub fn has_variables_of_team() -> bool {
    Usage::current() != Usage::NOTHING
}

/// Where the part of one of `threads` threads begins, and how large it is.
const fn part(thread: u32, threads: u32) -> (u32, u32) {
    let each = ((STACK_BYTES - TEAM_BYTES) / threads) & !(ALIGNMENT - 1);
    (TEAM_BYTES + thread * each, each)
}

/// `bytes` as a multiple of the alignment. Nothing near 2^64 is asked for in earnest, and it does not fit.
const fn rounded(bytes: u64) -> u64 {
    bytes.saturating_add(ALIGNMENT as u64 - 1) & !(ALIGNMENT as u64 - 1)
}

/// Whose memory a thread asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The thread's alone.
    Thread,
    /// One memory for the whole team: its main thread asks, or each thread of a kernel that LLVM has made
    /// SPMD, where one thread writes for all.
    Team,
    /// Each thread's own until a region starts: see [`join`].
    Each,
}

impl Owner {
    fn of(thread: u32) -> Self {
        if !kernel::is_spmd() {
            return if thread == kernel::main_thread() { Self::Team } else { Self::Thread };
        }
        // SAFETY: the entry is the thread's own, and written where the kernel starts.
        if Place::current().level() != 0 || unsafe { ALONE.element(thread) } != 0 {
            return Self::Thread;
        }
        if kernel::is_for_all_threads() { Self::Each } else { Self::Team }
    }
}

/// Memory that other threads of the block can read, until [`__kmpc_free_shared`].
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.call"))]
pub extern "C" fn __kmpc_alloc_shared(bytes: u64) -> *mut c_void {
    // SAFETY: a thread that has started has written it, and for others any value will do.
    if unsafe { STARTED.get_whatever_it_is() } != mark() {
        return team_heap::own(bytes);
    }
    let thread = target::thread_id();
    let owner = Owner::of(thread);
    let team = owner == Owner::Team;
    let (start, size) = if team { (0, TEAM_BYTES) } else { part(thread, kernel::most_threads()) };
    let need = rounded(bytes);
    let usage = Usage::current();
    let used = usage.bytes(team);
    if need > u64::from(size - used) {
        if owner == Owner::Thread || !kernel::is_spmd() {
            return team_heap::own(bytes);
        }
        usage.next().set();
        let copies = if team { 1 } else { kernel::most_threads() };
        return team_heap::of_team(usage.next().number(), need, copies);
    }
    usage.more(team, need as u32).set();
    // SAFETY: the part is inside of the stack, and the place inside of the part.
    unsafe { STACK.pointer().cast::<u8>().add((start + used) as usize) }.cast()
}

/// Gives back what the thread took last.
///
/// # Safety
/// `memory` is of [`__kmpc_alloc_shared`], of this thread and with that size.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.call"))]
pub unsafe extern "C" fn __kmpc_free_shared(memory: *mut c_void, bytes: u64) {
    let offset = (memory as usize).wrapping_sub(STACK.pointer() as usize);
    if offset >= STACK_BYTES as usize {
        // SAFETY: what is not in the stack is of the heap.
        unsafe { team_heap::give_back(memory) };
        return;
    }
    let team = offset < TEAM_BYTES as usize;
    let usage = Usage::current();
    let start = if team { 0 } else { part(target::thread_id(), kernel::most_threads()).0 };
    debug::check(
        || offset as u64 + rounded(bytes) == u64::from(start + usage.bytes(team)),
        c"shared variables are not given back in the order of a stack",
    );
    usage.less(team, rounded(bytes) as u32).set();
}

/// A region of an SPMD kernel starts, and all threads are here. Each has made its own copy of the variables
/// outside, since it may have been in a function of its own there. In the region they are one variable:
/// that of the first thread, whose address the arguments get.
///
/// Variables that a region can name live until it ends, so they are the same ones in each thread, in the
/// same places of the threads' memory.
///
/// # Safety
/// There are `count` arguments.
#[inline(never)]
pub unsafe fn join(arguments: *mut *mut c_void, count: i64) {
    for index in 0..count.cast_unsigned() as usize {
        // SAFETY: as the caller says.
        let argument = unsafe { &mut *arguments.add(index) };
        if let Some(offset) = offset_in_own_part(*argument) {
            let first = part(0, kernel::most_threads()).0;
            // SAFETY: the parts are of one size, and inside of the stack.
            *argument = unsafe { STACK.pointer().cast::<u8>().add((first + offset) as usize) }.cast();
        } else if let Some(copies) = team_heap::copies_at(Usage::current().number(), *argument) {
            *argument = copies.with_offset_of(*argument, target::thread_id(), 0);
        }
    }
}

/// The region has ended: each thread's copies get the values of the first one's, and all threads wait.
///
/// # Safety
/// As for [`join`], which has changed the arguments.
#[inline(never)]
pub unsafe fn part_again(arguments: *mut *mut c_void, count: i64) {
    let thread = target::thread_id();
    if thread != 0 {
        let threads = kernel::most_threads();
        let (from, to) = (part(0, threads).0, part(thread, threads).0);
        let stack = STACK.pointer().cast::<u8>();
        let bytes = Usage::current().bytes(false);
        // SAFETY: both parts are inside of the stack, and no thread writes to the first one now.
        unsafe { copy(stack.add(from as usize), stack.add(to as usize), u64::from(bytes)) };
    }
    for index in 0..count.cast_unsigned() as usize {
        // SAFETY: as the caller says.
        let argument = unsafe { &mut *arguments.add(index) };
        if let Some(copies) = team_heap::copies_at(Usage::current().number(), *argument) {
            let own = copies.with_offset_of(*argument, 0, thread);
            if thread != 0 {
                // SAFETY: the block has a copy for each thread, and no thread writes to the first one now.
                unsafe { copy(copies.of(0), copies.of(thread), copies.bytes) };
            }
            *argument = own;
        }
    }
    target::barrier_aligned();
}

/// Copies words. A loop of the runtime's own: a call of `memcpy` would have to be found in the program.
///
/// # Safety
/// The memory is there, aligned, and does not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, bytes: u64) {
    for word in 0..(bytes / size_of::<u64>() as u64) as usize {
        // SAFETY: as the caller says.
        unsafe {
            let value = from.cast::<u64>().add(word).read_volatile();
            to.cast::<u64>().add(word).write_volatile(value);
        }
    }
}

/// Where an address is in the thread's own part of the stack.
fn offset_in_own_part(address: *mut c_void) -> Option<u32> {
    let start = part(target::thread_id(), kernel::most_threads()).0 as usize;
    let offset = (address as usize).wrapping_sub(STACK.pointer() as usize + start);
    (offset < Usage::current().bytes(false) as usize).then_some(offset as u32)
}

/// Arguments of a region for which no memory of the heap is needed.
const MOST_ARGUMENTS: usize = 32;

shared! {
    static ARGUMENTS: [*mut c_void; MOST_ARGUMENTS]
}

shared! {
    /// Where the arguments of the region are: [`ARGUMENTS`], or memory of the heap.
    static SHARED_ARGUMENTS: *mut *mut c_void
}

/// Room for the arguments of a region; called by the main thread.
#[must_use]
pub fn arguments(count: u64) -> *mut *mut c_void {
    let memory = if count <= MOST_ARGUMENTS as u64 {
        ARGUMENTS.pointer().cast()
    } else {
        device_heap::allocate(count * size_of::<*mut c_void>() as u64).cast()
    };
    // SAFETY: the workers wait at the barrier before the region.
    unsafe { SHARED_ARGUMENTS.set(memory) };
    memory
}

/// Where the arguments of the region are.
#[must_use]
pub fn shared_arguments() -> *mut *mut c_void {
    // SAFETY: the main thread has written it before the region.
    unsafe { SHARED_ARGUMENTS.get() }
}

/// The region has ended.
pub fn release_arguments() {
    let memory = shared_arguments();
    if memory != ARGUMENTS.pointer().cast() {
        // SAFETY: it is of the heap, and the workers have ended the region.
        unsafe { target::release(memory.cast()) };
    }
}

/// The shared memory whose size the launch says; null if it says none.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_dynamic_shared() -> *mut c_void {
    let (memory, bytes) = target::dynamic_shared_memory();
    if bytes == 0 { core::ptr::null_mut() } else { memory }
}

/// `omp_access_cgroup`: the group is the team.
const TEAM: i32 = 0;
/// `omp_null_mem_space`, `omp_cgroup_mem_space` and, since LLVM 22, `omp_default_mem_space`.
const MEMORY_SPACES: [usize; 3] = [0, 5, 99];

/// What the environment of a launch says that has memory of the device in the place of a team's.
const DEVICE_MEMORY: u8 = 2;

/// What the parts of teams are aligned to (`backends/device-code/src/llvm/replacements.rs`).
const REPLACEMENT_ALIGNMENT: usize = 16;

/// The memory of the device that this team has in the place of shared memory, which the launch has asked for
/// and cannot have: its start, and how many bytes it has.
fn replacement() -> (*mut c_void, usize) {
    let none = (core::ptr::null_mut(), 0);
    let environment = kernel::launch_environment().cast::<LaunchEnvironmentOfClang23>();
    // The host passes all bits for a launch that has no environment.
    if environment.is_null() || environment.addr() == usize::MAX {
        return none;
    }
    // SAFETY: it is the host's, for this launch. One of a kernel of clang 22's has zeros there.
    let (start, bytes, replaced) =
        unsafe { ((*environment).replacement, (*environment).dynamic_shared_bytes, (*environment).replaced) };
    if replaced != DEVICE_MEMORY {
        return none;
    }
    let part = (bytes as usize).next_multiple_of(REPLACEMENT_ALIGNMENT);
    (start.wrapping_byte_add(part * target::block_id() as usize), bytes as usize)
}

/// The memory of a team that the launch has asked for (`dyn_groupprivate`, OpenMP 6.1), or what is in its
/// place, from a byte on; null where it has asked for none or has none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_dyn_gprivate_ptr(offset: usize, group: i32) -> *mut c_void {
    let own = omp_get_dyn_gprivate_nofb_ptr(offset, group);
    if !own.is_null() || group != TEAM {
        return own;
    }
    let (memory, bytes) = replacement();
    if bytes == 0 { own } else { memory.wrapping_byte_add(offset) }
}

/// The same; null also where other memory is in its place.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_dyn_gprivate_nofb_ptr(offset: usize, group: i32) -> *mut c_void {
    let (memory, bytes) = target::dynamic_shared_memory();
    if bytes == 0 || group != TEAM { core::ptr::null_mut() } else { memory.wrapping_byte_add(offset) }
}

/// How many bytes there are of it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_dyn_gprivate_size(group: i32) -> usize {
    match target::dynamic_shared_memory() {
        _ if group != TEAM => 0,
        (_, 0) => replacement().1,
        (_, bytes) => bytes as usize,
    }
}

/// The memory space that it is of.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_dyn_gprivate_memspace(group: i32) -> usize {
    let [none, team, default] = MEMORY_SPACES;
    match target::dynamic_shared_memory() {
        _ if group != TEAM => none,
        (_, 0) if replacement().1 == 0 => none,
        (_, 0) => default,
        _ => team,
    }
}

/// The memory as older programs ask for it.
#[unsafe(no_mangle)]
pub extern "C" fn llvm_omp_target_dynamic_shared_alloc() -> *mut c_void {
    __kmpc_get_dynamic_shared()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two threads share a part, and each is aligned and inside of the stack.
    #[test]
    fn parts_of_the_stack_are_apart() {
        for threads in [1, 32, 64, 96, 100, 128, 160, 256, 512, 1024] {
            let mut end = TEAM_BYTES;
            for thread in 0..threads {
                let (start, size) = part(thread, threads);
                assert_eq!((start % ALIGNMENT, size % ALIGNMENT), (0, 0));
                assert!(start >= end, "thread {thread} of {threads}");
                end = start + size;
            }
            assert!(end <= STACK_BYTES);
        }
    }

    /// The parts of the word do not run into each other.
    #[test]
    fn usage_keeps_its_parts() {
        let mut usage = Usage::NOTHING;
        for number in 1..(1 << (32 - NUMBER_SHIFT)) {
            usage = usage.next();
            assert_eq!(usage.number(), number);
        }
        assert_eq!(usage.next().number(), 1);
        let full = usage.more(true, TEAM_BYTES).more(false, part(0, 1).1);
        assert_eq!((full.bytes(true), full.bytes(false)), (TEAM_BYTES, STACK_BYTES - TEAM_BYTES));
        assert_eq!(full.number(), usage.number());
        assert_eq!(full.next().bytes(true), TEAM_BYTES);
        assert_eq!(full.less(false, part(0, 1).1).less(true, TEAM_BYTES), usage);
    }
}
