//! The runtime across `fork`.
//!
//! The front end calls [`Runtime::before_fork`] on the thread that forks. It takes every
//! lock, so that no other thread is changing what the locks protect, and the child finds
//! nothing locked that nobody would unlock. No lock is held across a call, so none is
//! waited for longer than a short change takes.

use super::{Registry, Runtime};
use crate::device::DeviceLocks;
use crate::finisher;
use crate::late;
use crate::library::Placement;
use gangway_backend::Error;
use std::any::Any;
use std::sync::MutexGuard;

/// The locks of the runtime, held while the process is forked.
pub struct Forking {
    runtime: &'static Runtime,
    registry: MutexGuard<'static, Registry>,
    devices: Vec<DeviceLocks<'static>>,
    _regions: Box<dyn Any>,
    _late: late::LateLock,
    finisher: finisher::FinisherLock,
}

impl Runtime {
    /// Takes all locks; what is returned goes to [`Forking::in_child`], or is dropped in
    /// the parent.
    #[must_use]
    pub fn before_fork(&'static self) -> Forking {
        let registry = self.registry();
        let devices = self.numbered_devices().map(super::Device::lock_all).collect();
        let finisher = finisher::hold();
        let _regions = Box::new(self.regions.hold());
        let _late = late::hold();
        Forking { runtime: self, registry, devices, _regions, _late, finisher }
    }
}

impl Forking {
    /// Makes the runtime usable in the child, on the only thread there.
    pub fn in_child(self) {
        let Self { runtime, mut registry, devices, finisher, .. } = self;
        finisher.in_child();
        let survive: Vec<bool> =
            registry.backends.iter().map(|state| state.backend.survives_fork()).collect();
        for (device, locks) in runtime.numbered_devices().zip(devices) {
            if device.after_fork(locks, survive[device.backend_index()]) {
                continue;
            }
            let message = "the device does not survive a fork".to_owned();
            for library in &mut registry.libraries {
                let Some(placement) = library.placements.get_mut(device.number() as usize) else { continue };
                let lost = Placement::Failed(Error::Device { code: 0, message: message.clone() });
                // Unloading it would call into the back end.
                std::mem::forget(std::mem::replace(placement, lost));
            }
        }
    }
}
