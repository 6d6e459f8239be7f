//! Runs the self-describing tests of `gangway-filetests` on the interpreter, whose results are what
//! all others are compared with. `GANGWAY_BLESS=1` writes the expectations anew.

use std::fs;
use std::path::Path;

use gangway_filetests::{MARK, Parameter, Test, render};
use gangway_interpreter::{Flat, InterpretedLaunch, Memory, Program, launch};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let trials = gangway_filetests::files().into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("{name}/interpreter"), move || run(&path))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn run(path: &Path) -> Result<(), Failed> {
    let test = Test::read(path)?;
    let found = execute(&test)?;
    if found == test.expected {
        return Ok(());
    }
    if std::env::var_os("GANGWAY_BLESS").is_some_and(|value| value == "1") {
        let marked: String =
            found.iter().map(|line| format!("{MARK} {line}").trim_end().to_owned() + "\n").collect();
        fs::write(path, test.source + &marked)?;
        return Ok(());
    }
    Err(format!("expected:\n{}\nfound:\n{}", test.expected.join("\n"), found.join("\n")).into())
}

/// What was printed, then the buffers or the fault, as expectations have it.
fn execute(test: &Test) -> Result<Vec<String>, Failed> {
    let module = gangway_ptx::parse(&test.source).map_err(|errors| format!("{errors}"))?;
    let mut memory = Flat::new();
    let mut buffers = Vec::new();
    let mut arguments = Vec::new();
    for parameter in &test.parameters {
        match parameter {
            Parameter::Buffer { bytes, width } => {
                let address = memory.allocate(bytes.len() as u64, 16).map_err(|kind| kind.to_string())?;
                memory.write(address, bytes).map_err(|kind| kind.to_string())?;
                buffers.push((address, bytes.len(), *width));
                arguments.push(address.to_le_bytes().to_vec());
            }
            Parameter::Value(bytes) => arguments.push(bytes.clone()),
        }
    }
    let program = Program::load(module, &mut memory).map_err(|kind| kind.to_string())?;
    let request = InterpretedLaunch {
        kernel: &test.kernel,
        grid: [test.blocks, 1, 1],
        block: [test.threads, 1, 1],
        shared: test.shared,
        limit: test.limit,
        arguments: &arguments,
    };
    let ended = launch(&program, &request, &mut memory);
    let quoted = |mark: &str, text: &str| -> Vec<String> {
        text.lines().map(|line| format!("{mark} {line}").trim().to_owned()).collect()
    };
    let mut found = quoted("out:", &String::from_utf8_lossy(&memory.printed));
    found.extend(quoted("err:", &memory.complaints));
    if let Err(fault) = ended {
        found.push(fault.to_string());
        return Ok(found);
    }
    for (address, length, width) in buffers {
        let mut bytes = vec![0; length];
        memory.read(address, &mut bytes).map_err(|kind| kind.to_string())?;
        found.extend(render(&bytes, width));
    }
    Ok(found)
}
