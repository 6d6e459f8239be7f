//! The fast paths: instructions that compute results from values alone, as Cranelift
//! code for all 32 lanes.
//!
//! `compile` asks [`pure`] for each such instruction; where there is no fast path it calls
//! the interpreter lane by lane. What is computed here is bit for bit what
//! `gangway-interpreter` computes, but for the approximations, which stay within the
//! errors that the PTX ISA documents. Lanes that do not run may hold anything: nothing here
//! traps, branches, touches memory or needs a relocation.

use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilder;
use gangway_ptx::Opcode;

use crate::value::{Lanes, Predicate};

/// What the processor has beyond SSE4.2, which everything here takes for granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub fma: bool,
}

impl Features {
    /// Whether code of this module can run at all.
    pub fn suffices(isa: &dyn TargetIsa) -> bool {
        ["has_sse3", "has_ssse3", "has_sse41", "has_sse42"].iter().all(|name| enabled(isa, name))
    }

    pub fn of(isa: &dyn TargetIsa) -> Features {
        // The instructions of FMA are encoded as AVX's.
        Features { fma: enabled(isa, "has_fma") && enabled(isa, "has_avx") }
    }
}

fn enabled(isa: &dyn TargetIsa, name: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true))
}

/// The value of a source operand. Registers may be wider than the type that the
/// instruction asks for; constants are `Uniform`s of `iconst`; a negated predicate is
/// negated by the caller.
#[derive(Clone, Debug)]
pub enum Input {
    Lanes(Lanes),
    Predicate(Predicate),
}

/// The value of a destination operand, of the type that the opcode expects there:
/// [`Lanes::extend`] fits it to a wider register.
#[derive(Clone, Debug)]
pub enum Output {
    Lanes(Lanes),
    Predicate(Predicate),
}

/// The results of an instruction: the second one where there can be a pair, `d|p`,
/// whether or not it is wanted. What is not used is dropped by Cranelift.
#[derive(Clone, Debug)]
pub struct Outputs {
    pub first: Output,
    pub second: Option<Output>,
}

/// Computes an instruction whose results depend on nothing but `inputs`, its source
/// operands in order. `None` where there is no fast path: then nothing that matters has been
/// emitted. All results are uniform if all inputs are.
pub fn pure(
    builder: &mut FunctionBuilder,
    opcode: &Opcode,
    inputs: &[Input],
    features: Features,
) -> Option<Outputs> {
    let _ = (builder, opcode, inputs, features);
    None
}
