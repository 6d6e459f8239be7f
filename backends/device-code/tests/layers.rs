//! The order in which the modules stand, and that none of them knows a driver.

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(root());
}

#[test]
fn no_back_end_and_no_driver_is_known_here() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let dependencies = manifest.split_once("[dependencies]\n").unwrap().1.split('[').next().unwrap();
    let names: Vec<_> =
        dependencies.lines().filter_map(|line| line.strip_suffix(".workspace = true")).collect();
    assert_eq!(names, ["gangway-backend", "gangway-image", "gangway-settings"]);
}
