//! What shared memory is used for in turn is kept apart by barriers: the virtual GPU finds no two accesses that nothing
//! orders.

use std::path::Path;

use gangway_commands::{Folder, Run, gangway};

fn has_no_race(program: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(program);
    let folder = Folder::new();
    let compiled = folder.path("program");
    let mut compile = gangway();
    compile.args(["cc", "-fopenacc", "-O1", "--offload-arch=sm_80"]).arg(source).arg("-o").arg(&compiled);
    compile.run().succeeded();
    gangway().args(["run", "--device", "vgpu", "--check=race"]).arg(&compiled).run().succeeded();
}

#[test]
fn variables_that_take_turns_do_not_meet() {
    has_no_race("lifetimes.c");
}

#[test]
fn copies_of_sections_are_there_before_they_are_read() {
    has_no_race("caches.c");
}

#[test]
fn extremes_of_gangs_are_read_by_atomic_operations_alone() {
    has_no_race("extremes.c");
}
