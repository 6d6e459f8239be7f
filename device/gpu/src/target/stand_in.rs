//! What has no spelling in Rust and is the same for all kinds of GPU: the build puts instructions in the place
//! of calls (`xtask/src/gpu/ir.rs`).

use core::ffi::c_void;

/// The same pointer, but LLVM does not know it until the caller has been inlined where it is a
/// constant. Knowing too early what a function pointer can be, it makes of nested regions a recursion
/// that it then denies (`norecurse` on all of clang's regions), and loses what they write.
#[must_use]
#[inline(always)]
pub fn opaque(function: *const c_void) -> *const c_void {
    unsafe extern "C" {
        // The build replaces the call by a conversion to an integer and back.
        safe fn __gangway_opaque(pointer: *const c_void) -> *const c_void;
    }
    __gangway_opaque(function)
}

/// The lower half of a number, through memory: where LLVM 22 knows what a function of OpenMP answers, it
/// puts a constant of eight bits in the place of sixteen, which only memory does not mind.
#[must_use]
#[inline(always)]
pub fn low_byte(number: u16) -> u8 {
    unsafe extern "C" {
        // The build replaces the call by a store and a load.
        safe fn __gangway_low_byte(number: u16) -> u8;
    }
    __gangway_low_byte(number)
}
