//! Types of devices: the numbers of `acc_device_t`, the names in `ACC_DEVICE_TYPE`, and whose
//! devices they are. Besides, the numbers of `acc_async_t`: `acc_async_default` is not GCC's, the others are.

use gangway_frontend::state::RUNTIME;
use gangway_runtime::Device;

/// `acc_device_current`: the device that the thread uses.
pub const CURRENT: i32 = -1;
/// `acc_device_none`.
pub const NONE: i32 = 0;
/// `acc_device_default`.
pub const DEFAULT: i32 = 1;
/// `acc_device_not_host`.
pub const NOT_HOST: i32 = 4;

/// `acc_async_noval`: the thread's default queue.
pub const NOVAL: i32 = -1;
/// `acc_async_sync`: the caller waits.
pub const SYNC: i32 = -2;
/// `acc_async_default`: what a thread's default queue is at first.
pub const INITIAL: i32 = -3;

/// A type of which there may be devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum DeviceType {
    /// The host itself, as if it were a device that shares its memory.
    Host = 2,
    /// NVIDIA's GPUs.
    Nvidia = 5,
    /// AMD's GPUs.
    Radeon = 8,
}

/// The number behind the last one that has a meaning.
const END: i32 = 9;

impl DeviceType {
    /// Those that are not the host, in the order in which one is chosen.
    pub const ACCELERATORS: [Self; 2] = [Self::Nvidia, Self::Radeon];

    /// The type of a number.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        [Self::Host, Self::Nvidia, Self::Radeon].into_iter().find(|&known| known as i32 == number)
    }

    /// The type of a name, as in `ACC_DEVICE_TYPE`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let types = [Self::Host, Self::Nvidia, Self::Radeon];
        types.into_iter().find(|known| name.eq_ignore_ascii_case(known.name()))
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Nvidia => "nvidia",
            Self::Radeon => "radeon",
        }
    }

    /// The runtime's back end whose devices it has; none for the host.
    const fn backend(self) -> Option<&'static str> {
        match self {
            Self::Host => None,
            Self::Nvidia => Some("cuda"),
            Self::Radeon => Some("hsa"),
        }
    }

    /// Whether it has a device.
    #[must_use]
    pub fn has(self, device: &Device) -> bool {
        Some(device.backend().name()) == self.backend()
    }

    /// Its devices in the order of their numbers; none for the host.
    pub fn devices(self) -> impl Iterator<Item = &'static Device> {
        RUNTIME.devices().filter(move |device| self.has(device))
    }

    /// How many devices it has.
    #[must_use]
    pub fn count(self) -> i32 {
        match self {
            Self::Host => 1,
            _ => i32::try_from(self.devices().count()).unwrap_or(i32::MAX),
        }
    }
}

/// Whether a number is one of `acc_device_t`, `acc_device_current` apart.
#[must_use]
pub const fn is_known(number: i32) -> bool {
    0 <= number && number < END
}

/// The name of a number, for messages.
#[must_use]
pub fn name_of(number: i32) -> String {
    match number {
        NONE => "none".to_owned(),
        DEFAULT => "default".to_owned(),
        NOT_HOST => "not_host".to_owned(),
        _ => DeviceType::from_number(number)
            .map_or_else(|| format!("number {number}"), |known| known.name().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_to_types() {
        for known in [DeviceType::Host, DeviceType::Nvidia, DeviceType::Radeon] {
            assert_eq!(DeviceType::from_number(known as i32), Some(known));
            assert_eq!(DeviceType::from_name(&known.name().to_uppercase()), Some(known));
            assert_eq!(name_of(known as i32), known.name());
        }
        for number in [CURRENT, NONE, DEFAULT, NOT_HOST, 3, 6, 7, 9, 99] {
            assert_eq!(DeviceType::from_number(number), None);
        }
        assert_eq!(DeviceType::from_name("gpu"), None);
        assert_eq!(name_of(7), "number 7");
        assert!(is_known(0) && is_known(8) && !is_known(9) && !is_known(CURRENT));
    }

    #[test]
    fn the_host_is_one_device_and_none_of_the_runtimes() {
        assert_eq!((DeviceType::Host.count(), DeviceType::Host.devices().count()), (1, 0));
    }
}
