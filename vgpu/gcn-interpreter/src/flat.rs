//! Flat, global and scratch instructions.

use gangway_gcn::instruction::{Base, Flat, Form};
use gangway_gcn::{Encoding, Instruction, Operand, Row};

use crate::operands;
use crate::space::{self, Memories, Place, Space};
use crate::transfer::{self, MOST, Transfer};
use crate::wave::{Result, Stop, Wave, of_lane};

/// What a row does.
pub fn action(row: &Row) -> Option<Transfer> {
    let (_, name) = row.name.split_once('_')?;
    transfer::named(name)
}

pub fn run(
    memories: &mut Memories<'_>,
    wave: &mut Wave,
    transfer: &Transfer,
    instruction: &Instruction,
) -> Result {
    let Form::Flat(flat) = &instruction.form else { return Ok(()) };
    let encoding = instruction.row.encoding;
    let to_lds = flat.lds || instruction.row.name.contains("_load_lds_");
    let base = match flat.base {
        Base::Unused | Base::Off => 0,
        Base::Register(Operand::Scalar { first, words: 1 }) => wave.scalar[usize::from(first)].into(),
        Base::Register(Operand::Scalar { first, .. }) => wave.pair(first),
        Base::Register(_) => return Err(Stop::unsupported("an address in no scalar register")),
    };
    for lane in wave.lanes() {
        let place = place(wave, flat, encoding, base, lane);
        if to_lds {
            load_to_group(memories, wave, transfer, place, i64::from(flat.offset))?;
        } else {
            transfer::access(memories, wave, transfer, place, flat.data, flat.to.first().copied())?;
        }
    }
    Ok(())
}

fn place(wave: &Wave, flat: &Flat, encoding: Encoding, base: u64, lane: usize) -> Place {
    let registers = flat.address.and_then(|address| operands::registers(wave, address));
    let given = registers.map_or(0, |(first, words)| wave.lane(first, words, lane));
    let address = base.wrapping_add(given).wrapping_add_signed(i64::from(flat.offset));
    let (space, address) = match encoding {
        Encoding::Scratch => (Space::Private, address & 0xffff_ffff),
        // Only the given address decides where an offset from it is.
        Encoding::Flat => match space::flat(given) {
            (Space::Global, _) => (Space::Global, address),
            (space, _) => (space, address & 0xffff_ffff),
        },
        _ => (Space::Global, address),
    };
    Place { lane, space, address }
}

/// A load whose words go to LDS, those of the lanes side by side (CDNA 3 ISA, 9.1.9).
pub fn load_to_group(
    memories: &mut Memories<'_>,
    wave: &Wave,
    transfer: &Transfer,
    place: Place,
    offset: i64,
) -> Result {
    let lane = place.lane;
    let Transfer::Load(load) = transfer else { return Err(Stop::unsupported("a store from LDS")) };
    let mut bytes = [0; MOST];
    of_lane(lane, memories.read(wave, place, &mut bytes[..load.bytes]))?;
    let word = load.widened([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let to = u64::from(wave.m0() & 0xffff).wrapping_add_signed(offset).wrapping_add(4 * lane as u64);
    let to = Place { lane, space: Space::Group, address: to };
    of_lane(lane, memories.write(wave, to, &word.to_le_bytes()))
}
