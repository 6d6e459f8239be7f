//! Programs to run and to look into, and a library that stands in for the runtime.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use gangway_commands::{Folder, Ran, Run};

/// Answers for the runtime in these tests: it says that it was loaded and lets every
/// region run on the host, so that the command is tested without the runtime.
const STAND_IN: &str = r#"
#include <unistd.h>
void __tgt_register_lib(void *d) { (void)d; (void)!write(2, "stand-in loaded\n", 16); }
void __tgt_unregister_lib(void *d) { (void)d; }
int __tgt_target_kernel(void *l, long d, int t, int h, void *k, void *a) { return 1; }
"#;

/// Answers for the virtual GPU: one device.
const STAND_IN_DRIVER: &str = r#"
#include <string.h>
int cuInit(unsigned f) { return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int n) { *d = n; return 0; }
int cuDeviceGetName(char *name, int length, int d) { strncpy(name, "Stand-in", length); return 0; }
int cuDeviceGetAttribute(int *value, int a, int d) { *value = a; return 0; }
int cuDeviceTotalMem_v2(unsigned long *bytes, int d) { *bytes = 3ul << 30; return 0; }
"#;

/// A program that loads the driver as CUDA programs do.
pub const CUDA_SOURCE: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  char name[100] = "";
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda) return 3;
  int (*get)(char *, int, int) = (int (*)(char *, int, int))dlsym(cuda, "cuDeviceGetName");
  get(name, 100, 0);
  puts(name);
  return 0;
}
"#;

pub const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#pragma omp declare target
int scale = 2;
double table[100];
#pragma omp end declare target
int main(int argc, char **argv) {
  int x = argc > 1 ? atoi(argv[1]) : 0;
#pragma omp target map(tofrom : x)
  x = x * scale;
  if (argc > 2) abort();
  printf("%d\n", x);
  return x;
}
"#;

pub struct Workshop(Folder);

impl Workshop {
    /// `ours/` holds the stand-in, `stock/` a copy of it that says nothing.
    pub fn new() -> Self {
        let workshop = Workshop(Folder::new());
        workshop.write("program.c", SOURCE);
        workshop.write("stand-in.c", STAND_IN);
        workshop.write("stock.c", STAND_IN.replace("stand-in", "stock   "));
        workshop.write("exports", "VERS1.0 { global: __tgt_*; };\n");
        for (source, directory) in [("stand-in.c", "ours"), ("stock.c", "stock")] {
            std::fs::create_dir(workshop.path(directory)).unwrap();
            let library = format!("{directory}/libomptarget.so.22.1");
            workshop.compile(&[
                "-shared",
                "-fPIC",
                "-Wl,--version-script=exports",
                "-Wl,-soname,libomptarget.so.22.1",
                source,
                "-o",
                &library,
            ]);
        }
        workshop.write("driver.c", STAND_IN_DRIVER);
        std::fs::create_dir(workshop.path("ours/vgpu")).unwrap();
        workshop.compile(&["-w", "-shared", "-fPIC", "driver.c", "-o", "ours/vgpu/libcuda.so.1"]);
        // The real one is tested where the real driver is.
        workshop.write("ending.c", "");
        for library in ["ours/libgangway-ending.so", "ours/libgangway-host-access.so"] {
            workshop.compile(&["-shared", "-fPIC", "ending.c", "-o", library]);
        }
        workshop
    }

    pub fn compile(&self, arguments: &[&str]) {
        self.tool("clang-22", arguments);
    }

    /// Compiles `program.c` for offloading to this machine.
    pub fn program(&self, output: &str, arguments: &[&str]) {
        let flags = ["-O1", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "program.c", "-o", output];
        self.compile(&[&flags, arguments].concat());
    }

    /// The command, told where the stand-in is, in an environment without surprises.
    pub fn gangway(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gangway"));
        command.current_dir(&***self).env("GANGWAY_LIBDIR", "ours");
        for name in ["LD_LIBRARY_PATH", "LD_PRELOAD", "GANGWAY_REPORT", "GANGWAY_TRACE", "GANGWAY_DEVICE"] {
            command.env_remove(name);
        }
        command
    }

    pub fn output(&self, arguments: &[&str]) -> Ran {
        self.gangway().args(arguments).run()
    }
}

impl Deref for Workshop {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

/// Compares with a committed file; `GANGWAY_BLESS=1` writes it instead.
#[track_caller]
pub fn golden(name: &str, actual: &str) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/golden");
    gangway_commands::golden(&files.join(name), actual);
}
