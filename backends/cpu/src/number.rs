//! What an image hears about the device it runs on.
//!
//! `omp_get_device_num` in an image would be taken from libomp, which answers for the
//! host. An image is loaded once per device, so each gets a function of its own that
//! answers for its device; `module` ties it in before the loader sees
//! the image, so that initialisers get the right answer, too.

use crate::config::MAX_DEVICES;
use crate::elf;
use std::sync::atomic::{AtomicI32, Ordering};

/// The names by which C and Fortran ask.
const NAMES: [&[u8]; 2] = [b"omp_get_device_num", b"omp_get_device_num_"];

/// What programs call the device of each ordinal.
static NUMBERS: [AtomicI32; MAX_DEVICES] = [const { AtomicI32::new(0) }; MAX_DEVICES];

/// One function per ordinal: code cannot be told apart by data, as an image's threads
/// are any threads.
static FUNCTIONS: [extern "C" fn() -> i32; MAX_DEVICES] = functions();

extern "C" fn number_of<const ORDINAL: usize>() -> i32 {
    NUMBERS[ORDINAL].load(Ordering::Relaxed)
}

/// Notes what programs call the device `ordinal`.
pub(crate) fn set(ordinal: usize, number: i32) {
    NUMBERS[ordinal].store(number, Ordering::Relaxed);
}

/// Makes a checked image that is about to be loaded on a device ask that device for
/// its number.
pub(crate) fn tie_in(image: &mut [u8], ordinal: usize) {
    let address = FUNCTIONS[ordinal] as *const () as u64;
    for name in NAMES {
        elf::define(image, name, address);
    }
}

const fn functions() -> [extern "C" fn() -> i32; MAX_DEVICES] {
    macro_rules! of {
        ($($ordinal:literal)*) => { [$(number_of::<$ordinal>),*] };
    }
    of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60
        61 62 63)
}
