//! The interpreter's compiled programs on compiled kernels: clang-22 compiles the same
//! source for the host and for several processors at every level of optimisation, and the engine must get
//! what the host gets, to the bit. Without clang-22 the tests are reported as ignored.

use std::path::Path;
use std::process::Command;

use gangway_device_memory::{Kind, Request, Space};
use gangway_engine::{Engine, Launch, Options};
use libtest_mimic::{Arguments, Failed, Trial};

/// Results of the program: two blocks of 48 threads, so that one warp of each is whole.
const RESULTS: usize = 96;

/// Processors, and the PTX version for each. Half precision needs sm_53.
const PROCESSORS: &[(u32, u32)] = &[(53, 60), (70, 63), (80, 78), (90, 86)];

fn main() {
    let clang = Command::new("clang-22").arg("--version").output().is_ok();
    if !clang {
        eprintln!("skipping the compiled programs: clang-22 is not installed");
    }
    let mut trials = Vec::new();
    for &(processor, version) in PROCESSORS {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            // Checks to the byte are the same at all levels.
            let modes: &[bool] = if level == "-O2" { &[false, true] } else { &[false] };
            for &check in modes {
                let mode = if check { "checked" } else { "compiled" };
                let run = move || compare(processor, version, level, check);
                let name = format!("mix.c/sm_{processor}{level}/{mode}");
                trials.push(Trial::test(name, run).with_ignored_flag(!clang));
            }
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn clang(arguments: &[&str]) -> Result<(), Failed> {
    let source = format!("{}/../interpreter/tests/programs/mix.c", env!("CARGO_MANIFEST_DIR"));
    let output =
        Command::new("clang-22").args(["-w", "-ffp-contract=off", &source]).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("clang-22 {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}

fn on_the_host(folder: &Path) -> Result<Vec<u64>, Failed> {
    let program = folder.join("host");
    clang(&["-O1", "-o", &program.display().to_string(), "-lm"])?;
    let output = Command::new(&program).output()?;
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(|line| u64::from_str_radix(line, 16).map_err(Failed::from)).collect()
}

fn compare(processor: u32, version: u32, level: &str, check: bool) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let expected = on_the_host(folder.path())?;
    let path = folder.path().join("a.ptx").display().to_string();
    let (march, feature) = (format!("-march=sm_{processor}"), format!("+ptx{version}"));
    let target =
        ["--target=nvptx64-nvidia-cuda", "-S", level, &march, "-Xclang", "-target-feature", "-Xclang"];
    clang(&[&target[..], &[&feature, "-o", &path]].concat())?;
    let module = gangway_ptx::parse(&std::fs::read_to_string(&path)?).map_err(|errors| errors.to_string())?;

    let options = Options {
        device: 0,
        workers: 2,
        check,
        interpret: false,
        cache: None,
        stack: 1 << 16,
        heap: 1 << 20,
    };
    let engine = Engine::new(options);
    let program = engine.load(module).map_err(|error| format!("{error:?}"))?;
    let out = Space::get()?.allocate(&Request::new(0, 8 * RESULTS as u64, Kind::Device))?;
    let launch = Launch {
        program: &program,
        kernel: program.kernel("k").ok_or("no kernel")?,
        grid: [2, 1, 1],
        block: [48, 1, 1],
        shared: 0,
        parameters: &out.to_le_bytes(),
        cooperative: false,
    };
    engine.launch(&launch).map_err(|fault| fault.report)?;
    let results: *const u64 = std::ptr::with_exposed_provenance(out as usize);
    // SAFETY: the buffer is allocated, and no launch uses it any more.
    let found = unsafe { std::slice::from_raw_parts(results, RESULTS) }.to_vec();
    Space::get()?.free(out)?;
    let wrong: Vec<usize> =
        (0..RESULTS).filter(|&index| expected.get(index) != Some(&found[index])).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("other results than the host's: {wrong:?}").into()) }
}
