//! Why a module cannot be loaded.

use gangway_ptx::{Function, MOST_STATIC_SHARED};

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Names that nothing defines: `CUDA_ERROR_INVALID_IMAGE` or what the linker says.
    Undefined(Vec<Box<str>>),
    OutOfMemory(String),
    /// More than a device has of something: `CUDA_ERROR_INVALID_PTX`, as the driver's assembler
    /// says.
    TooLarge(String),
}

/// Whether the shared memory that a kernel and what it reaches declare is there.
pub(crate) fn check_shared(kernel: &Function, size: u64) -> Result<(), LoadError> {
    if size <= MOST_STATIC_SHARED {
        return Ok(());
    }
    let most = MOST_STATIC_SHARED;
    let what = format!("the shared variables of the kernel '{}' need {size} bytes", kernel.name);
    Err(LoadError::TooLarge(format!("{what}, and there are {most} at most")))
}
