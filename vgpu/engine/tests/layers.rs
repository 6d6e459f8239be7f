//! The layers of the engine, and that the modules of a folder do not use each other.

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}
