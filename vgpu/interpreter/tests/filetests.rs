//! Runs the self-describing tests in `tests/files`.
//!
//! A test is PTX text that starts with what to do:
//!
//! ```text
//! // launch KERNEL BLOCKS THREADS [SHARED BYTES]
//! // buffer TYPE COUNT [VALUE...]     a parameter: the address of so many elements
//! // value TYPE VALUE                 a parameter
//! // limit COUNT                      how many instructions it may run, otherwise 4 million
//! ```
//!
//! At its end, in lines that start with `//=`, stands what is expected: what was printed
//! (`out:` and `err:`), then the buffers after the launch in hexadecimal, or the fault. A value is decimal, hexadecimal bits
//! (`0x...`) or, of `f32` and `f64`, what Rust reads as one. With `GANGWAY_BLESS=1` the
//! expectations are written anew.

use std::fs;
use std::path::{Path, PathBuf};

use gangway_interpreter::{Flat, Launch, Memory, Program, launch};
use libtest_mimic::{Arguments, Failed, Trial};

const MARK: &str = "//=";

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder of tests").flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    let trials = files.into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("{name}/interpreter"), move || run(&path))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn run(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let (source, expected) = match text.find(&format!("\n{MARK}")) {
        Some(at) => text.split_at(at + 1),
        None => (text.as_str(), ""),
    };
    let mut marked = String::new();
    for line in execute(source)?.lines() {
        marked += format!("{MARK} {line}").trim_end();
        marked.push('\n');
    }
    if marked == expected {
        return Ok(());
    }
    if std::env::var_os("GANGWAY_BLESS").is_some_and(|value| value == "1") {
        fs::write(path, format!("{source}{marked}"))?;
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{marked}").into())
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

fn execute(source: &str) -> Result<String, Failed> {
    let module = gangway_ptx::parse(source).map_err(|errors| format!("{errors}"))?;
    let mut memory = Flat::new();
    let mut buffers = Vec::new();
    let mut arguments = Vec::new();
    let (mut start, mut limit) = (None, 4_000_000);
    for line in source.lines().map_while(|line| line.strip_prefix("// ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["launch", kernel, blocks, threads, ref shared @ ..] => {
                let shared = shared.first().map_or(Ok(0), |bytes| bytes.parse())?;
                start = Some((kernel, blocks.parse::<u32>()?, threads.parse::<u32>()?, shared));
            }
            ["buffer", ty, count, ref values @ ..] => {
                let (width, count) = (size(ty)?, count.parse::<usize>()?);
                let address = memory.allocate((width * count) as u64, 16).map_err(|kind| kind.to_string())?;
                for (index, value) in values.iter().enumerate() {
                    let bytes = &bits(ty, value)?.to_le_bytes()[..width];
                    memory.write(address + (index * width) as u64, bytes).map_err(|kind| kind.to_string())?;
                }
                buffers.push((address, width, count));
                arguments.push(address.to_le_bytes().to_vec());
            }
            ["limit", count] => limit = count.parse()?,
            ["value", ty, value] => arguments.push(bits(ty, value)?.to_le_bytes()[..size(ty)?].to_vec()),
            _ => {}
        }
    }
    let (kernel, blocks, threads, shared) = start.ok_or("no launch")?;
    let program = Program::load(module, &mut memory).map_err(|kind| kind.to_string())?;
    let request =
        Launch { kernel, grid: [blocks, 1, 1], block: [threads, 1, 1], shared, limit, arguments: &arguments };
    let ended = launch(&program, &request, &mut memory);
    let mut found = String::new();
    let mut quote = |mark: &str, text: &str| {
        text.lines().for_each(|line| found += &format!("{mark} {line}\n"));
    };
    quote("out:", &String::from_utf8_lossy(&memory.printed));
    quote("err:", &memory.complaints);
    if let Err(fault) = ended {
        return Ok(format!("{found}{fault}"));
    }
    for (address, width, count) in buffers {
        let mut bytes = vec![0; width * count];
        memory.read(address, &mut bytes).map_err(|kind| kind.to_string())?;
        for line in bytes.chunks(width * 8) {
            for (index, element) in line.chunks(width).enumerate() {
                found += if index > 0 { " " } else { "" };
                found.extend(element.iter().rev().map(|byte| format!("{byte:02x}")));
            }
            found.push('\n');
        }
    }
    Ok(found)
}
