//! The null back end in its variants, and what tests do with a device.

#![allow(dead_code, reason = "each test program uses its part")]

use gangway_backend::{
    AllocationKind, Device, DevicePtr, Error, Launch, Module, Session, SourceText, Stream, TableRequest,
};
use gangway_commands::{Folder, Run as _};
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
    Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(crate_file(header))
        .args(arguments)
        .args(files.iter().map(|file| crate_file("tests/null").join(file)))
        .run()
        .succeeded();
}

/// A variant of the null back end, in a directory of its own.
pub struct Null {
    pub backend: ExternalBackend,
    pub directory: Folder,
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
    let directory = Folder::new();
    let library = directory.path("libgangway-rtl-null.so");
    let mut arguments = vec!["-std=c11", "-O1", "-g", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"];
    arguments.extend(flags);
    arguments.extend(["-o", library.to_str().unwrap()]);
    compile_with(header, "cc", &arguments, files);
    let mut found = discover_in(&[directory.to_owned()]);
    assert_eq!(found.len(), 1);
    Null { backend: found.remove(0), directory }
}

pub const IMAGE: &[u8] =
    b"GWNULL\0kernel scale\nkernel sum\nkernel fail\nkernel append\nkernel wait_for\nkernel prepare\nglobal factor 8\n";

/// Runs `kernel` and gives what the launch says.
pub fn run(stream: &dyn Stream, module: &dyn Module, name: &str, arguments: &[u64]) -> Result<(), Error> {
    let request = TableRequest { leading: 0, arguments: arguments.len(), trailing: 0 };
    run_in(&mut Session::new(), request, stream, module, name, arguments)
}

/// As [`run`], in a session that may have had other jobs, and with room for more.
pub fn run_in(
    session: &mut Session,
    request: TableRequest,
    stream: &dyn Stream,
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
    let mut table = stream.argument_table(session, launch.kernel, request)?;
    table.extend(arguments.iter().copied());
    // SAFETY: the tests pass what the kernels expect.
    unsafe { stream.launch(&launch, table) }
}

pub fn allocate(device: &dyn Device, size: usize) -> DevicePtr {
    device.allocate(size, AllocationKind::Device, false).unwrap()
}

/// Where a test's operations go: a stream of its own, if the device has streams.
pub enum Way<'d> {
    Immediate(&'d dyn Stream),
    Own(Box<dyn Stream>),
}

impl<'d> Way<'d> {
    pub fn of(device: &'d dyn Device) -> Self {
        match device.capabilities().asynchronous {
            true => Self::Own(device.open_stream().unwrap()),
            false => Self::Immediate(device.immediate()),
        }
    }

    pub fn stream(&self) -> &dyn Stream {
        match self {
            Self::Immediate(stream) => *stream,
            Self::Own(stream) => &**stream,
        }
    }
}

pub fn put<T: Copy>(stream: &dyn Stream, to: DevicePtr, value: &T) {
    // SAFETY: the tests allocate enough, and keep the value until they synchronise.
    unsafe { stream.copy_to_device(to, std::ptr::from_ref(value).cast(), size_of::<T>()) }.unwrap();
}

pub fn get<T: Copy + Default>(stream: &dyn Stream, from: DevicePtr) -> T {
    let mut value = T::default();
    // SAFETY: the tests allocate enough.
    unsafe { stream.copy_from_device(std::ptr::from_mut(&mut value).cast(), from, size_of::<T>()) }.unwrap();
    stream.synchronize().unwrap();
    value
}
