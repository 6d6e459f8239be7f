//! The runtime looks for Fortran's library in the program. The target `system_blocks` has one of its
//! own, which the runtime finds only where the program exports it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bin=system_blocks=-Wl,--export-dynamic-symbol=_FortranA*");
}
