//! The order in which the modules stand, and the crates of the front ends.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the front ends. Each uses those of the lines above it, and no other of its own line.
const CRATES: [&[&str]; 4] = [
    &["frontends/frontend"],
    &["frontends/openmp", "frontends/openacc"],
    &["frontends/omptarget", "frontends/gomp"],
    &["frontends/artifact"],
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn modules_use_those_above_them() {
    gangway_layers::check(env!("CARGO_MANIFEST_DIR"));
}

/// The folders of all crates of the workspace.
fn members() -> Vec<String> {
    let root = read("Cargo.toml");
    let members = root.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    members.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The crates below a folder, by name.
fn crates(folder: &str) -> BTreeMap<String, String> {
    let name =
        |manifest: &str| manifest.split_once("name = \"").unwrap().1.split('"').next().unwrap().to_owned();
    let found = members().into_iter().filter(|member| member.starts_with(folder));
    found.map(|member| (name(&read(&format!("{member}/Cargo.toml"))), member)).collect()
}

/// What a crate uses of the repository's.
fn dependencies(member: &str) -> Vec<String> {
    let manifest = read(&format!("{member}/Cargo.toml"));
    let names = manifest.lines().filter_map(|line| line.split_once(['.', ' ', '=']));
    names.map(|(name, _)| name.to_owned()).filter(|name| name.starts_with("gangway-")).collect()
}

#[test]
fn crates_use_those_below_them() {
    let line = |member: &str| CRATES.iter().position(|line| line.contains(&member));
    let lines: BTreeMap<String, usize> = crates("frontends/")
        .into_iter()
        .map(|(name, member)| (name, line(&member).expect(&member)))
        .collect();
    assert_eq!(lines.len(), CRATES.concat().len(), "{lines:?}");
    for member in members() {
        // Those that are no front end's stand below all of them.
        let own = line(&member).unwrap_or(0);
        for dependency in dependencies(&member) {
            let below = lines.get(&dependency).is_none_or(|&line| line < own);
            assert!(below, "{member}: uses `{dependency}`, which does not stand below it");
        }
    }
}

/// The virtual GPU stands in for a driver of others. It shares the common room with the runtime,
/// and nothing else; tests may use more.
#[test]
fn the_virtual_gpu_shares_only_the_common_room() {
    for (folder, allowed) in [("common/", &["common/"][..]), ("vgpu/", &["vgpu/", "common/"])] {
        let allowed = allowed.iter().chain(&["tests/"]).flat_map(|folder| crates(folder));
        let allowed: BTreeMap<String, String> = allowed.collect();
        for member in crates(folder).into_values() {
            for dependency in dependencies(&member) {
                assert!(allowed.contains_key(&dependency), "{member}: uses `{dependency}`");
            }
        }
    }
}

/// The list of back ends stands below the front ends.
#[test]
fn front_ends_know_no_back_end_by_name() {
    for member in CRATES.concat() {
        let manifest = read(&format!("{member}/Cargo.toml"));
        for back_end in ["cpu", "cuda", "external", "hsa"] {
            let named = manifest.contains(&format!("gangway-{back_end}"));
            assert!(!named, "{member}: uses the back end `{back_end}`, and not `gangway-backends`");
        }
    }
}

#[test]
fn openacc_uses_nothing_of_openmp() {
    let module = repository().join("frontends/gomp/src/openacc");
    let files = gangway_layers::files(&module).into_iter().chain([module.with_extension("rs")]);
    for file in files.filter(|file| file.is_file()) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("gangway_openmp"), "{}: uses OpenMP's room", file.display());
    }
}

/// Whoever performs a construct has one value for it, from its beginning to its end.
#[test]
fn constructs_are_issued_in_one_place() {
    for member in CRATES[1..3].concat() {
        for file in gangway_layers::files(&repository().join(member).join("src")) {
            let text: String = fs::read_to_string(&file).unwrap().split_whitespace().collect();
            let issues = ["RUNTIME.run", "RUNTIME.data"].iter().find(|call| text.contains(**call));
            assert!(issues.is_none(), "{}: issues a construct that is no `Construct`", file.display());
        }
    }
}

#[test]
fn each_crate_checks_its_modules() {
    for member in CRATES[..3].concat() {
        assert!(read(&format!("{member}/tests/layers.rs")).contains("gangway_layers::check("), "{member}");
    }
}
