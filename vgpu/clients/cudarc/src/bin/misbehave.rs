//! What a test has to see from outside: `misbehave talk` prints on the device,
//! `misbehave stray` has a kernel write where nothing is.

use cudarc::driver::{LaunchConfig, PushKernelArg};
use gangway_cudarc_client::Device;

fn main() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let one_warp = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    match std::env::args().nth(1).as_deref() {
        Some("talk") => {
            let (kernel, lanes) = (device.kernel("talk"), 5_i32);
            // SAFETY: the argument is the kernel's only parameter.
            unsafe { stream.launch_builder(&kernel).arg(&lanes).launch(one_warp) }.expect("a launch");
            stream.synchronize().expect("the kernel ends");
        }
        Some("stray") => {
            let kernel = device.kernel("stray");
            let memory = stream.alloc_zeros::<i32>(4).expect("memory");
            // SAFETY: none, on purpose; the driver has to notice.
            unsafe { stream.launch_builder(&kernel).arg(&memory).launch(one_warp) }.expect("a launch");
            let first = stream.synchronize().expect_err("the kernel fails");
            println!("{:?}", first.0);
            let later = stream.alloc_zeros::<i32>(4).expect_err("the context is lost");
            println!("{:?}", later.0);
            // The memory cannot be freed either, which is not what is tested.
            std::process::exit(0);
        }
        other => panic!("misbehave does not know {other:?}"),
    }
}
