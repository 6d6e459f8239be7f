//! Gives the library the name that programs load it by, and writes the entry points that
//! only say that they are not supported, from `symbols/unsupported.txt`.

use std::fmt::Write as _;
use std::path::Path;

const UNSUPPORTED: &str = "symbols/unsupported.txt";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={UNSUPPORTED}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Worker threads run code of this library for as long as the process lives, so it must
    // not be unmapped by dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");

    let list = std::fs::read_to_string(UNSUPPORTED).expect("the list of unsupported entry points");
    let mut source = String::from("unsupported! {\n");
    for name in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        writeln!(source, "    {name},").expect("writing to a string");
    }
    source.push_str("}\n");
    let out = std::env::var_os("OUT_DIR").expect("a directory for what is generated");
    std::fs::write(Path::new(&out).join("unsupported.rs"), source).expect("writing what is generated");
}
