//! A processor older than sm_70, whose memory is not ordered for the whole system.

mod support;

use gangway_backend::{Error, HostCallLink};
use support::ptx::{self, Environment, SPMD};
use support::{open, turn};

#[test]
fn images_that_call_the_host_are_refused_with_the_reason() {
    let _turn = turn();
    // SAFETY: the only test of this process, and the driver is not loaded yet.
    unsafe { std::env::set_var("GANGWAY_VGPU_CAPABILITY", "6.0") };
    let device = open(0);
    assert_eq!(device.architecture(), "sm_60");
    let plain =
        ptx::header("sm_60") + &ptx::environment("empty", Environment::of(SPMD)) + &ptx::empty("empty");
    let module = device.load(plain.as_bytes()).unwrap();
    assert_eq!(module.host_calls(), Ok(HostCallLink::Unused));

    let calling = plain + ".visible .global .align 8 .u64 __gangway_host_channel;\n";
    let module = device.load(calling.as_bytes()).unwrap();
    let reason = "its code calls functions of the host, which needs sm_70 or newer, and the device is sm_60";
    assert_eq!(module.host_calls(), Err(Error::InvalidImage { reason: reason.to_owned() }));
}
