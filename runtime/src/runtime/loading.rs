//! Loading images onto devices, when a device is first used after a library has
//! been registered.
//!
//! Called by [`Runtime::device`] only, by one thread at a time for each device unless
//! one has waited for long ([`turn`](crate::turn)). Must not hold the registry while it
//! calls the back end: an image's constructors may register libraries of their own, and
//! the loader's lock may be held by a thread that registers one.

use super::Runtime;
use crate::device::{Device, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::events::{self, Site, Step};
use crate::label::Label;
use crate::library::{EntryKind, HostEntry, Library, Placement};
use crate::present::{Counter, NewEntry, Relation};
use gangway_backend::{DevicePtr, Launch, Module, Session, SourceText, TableRequest};
use std::sync::atomic::Ordering;

/// An image that waits to be loaded on a device.
struct Waiting {
    key: usize,
    serial: u64,
    image: &'static [u8],
    globals: Vec<HostEntry>,
}

/// An image that has been loaded and whose constructors have run.
struct Ready {
    module: Box<dyn Module>,
    /// Device storage of each of the library's globals.
    storages: Vec<DevicePtr>,
}

impl Runtime {
    /// Loads what waits to be loaded on a device.
    #[cold]
    pub(super) fn prepare(&self, device: &'static Device, site: &Site) -> Result<()> {
        // An image's own constructor gets no image.
        let Some(_turn) = device.loading.take() else { return Ok(()) };
        if !device.has_pending_images() {
            return Ok(());
        }
        let opened = device.open()?;
        let mut first_error = None;
        while let Some(waiting) = self.next_pending(device) {
            let image = waiting.image;
            let loaded = events::step(
                device.number(),
                site,
                || Step::Load { image, loaded: false },
                || opened.device.load(image),
                |result| Step::Load { image, loaded: result.is_ok() },
            );
            let ready = loaded.and_then(|module| {
                let storages = self.find_globals(device, opened, &waiting.globals, &*module)?;
                construct(device, opened, &*module)?;
                Ok(Ready { module, storages })
            });
            if let Err(error) = &ready {
                first_error.get_or_insert_with(|| error.clone());
            }
            self.place(device, &waiting, ready);
        }
        match first_error {
            None => Ok(()),
            Some(error) => Err(Error::new(ErrorKind::ImageLoad(error), device.number(), site.location())),
        }
    }

    /// The next library that waits to be loaded on a device. With none left
    /// the device becomes ready for other threads, in the same critical section:
    /// a library registered meanwhile is not overlooked.
    fn next_pending(&self, device: &Device) -> Option<Waiting> {
        let registry = self.registry();
        let next = registry.libraries.iter().find_map(|library| {
            let placement = library.placements.get(device.number() as usize)?;
            let Placement::Pending(index) = *placement else { return None };
            let (key, serial, image) = (library.key, library.serial, library.images[index]);
            Some(Waiting { key, serial, image, globals: library.globals.clone() })
        });
        if next.is_none() {
            device.images_pending.store(false, Ordering::Release);
        }
        next
    }

    /// Makes known what loading an image has led to. An image that is not wanted any
    /// more is unloaded: its library has been unregistered meanwhile, or another thread
    /// has been quicker.
    fn place(
        &self,
        device: &Device,
        waiting: &Waiting,
        ready: std::result::Result<Ready, gangway_backend::Error>,
    ) {
        let mut registry = self.registry();
        let is_it = |library: &&mut Library| library.key == waiting.key && library.serial == waiting.serial;
        let library = registry.libraries.iter_mut().find(is_it);
        let placement = library.map(|library| &mut library.placements[device.number() as usize]);
        let Some(placement @ Placement::Pending(_)) = placement else {
            // The module's destructors may come back to the runtime.
            drop(registry);
            return drop(ready);
        };
        *placement = match ready {
            Ok(Ready { module, storages }) => {
                let mapped = map_globals(device, &waiting.globals, &storages);
                Placement::Loaded { module: module.into(), mapped }
            }
            Err(error) => Placement::Failed(error),
        };
    }

    /// Finds the device storage of the library's globals.
    fn find_globals(
        &self,
        device: &Device,
        opened: &Opened,
        globals: &[HostEntry],
        module: &dyn Module,
    ) -> std::result::Result<Vec<DevicePtr>, gangway_backend::Error> {
        let find = |global: &HostEntry| {
            // What is indirect is a pointer, whatever the size of what it leads to.
            let indirect = global.kind == EntryKind::Indirect;
            let size = if indirect { size_of::<usize>() } else { global.size };
            let storage = module.global(&global.name.to_string_lossy(), size)?;
            if indirect {
                return read_word(device, opened, storage);
            }
            if self.unified_shared_memory()
                && !device.table_has(global.address, global.size)
                && module.is_writable(storage, global.size)
            {
                // With unified shared memory the device's symbol is a reference to
                // the host's variable, and the host's entry holds its address. A constant
                // has its value already.
                let host = global.address as *const u8;
                // SAFETY: both are `size` bytes by the compiler's table.
                let copy =
                    |stream| unsafe { opened.device.copy_to_device(storage, host, global.size, stream) };
                device.at_once(opened, copy)?;
            }
            Ok(storage)
        };
        globals.iter().map(find).collect()
    }
}

/// Ties a library's globals to their device storage; answers the host addresses of
/// those that it has got. Fortran declares the same symbol in several libraries: the
/// first registered one keeps it.
fn map_globals(device: &Device, globals: &[HostEntry], storages: &[DevicePtr]) -> Vec<usize> {
    let tie = |(global, &storage): (&HostEntry, &DevicePtr)| {
        let inserted = device.table.insert(&NewEntry {
            host_begin: global.address,
            size: global.size,
            host_base: global.address,
            label: Label::of_symbol(global.name),
            counter: Counter::Dynamic,
            associated: Some(storage),
        });
        inserted.is_ok().then_some(global.address)
    };
    globals.iter().zip(storages).filter_map(tie).collect()
}

impl Device {
    fn table_has(&self, host: usize, size: usize) -> bool {
        !matches!(self.table.lookup(host, size), Relation::Absent)
    }
}

/// Reads a pointer from device memory.
fn read_word(
    device: &Device,
    opened: &Opened,
    from: DevicePtr,
) -> std::result::Result<DevicePtr, gangway_backend::Error> {
    let mut word = 0usize;
    let to = &raw mut word;
    // SAFETY: the symbol is a pointer by the compiler's table; `word` lives until
    // the stream has been waited for.
    let copy =
        |stream| unsafe { opened.device.copy_from_device(to.cast(), from, size_of::<usize>(), stream) };
    device.at_once(opened, copy)?;
    Ok(DevicePtr(word))
}

/// Runs the kernels that an image wants to be run when it has been loaded.
fn construct(
    device: &Device,
    opened: &Opened,
    module: &dyn Module,
) -> std::result::Result<(), gangway_backend::Error> {
    module.constructors()?.into_iter().try_for_each(|kernel| {
        let launch = Launch {
            kernel: &kernel,
            name: "",
            source: SourceText::NONE,
            teams: [1; 3],
            thread_limit: [1; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
        };
        device.at_once(opened, |stream| {
            let mut session = Session::new(stream);
            let table = opened.device.argument_table(&mut session, &kernel, TableRequest::EMPTY)?;
            // SAFETY: constructors take no arguments.
            unsafe { opened.device.launch(&launch, table) }
        })
    })
}
