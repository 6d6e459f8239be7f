//! Map types: what a construct wants done with one list item.
//!
//! The bits are those of LLVM's offload ABI, so that the arrays its compilers
//! emit are used as they are; front ends with another encoding translate into
//! these once per construct.

/// Copy to the device when the item becomes present.
pub const TO: u64 = 0x1;
/// Copy from the device when the item ceases to be present.
pub const FROM: u64 = 0x2;
/// Copy whether or not the presence changes.
pub const ALWAYS: u64 = 0x4;
/// Set the dynamic reference count to zero.
pub const DELETE: u64 = 0x8;
/// The base is a pointer to be attached to the section.
pub const PTR_AND_OBJ: u64 = 0x10;
/// The item is a parameter of the kernel.
pub const TARGET_PARAM: u64 = 0x20;
/// The device address goes back to the caller (`use_device_ptr`, `use_device_addr`).
pub const RETURN_PARAM: u64 = 0x40;
/// A private copy (first-private with [`TO`]).
pub const PRIVATE: u64 = 0x80;
/// The base is the value itself.
pub const LITERAL: u64 = 0x100;
/// Implicitly determined by the compiler.
pub const IMPLICIT: u64 = 0x200;
/// Near the device even under unified shared memory.
pub const CLOSE: u64 = 0x400;
/// It is an error if the item is not present.
pub const PRESENT: u64 = 0x1000;
/// Counts on the hold counter.
pub const HOLD: u64 = 0x2000;
/// A pointer attachment: base is the pointer, begin the pointee.
pub const ATTACH: u64 = 0x4000;
/// The section is described dimension by dimension.
pub const NON_CONTIGUOUS: u64 = 1 << 44;
/// One-based index of the structure this item is a member of.
pub const MEMBER_OF: u64 = 0xffff << 48;

/// Every bit this runtime knows.
pub const KNOWN: u64 = TO
    | FROM
    | ALWAYS
    | DELETE
    | PTR_AND_OBJ
    | TARGET_PARAM
    | RETURN_PARAM
    | PRIVATE
    | LITERAL
    | IMPLICIT
    | CLOSE
    | PRESENT
    | HOLD
    | ATTACH
    | NON_CONTIGUOUS
    | MEMBER_OF
    // 0x800 was `error`/reserved in older compilers and carries no meaning.
    | 0x800;

/// Index of the structure the item is a member of.
#[inline]
#[must_use]
pub const fn parent(map_type: u64) -> Option<usize> {
    match map_type >> 48 {
        0 => None,
        index => Some(index as usize - 1),
    }
}

/// The bits that together mark a variable captured by reference in a lambda that
/// is itself a first-private argument.
pub const LAMBDA_CAPTURE: u64 = PTR_AND_OBJ | LITERAL | IMPLICIT;

/// Whether the item has all of [`LAMBDA_CAPTURE`].
#[inline]
#[must_use]
pub const fn is_lambda_capture(map_type: u64) -> bool {
    map_type & LAMBDA_CAPTURE == LAMBDA_CAPTURE
}
