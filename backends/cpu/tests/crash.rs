//! Crash reports, word for word. Each crash happens in a child process: this
//! program again, with the case's name.

mod support;

use gangway_commands::{Folder, Ran, Run};
use libtest_mimic::{Arguments, Trial};
use std::process::{Command, ExitCode};
use support::{Loaded, image, load};

/// A case: its name, what the child does, and the report that is expected, with
/// `#` for what depends on the compiler.
struct Case {
    name: &'static str,
    crash: fn(&Loaded),
    /// What ends the process.
    signal: i32,
    report: &'static str,
}

const NOTE: &str = "  note:    GANGWAY_CPU_CATCH_SIGNALS=0 lets a debugger read the image's symbols\n";

const CASES: &[Case] = &[
    Case {
        name: "null_pointer",
        crash: |crash| crash.run_at(0, &[0, 0], Some(c"crash.c main 11")),
        signal: libc::SIGSEGV,
        report: "gangway: kernel `main:11` crashed on cpu device 2\n  \
                 region:  crash.c:11:1 in main\n  \
                 signal:  SIGSEGV, memory that is not there, at address 0x0\n  \
                 code:    #, on the launching thread\n  \
                 help:    a null pointer was followed: what a pointer leads to has to be mapped as well, \
                 as in map(to: p[0:n])\n",
    },
    Case {
        name: "poisoned_pointer",
        crash: |crash| crash.run_at(1, &[0, crash.allocate(16).0 as u64], Some(c"crash.c main 13")),
        signal: libc::SIGSEGV,
        report: "gangway: kernel `main:13` crashed on cpu device 2\n  \
                 region:  crash.c:13:1 in main\n  \
                 signal:  SIGSEGV, memory that is not there\n  \
                 code:    #, on the launching thread\n  \
                 help:    this looks like poisoned device memory: a value was read that was never written, \
                 or was unmapped before; look for a variable or pointer that lacks a map(to: ...)\n",
    },
    Case {
        name: "division_by_zero",
        crash: |crash| {
            let n = crash.allocate(4);
            crash.put(n, 0_i32);
            crash.run_at(2, &[0, n.0 as u64], None);
        },
        signal: libc::SIGFPE,
        report: "gangway: kernel `main:15` crashed on cpu device 2\n  \
                 signal:  SIGFPE, integer division by zero, or overflow in one\n  \
                 code:    #, on the launching thread\n",
    },
    Case {
        name: "trap",
        crash: |crash| crash.run_at(3, &[0, 0], Some(c"crash.c main 17")),
        signal: libc::SIGILL,
        report: "gangway: kernel `main:17` crashed on cpu device 2\n  \
                 region:  crash.c:17:1 in main\n  \
                 signal:  SIGILL, illegal instruction: a trap, or built for another processor\n  \
                 code:    #, on the launching thread\n",
    },
    Case {
        name: "worker_thread",
        crash: |crash| crash.run_at(4, &[0, MISSING as u64], Some(c"crash.c main 19")),
        signal: libc::SIGSEGV,
        report: "gangway: kernel `main:19` crashed on cpu device 2\n  \
                 region:  crash.c:19:1 in main\n  \
                 signal:  SIGSEGV, memory that is not there, at address #\n  \
                 code:    #.omp_outlined#, on a worker thread of the region\n  \
                 help:    an index may be beyond the section that was mapped, or the pointer beyond what \
                 it pointed to\n",
    },
    Case {
        name: "in_a_library_function",
        crash: |crash| crash.run_at(5, &[0, MISSING as u64], Some(c"crash.c main 23")),
        signal: libc::SIGSEGV,
        report: "gangway: kernel `main:23` crashed on cpu device 2\n  \
                 region:  crash.c:23:1 in main\n  \
                 signal:  SIGSEGV, memory that is not there, at address #\n  \
                 code:    #, called from the device image, on the launching thread\n  \
                 help:    an index may be beyond the section that was mapped, or the pointer beyond what \
                 it pointed to\n",
    },
];

/// An address where nothing is.
const MISSING: usize = 0x10_0000_0000;

fn main() -> ExitCode {
    if let Ok(name) = std::env::var("GANGWAY_TEST_CHILD") {
        child(&name);
        return ExitCode::SUCCESS;
    }
    let cases = CASES.iter().map(|case| trial(case.name, || report_is_as_expected(case)));
    // What is no kernel's crash is left to the program, without a word.
    let silent = |test, case, variables: &'static [_], signal| {
        trial(test, move || {
            let ran = run_child(case, variables).ended_by(signal);
            assert!(ran.stderr.is_empty(), "{ran}");
        })
    };
    let others = [
        silent("switched_off", "null_pointer", &[("GANGWAY_CPU_CATCH_SIGNALS", "0")], libc::SIGSEGV),
        silent("fault_outside_a_kernel", "fault_outside_a_kernel", &[], libc::SIGSEGV),
        // Whoever has the address of a device's variable need not have been called by a kernel.
        silent("fault_with_a_device_address_on_the_stack", "fault_with_a_device_address", &[], libc::SIGSEGV),
        silent(
            "fault_of_another_thread_while_a_kernel_has_run",
            "fault_on_another_thread",
            &[],
            libc::SIGSEGV,
        ),
        silent("sent_signal", "sent_signal", &[], libc::SIGFPE),
        trial("handler_of_the_program", || {
            let ran = run_child("handler_of_the_program", &[]);
            assert_eq!(ran.code(), Some(77), "{ran}");
            assert!(ran.stderr.starts_with("gangway: kernel `main:11`"), "{ran}");
        }),
        trial("stack_overflow", || {
            let ran = run_child("stack_overflow", &[]).ended_by(libc::SIGSEGV);
            ran.told(&["help:    the stack is used up"]);
        }),
        trial("initialiser", || {
            let ran = run_child("initialiser", &[]).ended_by(libc::SIGSEGV);
            let first = "gangway: loading the device image on cpu device 2 crashed: it is damaged, or an initialiser in it is wrong\n";
            assert!(ran.stderr.starts_with(first), "{ran}");
        }),
        trial("exception", || {
            let ran = run_child("exception", &[]).ended_by(libc::SIGABRT);
            assert!(ran.stderr.starts_with("gangway: an exception left kernel `thrower`\n"), "{ran}");
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), cases.chain(others).collect()).exit_code()
}

fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        test();
        Ok(())
    })
}

fn run_child(name: &str, environment: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("GANGWAY_TEST_CHILD", name).env("OMP_NUM_THREADS", "4");
    command.envs(environment.iter().copied()).run()
}

fn report_is_as_expected(case: &Case) {
    let ran = run_child(case.name, &[]).ended_by(case.signal);
    let expected = format!("{}{NOTE}", case.report);
    assert!(matches(&expected, &ran.stderr), "{ran}\nexpected:\n{expected}");
}

/// Whether `text` is `pattern` with anything for each `#`, within a line.
fn matches(pattern: &str, text: &str) -> bool {
    pattern.lines().count() == text.lines().count()
        && pattern.lines().zip(text.lines()).all(|(pattern, mut line)| {
            let mut parts = pattern.split('#');
            let first = parts.next().unwrap_or_default();
            let Some(rest) = line.strip_prefix(first) else { return false };
            line = rest;
            let parts: Vec<&str> = parts.collect();
            for (i, part) in parts.iter().enumerate() {
                let found = if i + 1 == parts.len() {
                    line.ends_with(part).then(|| line.len() - part.len())
                } else {
                    line.find(part)
                };
                let Some(at) = found else { return false };
                line = &line[at + part.len()..];
            }
            line.is_empty()
        })
}

/// The child's part.
fn child(name: &str) {
    // As in a C program: the Rust library's own handlers are out of the way.
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: restores the default.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    if name == "initialiser" {
        load(
            2,
            &support::shared_object(
                "__attribute__((constructor)) void early(void) { *(volatile int *)8 = 1; }",
            ),
        );
        return;
    }
    if name == "exception" {
        return exception();
    }
    if name == "stack_overflow" {
        return stack_overflow();
    }
    if name == "handler_of_the_program" {
        extern "C" fn handler(_: i32) {
            // SAFETY: ends the process.
            unsafe { libc::_exit(77) }
        }
        // SAFETY: the handler is safe at any time.
        unsafe { libc::signal(libc::SIGSEGV, handler as *const () as usize) };
    }
    let crash = load(2, &image("crash.c", &[]));
    if let Some(case) = CASES.iter().find(|case| case.name == name) {
        return (case.crash)(&crash);
    }
    let a = crash.allocate(4);
    crash.put(a, 1_i32);
    crash.run(2, &[0, a.0 as u64]);
    match name {
        "handler_of_the_program" => crash.run(0, &[0, 0]),
        // SAFETY: not safe; the fault is what is wanted.
        "fault_outside_a_kernel" => unsafe { (MISSING as *mut u8).write_volatile(1) },
        "fault_with_a_device_address" => {
            let global = crash.module.global("table", 16).unwrap();
            let stack = std::hint::black_box([global.0; 16]);
            // SAFETY: not safe; the fault is what is wanted.
            unsafe { (MISSING as *mut u8).write_volatile(1) };
            std::hint::black_box(stack);
        }
        "fault_on_another_thread" => {
            // SAFETY: as above.
            let thread = std::thread::spawn(|| unsafe { (MISSING as *mut u8).write_volatile(1) });
            thread.join().unwrap();
        }
        // SAFETY: sends a signal to this thread.
        "sent_signal" => unsafe {
            libc::raise(libc::SIGFPE);
        },
        other => panic!("no case {other}"),
    }
}

fn stack_overflow() {
    let loaded = load(
        2,
        &support::shared_object(
            "int deep(int n) { volatile char a[4096]; a[0] = n; return n ? deep(n - 1) + a[0] : 0; }\n\
             void kernel(void) { volatile int n = 100000000; n = deep(n); }",
        ),
    );
    run_named(&loaded, "kernel");
}

/// Throws out of a kernel, with somebody above who would catch it.
fn exception() {
    let folder = Folder::new();
    folder.write(
        "source.cpp",
        "extern \"C\" void thrower() { throw 1; }\n\
         extern \"C\" void catcher(void (*f)(void *), void *p) { try { f(p); } catch (...) {} }",
    );
    folder.tool("clang++-22", &["-O1", "-fPIC", "-shared", "source.cpp", "-o", "object.so"]);
    let loaded = load(2, &folder.read("object.so"));
    extern "C-unwind" fn below(loaded: *const Loaded) {
        // SAFETY: the caller's local variable.
        run_named(unsafe { &*loaded }, "thrower");
    }
    let catcher = loaded.module.kernel("catcher").unwrap();
    // SAFETY: that is its type.
    let catcher: extern "C-unwind" fn(extern "C-unwind" fn(*const Loaded), *const Loaded) =
        unsafe { std::mem::transmute(catcher.handle.0) };
    catcher(below, &raw const loaded);
}

fn run_named(loaded: &Loaded, name: &str) {
    let launch = gangway_backend::Launch {
        kernel: &loaded.module.kernel(name).unwrap(),
        name,
        source: gangway_backend::SourceText::NONE,
        teams: [0; 3],
        thread_limit: [0; 3],
        trip_count: 0,
        dynamic_group_memory: 0,
        replaced_group_memory: None,
        by_address: false,
    };
    let mut session = gangway_backend::Session::default();
    let table = loaded.device.immediate().argument_table(
        &mut session,
        launch.kernel,
        gangway_backend::TableRequest::EMPTY,
    );
    let table = table.unwrap();
    // SAFETY: the kernel takes nothing.
    unsafe { loaded.device.immediate().launch(&launch, table) }.unwrap();
}
