//! The layers of the crate.

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}
