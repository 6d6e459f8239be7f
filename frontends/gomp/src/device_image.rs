//! What a registration says of device code, whatever it is for: its kernels, its variables, and the image that the
//! runtime gets.

use crate::abi::{self, GcnImage, PtxFunction, PtxImage};
use gangway_image::{GccTarget, gcn_object, ptx_objects};
use gangway_openacc::dimensions::Dimensions;
use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, PoisonError};

/// Kernels of code for AMD's GPUs that the program does not know: they run constructors and destructors.
const OWN_KERNELS: [&CStr; 2] = [c"_init_array", c"_fini_array"];

/// The device code of a registration.
pub(crate) struct DeviceImage {
    /// The kernels, in the order of the host's functions, with what OpenACC's have been compiled for.
    pub kernels: Vec<(&'static CStr, Dimensions)>,
    /// Symbols of the variables, in the order of the host's.
    pub variables: Vec<&'static CStr>,
    /// How many functions it calls by their host addresses.
    pub indirect: usize,
    /// What the program requires; 0 where that is not said.
    pub required: u32,
    /// PTX texts, and the kernels in their own form.
    pub ptx: Option<(Vec<&'static [u8]>, &'static [PtxFunction])>,
    /// The image in one piece.
    pub joined: Vec<u8>,
}

impl DeviceImage {
    /// # Safety
    /// The data is of a registration of this version, of a form that is known.
    pub unsafe fn registered(version: u32, target: i32, data: *const c_void) -> Self {
        match abi::target::of(target) {
            // SAFETY: the caller's promise.
            Some(GccTarget::Gcn) => unsafe { Self::gcn(data) },
            // SAFETY: as above.
            _ => unsafe { Self::ptx(version, data) },
        }
    }

    /// # Safety
    /// As above.
    unsafe fn ptx(version: u32, data: *const c_void) -> Self {
        // SAFETY: the caller's promise.
        let (image, required) = unsafe { PtxImage::registered(version, data) };
        // SAFETY: as above.
        let (functions, variables, texts) = unsafe { (image.functions(), image.variables(), image.texts()) };
        let kernel = |function: &PtxFunction| {
            // SAFETY: as above.
            (unsafe { function.name() }, function.dimensions.map(u32::from))
        };
        Self {
            kernels: functions.iter().map(kernel).collect(),
            variables,
            indirect: image.indirect_count(version),
            required,
            joined: ptx_objects::joined(&texts),
            ptx: Some((texts, functions)),
        }
    }

    /// # Safety
    /// As above.
    unsafe fn gcn(data: *const c_void) -> Self {
        // SAFETY: the caller's promise.
        let image = unsafe { GcnImage::registered(data) };
        // SAFETY: as above.
        let (code, all) = unsafe { (image.code(), image.kernels()) };
        let kernel = |kernel: &abi::GcnKernel| {
            let dimensions = kernel.dimensions.map(|size| u32::try_from(size).unwrap_or(0));
            // SAFETY: as above.
            (unsafe { kernel.name() }, dimensions)
        };
        let kernels: Vec<_> =
            all.iter().map(kernel).filter(|(name, _)| !OWN_KERNELS.contains(name)).collect();
        let openacc = kernels.iter().filter(|(_, dimensions)| *dimensions != [0; 3]);
        let openacc: Vec<_> = openacc.filter_map(|(name, _)| name.to_str().ok()).collect();
        Self {
            variables: (0..image.variable_count()).map(variable_name).collect(),
            indirect: 0,
            required: 0,
            ptx: None,
            joined: gcn_object::joined(code, &openacc),
            kernels,
        }
    }
}

/// The name of the variable at a place, for as long as the process lives: images of all libraries have the same.
fn variable_name(place: usize) -> &'static CStr {
    static NAMES: Mutex<Vec<&'static CStr>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    while names.len() <= place {
        let name = CString::new(gcn_object::variable_name(names.len())).unwrap_or_default();
        names.push(Box::leak(name.into_boxed_c_str()));
    }
    names[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_gcn_code_are_called_by_their_places() {
        assert_eq!(variable_name(3), c"$offload_variable_3");
        assert_eq!(variable_name(3).as_ptr(), variable_name(3).as_ptr());
    }
}
