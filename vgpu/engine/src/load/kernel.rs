//! What the driver tells of a kernel.

use gangway_ptx::Function;

use super::graph::Graph;

/// What the driver tells about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: Box<str>,
    pub parameters: Vec<Parameter>,
    /// Length of the parameter buffer in bytes.
    pub parameter_size: u32,
    /// Bytes of shared memory that it and what it can call declare.
    pub static_shared: u32,
    /// Bytes of local memory per thread: an estimate where there is recursion.
    pub local: u32,
    /// From `.maxntid` and `.reqntid`, otherwise 1024.
    pub max_threads: u32,
    pub required_threads: Option<[u32; 3]>,
    /// What a real compiler might use: an estimate.
    pub registers: u32,
}

/// A kernel parameter's place in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub offset: u32,
    pub size: u32,
}

/// Threads of a block where the kernel says nothing.
const MAX_THREADS: u32 = 1024;
/// Registers per thread with which 1024 threads just fit in a multiprocessor's 65536:
/// what we tell must not make clients launch less than they would like.
const MAX_REGISTERS: u32 = 64;

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
