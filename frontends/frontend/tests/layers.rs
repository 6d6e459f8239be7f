//! The order in which the modules stand.

#[path = "support/layers.rs"]
mod layers;

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn modules_use_those_above_them() {
    layers::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}

#[test]
fn uses_are_found_however_they_are_written() {
    let text = "use crate::one;\nuse crate::{two::{a, b}, three, four::c};\ncrate::five::f($crate::six)";
    let expected = ["five", "four", "one", "three", "two"].map(str::to_owned);
    assert_eq!(layers::used(text), BTreeSet::from(expected));
}
