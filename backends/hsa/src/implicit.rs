//! Implicit arguments of LLVM's kernels: what a launch tells device code that no program passes.
//!
//! They stand behind the explicit ones (AMDGPU back-end guide, "Code Object V5 Kernel Argument Metadata").

use crate::arguments::TAIL;
use crate::driver::types::Dispatch;

/// The shape of a launch, as kernels of code object version 5 and newer read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Implicit {
    teams: [u32; 3],
    threads: [u16; 3],
    dynamic_group_memory: u32,
}

/// Where each stands; all else is 0.
mod place {
    pub const TEAMS: usize = 0;
    pub const THREADS: usize = 12;
    pub const DIMENSIONS: usize = 64;
    pub const DYNAMIC_GROUP_MEMORY: usize = 120;
}

impl Implicit {
    /// Those of a dispatch, a part of whose group memory the launch has asked for.
    pub fn new(teams: [u32; 3], threads: [u32; 3], dynamic_group_memory: u32) -> Self {
        Self { teams, threads: threads.map(|threads| threads as u16), dynamic_group_memory }
    }

    /// Their bytes.
    pub fn bytes(&self) -> [u8; TAIL] {
        let mut bytes = [0; TAIL];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        for (number, (teams, threads)) in self.teams.iter().zip(self.threads).enumerate() {
            put(place::TEAMS + 4 * number, &teams.to_le_bytes());
            put(place::THREADS + 2 * number, &threads.to_le_bytes());
        }
        put(place::DIMENSIONS, &Dispatch::DIMENSIONS.to_le_bytes());
        put(place::DYNAMIC_GROUP_MEMORY, &self.dynamic_group_memory.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_where_device_code_reads_them() {
        let bytes = Implicit::new([5, 6, 7], [64, 2, 1], 4096).bytes();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([0, 4, 8, 12, 16, 120].map(word), [5, 6, 7, 64 | 2 << 16, 1, 4096]);
        assert_eq!((bytes[64], bytes.iter().filter(|&&byte| byte != 0).count()), (3, 8));
    }
}
