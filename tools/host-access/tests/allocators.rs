//! The library before programs with the C library's allocator, with that of another library, and with their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::{Folder, Run};

/// The library, which cargo builds beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test is there");
    let folder = test.parent().expect("it is in a folder");
    folder.join("libgangway_host_access.so")
}

fn compile(folder: &Folder, output: &str, arguments: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/allocators.c");
    let output = folder.path(output);
    let mut compiler = gangway_compilers::gcc();
    compiler
        .args(["-O1", "-Wno-unused-result"])
        .arg(source)
        .args(arguments)
        .arg("-o")
        .arg(&output)
        .run()
        .succeeded();
    output
}

/// What the program prints with the library before it.
fn prints(program: &Path, text: &str) {
    Command::new(program).env("LD_PRELOAD", library()).run().succeeded().printed(text);
}

#[test]
fn the_c_librarys_blocks_are_told_with_their_sizes() {
    let folder = Folder::new();
    let program = compile(&folder, "plain", &["-DPROGRAM"]);
    prints(&program, "hears 1 frees 2 size 9000 ended 1 masks 1 kept 1\n");
}

#[test]
fn blocks_go_back_to_the_library_that_they_are_from() {
    let folder = Folder::new();
    let allocator = compile(&folder, "liballocator.so", &["-DALLOCATOR", "-shared", "-fPIC"]);
    let folder_of = format!("-Wl,-rpath,{}", allocator.parent().expect("it is in a folder").display());
    let allocator = allocator.display().to_string();
    let program = compile(&folder, "linked", &["-DPROGRAM", "-Wl,--no-as-needed", &allocator, &folder_of]);
    // It does not say how large its blocks are. Its `realloc` frees, too.
    prints(&program, "hears 1 frees 3 size 1 ended 1 masks 1 kept 1\n");
}

#[test]
fn a_program_with_its_own_allocator_is_told_from_others() {
    let folder = Folder::new();
    let program = compile(&folder, "own", &["-DPROGRAM", "-DALLOCATOR"]);
    prints(&program, "hears 0 frees 0 size 0 ended 1 masks 1 kept 1\n");
}
