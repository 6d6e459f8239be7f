//! What the readers say about files that GCC makes.
//!
//! The records are first tried with a stand-in that clang compiles, so that they are
//! tested on every machine; a real GCC with its NVIDIA compiler is tried where there
//! is one, and its absence is said.

use crate::support::Workshop;
use gangway_compilers::{Language, accelerator, name};
use gangway_image::{Contents, GccTarget, ImageKind, Producer, contents, details, recognise};

/// The shape of what GCC's mkoffload writes for NVIDIA.
const NVPTX: &str = r#"
static const char code0[] = "// BEGIN PREAMBLE\n\t.version\t6.0\n\t.target\tsm_30\n.visible .entry main$_omp_fn$0 (.param.u64 %in_ar0)\n{\n}\n.visible .global .align 4 .u32 counter[1];\n";
static const char code1[] = "// another module\n.version 6.0\n.target sm_30\n";
static const struct object { const char *code; unsigned long size; } objects[] = {{code0, sizeof code0}, {code1, sizeof code1}};
static const char *const variables[] = {"counter"};
static const struct function { const char *name; unsigned short dimensions[3]; } functions[] = {{"main$_omp_fn$0", {0}}};
static const struct record {
  const struct object *objects; unsigned count;
  const char *const *variables; unsigned variable_count;
  const struct function *functions; unsigned function_count;
} record = {objects, 2, variables, 1, functions, 1};
"#;

/// The shape of what GCC's mkoffload writes for AMD, around the file `image`.
const GCN: &str = r#"
__asm__(".section .rodata\n.globl code\n.balign 16\ncode: .incbin \"image\"\n.globl code_end\ncode_end:\n.text\n");
extern const char code[];
static const struct image { unsigned long size; const void *start; } image = {SIZE, code};
static const struct kernel { const char *name; int dimensions[3]; int sgprs, vgprs; } kernels[] = {
  {"main._omp_fn.0", {0}, 0, 0}, {"main._omp_fn.1", {0}, 0, 0}};
static const struct record {
  const struct image *image; unsigned count; const struct kernel *kernels; unsigned variables;
} record = {&image, 2, kernels, 0};
"#;

/// The host's side: GCC's tables, and a use of the record that no optimiser removes.
const HOST: &str = r#"
static void region(void) {}
static int counter;
__attribute__((section(".gnu.offload_funcs"), used)) static void *funcs[] = {region};
__attribute__((section(".gnu.offload_vars"), used)) static void *vars[] = {&counter, (void *)4};
const void *volatile registered;
int main(void) { registered = &record; return 0; }
"#;

fn check_nvptx(contents: &Contents<'_>, parts: usize) {
    assert_eq!(contents.problems, []);
    let [image] = &contents.images[..] else { panic!("{:?}", contents.images) };
    assert_eq!((image.producer, image.triple), (Producer::Gcc(GccTarget::Nvptx), Some("nvptx-none")));
    assert_eq!(image.parts.len(), parts);
    assert_eq!((&image.functions[..], &image.variables[..]), (&["main$_omp_fn$0"][..], &["counter"][..]));
    let ImageKind::Ptx(header) = recognise(image.parts[0]).unwrap() else { panic!() };
    assert_eq!((header.version, header.target), ((6, 0), "sm_30"));
    let details = details(image.parts[0]).unwrap();
    assert_eq!(details.kernels.iter().map(|kernel| kernel.name).collect::<Vec<_>>(), ["main$_omp_fn$0"]);
    assert_eq!(
        details.globals.iter().map(|global| (global.name, global.size)).collect::<Vec<_>>(),
        [("counter", Some(4))]
    );
    let host = contents.gcc.unwrap();
    assert_eq!((host.functions, host.variables), (1, 1));
}

#[test]
fn nvptx_record() {
    let workshop = Workshop::new();
    workshop.write("host.c", [NVPTX, HOST].concat());
    for flags in [&["-O1"][..], &["-no-pie"], &["-O2", "-s"], &["-fuse-ld=lld", "-s"]] {
        workshop.tool("clang-22", &[flags, &["host.c", "-o", "host"]].concat());
        check_nvptx(&contents(&workshop.read("host")).unwrap(), 2);
    }
}

#[test]
fn gcn_record() {
    let workshop = Workshop::new();
    workshop.write("k.c", "__attribute__((amdgpu_kernel)) void kern(int *x) { *x = 1; }\n");
    let elf = workshop.clang_for("amdgcn-amd-amdhsa", "gfx908", "image", &["-x", "c", "k.c"]);
    workshop.write("host.c", [&GCN.replace("SIZE", &elf.len().to_string()), HOST].concat());
    for flags in [&["-O1"][..], &["-no-pie", "-s"]] {
        workshop.tool("clang-22", &[flags, &["host.c", "-o", "host"]].concat());
        let file = workshop.read("host");
        let contents = contents(&file).unwrap();
        let [image] = &contents.images[..] else { panic!("{:?}", contents.images) };
        assert_eq!(image.producer, Producer::Gcc(GccTarget::Gcn));
        assert_eq!(image.parts, [&elf[..]]);
        assert_eq!(image.functions, ["main._omp_fn.0", "main._omp_fn.1"]);
        assert_eq!(recognise(image.parts[0]).unwrap().processor().as_deref(), Some("gfx908"));
    }
}

#[test]
fn real_gcc() {
    if let Err(why) = accelerator() {
        eprintln!("SKIPPED: real_gcc: {why}");
        return;
    }
    let compiler = name(Language::C);
    let workshop = Workshop::new();
    workshop.write(
        "g.c",
        "#pragma omp declare target\nint counter = 5;\n#pragma omp end declare target\n\
         int main(void) { int x = 1;\n#pragma omp target map(tofrom: x)\nx += counter;\nreturn x; }\n",
    );
    let gcc = ["-O2", "-fopenmp", "-foffload=nvptx-none"];
    workshop.tool(&compiler, &[&gcc[..], &["g.c", "-o", "g", "-s"]].concat());
    let program = workshop.read("g");
    let found = contents(&program).unwrap();
    assert!(found.images[0].parts.len() > 1, "GCC adds its libraries' modules");
    check_nvptx(&found, found.images[0].parts.len());

    workshop.tool(&compiler, &[&gcc[..], &["-c", "g.c", "-o", "g.o"]].concat());
    let object = workshop.read("g.o");
    let found = contents(&object).unwrap();
    assert_eq!(found.images[0].producer, Producer::Gcc(GccTarget::Bytecode));
    assert_eq!(found.images[0].functions, ["main._omp_fn.0"]);
    assert_eq!(found.gcc.unwrap().functions, 1);
}
