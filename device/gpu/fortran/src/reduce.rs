//! Reductions of arrays: `sum`, `product`, `maxval`, `minval`, `iall`, `iany`, `iparity`, `all`, `any`,
//! `count`, `parity`, `norm2`.
//!
//! What answers a scalar has a function for each type; what reduces along a dimension gets the type with the
//! array, and answers an array.

use crate::descriptor::{Descriptor, Index, Kind, write_integer};
use crate::device::{self, Line};
use crate::element::{Bits, Complex, Number, Ordered, with_number, with_ordered, with_type};
use crate::export::export;
use crate::rearrange::{extents, is_selected};
use core::ffi::c_char;

/// Combines all elements that a mask selects.
///
/// # Safety
/// The array's elements are of this type; the mask is null or conforms.
pub unsafe fn fold<T: Copy, A>(
    array: Descriptor,
    mask: Descriptor,
    start: A,
    combine: impl Fn(A, T) -> A,
) -> A {
    let mut index = Index::default();
    let mut value = start;
    // SAFETY: as the caller says.
    unsafe {
        for _ in 0..array.elements() {
            if is_selected(mask, &index) {
                value = combine(value, array.at(&index).cast::<T>().read_unaligned());
            }
            array.next(&mut index);
        }
    }
    value
}

/// A result with one element for each section along a dimension, which `write` makes of the first subscripts
/// of a section, and how many elements it has.
///
/// # Safety
/// They are flang's.
pub unsafe fn along(
    result: Descriptor,
    array: Descriptor,
    dimension: i32,
    kind: Kind,
    line: Line,
    write: impl Fn(*mut u8, Index, usize, i64),
) {
    // SAFETY: as the caller says.
    unsafe {
        let (mut sizes, rank) = extents(array);
        let at = (dimension - 1) as usize;
        if at >= rank {
            device::fail(line, c"`dim` is not one of the array's dimensions");
        }
        let length = sizes[at];
        sizes.copy_within(at + 1.., at);
        result.result(kind, &sizes[..rank - 1], line);
        let mut section = Index::default();
        for _ in 0..result.elements() {
            let mut first = section;
            first.copy_within(at..crate::descriptor::RANKS - 1, at + 1);
            first[at] = 0;
            write(result.at(&section), first, at, length);
            result.next(&mut section);
        }
    }
}

/// The same with elements of one type that are combined.
unsafe fn fold_along<T: Copy, A: Copy>(
    (result, array, dimension, mask): (Descriptor, Descriptor, i32, Descriptor),
    (kind, line): (Kind, Line),
    start: A,
    combine: impl Fn(A, T) -> A,
    finish: impl Fn(*mut u8, A),
) {
    // SAFETY: as the caller says.
    unsafe {
        along(result, array, dimension, kind, line, |to, first, at, length| {
            let (mut index, mut value) = (first, start);
            for place in 0..length {
                index[at] = place;
                if is_selected(mask, &index) {
                    value = combine(value, array.at(&index).cast::<T>().read_unaligned());
                }
            }
            finish(to, value);
        });
    }
}

macro_rules! scalars {
    ($($type:ident [$($name:ident $start:expr, $combine:expr;)*])*) => {
        export! {$($(
            fn $name(array: Descriptor, _file: *const c_char, _line: i32, _dimension: i32, mask: Descriptor) -> $type {
                fold::<$type, $type>(array, mask, $start, $combine)
            }
        )*)*}
    };
}

/// The greater one; a number instead of none.
fn greater<T: Ordered>(one: T, other: T) -> T {
    if one.is_less(other) || one.is_unordered() { other } else { one }
}

fn smaller<T: Ordered>(one: T, other: T) -> T {
    if other.is_less(one) || one.is_unordered() { other } else { one }
}

macro_rules! of_type {
    ($($type:ident $sum:ident $product:ident $maximum:ident $minimum:ident;)*) => {
        scalars! {$(
            $type [
                $sum $type::ZERO, Number::plus;
                $product $type::ONE, Number::times;
                $maximum $type::LOWEST, greater;
                $minimum $type::HIGHEST, smaller;
            ]
        )*}
    };
}

of_type! {
    i8 SumInteger1 ProductInteger1 MaxvalInteger1 MinvalInteger1;
    i16 SumInteger2 ProductInteger2 MaxvalInteger2 MinvalInteger2;
    i32 SumInteger4 ProductInteger4 MaxvalInteger4 MinvalInteger4;
    i64 SumInteger8 ProductInteger8 MaxvalInteger8 MinvalInteger8;
    u8 SumUnsigned1 ProductUnsigned1 MaxvalUnsigned1 MinvalUnsigned1;
    u16 SumUnsigned2 ProductUnsigned2 MaxvalUnsigned2 MinvalUnsigned2;
    u32 SumUnsigned4 ProductUnsigned4 MaxvalUnsigned4 MinvalUnsigned4;
    u64 SumUnsigned8 ProductUnsigned8 MaxvalUnsigned8 MinvalUnsigned8;
    f32 SumReal4 ProductReal4 MaxvalReal4 MinvalReal4;
    f64 SumReal8 ProductReal8 MaxvalReal8 MinvalReal8;
}

scalars! {
    i8 [IAll1 i8::ALL, Bits::and; IAny1 i8::NONE, Bits::or; IParity1 i8::NONE, Bits::xor;]
    i16 [IAll2 i16::ALL, Bits::and; IAny2 i16::NONE, Bits::or; IParity2 i16::NONE, Bits::xor;]
    i32 [IAll4 i32::ALL, Bits::and; IAny4 i32::NONE, Bits::or; IParity4 i32::NONE, Bits::xor;]
    i64 [IAll8 i64::ALL, Bits::and; IAny8 i64::NONE, Bits::or; IParity8 i64::NONE, Bits::xor;]
}

macro_rules! complex {
    ($($type:ident $sum:ident $product:ident;)*) => {
        export! {$(
            fn $sum(
                result: *mut Complex<$type>,
                array: Descriptor,
                _file: *const c_char,
                _line: i32,
                _dimension: i32,
                mask: Descriptor,
            ) {
                result.write(fold(array, mask, Complex::<$type>::ZERO, Number::plus));
            }

            fn $product(
                result: *mut Complex<$type>,
                array: Descriptor,
                _file: *const c_char,
                _line: i32,
                _dimension: i32,
                mask: Descriptor,
            ) {
                result.write(fold(array, mask, Complex::<$type>::ONE, Number::times));
            }
        )*}
    };
}

complex! {
    f32 CppSumComplex4 CppProductComplex4;
    f64 CppSumComplex8 CppProductComplex8;
}

fn unknown(line: Line) -> ! {
    device::fail(line, c"a reduction of elements of this type is not there on a GPU")
}

macro_rules! along_dimension {
    ($($name:ident $with:ident $start:ident $combine:expr;)*) => {
        export! {$(
            fn $name(
                result: Descriptor,
                array: Descriptor,
                dimension: i32,
                file: *const c_char,
                line: i32,
                mask: Descriptor,
            ) {
                let (line, kind) = (Line::new(file, line), array.kind());
                let what = (result, array, dimension, mask);
                $with!(kind, T, fold_along::<T, T>(what, (kind, line), T::$start, $combine, |to, value| {
                    to.cast::<T>().write_unaligned(value);
                }), else unknown(line));
            }
        )*}
    };
}

macro_rules! with_bits {
    ($kind:expr, $name:ident, $body:expr, else $other:expr) => {
        with_type!($kind, $name in [
            Integer 1 i8, Integer 2 i16, Integer 4 i32, Integer 8 i64, Integer 16 i128,
            Unsigned 1 i8, Unsigned 2 i16, Unsigned 4 i32, Unsigned 8 i64, Unsigned 16 i128,
        ], $body, else $other)
    };
}

along_dimension! {
    SumDim with_number ZERO Number::plus;
    ProductDim with_number ONE Number::times;
    MaxvalDim with_ordered LOWEST greater;
    MinvalDim with_ordered HIGHEST smaller;
    IAllDim with_bits ALL Bits::and;
    IAnyDim with_bits NONE Bits::or;
    IParityDim with_bits NONE Bits::xor;
}

/// How many elements of a logical array are true.
unsafe fn count(array: Descriptor) -> i64 {
    let mut index = Index::default();
    let mut count = 0;
    // SAFETY: as the caller says.
    unsafe {
        for _ in 0..array.elements() {
            count += i64::from(array.integer(&index) != 0);
            array.next(&mut index);
        }
    }
    count
}

/// The same along a dimension, as what `answer` makes of it and of the section's length.
unsafe fn count_along(
    result: Descriptor,
    array: Descriptor,
    dimension: i32,
    kind: Kind,
    line: Line,
    answer: impl Fn(i64, i64) -> i64,
) {
    // SAFETY: as the caller says.
    unsafe {
        along(result, array, dimension, kind, line, |to, first, at, length| {
            let mut index = first;
            let mut count = 0;
            for place in 0..length {
                index[at] = place;
                count += i64::from(array.integer(&index) != 0);
            }
            write_integer(to, kind.bytes, answer(count, length));
        });
    }
}

macro_rules! logical {
    ($($name:ident $dimensional:ident $answer:expr;)*) => {
        export! {$(
            fn $name(array: Descriptor, _file: *const c_char, _line: i32, _dimension: i32) -> bool {
                let answer: fn(i64, i64) -> bool = $answer;
                answer(count(array), array.elements() as i64)
            }

            fn $dimensional(result: Descriptor, array: Descriptor, dimension: i32, file: *const c_char, line: i32) {
                let answer: fn(i64, i64) -> bool = $answer;
                let line = Line::new(file, line);
                count_along(result, array, dimension, array.kind(), line, |count, length| {
                    i64::from(answer(count, length))
                });
            }
        )*}
    };
}

logical! {
    All AllDim |count, length| count == length;
    Any AnyDim |count, _| count > 0;
    Parity ParityDim |count, _| count % 2 != 0;
}

/// The root of a sum of squares, which may neither overflow nor vanish on the way.
#[derive(Clone, Copy)]
struct Norm {
    largest: f64,
    sum: f64,
}

impl Norm {
    const NONE: Self = Self { largest: 0.0, sum: 0.0 };

    fn and(self, value: f64) -> Self {
        let value = value.abs();
        if value.is_nan() || value == 0.0 {
            return if value == 0.0 { self } else { Self { largest: value, sum: value } };
        }
        if value > self.largest {
            let ratio = self.largest / value;
            Self { largest: value, sum: 1.0 + self.sum * ratio * ratio }
        } else {
            let ratio = value / self.largest;
            Self { sum: self.sum + ratio * ratio, ..self }
        }
    }

    fn root(self) -> f64 {
        if self.largest.is_infinite() { self.largest } else { self.largest * root(self.sum) }
    }
}

/// The square root: an instruction of the GPU.
fn root(value: f64) -> f64 {
    #[cfg(gpu)]
    return core::intrinsics::sqrtf64(value);
    #[cfg(not(gpu))]
    value.sqrt()
}

export! {
    fn Count(array: Descriptor, _file: *const c_char, _line: i32, _dimension: i32) -> i64 {
        count(array)
    }

    fn CountDim(result: Descriptor, array: Descriptor, dimension: i32, kind: i32, file: *const c_char, line: i32) {
        let line = Line::new(file, line);
        count_along(result, array, dimension, Kind::integer(kind), line, |count, _| count);
    }

    fn Norm2_4(array: Descriptor, _file: *const c_char, _line: i32, _dimension: i32) -> f32 {
        fold(array, NO_MASK, Norm::NONE, |norm, value: f32| norm.and(f64::from(value))).root() as f32
    }

    fn Norm2_8(array: Descriptor, _file: *const c_char, _line: i32, _dimension: i32) -> f64 {
        fold(array, NO_MASK, Norm::NONE, |norm, value: f64| norm.and(value)).root()
    }

    #[allow(clippy::useless_conversion, reason = "the type is each one of a list")]
    fn Norm2Dim(result: Descriptor, array: Descriptor, dimension: i32, file: *const c_char, line: i32) {
        let (kind, line) = (array.kind(), Line::new(file, line));
        let what = (result, array, dimension, NO_MASK);
        with_type!(kind, T in [Real 4 f32, Real 8 f64],
            fold_along::<T, Norm>(what, (kind, line), Norm::NONE, |norm, value| norm.and(value.into()), |to, norm| {
                to.cast::<T>().write_unaligned(norm.root() as T);
            }), else unknown(line));
    }
}

/// No mask is given.
const NO_MASK: Descriptor = Descriptor::NULL;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_neither_overflow_nor_vanish() {
        let norm = |values: &[f64]| values.iter().fold(Norm::NONE, |norm, value| norm.and(*value)).root();
        assert_eq!(norm(&[3.0, -4.0]), 5.0);
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert_eq!(norm(&[]), 0.0);
        assert!(norm(&[1.0, f64::NAN, 2.0]).is_nan());
        assert_eq!(norm(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
    }
}
