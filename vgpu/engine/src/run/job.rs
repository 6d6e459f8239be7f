//! A launch that is being run: what its workers share.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gangway_interpreter::FaultKind;
use gangway_ptx::WORD;

use super::grid::Grid;
use super::local;
use crate::abi::{Flavour, LANES};
use crate::compile::BlockShape;
use crate::device::Held;
use crate::fault::Fault;
use crate::launch::KernelLaunch;
use crate::program::Program;

/// What all workers write, on cache lines of its own: the rest of a launch is what all of them read
/// all the time.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// A launch. The launching thread keeps it, and what it points to, until no worker is at it.
#[derive(Debug)]
pub(crate) struct Job {
    program: Arc<Program>,
    /// The kernel's function.
    pub function: u32,
    pub kernel: Box<str>,
    pub grid_size: [u32; 3],
    pub block_size: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    pub dynamic_shared: u32,
    /// Bytes of shared memory of a block.
    pub shared_size: u64,
    pub local_stride: u64,
    pub parameters: Box<[u8]>,
    shape: BlockShape,
    /// What warps of which no lane is missing run, and its code once that is compiled.
    pub whole: Flavour,
    entry: AtomicPtr<c_void>,
    /// The kernel never gives way, so the warps of a block may share a fiber.
    pub straight: bool,
    /// Of several blocks at once, the first warps of all come first: a warp has a row or some of
    /// them, which the next block goes on with.
    pub by_rows: bool,
    pub grid: Grid,
    /// For cooperative groups; only cooperative launches have it.
    pub workspace: Option<Held>,
    /// Different for each launch of the process.
    pub id: u64,
    pub workers: u32,
    blocks: u64,
    next: Apart<AtomicU64>,
    cancelled: AtomicBool,
    /// Raised by the launching thread, to end it: its context has failed.
    stop: Option<Arc<AtomicBool>>,
    fault: Mutex<Option<Box<Fault>>>,
}

impl Job {
    #[must_use]
    pub fn new(launch: &KernelLaunch<'_>, stack: u64, workers: u32, stop: Option<Arc<AtomicBool>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let kernel = launch.program.describe(launch.kernel);
        let product = |sides: [u32; 3]| sides.iter().map(|&side| u64::from(side)).product::<u64>();
        let (blocks, threads) = (product(launch.grid), product(launch.block));
        let straight = launch.program.is_straight(launch.kernel) && !launch.cooperative;
        let [width, height, depth] = launch.block;
        Job {
            program: launch.program.clone(),
            function: launch.program.function(launch.kernel),
            kernel: kernel.name.clone(),
            grid_size: launch.grid,
            block_size: launch.block,
            threads: threads as u32,
            dynamic_shared: launch.shared,
            shared_size: (launch.program.shared() + u64::from(launch.shared)).next_multiple_of(WORD),
            local_stride: local::stride(stack.max(kernel.local.into())),
            parameters: launch.parameters.into(),
            shape: BlockShape::of(launch.block),
            whole: Flavour::Masked,
            entry: AtomicPtr::default(),
            straight,
            // Blocks that have shared memory would have the same.
            by_rows: straight
                && kernel.static_shared + launch.shared == 0
                && width <= LANES as u32
                && height * depth > 1,
            grid: Grid::new(launch.cooperative, blocks * threads),
            workspace: None,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            workers,
            blocks,
            next: Apart(AtomicU64::new(0)),
            cancelled: AtomicBool::new(false),
            stop,
            fault: Mutex::new(None),
        }
    }

    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Warps of a block.
    #[must_use]
    pub fn warps(&self) -> usize {
        self.threads.div_ceil(LANES as u32) as usize
    }

    /// The next block that no worker has, and how many from there on the caller gets. All workers
    /// write the counter, so it is not even looked at before: it may run over the number of blocks,
    /// but never as far as where it would begin again.
    ///
    /// Kernels that never give way cannot wait for other blocks, so they get several at once:
    /// blocks next to each other mostly use the same memory. All others get one, because who has it
    /// not at hand may be waited for.
    #[must_use]
    pub fn take(&self) -> Option<([u32; 3], u64)> {
        const SHARES: u64 = 16;
        const MOST: u64 = 16;
        let many = self.blocks / (SHARES * u64::from(self.workers.max(1)));
        let count = if self.straight { many.clamp(1, MOST) } else { 1 };
        let number = self.next.0.fetch_add(count, Ordering::Relaxed);
        let [width, height, _] = self.grid_size.map(u64::from);
        let block = [number % width, number / width % height, number / (width * height)];
        let left = self.blocks.checked_sub(number).filter(|&left| left > 0)?;
        Some((block.map(|side| side as u32), count.min(left)))
    }

    /// The block behind a block.
    #[must_use]
    pub fn after(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        let [width, height, _] = self.grid_size;
        match (x + 1 < width, y + 1 < height) {
            (true, _) => [x + 1, y, z],
            (false, true) => [0, y + 1, z],
            (false, false) => [0, 0, z + 1],
        }
    }

    #[must_use]
    pub fn has_blocks(&self) -> bool {
        self.next.0.load(Ordering::Relaxed) < self.blocks
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let stopped = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        self.cancelled.load(Ordering::Relaxed) || self.stop.as_ref().is_some_and(stopped)
    }

    /// Ends the launch; the first fault counts.
    pub fn fail(&self, fault: Box<Fault>) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// How it ended, once no worker is at it.
    pub fn result(&self) -> Result<(), Box<Fault>> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take().map_or(Ok(()), Err)
    }

    /// Makes the kernel's own code; why there is none, if so.
    pub fn compile(&mut self) -> Result<(), FaultKind> {
        let whole = self.threads >= LANES as u32;
        let converged = whole.then(|| self.code(self.function, Flavour::Converged));
        let code = match converged {
            Some(Ok(code)) => {
                self.whole = Flavour::Converged;
                code
            }
            _ => self.code(self.function, Flavour::Masked)?,
        };
        self.entry = AtomicPtr::new(code.cast_mut());
        Ok(())
    }

    /// The code for warps of which no lane is missing.
    #[must_use]
    pub fn entry(&self) -> *const c_void {
        self.entry.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn functions(&self) -> &[AtomicPtr<c_void>] {
        self.program.functions().entries(self.shape)
    }

    pub fn code(&self, function: u32, flavour: Flavour) -> Result<*const c_void, FaultKind> {
        self.program.functions().resolve(self.shape, function, flavour)
    }
}
