//! The null back end in its variants, and what tests do with a device.

#![allow(dead_code, reason = "each test program uses its part")]

use gangway_backend::{
    AllocationKind, Device, DevicePtr, Error, Launch, Module, Session, SourceText, StreamHandle, TableRequest,
};
use gangway_external::{ExternalBackend, discover_in};
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn crate_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs a compiler on files of `tests/null` and insists on success.
pub fn compile(compiler: &str, arguments: &[&str], files: &[&str]) {
    compile_with("include", compiler, arguments, files);
}

pub fn compile_with(header: &str, compiler: &str, arguments: &[&str], files: &[&str]) {
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(crate_file(header))
        .args(arguments)
        .args(files.iter().map(|file| crate_file("tests/null").join(file)))
        .output()
        .unwrap_or_else(|e| panic!("{compiler}: {e}; the tests need the package build-essential"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A variant of the null back end, in a directory of its own.
pub struct Null {
    pub backend: ExternalBackend,
    pub directory: tempfile::TempDir,
}

pub fn null(variant: &[&str]) -> Null {
    null_with("include", variant)
}

/// Built with the header in a folder of the crate.
pub fn null_with(header: &str, variant: &[&str]) -> Null {
    let mut files = vec!["null.c"];
    if variant.contains(&"-DASYNCHRONOUS") {
        files.push("async.c");
    }
    if variant.contains(&"-DHOST_CALLS") || variant.contains(&"-DCHANNEL") {
        files.push("calls.c");
    }
    null_of(header, variant, &files)
}

/// Another back end in its place, of these files.
pub fn null_of(header: &str, flags: &[&str], files: &[&str]) -> Null {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("libgangway-rtl-null.so");
    let mut arguments = vec!["-std=c11", "-O1", "-g", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"];
    arguments.extend(flags);
    arguments.extend(["-o", library.to_str().unwrap()]);
    compile_with(header, "cc", &arguments, files);
    let mut found = discover_in(&[directory.path().to_owned()]);
    assert_eq!(found.len(), 1);
    Null { backend: found.remove(0), directory }
}

pub const IMAGE: &[u8] =
    b"GWNULL\0kernel scale\nkernel sum\nkernel fail\nkernel append\nkernel wait_for\nkernel prepare\nglobal factor 8\n";

/// Runs `kernel` and gives what the launch says.
pub fn run(
    device: &dyn Device,
    module: &dyn Module,
    name: &str,
    arguments: &[u64],
    stream: Option<StreamHandle>,
) -> Result<(), Error> {
    let request = TableRequest { leading: 0, arguments: arguments.len(), trailing: 0 };
    run_in(&mut Session::new(stream), request, device, module, name, arguments)
}

/// As [`run`], in a session that may have had other jobs, and with room for more.
pub fn run_in(
    session: &mut Session,
    request: TableRequest,
    device: &dyn Device,
    module: &dyn Module,
    name: &str,
    arguments: &[u64],
) -> Result<(), Error> {
    let launch = Launch {
        kernel: &module.kernel(name)?,
        name,
        source: SourceText::NONE,
        teams: [1, 1, 1],
        thread_limit: [0; 3],
        trip_count: 0,
        dynamic_group_memory: 0,
        replaced_group_memory: None,
        by_address: false,
    };
    let mut table = device.argument_table(session, launch.kernel, request)?;
    table.extend(arguments.iter().copied());
    // SAFETY: the tests pass what the kernels expect.
    unsafe { device.launch(&launch, table) }
}

pub fn allocate(device: &dyn Device, size: usize) -> DevicePtr {
    device.allocate(size, AllocationKind::Device, false).unwrap()
}

pub fn put<T: Copy>(device: &dyn Device, to: DevicePtr, value: &T, stream: Option<StreamHandle>) {
    // SAFETY: the tests allocate enough, and keep the value until they synchronise.
    unsafe { device.copy_to_device(to, std::ptr::from_ref(value).cast(), size_of::<T>(), stream) }.unwrap();
}

pub fn get<T: Copy + Default>(device: &dyn Device, from: DevicePtr, stream: Option<StreamHandle>) -> T {
    let mut value = T::default();
    // SAFETY: the tests allocate enough.
    unsafe { device.copy_from_device(std::ptr::from_mut(&mut value).cast(), from, size_of::<T>(), stream) }
        .unwrap();
    if let Some(stream) = stream {
        device.synchronize(stream).unwrap();
    }
    value
}
