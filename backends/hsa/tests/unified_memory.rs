//! A process whose program requires unified shared memory: it holds for all of the process, so it has one of its own.

mod support;

use gangway_backend::{Backend, DevicePtr};
use support::{backend, open, turn};

#[test]
fn all_of_the_hosts_memory_is_reached_when_it_is_required() {
    let _turn = turn();
    let host = vec![0_u8; 4096];
    let address = DevicePtr(host.as_ptr().expose_provenance());
    assert!(!open(0).reaches(address, host.len()));
    backend().require_unified_memory();
    assert!(open(0).reaches(address, host.len()));
}
