//! Images on a device: loaded, frozen, and told about their device. Kernels and variables are then looked up by name.

use crate::agent::Agent;
use crate::driver::types::{
    Handle, INVALID_SYMBOL_NAME, PROFILE_FULL, ROUNDING_DEFAULT, SUCCESS, SymbolInfo,
};
use crate::kernel::{LoadedKernel, symbol_value};
use crate::memory;
use gangway_backend::{DevicePtr, Error, Kernel, Module, Result};
use gangway_device_code::{LoadedImage, gcc};
use gangway_image::gcn_object;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

/// The symbol that leads to a kernel's descriptor is the kernel's with this behind it.
const DESCRIPTOR: &str = ".kd";
/// Where an image has the addresses and sizes of the variables that the program knows, in its order.
const VARIABLES: &str = ".offload_var_table";
/// Kernels that run constructors and destructors of variables.
const CONSTRUCTORS: &str = "_init_array";
const DESTRUCTORS: &str = "_fini_array";

/// An image on a device.
pub(crate) struct HsaModule {
    agent: Arc<Agent>,
    executable: Handle,
    /// What `malloc` in kernels gives.
    heap: DevicePtr,
    /// Symbols of the kernels that are OpenACC's.
    openacc: Vec<Box<str>>,
    #[allow(clippy::vec_box, reason = "handles are addresses of kernels, which stay where they are")]
    kernels: Mutex<Vec<Box<LoadedKernel>>>,
}

impl HsaModule {
    /// Loads an image of GCC's for the device with a number.
    pub fn load(agent: Arc<Agent>, image: &[u8], number: u32, heap_size: usize) -> Result<Self> {
        let parts = gcn_object::parts(image);
        let parts = parts.map_err(|error| Error::InvalidImage { reason: error.to_string() })?;
        let executable = load(&agent, parts.code)?;
        let openacc = parts.openacc.into_iter().map(Into::into).collect();
        let mut module =
            Self { agent, executable, heap: DevicePtr::NULL, openacc, kernels: Mutex::default() };
        module.heap = memory::from_pool(&module.agent, module.agent.pools.device, heap_size)?;
        module.write(module.heap.0 as u64, &(heap_size as u64).to_le_bytes())?;
        // A GPU's clock is none of what GCC's code for AMD asks for.
        gcc::describe_device(&module, number, 1)?;
        Ok(module)
    }

    fn symbol(&self, name: &str) -> Result<Option<Handle>> {
        let Ok(spelled) = CString::new(name) else { return Ok(None) };
        let (mut symbol, agent) = (Handle::default(), self.agent.handle);
        // SAFETY: the library writes one handle, and the name ends in a zero byte.
        let code = unsafe {
            (self.agent.driver.api.executable_symbol)(
                self.executable,
                spelled.as_ptr(),
                &agent,
                &raw mut symbol,
            )
        };
        match code {
            SUCCESS => Ok(Some(symbol)),
            INVALID_SYMBOL_NAME => Ok(None),
            code => Err(self.agent.failure(code, "hsa_executable_get_symbol_by_name")),
        }
    }

    /// The variable that the program registers at a place in its table.
    fn registered(&self, place: usize) -> Result<Option<(u64, usize)>> {
        let Some((table, size)) = self.variable(VARIABLES)? else { return Ok(None) };
        let (begin, mut entry) = (place * size_of::<[u64; 2]>(), [0; size_of::<[u64; 2]>()]);
        // An assembler may not have said how large the table is.
        if size != 0 && size < begin + entry.len() {
            return Ok(None);
        }
        self.read(&mut entry, table + begin as u64)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| entry[at + byte]));
        Ok(Some((word(0), word(8) as usize)))
    }

    fn one(&self, name: &str) -> Result<Vec<Kernel>> {
        match self.kernel(name) {
            Ok(kernel) => Ok(vec![kernel]),
            Err(Error::NoSuchSymbol { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// Has the library load a code object for an agent.
fn load(agent: &Agent, code: &[u8]) -> Result<Handle> {
    let api = &agent.driver.api;
    let (mut reader, mut executable) = (Handle::default(), Handle::default());
    // SAFETY: the library reads so many bytes, which stay until the reader is destroyed, and writes one handle.
    let made = unsafe { (api.reader_create)(code.as_ptr().cast(), code.len(), &raw mut reader) };
    if made != SUCCESS {
        let reason = format!("hsa_code_object_reader_create_from_memory: {}", agent.driver.describe(made));
        return Err(Error::InvalidImage { reason });
    }
    let options = c"".as_ptr();
    let loaded = (|| {
        // SAFETY: the library writes one handle.
        let made =
            unsafe { (api.executable_create)(PROFILE_FULL, ROUNDING_DEFAULT, options, &raw mut executable) };
        agent.checked(made, "hsa_executable_create_alt")?;
        // SAFETY: executable and reader have just been made.
        let code =
            unsafe { (api.executable_load)(executable, agent.handle, reader, options, std::ptr::null_mut()) };
        if code != SUCCESS {
            let reason = format!("hsa_executable_load_agent_code_object: {}", agent.driver.describe(code));
            return Err(Error::InvalidImage { reason });
        }
        // SAFETY: as above.
        agent.checked(unsafe { (api.executable_freeze)(executable, options) }, "hsa_executable_freeze")
    })();
    // SAFETY: made above.
    let _ = unsafe { (api.reader_destroy)(reader) };
    if loaded.is_err() && executable != Handle::default() {
        // SAFETY: as above.
        let _ = unsafe { (api.executable_destroy)(executable) };
    }
    loaded.map(|()| executable)
}

impl Module for HsaModule {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        let symbol = self.symbol(&format!("{name}{DESCRIPTOR}"))?;
        let symbol = symbol.ok_or_else(|| Error::NoSuchSymbol { name: name.to_owned() })?;
        let is_openacc = self.openacc.iter().any(|known| **known == *name);
        let kernel = LoadedKernel::new(&self.agent, symbol, name, is_openacc, self.heap.0 as u64)?;
        let told = kernel.told(&self.agent);
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).push(kernel);
        Ok(told)
    }

    fn global(&self, name: &str, size: usize) -> Result<DevicePtr> {
        let missing = || Error::NoSuchSymbol { name: name.to_owned() };
        let found = match gcn_object::variable_place(name) {
            Some(place) => self.registered(place)?,
            None => self.variable(name)?,
        };
        let (address, there) = found.ok_or_else(missing)?;
        if there < size {
            let reason = format!("variable `{name}` has {there} bytes, expected {size}");
            return Err(Error::InvalidImage { reason });
        }
        Ok(DevicePtr(address as usize))
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        self.one(CONSTRUCTORS)
    }

    fn destructors(&self) -> Result<Vec<Kernel>> {
        self.one(DESTRUCTORS)
    }
}

impl LoadedImage for HsaModule {
    fn variable(&self, name: &str) -> Result<Option<(u64, usize)>> {
        let Some(symbol) = self.symbol(name)? else { return Ok(None) };
        let address = symbol_value(&self.agent, symbol, SymbolInfo::VariableAddress)?;
        let size: u32 = symbol_value(&self.agent, symbol, SymbolInfo::VariableSize)?;
        Ok(Some((address, size as usize)))
    }

    fn read(&self, to: &mut [u8], from: u64) -> Result<()> {
        let from = std::ptr::with_exposed_provenance(from as usize);
        // SAFETY: the caller has found so many bytes there.
        unsafe { memory::copy(&self.agent, to.as_mut_ptr(), from, to.len()) }
    }

    fn write(&self, to: u64, from: &[u8]) -> Result<()> {
        let to = std::ptr::with_exposed_provenance_mut(to as usize);
        // SAFETY: as above.
        unsafe { memory::copy(&self.agent, to, from.as_ptr(), from.len()) }
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        Ok(memory::from_pool(&self.agent, self.agent.pools.device, bytes)?.0 as u64)
    }

    fn free(&self, address: u64) {
        // SAFETY: allocated above, and the image's kernels are done.
        let _ = unsafe { memory::free(&self.agent, DevicePtr(address as usize)) };
    }
}

impl Drop for HsaModule {
    fn drop(&mut self) {
        if self.heap != DevicePtr::NULL {
            self.free(self.heap.0 as u64);
        }
        // SAFETY: the image's kernels are done.
        let _ = unsafe { (self.agent.driver.api.executable_destroy)(self.executable) };
    }
}
