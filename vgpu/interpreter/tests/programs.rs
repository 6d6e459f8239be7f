//! Compiled C programs on the interpreter: they must get what the host gets, to the bit.
//! Without clang-22 the tests are reported as ignored.

use gangway_filetests::compiled::{self, BLOCK, GRID, KERNEL, RESULTS, SHARED, Variant};
use gangway_interpreter::{Flat, InterpretedLaunch, Memory, Program, launch};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let possible = compiled::is_possible();
    let trials = compiled::variants().map(|variant| {
        let name = format!("{}/interpreter", variant.name());
        Trial::test(name, move || compare(variant)).with_ignored_flag(!possible)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn compare(variant: Variant) -> Result<(), Failed> {
    let module = gangway_ptx::parse(&variant.ptx()?).map_err(|errors| errors.to_string())?;
    let mut memory = Flat::new();
    let program = Program::load(module, &mut memory).map_err(|kind| kind.to_string())?;
    let out = memory.allocate(8 * RESULTS as u64, 16).map_err(|kind| kind.to_string())?;
    let arguments = [out.to_le_bytes().to_vec()];
    let request = InterpretedLaunch {
        kernel: KERNEL,
        grid: [GRID, 1, 1],
        block: [BLOCK, 1, 1],
        shared: SHARED,
        limit: 10_000_000,
        arguments: &arguments,
    };
    launch(&program, &request, &mut memory).map_err(|fault| fault.to_string())?;
    let mut bytes = vec![0; 8 * RESULTS];
    memory.read(out, &mut bytes).map_err(|kind| kind.to_string())?;
    let words = bytes.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
    variant.compare(&words.collect::<Result<Vec<u64>, _>>()?)
}
