//! From a function of PTX to machine code.
//!
//! `unit` gathers what is known of a function: its control flow, which registers live where, where
//! its variables are. It refuses functions that no code is made of. `masked` and `converged` emit
//! the two flavours, with `instructions`, `access` and `call` for what they share. `lower`
//! computes, `support` does the rest.
//!
//! Code depends on nothing but the request, the module's declarations and the processor. It has
//! no relocations, and may be used again where those are the same.

mod access;
#[cfg(test)]
mod analyses;
mod call;
mod compare;
mod converged;
mod division;
mod dominance;
mod emit;
mod exchange;
mod fuel;
mod graph;
mod instructions;
mod layout;
mod liveness;
mod masked;
mod matrix;
mod memory;
mod order;
mod passes;
mod region;
mod shape;
mod steps;
#[cfg(test)]
mod tests;
mod tier;
mod turns;
mod unit;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use gangway_settings::file_variable;

use crate::abi::Flavour;
use crate::code::Compiled;
use crate::generate::Features;
pub(crate) use division::leave_short_ways;
use passes::{Pass, Passes};
use tier::Tier;
pub use tier::compiled;
use unit::Unit;
pub use unit::{BlockShape, Refused, Request};

/// The processor that this process runs on, as code may use it; or why it cannot be used at all.
fn target(tier: Tier) -> Result<&'static OwnedTargetIsa, Refused> {
    static TARGETS: [OnceLock<Result<OwnedTargetIsa, String>>; 3] = [const { OnceLock::new() }; 3];
    let target = TARGETS[tier as usize].get_or_init(|| {
        let target = build_target(tier).map_err(|error| error.to_string())?;
        match Features::suffices(&*target) {
            true => Ok(target),
            false => Err("this processor has no SSE4.2".to_owned()),
        }
    });
    target.as_ref().map_err(|what| Refused(what.clone()))
}

fn build_target(tier: Tier) -> Result<Arc<dyn TargetIsa>, Box<dyn std::error::Error>> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", if tier == Tier::Memory { "none" } else { "speed" }),
        ("regalloc_algorithm", if tier == Tier::Full { "backtracking" } else { "single_pass" }),
        ("is_pic", "true"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // A frame may be larger than the page behind the stack.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value)?;
    }
    let mut builder = isa::lookup_by_name("x86_64-unknown-linux-gnu")?;
    for (name, there) in [
        ("has_sse3", is_x86_feature_detected!("sse3")),
        ("has_ssse3", is_x86_feature_detected!("ssse3")),
        ("has_sse41", is_x86_feature_detected!("sse4.1")),
        ("has_sse42", is_x86_feature_detected!("sse4.2")),
        ("has_popcnt", is_x86_feature_detected!("popcnt")),
        ("has_bmi1", is_x86_feature_detected!("bmi1")),
        ("has_bmi2", is_x86_feature_detected!("bmi2")),
        ("has_lzcnt", is_x86_feature_detected!("lzcnt")),
        ("has_avx", is_x86_feature_detected!("avx")),
        ("has_avx2", is_x86_feature_detected!("avx2")),
        ("has_fma", is_x86_feature_detected!("fma")),
        ("has_avx512dq", is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512f")),
        ("has_avx512vl", is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512f")),
    ] {
        if there {
            builder.enable(name)?;
        }
    }
    Ok(builder.finish(settings::Flags::new(flags))?)
}

/// What of the processor code depends on, for the key of a cache.
pub(crate) fn processor() -> Result<String, Refused> {
    let target = target(Tier::Full)?;
    let flags = target.flags().to_string()
        + &target.isa_flags().iter().map(|flag| flag.to_string() + "\n").collect::<String>();
    Ok(flags)
}

/// Makes machine code of a function. `passes` lists what is done, in this order.
pub(crate) fn compile(request: &Request<'_>) -> Result<Compiled, Refused> {
    let mut passes = Passes::default();
    let target = target(Tier::Full)?;
    let unit = Unit::new(request, Features::of(&**target), target.frontend_config(), &mut passes)?;
    let tier = passes.run(Pass::Tier, || tier::tier(request.flavour, &unit));
    tier::count(tier);
    let target = self::target(tier)?;
    let mut context = Context::for_function(Function::with_name_signature(
        UserFuncName::default(),
        signature(request.flavour),
    ));
    let mut scratch = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
    passes.run(Pass::Emit, || match request.flavour {
        Flavour::Masked => masked::emit(&unit, builder),
        Flavour::Converged if tier == Tier::Memory => converged::emit_in_memory(&unit, builder),
        Flavour::Converged => converged::emit(&unit, builder),
    });
    passes.run(Pass::SinkTests, || crate::generate::sink_tests(&mut context.func));
    let folder = dump_folder();
    if let Some(folder) = folder {
        context.set_disasm(true);
        dump(folder, &unit, request.flavour, "clif", &context.func.display().to_string());
    }
    let code = passes
        .run(Pass::Cranelift, || context.compile(&**target, &mut ControlPlane::default()))
        .map_err(|error| Refused(format!("Cranelift refuses '{}': {:?}", unit.function.name, error.inner)))?;
    if let (Some(folder), Some(text)) = (folder, &code.vcode) {
        dump(folder, &unit, request.flavour, "s", text);
        dump(folder, &unit, request.flavour, "passes", &format!("{tier:?}\n{passes}"));
    }
    if !code.buffer.relocs().is_empty() {
        return Err(Refused(format!("'{}' needs relocations", unit.function.name)));
    }
    let locations = code.buffer.get_srclocs_sorted().iter();
    let positions = locations.filter(|location| !location.loc.is_default());
    Ok(Compiled {
        code: code.code_buffer().to_vec(),
        positions: positions.map(|location| (location.start, location.loc.bits())).collect(),
    })
}

fn signature(flavour: Flavour) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    match flavour {
        Flavour::Converged => signature.returns.push(AbiParam::new(I32)),
        Flavour::Masked => {
            signature.params.extend([AbiParam::new(I64), AbiParam::new(I32)]);
            signature.returns.push(AbiParam::new(I64));
        }
    }
    signature
}

/// Where `GANGWAY_VGPU_DUMP` wants to see what is made of each function, for work on the engine.
fn dump_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| file_variable("GANGWAY_VGPU_DUMP").map(PathBuf::from)).as_deref()
}

fn dump(folder: &Path, unit: &Unit, flavour: Flavour, kind: &str, text: &str) {
    let path = folder.join(format!("{}.{flavour:?}.{kind}", unit.function.name));
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("gangway: {}: {error}", path.display());
    }
}
