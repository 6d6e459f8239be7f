//! The generator that writes Cranelift's code.
//!
//! `masked` and `converged` emit the two flavours of a function. `operations`, `access`, `call` and
//! `memory` are what both share, on the [`emit`] of registers and operands; what operations compute
//! comes from `lower` and is written by [`sequence`]. `tier` measures a function before.

mod access;
mod call;
mod compare;
mod converged;
mod emit;
mod exchange;
mod homes;
mod masked;
mod matrix;
mod memory;
mod operations;
pub mod processor;
pub mod sequence;
mod spend;
mod state;
mod steps;
pub(crate) mod tier;
mod turns;
pub mod value;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use self::tier::Tier;
use crate::abi::Flavour;
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::unit::{Refused, Unit};
use crate::code::Compiled;
use crate::generator::{Generator, Texts};
use crate::lower::Features;

/// Cranelift, for this process's processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cranelift;

impl Generator for Cranelift {
    fn processor(&self) -> Result<String, Refused> {
        let target = processor::target(Tier::Full)?;
        let flags = target.isa_flags();
        let of_processor: String = flags.iter().map(|flag| flag.to_string() + "\n").collect();
        Ok(target.flags().to_string() + &of_processor)
    }

    fn features(&self) -> Result<Features, Refused> {
        Ok(processor::features(&**processor::target(Tier::Full)?))
    }

    fn generate(
        &self,
        unit: &Unit<'_>,
        flavour: Flavour,
        passes: &mut Passes,
        mut texts: Option<&mut Texts>,
    ) -> Result<Compiled, Refused> {
        if flavour == Flavour::Lanewise {
            return Err(Refused(format!("Cranelift makes no code of regions: '{}'", unit.name)));
        }
        let tier = passes.run(Pass::Tier, || tier::tier(flavour, unit));
        tier::count(tier);
        let target = processor::target(tier)?;
        let name = UserFuncName::default();
        let mut context = Context::for_function(Function::with_name_signature(name, signature(flavour)));
        let mut scratch = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
        let frontend = target.frontend_config();
        passes.run(Pass::Emit, || match flavour {
            Flavour::Converged if tier == Tier::Memory => converged::emit_in_memory(unit, builder, frontend),
            Flavour::Converged => converged::emit(unit, builder, frontend),
            Flavour::Masked | Flavour::Lanewise => masked::emit(unit, builder, frontend),
        });
        passes.run(Pass::SinkTests, || sequence::sink_tests(&mut context.func));
        context.set_disasm(texts.is_some());
        // Before Cranelift leaves out what nothing reads.
        if let Some(texts) = &mut texts {
            texts.push(("clif", format!("; {tier:?}\n{}", context.func.display())));
        }
        let code = passes
            .run(Pass::Machine, || context.compile(&**target, &mut ControlPlane::default()))
            .map_err(|error| Refused(format!("Cranelift refuses '{}': {:?}", unit.name, error.inner)))?;
        if let Some(texts) = texts {
            let function = &unit.name;
            texts.push(("s", code.vcode.clone().unwrap_or_else(|| format!("; no text of '{function}'\n"))));
        }
        if !code.buffer.relocs().is_empty() {
            return Err(Refused(format!("'{}' needs relocations", unit.name)));
        }
        let locations = code.buffer.get_srclocs_sorted().iter();
        let positions = locations.filter(|location| !location.loc.is_default());
        Ok(Compiled {
            regions: flavour == Flavour::Converged && unit.regions().is_ok(),
            code: code.code_buffer().to_vec(),
            positions: positions.map(|location| (location.start, location.loc.bits())).collect(),
        })
    }
}

fn signature(flavour: Flavour) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    match flavour {
        Flavour::Converged => signature.returns.push(AbiParam::new(I32)),
        Flavour::Masked | Flavour::Lanewise => {
            signature.params.extend([AbiParam::new(I64), AbiParam::new(I32)]);
            signature.returns.push(AbiParam::new(I64));
        }
    }
    signature
}
