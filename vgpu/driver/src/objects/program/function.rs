//! Functions: kernels of a loaded module, and what can be asked of and set for them.
//!
//! A visible function that is no kernel has a handle, too, as libgomp's plugin for nvptx relies on
//! since GCC 13: it asks for those that stand for regions of the host's. It cannot be launched.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Weak};

use gangway_engine::{Kernel, KernelId, Program};
use gangway_ptx::{StateSpace, Variable};

use crate::abi::number::function_attribute;
use crate::abi::{CUfunction, CUmodule, Result, Status, kind};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::device::attribute::SHARED_PER_BLOCK;
use crate::objects::process::report::report;
use crate::objects::table::backed;

/// What a handle stands for.
#[derive(Debug)]
pub enum Code {
    Kernel(KernelId),
    /// A function that only device code calls.
    Device(Box<Kernel>),
}

#[derive(Debug)]
pub struct Function {
    pub handle: CUfunction,
    pub module: CUmodule,
    pub program: Arc<Program>,
    code: Code,
    name: CString,
    pub device: &'static Device,
    context: Weak<Context>,
    /// Gangway's runtime has loaded its module, and reports its launches.
    pub runtimes: bool,
    /// Becomes true when the context fails: its kernels end.
    pub stop: Arc<AtomicBool>,
    max_dynamic_shared: AtomicI32,
    carveout: AtomicI32,
}

backed!(kind::Function, Function);

impl Function {
    /// The function of a kernel, or of another function, in the program of a module.
    pub fn create(
        module: CUmodule,
        program: &Arc<Program>,
        context: &Arc<Context>,
        code: Code,
        runtimes: bool,
    ) -> Result<CUfunction> {
        let described = match &code {
            Code::Kernel(kernel) => program.kernels().get(kernel.0 as usize).ok_or(Status::NOT_FOUND)?,
            Code::Device(function) => function,
        };
        let name = CString::new(&*described.name).map_err(|_| Status::INVALID_IMAGE)?;
        let dynamic = SHARED_PER_BLOCK.saturating_sub(described.static_shared);
        let function = CUfunction::insert_with(|handle| {
            Arc::new(Self {
                handle,
                module,
                program: Arc::clone(program),
                code,
                name,
                device: context.device,
                context: Arc::downgrade(context),
                runtimes,
                stop: context.queues.stop(),
                max_dynamic_shared: AtomicI32::new(dynamic as i32),
                carveout: AtomicI32::new(-1),
            })
        })?;
        Ok(function.handle)
    }

    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Status::CONTEXT_IS_DESTROYED)
    }

    /// Refuses another context than that which its module was loaded into.
    pub fn check_context(&self, context: &Arc<Context>) -> Result {
        if std::ptr::eq(self.context.as_ptr(), Arc::as_ptr(context)) {
            return Ok(());
        }
        self.context().and(Err(Status::INVALID_HANDLE))
    }

    #[must_use]
    pub fn name(&self) -> &CStr {
        &self.name
    }

    #[must_use]
    pub fn described(&self) -> &Kernel {
        match &self.code {
            Code::Kernel(kernel) => &self.program.kernels()[kernel.0 as usize],
            Code::Device(function) => function,
        }
    }

    /// The kernel, if it is one: others cannot be launched.
    pub fn kernel(&self) -> Result<KernelId> {
        match self.code {
            Code::Kernel(kernel) => Ok(kernel),
            Code::Device(_) => Err(Status::INVALID_HANDLE),
        }
    }

    /// The most dynamic shared memory that a launch may ask for.
    #[must_use]
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
            function_attribute::MAX_THREADS_PER_BLOCK => kernel.max_threads as i32,
            function_attribute::SHARED_SIZE_BYTES => kernel.static_shared as i32,
            function_attribute::CONST_SIZE_BYTES => self.constant_size() as i32,
            function_attribute::LOCAL_SIZE_BYTES => kernel.local as i32,
            function_attribute::NUM_REGS => kernel.registers as i32,
            function_attribute::PTX_VERSION | function_attribute::BINARY_VERSION => i32::from(capability),
            function_attribute::CACHE_MODE_CA => 0,
            function_attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES => self.max_dynamic_shared() as i32,
            function_attribute::PREFERRED_SHARED_MEMORY_CARVEOUT => self.carveout.load(Ordering::Relaxed),
            function_attribute::CLUSTER_SIZE_MUST_BE_SET
                ..=function_attribute::CLUSTER_SCHEDULING_POLICY_PREFERENCE => 0,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    pub fn set_attribute(&self, attribute: i32, value: i32) -> Result {
        match attribute {
            function_attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let most = self.context()?.device.limits().shared_opt_in as i32;
                let fixed = self.described().static_shared as i32;
                if value < 0 || value > most.saturating_sub(fixed) {
                    return Err(Status::INVALID_VALUE);
                }
                self.max_dynamic_shared.store(value, Ordering::Relaxed);
            }
            function_attribute::PREFERRED_SHARED_MEMORY_CARVEOUT => {
                if !(-1..=100).contains(&value) {
                    return Err(Status::INVALID_VALUE);
                }
                self.carveout.store(value, Ordering::Relaxed);
            }
            // There are no clusters, so only what says so can be set.
            function_attribute::REQUIRED_CLUSTER_WIDTH..=function_attribute::REQUIRED_CLUSTER_DEPTH
                if value > 1 =>
            {
                report!("the virtual GPU does not support clusters of blocks");
                return Err(Status::NOT_SUPPORTED);
            }
            function_attribute::REQUIRED_CLUSTER_WIDTH
                ..=function_attribute::CLUSTER_SCHEDULING_POLICY_PREFERENCE => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }
}
