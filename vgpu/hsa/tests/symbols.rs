//! What the dynamic linker sees of the library, and of its functions those that others need.

#[path = "../../../frontends/frontend/tests/support/shared.rs"]
mod shared;

use std::collections::BTreeSet;
use std::path::Path;

use object::elf;
use shared::Shared;

/// The names of a committed list, whose lines may begin with a version.
fn names(list: &'static str) -> BTreeSet<&'static str> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').map_or(line, |(_, name)| name)).collect()
}

fn exports() -> BTreeSet<&'static str> {
    names(include_str!("../symbols/exports.txt"))
}

fn unsupported() -> BTreeSet<&'static str> {
    names(include_str!("../symbols/unsupported.txt"))
}

fn built() -> Shared {
    let tests = std::env::current_exe().expect("the path of the test");
    Shared::read(&tests.with_file_name("libgangway_hsa_driver.so"))
}

#[test]
fn the_library_exports_what_is_listed() {
    let built = built();
    assert_eq!(built.soname.as_deref(), Some("libhsa-runtime64.so.1"));
    assert_eq!(built.exports.keys().map(String::as_str).collect::<BTreeSet<_>>(), exports());
    assert!(built.flags_1 & u64::from(elf::DF_1_NODELETE) != 0, "threads run its code after dlclose");
    assert!(!built.has_text_relocations);
}

/// What a plugin opens by name: all of it must work.
#[test]
fn plugins_find_what_they_need() {
    let (there, refused) = (exports(), unsupported());
    let libgomp = names(include_str!("../symbols/libgomp-12.txt"));
    let llvm = names(include_str!("../symbols/llvm-22.txt"));
    let rocminfo = names(include_str!("../symbols/rocminfo-5.2.txt"));
    assert_eq!((libgomp.len(), llvm.len()), (30, 48));
    for name in libgomp.iter().chain(&llvm).chain(&rocminfo) {
        assert!(there.contains(name) && !refused.contains(name), "{name} does not work");
    }
}

/// The list of LLVM's plugin is that of the installed one.
#[test]
fn the_list_of_llvms_plugin_is_right() {
    let library = Path::new("/usr/lib/llvm-22/lib/libLLVMOffload.so.22.1");
    let Ok(bytes) = std::fs::read(library) else {
        println!("ignored: {} is not there", library.display());
        return;
    };
    let (listed, exports) = (names(include_str!("../symbols/llvm-22.txt")), exports());
    let texts = bytes.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok());
    let found: BTreeSet<_> = texts.filter(|text| exports.contains(text)).collect();
    assert_eq!(found, listed);
}
