//! Products of matrices and vectors: `matmul`, `dot_product`. flang has loops for most of them in the program's
//! own code; it calls these at low levels of optimisation, and of what is transposed.

use crate::descriptor::{Descriptor, Index, Kind};
use crate::device::{self, Line};
use crate::element::{Category, Complex, Number};
use crate::export::export;
use core::ffi::c_char;

/// A vector's or a matrix's element at a row and a column.
#[derive(Clone, Copy)]
struct Matrix {
    array: Descriptor,
    rows: i64,
    columns: i64,
    /// Which subscript the row is.
    row: usize,
}

impl Matrix {
    unsafe fn element<T>(self, row: i64, column: i64) -> T {
        let mut index = Index::default();
        index[1 - self.row] = column;
        index[self.row] = row;
        // SAFETY: as the caller says.
        unsafe { self.array.at(&index).cast::<T>().read_unaligned() }
    }
}

/// What stands to the left: a vector is one row.
unsafe fn left(array: Descriptor, transposed: bool) -> Matrix {
    // SAFETY: as the caller says.
    unsafe {
        if array.rank() == 1 {
            return Matrix { array, rows: 1, columns: array.extent(0), row: 1 };
        }
        let (rows, columns) = (array.extent(0), array.extent(1));
        if transposed {
            Matrix { array, rows: columns, columns: rows, row: 1 }
        } else {
            Matrix { array, rows, columns, row: 0 }
        }
    }
}

/// What stands to the right: a vector is one column.
unsafe fn right(array: Descriptor) -> Matrix {
    // SAFETY: as the caller says.
    unsafe {
        let columns = if array.rank() == 1 { 1 } else { array.extent(1) };
        Matrix { array, rows: array.extent(0), columns, row: 0 }
    }
}

/// How the product is handed over.
#[derive(Clone, Copy)]
enum Target {
    /// Described and allocated here.
    New,
    /// The program's own variable.
    Direct,
}

unsafe fn multiply<L: Copy, R: Copy, T: Number>(
    (result, one, other): (Descriptor, Descriptor, Descriptor),
    (transposed, target): (bool, Target),
    (kind, line): (Kind, Line),
    (from_left, from_right): (impl Fn(L) -> T, impl Fn(R) -> T),
) {
    // SAFETY: as the caller says.
    unsafe {
        let (left, right) = (left(one, transposed), right(other));
        if left.columns != right.rows {
            device::fail(line, c"the arguments of `matmul` do not conform");
        }
        let extents: &[i64] = match (one.rank(), other.rank()) {
            (1, _) => &[right.columns],
            (_, 1) => &[left.rows],
            _ => &[left.rows, right.columns],
        };
        if matches!(target, Target::New) {
            result.result(kind, extents, line);
        }
        let mut index = Index::default();
        for column in 0..right.columns {
            for row in 0..left.rows {
                let mut sum = T::ZERO;
                for at in 0..left.columns {
                    let pair = (left.element::<L>(row, at), right.element::<R>(at, column));
                    sum = sum.plus(from_left(pair.0).times(from_right(pair.1)));
                }
                result.at(&index).cast::<T>().write_unaligned(sum);
                result.next(&mut index);
            }
        }
    }
}

/// Logical values are 1 and 0; a sum of products that is not 0 is true.
#[derive(Clone, Copy)]
struct Truth<T>(T);

macro_rules! truths {
    ($($type:ident)*) => {$(
        impl Number for Truth<$type> {
            const ZERO: Self = Self(0);
            const ONE: Self = Self(1);
            fn plus(self, other: Self) -> Self { Self(self.0 | other.0) }
            fn times(self, other: Self) -> Self { Self($type::from(self.0 != 0 && other.0 != 0)) }
        }
    )*};
}

truths!(i8 i16 i32 i64);

const fn kind(category: i32, kind: i32) -> Kind {
    let bytes = if category == 3 { 2 * kind } else { kind };
    Kind { code: Category::code(category, kind), bytes: bytes as usize, derived: core::ptr::null() }
}

macro_rules! products {
    ($($new:ident $direct:ident $transposed:ident $direct_transposed:ident:
        $left:ty, $right:ty => $type:ty, $category:literal $kind:literal, $from_left:expr, $from_right:expr;)*) => {$(
        products! {@ $new $left, $right => $type, $category $kind, false, New, $from_left, $from_right}
        products! {@ $direct $left, $right => $type, $category $kind, false, Direct, $from_left, $from_right}
        products! {@ $transposed $left, $right => $type, $category $kind, true, New, $from_left, $from_right}
        products! {@ $direct_transposed $left, $right => $type, $category $kind, true, Direct, $from_left, $from_right}
    )*};
    (@ $name:ident $left:ty, $right:ty => $type:ty, $category:literal $kind:literal, $transposed:literal,
        $target:ident, $from_left:expr, $from_right:expr) => {
        export! {
            fn $name(result: Descriptor, one: Descriptor, other: Descriptor, file: *const c_char, line: i32) {
                multiply::<$left, $right, $type>(
                    (result, one, other),
                    ($transposed, Target::$target),
                    (kind($category, $kind), Line::new(file, line)),
                    ($from_left, $from_right),
                );
            }
        }
    };
}

fn same<T>(value: T) -> T {
    value
}

products! {
    MatmulInteger1Integer1 MatmulDirectInteger1Integer1 MatmulTransposeInteger1Integer1
        MatmulTransposeDirectInteger1Integer1: i8, i8 => i8, 0 1, same, same;
    MatmulInteger2Integer2 MatmulDirectInteger2Integer2 MatmulTransposeInteger2Integer2
        MatmulTransposeDirectInteger2Integer2: i16, i16 => i16, 0 2, same, same;
    MatmulInteger4Integer4 MatmulDirectInteger4Integer4 MatmulTransposeInteger4Integer4
        MatmulTransposeDirectInteger4Integer4: i32, i32 => i32, 0 4, same, same;
    MatmulInteger8Integer8 MatmulDirectInteger8Integer8 MatmulTransposeInteger8Integer8
        MatmulTransposeDirectInteger8Integer8: i64, i64 => i64, 0 8, same, same;
    MatmulReal4Real4 MatmulDirectReal4Real4 MatmulTransposeReal4Real4
        MatmulTransposeDirectReal4Real4: f32, f32 => f32, 2 4, same, same;
    MatmulReal8Real8 MatmulDirectReal8Real8 MatmulTransposeReal8Real8
        MatmulTransposeDirectReal8Real8: f64, f64 => f64, 2 8, same, same;
    MatmulReal4Real8 MatmulDirectReal4Real8 MatmulTransposeReal4Real8
        MatmulTransposeDirectReal4Real8: f32, f64 => f64, 2 8, f64::from, same;
    MatmulReal8Real4 MatmulDirectReal8Real4 MatmulTransposeReal8Real4
        MatmulTransposeDirectReal8Real4: f64, f32 => f64, 2 8, same, f64::from;
    MatmulInteger4Real4 MatmulDirectInteger4Real4 MatmulTransposeInteger4Real4
        MatmulTransposeDirectInteger4Real4: i32, f32 => f32, 2 4, |value| value as f32, same;
    MatmulInteger4Real8 MatmulDirectInteger4Real8 MatmulTransposeInteger4Real8
        MatmulTransposeDirectInteger4Real8: i32, f64 => f64, 2 8, f64::from, same;
    MatmulReal4Integer4 MatmulDirectReal4Integer4 MatmulTransposeReal4Integer4
        MatmulTransposeDirectReal4Integer4: f32, i32 => f32, 2 4, same, |value| value as f32;
    MatmulReal8Integer4 MatmulDirectReal8Integer4 MatmulTransposeReal8Integer4
        MatmulTransposeDirectReal8Integer4: f64, i32 => f64, 2 8, same, f64::from;
    MatmulComplex4Complex4 MatmulDirectComplex4Complex4 MatmulTransposeComplex4Complex4
        MatmulTransposeDirectComplex4Complex4: Complex<f32>, Complex<f32> => Complex<f32>, 3 4, same, same;
    MatmulComplex8Complex8 MatmulDirectComplex8Complex8 MatmulTransposeComplex8Complex8
        MatmulTransposeDirectComplex8Complex8: Complex<f64>, Complex<f64> => Complex<f64>, 3 8, same, same;
    MatmulLogical1Logical1 MatmulDirectLogical1Logical1 MatmulTransposeLogical1Logical1
        MatmulTransposeDirectLogical1Logical1: Truth<i8>, Truth<i8> => Truth<i8>, 5 1, same, same;
    MatmulLogical2Logical2 MatmulDirectLogical2Logical2 MatmulTransposeLogical2Logical2
        MatmulTransposeDirectLogical2Logical2: Truth<i16>, Truth<i16> => Truth<i16>, 5 2, same, same;
    MatmulLogical4Logical4 MatmulDirectLogical4Logical4 MatmulTransposeLogical4Logical4
        MatmulTransposeDirectLogical4Logical4: Truth<i32>, Truth<i32> => Truth<i32>, 5 4, same, same;
    MatmulLogical8Logical8 MatmulDirectLogical8Logical8 MatmulTransposeLogical8Logical8
        MatmulTransposeDirectLogical8Logical8: Truth<i64>, Truth<i64> => Truth<i64>, 5 8, same, same;
}

unsafe fn dot<T: Number>(one: Descriptor, other: Descriptor, line: Line, first: impl Fn(T) -> T) -> T {
    // SAFETY: as the caller says.
    unsafe {
        if one.extent(0) != other.extent(0) {
            device::fail(line, c"the arguments of `dot_product` are not of one size");
        }
        let (left, right) = (left(one, false), right(other));
        (0..left.columns).fold(T::ZERO, |sum, at| {
            sum.plus(first(left.element::<T>(0, at)).times(right.element::<T>(at, 0)))
        })
    }
}

macro_rules! dots {
    ($($type:ident $name:ident;)*) => {
        export! {$(
            fn $name(one: Descriptor, other: Descriptor, file: *const c_char, line: i32) -> $type {
                dot::<$type>(one, other, Line::new(file, line), same)
            }
        )*}
    };
}

dots! {
    i8 DotProductInteger1;
    i16 DotProductInteger2;
    i32 DotProductInteger4;
    i64 DotProductInteger8;
    f32 DotProductReal4;
    f64 DotProductReal8;
}

fn conjugate<T: core::ops::Neg<Output = T>>(value: Complex<T>) -> Complex<T> {
    Complex { real: value.real, imaginary: -value.imaginary }
}

export! {
    fn CppDotProductComplex4(
        result: *mut Complex<f32>,
        one: Descriptor,
        other: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        result.write(dot(one, other, Line::new(file, line), conjugate));
    }

    fn CppDotProductComplex8(
        result: *mut Complex<f64>,
        one: Descriptor,
        other: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        result.write(dot(one, other, Line::new(file, line), conjugate));
    }

    fn DotProductLogical(one: Descriptor, other: Descriptor, _file: *const c_char, _line: i32) -> bool {
        let at = |place| {
            let mut index = Index::default();
            index[0] = place;
            index
        };
        (0..one.extent(0)).any(|place| one.integer(&at(place)) != 0 && other.integer(&at(place)) != 0)
    }
}
