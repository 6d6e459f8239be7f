//! The runtime itself: back ends, devices and libraries of the process.
//!
//! One [`Runtime`] per process, a static of the front end's library. Everything
//! on the launch path is read without a lock; registration is serialised.
//!
//! The registry's lock is short: nobody who holds it calls a back end, since that may
//! wait for the system's loader, whose lock another thread may hold that waits here
//! (libraries register themselves while they are loaded).

use crate::constants;
use crate::device::Device;
use crate::environment::Counted;
use crate::error::{Error, ErrorKind, Result};
use crate::events::Site;
use crate::items::Items;
use crate::library::{Library, Placement, Registration, Taker};
use crate::placement::Place;
use crate::regions::{MAX_DEVICES, Region, Regions};
use crate::requirements::{Required, Requirements};
use crate::shape::Shape;
use crate::target::{DataOperation, Job};
use gangway_backend::{Backend, HostWatcher, Kernel, Module};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod fork;
mod loading;
mod numbering;
mod placing;
mod questions;
mod queued;

pub use fork::Forking;
pub use questions::{KernelQuestions, properties};

/// The offload runtime of a process.
pub struct Runtime {
    devices: [AtomicPtr<Device>; MAX_DEVICES],
    device_count: AtomicUsize,
    /// Whether there are libraries whose devices have not been counted.
    unplaced: AtomicBool,
    required: Required,
    regions: Regions,
    registry: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    /// [`Runtime::start`] has been called.
    started: bool,
    backends: Vec<BackendState>,
    libraries: Vec<Library>,
    /// Libraries registered so far: the next one's serial number.
    registered: u64,
    /// Devices that have numbers.
    numbered: usize,
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
            unplaced: AtomicBool::new(false),
            required: Required::new(),
            regions: Regions::new(),
            registry: Mutex::new(Registry {
                started: false,
                backends: Vec::new(),
                libraries: Vec::new(),
                registered: 0,
                numbered: 0,
            }),
        }
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a back end; the order decides the numbering of devices.
    pub fn add_backend(&self, backend: Box<dyn Backend>) {
        self.registry().add(backend);
    }

    /// Adds the back ends of the process, unless another thread has. False: it has.
    /// Several threads may make them at the same time, since that may call out.
    pub fn start(&self, backends: Vec<Box<dyn Backend>>) -> bool {
        let mut registry = self.registry();
        if std::mem::replace(&mut registry.started, true) {
            return false;
        }
        backends.into_iter().for_each(|backend| registry.add(backend));
        true
    }

    /// The back ends by index, to be asked without a lock.
    fn backend_list(&self) -> Vec<&'static dyn Backend> {
        self.registry().backends.iter().map(|state| state.backend).collect()
    }

    /// Who wants to hear of what the program's own threads do; asks each back end.
    #[must_use]
    pub fn host_watchers(&self) -> Vec<&'static dyn HostWatcher> {
        self.backend_list().into_iter().filter_map(|backend| backend.host_watcher()).collect()
    }

    /// The back ends; asks each for its devices.
    #[must_use]
    pub fn backends(&self) -> Vec<BackendInfo> {
        let info = |backend: &'static dyn Backend| {
            let devices = backend.device_count();
            BackendInfo {
                name: backend.name().to_owned(),
                devices,
                why_absent: if devices == 0 { backend.why_absent() } else { None },
            }
        };
        self.backend_list().into_iter().map(info).collect()
    }

    /// Number of devices the program can name. The first who asks has them counted.
    #[inline]
    #[must_use]
    pub fn device_count(&self) -> usize {
        match self.device_count.load(Ordering::Acquire) {
            0 => self.count_devices(),
            count => count,
        }
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

    /// The devices that somebody has asked for; no back end is asked for more.
    pub fn numbered_devices(&self) -> impl DoubleEndedIterator<Item = &'static Device> {
        let count = self.device_count.load(Ordering::Acquire);
        (0..count).filter_map(|number| self.device_unprepared(number))
    }

    /// A device by number, with all images loaded and globals mapped.
    ///
    /// # Errors
    /// There is none of that number, or it cannot be made ready.
    #[inline]
    pub fn device(&self, number: i64, site: &Site) -> Result<&'static Device> {
        // Asking for the number of devices gives them theirs.
        let number_of_one = usize::try_from(number).ok().filter(|&number| number < self.device_count());
        match number_of_one.and_then(|number| self.device_unprepared(number)) {
            Some(device) if !device.has_pending_images() => Ok(device),
            Some(device) => self.prepare(device, site).map(|()| device),
            None => Err(self.no_such_device(number, site)),
        }
    }

    #[cold]
    fn no_such_device(&self, number: i64, site: &Site) -> Box<Error> {
        let available = self.device_count();
        let kind = if available == 0 {
            let images = self.registry().libraries.iter().flat_map(Library::describe_images).collect();
            let backends = self.backends().iter().map(BackendInfo::describe).collect();
            ErrorKind::NoDevices { images, backends }
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

    /// The symbol of the region whose host version is at an address.
    #[must_use]
    pub fn region_name(&self, host: usize) -> Option<&'static str> {
        self.regions.find(host).map(|region| region.name)
    }

    /// Adds what a translation unit with target regions requires.
    ///
    /// # Errors
    /// An earlier one requires something else.
    pub fn require(&self, unit: Requirements) -> Result<()> {
        let disagree = |clause| Error::new(ErrorKind::Requires { clause }, -1, None);
        self.required.add(unit).map_err(disagree)
    }

    /// What the program requires.
    #[inline]
    #[must_use]
    pub fn requirements(&self) -> Requirements {
        self.required.all()
    }

    /// Whether the program requires unified shared memory.
    #[inline]
    #[must_use]
    pub fn unified_shared_memory(&self) -> bool {
        self.requirements().has(Requirements::UNIFIED_SHARED_MEMORY)
    }

    /// Registers a library: decides which back end takes which image. Loads nothing, and asks no
    /// back end for its devices unless others have their numbers already. Answers the images that
    /// no back end takes.
    pub fn register(&self, registration: Registration) -> Vec<&'static [u8]> {
        constants::look();
        let mut library = Library::new(registration);
        let backends = self.backend_list();
        let taker = |image: &&'static [u8]| {
            let index = backends.iter().position(|backend| backend.recognises(image))?;
            Some(Taker { index, name: backends[index].name() })
        };
        library.takers = library.images.iter().map(taker).collect();
        let unknown = |(image, taker): (&&'static [u8], &Option<_>)| taker.is_none().then_some(*image);
        let strangers = library.images.iter().zip(&library.takers).filter_map(unknown).collect();

        let mut registry = self.registry();
        // SAFETY: the boxed slice stays put until `unregister` removes it here.
        unsafe { self.regions.add(library.regions.iter()) };
        library.serial = registry.registered;
        registry.registered += 1;
        registry.libraries.push(library);
        self.unplaced.store(true, Ordering::Release);
        let numbered = registry.numbered != 0;
        drop(registry);
        if numbered {
            self.place_libraries();
        }
        strangers
    }

    /// Unregisters a library: its globals leave the devices, its images are unloaded.
    pub fn unregister(&self, key: usize) {
        let mut registry = self.registry();
        let Some(position) = registry.libraries.iter().position(|library| library.key == key) else { return };
        let library = registry.libraries.remove(position);
        self.regions.remove(library.regions.iter().map(|region| region.host));
        let mut untied = Vec::new();
        for (number, placement) in library.placements.iter().enumerate() {
            if let (Placement::Loaded { mapped, .. }, Some(device)) =
                (placement, self.device_unprepared(number))
            {
                let gone = mapped.iter().filter_map(|&host| device.table.disassociate(host).ok());
                untied.extend(gone.map(|removed| (device, removed)));
            }
        }
        let last = registry.libraries.is_empty();
        // Device destructors run while the modules are dropped; they may come
        // back to the runtime.
        drop(registry);
        for (device, removed) in untied {
            let size = removed.host_end - removed.host_begin;
            device.notice_disassociated(removed.host_begin, size, removed.device_begin);
        }
        for (number, placement) in library.placements.iter().enumerate() {
            if let (Placement::Loaded { module, .. }, Some(device)) =
                (placement, self.device_unprepared(number))
            {
                device.drain_queues();
                loading::destroy(device, &**module);
            }
        }
        drop(library);
        if last {
            // No code is left that could have a construct under way.
            self.numbered_devices().for_each(Device::release_idle);
        }
    }

    /// Runs the kernels that images want to be run before they are unloaded, though they stay loaded:
    /// the process is ending.
    #[cold]
    pub fn finalize(&self) {
        let mut modules = Vec::new();
        for library in &self.registry().libraries {
            for (number, placement) in library.placements.iter().enumerate() {
                if let (Placement::Loaded { module, .. }, Some(device)) =
                    (placement, self.device_unprepared(number))
                {
                    modules.push((device, Arc::clone(module)));
                }
            }
        }
        // The kernels may come back to the runtime.
        for (device, module) in modules {
            loading::destroy(device, &*module);
        }
    }

    /// Gives the back ends the memory that devices keep for later constructs. Constructs
    /// under way are none the worse for it.
    pub fn trim(&self) {
        self.numbered_devices().for_each(Device::trim);
    }

    /// The region at a host address and its kernel on a device.
    #[inline]
    fn region(&self, device: &'static Device, host: usize, site: &Site) -> Result<(&Region, &Kernel)> {
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
    fn resolve<'r>(&self, device: &'static Device, region: &'r Region, site: &Site) -> Result<&'r Kernel> {
        let number = device.number() as usize;
        let found = self.module_of(region, number).and_then(|(module, name)| {
            // Without the lock: the back end may ask the loader.
            module.kernel(name).map_err(ErrorKind::NoKernel)
        });
        match found {
            Ok(kernel) => Ok(region.set_kernel(number, kernel)),
            Err(mut kind) => {
                if let ErrorKind::NoImage { backend, devices, .. } = &mut kind {
                    device.backend().name().clone_into(backend);
                    *devices = self.describe_devices();
                }
                Err(device.error(kind, site.location()))
            }
        }
    }

    /// The image with a region that a device has, and what the region is called in it; holding it keeps it loaded.
    /// GCC's programs register each of their images by itself, with the same host addresses.
    fn module_of(
        &self,
        region: &Region,
        number: usize,
    ) -> std::result::Result<(Arc<dyn Module>, &'static str), ErrorKind> {
        let registry = self.registry();
        let (mut images, mut failed, mut is_known) = (Vec::new(), None, false);
        for library in &registry.libraries {
            let Some(its) = library.regions.iter().find(|its| its.host == region.host) else { continue };
            is_known = true;
            match library.placements.get(number) {
                Some(Placement::Loaded { module, .. }) => return Ok((Arc::clone(module), its.name)),
                Some(Placement::Failed(error)) => failed = Some(error.clone()),
                Some(Placement::None | Placement::Pending(_)) | None => {}
            }
            images.extend(library.describe_images());
        }
        Err(match failed {
            Some(error) => ErrorKind::ImageLoad(error),
            None if is_known => ErrorKind::NoImage { backend: String::new(), images, devices: Vec::new() },
            None => ErrorKind::UnknownRegion { address: region.host },
        })
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
        place: impl Into<Place>,
        site: Site,
        host: usize,
        items: &impl Items,
        shape: &Shape,
    ) -> Result<Box<Job>> {
        let place = place.into();
        let (region, kernel) = self.region(place.device(), host, &site)?;
        let mut job = Job::start(place, site, self.unified_shared_memory())?;
        job.run(region, kernel, items, shape)?;
        Ok(job)
    }

    /// Begins, ends or updates data on a device. The job is done when
    /// [`Job::complete`] returns. There is none where all is present and stays, so that nothing but
    /// counts has changed: the construct is over.
    ///
    /// # Errors
    /// See [`ErrorKind`]. A beginning that failed has mapped nothing; an end that
    /// failed has unmapped all the same, unless no job could be started: then nothing has happened.
    #[inline]
    pub fn data(
        &self,
        place: impl Into<Place>,
        site: Site,
        operation: DataOperation,
        items: &impl Items,
    ) -> Result<Option<Box<Job>>> {
        let place = place.into();
        let Counted::Some(counted) = Job::count(place.device(), operation, items) else { return Ok(None) };
        let device = place.device();
        let started = Job::start(place, site, self.unified_shared_memory());
        let mut job = started.inspect_err(|_| Job::take_back(device, operation, items, &counted))?;
        job.move_data(operation, items, &counted)?;
        Ok(Some(job))
    }

    /// The same for a construct that is to be over when this returns.
    ///
    /// # Errors
    /// As [`data`](Self::data), or a device operation failed.
    #[inline]
    pub fn data_and_wait(
        &self,
        place: impl Into<Place>,
        site: Site,
        operation: DataOperation,
        items: &impl Items,
    ) -> Result<()> {
        self.data(place, site, operation, items)?.map_or(Ok(()), |job| job.complete())
    }
}

impl Registry {
    fn add(&mut self, backend: Box<dyn Backend>) {
        let backend: &'static dyn Backend = Box::leak(backend);
        self.backends.push(BackendState { backend, first_device: None });
    }
}

impl BackendInfo {
    fn describe(&self) -> String {
        match (self.devices, &self.why_absent) {
            (0, Some(why)) => format!("{}: no devices ({why})", self.name),
            (count, _) => format!("{}: {count} device(s)", self.name),
        }
    }
}
