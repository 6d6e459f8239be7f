//! What a program asks of variables and of numbers' kinds, and the time.

use crate::descriptor::{Descriptor, integer_at, write_integer};
use crate::device::{self, Line};
use crate::export::export;
use crate::target;
use core::ffi::{c_char, c_void};

/// One bound or extent of each dimension, as an array.
unsafe fn each(result: *mut c_void, array: Descriptor, kind: i32, value: impl Fn(usize) -> i64) {
    // SAFETY: as the caller says: flang has the room for as many integers as there are dimensions.
    unsafe {
        for at in 0..array.rank() {
            write_integer(result.cast::<u8>().add(at * kind as usize), kind as usize, value(at));
        }
    }
}

unsafe fn dimension(array: Descriptor, dimension: i32, line: Line) -> usize {
    // SAFETY: as the caller says.
    if dimension < 1 || dimension as usize > unsafe { array.rank() } {
        device::fail(line, c"`dim` is not one of the array's dimensions");
    }
    dimension as usize - 1
}

unsafe fn lower(array: Descriptor, at: usize) -> i64 {
    // SAFETY: as the caller says.
    unsafe { if array.extent(at) == 0 { 1 } else { array.dimension(at).lower } }
}

unsafe fn upper(array: Descriptor, at: usize) -> i64 {
    // SAFETY: as the caller says.
    unsafe { lower(array, at) + array.extent(at) - 1 }
}

/// The smallest kind of integers with so many decimal digits.
fn integer_kind(digits: i64) -> i32 {
    match digits {
        ..=2 => 1,
        3..=4 => 2,
        5..=9 => 4,
        10..=18 => 8,
        19..=38 => 16,
        _ => -1,
    }
}

/// The smallest kind of reals with so many decimal digits and such an exponent, of those that GPUs have.
fn real_kind(digits: i64, range: i64, radix: i64) -> i32 {
    if radix != 2 {
        return -5;
    }
    let by_digits = match digits {
        ..=6 => 4,
        7..=15 => 8,
        _ => -1,
    };
    let by_range = match range {
        ..=37 => 4,
        38..=307 => 8,
        _ => -2,
    };
    if by_digits < 0 || by_range < 0 { by_digits.min(0) + by_range.min(0) } else { by_digits.max(by_range) }
}

/// An argument of a kind, or its default.
unsafe fn argument(place: *const u8, bytes: i32, default: i64) -> i64 {
    // SAFETY: as the caller says.
    if place.is_null() { default } else { unsafe { integer_at(place, bytes as usize) } }
}

export! {
    fn IsContiguous(variable: Descriptor) -> bool {
        variable.is_contiguous()
    }

    /// In the first dimensions.
    fn IsContiguousUpTo(variable: Descriptor, dimensions: i32) -> bool {
        let mut bytes = variable.element() as i64;
        (0..(dimensions as usize).min(variable.rank())).all(|at| {
            let fits = variable.extent(at) <= 1 || variable.dimension(at).stride == bytes;
            bytes *= variable.extent(at);
            fits
        })
    }

    fn IsAssumedSize(variable: Descriptor) -> bool {
        variable.rank() > 0 && variable.dimension(variable.rank() - 1).extent == -1
    }

    fn Size(array: Descriptor, _file: *const c_char, _line: i32) -> i64 {
        array.elements() as i64
    }

    fn SizeDim(array: Descriptor, at: i32, file: *const c_char, line: i32) -> i64 {
        array.extent(dimension(array, at, Line::new(file, line)))
    }

    fn Shape(result: *mut c_void, array: Descriptor, kind: i32, _file: *const c_char, _line: i32) {
        each(result, array, kind, |at| array.extent(at));
    }

    fn Lbound(result: *mut c_void, array: Descriptor, kind: i32, _file: *const c_char, _line: i32) {
        each(result, array, kind, |at| lower(array, at));
    }

    fn Ubound(result: *mut c_void, array: Descriptor, kind: i32, _file: *const c_char, _line: i32) {
        each(result, array, kind, |at| upper(array, at));
    }

    fn LboundDim(array: Descriptor, at: i32, file: *const c_char, line: i32) -> i64 {
        lower(array, dimension(array, at, Line::new(file, line)))
    }

    fn SelectedIntKind(_file: *const c_char, _line: i32, digits: *const u8, bytes: i32) -> i32 {
        integer_kind(argument(digits, bytes, 0))
    }

    fn SelectedRealKind(
        _file: *const c_char,
        _line: i32,
        digits: *const u8,
        digits_bytes: i32,
        range: *const u8,
        range_bytes: i32,
        radix: *const u8,
        radix_bytes: i32,
    ) -> i32 {
        real_kind(argument(digits, digits_bytes, 0), argument(range, range_bytes, 0), argument(radix, radix_bytes, 2))
    }

    /// Of the device's clock: threads have none of their own.
    fn CpuTime() -> f64 {
        target::nanoseconds() as f64 * 1e-9
    }

    /// In nanoseconds where the integer has room for them, else in milliseconds.
    fn SystemClockCount(kind: i32) -> i64 {
        clock(target::nanoseconds(), kind)
    }

    fn SystemClockCountRate(kind: i32) -> i64 {
        if kind >= 8 { 1_000_000_000 } else { 1000 }
    }

    fn SystemClockCountMax(kind: i32) -> i64 {
        largest(kind)
    }
}

fn largest(kind: i32) -> i64 {
    if kind >= 8 { i64::MAX } else { (1 << (8 * kind - 1)) - 1 }
}

fn clock(nanoseconds: u64, kind: i32) -> i64 {
    if kind >= 8 {
        (nanoseconds & i64::MAX as u64) as i64
    } else {
        ((nanoseconds / 1_000_000) % (largest(kind) as u64 + 1)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_the_smallest_that_do() {
        assert_eq!([2, 4, 9, 18, 38, 39].map(integer_kind), [1, 2, 4, 8, 16, -1]);
        assert_eq!(
            [(6, 37), (7, 0), (0, 38), (16, 0), (0, 400)].map(|(p, r)| real_kind(p, r, 2)),
            [4, 8, 8, -1, -2]
        );
    }

    #[test]
    fn clocks_fit_into_their_integers() {
        assert_eq!(clock(5_000_000_000, 8), 5_000_000_000);
        assert_eq!(clock(5_000_000_000, 4), 5000);
        assert_eq!(clock(40_000_000_000, 2), 40_000 % 32_768);
    }
}
