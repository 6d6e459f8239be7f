//! The structures that host and device runtime of LLVM 22 share.
//!
//! Device code is built by stock compilers, so every layout here is theirs. `launch` and
//! `module` write and read them; nothing here calls the driver.

use gangway_backend::ExecutionMode;

/// Symbol of the device's [`DeviceEnvironment`] in an image.
pub(crate) const DEVICE_ENVIRONMENT: &std::ffi::CStr = c"__omp_rtl_device_environment";

/// What follows a kernel's name in the name of its environment.
pub(crate) const KERNEL_ENVIRONMENT: &str = "_kernel_environment";

/// Bytes at the beginning of a kernel's environment that say how it is to be launched
/// (`ConfigurationEnvironmentTy`).
pub(crate) const CONFIGURATION_SIZE: usize = 28;

/// What device code can ask about its device (`DeviceEnvironmentTy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct DeviceEnvironment {
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
pub(crate) const INDIRECT_TABLE: usize = std::mem::offset_of!(DeviceEnvironment, indirect_table);

impl DeviceEnvironment {
    /// Its bytes, as the device reads them.
    pub(crate) fn bytes(&self) -> [u8; size_of::<Self>()] {
        // SAFETY: a C structure of numbers without padding, see the assertion above.
        unsafe { std::mem::transmute_copy(self) }
    }
}

/// What a launch passes to a kernel besides the program's arguments
/// (`KernelLaunchEnvironmentTy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct LaunchEnvironment {
    /// Teams that have put their result into the buffer, and rounds: the device runtime
    /// counts with them from zero.
    pub reduction_count: u32,
    pub reduction_rounds: u32,
    /// A slot for each of so many teams as the kernel's configuration says.
    pub reduction_buffer: u64,
}

const _: () = assert!(size_of::<LaunchEnvironment>() == 16);

impl LaunchEnvironment {
    /// Its bytes, as the device reads them.
    pub(crate) fn bytes(&self) -> [u8; size_of::<Self>()] {
        // SAFETY: a C structure of numbers without padding, see the assertion above.
        unsafe { std::mem::transmute_copy(self) }
    }
}

/// What kernels get that need no launch environment; not null, which the device runtime
/// takes for a launch by a host without any.
pub(crate) const NO_LAUNCH_ENVIRONMENT: u64 = u64::MAX;

/// How a kernel is to be launched. Bounds are 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Configuration {
    pub mode: ExecutionMode,
    /// Every iteration has a thread of its own: there have to be enough of them.
    pub one_iteration_per_thread: bool,
    pub min_threads: u32,
    pub max_threads: u32,
    pub min_teams: u32,
    pub max_teams: u32,
    /// Bytes of a team's slot in the reduction buffer.
    pub reduction_data_size: u32,
    /// Slots.
    pub reduction_buffer_length: u32,
}

impl Configuration {
    /// A kernel without an environment: all its threads run, and OpenMP is not there.
    pub(crate) const BARE: Self = Self {
        mode: ExecutionMode::Bare,
        one_iteration_per_thread: false,
        min_threads: 0,
        max_threads: 0,
        min_teams: 0,
        max_teams: 0,
        reduction_data_size: 0,
        reduction_buffer_length: 0,
    };

    /// Reads the configuration at the beginning of a kernel's environment; `None` if its
    /// mode is not known.
    pub(crate) fn read(bytes: &[u8; CONFIGURATION_SIZE]) -> Option<Self> {
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
            reduction_buffer_length: number(24),
        })
    }

    /// Bytes that a launch needs for its reductions; 0 if it has none.
    pub(crate) fn reduction_bytes(&self) -> usize {
        self.reduction_data_size as usize * self.reduction_buffer_length as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read_as_compilers_write_them() {
        let mut bytes = [0; CONFIGURATION_SIZE];
        assert_eq!(Configuration::read(&bytes), Some(Configuration::BARE));
        bytes[..3].copy_from_slice(&[0, 1, 2]);
        for (at, number) in [(4, 1_i32), (8, 128), (12, -1), (16, 0), (20, 8), (24, 1024)] {
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        let configuration = Configuration::read(&bytes).unwrap();
        assert_eq!(configuration.mode, ExecutionMode::Spmd);
        assert_eq!((configuration.min_threads, configuration.max_threads), (1, 128));
        assert_eq!((configuration.min_teams, configuration.max_teams), (0, 0));
        assert_eq!(configuration.reduction_bytes(), 8192);
        for (number, mode) in [(1, ExecutionMode::Generic), (3, ExecutionMode::GenericSpmd)] {
            bytes[2] = number;
            assert_eq!(Configuration::read(&bytes).unwrap().mode, mode);
        }
        bytes[2] = 6;
        assert!(Configuration::read(&bytes).unwrap().one_iteration_per_thread);
        bytes[2] = 8;
        assert_eq!(Configuration::read(&bytes), None);
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
        let launch = LaunchEnvironment { reduction_count: 1, reduction_rounds: 2, reduction_buffer: 3 };
        assert_eq!(words(&launch.bytes()), [1, 2, 3, 0]);
    }
}
