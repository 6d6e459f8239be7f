//! `gangway cc`, `c++` and `fc`, and the stand-ins that they give to the compilers.

use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use gangway_commands::{Ran, Run};

use crate::support::Workshop;

/// Does what `tools/compile-step` does, which is not built for this test.
const STEP: &str = "#define _GNU_SOURCE\n\
    #include <dlfcn.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n\
    __attribute__((constructor)) static void start(void) {\n\
      static char line[65536], path[4096], compiler[4096], *words[4096];\n\
      FILE *file = fopen(\"/proc/self/cmdline\", \"r\");\n\
      size_t size = fread(line, 1, sizeof line - 1, file), count = 2;\n\
      fclose(file);\n\
      Dl_info info;\n\
      dladdr(start, &info);\n\
      snprintf(path, sizeof path, \"%.*s/../../bin/gangway\", (int)(strrchr(info.dli_fname, '/') - info.dli_fname), \n\
               info.dli_fname);\n\
      readlink(\"/proc/self/exe\", compiler, sizeof compiler - 1);\n\
      words[0] = path, words[1] = \"stand-in\", words[2] = \"clang\", words[3] = compiler;\n\
      for (char *at = line + strlen(line) + 1; at < line + size; at += strlen(at) + 1) words[++count + 1] = at;\n\
      if (count > 2 && !strcmp(words[4], \"-cc1\")) execv(path, words);\n\
    }\n";

/// As much of a device runtime as the programs here need.
const RUNTIME: &str = r#"
int __kmpc_target_init(void *environment, void *launch) { return __nvvm_read_ptx_sreg_tid_x() ? 1 : -1; }
void __kmpc_target_deinit(void) {}
int __kmpc_get_hardware_thread_id_in_block(void) { return __nvvm_read_ptx_sreg_tid_x(); }
__attribute__((noinline, used)) double exp(double x) { return x * __nvvm_read_ptx_sreg_ntid_x(); }
"#;

const FORTRAN: &str = "program p\ninteger :: x\nx = 41\n!$omp target map(tofrom: x)\nx = x + 1\n\
                       !$omp end target\nprint '(i0)', x\nend program\n";

/// What the compilers call, and Debian has in packages of its own.
const TOOLS: [&str; 3] = ["llvm-offload-binary", "clang-linker-wrapper", "clang-nvlink-wrapper"];

struct Installation(Workshop);

impl Installation {
    /// An installation below `prefix/`, with the stand-in for our library and a device runtime.
    fn new() -> Self {
        let workshop = Workshop::new();
        let library = workshop.path("prefix/lib/gangway");
        for folder in ["prefix/bin", "prefix/lib"] {
            std::fs::create_dir_all(workshop.path(folder)).unwrap();
        }
        std::fs::rename(workshop.path("ours"), &library).unwrap();
        symlink("libomptarget.so.22.1", library.join("libomptarget.so")).unwrap();
        symlink(env!("CARGO_BIN_EXE_gangway"), workshop.path("prefix/bin/gangway")).unwrap();
        let toolkit = Path::new(env!("CARGO_MANIFEST_DIR")).join("toolkit");
        let copied = |from: &str, to: &str| {
            let to = library.join(to);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(toolkit.join(from), to).unwrap();
        };
        copied("include/cuda.h", "cuda/include/cuda.h");
        std::fs::create_dir_all(library.join("cuda/nvvm/libdevice")).unwrap();
        workshop.write("libdevice.c", "");
        copied("bin/stand-in", "cuda/bin/stand-in");
        std::fs::create_dir_all(library.join("flang/bin")).unwrap();
        for (folder, tools) in
            [("cuda/bin", ["ptxas", "nvlink"]), ("flang/bin", ["flang", "llvm-offload-binary"])]
        {
            for tool in tools {
                symlink("../../cuda/bin/stand-in", library.join(folder).join(tool)).unwrap();
            }
        }
        workshop.write("step.c", STEP);
        let step = library.join("libgangway-compile-step.so");
        workshop.compile(&["-shared", "-fPIC", "step.c", "-o", step.to_str().unwrap()]);
        workshop.write("runtime.c", RUNTIME);
        let device = [
            "--target=nvptx64-nvidia-cuda",
            "-march=sm_80",
            "--cuda-feature=+ptx87",
            "-nogpulib",
            "-O1",
            "-w",
        ];
        workshop.compile(&[&device[..], &["-c", "-emit-llvm", "runtime.c", "-o", "runtime.bc"]].concat());
        let libdevice = library.join("cuda/nvvm/libdevice/libdevice.10.bc");
        let words = ["-c", "-emit-llvm", "libdevice.c", "-o", libdevice.to_str().unwrap()];
        workshop.compile(&[&device[..], &words].concat());
        let archive = library.join("nvptx64-nvidia-cuda/libompdevice.a");
        std::fs::create_dir(archive.parent().unwrap()).unwrap();
        std::fs::copy(&libdevice, library.join("nvptx64-nvidia-cuda/fortran.bc")).unwrap();
        workshop.tool("llvm-ar-22", &["rcs", archive.to_str().unwrap(), "runtime.bc"]);
        workshop.write("program.f90", FORTRAN);
        Self(workshop)
    }

    fn command(&self) -> Command {
        let mut command = self.gangway();
        command.env("GANGWAY_LIBDIR", self.path("prefix/lib/gangway"));
        for name in ["GANGWAY_CUDA_PATH", "GANGWAY_LLVM", "COMPILER_PATH", "LIBRARY_PATH"] {
            command.env_remove(name);
        }
        command
    }

    fn output(&self, arguments: &[&str]) -> Ran {
        self.command().args(arguments).run()
    }

    /// Runs the command, which has to succeed in silence.
    fn good(&self, arguments: &[&str]) -> String {
        let ran = self.output(arguments).succeeded();
        assert!(ran.stderr.is_empty(), "{ran}");
        ran.stdout
    }

    /// Runs the command, which has to fail, and gives what it says.
    fn bad(&self, arguments: &[&str]) -> String {
        self.output(arguments).failed().stderr
    }

    /// The architectures of a file's device images.
    fn images(&self, file: &str) -> Vec<String> {
        let report = self.good(&["inspect", "--json", file]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let image = |image: &serde_json::Value| image["arch"].as_str().unwrap_or("").to_owned();
        let mut images: Vec<_> = report["images"].as_array().unwrap().iter().map(image).collect();
        images.sort();
        images
    }

    /// What a stand-in says of a file that it gets.
    fn stand_in(&self, arguments: &[&str]) -> Ran {
        self.output(&[&["stand-in"], arguments].concat())
    }

    /// A compiler in the place of clang-22, that prints its arguments line by line.
    fn echo(&self) {
        for name in ["clang", "clang++", "flang"] {
            let script = "#!/bin/sh\n[ \"$*\" != --version ] || exec echo 'clang version 22.1.8'\nprintf '%s\\n' \"$@\"\n";
            self.script(format!("llvm/bin/{name}"), script);
        }
        for tool in TOOLS {
            self.write(format!("llvm/bin/{tool}"), "");
        }
    }

    fn told(&self, arguments: &[&str]) -> Vec<String> {
        self.echo();
        let output = self.command().env("GANGWAY_LLVM", "llvm").args(arguments).run();
        output.stdout.lines().map(str::to_owned).collect()
    }
}

impl Deref for Installation {
    type Target = Workshop;

    fn deref(&self) -> &Workshop {
        &self.0
    }
}

#[test]
fn one_command_compiles_for_cpu_devices() {
    let here = Installation::new();
    here.good(&["cc", "-O1", "-fopenmp", "program.c", "-o", "program"]);
    assert_eq!(here.images("program"), [""]);
    // It finds the library without help.
    let output = Command::new(here.path("program")).env_remove("LD_LIBRARY_PATH").run();
    assert_eq!(output.stderr, "stand-in loaded\n");
}

#[test]
fn options_of_other_subcommands_are_the_compilers() {
    let here = Installation::new();
    for command in ["cc", "c++", "fc"] {
        assert_eq!(here.told(&[command, "--report", "json", "a.c"]), ["--report", "json", "a.c"]);
    }
}

#[test]
fn several_devices_in_one_program() {
    let here = Installation::new();
    let architectures = "--offload-arch=sm_80,x86_64";
    here.good(&["cc", "-O1", "-fopenmp", architectures, "--offload-arch=sm_90", "program.c", "-o", "three"]);
    assert_eq!(here.images("three"), ["", "sm_80", "sm_90"]);
    here.good(&["fc", "-O1", "-fopenmp", "--offload-arch=sm_80", "program.f90", "-o", "fortran"]);
    assert_eq!(here.images("fortran"), ["sm_80"]);
    // The device runtime is in the same module.
    here.good(&["inspect", "fortran", "--extract", "0", "-o", "fortran.ptx"]);
    let code = std::fs::read_to_string(here.path("fortran.ptx")).unwrap();
    assert!(code.contains(".entry") && !code.contains(".extern"), "{code}");
}

/// LLVM refuses GPU code with flang's debug information, and with its own intrinsics.
#[test]
fn fortran_for_gpus_calls_functions_and_has_no_debug_information() {
    let here = Installation::new();
    let region = "!$omp target map(tofrom: x)\nx = exp(x)\n!$omp end target\n";
    here.write("maths.f90", format!("program p\nreal(8) :: x\nx = 1\n{region}print *, x\nend program\n"));
    let output =
        here.output(&["fc", "-O1", "-g", "-fopenmp", "--offload-arch=sm_80", "maths.f90", "-o", "maths"]);
    let note = "gangway: note: -g is for the host's code only: LLVM refuses the debug information that \
                flang-22 makes for GPU code\n";
    assert_eq!(output.stderr, note);
    here.good(&["inspect", "maths", "--extract", "0", "-o", "maths.ptx"]);
    let code = std::fs::read_to_string(here.path("maths.ptx")).unwrap();
    assert!(code.contains(".func") && code.contains(" exp"), "{code}");
    assert!(!code.contains(".loc") && !code.contains(".section"), "{code}");
}

/// The linker knows the lines of flang's calls, though GPU code has no debug information.
#[test]
fn what_fortran_calls_and_gpus_lack_is_refused_with_its_line() {
    let here = Installation::new();
    let region = "!$omp target map(tofrom: x)\ncall random_number(x)\n!$omp end target\n";
    here.write("random.f90", format!("program p\nreal :: x\n{region}print *, x\nend program\n"));
    let said = here.bad(&["fc", "-O1", "-fopenmp", "--offload-arch=sm_80", "random.f90", "-o", "random"]);
    assert!(said.contains("undefined reference to '_FortranARandomNumber'"), "{said}");
    assert!(said.contains("random.f90:4: calls '_FortranARandomNumber'\n  help: flang-22 calls"), "{said}");
}

/// flang-22 compiles it in no other way, and what it warns of is told once.
#[test]
fn fortran_for_gpus_has_complex_numbers() {
    let here = Installation::new();
    let region = "!$omp target map(tofrom: z)\nz = sqrt(z) / z\n!$omp end target\n";
    here.0
        .write("roots.f90", format!("program p\ncomplex(8) :: z\nz = 1\n{region}print *, z\nend program\n"));
    let output = here.output(&["fc", "-O1", "-fopenmp", "--offload-arch=sm_80", "-c", "roots.f90"]);
    assert_eq!(output.stderr, "");
    assert!(output.status.success() && here.path("roots.o").is_file());
}

#[test]
fn a_program_for_gpus_only_gets_the_virtual_one() {
    if Path::new("/dev/nvidiactl").exists() {
        eprintln!("there is a GPU here, so the program would run on it: nothing is tested");
        return;
    }
    let here = Installation::new();
    let note = "gangway: note: the program is for NVIDIA's GPUs, and there is none: ";
    for (architectures, virtual_gpu) in
        [("--offload-arch=sm_80", true), ("--offload-arch=sm_80,x86_64", false)]
    {
        here.good(&["cc", "-O1", "-fopenmp", architectures, "program.c", "-o", "program"]);
        let said = here.output(&["run", "--", "./program"]).stderr;
        assert_eq!(said.starts_with(note), virtual_gpu, "{said}");
        let said = here.output(&["run", "--device", "vgpu", "--", "./program"]).stderr;
        assert_eq!(said, "stand-in loaded\n");
    }
}

#[test]
fn parts_are_compiled_and_linked() {
    let here = Installation::new();
    here.write(
        "part.c",
        "#pragma omp declare target\nint twice(int x) { return 2 * x; }\n#pragma omp end declare target\n",
    );
    here.write(
        "main.c",
        "int twice(int);\n#pragma omp declare target to(twice)\n\
         int main(void) {\n  int x = 21;\n#pragma omp target map(tofrom: x)\n  x = twice(x);\n  return x != 42;\n}\n",
    );
    std::fs::create_dir(here.path("a folder")).unwrap();
    let gpu = ["-O1", "-fopenmp", "--offload-arch=sm_80"];
    let cc = |rest: &[&str]| here.good(&[&["cc"], &gpu[..], rest].concat());
    cc(&["-fPIC", "-c", "part.c", "-o", "a folder/part.o"]);
    cc(&["-c", "main.c"]);
    cc(&["main.o", "a folder/part.o", "-o", "a folder/objects"]);
    here.tool("ar", &["rcs", "libpart.a", "a folder/part.o"]);
    cc(&["main.o", "-L.", "-lpart", "-o", "static"]);
    // The words of a response file are the user's.
    here.write("rest", "main.c 'a folder/part.o' -o 'a folder/response'");
    cc(&["@rest"]);
    // The link need not name the GPU again.
    here.good(&["cc", "-fopenmp", "main.o", "-L.", "-lpart", "-o", "unnamed"]);
    for program in ["a folder/objects", "static", "a folder/response", "unnamed"] {
        assert_eq!(here.images(program), ["sm_80"], "{program}");
    }
    here.tool("ar", &["rcs", "prefix/lib/gangway/libgangway-host-openmp.a"]);
    here.good(&["fc", "-O1", "-fopenmp", "--offload-arch=sm_80", "-c", "program.f90"]);
    here.good(&["fc", "-fopenmp", "program.o", "-o", "fortran"]);
    assert_eq!(here.images("fortran"), ["sm_80"]);
    // A shared library is linked for the device by itself.
    here.write("whole.c", "void set(int *x) {\n#pragma omp target map(from: x[0])\n  *x = 42;\n}\n");
    cc(&["-shared", "-fPIC", "whole.c", "-o", "libwhole.so"]);
    assert_eq!(here.images("libwhole.so"), ["sm_80"]);
}

/// A program whose code is compiled when it runs, for the CPU as for GPUs.
#[test]
fn images_may_be_bitcode() {
    let here = Installation::new();
    let words = ["cc", "-O1", "-fopenmp", "-fopenmp-target-jit", "--offload-arch=sm_80,x86_64"];
    here.good(&[&words[..], &["program.c", "-o", "program"]].concat());
    let report = here.good(&["inspect", "program"]);
    assert_eq!(report.matches("LLVM bitcode").count(), 2, "{report}");
    assert_eq!(report.matches("back end").count(), 2, "{report}");
}

#[test]
fn code_for_gpus_is_compiled_by_the_stand_in() {
    let here = Installation::new();
    here.write(
        "sums.c",
        "short sums[5];\nvoid sum(void) {\n#pragma omp target parallel for reduction(+: sums)\n\
         for (int i = 0; i < 9; i++) sums[i % 5] += i;\n}\n",
    );
    let words =
        ["cc", "-fopenmp", "--offload-arch=sm_80", "-O0", "-S", "-emit-llvm", "--offload-device-only"];
    let text = here.good(&[&words[..], &["sums.c", "-o", "-"]].concat());
    // Between warps, the last element is taken from behind the words.
    assert!(
        text.contains("and i64 ptrtoint (ptr getelementptr ([5 x i16], ptr null, i64 1) to i64), -4"),
        "{text}"
    );
    // The other steps are clang's own.
    let shown = text_of_step(&here, &["-c", "sums.c", "-o", "sums.o", "-###"]);
    assert_eq!(shown.matches("libgangway-compile-step.so").count(), 1, "{shown}");
}

#[test]
fn arguments_that_gpus_have_no_type_for_are_refused_by_line() {
    let here = Installation::new();
    here.write(
        "long.c",
        "int printf(const char *, ...);\nvoid say(void) {\n#pragma omp target\n  printf(\"%Lf\", 1.0L);\n}\n",
    );
    let said = here.bad(&["cc", "-fopenmp", "--offload-arch=sm_80", "-c", "long.c", "-o", "long.o"]);
    assert!(said.contains("long.c:4:3: error: GPUs have no 'long double'"), "{said}");
}

/// What clang says of the commands that it would call.
fn text_of_step(here: &Installation, rest: &[&str]) -> String {
    here.output(&[&["cc", "-fopenmp", "--offload-arch=sm_80"], rest].concat()).stderr
}

#[test]
fn steps_before_linking_are_the_compilers() {
    let here = Installation::new();
    let gpu = ["cc", "-fopenmp", "--offload-arch=sm_80"];
    let cc = |rest: &[&str]| here.output(&[&gpu[..], rest].concat());
    assert!(cc(&["-S", "program.c", "-o", "-"]).stdout.contains(".text"));
    assert!(cc(&["-E", "program.c"]).stdout.contains("int main(int argc"));
    let shown = cc(&["-###", "program.c"]).stderr;
    assert!(shown.contains("clang-linker-wrapper") && shown.contains("nvptx64-nvidia-cuda"), "{shown}");
    // The exit status is the compiler's.
    here.write("wrong.c", "int main(void) { return x; }\n");
    let output = cc(&["wrong.c"]);
    assert!(output.status.code() == Some(1) && output.stderr.contains("wrong.c:1:25: error:"));
}

#[test]
fn printed_flags_do_what_the_command_does() {
    let here = Installation::new();
    let flags = here.good(&["cc", "--print-flags", "--offload-arch=sm_80,x86_64"]);
    here.compile(
        &[&flags.split_whitespace().collect::<Vec<_>>()[..], &["program.c", "-o", "by-flags"]].concat(),
    );
    assert_eq!(here.images("by-flags"), ["", "sm_80"]);
    let compile = here.good(&["cc", "--print-flags=compile"]);
    let headers = here.path("prefix/include");
    let words = format!("-fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -idirafter{}", headers.display());
    assert_eq!(compile, format!("--start-no-unused-arguments {words} --end-no-unused-arguments\n"));
    let link = here.good(&["cc", "--print-flags=link"]);
    assert!(link.contains(&words) && link.contains("-rpath"), "{link}");
    // Of a release whose library's name there is something to link with, that comes first.
    let named = here.path("prefix/lib/gangway/llvm-23");
    assert!(!here.good(&["cc", "--print-flags=link", "--llvm=23"]).contains("llvm-23"));
    std::fs::create_dir(&named).unwrap();
    std::fs::copy(here.path("prefix/lib/gangway/libomptarget.so.22.1"), named.join("libomptarget.so"))
        .unwrap();
    let chosen = here.good(&["cc", "--print-flags=link", "--llvm=23"]);
    let folders: Vec<&str> = chosen.split_whitespace().filter(|word| word.starts_with("-L")).collect();
    let both = [&named, &here.path("prefix/lib/gangway")].map(|folder| format!("-L{}", folder.display()));
    assert_eq!(folders, both);
    let refused = here.bad(&["fc", "-fopenmp", "--offload-arch=sm_80,gfx90a", "program.f90"]);
    assert!(refused.starts_with("gangway: flang compiles for the GPUs of one maker at a time"), "{refused}");
    let refused = here.bad(&["fc", "--print-flags", "--offload-arch=sm_80"]);
    assert!(refused.starts_with("gangway: flang has no flags for what GPU code needs"), "{refused}");
}

#[test]
fn headers_of_host_calls_are_found() {
    let here = Installation::new();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../frontends/openmp/include/gangway");
    let place = here.path("prefix/include/gangway");
    std::fs::create_dir_all(&place).unwrap();
    for header in ["host_call.h", "gangway_host_calls.f90"] {
        std::fs::copy(headers.join(header), place.join(header)).unwrap();
    }
    let asks = "#include <gangway/host_call.h>\n\
                void ask(void *block, size_t size) { (void)block, (void)size; }\n\
                GANGWAY_HOST_FUNCTION(ask);\n";
    here.write("asks.c", asks);
    here.write("asks.cpp", format!("extern \"C\" {{\n{asks}}}\n"));
    here.write("asks.f90", "include 'gangway_host_calls.f90'\nsubroutine s\nuse gangway_host_calls\nend\n");
    for arch in ["x86_64", "sm_80,x86_64"] {
        let arch = format!("--offload-arch={arch}");
        here.good(&["cc", "-fopenmp", &arch, "-Werror", "-c", "asks.c"]);
        here.good(&["c++", "-fopenmp", &arch, "-Werror", "-c", "asks.cpp"]);
        here.good(&["fc", "-fopenmp", &arch, "-c", "asks.f90"]);
    }
    // A header of the user's comes first.
    std::fs::create_dir_all(here.path("mine/gangway")).unwrap();
    here.write("mine/gangway/host_call.h", "#error mine\n");
    let refused = here.bad(&["cc", "-fopenmp", "-Imine", "-c", "asks.c"]);
    assert!(refused.contains("error: mine"), "{refused}");
}

/// clang-22 itself says nothing.
#[test]
fn a_scan_in_gpu_code_is_warned_of() {
    let here = Installation::new();
    let sums = "static void sums(int n, int *a) {\nint s = 0;\n\
                #pragma omp target map(a[:n])\n#pragma omp parallel for reduction(inscan, +: s)\n\
                for (int i = 0; i < n; i++) {\ns += a[i];\n#pragma omp scan inclusive(s)\na[i] = s;\n}\n}\n";
    here.write("sums.h", sums);
    here.write("scan.c", "#include \"sums.h\"\nvoid f(int n, int *a) { sums(n, a); }\n");
    let compiled = |more: &[&str]| {
        let words = [&["cc", "-O1", "-fopenmp", "-c", "scan.c"], more].concat();
        let output = here.output(&words);
        let said = output.stderr;
        assert!(output.status.success(), "{said}");
        said.to_owned()
    };
    let warning = "sums.h:7: warning: clang-22 compiles `scan` for GPUs to code with wrong results; run the loop \
                   on the host\n";
    assert_eq!(compiled(&["--offload-arch=sm_80"]), warning);
    assert_eq!(compiled(&["--offload-arch=sm_80", "-w"]), "");
    assert_eq!(compiled(&["--offload-arch=x86_64"]), "");
}

#[test]
fn a_program_without_openmp_is_compiled_as_ever() {
    let here = Installation::new();
    assert_eq!(here.told(&["cc", "-O2", "a.c", "a b.c"]), ["-O2", "a.c", "a b.c"]);
    assert_eq!(here.told(&["c++", "--version"]), ["clang version 22.1.8"]);
    assert_eq!(here.told(&["cc", "-fopenmp", "-fno-openmp"]), ["-fopenmp", "-fno-openmp"]);
    // Nothing is linked, so nothing is said of libraries.
    assert!(!here.told(&["fc", "-fopenmp", "-c", "a.f90"]).iter().any(|word| word.contains("rpath")));
    let help = here.good(&["cc", "--help"]);
    assert!(help.contains("--offload-arch=LIST") && help.contains("--print-flags"), "{help}");
}

#[test]
fn a_real_toolkit_takes_the_place_of_the_stand_ins() {
    let here = Installation::new();
    std::fs::create_dir_all(here.path("cuda/bin")).unwrap();
    here.write("cuda/bin/ptxas", "");
    let words = here.told(&["cc", "-fopenmp", "--offload-arch=sm_80", "--cuda-path=cuda", "a.c"]);
    assert!(words.contains(&"--cuda-path=cuda".to_owned()), "{words:?}");
    let refused = here.bad(&["cc", "-fopenmp", "--offload-arch=sm_80", "--cuda-path=/nowhere", "a.c"]);
    assert_eq!(refused, "gangway: /nowhere is no CUDA toolkit: it has no bin/ptxas\n");
}

#[test]
fn what_is_missing_is_named() {
    let here = Installation::new();
    let said = here.command().env("GANGWAY_LLVM", "/nowhere").args(["cc", "a.c"]).run();
    let expected = "gangway: there is no /nowhere/bin/clang, which GANGWAY_LLVM leads to\n";
    assert_eq!((said.status.code(), said.stderr), (Some(1), expected.to_owned()));
    let archive = here.path("prefix/lib/gangway/nvptx64-nvidia-cuda/libompdevice.a");
    std::fs::remove_file(&archive).unwrap();
    let said = here.bad(&["cc", "-fopenmp", "--offload-arch=sm_80", "program.c"]);
    let expected =
        format!("gangway: there is no {}; the installation of Gangway is incomplete\n", archive.display());
    assert_eq!(said, expected);
    let said = here.bad(&["cc", "-fopenmp", "--offload-arch=gfx803", "program.c"]);
    assert!(
        said.starts_with("gangway: --offload-arch=gfx803: Gangway has no device runtime for it"),
        "{said}"
    );
}

/// A release is chosen by number, of those that are installed.
#[test]
fn the_release_of_the_compiler_can_be_chosen() {
    let here = Installation::new();
    // Compilers that tell which they are stand in the search path.
    for release in [19, 22, 23] {
        let tools = format!("llvm-{release}/bin");
        here.script(format!("{tools}/clang"), format!("#!/bin/sh\necho {release}\n"));
        for tool in TOOLS.into_iter().chain(["clang-offload-packager"]) {
            here.script(format!("{tools}/{tool}"), "");
        }
        std::fs::create_dir_all(here.path(format!("path-{release}"))).unwrap();
        symlink(here.path(format!("{tools}/clang")), here.path(format!("path-{release}/clang-{release}")))
            .unwrap();
    }
    let said = |releases: &[u32], variable: &str, arguments: &[&str]| {
        let folders = releases.iter().map(|release| here.path(format!("path-{release}")));
        let path = std::env::join_paths(folders.chain(["/usr/bin".into(), "/bin".into()])).unwrap();
        let mut command = here.command();
        command.env("PATH", path).env("GANGWAY_LLVM", variable);
        let output = command.args(["cc", "-fopenmp", "program.c"]).args(arguments).run();
        output.stdout + &output.stderr
    };
    assert_eq!(said(&[19, 22, 23], "", &[]), "23\n");
    assert_eq!(said(&[19, 22], "", &[]), "22\n");
    assert_eq!(said(&[22, 23], "22", &[]), "22\n");
    assert_eq!(said(&[22, 23], "23", &["--llvm=22"]), "22\n");
    // An older one makes code for CPU devices, and its tool has another name.
    assert_eq!(said(&[19, 22], "", &["--llvm=19"]), "19\n");
    let refused = said(&[19, 22], "", &["--llvm=19", "--offload-arch=sm_80"]);
    assert!(
        refused.starts_with("gangway: clang-19 cannot make GPU code with Gangway's device runtime: "),
        "{refused}"
    );
    let unknown = said(&[22], "", &["--llvm=18"]);
    assert_eq!(unknown, "gangway: --llvm=18: Gangway knows the releases 19 to 23 of LLVM\n");
    let unknown = said(&[22], "24", &[]);
    assert_eq!(unknown, "gangway: GANGWAY_LLVM=24: Gangway knows the releases 19 to 23 of LLVM\n");
    let missing = said(&[22], "", &["--llvm=20"]);
    assert!(
        missing
            .starts_with("gangway: clang-20 is not in PATH; install it (Debian: apt-get install clang-20 "),
        "{missing}"
    );
}

/// LLVM has renamed it.
#[test]
fn the_flang_of_llvm_19_has_another_name() {
    let here = Installation::new();
    let tools = here.path("llvm-19/bin");
    std::fs::create_dir_all(&tools).unwrap();
    let names = TOOLS.into_iter().chain(["clang", "clang-offload-packager", "flang-new"]);
    for name in names {
        here.script(format!("llvm-19/bin/{name}"), "#!/bin/sh\necho flang-new version 19.1.7\n");
    }
    here.write("prefix/lib/gangway/libgangway-host-openmp.a", "");
    std::fs::create_dir_all(here.path("path")).unwrap();
    symlink(tools.join("flang-new"), here.path("path/flang-new-19")).unwrap();
    for (variable, argument) in [("", "--llvm=19"), ("llvm-19", "-O2")] {
        let mut command = here.command();
        let path = std::env::join_paths([here.path("path"), "/usr/bin".into(), "/bin".into()]).unwrap();
        command.env("PATH", path).env("GANGWAY_LLVM", variable);
        let output = command.args(["fc", "-fopenmp", "program.f90", argument]).run();
        assert_eq!(output.stdout + &output.stderr, "flang-new version 19.1.7\n");
    }
}

/// clang-22 says it for the compilation and for the assembler, and not what to do.
#[test]
fn the_gpu_that_is_here_is_asked_for_once() {
    let here = Installation::new();
    here.echo();
    let said = |arguments: &[&str]| {
        let output = here.command().env("GANGWAY_LLVM", "llvm").args(arguments).run();
        (output.status.code(), output.stderr)
    };
    let native = ["cc", "-fopenmp", "--offload-arch=native", "program.c"];
    let none = "gangway: --offload-arch=native: there is no GPU of NVIDIA's here; name what the program is to run on, \
                such as --offload-arch=sm_80, which the virtual GPU runs, too\n";
    assert_eq!(said(&native), (Some(1), none.to_owned()));
    let program = "llvm/bin/nvptx-arch";
    for (prints, expected) in [("echo sm_90", (Some(0), "")), ("echo failed >&2; exit 1", (Some(1), none))] {
        here.script(program, format!("#!/bin/sh\n{prints}\n"));
        assert_eq!(said(&native), (expected.0, expected.1.to_owned()));
    }
}

/// clang-22 itself says "posix_spawn failed".
#[test]
fn tools_that_are_missing_are_named_with_their_packages() {
    let here = Installation::new();
    here.echo();
    let said = |arguments: &[&str]| {
        let output = here.command().env("GANGWAY_LLVM", "llvm").args(arguments).run();
        (output.status.code(), output.stderr)
    };
    let gpu = ["cc", "-fopenmp", "--offload-arch=sm_80", "program.c"];
    assert_eq!(said(&gpu), (Some(0), String::new()));
    std::fs::remove_file(here.path("llvm/bin/clang-nvlink-wrapper")).unwrap();
    assert_eq!(
        said(&gpu).1,
        "gangway: clang-22 calls clang-nvlink-wrapper, and there is no such program in llvm/bin; install what \
         offloading needs (Debian: apt-get install clang-22 clang-tools-22 llvm-22 libomp-22-dev)\n"
    );
    assert_eq!(said(&["cc", "-fopenmp", "program.c"]), (Some(0), String::new()));
    let (_, text) = said(&["cc", "-fopenmp", "-fopenmp-target-jit", "program.c"]);
    assert!(text.starts_with("gangway: clang-22 calls ld.lld, and") && text.contains(" lld-22)"), "{text}");
    std::fs::remove_file(here.path("llvm/bin/clang-linker-wrapper")).unwrap();
    assert_eq!(said(&["cc", "-fopenmp", "-c", "program.c"]), (Some(0), String::new()));
    std::fs::remove_file(here.path("llvm/bin/llvm-offload-binary")).unwrap();
    here.write("prefix/lib/gangway/libgangway-host-openmp.a", "");
    let (code, text) = said(&["fc", "-fopenmp", "a.f90"]);
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with("gangway: flang-22 calls llvm-offload-binary and clang-linker-wrapper, "),
        "{text}"
    );
    assert!(
        text.contains("apt-get install flang-22 clang-22 clang-tools-22 llvm-22 libomp-22-dev"),
        "{text}"
    );
    // Nothing is offloaded, or nothing compiled.
    assert_eq!(said(&["cc", "program.c"]), (Some(0), String::new()));
    assert_eq!(said(&["cc", "-fopenmp", "--version"]), (Some(0), String::new()));
}

const MODULE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

#[test]
fn ptxas_checks_and_passes_on() {
    let here = Installation::new();
    let good = format!("{MODULE}// a comment\n.visible .entry one() {{ ret; }}\n");
    here.write("good.ptx", &good);
    let output =
        here.stand_in(&["ptxas", "--new-option", "-v", "-arch", "sm_80", "good.ptx", "-o", "good.cubin"]);
    let said = output.stderr;
    assert_eq!(
        said,
        "ptxas info    : good.ptx: PTX 8.0 for sm_80, kernels: 1, functions: 0; passed on as PTX\n"
    );
    assert_eq!(std::fs::read_to_string(here.path("good.cubin")).unwrap(), good);

    here.write("wrong.ptx", format!("{MODULE}.visible .entry one() {{\n  add.s32 %r1, 2, 3;\n}}\n"));
    let output = here.stand_in(&["ptxas", "-arch", "sm_80", "wrong.ptx", "-o", "wrong.cubin"]);
    let said = output.stderr;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.starts_with("ptxas (of Gangway): error: wrong.ptx is not correct PTX\nwrong.ptx:5:"),
        "{said}"
    );
    assert!(said.contains("5 |   add.s32 %r1, 2, 3;"), "{said}");
    assert!(!here.path("wrong.cubin").exists());

    let output = here.stand_in(&["ptxas", "-arch", "sm_70", "good.ptx", "-o", "old.cubin"]);
    let expected = "ptxas (of Gangway): error: the PTX is for sm_80, which sm_70 cannot run\n";
    assert_eq!(output.stderr, expected);
    // As clang calls it without link-time optimisation.
    let output =
        here.stand_in(&["ptxas", "--gpu-name", "sm_80", "--output-file", "good.o", "good.ptx", "-c"]);
    assert!(output.stderr.contains("compile with -foffload-lto"), "{}", output.stderr);
    let output = here.stand_in(&["ptxas", "--version"]);
    let version = output.stdout;
    assert!(version.starts_with("ptxas: Gangway's stand-in"), "{version}");
    // As Triton looks for it.
    let release = version.lines().find_map(|line| line.split_once("release ")).unwrap().1;
    assert!(release.starts_with("12.8,"), "{version}");
}

#[test]
fn what_a_real_gpu_may_run_is_passed_on_with_a_warning() {
    let here = Installation::new();
    let newer = MODULE.replace("8.0", "99.0");
    here.write("newer.ptx", &newer);
    let output = here.stand_in(&["ptxas", "newer.ptx", "-o", "newer.cubin"]);
    let said = output.stderr;
    assert!(output.status.success(), "{said}");
    assert!(
        said.starts_with("ptxas (of Gangway): warning: newer.ptx:1: the virtual GPU cannot run this: "),
        "{said}"
    );
    let output = here.stand_in(&["nvlink", "newer.cubin", "-o", "newer.img"]);
    assert!(output.status.success());
    assert_eq!(std::fs::read_to_string(here.path("newer.img")).unwrap(), newer);
}

#[test]
fn nvlink_joins_modules() {
    let here = Installation::new();
    here.write(
        "a.cubin",
        format!("{MODULE}.extern .func two;\n.visible .entry one() {{ call two; ret; }}\n"),
    );
    here.write("b.cubin", format!("{MODULE}.visible .func two {{ ret; }}\n"));
    let output = here.stand_in(&["nvlink", "-o", "ab", "-arch", "sm_80", "-L", "/lib", "a.cubin", "b.cubin"]);
    assert_eq!(output.stderr, "");
    let joined = std::fs::read_to_string(here.path("ab")).unwrap();
    assert!(joined.contains(".entry one") && joined.contains(".func two"), "{joined}");

    let output = here.stand_in(&["nvlink", "-o", "a", "a.cubin"]);
    let said = output.stderr;
    assert_eq!(
        said,
        "nvlink (of Gangway): error: the device code does not fit together\n\
         undefined reference to 'two' in 'a.cubin'\n  \
         help: GPU code finds functions and variables that are defined with `declare target`, constants of \
         classes (`constexpr`) among them, and what `docs/host-calls.md` lists of the C library\n"
    );
    here.write("c.cubin", b"\x7fELF machine code");
    let output = here.stand_in(&["nvlink", "-o", "c", "a.cubin", "c.cubin"]);
    let said = output.stderr;
    assert!(said.starts_with("nvlink (of Gangway): error: c.cubin is machine code; "), "{said}");
}
