//! Loading leaves no file and no open descriptor. A program of its own, as it
//! looks at what the whole process has open.

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;
use support::{image, load};

fn temporary_files() -> BTreeSet<PathBuf> {
    std::fs::read_dir(std::env::temp_dir()).unwrap().map(|e| e.unwrap().path()).collect()
}

/// Descriptors of device images.
fn open_images() -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = links.map(|f| std::fs::read_link(f.unwrap().path()).unwrap_or_default());
    targets.filter(|t| t.to_string_lossy().contains("gangway-device")).count()
}

fn mapped_images() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|l| l.contains("/memfd:gangway-device0-image")).count()
}

#[test]
fn nothing_is_left_behind() {
    let image = image("basic.c", &[]);
    let before = temporary_files();
    let loaded = load(0, &image);
    assert!(mapped_images() >= 4, "each segment can be told in /proc/self/maps");
    assert_eq!(open_images(), 0);
    let new: Vec<_> = temporary_files().difference(&before).cloned().collect();
    // Other programs make files here, too; none may be the image.
    assert!(new.iter().all(|f| std::fs::read(f).ok().as_ref() != Some(&image)), "{new:?}");
    drop(loaded);
    assert_eq!((mapped_images(), open_images()), (0, 0));

    // Descriptor numbers come back; the images must not be taken for each other.
    let counters: BTreeSet<usize> = [load(0, &image), load(0, &image), load(0, &image)]
        .map(|l| l.module.global("counter", 4).unwrap().0)
        .into();
    assert_eq!(counters.len(), 3);
}
