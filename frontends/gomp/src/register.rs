//! Libraries come and go; the runtime starts and ends with them.

use crate::abi::{self, HostTable, PtxImage};
use crate::front_end::start;
use crate::images;
use crate::links;
use crate::open;
use crate::openacc::dimensions;
use gangway_image::{GccTarget, ptx_objects};
use gangway_openmp::guard::guard;
use gangway_openmp::{libraries, message};
use gangway_runtime::{EntryKind, HostEntry, Registration};
use std::ffi::c_void;

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
        if let Err(why) = check(version, target) {
            message::debug(format_args!("device code of the program is not used: {why}"));
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { register(&*host_table, &*data.cast::<PtxImage>(), data.addr()) };
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
        if let Some(image) = images::take(data.addr()) {
            libraries::unregister(data.addr());
            links::remove(data.addr());
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

/// Whether an image is of a form that is known.
fn check(version: u32, target: i32) -> Result<(), String> {
    let known = abi::target::of(target);
    if !known.is_some_and(GccTarget::is_registered) {
        return Err(match known.and_then(GccTarget::triple) {
            Some(triple) => format!("no back end takes images for {triple}"),
            None => format!("no back end takes images for GCC's offload target {target}"),
        });
    }
    let (library, image) = (abi::library_version(version), abi::image_version(version));
    if library > abi::VERSION || image > abi::NVPTX_VERSION {
        return Err(format!(
            "it is of version {library}.{image} of libgomp's interface, expected {}.{} at most: \
             build it with GCC 12 or 11",
            abi::VERSION,
            abi::NVPTX_VERSION
        ));
    }
    Ok(())
}

/// # Safety
/// The tables are the program's.
unsafe fn register(host: &HostTable, image: &PtxImage, key: usize) {
    // SAFETY: the caller's promise.
    let (functions, variables, names, symbols, texts) =
        unsafe { (host.functions(), host.variables(), image.functions(), image.variables(), image.texts()) };
    if functions.len() != names.len() || variables.len() != symbols.len() {
        message::print_line(format_args!(
            "gangway: warning: the program registers {} functions and {} variables, but its device image has \
             {} and {}\n  help: build the program again",
            functions.len(),
            variables.len(),
            names.len(),
            symbols.len()
        ));
        return;
    }
    let kernel = |(&address, function): (&usize, &abi::PtxFunction)| {
        // SAFETY: the caller's promise.
        HostEntry { kind: EntryKind::Kernel, address, name: unsafe { function.name() }, size: 0 }
    };
    let global = |(variable, &name): (&abi::HostVariable, _)| {
        let (address, size) = (variable.address, variable.size());
        if variable.is_link() {
            let address = links::add(key, address, size);
            return HostEntry { kind: EntryKind::Global, address, name, size: size_of::<usize>() };
        }
        HostEntry { kind: EntryKind::Global, address, name, size }
    };
    let kernels = functions.iter().zip(names).map(kernel);
    let entries = kernels.chain(variables.iter().zip(&symbols).map(global)).collect();
    dimensions::add(key, functions, names);
    let image = images::keep(key, ptx_objects::joined(&texts));
    libraries::register(Registration { key, images: vec![image], entries });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(check(0x10001, 5), Ok(()));
        assert_eq!(check(0, 5), Ok(()));
        assert!(check(0x10002, 8).unwrap_err().contains("for amdgcn-amdhsa"));
        assert!(check(0, 6).unwrap_err().contains("for x86_64-intelmic-linux-gnu"));
        assert!(check(0x10002, 7).unwrap_err().contains("target 7"));
        assert!(check(0x20001, 5).unwrap_err().contains("version 2.1"));
    }
}
