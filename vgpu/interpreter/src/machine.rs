//! Blocks, warps and lanes: their state, and which runs next.

use gangway_ptx::{Meaning, WORD};

use crate::exchange::LANES;
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;
use crate::program::Program;

/// How many instructions a warp runs before the next one has its turn.
const TURN: u32 = 256;

/// After so many instructions of a warp the lane that has waited longest goes first...
const PATIENCE: u64 = 8192;

/// ...of which an instruction that a lane may wait with for another one counts for so many: lanes
/// that spin for a lock find out soon that its holder does not run.
const SPIN: u64 = 512;

/// ...for so many, which is enough to let go of a lock. Seldom and then long, because lanes that
/// wait where branches join should be found there by the others.
const FAVOUR: u64 = 64;

/// Bytes of parameters and local variables that a lane may have.
pub(crate) const STACK: u64 = 1 << 20;

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct InterpretedLaunch<'a> {
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// How many warp instructions the launch may run, so that none runs for ever.
    pub limit: u64,
    /// The bytes of each parameter, as long as the kernel declares it.
    pub arguments: &'a [Vec<u8>],
}

/// What a lane waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    /// At a `.sync` instruction, until the lanes of the mask are there too.
    Warp(u32),
    /// At a barrier; where its reduction goes is in the barrier.
    Barrier(usize),
    Exited,
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub function: usize,
    /// The index of the next instruction.
    pub at: usize,
    pub registers: Vec<[u64; 4]>,
    /// Where its variables begin in the lane's memory.
    pub base: u64,
    /// The end of its stack; `alloca` moves it.
    pub top: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub status: Status,
    pub frames: Vec<Frame>,
    pub memory: Vec<u8>,
    pub carry: bool,
    pub thread: [u32; 3],
    /// When it last ran, in instructions of its warp.
    ran: u64,
}

/// After so many instructions it is asked whether the launch is to end.
const LOOK: u64 = 4096;

#[derive(Debug)]
pub(crate) struct Warp {
    pub lanes: Vec<Lane>,
    pub index: u32,
    clock: u64,
    /// What counts against [`PATIENCE`].
    impatience: u64,
    /// The lane that goes first now because it has waited for long, and until when.
    favoured: Option<(usize, u64)>,
}

/// One of the sixteen barriers of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    pub arrived: u32,
    /// By warp: the lanes that have come.
    pub came: [u32; LANES],
    /// How many threads it is for; all that are left where no instruction said.
    pub count: Option<u32>,
    /// How many threads came with a true predicate.
    pub holds: u32,
}

pub(crate) struct Block<'a> {
    pub program: &'a Program,
    pub launch: &'a InterpretedLaunch<'a>,
    pub memory: &'a mut dyn Memory,
    pub shared: Vec<u8>,
    pub barriers: Vec<Barrier>,
    pub index: [u32; 3],
    /// Set by a barrier: it must be looked at before anything else runs.
    pub pause: bool,
    /// Instructions so far; what the clocks show.
    pub time: u64,
}

/// Runs a kernel to its end.
pub fn launch(
    program: &Program,
    launch: &InterpretedLaunch<'_>,
    memory: &mut dyn Memory,
) -> Result<(), Box<Fault>> {
    let fail = |message: String| {
        Box::new(Fault {
            kind: FaultKind::Launch(message),
            function: launch.kernel.to_owned(),
            instruction: "launch".to_owned(),
            block: [0; 3],
            thread: [0; 3],
            source: None,
        })
    };
    let kernels = program.module.functions.iter();
    let found = kernels.enumerate().find(|(_, function)| function.entry && *function.name == *launch.kernel);
    let Some((index, kernel)) = found.filter(|(_, function)| function.body.is_some()) else {
        return Err(fail(format!("there is no kernel '{}'", launch.kernel)));
    };
    let threads: u64 = launch.block.iter().map(|&length| u64::from(length)).product();
    if threads == 0 || threads > 1024 || launch.grid.contains(&0) {
        return Err(fail(format!("a grid of {:?} with blocks of {:?}", launch.grid, launch.block)));
    }
    if launch.arguments.len() != kernel.parameters.len() {
        return Err(fail(format!("{} arguments, not {}", launch.arguments.len(), kernel.parameters.len())));
    }
    for (argument, parameter) in launch.arguments.iter().zip(&kernel.parameters) {
        if parameter.size().unwrap_or(0) != argument.len() as u64 {
            return Err(fail(format!("{} bytes for the parameter '{}'", argument.len(), parameter.name)));
        }
    }
    let mut time = 0;
    for z in 0..launch.grid[2] {
        for y in 0..launch.grid[1] {
            for x in 0..launch.grid[0] {
                let mut block = Block {
                    program,
                    launch,
                    memory: &mut *memory,
                    shared: vec![
                        0;
                        (program.shared + u64::from(launch.shared)).next_multiple_of(WORD) as usize
                    ],
                    barriers: vec![Barrier::default(); 16],
                    index: [x, y, z],
                    pause: false,
                    time,
                };
                block.run(index)?;
                time = block.time;
            }
        }
    }
    Ok(())
}

impl Block<'_> {
    fn run(&mut self, kernel: usize) -> Result<(), Box<Fault>> {
        let [width, height, depth] = self.launch.block;
        let mut lanes = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    lanes.push(self.lane(kernel, [x, y, z])?);
                }
            }
        }
        let mut warps = Vec::new();
        while !lanes.is_empty() {
            let rest = lanes.split_off(lanes.len().min(LANES));
            warps.push(Warp { lanes, index: warps.len() as u32, clock: 0, impatience: 0, favoured: None });
            lanes = rest;
        }
        loop {
            let mut progress = false;
            for index in 0..warps.len() {
                for _ in 0..TURN {
                    if !self.step(&mut warps[index])? {
                        break;
                    }
                    progress = true;
                    if std::mem::take(&mut self.pause) {
                        break;
                    }
                }
                progress |= self.release_barriers(&mut warps);
            }
            let waiting =
                warps.iter().flat_map(|warp| &warp.lanes).find(|lane| lane.status != Status::Exited);
            match waiting {
                None => return Ok(()),
                Some(lane) if !progress => return Err(self.fault(lane, FaultKind::Deadlock)),
                Some(_) => {}
            }
        }
    }

    fn lane(&self, kernel: usize, thread: [u32; 3]) -> Result<Lane, Box<Fault>> {
        let mut lane = Lane {
            status: Status::Running,
            frames: Vec::new(),
            memory: Vec::new(),
            carry: false,
            thread,
            ran: 0,
        };
        if let Err(kind) = lane.enter(self.program, kernel) {
            return Err(self.fault(&lane, kind));
        }
        let offsets = &self.program.layouts[kernel].parameters;
        let base = lane.frames[0].base;
        for (argument, offset) in self.launch.arguments.iter().zip(offsets) {
            let at = (base + offset) as usize;
            lane.memory[at..at + argument.len()].copy_from_slice(argument);
        }
        Ok(lane)
    }

    /// Runs one instruction of one group of lanes; `false` when no lane can run.
    fn step(&mut self, warp: &mut Warp) -> Result<bool, Box<Fault>> {
        let runs = |lane: &&Lane| lane.status == Status::Running;
        // The deepest call first: lanes that wait for its return are behind it.
        let order = |lane: &Lane| {
            let frame = lane.frames.last();
            (usize::MAX - lane.frames.len(), frame.map(|frame| (frame.function, frame.at)))
        };
        if warp.favoured.is_some_and(|(_, until)| until <= warp.clock) {
            (warp.favoured, warp.impatience) = (None, 0);
        } else if warp.favoured.is_none() && warp.impatience >= PATIENCE {
            let waiting = warp.lanes.iter().enumerate().filter(|(_, lane)| runs(lane));
            let longest = waiting.min_by_key(|(_, lane)| lane.ran);
            warp.favoured = longest.map(|(index, _)| (index, warp.clock + FAVOUR));
        }
        let favoured = warp.favoured.map(|(index, _)| &warp.lanes[index]).filter(runs);
        let chosen = favoured.or_else(|| warp.lanes.iter().filter(runs).min_by_key(|lane| order(lane)));
        let Some(chosen) = chosen else { return Ok(false) };
        let place = order(chosen);
        warp.impatience += if self.may_spin(chosen) { SPIN } else { 1 };
        warp.clock += 1;
        self.time += 1;
        let mut active = 0u32;
        for (index, lane) in warp.lanes.iter_mut().enumerate() {
            if lane.status == Status::Running && order(lane) == place {
                active |= 1 << index;
                lane.ran = warp.clock;
            }
        }
        let stopped = self.time.is_multiple_of(LOOK) && self.memory.is_stopped();
        if self.time > self.launch.limit || stopped {
            let lane = &warp.lanes[active.trailing_zeros() as usize];
            return Err(self.fault(lane, FaultKind::TooLong));
        }
        self.execute(warp, active)?;
        Ok(true)
    }

    /// Whether a lane may be waiting for another one with the instruction that it stands at.
    fn may_spin(&self, lane: &Lane) -> bool {
        let Some(frame) = lane.frames.last() else { return false };
        let body = self.program.body(frame.function).map(|(_, body)| body);
        let Some(instruction) = body.and_then(|body| body.instructions.get(frame.at)) else { return false };
        match self.program.module.opcode(instruction).meaning {
            Meaning::Atomic(atomic) => atomic.returns && atomic.op.may_spin(),
            Meaning::Load(access) => access.strong,
            _ => false,
        }
    }

    pub(crate) fn fault(&self, lane: &Lane, kind: FaultKind) -> Box<Fault> {
        let mut fault = Box::new(Fault {
            kind,
            function: self.launch.kernel.to_owned(),
            instruction: "launch".to_owned(),
            block: self.index,
            thread: lane.thread,
            source: None,
        });
        let Some(frame) = lane.frames.last() else { return fault };
        let Some((function, body)) = self.program.body(frame.function) else { return fault };
        fault.function = function.name.to_string();
        let module = &self.program.module;
        // A lane that waits stands behind the instruction that it waits in.
        let behind = matches!(lane.status, Status::Barrier(_));
        let at = frame.at.saturating_sub(usize::from(behind));
        if let Some(instruction) = body.instructions.get(at) {
            fault.instruction = module.opcode(instruction).to_string();
            let location = instruction.location.and_then(|id| body.locations.get(id.index()));
            fault.source = location.and_then(|location| {
                let file = module.files.iter().find(|file| file.index == location.file)?;
                Some((file.name.to_string(), location.line, location.column))
            });
        }
        fault
    }
}

impl Lane {
    /// Starts a function with a new frame.
    pub(crate) fn enter(&mut self, program: &Program, function: usize) -> Result<(), FaultKind> {
        let Some((_, body)) = program.body(function) else {
            return Err(FaultKind::Undefined(program.module.functions[function].name.to_string()));
        };
        // The first bytes stay invalid, so that a null pointer is.
        let base = self.frames.last().map_or(256, |frame| frame.top).next_multiple_of(256);
        // Every call takes something, so that endless recursion ends.
        let top = base + program.layouts[function].size.max(16);
        if top > STACK {
            return Err(FaultKind::StackOverflow);
        }
        if self.memory.len() < top as usize {
            self.memory.resize(top as usize, 0);
        }
        self.memory[base as usize..top as usize].fill(0);
        let registers = vec![[0; 4]; body.registers.len()];
        self.frames.push(Frame { function, at: 0, registers, base, top });
        Ok(())
    }

    /// The function that runs.
    pub(crate) fn frame(&self) -> &Frame {
        self.frames.last().expect("a lane that has not exited has a frame")
    }

    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a lane that has not exited has a frame")
    }
}
