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
use crate::library::{EntryKind, HostEntry, Library, Mailbox, Placement, describe_image};
use gangway_backend::{Copies, DevicePtr, Kernel, Launch, Module, Session, SourceText, Stream, TableRequest};
use gangway_host_calls::{FunctionTable, Held};
use gangway_present::Label;
use gangway_present::{Counter, NewEntry, Relation};
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A library that waits to be loaded on a device.
struct Waiting {
    key: usize,
    serial: u64,
    /// Those of its images that may run there, in the compiler's order.
    images: Vec<&'static [u8]>,
    globals: Vec<HostEntry>,
    indirect: Option<Arc<FunctionTable>>,
    mailbox: Option<Arc<Mailbox>>,
}

/// An image that has been loaded and whose constructors have run.
struct Ready {
    module: Box<dyn Module>,
    /// Device storage of each of the library's globals.
    storages: Vec<DevicePtr>,
    mailbox: Option<Held>,
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
        if self.unified_shared_memory() {
            device.backend().require_unified_memory();
        }
        let opened = device.open()?;
        if self.unified_shared_memory() && !opened.capabilities.unified_memory {
            // Its kernels would follow addresses of the host.
            return Err(Error::new(ErrorKind::LacksUnifiedMemory, device.number(), site.location()));
        }
        opened.device.numbered(device.number(), self.device_count() as i32);
        let mut first_error = None;
        while let Some(waiting) = self.next_pending(device) {
            let load = || -> std::result::Result<_, gangway_backend::Error> {
                let ready = self.load_best(device, opened, &waiting, site)?;
                run_alone(device, opened, ready.module.constructors()?)?;
                Ok(ready)
            };
            let ready = prepared(opened, load);
            if let Err(error) = &ready {
                device.lacks_images.store(true, Ordering::Relaxed);
                first_error.get_or_insert_with(|| error.clone());
            }
            self.place(device, &waiting, ready);
        }
        match first_error {
            None => Ok(()),
            Some(error) => Err(device.error(ErrorKind::ImageLoad(error), site.location())),
        }
    }

    /// Loads the image that suits the device best, of those that it can load.
    fn load_best(
        &self,
        device: &'static Device,
        opened: &Opened,
        waiting: &Waiting,
        site: &Site,
    ) -> std::result::Result<Ready, gangway_backend::Error> {
        let mut ranked = Vec::new();
        let mut refusals = Vec::new();
        for &image in &waiting.images {
            match opened.device.fitness(image) {
                Ok(rank) => ranked.push((rank, image)),
                Err(error) => refusals.push((image, error)),
            }
        }
        // Stable: what is equally good stays in the compiler's order.
        ranked.sort_by_key(|&(rank, _)| Reverse(rank));
        for (_, image) in ranked {
            let loaded = events::step(
                device.number(),
                site,
                || Step::Load { image, loaded: false },
                || opened.device.load(image),
                |result| Step::Load { image, loaded: result.is_ok() },
            );
            let ready = loaded.and_then(|module| {
                let storages = self.find_globals(device, opened, &waiting.globals, &*module)?;
                let mut pairs = indirect_pairs(&waiting.globals, &storages);
                if let Some(table) = &waiting.indirect {
                    let functions = table.read(device, &*module)?;
                    pairs.extend(functions.into_iter().map(|(at, host)| (host, DevicePtr(at as usize))));
                    pairs.sort_unstable();
                }
                if !pairs.is_empty() {
                    module.indirect_calls(&pairs)?;
                }
                opened.host_calls.connect(device, &*opened.device, &*module)?;
                let connect = |mailbox: &Arc<Mailbox>| {
                    let serve = mailbox.serve;
                    let serve = Box::new(move |call: &_| serve(device, call));
                    let Mailbox { functions, pointer, .. } = &**mailbox;
                    opened.host_calls.connect_mailbox(
                        device,
                        &*opened.device,
                        &*module,
                        functions,
                        pointer,
                        serve,
                    )
                };
                let mailbox = waiting.mailbox.as_ref().map(connect).transpose()?.flatten();
                Ok(Ready { module, storages, mailbox })
            });
            match ready {
                Ok(ready) => return Ok(ready),
                Err(error) => refusals.push((image, error)),
            }
        }
        Err(none_of(refusals, device.backend().name()))
    }

    /// The next library that waits to be loaded on a device. With none left
    /// the device becomes ready for other threads, in the same critical section:
    /// a library registered meanwhile is not overlooked.
    fn next_pending(&self, device: &Device) -> Option<Waiting> {
        let registry = self.registry();
        let next = registry.libraries.iter().find_map(|library| {
            let placement = library.placements.get(device.number() as usize)?;
            let Placement::Pending(indices) = placement else { return None };
            let images = indices.iter().map(|&index| library.images[index]).collect();
            let (key, serial) = (library.key, library.serial);
            let (indirect, mailbox) = (library.indirect.clone(), library.mailbox.clone());
            Some(Waiting { key, serial, images, globals: library.globals.clone(), indirect, mailbox })
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
            if let Ok(Ready { module, .. }) = ready {
                destroy(device, &*module);
            }
            return;
        };
        let mut tied = Vec::new();
        *placement = match ready {
            Ok(Ready { module, storages, mailbox }) => {
                tied = map_globals(device, &waiting.globals, &storages);
                let mapped = tied.iter().map(|(global, _)| global.address).collect();
                Placement::Loaded { module: module.into(), mapped, _mailbox: mailbox }
            }
            Err(error) => Placement::Failed(error),
        };
        drop(registry);
        for (global, storage) in tied {
            device.notice_associated(global.address, global.size, storage, Label::of_symbol(global.name));
        }
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
                let copy = |stream: &dyn Stream| unsafe { stream.copy_to_device(storage, host, global.size) };
                device.at_once(opened, copy)?;
            }
            Ok(storage)
        };
        globals.iter().map(find).collect()
    }
}

/// Does what makes a device ready for all who use it. Where races are looked for, it may be a task's thread that comes first;
/// other tasks find the device ready and wait for nothing.
fn prepared<T>(opened: &Opened, prepare: impl FnOnce() -> T) -> T {
    opened.on_behalf(Copies::Prepares, prepare)
}

/// What device code that calls through host addresses has to know: each function, and each
/// word of a virtual table, as the address of an object may point to any of them.
fn indirect_pairs(globals: &[HostEntry], storages: &[DevicePtr]) -> Vec<(usize, DevicePtr)> {
    let words = |(global, &storage): (&HostEntry, &DevicePtr)| {
        let offsets = (0..global.size).step_by(size_of::<usize>());
        let (host, indirect) = (global.address, global.kind == EntryKind::Indirect);
        indirect
            .then(|| offsets.map(move |offset| (host + offset, storage.offset(offset as isize))))
            .into_iter()
            .flatten()
    };
    let mut pairs: Vec<_> = globals.iter().zip(storages).flat_map(words).collect();
    pairs.sort_unstable();
    pairs
}

/// Ties a library's globals to their device storage; answers those that it has got.
/// Fortran declares the same symbol in several libraries: the
/// first registered one keeps it.
fn map_globals<'g>(
    device: &Device,
    globals: &'g [HostEntry],
    storages: &[DevicePtr],
) -> Vec<(&'g HostEntry, DevicePtr)> {
    let tie = |(global, &storage): (&'g HostEntry, &DevicePtr)| {
        let inserted = device.table.insert(&NewEntry {
            host_begin: global.address,
            size: global.size,
            host_base: global.address,
            label: Label::of_symbol(global.name),
            counter: Counter::Dynamic,
            associated: Some(storage),
        });
        inserted.is_ok().then_some((global, storage))
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
    let copy = |stream: &dyn Stream| unsafe { stream.copy_from_device(to.cast(), from, size_of::<usize>()) };
    device.at_once(opened, copy)?;
    Ok(DevicePtr(word))
}

/// Why none of several images could be loaded; with one, just that.
fn none_of(
    mut refusals: Vec<(&'static [u8], gangway_backend::Error)>,
    backend: &str,
) -> gangway_backend::Error {
    if refusals.len() == 1 {
        return refusals.remove(0).1;
    }
    let mut reason = format!("none of its {} images for {backend} devices can be", refusals.len());
    for (image, error) in &refusals {
        let why = match error {
            gangway_backend::Error::InvalidImage { reason } => reason.clone(),
            other => other.to_string(),
        };
        let _ = write!(reason, "\n    {}: {why}", describe_image(image, Some(backend)));
    }
    gangway_backend::Error::InvalidImage { reason }
}

/// Runs the kernels that an image wants to be run before it is unloaded. A failure has
/// nobody to be told to, and is no reason to keep the image.
pub(super) fn destroy(device: &Device, module: &dyn Module) {
    if let (Ok(opened), Ok(kernels)) = (device.open(), module.destructors()) {
        let _ = run_alone(device, opened, kernels);
    }
}

/// Runs kernels of an image one after the other, with one thread and without arguments.
fn run_alone(
    device: &Device,
    opened: &Opened,
    kernels: Vec<Kernel>,
) -> std::result::Result<(), gangway_backend::Error> {
    kernels.into_iter().try_for_each(|kernel| {
        let launch = Launch {
            kernel: &kernel,
            name: "",
            source: SourceText::NONE,
            teams: [1; 3],
            thread_limit: [1; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        let mut session = Session::default();
        let done = device.at_once(opened, |stream| {
            if let Some(size) = opened.capabilities.sessions {
                session.start(size, |state| stream.session_start(state))?;
            }
            let table = stream.argument_table(&mut session, &kernel, TableRequest::EMPTY)?;
            // SAFETY: constructors take no arguments.
            unsafe { stream.launch(&launch, table) }
        });
        session.end(|state| opened.device.session_end(state));
        done
    })
}
