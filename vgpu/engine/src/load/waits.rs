//! In which functions lanes may wait for other lanes of their warp.
//!
//! Lanes that have called such a function may need that others go on meanwhile: behind the call, in
//! front of it, or in another function. Only for these functions the engine keeps what that takes.

use gangway_ptx::meaning::{Barrier, Control, Exchange};
use gangway_ptx::{Body, FunctionId, Meaning, Module, Operand};

/// It has a barrier, a collective instruction, or a call of nobody knows what.
const WAITS: u8 = 1;
/// It reads what another lane may be waited for with.
const LOOKS: u8 = 2;
/// It has a loop.
const LOOPS: u8 = 4;

/// For each function, whether lanes may wait in it or in what it calls. A loop waits if it looks at
/// memory in the way that programs do to find out what others have done.
#[must_use]
pub(crate) fn waits(module: &Module) -> Vec<bool> {
    let count = module.functions.len();
    let mut does = vec![0u8; count];
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); count];
    for ((function, does), number) in module.functions.iter().zip(&mut does).zip(0u32..) {
        if let Some(body) = &function.body {
            *does = scan(module, body, |callee| callers[callee as usize].push(number));
        }
    }
    for alias in &module.aliases {
        callers[alias.target.index()].push(alias.alias.0);
    }
    let mut changed: Vec<u32> = (0..count as u32).filter(|&index| does[index as usize] != 0).collect();
    while let Some(index) = changed.pop() {
        let own = does[index as usize];
        for &caller in &callers[index as usize] {
            let known = &mut does[caller as usize];
            if *known | own != *known {
                *known |= own;
                changed.push(caller);
            }
        }
    }
    does.into_iter().map(|does| does & WAITS != 0 || does & (LOOKS | LOOPS) == LOOKS | LOOPS).collect()
}

/// What a body does by itself.
fn scan(module: &Module, body: &Body, mut calls: impl FnMut(u32)) -> u8 {
    let mut does = 0;
    for (block, number) in body.blocks.iter().zip(0usize..) {
        // Blocks are in the order of the source.
        let back = |operand: &Operand| match *operand {
            Operand::Block(to) => to.index() <= number,
            Operand::Targets(id) => body.targets[id.index()].blocks.iter().any(|to| to.index() <= number),
            _ => false,
        };
        let range = block.instructions.start as usize..block.instructions.end as usize;
        for instruction in &body.instructions[range] {
            let operands = body.operands(instruction);
            match module.opcode(instruction).meaning {
                Meaning::Barrier(Barrier::Wait | Barrier::Reduce(_))
                | Meaning::Exchange(Exchange { sync: true, .. })
                | Meaning::Matrix(_) => does |= WAITS,
                Meaning::Control(Control::Call) => match operands.get(1) {
                    Some(&Operand::Function(FunctionId(callee))) => calls(callee),
                    _ => does |= WAITS,
                },
                Meaning::Control(Control::Branch | Control::BranchIndexed) if operands.iter().any(back) => {
                    does |= LOOPS;
                }
                Meaning::Atomic(atomic) if atomic.returns => does |= LOOKS,
                Meaning::Load(access) if access.strong => does |= LOOKS,
                _ => {}
            }
        }
    }
    does
}

#[cfg(test)]
mod tests {
    use super::waits;

    fn judge(text: &str) -> Vec<bool> {
        let head = ".version 8.0 .target sm_90 .address_size 64 .func leaf { ret; } .func f { .reg .pred p; \
                    .reg .b64 a; .reg .b32 r; setp.eq.u32 p, 0, 0; ";
        let module = gangway_ptx::parse(&format!("{head} {text} ret; }} .entry k() {{ call f; ret; }}"));
        waits(&module.expect("PTX"))
    }

    #[test]
    fn those_that_meet_or_look_in_a_loop() {
        for text in [
            "bar.sync 0;",
            "bar.warp.sync 1;",
            "vote.sync.any.pred p, p, 1;",
            "movmatrix.sync.aligned.m8n8.trans.b16 r, r;",
            "t: .callprototype _; call a, t;",
            "top: atom.global.cas.b32 r, [a], 0, 1; @p bra top;",
            "top: ld.volatile.global.u32 r, [a]; @p bra top;",
            "top: ld.relaxed.gpu.global.u32 r, [a]; call leaf; @p bra top;",
        ] {
            assert_eq!(judge(text), [false, true, true], "{text}");
        }
    }

    #[test]
    fn those_that_only_compute() {
        for text in [
            "bar.arrive 0, 64;",
            "top: ld.global.u32 r, [a]; @p bra top;",
            "top: call leaf; @p bra top;",
            "atom.global.cas.b32 r, [a], 0, 1; @p bra end; end:",
            "top: red.global.add.u32 [a], 1; @p bra top;",
        ] {
            assert_eq!(judge(text), [false, false, false], "{text}");
        }
    }
}
