//! The frame of a function that runs under a mask: which lanes wait where, then the registers that
//! live across blocks. Masked code and the helpers that choose the next lanes share it.
//!
//! The frames of functions in which lanes may wait for others of the warp are linked
//! ([`Warp::frames`](crate::abi::Warp::frames)). All that is known of their lanes is in them, so
//! any of them can go on at any time, in any order.

use std::ffi::c_void;

/// Code looks for the end of its stack in steps of so many bytes, as a power of two, where its frame is larger: fewer
/// than there are without access behind that end.
pub(crate) const PROBE_LOG2: u32 = 18;

/// The beginning of a frame. The masks of lanes that wait to enter each block follow, and those of
/// lanes that are parked in it.
#[repr(C, align(16))]
#[derive(Debug)]
pub(crate) struct Frame {
    /// The frame of the function that has called this one, if lanes may wait there.
    pub parent: *mut Frame,
    /// The next one of those that are linked.
    pub next: *mut Frame,
    /// What the function was called with.
    pub arguments: *const *mut c_void,
    /// The same of the function that lanes come back from, when they are let go on behind its call.
    pub results: *const *mut c_void,
    /// What [`Warp::local_top`](crate::abi::Warp::local_top) is while the function runs.
    pub top: u64,
    /// What runs first when the function goes on: the place in the upper half, the lanes in the
    /// lower; or nothing.
    pub entering: u64,
    /// The function's index in the module.
    pub function: u32,
    /// The block of the caller's that has called.
    pub site: u32,
    /// The block that has called a function for all lanes, which runs on the stack.
    pub calls: u32,
    /// How many blocks there are; none in a frame that has not been entered yet.
    pub blocks: u32,
    /// Nonzero when converged code goes on where all lanes meet.
    pub converges: u32,
    /// Nonzero when lanes have come back to converged code, which still waits for the others.
    pub claimed: u32,
    /// Nonzero when its lanes wait for others in a loop, and have had their turn.
    pub rests: u64,
    /// Groups of blocks that lanes wait to enter, a bit for each: see [`group`].
    pub waiting: u64,
    /// Groups whose lanes have to let others go first.
    pub held: u64,
    /// Lanes that are parked anywhere.
    pub parked: u32,
    /// How many functions run that this one has called and that have frames of their own.
    pub children: u32,
    /// Lanes that have returned, and that the caller does not have yet.
    pub returned: u32,
    /// All lanes that run the function.
    pub lanes: u32,
    /// The offset of the function's variables in local memory.
    pub local_base: u64,
    /// What [`Warp::local_top`](crate::abi::Warp::local_top) was in the caller.
    pub saved_top: u64,
    /// Where the function returns to, in frames that are linked: compiled code, or the engine's.
    pub called_from: u64,
}

/// The offset of a field of the frame.
macro_rules! in_frame {
    ($name:ident) => {
        std::mem::offset_of!($crate::frame::Frame, $name) as i32
    };
}
pub(crate) use in_frame;

/// Masked code gives this back when other functions of the warp have to go on first.
pub(crate) const SWITCH: u64 = 1 << 63;

/// What masked code gives back where all lanes have met at the join with this number.
pub(crate) const fn met(join: usize) -> u64 {
    (join as u64 + 1) << 32
}

/// What a new activation has to clear in front of the masks.
pub(crate) const CLEARED: std::ops::Range<i32> = in_frame!(waiting)..in_frame!(local_base);

/// How many blocks share a bit of [`Frame::waiting`].
pub(crate) const fn group(blocks: u32) -> u32 {
    blocks.div_ceil(64)
}

/// Where the mask of lanes that wait to enter a block is.
pub(crate) const fn pending(block: u32) -> i32 {
    (size_of::<Frame>() + 4 * block as usize) as i32
}

/// Where registers begin.
pub(crate) const fn size(blocks: usize) -> i32 {
    (size_of::<Frame>() + 8 * blocks).next_multiple_of(16) as i32
}

/// The place behind the barrier or the call at the end of a block.
pub(crate) const fn behind(blocks: u32, block: u32) -> u32 {
    blocks + block
}

/// The place behind the collective instruction at the beginning of a block.
pub(crate) const fn exchanged(blocks: u32, block: u32) -> u32 {
    2 * blocks + block
}

/// Lanes and the place where they go on, as one number.
pub(crate) const fn chosen(place: u32, lanes: u32) -> u64 {
    (place as u64) << 32 | lanes as u64
}

// What is cleared and what is read as one must lie together.
const _: () = {
    assert!(CLEARED.start % 16 == 0 && CLEARED.end - CLEARED.start == 32);
    assert!(in_frame!(children) == in_frame!(parked) + 4 && in_frame!(parked) % 8 == 0);
    assert!(in_frame!(claimed) == in_frame!(converges) + 4 && in_frame!(converges) % 8 == 0);
    assert!(in_frame!(blocks) == in_frame!(calls) + 4 && in_frame!(calls) % 8 == 0);
    assert!(size_of::<Frame>().is_multiple_of(16));
};

impl Frame {
    /// The mask of lanes that wait to enter `block`.
    ///
    /// # Safety
    ///
    /// `frame` is the frame of a function with more blocks than `block`.
    #[must_use]
    pub unsafe fn pending(frame: *mut Frame, block: u32) -> *mut u32 {
        // SAFETY: the masks follow the frame, as the caller warrants.
        unsafe { frame.add(1).cast::<u32>().add(block as usize) }
    }

    /// The mask of lanes that are parked in `block`.
    ///
    /// # Safety
    ///
    /// As for [`Frame::pending`].
    #[must_use]
    pub unsafe fn parked(frame: *mut Frame, block: u32) -> *mut u32 {
        // SAFETY: as above; there are as many masks of the first kind as blocks.
        unsafe { frame.add(1).cast::<u32>().add((*frame).blocks as usize + block as usize) }
    }

    /// Makes it one in which no lane waits anywhere.
    ///
    /// # Safety
    ///
    /// It is the frame of a function with so many blocks.
    pub unsafe fn empty(frame: *mut Frame, blocks: u32) {
        // SAFETY: as the caller says.
        unsafe {
            (*frame).blocks = blocks;
            ((*frame).waiting, (*frame).held) = (0, 0);
            ((*frame).parked, (*frame).children, (*frame).returned) = (0, 0, 0);
            ((*frame).rests, (*frame).entering) = (0, 0);
            (*frame).lanes = u32::MAX;
            std::ptr::write_bytes(frame.add(1).cast::<u32>(), 0, 2 * blocks as usize);
        }
    }
}
