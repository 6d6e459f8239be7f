//! Kernels made from the input: the compiled one leaves the memory that the interpreted one does.
#![no_main]

use std::sync::LazyLock;

use compare::Engines;
use libfuzzer_sys::fuzz_target;

#[path = "../../vgpu/engine/tests/kernels/compare.rs"]
mod compare;
#[path = "../../vgpu/engine/tests/kernels/generate.rs"]
mod generate;

static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::new);

fuzz_target!(|data: &[u8]| {
    // Long inputs take long to compile and find nothing that short ones do not.
    let kernel = generate::kernel(&data[..data.len().min(600)]);
    if let Err(difference) = ENGINES.compare(&kernel) {
        panic!("{difference}\n{}", kernel.text);
    }
});
