//! Launches of kernels that are lifted and compiled.

use gangway_code_object::{CodeObject, Descriptor, Loaded, ValueKind};
use gangway_engine::{Engine, Execution, KernelLaunch, Options};
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::{Dispatch, Memory};
use gangway_gcn_lifter::{Apart, Kernel, Lifted, Refusal, Shape, held, lift, lift_together, parameters};

use crate::memory::DeviceMemory;
use crate::support::Device;

/// Why a kernel has not run to its end.
pub enum Error {
    Refused(Refusal),
    Failed(String),
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(Refusal { what, address }) => format!("it is refused for {what} at {address:#x}"),
            Error::Failed(what) => what,
        }
    }
}

/// Lifts a kernel for a dispatch, or several together.
pub fn lifted(
    gpu: Gpu,
    device: &Device<DeviceMemory>,
    object: &CodeObject<'_>,
    names: &[&str],
    dispatch: &Dispatch,
    apart: Apart,
) -> Result<(Lifted, Shape, Descriptor), Error> {
    let mut kernels = Vec::new();
    for name in names {
        kernels.push(object.kernel(name).ok_or_else(|| Error::Failed("no kernel".to_owned()))?);
    }
    let packet = &dispatch.packet;
    let mut shape = Shape::new(packet.workgroup, packet.grid);
    let mut arguments = object.said(kernels[0]).arguments.iter();
    shape.private = packet.private_segment_size;
    shape.sizes =
        arguments.find(|argument| argument.kind == ValueKind::HiddenGroupSizeX).map(|size| size.offset);
    let read = |address: u64, bytes: &mut [u8]| device.memory.read(address, bytes).is_ok();
    let constant = |_: u64, _: u64| false;
    let is_code = |address: u64| {
        let inside = address.wrapping_sub(device.base);
        object.segments.iter().any(|segment| segment.access.executes && segment.contains(inside, 4))
    };
    let loaded = Loaded::new(object, device.base, |_| None).expect("every symbol is there");
    let held = held(loaded.patches.iter().map(|patch| patch.value), is_code);
    let kernel = |kernel: &gangway_code_object::Kernel| Kernel {
        gpu,
        descriptor: kernel.descriptor,
        entry: (device.base + kernel.descriptor_address).wrapping_add_signed(kernel.descriptor.entry_offset),
        shape,
        read: &read,
        constant: &constant,
        is_code: &is_code,
        held: &held,
        apart,
    };
    let list: Vec<_> = kernels.iter().map(|one| kernel(one)).collect();
    let lifted = if let [one] = &list[..] { lift(one) } else { lift_together(&list) };
    Ok((lifted.map_err(Error::Refused)?, shape, kernels[0].descriptor))
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
    let (lifted, shape, descriptor) = lifted(gpu, device, object, &[name], dispatch, apart)?;
    run(&lifted, 0, shape, &descriptor, dispatch)
}

/// Compiles and runs one of the kernels that have been lifted.
pub fn run(
    lifted: &Lifted,
    number: usize,
    shape: Shape,
    descriptor: &Descriptor,
    dispatch: &Dispatch,
) -> Result<(), Error> {
    let failed = |what: &str| Error::Failed(what.to_owned());
    let packet = &dispatch.packet;
    let module = gangway_ptx::parse(&lifted.text).map_err(|errors| failed(&errors.to_string()))?;
    let (execution, stack) = (Execution::CompiledOnly, gangway_gcn_lifter::STACK);
    let options = Options { workers: 2, execution, unaligned: true, stack, ..Options::default() };
    let engine = Engine::new(options);
    let program = engine.load(module).map_err(|error| failed(&format!("{error:?}")))?;
    let launch = KernelLaunch {
        program: &program,
        kernel: program.kernel(&Lifted::name(number)).ok_or_else(|| failed("no kernel in the PTX"))?,
        grid: packet.groups(),
        block: shape.block(),
        shared: packet.group_segment_size,
        parameters: &parameters(dispatch, descriptor),
        cooperative: false,
    };
    engine.launch(&launch).map_err(|fault| failed(&fault.report))
}
