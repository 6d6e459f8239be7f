//! Random damage: whatever the headers and tables of an image say, the loader
//! survives it, when it loads, looks symbols up, starts threads, unloads and exits.
//!
//! Each damaged image is loaded in a child, as the loader that is to be kept from
//! crashing would take this program with it. A program of its own, so that no
//! other test's threads hold the loader's lock at the fork.
//!
//! `GANGWAY_TEST_SEED` and `GANGWAY_TEST_ROUNDS` choose other and more damage.

mod support;

use gangway_backend::{Backend, Device};
use gangway_cpu::CpuBackend;
use std::ops::Range;
use std::sync::OnceLock;
use support::mutants::{Original, Random};
use support::{image, object};

/// How a child ends that refused its image, and one whose image ran astray: its
/// own code crashed, as damaged relocations sent it elsewhere.
const REFUSED: i32 = 10;
const ASTRAY: i32 = 11;

/// Where the loader's code is.
static LOADER: OnceLock<Range<usize>> = OnceLock::new();

fn originals() -> Vec<Original> {
    let every_table = ["-Wl,-z,pack-relative-relocs,--hash-style=sysv"];
    [
        ("basic.c -O0", image("basic.c", &["-g0", "-O0"])),
        ("basic.c -O2", image("basic.c", &["-g0", "-O2"])),
        ("life.cpp -O0", image("life.cpp", &["-g0", "-O0"])),
        ("life.cpp -O2", image("life.cpp", &["-g0", "-O2"])),
        ("sum.f90", object("sum.f90", &["-O2"])),
        ("parts.c", object("parts.c", &["-O0"])),
        ("parts.c, packed", object("parts.c", &every_table)),
    ]
    .map(|(name, bytes)| Original::new(name, bytes))
    .into()
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn damaged_images_never_crash_the_loader() {
    let originals = originals();
    let device = CpuBackend::new().open(0).unwrap();
    LOADER.set(loader()).unwrap();
    let rounds = setting("GANGWAY_TEST_ROUNDS", 350);
    let mut random = Random::new(setting("GANGWAY_TEST_SEED", 1));
    let (mut refused, mut loaded, mut astray) = (0, 0, 0);
    let mut wrong = Vec::new();
    for original in &originals {
        assert_eq!(child(&*device, &original.bytes, true), 0, "{}", original.name);
    }
    for round in 0..rounds {
        let (bytes, what) = originals[random.below(originals.len())].mutant(&mut random);
        let status = child(&*device, &bytes, round % 2 == 0);
        match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
            (true, 0) => loaded += 1,
            (true, REFUSED) => refused += 1,
            (true, ASTRAY) => astray += 1,
            _ => wrong.push(format!("round {round}: status {status:#x} after {what}")),
        }
    }
    let count = format!("{rounds} mutants: {refused} refused, {loaded} loaded, {astray} ran astray");
    println!("{count}");
    assert!(wrong.is_empty(), "{count}, {} crashed:\n{}", wrong.len(), wrong.join("\n"));
    // Damage that matters is found, and what does not matter is let pass.
    assert!(refused > rounds / 5 && loaded > rounds / 5, "{count}");
}

/// Loads an image in a child, and gives the child's status.
fn child(device: &dyn Device, image: &[u8], unload: bool) -> i32 {
    // SAFETY: no other thread holds a lock that the child needs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        handle_crashes();
        // SAFETY: an image that makes the loader hang ends by this signal.
        unsafe { libc::alarm(20) };
        let module = device.load(image);
        let status = if module.is_ok() { 0 } else { REFUSED };
        if let Ok(module) = &module {
            for name in ["", "kernel", "counter", "__omp_offloading_1_2_main_l3", "no such symbol"] {
                let _ = (module.kernel(name), module.global(name, 4));
            }
            // A new thread gets the thread-local variables; unwinding goes through
            // the tables of all that is loaded.
            let _ = std::thread::spawn(|| std::panic::resume_unwind(Box::new(1))).join();
        }
        if !unload {
            std::mem::forget(module);
        }
        // SAFETY: ends the child as C programs end: finalisers of libraries run.
        unsafe { libc::exit(status) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    unsafe { libc::waitpid(child, &mut status, 0) };
    status
}

/// Tells crashes of the loader, which end the child by the signal, from those of the image's own code.
fn handle_crashes() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP] {
        // SAFETY: `sigaction` is plain data, and the handler has the right type.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

unsafe extern "C" fn crashed(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes valid pointers; who jumps to where nothing is has just pushed where it came from.
    let code = unsafe {
        let registers = (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let pc = registers[libc::REG_RIP as usize] as usize;
        let came_from =
            *std::ptr::with_exposed_provenance::<usize>(registers[libc::REG_RSP as usize] as usize);
        if signal == libc::SIGSEGV && (*info).si_addr().addr() == pc { came_from } else { pc }
    };
    // SAFETY: ends the child now, or by the signal when the same happens again.
    unsafe {
        if LOADER.get().is_some_and(|loader| !loader.contains(&code)) {
            libc::_exit(ASTRAY);
        }
        libc::signal(signal, libc::SIG_DFL);
    }
}

fn loader() -> Range<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains("/ld-") && line.contains(" r-xp ")).expect("no loader");
    let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
    let address = |text| usize::from_str_radix(text, 16).unwrap();
    address(start)..address(end)
}
