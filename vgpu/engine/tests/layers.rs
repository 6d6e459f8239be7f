//! The layers of the engine, and that the modules of a folder do not use each other.

use gangway_layers::Circle;

/// The circles that are left. No other one may come.
const LEFT: &[Circle] = &[
    Circle {
        folder: "compile",
        modules: &["call", "emit", "fuel", "memory", "shape", "steps", "turns", "unit"],
    },
    Circle { folder: "compile", modules: &["converged", "masked"] },
    Circle { folder: "lower", modules: &["bits", "fields"] },
    Circle { folder: "lower", modules: &["divide", "integer"] },
];

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check_but(env!("CARGO_MANIFEST_DIR"), LEFT);
}
