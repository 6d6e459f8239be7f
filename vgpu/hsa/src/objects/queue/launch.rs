//! Kernel dispatch packets: what is launched, checked, and run by the interpreter.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Packet as Launch};
use gangway_trace::Shape;

use super::scratch::Private;
use super::{Queue, compiled};
use crate::abi::Status;
use crate::abi::packet::Packet;
use crate::objects::agent::{self, Agent};
use crate::objects::fault;
use crate::objects::process::config::Execution;
use crate::objects::process::report::report;
use crate::objects::process::trace;
use crate::objects::program::kernel;

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

/// Runs the kernel of a packet, which is at an address, to its end.
pub(super) fn run(
    queue: &Arc<Queue>,
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
    let groups = launched.groups().into_iter().map(u64::from).try_fold(1, u64::checked_mul);
    if groups.is_none() {
        report!("queue {id}: packet {index} launches a grid of {:?}", launched.grid);
        return Err(Failure::of(Status::ERROR_INCOMPATIBLE_ARGUMENTS));
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
        scratch: private.scratch(),
    };
    let shape = || Shape { grid: launched.groups(), block: launched.workgroup.map(u32::from) };
    let run = || {
        let launch = compiled::Launch { queue, agent, kernel: &kernel, space, dispatch };
        match agent.config().execution {
            Execution::Interpreted => launch.interpret(),
            Execution::Meanwhile => launch.begin(),
            Execution::Compiled => launch.compile().unwrap_or_else(|| launch.interpret()),
            Execution::CompiledOnly => launch.only_compile(),
        }
    };
    let outcome = trace::kernel(agent.device().unwrap_or_default(), &kernel.name, shape, run);
    outcome.map_err(|found| {
        if found.kind == FaultKind::Stopped {
            return Failure::STOP;
        }
        fault::add(agent, &kernel, &found, queue.is_runtimes.load(Ordering::Relaxed));
        Failure { status: fault::status(&found.kind), kernel: Some((agent, found)) }
    })
}
