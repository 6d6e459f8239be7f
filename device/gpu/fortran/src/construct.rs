//! Array constructors, and `transfer`.

use crate::assign::copy_into_new;
use crate::descriptor::{Descriptor, Dimension, Index, Kind, attribute};
use crate::device::{self, Line};
use crate::element::Category;
use crate::export::export;
use core::ffi::c_char;

/// An array that a constructor makes, whose values come one after the other
/// (`flang/Runtime/array-constructor.h`). The program has the room for it.
#[repr(C)]
pub struct Constructor {
    to: Descriptor,
    next: i64,
    room: i64,
    file: *const c_char,
    line: i32,
    /// Texts have the length of the values.
    takes_length: bool,
}

const _: () = assert!(size_of::<Constructor>() == 40);

impl Constructor {
    /// Makes room for that many values more.
    unsafe fn reserve(&mut self, more: i64) {
        let line = Line::new(self.file, self.line);
        // SAFETY: as the caller says.
        unsafe {
            let (to, needed) = (self.to, self.next + more);
            if to.base().is_null() {
                self.room = to.extent(0).max(needed);
                let memory = device::allocate(self.room as usize * to.element());
                to.set_base(memory);
            } else if needed > self.room {
                let room = needed.max(2 * self.room);
                let (old, bytes) = (to.base(), to.element());
                let memory = device::allocate(room as usize * bytes);
                if !memory.is_null() {
                    core::ptr::copy_nonoverlapping(old, memory, self.next as usize * bytes);
                    device::release(old);
                }
                to.set_base(memory);
                self.room = room;
            }
            if to.base().is_null() {
                device::fail(line, c"no memory for an array constructor (LIBOMPTARGET_HEAP_SIZE)");
            }
            let extent = to.extent(0).max(needed);
            let stride = if to.is_allocatable() { to.element() as i64 } else { to.dimension(0).stride };
            *to.dimension(0) = Dimension { lower: to.dimension(0).lower, extent, stride };
        }
    }

    unsafe fn push(&mut self, from: Descriptor) {
        let line = Line::new(self.file, self.line);
        // SAFETY: as the caller says.
        unsafe {
            if self.takes_length {
                let is_text = Category::of(self.to.code()) == Category::Character;
                if self.to.base().is_null() {
                    self.to.set_element(from.element());
                } else if is_text && self.to.element() != from.element() {
                    device::fail(line, c"the texts of an array constructor are not of one length");
                }
            }
            let values = from.elements() as i64;
            self.reserve(values);
            let mut part = self.to.copy();
            let part = part.descriptor();
            let mut first = Index::default();
            first[0] = self.next;
            part.set_base(self.to.at(&first));
            part.dimension(0).extent = values;
            copy_into_new(part, from, line);
            self.next += values;
        }
    }
}

/// The bits of a value as one of another type.
unsafe fn transfer(result: Descriptor, source: Descriptor, mold: Descriptor, size: Option<i64>, line: Line) {
    // SAFETY: as the caller says.
    unsafe {
        let bytes = source.elements() * source.element();
        let kind: Kind = mold.kind();
        let length = match size {
            Some(size) => size,
            None if kind.bytes == 0 => 0,
            None => bytes.div_ceil(kind.bytes) as i64,
        };
        let extents: &[i64] = if mold.rank() == 0 && size.is_none() { &[] } else { &[length] };
        result.result(kind, extents, line);
        let mut left = (result.elements() * kind.bytes).min(bytes);
        let mut to = result.base();
        let mut index = Index::default();
        while left > 0 {
            let part = left.min(source.element());
            core::ptr::copy_nonoverlapping(source.at(&index), to, part);
            source.next(&mut index);
            to = to.add(part);
            left -= part;
        }
    }
}

export! {
    fn InitArrayConstructorVector(
        constructor: *mut Constructor,
        to: Descriptor,
        takes_length: bool,
        file: *const c_char,
        line: i32,
    ) {
        let room = if to.base().is_null() { 0 } else { to.extent(0) };
        constructor.write(Constructor { to, next: 0, room, file, line, takes_length });
    }

    fn PushArrayConstructorValue(constructor: *mut Constructor, from: Descriptor) {
        (*constructor).push(from);
    }

    fn PushArrayConstructorSimpleScalar(constructor: *mut Constructor, from: *mut u8) {
        let mut value = crate::descriptor::Local::new();
        let value = value.descriptor();
        let kind = (*constructor).to.kind();
        value.establish(Kind { derived: core::ptr::null(), ..kind }, &[], attribute::OTHER);
        value.set_base(from);
        (*constructor).push(value);
    }

    fn Transfer(result: Descriptor, source: Descriptor, mold: Descriptor, file: *const c_char, line: i32) {
        transfer(result, source, mold, None, Line::new(file, line));
    }

    fn TransferSize(
        result: Descriptor,
        source: Descriptor,
        mold: Descriptor,
        file: *const c_char,
        line: i32,
        size: i64,
    ) {
        transfer(result, source, mold, Some(size), Line::new(file, line));
    }
}
