//! Functions that put elements elsewhere: `reshape`, `transpose`, `spread`, `pack`, `unpack`.

use crate::derived;
use crate::descriptor::{Descriptor, Index, RANKS};
use crate::device::{self, Line};
use crate::export::export;
use core::ffi::c_char;

/// Copies one element.
///
/// # Safety
/// Both places have an element of the descriptor's type; that of `to` has no value yet.
pub unsafe fn copy_element(to: *mut u8, from: *const u8, kind: Descriptor, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        core::ptr::copy_nonoverlapping(from, to, kind.element());
        derived::separate(to, kind.derived(), line);
    }
}

/// The extents of a variable.
///
/// # Safety
/// It is flang's.
#[must_use]
pub unsafe fn extents(variable: Descriptor) -> ([i64; RANKS], usize) {
    let mut extents = [0; RANKS];
    // SAFETY: as the caller says.
    let rank = unsafe { variable.rank() };
    for (at, extent) in extents.iter_mut().enumerate().take(rank) {
        // SAFETY: as the caller says.
        *extent = unsafe { variable.extent(at) };
    }
    (extents, rank)
}

/// The elements of an array, one after the other, from its first one again when it ends.
struct Elements {
    array: Descriptor,
    index: Index,
}

impl Elements {
    const fn of(array: Descriptor) -> Self {
        Self { array, index: [0; RANKS] }
    }

    unsafe fn next(&mut self) -> *mut u8 {
        // SAFETY: as the caller says.
        unsafe {
            let element = self.array.at(&self.index);
            self.array.next(&mut self.index);
            element
        }
    }
}

/// A mask's value for an element; a scalar is for all.
///
/// # Safety
/// It is null or a logical variable that conforms.
#[must_use]
pub unsafe fn is_selected(mask: Descriptor, index: &Index) -> bool {
    // SAFETY: as the caller says.
    mask.is_null() || unsafe { mask.integer(index) } != 0
}

unsafe fn reshape(
    result: Descriptor,
    source: Descriptor,
    shape: Descriptor,
    pad: Descriptor,
    order: Descriptor,
    line: Line,
) {
    // SAFETY: as the caller says.
    unsafe {
        let rank = shape.extent(0) as usize;
        if rank > RANKS {
            device::fail(line, c"the shape of `reshape` has more than 15 dimensions");
        }
        let mut extents = [0; RANKS];
        let mut places = [0; RANKS];
        let mut seen = 0_u32;
        for at in 0..rank {
            let mut index = Index::default();
            index[0] = at as i64;
            extents[at] = shape.integer(&index).max(0);
            places[at] = if order.is_null() { at } else { (order.integer(&index) - 1) as usize };
            if places[at] >= rank {
                device::fail(line, c"`order` of `reshape` is no permutation");
            }
            seen |= 1 << places[at];
        }
        if seen != (1 << rank) - 1 {
            device::fail(line, c"`order` of `reshape` is no permutation");
        }
        result.result(source.kind(), &extents[..rank], line);
        let needed = result.elements();
        let present = source.elements();
        if needed > present && (pad.is_null() || pad.elements() == 0) {
            device::fail(line, c"`reshape` needs more elements than its source has");
        }
        let (mut from, mut padding) = (Elements::of(source), Elements::of(pad));
        let mut index = Index::default();
        for at in 0..needed {
            let element = if at < present { from.next() } else { padding.next() };
            copy_element(result.at(&index), element, source, line);
            for &place in &places[..rank] {
                index[place] += 1;
                if index[place] < extents[place] {
                    break;
                }
                index[place] = 0;
            }
        }
    }
}

export! {
    fn Reshape(
        result: Descriptor,
        source: Descriptor,
        shape: Descriptor,
        pad: Descriptor,
        order: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        reshape(result, source, shape, pad, order, Line::new(file, line));
    }

    fn Transpose(result: Descriptor, matrix: Descriptor, file: *const c_char, line: i32) {
        let line = Line::new(file, line);
        result.result(matrix.kind(), &[matrix.extent(1), matrix.extent(0)], line);
        let mut index = Index::default();
        for _ in 0..matrix.elements() {
            let mut other = Index::default();
            (other[0], other[1]) = (index[1], index[0]);
            copy_element(result.at(&other), matrix.at(&index), matrix, line);
            matrix.next(&mut index);
        }
    }

    fn Spread(result: Descriptor, source: Descriptor, dimension: i32, copies: i64, file: *const c_char, line: i32) {
        let line = Line::new(file, line);
        let (mut sizes, rank) = extents(source);
        let at = (dimension - 1) as usize;
        if at > rank || rank == RANKS {
            device::fail(line, c"`dim` of `spread` is not one of the result's dimensions");
        }
        sizes.copy_within(at..rank, at + 1);
        sizes[at] = copies.max(0);
        result.result(source.kind(), &sizes[..=rank], line);
        let mut index = Index::default();
        for _ in 0..result.elements() {
            let mut from = index;
            from.copy_within(at + 1.., at);
            copy_element(result.at(&index), source.at(&from), source, line);
            result.next(&mut index);
        }
    }

    fn Pack(
        result: Descriptor,
        source: Descriptor,
        mask: Descriptor,
        vector: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        let line = Line::new(file, line);
        let elements = source.elements();
        let mut selected = 0;
        let mut index = Index::default();
        for _ in 0..elements {
            selected += i64::from(is_selected(mask, &index));
            source.next(&mut index);
        }
        let length = if vector.is_null() { selected } else { vector.extent(0) };
        if length < selected {
            device::fail(line, c"`vector` of `pack` has fewer elements than the mask selects");
        }
        result.result(source.kind(), &[length], line);
        let mut to = Elements::of(result);
        let mut index = Index::default();
        for _ in 0..elements {
            if is_selected(mask, &index) {
                copy_element(to.next(), source.at(&index), source, line);
            }
            source.next(&mut index);
        }
        for at in selected..length {
            let mut index = Index::default();
            index[0] = at;
            copy_element(to.next(), vector.at(&index), vector, line);
        }
    }

    fn Unpack(
        result: Descriptor,
        vector: Descriptor,
        mask: Descriptor,
        field: Descriptor,
        file: *const c_char,
        line: i32,
    ) {
        let line = Line::new(file, line);
        let (sizes, rank) = extents(mask);
        result.result(vector.kind(), &sizes[..rank], line);
        let (mut left, mut from) = (vector.elements(), Elements::of(vector));
        let mut index = Index::default();
        for _ in 0..mask.elements() {
            let element = if is_selected(mask, &index) {
                if left == 0 {
                    device::fail(line, c"`vector` of `unpack` has fewer elements than the mask selects");
                }
                left -= 1;
                from.next()
            } else {
                field.at(&index)
            };
            copy_element(result.at(&index), element, vector, line);
            mask.next(&mut index);
        }
    }
}
