//! Libraries: modules that belong to no context, and are loaded into each that uses them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use gangway_trace::{Kind, Span};

use super::function::Function;
use super::image;
use super::jit::JitOptions;
use super::module::Module;
use crate::abi::{CUdevice, CUfunction, CUkernel, CUlibrary, CUmodule, Result, Status, kind};
use crate::objects::context::{self, Context, active_primary};
use crate::objects::device::Device;
use crate::objects::process::trace;
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
    known: Mutex<Known>,
    cache_config: AtomicI32,
}

/// What there is of a kernel in contexts and on devices.
#[derive(Debug, Default)]
struct Known {
    /// Its functions with their devices, by the number of the context.
    functions: HashMap<u64, (CUdevice, CUfunction)>,
    /// What `cuKernelSetAttribute` has set, by device and attribute: also for contexts that load
    /// the library later.
    attributes: BTreeMap<(CUdevice, i32), i32>,
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
        let span = Span::new(Kind::LoadImage, context.device.number(), "", 0);
        let begun = trace::begin(|| span);
        let module = Module::place(context, self.source.clone(), &JitOptions::none())?;
        if let Some(begun) = begun {
            begun.end(&span);
        }
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
            known: Mutex::default(),
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

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The function that it is in a context. There it starts with what has been set for the device.
    fn function_in(&self, context: &Arc<Context>) -> Result<CUfunction> {
        let mut known = self.known();
        if let Some(&(_, function)) = known.functions.get(&context.id) {
            return Ok(function);
        }
        let library = self.owner.upgrade().ok_or(Status::INVALID_HANDLE)?;
        let name = self.name.to_str().map_err(|_| Status::NOT_FOUND)?;
        let function = library.module(context)?.function(name)?;
        let (device, object) = (context.device.number(), function.get()?);
        for (&(_, attribute), &value) in known.attributes.range((device, i32::MIN)..=(device, i32::MAX)) {
            object.set_attribute(attribute, value)?;
        }
        known.functions.insert(context.id, (device, function));
        Ok(function)
    }

    /// The function that it is in the current context.
    pub fn function(&self) -> Result<CUfunction> {
        let context = context::current().ok_or(Status::INVALID_CONTEXT)?;
        context.usable()?;
        self.function_in(&context)
    }

    /// The function that it is on a device: in the current context if that is of the device,
    /// otherwise in the primary one.
    fn function_on(&self, device: &'static Device) -> Result<Arc<Function>> {
        let context = match context::current().filter(|context| std::ptr::eq(context.device, device)) {
            Some(context) => context,
            None => active_primary(device).ok_or(Status::INVALID_CONTEXT)?,
        };
        self.function_in(&context)?.get()
    }

    pub fn attribute(&self, attribute: i32, device: &'static Device) -> Result<i32> {
        self.function_on(device)?.attribute(attribute)
    }

    /// Sets an attribute on a device: in contexts that have the kernel, and in those to come.
    pub fn set_attribute(&self, attribute: i32, value: i32, device: &'static Device) -> Result {
        self.function_on(device)?.set_attribute(attribute, value)?;
        let mut known = self.known();
        for &(_, function) in known.functions.values().filter(|(on, _)| *on == device.number()) {
            // Those of contexts that are gone are gone as well.
            if let Ok(function) = function.get() {
                function.set_attribute(attribute, value)?;
            }
        }
        known.attributes.insert((device.number(), attribute), value);
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

/// The function of a handle for work in a context: a library's kernel is that of the context.
pub fn find_function_in(handle: CUfunction, context: &Arc<Context>) -> Result<Arc<Function>> {
    let kernel = CUkernel::from_raw(handle.raw());
    if kernel.is_of_kind() { kernel.get()?.function_in(context)?.get() } else { handle.get() }
}
