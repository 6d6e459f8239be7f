//! Arrays that an output statement has: their elements, in Fortran's order.

use super::statement::{Statement, refuse};
use gangway_system::fortran::{Kind, RANKS};

/// The start of flang's descriptors (`ISO_Fortran_binding.h`).
#[repr(C)]
pub struct Descriptor {
    base: *const u8,
    element: usize,
    version: i32,
    rank: u8,
    kind: i8,
    attribute: i8,
    extra: u8,
    dimensions: [Dimension; RANKS],
}

#[repr(C)]
struct Dimension {
    lower: i64,
    extent: i64,
    /// Bytes from one element to the next.
    stride: i64,
}

const _: () = assert!(core::mem::offset_of!(Descriptor, dimensions) == 24 && size_of::<Dimension>() == 24);

/// `CFI_type_cptr`, `CFI_type_struct`.
const POINTER: i8 = 41;
const STRUCTURE: i8 = 42;

/// # Safety
/// It is a descriptor of flang's, of as many dimensions as its rank says.
pub unsafe fn write(statement: &mut Statement, descriptor: *const Descriptor) {
    // SAFETY: as the caller says. A descriptor has as many dimensions as its rank says, so there
    // is no reference to the whole.
    let (base, element, rank, kind) = unsafe {
        let head = descriptor;
        ((*head).base, (*head).element, usize::from((*head).rank), (*head).kind)
    };
    if kind <= 0 || kind == POINTER || kind == STRUCTURE || rank > RANKS {
        refuse(b"a value of a derived type");
    }
    // SAFETY: the index is below the rank.
    let dimension =
        |at: usize| unsafe { &*(&raw const (*descriptor).dimensions).cast::<Dimension>().add(at) };
    let mut words = [0; 3 + RANKS];
    words[0] = rank as u64;
    words[1] = kind as u64;
    words[2] = element as u64;
    let mut count = 1;
    for at in 0..rank {
        let extent = dimension(at).extent.max(0) as u64;
        words[3 + at] = extent;
        count *= extent as usize;
    }
    statement.head(Kind::Array, (3 + rank) * 8 + count * element);
    for word in &words[..3 + rank] {
        statement.put(&word.to_ne_bytes());
    }
    let mut index = [0; RANKS];
    for _ in 0..count {
        let mut from = base;
        for (at, &index) in index.iter().enumerate().take(rank) {
            from = from.wrapping_offset((index * dimension(at).stride) as isize);
        }
        // SAFETY: the array has this element.
        statement.put(unsafe { core::slice::from_raw_parts(from, element) });
        for (at, index) in index.iter_mut().enumerate().take(rank) {
            *index += 1;
            if *index < dimension(at).extent {
                break;
            }
            *index = 0;
        }
    }
    statement.fill();
}
