//! Kernels that fail: what is wrong, and where.

#[path = "support/interpreted.rs"]
mod interpreted;
mod support;

use std::time::Duration;

use gangway_code_object::CodeObject;
use gangway_commands::Folder;
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::{Fault, FaultKind, Flat, Lane};
use support::{Device, Size};

const SOURCE: &str = r#"
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
typedef float sixteen __attribute__((ext_vector_type(16)));
#define ITEM (__builtin_amdgcn_workgroup_id_x() * 70 + __builtin_amdgcn_workitem_id_x())
KERNEL void outside(GLOBAL int *x) { x[ITEM] = 1; }
KERNEL void trap(GLOBAL int *x) { if (ITEM == 75) __builtin_trap(); x[ITEM & 63] = 1; }
KERNEL void debug(GLOBAL int *x) { __builtin_debugtrap(); x[0] = 1; }
KERNEL void local(GLOBAL int *x) { LOCAL int *p = (LOCAL int *)60000; p[ITEM] = 1; }
__attribute__((noinline)) static int deep(int n, int *x) { int a[40]; for (int i = 0; i < 40; ++i) a[i] = x[i & 3]; return n ? deep(n - 1, a) + a[n & 31] : x[0]; }
KERNEL void stack(GLOBAL int *x) { int a[4] = {1, 2, 3, 4}; x[ITEM & 3] = deep(1000, a); }
KERNEL void matrix(GLOBAL sixteen *x) { *x = __builtin_amdgcn_mfma_f32_32x32x2f32(1.0f, 2.0f, *x, 0, 0, 0); }
KERNEL void wild(GLOBAL int *x) { void (*f)(void) = (void (*)(void))0x123450; f(); }
KERNEL void endless(GLOBAL int *x) { while (1) __builtin_amdgcn_s_sleep(1); }
KERNEL void odd(GLOBAL char *x) { __scoped_atomic_fetch_add((GLOBAL int *)(x + 2), 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
"#;

type Ended = Result<(), Box<Fault>>;

/// Runs a kernel of 2 work-groups of 70 work-items; its memory, which is handed back, is for 100 of them.
fn run(kernel: &str) -> Option<(Ended, Vec<u8>)> {
    if !support::is_possible() {
        return None;
    }
    let folder = Folder::new();
    folder.write("faults.c", SOURCE);
    let image = support::compile(Gpu::Gfx90a, "-O1", &folder.join("faults.c"), &[]).unwrap();
    let object = CodeObject::read(&image).unwrap();
    let device = Device::new(Gpu::Gfx90a, Flat::new(), &object);
    let limit = if kernel == "endless" { Duration::from_millis(100) } else { interpreted::LIMIT };
    let memory = device.buffer(&[0; 400]);
    let size = Size { grid: [140, 1, 1], group: [70, 1, 1], shared: 0, private: 4096 };
    let ended = interpreted::run(&device, &object, kernel, size, &[memory], limit);
    Some((ended, device.read(memory, 400)))
}

fn fault(kernel: &str) -> Option<Fault> {
    run(kernel).map(|(ended, _)| *ended.expect_err("it fails"))
}

#[test]
fn writes_outside_memory() {
    let Some(fault) = fault("outside") else { return };
    let FaultKind::OutOfBounds { size: 4, write: true, .. } = fault.kind else { panic!("{fault}") };
    assert_eq!((fault.group, fault.wave), ([1, 0, 0], 0));
    assert_eq!(fault.lane, Some(Lane { number: 30, item: [30, 0, 0] }), "the 101st");
    assert!(fault.instruction.starts_with("global_store_dword"), "{fault}");
    assert!(fault.offset > 0 && fault.to_string().contains("at kernel+0x"), "{fault}");
}

#[test]
fn traps() {
    let Some(fault) = fault("trap") else { return };
    assert_eq!((fault.kind, fault.group, fault.wave), (FaultKind::Trap(2), [1, 0, 0], 0));
    let (ended, memory) = run("debug").expect("the compiler is there");
    assert!(ended.is_ok() && memory[0] == 1, "without a debugger it goes on");
}

#[test]
fn local_memory_ends() {
    let Some(fault) = fault("local") else { return };
    let FaultKind::OutsideGroup { address: 60000, size: 4, limit: 0, write: true } = fault.kind else {
        panic!("{fault}")
    };
}

#[test]
fn stacks_end() {
    let Some(fault) = fault("stack") else { return };
    let FaultKind::OutsidePrivate { write: true, .. } = fault.kind else { panic!("{fault}") };
}

#[test]
fn what_is_missing_has_a_name() {
    let Some(fault) = fault("matrix") else { return };
    assert_eq!(fault.kind, FaultKind::Unsupported("v_mfma_f32_32x32x2f32".to_owned()));
    assert!(fault.to_string().starts_with("v_mfma_f32_32x32x2f32 is not supported by the interpreter, in '"));
}

#[test]
fn jumps_to_nowhere() {
    let Some(fault) = fault("wild") else { return };
    assert_eq!(fault.kind, FaultKind::BadTarget(0x12_3450));
}

#[test]
fn atomics_are_aligned() {
    let Some(fault) = fault("odd") else { return };
    let FaultKind::Misaligned { size: 4, .. } = fault.kind else { panic!("{fault}") };
}

#[test]
fn launches_are_stopped() {
    let Some(fault) = fault("endless") else { return };
    assert_eq!(fault.kind, FaultKind::Stopped);
}
