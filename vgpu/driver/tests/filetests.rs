//! Runs the self-describing tests of `gangway-filetests` through the CUDA driver API, each in a
//! process of its own. They run on the library that has just been built, or on the one that
//! `GANGWAY_FILETESTS_CUDA` names. With `libcuda.so.1` there, the virtual GPU is compared with a
//! real one.
//!
//! Of a fault only this is compared: that it was the driver's error for such a fault.

use std::ffi::{CString, c_int, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::null_mut;

use gangway_commands::{Ran, Run as _};
use gangway_filetests::{MARK, Parameter, Test, render};
use libloading::Library;
use libtest_mimic::{Arguments, Failed, Trial};

/// Names the library in place of ours.
const OTHER: &str = "GANGWAY_FILETESTS_CUDA";
/// Set to the name of a test in the process that runs it.
const CHILD: &str = "GANGWAY_FILETEST_CHILD";
/// What the process says when the driver has refused the module or the launch has failed.
const FAILED: &str = "//! ";

/// Tests that do not run here, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("fault-endless.ptx", "a driver has no limit of instructions"),
    ("fault-out-of-bounds.ptx", "without checks bounds are not found to the byte"),
];
/// Tests that do not run on a real card, and why.
const NOT_ON_CARDS: &[(&str, &str)] = &[
    ("fault-deadlock.ptx", "a card waits for ever"),
    ("fault-lanes-that-never-meet.ptx", "a card waits for ever"),
    ("fault-barrier-count.ptx", "a card waits for ever"),
    ("fault-shared.ptx", "a card finds no wrong access that is inside of a block's shared memory"),
    ("fault-mask.ptx", "the ISA leaves open what it does"),
];

fn main() {
    if let Ok(name) = std::env::var(CHILD) {
        let done = find(&name).and_then(|test| execute(&test));
        let lines = done.unwrap_or_else(|error| vec![format!("the test is wrong: {:?}", error.message())]);
        lines.iter().for_each(|line| println!("{line}"));
        return;
    }
    let card = std::env::var_os(OTHER).is_some();
    let mut trials = Vec::new();
    for test in gangway_filetests::tests() {
        let ignored = NOT_HERE.iter().chain(NOT_ON_CARDS.iter().filter(|_| card));
        let reason = ignored.into_iter().find(|(name, _)| *name == test.name);
        if let Some((name, reason)) = reason {
            eprintln!("ignoring {name}: {reason}");
        }
        let trial = Trial::test(format!("{}/driver", test.name), move || run(&test));
        trials.push(trial.with_ignored_flag(reason.is_some()));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn find(name: &str) -> Result<Test, Failed> {
    let test = gangway_filetests::tests().into_iter().find(|test| test.name == name);
    test.ok_or_else(|| "there is no such test".into())
}

/// The library to test.
fn library() -> Result<PathBuf, Failed> {
    match std::env::var_os(OTHER) {
        Some(name) => Ok(name.into()),
        None => Ok(std::env::current_exe()?.with_file_name("libgangway_driver.so")),
    }
}

fn run(test: &Test) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    // A test of compiled code that the interpreter runs shows nothing. Cards have no such variable.
    command.env(CHILD, &test.name).env("GANGWAY_VGPU_ENGINE", "compiler-only");
    let Ran { status, stdout: out, stderr: err, .. } = command.run();
    test.compare_printed(&out, &err)?;
    let failed: Option<u32> =
        out.lines().find_map(|line| line.strip_prefix(FAILED)?.split(' ').next()?.parse().ok());
    match (test.fault(), failed) {
        (Some(fault), Some(code)) if codes(fault).contains(&code) => Ok(()),
        (Some(fault), _) => Err(format!("expected:\n{fault}\nfound:\n{out}{err}").into()),
        (None, None) if status.success() => {
            let left = out.lines().filter_map(|line| Some(line.strip_prefix(MARK)?.trim().to_owned()));
            test.compare(&left.collect::<Vec<_>>())
        }
        (None, _) => Err(format!("{status}\n{out}{err}").into()),
    }
}

/// The driver's errors for a fault of the interpreter: a bad address, an illegal instruction, an
/// assertion, a module that cannot be loaded, or a launch that failed.
fn codes(fault: &str) -> &'static [u32] {
    let kinds: &[(&str, &[u32])] = &[
        ("in no allocation", &[700]),
        ("misaligned", &[716]),
        ("assertion", &[710]),
        ("declared and not defined", &[200, 218, 301, 302, 303, 719]),
        ("no block of the heap", &[719, 715, 700]),
        ("stack is full", &[719, 700]),
        ("trap", &[719, 715]),
        ("member mask", &[719, 715]),
        ("a barrier for", &[719, 715]),
    ];
    let found = kinds.iter().find(|(words, _)| fault.contains(words));
    found.map_or(&[719], |(_, codes)| codes)
}

/// The driver's functions that a launch needs, by their C names.
struct Driver {
    library: Library,
}

macro_rules! functions {
    ($($method:ident = $name:literal($($argument:ident: $ty:ty),*);)*) => {
        impl Driver {$(
            /// The driver's answer, as an error with its code unless it is 0.
            #[allow(clippy::too_many_arguments)]
            fn $method(&self, $($argument: $ty),*) -> Result<(), String> {
                type Function = unsafe extern "C" fn($($ty),*) -> u32;
                // SAFETY: the type is the one that the driver API declares for the name.
                let function = unsafe { self.library.get::<Function>($name) };
                let function = function.map_err(|error| error.to_string())?;
                // SAFETY: pointers lead to what the function reads or fills.
                match unsafe { function($($argument),*) } {
                    0 => Ok(()),
                    code => Err(format!("{FAILED}{code} of {}", $name.escape_ascii())),
                }
            }
        )*}
    };
}

functions! {
    init = b"cuInit"(flags: u32);
    device = b"cuDeviceGet"(device: *mut c_int, ordinal: c_int);
    context = b"cuCtxCreate_v2"(context: *mut *mut c_void, flags: u32, device: c_int);
    module = b"cuModuleLoadData"(module: *mut *mut c_void, text: *const c_void);
    function = b"cuModuleGetFunction"(function: *mut *mut c_void, module: *mut c_void, name: *const i8);
    allocate = b"cuMemAlloc_v2"(address: *mut u64, bytes: usize);
    send = b"cuMemcpyHtoD_v2"(to: u64, from: *const c_void, bytes: usize);
    fetch = b"cuMemcpyDtoH_v2"(to: *mut c_void, from: u64, bytes: usize);
    launch = b"cuLaunchKernel"(
        function: *mut c_void, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: *mut c_void, parameters: *mut *mut c_void, extra: *mut *mut c_void
    );
    synchronise = b"cuCtxSynchronize"();
}

/// The lines that tell how the test ended: its buffers, or the driver's error.
fn execute(test: &Test) -> Result<Vec<String>, Failed> {
    // SAFETY: loading a driver runs no code but its own.
    let library = unsafe { Library::new(library()?) }?;
    let driver = Driver { library };
    let lines = match launch(&driver, test) {
        Ok(buffers) => {
            let lines = buffers.iter().flat_map(|(bytes, width)| render(bytes, *width));
            lines.map(|line| format!("{MARK} {line}")).collect()
        }
        Err(error) => vec![error],
    };
    // A driver's threads may be running its code.
    std::mem::forget(driver.library);
    Ok(lines)
}

/// What the buffers hold afterwards, each with the width of its elements.
fn launch(driver: &Driver, test: &Test) -> Result<Vec<(Vec<u8>, usize)>, String> {
    let (mut device, mut context, mut module, mut function) = (0, null_mut(), null_mut(), null_mut());
    let text = |text: &str| CString::new(text).map_err(|error| error.to_string());
    let (source, kernel) = (text(&test.source)?, text(&test.kernel)?);
    driver.init(0)?;
    driver.device(&mut device, 0)?;
    driver.context(&mut context, 0, device)?;
    driver.module(&mut module, source.as_ptr().cast())?;
    driver.function(&mut function, module, kernel.as_ptr())?;
    let mut buffers = Vec::new();
    let mut values: Vec<Vec<u8>> = Vec::new();
    for parameter in &test.parameters {
        match parameter {
            Parameter::Buffer { bytes, width } => {
                let mut address = 0;
                driver.allocate(&mut address, bytes.len())?;
                driver.send(address, bytes.as_ptr().cast(), bytes.len())?;
                values.push(address.to_le_bytes().to_vec());
                buffers.push((address, vec![0; bytes.len()], *width));
            }
            Parameter::Value(bytes) => values.push(bytes.clone()),
        }
    }
    let mut parameters: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    let (blocks, threads) = (test.blocks, test.threads);
    let parameters = parameters.as_mut_ptr();
    driver.launch(function, blocks, 1, 1, threads, 1, 1, test.shared, null_mut(), parameters, null_mut())?;
    driver.synchronise()?;
    let mut found = Vec::new();
    for (address, mut bytes, width) in buffers {
        driver.fetch(bytes.as_mut_ptr().cast(), address, bytes.len())?;
        found.push((bytes, width));
    }
    Ok(found)
}
