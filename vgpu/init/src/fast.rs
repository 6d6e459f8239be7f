//! Loops have a second form, for while all that they use is defined, which is nearly always.
//!
//! The fast form has the program's own instructions, with no shadows of registers beside them: those are zero. Behind
//! loads it looks at the shadows of what has been loaded, once for all of some loads, and stores write zeros as the
//! shadow. Where something undefined has been loaded, lanes go back to where the instructions since the last look
//! begin, in the form that follows what is undefined. That one comes back at the loop's beginning, when nothing
//! undefined is left.
//!
//! So a *part* of a block, which is looked at together, has nothing in it that must not be done twice: no store, no
//! atomic operation, and nothing that overwrites what the part has read before. What lanes do together is in no such
//! loop.

use std::collections::{BTreeSet, HashSet};

use gangway_device_memory::{LOCAL_SIZE, LOCAL_WINDOW};
use gangway_ptx::meaning::{Atomic, Control, MemoryAccess};
use gangway_ptx::{
    Base, Body, Function, Instruction, Meaning, Module, Operand, RegisterId, StateSpace, instruction_text,
};

use crate::flow::{Flow, reads_kernels, results, sources};
use crate::loops::{Lives, Loop, graph, innermost};
use crate::weaver::{Shade, Target, Weaver, line};

/// Instructions of a loop that has a second form, and of all such loops of a function.
const MOST: usize = 256;
const MOST_OF_ALL: usize = 1024;

/// The loops of a function that have two forms.
#[derive(Default)]
pub(crate) struct Plan {
    loops: Vec<Planned>,
    /// Instructions at which lanes come out of the fast form.
    entered: HashSet<u32>,
}

struct Planned {
    header: usize,
    blocks: Vec<Steps>,
    /// What has to be defined where the fast form begins.
    tested: Vec<RegisterId>,
    /// What it sets besides, as defined: where it is left, by block, and where lanes go on in the other form, by
    /// instruction.
    exits: Vec<(usize, Vec<RegisterId>)>,
    turns: Vec<(u32, Vec<RegisterId>)>,
}

/// A block in the fast form.
struct Steps {
    block: usize,
    steps: Vec<Step>,
    /// The part that is looked at behind all of them.
    last: Option<u32>,
}

struct Step {
    number: u32,
    /// The part that is looked at before it.
    looks: Option<u32>,
    /// Where lanes go on from that find out here that something is undefined.
    start: u32,
    /// What it loads is looked at before it is loaded.
    first: bool,
}

/// What an instruction is, for parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Computes,
    Loads,
    /// It must not be done twice.
    Acts,
}

impl Plan {
    pub fn of(module: &Module, function: &Function, body: &Body, flow: &Flow) -> Self {
        let next = graph(module, body);
        let mut plan = Self::default();
        let mut lives = None;
        let mut left = MOST_OF_ALL;
        for found in innermost(&next) {
            let count: usize = found.blocks.iter().map(|&block| body.blocks[block].instructions.len()).sum();
            let all = || found.blocks.iter().flat_map(|&block| body.blocks[block].instructions.clone());
            let kinds: Option<Vec<Kind>> = all()
                .map(|number| kind(module, function, body, &body.instructions[number as usize]))
                .collect();
            if count > MOST.min(left)
                || kinds.is_none_or(|kinds| kinds.iter().all(|&kind| kind == Kind::Computes))
            {
                continue;
            }
            // What follows a loop has a beginning, and so has the loop.
            let falls_out = |&block: &usize| next[block].iter().any(|&next| first_of(body, next).is_none());
            if body.blocks[found.header].instructions.is_empty() || found.blocks.iter().any(falls_out) {
                continue;
            }
            left -= count;
            let lives = lives.get_or_insert_with(|| Lives::of(module, body, flow, &next));
            let planned = Planned::of(module, function, body, flow, &next, lives, &found);
            plan.entered.extend(planned.turns.iter().map(|&(number, _)| number));
            plan.loops.push(planned);
        }
        plan
    }

    /// Whether lanes come to an instruction out of the fast form.
    pub fn enters(&self, number: u32) -> bool {
        self.entered.contains(&number)
    }

    /// Puts the fast forms before the loops' other forms.
    pub fn weave(&self, weaver: &mut Weaver<'_>, around: &mut [[String; 2]]) {
        for number in &self.entered {
            around[*number as usize][0].insert_str(0, &format!("{}:\n", entry(*number)));
        }
        let mut labels = BTreeSet::new();
        for planned in &self.loops {
            let text = planned.text(weaver);
            if let Some(first) = first_of(weaver.body, planned.header) {
                around[first as usize][0].insert_str(0, &text);
            }
            let unnamed = |&block: &usize| weaver.body.blocks[block].label.is_none();
            labels.extend(planned.exits.iter().map(|&(block, _)| block).filter(unnamed));
        }
        for block in labels {
            if let Some(first) = first_of(weaver.body, block) {
                around[first as usize][0].insert_str(0, &format!("$gwb{block}:\n"));
            }
        }
    }
}

/// The first instruction from a block's beginning on.
fn first_of(body: &Body, block: usize) -> Option<u32> {
    body.blocks[block..]
        .iter()
        .find(|block| !block.instructions.is_empty())
        .map(|block| block.instructions.start)
}

/// Where an instruction is entered out of the fast form.
fn entry(number: u32) -> String {
    format!("$gws{number}")
}

/// What an instruction of a loop is; none if such a loop has no second form.
fn kind(module: &Module, function: &Function, body: &Body, instruction: &Instruction) -> Option<Kind> {
    let operands = body.operands(instruction);
    let meaning = module.opcode(instruction).meaning;
    if meaning.access().is_some_and(|access| access.ty.bits() > 64) {
        return None;
    }
    let has_shadow = |space: StateSpace| {
        use StateSpace::{Generic, Global, Local, Shared};
        matches!(space.plain(), Generic | Global | Shared | Local)
    };
    Some(match meaning {
        Meaning::Compute(_)
        | Meaning::Move { .. }
        | Meaning::ConvertAddress { .. }
        | Meaning::IsInSpace(_)
        | Meaning::ActiveMask
        | Meaning::Hint(_) => Kind::Computes,
        Meaning::Load(access) => match access.space.plain() {
            StateSpace::Const => Kind::Computes,
            StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
                reads_kernels(function, operands[1]).then_some(Kind::Computes)?
            }
            space => has_shadow(space).then_some(if access.strong { Kind::Acts } else { Kind::Loads })?,
        },
        Meaning::Store(access) => has_shadow(access.space).then_some(Kind::Acts)?,
        Meaning::Atomic(atomic) => has_shadow(atomic.space).then_some(Kind::Acts)?,
        Meaning::Fence { .. }
        | Meaning::Control(Control::Branch | Control::Return | Control::Exit | Control::Trap) => Kind::Acts,
        Meaning::Control(_)
        | Meaning::Copy(_)
        | Meaning::Stack(..)
        | Meaning::Barrier(_)
        | Meaning::Exchange(_)
        | Meaning::Matrix(_) => return None,
    })
}

/// The space of an access that may find out that lanes have to go on in the other form; `is_generic` of its own.
fn turns(meaning: &Meaning, first: bool) -> bool {
    let is_generic = |space: StateSpace| space.plain() == StateSpace::Generic;
    match meaning {
        Meaning::Load(access) => first || is_generic(access.space),
        Meaning::Store(access) => is_generic(access.space),
        Meaning::Atomic(atomic) => atomic.returns || is_generic(atomic.space),
        _ => false,
    }
}

impl Steps {
    fn of(module: &Module, function: &Function, body: &Body, block: usize) -> Self {
        let range = body.blocks[block].instructions.clone();
        let mut start = range.start;
        let (mut read, mut set) = (HashSet::new(), HashSet::new());
        let mut pending = false;
        let mut steps = Vec::new();
        for number in range {
            let instruction = &body.instructions[number as usize];
            let kind = kind(module, function, body, instruction);
            let guard = instruction.guard.map(|guard| guard.register);
            let reads: Vec<RegisterId> = sources(module, body, instruction)
                .into_iter()
                .chain(guard)
                .filter(|id| !set.contains(id))
                .collect();
            let writes = results(module, body, instruction);
            let spoils = writes.iter().any(|id| read.contains(id) || reads.contains(id));
            let acts = kind == Some(Kind::Acts);
            let mut looks = None;
            if spoils || acts {
                looks = std::mem::take(&mut pending).then_some(start);
                start = number;
                read.clear();
                set.clear();
            }
            read.extend(reads);
            if guard.is_none() {
                set.extend(writes);
            }
            let loads = kind == Some(Kind::Loads);
            let first =
                loads && spoils || acts && matches!(module.opcode(instruction).meaning, Meaning::Load(_));
            pending |= loads && !first;
            steps.push(Step { number, looks, start, first });
            if spoils || acts {
                start = number + 1;
                read.clear();
                set.clear();
            }
        }
        Self { block, steps, last: pending.then_some(start) }
    }
}

impl Planned {
    fn of(
        module: &Module,
        function: &Function,
        body: &Body,
        flow: &Flow,
        next: &[Vec<usize>],
        lives: &Lives,
        found: &Loop,
    ) -> Self {
        let (header, inside) = (found.header, &found.blocks);
        let (mut used, mut set) = (BTreeSet::new(), BTreeSet::new());
        for number in inside.iter().flat_map(|&block| body.blocks[block].instructions.clone()) {
            let instruction = &body.instructions[number as usize];
            let guard = instruction.guard.map(|guard| guard.register);
            let follows = |id: &RegisterId| flow.undefined[id.index()];
            used.extend(sources(module, body, instruction).into_iter().chain(guard).filter(follows));
            set.extend(results(module, body, instruction).into_iter().filter(follows));
        }
        let enters = |id: &RegisterId| lives.enters(header, *id);
        let tested: Vec<RegisterId> = used.union(&set).copied().filter(enters).collect();
        let set: Vec<RegisterId> = set.into_iter().filter(|id| !lives.enters(header, *id)).collect();
        let others = inside.iter().copied().filter(|&block| block != header);
        let blocks: Vec<Steps> = std::iter::once(header)
            .chain(others)
            .map(|block| Steps::of(module, function, body, block))
            .collect();
        let outside: BTreeSet<usize> = inside
            .iter()
            .flat_map(|&block| next[block].iter().copied())
            .filter(|block| inside.binary_search(block).is_err())
            .collect();
        let leaves = |block: usize| set.iter().copied().filter(|&id| lives.enters(block, id)).collect();
        let exits = outside.into_iter().map(|block| (block, leaves(block))).collect();
        let mut turns_of = BTreeSet::new();
        for Steps { block, steps, last } in &blocks {
            for step in steps {
                turns_of.extend(step.looks.map(|start| (start, *block)));
                let meaning = &module.opcode(&body.instructions[step.number as usize]).meaning;
                turns_of.extend(turns(meaning, step.first).then_some((step.start, *block)));
            }
            turns_of.extend(last.map(|start| (start, *block)));
        }
        let turns = turns_of
            .into_iter()
            .map(|(start, block)| (start, lives.among(module, body, flow, next, (block, start), &set)))
            .collect();
        Self { header, blocks, tested, exits, turns }
    }

    fn turn(&self, number: u32) -> String {
        format!("$gwt{}_{number}", self.header)
    }

    fn form(&self, block: usize) -> String {
        format!("$gwf{}_{block}", self.header)
    }

    /// Where a branch to a block goes.
    fn way(&self, block: usize) -> String {
        match self.blocks.iter().any(|steps| steps.block == block) {
            true => self.form(block),
            false => format!("$gwx{}_{block}", self.header),
        }
    }

    /// What comes before the loop's header.
    fn text(&self, weaver: &mut Weaver<'_>) -> String {
        weaver.text.clear();
        weaver.instruction = None;
        let slow = format!("$gwl{}", self.header);
        let tested: Vec<Shade> = self.tested.iter().filter_map(|&id| weaver.register(id)).collect();
        if !tested.is_empty() {
            let any = weaver.any(&tested);
            line!(weaver, "\t@{any} bra {slow};");
        }
        weaver.is_fast = true;
        for (index, steps) in self.blocks.iter().enumerate() {
            self.block(weaver, steps, self.blocks.get(index + 1).map(|next| next.block));
        }
        weaver.is_fast = false;
        for (start, set) in &self.turns {
            line!(weaver, "{}:", self.turn(*start));
            self.leave(weaver, set, &entry(*start));
        }
        for (block, set) in &self.exits {
            line!(weaver, "$gwx{}_{block}:", self.header);
            let label = weaver.body.blocks[*block].label.as_deref();
            let label = label.map_or_else(|| format!("$gwb{block}"), str::to_owned);
            self.leave(weaver, set, &label);
        }
        line!(weaver, "{slow}:");
        if let Some(first) = first_of(weaver.body, self.header) {
            weaver.locate(&weaver.body.instructions[first as usize]);
        }
        std::mem::take(&mut weaver.text)
    }

    /// Goes elsewhere, where registers are defined.
    fn leave(&self, weaver: &mut Weaver<'_>, set: &[RegisterId], label: &str) {
        weaver.instruction = None;
        set.iter().for_each(|&id| weaver.set(Operand::Register(id), None));
        line!(weaver, "\tbra {label};");
    }

    fn block(&self, weaver: &mut Weaver<'_>, steps: &Steps, behind: Option<usize>) {
        line!(weaver, "{}:", self.form(steps.block));
        weaver.start_block();
        let mut loaded = Vec::new();
        let mut falls = true;
        for step in &steps.steps {
            let instruction = &weaver.body.instructions[step.number as usize];
            weaver.instruction = None;
            if let Some(start) = step.looks {
                self.look(weaver, &mut loaded, start);
            }
            weaver.locate(instruction);
            weaver.instruction = Some(instruction);
            let operands = weaver.body.operands(instruction);
            match weaver.module.opcode(instruction).meaning {
                Meaning::Control(Control::Branch) => {
                    if let Operand::Block(id) = operands[0] {
                        let guard = weaver.guarded();
                        line!(weaver, "\t{guard}bra {};", self.way(id.index()));
                    }
                    falls &= instruction.guard.is_some();
                    continue;
                }
                Meaning::Control(_) => falls &= instruction.guard.is_some(),
                Meaning::Load(access) => {
                    let shadows = self.load(weaver, &access, operands, step.start);
                    loaded.extend(shadows);
                    if step.first {
                        self.look(weaver, &mut loaded, step.start);
                    }
                }
                Meaning::Store(access) => self.store(weaver, &access, operands, step.start),
                Meaning::Atomic(atomic) => {
                    loaded.extend(self.exchange(weaver, &atomic, operands, step.start));
                    self.look(weaver, &mut loaded, step.start);
                }
                _ => {}
            }
            let text = instruction_text(weaver.module, weaver.function, weaver.body, instruction);
            weaver.text.push_str(&text);
            for id in results(weaver.module, weaver.body, instruction) {
                weaver.addresses.retain(|known| !known.is_of(id));
            }
        }
        weaver.instruction = None;
        if let Some(start) = steps.last {
            self.look(weaver, &mut loaded, start);
        }
        if falls && behind != Some(steps.block + 1) {
            line!(weaver, "\tbra {};", self.way(steps.block + 1));
        }
    }

    /// Has lanes go on in the other form if something undefined has been loaded.
    fn look(&self, weaver: &mut Weaver<'_>, loaded: &mut Vec<Shade>, start: u32) {
        if !loaded.is_empty() {
            let any = weaver.any(loaded);
            line!(weaver, "\t@{any} bra {};", self.turn(start));
        }
        loaded.clear();
    }

    /// Where the shadow of an access is. A thread's own memory has other shadows: the other form knows where.
    fn target(
        &self,
        weaver: &mut Weaver<'_>,
        space: StateSpace,
        address: Operand,
        start: u32,
    ) -> Option<Target> {
        if let (StateSpace::Generic, Operand::Address(Base::Register(id), _)) = (space.plain(), address)
            && !weaver.addresses.iter().any(|known| known.is_of(id) && known.space == space.plain())
        {
            let name = weaver.body.register_name(id);
            let (within, own) = (weaver.scratch(64), weaver.scratch(1));
            match weaver.bits(id) {
                64 => line!(weaver, "\tsub.u64 {within}, {name}, {LOCAL_WINDOW};"),
                _ => line!(
                    weaver,
                    "\tcvt.u64.u32 {within}, {name};\n\tsub.u64 {within}, {within}, {LOCAL_WINDOW};"
                ),
            }
            line!(weaver, "\tsetp.lt.u64 {own}, {within}, {LOCAL_SIZE};");
            line!(weaver, "\t@{own} bra {};", self.turn(start));
        }
        weaver.target(space, address)
    }

    /// The shadows of what is loaded.
    fn load(
        &self,
        weaver: &mut Weaver<'_>,
        access: &MemoryAccess,
        operands: &[Operand],
        start: u32,
    ) -> Vec<Shade> {
        let elements = weaver.elements(operands[0]);
        if weaver.shades(&elements).is_empty() {
            return Vec::new();
        }
        match self.target(weaver, access.space, operands[1], start) {
            Some(target) => weaver.shadows_at(&target, access.ty.bits(), elements.len()),
            None => Vec::new(),
        }
    }

    fn store(&self, weaver: &mut Weaver<'_>, access: &MemoryAccess, operands: &[Operand], start: u32) {
        if let Some(target) = self.target(weaver, access.space, operands[0], start) {
            let elements = vec![None; weaver.elements(operands[1]).len()];
            weaver.store_shadows(&target, access.ty.bits(), &elements);
        }
    }

    /// The shadow of what is exchanged, where it matters. As what it is exchanged for is defined, that stays zero.
    fn exchange(
        &self,
        weaver: &mut Weaver<'_>,
        atomic: &Atomic,
        operands: &[Operand],
        start: u32,
    ) -> Vec<Shade> {
        if !atomic.returns {
            return Vec::new();
        }
        match self.target(weaver, atomic.space, operands[1], start) {
            Some(target) => weaver.shadows_at(&target, atomic.ty.bits(), 1),
            None => Vec::new(),
        }
    }
}
