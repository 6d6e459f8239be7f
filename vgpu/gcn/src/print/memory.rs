//! Accesses to memory by lanes.

use std::fmt::{self, Formatter};

use super::operand::{self, Commas, Place};
use crate::gpu::Gpu;
use crate::instruction::{Base, Buffer, Cache, Flat, Instruction, Local};
use crate::table::Constant;
use crate::table::row::{CACHE_ONLY, SWIZZLE, TWO_OFFSETS};

impl Instruction {
    pub(super) fn local(&self, access: &Local, out: &mut Formatter<'_>) -> fmt::Result {
        let mut commas = Commas::default();
        for operand in access.to.iter().chain(access.from.iter()) {
            commas.next(out)?;
            operand::write(*operand, Place::Other, out)?;
        }
        let [first, second] = access.offset.to_le_bytes();
        if self.row.allows.any(TWO_OFFSETS) {
            if first != 0 {
                write!(out, " offset0:{first}")?;
            }
            if second != 0 {
                write!(out, " offset1:{second}")?;
            }
        } else if access.offset != 0 {
            out.write_str(" offset:")?;
            if self.row.allows.any(SWIZZLE) {
                swizzle(access.offset, out)?;
            } else {
                write!(out, "{}", access.offset)?;
            }
        }
        if access.global { out.write_str(" gds") } else { Ok(()) }
    }

    pub(super) fn flat(&self, access: &Flat, out: &mut Formatter<'_>) -> fmt::Result {
        let mut commas = Commas::default();
        for to in access.to.iter() {
            commas.next(out)?;
            operand::write(*to, Place::Other, out)?;
        }
        commas.next(out)?;
        match access.address {
            Some(address) => operand::write(address, Place::Other, out)?,
            None => out.write_str("off")?,
        }
        if let Some(data) = access.data {
            commas.next(out)?;
            operand::write(data, Place::Other, out)?;
        }
        match access.base {
            Base::Unused => {}
            Base::Off => out.write_str(", off")?,
            Base::Register(register) => {
                commas.next(out)?;
                operand::write(register, Place::Other, out)?;
            }
        }
        if access.offset != 0 {
            write!(out, " offset:{}", access.offset)?;
        }
        self.cache(access.cache, out)?;
        if access.lds { out.write_str(" lds") } else { Ok(()) }
    }

    pub(super) fn buffer(&self, access: &Buffer, out: &mut Formatter<'_>) -> fmt::Result {
        if self.row.allows.any(CACHE_ONLY) {
            return self.cache(access.cache, out);
        }
        let mut commas = Commas::default();
        if let Some(data) = access.data {
            commas.next(out)?;
            operand::write(data, Place::Other, out)?;
        }
        commas.next(out)?;
        match access.address {
            Some(address) => operand::write(address, Place::Other, out)?,
            None => out.write_str("off")?,
        }
        for operand in [access.descriptor, access.base] {
            commas.next(out)?;
            operand::write(operand, Place::Constant(Constant::Word), out)?;
        }
        if let Some((data, number)) = access.format {
            format(data, number, out)?;
        }
        if access.indexed {
            out.write_str(" idxen")?;
        }
        if access.offset_enabled {
            out.write_str(" offen")?;
        }
        if access.offset != 0 {
            write!(out, " offset:{}", access.offset)?;
        }
        self.cache(access.cache, out)?;
        if access.lds {
            out.write_str(" lds")?;
        }
        if access.tfe { out.write_str(" tfe") } else { Ok(()) }
    }

    fn cache(&self, cache: Cache, out: &mut Formatter<'_>) -> fmt::Result {
        let names = if self.gpu == Gpu::Gfx942 { [" sc0", " nt", " sc1"] } else { [" glc", " slc", " scc"] };
        for (set, name) in [cache.glc, cache.slc, cache.scc].into_iter().zip(names) {
            if set {
                out.write_str(name)?;
            }
        }
        Ok(())
    }
}

/// Formats of typed buffers (Vega ISA, 8.1.8). Format 1 with number format 0 has no text.
fn format(data: u8, number: u8, out: &mut Formatter<'_>) -> fmt::Result {
    let data_names = [
        "INVALID",
        "8",
        "16",
        "8_8",
        "32",
        "16_16",
        "10_11_11",
        "11_11_10",
        "10_10_10_2",
        "2_10_10_10",
        "8_8_8_8",
        "32_32",
        "16_16_16_16",
        "32_32_32",
        "32_32_32_32",
        "RESERVED_15",
    ];
    let number_names = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
    let (data_name, number_name) = (data_names[usize::from(data)], number_names[usize::from(number)]);
    match (data, number) {
        (1, 0) => Ok(()),
        (1, _) => write!(out, " format:[BUF_NUM_FORMAT_{number_name}]"),
        (_, 0) => write!(out, " format:[BUF_DATA_FORMAT_{data_name}]"),
        _ => write!(out, " format:[BUF_DATA_FORMAT_{data_name},BUF_NUM_FORMAT_{number_name}]"),
    }
}

/// Patterns of `ds_swizzle_b32` (Vega ISA, 10.3.1): of four lanes, of 32 by rotation or for Fourier
/// transforms, or of 32 by and, or and xor.
fn swizzle(pattern: u16, out: &mut Formatter<'_>) -> fmt::Result {
    if pattern & 0xff00 == 0x8000 {
        let lane = |number: u16| pattern >> (2 * number) & 3;
        return write!(out, "swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
    }
    match pattern {
        0xe000.. => return write!(out, "swizzle(FFT,{})", pattern & 31),
        0xc000.. => return write!(out, "swizzle(ROTATE,{},{})", pattern >> 10 & 1, pattern >> 5 & 31),
        0x8000.. => return write!(out, "{pattern}"),
        _ => {}
    }
    let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
    let group = 32 - and;
    match (and, or, xor) {
        (31, 0, _) if xor.is_power_of_two() => write!(out, "swizzle(SWAP,{xor})"),
        (31, 0, 1..) if (xor + 1).is_power_of_two() => write!(out, "swizzle(REVERSE,{})", xor + 1),
        (_, _, 0) if group > 1 && group.is_power_of_two() && or < group => {
            write!(out, "swizzle(BROADCAST,{group},{or})")
        }
        _ => {
            let (zeros, ones) = (or ^ xor, (and | or) ^ xor);
            out.write_str("swizzle(BITMASK_PERM,\"")?;
            for number in (0..5).rev() {
                out.write_str(match (zeros >> number & 1, ones >> number & 1) {
                    (0, 0) => "0",
                    (1, 1) => "1",
                    (0, _) => "p",
                    _ => "i",
                })?;
            }
            out.write_str("\")")
        }
    }
}
