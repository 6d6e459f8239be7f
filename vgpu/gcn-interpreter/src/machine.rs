//! Launches: work-groups and waves, and which runs next.
//!
//! Several work-groups run by turns, as many as there is scratch memory for, up to a few: kernels
//! whose work-groups wait for each other end, if there are not too many.

use std::sync::atomic::{AtomicBool, Ordering};

use gangway_code_object::Descriptor;
use gangway_gcn::Instruction;

use crate::code::Code;
use crate::control::Next;
use crate::dispatch::Dispatch;
use crate::fault::{Fault, FaultKind, Lane};
use crate::groups::{Groups, RESIDENT};
use crate::memory::Memory;
use crate::mode::Mode;
use crate::registers::Registers;
use crate::space::Memories;
use crate::wave::{LANES, Status, Stop, Wave};
use crate::{execute, start};

/// How many instructions a wave runs before the next one has its turn.
const TURN: u32 = 256;

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
    let groups = dispatch.packet.groups().into_iter().map(u64::from).product();
    launch_part(memory, dispatch, &Groups::new(groups, false), stop)
}

/// Runs work-groups of a launch that several threads run, who have `groups` together. Each thread has scratch memory of
/// its own in the dispatch.
///
/// # Errors
/// As for [`launch`]. The other threads go on until they are stopped.
pub fn launch_part(
    memory: &dyn Memory,
    dispatch: &Dispatch,
    groups: &Groups,
    stop: &AtomicBool,
) -> Result<(), Box<Fault>> {
    let fail = |kind| Box::new(fault(dispatch, 0, 0, kind));
    let descriptor = dispatch.descriptor(memory).map_err(fail)?;
    let entry = dispatch.packet.kernel_object.wrapping_add_signed(descriptor.entry_offset);
    if let Some(what) = start::unsupported(&descriptor) {
        return Err(fail(FaultKind::Unsupported(what.to_owned())));
    }
    let code = Code::new(dispatch.gpu);
    Machine { memory, dispatch, descriptor, entry, code, time: 0 }.run(groups, stop)
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
    fn run(&mut self, waiting: &Groups, stop: &AtomicBool) -> Result<(), Box<Fault>> {
        let packet = self.dispatch.packet;
        let [columns, rows, _] = packet.groups().map(u64::from);
        let room = match packet.group_scratch() {
            0 => RESIDENT,
            need => (self.dispatch.scratch.size / need).min(RESIDENT),
        };
        let place = |number: u64| {
            [number % columns, number / columns % rows, number / columns / rows].map(|place| place as u32)
        };
        let mut slots: Vec<u64> = (0..room).rev().collect();
        let mut groups: Vec<Group> = Vec::new();
        loop {
            while groups.len() < waiting.at_once()
                && let Some(slot) = slots.pop()
            {
                match waiting.take() {
                    Some(number) => groups.push(self.group(place(number), slot)),
                    None => {
                        slots.push(slot);
                        break;
                    }
                }
            }
            if groups.is_empty() {
                return Ok(());
            }
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
                slots.push(groups.swap_remove(index).slot);
            }
        }
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
                registers: Registers::of(self.dispatch.gpu, &self.descriptor),
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
        let found = self.code.at(self.memory, pc, |instruction| wave.registers.are_there(instruction));
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
