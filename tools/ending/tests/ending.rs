//! The library before a program that has not been linked with it.

use std::path::PathBuf;
use std::process::Command;

use gangway_commands::{Folder, Ran, Run};

/// Ends as its first argument says. With a second one it uses the driver, itself or in a child.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static void leave(int signal) { _exit(6); }
// As Python's faulthandler does it.
static void again(int number) { signal(number, SIG_DFL); raise(number); }
static void nothing(int number) {}
static void fault(void) {
    struct sigaction ours = {.sa_handler = again, .sa_flags = SA_NODEFER};
    sigset_t blocked;
    // None of these is the end.
    signal(SIGUSR1, nothing);
    raise(SIGUSR1);
    raise(SIGCHLD);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, 0);
    raise(SIGUSR2);
    if (raise(0) != 0 || raise(1000) != -1) _exit(9);
    (void)!write(1, "still here\n", 11);
    sigaction(SIGSEGV, &ours, 0);
    *(volatile int *)8 = 0;
}
static void leave_in_malloc(void) {
    struct itimerval soon = {{0, 0}, {0, 2000}};
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &soon, 0);
    for (;;) {
        void *volatile blocks[64];
        for (int i = 0; i < 64; ++i) blocks[i] = malloc(3000 + i * 64);
        for (int i = 0; i < 64; ++i) free(blocks[i]);
    }
}
static void action(void) { (void)!write(1, "called\n", 7); }
static void open_driver(void) { ((void (*)(void))dlsym(RTLD_DEFAULT, "gangway_driver_opened"))(); }
int main(int count, char **arguments) {
    void (*before_exit)(void (*)(void)) = dlsym(RTLD_DEFAULT, "gangway_before_exit");
    before_exit(action);
    before_exit(action);
    if (count > 2 && !strcmp(arguments[2], "here")) open_driver();
    if (count > 2 && !strcmp(arguments[2], "child") && !fork()) {
        open_driver();
        exit(0);
    }
    while (wait(0) > 0) {}
    if (!strcmp(arguments[1], "_exit")) _exit(3);
    if (!strcmp(arguments[1], "_Exit")) _Exit(4);
    if (!strcmp(arguments[1], "fault")) fault();
    if (!strcmp(arguments[1], "in malloc")) leave_in_malloc();
    return 5;
}
"#;

struct Program(Folder);

impl Program {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("program.c", PROGRAM);
        folder.tool("cc", &["program.c", "-o", "program"]);
        Self(folder)
    }

    /// Runs it, on the virtual GPU or not, as the shell that becomes it.
    fn run(&self, arguments: &[&str], virtual_gpu: bool) -> Ran {
        self.run_with("", arguments, virtual_gpu)
    }

    /// The same with more in the environment.
    fn run_with(&self, environment: &str, arguments: &[&str], virtual_gpu: bool) -> Ran {
        let library: PathBuf = std::env::current_exe().unwrap().with_file_name("libgangway_ending.so");
        assert!(library.exists(), "{}", library.display());
        let set = if virtual_gpu { "GANGWAY_VGPU_PROGRAM=$$" } else { "" };
        let script = format!("{environment} {set} LD_PRELOAD={} exec ./program \"$@\"", library.display());
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args(arguments).current_dir(&*self.0);
        command.env_remove("GANGWAY_VGPU_PROGRAM").run()
    }
}

#[test]
fn what_is_asked_for_is_called_before_the_end() {
    let program = Program::new();
    for (end, code, called) in [("_exit", 3, "called\n"), ("_Exit", 4, "called\n"), ("return", 5, "")] {
        let output = program.run(&[end], false);
        assert_eq!((output.code(), &*output.stdout, &*output.stderr), (Some(code), called, ""), "{output}");
    }
}

#[test]
fn what_is_asked_for_is_called_before_a_signal_that_is_raised() {
    let output = Program::new().run(&["fault"], false).ended_by(libc::SIGSEGV);
    assert_eq!(output.stdout, "still here\ncalled\n");
}

#[test]
fn a_program_that_never_opens_the_driver_says_so() {
    let program = Program::new();
    let message = "gangway: note: ./program never opened a GPU's driver, so nothing ran on the virtual GPU; \
                   is it built for GPUs, and does it look for libcuda.so.1 or libhsa-runtime64.so.1?\n";
    for end in ["_exit", "_Exit", "return"] {
        assert_eq!(program.run(&[end], true).stderr, message, "{end}");
        for who in ["here", "child"] {
            assert_eq!(program.run(&[end, who], true).stderr, "", "{end} {who}");
        }
    }
}

#[test]
fn a_program_that_is_to_use_no_gpu_says_nothing() {
    let program = Program::new();
    for none in ["OMP_TARGET_OFFLOAD=DISABLED", "OMP_TARGET_OFFLOAD=disabled", "ACC_DEVICE_TYPE=host"] {
        assert_eq!(program.run_with(none, &["return"], true).stderr, "", "{none}");
    }
    for one in ["OMP_TARGET_OFFLOAD=MANDATORY", "ACC_DEVICE_TYPE=nvidia"] {
        program.run_with(one, &["return"], true).told(&["never opened a GPU's driver"]);
    }
}

/// A signal handler may call `_exit` wherever the signal found its thread.
#[test]
fn a_program_may_end_in_the_middle_of_malloc() {
    let program = Program::new();
    for _ in 0..20 {
        let output = program.run(&["in malloc"], true);
        assert_eq!(output.code(), Some(6), "{output}");
        output.told(&["never opened a GPU's driver"]);
    }
}
