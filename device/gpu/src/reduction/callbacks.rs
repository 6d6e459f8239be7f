//! The functions that the compiler generates for one reduction clause, and the list they work on.
//!
//! Only these functions know how many variables there are, of which types, and what the operator
//! is. The list is an array with one pointer per variable.

use core::ffi::c_void;

/// Fetches the list of the lane `offset` places up, and combines or keeps it as `version` says.
pub type ShuffleAndReduce = unsafe extern "C" fn(list: *mut c_void, lane: i16, offset: i16, version: i16);

/// Brings the list of lane 0 of warp `w` to thread `w` of the block, for `w` below `warps`.
///
/// It waits at barriers of the whole team, so all its threads call it.
pub type InterWarpCopy = unsafe extern "C" fn(list: *mut c_void, warps: i32);

/// Copies or combines between a list and element `slot` of a buffer in global memory.
///
/// One whose name begins with `list_to_global` changes the buffer, the others change the list.
pub type ListGlobal = unsafe extern "C" fn(buffer: *mut c_void, slot: i32, list: *mut c_void);

/// A list and the functions that combine it inside one team.
#[derive(Clone, Copy)]
pub struct Reduction {
    pub list: *mut c_void,
    /// Bytes of all that the list points to.
    pub bytes: u64,
    pub shuffle: ShuffleAndReduce,
    pub copy: InterWarpCopy,
}

/// The buffer of one reduction over all teams, and the functions that reach it.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub start: *mut c_void,
    /// How many lists it has room for.
    pub slots: u32,
    pub store: ListGlobal,
    pub combine_into: ListGlobal,
    pub load: ListGlobal,
    pub combine_from: ListGlobal,
}

/// What `ShuffleAndReduce` does with the list that it has fetched.
#[derive(Clone, Copy)]
#[repr(i16)]
pub enum Version {
    /// Combines in every lane.
    Full = 0,
    /// Combines if `lane < offset`, else keeps what was fetched instead of its own.
    Contiguous = 1,
    /// Combines if `lane` is even and `offset` positive.
    Dispersed = 2,
}

impl Reduction {
    /// Whether the functions are long: they copy and combine word by word, and LLVM unrolls that.
    ///
    /// LLVM puts a copy of them into each place that calls them. So there should be few places.
    #[must_use]
    #[inline(always)]
    pub const fn is_large(&self) -> bool {
        self.bytes > 256
    }

    /// One step of a warp.
    ///
    /// # Safety
    /// The functions and the list are those that the compiler made for one clause, and the lanes
    /// that the team's state names as participants call this together.
    #[inline(always)]
    pub unsafe fn step(&self, lane: u32, offset: u32, version: Version) {
        // The numbers are below 64 and thus the same in 16 bits.
        // SAFETY: the caller vouches for the function and the list.
        unsafe { (self.shuffle)(self.list, lane as i16, offset as i16, version as i16) }
    }
}
