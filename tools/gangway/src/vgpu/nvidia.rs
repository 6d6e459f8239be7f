//! The virtual NVIDIA GPU, asked through the CUDA driver API.

use std::ffi::{CStr, c_char, c_int};

use libloading::Library;

use super::{Device, Result};
use crate::library;

/// `CUdevice_attribute` (CUDA driver API, "Device Management").
const MULTIPROCESSORS: c_int = 16;
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;

/// The devices of the virtual GPU, or why there are none.
pub fn devices() -> Result<Vec<Device>> {
    let folder = library::virtual_gpu().map_err(|failure| failure.to_string())?;
    let file = folder.join(library::LIBCUDA);
    // SAFETY: the library is our own, and loading it runs no code but its own.
    let library = unsafe { Library::new(&file) }.map_err(|error| error.to_string())?;
    let driver = Driver { library };
    driver.start()?;
    let devices = (0..driver.count()?).map(|ordinal| driver.describe(ordinal)).collect();
    // Its threads may be running its code.
    std::mem::forget(driver.library);
    Ok(devices)
}

struct Driver {
    library: Library,
}

/// The driver's functions by their C names; all of them answer a `CUresult`.
macro_rules! functions {
    ($($method:ident = $name:literal($($argument:ident: $ty:ty),*);)*) => {
        impl Driver {$(
            fn $method(&self, $($argument: $ty),*) -> Result<()> {
                type Function = unsafe extern "C" fn($($ty),*) -> c_int;
                // SAFETY: the type is the one that the driver API declares for the name.
                let function = unsafe { self.library.get::<Function>($name) };
                let function = function.map_err(|error| error.to_string())?;
                // SAFETY: callers pass pointers to what the function fills.
                match unsafe { function($($argument),*) } {
                    0 => Ok(()),
                    code => Err(format!("{} answers {code}", $name.escape_ascii())),
                }
            }
        )*}
    };
}

functions! {
    init = b"cuInit"(flags: u32);
    device_count = b"cuDeviceGetCount"(count: *mut c_int);
    device = b"cuDeviceGet"(device: *mut c_int, ordinal: c_int);
    name = b"cuDeviceGetName"(name: *mut c_char, length: c_int, device: c_int);
    attribute = b"cuDeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: c_int);
    total_memory = b"cuDeviceTotalMem_v2"(bytes: *mut usize, device: c_int);
}

impl Driver {
    fn start(&self) -> Result<()> {
        self.init(0)
    }

    fn count(&self) -> Result<c_int> {
        let mut count = 0;
        self.device_count(&mut count).map(|()| count)
    }

    fn describe(&self, ordinal: c_int) -> Device {
        let mut device = 0;
        self.device(&mut device, ordinal)?;
        let mut name = [0; 256];
        self.name(name.as_mut_ptr(), name.len() as c_int, device)?;
        // SAFETY: the driver ends what it writes with a zero, and so does what it left alone.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let attribute = |attribute| {
            let mut value = 0;
            self.attribute(&mut value, attribute, device).map(|()| value)
        };
        let capability = (attribute(CAPABILITY_MAJOR)?, attribute(CAPABILITY_MINOR)?);
        let mut bytes = 0;
        self.total_memory(&mut bytes, device)?;
        let properties = [
            ("Name", name),
            ("Compute capability", format!("{}.{}", capability.0, capability.1)),
            ("Multiprocessors", attribute(MULTIPROCESSORS)?.to_string()),
            ("Memory", format!("{} MiB", bytes >> 20)),
        ];
        Ok(properties.map(|(key, value)| (key.to_owned(), value)).to_vec())
    }
}
