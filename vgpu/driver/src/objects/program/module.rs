//! Modules: PTX that has been loaded into a context, with its kernels and variables.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gangway_engine::{KernelId, LoadError, Program};
use gangway_trace::{Kind, Span};

use super::function::{Code, Function};
use super::image::{complain, read};
use super::jit::JitOptions;
use crate::abi::{CUfunction, CUmodule, Result, Status, kind};
use crate::objects::context::{Context, Dependent};
use crate::objects::memory;
use crate::objects::process::trace;
use crate::objects::table::backed;

#[derive(Debug)]
pub struct Module {
    pub handle: CUmodule,
    pub program: Arc<Program>,
    context: Weak<Context>,
    /// Handles that have been asked for.
    functions: Mutex<HashMap<KernelId, CUfunction>>,
    /// Those of functions that are no kernels, by name.
    device_functions: Mutex<HashMap<String, CUfunction>>,
    /// Gangway's runtime has loaded it, and reports its kernels.
    runtimes: AtomicBool,
}

backed!(kind::Module, Module);

impl Module {
    /// Loads the image of a caller.
    pub fn load(context: &Arc<Context>, bytes: &[u8], options: &JitOptions) -> Result<CUmodule> {
        let number = context.device.number();
        let begun = trace::begin(|| Span::new(Kind::LoadImage, number, "", 0));
        let capability = context.device.capability().number();
        let read = read(bytes, capability, options);
        let loaded = read.and_then(|module| Self::place(context, module, options));
        options.finish();
        if let Some(begun) = begun {
            let bytes = bytes.len() as u64;
            begun.end(&Span { bytes, ..Span::new(Kind::LoadImage, number, "", 0) });
        }
        loaded
    }

    /// Gives a parsed module its memory.
    pub fn place(
        context: &Arc<Context>,
        module: gangway_ptx::Module,
        options: &JitOptions,
    ) -> Result<CUmodule> {
        let program = context.device.engine().load(module).map_err(|error| match error {
            LoadError::Undefined(names) => {
                complain(options, &format!("nothing defines {}", names.join(", ")));
                Status::INVALID_IMAGE
            }
            LoadError::TooLarge(what) => {
                complain(options, &what);
                Status::INVALID_PTX
            }
            LoadError::OutOfMemory(reason) => {
                complain(options, &format!("no memory for the module: {reason}"));
                Status::OUT_OF_MEMORY
            }
        })?;
        let module = CUmodule::insert_with(|handle| {
            let (context, functions) = (Arc::downgrade(context), Mutex::default());
            let (device_functions, runtimes) = (Mutex::default(), AtomicBool::new(false));
            Arc::new(Self { handle, program, context, functions, device_functions, runtimes })
        })?;
        context.adopt(module.handle, &module).inspect_err(|_| module.context_ends())?;
        Ok(module.handle)
    }

    /// Makes its handle and those of its functions invalid. Its memory goes when no launch uses
    /// it any more.
    pub fn unload(handle: CUmodule) -> Result {
        let module = handle.remove()?;
        if let Some(context) = module.context.upgrade() {
            context.forget(handle);
        }
        module.forget_functions();
        Ok(())
    }

    /// Gangway's runtime says that it has loaded this module.
    pub fn leave_to_runtime(handle: CUmodule) -> Result {
        handle.get()?.runtimes.store(true, Ordering::Release);
        Ok(())
    }

    fn forget_functions(&self) {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let others = &self.device_functions;
        let mut others = others.lock().unwrap_or_else(PoisonError::into_inner);
        for function in functions.drain().map(|(_, it)| it).chain(others.drain().map(|(_, it)| it)) {
            let _ = function.remove();
        }
    }

    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)
    }

    /// The handle of a kernel, or of a visible function.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<CUfunction> {
        match self.program.kernel(name) {
            Some(kernel) => self.function_of(kernel),
            None => self.device_function(name),
        }
    }

    #[cold]
    fn device_function(self: &Arc<Self>, name: &str) -> Result<CUfunction> {
        let mut functions = self.device_functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = functions.get(name) {
            return Ok(known);
        }
        let described = self.program.device_function(name).ok_or(Status::NOT_FOUND)?;
        let code = Code::Device(Box::new(described));
        let handle = Function::create(self.handle, &self.program, &self.context()?, code, false)?;
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }

    pub fn function_of(self: &Arc<Self>, kernel: KernelId) -> Result<CUfunction> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = functions.get(&kernel) {
            return Ok(known);
        }
        let runtimes = self.runtimes.load(Ordering::Acquire);
        let handle =
            Function::create(self.handle, &self.program, &self.context()?, Code::Kernel(kernel), runtimes)?;
        functions.insert(kernel, handle);
        Ok(handle)
    }

    /// The handles of up to `count` kernels, in the order of the module.
    pub fn functions(self: &Arc<Self>, count: usize) -> Result<Vec<CUfunction>> {
        let kernels = self.program.kernels().len().min(count) as u32;
        (0..kernels).map(|index| self.function_of(KernelId(index))).collect()
    }

    /// Address and size of a variable.
    pub fn global(&self, name: &str) -> Result<(u64, usize)> {
        let global = self.program.global(name).ok_or(Status::NOT_FOUND)?;
        memory::note_variable(global.address, global.size, name);
        Ok((global.address, global.size as usize))
    }
}

impl Dependent for Module {
    fn context_ends(&self) {
        if self.handle.remove().is_ok() {
            self.forget_functions();
        }
    }
}
