//! `gangway info`.

use serde_json::Value;

use gangway_commands::Run;

use crate::support::Workshop;

#[test]
fn the_cpu_is_always_there() {
    let workshop = Workshop::new();
    let mut command = workshop.gangway();
    command.env("GANGWAY_CPU_DEVICES", "2").args(["info", "--json"]);
    let output = command.run();
    assert_eq!(output.status.code(), Some(0));
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&shown["format"], &shown["version"]), (&"gangway-info".into(), &1.into()));
    assert!(shown["library"].as_str().unwrap().ends_with("/ours/libomptarget.so.22.1"));
    let cpu = &shown["backends"][0];
    assert_eq!(
        (&cpu["name"], &cpu["selected"], &cpu["why_absent"]),
        (&"cpu".into(), &true.into(), &Value::Null)
    );
    let devices = cpu["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 2);
    assert_eq!(devices[1]["unique_id"], "gangway-cpu-1");
    assert!(
        devices[1]["properties"].as_array().unwrap().contains(&serde_json::json!(["Architecture", "x86-64"]))
    );
}

#[test]
fn the_virtual_gpu_is_shown() {
    let workshop = Workshop::new();
    let output = workshop.output(&["info", "--json"]);
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    let backends = shown["backends"].as_array().unwrap();
    let vgpu = backends.iter().find(|backend| backend["name"] == "vgpu").expect("a virtual GPU");
    let properties = vgpu["devices"][0]["properties"].as_array().unwrap();
    for property in [["Name", "Stand-in"], ["Compute capability", "75.76"], ["Memory", "3072 MiB"]] {
        assert!(properties.contains(&serde_json::json!(property)), "{property:?} is not in {properties:?}");
    }
    std::fs::write(workshop.path("ours/vgpu/libcuda.so.1"), "no library").unwrap();
    let shown = workshop.output(&["info"]).stdout;
    assert!(shown.contains("\nvgpu: no devices: "), "{shown}");
}

#[test]
fn a_missing_library_is_a_failure() {
    let workshop = Workshop::new();
    std::fs::remove_file(workshop.path("ours/libomptarget.so.22.1")).unwrap();
    let output = workshop.output(&["info"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.contains("\nlibrary: there is no libomptarget.so.22.1 in "));
}

#[test]
fn what_becomes_of_gccs_programs_is_shown() {
    let workshop = Workshop::new();
    let skipped = "  skipped: no back end takes images for x86_64-intelmic-linux-gnu\n";
    let shown = workshop.output(&["info"]).stdout;
    assert!(shown.contains("\nprograms of GCC: libgomp's own runtime: "), "{shown}");
    assert!(shown.contains("  images for nvptx-none, amdgcn-amdhsa\n") && shown.contains(skipped), "{shown}");
    workshop.write("ours/libgangway-gomp.so", "a library");
    let shown = workshop.output(&["info"]).stdout;
    assert!(shown.contains("/ours/libgangway-gomp.so\n  images for nvptx-none, amdgcn-amdhsa\n"), "{shown}");
    let shown: Value = serde_json::from_str(&workshop.output(&["info", "--json"]).stdout).unwrap();
    let gcc = &shown["gcc"];
    assert!(gcc["library"].is_string() && gcc["library_problem"].is_null(), "{gcc}");
    assert_eq!(gcc["images"], serde_json::json!(["nvptx-none", "amdgcn-amdhsa"]));
}

/// Debian's `libomp-22-dev` brings one in which `omp_default_mem_space` is another number than in `omp.h`.
#[test]
fn a_libomp_that_does_not_fit_is_named() {
    let workshop = Workshop::new();
    workshop.write("makes.c", "void *omp_init_allocator(long, int, void *);\nint main(void) { return !omp_init_allocator(99, 0, 0); }\n");
    for (number, fits) in [(0, false), (99, true)] {
        let folder = format!("llvm-{}/lib", if fits { 22 } else { 19 });
        std::fs::create_dir_all(workshop.path(&folder)).unwrap();
        let library = format!("{folder}/libomp.so.5");
        let source = format!(
            "const unsigned long omp_default_mem_space = {number};\nvoid *omp_init_allocator(long s, int n, void *t) {{ return \"\"; }}\n"
        );
        workshop.write("libomp.c", source);
        workshop.compile(&["-w", "-shared", "-fPIC", "-Wl,-soname,libomp.so.5", "libomp.c", "-o", &library]);
        workshop.compile(&["makes.c", &library, "-o", "makes"]);
        let path = workshop.path(&folder).canonicalize().unwrap();
        let command = |words: &[&str]| workshop.gangway().env("LD_LIBRARY_PATH", &path).args(words).run();
        let shown = command(&["info"]).stdout;
        let named = format!(
            "\nprograms of clang: libomp {} ({}/libomp.so.5)\n",
            if fits { 22 } else { 19 },
            path.display()
        );
        assert!(shown.contains(&named), "{shown}");
        assert_eq!(shown.contains("  it ends programs of clang-22 that make allocators"), !fits, "{shown}");
        let shown: Value = serde_json::from_str(&command(&["info", "--json"]).stdout).unwrap();
        assert_eq!(shown["libomp"]["problem"].is_null(), fits, "{shown}");
        let output = command(&["run", "./makes"]);
        let said = output.stderr;
        assert_eq!(output.status.code(), Some(0), "{said}");
        let note = format!(
            "gangway: note: the program gets libomp 19 ({}/libomp.so.5): it ends programs",
            path.display()
        );
        assert_eq!(said.contains(&note) && said.contains("libomp5-22"), !fits, "{said}");
    }
}

#[test]
fn text_says_what_is_shared_once() {
    let workshop = Workshop::new();
    let output = workshop.gangway().env("GANGWAY_CPU_DEVICES", "3").arg("info").run();
    let shown = output.stdout;
    assert!(shown.contains("\ncpu: 3 devices\n"), "{shown}");
    assert_eq!(shown.matches("x86-64").count(), 1, "{shown}");
    assert!(shown.contains("  device 2  gangway-cpu-2\n"), "{shown}");
}

#[test]
fn a_missing_back_end_has_a_reason() {
    let workshop = Workshop::new();
    workshop.write("ours/libgangway-rtl-broken.so", "not a library");
    let output = workshop.output(&["info"]);
    assert_eq!(output.status.code(), Some(0), "the CPU still works");
    let shown = output.stdout;
    let line = shown.lines().find(|line| line.starts_with("broken: no devices: ")).expect(&shown);
    assert!(line.contains("libgangway-rtl-broken.so"), "{line}");

    let output = workshop.gangway().env("GANGWAY_DEVICE", "broken").arg("info").run();
    assert_eq!(output.status.code(), Some(1), "no device is left");
    assert!(output.stdout.contains("\ncpu: no devices: left out by GANGWAY_DEVICE\n"));
}

#[test]
fn settings_that_are_not_understood_are_said() {
    let workshop = Workshop::new();
    let output = workshop.gangway().env("GANGWAY_CPU_DEVICES", "many").arg("info").run();
    let shown = output.stdout;
    assert!(shown.lines().any(|line| line.starts_with("warning: ") && line.contains("many")), "{shown}");
}

/// Those that the tests need are here: clang-22, and the GCC of the release with its device compiler for NVIDIA's
/// GPUs.
#[test]
fn compilers_are_listed_with_what_their_programs_run_on() {
    let workshop = Workshop::new();
    let shown: Value = serde_json::from_str(&workshop.output(&["info", "--json"]).stdout).unwrap();
    let compilers = shown["compilers"].as_array().unwrap();
    let of =
        |name: &str| compilers.iter().find(|found| found["name"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(of("clang-22")["openmp"], serde_json::json!(["cpu", "nvptx"]));
    assert_eq!((&of("clang-22")["openacc"], &of("clang-22")["note"]), (&serde_json::json!([]), &Value::Null));
    let gcc = format!("gcc-{}", gangway_compilers::release().unwrap());
    assert_eq!(of(&gcc)["openmp"], serde_json::json!(["nvptx"]));
    assert_eq!(of(&gcc)["openacc"], serde_json::json!(["nvptx"]));
    let shown = workshop.output(&["info"]).stdout;
    let row = shown.lines().find(|line| line.trim_start().starts_with("clang-22 ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>().join(" "), "clang-22 CPU devices, GPUs -");
}
