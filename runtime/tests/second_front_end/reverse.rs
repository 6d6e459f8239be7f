//! From device addresses to host addresses.

use crate::gomp::*;
use crate::program::{Program, address, whole};
use gangway_backend::DevicePtr;
use gangway_runtime::memory::host_address;

#[test]
fn host_addresses_of_device_addresses() {
    Program::each(Language::OpenAcc, |program| {
        let device = program.world.device;
        let memory: Vec<[u8; 24]> = vec![[0; 24]; 40];
        let structure = [1u8; 64];
        program.begin(&[(address(&structure), 2, STRUCT), (address(&structure) + 20, 4, TO)]).unwrap_err();
        let members = [(address(&structure) + 20, 4, TO), (address(&structure) + 48, 8, TO)];
        program.begin(&[(address(&structure), 2, STRUCT), members[0], members[1]]).unwrap();
        for (mapped, array) in memory.iter().enumerate() {
            program.begin(&[whole(array, TO)]).unwrap();
            for (number, array) in memory.iter().enumerate() {
                let Some(at) = program.device_address(address(array)) else {
                    assert!(number > mapped);
                    continue;
                };
                assert_eq!(host_address(device, at), Some(address(array)));
                assert_eq!(host_address(device, at.offset(23)), Some(address(array) + 23));
                assert_ne!(host_address(device, at.offset(24)), Some(address(array) + 24));
            }
        }
        let member = program.device_address(members[1].0).unwrap();
        assert_eq!(host_address(device, member), Some(members[1].0));
        assert_eq!(host_address(device, DevicePtr(address(&memory[0]))), None, "no device address");
        assert_eq!(host_address(device, DevicePtr::NULL), None);
        for array in &memory {
            let at = program.device_address(address(array)).unwrap();
            program.finish(&[whole(array, DELETE)]).unwrap();
            assert_eq!(host_address(device, at), None);
        }
        assert_eq!(host_address(device, member), Some(members[1].0));
        program.finish(&[(members[0].0, 4, RELEASE), (members[1].0, 8, RELEASE)]).unwrap();
    });
}
