//! LLVM's form of the `requires` clauses of a translation unit.

use crate::words::WORDS;
use gangway_frontend::policy;
use gangway_frontend::state::RUNTIME;
use gangway_runtime::Requirements;

/// `OMP_REQ_*` of LLVM's `omptarget.h`.
mod flags {
    pub(super) const REVERSE_OFFLOAD: u64 = 2;
    pub(super) const UNIFIED_ADDRESS: u64 = 4;
    pub(super) const UNIFIED_SHARED_MEMORY: u64 = 8;
}

/// The clauses in the runtime's terms; `None` if nothing has been said, not even that
/// there are none (which is 1).
fn requirements(bits: u64) -> Option<Requirements> {
    let clause = |bit, clause| if bits & bit != 0 { clause } else { Requirements::NONE };
    let clauses = clause(flags::REVERSE_OFFLOAD, Requirements::REVERSE_OFFLOAD)
        | clause(flags::UNIFIED_ADDRESS, Requirements::UNIFIED_ADDRESS)
        | clause(flags::UNIFIED_SHARED_MEMORY, Requirements::UNIFIED_SHARED_MEMORY);
    (bits != 0).then_some(clauses)
}

/// Adds the clauses of a translation unit. The program ends if others differ.
pub(crate) fn require(bits: u64) {
    if let Some(Err(error)) = requirements(bits).map(|unit| RUNTIME.require(unit)) {
        policy::terminate(&error, WORDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_of_llvm() {
        assert_eq!(requirements(0), None);
        assert_eq!(requirements(1), Some(Requirements::NONE));
        assert_eq!(requirements(8), Some(Requirements::UNIFIED_SHARED_MEMORY));
        let both = Requirements::REVERSE_OFFLOAD | Requirements::UNIFIED_ADDRESS;
        assert_eq!(requirements(0x16), Some(both));
    }
}
