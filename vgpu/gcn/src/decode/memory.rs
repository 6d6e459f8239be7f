//! Memory that lanes access: LDS, flat addresses, buffers.

use super::operand;
use super::{Decoded, Words, bit, bits};
use crate::error::Refusal;
use crate::gpu::Gpu;
use crate::instruction::{Base, Buffer, Cache, Flat, Form, Local};
use crate::operand::{Operand, Operands, scalar};
use crate::table::row::{
    CACHE_ANY, CACHE_ONLY, CACHE_SCOPES, GDS_ONLY, IN_LOCAL, NO_ACC, NO_GDS, NO_GLC, NO_OFFSET, NO_SCC,
    RETURNS, TFE, TO_LDS,
};
use crate::table::{Encoding, Row, Slot};

/// The number of a scalar address that is not there.
const OFF: u32 = 0x7f;

fn words(slot: &Slot) -> Option<u8> {
    match *slot {
        Slot::Vector(words) => Some(words),
        _ => None,
    }
}

/// The bit that data is in accumulation registers, which came with gfx90a.
fn accumulation(gpu: Gpu, row: &Row, set: bool) -> Result<bool, Refusal> {
    if set && (!gpu.unified_registers() || row.allows.any(NO_ACC)) {
        return Err(Refusal::Field("acc", 1));
    }
    Ok(set)
}

/// DS.
pub fn local(gpu: Gpu, row: &Row, code: Words) -> Result<Decoded, Refusal> {
    let (word, second) = (code.first, code.second()?);
    let acc = accumulation(gpu, row, bit(word, 25))?;
    let mut to = Operands::EMPTY;
    let destination = bits(second, 24, 8);
    match row.to.first().and_then(words) {
        Some(words) => to.push(operand::either(gpu, acc, destination, words)?),
        None if destination != 0 => return Err(Refusal::Field("vdst", destination)),
        None => {}
    }
    let mut from = Operands::EMPTY;
    for (index, name) in ["addr", "data0", "data1"].into_iter().enumerate() {
        let register = bits(second, 8 * index as u32, 8);
        match row.from.get(index).and_then(words) {
            // An address is never in an accumulation register, but that of GWS is data.
            Some(words) => {
                let data = index > 0 || row.allows.any(GDS_ONLY) && row.to.is_empty();
                from.push(operand::either(gpu, acc && data, register, words)?);
            }
            None if register != 0 => return Err(Refusal::Field(name, register)),
            None => {}
        }
    }
    let gds = bit(word, 16);
    let offset = word as u16;
    if row.allows.any(NO_OFFSET) && offset != 0 {
        return Err(Refusal::Field("offset", u32::from(offset)));
    }
    if row.allows.any(GDS_ONLY) && !gds || row.allows.any(NO_GDS) && gds {
        return Err(Refusal::Field("gds", u32::from(gds)));
    }
    let global = gds && (row.allows.any(GDS_ONLY) || !gpu.unified_registers());
    Ok((Form::Local(Local { to, from, offset, global }), 2))
}

/// GLC, SLC and SCC, where the processor and the instruction have them.
fn cache(gpu: Gpu, row: &Row, [glc, slc, scc]: [bool; 3]) -> Result<Cache, Refusal> {
    if glc && row.allows.any(NO_GLC) && !gpu.unified_registers() {
        return Err(Refusal::Field("glc", 1));
    }
    let without = gpu == Gpu::Gfx90a || gpu == Gpu::Gfx908 && row.encoding == Encoding::Global;
    if scc && row.allows.any(NO_SCC) && without {
        return Err(Refusal::Field("scc", 1));
    }
    Ok(Cache { glc, slc, scc: scc && gpu.unified_registers() })
}

/// FLAT, SCRATCH and GLOBAL.
pub fn flat(gpu: Gpu, row: &Row, code: Words) -> Result<Decoded, Refusal> {
    let (word, second) = (code.first, code.second()?);
    let scratch = row.encoding == Encoding::Scratch;
    let acc = accumulation(gpu, row, bit(second, 23))?;
    let base = bits(second, 16, 7);
    let cache = cache(gpu, row, [bit(word, 16), bit(word, 17), bit(word, 25)])?;
    // gfx942 has the bit's place for another use in scratch accesses: whether there is an address.
    let vector_bit = scratch && gpu == Gpu::Gfx942;
    let lds = bit(word, 13) && !vector_bit;
    if lds && (!row.allows.any(TO_LDS) || gpu == Gpu::Gfx942) {
        return Err(Refusal::Field("lds", 1));
    }
    let base_register = match row.encoding {
        Encoding::Flat if base != 0 => return Err(Refusal::Field("saddr", base)),
        Encoding::Flat => Base::Unused,
        _ if base == OFF => Base::Off,
        Encoding::Scratch => Base::Register(operand::scalar(base, 1)?),
        // As LLVM has it, EXEC is an address for loads into LDS only.
        _ if base == u32::from(scalar::EXEC) && !row.effects.any(IN_LOCAL) => {
            return Err(Refusal::Operand(base as u16));
        }
        _ => Base::Register(operand::scalar(base, 2)?),
    };
    // As LLVM has it, these of gfx942 give old values back in vector registers only: of 32 bits all, of 64
    // bits those with SC1.
    let narrow = row.to.first() == Some(&Slot::Vector(1));
    let returned = gpu == Gpu::Gfx942 && row.allows.any(NO_SCC) && cache.glc && (cache.scc || narrow);
    if acc && (lds || returned) {
        return Err(Refusal::Field("acc", 1));
    }
    let address = if scratch {
        let given = if vector_bit { bit(word, 13) } else { base_register == Base::Off };
        given.then(|| operand::vector(gpu, bits(second, 0, 8), 1)).transpose()?
    } else {
        let words = if matches!(base_register, Base::Register(_)) { 1 } else { 2 };
        Some(operand::vector(gpu, bits(second, 0, 8), words)?)
    };
    let data = row.from.get(1).and_then(words);
    let data = data.map(|words| operand::either(gpu, acc, bits(second, 8, 8), words)).transpose()?;
    let mut to = Operands::EMPTY;
    let given = !lds && (!row.allows.any(RETURNS) || cache.glc);
    if let Some(words) = row.to.first().and_then(words).filter(|_| given) {
        to.push(operand::either(gpu, acc, bits(second, 24, 8), words)?);
    }
    // 13 bits, with a sign unless the address is flat (Vega ISA, 12.11).
    let offset = bits(word, 0, 13) as i16;
    let offset = match row.encoding {
        Encoding::Flat => offset,
        _ => offset << 3 >> 3,
    };
    Ok((Form::Flat(Flat { to, address, data, base: base_register, offset, lds, cache }), 2))
}

/// MUBUF and MTBUF.
pub fn buffer(gpu: Gpu, row: &Row, code: Words) -> Result<Decoded, Refusal> {
    let (word, second) = (code.first, code.second()?);
    let typed = row.encoding == Encoding::Mtbuf;
    let (offset_enabled, indexed) = (bit(word, 12), bit(word, 13));
    let [slc, scc] = if typed { [bit(second, 22), bit(second, 21)] } else { [bit(word, 17), bit(word, 15)] };
    let bits_of_cache = [bit(word, 14), slc, scc];
    let lds = !typed && bit(word, 16);
    let last = bit(second, 23);
    if row.allows.any(CACHE_ONLY) {
        return cache_only(gpu, row, word, second, bits_of_cache);
    }
    if lds && (last || !row.allows.any(TO_LDS)) {
        return Err(Refusal::Field("lds", 1));
    }
    // The bit that tells of missing pages became the one of accumulation registers.
    let tfe = last && !gpu.unified_registers();
    if tfe && !row.allows.any(TFE) {
        return Err(Refusal::Field("tfe", 1));
    }
    let acc = last && gpu.unified_registers();
    let slot = row.from.first().or(row.to.first()).and_then(words).unwrap_or(1);
    let data = (!lds).then(|| operand::either(gpu, acc, bits(second, 8, 8), slot + u8::from(tfe)));
    let words = u8::from(offset_enabled) + u8::from(indexed);
    let address = (words > 0).then(|| operand::vector(gpu, bits(second, 0, 8), words)).transpose()?;
    let buffer = Buffer {
        data: data.transpose()?,
        address,
        descriptor: operand::scalar(bits(second, 16, 5) * 4, 4)?,
        base: operand::scalar_or_constant(bits(second, 24, 8), 1)?,
        offset: bits(word, 0, 12) as u16,
        indexed,
        offset_enabled,
        lds,
        tfe,
        format: typed.then(|| (bits(word, 19, 4) as u8, bits(word, 23, 3) as u8)),
        cache: cache(gpu, row, bits_of_cache)?,
    };
    Ok((Form::Buffer(buffer), 2))
}

/// Instructions that write caches back or empty them: nearly all of their fields are without use.
fn cache_only(
    gpu: Gpu,
    row: &Row,
    word: u32,
    second: u32,
    [glc, _, scc]: [bool; 3],
) -> Result<Decoded, Refusal> {
    let mut fixed = bits(word, 12, 2) | bits(word, 16, 1) | bits(second, 23, 1);
    let ignored = row.allows.any(CACHE_ANY) && gpu == Gpu::Gfx90a;
    let scoped = row.allows.any(CACHE_SCOPES) && !ignored;
    if !scoped && !ignored {
        fixed |= u32::from(glc | scc);
    }
    if fixed != 0 {
        return Err(Refusal::Field("modifiers", bits(word, 12, 6)));
    }
    let nothing = Operand::Integer(0);
    let buffer = Buffer {
        data: None,
        address: None,
        descriptor: nothing,
        base: nothing,
        offset: 0,
        indexed: false,
        offset_enabled: false,
        lds: false,
        tfe: false,
        format: None,
        cache: Cache { glc: glc && scoped, slc: false, scc: scc && scoped },
    };
    Ok((Form::Buffer(buffer), 2))
}
