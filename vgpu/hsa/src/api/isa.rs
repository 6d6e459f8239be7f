//! Instruction sets (HSA runtime 1.2, 2.9).

use super::agent::{Visitor, visit};
use super::entry::{Call, entry};
use crate::abi::handle::{Handle, Kind};
use crate::abi::number::{self, rounding};
use crate::abi::pointer::{Opaque, Value};
use crate::abi::structure::Dim3;
use crate::abi::{Out, Result, Status, Text};
use crate::objects::agent::Agent;
use crate::objects::agent::info::{self, GROUP_LIMIT, WAVEFRONT_SIZE};
use crate::objects::agent::isa::Isa;

/// The instruction set of a name.
#[entry]
fn hsa_isa_from_name(_: &Call, name: Text, isa: Out<Handle>) -> Result {
    isa.check()?;
    if name.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let found = name.get().and_then(|name| Isa::named(&name));
    isa.put(found.ok_or(Status::ERROR_INVALID_ISA_NAME)?.handle())
}

/// Calls a function for each instruction set of an agent.
#[entry]
fn hsa_agent_iterate_isas(_: &Call, agent: Handle, visitor: Visitor, data: Opaque) -> Result {
    let agent = Agent::get(agent)?;
    let isa = agent.is_gpu().then(|| Isa::of(agent.config()).handle());
    visit(isa.into_iter(), visitor, data)
}

/// An attribute of an instruction set, for a calling convention: there is one.
#[entry]
fn hsa_isa_get_info(_: &Call, isa: Handle, attribute: u32, index: u32, value: Value) -> Result {
    let isa = Isa::get(isa)?;
    if index != 0 {
        return Err(Status::ERROR_INVALID_INDEX);
    }
    info(isa, attribute, value)
}

/// An attribute of an instruction set.
#[entry]
fn hsa_isa_get_info_alt(_: &Call, isa: Handle, attribute: u32, value: Value) -> Result {
    info(Isa::get(isa)?, attribute, value)
}

fn info(isa: Isa, attribute: u32, value: Value) -> Result {
    use number::isa::*;
    value.check()?;
    // With its terminator, as ROCm counts it and programs allocate.
    let name = || format!("{}\0", isa.name());
    match attribute {
        NAME_LENGTH => value.put(name().len() as u32),
        NAME => value.put_bytes(name().as_bytes()),
        CALL_CONVENTION_COUNT => value.put(1u32),
        CALL_CONVENTION_WAVEFRONT_SIZE => value.put(WAVEFRONT_SIZE),
        CALL_CONVENTION_WAVEFRONTS_PER_COMPUTE_UNIT => value.put(info::waves_per_unit(isa.gpu)),
        // One flag for each: small and large, base and full.
        MACHINE_MODELS => value.put([false, true]),
        PROFILES => value.put([true, false]),
        DEFAULT_FLOAT_ROUNDING_MODES | BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => {
            value.put(std::array::from_fn::<bool, 3, _>(|mode| mode == rounding::NEAR as usize))
        }
        FAST_F16_OPERATION => value.put(true),
        WORKGROUP_MAX_DIM => value.put([GROUP_LIMIT as u16; 3]),
        WORKGROUP_MAX_SIZE => value.put(GROUP_LIMIT),
        GRID_MAX_DIM => value.put(Dim3 { x: u32::MAX, y: u32::MAX, z: u32::MAX }),
        GRID_MAX_SIZE => value.put(u64::MAX),
        FBARRIER_MAX_SIZE => value.put(32u32),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// How exceptions of its code can be handled: there are no policies to choose.
#[entry]
fn hsa_isa_get_exception_policies(_: &Call, isa: Handle, profile: u32, mask: Out<u16>) -> Result {
    Isa::get(isa)?;
    mask.check()?;
    if profile > number::profile::FULL {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    mask.put(0)
}

/// How a fused multiply-add rounds: once.
#[entry]
fn hsa_isa_get_round_method(_: &Call, isa: Handle, fp_type: u32, flush: u32, method: Out<u32>) -> Result {
    Isa::get(isa)?;
    method.check()?;
    if !matches!(fp_type, 1 | 2 | 4) || !matches!(flush, 1 | 2) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    method.put(1)
}

/// Calls a function for each kind of wave: there is one.
#[entry]
fn hsa_isa_iterate_wavefronts(_: &Call, isa: Handle, visitor: Visitor, data: Opaque) -> Result {
    Isa::get(isa)?;
    visit(std::iter::once(Handle::new(Kind::Wavefront, u64::from(WAVEFRONT_SIZE))), visitor, data)
}

/// How many work-items a wave has.
#[entry]
fn hsa_wavefront_get_info(_: &Call, wavefront: Handle, attribute: u32, value: Value) -> Result {
    if wavefront.number(Kind::Wavefront) != Some(u64::from(WAVEFRONT_SIZE)) {
        return Err(Status::ERROR_INVALID_WAVEFRONT);
    }
    value.check()?;
    if attribute != 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    value.put(WAVEFRONT_SIZE)
}

/// Whether code for one instruction set runs where there is another.
#[entry]
fn hsa_isa_compatible(_: &Call, code: Handle, agent: Handle, result: Out<bool>) -> Result {
    let (code, agent) = (Isa::get(code)?, Isa::get(agent)?);
    result.put(code.runs_on(agent))
}
