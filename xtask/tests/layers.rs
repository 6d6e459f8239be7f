//! The order in which the modules stand, also of the crates that are compiled for devices: those are
//! workspaces of their own.

use std::path::Path;

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}

#[test]
fn so_do_modules_of_device_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for member in ["gpu", "gpu/fortran", "gpu/library", "gpu/maths", "gpu/system", "host-openmp"] {
        gangway_layers::check(root.join("device").join(member));
    }
}
