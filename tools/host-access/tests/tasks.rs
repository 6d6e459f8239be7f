//! The library before programs with a stand-in for libomp, which runs tasks when it is told to.

use std::process::Command;

use gangway_commands::{Folder, Ran, Run};

/// The functions of libomp that the programs call. A task is run by `run`.
const LIBOMP: &str = r#"
#include <stdarg.h>
#include <stddef.h>
struct task { void *shareds; int (*routine)(int, struct task *); } only;
struct task *__kmpc_omp_target_task_alloc(void *p, int t, int f, size_t s, size_t h, void *routine, long d) {
    only.routine = routine;
    return &only;
}
int __kmpc_omp_task(void *p, int t, struct task *task) { return 0; }
void __kmpc_barrier(void *p, int t) {}
int run(void) { return only.routine(0, &only); }
void __kmpc_fork_call(void *p, int count, void (*routine)(int *, int *, long *), ...) {
    va_list all;
    long values[40];
    int zero = 0;
    va_start(all, routine);
    for (int i = 0; i < count; ++i) values[i] = va_arg(all, long);
    va_end(all);
    routine(&zero, &count, values);
}
"#;

const DECLARATIONS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct task { void *shareds; int (*routine)(int, struct task *); };
struct task *__kmpc_omp_target_task_alloc(void *, int, int, size_t, size_t, void *, long);
int __kmpc_omp_task(void *, int, struct task *);
void __kmpc_barrier(void *, int);
void __kmpc_fork_call(void *, int, void *, ...);
int run(void);
"#;

struct Programs(Folder);

impl Programs {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("omp.c", LIBOMP);
        folder.tool("cc", &["-shared", "-fPIC", "omp.c", "-o", "libstand-in.so"]);
        Self(folder)
    }

    fn compile(&self, name: &str, source: &str, options: &[&str]) {
        let file = format!("{name}.c");
        self.0.write(&file, format!("{DECLARATIONS}{source}"));
        let arguments = ["-g", "-pthread", "-rdynamic", &*file, "-o", name, "-Wl,-rpath,$ORIGIN", "-L."];
        self.0.tool("cc", &[&arguments, options].concat());
    }

    /// Runs a program behind the library; one that hangs is ended.
    fn run(&self) -> Ran {
        let library = std::env::current_exe().unwrap().with_file_name("libgangway_host_access.so");
        assert!(library.exists(), "{}", library.display());
        let mut command = Command::new("timeout");
        command.arg("20").arg("env").arg(format!("LD_PRELOAD={}", library.display())).arg("./program");
        command.current_dir(&*self.0).run()
    }
}

/// libomp frees a cancelled task without having run it, and the next one has its address.
#[test]
fn a_task_with_the_address_of_a_cancelled_one_runs_its_own_routine() {
    let programs = Programs::new();
    let source = r#"
static int one(int thread, struct task *task) { puts("one"); return 1; }
static int other(int thread, struct task *task) { puts("other"); return 2; }
static unsigned long told(unsigned event, unsigned long made) { printf("event %u\n", event); return 7; }
int main(void) {
    setbuf(stdout, 0);
    void (*listen)(void *) = dlsym(RTLD_DEFAULT, "gangway_listen_to_tasks");
    listen(told);
    __kmpc_omp_task(0, 0, __kmpc_omp_target_task_alloc(0, 0, 0, 0, 0, one, 0));
    /* It is cancelled here. */
    __kmpc_omp_task(0, 0, __kmpc_omp_target_task_alloc(0, 0, 0, 0, 0, other, 0));
    return run();
}
"#;
    programs.compile("program", source, &["-lstand-in"]);
    let ran = programs.run();
    // It is made twice and dropped once; the second one begins and ends.
    let told = "event 0\nevent 0\nevent 10\nevent 3\nother\nevent 6\n";
    assert_eq!((ran.code(), &*ran.stdout), (Some(2), told), "{ran}");
}

const WITH_REGION: &str = r#"
static int frames;
static void region(int *thread, int *count, long *values) {
    void *callers[20], *main = dlsym(RTLD_DEFAULT, "main");
    int found = backtrace(callers, 20);
    for (int i = 0; i < found; ++i) {
        Dl_info at;
        if (dladdr(callers[i], &at) && at.dli_saddr == main) frames = 1;
    }
    long all = 0;
    for (int i = 0; i < *count; ++i) all = all * 10 + values[i];
    printf("%ld\n", all);
}
int work(void) {
    __kmpc_fork_call(0, 0, region);
    __kmpc_fork_call(0, 1, region, 1l);
    __kmpc_fork_call(0, 3, region, 1l, 2l, 3l);
    __kmpc_fork_call(0, 4, region, 1l, 2l, 3l, 4l);
    __kmpc_fork_call(0, 5, region, 1l, 2l, 3l, 4l, 5l);
    __kmpc_fork_call(0, 8, region, 1l, 2l, 3l, 4l, 5l, 6l, 7l, 8l);
    __kmpc_barrier(0, 0);
    return frames;
}
"#;

/// Extensions of other languages are loaded so that nobody else sees what they bring.
#[test]
fn a_private_libomp_is_found() {
    let programs = Programs::new();
    programs.compile("libwork.so", WITH_REGION, &["-shared", "-fPIC", "-lstand-in"]);
    let source = r#"
int main(void) {
    void *library = dlopen("./libwork.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror());
    int result = ((int (*)(void))dlsym(library, "work"))();
    return dlerror() ? 9 : result;
}
"#;
    programs.compile("program", source, &[]);
    let ran = programs.run();
    // All arguments come, and a parallel region has callers.
    let values = "0\n1\n123\n1234\n12345\n12345678\n";
    assert_eq!((ran.code(), &*ran.stdout), (Some(1), values), "{ran}");
}

/// The loader's lock is taken while a library's constructors run.
#[test]
fn threads_of_a_constructor_wait_for_nothing() {
    let programs = Programs::new();
    let source = r#"
static void nothing(int *thread, int *count, long *values) {}
static void *thread(void *argument) {
    __kmpc_barrier(0, 0);
    return (void *)write(1, "written\n", 8);
}
__attribute__((constructor)) static void begin(void) {
    pthread_t other;
    void *written;
    __kmpc_fork_call(0, 0, nothing);
    pthread_create(&other, 0, thread, 0);
    pthread_join(other, &written);
}
"#;
    programs.compile("libwork.so", source, &["-shared", "-fPIC", "-lstand-in"]);
    programs.compile("program", "int main(void) { return !dlopen(\"./libwork.so\", RTLD_NOW); }\n", &[]);
    let ran = programs.run();
    assert_eq!((ran.code(), &*ran.stdout), (Some(0), "written\n"), "{ran}");
}
