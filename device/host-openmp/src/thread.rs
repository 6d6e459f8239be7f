//! What this crate keeps per thread: the kernels that the thread is in, and
//! its place in the parallel region that it runs.
//!
//! Usually a thread is in one kernel or none. At a barrier or `taskwait` inside
//! a kernel, libomp may let it pick up another target task, so kernels nest.
//!
//! Kept in a POSIX thread-specific value, because ELF thread-local storage in
//! a loaded image asks more of a loader than a device image should. A thread
//! allocates its record at first use and keeps it until it ends.

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::fatal::fatal;
use crate::libomp::{Location, free, realloc};

/// What the end of a kernel must undo.
#[derive(Clone, Copy)]
pub struct Launch {
    /// Source location for libomp.
    pub location: *const Location,
    /// The kernel runs in a serialised region inside a host team.
    pub in_host_team: bool,
    /// The kernel's execution mode is SPMD.
    pub spmd: bool,
    /// The thread limit to restore, if the kernel set its own.
    pub outer_limit: Option<i32>,
}

type Key = u32;
type Destructor = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    fn pthread_key_create(key: *mut Key, destructor: Option<Destructor>) -> c_int;
    fn pthread_key_delete(key: Key) -> c_int;
    fn pthread_getspecific(key: Key) -> *mut c_void;
    fn pthread_setspecific(key: Key, value: *const c_void) -> c_int;
}

/// A thread's record; room for `capacity` launches follows it in memory.
struct Record {
    /// What `team` keeps on the thread's stack.
    membership: *const c_void,
    depth: usize,
    capacity: usize,
}

const INITIAL_CAPACITY: usize = 4;

/// The key plus one, or 0 before the first kernel of this image.
static KEY: AtomicU64 = AtomicU64::new(0);

/// The image's key, made at the first kernel.
fn key() -> Key {
    let known = KEY.load(Ordering::Acquire);
    if known != 0 {
        return (known - 1) as Key;
    }
    let mut made = 0;
    // SAFETY: writes the key. The destructor is the C library's, which stays
    // when the image is unloaded while threads still hold values.
    if unsafe { pthread_key_create(&mut made, Some(free)) } != 0 {
        fatal(c"gangway: no thread-specific key left for a device image\n");
    }
    let stored = u64::from(made) + 1;
    match KEY.compare_exchange(0, stored, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => made,
        Err(winner) => {
            // SAFETY: nobody else has seen this key.
            unsafe { pthread_key_delete(made) };
            (winner - 1) as Key
        }
    }
}

/// Whether any kernel of this image has begun.
pub fn any_kernel_began() -> bool {
    KEY.load(Ordering::Acquire) != 0
}

/// Gives the key back when the image is unloaded, so that loading and
/// unloading images does not use keys up.
extern "C" fn release_key() {
    let known = KEY.swap(0, Ordering::AcqRel);
    if known != 0 {
        // SAFETY: no kernel of this image runs or will run again.
        unsafe { pthread_key_delete((known - 1) as Key) };
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = release_key;

const _: () = assert!(size_of::<Record>().is_multiple_of(align_of::<Launch>()));

/// The launches of a record.
///
/// # Safety
/// `record` is one that [`reserve`] allocated.
unsafe fn launches(record: *mut Record) -> *mut Launch {
    // SAFETY: the launches follow the record, with room as allocated.
    unsafe { record.add(1).cast() }
}

/// The calling thread's record with room for one more launch.
fn reserve() -> *mut Record {
    let key = key();
    // SAFETY: the value is null or this thread's record, which only this
    // thread uses.
    unsafe {
        let record: *mut Record = pthread_getspecific(key).cast();
        let head = if record.is_null() {
            Record { membership: ptr::null(), depth: 0, capacity: INITIAL_CAPACITY }
        } else if (*record).depth == (*record).capacity {
            Record { capacity: (*record).capacity * 2, ..record.read() }
        } else {
            return record;
        };
        let size = size_of::<Record>() + head.capacity * size_of::<Launch>();
        let grown: *mut Record = realloc(record.cast(), size).cast();
        if grown.is_null() || pthread_setspecific(key, grown.cast()) != 0 {
            fatal(c"gangway: out of memory at the start of a target region\n");
        }
        grown.write(head);
        grown
    }
}

/// The calling thread's record, or null if it has none.
fn existing() -> *mut Record {
    // SAFETY: a query without preconditions.
    unsafe { pthread_getspecific(key()) }.cast()
}

/// Enters a kernel.
pub fn push(launch: Launch) {
    let record = reserve();
    // SAFETY: the record is this thread's and has room.
    unsafe {
        launches(record).add((*record).depth).write(launch);
        (*record).depth += 1;
    }
}

/// Leaves the innermost kernel.
pub fn pop() -> Launch {
    let record = existing();
    // SAFETY: the record is this thread's; the depth is checked.
    unsafe {
        if record.is_null() || (*record).depth == 0 {
            fatal(c"gangway: a kernel ended that never began\n");
        }
        (*record).depth -= 1;
        launches(record).add((*record).depth).read()
    }
}

/// The innermost kernel, if the thread is in one.
pub fn innermost() -> Option<Launch> {
    let record = existing();
    // SAFETY: the record is this thread's; the depth is checked.
    unsafe {
        (!record.is_null() && (*record).depth > 0).then(|| launches(record).add((*record).depth - 1).read())
    }
}

/// The thread's place in the region that it runs, or null.
pub fn membership() -> *const c_void {
    let record = existing();
    // SAFETY: the record is this thread's.
    if record.is_null() { ptr::null() } else { unsafe { (*record).membership } }
}

/// Sets the thread's place; returns the one before.
pub fn set_membership(membership: *const c_void) -> *const c_void {
    let record = reserve();
    // SAFETY: the record is this thread's.
    unsafe { ptr::replace(&raw mut (*record).membership, membership) }
}
