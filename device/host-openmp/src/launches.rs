//! The kernels that the calling thread is in, innermost last.
//!
//! Usually none or one. At a barrier or `taskwait` inside a kernel, libomp may
//! let a thread pick up another target task, so kernels can nest on a thread.
//!
//! Kept in a POSIX thread-specific value, because ELF thread-local storage in
//! a loaded image asks more of a loader than a device image should. A thread
//! allocates its stack at its first launch and keeps it until it ends.

use core::ffi::{c_int, c_void};
use core::mem::size_of;
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

/// Head of a thread's stack; `capacity` launches follow it in memory.
struct Stack {
    depth: usize,
    capacity: usize,
}

const INITIAL_CAPACITY: usize = 4;

/// The key plus one, or 0 before the first launch in this image.
static KEY: AtomicU64 = AtomicU64::new(0);

/// The image's key, made at the first launch.
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
pub fn any() -> bool {
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

/// The launches of a stack.
///
/// # Safety
/// `stack` is one that [`push`] allocated.
unsafe fn launches(stack: *mut Stack) -> *mut Launch {
    // SAFETY: the launches follow the head, with room as allocated.
    unsafe { stack.add(1).cast() }
}

const _: () = assert!(size_of::<Stack>().is_multiple_of(align_of::<Launch>()));

/// Enters a kernel.
pub fn push(launch: Launch) {
    let key = key();
    // SAFETY: the value is null or this thread's stack, which only this
    // thread uses.
    unsafe {
        let mut stack: *mut Stack = pthread_getspecific(key).cast();
        if stack.is_null() || (*stack).depth == (*stack).capacity {
            let (depth, capacity) =
                if stack.is_null() { (0, INITIAL_CAPACITY) } else { ((*stack).depth, (*stack).capacity * 2) };
            let size = size_of::<Stack>() + capacity * size_of::<Launch>();
            let grown: *mut Stack = realloc(stack.cast(), size).cast();
            if grown.is_null() || pthread_setspecific(key, grown.cast()) != 0 {
                fatal(c"gangway: out of memory at the start of a target region\n");
            }
            grown.write(Stack { depth, capacity });
            stack = grown;
        }
        launches(stack).add((*stack).depth).write(launch);
        (*stack).depth += 1;
    }
}

/// Leaves the innermost kernel.
pub fn pop() -> Launch {
    // SAFETY: as in `push`; the depth is checked.
    unsafe {
        let stack: *mut Stack = pthread_getspecific(key()).cast();
        if stack.is_null() || (*stack).depth == 0 {
            fatal(c"gangway: a kernel ended that never began\n");
        }
        (*stack).depth -= 1;
        launches(stack).add((*stack).depth).read()
    }
}

/// The innermost kernel's launch, if the thread is in one.
pub fn innermost() -> Option<Launch> {
    // SAFETY: as in `push`.
    unsafe {
        let stack: *mut Stack = pthread_getspecific(key()).cast();
        if stack.is_null() || (*stack).depth == 0 {
            return None;
        }
        Some(launches(stack).add((*stack).depth - 1).read())
    }
}
