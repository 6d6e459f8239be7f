//! Kernel dispatch packets: what is launched, checked, and run by the interpreter.

use gangway_device_memory::{AllocationKind, Request};
use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Packet as Launch, Scratch, launch};

use super::Queue;
use super::memory::Device;
use crate::abi::packet::Packet;
use crate::abi::{Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::fault;
use crate::objects::memory::status;
use crate::objects::process::report::report;
use crate::objects::program::kernel;

/// So many work-groups of a kernel are there at a time where it has private memory.
const GROUPS_AT_ONCE: u64 = 16;
/// Scratch memory of a launch is at most this, or what one work-group needs.
const SCRATCH: u64 = 1 << 30;

/// Why a packet has failed.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    /// Of a kernel's own failure: where it ran and what happened.
    kernel: Option<(&'static Agent, Box<Fault>)>,
}

impl Failure {
    /// Not a failure: the queue is not to go on.
    pub const STOP: Self = Self { status: Status::INFO_BREAK, kernel: None };

    #[must_use]
    pub const fn of(status: Status) -> Self {
        Self { status, kernel: None }
    }

    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.status == Status::INFO_BREAK
    }

    #[must_use]
    pub fn is_memory_fault(&self) -> bool {
        self.status == Status::ERROR_MEMORY_FAULT
    }

    /// Tells the program's handlers of system events; whether there are any.
    #[must_use]
    pub fn tell(&self) -> bool {
        self.kernel.as_ref().is_some_and(|(agent, fault)| fault::tell_handlers(agent, &fault.kind))
    }
}

/// Memory for private variables, given back at the end.
struct Private(Scratch);

impl Private {
    fn new(agent: &Agent, launch: &Launch) -> Result<Self> {
        let group = launch.group_scratch();
        if group == 0 {
            return Ok(Self(Scratch::default()));
        }
        let groups: u64 = launch.groups().iter().map(|&count| u64::from(count)).product();
        let at_once = groups.min(GROUPS_AT_ONCE).min(SCRATCH / group).max(1);
        let size = group.checked_mul(at_once).ok_or(Status::ERROR_OUT_OF_RESOURCES)?;
        let device = agent.device().ok_or(Status::ERROR_INVALID_AGENT)?;
        let request = Request::new(device, size, AllocationKind::Arena);
        let base = agent::space()?.allocate(&request).map_err(|error| status(&error))?;
        Ok(Self(Scratch { base, size }))
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let (Ok(space), true) = (agent::space(), self.0.size > 0) {
            let _ = space.free(self.0.base);
        }
    }
}

/// Runs the kernel of a packet, which is at an address, to its end.
pub(super) fn run(
    queue: &Queue,
    packet: &Packet,
    index: u64,
    address: u64,
) -> std::result::Result<(), Failure> {
    let Some(agent) = queue.agent else { return Err(Failure::of(Status::ERROR_INVALID_QUEUE)) };
    let id = queue.memory.queue.id;
    let mut launched = Launch::new(&packet.0);
    let dimensions = packet.dimensions();
    if dimensions == 0 {
        report!("queue {id}: packet {index} launches a kernel without dimensions");
        return Err(Failure::of(Status::ERROR_INVALID_PACKET_FORMAT));
    }
    // What is beyond the dimensions must be 1 (HSA System Architecture 1.2, 2.9.6); hardware does not look.
    for at in usize::from(dimensions)..3 {
        (launched.grid[at], launched.workgroup[at]) = (1, 1);
    }
    let object = packet.kernel_object();
    let Some(kernel) = kernel::find(object).filter(|kernel| kernel.code.agent.number() == agent.number())
    else {
        report!(
            "queue {id}: packet {index} launches {object:#x}, which is no kernel that is loaded onto the agent"
        );
        return Err(Failure::of(Status::ERROR_INVALID_CODE_OBJECT));
    };
    let space = agent::space().map_err(Failure::of)?;
    let private = Private::new(agent, &launched).map_err(|status| {
        report!("queue {id}: packet {index}: no memory for private variables of kernel {}", kernel.name);
        Failure::of(status)
    })?;
    let dispatch = Dispatch {
        gpu: agent.config().processor,
        packet: launched,
        packet_address: address,
        queue_address: queue.address(),
        dispatch_id: index,
        scratch: private.0,
    };
    launch(&Device::new(space), &dispatch, &queue.stop).map_err(|found| {
        if found.kind == FaultKind::Stopped {
            return Failure::STOP;
        }
        fault::tell(agent, &kernel.name, &found);
        Failure { status: fault::status(&found.kind), kernel: Some((agent, found)) }
    })
}
