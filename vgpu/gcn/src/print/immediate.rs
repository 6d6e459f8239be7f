//! Constants in the first word of scalar instructions.

use std::fmt::{self, Formatter};

use super::operand::{self, Commas, Place};
use crate::gpu::Gpu;
use crate::operand::Operand;
use crate::table::{Immediate, Slot};

/// Writes an operand of a scalar instruction, with what stands before it.
pub fn place(
    slot: &Slot,
    from: Operand,
    gpu: Gpu,
    commas: &mut Commas,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    let (Slot::Immediate(kind), Operand::Immediate(value)) = (slot, from) else {
        commas.next(out)?;
        if let (Slot::Literal(_), Operand::Literal(value)) = (slot, from) {
            return operand::value(value, out);
        }
        return operand::write(from, Place::of(slot), out);
    };
    if *kind == Immediate::Ignored || *kind == Immediate::End && value == 0 {
        return Ok(());
    }
    commas.next(out)?;
    match kind {
        Immediate::Signed => write!(out, "{value:#x}"),
        Immediate::Plain | Immediate::Seven if value <= 64 => write!(out, "{value}"),
        Immediate::Plain | Immediate::Seven => write!(out, "{value:#x}"),
        Immediate::End | Immediate::Branch | Immediate::Ignored => write!(out, "{value}"),
        Immediate::WaitCounts => wait_counts(value, out),
        Immediate::Message => message(value, out),
        Immediate::HardwareRegister => hardware_register(value, gpu, out),
        Immediate::IndexMode => index_mode(value, out),
    }
}

/// Vega ISA, 4.4: bits of three counters.
fn wait_counts(value: u16, out: &mut Formatter<'_>) -> fmt::Result {
    let counts = [
        ("vmcnt", value & 15 | value >> 14 << 4, 63),
        ("expcnt", value >> 4 & 7, 7),
        ("lgkmcnt", value >> 8 & 15, 15),
    ];
    let all = counts.iter().all(|(_, count, most)| count == most);
    let mut space = "";
    for (name, count, most) in counts {
        if all || count != most {
            write!(out, "{space}{name}({count})")?;
            space = " ";
        }
    }
    Ok(())
}

/// Vega ISA, 4.6: a message, for some an operation, for some of those a stream.
fn message(value: u16, out: &mut Formatter<'_>) -> fmt::Result {
    let (number, operation, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
    let name = match number {
        1 => Some("MSG_INTERRUPT"),
        2 => Some("MSG_GS"),
        3 => Some("MSG_GS_DONE"),
        4 => Some("MSG_SAVEWAVE"),
        5 => Some("MSG_STALL_WAVE_GEN"),
        6 => Some("MSG_HALT_WAVES"),
        7 => Some("MSG_ORDERED_PS_DONE"),
        8 => Some("MSG_EARLY_PRIM_DEALLOC"),
        9 => Some("MSG_GS_ALLOC_REQ"),
        10 => Some("MSG_GET_DOORBELL"),
        15 => Some("MSG_SYSMSG"),
        _ => None,
    };
    let geometry = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
    match (number, name) {
        (2 | 3, Some(name)) if (1..4).contains(&operation) => {
            write!(out, "sendmsg({name}, {}, {stream})", geometry[usize::from(operation)])
        }
        (3, Some(name)) if operation == 0 && stream == 0 => write!(out, "sendmsg({name}, {})", geometry[0]),
        (15, Some(name)) if stream == 0 && matches!(operation, 1 | 2 | 4) => {
            let operation = ["", "ECC_ERR_INTERRUPT", "REG_RD", "", "TTRACE_PC"][usize::from(operation)];
            write!(out, "sendmsg({name}, SYSMSG_OP_{operation})")
        }
        (1 | 4..15, Some(name)) if operation == 0 && stream == 0 => write!(out, "sendmsg({name})"),
        _ if value & !0x37f == 0 => write!(out, "sendmsg({number}, {operation}, {stream})"),
        _ => write!(out, "{value}"),
    }
}

/// Vega ISA, 5.7: a register, the first of its bits, and how many.
fn hardware_register(value: u16, gpu: Gpu, out: &mut Formatter<'_>) -> fmt::Result {
    let (number, first, count) = (value & 63, value >> 6 & 31, (value >> 11) + 1);
    let newest = gpu == Gpu::Gfx942;
    let name = match number {
        1 => "MODE",
        2 => "STATUS",
        3 => "TRAPSTS",
        4 => "HW_ID",
        5 => "GPR_ALLOC",
        6 => "LDS_ALLOC",
        7 => "IB_STS",
        15 => "SH_MEM_BASES",
        16 => "TBA_LO",
        17 => "TBA_HI",
        18 => "TMA_LO",
        19 => "TMA_HI",
        20 if newest => "XCC_ID",
        21 if newest => "SQ_PERF_SNAPSHOT_DATA",
        22 if newest => "SQ_PERF_SNAPSHOT_DATA1",
        23 if newest => "SQ_PERF_SNAPSHOT_PC_LO",
        24 if newest => "SQ_PERF_SNAPSHOT_PC_HI",
        _ => "",
    };
    match name {
        "" => write!(out, "hwreg({number}")?,
        name => write!(out, "hwreg(HW_REG_{name}")?,
    }
    if first != 0 || count != 32 {
        write!(out, ", {first}, {count}")?;
    }
    out.write_str(")")
}

/// Vega ISA, 3.6.4: which operands M0 is added to.
fn index_mode(value: u16, out: &mut Formatter<'_>) -> fmt::Result {
    if value > 15 {
        return write!(out, "{value:#x}");
    }
    out.write_str("gpr_idx(")?;
    let mut comma = "";
    for (number, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
        if value >> number & 1 != 0 {
            write!(out, "{comma}{name}")?;
            comma = ",";
        }
    }
    out.write_str(")")
}
