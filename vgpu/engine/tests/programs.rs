//! Compiled C programs on compiled kernels: the engine must get what the host gets, to the
//! bit. Without clang-22 the tests are reported as ignored.

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Checks, Engine, Execution, KernelLaunch, Options};
use gangway_filetests::compiled::{self, BLOCK, GRID, KERNEL, RESULTS, SHARED, Variant};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let possible = compiled::is_possible();
    let mut trials = Vec::new();
    for variant in compiled::variants() {
        // Checks to the byte are the same at all levels.
        let modes: &[bool] = if variant.level == "-O2" { &[false, true] } else { &[false] };
        for &check in modes {
            let mode = if check { "checked" } else { "compiled" };
            let name = format!("{}/{mode}", variant.name());
            trials.push(Trial::test(name, move || compare(variant, check)).with_ignored_flag(!possible));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn compare(variant: Variant, memory: bool) -> Result<(), Failed> {
    let module = gangway_ptx::parse(&variant.ptx()?).map_err(|errors| errors.to_string())?;
    let options = Options {
        workers: 2,
        checks: Checks { memory, ..Checks::NONE },
        execution: Execution::CompiledOnly,
        stack: 1 << 16,
        heap: 1 << 20,
        ..Options::default()
    };
    let engine = Engine::new(options);
    let program = engine.load(module).map_err(|error| format!("{error:?}"))?;
    let out = Space::get()?.allocate(&Request::new(0, 8 * RESULTS as u64, AllocationKind::Device))?;
    let launch = KernelLaunch {
        program: &program,
        kernel: program.kernel(KERNEL).ok_or("no kernel")?,
        grid: [GRID, 1, 1],
        block: [BLOCK, 1, 1],
        shared: SHARED,
        parameters: &out.to_le_bytes(),
        cooperative: false,
    };
    engine.launch(&launch).map_err(|fault| fault.report)?;
    let results: *const u64 = std::ptr::with_exposed_provenance(out as usize);
    // SAFETY: the buffer is allocated, and no launch uses it any more.
    let found = unsafe { std::slice::from_raw_parts(results, RESULTS) }.to_vec();
    Space::get()?.free(out)?;
    variant.compare(&found)
}
