//! The structures that host and device runtime of LLVM share.
//!
//! Device code is built by stock compilers, so every layout here is theirs.

use gangway_backend::ExecutionMode;

/// Symbol of the device's [`DeviceEnvironment`] in an image.
pub(super) const DEVICE_ENVIRONMENT: &str = "__omp_rtl_device_environment";

/// What follows a kernel's name in the name of its environment.
pub(super) const KERNEL_ENVIRONMENT: &str = "_kernel_environment";

/// Bytes at the beginning of a kernel's environment that say how it is to be launched
/// (`ConfigurationEnvironmentTy`). Up to clang 22 [`BUFFER_LENGTH`] comes behind them.
pub(super) const CONFIGURATION_SIZE: usize = 24;

/// How many lists a reduction's buffer has room for, up to clang 22.
pub(super) const BUFFER_LENGTH: std::ops::Range<usize> = 24..28;

/// Bytes of a kernel's environment up to clang 22. Later ones are shorter.
const ENVIRONMENT_WITH_LENGTH: usize = 48;

/// What device code can ask about its device (`DeviceEnvironmentTy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct DeviceEnvironment {
    pub debug_kind: u32,
    pub device_count: u32,
    pub device_number: u32,
    /// Bytes of dynamic shared memory that every team has.
    pub shared_memory: u32,
    /// Ticks per second of the device's clock.
    pub clock_frequency: u64,
    /// Pairs of host and device addresses, sorted by the former.
    pub indirect_table: u64,
    pub indirect_count: u64,
    /// Warps that the device can have under way at the same time.
    pub parallelism: u64,
}

const _: () = assert!(size_of::<DeviceEnvironment>() == 48);

/// Where the table of indirect calls and its length stand in it.
pub(super) const INDIRECT_TABLE: usize = std::mem::offset_of!(DeviceEnvironment, indirect_table);

impl DeviceEnvironment {
    /// Its bytes, as the device reads them.
    pub fn bytes(&self) -> [u8; size_of::<Self>()] {
        // SAFETY: a C structure of numbers without padding, see the assertion above.
        unsafe { std::mem::transmute_copy(self) }
    }
}

/// What a launch passes to a kernel besides the program's arguments
/// (`KernelLaunchEnvironmentTy`): a buffer for reductions, and counters that the device runtime
/// counts with from zero.
pub type LaunchEnvironment = [u8; 32];

/// How a kernel reduces across teams, which its compiler's release decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Up to clang 22: teams take turns at as many slots as the kernel's configuration says; so many
    /// bytes. Two counters stand before the buffer's address.
    InTurns(usize),
    /// From clang 23 on: each team has a slot of so many bytes. The buffer's address comes first.
    AtOnce(usize),
}

impl Reduction {
    /// Bytes of the buffer of a launch with so many teams.
    pub const fn buffer(self, teams: u32) -> usize {
        match self {
            Self::InTurns(bytes) => bytes,
            Self::AtOnce(bytes) => bytes * teams as usize,
        }
    }

    /// The environment of a launch whose buffer is there.
    pub fn environment(self, buffer: u64) -> LaunchEnvironment {
        let place = match self {
            Self::InTurns(_) => 8,
            Self::AtOnce(_) => 0,
        };
        let mut bytes = [0; size_of::<LaunchEnvironment>()];
        bytes[place..place + size_of::<u64>()].copy_from_slice(&buffer.to_ne_bytes());
        bytes
    }
}

/// Memory in the place of the group memory that teams want, in a launch environment of clang 23.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// Where it begins: a part for each team, one behind the other.
    pub parts: u64,
    /// Bytes that a team has asked for.
    pub bytes: u32,
}

impl Replacement {
    /// What the environment says is in the place of group memory: `DefaultMem` of LLVM's.
    const DEVICE_MEMORY: u8 = 2;

    /// The environment of a launch that has it, and a buffer for reductions, or 0.
    pub fn environment(self, buffer: u64) -> LaunchEnvironment {
        let mut bytes = [0; size_of::<LaunchEnvironment>()];
        bytes[..8].copy_from_slice(&buffer.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.parts.to_ne_bytes());
        bytes[20..24].copy_from_slice(&self.bytes.to_ne_bytes());
        bytes[24] = Self::DEVICE_MEMORY;
        bytes
    }
}

/// What kernels get that need no launch environment; not null, which the device runtime
/// takes for a launch by a host without any.
pub const NO_LAUNCH_ENVIRONMENT: u64 = u64::MAX;

/// How a kernel is to be launched. Bounds are 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configuration {
    pub mode: ExecutionMode,
    /// Every iteration has a thread of its own: there have to be enough of them.
    pub one_iteration_per_thread: bool,
    pub min_threads: u32,
    pub max_threads: u32,
    pub min_teams: u32,
    pub max_teams: u32,
    /// Bytes of a team's slot in the reduction buffer.
    pub reduction_data_size: u32,
    /// Slots; `None`: one for each team of a launch.
    pub reduction_buffer_length: Option<u32>,
}

impl Configuration {
    /// A kernel without an environment: all its threads run, and OpenMP is not there.
    pub const BARE: Self = Self {
        mode: ExecutionMode::Bare,
        one_iteration_per_thread: false,
        min_threads: 0,
        max_threads: 0,
        min_teams: 0,
        max_teams: 0,
        reduction_data_size: 0,
        reduction_buffer_length: None,
    };

    /// Reads the configuration at the beginning of a kernel's environment of this size; `None` if
    /// its mode is not known.
    pub(super) fn read(bytes: &[u8; BUFFER_LENGTH.end], size: usize) -> Option<Self> {
        // Negative is "not set", zero is "set, but not known here".
        let number = |at: usize| {
            let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            u32::try_from(i32::from_le_bytes(bytes)).unwrap_or(0)
        };
        // Bit 0 is generic, bit 1 SPMD, bit 2 one iteration per thread.
        let mode = match bytes[2] & 3 {
            0 => ExecutionMode::Bare,
            1 => ExecutionMode::Generic,
            2 => ExecutionMode::Spmd,
            _ => ExecutionMode::GenericSpmd,
        };
        (bytes[2] < 8).then(|| Self {
            mode,
            one_iteration_per_thread: bytes[2] & 4 != 0,
            min_threads: number(4),
            max_threads: number(8),
            min_teams: number(12),
            max_teams: number(16),
            reduction_data_size: number(20),
            reduction_buffer_length: (size >= ENVIRONMENT_WITH_LENGTH).then(|| number(BUFFER_LENGTH.start)),
        })
    }

    /// How it reduces across teams, if it does.
    pub fn reduction(&self) -> Option<Reduction> {
        let bytes = self.reduction_data_size as usize;
        let reduction = match self.reduction_buffer_length {
            Some(length) => Reduction::InTurns(bytes * length as usize),
            None => Reduction::AtOnce(bytes),
        };
        (!matches!(reduction, Reduction::InTurns(0) | Reduction::AtOnce(0))).then_some(reduction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read_as_compilers_write_them() {
        let mut bytes = [0; BUFFER_LENGTH.end];
        assert_eq!(Configuration::read(&bytes, 40), Some(Configuration::BARE));
        bytes[..3].copy_from_slice(&[0, 1, 2]);
        for (at, number) in [(4, 1_i32), (8, 128), (12, -1), (16, 0), (20, 8), (24, 1024)] {
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        // In clang 23's environments a pointer follows.
        let later = Configuration::read(&bytes, 40).unwrap();
        assert_eq!((later.max_threads, later.reduction()), (128, Some(Reduction::AtOnce(8))));
        let configuration = Configuration::read(&bytes, 48).unwrap();
        assert_eq!(configuration.mode, ExecutionMode::Spmd);
        assert_eq!((configuration.min_threads, configuration.max_threads), (1, 128));
        assert_eq!((configuration.min_teams, configuration.max_teams), (0, 0));
        assert_eq!(configuration.reduction(), Some(Reduction::InTurns(8192)));
        for (number, mode) in [(1, ExecutionMode::Generic), (3, ExecutionMode::GenericSpmd)] {
            bytes[2] = number;
            assert_eq!(Configuration::read(&bytes, 48).unwrap().mode, mode);
        }
        bytes[2] = 6;
        assert!(Configuration::read(&bytes, 48).unwrap().one_iteration_per_thread);
        bytes[2] = 8;
        assert_eq!(Configuration::read(&bytes, 48), None);
    }

    #[test]
    fn structures_have_their_fields_where_devices_look() {
        let environment = DeviceEnvironment {
            debug_kind: 1,
            device_count: 2,
            device_number: 3,
            shared_memory: 4,
            clock_frequency: 5,
            indirect_table: 6,
            indirect_count: 7,
            parallelism: 8,
        };
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
        };
        assert_eq!(words(&environment.bytes()), [1, 2, 3, 4, 5, 0, 6, 0, 7, 0, 8, 0]);
        // Counters are zero. Where those of clang 23 stand is behind two addresses.
        assert_eq!(words(&Reduction::InTurns(8).environment(3)), [0, 0, 3, 0, 0, 0, 0, 0]);
        let replacement = Replacement { parts: 5, bytes: 7 };
        assert_eq!(words(&replacement.environment(3)), [3, 0, 5, 0, 0, 7, 2, 0]);
        assert_eq!(words(&Reduction::AtOnce(8).environment(3)), [3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((Reduction::InTurns(64).buffer(7), Reduction::AtOnce(64).buffer(7)), (64, 448));
    }
}
