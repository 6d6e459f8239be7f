//! Vector instructions.

use std::fmt::{self, Formatter};

use super::operand::{self, Commas, Place};
use crate::instruction::{
    Dpp, Exchange, Instruction, Matrix, Packed, Part, Scale, Sdwa, Shape, Unused, Vector,
};
use crate::operand::Operand;
use crate::table::row::{DOT, E64, MATRIX_NEG, MIX, PACKED, SDWA_WHOLE, SELECT, SELECT_TWO, SPARSE};
use crate::table::{Encoding, Slot};

/// Signs before and around sources, a bit for each.
#[derive(Clone, Copy, Default)]
struct Signs {
    negative: u8,
    absolute: u8,
    extended: u8,
}

impl Instruction {
    pub(super) fn vector(&self, vector: &Vector, out: &mut Formatter<'_>) -> fmt::Result {
        let promoted = self.row.encoding != Encoding::Vop3 && self.row.encoding != Encoding::Vop3p;
        out.write_str(match vector.shape {
            // Without operands nothing tells the forms apart.
            _ if self.row.to.is_empty() => "",
            Shape::Short if self.row.allows.any(E64) => "_e32",
            Shape::Long(_) if promoted => "_e64",
            Shape::Sdwa(_) => "_sdwa",
            Shape::Dpp(_) => "_dpp",
            _ => "",
        })?;
        let signs = match vector.shape {
            Shape::Long(long) => Signs { negative: long.negative, absolute: long.absolute, extended: 0 },
            Shape::Sdwa(sdwa) => {
                Signs { negative: sdwa.negative, absolute: sdwa.absolute, extended: sdwa.signed }
            }
            Shape::Dpp(dpp) => Signs { negative: dpp.negative, absolute: dpp.absolute, extended: 0 },
            Shape::Packed(packed) if self.row.allows.any(MIX) => {
                Signs { negative: packed.negative, absolute: packed.negative_high, extended: 0 }
            }
            _ => Signs::default(),
        };
        let mut commas = Commas::default();
        for (slot, to) in self.row.to.iter().zip(vector.to.iter()) {
            commas.next(out)?;
            operand::write(*to, Place::of(slot), out)?;
        }
        let wide = matches!(vector.shape, Shape::Long(_) | Shape::Sdwa(_));
        for (index, from) in vector.from.iter().enumerate() {
            let slot = if wide { self.row.wide_source(index) } else { self.row.from[index] };
            commas.next(out)?;
            signed(*from, &slot, signs, index, out)?;
        }
        match &vector.shape {
            Shape::Short => Ok(()),
            Shape::Long(long) => {
                if self.row.allows.any(SELECT | SELECT_TWO) && long.select != 0 {
                    let sources = if self.row.allows.any(SELECT) { 3 } else { self.row.from.len() };
                    out.write_str(" op_sel:[")?;
                    for source in 0..sources {
                        write!(out, "{},", long.select >> source & 1)?;
                    }
                    write!(out, "{}]", long.select >> 3 & 1)?;
                }
                clamp_and_scale(long.clamp, long.scale, out)
            }
            Shape::Sdwa(sdwa) => self.parts(sdwa, out),
            Shape::Dpp(dpp) => exchange(dpp, out),
            Shape::Packed(packed) => self.halves(packed, out),
            Shape::Matrix(matrix) => self.matrix(*matrix, out),
        }
    }

    fn parts(&self, sdwa: &Sdwa, out: &mut Formatter<'_>) -> fmt::Result {
        clamp_and_scale(sdwa.clamp, sdwa.scale, out)?;
        if self.row.encoding != Encoding::Vopc && !self.row.allows.any(SDWA_WHOLE) {
            out.write_str(" dst_sel:")?;
            part(sdwa.to, out)?;
            out.write_str(match sdwa.unused {
                Unused::Zero => " dst_unused:UNUSED_PAD",
                Unused::Sign => " dst_unused:UNUSED_SEXT",
                Unused::Preserve => " dst_unused:UNUSED_PRESERVE",
            })?;
        }
        let sources = self.row.from.iter().filter(|slot| **slot != Slot::Mask).count();
        for (index, from) in sdwa.from.iter().take(sources).enumerate() {
            write!(out, " src{index}_sel:")?;
            part(*from, out)?;
        }
        Ok(())
    }

    fn halves(&self, packed: &Packed, out: &mut Formatter<'_>) -> fmt::Result {
        let sources = self.row.from.len();
        let all = (1 << sources) - 1;
        let mut list = |name: &str, bits: u8, usual: u8| {
            if bits == usual {
                return Ok(());
            }
            write!(out, " {name}:[")?;
            for source in 0..sources {
                let comma = if source == 0 { "" } else { "," };
                write!(out, "{comma}{}", bits >> source & 1)?;
            }
            out.write_str("]")
        };
        if self.row.allows.any(PACKED | DOT) {
            list("op_sel", packed.select, 0)?;
            list("op_sel_hi", packed.select_high, all)?;
            list("neg_lo", packed.negative, 0)?;
            list("neg_hi", packed.negative_high, 0)?;
        } else if self.row.allows.any(MIX) {
            list("op_sel", packed.select, 0)?;
            list("op_sel_hi", packed.select_high, 0)?;
        }
        if packed.clamp { out.write_str(" clamp") } else { Ok(()) }
    }

    fn matrix(&self, matrix: Matrix, out: &mut Formatter<'_>) -> fmt::Result {
        let Matrix { cbsz, abid, blgp } = matrix;
        if cbsz != 0 {
            write!(out, " cbsz:{cbsz}")?;
        }
        if abid != 0 {
            write!(out, " abid:{abid}")?;
        }
        if blgp == 0 || self.row.allows.any(SPARSE) {
            return Ok(());
        }
        if self.row.allows.any(MATRIX_NEG) {
            return write!(out, " neg:[{},{},{}]", blgp & 1, blgp >> 1 & 1, blgp >> 2);
        }
        write!(out, " blgp:{blgp}")
    }
}

fn signed(from: Operand, slot: &Slot, signs: Signs, index: usize, out: &mut Formatter<'_>) -> fmt::Result {
    let has = |bits: u8| bits >> index & 1 != 0;
    let (negative, absolute, extended) = (has(signs.negative), has(signs.absolute), has(signs.extended));
    // A minus before a number would be the number's.
    let number = matches!(from, Operand::Integer(_) | Operand::Float(_) | Operand::Literal(_));
    let (before, behind) = match (negative, absolute, extended) {
        (_, _, true) => ("sext(", ")"),
        (true, true, _) => ("-|", "|"),
        (true, false, _) if number => ("neg(", ")"),
        (true, false, _) => ("-", ""),
        (false, true, _) => ("|", "|"),
        (false, false, false) => ("", ""),
    };
    out.write_str(before)?;
    operand::write(from, Place::of(slot), out)?;
    out.write_str(behind)
}

fn clamp_and_scale(clamp: bool, scale: Scale, out: &mut Formatter<'_>) -> fmt::Result {
    if clamp {
        out.write_str(" clamp")?;
    }
    out.write_str(match scale {
        Scale::One => "",
        Scale::Two => " mul:2",
        Scale::Four => " mul:4",
        Scale::Half => " div:2",
    })
}

fn part(part: Part, out: &mut Formatter<'_>) -> fmt::Result {
    match part {
        Part::Byte(number) => write!(out, "BYTE_{number}"),
        Part::Word(number) => write!(out, "WORD_{number}"),
        Part::Whole => out.write_str("DWORD"),
    }
}

fn exchange(dpp: &Dpp, out: &mut Formatter<'_>) -> fmt::Result {
    match dpp.exchange {
        Exchange::Quad(lanes) => {
            let lane = |number: u8| lanes >> (2 * number) & 3;
            write!(out, " quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))?;
        }
        Exchange::RowShiftLeft(lanes) => write!(out, " row_shl:{lanes}")?,
        Exchange::RowShiftRight(lanes) => write!(out, " row_shr:{lanes}")?,
        Exchange::RowRotateRight(lanes) => write!(out, " row_ror:{lanes}")?,
        Exchange::WaveShiftLeft => out.write_str(" wave_shl:1")?,
        Exchange::WaveRotateLeft => out.write_str(" wave_rol:1")?,
        Exchange::WaveShiftRight => out.write_str(" wave_shr:1")?,
        Exchange::WaveRotateRight => out.write_str(" wave_ror:1")?,
        Exchange::RowMirror => out.write_str(" row_mirror")?,
        Exchange::RowHalfMirror => out.write_str(" row_half_mirror")?,
        Exchange::Broadcast15 => out.write_str(" row_bcast:15")?,
        Exchange::Broadcast31 => out.write_str(" row_bcast:31")?,
        Exchange::RowBroadcast(lane) => write!(out, " row_newbcast:{lane}")?,
    }
    write!(out, " row_mask:{:#x} bank_mask:{:#x}", dpp.rows, dpp.banks)?;
    // LLVM's spelling, though the bit is set when the text says 1.
    if dpp.bound { out.write_str(" bound_ctrl:1") } else { Ok(()) }
}
