//! Images stay where `perf` finds them, if that is asked for. A program of its own, as it changes the environment.

mod support;

use std::path::PathBuf;

use support::{image, load};

#[test]
fn images_are_left_for_perf() {
    let image = image("basic.c", &[]);
    // SAFETY: no other thread of this program uses the environment.
    unsafe { std::env::set_var("GANGWAY_PERF_MAP", "1") };
    let file = PathBuf::from(format!("/tmp/gangway-{}-device0-image0.so", std::process::id()));
    let loaded = load(0, &image);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.lines().any(|line| line.ends_with(file.to_str().unwrap())), "{maps}");
    drop(loaded);
    let kept = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(kept.starts_with(b"\x7fELF") && kept.len() >= image.len());
}
