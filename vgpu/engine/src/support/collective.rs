//! Collective instructions of lanes that have put down what they bring: whether all have come, and
//! what each gets.

use gangway_interpreter::exchange;
use gangway_ptx::Meaning;
use gangway_ptx::meaning::{Exchange, ExchangeOperation};

use super::compute::leave_results;
use super::lanes::lanes;
use crate::abi::Warp;

/// `bar.warp.sync`
const MEET: Meaning = Meaning::Exchange(Exchange { op: ExchangeOperation::Meet, sync: true });

/// In place of a barrier's generation: the lane waits at a collective instruction.
pub(super) const MEETS: u32 = u32::MAX;
/// The same for a lane that has its results.
pub(super) const EXCHANGED: u32 = u32::MAX - 1;

/// The lanes that `lane` meets, if all of them have come.
pub(super) fn together(warp: &Warp, lane: usize) -> Option<u32> {
    let waiting = &warp.waiting;
    let (members, opcode) = (waiting.waits_for[lane], waiting.opcode[lane]);
    let all = members & !warp.exited;
    let same = |other: usize| waiting.waits_for[other] == members && waiting.opcode[other] == opcode;
    (all & !waiting.meeting == 0 && lanes(all).all(same)).then_some(all)
}

/// Does the collective instruction of lanes that have all come.
pub(super) fn exchange_all(warp: &mut Warp, all: u32) {
    // SAFETY: the warp runs.
    let module = unsafe { warp.host() }.module();
    let opcode = &module.opcodes[warp.waiting.opcode[all.trailing_zeros() as usize & 31] as usize];
    let count = opcode.expected.iter().filter(|expected| !expected.role.writes()).count().min(4);
    if let Meaning::Exchange(Exchange { op, .. }) = opcode.meaning {
        let mut results = [[0; 32]; 2];
        exchange(op, all, &warp.waiting.inputs[..count], &mut results);
        for (kept, new) in warp.waiting.results.iter_mut().zip(&results) {
            for lane in lanes(all) {
                kept[lane] = new[lane];
            }
        }
    }
    if opcode.meaning == MEET {
        // SAFETY: as above.
        unsafe { warp.host() }.note_meeting(warp, all);
    }
    for lane in lanes(all) {
        warp.waiting.generation[lane] = EXCHANGED;
    }
    warp.waiting.meeting &= !all;
}

/// Puts what lanes have got from one instruction where compiled code looks for it: in all lanes, as
/// a vote has one result.
pub(super) fn give(warp: &mut Warp, set: u32) {
    let first = set.trailing_zeros() as usize & 31;
    let mut results = warp.waiting.results;
    for result in &mut results {
        let value = result[first];
        for lane in lanes(!set) {
            result[lane] = value;
        }
    }
    // SAFETY: the warp runs.
    let module = unsafe { warp.host() }.module();
    leave_results(warp, &module.opcodes[warp.waiting.opcode[first] as usize], &results);
}
