//! Atomic operations: those of the host, lane after lane.
//!
//! What is in the shared memory of a block only one thread of the host ever touches, so there an
//! atomic operation is a load and a store.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use gangway_interpreter::{Kind, combine};
use gangway_ptx::{Op, Opcode, Type, Word};

use super::access::{Access, each_lane, place};
use super::pointers::pointers;
use super::{SPIN, fault, lanes, narrow, narrow_mut, run, value};
use crate::abi::Warp;

const ORDER: Ordering = Ordering::SeqCst;

/// Does an atomic operation for the lanes of `mask`: `addresses`, operands in `values`, what was there before in
/// `results[0]`.
pub(super) unsafe extern "C" fn atomic(warp: *mut Warp, mask: u64, access: u64, opcode: u64) {
    // SAFETY: compiled code passes its warp; places are aligned and in memory that may be written.
    unsafe {
        run(warp, |warp| {
            let module = warp.host().module();
            let opcode = &module.opcodes[opcode as usize];
            let (mask, access) = (mask as u32, Access::from_bits(access));
            if opcode.first_of(&[Word::Exch, Word::Cas]).is_some() {
                warp.fuel -= SPIN;
            }
            if let Some(pointers) = pointers(warp, mask, access)
                && all(warp, mask, opcode, &pointers.each, pointers.shared)
            {
                return;
            }
            let wide = access.size == 8;
            for lane in lanes(mask) {
                let to = match place(warp, lane, access, warp.addresses[lane], true) {
                    Ok(to) => to,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                let b = value(&warp.values[0], wide, lane);
                let c = value(&warp.values[1], wide, lane);
                let Some(old) = one(to, access.size, opcode, b, c) else {
                    fault(warp, 1 << lane, Kind::Unsupported(opcode.to_string()))
                };
                if wide {
                    warp.results[0][lane] = old;
                } else {
                    narrow_mut(&mut warp.results[0])[lane] = old as u32;
                }
            }
        });
    }
}

/// The operations that have a fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    AddFloat,
    Exchange,
    And,
    Or,
    Xor,
    Minimum,
    Maximum,
    CompareExchange,
}

impl Operation {
    fn of(opcode: &Opcode) -> Option<Operation> {
        use Word::*;
        let float = opcode.ty(0)?.is_float();
        Some(match opcode.first_of(&[Exch, Cas, Add, And, Or, Xor, Min, Max, Inc, Dec])? {
            Add if float => Operation::AddFloat,
            Add => Operation::Add,
            Exch => Operation::Exchange,
            And => Operation::And,
            Or => Operation::Or,
            Xor => Operation::Xor,
            Min => Operation::Minimum,
            Max => Operation::Maximum,
            Cas => Operation::CompareExchange,
            _ => return None,
        })
    }
}

/// Does all lanes' operations where there is a fast path; whether there is.
///
/// # Safety
///
/// The pointers of the lanes of `mask` are aligned, and may be written.
unsafe fn all(warp: &mut Warp, mask: u32, opcode: &Opcode, each: &[*mut u8; 32], shared: bool) -> bool {
    let (Some(operation), Some(ty)) = (Operation::of(opcode), opcode.ty(0)) else { return false };
    let signed = ty.is_signed();
    let (first, rest) = warp.values.split_at_mut(1);
    let results = &mut warp.results[0];
    // SAFETY: as the caller says.
    unsafe {
        match (ty.size(), operation) {
            (4, operation) if shared && ty != Type::F16x2 && ty != Type::Bf16x2 => {
                let (b, c, old) = (narrow(&first[0]), narrow(&rest[0]), narrow_mut(results));
                let Some(compute) = plain32(operation, signed) else { return false };
                let keeps = opcode.op == Op::Atom;
                each_lane(mask, |lane| {
                    let at = each[lane].cast::<u32>();
                    let before = at.read_volatile();
                    at.write_volatile(compute(before, b[lane], c[lane]));
                    if keeps {
                        old[lane] = before;
                    }
                });
            }
            (4, operation) if operation != Operation::AddFloat => {
                let (b, c, old) = (narrow(&first[0]), narrow(&rest[0]), narrow_mut(results));
                each_lane(mask, |lane| {
                    let at = AtomicU32::from_ptr(each[lane].cast());
                    old[lane] = on32(at, operation, signed, b[lane], c[lane]);
                });
            }
            (8, operation) if operation != Operation::AddFloat => {
                let (b, c) = (&first[0], &rest[0]);
                each_lane(mask, |lane| {
                    let at = AtomicU64::from_ptr(each[lane].cast());
                    results[lane] = on64(at, operation, signed, b[lane], c[lane]);
                });
            }
            _ if ty == Type::F32 => {
                let (b, old) = (narrow(&first[0]), narrow_mut(results));
                each_lane(mask, |lane| {
                    let at = AtomicU32::from_ptr(each[lane].cast());
                    let new = |old| Some(add32(old, b[lane]));
                    old[lane] = at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old);
                });
            }
            _ if ty == Type::F64 => {
                let b = &first[0];
                each_lane(mask, |lane| {
                    let at = AtomicU64::from_ptr(each[lane].cast());
                    let new = |old| add64(old, b[lane]).or_else(|| combine(opcode, old, b[lane], 0));
                    results[lane] = at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old);
                });
            }
            _ => return false,
        }
    }
    true
}

fn add32(a: u32, b: u32) -> u32 {
    let sum = f32::from_bits(a) + f32::from_bits(b);
    if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() }
}

/// None for NaNs, whose payloads are the interpreter's business.
fn add64(a: u64, b: u64) -> Option<u64> {
    let sum = f64::from_bits(a) + f64::from_bits(b);
    (!sum.is_nan()).then(|| sum.to_bits())
}

/// What an operation makes of 32 bits where nobody else can come between.
fn plain32(operation: Operation, signed: bool) -> Option<fn(u32, u32, u32) -> u32> {
    Some(match (operation, signed) {
        (Operation::Add, _) => |old, b, _| old.wrapping_add(b),
        (Operation::AddFloat, _) => |old, b, _| add32(old, b),
        (Operation::Exchange, _) => |_, b, _| b,
        (Operation::And, _) => |old, b, _| old & b,
        (Operation::Or, _) => |old, b, _| old | b,
        (Operation::Xor, _) => |old, b, _| old ^ b,
        (Operation::Minimum, true) => |old, b, _| (old as i32).min(b as i32) as u32,
        (Operation::Minimum, false) => |old, b, _| old.min(b),
        (Operation::Maximum, true) => |old, b, _| (old as i32).max(b as i32) as u32,
        (Operation::Maximum, false) => |old, b, _| old.max(b),
        (Operation::CompareExchange, _) => |old, b, c| if old == b { c } else { old },
    })
}

#[inline(always)]
fn on32(at: &AtomicU32, operation: Operation, signed: bool, b: u32, c: u32) -> u32 {
    match operation {
        Operation::Add | Operation::AddFloat => at.fetch_add(b, ORDER),
        Operation::Exchange => at.swap(b, ORDER),
        Operation::And => at.fetch_and(b, ORDER),
        Operation::Or => at.fetch_or(b, ORDER),
        Operation::Xor => at.fetch_xor(b, ORDER),
        Operation::Minimum if signed => {
            let new = |old: u32| Some((old as i32).min(b as i32) as u32);
            at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old)
        }
        Operation::Maximum if signed => {
            let new = |old: u32| Some((old as i32).max(b as i32) as u32);
            at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old)
        }
        Operation::Minimum => at.fetch_min(b, ORDER),
        Operation::Maximum => at.fetch_max(b, ORDER),
        Operation::CompareExchange => at.compare_exchange(b, c, ORDER, ORDER).unwrap_or_else(|old| old),
    }
}

#[inline(always)]
fn on64(at: &AtomicU64, operation: Operation, signed: bool, b: u64, c: u64) -> u64 {
    match operation {
        Operation::Add | Operation::AddFloat => at.fetch_add(b, ORDER),
        Operation::Exchange => at.swap(b, ORDER),
        Operation::And => at.fetch_and(b, ORDER),
        Operation::Or => at.fetch_or(b, ORDER),
        Operation::Xor => at.fetch_xor(b, ORDER),
        Operation::Minimum if signed => {
            let new = |old: u64| Some((old as i64).min(b as i64) as u64);
            at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old)
        }
        Operation::Maximum if signed => {
            let new = |old: u64| Some((old as i64).max(b as i64) as u64);
            at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old)
        }
        Operation::Minimum => at.fetch_min(b, ORDER),
        Operation::Maximum => at.fetch_max(b, ORDER),
        Operation::CompareExchange => at.compare_exchange(b, c, ORDER, ORDER).unwrap_or_else(|old| old),
    }
}

/// One operation, whatever it is: tried until nobody has come between.
///
/// # Safety
///
/// The pointer is aligned to the size, and may be written.
unsafe fn one(to: *mut u8, size: u8, opcode: &Opcode, b: u64, c: u64) -> Option<u64> {
    // SAFETY: as the caller says.
    unsafe {
        match size {
            2 => {
                let new = |old: u16| combine(opcode, old.into(), b, c).map(|new| new as u16);
                AtomicU16::from_ptr(to.cast()).fetch_update(ORDER, ORDER, new).ok().map(u64::from)
            }
            4 => {
                let new = |old: u32| combine(opcode, old.into(), b, c).map(|new| new as u32);
                AtomicU32::from_ptr(to.cast()).fetch_update(ORDER, ORDER, new).ok().map(u64::from)
            }
            _ => {
                let new = |old: u64| combine(opcode, old, b, c);
                AtomicU64::from_ptr(to.cast()).fetch_update(ORDER, ORDER, new).ok()
            }
        }
    }
}
