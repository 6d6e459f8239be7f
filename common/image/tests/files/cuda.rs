//! What the readers say about programs with CUDA fat binaries.
//!
//! clang compiles the host's side as it does for real programs; the fat binary, which NVIDIA's
//! tools would make, is put together here.

use crate::support::Workshop;
use gangway_image::{Contents, ImageKind, Producer, contents, details, recognise};

const HOST: &str = "
#define __global__ __attribute__((global))
typedef struct { unsigned x, y, z; } dim3;
extern \"C\" int cudaConfigureCall(dim3, dim3, unsigned long, void *);
__global__ void KERNEL(int *x) {}
";

/// What links it: the functions of the CUDA runtime that registering needs.
const RUNTIME: &str = "
int cudaSetupArgument() { return 0; }
int cudaLaunch() { return 0; }
void **__cudaRegisterFatBinary(void *x) { return x; }
void __cudaRegisterFatBinaryEnd(void **x) {}
void __cudaUnregisterFatBinary(void **x) {}
int __cudaRegisterFunction() { return 0; }
int main(void) { return 0; }
";

/// One record with a PTX text.
fn fatbin(kernel: &str) -> Vec<u8> {
    let text = format!(".version 7.0\n.target sm_80\n.visible .entry {kernel}()\n{{ ret; }}\n\0");
    let mut record = [0u8; 64];
    (record[0], record[4], record[8], record[28]) = (1, 64, text.len() as u8, 80);
    let mut whole = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    whole.extend(((record.len() + text.len()) as u64).to_le_bytes());
    whole.extend(record);
    whole.extend(text.as_bytes());
    whole
}

/// An object of clang's CUDA compiler that carries the fat binary of a kernel.
fn object(workshop: &Workshop, kernel: &str) -> String {
    let (source, image, output) = (format!("{kernel}.cu"), format!("{kernel}.fatbin"), format!("{kernel}.o"));
    workshop.write(&source, HOST.replace("KERNEL", kernel));
    workshop.write(&image, fatbin(kernel));
    workshop.tool(
        "clang-22",
        &[
            "-x",
            "cuda",
            "--cuda-host-only",
            "-nocudainc",
            "-nocudalib",
            "-Wno-unknown-cuda-version",
            "-c",
            &source,
            "-o",
            &output,
            "-Xclang",
            "-fcuda-include-gpubinary",
            "-Xclang",
            &image,
        ],
    );
    output
}

fn kernels(contents: &Contents<'_>, section: &str) -> Vec<String> {
    assert_eq!(contents.problems, []);
    let mut names = Vec::new();
    for image in &contents.images {
        assert_eq!((image.producer, image.section), (Producer::Cuda, section));
        assert_eq!(recognise(image.parts[0]), Ok(ImageKind::CudaFatBinary));
        names.extend(details(image.parts[0]).unwrap().kernels.iter().map(|kernel| kernel.name.to_owned()));
    }
    names
}

#[test]
fn objects_and_programs_of_cuda_compilers() {
    let workshop = Workshop::new();
    let (one, two) = (object(&workshop, "first"), object(&workshop, "second"));
    workshop.write("runtime.c", RUNTIME);
    let file = workshop.read(&one);
    let found = contents(&file).unwrap();
    assert_eq!(kernels(&found, ".nv_fatbin"), ["first"]);
    let offset = found.images[0].offset as usize;
    assert_eq!(file[offset..offset + fatbin("first").len()], fatbin("first"));

    for flags in [&["-O1"][..], &["-no-pie"], &["-s"], &["-fuse-ld=lld", "-s"]] {
        workshop.tool("clang-22", &[flags, &["-w", "runtime.c", &one, &two, "-o", "program"]].concat());
        let file = workshop.read("program");
        assert_eq!(kernels(&contents(&file).unwrap(), ".nv_fatbin"), ["first", "second"], "{flags:?}");
    }
}

/// A fat binary that the program's record alone leads to.
#[test]
fn a_fat_binary_elsewhere_is_found_by_its_record() {
    let workshop = Workshop::new();
    workshop.write("image", fatbin("hidden"));
    workshop.write(
        "host.c",
        "__asm__(\".section .rodata\\n.balign 8\\nimage: .incbin \\\"image\\\"\\n.text\\n\");\n\
         extern const char image[];\n\
         __attribute__((section(\".nvFatBinSegment\"), used)) static struct { int magic, version; const void *at, *own; }\n\
         record = {0x466243b1, 1, image, 0};\nint main(void) { return 0; }\n",
    );
    for flags in [&["-c"][..], &["-O1"], &["-no-pie", "-s"]] {
        workshop.tool("clang-22", &[flags, &["host.c", "-o", "host"]].concat());
        let file = workshop.read("host");
        assert_eq!(kernels(&contents(&file).unwrap(), ".rodata"), ["hidden"], "{flags:?}");
    }
}

#[test]
fn damage_does_not_hide_the_others() {
    let workshop = Workshop::new();
    let (one, two) = (object(&workshop, "first"), object(&workshop, "second"));
    workshop.write("runtime.c", RUNTIME);
    workshop.tool("clang-22", &["-w", "runtime.c", &one, &two, "-o", "program"]);
    let mut file = workshop.read("program");
    let offset = contents(&file).unwrap().images[0].offset as usize;
    // The size of the first: beyond the file's end.
    file[offset + 12] = 0xff;
    let found = contents(&file).unwrap();
    let names: Vec<_> =
        found.images.iter().map(|image| details(image.parts[0]).unwrap().kernels[0].name).collect();
    assert_eq!(names, ["second"]);
    // The section and the record both lead to it.
    assert_eq!(found.problems.len(), 2);
    let message = found.problems[0].error.to_string();
    assert!(message.starts_with("truncated: the fat binary at offset 0x"), "{message}");
}
