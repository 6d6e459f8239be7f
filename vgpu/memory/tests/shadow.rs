//! Shadows of memory that is taken, written, copied and given back. They stay once they are there, so this has a process
//! of its own.

use gangway_device_memory::shadow::*;
use gangway_device_memory::{AllocationKind, Request, Space};

#[test]
fn shadows_follow_memory() {
    let space = Space::get().expect("addresses are there");
    let take = |size| space.allocate(&Request::new(0, size, AllocationKind::Device)).expect("memory");
    let before = take(64);
    assert_eq!((first_undefined(before, 64), is_enabled()), (None, false));
    enable().expect("shadows");
    let (one, other) = (take(1000), take(1 << 20));
    assert_eq!(first_undefined(one, 1000), Some((0, 1000)));
    define(one, 10);
    define(one + 20, 980);
    assert_eq!(first_undefined(one, 1000), Some((10, 10)));
    define(other, 1 << 20);
    assert_eq!(first_undefined(other, 1 << 20), None);
    // SAFETY: the words are there.
    unsafe { std::ptr::with_exposed_provenance_mut::<u64>((one as usize + 8) - ORIGIN as usize).write(77) };
    copy(other + 100, one, 1000);
    assert_eq!(first_undefined(other, 1 << 20), Some((110, 10)));
    assert_eq!((origin(other + 110), origin(other)), (77, 0));
    copy(one, 4096, 1000);
    assert_eq!(first_undefined(one, 1000), None, "the host's memory is defined");
    let pinned = space.allocate(&Request::new(0, 64, AllocationKind::Pinned)).expect("memory");
    assert_eq!(first_undefined(pinned, 64), None);
    undefine(pinned, 8);
    define_hosts();
    assert_eq!(first_undefined(pinned, 64), None);
    for address in [before, one, other, pinned] {
        space.free(address).expect("allocated");
    }
    // Of large memory the shadow comes with its use.
    let size = (80 << 20) + 5;
    let large = take(size);
    assert_eq!(first_undefined(large, size), Some((0, size)));
    define(large + 100_000, 40 << 20);
    assert_eq!(first_undefined(large, size), Some((0, 100_000)));
    assert_eq!(
        first_undefined(large + 100_000, size - 100_000),
        Some((40 << 20, size - 100_000 - (40 << 20)))
    );
    undefine(large + 100_000, 40 << 20);
    define(large, size);
    assert_eq!(first_undefined(large, size), None);
    space.free(large).expect("allocated");
    let again = space.allocate(&Request::new(0, 1000, AllocationKind::Module)).expect("memory");
    assert_eq!(first_undefined(again, 1000), None, "variables have their initial values");
    space.free(again).expect("allocated");
}
