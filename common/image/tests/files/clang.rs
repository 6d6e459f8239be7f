//! What the readers say about files that clang-22 makes.

use crate::support::Workshop;
use gangway_image::entry::{EntryKind, Layout};
use gangway_image::offload_binary::OffloadKind;
use gangway_image::{
    Contents, Error, FileType, ImageKind, Machine, Producer, bitcode, contents, details, recognise,
};

/// (kind, name without the file's identity, size), sorted.
fn entries(contents: &Contents<'_>) -> Vec<(EntryKind, String, u64)> {
    let all = contents.tables.iter().flat_map(|(_, table)| &table.entries);
    let mut listed: Vec<_> = all.map(|entry| (entry.kind, short(entry.name), entry.size)).collect();
    listed.sort_by(|a, b| a.1.cmp(&b.1));
    listed
}

/// `__omp_offloading_fe00_98c021_main_l7` names the file's inode; drop it.
fn short(name: &str) -> String {
    match name.strip_prefix("__omp_offloading_") {
        Some(rest) => rest.splitn(3, '_').nth(2).unwrap_or_default().to_owned(),
        None => name.to_owned(),
    }
}

fn expected_entries() -> Vec<(EntryKind, String, u64)> {
    [
        (EntryKind::Indirect, "callback_l8", 8),
        (EntryKind::Link, "far_away_decl_tgt_ref_ptr", 8),
        (EntryKind::Kernel, "main_l13", 0),
        (EntryKind::Kernel, "main_l15", 0),
        (EntryKind::Global, "table", 800),
        (EntryKind::Global, "total", 4),
    ]
    .map(|(kind, name, size)| (kind, name.to_owned(), size))
    .into()
}

fn check_program(bytes: &[u8], container: &str, file_type: FileType) {
    let contents = contents(bytes).unwrap();
    assert_eq!(contents.problems, []);
    assert_eq!(contents.container, container);
    assert_eq!(entries(&contents), expected_entries());
    assert!(contents.tables.iter().all(|(_, table)| table.layout == Layout::Current));
    let [image] = &contents.images[..] else { panic!("{:?}", contents.images) };
    assert_eq!(image.producer, Producer::Clang(OffloadKind::OpenMp));
    assert_eq!(image.triple, Some("x86_64-pc-linux-gnu"));
    let at = image.offset as usize;
    assert_eq!(&bytes[at..at + image.size() as usize], image.parts[0]);
    let ImageKind::Elf(elf) = recognise(image.parts[0]).unwrap() else { panic!() };
    assert_eq!((elf.machine, elf.file_type), (Machine::X86_64, file_type));
    assert_eq!(elf.check_loadable_here().is_ok(), file_type == FileType::Shared);
    let details = details(image.parts[0]).unwrap();
    let mut kernels: Vec<_> = details.kernels.iter().map(|kernel| short(kernel.name)).collect();
    kernels.sort();
    assert_eq!(kernels, ["main_l13", "main_l15"]);
    let mut globals: Vec<_> = details.globals.iter().map(|global| (global.name, global.size)).collect();
    globals.sort();
    assert_eq!(globals, [("table", Some(800)), ("total", Some(4))]);
    assert_eq!(details.needed.contains(&"libomp.so.5"), file_type == FileType::Shared);
}

#[test]
fn linked_in_every_way() {
    let workshop = Workshop::new();
    let pie = workshop.clang("pie", &["program.c"]);
    check_program(&pie, "executable", FileType::Shared);
    check_program(&workshop.clang("fixed", &["-no-pie", "program.c"]), "executable", FileType::Shared);
    check_program(
        &workshop.clang("shared.so", &["-shared", "-fPIC", "program.c"]),
        "shared object",
        FileType::Shared,
    );
    // lld leaves addresses to relocations alone, packed or not.
    check_program(&workshop.clang("lld", &["-fuse-ld=lld", "program.c"]), "executable", FileType::Shared);
    check_program(
        &workshop.clang("relr", &["-fuse-ld=lld", "-Wl,-z,pack-relative-relocs", "program.c"]),
        "executable",
        FileType::Shared,
    );
    workshop.tool("strip", &["pie", "-o", "stripped"]);
    check_program(&workshop.read("stripped"), "executable", FileType::Shared);
}

#[test]
fn objects_and_archives() {
    let workshop = Workshop::new();
    check_program(&workshop.clang("program.o", &["-c", "program.c"]), "object", FileType::Relocatable);
    workshop.write("other.c", "void f(int *x) {\n#pragma omp target map(tofrom: *x)\n++*x; }\n");
    workshop.clang("other.o", &["-c", "other.c"]);
    workshop.write("note.txt", "not code\n");
    workshop.tool("ar", &["rcs", "lib.a", "program.o", "note.txt", "other.o"]);
    let library = workshop.read("lib.a");
    let contents = contents(&library).unwrap();
    assert_eq!((contents.container, &contents.problems[..]), ("archive", &[][..]));
    let members: Vec<_> = contents.images.iter().map(|image| image.member.as_deref()).collect();
    assert_eq!(members, [Some("program.o"), Some("other.o")]);
    assert_eq!(entries(&contents).len(), 7);
    for image in &contents.images {
        let at = image.offset as usize;
        assert_eq!(&library[at..at + image.size() as usize], image.parts[0]);
    }
    workshop.tool("ar", &["rcsT", "thin.a", "program.o"]);
    let thin = workshop.read("thin.a");
    assert!(matches!(gangway_image::contents(&thin), Err(Error::Unsupported { .. })));
}

#[test]
fn several_targets_in_one_object() {
    let workshop = Workshop::new();
    workshop.write("kernel.c", "void f(int *x) {\n#pragma omp target map(tofrom: *x)\n++*x; }\n");
    workshop.tool(
        "clang-22",
        &[
            "-fopenmp",
            "--offload-arch=gfx90a,gfx1100",
            "-nogpulib",
            "-foffload-lto",
            "-c",
            "kernel.c",
            "-o",
            "kernel.o",
        ],
    );
    let object = workshop.read("kernel.o");
    let contents = contents(&object).unwrap();
    let found: Vec<_> = contents.images.iter().map(|image| (image.triple, image.arch)).collect();
    let triple = Some("amdgcn-amd-amdhsa");
    assert_eq!(found, [(triple, Some("gfx1100")), (triple, Some("gfx90a"))]);
    for image in &contents.images {
        assert_eq!(recognise(image.parts[0]), Ok(ImageKind::Bitcode));
        assert_eq!(bitcode::triple(image.parts[0]).as_deref(), triple);
    }
}

#[test]
fn bitcode_names_its_triple() {
    let workshop = Workshop::new();
    workshop.tool("clang-22", &["-O1", "-emit-llvm", "-c", "program.c", "-o", "program.bc"]);
    let module = workshop.read("program.bc");
    let triple = Some("x86_64-pc-linux-gnu".to_owned());
    assert_eq!(bitcode::triple(&module), triple);
    let head: Vec<u8> =
        [0x0b17_c0de, 0, 20, module.len() as u32, 7].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(bitcode::triple(&[head, module.clone()].concat()), triple);
    // Whatever is cut off or damaged, it is read or not, and no more.
    for length in 0..module.len().min(4096) {
        let _ = bitcode::triple(&module[..length]);
        let mut damaged = module.clone();
        damaged[length] ^= 0xff;
        let _ = bitcode::triple(&damaged);
    }
    assert_eq!(bitcode::triple(b"\x7fELF and more"), None);
}

#[test]
fn amd_images_name_their_processor() {
    let workshop = Workshop::new();
    workshop.write(
        "k.c",
        "int counter __attribute__((visibility(\"protected\"), address_space(1)));\n\
         __attribute__((amdgpu_kernel, visibility(\"protected\"))) void kern(int *x) { *x = counter; }\n",
    );
    for processor in ["gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx9-4-generic"] {
        let image = workshop.clang_for("amdgcn-amd-amdhsa", processor, "k.so", &["-x", "c", "k.c"]);
        let ImageKind::Elf(elf) = recognise(&image).unwrap() else { panic!() };
        assert_eq!((elf.machine, elf.file_type), (Machine::Amdgpu, FileType::Shared));
        assert_eq!(elf.processor().as_deref(), Some(processor));
        let details = details(&image).unwrap();
        assert_eq!(details.kernels.iter().map(|kernel| kernel.name).collect::<Vec<_>>(), ["kern"]);
        assert_eq!(details.globals.iter().map(|global| global.name).collect::<Vec<_>>(), ["counter"]);
    }
    let image =
        workshop.clang_for("amdgcn-amd-amdhsa", "gfx90a:xnack+:sramecc-", "k.so", &["-x", "c", "k.c"]);
    assert_eq!(recognise(&image).unwrap().processor().as_deref(), Some("gfx90a:sramecc-:xnack+"));
}

#[test]
fn gpu_kernel_environment() {
    let workshop = Workshop::new();
    // The record that clang's GPU code generation puts beside a kernel.
    workshop.write(
        "k.c",
        "struct env { unsigned char generic, nested, mode; int limits[6]; void *ident, *dynamic; };\n\
         __attribute__((visibility(\"protected\"), address_space(4))) extern const struct env kern_kernel_environment;\n\
         __attribute__((address_space(4))) const struct env kern_kernel_environment = {0, 1, 2, {1, 256, -1, 0, 16, 1024}, 0, 0};\n\
         __attribute__((amdgpu_kernel, visibility(\"protected\"))) void kern(int *x) { *x = 1; }\n",
    );
    let image = workshop.clang_for("amdgcn-amd-amdhsa", "gfx90a", "k.so", &["-x", "c", "k.c"]);
    let details = details(&image).unwrap();
    let environment = details.kernels[0].environment.unwrap();
    assert!(!environment.generic_state_machine && environment.may_nest_parallelism);
    assert_eq!(environment.execution_mode, 2);
    assert_eq!((environment.threads, environment.teams), ((1, 256), (-1, 0)));
    assert_eq!((environment.reduction_data_size, environment.reduction_buffer_length), (16, Some(1024)));
    assert_eq!(details.globals, []);
}

#[test]
fn ptx_text() {
    let workshop = Workshop::new();
    workshop.write(
        "k.c",
        "int counter __attribute__((address_space(1)));\nlong table[8] __attribute__((address_space(1)));\n\
         __attribute__((nvptx_kernel)) void kern(int *x) { *x = counter + table[2]; }\n\
         void helper(int *x) { *x = 2; }\n",
    );
    workshop.tool(
        "clang-22",
        &[
            "--target=nvptx64-nvidia-cuda",
            "-march=sm_80",
            "-Xclang",
            "-target-feature",
            "-Xclang",
            "+ptx70",
            "-S",
            "k.c",
            "-o",
            "k.ptx",
        ],
    );
    let text = workshop.read("k.ptx");
    let ImageKind::Ptx(header) = recognise(&text).unwrap() else { panic!() };
    assert_eq!((header.version, header.target), ((7, 0), "sm_80"));
    let details = details(&text).unwrap();
    assert_eq!(details.kernels.iter().map(|kernel| kernel.name).collect::<Vec<_>>(), ["kern"]);
    let globals: Vec<_> = details.globals.iter().map(|global| (global.name, global.size)).collect();
    assert_eq!(globals, [("counter", Some(4)), ("table", Some(64))]);
}

#[test]
fn legacy_entries() {
    let workshop = Workshop::new();
    // What clang-19 emits: 32 bytes in another section.
    workshop.write(
        "old.c",
        "struct entry { void *address; const char *name; unsigned long size; int flags, data; };\n\
         static char region; static long global; static void *link_pointer;\n\
         #define IN __attribute__((section(\"omp_offloading_entries\"), used)) static struct entry\n\
         IN a = {&region, \"__omp_offloading_1_2_main_l3\", 0, 0, 0};\n\
         IN b = {&global, \"global\", 8, 0, 0};\n\
         IN c = {&link_pointer, \"v_decl_tgt_ref_ptr\", 8, 1, 0};\n\
         IN d = {(void *)0, \"\", 0, 16, 2};\n\
         int main(void) { return 0; }\n",
    );
    for (output, flags) in [("old.o", "-c"), ("old", "-O0"), ("old-fixed", "-no-pie")] {
        workshop.tool("clang-22", &[flags, "old.c", "-o", output]);
        let file = workshop.read(output);
        let tables = gangway_image::entry::tables(&file).unwrap();
        let [table] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!(table.layout, Layout::Legacy);
        let listed: Vec<_> =
            table.entries.iter().map(|entry| (entry.kind, short(entry.name), entry.size)).collect();
        assert_eq!(
            listed,
            [
                (EntryKind::Kernel, "main_l3".to_owned(), 0),
                (EntryKind::Global, "global".to_owned(), 8),
                (EntryKind::Link, "v_decl_tgt_ref_ptr".to_owned(), 8),
                (EntryKind::Requires, String::new(), 0),
            ]
        );
        assert_eq!(table.entries[3].data, 2);
        assert_eq!(table.entries[0].address.is_some(), output != "old.o");
        assert_eq!(table.entries[3].address, None);
    }
}

#[test]
fn dynamic_section() {
    let workshop = Workshop::new();
    workshop.clang("plain", &["program.c"]);
    let plain = workshop.read("plain");
    let needed = gangway_image::needed_libraries(&plain).unwrap();
    assert!(needed.contains(&"libomptarget.so.22.1"), "{needed:?}");
    assert_eq!(gangway_image::search_paths(&plain).unwrap(), (None, None));
    let runpath = workshop.clang("runpath", &["program.c", "-Wl,-rpath,/a:/b"]);
    assert_eq!(gangway_image::search_paths(&runpath).unwrap(), (None, Some("/a:/b")));
    let rpath = workshop.clang("rpath", &["program.c", "-Wl,-rpath,/a", "-Wl,--disable-new-dtags"]);
    assert_eq!(gangway_image::search_paths(&rpath).unwrap(), (Some("/a"), None));
    // The loader needs no section headers, so neither do these.
    workshop.tool("llvm-objcopy-22", &["--strip-sections", "runpath", "bare"]);
    assert_eq!(gangway_image::search_paths(&workshop.read("bare")).unwrap().1, Some("/a:/b"));
}
