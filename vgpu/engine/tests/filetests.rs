//! Runs the interpreter's self-describing tests through the engine, from loading to the
//! results in device memory.
//!
//! The files are in `interpreter/tests/files`, and their expectations are the
//! interpreter's: the bits that a launch leaves, or its fault. Of a fault everything is compared but
//! addresses of device memory, and the thread where an engine knows only the warp. Tests that print
//! run in a process of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use gangway_device_memory::{Kind, Request, Space};
use gangway_engine::{Engine, Launch, Options};
use libtest_mimic::{Arguments, Failed, Trial};

const MARK: &str = "//=";
/// Set in a process that runs one test that prints.
const CHILD: &str = "GANGWAY_FILETEST_CHILD";

/// How an engine works: the suffix of its tests' names, and whether it interprets and checks.
const MODES: &[(&str, bool, bool)] =
    &[("interpreted", true, false), ("compiled", false, false), ("checked", false, true)];

/// Tests that an engine cannot run, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("fault-endless.ptx/interpreted", "an engine has no limit of instructions"),
    ("fault-endless.ptx/compiled", "an engine has no limit of instructions"),
    ("fault-endless.ptx/checked", "an engine has no limit of instructions"),
    ("fault-out-of-bounds.ptx/compiled", "bounds are found to the byte in check mode only"),
];

/// Its results are approximations, of which the ISA bounds the error and does not tell the bits.
const APPROXIMATE: &str = "approximations.ptx";

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interpreter/tests/files");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder of tests").flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    let mut trials = Vec::new();
    for &(mode, interpret, check) in MODES {
        let engine = Engine::new(Options {
            device: 0,
            workers: 2,
            check,
            interpret,
            cache: None,
            stack: 1 << 16,
            heap: 1 << 20,
        });
        for path in &files {
            let name = format!("{}/{mode}", path.file_name().unwrap_or_default().to_string_lossy());
            let reason = NOT_HERE.iter().find(|(test, _)| *test == name);
            if let Some((test, reason)) = reason {
                eprintln!("ignoring {test}: {reason}");
            }
            let (engine, path) = (engine.clone(), path.clone());
            let trial = Trial::test(name.clone(), move || run(&engine, &path, &name));
            trials.push(trial.with_ignored_flag(reason.is_some()));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn run(engine: &Arc<Engine>, path: &Path, test: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let (source, expected) = text.split_at(text.find(&format!("\n{MARK}")).ok_or("no expectations")? + 1);
    let expected: Vec<&str> = expected.lines().map(|line| line[MARK.len()..].trim()).collect();
    let (printed, expected): (Vec<&str>, Vec<&str>) =
        expected.into_iter().partition(|line| line.starts_with("out: ") || line.starts_with("err: "));
    if !printed.is_empty() && std::env::var_os(CHILD).is_none() {
        return print(test, &printed);
    }
    let found = execute(engine, source)?;
    match found {
        Ok(lines) if lines == expected => Ok(()),
        Ok(lines) if test.starts_with(APPROXIMATE) && are_near(&expected, &lines) => Ok(()),
        Ok(lines) => Err(format!("expected:\n{}\nfound:\n{}", expected.join("\n"), lines.join("\n")).into()),
        Err(report) => same_fault(expected[0], &report),
    }
}

/// Whether single-precision results are the expected ones but for the last two bits.
fn are_near(expected: &[&str], found: &[String]) -> bool {
    let words = |line: &str| -> Vec<i64> {
        line.split(' ').map(|word| i64::from_str_radix(word, 16).unwrap_or(i64::MIN)).collect()
    };
    let pairs = expected.iter().zip(found).map(|(expected, found)| (words(expected), words(found)));
    let near = |(a, b): (&i64, &i64)| *a != i64::MIN && a.abs_diff(*b) <= 2;
    expected.len() == found.len()
        && pairs.into_iter().all(|(a, b)| a.len() == b.len() && a.iter().zip(&b).all(near))
}

/// Runs the test in a process of its own, and compares what it prints.
fn print(test: &str, expected: &[&str]) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output()?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    if !output.status.success() {
        return Err(format!("{out}{err}").into());
    }
    for line in expected {
        let (stream, text) = match line.strip_prefix("out: ") {
            Some(text) => (&out, text),
            None => (&err, line.trim_start_matches("err: ")),
        };
        let count = |lines: &mut dyn Iterator<Item = &str>| lines.filter(|found| *found == text).count();
        let wanted = count(&mut expected.iter().map(|line| &line[5..]));
        if count(&mut stream.lines()) != wanted {
            return Err(format!("expected {wanted} times:\n{text}\nfound:\n{out}{err}").into());
        }
    }
    Ok(())
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

/// The width of a type's elements in bytes.
fn size(ty: &str) -> Result<usize, Failed> {
    let bits: usize = ty[1..].parse().map_err(|_| format!("no type '{ty}'"))?;
    Ok(bits / 8)
}

fn bits(ty: &str, value: &str) -> Result<u64, Failed> {
    let wrong = || format!("no value of {ty}: '{value}'");
    Ok(match (value.strip_prefix("0x"), ty) {
        (Some(digits), _) => u64::from_str_radix(digits, 16)?,
        (None, "f32") => value.parse::<f32>()?.to_bits().into(),
        (None, "f64") => value.parse::<f64>()?.to_bits(),
        (None, _) => value.parse::<i128>().map_err(|_| wrong())? as u64,
    })
}

/// A buffer of the test; freed at its end.
struct Buffer {
    address: u64,
    width: usize,
    count: usize,
}

impl Buffer {
    fn new(width: usize, count: usize) -> Result<Buffer, Failed> {
        let request = Request::new(0, (width * count) as u64, Kind::Device);
        Ok(Buffer { address: Space::get()?.allocate(&request)?, width, count })
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = std::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: the buffer is allocated, and no launch is running that uses it.
        unsafe { std::slice::from_raw_parts_mut(start, self.width * self.count) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let freed = Space::get().and_then(|space| space.free(self.address));
        assert!(freed.is_ok(), "{freed:?}");
    }
}

/// The buffers after the launch, or the report of its fault.
fn execute(engine: &Arc<Engine>, source: &str) -> Result<Result<Vec<String>, String>, Failed> {
    let module = gangway_ptx::parse(source).map_err(|errors| format!("{errors}"))?;
    let mut buffers = Vec::new();
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    let mut start = None;
    for line in source.lines().map_while(|line| line.strip_prefix("// ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["launch", kernel, blocks, threads, ref shared @ ..] => {
                let shared = shared.first().map_or(Ok(0), |bytes| bytes.parse())?;
                start = Some((kernel, blocks.parse::<u32>()?, threads.parse::<u32>()?, shared));
            }
            ["buffer", ty, count, ref values @ ..] => {
                let mut buffer = Buffer::new(size(ty)?, count.parse()?)?;
                let width = buffer.width;
                for (place, value) in buffer.bytes().chunks_mut(width).zip(values) {
                    place.copy_from_slice(&bits(ty, value)?.to_le_bytes()[..place.len()]);
                }
                arguments.push(buffer.address.to_le_bytes().to_vec());
                buffers.push(buffer);
            }
            ["value", ty, value] => arguments.push(bits(ty, value)?.to_le_bytes()[..size(ty)?].to_vec()),
            _ => {}
        }
    }
    let (kernel, blocks, threads, shared) = start.ok_or("no launch")?;
    let program = engine.load(module).map_err(|error| format!("{error:?}"))?;
    let kernel = program.kernel(kernel).ok_or("no such kernel")?;
    let described = &program.kernels()[kernel.0 as usize];
    let mut parameters = vec![0; described.parameter_size as usize];
    for (argument, place) in arguments.iter().zip(&described.parameters) {
        let offset = place.offset as usize;
        parameters[offset..offset + argument.len()].copy_from_slice(argument);
    }
    let launch = Launch {
        program: &program,
        kernel,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        shared,
        parameters: &parameters,
        cooperative: false,
    };
    if let Err(fault) = engine.launch(&launch) {
        return Ok(Err(fault.report));
    }
    let mut lines = Vec::new();
    for buffer in &mut buffers {
        let width = buffer.width;
        for line in buffer.bytes().chunks(width * 8) {
            let element =
                |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
            lines.push(line.chunks(width).map(element).collect::<Vec<_>>().join(" "));
        }
    }
    Ok(Ok(lines))
}
