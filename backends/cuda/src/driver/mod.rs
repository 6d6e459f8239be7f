//! The CUDA driver library: opened once, initialised once, absent on most machines.
//!
//! Nothing here knows what a back end is. [`table`] has the functions, [`types`] what
//! they take, [`failure`] what their numbers mean.

pub(crate) mod failure;
pub(crate) mod table;
pub(crate) mod types;
pub(crate) mod virtual_gpu;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_void};
use table::Api;
use types::{Attribute, DeviceNumber, SUCCESS};
use virtual_gpu::VirtualGpu;

/// The name that every CUDA driver has, and Gangway's virtual one.
const LIBRARY: &str = "libcuda.so.1";

/// An initialised driver.
pub struct Driver {
    pub(crate) api: Api,
    devices: usize,
    /// What only the virtual GPU's driver does.
    pub(crate) virtual_gpu: Option<VirtualGpu>,
}

impl Driver {
    /// Opens the driver that the loader finds and initialises it.
    ///
    /// # Errors
    /// There is none, it lacks a function, or it has no devices: why, in words.
    pub fn open() -> Result<Self, String> {
        Self::open_library(LIBRARY.as_ref())
    }

    /// Opens the driver in a file, or the one that the loader finds by a name.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_library(name: &OsStr) -> Result<Self, String> {
        // SAFETY: the driver's initialisers are as sound as the driver.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            // The loader's own words are behind those of the crate.
            let words = std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
            format!("no CUDA driver: {words}")
        })?;
        let resolved = Self::resolve(&|name| {
            // SAFETY: the address is not called here; the table gives it its type.
            let symbol = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
            symbol.map_or(std::ptr::null_mut(), |symbol| *symbol)
        });
        // The driver has threads, and what it has handed out points into its code.
        std::mem::forget(library);
        resolved
    }

    /// Initialises the driver whose functions `find` knows; null is one that it lacks.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn resolve(find: &dyn Fn(&CStr) -> *mut c_void) -> Result<Self, String> {
        let api = Api::load(find)
            .map_err(|name| format!("{LIBRARY} is too old: it has no {}", name.to_string_lossy()))?;
        let virtual_gpu = virtual_gpu::tell(find);
        let mut driver = Self { api, devices: 0, virtual_gpu };
        // SAFETY: as the driver API says.
        match unsafe { (driver.api.init)(0) } {
            SUCCESS => {}
            code => return Err(format!("cuInit: {}", driver.describe(code))),
        }
        let mut count = 0;
        // SAFETY: the driver writes one number.
        match unsafe { (driver.api.device_get_count)(&raw mut count) } {
            SUCCESS => driver.devices = usize::try_from(count).unwrap_or(0),
            code => return Err(format!("cuDeviceGetCount: {}", driver.describe(code))),
        }
        if driver.devices == 0 {
            return Err(format!("{LIBRARY} finds no device"));
        }
        Ok(driver)
    }

    /// How many devices there are: at least one.
    pub(crate) fn devices(&self) -> usize {
        self.devices
    }

    /// A number that describes a device; 0 if this driver does not know the question.
    pub(crate) fn attribute(&self, attribute: Attribute, device: DeviceNumber) -> u32 {
        let mut value = 0;
        // SAFETY: the driver writes one number.
        let code = unsafe { (self.api.device_get_attribute)(&raw mut value, attribute as i32, device) };
        if code == SUCCESS { u32::try_from(value).unwrap_or(0) } else { 0 }
    }

    /// The driver's version: 12080 is 12.8.
    pub(crate) fn version(&self) -> i32 {
        let mut version = 0;
        // SAFETY: the driver writes one number.
        unsafe { (self.api.driver_get_version)(&raw mut version) };
        version
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("devices", &self.devices).finish_non_exhaustive()
    }
}
