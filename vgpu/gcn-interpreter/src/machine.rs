//! Launches: work-groups and waves, and which runs next.
//!
//! Several work-groups run by turns, as many as there is scratch memory for, up to a few: kernels
//! whose work-groups wait for each other end, if there are not too many.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gangway_code_object::Descriptor;
use gangway_gcn::Instruction;

use crate::code::Code;
use crate::control::Next;
use crate::dispatch::Dispatch;
use crate::fault::{Fault, FaultKind, Lane};
use crate::memory::Memory;
use crate::mode::Mode;
use crate::space::Memories;
use crate::wave::{LANES, Status, Stop, Wave};
use crate::{execute, operands, start};

/// How many instructions a wave runs before the next one has its turn.
const TURN: u32 = 256;

/// How many work-groups run by turns, at most.
const RESIDENT: u64 = 16;

/// A work-group that runs.
struct Group {
    waves: Vec<Wave>,
    lds: Vec<u8>,
    /// Which part of the scratch memory it has.
    slot: u64,
}

struct Machine<'a> {
    memory: &'a dyn Memory,
    dispatch: &'a Dispatch,
    descriptor: Descriptor,
    entry: u64,
    code: Code,
    /// Instructions so far.
    time: u64,
}

/// Runs a kernel to its end, or until `stop` is set.
///
/// # Errors
/// The launch is wrong, or the kernel failed; then what it has written until then stays.
pub fn launch(memory: &dyn Memory, dispatch: &Dispatch, stop: &AtomicBool) -> Result<(), Box<Fault>> {
    launch_part(memory, dispatch, &AtomicU64::new(0), stop)
}

/// Runs work-groups of a launch that several threads run. `next` is the number of the first one that nobody has
/// taken, and theirs together; each thread has scratch memory of its own in the dispatch.
///
/// # Errors
/// As for [`launch`]. The other threads go on until they are stopped.
pub fn launch_part(
    memory: &dyn Memory,
    dispatch: &Dispatch,
    next: &AtomicU64,
    stop: &AtomicBool,
) -> Result<(), Box<Fault>> {
    let fail = |kind| Box::new(fault(dispatch, 0, 0, kind));
    let descriptor = dispatch.descriptor(memory).map_err(fail)?;
    let entry = dispatch.packet.kernel_object.wrapping_add_signed(descriptor.entry_offset);
    if let Some(what) = start::unsupported(&descriptor) {
        return Err(fail(FaultKind::Unsupported(what.to_owned())));
    }
    let code = Code::new(dispatch.gpu);
    Machine { memory, dispatch, descriptor, entry, code, time: 0 }.run(next, stop)
}

/// A fault of no wave.
fn fault(dispatch: &Dispatch, address: u64, entry: u64, kind: FaultKind) -> Fault {
    Fault {
        kind,
        kernel: dispatch.packet.kernel_object,
        address,
        offset: address.wrapping_sub(entry).cast_signed(),
        instruction: String::new(),
        group: [0; 3],
        wave: 0,
        lane: None,
    }
}

impl Machine<'_> {
    fn run(&mut self, next: &AtomicU64, stop: &AtomicBool) -> Result<(), Box<Fault>> {
        let packet = self.dispatch.packet;
        let [columns, rows, layers] = packet.groups().map(u64::from);
        let count = columns * rows * layers;
        let room = match packet.group_scratch() {
            0 => RESIDENT,
            need => (self.dispatch.scratch.size / need).min(RESIDENT),
        };
        let mut waiting = std::iter::from_fn(|| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let place = || [number % columns, number / columns % rows, number / columns / rows];
            (number < count).then(|| place().map(|place| place as u32))
        });
        let mut groups: Vec<Group> = waiting
            .by_ref()
            .take(room as usize)
            .enumerate()
            .map(|(slot, id)| self.group(id, slot as u64))
            .collect();
        while !groups.is_empty() {
            let mut index = 0;
            while index < groups.len() {
                if stop.load(Ordering::Relaxed) {
                    let group = &groups[index];
                    return Err(self.stopped(&group.waves[0], FaultKind::Stopped));
                }
                if self.turn(&mut groups[index])? {
                    index += 1;
                    continue;
                }
                // It has ended: the next one takes its memory.
                match waiting.next() {
                    Some(id) => groups[index] = self.group(id, groups[index].slot),
                    None => drop(groups.swap_remove(index)),
                }
            }
        }
        Ok(())
    }

    fn group(&self, id: [u32; 3], slot: u64) -> Group {
        let packet = &self.dispatch.packet;
        // At the grid's edge a work-group may have fewer work-items.
        let extent: [u32; 3] = std::array::from_fn(|at| {
            let size = u32::from(packet.workgroup[at]);
            size.min(packet.grid[at].saturating_sub(id[at].saturating_mul(size)))
        });
        let items: u32 = extent.iter().product();
        let waves = items.div_ceil(LANES as u32);
        let waves = (0..waves).map(|number| {
            let place = slot * u64::from(packet.waves()) + u64::from(number);
            let scratch = self.dispatch.scratch.base.wrapping_add(place * packet.wave_scratch());
            let mut wave = Wave {
                status: Status::Running,
                pc: self.entry,
                scc: false,
                mode: Mode::of(&self.descriptor),
                scalar: [0; 128],
                vector: Vec::new(),
                vectors: 0,
                accumulators: 0,
                scratch,
                scratch_size: packet.wave_scratch(),
                number,
                extent,
                group: id,
            };
            start::registers(self.dispatch, &self.descriptor, &mut wave);
            wave
        });
        Group { waves: waves.collect(), lds: vec![0; packet.group_segment_size as usize], slot }
    }

    /// Each wave of a work-group has its turn; `false` when all have ended.
    fn turn(&mut self, group: &mut Group) -> Result<bool, Box<Fault>> {
        let mut progress = false;
        for wave in &mut group.waves {
            for _ in 0..TURN {
                if wave.status != Status::Running {
                    break;
                }
                progress = true;
                if self.step(&mut group.lds, wave)? == Next::Yield {
                    break;
                }
            }
        }
        // A barrier is for the waves that have not ended.
        let waits = |wave: &Wave| wave.status != Status::Running;
        if group.waves.iter().all(waits) {
            for wave in group.waves.iter_mut().filter(|wave| wave.status == Status::Barrier) {
                wave.status = Status::Running;
                progress = true;
            }
        }
        let ended = group.waves.iter().all(|wave| wave.status == Status::Ended);
        if !ended && !progress {
            return Err(self.stopped(&group.waves[0], FaultKind::Deadlock));
        }
        Ok(!ended)
    }

    fn step(&mut self, lds: &mut [u8], wave: &mut Wave) -> Result<Next, Box<Fault>> {
        let pc = wave.pc;
        let found = self.code.at(self.memory, pc, |instruction| check(wave, instruction));
        let known = match found {
            Ok(known) => *known,
            Err(failure) => {
                let (kind, instruction) = *failure;
                return Err(self.failed(wave, pc, instruction.as_ref(), Stop { kind, lane: None }));
            }
        };
        self.time += 1;
        wave.pc = pc.wrapping_add(u64::from(known.instruction.size));
        let mut memories = Memories {
            memory: self.memory,
            gpu: self.dispatch.gpu,
            group: lds,
            private_size: self.dispatch.packet.private_segment_size as usize,
        };
        execute::run(&mut memories, wave, &known.action, &known.instruction, pc, self.time)
            .map_err(|stop| self.failed(wave, pc, Some(&known.instruction), stop))
    }

    fn failed(&self, wave: &Wave, pc: u64, instruction: Option<&Instruction>, stop: Stop) -> Box<Fault> {
        let mut fault = fault(self.dispatch, pc, self.entry, stop.kind);
        fault.instruction = instruction.map(ToString::to_string).unwrap_or_default();
        fault.group = wave.group;
        fault.wave = wave.number;
        fault.lane = stop.lane.map(|lane| Lane { number: lane as u8, item: wave.item(lane) });
        Box::new(fault)
    }

    /// A wave that cannot go on where it stands.
    fn stopped(&self, wave: &Wave, kind: FaultKind) -> Box<Fault> {
        let instruction = self.code.decode(self.memory, wave.pc).ok();
        self.failed(wave, wave.pc, instruction.as_ref(), Stop { kind, lane: None })
    }
}

/// Whether the wave has the registers that an instruction names.
fn check(wave: &Wave, instruction: &Instruction) -> Result<(), FaultKind> {
    use gangway_gcn::Form;

    let all = |to: &gangway_gcn::Operands, from: &gangway_gcn::Operands| {
        operands::check(wave, to.iter().chain(from.iter()).copied())
    };
    match &instruction.form {
        Form::Vector(vector) => all(&vector.to, &vector.from),
        Form::Local(local) => all(&local.to, &local.from),
        Form::Flat(flat) => {
            let named = flat.to.iter().copied().chain(flat.address).chain(flat.data);
            operands::check(wave, named)
        }
        Form::Buffer(buffer) => operands::check(wave, buffer.address.into_iter().chain(buffer.data)),
        Form::Scalar(_) | Form::ScalarMemory(_) => Ok(()),
    }
}
