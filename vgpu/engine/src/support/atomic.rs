//! Atomic operations: those of the host, lane after lane.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use gangway_interpreter::{Kind, combine};
use gangway_ptx::{Opcode, Type, Word};

use super::access::{Access, place};
use super::{fault, lanes, narrow_mut, run, value};
use crate::abi::Warp;

/// Does an atomic operation for the lanes of `mask`: `addresses`, operands in `values`, what was there before in
/// `results[0]`.
pub(super) unsafe extern "C" fn atomic(warp: *mut Warp, mask: u64, access: u64, opcode: u64) {
    // SAFETY: compiled code passes its warp; `place` gives aligned places in memory that may be written.
    unsafe {
        run(warp, |warp| {
            let module = warp.host().module();
            let opcode = &module.opcodes[opcode as usize];
            let access = Access::from_bits(access);
            let wide = access.size == 8;
            let operation = Operation::of(opcode);
            for lane in lanes(mask as u32) {
                let to = match place(warp, lane, access, warp.addresses[lane], true) {
                    Ok(to) => to,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                let b = value(&warp.values[0], wide, lane);
                let c = value(&warp.values[1], wide, lane);
                let old = match access.size {
                    4 => operation
                        .on32(AtomicU32::from_ptr(to.cast()), opcode, b as u32, c as u32)
                        .map(u64::from),
                    8 => operation.on64(AtomicU64::from_ptr(to.cast()), opcode, b, c),
                    2 => on16(AtomicU16::from_ptr(to.cast()), opcode, b, c),
                    _ => None,
                };
                let Some(old) = old else { fault(warp, 1 << lane, Kind::Unsupported(opcode.to_string())) };
                if wide {
                    warp.results[0][lane] = old;
                } else {
                    narrow_mut(&mut warp.results[0])[lane] = old as u32;
                }
            }
        });
    }
}

/// Operations that the processor has itself; others are tried until nobody has come between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Exchange,
    And,
    Or,
    Xor,
    CompareExchange,
    Other,
}

impl Operation {
    fn of(opcode: &Opcode) -> Operation {
        use Word::*;
        let float = opcode.ty(0).is_some_and(Type::is_float);
        match opcode.first_of(&[Exch, Cas, Add, And, Or, Xor, Min, Max, Inc, Dec]) {
            Some(Add) if !float => Operation::Add,
            Some(Exch) => Operation::Exchange,
            Some(And) => Operation::And,
            Some(Or) => Operation::Or,
            Some(Xor) => Operation::Xor,
            Some(Cas) => Operation::CompareExchange,
            _ => Operation::Other,
        }
    }

    fn on32(self, at: &AtomicU32, opcode: &Opcode, b: u32, c: u32) -> Option<u32> {
        const ORDER: Ordering = Ordering::SeqCst;
        Some(match self {
            Operation::Add => at.fetch_add(b, ORDER),
            Operation::Exchange => at.swap(b, ORDER),
            Operation::And => at.fetch_and(b, ORDER),
            Operation::Or => at.fetch_or(b, ORDER),
            Operation::Xor => at.fetch_xor(b, ORDER),
            Operation::CompareExchange => at.compare_exchange(b, c, ORDER, ORDER).unwrap_or_else(|old| old),
            Operation::Other => {
                let new = |old: u32| combine(opcode, old.into(), b.into(), c.into()).map(|new| new as u32);
                return at.fetch_update(ORDER, ORDER, new).ok();
            }
        })
    }

    fn on64(self, at: &AtomicU64, opcode: &Opcode, b: u64, c: u64) -> Option<u64> {
        const ORDER: Ordering = Ordering::SeqCst;
        Some(match self {
            Operation::Add => at.fetch_add(b, ORDER),
            Operation::Exchange => at.swap(b, ORDER),
            Operation::And => at.fetch_and(b, ORDER),
            Operation::Or => at.fetch_or(b, ORDER),
            Operation::Xor => at.fetch_xor(b, ORDER),
            Operation::CompareExchange => at.compare_exchange(b, c, ORDER, ORDER).unwrap_or_else(|old| old),
            Operation::Other => return at.fetch_update(ORDER, ORDER, |old| combine(opcode, old, b, c)).ok(),
        })
    }
}

fn on16(at: &AtomicU16, opcode: &Opcode, b: u64, c: u64) -> Option<u64> {
    let new = |old: u16| combine(opcode, old.into(), b, c).map(|new| new as u16);
    at.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new).ok().map(u64::from)
}
