//! Which kernels run from their top to their end without ever yielding. All warps of a
//! block of such a kernel can share a fiber, one after the other.

use gangway_ptx::meaning::{Control, Hint};
use gangway_ptx::{Body, Meaning, Module, Operand};

/// Whether a body has no loop, no call, and nothing that waits for other threads.
pub(crate) fn is_straight(module: &Module, body: &Body) -> bool {
    body.blocks.iter().enumerate().all(|(number, block)| {
        let range = block.instructions.start as usize..block.instructions.end as usize;
        body.instructions[range].iter().all(|instruction| match module.opcode(instruction).meaning {
            Meaning::Control(Control::Branch) => match body.operands(instruction)[0] {
                // Blocks are in the order of the source.
                Operand::Block(target) => target.index() > number,
                _ => false,
            },
            Meaning::Control(Control::Call | Control::BranchIndexed)
            | Meaning::Barrier(_)
            | Meaning::Exchange(_)
            | Meaning::Matrix(_)
            | Meaning::Hint(Hint::Sleep) => false,
            Meaning::Control(Control::Return | Control::Exit | Control::Trap)
            | Meaning::Compute(_)
            | Meaning::Move { .. }
            | Meaning::ConvertAddress { .. }
            | Meaning::IsInSpace(_)
            | Meaning::Load(_)
            | Meaning::Store(_)
            | Meaning::Atomic(_)
            | Meaning::Copy(_)
            | Meaning::Stack(..)
            | Meaning::ActiveMask
            | Meaning::Fence { .. }
            | Meaning::Hint(Hint::Prefetch | Hint::Breakpoint) => true,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::is_straight;

    fn judge(text: &str) -> bool {
        let head =
            ".version 8.0 .target sm_90 .address_size 64 .func f; .entry k() { .reg .pred p; .reg .b32 r; ";
        let module = gangway_ptx::parse(&format!("{head} setp.eq.u32 p, 0, 0; {text} ret; }}")).expect("PTX");
        is_straight(&module, module.functions[1].body.as_ref().expect("a body"))
    }

    #[test]
    fn branches_forward_are_straight() {
        assert!(judge("@p bra end; membar.gl; end:"));
    }

    #[test]
    fn what_may_give_way_is_not() {
        for text in [
            "top: @p bra top;",
            "call f;",
            "bar.sync 0;",
            "bar.warp.sync 1;",
            "vote.sync.any.pred p, p, 1;",
            "movmatrix.sync.aligned.m8n8.trans.b16 r, r;",
        ] {
            assert!(!judge(text), "{text}");
        }
    }
}
