//! Arithmetic of integers (C11 7.22.2, 7.22.6).

use crate::export::export;
use core::ffi::{c_int, c_long, c_longlong, c_uint};
use core::sync::atomic::{AtomicU32, Ordering};

/// A quotient and a remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Division<T> {
    pub quotient: T,
    pub remainder: T,
}

/// What the device's threads have drawn together. A program without `srand` starts at 1.
static DRAWN: AtomicU32 = AtomicU32::new(1);

/// The number that belongs to a state: MurmurHash3's finaliser, whose results do not follow each
/// other visibly.
fn mixed(state: u32) -> u32 {
    let state = (state ^ state >> 16).wrapping_mul(0x85eb_ca6b);
    let state = (state ^ state >> 13).wrapping_mul(0xc2b2_ae35);
    state ^ state >> 16
}

/// Between two states.
const STEP: u32 = 0x9e37_79b9;

/// As `RAND_MAX` of glibc's headers says.
const LARGEST: u32 = 0x7fff_ffff;

macro_rules! arithmetic {
    ($($type:ty: $absolute:ident $divide:ident;)*) => { export! {$(
        /// The absolute value.
        fn $absolute(number: $type) -> $type { number.wrapping_abs() }

        /// Quotient and remainder.
        fn $divide(number: $type, divisor: $type) -> Division<$type> {
            let quotient = number.wrapping_div(divisor);
            Division { quotient, remainder: number.wrapping_rem(divisor) }
        }
    )*} };
}

arithmetic! {
    c_int: abs div;
    c_long: labs ldiv;
    c_longlong: llabs lldiv;
}

export! {
    /// A number that looks random; each call on the device gets another one.
    fn rand() -> c_int {
        (mixed(DRAWN.fetch_add(STEP, Ordering::Relaxed)) & LARGEST) as c_int
    }

    /// The same numbers again, where one thread draws.
    fn srand(seed: c_uint) { DRAWN.store(seed, Ordering::Relaxed); }

    /// The same with a state of the caller's.
    fn rand_r(state: *mut c_uint) -> c_int {
        let before = state.read();
        state.write(before.wrapping_add(STEP));
        (mixed(before) & LARGEST) as c_int
    }
}
