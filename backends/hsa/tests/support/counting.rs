//! Counts the calls of a driver's functions, whatever they take: behind each name stands a
//! few instructions that add one and jump on, with registers and stack as the caller left
//! them.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Functions that can be counted.
const MOST: usize = 96;

static COUNTS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
static TARGETS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Counts and calls the function that stands in its place.
#[unsafe(naked)]
unsafe extern "C" fn counted<const N: usize>() {
    std::arch::naked_asm!(
        "lea rax, [rip + {counts}]",
        "lock inc qword ptr [rax + 8 * {n}]",
        "lea rax, [rip + {targets}]",
        "jmp qword ptr [rax + 8 * {n}]",
        counts = sym COUNTS,
        targets = sym TARGETS,
        n = const N,
    )
}

macro_rules! shims {
    ($($n:literal)*) => { [$(counted::<$n>),*] };
}

static SHIMS: [unsafe extern "C" fn(); MOST] = shims! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
};

/// A function that counts and calls `target`; null for null.
pub fn count(name: &CStr, target: *mut c_void) -> *mut c_void {
    if target.is_null() {
        return target;
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let index = names.len();
    names.push(name.to_string_lossy().into_owned());
    TARGETS[index].store(target.addr(), Ordering::Release);
    SHIMS[index] as *mut c_void
}

fn now() -> Vec<u64> {
    COUNTS.iter().map(|count| count.load(Ordering::Acquire)).collect()
}

/// The calls that `work` makes, by name and number. Nothing else may call the driver.
pub fn calls(work: impl FnOnce()) -> Vec<(String, u64)> {
    let before = now();
    work();
    let difference = now().into_iter().zip(before).map(|(after, before)| after - before);
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.iter().cloned().zip(difference).filter(|(_, count)| *count > 0).collect()
}
