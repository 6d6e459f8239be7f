//! What the driver's error numbers mean for those who called it.

use super::Driver;
use super::types::{Code, SUCCESS};
use std::ffi::{CStr, c_char};

pub(crate) const OUT_OF_MEMORY: Code = 2;
/// After `exit` has begun.
pub(crate) const DEINITIALIZED: Code = 4;
pub(crate) const INVALID_IMAGE: Code = 200;
pub(crate) const INVALID_CONTEXT: Code = 201;
pub(crate) const NO_BINARY_FOR_GPU: Code = 209;
pub(crate) const INVALID_PTX: Code = 218;
pub(crate) const UNSUPPORTED_PTX_VERSION: Code = 222;
pub(crate) const INVALID_SOURCE: Code = 300;
pub(crate) const INVALID_HANDLE: Code = 400;
pub(crate) const NOT_FOUND: Code = 500;
pub(crate) const NOT_READY: Code = 600;
pub(crate) const HOST_MEMORY_ALREADY_REGISTERED: Code = 712;
pub(crate) const NOT_SUPPORTED: Code = 801;

/// Whether a code comes from a kernel that has been running: no later operation of the
/// context can succeed, and each of them answers it again.
pub(crate) const fn is_fault(code: Code) -> bool {
    matches!(
        code,
        214 // CUDA_ERROR_ECC_UNCORRECTABLE
            | 220 // CUDA_ERROR_NVLINK_UNCORRECTABLE
            | 700 // CUDA_ERROR_ILLEGAL_ADDRESS
            | 702 // CUDA_ERROR_LAUNCH_TIMEOUT
            | 709 // CUDA_ERROR_CONTEXT_IS_DESTROYED
            | 710 // CUDA_ERROR_ASSERT
            | 714 // CUDA_ERROR_HARDWARE_STACK_ERROR
            | 715 // CUDA_ERROR_ILLEGAL_INSTRUCTION
            | 716 // CUDA_ERROR_MISALIGNED_ADDRESS
            | 717 // CUDA_ERROR_INVALID_ADDRESS_SPACE
            | 718 // CUDA_ERROR_INVALID_PC
            | 719 // CUDA_ERROR_LAUNCH_FAILED
            | 721 // CUDA_ERROR_TENSOR_MEMORY_LEAK
    )
}

/// Whether another context than ours may have been current.
pub(crate) const fn is_wrong_context(code: Code) -> bool {
    matches!(code, INVALID_CONTEXT | INVALID_HANDLE)
}

/// Whether the driver does not want an image, be it that it is damaged or for others.
pub(crate) const fn is_image_refused(code: Code) -> bool {
    matches!(code, INVALID_IMAGE | NO_BINARY_FOR_GPU | INVALID_PTX | UNSUPPORTED_PTX_VERSION | INVALID_SOURCE)
}

impl Driver {
    /// The driver's name and words for a code.
    pub(crate) fn describe(&self, code: Code) -> String {
        let ask = |function: unsafe extern "C" fn(Code, *mut *const c_char) -> Code| {
            let mut text = std::ptr::null();
            // SAFETY: the driver writes one pointer, to a constant string of its own.
            unsafe {
                let known = function(code, &raw mut text) == SUCCESS && !text.is_null();
                known.then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        match (ask(self.api.get_error_string), ask(self.api.get_error_name)) {
            (Some(words), Some(name)) => format!("{words} ({name})"),
            (Some(words), None) | (None, Some(words)) => words,
            (None, None) => format!("error {code}, which the driver cannot explain"),
        }
    }
}
