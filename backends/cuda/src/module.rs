//! Images on a device.
//!
//! Loading gives the image to the driver, which compiles PTX, and tells the device runtime in
//! it about its device. Kernels and globals are then looked up by name.

mod initialisers;
mod load;

use crate::context::Context;
use crate::driver::types::{Address, Handle};
use crate::host_call;
use crate::kernel::LoadedKernel;
use crate::properties::Properties;
use crate::symbol::{Loaded, free_now, global};
use gangway_backend::{DevicePtr, Error, HostCallLink, Kernel, Module, Result};
use gangway_device_code::gcc::{self, Entries};
use gangway_device_code::llvm::{self, DeviceEnvironment};
use initialisers::{Initialisers, When};
use std::sync::{Arc, Mutex, PoisonError};

/// An image on a device.
pub(crate) struct CudaModule {
    context: Arc<Context>,
    properties: Arc<Properties>,
    module: Handle,
    initialisers: Initialisers,
    /// Its code calls functions of the host.
    calls_host: bool,
    /// GCC's kernels, if it is an image of GCC's.
    entries: Entries,
    #[allow(clippy::vec_box, reason = "handles are addresses of kernels, which stay where they are")]
    kernels: Mutex<Vec<Box<LoadedKernel>>>,
    /// Where the device runtime's description of the device stands.
    environment: Option<Address>,
    /// Tables of indirect calls on the device.
    tables: Mutex<Vec<Address>>,
}

impl CudaModule {
    /// Loads an image.
    pub fn load(
        context: Arc<Context>,
        properties: Arc<Properties>,
        image: &[u8],
        environment: DeviceEnvironment,
    ) -> Result<Self> {
        let module = load::load(&context, image)?;
        let details = gangway_image::details(image).ok();
        let mut this = Self {
            context,
            properties,
            module,
            initialisers: Initialisers::of(details.as_ref()),
            calls_host: host_call::calls_host(details.as_ref()),
            entries: Entries::of(image),
            kernels: Mutex::default(),
            environment: None,
            tables: Mutex::default(),
        };
        let loaded = this.loaded();
        let described = llvm::describe_device(&loaded, &environment)?;
        if gcc::is_gcc(image) {
            gcc::describe_device(&loaded, environment.device_number, this.properties.clock_frequency)?;
        }
        this.environment = described;
        Ok(this)
    }

    fn loaded(&self) -> Loaded<'_> {
        Loaded { context: &self.context, module: self.module }
    }

    fn initialiser(&self, when: When) -> Result<Vec<Kernel>> {
        let of_gcc = match when {
            When::Load => self.entries.constructors(),
            When::Unload => self.entries.destructors(),
        };
        if let Some(name) = of_gcc {
            return self.kernel(name).map(|kernel| vec![kernel]);
        }
        let Some(name) = self.initialisers.prepare(&self.context, self.module, when)? else {
            return Ok(Vec::new());
        };
        self.kernel(name).map(|kernel| vec![kernel])
    }
}

impl Module for CudaModule {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        let entry = self.entries.entry(name)?;
        let shared = self.entries.shared_memory(entry);
        let (loaded, kernel) =
            LoadedKernel::load(&self.context, &self.properties, self.module, name, entry, shared)?;
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).push(loaded);
        Ok(kernel)
    }

    fn global(&self, name: &str, size: usize) -> Result<DevicePtr> {
        match global(&self.context, self.module, name)? {
            Some((address, found)) if found >= size => Ok(DevicePtr(address as usize)),
            Some((_, found)) => Err(Error::InvalidImage {
                reason: format!("`{name}` has {found} bytes on the device, the program expects {size}"),
            }),
            None => Err(Error::NoSuchSymbol { name: name.to_owned() }),
        }
    }

    fn indirect_calls(&self, pairs: &[(usize, DevicePtr)]) -> Result<()> {
        let words = pairs.iter().map(|&(host, device)| [host as u64, device.0 as u64]);
        let loaded = self.loaded();
        // Without a device runtime nobody looks anything up.
        let table = match self.environment {
            Some(environment) => Some(llvm::write_indirect_table(&loaded, environment, words)?),
            None => gcc::write_indirect_table(&loaded, words)?,
        };
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).extend(table);
        Ok(())
    }

    fn host_calls(&self) -> Result<HostCallLink> {
        if !self.calls_host {
            return Ok(HostCallLink::Unused);
        }
        host_call::link(&self.context, &self.properties, self.module)
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        self.initialiser(When::Load)
    }

    fn destructors(&self) -> Result<Vec<Kernel>> {
        self.initialiser(When::Unload)
    }
}

impl Drop for CudaModule {
    fn drop(&mut self) {
        let kernels = self.kernels.get_mut().unwrap_or_else(PoisonError::into_inner);
        kernels.iter().for_each(|kernel| self.context.forget(&raw const kernel.name));
        let tables = self.tables.get_mut().unwrap_or_else(PoisonError::into_inner);
        tables.drain(..).for_each(|table| free_now(&self.context, table));
        self.initialisers.free(&self.context);
        // SAFETY: the module is loaded, and nobody uses it any more. A failure has nobody to
        // be told to.
        let _ = self.context.code_within(|api| unsafe { (api.module_unload)(self.module) });
    }
}
