//! The processors of one virtual device.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gangway_interpreter::Kind;
use gangway_ptx::Module;

use crate::device::Device;
use crate::fault::{Fault, Place};
use crate::output;
use crate::program::{KernelId, LoadError, Program};
use crate::run::{Cache, Distrust, Interpreter, Job, Pool};

/// How an engine works.
#[derive(Clone, Debug)]
pub struct Options {
    /// The device's number; whose memory it allocates from.
    pub device: u32,
    /// Worker threads.
    pub workers: usize,
    /// Check every access to the byte.
    pub check: bool,
    /// Run everything in the interpreter.
    pub interpret: bool,
    /// Where compiled code is kept between runs, if anywhere.
    pub cache: Option<PathBuf>,
    /// Bytes of local memory per thread; see also [`Engine::set_stack`].
    pub stack: u64,
    /// Bytes of the heap of the device's `malloc`; see also [`Engine::set_heap`].
    pub heap: u64,
}

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub program: &'a Arc<Program>,
    pub kernel: KernelId,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// As long as [`Kernel::parameter_size`](crate::Kernel::parameter_size).
    pub parameters: &'a [u8],
    /// All blocks run at once and may wait for each other.
    pub cooperative: bool,
}

#[derive(Debug)]
pub struct Engine {
    device: Arc<Device>,
    options: Options,
    stack: AtomicU64,
    /// None where none is asked for; otherwise there may be a reason not to use it.
    cache: Option<Result<Arc<Cache>, Distrust>>,
    interpreter: Interpreter,
    pool: Pool,
}

impl Engine {
    pub fn new(options: Options) -> Arc<Engine> {
        let device = Arc::new(Device::new(options.device, options.check, options.heap));
        let pool = Pool::new(device.clone(), options.workers);
        let folder = options.cache.as_deref().filter(|_| !options.interpret);
        let cache = folder.map(|folder| Cache::open(folder).map(Arc::new));
        let stack = AtomicU64::new(options.stack);
        Arc::new(Engine { device, options, stack, cache, interpreter: Interpreter::default(), pool })
    }

    /// Why compiled code is not kept although a folder is named, for the trace.
    pub fn cache_refusal(&self) -> Option<String> {
        self.cache.as_ref()?.as_ref().err().map(ToString::to_string)
    }

    /// Gives the threads of later launches so many bytes of local memory.
    pub fn set_stack(&self, bytes: u64) {
        self.stack.store(bytes, Ordering::Relaxed);
    }

    /// Gives the device's `malloc` so many bytes; `false` when a kernel has used it already.
    pub fn set_heap(&self, bytes: u64) -> bool {
        self.device.set_heap_size(bytes)
    }

    /// Places a linked module: its variables get memory and their initial values.
    pub fn load(&self, module: Module) -> Result<Arc<Program>, LoadError> {
        let cache = self.cache.as_ref().and_then(|cache| cache.as_ref().ok());
        Program::load(module, &self.device, cache.cloned()).map(Arc::new)
    }

    /// Runs a kernel to its end. What it prints goes to the standard output of the process.
    /// The driver has checked sizes against the device's limits.
    pub fn launch(&self, launch: &Launch<'_>) -> Result<(), Box<Fault>> {
        self.launch_until(launch, None)
    }

    /// As [`launch`](Engine::launch), but ends early, without a fault, when `stop` becomes true.
    pub fn launch_until(&self, launch: &Launch<'_>, stop: Option<Arc<AtomicBool>>) -> Result<(), Box<Fault>> {
        let result = self.run(launch, stop);
        output::flush();
        result
    }

    fn run(&self, launch: &Launch<'_>, stop: Option<Arc<AtomicBool>>) -> Result<(), Box<Fault>> {
        if self.options.interpret {
            return self.interpreter.launch(&self.device, launch, stop.as_deref());
        }
        let mut job =
            Job::new(launch, self.stack.load(Ordering::Relaxed), self.options.workers as u32, stop.clone());
        if job.compile().is_err() {
            return self.interpreter.launch(&self.device, launch, stop.as_deref());
        }
        if launch.cooperative {
            let failed =
                |reason| Fault::new(&self.device, &job.kernel, &Kind::Launch(reason), &Place::default());
            job.workspace = Some(self.device.workspace().map_err(failed)?);
        }
        self.pool.run(job).result()
    }
}
