//! Constants: read-only where kernels read them, writable for the host, with and without
//! inaccessible pages around them.

use gangway_device_memory::{AllocationKind, Request, Space};

const SIZE: u64 = 5000;

/// How the page of an address is mapped, as `r--s`.
fn access(address: u64) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let line = maps.lines().find(|line| {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let (start, end) = range.expect("a range");
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        (number(start)..number(end)).contains(&address)
    });
    line.and_then(|line| line.split(' ').nth(1)).expect("a mapping").to_owned()
}

fn works(space: &Space, freed: &str) {
    let constant = space.allocate(&Request::new(0, SIZE, AllocationKind::Constant)).expect("memory");
    assert_eq!((access(constant), access(constant + SIZE - 1)), ("r--s".to_owned(), "r--s".to_owned()));
    let mut bytes = vec![1; SIZE as usize];
    // SAFETY: nothing else knows of it.
    unsafe {
        space.read(constant, &mut bytes).expect("allocated");
        assert!(bytes.iter().all(|&byte| byte == 0));
        space.write(constant, &vec![5; SIZE as usize]).expect("allocated");
        space.fill(constant, 6, 2).expect("allocated");
        // The two views are of the same pages, so the ranges overlap.
        space.copy(constant + 1, constant, SIZE - 1).expect("allocated");
        space.read(constant, &mut bytes).expect("allocated");
    }
    assert_eq!((&bytes[..3], bytes[3]), (&[6_u8; 3][..], 5));
    let host = space.host_address(constant);
    assert_ne!(host, constant);
    assert_eq!(access(host), "rw-s");
    // A holder can write it to the end.
    let held = space.hold(constant, SIZE).expect("allocated");
    space.free(constant).expect("allocated");
    assert_eq!((space.host_address(constant), access(host)), (host, "rw-s".to_owned()));
    drop(held);
    assert_eq!(access(host), "---p");
    assert_eq!(access(constant), freed);
}

#[test]
fn constants_are_read_only_where_kernels_read_them() {
    let space = Space::get().expect("addresses");
    works(space, "---p");
    let other = space.allocate(&Request::new(0, SIZE, AllocationKind::Device)).expect("memory");
    assert_eq!(space.host_address(other), other);
    assert_eq!((space.host_address(0), space.host_address(u64::MAX)), (0, u64::MAX));

    // So many that the kernel has no more mappings for pages around small ones.
    let mut last = other;
    while access((last + SIZE).next_multiple_of(4096)) != "rw-p" {
        for _ in 0..8192 {
            last = space.allocate(&Request::new(0, SIZE, AllocationKind::Device)).expect("memory");
        }
    }
    works(space, "rw-p");
    // The next allocation of its pages can be written.
    for _ in 0..1000 {
        let next = space.allocate(&Request::new(0, SIZE, AllocationKind::Device)).expect("memory");
        // SAFETY: nothing else knows of it.
        unsafe { space.write(next, &[1; SIZE as usize]) }.expect("allocated");
        space.free(next).expect("allocated");
    }
}
