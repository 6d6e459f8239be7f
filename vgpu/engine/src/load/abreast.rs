//! In which modules the warps of a block are kept abreast.
//!
//! A barrier for some of a block's threads has to know which will come. On hardware the warps of
//! a block advance evenly, and programs rely on it. libgomp wakes as many threads as will have
//! work, without a look at how many have begun to wait. A barrier for all threads needs no such
//! knowledge. In modules with those alone, warps run in any order.

use gangway_ptx::meaning::Barrier;
use gangway_ptx::{Meaning, Module, Operand};

/// Whether a function of the module has a barrier that says for how many threads it is.
pub(crate) fn keeps_abreast(module: &Module) -> bool {
    if !module.opcodes.iter().any(|opcode| matches!(opcode.meaning, Meaning::Barrier(_))) {
        return false;
    }
    module.functions.iter().filter_map(|function| function.body.as_ref()).any(|body| {
        body.instructions.iter().any(|instruction| {
            let Meaning::Barrier(barrier) = module.opcode(instruction).meaning else { return false };
            let reduces = matches!(barrier, Barrier::Reduce(_));
            let count = body.operands(instruction).get(1 + usize::from(reduces));
            !matches!(count, None | Some(Operand::Absent))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::keeps_abreast;

    fn judge(text: &str) -> bool {
        let head = ".version 8.0 .target sm_90 .address_size 64 .entry k() { .reg .pred p; .reg .u32 r; ";
        keeps_abreast(&gangway_ptx::parse(&format!("{head} {text} ret; }}")).expect("PTX"))
    }

    #[test]
    fn barriers_for_some() {
        for text in ["bar.sync 0, 64;", "bar.sync 1, r;", "bar.arrive 1, 32;", "barrier.sync 2, r;"] {
            assert!(judge(text), "{text}");
        }
        assert!(judge("setp.eq.u32 p, r, 0; bar.red.popc.u32 r, 1, 64, p;"));
    }

    #[test]
    fn barriers_for_all() {
        for text in ["", "bar.sync 0;", "barrier.sync 1;", "bar.warp.sync 7;"] {
            assert!(!judge(text), "{text}");
        }
        assert!(!judge("setp.eq.u32 p, r, 0; bar.red.popc.u32 r, 1, p;"));
    }
}
