//! Libraries come and go; the runtime starts and ends with them.

use crate::abi::{BinaryDescriptor, DeviceImage, KIND_OPENMP, LegacyOffloadEntry, OffloadEntry, entry_flags};
use crate::front_end::start;
use crate::requires::require;
use gangway_frontend::guard::guard;
use gangway_frontend::libraries;
use gangway_openacc::queues;
use gangway_runtime::{EntryKind, HostEntry, Registration};
use std::ffi::CStr;

/// Registers the images of a program or shared library; called by a constructor.
///
/// # Safety
/// The descriptor is the linker wrapper's, and stays until it is unregistered.
pub unsafe extern "C" fn __tgt_register_lib(descriptor: *const BinaryDescriptor) {
    guard((), || {
        start();
        // SAFETY: the caller's promise.
        let Some(descriptor) = (unsafe { descriptor.as_ref() }) else { return };
        // SAFETY: as above.
        let (entries, requires) = unsafe { read_entries(descriptor) };
        // One for each translation unit: they have to agree.
        requires.into_iter().for_each(require);
        // SAFETY: as above.
        let images = unsafe { read_images(descriptor) };
        let key = std::ptr::from_ref(descriptor).addr();
        libraries::register(Registration { key, images, entries, ..Registration::default() });
    });
}

/// Unregisters what [`__tgt_register_lib`] registered; called at exit or when a
/// shared library is closed.
///
/// # Safety
/// The descriptor was registered.
pub unsafe extern "C" fn __tgt_unregister_lib(descriptor: *const BinaryDescriptor) {
    guard((), || {
        queues::settle();
        libraries::unregister(descriptor.addr());
    });
}

/// Starts the runtime without a library.
pub extern "C" fn __tgt_rtl_init() {
    guard((), start);
}

/// Ends what [`__tgt_rtl_init`] began. The runtime itself stays usable: libraries
/// may still be registered.
pub extern "C" fn __tgt_rtl_deinit() {
    guard((), libraries::finish_without);
}

/// Makes the devices of all back ends available, images or not.
pub extern "C" fn __tgt_init_all_rtls() {
    guard((), || {
        start();
        libraries::number_all_devices();
    });
}

/// The way compilers before clang 17 passed `requires` clauses.
pub extern "C" fn __tgt_register_requires(flags: i64) {
    guard((), || {
        start();
        require(flags as u64);
    });
}

/// # Safety
/// The descriptor is the linker wrapper's.
unsafe fn read_images(descriptor: &BinaryDescriptor) -> Vec<&'static [u8]> {
    let count = usize::try_from(descriptor.image_count).unwrap_or(0);
    if descriptor.images.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    let images = unsafe { std::slice::from_raw_parts(descriptor.images, count) };
    let bytes = |image: &DeviceImage| {
        let size = image.end.addr().saturating_sub(image.start.addr());
        // SAFETY: start and end delimit the image in the program's data.
        if image.start.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(image.start, size) } }
    };
    images.iter().map(bytes).collect()
}

/// Reads the entry table in either layout; also answers the `requires` clauses of
/// each translation unit that has any.
///
/// # Safety
/// The descriptor is the linker wrapper's.
unsafe fn read_entries(descriptor: &BinaryDescriptor) -> (Vec<HostEntry>, Vec<u64>) {
    let size = descriptor.entries_end.addr().saturating_sub(descriptor.entries_begin.addr());
    let begin = descriptor.entries_begin;
    if begin.is_null() || size == 0 {
        return (Vec::new(), Vec::new());
    }
    let mut requires = Vec::new();
    let mut entries = Vec::new();
    let mut add = |address: usize, name, size: u64, flags: u32, data: u64| {
        if flags & entry_flags::REQUIRES != 0 {
            requires.push(data);
            return;
        }
        // SAFETY: entries carry their symbol's name as a constant.
        let name: &'static CStr = unsafe { CStr::from_ptr(name) };
        let kind = if size == 0 {
            EntryKind::Kernel
        } else if flags & (entry_flags::INDIRECT | entry_flags::INDIRECT_VTABLE) != 0 {
            EntryKind::Indirect
        } else {
            EntryKind::Global
        };
        let relic =
            kind == EntryKind::Kernel && flags & (entry_flags::CONSTRUCTOR | entry_flags::DESTRUCTOR) != 0;
        if address != 0 && !relic {
            entries.push(HostEntry { kind, address, name, size: size as usize });
        }
    };
    // The present layout begins with eight zero bytes where the older one has an
    // address, which tells them apart. If these are damaged, the next ones still tell: they would
    // be a name's address in the first pages of memory.
    // SAFETY: the caller's promise.
    unsafe {
        let OffloadEntry { reserved, version, kind, flags, .. } = *begin;
        if reserved == 0 || (version == 1 && kind == KIND_OPENMP && flags <= entry_flags::ALL) {
            let table = std::slice::from_raw_parts(begin, size / size_of::<OffloadEntry>());
            for entry in table.iter().filter(|entry| entry.kind == KIND_OPENMP) {
                add(entry.address, entry.name, entry.size, entry.flags, entry.data);
            }
        } else {
            let begin = begin.cast::<LegacyOffloadEntry>();
            for entry in std::slice::from_raw_parts(begin, size / size_of::<LegacyOffloadEntry>()) {
                add(entry.address, entry.name, entry.size, entry.flags as u32, entry.data as u64);
            }
        }
    }
    (entries, requires)
}
