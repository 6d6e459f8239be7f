//! Devices get their numbers.
//!
//! A back end that is asked for its devices starts its driver, and a process that is forked
//! then has a child that cannot use it. So registration asks nobody, and the first question
//! about devices has those counted that images of the program's libraries are for. What a
//! device runs stands in the libraries before its number can be seen.

use super::{Registry, Runtime};
use crate::device::Device;
use crate::regions::MAX_DEVICES;
use gangway_backend::Backend;
use std::sync::atomic::Ordering;

/// A back end and how many devices it has, as asked without a lock.
struct Counted {
    index: usize,
    devices: usize,
}

impl Runtime {
    /// [`Runtime::device_count`], as long as there are none.
    #[cold]
    pub(super) fn count_devices(&self) -> usize {
        if self.unplaced.load(Ordering::Acquire) {
            self.place_libraries();
        }
        self.device_count.load(Ordering::Acquire)
    }

    /// Numbers the devices of types that were not in use before, in the order of the libraries
    /// and, in a library, of the back ends, and decides which images they take.
    pub(super) fn place_libraries(&self) {
        let backends = self.backend_list();
        // Libraries may come meanwhile.
        while let Some(wanted) = self.wanted_backends() {
            let counted: Vec<Counted> = wanted
                .into_iter()
                .map(|index| Counted { index, devices: backends[index].device_count() })
                .collect();
            self.place_counted(&counted);
        }
    }

    /// The back ends that take images of libraries without devices; none if all have theirs.
    fn wanted_backends(&self) -> Option<Vec<usize>> {
        let registry = self.registry();
        let waiting = || registry.libraries.iter().filter(|library| !library.placed);
        if waiting().next().is_none() {
            self.unplaced.store(false, Ordering::Release);
            return None;
        }
        let takers = waiting().flat_map(|library| library.takers.iter().flatten());
        let mut wanted: Vec<usize> = takers.map(|taker| taker.index).collect();
        wanted.sort_unstable();
        wanted.dedup();
        Some(wanted)
    }

    /// Places the libraries whose back ends have all been counted.
    fn place_counted(&self, counted: &[Counted]) {
        let mut registry = self.registry();
        let libraries = &registry.libraries;
        let known = |index: usize| counted.iter().any(|counted| counted.index == index);
        let ready: Vec<usize> = (0..libraries.len())
            .filter(|&at| !libraries[at].placed)
            .filter(|&at| libraries[at].takers.iter().flatten().all(|taker| known(taker.index)))
            .collect();
        for at in ready {
            // The order of the back ends decides, not the one in which a linker put the images.
            let takers = registry.libraries[at].takers.iter().enumerate();
            let mut images: Vec<(usize, usize)> =
                takers.filter_map(|(image, taker)| Some((taker.as_ref()?.index, image))).collect();
            images.sort_unstable();
            for (index, image) in images {
                let Some(counted) = counted.iter().find(|counted| counted.index == index) else { continue };
                let (first, count) = self.number(&mut registry, counted);
                for number in first..first + count {
                    registry.libraries[at].place(number, image);
                }
            }
            let library = &mut registry.libraries[at];
            library.placed = true;
            for device in (0..library.placements.len()).filter_map(|number| self.device_unprepared(number)) {
                device.images_pending.store(true, Ordering::Release);
            }
        }
        self.publish(&registry);
    }

    /// Gives a back end's devices their numbers; answers the first and how many.
    fn number(&self, registry: &mut Registry, counted: &Counted) -> (usize, usize) {
        let state = &mut registry.backends[counted.index];
        // A type whose devices do not all get a number has the same first ones always.
        let first = state.first_device.unwrap_or(registry.numbered);
        let count = counted.devices.min(MAX_DEVICES - first);
        if state.first_device.is_some() {
            return (first, count);
        }
        for ordinal in 0..count {
            let number = first + ordinal;
            let device = Box::new(Device::new(number as i32, state.backend, counted.index, ordinal));
            self.devices[number].store(Box::into_raw(device), Ordering::Release);
        }
        state.first_device = Some(first);
        registry.numbered = first + count;
        (first, count)
    }

    /// Lets the program see the devices that have numbers.
    fn publish(&self, registry: &Registry) {
        self.device_count.store(registry.numbered, Ordering::Release);
    }

    /// Makes every back end's devices available, images or not.
    pub fn number_all_devices(&self) {
        self.number_devices_of(|_| true);
    }

    /// Makes the devices of those back ends available that would take such an image.
    pub fn number_devices_for(&self, image: &[u8]) {
        self.number_devices_of(|backend| backend.recognises(image));
    }

    fn number_devices_of(&self, wanted: impl Fn(&dyn Backend) -> bool) {
        // Those that libraries have images for come first.
        self.place_libraries();
        let backends = self.backend_list().into_iter().enumerate();
        let counted: Vec<Counted> = backends
            .filter(|(_, backend)| wanted(*backend))
            .map(|(index, backend)| Counted { index, devices: backend.device_count() })
            .collect();
        let mut registry = self.registry();
        for counted in &counted {
            self.number(&mut registry, counted);
        }
        self.publish(&registry);
    }
}
