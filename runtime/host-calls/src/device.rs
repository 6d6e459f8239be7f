//! What is asked of a device.

use gangway_backend::{DevicePtr, Error, Stream};

/// A device whose kernels call functions of the host. It lives as long as the process.
pub trait CallingDevice: Sync {
    /// Its number, as functions are told it.
    fn number(&self) -> i32;

    /// The back end's, if it is open and can be used.
    fn opened(&self) -> Option<&dyn gangway_backend::Device>;

    /// The functions of the host that its kernels wait for, one name for each call.
    fn calls_under_way(&self) -> Vec<String>;

    /// Runs an operation, in a stream of its own where the device has streams, and waits for it.
    ///
    /// # Errors
    /// What the back end says, or that the device cannot be used.
    fn run_at_once(&self, operation: &mut dyn FnMut(&dyn Stream) -> Result<(), Error>) -> Result<(), Error>;

    /// Memory for device code that its own heap has no room for. Does not wait for kernels, as the
    /// caller is one. `None`: there is none.
    fn allocate(&self, bytes: usize, alignment: usize) -> Option<DevicePtr>;

    /// Frees it. False: it is none of these.
    fn free(&self, memory: DevicePtr) -> bool;
}
