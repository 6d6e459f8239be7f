//! Images on a device: loaded, frozen, and told about their device. Kernels and variables are then looked up by name.

use crate::agent::Agent;
use crate::driver::types::{
    Handle, INVALID_SYMBOL_NAME, PROFILE_FULL, ROUNDING_DEFAULT, SUCCESS, SymbolInfo,
};
use crate::kernel::{LoadedKernel, symbol_value};
use crate::memory;
use gangway_backend::{DevicePtr, Error, HostCallLink, Kernel, Module, Result};
use gangway_code_object::{CodeObject, KernelMetadata};
use gangway_device_code::llvm::{self, DeviceEnvironment};
use gangway_device_code::{LoadedImage, gcc};
use gangway_image::gcn_object;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

/// The symbol that leads to a kernel's descriptor is the kernel's with this behind it.
const DESCRIPTOR: &str = ".kd";
/// Where an image has the addresses and sizes of the variables that the program knows, in its order.
const VARIABLES: &str = ".offload_var_table";
/// The variable of an image of LLVM's that leads to the channel of host calls.
const CHANNEL: &str = "__gangway_host_channel";

/// What an image is told.
pub(crate) struct Told {
    pub environment: DeviceEnvironment,
    /// Bytes that `malloc` in GCC's kernels can give.
    pub heap: usize,
    /// Bytes of private memory of work-items of LLVM's kernels of which nobody knows how much they need.
    pub stack: u32,
}

/// An image on a device.
pub(crate) struct HsaModule {
    agent: Arc<Agent>,
    executable: Handle,
    code: Code,
    /// What is on the device besides: heaps and tables.
    allocated: Mutex<Vec<u64>>,
    #[allow(clippy::vec_box, reason = "handles are addresses of kernels, which stay where they are")]
    kernels: Mutex<Vec<Box<LoadedKernel>>>,
}

/// Whose code it is.
enum Code {
    Gcc {
        /// What `malloc` in kernels gives.
        heap: u64,
        /// Symbols of the kernels that are OpenACC's.
        openacc: Vec<Box<str>>,
    },
    Llvm {
        /// What the image says of its kernels.
        said: HashMap<Box<str>, KernelMetadata>,
        /// Where the device runtime keeps what it is told about its device.
        environment: Option<u64>,
        stack: u32,
    },
}

impl Code {
    /// Kernels that run constructors and destructors of variables.
    const fn initialisers(&self) -> [&'static str; 2] {
        match self {
            Self::Gcc { .. } => ["_init_array", "_fini_array"],
            Self::Llvm { .. } => ["amdgcn.device.init", "amdgcn.device.fini"],
        }
    }
}

impl HsaModule {
    /// Loads an image.
    pub fn load(agent: Arc<Agent>, image: &[u8], told: &Told) -> Result<Self> {
        if gcn_object::is_gcn_object(image) {
            Self::gcc(agent, image, told)
        } else {
            Self::llvm(agent, image, told)
        }
    }

    fn new(agent: Arc<Agent>, code: &[u8], of: Code) -> Result<Self> {
        let executable = load(&agent, code)?;
        Ok(Self { agent, executable, code: of, allocated: Mutex::default(), kernels: Mutex::default() })
    }

    fn gcc(agent: Arc<Agent>, image: &[u8], told: &Told) -> Result<Self> {
        let parts = gcn_object::parts(image).map_err(refused)?;
        let openacc = parts.openacc.into_iter().map(Into::into).collect();
        let mut module = Self::new(agent, parts.code, Code::Gcc { heap: 0, openacc })?;
        let heap = module.keep(module.allocate(told.heap)?);
        module.write(heap, &(told.heap as u64).to_le_bytes())?;
        if let Code::Gcc { heap: place, .. } = &mut module.code {
            *place = heap;
        }
        // A GPU's clock is none of what GCC's code for AMD asks for.
        gcc::describe_device(&module, told.environment.device_number, 1)?;
        Ok(module)
    }

    fn llvm(agent: Arc<Agent>, image: &[u8], told: &Told) -> Result<Self> {
        let object = CodeObject::read(image).map_err(refused)?;
        let kernels = object.metadata.kernels.iter();
        let said = kernels.map(|kernel| (kernel.name.as_str().into(), kernel.clone())).collect();
        let code = Code::Llvm { said, environment: None, stack: told.stack };
        let mut module = Self::new(agent, image, code)?;
        let described = llvm::describe_device(&module, &told.environment)?;
        if let Code::Llvm { environment, .. } = &mut module.code {
            *environment = described;
        }
        Ok(module)
    }

    /// Has the module free what it has allocated.
    fn keep(&self, address: u64) -> u64 {
        self.allocated.lock().unwrap_or_else(PoisonError::into_inner).push(address);
        address
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

fn refused(error: impl ToString) -> Error {
    Error::InvalidImage { reason: error.to_string() }
}

impl Module for HsaModule {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        let symbol = self.symbol(&format!("{name}{DESCRIPTOR}"))?;
        let missing = || Error::NoSuchSymbol { name: name.to_owned() };
        let symbol = symbol.ok_or_else(missing)?;
        let kernel = match &self.code {
            Code::Gcc { heap, openacc } => {
                let is_openacc = openacc.iter().any(|known| **known == *name);
                LoadedKernel::of_gcc(&self.agent, symbol, name, is_openacc, *heap)?
            }
            Code::Llvm { said, stack, .. } => {
                let said = said.get(name).ok_or_else(missing)?;
                LoadedKernel::of_llvm(&self.agent, symbol, said, llvm::configuration(self, name)?, *stack)?
            }
        };
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

    fn indirect_calls(&self, pairs: &[(usize, DevicePtr)]) -> Result<()> {
        // Without a device runtime nobody looks anything up; GCC 12 knows no such functions.
        let Code::Llvm { environment: Some(environment), .. } = self.code else { return Ok(()) };
        let words = pairs.iter().map(|&(host, device)| [host as u64, device.0 as u64]);
        self.keep(llvm::write_indirect_table(self, environment, words)?);
        Ok(())
    }

    fn host_calls(&self) -> Result<HostCallLink> {
        let Code::Llvm { .. } = self.code else { return Ok(HostCallLink::Unused) };
        match self.variable(CHANNEL)? {
            None => Ok(HostCallLink::Unused),
            Some((address, size)) if size == size_of::<u64>() => {
                Ok(HostCallLink::Global(DevicePtr(address as usize)))
            }
            Some((_, size)) => Err(refused(format!("`{CHANNEL}` has {size} bytes, expected 8"))),
        }
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        self.one(self.code.initialisers()[0])
    }

    fn destructors(&self) -> Result<Vec<Kernel>> {
        self.one(self.code.initialisers()[1])
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
        let allocated = std::mem::take(self.allocated.get_mut().unwrap_or_else(PoisonError::into_inner));
        allocated.into_iter().for_each(|address| self.free(address));
        // SAFETY: the image's kernels are done.
        let _ = unsafe { (self.agent.driver.api.executable_destroy)(self.executable) };
    }
}
