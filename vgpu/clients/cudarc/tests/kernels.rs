//! The kernels against the same computation on the host.

use std::process::Command;

use cudarc::driver::{DeviceRepr, LaunchConfig, PushKernelArg};
use gangway_cudarc_client::{Device, compile};

fn shape(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

#[test]
fn the_device_describes_itself() {
    let device = Device::new();
    let (major, minor) = device.context.compute_capability().expect("a capability");
    assert!(major >= 3 && minor < 10);
    assert!(!device.context.name().expect("a name").is_empty());
    let (free, total) = device.context.mem_get_info().expect("sizes");
    assert!(0 < free && free <= total && total == device.context.total_mem().expect("a size"));
    let kernel = device.kernel("matmul");
    assert_eq!(kernel.shared_size_bytes().expect("an attribute"), 2 * 16 * 16 * 4);
    assert!(kernel.max_threads_per_block().expect("an attribute") >= 256);
    assert!(kernel.occupancy_max_active_blocks_per_multiprocessor(256, 0, None).expect("an answer") > 0);
}

#[test]
fn vectors_are_added() {
    let device = Device::new();
    let stream = device.context.new_stream().expect("a stream");
    let n = 100_003;
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..n).map(|i| (n - i) as f32).collect();
    let (on_device, other) = (stream.clone_htod(&a).expect("a"), stream.clone_htod(&b).expect("b"));
    let mut sum = stream.alloc_zeros::<f32>(n).expect("c");
    let kernel = device.kernel("vector_add");
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&on_device).arg(&other).arg(&mut sum).arg(&n);
    // SAFETY: as the kernel's parameters.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }.expect("a launch");
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(stream.clone_dtoh(&sum).expect("the result"), expected);
}

/// The same kernel as PTX for other processors that the device stands in for.
#[test]
fn older_processors_are_stood_in_for() {
    for architecture in ["compute_52", "compute_70", "compute_90"] {
        let device = Device::new();
        let stream = device.context.default_stream();
        let module = device.context.load_module(compile(architecture)).expect(architecture);
        let kernel = module.load_function("vector_add").expect("the kernel");
        let a = stream.clone_htod(&[1.0_f32, 2.0, 3.0]).expect("a");
        let mut sum = stream.alloc_zeros::<f32>(3).expect("c");
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&a).arg(&a).arg(&mut sum).arg(&3_usize);
        // SAFETY: as the kernel's parameters.
        unsafe { launch.launch(shape(1, 32)) }.expect("a launch");
        assert_eq!(stream.clone_dtoh(&sum).expect("the result"), [2.0, 4.0, 6.0]);
    }
}

#[test]
fn matrices_are_multiplied_in_tiles() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let n = 96_usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
    let (left, right) = (stream.clone_htod(&a).expect("a"), stream.clone_htod(&b).expect("b"));
    let mut product = stream.alloc_zeros::<f32>(n * n).expect("c");
    let kernel = device.kernel("matmul");
    let tiles = n as u32 / 16;
    let config = LaunchConfig { grid_dim: (tiles, tiles, 1), block_dim: (16, 16, 1), shared_mem_bytes: 0 };
    let side = n as i32;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&left).arg(&right).arg(&mut product).arg(&side);
    // SAFETY: as the kernel's parameters.
    unsafe { launch.launch(config) }.expect("a launch");
    let product = stream.clone_dtoh(&product).expect("the result");
    for (index, &value) in product.iter().enumerate() {
        let (row, column) = (index / n, index % n);
        // Small whole numbers: exact in any order.
        let expected: f32 = (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
        assert_eq!(value, expected, "row {row}, column {column}");
    }
}

#[test]
fn values_are_summed_by_shuffles_and_atomics() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let values: Vec<i32> = (0..70_001).map(|i| i * 31 % 1000 - 400).collect();
    let on_device = stream.clone_htod(&values).expect("the values");
    let mut sum = stream.alloc_zeros::<u64>(1).expect("the sum");
    let kernel = device.kernel("reduce");
    let count = values.len() as i32;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&on_device).arg(&mut sum).arg(&count);
    // SAFETY: as the kernel's parameters; eight bytes of shared memory for each warp.
    unsafe { launch.launch(LaunchConfig { shared_mem_bytes: 8 * 8, ..shape(12, 256) }) }.expect("a launch");
    let expected: i64 = values.iter().map(|&value| i64::from(value)).sum();
    assert_eq!(stream.clone_dtoh(&sum).expect("the result")[0] as i64, expected);
}

#[test]
fn a_whole_grid_waits_for_itself() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let (n, steps) = (500_i32, 31_i32);
    let mut now = stream.alloc_zeros::<f64>(n as usize).expect("memory");
    let mut next = stream.alloc_zeros::<f64>(n as usize).expect("memory");
    let kernel = device.kernel("heat");
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut now).arg(&mut next).arg(&n).arg(&steps);
    // SAFETY: as the kernel's parameters.
    unsafe { launch.launch_cooperative(shape(8, 64)) }.expect("a cooperative launch");
    let mut expected = vec![0.0_f64; n as usize];
    for _ in 0..steps {
        let at = |i: i32| match i {
            -1 => 0.0,
            i if i == n => 1.0,
            i => expected[i as usize],
        };
        expected = (0..n).map(|i| 0.5 * (at(i - 1) + at(i + 1))).collect();
    }
    // An odd number of steps: the last one wrote to the second array.
    assert_eq!(stream.clone_dtoh(&next).expect("the result"), expected);
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Pair {
    index: i32,
    value: f64,
}

// SAFETY: plain data, laid out as the kernel's structure.
unsafe impl DeviceRepr for Pair {}

#[test]
fn modules_have_variables() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let mut constants = device.module.get_global("coefficients", &stream).expect("constant memory");
    // SAFETY: the variable is an array of four floats.
    let mut constants = unsafe { constants.transmute_mut::<f32>(4) }.expect("16 bytes");
    stream.memcpy_htod(&[1.0_f32, 2.0, 3.0, 4.0], &mut constants).expect("a copy");
    let mut result = stream.alloc_zeros::<f64>(4).expect("memory");
    let kernel = device.kernel("polynomial");
    for index in 0..4 {
        let pair = Pair { index, value: f64::from(index) + 0.5 };
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&pair).arg(&mut result);
        // SAFETY: as the kernel's parameters.
        unsafe { launch.launch(shape(1, 1)) }.expect("a launch");
    }
    let expected: Vec<f64> =
        (0..4).map(|index| f64::from(index) + 0.5).map(|x| 1.0 + x * (2.0 + x * (3.0 + x * 4.0))).collect();
    assert_eq!(stream.clone_dtoh(&result).expect("the result"), expected);
    let launches = device.module.get_global("launches", &stream).expect("a variable");
    assert_eq!(stream.clone_dtoh(&launches).expect("its bytes"), 4_i32.to_le_bytes());
}

#[test]
fn objects_are_virtual_and_functions_recursive() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let mut areas = stream.alloc_zeros::<f64>(64).expect("memory");
    let kernel = device.kernel("shapes");
    // SAFETY: as the kernel's parameters.
    unsafe { stream.launch_builder(&kernel).arg(&mut areas).launch(shape(1, 64)) }.expect("a launch");
    let expected: Vec<f64> =
        (0..64).map(|i| f64::from(i) * f64::from(i) * if i % 2 == 1 { 1.0 } else { 3.0 }).collect();
    assert_eq!(stream.clone_dtoh(&areas).expect("the result"), expected);

    let mut numbers = stream.alloc_zeros::<i32>(20).expect("memory");
    let kernel = device.kernel("recursion");
    // SAFETY: as the kernel's parameters.
    unsafe { stream.launch_builder(&kernel).arg(&mut numbers).launch(shape(1, 20)) }.expect("a launch");
    let expected: Vec<i32> = (0..20).map(|n| 2 * n + 3).collect();
    assert_eq!(stream.clone_dtoh(&numbers).expect("the result"), expected);
}

#[test]
fn a_lock_within_a_warp_ends() {
    let device = Device::new();
    let stream = device.context.default_stream();
    let (lock, count) =
        (stream.alloc_zeros::<i32>(1).expect("memory"), stream.alloc_zeros::<i32>(1).expect("memory"));
    let kernel = device.kernel("locked");
    // SAFETY: as the kernel's parameters.
    unsafe { stream.launch_builder(&kernel).arg(&lock).arg(&count).launch(shape(4, 64)) }.expect("a launch");
    assert_eq!(stream.clone_dtoh(&count).expect("the result"), [256]);
}

#[test]
fn streams_run_beside_each_other_and_wait_for_events() {
    let device = Device::new();
    let (first, second) =
        (device.context.new_stream().expect("one"), device.context.new_stream().expect("two"));
    let n = 1 << 14;
    let kernel = device.kernel("vector_add");
    let ones = first.clone_htod(&vec![1.0_f32; n]).expect("ones");
    let mut twos = first.alloc_zeros::<f32>(n).expect("twos");
    let begin =
        first.record_event(Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT)).expect("an event");
    let mut launch = first.launch_builder(&kernel);
    launch.arg(&ones).arg(&ones).arg(&mut twos).arg(&n);
    // SAFETY: as the kernel's parameters.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }.expect("a launch");
    let end =
        first.record_event(Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT)).expect("an event");
    second.wait(&end).expect("a wait");
    let mut fours = second.alloc_zeros::<f32>(n).expect("fours");
    let mut launch = second.launch_builder(&kernel);
    launch.arg(&twos).arg(&twos).arg(&mut fours).arg(&n);
    // SAFETY: as the kernel's parameters.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }.expect("a launch");
    assert_eq!(second.clone_dtoh(&fours).expect("the result"), vec![4.0_f32; n]);
    assert!(begin.elapsed_ms(&end).expect("a time") >= 0.0);
}

fn misbehave(how: &str) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_misbehave")).arg(how).output().expect("a process");
    let [text, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{text}{errors}");
    (text, errors)
}

#[test]
fn the_device_prints() {
    let expected: String = (0..5)
        .map(|lane| {
            let letter = (b'a' + lane as u8) as char;
            format!("lane {lane} of the warp: {:.2} {letter} {lane:5}%\n", f64::from(lane) * 0.25)
        })
        .collect();
    assert_eq!(misbehave("talk").0, expected);
}

#[test]
fn a_stray_access_is_reported_and_remembered() {
    let (text, errors) = misbehave("stray");
    assert_eq!(text, "CUDA_ERROR_ILLEGAL_ADDRESS\nCUDA_ERROR_ILLEGAL_ADDRESS\n");
    assert!(errors.contains("stray") && errors.contains("kernels.cu"), "{errors}");
}
