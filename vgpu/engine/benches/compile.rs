//! What large kernels cost before they run: kernels of many shapes (`tests/shapes`), each in three
//! sizes, a doubling each. `cargo bench -p gangway-engine --bench compile [SHAPE [SIZE [STEPS]]]`
//!
//! The columns are milliseconds to read the text, to load the module, to launch a warp with a
//! missing lane (masked code only), to launch a whole one (converged code, and masked code where
//! lanes part), and to run it in the interpreter; then the most memory that the process had
//! meanwhile.

#[path = "../tests/shapes/mod.rs"]
mod shapes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Engine, Execution, KernelLaunch, Options, Program};

/// A shape's next size is left out when one has taken this long.
const LONG: Duration = Duration::from_secs(8);

fn engine(execution: Execution) -> Arc<Engine> {
    let options = Options { execution, stack: 1 << 20, ..Options::default() };
    Engine::new(options)
}

fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = what();
    (result, start.elapsed())
}

fn launch(engine: &Engine, program: &Arc<Program>, threads: u32, buffer: u64) -> String {
    let kernel = program.kernel("k").expect("the kernel");
    let (grid, block) = ([1, 1, 1], [threads, 1, 1]);
    let parameters = &buffer.to_le_bytes();
    let launch = KernelLaunch { program, kernel, grid, block, shared: 0, parameters, cooperative: false };
    let (ended, time) = timed(|| engine.launch(&launch));
    match ended {
        Ok(()) => format!("{:9.1}", time.as_secs_f64() * 1e3),
        Err(fault) => {
            eprintln!("{fault:?}");
            format!("({:7.1})", time.as_secs_f64() * 1e3)
        }
    }
}

/// A line of `/proc/self/status`, in MiB.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |index: usize| arguments.get(index).and_then(|word| word.parse().ok());
    let request = Request::new(0, shapes::BYTES, AllocationKind::Device);
    let buffer = Space::get().and_then(|space| space.allocate(&request)).expect("memory");
    println!(
        "{:26} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "shape", "n", "read", "load", "masked", "converged", "interpret", "MiB"
    );
    for shape in shapes::SHAPES {
        if arguments.first().is_some_and(|name| !shape.name.contains(name.as_str())) {
            continue;
        }
        let first: u32 = number(1).unwrap_or(shape.size);
        for step in 0..number(2).unwrap_or(3) {
            // The most memory so far begins anew.
            let _ = std::fs::write("/proc/self/clear_refs", "5");
            let before = status("VmRSS");
            let size = first << step;
            let text = (shape.text)(size);
            let (module, read) = timed(|| gangway_ptx::parse(&text));
            let module = module.unwrap_or_else(|errors| panic!("{}: {errors}", shape.name));
            let engine = engine(Execution::CompiledOnly);
            let (program, load) = timed(|| engine.load(module.clone()).expect("memory"));
            let (launches, compiled) =
                timed(|| [31, 32].map(|threads| launch(&engine, &program, threads, buffer)));
            let peak = status("VmHWM").saturating_sub(before);
            let interpreter = self::engine(Execution::Interpreted);
            let program = interpreter.load(module).expect("memory");
            let interpreted = launch(&interpreter, &program, 32, buffer);
            println!(
                "{:26} {size:8} {:9.1} {:9.1} {} {} {interpreted} {peak:7}",
                shape.name,
                read.as_secs_f64() * 1e3,
                load.as_secs_f64() * 1e3,
                launches[0],
                launches[1],
            );
            if compiled > LONG {
                break;
            }
        }
    }
}
