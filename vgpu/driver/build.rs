//! Gives the library the name that programs load it by, and writes the table of what it
//! exports (`src/api/exports.rs`) from `symbols/versions.txt` and `symbols/unsupported.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const VERSIONS: &str = "symbols/versions.txt";
const UNSUPPORTED: &str = "symbols/unsupported.txt";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={VERSIONS}");
    println!("cargo::rerun-if-changed={UNSUPPORTED}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Worker threads run code of this library for as long as the process lives, so it must
    // not be unmapped by dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // glibc's function that registers the destructors of thread-local data takes the loader's
    // lock. A constructor of a library holds that lock for as long as it runs, and may wait for a
    // kernel, which may need a thread that has just been started. Without the function the
    // standard library takes a key of `pthread`.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--wrap=__cxa_thread_atexit_impl");

    let out = std::env::var_os("OUT_DIR").expect("a directory for what is generated");
    std::fs::write(Path::new(&out).join("exports.rs"), exports()).expect("writing what is generated");
}

/// The call of the macro `exports`.
fn exports() -> String {
    let (versions, unsupported) = (read(VERSIONS), read(UNSUPPORTED));
    let mut symbols = BTreeMap::new();
    for line in lines(&versions) {
        // Name, version since, symbol, perhaps the symbol for per-thread default streams.
        let mut names = line.split(' ').skip(2);
        symbols.extend(names.next().map(|name| (name, false)));
        symbols.extend(names.next().map(|name| (name, true)));
    }
    let unsupported: BTreeSet<_> = lines(&unsupported).collect();
    for name in &unsupported {
        assert!(symbols.remove(name).is_some(), "{name} of {UNSUPPORTED} is not in {VERSIONS}");
    }

    let mut source = String::from("exports! {\nsupported {\n");
    for (name, per_thread) in symbols {
        writeln!(source, "    {name} {per_thread},").expect("writing to a string");
    }
    source.push_str("}\nunsupported {\n");
    for name in unsupported {
        writeln!(source, "    {name},").expect("writing to a string");
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
