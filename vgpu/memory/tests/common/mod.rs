//! What the tests of the space share.

use gangway_device_memory::Space;

pub fn space() -> &'static Space {
    Space::get().expect("the addresses of device memory")
}

/// Fills an allocation and reads it back.
pub fn use_all(address: u64, size: u64, byte: u8) {
    let mut bytes = vec![0; size as usize];
    // SAFETY: the test owns the allocation.
    unsafe {
        space().fill(address, byte, size).expect("all of it is allocated");
        space().read(address, &mut bytes).expect("all of it is allocated");
    }
    assert!(bytes.iter().all(|&found| found == byte));
}
