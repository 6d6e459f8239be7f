//! Atomic operations: those of the host, lane after lane.
//!
//! Only one thread of the host ever touches the shared memory of a block, so an atomic operation
//! there is a load and a store.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use gangway_interpreter::{FaultKind, combine};
use gangway_ptx::Meaning;
use gangway_ptx::meaning::{Atomic, AtomicOperation, MemoryOrder};

use super::helper::{fault, run, spin};
use super::lanes::{each_lane, lanes, narrow, narrow_mut, value};
use super::operation::{OnWords, Operating, Operation};
use super::place::{Access, Space, changed_behind_end, narrow_address, place};
use super::pointers::{Pointers, Seen, pointers};
use super::watch;
use crate::abi::Warp;

const ORDER: Ordering = Ordering::SeqCst;

/// Does an atomic operation for the lanes of `mask`: `addresses`, operands in `values`, what was
/// there before in `results[0]`.
pub(super) unsafe extern "C" fn atomic(warp: *mut Warp, mask: u64, access: u64, opcode: u64) {
    // SAFETY: compiled code passes its warp; places are aligned and in memory that may be written.
    unsafe {
        run(warp, |warp| {
            let (mask, access) = (mask as u32, Access::from_bits(access));
            if count(warp, mask, access) {
                return;
            }
            let module = warp.host().module();
            let opcode = &module.opcodes[opcode as usize];
            let Meaning::Atomic(atomic) = opcode.meaning else {
                fault(warp, mask, FaultKind::Unsupported(opcode.to_string()))
            };
            if atomic.op.may_spin() {
                spin(warp);
            }
            let wide = access.size == 8;
            let MemoryOrder { acquire, release, narrow } = atomic.order;
            let access = Access { acquire, release, narrow, ..access };
            let at_once = !access.watch || watch::at_once(warp, Access { strong: true, ..access });
            if at_once
                && let Some(places) = pointers(warp, mask, access)
                && all(warp, mask, access, atomic, &places)
            {
                return;
            }
            for lane in lanes(mask) {
                let to = match place(warp, lane, access, warp.addresses[lane], true) {
                    Ok(to) => to,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                let _turn = watch::exchanges(warp, 1 << lane, access, watch::at(to));
                let b = value(&warp.values[0], wide, lane);
                let c = value(&warp.values[1], wide, lane);
                if access.check
                    && matches!(atomic.op, AtomicOperation::CompareAndSwap)
                    && let Some(address) = changed_behind_end(to as u64, access.bytes(), b ^ c)
                {
                    fault(warp, 1 << lane, FaultKind::OutOfBounds { address, size: 1, write: true });
                }
                let old = one(to, atomic, b, c);
                if wide {
                    warp.results[0][lane] = old;
                } else {
                    narrow_mut(&mut warp.results[0])[lane] = old as u32;
                }
            }
        });
    }
}

/// Additions of integers in shared memory, which need no places first; whether that is what it was.
///
/// # Safety
///
/// The block's shared memory is where the warp says.
unsafe fn count(warp: &mut Warp, mask: u32, access: Access) -> bool {
    let adds = access.operation.is_some_and(|operation| operation.kind == Operating::Words(OnWords::Add));
    if !adds || access.size != 4 || access.space != Space::Shared || access.watch {
        return false;
    }
    let Some(last) = warp.shared_size.checked_sub(4) else { return false };
    let addresses = warp.addresses.map(narrow_address);
    let mut seen = Seen::default();
    each_lane(mask, |lane| seen.add(addresses[lane], 0, last));
    let wrong = seen.wrong(4);
    if wrong {
        return false;
    }
    let (b, old) = (narrow(&warp.values[0]), narrow_mut(&mut warp.results[0]));
    let shared = warp.shared;
    each_lane(mask, |lane| {
        // SAFETY: all addresses are within the memory and aligned.
        unsafe {
            let at = shared.add(addresses[lane] as usize).cast::<u32>();
            let before = at.read_volatile();
            at.write_volatile(before.wrapping_add(b[lane]));
            old[lane] = before;
        }
    });
    true
}

/// Does all lanes' operations where there is a fast path; whether there is.
///
/// # Safety
///
/// The pointers of the lanes of `mask` are aligned, and may be written.
unsafe fn all(
    warp: &mut Warp,
    mask: u32,
    access: Access,
    atomic: Atomic,
    Pointers { each, shared }: &Pointers,
) -> bool {
    let Some(Operation { kind, signed, keeps }) = access.operation else { return false };
    if !matches!(access.size, 4 | 8) {
        return false;
    }
    if access.watch {
        drop(watch::exchanges(warp, mask, access, watch::places(mask, &each.map(|place| place as u64))));
    }
    let (first, rest) = warp.values.split_at_mut(1);
    let results = &mut warp.results[0];
    // SAFETY: as the caller says.
    unsafe {
        match (access.size, kind) {
            (4, kind) if *shared => {
                let (b, c, old) = (narrow(&first[0]), narrow(&rest[0]), narrow_mut(results));
                let compute = plain32(kind, signed);
                each_lane(mask, |lane| {
                    let at = each[lane].cast::<u32>();
                    let before = at.read_volatile();
                    at.write_volatile(compute(before, b[lane], c[lane]));
                    if keeps {
                        old[lane] = before;
                    }
                });
            }
            (4, Operating::AddFloat) => {
                let (b, old) = (narrow(&first[0]), narrow_mut(results));
                each_lane(mask, |lane| {
                    let at = AtomicU32::from_ptr(each[lane].cast());
                    let new = |old| Some(add32(old, b[lane]));
                    old[lane] = at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old);
                });
            }
            (4, Operating::Words(kind)) => {
                let (b, c, old) = (narrow(&first[0]), narrow(&rest[0]), narrow_mut(results));
                each_lane(mask, |lane| {
                    let at = AtomicU32::from_ptr(each[lane].cast());
                    old[lane] = on32(at, kind, signed, b[lane], c[lane]);
                });
            }
            (8, Operating::AddFloat) => {
                let b = &first[0];
                each_lane(mask, |lane| {
                    let at = AtomicU64::from_ptr(each[lane].cast());
                    let new = |old| add64(old, b[lane]).or_else(|| Some(combine(atomic, old, b[lane], 0)));
                    results[lane] = at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old);
                });
            }
            (8, Operating::Words(kind)) => {
                let (b, c) = (&first[0], &rest[0]);
                each_lane(mask, |lane| {
                    let at = AtomicU64::from_ptr(each[lane].cast());
                    results[lane] = on64(at, kind, signed, b[lane], c[lane]);
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

/// What an operation makes of 32 bits where no other thread can come between.
fn plain32(kind: Operating, signed: bool) -> fn(u32, u32, u32) -> u32 {
    let kind = match kind {
        Operating::AddFloat => return |old, b, _| add32(old, b),
        Operating::Words(kind) => kind,
    };
    match (kind, signed) {
        (OnWords::Add, _) => |old, b, _| old.wrapping_add(b),
        (OnWords::Exchange, _) => |_, b, _| b,
        (OnWords::And, _) => |old, b, _| old & b,
        (OnWords::Or, _) => |old, b, _| old | b,
        (OnWords::Xor, _) => |old, b, _| old ^ b,
        (OnWords::Minimum, true) => |old, b, _| (old as i32).min(b as i32) as u32,
        (OnWords::Minimum, false) => |old, b, _| old.min(b),
        (OnWords::Maximum, true) => |old, b, _| (old as i32).max(b as i32) as u32,
        (OnWords::Maximum, false) => |old, b, _| old.max(b),
        (OnWords::CompareExchange, _) => |old, b, c| if old == b { c } else { old },
    }
}

/// Declares what does an operation on shared words of one size.
macro_rules! on_words {
    ($name:ident, $atomic:ty, $unsigned:ty, $signed:ty) => {
        #[inline(always)]
        fn $name(at: &$atomic, kind: OnWords, signed: bool, b: $unsigned, c: $unsigned) -> $unsigned {
            match kind {
                OnWords::Add => at.fetch_add(b, ORDER),
                OnWords::Exchange => at.swap(b, ORDER),
                OnWords::And => at.fetch_and(b, ORDER),
                OnWords::Or => at.fetch_or(b, ORDER),
                OnWords::Xor => at.fetch_xor(b, ORDER),
                OnWords::Minimum if signed => {
                    let new = |old: $unsigned| Some((old as $signed).min(b as $signed) as $unsigned);
                    at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old)
                }
                OnWords::Maximum if signed => {
                    let new = |old: $unsigned| Some((old as $signed).max(b as $signed) as $unsigned);
                    at.fetch_update(ORDER, ORDER, new).unwrap_or_else(|old| old)
                }
                OnWords::Minimum => at.fetch_min(b, ORDER),
                OnWords::Maximum => at.fetch_max(b, ORDER),
                OnWords::CompareExchange => at.compare_exchange(b, c, ORDER, ORDER).unwrap_or_else(|old| old),
            }
        }
    };
}

on_words!(on32, AtomicU32, u32, i32);
on_words!(on64, AtomicU64, u64, i64);

/// One operation, whatever it is: tried until no other thread has come between.
///
/// # Safety
///
/// The pointer is aligned to the size, and may be written.
unsafe fn one(to: *mut u8, atomic: Atomic, b: u64, c: u64) -> u64 {
    let new = |old: u64| combine(atomic, old, b, c);
    // SAFETY: as the caller says. The closures never refuse to update.
    unsafe {
        match atomic.ty.size() {
            2 => {
                let at = AtomicU16::from_ptr(to.cast());
                at.fetch_update(ORDER, ORDER, |old| Some(new(old.into()) as u16))
                    .unwrap_or_else(|old| old)
                    .into()
            }
            4 => {
                let at = AtomicU32::from_ptr(to.cast());
                at.fetch_update(ORDER, ORDER, |old| Some(new(old.into()) as u32))
                    .unwrap_or_else(|old| old)
                    .into()
            }
            _ => {
                let at = AtomicU64::from_ptr(to.cast());
                at.fetch_update(ORDER, ORDER, |old| Some(new(old))).unwrap_or_else(|old| old)
            }
        }
    }
}
