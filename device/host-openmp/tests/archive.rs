//! What the archive defines, what it needs, and how much it adds to an image.

mod common;

use std::collections::BTreeSet;
use std::fs;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolFlags, elf};

/// Every entry point; README.md says what each is for.
const DEFINED: &[&str] = &[
    "__kmpc_alloc_shared",
    "__kmpc_barrier_simple_generic",
    "__kmpc_barrier_simple_spmd",
    "__kmpc_distribute_for_static_loop_4",
    "__kmpc_distribute_for_static_loop_4u",
    "__kmpc_distribute_for_static_loop_8",
    "__kmpc_distribute_for_static_loop_8u",
    "__kmpc_distribute_static_loop_4",
    "__kmpc_distribute_static_loop_4u",
    "__kmpc_distribute_static_loop_8",
    "__kmpc_distribute_static_loop_8u",
    "__kmpc_end_ordered",
    "__kmpc_for_static_loop_4",
    "__kmpc_for_static_loop_4u",
    "__kmpc_for_static_loop_8",
    "__kmpc_for_static_loop_8u",
    "__kmpc_free_shared",
    "__kmpc_get_hardware_num_threads_in_block",
    "__kmpc_get_hardware_thread_id_in_block",
    "__kmpc_get_shared_variables",
    "__kmpc_get_warp_size",
    "__kmpc_is_spmd_exec_mode",
    "__kmpc_ordered",
    "__kmpc_parallel_51",
    "__kmpc_parallel_60",
    "__kmpc_syncwarp",
    "__kmpc_target_deinit",
    "__kmpc_target_init",
    "__kmpc_warp_active_thread_mask",
    "omp_is_initial_device",
];

/// All that it takes from libomp and the C library, and from Gangway's back end if that is there. Nothing of Rust's `core`:
/// an rlib does not carry it.
const NEEDED: &[&str] = &[
    "GOMP_ordered_end",
    "GOMP_ordered_start",
    "__kmpc_barrier",
    "__kmpc_end_serialized_parallel",
    "__kmpc_fork_call",
    "__kmpc_global_thread_num",
    "__kmpc_push_num_threads",
    "__kmpc_push_num_threads_strict",
    "__kmpc_push_proc_bind",
    "__kmpc_serialized_parallel",
    "__kmpc_set_thread_limit",
    "abort",
    "free",
    "gangway_launch_thread_limit",
    "malloc",
    "memset",
    "omp_get_level",
    "omp_get_num_threads",
    "omp_get_thread_limit",
    "omp_get_thread_num",
    "pthread_getspecific",
    "pthread_key_create",
    "pthread_key_delete",
    "pthread_setspecific",
    "realloc",
    "sched_yield",
    "write",
];

#[test]
fn defines_the_entry_points_hidden_and_needs_only_libomp_and_libc() {
    let bytes = fs::read(common::archive()).expect("the archive was built");
    let archive = ArchiveFile::parse(&*bytes).expect("an rlib is an ar archive");
    let (mut defined, mut needed) = (BTreeSet::new(), BTreeSet::new());
    for member in archive.members() {
        let data = member.expect("a member").data(&*bytes).expect("inside the file");
        let file = object::File::parse(data).expect("every member is an object file");
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let name = symbol.name().expect("UTF-8").to_owned();
            if symbol.is_undefined() {
                needed.insert(name);
            } else if !name.starts_with("_ZN") {
                // What is left out are Rust's own names, which no C code has.
                let SymbolFlags::Elf { st_other, .. } = symbol.flags() else {
                    panic!("{name} is not in an ELF file");
                };
                assert_eq!(st_other & 3, elf::STV_HIDDEN, "{name} is not hidden");
                defined.insert(name);
            }
        }
    }
    assert_eq!(defined, DEFINED.iter().map(|name| name.to_string()).collect());
    assert_eq!(needed, NEEDED.iter().map(|name| name.to_string()).collect());
}

#[test]
fn an_image_shows_none_of_it_and_grows_little() {
    let bytes = fs::read(common::archive()).expect("the archive was built");
    let archive = ArchiveFile::parse(&*bytes).expect("an rlib is an ar archive");
    let code = archive
        .members()
        .map(|member| member.expect("a member"))
        .filter(|member| member.name().ends_with(b".o"))
        .map(|member| member.size())
        .sum::<u64>();
    assert!(code < 32 << 10, "the object file has {code} bytes");

    let source = common::crate_directory().join("tests/programs/where_am_i.f90");
    let program = fs::read(common::compile(&source, "-O1", &[])).expect("compiled");
    // The image is an ELF file inside the program.
    let inside = program.windows(4).skip(1).position(|bytes| bytes == elf::ELFMAG).expect("has an image");
    for (file, start) in [("host program", 0), ("image", inside + 1)] {
        let parsed = object::File::parse(&program[start..]).expect("an ELF file");
        let exported = parsed.exports().expect("a symbol table");
        let names: Vec<_> = exported.iter().map(|e| String::from_utf8_lossy(e.name())).collect();
        for name in &names {
            assert!(!DEFINED.contains(&&**name), "the {file} exports {name}");
        }
        let kernels = names.iter().filter(|name| name.starts_with("__omp_offloading_")).count();
        assert_eq!(kernels > 0, file == "image", "the {file} exports {names:?}");
    }
}
