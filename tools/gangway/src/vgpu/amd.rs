//! The virtual AMD GPU, asked through the HSA runtime.

use std::ffi::{CStr, c_char, c_void};

use libloading::Library;

use super::{Device, Result};
use crate::library;

/// A handle of HSA's: agents and pools of memory.
type Handle = u64;
type Status = u32;
type Callback<T> = extern "C" fn(Handle, &mut T) -> Status;

/// `hsa_agent_info_t` and AMD's numbers for it, and for pools.
const NAME: u32 = 0;
const DEVICE: u32 = 17;
const COMPUTE_UNITS: u32 = 0xA002;
const PRODUCT: u32 = 0xA009;
const POOL_SIZE: u32 = 2;
/// `HSA_DEVICE_TYPE_GPU`
const GPU: u32 = 1;
/// The length of names.
const LENGTH: usize = 64;

/// The GPUs, or why there are none.
pub fn devices() -> Result<Vec<Device>> {
    let folder = library::virtual_gpu().map_err(|failure| failure.to_string())?;
    let file = folder.join(library::LIBHSA);
    // SAFETY: the library is our own, and loading it runs no code but its own.
    let library = unsafe { Library::new(&file) }.map_err(|error| error.to_string())?;
    let runtime = Runtime { library };
    runtime.init()?;
    let mut agents = Agents::default();
    runtime.agents(note, &mut agents)?;
    let describe = |&agent: &Handle| match runtime.value::<u32>(agent, DEVICE) {
        Ok(kind) if kind != GPU => None,
        Ok(_) => Some(runtime.describe(agent)),
        Err(why) => Some(Err(why)),
    };
    let devices = agents.handles.iter().filter_map(describe).collect();
    // Its threads may be running its code.
    std::mem::forget(runtime.library);
    Ok(devices)
}

#[derive(Default)]
struct Agents {
    handles: Vec<Handle>,
}

extern "C" fn note(handle: Handle, agents: &mut Agents) -> Status {
    agents.handles.push(handle);
    0
}

struct Runtime {
    library: Library,
}

/// The runtime's functions by their C names; all of them answer a `hsa_status_t`.
macro_rules! functions {
    ($($method:ident = $name:literal($($argument:ident: $ty:ty),*);)*) => {
        impl Runtime {$(
            fn $method(&self, $($argument: $ty),*) -> Result<()> {
                type Function = unsafe extern "C" fn($($ty),*) -> Status;
                // SAFETY: the type is the one that the runtime declares for the name.
                let function = unsafe { self.library.get::<Function>($name) };
                let function = function.map_err(|error| error.to_string())?;
                // SAFETY: callers pass pointers to what the function fills.
                match unsafe { function($($argument),*) } {
                    0 => Ok(()),
                    code => Err(format!("{} answers {code:#x}", $name.escape_ascii())),
                }
            }
        )*}
    };
}

functions! {
    init = b"hsa_init"();
    agents = b"hsa_iterate_agents"(callback: Callback<Agents>, data: &mut Agents);
    agent_info = b"hsa_agent_get_info"(agent: Handle, attribute: u32, value: *mut c_void);
    pools = b"hsa_amd_agent_iterate_memory_pools"(agent: Handle, callback: Callback<Agents>, data: &mut Agents);
    pool_info = b"hsa_amd_memory_pool_get_info"(pool: Handle, attribute: u32, value: *mut c_void);
}

impl Runtime {
    fn value<T: Default>(&self, agent: Handle, attribute: u32) -> Result<T> {
        let mut value = T::default();
        self.agent_info(agent, attribute, (&raw mut value).cast()).map(|()| value)
    }

    fn text(&self, agent: Handle, attribute: u32) -> Result<String> {
        let mut text: [c_char; LENGTH + 1] = [0; LENGTH + 1];
        self.agent_info(agent, attribute, text.as_mut_ptr().cast())?;
        // SAFETY: what is written is shorter by one than what is there.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    fn describe(&self, agent: Handle) -> Device {
        let mut pools = Agents::default();
        self.pools(agent, note, &mut pools)?;
        let size = |&pool: &Handle| {
            let mut bytes = 0usize;
            self.pool_info(pool, POOL_SIZE, (&raw mut bytes).cast()).map(|()| bytes)
        };
        // The others are of work-groups and of lanes.
        let bytes = pools.handles.iter().map(size).collect::<Result<Vec<_>>>()?.into_iter().max();
        let properties = [
            ("Name", self.text(agent, PRODUCT)?),
            ("Processor", self.text(agent, NAME)?),
            ("Compute units", self.value::<u32>(agent, COMPUTE_UNITS)?.to_string()),
            ("Memory", format!("{} MiB", bytes.unwrap_or_default() >> 20)),
        ];
        Ok(properties.map(|(key, value)| (key.to_owned(), value)).to_vec())
    }
}
