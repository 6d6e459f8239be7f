//! Launches of kernels that are lifted and compiled.

use gangway_code_object::{CodeObject, Descriptor, Loaded, ValueKind};
use gangway_engine::{Engine, Execution, KernelLaunch, Options};
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::{Dispatch, Memory};
use gangway_gcn_lifter::{Apart, Kernel, Lifted, Refusal, Shape, held, lift, parameters};

use crate::memory::DeviceMemory;
use crate::support::Device;

/// Why a kernel has not run to its end.
pub enum Error {
    Refused(Refusal),
    Failed(String),
}

/// Lifts a kernel for a dispatch.
pub fn lifted(
    gpu: Gpu,
    device: &Device<DeviceMemory>,
    object: &CodeObject<'_>,
    name: &str,
    dispatch: &Dispatch,
    apart: Apart,
) -> Result<(Lifted, Shape, Descriptor), Error> {
    let kernel = object.kernel(name).ok_or_else(|| Error::Failed("no kernel".to_owned()))?;
    let descriptor = kernel.descriptor;
    let packet = &dispatch.packet;
    let mut shape = Shape::new(packet.workgroup, packet.grid);
    let mut arguments = object.said(kernel).arguments.iter();
    shape.private = packet.private_segment_size;
    shape.sizes =
        arguments.find(|argument| argument.kind == ValueKind::HiddenGroupSizeX).map(|size| size.offset);
    let read = |address: u64, bytes: &mut [u8]| device.memory.read(address, bytes).is_ok();
    let constant = |_: u64, _: u64| false;
    let entry = packet.kernel_object.wrapping_add_signed(descriptor.entry_offset);
    let is_code = |address: u64| {
        let inside = address.wrapping_sub(device.base);
        object.segments.iter().any(|segment| segment.access.executes && segment.contains(inside, 4))
    };
    let loaded = Loaded::new(object, device.base, |_| None).expect("every symbol is there");
    let held = held(loaded.patches.iter().map(|patch| patch.value), is_code);
    let kernel = Kernel {
        gpu,
        descriptor,
        entry,
        shape,
        read: &read,
        constant: &constant,
        is_code: &is_code,
        held: &held,
        apart,
    };
    Ok((lift(&kernel).map_err(Error::Refused)?, shape, descriptor))
}

/// Lifts, compiles and runs a kernel.
pub fn compiled(
    gpu: Gpu,
    device: &Device<DeviceMemory>,
    object: &CodeObject<'_>,
    name: &str,
    dispatch: &Dispatch,
    apart: Apart,
) -> Result<(), Error> {
    let failed = |what: &str| Error::Failed(what.to_owned());
    let (lifted, shape, descriptor) = lifted(gpu, device, object, name, dispatch, apart)?;
    let packet = &dispatch.packet;
    let module = gangway_ptx::parse(&lifted.text).map_err(|errors| failed(&errors.to_string()))?;
    let (execution, stack) = (Execution::CompiledOnly, gangway_gcn_lifter::STACK);
    let options = Options { workers: 2, execution, unaligned: true, stack, ..Options::default() };
    let engine = Engine::new(options);
    let program = engine.load(module).map_err(|error| failed(&format!("{error:?}")))?;
    let launch = KernelLaunch {
        program: &program,
        kernel: program.kernel("kernel").ok_or_else(|| failed("no kernel in the PTX"))?,
        grid: packet.groups(),
        block: shape.block(),
        shared: packet.group_segment_size,
        parameters: &parameters(dispatch, &descriptor),
        cooperative: false,
    };
    engine.launch(&launch).map_err(|fault| failed(&fault.report))
}
