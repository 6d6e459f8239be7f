//! Kernels that verify: whatever they do, the interpreter ends with a result or a fault.
#![no_main]

use gangway_interpreter::{Flat, InterpretedLaunch, Memory, Program, launch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(module) = gangway_ptx::parse_bytes(data) else { return };
    // Memory for variables as large as a text can ask for is not the point here.
    let large = |size: Option<u64>| size.unwrap_or(0) > 1 << 16;
    let bodies = || module.functions.iter().filter_map(|function| function.body.as_ref());
    let inner = bodies().flat_map(|body| &body.variables);
    let parameters =
        module.functions.iter().flat_map(|function| function.parameters.iter().chain(&function.returns));
    if module.variables.iter().chain(inner).chain(parameters).any(|variable| large(variable.size()))
        || bodies().map(|body| body.registers.len()).sum::<usize>() > 1 << 10
    {
        return;
    }
    let Some(kernel) = module.kernels().next() else { return };
    let name = kernel.name.to_string();
    let mut memory = Flat::new();
    let Ok(buffer) = memory.allocate(256, 16) else { return };
    let arguments: Vec<Vec<u8>> = kernel
        .parameters
        .iter()
        .map(|parameter| {
            let mut bytes = buffer.to_le_bytes().to_vec();
            bytes.resize(parameter.size().unwrap_or(0) as usize, 0);
            bytes
        })
        .collect();
    let Ok(program) = Program::load(module, &mut memory) else { return };
    let request = InterpretedLaunch {
        kernel: &name,
        grid: [2, 1, 1],
        block: [40, 1, 1],
        shared: 64,
        limit: 2000,
        arguments: &arguments,
    };
    if let Err(fault) = launch(&program, &request, &mut memory) {
        assert!(!fault.to_string().is_empty());
    }
});
