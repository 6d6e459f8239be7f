//! What is recorded of the devices' work: a trace of kernels in the file that `GANGWAY_VGPU_TRACE` names.
//!
//! It is of the devices alone, also under Gangway's own runtime, whose report and trace are its own. Where
//! nothing is asked for a kernel costs one load.

use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use gangway_settings::file_variable;
use gangway_trace::{Kind, Request, Shape, Span};

use super::report::report;

static TELLS: AtomicBool = AtomicBool::new(false);

/// Whether the user wants to hear what is done: `GANGWAY_VGPU_TRACE=1`.
#[must_use]
pub fn tells() -> bool {
    TELLS.load(Ordering::Relaxed)
}

/// Begins, if the environment says so; once in a process, however often the runtime is started.
pub fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(begin);
}

fn begin() {
    let Some(file) = file_variable("GANGWAY_VGPU_TRACE").filter(|file| !file.is_empty() && file != "0")
    else {
        return;
    };
    if file == "1" {
        TELLS.store(true, Ordering::Relaxed);
        report!("GANGWAY_VGPU_TRACE=1: calls of HSA are not counted; a name of a file gives a trace");
        return;
    }
    gangway_trace::find_library_of_endings();
    gangway_trace::at_end(gangway_trace::finish);
    gangway_trace::start(Request { traces: vec![PathBuf::from(file)], ..Request::default() });
}

/// Behind the exit handlers and the program's destructors, in which runtimes wait for kernels.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    gangway_trace::finish();
}

/// Runs a kernel on a device, and notes it.
#[inline]
pub fn kernel<T>(device: u32, name: &str, shape: impl FnOnce() -> Shape, run: impl FnOnce() -> T) -> T {
    if !gangway_trace::enabled() {
        return run();
    }
    let begun =
        Span { shape: Some(shape()), ..Span::new(Kind::Kernel, device as i32, name, gangway_trace::now()) };
    let running = gangway_trace::begin(&begun);
    let outcome = run();
    drop(running);
    gangway_trace::record(&Span { end: gangway_trace::now(), ..begun });
    outcome
}
