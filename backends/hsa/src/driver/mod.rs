//! The HSA runtime library: opened once, initialised once, absent on most machines.
//!
//! Nothing here knows what a back end is. [`table`] has the functions, [`types`] what they take, `virtual_gpu`
//! what only the virtual GPU's library can do.

pub(crate) mod table;
pub(crate) mod types;
mod virtual_gpu;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_char, c_void};
use table::Api;
use types::{
    AgentInfo, BREAK, Code, DEVICE_CPU, DEVICE_GPU, Handle, SUCCESS, SYSTEM_HOST_MEMORY,
    SYSTEM_VERSION_MAJOR, SYSTEM_VERSION_MINOR, VisitHandle,
};
use virtual_gpu::{EXTENSION_TABLE, VirtualGpu};

/// The name that ROCm's library has, and Gangway's virtual one.
const LIBRARY: &str = "libhsa-runtime64.so.1";

/// An initialised library.
pub struct Driver {
    pub(crate) api: Api,
    /// The GPUs that it knows: at least one.
    pub(crate) gpus: Vec<Handle>,
    /// The processor whose memory GPUs reach.
    pub(crate) host: Handle,
    /// If that is what the library is of.
    pub(crate) virtual_gpu: Option<VirtualGpu>,
}

impl Driver {
    /// Opens the library that the loader finds and initialises it.
    ///
    /// # Errors
    /// There is none, it lacks a function, or it has no devices: why, in words.
    pub fn open() -> Result<Self, String> {
        Self::open_library(LIBRARY.as_ref())
    }

    /// Opens the library in a file, or the one that the loader finds by a name.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_library(name: &OsStr) -> Result<Self, String> {
        // SAFETY: the library's initialisers are as sound as the library.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            // The loader's own words are behind those of the crate.
            let words = std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
            format!("no HSA runtime: {words}")
        })?;
        let resolved = Self::resolve(&|name| {
            // SAFETY: the address is not called here; the table gives it its type.
            let symbol = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
            symbol.map_or(std::ptr::null_mut(), |symbol| *symbol)
        });
        // The library has threads, and what it has handed out points into its code.
        std::mem::forget(library);
        resolved
    }

    /// Initialises the library whose functions `find` knows; null is one that it lacks.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn resolve(find: &dyn Fn(&CStr) -> *mut c_void) -> Result<Self, String> {
        let api = Api::load(find)
            .map_err(|name| format!("{LIBRARY} is too old: it has no {}", name.to_string_lossy()))?;
        let mut driver = Self { api, gpus: Vec::new(), host: Handle::default(), virtual_gpu: None };
        // SAFETY: as `hsa.h` says.
        match unsafe { (driver.api.init)() } {
            SUCCESS => {}
            code => return Err(format!("hsa_init: {}", driver.describe(code))),
        }
        let agents = visited(|visit, data| {
            // SAFETY: the library calls the function with the data.
            unsafe { (driver.api.iterate_agents)(visit, data) }
        });
        let agents = agents.map_err(|code| format!("hsa_iterate_agents: {}", driver.describe(code)))?;
        let is = |agent, kind| driver.agent_value::<u32>(agent, AgentInfo::Device) == Some(kind);
        let gpus: Vec<_> = agents.iter().copied().filter(|&agent| is(agent, DEVICE_GPU)).collect();
        let host = agents.iter().copied().find(|&agent| is(agent, DEVICE_CPU));
        let Some(host) = host.filter(|_| !gpus.is_empty()) else {
            return Err(format!("{LIBRARY} finds no GPU"));
        };
        (driver.gpus, driver.host) = (gpus, host);
        driver.virtual_gpu = VirtualGpu::find(find(EXTENSION_TABLE));
        Ok(driver)
    }

    /// A number or handle that describes an agent; `None` if this library does not know the question.
    pub(crate) fn agent_value<T: Copy + Default>(&self, agent: Handle, attribute: AgentInfo) -> Option<T> {
        let mut value = T::default();
        // SAFETY: the attribute's value has the caller's type, see `hsa.h`.
        let code = unsafe { (self.api.agent_get_info)(agent, attribute as u32, (&raw mut value).cast()) };
        (code == SUCCESS).then_some(value)
    }

    /// A text that describes an agent; empty if this library does not know the question.
    pub(crate) fn agent_text(&self, agent: Handle, attribute: AgentInfo) -> String {
        // The longest are names of 64 bytes.
        let mut text = [0_u8; 256];
        // SAFETY: so many bytes are more than the library writes.
        let code = unsafe { (self.api.agent_get_info)(agent, attribute as u32, text.as_mut_ptr().cast()) };
        let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| code == SUCCESS);
        text.map_or_else(String::new, |text| text.to_string_lossy().trim().to_owned())
    }

    /// The version of the interface.
    pub(crate) fn version(&self) -> (u16, u16) {
        let number = |attribute| {
            let mut value = 0_u16;
            // SAFETY: the library writes a half word.
            unsafe { (self.api.system_get_info)(attribute, (&raw mut value).cast()) };
            value
        };
        (number(SYSTEM_VERSION_MAJOR), number(SYSTEM_VERSION_MINOR))
    }

    /// Whether kernels may use all of the host's memory.
    pub(crate) fn shares_host(&self) -> bool {
        let mut value = 0_u8;
        // SAFETY: the library writes a byte, a `bool` of C's; those of before the attribute refuse it.
        let code = unsafe { (self.api.system_get_info)(SYSTEM_HOST_MEMORY, (&raw mut value).cast()) };
        code == SUCCESS && value != 0
    }

    /// What a status means, in the library's words.
    pub(crate) fn describe(&self, code: Code) -> String {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the library writes one pointer, to a constant.
        let asked = unsafe { (self.api.status_string)(code, &raw mut text) };
        if asked != SUCCESS || text.is_null() {
            return format!("status {code:#x}");
        }
        // SAFETY: as above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("gpus", &self.gpus.len()).finish_non_exhaustive()
    }
}

extern "C" fn note(handle: Handle, data: *mut c_void) -> Code {
    // SAFETY: what `visited` passes.
    unsafe { (*data.cast::<Vec<Handle>>()).push(handle) };
    SUCCESS
}

/// What a function visits that calls another one with each handle.
pub(crate) fn visited(iterate: impl FnOnce(VisitHandle, *mut c_void) -> Code) -> Result<Vec<Handle>, Code> {
    let mut found: Vec<Handle> = Vec::new();
    match iterate(note, (&raw mut found).cast()) {
        SUCCESS | BREAK => Ok(found),
        code => Err(code),
    }
}
