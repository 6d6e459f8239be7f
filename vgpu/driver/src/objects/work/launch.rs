//! Launches: what is checked before a kernel runs, and running it in its stream.

use std::sync::Arc;

use gangway_engine::{Engine, Kernel, KernelId};
use gangway_streams::{Failure, Outcome, Payload};
use gangway_trace::{Kind, Location, Resources, Shape, Span};

use super::watched;
use crate::abi::number::node_type;
use crate::abi::{Result, Status};
use crate::objects::device::attribute::{MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK};
use crate::objects::device::findings;
use crate::objects::process::{faults, trace};
use crate::objects::program::function::Function;
use crate::objects::program::occupancy;
use crate::objects::stream::StreamRef;

/// The sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub cooperative: bool,
}

impl LaunchShape {
    fn is_empty(&self) -> bool {
        self.grid.contains(&0) || self.block.contains(&0)
    }
}

/// A launch that has been checked, with its own copy of the parameters.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    engine: &'static Engine,
    pub function: Arc<Function>,
    kernel: KernelId,
    pub shape: LaunchShape,
    /// The values in the layout that the kernel gives them.
    pub parameters: Box<[u8]>,
}

impl KernelLaunch {
    /// Checks a launch against the limits of device and kernel; then the parameters are asked for.
    pub fn prepare(
        function: Arc<Function>,
        shape: LaunchShape,
        parameters: impl FnOnce(&Kernel) -> Result<Box<[u8]>>,
    ) -> Result<Self> {
        check(&function, &shape)?;
        Self::with_parameters(function, shape, parameters)
    }

    /// A launch as the node of a graph. It may be empty as yet: programs give it its size before
    /// the graph is launched, and [`Payload::ready`] looks for that.
    pub fn of_node(
        function: Arc<Function>,
        shape: LaunchShape,
        parameters: impl FnOnce(&Kernel) -> Result<Box<[u8]>>,
    ) -> Result<Self> {
        if !shape.is_empty() {
            check(&function, &shape)?;
        }
        Self::with_parameters(function, shape, parameters)
    }

    fn with_parameters(
        function: Arc<Function>,
        shape: LaunchShape,
        parameters: impl FnOnce(&Kernel) -> Result<Box<[u8]>>,
    ) -> Result<Self> {
        let kernel = function.kernel()?;
        let parameters = parameters(function.described())?;
        let engine = function.device.engine();
        Ok(Self { engine, function, kernel, shape, parameters })
    }

    /// The launch in another shape, if that is empty or within the limits.
    pub fn reshaped(&self, shape: LaunchShape) -> Result<Self> {
        if !shape.is_empty() {
            check(&self.function, &shape)?;
        }
        Ok(Self { shape, ..self.clone() })
    }

    pub fn submit_to(self, stream: &StreamRef) -> Result {
        self.function.check_context(&stream.context)?;
        stream.submit(self)
    }
}

impl KernelLaunch {
    /// Compiles the kernel if that is yet to be done, so that the trace has it apart from the
    /// launch.
    #[cold]
    fn compile(&self, launch: &gangway_engine::KernelLaunch<'_>) {
        let name = &self.function.described().name;
        let span = Span { detail: name, ..Span::new(Kind::Compile, self.function.device.number(), "", 0) };
        let begun = trace::begin(|| span);
        if self.engine.make_ready(launch)
            && let Some(begun) = begun
        {
            begun.end(&span);
        }
    }

    /// What it is, for the trace.
    #[cold]
    fn span(&self) -> Span<'_> {
        let kernel = self.function.described();
        let source = self.function.program.source(self.kernel);
        Span {
            shape: Some(Shape { grid: self.shape.grid, block: self.shape.block }),
            resources: Resources {
                registers: Some(kernel.registers),
                shared: Some(kernel.static_shared.saturating_add(self.shape.shared)),
            },
            location: source.map(|(file, line)| Location { file, function: "", line, column: 0 }),
            ..Span::new(Kind::Kernel, self.function.device.number(), &kernel.name, 0)
        }
    }
}

impl Payload for KernelLaunch {
    fn run(&self) -> Outcome {
        let launch = gangway_engine::KernelLaunch {
            program: &self.function.program,
            kernel: self.kernel,
            grid: self.shape.grid,
            block: self.shape.block,
            shared: self.shape.shared,
            parameters: &self.parameters,
            cooperative: self.shape.cooperative,
        };
        if gangway_trace::enabled() {
            self.compile(&launch);
        }
        let begun = trace::begin(|| self.span());
        trace::count_launch(self.function.runtimes, &self.function.described().name);
        let outcome =
            self.engine.launch_until(&launch, Some(Arc::clone(&self.function.stop)), watched::past());
        if let Some(begun) = begun {
            begun.end(&self.span());
        }
        outcome.map_err(|fault| {
            if self.function.device.checks() {
                findings::note(&fault);
            }
            faults::add(self.function.device.number() as u32, self.function.runtimes, &fault);
            Failure::known(Status::from(fault.reason).0)
        })
    }

    /// What is not empty was checked when the node got its parameters.
    fn ready(&self) -> std::result::Result<(), gangway_streams::Error> {
        if self.shape.is_empty() { Err(gangway_streams::Error::InvalidValue) } else { Ok(()) }
    }

    fn sort(&self) -> u32 {
        node_type::KERNEL
    }
}

fn check(function: &Function, shape: &LaunchShape) -> Result {
    let within = |sizes: &[u32; 3], most: &[u32; 3]| {
        sizes.iter().zip(most).all(|(size, most)| (1..=*most).contains(size))
    };
    if !within(&shape.grid, &MAX_GRID) || !within(&shape.block, &MAX_BLOCK) {
        return Err(Status::INVALID_VALUE);
    }
    let kernel = function.described();
    let threads = shape.block.iter().product::<u32>();
    if threads > MAX_THREADS_PER_BLOCK || threads > kernel.max_threads {
        return Err(Status::INVALID_VALUE);
    }
    if kernel.required_threads.is_some_and(|required| required != shape.block) {
        return Err(Status::INVALID_VALUE);
    }
    let device = function.device;
    if shape.shared > function.max_dynamic_shared()
        || kernel.static_shared.saturating_add(shape.shared) > device.limits().shared_opt_in
    {
        return Err(Status::INVALID_VALUE);
    }
    let per_multiprocessor = occupancy::blocks(device, kernel, threads, shape.shared);
    if per_multiprocessor == 0 {
        return Err(Status::LAUNCH_OUT_OF_RESOURCES);
    }
    if shape.cooperative {
        let blocks = shape.grid.iter().map(|&size| u64::from(size)).product::<u64>();
        if blocks > u64::from(per_multiprocessor) * u64::from(device.multiprocessors()) {
            return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    Ok(())
}

impl From<gangway_engine::Reason> for Status {
    fn from(reason: gangway_engine::Reason) -> Self {
        use gangway_engine::Reason;
        match reason {
            Reason::IllegalAddress => Self::ILLEGAL_ADDRESS,
            Reason::MisalignedAddress => Self::MISALIGNED_ADDRESS,
            Reason::IllegalInstruction => Self::ILLEGAL_INSTRUCTION,
            Reason::InvalidPc => Self::INVALID_PC,
            Reason::Assert => Self::ASSERT,
            Reason::Failed => Self::LAUNCH_FAILED,
            Reason::Timeout => Self::LAUNCH_TIMEOUT,
            Reason::NotSupported => Self::NOT_SUPPORTED,
        }
    }
}
