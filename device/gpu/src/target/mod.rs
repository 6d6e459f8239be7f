//! What the runtime needs of a GPU, for one kind of it at a time.
//!
//! A kind is a module with the functions of [`nvptx`]; everything else in the crate is the same for
//! all. [`host`] is a GPU of one thread, on which unit tests run.

#[cfg(target_arch = "amdgpu")]
mod amdgcn;
#[cfg(not(gpu))]
mod host;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
#[cfg(gpu)]
mod stand_in;

#[cfg(target_arch = "amdgpu")]
pub use amdgcn::*;

#[cfg(not(gpu))]
pub use host::*;
#[cfg(target_arch = "nvptx64")]
pub use nvptx::*;
#[cfg(gpu)]
pub use stand_in::*;

/// A direction of the grid and of its blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// The lane of a thread of the block, and how many threads more than whole warps so many are.
#[must_use]
#[inline(always)]
pub fn lane_of(thread: u32) -> u32 {
    thread & (warp_size() - 1)
}

/// Whether grid and blocks extend along x alone.
#[must_use]
pub fn has_one_dimension() -> bool {
    [Axis::Y, Axis::Z].iter().all(|&axis| threads_along(axis) == 1 && blocks_along(axis) == 1)
}

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

/// So many nanoseconds does a thread sleep between two looks at a lock, and where it waits for threads of its team. By
/// these numbers, which nothing else sleeps, the virtual GPU's check of synchronization knows what loops wait for
/// (`vgpu/engine/src/run/stand.rs`).
pub const LOCK_SLEEP: u32 = 53;
pub const TEAM_SLEEP: u32 = 29;

/// A variable that each block has once, in shared memory. It has no value when a block starts.
///
/// [`shared!`](crate::shared) declares one: the build moves what is in its section to the address
/// space of shared memory.
pub struct Shared<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: the threads of a block share it, and order their accesses with barriers or keep to places
// of their own, as the users of each variable say.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// The address, as a generic pointer.
    #[must_use]
    #[inline(always)]
    pub const fn pointer(&self) -> *mut T {
        self.0.get().cast()
    }
}

impl<T: Copy> Shared<T> {
    /// Reads the variable.
    ///
    /// # Safety
    /// It has been written in this block, and no other thread writes it at the same time.
    #[must_use]
    #[inline(always)]
    pub unsafe fn get(&self) -> T {
        // SAFETY: the pointer is valid, and the caller vouches for the value.
        unsafe { self.pointer().read() }
    }

    /// Reads the variable, whether or not it has been written in this block, or anywhere in the program: LLVM
    /// takes it that a branch that depends on what nobody has written is never reached.
    ///
    /// # Safety
    /// Any bytes are a `T`, and no other thread writes it at the same time.
    #[must_use]
    #[inline(always)]
    pub unsafe fn get_whatever_it_is(&self) -> T {
        // SAFETY: the pointer is valid, and the caller vouches for the value.
        unsafe { self.pointer().read_volatile() }
    }

    /// Writes the variable.
    ///
    /// # Safety
    /// No other thread reads it, or writes another value, at the same time.
    #[inline(always)]
    pub unsafe fn set(&self, value: T) {
        // SAFETY: the pointer is valid, and the caller vouches for the order.
        unsafe { self.pointer().write(value) }
    }
}

impl<T: Copy, const N: usize> Shared<[T; N]> {
    /// Reads the element of one thread.
    ///
    /// # Safety
    /// As for [`Shared::get`], and `index < N`.
    #[must_use]
    #[inline(always)]
    pub unsafe fn element(&self, index: u32) -> T {
        // SAFETY: the index is in range, and the caller vouches for the value.
        unsafe { self.pointer().cast::<T>().add(index as usize).read() }
    }

    /// Writes the element of one thread.
    ///
    /// # Safety
    /// As for [`Shared::set`], and `index < N`.
    #[inline(always)]
    pub unsafe fn set_element(&self, index: u32, value: T) {
        // SAFETY: the index is in range, and the caller vouches for the order.
        unsafe { self.pointer().cast::<T>().add(index as usize).write(value) }
    }
}

/// Declares a variable that each block has once: `shared!(static NAME: Type);`
#[macro_export]
macro_rules! shared {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty) => {
        $(#[$attribute])*
        #[cfg_attr(gpu, unsafe(link_section = ".gangway.shared"))]
        $visibility static $name: $crate::target::Shared<$type> = $crate::target::Shared::new();
    };
}
