//! Where a wave goes on, what it waits for, and the hardware's registers.

use gangway_gcn::instruction::{Form, Scalar};
use gangway_gcn::table::row::{ENDS, WAITS};
use gangway_gcn::{Gpu, Instruction, Operand, Row};

use crate::dispatch::{GROUP_APERTURE, PRIVATE_APERTURE};
use crate::fault::FaultKind;
use crate::mode::Mode;
use crate::operands;
use crate::scalar::set_index;
use crate::space::Memories;
use crate::wave::{Result, Status, Stop, Wave};

/// What a row does.
#[derive(Clone, Copy)]
pub enum Action {
    Nothing,
    End,
    /// To the constant place, if this holds.
    Branch(fn(&Wave) -> bool),
    Call,
    GetPc,
    SetPc,
    SwapPc,
    Barrier,
    /// The next wave has its turn.
    Yield,
    Message,
    Trap,
    GetRegister,
    SetRegister,
    IndexOff,
    IndexMode,
}

/// What the wave does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    On,
    Yield,
}

pub fn action(row: &Row) -> Option<Action> {
    Some(match row.name {
        "s_endpgm" | "s_endpgm_saved" => Action::End,
        "s_branch" => Action::Branch(|_| true),
        "s_cbranch_scc0" => Action::Branch(|wave| !wave.scc),
        "s_cbranch_scc1" => Action::Branch(|wave| wave.scc),
        "s_cbranch_vccz" => Action::Branch(|wave| wave.vcc() == 0),
        "s_cbranch_vccnz" => Action::Branch(|wave| wave.vcc() != 0),
        "s_cbranch_execz" => Action::Branch(|wave| wave.exec() == 0),
        "s_cbranch_execnz" => Action::Branch(|wave| wave.exec() != 0),
        // No debugger is there.
        "s_cbranch_cdbgsys" | "s_cbranch_cdbguser" => Action::Nothing,
        "s_cbranch_cdbgsys_or_user" | "s_cbranch_cdbgsys_and_user" => Action::Nothing,
        "s_call_b64" => Action::Call,
        "s_getpc_b64" => Action::GetPc,
        "s_setpc_b64" => Action::SetPc,
        "s_swappc_b64" => Action::SwapPc,
        "s_barrier" => Action::Barrier,
        "s_sleep" => Action::Yield,
        "s_sendmsg" => Action::Message,
        "s_trap" => Action::Trap,
        "s_getreg_b32" => Action::GetRegister,
        "s_setreg_b32" | "s_setreg_imm32_b32" => Action::SetRegister,
        "s_set_gpr_idx_off" => Action::IndexOff,
        "s_set_gpr_idx_mode" => Action::IndexMode,
        // Priorities, counters of performance, caches of instructions: nothing that a kernel sees.
        "s_nop" | "s_wakeup" | "s_setprio" | "s_icache_inv" | "s_incperflevel" | "s_decperflevel" => {
            Action::Nothing
        }
        _ if row.effects.any(WAITS) && !row.effects.any(ENDS) => Action::Nothing,
        _ => return None,
    })
}

/// Runs it; `pc` is the instruction's own address, and the wave's is already that of the next.
pub fn run(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    action: Action,
    instruction: &Instruction,
    pc: u64,
) -> Result<Next> {
    let Form::Scalar(scalar) = &instruction.form else { return Ok(Next::On) };
    let target = || instruction.branch_target(pc).ok_or(FaultKind::BadTarget(pc));
    match action {
        Action::Nothing => {}
        Action::End => wave.status = Status::Ended,
        Action::Branch(holds) => {
            if holds(wave) {
                wave.pc = target()?;
            }
        }
        Action::Call => {
            let next = wave.pc;
            wave.pc = target()?;
            set_pair(wave, scalar, next);
        }
        Action::GetPc => set_pair(wave, scalar, wave.pc),
        Action::SetPc => wave.pc = go(pair(wave, instruction, scalar)?)?,
        Action::SwapPc => {
            let to = go(pair(wave, instruction, scalar)?)?;
            let next = std::mem::replace(&mut wave.pc, to);
            set_pair(wave, scalar, next);
        }
        Action::Barrier => {
            wave.status = Status::Barrier;
            return Ok(Next::Yield);
        }
        Action::Yield => return Ok(Next::Yield),
        Action::Message => message(memories, wave, immediate(scalar))?,
        Action::Trap => match immediate(scalar) as u8 {
            // `llvm.debugtrap`: the handler returns where no debugger is there (AMDGPU guide, "Trap Handler ABI").
            3 => {}
            trap => return Err(FaultKind::Trap(trap).into()),
        },
        Action::GetRegister => {
            let value = get_register(memories, wave, immediate(scalar))?;
            if let Some(Operand::Scalar { first, .. }) = scalar.to.first() {
                wave.set_scalar(*first, value);
            }
        }
        Action::SetRegister => {
            let row = instruction.row;
            let (Some(slot), Some(operand)) = (row.from.get(1), scalar.from.get(1)) else {
                return Ok(Next::On);
            };
            let value = operands::scalar(wave, row, slot, *operand)? as u32;
            set_register(wave, immediate(scalar), value)?;
        }
        Action::IndexOff => wave.mode.set_indexing(false),
        Action::IndexMode => set_index(wave, None, Some(u32::from(immediate(scalar)))),
    }
    Ok(Next::On)
}

fn immediate(scalar: &Scalar) -> u16 {
    scalar
        .from
        .iter()
        .find_map(|operand| match operand {
            Operand::Immediate(value) => Some(*value),
            _ => None,
        })
        .unwrap_or(0)
}

fn pair(wave: &Wave, instruction: &Instruction, scalar: &Scalar) -> Result<u64> {
    match (instruction.row.from.first(), scalar.from.first()) {
        (Some(slot), Some(operand)) => operands::scalar(wave, instruction.row, slot, *operand),
        _ => Ok(0),
    }
}

fn go(target: u64) -> Result<u64> {
    if target.is_multiple_of(4) { Ok(target) } else { Err(FaultKind::BadTarget(target).into()) }
}

fn set_pair(wave: &mut Wave, scalar: &Scalar, value: u64) {
    if let Some(Operand::Scalar { first, .. }) = scalar.to.first() {
        wave.set_pair(*first, value);
    }
}

/// Messages to the host and to what makes graphics of waves (Vega ISA, 4.3).
fn message(memories: &Memories<'_>, wave: &Wave, message: u16) -> Result {
    match message & 15 {
        1 => memories.memory.interrupt(wave.m0() & 0xff_ffff),
        number => return Err(Stop::unsupported(format!("the message {number}"))),
    }
    Ok(())
}

/// A hardware register and the bits of it that are meant.
struct Bits {
    register: u16,
    offset: u32,
    count: u32,
}

impl Bits {
    fn of(immediate: u16) -> Self {
        Self {
            register: immediate & 63,
            offset: u32::from(immediate >> 6 & 31),
            count: u32::from(immediate >> 11) + 1,
        }
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.count)
    }
}

const MODE: u16 = 1;
const HW_ID: u16 = 4;
const SH_MEM_BASES: u16 = 15;
const XCC_ID: u16 = 20;

fn get_register(memories: &Memories<'_>, wave: &Wave, which: u16) -> Result<u32> {
    let bits = Bits::of(which);
    let value = match bits.register {
        MODE => wave.mode.0,
        // Slot, SIMD, pipe and more; here only the slot differs.
        HW_ID => wave.number & 15,
        SH_MEM_BASES => (PRIVATE_APERTURE >> 48) as u32 | ((GROUP_APERTURE >> 48) as u32) << 16,
        XCC_ID if memories.gpu == Gpu::Gfx942 => 0,
        other => return Err(Stop::unsupported(format!("the hardware register {other}"))),
    };
    Ok(value >> bits.offset & bits.mask())
}

fn set_register(wave: &mut Wave, which: u16, value: u32) -> Result {
    let bits = Bits::of(which);
    if bits.register != MODE {
        return Err(Stop::unsupported(format!("setting the hardware register {}", bits.register)));
    }
    let mask = bits.mask() << bits.offset;
    let mode = Mode(wave.mode.0 & !mask | value << bits.offset & mask);
    match mode.unsupported() {
        Some(what) => Err(Stop::unsupported(what)),
        None => {
            wave.mode = mode;
            Ok(())
        }
    }
}
