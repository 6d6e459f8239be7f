//! The parameters of a launch: from what a caller passes to the layout that the kernel wants.

use std::ffi::c_void;

use gangway_engine::Kernel;

use crate::abi::number::launch_extra;
use crate::abi::{In, Result, Status};

/// The two ways to pass parameters; at most one is not null.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// A pointer to each parameter.
    pub each: In<*const c_void>,
    /// Names and values, up to an end.
    pub extra: In<*const c_void>,
}

impl Arguments {
    /// Copies the parameters: the caller's memory is its own again when the call is over.
    pub fn collect(&self, kernel: &Kernel) -> Result<Box<[u8]>> {
        let size = kernel.parameter_size as usize;
        if !self.extra.is_null() {
            return if self.each.is_null() { self.take_buffer(size) } else { Err(Status::INVALID_VALUE) };
        }
        let mut buffer = vec![0_u8; size].into_boxed_slice();
        let pointers = self.each.elements(kernel.parameters.len())?;
        for (parameter, pointer) in kernel.parameters.iter().zip(pointers) {
            let place = parameter.offset as usize..(parameter.offset + parameter.size) as usize;
            let place = buffer.get_mut(place).ok_or(Status::INVALID_IMAGE)?;
            if pointer.is_null() {
                return Err(Status::INVALID_VALUE);
            }
            // SAFETY: the caller promises a pointer to a value of each parameter's size.
            unsafe { std::ptr::copy_nonoverlapping(pointer.cast(), place.as_mut_ptr(), place.len()) };
        }
        Ok(buffer)
    }

    fn take_buffer(&self, size: usize) -> Result<Box<[u8]>> {
        let mut buffer = std::ptr::null::<u8>();
        let mut given = None;
        let mut at = self.extra.as_ptr();
        // Both names and an end make five entries; whatever is longer says something twice.
        for _ in 0..3 {
            // SAFETY: the caller promises an array with an end, which has not been reached yet.
            let name = unsafe { at.read() } as usize;
            if name == launch_extra::END {
                break;
            }
            // SAFETY: a name has a value after it.
            let value = unsafe { at.add(1).read() };
            match name {
                launch_extra::BUFFER_POINTER => buffer = value.cast(),
                launch_extra::BUFFER_SIZE if value.is_null() => return Err(Status::INVALID_VALUE),
                // SAFETY: the value of this name is a pointer to a size.
                launch_extra::BUFFER_SIZE => given = Some(unsafe { value.cast::<usize>().read_unaligned() }),
                _ => return Err(Status::INVALID_VALUE),
            }
            at = at.wrapping_add(2);
        }
        match given {
            Some(given) if given >= size && (size == 0 || !buffer.is_null()) => {
                if size == 0 {
                    return Ok(Box::default());
                }
                // SAFETY: the caller promises a buffer of the size that it gives, which is enough.
                Ok(unsafe { std::slice::from_raw_parts(buffer, size) }.into())
            }
            None if size == 0 => Ok(Box::default()),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}
