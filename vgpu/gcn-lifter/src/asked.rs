//! Which bits of values something depends on.
//!
//! Code keeps counters within 16 bits where it only needs the lowest ones, and cuts them off in each turn. What cuts off
//! bits that nothing depends on is no operation, and the counter has steps that the engine sees.

use crate::node::{End, Function, Op, Type, Value};

const WORD: u64 = 0xffff_ffff;

/// Takes out what only clears bits that nothing depends on.
pub fn run(f: &mut Function) {
    let asked = bits(f);
    for value in f.blocks.iter().flat_map(|block| block.list.clone()).collect::<Vec<_>>() {
        if f.find(value) == value
            && let Some((word, kept)) = kept(f, value)
            && asked[value.index()] & !kept == 0
        {
            f.replace(value, word);
        }
    }
}

/// A word of which an operation keeps some bits, and clears the others.
fn kept(f: &Function, value: Value) -> Option<(Value, u64)> {
    let constant = |index: usize| f.as_constant(f.arg(value, index));
    match f.op(value) {
        Op::Plain("and.b32") => match (constant(0), constant(1)) {
            (None, Some(mask)) => Some((f.arg(value, 0), mask & WORD)),
            (Some(mask), None) => Some((f.arg(value, 1), mask & WORD)),
            _ => None,
        },
        Op::Plain("bfe.u32") => match (constant(1), constant(2)) {
            (Some(0), Some(bits @ 1..32)) => Some((f.arg(value, 0), (1 << bits) - 1)),
            _ => None,
        },
        _ => None,
    }
}

/// The bits of all values that effects and branches depend on.
fn bits(f: &Function) -> Vec<u64> {
    let mut asked = vec![0; f.nodes.len()];
    let mut work: Vec<(Value, u64)> = Vec::new();
    for block in &f.blocks {
        work.extend(
            block.list.iter().filter(|value| f.op(**value).has_effect()).map(|value| (*value, u64::MAX)),
        );
        if let End::Branch(bit, ..) = block.end {
            work.push((bit, u64::MAX));
        }
    }
    while let Some((value, of)) = work.pop() {
        let value = f.find(value);
        let of = if f.ty(value) == Type::Word { of & WORD } else { of };
        let before = asked[value.index()];
        // Also of what has no bits, once.
        let now = before | if of == 0 { 1 << 63 } else { of };
        if now != before {
            asked[value.index()] = now;
            pass(f, value, now, &mut work);
        }
    }
    asked
}

/// What a value's arguments are asked for.
fn pass(f: &Function, value: Value, asked: u64, work: &mut Vec<(Value, u64)>) {
    let args = f.nodes[value.index()].args.iter().copied();
    // A bit of a sum depends on those below it.
    let below = asked.checked_ilog2().map_or(0, |bit| u64::MAX >> (63 - bit));
    if let Some((word, kept)) = kept(f, value) {
        work.push((word, asked & kept));
        return;
    }
    match (f.op(value), by_constant(f, value)) {
        (Op::Phi | Op::Low | Op::Plain("and.b32" | "or.b32" | "xor.b32" | "cvt.u64.u32"), _) => {
            work.extend(args.map(|arg| (arg, asked)));
        }
        (Op::Plain("add.u32" | "sub.u32" | "mul.lo.u32" | "add.s64"), _) => {
            work.extend(args.map(|arg| (arg, below)));
        }
        (Op::Select, _) => {
            work.push((f.arg(value, 0), u64::MAX));
            work.extend(args.skip(1).map(|arg| (arg, asked)));
        }
        (Op::Pack, _) => {
            work.extend([(f.arg(value, 0), asked & WORD), (f.arg(value, 1), asked >> 32)]);
        }
        (Op::Plain("shl.b32"), Some(by)) => work.push((f.arg(value, 0), asked >> by)),
        (Op::Plain("shr.u32"), Some(by)) => work.push((f.arg(value, 0), asked << by)),
        _ => work.extend(args.map(|arg| (arg, u64::MAX))),
    }
}

/// By how many bits a shift shifts, if that is a constant.
fn by_constant(f: &Function, value: Value) -> Option<u64> {
    let Op::Plain("shl.b32" | "shr.u32") = f.op(value) else { return None };
    f.as_constant(f.arg(value, 1)).filter(|by| *by < 32)
}
