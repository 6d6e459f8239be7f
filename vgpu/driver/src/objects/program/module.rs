//! Modules: PTX that has been loaded into a context, with its kernels and variables.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gangway_engine::{KernelId, LoadError, Program};

use crate::abi::status::{Result, Status};
use crate::abi::types::{CUfunction, CUmodule};
use crate::objects::context::Context;
use crate::objects::process::report::report;
use crate::objects::program::function::Function;
use crate::objects::program::jit::Options;
use crate::objects::table::{Object, object};

#[derive(Debug)]
pub struct Module {
    pub handle: CUmodule,
    pub program: Arc<Program>,
    context: Weak<Context>,
    /// Handles that have been asked for.
    functions: Mutex<HashMap<KernelId, CUfunction>>,
}

object!(Module, 3);

/// The bytes of an image that a caller passes without its length.
pub fn image<'a>(pointer: *const c_void) -> Result<&'a [u8]> {
    if pointer.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, so by the contract of the C function an image, which stays as long as the call.
    unsafe { gangway_linker::pointer::bytes(pointer) }.map_err(|error| {
        report!("{error}");
        Status(error.code as u32)
    })
}

/// Makes one module of an image that can be loaded; what is wrong goes to the error log, or else to stderr.
pub fn read(bytes: &[u8], capability: u16, options: &Options) -> Result<gangway_ptx::Module> {
    let mut module = gangway_linker::load("image", bytes, capability).map_err(|error| {
        complain(options, &with_advice(error.to_string(), capability));
        Status(error.code() as u32)
    })?;
    options.limit_registers(&mut module);
    Ok(module)
}

/// The first processor whose tensor cores code generators use.
const TENSOR_CORES: u16 = 75;

/// What is wrong with an image, and what avoids it.
pub fn with_advice(mut text: String, capability: u16) -> String {
    if capability >= TENSOR_CORES && text.contains("tensor core instructions are not supported") {
        text += "\nGANGWAY_VGPU_CAPABILITY=7.0 makes programs that generate code for the processor they find, such \
                 as Triton and tinygrad, leave these out";
    }
    text
}

/// Tells the program's author what is wrong with an image. Most programs ask for no log, and
/// would only show the number of the error.
pub fn complain(options: &Options, text: &str) {
    if options.wants_error() {
        options.error(text);
    } else {
        report!("{text}");
    }
}

impl Module {
    /// Loads the image of a caller.
    pub fn load(context: &Arc<Context>, bytes: &[u8], options: &Options) -> Result<CUmodule> {
        let capability = context.device.capability().number();
        let loaded =
            read(bytes, capability, options).and_then(|module| Module::place(context, module, options));
        options.finish();
        loaded
    }

    /// Gives a parsed module its memory.
    pub fn place(context: &Arc<Context>, module: gangway_ptx::Module, options: &Options) -> Result<CUmodule> {
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
        let module = Module::table().insert_with(|handle| {
            let (context, functions) = (Arc::downgrade(context), Mutex::default());
            Arc::new(Module { handle, program, context, functions })
        })?;
        context.add_module(module.handle);
        Ok(module.handle)
    }

    /// Makes its handle and those of its functions invalid. Its memory goes when no launch uses it any more.
    pub fn unload(handle: CUmodule) -> Result {
        let module = handle.remove()?;
        if let Some(context) = module.context.upgrade() {
            context.forget_module(handle);
        }
        let mut functions = module.functions.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, function) in functions.drain() {
            let _ = function.remove();
        }
        Ok(())
    }

    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)
    }

    /// The handle of a kernel.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<CUfunction> {
        self.function_of(self.program.kernel(name).ok_or(Status::NOT_FOUND)?)
    }

    pub fn function_of(self: &Arc<Self>, kernel: KernelId) -> Result<CUfunction> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = functions.get(&kernel) {
            return Ok(known);
        }
        let handle = Function::create(self, kernel)?;
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
        Ok((global.address, global.size as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensor_cores_can_be_avoided() {
        let refused = || "'mma': tensor core instructions are not supported".to_owned();
        let advised = with_advice(refused(), 90);
        assert_eq!(
            advised,
            "'mma': tensor core instructions are not supported\nGANGWAY_VGPU_CAPABILITY=7.0 makes programs that \
             generate code for the processor they find, such as Triton and tinygrad, leave these out"
        );
        // There it is the program's own text.
        assert_eq!(with_advice(refused(), 70), refused());
        assert_eq!(with_advice("textures are not supported".to_owned(), 90), "textures are not supported");
    }
}
