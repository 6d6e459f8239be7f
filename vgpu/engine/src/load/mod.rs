//! From a linked module to a [`Program`](crate::Program): what kernels reach, where
//! variables go, what the driver tells of kernels.

mod abreast;
mod graph;
mod place;
mod straight;
mod waits;

use gangway_ptx::{Function, MOST_STATIC_SHARED, Module, StateSpace};

pub(crate) use abreast::keeps_abreast;
pub(crate) use graph::Graph;
pub(crate) use place::{Piece, PieceClass, Places, pieces};
pub(crate) use straight::is_straight;
pub(crate) use waits::waits;

use crate::program::{Kernel, LoadError, Parameter};

/// Threads of a block where the kernel says nothing.
const MAX_THREADS: u32 = 1024;
/// Registers per thread with which 1024 threads just fit in a multiprocessor's 65536:
/// what we tell must not make clients launch less than they would like.
const MAX_REGISTERS: u32 = 64;

/// Whether the shared memory that a kernel and what it reaches declare is there.
pub(crate) fn check_shared(kernel: &Function, size: u64) -> Result<(), LoadError> {
    if size <= MOST_STATIC_SHARED {
        return Ok(());
    }
    let most = MOST_STATIC_SHARED;
    let what = format!("the shared variables of the kernel '{}' need {size} bytes", kernel.name);
    Err(LoadError::TooLarge(format!("{what}, and there are {most} at most")))
}

/// What the driver tells of a kernel. Its sizes are within the device's limits.
pub(crate) fn describe(graph: &Graph, index: u32, function: &Function, shared_end: u64) -> Kernel {
    let mut size = 0;
    let mut parameters = Vec::with_capacity(function.parameters.len());
    for parameter in &function.parameters {
        let offset = u32::next_multiple_of(size, parameter.align.max(1));
        let length = parameter.size().unwrap_or(0) as u32;
        parameters.push(Parameter { offset, size: length });
        size = offset + length;
    }
    let limits = &function.limits;
    let most = limits.required_threads.or(limits.max_threads);
    let most =
        most.map(|sides| sides.iter().fold(1u32, |product, &side| product.saturating_mul(side.max(1))));
    Kernel {
        name: function.name.clone(),
        parameters,
        parameter_size: size,
        static_shared: shared_end as u32,
        local: graph.deepest(index).min(u64::from(u32::MAX)) as u32,
        max_threads: most.unwrap_or(MAX_THREADS).clamp(1, MAX_THREADS),
        required_threads: limits.required_threads,
        registers: registers(function),
    }
}

/// An estimate: a compiler that reuses registers needs a fraction of those declared.
fn registers(function: &Function) -> u32 {
    let declared = function.body.iter().flat_map(|body| &body.registers);
    let words: u32 =
        declared.map(|register| register.ty.size().div_ceil(4) * u32::from(register.vector)).sum();
    let limit = function.limits.max_registers.unwrap_or(MAX_REGISTERS).clamp(16, 255);
    (words / 4 + 8).next_multiple_of(8).clamp(16, limit.min(MAX_REGISTERS))
}

/// Where the variables of each function's body begin in the table of addresses, after those of the
/// module.
pub(crate) fn symbol_table(module: &Module, places: &Places) -> (Vec<u64>, Vec<u32>) {
    let mut symbols = places.placement.variables.clone();
    let mut bodies = Vec::with_capacity(module.functions.len());
    for addresses in &places.placement.bodies {
        bodies.push(symbols.len() as u32);
        symbols.extend(addresses);
    }
    (symbols, bodies)
}

/// Whether a variable is in device memory, where the host can find it.
pub(crate) fn is_global(space: StateSpace) -> bool {
    matches!(space.plain(), StateSpace::Global | StateSpace::Const)
}
