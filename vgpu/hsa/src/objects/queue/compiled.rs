//! Launches of kernels that are compiled.

use std::sync::Arc;

use gangway_device_memory::Space;
use gangway_engine::{Access, Facts, KernelLaunch, Reason};
use gangway_gcn::Decoder;
use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Lane, Memory, Registers};
use gangway_gcn_lifter::{Lifted, Shape, parameters};

use super::Queue;
use super::memory::Device;
use super::scratch::Private;
use super::workers::Job;
use crate::objects::agent::Agent;
use crate::objects::process::report::report;
use crate::objects::process::trace;
use crate::objects::program::compiled::{Code, Outcome};
use crate::objects::program::interpreted::Interpreted;
use crate::objects::program::kernel::Kernel;
use crate::objects::program::wanted::{Wanted, tell};

type Result = std::result::Result<(), Box<Fault>>;

/// A launch, before it is known what runs it.
pub(super) struct Launch<'a> {
    pub queue: &'a Arc<Queue>,
    pub agent: &'static Agent,
    pub kernel: &'a Kernel,
    pub space: &'static Space,
    pub dispatch: Dispatch,
}

impl Launch<'_> {
    /// By the interpreter alone.
    pub fn interpret(&self) -> Result {
        Job::new(self.queue, self.agent, self.space, self.dispatch, false).run()
    }

    /// Compiled code runs it as soon as there is some: work-groups before that are interpreted.
    pub fn begin(&self) -> Result {
        let Some(wanted) = self.wanted() else { return self.interpret() };
        match wanted.known() {
            Some(Err(why)) if wanted.may_be_together(&why) => match wanted.known_together() {
                Some(outcome) => self.run_if(outcome),
                None => self.interpret_first(&wanted, &self.job(false)),
            },
            Some(outcome) => self.run_if(outcome),
            None => self.run_meanwhile(&wanted),
        }
    }

    fn run_if(&self, outcome: Outcome) -> Result {
        outcome.ok().and_then(|code| self.run(&code)).unwrap_or_else(|| self.interpret())
    }

    fn job(&self, waits: bool) -> Arc<Job> {
        Job::new(self.queue, self.agent, self.space, self.dispatch, waits)
    }

    fn run_meanwhile(&self, wanted: &Wanted<Device>) -> Result {
        let job = self.job(true);
        let listener = {
            let job = Arc::clone(&job);
            move |outcome: Outcome| hand_over(&job, outcome)
        };
        match wanted.begin(note(self.kernel), listener) {
            Some(outcome) => self.run_if(outcome),
            None => {
                job.wait();
                self.interpret_first(wanted, &job)
            }
        }
    }

    /// By the interpreter. If it runs long, and the kernel can be compiled with the others of its code object, that is done
    /// then; work-groups that nobody has begun are left to the code.
    fn interpret_first(&self, wanted: &Wanted<Device>, job: &Arc<Job>) -> Result {
        let (kernel, work) = (self.kernel.clone(), (wanted.clone(), Arc::clone(job)));
        let _interpreted = Interpreted::begin(&self.kernel.code.interpreted, move || {
            let (wanted, job) = work;
            if let Some(Err(why)) = wanted.known()
                && wanted.may_be_together(&why)
            {
                let outcome = wanted.together(note(&kernel));
                tell(vec![Box::new(move |outcome| hand_over(&job, outcome))], &outcome);
            }
        });
        job.run()
    }

    /// What is compiled, which is made now if it is not there.
    fn compiled(&self, wanted: &Wanted<Device>) -> Outcome {
        match wanted.code(note(self.kernel)) {
            Err(why) if wanted.may_be_together(&why) => wanted.together(note(self.kernel)),
            outcome => outcome,
        }
    }

    /// By compiled code, which is made now if it is not there; `None` if there is none.
    pub fn compile(&self) -> Option<Result> {
        let code = self.compiled(&self.wanted()?).ok()?;
        self.run(&code)
    }

    /// By compiled code, or it fails.
    pub fn only_compile(&self) -> Result {
        // What is wrong with a launch the interpreter tells.
        let Some(wanted) = self.wanted() else { return self.interpret() };
        let refused = |why: &str| {
            let what = format!("the kernel, which cannot be compiled for {why},");
            Err(fault(&self.dispatch, FaultKind::Unsupported(what)))
        };
        match self.compiled(&wanted) {
            Ok(code) => self.run(&code).unwrap_or_else(|| refused("what the compiler of the engine says")),
            Err(why) => refused(&why.what),
        }
    }

    fn run(&self, code: &Code) -> Option<Result> {
        run(self.agent, self.space, &self.dispatch, self.queue, code, 0)
    }

    /// What is to be compiled, if the launch is right.
    fn wanted(&self) -> Option<Wanted<Device>> {
        let memory = Device::new(self.space);
        self.dispatch.check(&memory).ok()?;
        let packet = &self.dispatch.packet;
        let mut shape = Shape::new(packet.workgroup, packet.grid);
        shape.private = packet.private_segment_size;
        // If the program has told them rightly there, the code may rely on them.
        shape.sizes = self.kernel.sizes.filter(|offset| {
            let mut word = [0; 4];
            let told = memory.read(packet.kernarg_address.wrapping_add(u64::from(*offset)), &mut word);
            told.is_ok() && u32::from_le_bytes(word) == shape.word()
        });
        let (kernel, object) = (self.kernel.clone(), packet.kernel_object);
        Some(Wanted { agent: self.agent, kernel, memory, object, shape })
    }
}

/// Leaves work-groups that nobody has begun to code, if there is some.
fn hand_over(job: &Arc<Job>, outcome: Outcome) {
    job.hand_over(outcome.ok().map(|code| {
        let job = Arc::clone(job);
        move |first| run(job.agent, job.space, &job.dispatch, &job.queue, &code, first)
    }));
}

/// Tells why a kernel is interpreted, if somebody wants to know.
fn note(kernel: &Kernel) -> impl FnOnce(&str) + Send + 'static + use<> {
    let name = Arc::clone(&kernel.name);
    move |why| {
        if trace::tells() {
            report!("kernel {name} is interpreted: {why}");
        }
    }
}

/// Runs work-groups from a number on; `None` if the engine refuses the kernel, and nothing has run.
fn run(
    agent: &Agent,
    space: &'static Space,
    dispatch: &Dispatch,
    queue: &Arc<Queue>,
    code: &Code,
    first: u64,
) -> Option<Result> {
    let packet = &dispatch.packet;
    let mut dispatch = *dispatch;
    let _private = if code.scratch {
        // Without memory for all of them they are interpreted, a few at a time.
        let private = Private::of_all(agent, packet)?;
        dispatch.scratch = private.scratch();
        Some(private)
    } else {
        None
    };
    let dispatch = &dispatch;
    let launch = KernelLaunch {
        program: &code.program,
        kernel: code.kernel,
        grid: packet.groups(),
        block: Shape::new(packet.workgroup, packet.grid).block(),
        shared: packet.group_segment_size,
        parameters: &parameters(dispatch, &code.descriptor),
        cooperative: false,
    };
    match agent.engine().launch_from(&launch, first, Some(Arc::clone(&queue.stop))) {
        Ok(()) => Some(Ok(())),
        // The engine's compiler refuses it.
        Err(found) if found.reason == Reason::NotSupported => {
            if trace::tells() {
                report!("kernel {} is interpreted: {}", code.name, found.facts.what);
            }
            None
        }
        Err(found) => Some(Err(told(dispatch, &Device::new(space), code, &found))),
    }
}

/// A fault of no wave.
fn fault(dispatch: &Dispatch, kind: FaultKind) -> Box<Fault> {
    let kernel = dispatch.packet.kernel_object;
    let instruction = String::new();
    Box::new(Fault { kind, kernel, address: 0, offset: 0, instruction, group: [0; 3], wave: 0, lane: None })
}

/// What the engine says, in the words of the interpreter.
fn told(dispatch: &Dispatch, memory: &Device, code: &Code, found: &gangway_engine::Fault) -> Box<Fault> {
    let Facts { source, block, thread, .. } = &found.facts;
    let mut fault = fault(dispatch, FaultKind::Unsupported(found.facts.what.clone()));
    let half = source.as_ref().map_or(0, |(_, _, column)| column.saturating_sub(1));
    let mut number = 0;
    if let Some((_, line, _)) = source {
        let (address, nowhere) = Lifted::place(code.base, &code.nowhere, *line);
        fault.address = address;
        let entry = dispatch.packet.kernel_object.wrapping_add_signed(code.descriptor.entry_offset);
        fault.offset = fault.address.wrapping_sub(entry).cast_signed();
        if nowhere {
            fault.kind = FaultKind::BadTarget(address);
        }
        let mut bytes = [0; 8];
        let size = if memory.read(fault.address, &mut bytes).is_ok() { 8 } else { 4 };
        if size == 8 || memory.read(fault.address, &mut bytes[..4]).is_ok() {
            if let Ok(instruction) = Decoder::of(dispatch.gpu).decode(&bytes[..size]) {
                fault.instruction = instruction.to_string();
            }
            number = bytes[0];
        }
    }
    fault.group = block.unwrap_or_default();
    if let Some([x, y, _]) = thread {
        fault.wave = *y;
        let lane = x + 32 * half;
        fault.lane = Some(Lane { number: lane as u8, item: item(dispatch, fault.group, 64 * y + lane) });
    }
    if !matches!(fault.kind, FaultKind::BadTarget(_)) {
        fault.kind = kind(dispatch, code, found, &fault.instruction, half, number);
    }
    // What fails as a wave has no lane.
    if matches!(fault.kind, FaultKind::Trap(_) | FaultKind::Deadlock | FaultKind::BadTarget(_)) {
        fault.lane = None;
    }
    fault
}

/// The work-item with a number in its work-group.
fn item(dispatch: &Dispatch, group: [u32; 3], index: u32) -> [u32; 3] {
    let extent: [u32; 2] = std::array::from_fn(|at| {
        let size = u32::from(dispatch.packet.workgroup[at]);
        size.min(dispatch.packet.grid[at].saturating_sub(group[at].saturating_mul(size))).max(1)
    });
    let [x, y] = extent;
    [index % x, index / x % y, index / x / y]
}

fn kind(
    dispatch: &Dispatch,
    code: &Code,
    found: &gangway_engine::Fault,
    instruction: &str,
    half: u32,
    number: u8,
) -> FaultKind {
    let facts = &found.facts;
    let is_private = facts.instruction.as_deref().is_some_and(|name| name.contains(".local"));
    match (found.reason, facts.access, facts.own_access) {
        (Reason::Timeout, ..) => FaultKind::Stopped,
        (_, Some(Access { address, size, write, .. }), _) if is_private => FaultKind::OutsidePrivate {
            // The second lane's memory is behind the first one's.
            address: address.saturating_sub(u64::from(half) * code.private),
            size: size as usize,
            limit: dispatch.packet.private_segment_size as usize,
            write,
        },
        (_, Some(Access { address, size, write, .. }), _) => {
            FaultKind::OutOfBounds { address, size: size as usize, write }
        }
        (_, None, Some(Access { address, size, write, .. })) => FaultKind::OutsideGroup {
            address,
            size: size as usize,
            limit: dispatch.packet.group_segment_size as usize,
            write,
        },
        // Of these it is an index that leads nowhere.
        _ if facts.instruction.as_deref() == Some("trap") && instruction.starts_with("v_") => {
            Registers::of(dispatch.gpu, &code.descriptor).beyond()
        }
        _ if facts.instruction.as_deref() == Some("trap") => FaultKind::Trap(number),
        _ => FaultKind::Unsupported(facts.what.clone()),
    }
}
