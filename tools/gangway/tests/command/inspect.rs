//! `gangway inspect`.

use serde_json::Value;

use crate::support::{Workshop, golden};

fn json(workshop: &Workshop, file: &str) -> Value {
    let output = workshop.output(&["inspect", "--json", file]);
    assert_eq!(output.status.code(), Some(0), "{}", output.stderr);
    serde_json::from_str(&output.stdout).unwrap()
}

/// Hides what differs from one machine, and one build, to the next.
fn stable(shown: &str) -> String {
    let mut out = String::new();
    for line in shown.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let line: Vec<String> = words
            .iter()
            .map(|word| match word.strip_prefix("__omp_offloading_") {
                Some(rest) => format!("__omp_offloading_D_F_{}", rest.splitn(3, '_').nth(2).unwrap()),
                None if word.starts_with("0x") => "0xADDRESS".to_owned(),
                None => (*word).to_owned(),
            })
            .collect();
        out.push_str(&if line.join(" ").contains("  size       ") {
            "  size       SIZE".into()
        } else {
            line.join(" ")
        });
        out.push('\n');
    }
    out
}

#[test]
fn text_of_an_executable() {
    let workshop = Workshop::new();
    workshop.program("double", &["-g"]);
    let output = workshop.output(&["inspect", "double"]);
    assert_eq!(output.status.code(), Some(0));
    // Library lists and the width of addresses are the linker's affair.
    let shown: String = output
        .stdout
        .lines()
        .filter(|line| !line.starts_with("  needs"))
        .map(|line| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ") + "\n")
        .collect();
    golden("executable.txt", &stable(&shown).replace(&size_line(&shown), "size SIZE"));
}

fn size_line(shown: &str) -> String {
    shown.lines().find(|line| line.starts_with("size ")).unwrap().to_owned()
}

#[test]
fn columns_are_aligned() {
    let workshop = Workshop::new();
    workshop.program("double.o", &["-c"]);
    let output = workshop.output(&["inspect", "double.o"]);
    golden("object.txt", &stable(&output.stdout));
}

/// The record that GCC's tool writes for NVIDIA, in two modules, and images of kinds that no back
/// end takes: for AMD, behind a record of another form, and for Intel's MIC.
const GCC_PROGRAM: &str = r#"
static const char code0[] = "// BEGIN PREAMBLE\n\t.version\t6.0\n\t.target\tsm_30\n.visible .entry main$_omp_fn$0 (.param.u64 %in_ar0)\n{\n}\n.visible .global .align 4 .u32 counter[1];\n";
static const char code1[] = "// another module\n.version 6.0\n.target sm_30\n";
static const struct { const char *code; unsigned long size; } objects[] = {{code0, sizeof code0}, {code1, sizeof code1}};
static const char *const variables[] = {"counter"};
static const struct { const char *name; unsigned short dimensions[3]; } functions[] = {{"main$_omp_fn$0", {0}}};
static const struct nvptx {
  const void *objects; unsigned count;
  const char *const *variables; unsigned variable_count;
  const void *functions; unsigned function_count;
} nvptx = {objects, 2, variables, 1, functions, 1};

__asm__(".section .rodata\n.globl code\n.balign 16\ncode: .incbin \"amd\"\n.globl code_end\ncode_end:\n.text\n");
extern const char code[];
static const struct { unsigned long size; const void *start; } image = {SIZE, code};
static const struct { const char *name; int dimensions[3]; int sgprs, vgprs; } kernels[] = {{"main._omp_fn.0", {0}, 0, 0}};
static const struct amdgcn {
  const void *image; unsigned count; const void *kernels; unsigned variables;
} amdgcn = {&image, 1, kernels, 0};

__asm__(".section .gnu.offload_images,\"a\"\n.incbin \"mic\"\n.text\n");

static void region(void) {}
static int counter;
__attribute__((section(".gnu.offload_funcs"), used)) static void *funcs[] = {region};
__attribute__((section(".gnu.offload_vars"), used)) static void *vars[] = {&counter, (void *)4};
const void *volatile registered;
int main(void) { registered = &nvptx; registered = &amdgcn; return 0; }
"#;

#[test]
fn text_of_a_program_of_gcc() {
    let workshop = Workshop::new();
    workshop.write("amd.c", "__attribute__((amdgpu_kernel)) void kern(int *x) { *x = 1; }\n");
    let amd = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx908", "-nogpulib", "-O1", "amd.c", "-o", "amd"];
    workshop.compile(&amd);
    workshop.write("empty.c", "");
    workshop.compile(&["-shared", "-nostdlib", "empty.c", "-o", "mic"]);
    let size = std::fs::metadata(workshop.path("amd")).unwrap().len();
    workshop.write("gcc.c", GCC_PROGRAM.replace("SIZE", &size.to_string()));
    workshop.compile(&["-O1", "gcc.c", "-o", "program"]);
    let output = workshop.output(&["inspect", "program"]);
    assert_eq!(output.status.code(), Some(0), "{}", output.stdout);
    golden("gcc.txt", &stable(&output.stdout));

    let shown = json(&workshop, "program");
    let images = shown["images"].as_array().unwrap();
    let by_back_end = |name: Value| images.iter().filter(|image| image["back_end"] == name).count();
    let counts = ["cuda".into(), "hsa".into(), Value::Null].map(by_back_end);
    assert_eq!(counts, [1, 1, 1], "{shown}");
    assert!(images.iter().all(|image| image["back_end"].is_null() != image["skipped"].is_null()));
}

#[test]
fn what_kernels_for_amd_take() {
    let workshop = Workshop::new();
    let source = r#"
#define KERNEL __attribute__((amdgpu_kernel))
static __attribute__((address_space(3), loader_uninitialized)) float row[64];
KERNEL void turn(float *a) {
  int i = __builtin_amdgcn_workitem_id_x();
  row[i] = a[i];
  __builtin_amdgcn_s_barrier();
  a[i] = row[63 - i];
}
__attribute__((noinline)) static int deep(int n, volatile int *x) { int a[40]; for (int i = 0; i < 40; ++i) a[i] = x[i]; return n ? deep(n - 1, a) + a[n] : x[0]; }
KERNEL void sums(int *a) { a[0] = deep(a[0], a); }
"#;
    workshop.write("kernels.c", source);
    let target = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-O1", "-w"];
    workshop.compile(&[&target[..], &["kernels.c", "-o", "image"]].concat());
    let output = workshop.output(&["inspect", "image"]);
    assert_eq!(output.status.code(), Some(0), "{}", output.stdout);
    let line =
        |name: &str| output.stdout.lines().find(|line| line.trim().starts_with(name)).unwrap_or_default();
    assert!(
        ["vector", "scalar", "shared", "scratch", "wave"].iter().all(|name| line("kernel").contains(name)),
        "{}",
        output.stdout
    );
    assert!(line("turn").contains("256 B"), "{}", output.stdout);
    assert!(line("sums").contains(" and more"), "{}", output.stdout);

    let shown = json(&workshop, "image");
    let kernels = shown["images"][0]["kernels"].as_array().unwrap();
    let turn = kernels.iter().find(|kernel| kernel["name"] == "turn").unwrap();
    assert_eq!(turn["shared_memory"], 256);
    let takes = &turn["code_object"];
    assert_eq!(
        (&takes["wave"], &takes["scratch_memory"], &takes["dynamic_stack"]),
        (&64.into(), &0.into(), &false.into())
    );
    assert!(
        takes["vector_registers"].as_u64().unwrap() > 0 && takes["scalar_registers"].as_u64().unwrap() > 0
    );

    // A damaged one says so, and what is there is shown.
    let mut image = std::fs::read(workshop.path("image")).unwrap();
    let note = image.windows(17).position(|bytes| bytes == b".sgpr_spill_count").unwrap();
    image[note - 1] = 0xc1;
    std::fs::write(workshop.path("damaged"), image).unwrap();
    let output = workshop.output(&["inspect", "damaged"]);
    assert_eq!(output.status.code(), Some(1), "{}", output.stdout);
    assert!(output.stdout.contains("problem ") && output.stdout.contains("turn"), "{}", output.stdout);
}

#[test]
fn json_has_the_documented_fields() {
    let workshop = Workshop::new();
    workshop.program("double", &[]);
    let shown = json(&workshop, "double");
    assert_eq!((&shown["format"], &shown["version"]), (&"gangway-inspect".into(), &1.into()));
    assert_eq!((&shown["file"], &shown["container"]), (&"double".into(), &"executable".into()));
    let image = &shown["images"][0];
    assert_eq!((&image["back_end"], &image["skipped"]), (&"cpu".into(), &Value::Null));
    assert_eq!((&image["kind"], &image["triple"]), (&"elf".into(), &"x86_64-pc-linux-gnu".into()));
    assert_eq!((&image["producer"], &image["offload_kind"]), (&"clang".into(), &"openmp".into()));
    assert_eq!(image["kernels"][0]["name"], "main:10");
    let globals = image["globals"].as_array().unwrap();
    assert!(globals.iter().any(|global| global["name"] == "table" && global["size"] == 800));
    let table = &shown["tables"][0];
    assert_eq!((&table["section"], &table["layout"]), (&"llvm_offload_entries".into(), &"current".into()));
    let entries = table["entries"].as_array().unwrap();
    let kernel = entries.iter().find(|entry| entry["kind"] == "kernel").unwrap();
    assert_eq!(kernel["name"], "main:10");
    assert!(kernel["address"].is_u64() && kernel["symbol"].as_str().unwrap().ends_with("_main_l10"));
    assert_eq!((&shown["gcc"], &shown["problems"]), (&Value::Null, &Value::Array(Vec::new())));
}

#[test]
fn extracts_an_image() {
    let workshop = Workshop::new();
    workshop.program("double", &[]);
    let image = &json(&workshop, "double")["images"][0];
    let output = workshop.output(&["inspect", "double", "--extract", "0", "-o", "image.so"]);
    assert_eq!((output.status.code(), output.stdout), (Some(0), String::new()));
    let extracted = std::fs::read(workshop.path("image.so")).unwrap();
    assert_eq!(extracted.len() as u64, image["size"].as_u64().unwrap());
    // The image is a complete library: other tools read it too.
    workshop.tool("llvm-readelf-22", &["-d", "image.so"]);
    let again = json(&workshop, "image.so");
    assert_eq!(again["tables"][0]["entries"].as_array().unwrap().len(), 3);

    let output = workshop.output(&["inspect", "double", "--extract", "5", "-o", "none"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, "gangway: there is no image 5: there is only image 0\n");
    assert!(!workshop.path("none").exists());
    for incomplete in [&["inspect", "double", "--extract", "0"][..], &["inspect", "double", "-o", "x"]] {
        assert_eq!(workshop.output(incomplete).status.code(), Some(2));
    }
}

#[test]
fn damage_is_shown_and_counted() {
    let workshop = Workshop::new();
    workshop.program("double.o", &["-c"]);
    let offset = json(&workshop, "double.o")["images"][0]["offset"].as_u64().unwrap() as usize;
    let mut bytes = std::fs::read(workshop.path("double.o")).unwrap();
    // The offset of the image's section headers.
    bytes[offset + 40..offset + 48].copy_from_slice(&0xffff_ff00u64.to_le_bytes());
    workshop.write("broken.o", &bytes);
    let output = workshop.output(&["inspect", "broken.o"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = output.stdout;
    assert!(
        shown.contains("problem    truncated: the section header table at offset 0xffffff00 takes "),
        "{shown}"
    );
    assert!(shown.contains("host entries in llvm_offload_entries"), "the rest is still shown: {shown}");

    workshop.write("short", &bytes[..300]);
    let output = workshop.output(&["inspect", "short"]);
    assert_eq!(output.status.code(), Some(1));
    let said = output.stderr;
    assert!(said.starts_with("gangway: short: truncated: the section header table at offset 0x"), "{said}");
}

#[test]
fn files_without_images() {
    let workshop = Workshop::new();
    let output = workshop.output(&["inspect", "ours/libomptarget.so.22.1"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, "ours/libomptarget.so.22.1: shared object, no device images\n");
    let output = workshop.output(&["inspect", "absent"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, "gangway: cannot read absent: No such file or directory (os error 2)\n");
    let output = workshop.output(&["inspect", "program.c"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.starts_with("gangway: program.c: not recognised: "));
}
