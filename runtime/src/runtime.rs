//! The runtime itself: back ends, devices and libraries of the process.
//!
//! One [`Runtime`] per process, a static of the front end's library. Everything
//! on the launch path is read without a lock; registration is serialised.

use crate::arguments::Arguments;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::events::Site;
use crate::library::{Library, Placement, Registration};
use crate::regions::{MAX_DEVICES, Region, Regions};
use crate::target::{DataOperation, Job, Shape};
use gangway_backend::{Backend, KernelHandle};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

mod loading;

/// `requires` clauses (OpenMP 6.0 section 10.5), with LLVM's bits.
pub mod requirement {
    /// `reverse_offload`.
    pub const REVERSE_OFFLOAD: u64 = 2;
    /// `unified_address`.
    pub const UNIFIED_ADDRESS: u64 = 4;
    /// `unified_shared_memory`.
    pub const UNIFIED_SHARED_MEMORY: u64 = 8;
}

/// The offload runtime of a process.
pub struct Runtime {
    devices: [AtomicPtr<Device>; MAX_DEVICES],
    device_count: AtomicUsize,
    requirements: AtomicU64,
    regions: Regions,
    registry: Mutex<Registry>,
}

struct Registry {
    backends: Vec<BackendState>,
    libraries: Vec<Library>,
}

struct BackendState {
    backend: &'static dyn Backend,
    /// Number of its first device, once they are numbered.
    first_device: Option<usize>,
}

/// A back end as `gangway info` shows it.
#[derive(Debug, Clone)]
pub struct BackendInfo {
    /// Its name.
    pub name: String,
    /// How many devices it has.
    pub devices: usize,
    /// Why it has none.
    pub why_absent: Option<String>,
}

impl Default for Runtime {
    fn default() -> Self {
        Self::new()
    }
}

impl Runtime {
    /// A runtime without back ends. `const`, so that it can be a static that
    /// costs a program's start nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            devices: [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_DEVICES],
            device_count: AtomicUsize::new(0),
            requirements: AtomicU64::new(0),
            regions: Regions::new(),
            registry: Mutex::new(Registry { backends: Vec::new(), libraries: Vec::new() }),
        }
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a back end; the order decides the numbering of devices.
    pub fn add_backend(&self, backend: Box<dyn Backend>) {
        let backend: &'static dyn Backend = Box::leak(backend);
        self.registry().backends.push(BackendState { backend, first_device: None });
    }

    /// The back ends; asks each for its devices.
    #[must_use]
    pub fn backends(&self) -> Vec<BackendInfo> {
        let info = |state: &BackendState| {
            let devices = state.backend.device_count();
            BackendInfo {
                name: state.backend.name().to_owned(),
                devices,
                why_absent: if devices == 0 { state.backend.why_absent() } else { None },
            }
        };
        self.registry().backends.iter().map(info).collect()
    }

    /// Number of devices the program can name.
    #[inline]
    #[must_use]
    pub fn device_count(&self) -> usize {
        self.device_count.load(Ordering::Acquire)
    }

    /// A device by number, whether or not images wait to be loaded on it.
    #[inline]
    #[must_use]
    pub fn device_unprepared(&self, number: usize) -> Option<&'static Device> {
        let slot = self.devices.get(number)?;
        // SAFETY: devices are leaked boxes.
        unsafe { slot.load(Ordering::Acquire).as_ref() }
    }

    /// All devices in the order of their numbers, whether or not images wait.
    pub fn devices(&self) -> impl DoubleEndedIterator<Item = &'static Device> {
        (0..self.device_count()).filter_map(|number| self.device_unprepared(number))
    }

    /// A device by number, with all images loaded and globals mapped.
    ///
    /// # Errors
    /// There is none of that number, or it cannot be made ready.
    #[inline]
    pub fn device(&self, number: i64, site: &Site) -> Result<&'static Device> {
        let device = usize::try_from(number).ok().and_then(|number| self.device_unprepared(number));
        match device {
            Some(device) if !device.has_pending_images() => Ok(device),
            Some(device) => self.prepare(device, site).map(|()| device),
            None => Err(self.no_such_device(number, site)),
        }
    }

    #[cold]
    fn no_such_device(&self, number: i64, site: &Site) -> Box<Error> {
        let available = self.device_count();
        let kind = if available == 0 {
            let registry = self.registry();
            let images = registry.libraries.iter().flat_map(Library::describe_images).collect();
            ErrorKind::NoDevices { images, backends: registry.describe_backends() }
        } else {
            ErrorKind::NoSuchDevice { number, available }
        };
        Error::new(kind, -1, site.location())
    }

    /// Why the program has no device, for front ends that are asked to offload
    /// without one.
    #[must_use]
    pub fn why_no_devices(&self, site: &Site) -> Box<Error> {
        self.no_such_device(0, site)
    }

    /// Adds a `requires` clause.
    ///
    /// # Errors
    /// An earlier translation unit with target regions did not have it.
    pub fn require(&self, flags: u64) -> Result<()> {
        const CHECKED: [(u64, &str); 3] = [
            (requirement::REVERSE_OFFLOAD, "reverse_offload"),
            (requirement::UNIFIED_ADDRESS, "unified_address"),
            (requirement::UNIFIED_SHARED_MEMORY, "unified_shared_memory"),
        ];
        let before = self.requirements.fetch_or(flags, Ordering::AcqRel);
        let disagree = |&&(bit, _): &&(u64, &str)| before != 0 && (before ^ flags) & bit != 0;
        match CHECKED.iter().find(disagree) {
            None => Ok(()),
            Some(&(_, clause)) => Err(Error::new(ErrorKind::Requires { clause }, -1, None)),
        }
    }

    /// The `requires` clauses of the program.
    #[inline]
    #[must_use]
    pub fn requirements(&self) -> u64 {
        self.requirements.load(Ordering::Relaxed)
    }

    /// Whether the program requires unified shared memory.
    #[inline]
    #[must_use]
    pub fn unified_shared_memory(&self) -> bool {
        self.requirements() & requirement::UNIFIED_SHARED_MEMORY != 0
    }

    /// Registers a library: decides which device takes which image, and numbers
    /// the devices of types that were not in use before. Loads nothing. Answers the
    /// images that no back end takes.
    pub fn register(&self, registration: Registration) -> Vec<&'static [u8]> {
        let mut strangers = Vec::new();
        let mut registry = self.registry();
        let mut library = Library::new(registration);
        for (index, &image) in library.images.clone().iter().enumerate() {
            let Some(taker) = registry.backends.iter().position(|state| state.backend.recognises(image))
            else {
                strangers.push(image);
                continue;
            };
            library.takers[index] = Some(registry.backends[taker].backend.name());
            let (first, count) = self.number_devices(&mut registry.backends[taker]);
            for number in first..first + count {
                library.place(number, index);
            }
        }
        // SAFETY: the boxed slice stays put until `unregister` removes it here.
        unsafe { self.regions.add(library.regions.iter()) };
        let numbers = library.placements.len();
        registry.libraries.push(library);
        for device in (0..numbers).filter_map(|number| self.device_unprepared(number)) {
            device.images_pending.store(true, Ordering::Release);
        }
        strangers
    }

    /// Gives a back end's devices their numbers; answers the first and how many.
    fn number_devices(&self, state: &mut BackendState) -> (usize, usize) {
        let count = state.backend.device_count();
        // A type whose devices do not all get a number has the same first ones always.
        let first = state.first_device.unwrap_or_else(|| self.device_count());
        let count = count.min(MAX_DEVICES - first);
        if state.first_device.is_some() {
            return (first, count);
        }
        state.backend.numbered(first);
        for ordinal in 0..count {
            let number = first + ordinal;
            let device = Box::new(Device::new(number as i32, state.backend, ordinal));
            self.devices[number].store(Box::into_raw(device), Ordering::Release);
        }
        state.first_device = Some(first);
        self.device_count.store(first + count, Ordering::Release);
        (first, count)
    }

    /// Makes every back end's devices available, images or not.
    pub fn number_all_devices(&self) {
        let mut registry = self.registry();
        for state in &mut registry.backends {
            self.number_devices(state);
        }
    }

    /// Unregisters a library: its globals leave the devices, its images are unloaded.
    pub fn unregister(&self, key: usize) {
        let mut registry = self.registry();
        let Some(position) = registry.libraries.iter().position(|library| library.key == key) else { return };
        let library = registry.libraries.remove(position);
        self.regions.remove(library.regions.iter().map(|region| region.host));
        for (number, placement) in library.placements.iter().enumerate() {
            if let (Placement::Loaded { mapped, .. }, Some(device)) =
                (placement, self.device_unprepared(number))
            {
                for &host in mapped {
                    let _ = device.table.disassociate(host);
                }
            }
        }
        // Device destructors run while the modules are dropped; they may come
        // back to the runtime.
        drop(registry);
        drop(library);
    }

    /// The region at a host address and its kernel on a device.
    #[inline]
    fn region(&self, device: &'static Device, host: usize, site: &Site) -> Result<(&Region, KernelHandle)> {
        if let Some(region) = self.regions.find(host) {
            if let Some(kernel) = region.kernel(device.number() as usize) {
                return Ok((region, kernel));
            }
            return self.resolve(device, region, site).map(|kernel| (region, kernel));
        }
        Err(Error::new(ErrorKind::UnknownRegion { address: host }, device.number(), site.location()))
    }

    /// Looks a region's kernel up in the image that its library has on the device.
    #[cold]
    fn resolve(&self, device: &'static Device, region: &Region, site: &Site) -> Result<KernelHandle> {
        let registry = self.registry();
        let number = device.number() as usize;
        let has_region = |library: &&Library| library.regions.iter().any(|r| std::ptr::eq(r, region));
        let Some(library) = registry.libraries.iter().find(has_region) else {
            let kind = ErrorKind::UnknownRegion { address: region.host };
            return Err(Error::new(kind, device.number(), site.location()));
        };
        let kind = match library.placements.get(number) {
            Some(Placement::Loaded { module, .. }) => match module.kernel(region.name) {
                Ok(kernel) => {
                    region.set_kernel(number, kernel);
                    return Ok(kernel);
                }
                Err(error) => ErrorKind::NoKernel(error),
            },
            Some(Placement::Failed(error)) => ErrorKind::ImageLoad(error.clone()),
            Some(Placement::None | Placement::Pending(_)) | None => ErrorKind::NoImage {
                backend: device.backend().name().to_owned(),
                images: library.describe_images(),
                devices: self.describe_devices(),
            },
        };
        Err(Error::new(kind, device.number(), site.location()))
    }

    fn describe_devices(&self) -> Vec<String> {
        self.devices()
            .map(|device| format!("device {}: {}", device.number(), device.backend().name()))
            .collect()
    }

    /// Runs a target region on a device. The job is done when
    /// [`Job::complete`] returns.
    ///
    /// # Errors
    /// The region could not be run; nothing stays mapped.
    #[inline]
    pub fn run(
        &self,
        device: &'static Device,
        site: Site,
        host: usize,
        arguments: &Arguments<'_>,
        shape: &Shape,
    ) -> Result<Box<Job>> {
        let (region, kernel) = self.region(device, host, &site)?;
        let mut job = Job::start(device, site, self.unified_shared_memory())?;
        job.run(region, kernel, arguments, shape)?;
        Ok(job)
    }

    /// Begins, ends or updates data on a device. The job is done when
    /// [`Job::complete`] returns.
    ///
    /// # Errors
    /// See [`ErrorKind`]. A beginning that failed has mapped nothing; an end that
    /// failed has unmapped all the same.
    #[inline]
    pub fn data(
        &self,
        device: &'static Device,
        site: Site,
        operation: DataOperation,
        arguments: &Arguments<'_>,
    ) -> Result<Box<Job>> {
        let mut job = Job::start(device, site, self.unified_shared_memory())?;
        job.move_data(operation, arguments)?;
        Ok(job)
    }
}

impl Registry {
    fn describe_backends(&self) -> Vec<String> {
        let describe = |state: &BackendState| {
            let backend = state.backend;
            match (backend.device_count(), backend.why_absent()) {
                (0, Some(why)) => format!("{}: no devices ({why})", backend.name()),
                (count, _) => format!("{}: {count} device(s)", backend.name()),
            }
        };
        self.backends.iter().map(describe).collect()
    }
}
