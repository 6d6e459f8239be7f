//! The compilers' functions for atomic objects that no instruction takes: of more than eight bytes, such as
//! `double _Complex`, or with less alignment than size, such as `float _Complex`.
//!
//! Objects of four or eight bytes that lie well at run time are left to the processor, so that they
//! may also be used by instructions. The others have locks, which their addresses choose.

use crate::{critical, target};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The locks. Two objects may share one: nothing else is done while it is held.
static LOCKS: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

/// `memory_order_relaxed` of C.
const RELAXED: i32 = 0;

/// What an operation is done with.
enum Means {
    Word,
    DoubleWord,
    Lock,
}

fn means(size: usize, object: *const c_void) -> Means {
    match size {
        4 if object.addr().is_multiple_of(4) => Means::Word,
        8 if object.addr().is_multiple_of(8) => Means::DoubleWord,
        _ => Means::Lock,
    }
}

/// Does `act` between the fences that an order asks for.
#[inline(always)]
fn ordered<R>(order: i32, act: impl FnOnce() -> R) -> R {
    if order == RELAXED {
        return act();
    }
    target::fence_device();
    let result = act();
    target::fence_device();
    result
}

/// Does `act` while no other thread of the device has the object's lock.
#[inline(always)]
fn locked<R>(object: *const c_void, act: impl FnOnce() -> R) -> R {
    let place = object.addr() >> 3;
    let word = LOCKS[(place ^ place >> 6) % LOCKS.len()].as_ptr();
    // SAFETY: the word is a lock.
    unsafe { critical::exclusively(word, act) }
}

/// Copies bytes that LLVM is not to know from before.
///
/// # Safety
/// Both ranges are valid.
#[inline(always)]
unsafe fn copy(to: *mut c_void, from: *const c_void, size: usize) {
    for index in 0..size {
        // SAFETY: as the caller says.
        unsafe {
            let byte = from.cast::<u8>().add(index).read_volatile();
            to.cast::<u8>().add(index).write_volatile(byte);
        }
    }
}

/// Whether two ranges hold the same bytes.
///
/// # Safety
/// Both are valid.
#[inline(always)]
unsafe fn same(left: *const c_void, right: *const c_void, size: usize) -> bool {
    // SAFETY: as the caller says.
    (0..size).all(|index| unsafe {
        left.cast::<u8>().add(index).read_volatile() == right.cast::<u8>().add(index).read_volatile()
    })
}

/// Reads an object into `result`.
///
/// # Safety
/// Both have `size` bytes.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn __atomic_load(size: usize, object: *mut c_void, result: *mut c_void, order: i32) {
    // SAFETY: as the caller says; the alignment is what `means` has seen.
    ordered(order, || unsafe {
        match means(size, object) {
            Means::Word => {
                let word = AtomicU32::from_ptr(object.cast()).load(Ordering::Relaxed);
                result.cast::<u32>().write_unaligned(word);
            }
            Means::DoubleWord => {
                let word = AtomicU64::from_ptr(object.cast()).load(Ordering::Relaxed);
                result.cast::<u64>().write_unaligned(word);
            }
            Means::Lock => locked(object, || copy(result, object, size)),
        }
    });
}

/// Writes an object.
///
/// # Safety
/// Object and value have `size` bytes.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn __atomic_store(size: usize, object: *mut c_void, value: *mut c_void, order: i32) {
    // SAFETY: as for a load.
    ordered(order, || unsafe {
        match means(size, object) {
            Means::Word => AtomicU32::from_ptr(object.cast())
                .store(value.cast::<u32>().read_unaligned(), Ordering::Relaxed),
            Means::DoubleWord => AtomicU64::from_ptr(object.cast())
                .store(value.cast::<u64>().read_unaligned(), Ordering::Relaxed),
            Means::Lock => locked(object, || copy(object, value, size)),
        }
    });
}

/// Writes an object, and what it was before into `result`.
///
/// # Safety
/// All three have `size` bytes.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn __atomic_exchange(
    size: usize,
    object: *mut c_void,
    value: *mut c_void,
    result: *mut c_void,
    order: i32,
) {
    // SAFETY: as for a load.
    ordered(order, || unsafe {
        match means(size, object) {
            Means::Word => {
                let word = value.cast::<u32>().read_unaligned();
                let old = AtomicU32::from_ptr(object.cast()).swap(word, Ordering::Relaxed);
                result.cast::<u32>().write_unaligned(old);
            }
            Means::DoubleWord => {
                let word = value.cast::<u64>().read_unaligned();
                let old = AtomicU64::from_ptr(object.cast()).swap(word, Ordering::Relaxed);
                result.cast::<u64>().write_unaligned(old);
            }
            // Byte by byte: the result may be where the value is.
            Means::Lock => locked(object, || {
                for index in 0..size {
                    let (object, value) = (object.cast::<u8>().add(index), value.cast::<u8>().add(index));
                    let (old, new) = (object.read_volatile(), value.read_volatile());
                    object.write_volatile(new);
                    result.cast::<u8>().add(index).write_volatile(old);
                }
            }),
        }
    });
}

/// Writes an object if it holds the bytes of `expected`; otherwise those become the object's.
///
/// # Safety
/// All three have `size` bytes.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn __atomic_compare_exchange(
    size: usize,
    object: *mut c_void,
    expected: *mut c_void,
    value: *mut c_void,
    success: i32,
    failure: i32,
) -> bool {
    const ORDER: Ordering = Ordering::Relaxed;
    // SAFETY: as for a load.
    ordered(success | failure, || unsafe {
        match means(size, object) {
            Means::Word => {
                let (old, new) =
                    (expected.cast::<u32>().read_unaligned(), value.cast::<u32>().read_unaligned());
                let found = AtomicU32::from_ptr(object.cast()).compare_exchange(old, new, ORDER, ORDER);
                found.map_err(|found| expected.cast::<u32>().write_unaligned(found)).is_ok()
            }
            Means::DoubleWord => {
                let (old, new) =
                    (expected.cast::<u64>().read_unaligned(), value.cast::<u64>().read_unaligned());
                let found = AtomicU64::from_ptr(object.cast()).compare_exchange(old, new, ORDER, ORDER);
                found.map_err(|found| expected.cast::<u64>().write_unaligned(found)).is_ok()
            }
            Means::Lock => locked(object, || {
                let equal = same(object, expected, size);
                let (to, from) = if equal { (object, value) } else { (expected, object) };
                copy(to, from, size);
                equal
            }),
        }
    })
}
