//! Loading images onto devices, when a device is first used after a library has
//! been registered.
//!
//! Called by [`Runtime::device`] only, one thread at a time for each device. Must
//! not hold the registry while an image is loaded: its constructors may register
//! libraries of their own.

use super::Runtime;
use crate::device::{Device, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::events::{self, Site, Step};
use crate::label::Label;
use crate::library::{EntryKind, HostEntry, Placement};
use crate::present::{Counter, NewEntry, Relation};
use gangway_backend::{DevicePtr, Launch, Module, Session, SourceText};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

impl Runtime {
    /// Loads what waits to be loaded on a device.
    #[cold]
    pub(super) fn prepare(&self, device: &'static Device, site: &Site) -> Result<()> {
        let _loading = device.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if !device.has_pending_images() {
            return Ok(());
        }
        let opened = device.open()?;
        let number = device.number() as usize;
        let mut first_error = None;
        // The registry is not locked while an image is loaded: its constructors
        // may register libraries of their own.
        while let Some((key, image, globals)) = self.next_pending(device) {
            let loaded = events::step(
                device.number(),
                site,
                || Step::Load { image, loaded: false },
                || opened.device.load(image),
                |result| Step::Load { image, loaded: result.is_ok() },
            );
            let placed = loaded.and_then(|module| {
                let mut mapped = Vec::new();
                let ready = self
                    .map_globals(device, opened, &globals, &*module, &mut mapped)
                    .and_then(|()| construct(device, opened, &*module));
                if ready.is_err() {
                    // Their storage goes with the module.
                    mapped.iter().for_each(|&host| _ = device.table.disassociate(host));
                }
                ready.map(|()| Placement::Loaded { module, mapped })
            });
            let placement = match placed {
                Ok(placement) => placement,
                Err(error) => {
                    first_error.get_or_insert_with(|| error.clone());
                    Placement::Failed(error)
                }
            };
            let mut registry = self.registry();
            match registry.libraries.iter_mut().find(|library| library.key == key) {
                Some(library) => library.placements[number] = placement,
                None => {
                    // It has been unregistered meanwhile. The module's destructors
                    // may come back to the runtime.
                    drop(registry);
                    if let Placement::Loaded { mapped, .. } = &placement {
                        mapped.iter().for_each(|&host| _ = device.table.disassociate(host));
                    }
                }
            }
        }
        match first_error {
            None => Ok(()),
            Some(error) => Err(Error::new(ErrorKind::ImageLoad(error), device.number(), site.location())),
        }
    }

    /// Takes the next library that waits to be loaded on a device. With none left
    /// the device becomes ready for other threads, in the same critical section:
    /// a library registered meanwhile is not overlooked.
    fn next_pending(&self, device: &Device) -> Option<(usize, &'static [u8], Vec<HostEntry>)> {
        let mut registry = self.registry();
        let next = registry.libraries.iter_mut().find_map(|library| {
            let placement = library.placements.get_mut(device.number() as usize)?;
            let Placement::Pending(index) = *placement else { return None };
            *placement = Placement::None;
            Some((library.key, library.images[index], library.globals.clone()))
        });
        if next.is_none() {
            device.images_pending.store(false, Ordering::Release);
        }
        next
    }

    /// Ties the library's globals to their device copies; adds to `mapped` which.
    fn map_globals(
        &self,
        device: &Device,
        opened: &Opened,
        globals: &[HostEntry],
        module: &dyn Module,
        mapped: &mut Vec<usize>,
    ) -> std::result::Result<(), gangway_backend::Error> {
        for global in globals {
            let mut storage = module.global(&global.name.to_string_lossy(), global.size)?;
            if global.kind == EntryKind::Indirect {
                storage = read_word(device, opened, storage)?;
            } else if self.unified_shared_memory() && !device.table_has(global.address, global.size) {
                // With unified shared memory the device's symbol is a reference to
                // the host's variable, and the host's entry holds its address.
                let host = global.address as *const u8;
                // SAFETY: both are `size` bytes by the compiler's table.
                let copy =
                    |stream| unsafe { opened.device.copy_to_device(storage, host, global.size, stream) };
                device.at_once(opened, copy)?;
            }
            // Fortran declares the same symbol in several libraries; the first
            // registered one keeps it.
            let inserted = device.table.insert(&NewEntry {
                host_begin: global.address,
                size: global.size,
                host_base: global.address,
                label: Label::of_symbol(global.name),
                counter: Counter::Dynamic,
                associated: Some(storage),
            });
            if inserted.is_ok() {
                mapped.push(global.address);
            }
        }
        Ok(())
    }
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
            kernel,
            name: "",
            source: SourceText::NONE,
            teams: [1; 3],
            thread_limit: [1; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
        };
        device.at_once(opened, |stream| {
            let mut session = Session::new(stream);
            opened.device.argument_table(&mut session, 0)?;
            // SAFETY: constructors take no arguments.
            unsafe { opened.device.launch(&launch, &mut session, 0) }
        })
    })
}
