//! Small programs that stand in for tools the compilers call. Links named like the tools lead to
//! a script, which calls this program as `gangway stand-in NAME`.
//!
//! - `ptxas` and `nvlink`, of NVIDIA's CUDA toolkit. The stock compilers call them to turn PTX
//!   into machine code. These check the PTX and pass it on: a driver, real or virtual, compiles
//!   it when the program runs.
//! - `flang` and `llvm-offload-binary`, of LLVM itself. flang-22 has no option for link-time
//!   optimisation of device code, nor for processors of several devices; these change its
//!   steps on the way.
//!
//! - `ld`, the system's linker, where it links code for CPU devices of a program with a sanitizer.
//! - `clang`, the step that compiles. A plugin of clang's leads here (`tools/compile-step`).
//!
//! They are called by compilers, so they say nothing when all is well.

mod aligned_pointers;
mod array_reductions;
mod bitcode;
mod clang;
mod complex_numbers;
mod extended_numbers;
mod flang;
mod flang_text;
mod fortran_calls;
mod ld;
mod llvm_text;
mod lock_turns;
mod long_double;
mod nvlink;
mod options;
mod packager;
mod places;
mod ptxas;
mod reductions;
mod struct_stores;

use std::io::{Write, stderr};

use crate::arguments::{StandIn, Tool};

/// Runs one, and says on whose behalf a message is.
pub fn run(options: &StandIn) -> u8 {
    let arguments = &options.arguments;
    let (name, done) = match options.tool {
        Tool::Ptxas => ("ptxas", ptxas::assemble(arguments)),
        Tool::Nvlink => ("nvlink", nvlink::link(arguments)),
        Tool::Clang => ("clang", clang::compile(arguments)),
        Tool::Flang => ("flang", flang::compile(arguments)),
        Tool::LlvmOffloadBinary => ("llvm-offload-binary", packager::pack(arguments)),
        Tool::Ld => ("ld", ld::link(arguments)),
    };
    done.unwrap_or_else(|failure| {
        // Not `eprintln`: a compiler may have closed the pipe.
        let _ = writeln!(stderr(), "{name} (of Gangway): error: {failure}");
        failure.code
    })
}

/// A warning, in the form of the errors.
fn warn(name: &str, text: &str) {
    let _ = writeln!(stderr(), "{name} (of Gangway): warning: {text}");
}
