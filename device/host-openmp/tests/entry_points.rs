//! The entry points and parameters that flang 22 does not use, called by a C
//! program: signed counters, chunk sizes, regions with many arguments, the
//! predecessor of the fork, the block queries, kernels inside kernels.

mod common;

use common::{Runtime, compile, crate_directory, execute};

#[test]
fn entry_points_that_flang_does_not_call() {
    let source = crate_directory().join("tests/programs/entry_points.c");
    for optimisation in ["-O0", "-O2"] {
        let program = compile(&source, optimisation, &[]);
        for threads in ["1", "2", "3", "7"] {
            let printed = execute(&program, Runtime::Disabled, threads);
            let expected = format!("{threads} threads: 0 failures of 1945\n");
            assert_eq!(printed, Ok(expected), "{optimisation}");
        }
    }
}
