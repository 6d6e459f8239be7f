//! Libraries: modules that belong to no context, and are loaded into each that uses them.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::function::Function;
use super::image;
use super::jit::JitOptions;
use super::module::Module;
use crate::abi::{CUfunction, CUkernel, CUlibrary, CUmodule, Result, Status, kind};
use crate::objects::context::{self, Context, active_primary};
use crate::objects::device::Device;
use crate::objects::table::backed;

#[derive(Debug)]
pub struct Library {
    pub handle: CUlibrary,
    source: gangway_ptx::Module,
    /// By the number of the context.
    modules: Mutex<HashMap<u64, CUmodule>>,
    kernels: Mutex<HashMap<CString, CUkernel>>,
}

backed!(kind::Library, Library);

/// A kernel of a library, the same in all contexts.
#[derive(Debug)]
pub struct LibraryKernel {
    pub library: CUlibrary,
    owner: Weak<Library>,
    name: CString,
    /// What `cuKernelSetAttribute` has set, for contexts that load the library later.
    attributes: Mutex<HashMap<i32, i32>>,
    cache_config: AtomicI32,
}

backed!(kind::LibraryKernel, LibraryKernel);

impl Library {
    pub fn load(bytes: &[u8], options: &JitOptions) -> Result<CUlibrary> {
        // A library is for all devices, and all have the same compute capability.
        let capability = Device::get(0)?.capability().number();
        let source = image::read(bytes, capability, options);
        options.finish();
        let source = source?;
        let library = CUlibrary::insert_with(|handle| {
            Arc::new(Self { handle, source, modules: Mutex::default(), kernels: Mutex::default() })
        })?;
        Ok(library.handle)
    }

    pub fn unload(handle: CUlibrary) -> Result {
        let library = handle.remove()?;
        let kernels = std::mem::take(&mut *library.kernels.lock().unwrap_or_else(PoisonError::into_inner));
        for kernel in kernels.into_values() {
            let _ = kernel.remove();
        }
        let modules = std::mem::take(&mut *library.modules.lock().unwrap_or_else(PoisonError::into_inner));
        for module in modules.into_values() {
            // Those of destroyed contexts are gone already.
            let _ = Module::unload(module);
        }
        Ok(())
    }

    /// Its module in a context.
    pub fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = modules.get(&context.id) {
            return known.get();
        }
        let module = Module::place(context, self.source.clone(), &JitOptions::none())?;
        modules.insert(context.id, module);
        module.get()
    }

    /// Its module in the current context.
    pub fn current_module(&self) -> Result<Arc<Module>> {
        let context = context::current().ok_or(Status::INVALID_CONTEXT)?;
        context.usable()?;
        self.module(&context)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.source.kernels().map(|kernel| &*kernel.name)
    }

    #[must_use]
    pub fn kernel_count(&self) -> usize {
        self.names().count()
    }

    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<CUkernel> {
        if !self.names().any(|known| known == name) {
            return Err(Status::NOT_FOUND);
        }
        let name = CString::new(name).map_err(|_| Status::NOT_FOUND)?;
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = kernels.get(&name) {
            return Ok(known);
        }
        let kernel = LibraryKernel {
            library: self.handle,
            owner: Arc::downgrade(self),
            name: name.clone(),
            attributes: Mutex::default(),
            cache_config: AtomicI32::new(0),
        };
        let handle = CUkernel::insert(Arc::new(kernel))?;
        kernels.insert(name, handle);
        Ok(handle)
    }

    pub fn kernels(self: &Arc<Self>, count: usize) -> Result<Vec<CUkernel>> {
        self.names().take(count).map(|name| self.kernel(name)).collect()
    }
}

impl LibraryKernel {
    #[must_use]
    pub fn name(&self) -> &CStr {
        &self.name
    }

    fn function_in(&self, context: &Arc<Context>) -> Result<CUfunction> {
        let library = self.owner.upgrade().ok_or(Status::INVALID_HANDLE)?;
        let name = self.name.to_str().map_err(|_| Status::NOT_FOUND)?;
        let function = library.module(context)?.function(name)?;
        let attributes = self.attributes.lock().unwrap_or_else(PoisonError::into_inner);
        if !attributes.is_empty() {
            let object = function.get()?;
            for (&attribute, &value) in &*attributes {
                object.set_attribute(attribute, value)?;
            }
        }
        Ok(function)
    }

    /// The function that it is in the current context.
    pub fn function(&self) -> Result<CUfunction> {
        let context = context::current().ok_or(Status::INVALID_CONTEXT)?;
        context.usable()?;
        self.function_in(&context)
    }

    /// The function that it is in the primary context of a device, which is made if need be.
    fn function_on(&self, device: &'static Device) -> Result<CUfunction> {
        let context = match context::current().filter(|context| std::ptr::eq(context.device, device)) {
            Some(context) => context,
            None => active_primary(device).ok_or(Status::INVALID_CONTEXT)?,
        };
        self.function_in(&context)
    }

    pub fn attribute(&self, attribute: i32, device: &'static Device) -> Result<i32> {
        self.function_on(device)?.get()?.attribute(attribute)
    }

    pub fn set_attribute(&self, attribute: i32, value: i32, device: &'static Device) -> Result {
        self.function_on(device)?.get()?.set_attribute(attribute, value)?;
        self.attributes.lock().unwrap_or_else(PoisonError::into_inner).insert(attribute, value);
        Ok(())
    }

    pub fn set_cache_config(&self, config: i32) -> Result {
        if !(0..=3).contains(&config) {
            return Err(Status::INVALID_VALUE);
        }
        self.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }
}

/// The function of a handle. Kernels of libraries are taken as well: they are those of the
/// current context.
pub fn find_function(handle: CUfunction) -> Result<Arc<Function>> {
    let kernel = CUkernel::from_raw(handle.raw());
    if kernel.is_of_kind() { kernel.get()?.function()?.get() } else { handle.get() }
}
