//! Images that clang makes, for every processor and version, and thousands of damaged ones.
//!
//! What descriptors say is compared with what `llvm-objdump` makes of them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use gangway_code_object::{
    CodeObject, Descriptor, Error, Feature, Kernel, Loaded, RelocationKind, ValueKind, Version,
};
use gangway_commands::Folder;
use proptest::prelude::*;

const SOURCE: &str = r#"
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
extern LOCAL int shared[];
static LOCAL __attribute__((loader_uninitialized)) int fixed[32];
int counter = 5;
int *pointer = &counter;
extern int elsewhere;
int *far = &elsewhere;
KERNEL void simple(GLOBAL int *x, int n) { x[__builtin_amdgcn_workitem_id_x()] = n; }
__attribute__((noinline)) static int deep(int n, int *x) { int a[40]; for (int i = 0; i < 40; ++i) a[i] = x[i]; return n ? deep(n - 1, a) + a[n] : x[0]; }
KERNEL __attribute__((amdgpu_flat_work_group_size(1, 64))) void complex(GLOBAL int *x, LOCAL int *dynamic, short s, double d) {
  fixed[__builtin_amdgcn_workitem_id_y() & 31] = s;
  __builtin_amdgcn_s_barrier();
  x[__builtin_amdgcn_workgroup_id_z()] = deep(s, (int *)x) + *pointer + *far + fixed[3] + dynamic[1] + (int)d + __builtin_amdgcn_workgroup_size_x();
}
"#;

const PROCESSORS: [&str; 9] = [
    "gfx900",
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx90a:xnack+",
    "gfx906:sramecc-:xnack-",
    "gfx1030",
    "gfx1100",
];

/// The image, or nothing where clang is not installed.
fn image(folder: &Folder, processor: &str, version: u8) -> Option<Vec<u8>> {
    let source = folder.join("a.c");
    fs::write(&source, SOURCE).expect("a source");
    let image = folder.join(format!("{processor}.{version}.so"));
    let built = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-O1", "-w", "-fvisibility=default"])
        .arg("-Wl,--unresolved-symbols=ignore-all")
        .arg(format!("-mcpu={processor}"))
        .arg(format!("-mcode-object-version={version}"))
        .arg(&source)
        .arg("-o")
        .arg(&image)
        .output();
    let Ok(built) = built else {
        eprintln!("skipping: clang-22 is not installed");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(fs::read(&image).expect("the image"))
}

#[test]
fn every_processor_and_version() {
    let folder = Folder::new();
    for processor in PROCESSORS {
        for version in [4, 5, 6] {
            let Some(image) = image(&folder, processor, version) else { return };
            let read =
                CodeObject::read(&image).unwrap_or_else(|error| panic!("{processor} {version}: {error}"));
            assert_eq!(read.version.number(), version);
            assert_eq!(read.target.to_string(), processor);
            assert_eq!(read.metadata.target.as_deref(), Some(&*format!("amdgcn-amd-amdhsa--{processor}")));
            check(&read);
            let file = folder.join(format!("{processor}.{version}.so"));
            for kernel in &read.kernels {
                directives(&file, &read, kernel);
            }
        }
    }
}

#[test]
fn an_image_of_two_objects_has_the_kernels_of_both() {
    let folder = Folder::new();
    let sources = ["first", "second"].map(|name| {
        let source = folder.join(format!("{name}.c"));
        let kernel = "__attribute__((amdgpu_kernel, visibility(\"protected\"))) void";
        fs::write(&source, format!("{kernel} {name}(int *x) {{ *x = 1; }}\n")).expect("a source");
        source
    });
    let image = folder.join("both.so");
    let built = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-mcpu=gfx90a", "-O1"])
        .args(&sources)
        .arg("-o")
        .arg(&image)
        .output();
    let Ok(built) = built else {
        eprintln!("skipping: clang-22 is not installed");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let image = fs::read(&image).expect("the image");
    let read = CodeObject::read(&image).expect("a code object");
    let names: Vec<_> = read.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
}

fn check(read: &CodeObject<'_>) {
    let names: Vec<_> = read.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["simple", "complex"]);
    let simple = read.said(&read.kernels[0]);
    let arguments: Vec<_> = simple.arguments.iter().take(2).map(|it| (it.offset, it.size, it.kind)).collect();
    assert_eq!(arguments, [(0, 8, ValueKind::GlobalBuffer), (8, 4, ValueKind::ByValue)]);
    let complex = read.said(&read.kernels[1]);
    assert_eq!((simple.max_flat_workgroup_size, complex.max_flat_workgroup_size), (1024, 64));
    assert_eq!(complex.arguments[1].kind, ValueKind::DynamicSharedPointer);
    assert_eq!(complex.group_segment_fixed_size, 128);
    if read.version >= Version::V5 {
        assert!(complex.arguments.iter().any(|argument| argument.kind == ValueKind::HiddenGroupSizeX));
        assert!(complex.uses_dynamic_stack);
    }
    for kernel in &read.kernels {
        let said = read.said(kernel);
        assert!(kernel.descriptor.vector_registers(&read.target) >= said.vgpr_count);
        assert!(kernel.descriptor.scalar_registers(&read.target) >= said.sgpr_count);
        assert_eq!(kernel.descriptor.private_segment_size, said.private_segment_fixed_size);
        assert!(read.code_at(kernel.entry).is_some());
    }
    let pointer = read.symbol("pointer").expect("a variable");
    let counter = read.symbol("counter").expect("a variable");
    let far = read.symbol("far").expect("a variable");
    let at =
        |address| read.relocations.iter().find(|relocation| relocation.address == address).expect("a patch");
    assert!(matches!(at(pointer.address).kind, RelocationKind::Abs64 | RelocationKind::Based64));
    let outside = at(far.address);
    let symbol = read.symbols[outside.symbol.expect("a symbol")];
    assert_eq!((outside.kind, symbol.name, symbol.defined), (RelocationKind::Abs64, "elsewhere", false));
    assert_eq!(RelocationKind::Based64.value(0, 16, 0, 0x1000), 0x1010);
    assert!(counter.size == 4 && read.memory_size > counter.address);
}

/// `llvm-objdump`'s text of a descriptor, directive by directive.
fn directives(file: &std::path::Path, read: &CodeObject<'_>, kernel: &Kernel) {
    let output = Command::new("llvm-objdump-22")
        .args(["-D", "-j", ".rodata"])
        .arg(format!("--disassemble-symbols={}.kd", kernel.name))
        .arg(file)
        .output()
        .expect("llvm-objdump-22");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(".amdhsa_")?.split_once(' '));
    let said: BTreeMap<_, _> =
        lines.map(|(name, value)| (name, value.parse::<u32>().unwrap_or(u32::MAX))).collect();
    assert!(said.len() > 20, "{text}");
    let mut compared = 0;
    for (name, value) in ours(&kernel.descriptor, read) {
        if let Some(theirs) = said.get(name) {
            assert_eq!((name, value), (name, *theirs), "{}", read.target);
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} of {}", said.len());
}

#[rustfmt::skip]
fn ours(it: &Descriptor, read: &CodeObject<'_>) -> Vec<(&'static str, u32)> {
    let Descriptor { rsrc1, rsrc2, rsrc3, properties, .. } = *it;
    let mut list = vec![
        ("group_segment_fixed_size", it.group_segment_size),
        ("private_segment_fixed_size", it.private_segment_size),
        ("kernarg_size", it.kernarg_size),
        ("next_free_vgpr", it.vector_registers(&read.target)),
        ("float_round_mode_32", rsrc1.round_mode_32()),
        ("float_round_mode_16_64", rsrc1.round_mode_16_64()),
        ("float_denorm_mode_32", rsrc1.denorm_mode_32()),
        ("float_denorm_mode_16_64", rsrc1.denorm_mode_16_64()),
        ("dx10_clamp", rsrc1.dx10_clamp()),
        ("ieee_mode", rsrc1.ieee_mode()),
        ("fp16_overflow", rsrc1.fp16_overflow()),
        ("workgroup_processor_mode", rsrc1.workgroup_processor_mode()),
        ("memory_ordered", rsrc1.memory_ordered()),
        ("forward_progress", rsrc1.forward_progress()),
        ("enable_private_segment", rsrc2.private_segment()),
        ("system_sgpr_private_segment_wavefront_offset", rsrc2.private_segment()),
        ("system_sgpr_workgroup_id_x", rsrc2.workgroup_id_x()),
        ("system_sgpr_workgroup_id_y", rsrc2.workgroup_id_y()),
        ("system_sgpr_workgroup_id_z", rsrc2.workgroup_id_z()),
        ("system_sgpr_workgroup_info", rsrc2.workgroup_info()),
        ("system_vgpr_workitem_id", rsrc2.workitem_id()),
        ("exception_fp_ieee_invalid_op", rsrc2.exception_invalid()),
        ("exception_fp_denorm_src", rsrc2.exception_denormal_source()),
        ("exception_fp_ieee_div_zero", rsrc2.exception_division_by_zero()),
        ("exception_fp_ieee_overflow", rsrc2.exception_overflow()),
        ("exception_fp_ieee_underflow", rsrc2.exception_underflow()),
        ("exception_fp_ieee_inexact", rsrc2.exception_inexact()),
        ("exception_int_div_zero", rsrc2.exception_integer_division_by_zero()),
        ("user_sgpr_private_segment_buffer", properties.private_segment_buffer()),
        ("user_sgpr_dispatch_ptr", properties.dispatch_ptr()),
        ("user_sgpr_queue_ptr", properties.queue_ptr()),
        ("user_sgpr_kernarg_segment_ptr", properties.kernarg_segment_ptr()),
        ("user_sgpr_dispatch_id", properties.dispatch_id()),
        ("user_sgpr_flat_scratch_init", properties.flat_scratch_init()),
        ("user_sgpr_private_segment_size", properties.private_segment_size()),
        ("wavefront_size32", properties.wavefront_size32()),
        ("uses_dynamic_stack", properties.uses_dynamic_stack()),
        ("user_sgpr_kernarg_preload_length", it.preload_length.into()),
        ("user_sgpr_kernarg_preload_offset", it.preload_offset.into()),
    ];
    if let Some(first) = it.first_accumulator(&read.target) {
        list.extend([("accum_offset", first), ("tg_split", rsrc3.threadgroup_split())]);
    }
    list
}

/// No compiler here writes version 3 any more: an image of version 4 with the other header, which has
/// a bit for each feature instead of two.
#[test]
fn version_3_has_a_bit_for_each_feature() {
    let folder = Folder::new();
    let Some(mut image) = image(&folder, "gfx906:sramecc-:xnack+", 4) else { return };
    image[8] = 1;
    image[48..52].copy_from_slice(&0x12fu32.to_le_bytes());
    let read = CodeObject::read(&image).expect("version 3");
    assert_eq!(
        (read.version, read.target.xnack, read.target.sramecc),
        (Version::V3, Feature::On, Feature::Off)
    );
    assert!(read.target.xnack.runs_with(true) && !read.target.xnack.runs_with(false));
    image[8] = 0;
    let refused = CodeObject::read(&image).expect_err("version 2");
    assert_eq!(
        refused.to_string(),
        "not supported: the code object's version is 2; Gangway reads versions 3 to 6"
    );
}

#[test]
fn objects_that_are_not_linked_are_refused() {
    let folder = Folder::new();
    let Some(mut image) = image(&folder, "gfx90a", 5) else { return };
    image[16] = 1;
    let refused = CodeObject::read(&image).expect_err("an object file");
    assert!(matches!(refused, Error::Unsupported { what: "the file's type", .. }), "{refused}");
}

/// What holds of every image that is read.
fn sound(image: &[u8]) {
    let Ok(read) = CodeObject::read(image) else { return };
    for segment in &read.segments {
        assert!(
            segment.data.len() as u64 <= segment.size && segment.address + segment.size <= read.memory_size
        );
    }
    for kernel in &read.kernels {
        assert!(read.code_at(kernel.entry).is_some_and(|code| code.len() >= 4));
        for argument in &read.said(kernel).arguments {
            assert!(argument.offset + argument.size <= read.said(kernel).kernarg_segment_size);
        }
    }
    for relocation in &read.relocations {
        assert!(relocation.symbol.is_none_or(|symbol| symbol < read.symbols.len()));
        assert!(read.segments.iter().any(|it| it.contains(relocation.address, relocation.kind.size())));
    }
}

#[test]
fn damaged_images_are_refused_or_sound() {
    let folder = Folder::new();
    let Some(image) = image(&folder, "gfx90a", 5) else { return };
    // Every byte of the headers and tables, and every length.
    for position in 0..image.len().min(4096) {
        for value in [0, 1, 0x7f, 0x80, 0xff, image[position] ^ 1, image[position].wrapping_add(1)] {
            let mut damaged = image.clone();
            damaged[position] = value;
            sound(&damaged);
        }
        sound(&image[..position]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    #[test]
    fn images_with_random_damage(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<[u8; 8]>(), 1usize..9), 1..6)) {
        use std::sync::OnceLock;
        static IMAGE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
        if let Some(image) = IMAGE.get_or_init(|| image(&Folder::new(), "gfx908", 5)) {
            let mut damaged = image.clone();
            for (index, bytes, count) in changes {
                let start = index.index(damaged.len());
                let end = damaged.len().min(start + count);
                damaged[start..end].copy_from_slice(&bytes[..end - start]);
            }
            sound(&damaged);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut image = b"\x7fELF\x02\x01\x01\x40\x03".to_vec();
        image.extend(bytes);
        sound(&image);
    }
}

#[test]
fn images_are_laid_out() {
    let folder = Folder::new();
    let Some(image) = image(&folder, "gfx90a", 5) else { return };
    let read = CodeObject::read(&image).expect("a code object");
    let base = 0x7000_0000_0000u64;
    let elsewhere = 0x1234_5678_9abc;
    let loaded = Loaded::new(&read, base, |symbol| (symbol.name == "elsewhere").then_some(elsewhere))
        .expect("every symbol is there");
    let mut memory = vec![0u8; read.memory_size as usize];
    let written = loaded.write(|address, bytes| {
        let at = usize::try_from(address - base).map_err(|_| ())?;
        memory.get_mut(at..at + bytes.len()).ok_or(())?.copy_from_slice(bytes);
        Ok::<_, ()>(())
    });
    assert_eq!(written, Ok(()), "all of it lies within the image's memory");
    let word = |name: &str| {
        let at = read.symbol(name).expect("a variable").address as usize;
        u64::from_le_bytes(memory[at..at + 8].try_into().expect("8 bytes"))
    };
    assert_eq!(word("pointer"), base + read.symbol("counter").expect("a variable").address);
    assert_eq!(word("far"), elsewhere);
    let entry = read.kernels[0].entry;
    let code = read.code_at(entry).expect("code");
    assert_eq!(&memory[entry as usize..][..16], &code[..16]);

    let error = Loaded::new(&read, base, |_| None).expect_err("a symbol is missing");
    assert_eq!(error.to_string(), "corrupt: there is no symbol elsewhere");
    assert!(Loaded::new(&read, base + 1, |_| Some(0)).is_err(), "the base is aligned");
    assert!(Loaded::new(&read, u64::MAX - 4095, |_| Some(0)).is_err(), "memory ends");
}
