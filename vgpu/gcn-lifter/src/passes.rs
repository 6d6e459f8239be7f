//! From all that was written to what is needed.

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use crate::node::{Access, End, Function, Op, Space, Type, Value};
use crate::simplify::is_whole;
use crate::state::VECTOR;
use crate::{asked, nan};

/// Words that a kernel finds among its arguments.
#[derive(Clone, Copy)]
pub struct Given {
    /// The register that begins with the arguments' address.
    pub register: u32,
    pub offset: u32,
    pub word: u32,
}

pub fn run(f: &mut Function, given: Option<Given>) {
    for round in 0..4 {
        trivial(f);
        redundant(f);
        f.rebuild();
        if let Some(given) = given {
            loaded(f, given);
        }
        kept(f);
        pairs(f, round == 3);
    }
    trivial(f);
    redundant(f);
    asked::run(f);
    for _ in 0..2 {
        f.rebuild();
        f.lanes = lanes(f);
    }
    f.rebuild();
    trivial(f);
    f.lanes = lanes(f);
    dead(f);
    constants_last(f);
    nan::run(f);
}

/// Constants come last where the order is no matter: the engine looks for divisors, factors and masks there.
fn constants_last(f: &mut Function) {
    for block in 0..f.blocks.len() {
        for at in 0..f.blocks[block].list.len() {
            let value = f.blocks[block].list[at];
            let Op::Plain(
                "add.u32" | "add.s64" | "and.b32" | "and.b64" | "or.b32" | "or.b64" | "xor.b32" | "xor.b64"
                | "mul.lo.u32" | "mul.hi.u32" | "mul.hi.s32",
            ) = f.op(value)
            else {
                continue;
            };
            let is_constant = |index: usize| f.as_constant(f.arg(value, index)).is_some();
            if is_constant(0) && !is_constant(1) {
                f.nodes[value.index()].args.swap(0, 1);
            }
        }
    }
}

/// A word among the arguments that is known is no load.
fn loaded(f: &mut Function, given: Given) {
    for block in 0..f.blocks.len() {
        let mut at = 0;
        while at < f.blocks[block].list.len() {
            let load = f.blocks[block].list[at];
            at += 1;
            let Op::Load(access @ Access { space: Space::Global, bits: 32 | 64, strong: false, .. }) =
                f.op(load)
            else {
                continue;
            };
            let Some(place) = argument(f, f.arg(load, 0), given.register) else { continue };
            let place = place + i64::from(access.offset);
            let wanted = i64::from(given.offset);
            let word = f.word(given.word);
            let is_low = place == wanted;
            if access.bits == 32 && is_low {
                f.replace(load, word);
            } else if access.bits == 64 && (is_low || place + 4 == wanted) {
                // The other word is loaded, in the same place.
                let offset = access.offset + if is_low { 4 } else { 0 };
                let args = f.nodes[load.index()].args.clone();
                (f.block, f.at) = (block, f.nodes[load.index()].at);
                let other = f.make(Op::Load(Access { bits: 32, offset, ..access }), &args, Type::Word);
                let (low, high) = if is_low { (word, other) } else { (other, word) };
                let before = f.blocks[block].list.len();
                let both = f.pack(low, high);
                let made: Vec<Value> = f.blocks[block].list.drain(before - 1..).collect();
                f.blocks[block].list.splice(at - 1..at - 1, made.iter().copied());
                at += made.len();
                f.replace(load, both);
            }
        }
    }
}

/// Where among the arguments an address is.
fn argument(f: &Function, mut address: Value, register: u32) -> Option<i64> {
    let mut offset = 0i64;
    for _ in 0..8 {
        let (first, second) = match f.op(address) {
            Op::Pack => {
                let is = |index: usize, number: u32| f.op(f.arg(address, index)) == Op::Parameter(number);
                return (is(0, register) && is(1, register + 1)).then_some(offset);
            }
            Op::Plain("add.s64") => (f.arg(address, 0), f.arg(address, 1)),
            _ => return None,
        };
        let (constant, rest) = match (f.as_constant(first), f.as_constant(second)) {
            (Some(constant), _) => (constant, second),
            (_, Some(constant)) => (constant, first),
            _ => return None,
        };
        offset = offset.wrapping_add(constant.cast_signed());
        address = rest;
    }
    None
}

/// Phis that are one value.
fn trivial(f: &mut Function) {
    let mut changed = true;
    while changed {
        changed = false;
        for block in 0..f.blocks.len() {
            for phi in std::mem::take(&mut f.blocks[block].phis) {
                if f.find(phi) != phi {
                    continue;
                }
                let args = f.nodes[phi.index()].args.clone();
                let mut others = args.iter().map(|arg| f.find(*arg)).filter(|arg| *arg != phi);
                let first = others.next();
                match first {
                    Some(first) if others.all(|arg| arg == first) => {
                        f.replace(phi, first);
                        changed = true;
                    }
                    _ => f.blocks[block].phis.push(phi),
                }
            }
        }
    }
}

/// Phis that are one value together: such that only lead to each other and to that (Braun and others, "Simple and
/// Efficient Construction of Static Single Assignment Form", 3.2).
fn redundant(f: &mut Function) {
    let phis: Vec<Value> = f
        .blocks
        .iter()
        .flat_map(|block| block.phis.iter().copied())
        .filter(|phi| f.find(*phi) == *phi)
        .collect();
    let mut work = vec![phis];
    while let Some(phis) = work.pop() {
        // Those that others depend on come first.
        for group in components(f, &phis) {
            let inside: HashSet<Value> = group.iter().copied().collect();
            let (mut outer, mut inner) = (HashSet::new(), Vec::new());
            for phi in &group {
                let args = f.nodes[phi.index()].args.iter().map(|arg| f.find(*arg));
                let others: Vec<Value> = args.filter(|arg| !inside.contains(arg)).collect();
                if others.is_empty() {
                    inner.push(*phi);
                }
                outer.extend(others);
            }
            match outer.len() {
                0 => {}
                1 => {
                    for other in outer {
                        group.iter().for_each(|phi| f.replace(*phi, other));
                    }
                }
                _ if inner.len() > 1 => work.push(inner),
                _ => {}
            }
        }
    }
    for block in 0..f.blocks.len() {
        let mut phis = std::mem::take(&mut f.blocks[block].phis);
        phis.retain(|phi| f.find(*phi) == *phi);
        f.blocks[block].phis = phis;
    }
}

/// Phis that depend on each other, behind those that they depend on (Tarjan's algorithm).
fn components(f: &Function, phis: &[Value]) -> Vec<Vec<Value>> {
    let mut numbers: FxHashMap<Value, usize> = phis.iter().map(|phi| (*phi, usize::MAX)).collect();
    let mut lowest: FxHashMap<Value, usize> = FxHashMap::default();
    let (mut stack, mut standing, mut found, mut count) = (Vec::new(), HashSet::new(), Vec::new(), 0);
    for start in phis {
        let mut work = vec![(*start, 0)];
        while let Some((phi, next)) = work.pop() {
            if next == 0 {
                if numbers[&phi] != usize::MAX {
                    continue;
                }
                numbers.insert(phi, count);
                lowest.insert(phi, count);
                count += 1;
                stack.push(phi);
                standing.insert(phi);
            } else {
                // Back from an argument.
                let arg = f.arg(phi, next - 1);
                if standing.contains(&arg) {
                    let low = lowest[&phi].min(lowest[&arg]);
                    lowest.insert(phi, low);
                }
            }
            if next < f.nodes[phi.index()].args.len() {
                work.push((phi, next + 1));
                let arg = f.arg(phi, next);
                if numbers.get(&arg) == Some(&usize::MAX) {
                    work.push((arg, 0));
                }
            } else if lowest[&phi] == numbers[&phi] {
                let mut group = Vec::new();
                while let Some(last) = stack.pop() {
                    standing.remove(&last);
                    group.push(last);
                    if last == phi {
                        break;
                    }
                }
                found.push(group);
            }
        }
    }
    found
}

/// One lane of a phi that all lanes get is a phi of that lane: so scalar registers are kept in lanes
/// of vector registers.
fn kept(f: &mut Function) {
    let mut homes = FxHashMap::default();
    for (number, block) in f.blocks.iter().enumerate() {
        homes.extend(block.phis.iter().map(|phi| (*phi, number)));
    }
    let mut made: FxHashMap<(Value, u64), Value> = FxHashMap::default();
    let mut work: Vec<Value> = f.blocks.iter().flat_map(|block| block.list.clone()).collect();
    while let Some(read) = work.pop() {
        if f.find(read) != read || f.op(read) != Op::ReadLane {
            continue;
        }
        let (phi, lane) = (f.arg(read, 0), f.arg(read, 1));
        let (Some(number), Op::Phi) = (f.as_constant(lane), f.op(phi)) else { continue };
        let Some(&block) = homes.get(&phi) else { continue };
        if let Some(found) = made.get(&(phi, number)) {
            f.replace(read, *found);
            continue;
        }
        let one = f.phi(block, Type::Word);
        made.insert((phi, number), one);
        f.replace(read, one);
        let (before, from) = (f.blocks[block].before.clone(), f.nodes[phi.index()].args.clone());
        let mut args = Vec::new();
        for (before, from) in before.into_iter().zip(from) {
            f.block = before;
            let from = f.find(from);
            let value = f.make(Op::ReadLane, &[from, lane], Type::Word);
            args.push(value);
            work.push(value);
        }
        f.nodes[one.index()].args = args;
    }
}

/// Two phis that are the halves of one value everywhere become a phi of that. Unless it is the `last`
/// time, they have to be known to be halves on one way: sums may have mixed up those of two others.
fn pairs(f: &mut Function, last: bool) {
    let mut homes = FxHashMap::default();
    for (number, block) in f.blocks.iter().enumerate() {
        homes.extend(block.phis.iter().map(|phi| (*phi, number)));
    }
    let packs: Vec<Value> = f.blocks.iter().flat_map(|block| block.list.clone()).collect();
    for pack in packs {
        if f.find(pack) != pack || f.op(pack) != Op::Pack {
            continue;
        }
        let (low, high) = (f.arg(pack, 0), f.arg(pack, 1));
        let (Some(&block), Some(&other)) = (homes.get(&low), homes.get(&high)) else { continue };
        if block != other || f.op(low) != Op::Phi || f.op(high) != Op::Phi || low == high {
            continue;
        }
        let (lows, highs) = (f.nodes[low.index()].args.clone(), f.nodes[high.index()].args.clone());
        if !last && !lows.iter().zip(&highs).any(|(low, high)| is_whole(f, *low, *high)) {
            continue;
        }
        let wide = f.phi(block, Type::Wide);
        let before = f.blocks[block].before.clone();
        let mut args = Vec::new();
        for (index, before) in before.into_iter().enumerate() {
            f.block = before;
            args.push(f.pack(lows[index], highs[index]));
        }
        f.nodes[wide.index()].args = args;
        f.block = block;
        let (first, second) = (f.low(wide), f.high(wide));
        let list = &mut f.blocks[block].list;
        list.retain(|value| *value != first && *value != second);
        list.splice(0..0, [first, second]);
        f.replace(low, first);
        f.replace(high, second);
        f.blocks[block].phis.retain(|phi| *phi != low && *phi != high);
    }
}

/// Which values differ from lane to lane.
fn lanes(f: &Function) -> Vec<bool> {
    let mut lanes = vec![false; f.nodes.len()];
    let all: Vec<Value> = f
        .blocks
        .iter()
        .flat_map(|block| block.phis.iter().chain(&block.list).copied())
        .filter(|value| f.find(*value) == *value)
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for value in &all {
            let node = &f.nodes[value.index()];
            let differs = match node.op {
                Op::Lane | Op::Below(_) | Op::MaskBelow(_) | Op::LaneBit | Op::Update(..) => true,
                // At one address each lane has its own private memory.
                Op::Load(Access { space: Space::Private | Space::Flat, .. })
                | Op::Store(Access { space: Space::Private | Space::Flat, .. }) => true,
                Op::Entry(register) | Op::Result(register) => register >= VECTOR,
                Op::Ballot | Op::ReadLane | Op::Call(_) | Op::Return => false,
                _ => node.args.iter().any(|arg| lanes[f.find(*arg).index()]),
            };
            if differs && !lanes[value.index()] {
                lanes[value.index()] = true;
                changed = true;
            }
        }
    }
    lanes
}

/// Removes what nothing needs.
pub fn dead(f: &mut Function) {
    let mut needed = vec![false; f.nodes.len()];
    let mut work: Vec<Value> = Vec::new();
    for block in &f.blocks {
        work.extend(block.list.iter().filter(|value| f.op(**value).has_effect()));
        if let End::Branch(bit, ..) = block.end {
            work.push(bit);
        }
    }
    while let Some(value) = work.pop() {
        let value = f.find(value);
        if !std::mem::replace(&mut needed[value.index()], true) {
            work.extend(&f.nodes[value.index()].args);
        }
    }
    for block in &mut f.blocks {
        block.list.retain(|value| needed[value.index()]);
        block.phis.retain(|value| needed[value.index()]);
    }
}
