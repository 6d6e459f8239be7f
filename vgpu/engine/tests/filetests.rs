//! Runs the self-describing tests of `gangway-filetests` through the engine, from loading to
//! the results in device memory. In the mode `lanewise` LLVM makes code of what lanes run by themselves.
//!
//! Expectations are the interpreter's: the bits that a launch leaves, or its fault. Of a fault
//! everything is compared but addresses of device memory, and the thread where an engine knows only
//! the warp. Tests that print run in a process of their own.

use std::process::Command;
use std::sync::Arc;

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Checks, Engine, Execution, KernelLaunch, Options, Tier};
use gangway_filetests::{Parameter, Test, render};
use libtest_mimic::{Arguments, Failed, Trial};

/// Set in a process that runs one test that prints.
const CHILD: &str = "GANGWAY_FILETEST_CHILD";

/// How an engine works: the suffix of its tests' names, what runs kernels, and whether it checks.
const MODES: &[(&str, Execution, Tier, bool)] = &[
    ("interpreted", Execution::Interpreted, Tier::Cranelift, false),
    ("compiled", Execution::CompiledOnly, Tier::Cranelift, false),
    ("lanewise", Execution::CompiledOnly, Tier::Llvm, false),
    ("checked", Execution::CompiledOnly, Tier::Llvm, true),
];

/// Tests that an engine cannot run, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("fault-endless.ptx/interpreted", "an engine has no limit of instructions"),
    ("fault-endless.ptx/compiled", "an engine has no limit of instructions"),
    ("fault-endless.ptx/checked", "an engine has no limit of instructions"),
    ("fault-endless.ptx/lanewise", "an engine has no limit of instructions"),
    (
        "fault-scattered-in-a-loop.ptx/checked",
        "lanes run the loop one after the other, and another one leaves its array before, in a later turn",
    ),
    ("fault-out-of-bounds.ptx/lanewise", "bounds are found to the byte in check mode only"),
    ("fault-out-of-bounds.ptx/compiled", "bounds are found to the byte in check mode only"),
];

fn main() {
    let tests = gangway_filetests::tests();
    let mut trials = Vec::new();
    for &(mode, execution, tier, memory) in MODES {
        let engine = Engine::new(Options {
            workers: 2,
            checks: Checks { memory, ..Checks::NONE },
            execution,
            tier,
            stack: 1 << 16,
            heap: 1 << 20,
            ..Options::default()
        });
        for test in &tests {
            let name = format!("{}/{mode}", test.name);
            let reason = NOT_HERE.iter().find(|(ignored, _)| *ignored == name);
            if let Some((name, reason)) = reason {
                eprintln!("ignoring {name}: {reason}");
            }
            let (engine, test) = (engine.clone(), test.clone());
            let trial = Trial::test(name.clone(), move || run(&engine, &test, &name));
            trials.push(trial.with_ignored_flag(reason.is_some()));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn run(engine: &Arc<Engine>, test: &Test, name: &str) -> Result<(), Failed> {
    let (printed, left) = test.printed_and_left();
    if !printed.is_empty() && std::env::var_os(CHILD).is_none() {
        return print(test, name);
    }
    match execute(engine, test)? {
        Ok(found) => test.compare(&found),
        Err(report) => same_fault(left.first().unwrap_or(&""), &report),
    }
}

/// Runs the test in a process of its own, and compares what it prints.
fn print(test: &Test, name: &str) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output()?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    if !output.status.success() {
        return Err(format!("{out}{err}").into());
    }
    test.compare_printed(&out, &err)
}

/// Compares a fault of the interpreter, in one line, with an engine's report.
fn same_fault(expected: &str, report: &str) -> Result<(), Failed> {
    let wrong = || format!("expected:\n{expected}\nfound:\n{report}");
    let (kind, place) = expected.split_once(" in '").ok_or_else(wrong)?;
    let (function, place) = place.split_once("', ").ok_or_else(wrong)?;
    let (instruction, place) = place.split_once(", block ").ok_or_else(wrong)?;
    let (block, place) = place.split_once(", thread ").ok_or_else(wrong)?;
    let (thread, source) = place.split_once(')').ok_or_else(wrong)?;
    let first = report.lines().next().unwrap_or_default();
    let told = [
        what(first).ends_with(&what(kind)),
        report.contains(&format!("in function '{function}', instruction {instruction}\n")),
        report.contains(&format!("block {block}")),
        report.contains(&format!("thread {thread})")) || report.contains("one of the threads"),
        report.contains(source.trim_start_matches(", ")),
    ];
    if told.contains(&false) { Err(format!("{}\n{told:?}", wrong()).into()) } else { Ok(()) }
}

/// What a fault says, without the digits of addresses in device memory and what they are near to.
fn what(text: &str) -> String {
    let text = text.split(", which is").next().unwrap_or(text);
    let words = text.split(' ').map(|word| match word.strip_prefix("0x") {
        Some(digits) if digits.len() > 4 => "ADDRESS",
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A buffer of the test; freed at its end.
struct Buffer {
    address: u64,
    length: usize,
    width: usize,
}

impl Buffer {
    fn new(bytes: &[u8], width: usize) -> Result<Buffer, Failed> {
        let request = Request::new(0, bytes.len() as u64, AllocationKind::Device);
        let mut buffer = Buffer { address: Space::get()?.allocate(&request)?, length: bytes.len(), width };
        buffer.bytes().copy_from_slice(bytes);
        Ok(buffer)
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = std::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: the buffer is allocated, and no launch is running that uses it.
        unsafe { std::slice::from_raw_parts_mut(start, self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let freed = Space::get().and_then(|space| space.free(self.address));
        assert!(freed.is_ok(), "{freed:?}");
    }
}

/// The buffers after the launch, or the report of its fault.
fn execute(engine: &Arc<Engine>, test: &Test) -> Result<Result<Vec<String>, String>, Failed> {
    let module = gangway_ptx::parse(&test.source).map_err(|errors| format!("{errors}"))?;
    let mut buffers = Vec::new();
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    for parameter in &test.parameters {
        match parameter {
            Parameter::Buffer { bytes, width } => {
                let buffer = Buffer::new(bytes, *width)?;
                arguments.push(buffer.address.to_le_bytes().to_vec());
                buffers.push(buffer);
            }
            Parameter::Value(bytes) => arguments.push(bytes.clone()),
        }
    }
    let program = engine.load(module).map_err(|error| format!("{error:?}"))?;
    let kernel = program.kernel(&test.kernel).ok_or("no such kernel")?;
    let described = &program.kernels()[kernel.0 as usize];
    let mut parameters = vec![0; described.parameter_size as usize];
    for (argument, place) in arguments.iter().zip(&described.parameters) {
        let offset = place.offset as usize;
        parameters[offset..offset + argument.len()].copy_from_slice(argument);
    }
    let launch = KernelLaunch {
        program: &program,
        kernel,
        grid: [test.blocks, 1, 1],
        block: [test.threads, 1, 1],
        shared: test.shared,
        parameters: &parameters,
        cooperative: false,
    };
    if let Err(fault) = engine.launch(&launch) {
        return Ok(Err(fault.report));
    }
    let lines = buffers.iter_mut().flat_map(|buffer| {
        let width = buffer.width;
        render(buffer.bytes(), width)
    });
    Ok(Ok(lines.collect()))
}
