//! The back end that runs x86-64 device images on the host's processors.
//!
//! It needs no hardware, so every test of the layers above can use it, and it is
//! what a program gets on a machine without an accelerator. Although host and
//! device share one memory, it behaves like a device with its own: each device
//! has its own copy of an image's globals, mapped data lives in separate
//! allocations, and those are filled with a pattern that no forgotten map
//! survives. A kernel that crashes ends the process with a report that names
//! the region, not with a bare signal.
//!
//! # Modules
//!
//! | Module | What is in it |
//! |---|---|
//! | `registry` | lists that a signal handler can walk |
//! | `elf` | what an image has, and whether the loader can take it |
//! | `arena` | small blocks of device memory |
//! | `signal_stack` | a stack for the signal handler |
//! | `activity` | what a thread is doing inside a device image |
//! | `thread` | what is kept for each thread of the host |
//! | `memory` | the memory of a device |
//! | `config` | the environment |
//! | `images` | the loaded images |
//! | `command` | the `gangway` command, which reads debug information |
//! | `names` | what the user calls a byte of a variable |
//! | `sections` | what `GANGWAY_CHECK` knows of mapped sections |
//! | [`crash_record`] | what the command is told of a crash |
//! | `crash` | reports of kernels that crash |
//! | `launch` | calling a kernel |
//! | `host_call` | how an image's code calls the host |
//! | `number` | what an image hears about its device |
//! | `module` | loading an image |
//! | `device` | a device |
//! | `checked` | a device that looks for mistakes |
//!
//! Each uses those above it only.
//!
//! # Environment
//!
//! | Variable | Meaning |
//! |---|---|
//! | `GANGWAY_CPU_DEVICES` | Logical devices, 1 to 64; 4 by default, as in the stock library |
//! | `GANGWAY_CPU_MEMORY` | Memory of each, such as `512M` or `2GiB`; no limit by default |
//! | `GANGWAY_CPU_POISON` | `0` leaves memory as it is; `1` (default) poisons new blocks (of those above 1 MiB the first and last 256 KiB) and freed ones up to 4 KiB; `all` poisons every byte |
//! | `GANGWAY_CPU_CATCH_SIGNALS` | `0` leaves crashes to the system and keeps the images' files open, for debuggers |
//! | `GANGWAY_CHECK` | `1`: writes beside mapped sections are errors; `2`: uses of the host's pages behind mapped variables, too, and accesses past the end of sections where they happen |
//! | `OMPTARGET_DISABLE_HOST_PLUGIN` | `1` removes the devices, as in the stock library |
//!
//! # Unloading
//!
//! Signal handlers and thread-exit hooks point into this code: a library it is
//! linked into must stay loaded once used (`-z nodelete`).

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("the CPU back end runs x86-64 images and supports Linux on x86-64 only");

mod activity;
mod arena;
mod checked;
mod command;
mod config;
mod crash;
#[doc(hidden)]
pub mod crash_record;
mod device;
mod elf;
mod host_call;
mod images;
mod launch;
mod memory;
mod module;
mod names;
mod number;
mod registry;
mod sections;
mod signal_stack;
mod thread;

pub use device::CpuDevice;
#[doc(hidden)]
pub use names::{Part, name_of, place_of};

/// The checks of an image, without a device: what fuzzing drives.
#[doc(hidden)]
pub mod image_checks {
    pub use crate::elf::{check, recognises, symbol_at};
}

use checked::CheckedDevice;
use config::{Check, Config};
use gangway_backend::{Backend, Device, Error, Result};

/// The CPU back end.
#[derive(Debug)]
pub struct CpuBackend {
    config: Config,
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuBackend {
    /// The back end as the environment wants it.
    #[must_use]
    pub fn new() -> Self {
        Self { config: Config::from_environment() }
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &str {
        "cpu"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        elf::recognises(image) || gangway_bitcode::is_for(image, "x86_64")
    }

    fn device_count(&self) -> usize {
        self.config.devices
    }

    fn why_absent(&self) -> Option<String> {
        self.config.why_absent.clone()
    }

    fn warnings(&self) -> &[String] {
        &self.config.warnings
    }

    fn survives_fork(&self) -> bool {
        thread::forget_others();
        arena::after_fork();
        true
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>> {
        if ordinal >= self.config.devices {
            let devices = self.config.devices;
            return Err(Error::Device {
                code: 0,
                message: format!("there is no cpu device {ordinal}: {devices} exist"),
            });
        }
        Ok(match self.config.check {
            Check::Off => Box::new(CpuDevice::new(ordinal, &self.config)),
            Check::Guards | Check::Pages => Box::new(CheckedDevice::new(ordinal, &self.config)),
        })
    }
}
