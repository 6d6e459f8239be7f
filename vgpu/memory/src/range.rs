//! Which addresses the devices of a library have.
//!
//! Each of the virtual GPUs' libraries has a copy of this crate, and a range of its own: a process may load both.
//! An address of one is none of the other, so a kernel that gets hold of it fails and does not read on. Both are
//! where Linux places nothing and AddressSanitizer has no shadows: libraries come from a third of
//! all addresses upwards (in the old layout), or downwards from the end, or from a sixth of all where the stack has no limit.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{BASE, END, FIRST, SIZE, WINDOWS};

/// A range of addresses, and what is reserved with it.
#[derive(Debug, PartialEq, Eq)]
pub struct Range {
    /// Where it begins; aligned to its size, so that one mask tells what is inside.
    pub base: u64,
    /// Its length in bytes.
    pub size: u64,
    /// What is reserved begins here...
    pub first: u64,
    /// ...and ends here.
    pub(crate) end: u64,
    /// From here on the range has no memory.
    pub windows: u64,
    /// Whether there are [`shadow`](crate::shadow)s below it, and a mirror for constants behind it.
    pub(crate) is_full: bool,
}

/// The range of NVIDIA's GPUs, which is taken where none is chosen.
pub const NVIDIA: Range =
    Range { base: BASE, size: SIZE, first: FIRST, end: END, windows: WINDOWS, is_full: true };

/// The range of AMD's GPUs, just behind. Nothing else is reserved with it: code objects keep constants beside other
/// variables, and no check there needs shadows.
pub const AMD: Range = {
    let (base, size) = (40 << 40, 2 << 40);
    Range { base, size, first: base, end: base + size, windows: base + size, is_full: false }
};

impl Range {
    const fn contains(&self, address: u64) -> bool {
        address & !(self.size - 1) == self.base
    }

    /// Whether the address is in what is reserved.
    const fn reserves(&self, address: u64) -> bool {
        self.first <= address && address < self.end
    }

    /// Whose devices have it.
    #[must_use]
    pub fn maker(&self) -> &'static str {
        if *self == AMD { "AMD" } else { "NVIDIA" }
    }
}

static IS_AMDS: AtomicBool = AtomicBool::new(false);

/// The range of this library's devices. Generated code has its bounds as constants.
#[inline]
#[must_use]
pub fn range() -> &'static Range {
    if IS_AMDS.load(Ordering::Relaxed) { &AMD } else { &NVIDIA }
}

/// Chooses [`AMD`] for this library, before anything asks.
pub(crate) fn choose_amds() {
    IS_AMDS.store(true, Ordering::Relaxed);
}

/// The range that a library of the other maker's has reserved and that an address is in, if one has.
pub(crate) fn other(address: u64) -> Option<&'static Range> {
    [&NVIDIA, &AMD].into_iter().find(|other| *other != range() && other.reserves(address))
}

/// Whether an address is in the range, allocated or not.
#[inline]
#[must_use]
pub fn is_device_address(address: u64) -> bool {
    range().contains(address)
}

/// All addresses of a process, with page tables of four levels.
const ADDRESSES: u64 = 1 << 47;
const fn is_well_placed(range: &Range) -> bool {
    range.size.is_power_of_two()
        && range.base.is_multiple_of(range.size)
        && ADDRESSES / 6 < range.first
        && range.end < ADDRESSES / 3
}
const _: () = assert!(is_well_placed(&NVIDIA) && is_well_placed(&AMD) && NVIDIA.end <= AMD.first);
