//! Elements of intrinsic types.

use crate::descriptor::Kind;

/// What a type is, by flang's code for it (`CFI_type_t`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Category {
    Integer,
    Unsigned,
    Real,
    Complex,
    Logical,
    Character,
    /// A derived type, or one that these functions do not compute with.
    Other,
}

impl Category {
    #[must_use]
    pub const fn of(code: i8) -> Self {
        match code {
            // int8_t to int128_t, and C's own names of them.
            1..=11 => Self::Integer,
            25..=31 => Self::Real,
            32..=38 => Self::Complex,
            // _Bool, and int_least16_t to int_least64_t.
            13..=15 | 39 => Self::Logical,
            40 | 43 | 44 => Self::Character,
            45..=49 => Self::Unsigned,
            _ => Self::Other,
        }
    }

    /// From the number that flang has for it (`TypeCategory`), as arguments have it.
    #[must_use]
    pub const fn code(number: i32, kind: i32) -> i8 {
        match (number, kind) {
            (0, 1) => 7,
            (0, 2) => 8,
            (0, 8) => 10,
            (0, 16) => 11,
            (0, _) => 9,
            (1, 1) => 45,
            (1, 2) => 46,
            (1, 8) => 48,
            (1, 16) => 49,
            (1, _) => 47,
            (2, 8) => 28,
            (2, _) => 27,
            (3, 8) => 35,
            (3, _) => 34,
            (4, 2) => 43,
            (4, 4) => 44,
            (4, _) => 40,
            (5, 1) => 39,
            (5, 2) => 13,
            (5, 8) => 15,
            (5, _) => 14,
            _ => STRUCTURE,
        }
    }
}

/// `CFI_type_struct`
pub const STRUCTURE: i8 = 42;

impl Kind {
    /// An integer of a kind that the program names.
    #[must_use]
    pub const fn integer(kind: i32) -> Self {
        Self { code: Category::code(0, kind), bytes: kind as usize, derived: core::ptr::null() }
    }

    #[must_use]
    pub const fn category(self) -> Category {
        Category::of(self.code)
    }
}

/// A complex number.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Complex<T> {
    pub real: T,
    pub imaginary: T,
}

/// What sums and products need.
pub trait Number: Copy {
    const ZERO: Self;
    const ONE: Self;
    #[must_use]
    fn plus(self, other: Self) -> Self;
    #[must_use]
    fn times(self, other: Self) -> Self;
}

/// What comparisons need.
pub trait Ordered: Copy {
    fn is_less(self, other: Self) -> bool;
    /// Not a number: it is less than nothing, and nothing less than it.
    fn is_unordered(self) -> bool;
    /// `maxval` and `minval` of nothing.
    const LOWEST: Self;
    const HIGHEST: Self;
}

/// Integers, for bits.
pub trait Bits: Copy {
    const NONE: Self;
    const ALL: Self;
    #[must_use]
    fn and(self, other: Self) -> Self;
    #[must_use]
    fn or(self, other: Self) -> Self;
    #[must_use]
    fn xor(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Number for $type {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
        impl Ordered for $type {
            fn is_less(self, other: Self) -> bool { self < other }
            fn is_unordered(self) -> bool { false }
            const LOWEST: Self = $type::MIN;
            const HIGHEST: Self = $type::MAX;
        }
        impl Bits for $type {
            const NONE: Self = 0;
            const ALL: Self = !0;
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128);

macro_rules! reals {
    ($($type:ident)*) => {$(
        impl Number for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
        }
        impl Ordered for $type {
            fn is_less(self, other: Self) -> bool { self < other }
            fn is_unordered(self) -> bool { self.is_nan() }
            const LOWEST: Self = -$type::MAX;
            const HIGHEST: Self = $type::MAX;
        }
        impl Number for Complex<$type> {
            const ZERO: Self = Self { real: 0.0, imaginary: 0.0 };
            const ONE: Self = Self { real: 1.0, imaginary: 0.0 };
            fn plus(self, other: Self) -> Self {
                Self { real: self.real + other.real, imaginary: self.imaginary + other.imaginary }
            }
            fn times(self, other: Self) -> Self {
                Self {
                    real: self.real * other.real - self.imaginary * other.imaginary,
                    imaginary: self.real * other.imaginary + self.imaginary * other.real,
                }
            }
        }
    )*};
}

reals!(f32 f64);

/// Runs an expression with a name for the type of a kind's elements. The list says which types it may be;
/// for others the last expression stands.
macro_rules! with_type {
    ($kind:expr, $name:ident in [$($category:ident $bytes:literal $type:ty),* $(,)?],
     $body:expr, else $other:expr) => {
        match ($kind.category(), $kind.bytes) {
            $(($crate::element::Category::$category, $bytes) => {
                type $name = $type;
                $body
            })*
            _ => $other,
        }
    };
}

/// All numbers.
macro_rules! with_number {
    ($kind:expr, $name:ident, $body:expr, else $other:expr) => {
        $crate::element::with_type!($kind, $name in [
            Integer 1 i8, Integer 2 i16, Integer 4 i32, Integer 8 i64, Integer 16 i128,
            Unsigned 1 u8, Unsigned 2 u16, Unsigned 4 u32, Unsigned 8 u64, Unsigned 16 u128,
            Real 4 f32, Real 8 f64,
            Complex 8 $crate::element::Complex<f32>, Complex 16 $crate::element::Complex<f64>,
        ], $body, else $other)
    };
}

/// Numbers that can be compared.
macro_rules! with_ordered {
    ($kind:expr, $name:ident, $body:expr, else $other:expr) => {
        $crate::element::with_type!($kind, $name in [
            Integer 1 i8, Integer 2 i16, Integer 4 i32, Integer 8 i64, Integer 16 i128,
            Unsigned 1 u8, Unsigned 2 u16, Unsigned 4 u32, Unsigned 8 u64, Unsigned 16 u128,
            Real 4 f32, Real 8 f64,
        ], $body, else $other)
    };
}

pub(crate) use {with_number, with_ordered, with_type};
