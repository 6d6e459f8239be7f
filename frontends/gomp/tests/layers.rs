//! The order in which the modules stand.

#[path = "../../frontend/tests/support/layers.rs"]
mod layers;

use std::path::Path;

#[test]
fn modules_use_those_above_them() {
    layers::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
