//! The rooms of the driver refer to each other in one direction: `api` to `objects` to `abi`.
//! Within `objects` each room refers to those before it, and the map of the folder draws them so.

#[test]
fn rooms_refer_to_those_below() {
    gangway_layers::rooms::check(env!("CARGO_MANIFEST_DIR"));
}

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}
