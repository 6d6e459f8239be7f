//! `gangway run`.

use std::os::unix::process::ExitStatusExt;

use std::process::Command;

use gangway_commands::Run;

use crate::support::{CUDA_SOURCE, Workshop, golden};
use gangway_compilers::{Language, name};

#[test]
fn the_program_gets_our_library_and_keeps_its_status() {
    let workshop = Workshop::new();
    workshop.program("double", &[]);
    let output = workshop.output(&["run", "--", "./double", "21"]);
    assert_eq!((output.status.code(), output.stdout), (Some(42), "42\n".to_owned()));
    assert_eq!(output.stderr, "stand-in loaded\n");
    // Options behind the program are the program's, with or without the dashes.
    let output = workshop.output(&["run", "./double", "--help"]);
    assert_eq!((output.status.code(), output.stdout), (Some(0), "0\n".to_owned()));
    let output = workshop.output(&["run", "./double", "1", "abort"]);
    assert_eq!(output.status.signal(), Some(6), "the signal must be the program's own end");
}

#[test]
fn the_virtual_gpu_takes_the_drivers_place() {
    let workshop = Workshop::new();
    workshop.write("cuda.c", CUDA_SOURCE);
    workshop.compile(&["cuda.c", "-o", "cuda"]);
    let output = workshop.output(&["run", "--device", "vgpu", "--", "./cuda"]);
    assert_eq!((output.status.code(), output.stdout), (Some(0), "Stand-in\n".to_owned()));
    assert_eq!(output.stderr, "");

    // Programs with our runtime use no other device.
    let output = workshop.output(&["run", "--device", "vgpu", "env"]);
    let variables = output.stdout;
    let here = workshop.display();
    for line in [
        format!("LD_LIBRARY_PATH={here}/ours/vgpu:{here}/ours"),
        "GANGWAY_DEVICE=cuda,hsa".to_owned(),
        format!("LD_PRELOAD={here}/ours/libgangway-ending.so"),
    ] {
        assert!(variables.lines().any(|variable| variable == line), "{variables}");
    }
    let process = variables.lines().find_map(|line| line.strip_prefix("GANGWAY_VGPU_PROGRAM="));
    assert!(process.is_some_and(|number| number.parse::<u32>().is_ok()), "{variables}");

    std::fs::remove_file(workshop.path("ours/vgpu/libcuda.so.1")).unwrap();
    let output = workshop.output(&["run", "--device", "vgpu", "--", "./cuda"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(output.stderr.starts_with("gangway: there is no libcuda.so.1 in "));
}

/// A sanitizer's runtime ends a program in which it is not the first library.
#[test]
fn a_sanitizer_comes_before_what_is_preloaded() {
    let workshop = Workshop::new();
    workshop.write("empty.c", "void sanitizer(void) {}\n");
    workshop.compile(&["-shared", "-fPIC", "empty.c", "-Wl,-soname,libasan.so.8", "-o", "libasan.so.8"]);
    let source = "#include <stdio.h>\n#include <stdlib.h>\nvoid sanitizer(void);\n\
                  int main(void) { sanitizer(); puts(getenv(\"LD_PRELOAD\")); }\n";
    workshop.write("sanitized.c", source);
    workshop.compile(&["sanitized.c", "-L.", "-l:libasan.so.8", "-Wl,-rpath,$ORIGIN", "-o", "sanitized"]);
    let output = workshop.output(&["run", "--device", "vgpu", "--", "./sanitized"]);
    let list = format!("libasan.so.8:{}/ours/libgangway-ending.so\n", workshop.display());
    assert_eq!((output.status.code(), output.stdout), (Some(0), list), "{}", output.stderr);
    assert!(!output.stderr.contains("cannot be preloaded"), "{}", output.stderr);
}

/// What is named is used, or its absence is an error.
#[test]
fn a_program_without_code_for_the_device_is_refused() {
    let workshop = Workshop::new();
    workshop.program("double", &[]);
    workshop.write(
        "gcc.c",
        "int main(void) {\n  int x = 1;\n#pragma omp target map(tofrom: x)\n  x = 0;\n  return x;\n}\n",
    );
    workshop.tool(&name(Language::C), &["-fopenmp", "-foffload=disable", "gcc.c", "-o", "gcc"]);
    let refused = |device: &str, program: &str, parts: &[&str]| {
        let output = workshop.output(&["run", "--device", device, program]);
        let said = output.stderr;
        assert_eq!((output.status.code(), output.stdout), (Some(2), String::new()), "{said}");
        let parts = parts.iter().chain(&["\n  note: OMP_TARGET_OFFLOAD=DISABLED has the host run"]);
        for part in parts {
            assert!(said.contains(part), "`{part}` is missing: {said}");
        }
    };
    let images = "gangway: ./double has no code for --device vgpu\n  its device code: x86_64-pc-linux-gnu\n";
    refused("vgpu", "./double", &[images, "`gangway cc -fopenmp --offload-arch=sm_80`\n"]);
    refused("cuda", "./double", &[]);
    let none = "gangway: ./gcc has no code for --device vgpu\n  its device code: none\n";
    refused("vgpu", "./gcc", &[none, "-foffload=nvptx-none"]);
    refused("cpu", "./gcc", &["GCC makes no code for CPU devices"]);

    let runs = |arguments: &[&str], variable: (&str, &str)| {
        let output = workshop.gangway().env(variable.0, variable.1).args(arguments).run();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", output.stderr);
    };
    runs(&["run", "--device", "vgpu", "./double"], ("OMP_TARGET_OFFLOAD", " Disabled"));
    runs(&["run", "--device", "vgpu,cpu", "./double"], ("A", "B"));
    runs(&["run", "--device", "none", "./double"], ("A", "B"));
    // Who starts a program may start one that has what is needed.
    runs(&["run", "--device", "vgpu", "true"], ("A", "B"));
}

/// A program may have all its device code in a library.
#[test]
fn device_code_in_a_library_is_found() {
    let workshop = Workshop::new();
    let source =
        "int work(void) {\n  int x = 1;\n#pragma omp target map(tofrom: x)\n  x = 0;\n  return x;\n}\n";
    workshop.write("work.c", source);
    workshop.write("main.c", source.replace("work", "main"));
    workshop.compile(&[
        "-fopenmp",
        "-fopenmp-targets=x86_64-pc-linux-gnu",
        "-shared",
        "-fPIC",
        "work.c",
        "-o",
        "libwork.so",
    ]);
    let flags = ["-fopenmp", "-foffload=disable", "main.c", "-o", "main"];
    let libraries = ["-Wl,--no-as-needed,--allow-shlib-undefined", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN"];
    workshop.tool(&name(Language::C), &[&flags[..], &libraries].concat());
    let code = |device| workshop.output(&["run", "--device", device, "./main"]).status.code();
    assert_eq!(code("cuda"), Some(2));
    assert_ne!(code("cpu"), Some(2));
}

#[test]
fn settings_reach_the_program() {
    let workshop = Workshop::new();
    let arguments =
        ["run", "--device", "cpu", "--report=json", "--report-file", "r.json", "--trace", "t-%p.json", "env"];
    let output = workshop.gangway().env("LD_LIBRARY_PATH", "/elsewhere").args(arguments).run();
    assert!(output.status.success());
    let variables = output.stdout;
    let here = workshop.display();
    for line in [
        format!("LD_LIBRARY_PATH={here}/ours:/elsewhere"),
        "GANGWAY_DEVICE=cpu".to_owned(),
        format!("GANGWAY_REPORT=json:{here}/r.json"),
        format!("GANGWAY_TRACE={here}/t-%p.json"),
    ] {
        assert!(variables.lines().any(|variable| variable == line), "{line} is not in\n{variables}");
    }
    let output = workshop.output(&["run", "--report", "env"]);
    let variables = output.stdout;
    assert!(variables.lines().any(|variable| variable == "GANGWAY_REPORT=text"));
    // What hears of ends that no exit handler sees; not without need.
    assert!(variables.contains("/ours/libgangway-ending.so"), "{variables}");
    assert!(!workshop.output(&["run", "env"]).stdout.contains("LD_PRELOAD"));
}

#[test]
fn an_rpath_is_overruled_and_a_runpath_needs_nothing() {
    let workshop = Workshop::new();
    let stock = format!("-Wl,-rpath,{}", workshop.path("stock").display());
    workshop.program("rpath", &[&stock, "-Wl,--disable-new-dtags"]);
    workshop.program("runpath", &[&stock, "-Wl,--enable-new-dtags"]);
    workshop.program("origin", &["-Wl,-rpath,$ORIGIN/stock", "-Wl,--disable-new-dtags"]);
    workshop.program("harmless", &["-Wl,-rpath,/nowhere", "-Wl,--disable-new-dtags"]);
    for (program, preloaded) in [("rpath", true), ("runpath", false), ("origin", true), ("harmless", false)] {
        let output = workshop.output(&["run", "--", &format!("./{program}"), "3"]);
        assert_eq!(output.status.code(), Some(6), "{program}");
        let said = output.stderr;
        assert!(said.ends_with("stand-in loaded\n"), "{program}: {said}");
        let here = workshop.display();
        let note = format!(
            "gangway: note: the program's RPATH leads to another libomptarget in {here}/stock; loading \
             {here}/ours/libomptarget.so.22.1 before it with LD_PRELOAD\n"
        );
        assert_eq!(said.starts_with(&note), preloaded, "{program}: {said}");
        assert_eq!(said.contains("LD_PRELOAD"), preloaded, "{program}: {said}");
    }
}

#[test]
fn what_cannot_be_run() {
    let workshop = Workshop::new();
    workshop.write("data", "text");
    // Like every shell, exec falls back to sh for what the kernel does not know.
    workshop.script("strange", "exit 9\n");
    workshop.script("cut", &std::fs::read("/bin/true").unwrap()[..2000]);
    workshop.script("orphan", "#!/no/such/interpreter\n");
    let here = "program not found: ";
    for (program, code, message) in [
        ("./missing", 127, format!("gangway: {here}./missing\n")),
        ("no-such-command", 127, format!("gangway: {here}no-such-command\n")),
        ("data", 127, "gangway: data is not in PATH; to run the file here, write ./data\n".to_owned()),
        ("./data", 126, "gangway: ./data is not executable\n".to_owned()),
        ("./ours", 126, "gangway: ./ours is a directory\n".to_owned()),
        (".", 126, "gangway: . is a directory\n".to_owned()),
        ("..", 126, "gangway: .. is a directory\n".to_owned()),
        ("./strange", 9, "gangway: note: ./strange is neither an ELF program nor a script\n".to_owned()),
        (
            "./orphan",
            127,
            "gangway: cannot execute ./orphan: No such file or directory (os error 2) \
             (its interpreter or loader is missing)\n"
                .to_owned(),
        ),
    ] {
        let output = workshop.output(&["run", "--", program]);
        assert_eq!((output.status.code(), output.stderr), (Some(code), message), "{program}");
    }
    // The machine's number in the header: 183 is that of AArch64.
    let mut foreign = std::fs::read("/bin/true").unwrap();
    foreign[18] = 183;
    workshop.script("foreign", &foreign);
    let output = workshop.output(&["run", "./foreign"]);
    let message = "gangway: ./foreign is a program for aarch64\n";
    assert_eq!((output.status.code(), output.stderr), (Some(126), message.to_owned()));
    let output = workshop.output(&["run", "./cut"]);
    assert_eq!(output.status.code(), Some(126));
    let said = output.stderr;
    assert!(said.starts_with("gangway: ./cut is damaged: truncated: a loaded segment at offset "), "{said}");
}

#[test]
fn what_gangway_has_no_part_in() {
    let workshop = Workshop::new();
    workshop.write("plain.c", "int main(void) { return 7; }\n");
    workshop.compile(&["plain.c", "-o", "plain"]);
    workshop.compile(&["-static", "plain.c", "-o", "static"]);
    workshop.tool("gcc", &["-fopenmp", "-Wl,--no-as-needed", "plain.c", "-o", "gnu"]);
    for (program, message) in [
        ("./plain", "gangway: note: ./plain is not linked with libomptarget; "),
        ("./static", "gangway: note: ./static is statically linked, so Gangway has no part in it"),
        ("./gnu", "gangway: note: ./gnu was built by GCC and uses libgomp; "),
    ] {
        let output = workshop.output(&["run", "--gcc-runtime", "stock", program]);
        assert_eq!(output.status.code(), Some(7), "{program} runs all the same");
        let said = output.stderr;
        assert!(said.starts_with(message), "{said}");
    }
    // By itself, Gangway has a part in what GCC has built, if all of Gangway is there.
    let output = workshop.output(&["run", "./gnu"]);
    let said = output.stderr;
    assert_eq!(output.status.code(), Some(7));
    assert!(said.starts_with("gangway: note: there is no libgangway-gomp.so in "), "{said}");
}

/// Nothing can be loaded before what is in the program itself, stripped or not.
#[test]
fn libgomp_linked_statically_is_named() {
    const NOTE: &str = "program has libgomp.a in it, whose functions call each other: ";
    let workshop = Workshop::new();
    workshop.write("region.c", "int main(void)\n{\n#pragma omp target\n  { }\n  return 7;\n}\n");
    let compile = |flags: &[&str]| {
        let all = ["-fopenmp", "-foffload=nvptx-none", "region.c", "-o", "program"];
        workshop.tool(&name(Language::C), &[&all, flags].concat());
    };
    let notes = |options: &[&str]| {
        let output = workshop.output(&[&["run"], options, &["./program"]].concat());
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        output.stderr.matches(NOTE).count()
    };
    let inspected = || workshop.output(&["inspect", "program"]).stdout.matches(NOTE).count();
    for flags in [&["-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic"][..], &["-static", "-s"]] {
        compile(flags);
        assert_eq!((notes(&[]), inspected()), (1, 1), "{flags:?}");
    }
    assert_eq!(notes(&["--gcc-runtime", "stock"]), 0);
    compile(&[]);
    assert_eq!((notes(&[]), inspected()), (0, 0));
}

#[test]
fn programs_of_other_compilers_are_refused() {
    let workshop = Workshop::new();
    workshop.write("old.c", "int main(void) { return 0; }\n");
    workshop.write("empty.c", "");
    workshop.compile(&["-shared", "empty.c", "-Wl,-soname,libomptarget.so.18.1", "-o", "old.so"]);
    workshop.compile(&["-Wl,--no-as-needed", "old.c", "./old.so", "-o", "old"]);
    let output = workshop.output(&["run", "./old"]);
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(
        output.stderr,
        "gangway: ./old is linked with libomptarget.so.18.1, which Gangway does not replace: it runs programs of \
         LLVM 22; build it with one of these\n"
    );
}

/// One library answers to the names of several releases; a program does not start without it.
#[test]
fn programs_of_other_releases_find_the_library_by_their_name() {
    let workshop = Workshop::new();
    workshop.write("other.c", "int main(void) { return 3; }\n");
    workshop.write("empty.c", "");
    for release in [19, 23] {
        let name = format!("libomptarget.so.{release}.1");
        let soname = format!("-Wl,-soname,{name}");
        workshop.compile(&["-shared", "empty.c", &soname, "-o", "other.so"]);
        workshop.compile(&["-Wl,--no-as-needed", "other.c", "./other.so", "-o", "other"]);
        std::os::unix::fs::symlink("libomptarget.so.22.1", workshop.path("ours").join(&name)).unwrap();
        // There is no other file of this name.
        let output = workshop.output(&["run", "./other"]);
        assert_eq!((output.status.code(), output.stderr), (Some(3), String::new()), "{name}");
    }
    let shown = workshop.output(&["info"]).stdout;
    assert!(shown.contains("\n  for programs of LLVM 19, 22 and 23\n"), "{shown}");
    let shown = workshop.output(&["inspect", "other"]).stdout;
    assert!(
        shown.contains("\nlinked with libomptarget.so.23.1, of LLVM 23: Gangway takes its place\n"),
        "{shown}"
    );
    std::fs::remove_file(workshop.path("ours/libomptarget.so.23.1")).unwrap();
    let shown = workshop.output(&["inspect", "other"]).stdout;
    let wanted = "\nlinked with libomptarget.so.23.1, of LLVM 23: Gangway does not replace it\n";
    assert!(shown.contains(wanted), "{shown}");
    let shown = workshop.output(&["inspect", "--json", "other"]).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        shown["runtime"],
        serde_json::json!({ "library": "libomptarget.so.23.1", "llvm": 23, "replaced": false })
    );
}

#[test]
fn a_missing_installation_is_said() {
    let workshop = Workshop::new();
    let output = workshop.gangway().env("GANGWAY_LIBDIR", "/nowhere").args(["run", "true"]).run();
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(
        output.stderr,
        "gangway: there is no libomptarget.so.22.1 in /nowhere (GANGWAY_LIBDIR names it)\n"
    );
}

#[test]
fn the_installed_layout_is_found_through_links() {
    let workshop = Workshop::new();
    std::fs::create_dir_all(workshop.path("prefix/bin")).unwrap();
    std::fs::create_dir_all(workshop.path("prefix/lib")).unwrap();
    std::fs::rename(workshop.path("ours"), workshop.path("prefix/lib/gangway")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_gangway"), workshop.path("prefix/bin/gangway")).unwrap();
    std::os::unix::fs::symlink("prefix/bin/gangway", workshop.path("link")).unwrap();
    workshop.program("double", &[]);
    let output = Command::new(workshop.path("link"))
        .current_dir(&**workshop)
        .env_remove("GANGWAY_LIBDIR")
        .env_remove("LD_LIBRARY_PATH")
        .args(["run", "./double", "4"])
        .run();
    assert_eq!((output.status.code(), output.stderr), (Some(8), "stand-in loaded\n".to_owned()));
}

#[test]
fn a_misspelt_option_is_named() {
    let workshop = Workshop::new();
    workshop.program("double", &[]);
    for rest in [&["--", "./double"][..], &["./double"], &[]] {
        let output = workshop.output(&[&["run", "--frob"], rest].concat());
        let said = output.stderr;
        assert_eq!(output.status.code(), Some(2), "{said}");
        golden("misspelt-option.txt", &said);
    }
    // Behind the dashes a program may be called anything.
    let output = workshop.output(&["run", "--", "--frob"]);
    assert_eq!((output.status.code(), output.stderr.contains("--frob")), (Some(127), true));
}

#[test]
fn a_form_may_follow_the_report_option() {
    let workshop = Workshop::new();
    for arguments in [
        &["run", "--device", "cpu", "--report", "json", "env"][..],
        &["run", "--report", "json", "--", "env"],
    ] {
        let variables = workshop.output(arguments).stdout;
        assert!(variables.lines().any(|variable| variable == "GANGWAY_REPORT=json"), "{variables}");
    }
    let printed = workshop.output(&["env", "--shell", "sh", "--report", "json"]).stdout;
    assert!(printed.contains("GANGWAY_REPORT=") && printed.contains("json"), "{printed}");
    // What is behind the dashes is a program.
    let output = workshop.output(&["run", "--report", "--", "json"]);
    assert_eq!(output.stderr, "gangway: program not found: json\n");
}

#[test]
fn a_misspelt_device_is_named() {
    let workshop = Workshop::new();
    for command in [&["run", "--device", "cqu", "true"][..], &["env", "--device", "cpu,cqu"]] {
        let output = workshop.output(command);
        let said = output.stderr;
        assert_eq!(output.status.code(), Some(2), "{said}");
        golden("misspelt-device.txt", &said);
    }
    // The file need not be a library before something loads it.
    workshop.write("ours/libgangway-rtl-board.so", "");
    let output = workshop.output(&["run", "--device", "board,vgpu", "env"]);
    assert!(output.stdout.lines().any(|variable| variable == "GANGWAY_DEVICE=board,cuda,hsa"));
}

#[test]
fn a_misspelt_variable_is_named() {
    let workshop = Workshop::new();
    let output = workshop.gangway().env("GANGWAY_REPROT", "1").args(["run", "sh", "-c", ""]).run();
    let said = output.stderr;
    let expected = "gangway: warning: nothing reads the environment variable GANGWAY_REPROT; \
                    did you mean GANGWAY_REPORT?\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(output.status.success());
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_the_start() {
    let workshop = Workshop::new();
    for (option, file, why) in [
        ("--trace", "nowhere/t-%p.json", "HERE/nowhere: No such file or directory (os error 2)"),
        ("--report-file", "nowhere/r", "HERE/nowhere: No such file or directory (os error 2)"),
        ("--trace", "ours", "it is a directory"),
        ("--report-file", "/proc/sys/r", "/proc/sys: "),
    ] {
        let output = workshop.output(&["run", option, file, "--", "touch", "started"]);
        let said = output.stderr;
        assert_eq!(output.status.code(), Some(125), "{said}");
        let said = said.replace(&workshop.display().to_string(), "HERE");
        let file = if file.starts_with('/') { file.to_owned() } else { format!("HERE/{file}") };
        let told = format!("gangway: cannot write {file}: {why}");
        // Where nobody may write, the system has several reasons.
        let is_told = if why.ends_with(": ") { said.starts_with(&told) } else { said == format!("{told}\n") };
        assert!(is_told, "{said}\n{told}");
        assert!(!workshop.path("started").exists());
    }
}

#[test]
fn usage_errors() {
    let workshop = Workshop::new();
    let output = workshop.output(&["run", "--report=html:a", "--report-file", "b", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stderr, "gangway: --report and --report-file name a and b: leave one of them out\n");
    for arguments in [&["run"][..], &["run", "--report=maybe", "true"], &["walk"], &[]] {
        assert_eq!(workshop.output(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
