//! Which lane gets what from which other lane.

use gangway_gcn::instruction::{Dpp, Exchange};

use crate::wave::{LANES, Lanes};

/// The lane that a lane reads from, if there is one (Vega ISA, 6.2.4).
pub fn exchanged(exchange: Exchange, lane: usize) -> Option<usize> {
    let (row, place) = (lane & !15, lane & 15);
    let in_row = |place: usize| (place < 16).then_some(row + place);
    match exchange {
        Exchange::Quad(lanes) => Some(lane & !3 | usize::from(lanes >> (2 * (lane & 3)) & 3)),
        Exchange::RowShiftLeft(by) => in_row(place + usize::from(by)),
        Exchange::RowShiftRight(by) => place.checked_sub(usize::from(by)).and_then(in_row),
        Exchange::RowRotateRight(by) => in_row((place + 16 - usize::from(by)) & 15),
        Exchange::WaveShiftLeft => Some(lane + 1).filter(|from| *from < LANES),
        Exchange::WaveRotateLeft => Some((lane + 1) % LANES),
        Exchange::WaveShiftRight => lane.checked_sub(1),
        Exchange::WaveRotateRight => Some((lane + LANES - 1) % LANES),
        Exchange::RowMirror => Some(row + 15 - place),
        Exchange::RowHalfMirror => Some(lane & !7 | (7 - (lane & 7))),
        Exchange::Broadcast15 => row.checked_sub(1),
        Exchange::Broadcast31 => (lane >= 32).then_some(31),
        Exchange::RowBroadcast(from) => Some(row + usize::from(from)),
    }
}

/// What the lanes get by an exchange, and which of them are written.
pub fn gather(dpp: &Dpp, exec: u64, value: impl Fn(usize) -> u64) -> ([u64; LANES], u64) {
    let mut values = [0; LANES];
    let mut written = 0;
    for lane in Lanes(exec) {
        let enabled = dpp.rows >> (lane / 16) & dpp.banks >> (lane % 16 / 4) & 1 != 0;
        let from = exchanged(dpp.exchange, lane).filter(|from| exec >> from & 1 != 0);
        if !enabled || from.is_none() && !dpp.bound {
            continue;
        }
        values[lane] = from.map_or(0, &value);
        written |= 1 << lane;
    }
    (values, written)
}

/// The lane that `ds_swizzle_b32` reads from: of four lanes, or of 32 (Vega ISA, 10.3.1).
pub fn swizzled(pattern: u16, lane: usize) -> Option<usize> {
    let number = lane & 31;
    let from = match pattern {
        0xe000.. => return None,
        0xc000.. => {
            // A rotation: the bits of the mask stay, the others move on.
            let (left, by, mask) =
                (pattern >> 10 & 1 == 0, usize::from(pattern >> 5 & 31), usize::from(pattern & 31));
            let moved = if left { number + by } else { number + 32 - by };
            number & mask | moved & !mask & 31
        }
        0x8000.. => number & !3 | usize::from(pattern >> (2 * (number & 3)) & 3),
        _ => {
            let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
            (number & usize::from(and) | usize::from(or)) ^ usize::from(xor)
        }
    };
    Some(lane & !31 | from)
}
