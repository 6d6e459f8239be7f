//! The frame of a function that runs under a mask: which lanes wait where, then the registers that
//! live across blocks. Masked code and the helpers that choose the next lanes share it.

use crate::abi::LANES;

/// The beginning of a frame. The masks of lanes that wait to enter each block follow, and those of
/// lanes that are parked in it.
#[repr(C, align(16))]
#[derive(Debug)]
pub(crate) struct Frame {
    /// The offset of the function's variables in local memory.
    pub local_base: u64,
    /// What [`Warp::local_top`](crate::abi::Warp::local_top) was in the caller.
    pub saved_top: u64,
    /// Groups of blocks that lanes wait to enter, a bit for each: see [`group`].
    pub waiting: u64,
    /// Groups whose lanes have to let others go first.
    pub held: u64,
    /// All lanes that run the function.
    pub lanes: u32,
    /// Lanes that have returned.
    pub returned: u32,
    /// Lanes that are parked anywhere.
    pub parked: u32,
    /// How many blocks there are.
    pub blocks: u32,
    /// Nonzero when converged code goes on where all lanes meet.
    pub converges: u32,
    /// By lane: the mask of those it waits for, or the number of the barrier.
    pub waits_for: [u32; LANES],
    /// By lane: how often the barrier had been completed before.
    pub generation: [u32; LANES],
}

/// The offset of a field of the frame.
macro_rules! in_frame {
    ($name:ident) => {
        std::mem::offset_of!($crate::frame::Frame, $name) as i32
    };
}
pub(crate) use in_frame;

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
}
