//! Gives the library the name that programs load it by, and writes the table of what it
//! exports (`src/api/exports.rs`) from `symbols/exports.txt` and `symbols/unsupported.txt`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const EXPORTS: &str = "symbols/exports.txt";
const UNSUPPORTED: &str = "symbols/unsupported.txt";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={EXPORTS}");
    println!("cargo::rerun-if-changed={UNSUPPORTED}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhsa-runtime64.so.1");
    // Threads of queues run code of this library for as long as the process lives, so it must
    // not be unmapped by dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // No thread of ours may need the loader's lock: `vgpu/driver/build.rs` has the details.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--wrap=__cxa_thread_atexit_impl");

    let out = std::env::var_os("OUT_DIR").expect("a directory for what is generated");
    std::fs::write(Path::new(&out).join("exports.rs"), exports()).expect("writing what is generated");
}

/// The call of the macro `exports`.
fn exports() -> String {
    let (exports, unsupported) = (read(EXPORTS), read(UNSUPPORTED));
    // A version and a name.
    let names = lines(&exports).map(|line| line.split_once(' ').map_or(line, |(_, name)| name));
    let mut names: BTreeSet<_> = names.collect();
    let unsupported: BTreeSet<_> = lines(&unsupported).collect();
    for name in &unsupported {
        assert!(names.remove(name), "{name} of {UNSUPPORTED} is not in {EXPORTS}");
    }
    let mut source = String::from("exports! {\nsupported {\n");
    for (part, names) in [("", names), ("}\nunsupported {\n", unsupported)] {
        source.push_str(part);
        for name in names {
            writeln!(source, "    {name},").expect("writing to a string");
        }
    }
    source.push_str("}\n}\n");
    source
}

fn read(list: &str) -> String {
    std::fs::read_to_string(list).unwrap_or_else(|error| panic!("{list}: {error}"))
}

/// The lines of a list that are no comments.
fn lines(list: &str) -> impl Iterator<Item = &str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
