//! Calls of the host from device code, against the protocol that libgomp has for them, on the
//! virtual GPU, or a card where there is one, and on CPU devices.
//!
//! `make bench-host-calls` calls it. It compiles `benches/calls/` with the staged `gangway cc`,
//! measures each case in both ways, prints the table and writes `docs/benchmarks-host-calls.md`.
//! The programs check their answers.
#![forbid(unsafe_code)]

mod cases;
mod programs;

use std::process::ExitCode;

use gangway_bench::driver::Driver;
use gangway_bench::program::{self, Found, OnGpu, Program};
use gangway_bench::verdict::Verdict;

use programs::Programs;

const PROGRAM: Program = Program {
    name: "gangway-bench-host-calls",
    about: "Measure calls of the host from device code",
    rounds: "5",
    page: "docs/benchmarks-host-calls.md",
    head: HEAD,
    example: "one",
};

fn main() -> ExitCode {
    program::main(&PROGRAM, |setting, options: &OnGpu| {
        let stage = setting.root.join(&options.staged.stage);
        let virtual_gpu = stage.join("lib/gangway/vgpu");
        let driver = Driver::choose(&setting.root, &virtual_gpu, options.r#virtual, &setting.build)?;
        let device = if driver.is_virtual() { "virtual GPU" } else { "GPU" };
        let programs = Programs::build(&setting.root, &stage, &setting.build, driver)?;
        let rows = cases::measure(&programs, setting)?;
        let found = Verdict::found(&rows, "Compared with", &notes(setting.rounds));
        Ok(Found { facts: vec![("Device", format!("{device}, and CPU devices"))], ..found })
    })
}

const HEAD: &str = "# Benchmarks of host calls\n\n\
    Code on a device calls a function of the host, with a block of 8 bytes, through Gangway's channel\n\
    and through the protocol that libgomp has had since GCC 13. Programs are compiled by `gangway cc -O2`.\n\
    `make bench-host-calls` writes this file.\n\n";

/// What stands below the table of the page.
fn notes(rounds: usize) -> String {
    format!(
        "- The protocol of libgomp has one slot for all callers, behind a lock. The host looks at it, serves\n  \
           what stands there, and sleeps for a microsecond, again and again (`benches/calls/slot.h`). It is\n  \
           better here than there: the block stands in the slot and need not be copied from the device.\n\
         - A round trip is the best of 150 batches of at least 2 ms; beside it in brackets is the median of the\n  \
           batches. The figure is our time / that of the slot, and the bar besides 10 µs.\n\
         - Callers are the threads of one region. Its whole time counts, launch and end too. The best\n  \
           of five such regions counts. The slot is measured with one region that ends after three seconds,\n  \
           as it would take minutes. The figure is our rate / that of the slot.\n\
         - A card does not tell of calls, so a thread looks for them while a kernel runs that could call. What it takes of a\n  \
           processor is measured on the virtual GPU with `GANGWAY_HOST_CALLS_LOOK=1`: while a kernel runs that does not\n  \
           call, and beside it while none runs.\n\
         - Programs without calls launch an empty region, or one with a present array, on a driver that starts no\n  \
           kernel. They are compared with the same program whose image has a call that is never made.\n\
         - All figures are medians of {rounds} processes.\n",
    )
}
