//! The rooms of the library refer to each other in one direction: `api` to `objects` to `abi`.
//! Within `objects` each room refers to those before it, and the map of the folder draws them so.

use std::fs;
use std::path::Path;

#[test]
fn rooms_refer_to_those_below() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rooms = gangway_layers::rooms::check(folder);
    let map = fs::read_to_string(folder.join("../README.md")).unwrap();
    let drawn = rooms.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" > ");
    assert!(map.contains(&drawn), "vgpu/README.md does not draw the rooms as {drawn}");
}

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}
