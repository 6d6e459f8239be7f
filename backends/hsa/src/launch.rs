//! Launching a kernel: its shape, and its arguments, which are those of its compiler.

use crate::arguments::{Block, TAIL};
use crate::implicit::Implicit;
use crate::kernel::{Code, GccKernel, LlvmKernel, LoadedKernel};
use crate::output::Output;
use crate::shared::Shared;
use crate::stream::{Shape, Stream};
use gangway_backend::{ArgumentTable, Error, Launch, LaunchShape, Result};
use gangway_device_code::llvm::{NO_LAUNCH_ENVIRONMENT, Reductions};
use gangway_device_code::{Asked, Geometry};

/// What GCC's kernels are given, in GCC 12 (libgomp's plugin for GCN): what they declare is the first word.
#[repr(C)]
struct GccArguments {
    /// The table of addresses.
    table: u64,
    reserved: u64,
    output: u64,
    heap: u64,
    arena: u64,
}

/// The shape of a launch.
pub(crate) fn shape(shared: &Shared, kernel: &LoadedKernel, launch: &Launch<'_>) -> Shape {
    let asked = Asked { teams: launch.teams, threads: launch.thread_limit, trip_count: launch.trip_count };
    match &kernel.code {
        Code::Gcc(gcc) => {
            let geometry = gcc_geometry(shared, gcc, &asked, launch);
            Shape { geometry, group_memory: launch.dynamic_group_memory }
        }
        Code::Llvm(llvm) => {
            // What is replaced device code is to find none of.
            let group_memory = match launch.replaced_group_memory {
                Some(_) => 0,
                None => launch.dynamic_group_memory.max(shared.group_memory),
            };
            let at_once = |threads| kernel.teams_at_once(&shared.agent, llvm, threads, group_memory);
            Shape { geometry: llvm.bounds.geometry(&asked, &shared.wishes, at_once), group_memory }
        }
    }
}

fn gcc_geometry(shared: &Shared, kernel: &GccKernel, asked: &Asked, launch: &Launch<'_>) -> Geometry {
    let mut geometry = if kernel.is_openacc {
        kernel.bounds.openacc(asked)
    } else {
        kernel.bounds.openmp(asked, &shared.wishes, shared.agent.properties.compute_units)
    };
    // What runs constructors has no name, and one thread.
    if !launch.name.is_empty() {
        if let Some(teams) = shared.forced_teams {
            geometry.teams[0] = teams.get();
        }
        if let Some(threads) = shared.forced_threads {
            geometry.threads[2] = threads.get().min(kernel.bounds.most_waves());
        }
    }
    geometry
}

/// What the user is told of a shape. GCC's lanes and threads are in the first two dimensions, as on other devices.
pub(crate) fn told_shape(kernel: &LoadedKernel, shape: &Shape) -> LaunchShape {
    let Geometry { teams, threads } = shape.geometry;
    match kernel.code {
        Code::Gcc(_) => LaunchShape { teams, threads: [threads[1], threads[2], 1] },
        Code::Llvm(_) => LaunchShape { teams, threads },
    }
}

/// Launches a kernel whose arguments are in a block of its session's.
///
/// # Safety
/// As [`Stream::launch`](gangway_backend::Stream::launch).
pub(crate) unsafe fn launch(
    stream: &Stream,
    launch: &Launch<'_>,
    block: Block,
    table: ArgumentTable<'_>,
) -> Result<()> {
    // SAFETY: the runtime launches kernels of loaded modules.
    let kernel = unsafe { LoadedKernel::of(launch.kernel.handle) };
    let shape = shape(&stream.shared, kernel, launch);
    // SAFETY: the caller's promise.
    unsafe {
        match &kernel.code {
            Code::Gcc(gcc) => launch_gcc(stream, (kernel, gcc), launch, &shape, block, &table),
            Code::Llvm(llvm) => launch_llvm(stream, (kernel, llvm), launch, &shape, block, table),
        }
    }
}

/// # Safety
/// As [`launch`].
unsafe fn launch_gcc(
    stream: &Stream,
    (kernel, gcc): (&LoadedKernel, &GccKernel),
    launch: &Launch<'_>,
    shape: &Shape,
    block: Block,
    table: &ArgumentTable<'_>,
) -> Result<()> {
    let table = table.slots().first().copied().unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe {
        stream.launch(kernel, shape, block.address, launch.source, |scratch, memory| {
            // Arenas are replaced where they are too small; what is written into is new.
            let arena = match gcc.is_openacc {
                true => 0,
                false => scratch.arenas.prepare(memory.agent(), shape.geometry.teams[0])?,
            };
            let output = match &mut scratch.output {
                Some(output) => output,
                none => none.insert(Output::new(memory.agent())?),
            };
            let output = output.address();
            let arguments = GccArguments { table, reserved: 0, output, heap: gcc.heap, arena };
            std::ptr::with_exposed_provenance_mut::<GccArguments>(block.address).write(arguments);
            Ok(block.address as u64)
        })
    }
}

/// # Safety
/// As [`launch`].
unsafe fn launch_llvm(
    stream: &Stream,
    (kernel, llvm): (&LoadedKernel, &LlvmKernel),
    launch: &Launch<'_>,
    shape: &Shape,
    block: Block,
    mut table: ArgumentTable<'_>,
) -> Result<()> {
    // A variable that the host's code has not captured is none of the launch's arguments, and not used.
    let (given, explicit) = (size_of_val(table.slots()), llvm.explicit as usize);
    let room = block.room * size_of::<u64>();
    if explicit > room {
        let reason = format!(
            "kernel `{}` takes {explicit} bytes of arguments, of which the launch passes {given}",
            kernel.name
        );
        return Err(Error::InvalidImage { reason });
    }
    let Geometry { teams, threads } = shape.geometry;
    let replaced = launch.replaced_group_memory.unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe {
        stream.launch(kernel, shape, block.address, launch.source, |scratch, memory| {
            let mut environment = NO_LAUNCH_ENVIRONMENT;
            let mut reduction = None;
            if let Some(kind) = llvm.reduction {
                environment = scratch.reductions.prepare(memory, kind, teams[0])?;
                reduction = Some((kind, Reductions::buffer(environment)));
            }
            if replaced != 0 {
                environment = scratch.replacements.prepare(memory, reduction, teams[0], replaced)?;
            }
            if let Some(slot) = table.environment() {
                *slot = environment;
            }
            let implicit = Implicit::new(teams, threads, shape.group_memory).bytes();
            let table = std::ptr::with_exposed_provenance_mut::<u8>(block.table());
            table.add(given).write_bytes(0, explicit.saturating_sub(given));
            table.add(explicit).cast::<[u8; TAIL]>().write_unaligned(implicit);
            Ok(block.table() as u64)
        })
    }
}
