//! Large kernels do what small ones do: those of all shapes leave the same memory as the
//! interpreter, in whole warps and in a warp of which a lane is missing.

mod bench;
mod shapes;

use bench::{Bench, options};
use gangway_engine::{Execution, Options};

#[test]
fn large_kernels_do_what_the_interpreter_does() {
    for shape in shapes::SHAPES {
        // Beyond the number of blocks from which on masked code is not optimised.
        let text = (shape.text)(shape.size.min(600));
        let text = text.strip_prefix(shapes::HEAD).expect("a header");
        let compiled = Bench::new(Options { stack: 1 << 20, ..options() }, text);
        let interpreted =
            Bench::new(Options { execution: Execution::Interpreted, stack: 1 << 20, ..options() }, text);
        for threads in [31, 32] {
            for bench in [&compiled, &interpreted] {
                bench.fill(|word| word as u32 % 61);
                let ended = bench.launch_grid([1, 1, 1], [threads, 1, 1]);
                assert!(ended.is_ok(), "{}: {ended:?}", shape.name);
            }
            let differs = compiled.words().iter().zip(interpreted.words()).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{} with {threads} threads: the word that differs", shape.name);
        }
    }
}
