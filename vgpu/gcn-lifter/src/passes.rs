//! From all that was written to what is needed.

use std::collections::HashMap;

use crate::node::{Access, End, Function, Op, Space, Type, Value};

pub fn run(f: &mut Function) {
    for _ in 0..3 {
        trivial(f);
        f.rebuild();
        pairs(f);
    }
    trivial(f);
    for _ in 0..2 {
        f.rebuild();
        f.lanes = lanes(f);
    }
    f.rebuild();
    trivial(f);
    f.lanes = lanes(f);
    dead(f);
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

/// Two phis that are the halves of one value everywhere become a phi of that.
fn pairs(f: &mut Function) {
    let mut homes = HashMap::new();
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
        let wide = f.phi(block, Type::Wide);
        let before = f.blocks[block].before.clone();
        let (lows, highs) = (f.nodes[low.index()].args.clone(), f.nodes[high.index()].args.clone());
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
                Op::Ballot | Op::ReadLane => false,
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
fn dead(f: &mut Function) {
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
