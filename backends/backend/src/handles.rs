//! What the runtime holds of a device: addresses, and what stands for a kernel or an event.
//!
//! The runtime keeps handles, passes them on and compares them; what one means, its back end alone
//! knows. Every value is a handle, 0 as well.

/// An address in a device's memory. The runtime adds offsets to it and compares
/// it; only the device may dereference it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct DevicePtr(pub usize);

impl DevicePtr {
    /// Address 0: for where nobody reads an address. It does not say that there is none, as
    /// a device may have memory there.
    pub const NULL: Self = Self(0);

    /// The address `bytes` further on (wrapping, as base addresses of sections
    /// that start beyond their variable are computed backwards).
    #[must_use]
    pub const fn offset(self, bytes: isize) -> Self {
        Self(self.0.wrapping_add_signed(bytes))
    }
}

/// A kernel of a loaded module, in the back end's own terms (a function address
/// on the CPU, a `CUfunction`, a kernel object, …). Valid while the module is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct KernelHandle(pub usize);

/// A point in a stream that another stream or the host can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct EventHandle(pub usize);
