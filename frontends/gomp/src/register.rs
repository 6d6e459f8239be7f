//! Libraries come and go; the runtime starts and ends with them.

use crate::abi::{self, HostTable};
use crate::device_image::DeviceImage;
use crate::front_end::start;
use crate::images;
use crate::limits;
use crate::links;
use crate::open;
use crate::openacc::dimensions;
use crate::reverse;
use crate::words::WORDS;
use gangway_frontend::guard::guard;
use gangway_frontend::state::RUNTIME;
use gangway_frontend::{libraries, message, policy};
use gangway_image::GccTarget;
use gangway_openacc::queues;
use gangway_runtime::{EntryKind, FunctionTable, HostEntry, Registration, Requirements};
use std::ffi::{CStr, c_void};

/// The table of an image with the functions that are called by their host addresses.
const INDIRECT_TABLE: &CStr = c"$offload_ind_func_table";

/// Registers an image of a program or shared library; called by a constructor.
///
/// # Safety
/// The tables are GCC's, and stay until they are unregistered.
pub unsafe extern "C" fn GOMP_offload_register_ver(
    version: u32,
    host_table: *const HostTable,
    target: i32,
    data: *const c_void,
) {
    guard((), || {
        start();
        match check(version, target) {
            Ok(()) => {}
            Err(Unused::Target(why)) => {
                message::debug(format_args!("device code of the program is not used: {why}"));
                return;
            }
            // Code for a device that may be there: the program would compute on the host in silence.
            Err(Unused::Version(why)) => {
                message::print_line(format_args!(
                    "gangway: warning: device code of the program is not used: {why}"
                ));
                return;
            }
        }
        // SAFETY: the caller's promise.
        unsafe { register(version, target, &*host_table, data) };
    });
}

/// Unregisters what [`GOMP_offload_register_ver`] registered; called at exit or when a
/// shared library is closed.
///
/// # Safety
/// The image was registered.
pub unsafe extern "C" fn GOMP_offload_unregister_ver(
    _version: u32,
    _host_table: *const HostTable,
    _target: i32,
    data: *const c_void,
) {
    guard((), || {
        open::wait_for_all();
        queues::settle();
        if let Some(image) = images::take(data.addr()) {
            libraries::unregister(data.addr());
            links::remove(data.addr());
            limits::forget(data.addr());
            dimensions::remove(data.addr());
            // At the end of the process other threads may still be in target regions, whose
            // images stay.
            if !libraries::is_ending() {
                // SAFETY: the runtime does not have it any more.
                unsafe { image.free() };
            }
        }
    });
}

/// Why an image is not used.
#[derive(Debug, PartialEq, Eq)]
enum Unused {
    /// It is for another kind of device.
    Target(String),
    /// It is of a form that is not known.
    Version(String),
}

/// Whether an image is of a form that is known.
fn check(version: u32, target: i32) -> Result<(), Unused> {
    let known = abi::target::of(target);
    if !known.is_some_and(GccTarget::is_registered) {
        return Err(Unused::Target(match known.and_then(GccTarget::triple) {
            Some(triple) => format!("no back end takes images for {triple}"),
            None => format!("no back end takes images for GCC's offload target {target}"),
        }));
    }
    let (library, image) = (abi::library_version(version), abi::image_version(version));
    let (newest, release) = match known {
        Some(GccTarget::Gcn) => (abi::GCN_VERSION, 12),
        _ => (abi::NVPTX_VERSION, 16),
    };
    if library > abi::VERSION || image > newest {
        return Err(Unused::Version(format!(
            "it is of version {library}.{image} of libgomp's interface, expected {}.{newest} at most\n  \
             help: build it with GCC {release} or older",
            abi::VERSION,
        )));
    }
    Ok(())
}

/// What a program requires in the runtime's terms; `None` if it has not said anything.
fn requirements(bits: u32) -> Option<Requirements> {
    use abi::requires::{REVERSE_OFFLOAD, SELF_MAPS, UNIFIED_ADDRESS, UNIFIED_SHARED_MEMORY};
    let clause = |bits_of, clause| if bits & bits_of != 0 { clause } else { Requirements::NONE };
    let clauses = clause(REVERSE_OFFLOAD, Requirements::REVERSE_OFFLOAD)
        | clause(UNIFIED_ADDRESS, Requirements::UNIFIED_ADDRESS)
        | clause(UNIFIED_SHARED_MEMORY | SELF_MAPS, Requirements::UNIFIED_SHARED_MEMORY);
    (bits != 0).then_some(clauses)
}

/// # Safety
/// The tables are the program's, of this version.
unsafe fn register(version: u32, target: i32, host: &HostTable, data: *const c_void) {
    let key = data.addr();
    // SAFETY: the caller's promise.
    let (image, indirect) =
        unsafe { (DeviceImage::registered(version, target, data), host.indirect(version)) };
    // SAFETY: the caller's promise.
    let (functions, variables) = unsafe { (host.functions(), host.variables()) };
    let registered = [functions.len(), variables.len(), indirect.len()];
    let there = [image.kernels.len(), image.variables.len(), image.indirect];
    if registered != there {
        message::print_line(format_args!(
            "gangway: warning: the program registers {} functions, {} variables and {} functions for indirect \
             calls, but its device image has {}, {} and {}\n  help: build the program again",
            registered[0], registered[1], registered[2], there[0], there[1], there[2]
        ));
        return;
    }
    let DeviceImage { kernels, variables: symbols, required, ptx, joined, .. } = image;
    if let Some(Err(error)) = requirements(required).map(|clauses| RUNTIME.require(clauses)) {
        policy::terminate(&error, WORDS);
    }
    let kernel =
        |(&address, &(name, _)): (&usize, &_)| HostEntry { kind: EntryKind::Kernel, address, name, size: 0 };
    let global = |(variable, &name): (&abi::HostVariable, _)| {
        let (address, size) = (variable.address, variable.size());
        if variable.is_link() {
            let address = links::add(key, address, size);
            return HostEntry { kind: EntryKind::Global, address, name, size: size_of::<usize>() };
        }
        HostEntry { kind: EntryKind::Global, address, name, size }
    };
    let set = ptx.as_ref().and_then(|(texts, _)| limits::watch(key, texts));
    let entries = functions.iter().zip(&kernels).map(kernel);
    let entries = entries.chain(variables.iter().zip(&symbols).map(global)).chain(set).collect();
    dimensions::add(key, functions, kernels.iter().map(|&(_, dimensions)| dimensions));
    let image = images::keep(key, joined);
    let mailbox = ptx.filter(|_| required & abi::requires::REVERSE_OFFLOAD != 0).and_then(|(_, names)| {
        // SAFETY: the caller's promise.
        unsafe { reverse::mailbox(functions, names) }
    });
    let indirect =
        (!indirect.is_empty()).then(|| FunctionTable { symbol: INDIRECT_TABLE, host: indirect.to_vec() });
    libraries::register(Registration { key, images: vec![image], entries, indirect, mailbox });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(check(0x10001, 5), Ok(()));
        assert_eq!(check(0, 5), Ok(()));
        let other_device = |version, target| match check(version, target) {
            Err(Unused::Target(why)) => why,
            checked => panic!("{checked:?}"),
        };
        assert_eq!(check(0x10002, 8), Ok(()));
        assert!(other_device(0, 6).contains("for x86_64-intelmic-linux-gnu"));
        assert!(other_device(0x10002, 7).contains("target 7"));
        assert_eq!(check(0x30001, 5), Ok(()));
        // What raises the number to 4 is the interface with plug-ins.
        assert_eq!(check(0x40001, 5), Ok(()));
        let unknown = |version, target| matches!(check(version, target), Err(Unused::Version(_)));
        assert!(unknown(0x50001, 5) && unknown(0x40002, 5) && unknown(0x30002, 5));
        // GCC 13's kernels for AMD's GPUs.
        assert!(unknown(0x20003, 8));
    }

    #[test]
    fn requires_clauses_of_gcc() {
        assert_eq!(requirements(0), None);
        // A unit with target regions that requires nothing.
        assert_eq!(requirements(0x200), Some(Requirements::NONE));
        assert_eq!(requirements(0x280), Some(Requirements::REVERSE_OFFLOAD));
        let both = Requirements::UNIFIED_ADDRESS | Requirements::UNIFIED_SHARED_MEMORY;
        assert_eq!(requirements(0x230), Some(both));
        assert_eq!(requirements(0x600), Some(Requirements::UNIFIED_SHARED_MEMORY));
    }
}
