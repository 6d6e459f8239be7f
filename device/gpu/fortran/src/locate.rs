//! Where elements are: `maxloc`, `minloc`, `findloc`.

use crate::descriptor::{Descriptor, Index, Kind, write_integer};
use crate::device::{self, Line};
use crate::element::{Category, Complex, Ordered, with_ordered, with_type};
use crate::export::export;
use crate::rearrange::is_selected;
use crate::reduce::along;
use crate::text::Text;
use core::ffi::c_char;

/// Which one of several elements that are the same counts.
#[derive(Clone, Copy)]
struct Search {
    mask: Descriptor,
    back: bool,
    line: Line,
}

/// The subscripts of an element, from those of the array's first one on.
unsafe fn write_place(result: Descriptor, found: Option<Index>, rank: usize, kind: i32, line: Line) {
    let kind = Kind::integer(kind);
    // SAFETY: as the caller says.
    unsafe {
        result.result(kind, &[rank as i64], line);
        for at in 0..rank {
            let value = found.map_or(0, |index| index[at] + 1);
            write_integer(result.base().add(at * kind.bytes), kind.bytes, value);
        }
    }
}

/// The best element of all. `is_better` compares one with the best so far.
unsafe fn best<T: Copy>(
    array: Descriptor,
    search: Search,
    read: impl Fn(&Index) -> T,
    is_better: impl Fn(T, T) -> bool,
) -> Option<Index> {
    let mut index = Index::default();
    let mut found: Option<(Index, T)> = None;
    // SAFETY: as the caller says.
    unsafe {
        for _ in 0..array.elements() {
            if is_selected(search.mask, &index) {
                let value = read(&index);
                if found.is_none_or(|(_, best)| is_better(value, best)) {
                    found = Some((index, value));
                }
            }
            array.next(&mut index);
        }
    }
    found.map(|(index, _)| index)
}

/// Whether an element takes the place of the best one: it is further on, or the same and `back` is given, or
/// the best one is no number.
fn is_better<T: Ordered>(value: T, best: T, greatest: bool, back: bool) -> bool {
    if value.is_unordered() {
        return best.is_unordered() && back;
    }
    let further = if greatest { best.is_less(value) } else { value.is_less(best) };
    let worse = if greatest { value.is_less(best) } else { best.is_less(value) };
    further || best.is_unordered() || back && !worse
}

unsafe fn extreme<T: Ordered>(
    result: Descriptor,
    array: Descriptor,
    kind: i32,
    search: Search,
    greatest: bool,
) {
    // SAFETY: as the caller says.
    unsafe {
        let read = |index: &Index| array.at(index).cast::<T>().read_unaligned();
        let found = best(array, search, read, |value, best| is_better(value, best, greatest, search.back));
        write_place(result, found, array.rank(), kind, search.line);
    }
}

unsafe fn extreme_text(result: Descriptor, array: Descriptor, kind: i32, search: Search, greatest: bool) {
    // SAFETY: as the caller says.
    unsafe {
        let read = |index: &Index| Text::element(array, index);
        let found = best(array, search, read, |value, best| {
            let order = value.compare(best) * if greatest { 1 } else { -1 };
            order > 0 || search.back && order == 0
        });
        write_place(result, found, array.rank(), kind, search.line);
    }
}

unsafe fn extreme_along(
    result: Descriptor,
    array: Descriptor,
    kind: i32,
    dimension: i32,
    search: Search,
    greatest: bool,
) {
    let answer = Kind::integer(kind);
    // SAFETY: as the caller says.
    unsafe {
        with_ordered!(array.kind(), T, {
            along(result, array, dimension, answer, search.line, |to, first, at, length| {
                let (mut index, mut found, mut best) = (first, 0, None);
                for place in 0..length {
                    index[at] = place;
                    let value = array.at(&index).cast::<T>().read_unaligned();
                    let better = best.is_none_or(|best| is_better(value, best, greatest, search.back));
                    if is_selected(search.mask, &index) && better {
                        (found, best) = (place + 1, Some(value));
                    }
                }
                write_integer(to, answer.bytes, found);
            });
        }, else device::fail(search.line, c"`maxloc` and `minloc` of this type are not there on a GPU"))
    }
}

macro_rules! extremes {
    ($($type:ident $maxloc:ident $minloc:ident;)*) => {
        extremes! {@ $($maxloc extreme::<$type>, true; $minloc extreme::<$type>, false;)*
            MaxlocCharacter extreme_text, true; MinlocCharacter extreme_text, false;}
    };
    (@ $($name:ident $function:expr, $greatest:literal;)*) => {
        export! {$(
            fn $name(
                result: Descriptor,
                array: Descriptor,
                kind: i32,
                file: *const c_char,
                line: i32,
                mask: Descriptor,
                back: bool,
            ) {
                let search = Search { mask, back, line: Line::new(file, line) };
                $function(result, array, kind, search, $greatest);
            }
        )*}
    };
}

extremes! {
    i8 MaxlocInteger1 MinlocInteger1;
    i16 MaxlocInteger2 MinlocInteger2;
    i32 MaxlocInteger4 MinlocInteger4;
    i64 MaxlocInteger8 MinlocInteger8;
    u8 MaxlocUnsigned1 MinlocUnsigned1;
    u16 MaxlocUnsigned2 MinlocUnsigned2;
    u32 MaxlocUnsigned4 MinlocUnsigned4;
    u64 MaxlocUnsigned8 MinlocUnsigned8;
    f32 MaxlocReal4 MinlocReal4;
    f64 MaxlocReal8 MinlocReal8;
}

/// Whether an element is the one that is looked for, which may be of another type.
unsafe fn is_same(array: Descriptor, index: &Index, target: Descriptor) -> bool {
    let own = Index::default();
    // SAFETY: as the caller says.
    unsafe {
        let element = Value::read(array, index);
        match (element, Value::read(target, &own)) {
            (Value::Integer(one), Value::Integer(other)) => one == other,
            (Value::Text(one), Value::Text(other)) => one.compare(other) == 0,
            (Value::Logical(one), Value::Logical(other)) => one == other,
            (one, other) => match (one.complex(), other.complex()) {
                (Some(one), Some(other)) => one == other,
                _ => device::fail(Line::UNKNOWN, c"`findloc` of these types is not there on a GPU"),
            },
        }
    }
}

#[derive(Clone, Copy)]
enum Value {
    /// Of up to 8 bytes: LLVM has no conversion of larger ones to reals for GPUs.
    Integer(i64),
    Number(Complex<f64>),
    Logical(bool),
    Text(Text),
    Unknown,
}

impl Value {
    #[allow(clippy::unnecessary_cast, reason = "the type is each one of a list")]
    unsafe fn read(array: Descriptor, index: &Index) -> Self {
        let number = |real, imaginary| Self::Number(Complex { real, imaginary });
        // SAFETY: as the caller says.
        unsafe {
            let (kind, place) = (array.kind(), array.at(index));
            match kind.category() {
                Category::Logical => Self::Logical(array.integer(index) != 0),
                Category::Character => Self::Text(Text::element(array, index)),
                Category::Integer | Category::Unsigned => with_type!(kind, T in [
                        Integer 1 i8, Integer 2 i16, Integer 4 i32, Integer 8 i64,
                        Unsigned 1 u8, Unsigned 2 u16, Unsigned 4 u32, Unsigned 8 u64,
                    ], Self::Integer(place.cast::<T>().read_unaligned() as i64), else Self::Unknown),
                Category::Real => with_type!(kind, T in [Real 4 f32, Real 8 f64],
                    number(place.cast::<T>().read_unaligned() as f64, 0.0), else Self::Unknown),
                Category::Complex => with_type!(kind, T in [
                        Complex 8 Complex<f32>, Complex 16 Complex<f64>,
                    ], {
                        let value = place.cast::<T>().read_unaligned();
                        number(value.real as f64, value.imaginary as f64)
                    }, else Self::Unknown),
                Category::Other => Self::Unknown,
            }
        }
    }

    fn complex(self) -> Option<Complex<f64>> {
        match self {
            Self::Integer(value) => Some(Complex { real: value as f64, imaginary: 0.0 }),
            Self::Number(value) => Some(value),
            _ => None,
        }
    }
}

macro_rules! along_dimension {
    ($($name:ident $greatest:literal;)*) => {
        export! {$(
            fn $name(
                result: Descriptor,
                array: Descriptor,
                kind: i32,
                dimension: i32,
                file: *const c_char,
                line: i32,
                mask: Descriptor,
                back: bool,
            ) {
                let search = Search { mask, back, line: Line::new(file, line) };
                extreme_along(result, array, kind, dimension, search, $greatest);
            }
        )*}
    };
}

along_dimension! {
    MaxlocDim true;
    MinlocDim false;
}

export! {
    fn Findloc(
        result: Descriptor,
        array: Descriptor,
        target: Descriptor,
        kind: i32,
        file: *const c_char,
        line: i32,
        mask: Descriptor,
        back: bool,
    ) {
        let mut index = Index::default();
        let mut found = None;
        for _ in 0..array.elements() {
            if (found.is_none() || back) && is_selected(mask, &index) && is_same(array, &index, target) {
                found = Some(index);
            }
            array.next(&mut index);
        }
        write_place(result, found, array.rank(), kind, Line::new(file, line));
    }

    fn FindlocDim(
        result: Descriptor,
        array: Descriptor,
        target: Descriptor,
        kind: i32,
        dimension: i32,
        file: *const c_char,
        line: i32,
        mask: Descriptor,
        back: bool,
    ) {
        let answer = Kind::integer(kind);
        along(result, array, dimension, answer, Line::new(file, line), |to, first, at, length| {
            let (mut index, mut found) = (first, 0);
            for place in 0..length {
                index[at] = place;
                let counts = (found == 0 || back) && is_selected(mask, &index);
                if counts && is_same(array, &index, target) {
                    found = place + 1;
                }
            }
            write_integer(to, answer.bytes, found);
        });
    }
}
