//! `cshift` and `eoshift`.

use crate::descriptor::{Descriptor, Index};
use crate::device::{self, Line};
use crate::element::Category;
use crate::export::export;
use crate::letter::{letter_bytes, write_letter};
use crate::rearrange::{copy_element, extents};
use core::ffi::c_char;

/// The subscripts of a section: those of an element without one of them.
///
/// # Safety
/// The dimension is one of the array's.
#[must_use]
pub fn without(index: &Index, dimension: usize) -> Index {
    let mut section = *index;
    section.copy_within(dimension + 1.., dimension);
    section
}

/// How far the section of an element is shifted.
#[derive(Clone, Copy)]
enum Shift {
    Same(i64),
    /// A scalar, or an array with a value for each section.
    Each(Descriptor),
}

impl Shift {
    unsafe fn of(self, index: &Index, dimension: usize) -> i64 {
        match self {
            Self::Same(shift) => shift,
            // SAFETY: as the caller says.
            Self::Each(shifts) => unsafe { shifts.integer(&without(index, dimension)) },
        }
    }
}

unsafe fn shift(
    result: Descriptor,
    source: Descriptor,
    shift: Shift,
    dimension: i32,
    line: Line,
    fill: Option<Descriptor>,
) {
    // SAFETY: as the caller says.
    unsafe {
        let (sizes, rank) = extents(source);
        let at = (dimension - 1) as usize;
        if at >= rank {
            device::fail(line, c"`dim` of a shift is not one of the array's dimensions");
        }
        result.result(source.kind(), &sizes[..rank], line);
        let mut index = Index::default();
        for _ in 0..result.elements() {
            let moved = index[at] + shift.of(&index, at);
            let mut from = index;
            let to = result.at(&index);
            match fill {
                Some(boundary) if moved < 0 || moved >= sizes[at] => {
                    fill_end(to, source, boundary, &without(&index, at), line);
                }
                _ => {
                    from[at] = moved.rem_euclid(sizes[at]);
                    copy_element(to, source.at(&from), source, line);
                }
            }
            result.next(&mut index);
        }
    }
}

/// What comes in at an end: the boundary's value, or zero, blanks, `.false.`.
unsafe fn fill_end(to: *mut u8, source: Descriptor, boundary: Descriptor, section: &Index, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        if !boundary.is_null() {
            copy_element(to, boundary.at(section), source, line);
        } else if Category::of(source.code()) == Category::Character {
            let bytes = letter_bytes(source.code());
            for at in (0..source.element()).step_by(bytes) {
                write_letter(to.add(at), bytes, u32::from(b' '));
            }
        } else if !source.derived().is_null() {
            device::fail(line, c"`eoshift` of a derived type needs a boundary");
        } else {
            core::ptr::write_bytes(to, 0, source.element());
        }
    }
}

export! {
    fn Cshift(result: Descriptor, source: Descriptor, by: Descriptor, dimension: i32, file: *const c_char, line: i32) {
        shift(result, source, Shift::Each(by), dimension, Line::new(file, line), None);
    }

    fn CshiftVector(result: Descriptor, source: Descriptor, by: i64, file: *const c_char, line: i32) {
        shift(result, source, Shift::Same(by), 1, Line::new(file, line), None);
    }

    fn Eoshift(
        result: Descriptor,
        source: Descriptor,
        by: Descriptor,
        boundary: Descriptor,
        dimension: i32,
        file: *const c_char,
        line: i32,
    ) {
        shift(result, source, Shift::Each(by), dimension, Line::new(file, line), Some(boundary));
    }

    fn EoshiftVector(
        result: Descriptor,
        source: Descriptor,
        by: i64,
        boundary: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        shift(result, source, Shift::Same(by), 1, Line::new(file, line), Some(boundary));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_a_subscript_less() {
        let mut index = Index::default();
        index[..4].copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(without(&index, 1)[..3], [1, 3, 4]);
    }
}
