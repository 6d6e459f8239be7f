//! A mailbox of host calls: one call at a time, for one image.
//!
//! GCC's device library has this layout and these steps: `GOMP_target_ext` of libgomp's for NVIDIA's
//! GPUs, with `struct rev_offload`, which the image's `__gomp_rev_offload_var` leads to. The device's
//! code takes a lock of its own, writes the words behind the first, then the device address of a
//! function into the first one (release). It waits until the host has made that zero again (acquire).
//! What the words mean is the front end's.

use core::sync::atomic::AtomicU64;

/// Words that come with a call.
pub const WORDS: usize = 7;

/// What stands in memory that both sides see. All zero is a mailbox without a call.
#[repr(C, align(64))]
pub struct Mailbox {
    /// The function that is called.
    pub function: AtomicU64,
    pub words: [AtomicU64; WORDS],
}

// GCC's device library relies on these.
const _: () = {
    use core::mem::offset_of;
    assert!(
        size_of::<Mailbox>() == 64 && offset_of!(Mailbox, function) == 0 && offset_of!(Mailbox, words) == 8
    );
};
