//! LDS instructions.

use gangway_gcn::instruction::{Form, Local};
use gangway_gcn::table::row::NO_OFFSET;
use gangway_gcn::{Instruction, Operand, Row};

use crate::atomics::{self, Update};
use crate::fault::FaultKind;
use crate::lanes;
use crate::operands;
use crate::space::{Memories, Place, Space};
use crate::transfer::{self, Load, Transfer};
use crate::wave::{LANES, Result, Stop, Wave, of_lane};

/// What a row does.
#[derive(Clone, Copy)]
pub enum Action {
    Nothing,
    Transfer(Transfer),
    /// Two values, whose offsets are in units of so many bytes.
    Read2 {
        bytes: usize,
        unit: u64,
    },
    Write2 {
        bytes: usize,
        unit: u64,
    },
    Exchange2 {
        bytes: usize,
        unit: u64,
    },
    /// At the address in M0, with the lane's number.
    ReadLanes,
    WriteLanes,
    /// The number of lanes that are on is added to one word, or taken from it.
    Count {
        append: bool,
    },
    Swizzle,
    Permute,
    BackPermute,
}

pub fn action(row: &Row) -> Option<Action> {
    let name = row.name.strip_prefix("ds_")?;
    Some(match name {
        "nop" => Action::Nothing,
        "swizzle_b32" => Action::Swizzle,
        "permute_b32" => Action::Permute,
        "bpermute_b32" => Action::BackPermute,
        "append" => Action::Count { append: true },
        "consume" => Action::Count { append: false },
        "read_addtid_b32" => Action::ReadLanes,
        "write_addtid_b32" => Action::WriteLanes,
        _ if name.contains("_src2_") => return None,
        _ => return pair(name).or_else(|| single(name).map(Action::Transfer)),
    })
}

fn single(name: &str) -> Option<Transfer> {
    if let Some(name) = name.strip_prefix("read_") {
        let (name, half) = match (name.strip_suffix("_d16"), name.strip_suffix("_d16_hi")) {
            (Some(name), _) => (name, Some(0)),
            (_, Some(name)) => (name, Some(1)),
            _ => (name, None),
        };
        return Some(Transfer::Load(Load { bytes: bytes(name)?, signed: name.starts_with('i'), half }));
    }
    if let Some(name) = name.strip_prefix("write_") {
        let (name, high) = match name.strip_suffix("_d16_hi") {
            Some(name) => (name, true),
            None => (name, false),
        };
        return Some(Transfer::Store { bytes: bytes(name)?, high });
    }
    let name = name.replacen("rtn_", "", 1);
    atomics::local(&name).map(Transfer::Update)
}

fn bytes(ty: &str) -> Option<usize> {
    Some(match ty {
        "b8" | "u8" | "i8" => 1,
        "b16" | "u16" | "i16" => 2,
        "b32" => 4,
        "b64" => 8,
        "b96" => 12,
        "b128" => 16,
        _ => return None,
    })
}

fn pair(name: &str) -> Option<Action> {
    let (base, ty) = name.rsplit_once('_')?;
    let bytes = bytes(ty)?;
    let size = bytes as u64;
    Some(match base {
        "read2" => Action::Read2 { bytes, unit: size },
        "read2st64" => Action::Read2 { bytes, unit: 64 * size },
        "write2" => Action::Write2 { bytes, unit: size },
        "write2st64" => Action::Write2 { bytes, unit: 64 * size },
        "wrxchg2_rtn" => Action::Exchange2 { bytes, unit: size },
        "wrxchg2st64_rtn" => Action::Exchange2 { bytes, unit: 64 * size },
        _ => return None,
    })
}

/// The operands of one access, and the lane that it is for.
struct Access<'a> {
    local: &'a Local,
    to: Option<usize>,
    /// The registers of addresses and data.
    from: [Option<usize>; 3],
    /// The two data registers of an atomic operation lie apart.
    lane: usize,
}

pub fn run(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    action: &Action,
    instruction: &Instruction,
) -> Result {
    let Form::Local(local) = &instruction.form else { return Ok(()) };
    if local.global {
        return Err(Stop::unsupported("the global data share"));
    }
    if instruction.row.allows.any(NO_OFFSET) {
        return Ok(());
    }
    let register = |operand: Option<&Operand>| {
        operand.and_then(|operand| operands::registers(wave, *operand)).map(|(first, _)| first)
    };
    let to = register(local.to.first());
    let mut from = [None; 3];
    for (found, operand) in from.iter_mut().zip(local.from.iter()) {
        *found = register(Some(operand));
    }
    match action {
        Action::Nothing => return Ok(()),
        Action::Swizzle | Action::Permute | Action::BackPermute => {
            return exchange(wave, action, local.offset, to, from);
        }
        Action::Count { append } => return count(memories, wave, local, to, *append),
        _ => {}
    }
    for lane in wave.lanes() {
        let access = Access { local, to, from, lane };
        match action {
            Action::Transfer(Transfer::Update(update)) => access.update(memories, wave, update)?,
            Action::Transfer(transfer) => access.single(memories, wave, transfer, local)?,
            Action::Read2 { bytes, unit } => access.two(memories, wave, *bytes, *unit, true, false)?,
            Action::Write2 { bytes, unit } => access.two(memories, wave, *bytes, *unit, false, true)?,
            Action::Exchange2 { bytes, unit } => access.two(memories, wave, *bytes, *unit, true, true)?,
            Action::ReadLanes | Action::WriteLanes => {
                let address = u64::from(wave.m0() & 0xffff) + u64::from(local.offset) + 4 * lane as u64;
                let place = Place { lane, space: Space::Group, address };
                let transfer = match action {
                    Action::ReadLanes => Transfer::Load(Load { bytes: 4, signed: false, half: None }),
                    _ => Transfer::Store { bytes: 4, high: false },
                };
                let data = local.from.last().copied();
                transfer::access(memories, wave, &transfer, place, data, local.to.first().copied())?;
            }
            _ => {}
        }
    }
    Ok(())
}

impl Access<'_> {
    fn address(&self, wave: &Wave) -> u64 {
        self.from[0].map_or(0, |first| u64::from(wave.vector[first][self.lane]))
    }

    fn single(
        &self,
        memories: &mut Memories<'_>,
        wave: &mut Wave,
        transfer: &Transfer,
        local: &Local,
    ) -> Result {
        let address = (self.address(wave) + u64::from(self.local.offset)) & 0xffff_ffff;
        let place = Place { lane: self.lane, space: Space::Group, address };
        transfer::access(
            memories,
            wave,
            transfer,
            place,
            local.from.get(1).copied(),
            local.to.first().copied(),
        )
    }

    fn data(&self, wave: &Wave, index: usize, words: u8) -> u64 {
        self.from[index].map_or(0, |first| wave.lane(first, words, self.lane))
    }

    fn update(&self, memories: &mut Memories<'_>, wave: &mut Wave, update: &Update) -> Result {
        let address = (self.address(wave) + u64::from(self.local.offset)) & 0xffff_ffff;
        let words = (update.bytes / 4) as u8;
        let data = [self.data(wave, 1, words), self.data(wave, 2, words)];
        let place = Place { lane: self.lane, space: Space::Group, address };
        let old = memories.update(wave, place, update, wave.mode, data);
        let old = of_lane(self.lane, old)?;
        if let Some(to) = self.to {
            wave.set_lane(to, words, self.lane, old);
        }
        Ok(())
    }

    /// Two values at two offsets, each of which has 8 bits.
    fn two(
        &self,
        memories: &mut Memories<'_>,
        wave: &mut Wave,
        bytes: usize,
        unit: u64,
        reads: bool,
        writes: bool,
    ) -> Result {
        let (base, words) = (self.address(wave), (bytes / 4) as u8);
        let data = [self.data(wave, 1, words), self.data(wave, 2, words)];
        let mut old = [0u64; 2];
        for (number, offset) in self.local.offset.to_le_bytes().into_iter().enumerate() {
            let address = (base + u64::from(offset) * unit) & 0xffff_ffff;
            let place = Place { lane: self.lane, space: Space::Group, address };
            let mut found = [0; 8];
            if reads {
                let read = memories.read(wave, place, &mut found[..bytes]);
                of_lane(self.lane, read)?;
            }
            if writes {
                let value = &data[number].to_le_bytes()[..bytes];
                of_lane(self.lane, memories.write(wave, place, value))?;
            }
            old[number] = u64::from_le_bytes(found);
        }
        if let Some(to) = self.to {
            wave.set_lane(to, words, self.lane, old[0]);
            wave.set_lane(to + usize::from(words), words, self.lane, old[1]);
        }
        Ok(())
    }
}

/// `ds_append` and `ds_consume`: one operation for all lanes, which get the old value.
fn count(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    local: &Local,
    to: Option<usize>,
    append: bool,
) -> Result {
    let address = u64::from(wave.m0() & 0xffff) + u64::from(local.offset);
    let place = Place { lane: 0, space: Space::Group, address };
    let number = wave.exec().count_ones();
    let mut bytes = [0; 4];
    if !address.is_multiple_of(4) {
        return Err(FaultKind::Misaligned { address, size: 4 }.into());
    }
    memories.read(wave, place, &mut bytes)?;
    let old = u32::from_le_bytes(bytes);
    let new = if append { old.wrapping_add(number) } else { old.wrapping_sub(number) };
    memories.write(wave, place, &new.to_le_bytes())?;
    if let Some(to) = to {
        for lane in wave.lanes() {
            wave.vector[to][lane] = old;
        }
    }
    Ok(())
}

/// Values of other lanes; no memory is touched.
fn exchange(
    wave: &mut Wave,
    action: &Action,
    offset: u16,
    to: Option<usize>,
    from: [Option<usize>; 3],
) -> Result {
    let Some((to, first)) = to.zip(from[0]) else { return Ok(()) };
    let exec = wave.exec();
    let is_on = |lane: usize| exec >> lane & 1 != 0;
    let number = |wave: &Wave, lane: usize| {
        let address = wave.vector[first][lane].wrapping_add(u32::from(offset));
        (address / 4) as usize % LANES
    };
    let mut found = [0; LANES];
    for lane in wave.lanes() {
        match (action, from[1]) {
            (Action::Swizzle, _) => {
                let source = lanes::swizzled(offset, lane)
                    .ok_or_else(|| Stop::unsupported("a swizzle for Fourier transforms"))?;
                found[lane] = if is_on(source) { wave.vector[first][source] } else { 0 };
            }
            (Action::Permute, Some(data)) => found[number(wave, lane)] = wave.vector[data][lane],
            (Action::BackPermute, Some(data)) => {
                let source = number(wave, lane);
                found[lane] = if is_on(source) { wave.vector[data][source] } else { 0 };
            }
            _ => {}
        }
    }
    for lane in wave.lanes() {
        wave.vector[to][lane] = found[lane];
    }
    Ok(())
}
