//! The rooms of a library that C programs call: `abi`, `objects` and `api`, which refer to each other in one direction,
//! and the ladder of rooms in `objects`.
//!
//! The sources are read. The order of the rooms in `objects` is the numbered list in the documentation of that
//! module, so that the list cannot be wrong.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::files;
use crate::paths::{module, uses};

/// From the ground up.
const LAYERS: [&str; 3] = ["abi", "objects", "api"];
/// Pointers that a C caller passes: objects get values.
const CALLERS: [&str; 4] = ["In", "List", "Text", "Untyped"];

/// Checks the crate in a folder, and the map of the crates in the README of the folder around it.
///
/// # Panics
///
/// If a room refers to one above it, the list of rooms is wrong, or the map does not draw them in their order.
pub fn check(crate_folder: impl AsRef<Path>) {
    let rooms = ordered(crate_folder.as_ref());
    let map = fs::read_to_string(crate_folder.as_ref().join("../README.md")).unwrap();
    let drawn = rooms.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" > ");
    assert!(map.contains(&drawn), "the README around the crate does not draw its rooms as {drawn}");
}

/// The rooms of `objects`, from the ground up, if each refers to those below it.
fn ordered(crate_folder: &Path) -> Vec<String> {
    let sources = crate_folder.join("src");
    let rooms = order(&sources.join("objects/mod.rs"));
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for file in files(&sources) {
        let module = module(file.strip_prefix(&sources).unwrap());
        seen.extend(room(&module).map(str::to_owned));
        let text = fs::read_to_string(&file).unwrap();
        let found = faults_of(&module, &text, &rooms);
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", file.display())));
    }
    let listed: BTreeSet<_> = rooms.iter().cloned().collect();
    assert_eq!(seen, listed, "the rooms there are, and those listed in src/objects/mod.rs");
    assert!(
        faults.is_empty(),
        "\n{}\nThe order is {}, and in `objects` {}. Move what both need down, or hand it in as a \
         parameter.",
        faults.join("\n"),
        LAYERS.join(" < "),
        rooms.join(" < "),
    );
    rooms
}

/// The numbered list in the documentation of a module: lines such as ``//! 2. [`table`]: ...``.
fn order(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let numbered = text.lines().filter_map(|line| {
        let (number, rest) = line.strip_prefix("//! ")?.split_once(". [`")?;
        number.parse::<u32>().ok()?;
        Some(rest.split_once('`')?.0.to_owned())
    });
    let rooms: Vec<_> = numbered.collect();
    assert!(rooms.len() > 5, "{} has no list of rooms", file.display());
    rooms
}

/// The room of `objects` that a path is in.
fn room(path: &[String]) -> Option<&str> {
    let [layer, room, ..] = path else { return None };
    (layer == "objects").then_some(room)
}

/// What is wrong with the text of a module.
fn faults_of(module: &[String], text: &str, rooms: &[String]) -> Vec<String> {
    let layer =
        |path: &[String]| LAYERS.iter().position(|&layer| path.first().is_some_and(|first| first == layer));
    let Some(own) = layer(module) else { return Vec::new() };
    let mut faults = Vec::new();
    for path in uses(module, text).into_iter().map(|used| used.path) {
        let name = path.join("::");
        let first = path.first().map_or("", String::as_str);
        if layer(&path).is_some_and(|other| other > own) {
            faults.push(format!("`{}` refers to `crate::{name}`, which is above it", LAYERS[own]));
        } else if own == 0 && first.starts_with("gangway_") {
            faults.push(format!("`abi` refers to `{name}`: it has no meaning, only names"));
        } else if own == 1 && first == "abi" && path.last().is_some_and(|last| CALLERS.contains(&&**last)) {
            faults.push(format!("`objects` takes `{name}`, a pointer of the caller's"));
        } else if let (Some(here), Some(there)) = (room(module), room(&path)) {
            let place = |name: &str| rooms.iter().position(|room| room == name);
            if place(there).is_some_and(|there| place(here).is_some_and(|here| there > here)) {
                faults.push(format!("`objects::{here}` refers to `crate::{name}`, which is above it"));
            }
        }
    }
    if own != 2 && text.contains("no_mangle") {
        faults.push(format!("`{}` exports a function", LAYERS[own]));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::item_path;

    #[track_caller]
    fn check(module: &str, text: &str, faults: &[&str]) {
        let rooms = ["process", "table", "stream", "graph"].map(str::to_owned);
        assert_eq!(faults_of(&item_path(module), text, &rooms), faults);
    }

    #[test]
    fn what_points_up_is_found() {
        check(
            "objects::stream",
            "use crate::api::entry::Call;",
            &["`objects` refers to `crate::api::entry::Call`, which is above it"],
        );
        check(
            "abi::handle",
            "fn f() { let _ = crate::objects::table::Table::new(); }",
            &["`abi` refers to `crate::objects::table::Table::new`, which is above it"],
        );
        check(
            "objects::stream::event",
            "use crate::{abi::Status, objects::{table::Table, graph::{Graph, Node}}};",
            &[
                "`objects::stream` refers to `crate::objects::graph::Graph`, which is above it",
                "`objects::stream` refers to `crate::objects::graph::Node`, which is above it",
            ],
        );
        check(
            "objects::stream::event",
            "mod tests { use super::super::super::graph::Graph; }",
            &["`objects::stream` refers to `crate::objects::graph::Graph`, which is above it"],
        );
        check(
            "objects::process",
            "macro_rules! m { () => { $crate::objects::table::Table } }",
            &["`objects::process` refers to `crate::objects::table::Table`, which is above it"],
        );
        check(
            "abi::status",
            "impl From<gangway_engine::Reason> for Status {}",
            &["`abi` refers to `gangway_engine::Reason`: it has no meaning, only names"],
        );
        check(
            "objects::graph",
            "use crate::abi::{In, Status};",
            &["`objects` takes `abi::In`, a pointer of the caller's"],
        );
        check("objects::graph", "#[unsafe(no_mangle)] fn f() {}", &["`objects` exports a function"]);
    }

    #[test]
    fn what_points_down_is_fine() {
        check("api::stream", "use crate::objects::stream::Stream; use crate::abi::In;", &[]);
        check("objects::graph::node", "use super::Graph; use crate::objects::stream::Stream;", &[]);
        check("objects::stream", "/// See [`crate::objects::graph`].\nuse self::event::Event;", &[]);
        check("objects::stream", "fn f(&self) { self.graph(); let _ = \"crate::api\"; }", &[]);
    }
}
