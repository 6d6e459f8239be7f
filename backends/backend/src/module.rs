//! An image that a device has loaded: where its kernels and globals are.

use crate::error::Result;
use crate::handles::DevicePtr;
use crate::host_call::HostCallLink;
use crate::kernel::Kernel;

/// An image loaded on a device. Dropping it unloads the image.
pub trait Module: Send + Sync {
    /// The kernel called `name`, with all that the image says about it. Asked when the
    /// program first launches it; the runtime keeps the answer while the module is loaded.
    ///
    /// # Errors
    /// [`Error::NoSuchSymbol`], or what the driver says.
    fn kernel(&self, name: &str) -> Result<Kernel>;

    /// The global called `name`, of which `size` bytes are wanted.
    ///
    /// # Errors
    /// [`Error::NoSuchSymbol`], or what the driver says.
    fn global(&self, name: &str, size: usize) -> Result<DevicePtr>;

    /// Whether the host may write this global, which [`global`](Self::global) has found:
    /// not a constant that stands in protected memory.
    fn is_writable(&self, _global: DevicePtr, _size: usize) -> bool {
        true
    }

    /// Tells where on the device functions and virtual tables are whose host addresses device
    /// code comes across (`declare target indirect`): pairs in the order of the host
    /// addresses. Called once after loading, if there are any, and before the constructors
    /// run. Only images whose device code looks them up have a use for it.
    ///
    /// # Errors
    /// What the driver says.
    fn indirect_calls(&self, _pairs: &[(usize, DevicePtr)]) -> Result<()> {
        Ok(())
    }

    /// Kernels to run once after loading, in this order, for back ends whose
    /// loader does not do it itself. They take no arguments, and are launched
    /// with one thread and without a name.
    ///
    /// # Errors
    /// What the driver says.
    fn constructors(&self) -> Result<Vec<Kernel>> {
        Ok(Vec::new())
    }

    /// Kernels to run once before unloading, likewise, for back ends whose loader does not
    /// do it itself. They run if the constructors have.
    ///
    /// # Errors
    /// What the driver says.
    fn destructors(&self) -> Result<Vec<Kernel>> {
        Ok(Vec::new())
    }

    /// Whether the image's kernels call the host, and how they find the way. Asked once after
    /// loading, before a kernel runs, and only if the device can serve host calls.
    ///
    /// # Errors
    /// What the driver says.
    fn host_calls(&self) -> Result<HostCallLink> {
        Ok(HostCallLink::Unused)
    }
}
