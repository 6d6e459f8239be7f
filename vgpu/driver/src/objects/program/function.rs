//! Functions: kernels of a loaded module, and what can be asked of and set for them.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Weak};

use gangway_engine::{Kernel, KernelId, Program};
use gangway_ptx::{StateSpace, Variable};

use crate::abi::status::{Result, Status};
use crate::abi::types::{CUfunction, CUmodule};
use crate::objects::context::Context;
use crate::objects::device::attribute::SHARED_PER_BLOCK;
use crate::objects::process::report::report;
use crate::objects::program::library;
use crate::objects::program::module::Module;
use crate::objects::table::{Handle, Object, object};

/// `CUfunction_attribute`
pub mod attribute {
    pub const MAX_THREADS_PER_BLOCK: i32 = 0;
    pub const SHARED_SIZE_BYTES: i32 = 1;
    pub const CONST_SIZE_BYTES: i32 = 2;
    pub const LOCAL_SIZE_BYTES: i32 = 3;
    pub const NUM_REGS: i32 = 4;
    pub const PTX_VERSION: i32 = 5;
    pub const BINARY_VERSION: i32 = 6;
    pub const CACHE_MODE_CA: i32 = 7;
    pub const MAX_DYNAMIC_SHARED_SIZE_BYTES: i32 = 8;
    pub const PREFERRED_SHARED_MEMORY_CARVEOUT: i32 = 9;
    pub const CLUSTER_SIZE_MUST_BE_SET: i32 = 10;
    pub const REQUIRED_CLUSTER_WIDTH: i32 = 11;
    pub const REQUIRED_CLUSTER_DEPTH: i32 = 13;
    pub const CLUSTER_SCHEDULING_POLICY_PREFERENCE: i32 = 15;
}

#[derive(Debug)]
pub struct Function {
    pub handle: CUfunction,
    pub module: CUmodule,
    pub program: Arc<Program>,
    pub kernel: KernelId,
    name: CString,
    context: Weak<Context>,
    /// Becomes true when the context fails: its kernels end.
    pub stop: Arc<AtomicBool>,
    max_dynamic_shared: AtomicI32,
    carveout: AtomicI32,
}

object!(Function, 4);

impl Function {
    pub fn create(module: &Arc<Module>, kernel: KernelId) -> Result<CUfunction> {
        let program = Arc::clone(&module.program);
        let described = program.kernels().get(kernel.0 as usize).ok_or(Status::NOT_FOUND)?;
        let name = CString::new(&*described.name).map_err(|_| Status::INVALID_IMAGE)?;
        let context = module.context()?;
        let dynamic = SHARED_PER_BLOCK.saturating_sub(described.static_shared);
        let function = Function::table().insert_with(|handle| {
            Arc::new(Function {
                handle,
                module: module.handle,
                program,
                kernel,
                name,
                context: Arc::downgrade(&context),
                stop: context.queues.stop(),
                max_dynamic_shared: AtomicI32::new(dynamic as i32),
                carveout: AtomicI32::new(-1),
            })
        })?;
        Ok(function.handle)
    }

    /// The function of a handle. Kernels of libraries are taken as well: they are those of the current context.
    pub fn find(handle: CUfunction) -> Result<Arc<Function>> {
        let kernel = Handle::<library::Kernel>::from_raw(handle.raw());
        if kernel.is_of_kind() { kernel.get()?.function()?.get() } else { handle.get() }
    }

    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)
    }

    pub fn name(&self) -> &CStr {
        &self.name
    }

    pub fn described(&self) -> &Kernel {
        &self.program.kernels()[self.kernel.0 as usize]
    }

    /// The most dynamic shared memory that a launch may ask for.
    pub fn max_dynamic_shared(&self) -> u32 {
        self.max_dynamic_shared.load(Ordering::Relaxed) as u32
    }

    /// Bytes of the module's constants: they share one bank, which all its kernels have.
    fn constant_size(&self) -> u64 {
        let module = self.program.module();
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        let variables = module.variables.iter().chain(bodies.flat_map(|body| &body.variables));
        let constants = variables.filter(|variable| variable.space.plain() == StateSpace::Const);
        constants.filter_map(Variable::size).sum()
    }

    pub fn attribute(&self, attribute: i32) -> Result<i32> {
        let kernel = self.described();
        let capability = self.context()?.device.capability().number();
        Ok(match attribute {
            attribute::MAX_THREADS_PER_BLOCK => kernel.max_threads as i32,
            attribute::SHARED_SIZE_BYTES => kernel.static_shared as i32,
            attribute::CONST_SIZE_BYTES => self.constant_size() as i32,
            attribute::LOCAL_SIZE_BYTES => kernel.local as i32,
            attribute::NUM_REGS => kernel.registers as i32,
            attribute::PTX_VERSION | attribute::BINARY_VERSION => i32::from(capability),
            attribute::CACHE_MODE_CA => 0,
            attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES => self.max_dynamic_shared() as i32,
            attribute::PREFERRED_SHARED_MEMORY_CARVEOUT => self.carveout.load(Ordering::Relaxed),
            attribute::CLUSTER_SIZE_MUST_BE_SET..=attribute::CLUSTER_SCHEDULING_POLICY_PREFERENCE => 0,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    pub fn set_attribute(&self, attribute: i32, value: i32) -> Result {
        match attribute {
            attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let most = self.context()?.device.limits().shared_opt_in as i32;
                let fixed = self.described().static_shared as i32;
                if value < 0 || value > most.saturating_sub(fixed) {
                    return Err(Status::INVALID_VALUE);
                }
                self.max_dynamic_shared.store(value, Ordering::Relaxed);
            }
            attribute::PREFERRED_SHARED_MEMORY_CARVEOUT => {
                if !(-1..=100).contains(&value) {
                    return Err(Status::INVALID_VALUE);
                }
                self.carveout.store(value, Ordering::Relaxed);
            }
            // There are no clusters, so only what says so can be set.
            attribute::REQUIRED_CLUSTER_WIDTH..=attribute::REQUIRED_CLUSTER_DEPTH if value > 1 => {
                report!("the virtual GPU does not support clusters of blocks");
                return Err(Status::NOT_SUPPORTED);
            }
            attribute::REQUIRED_CLUSTER_WIDTH..=attribute::CLUSTER_SCHEDULING_POLICY_PREFERENCE => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }
}
