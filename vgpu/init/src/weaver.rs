//! The text that is woven around an instruction: registers for it, shadows and origins of values, guards, records of uses.

use std::fmt::Write as _;

use gangway_device_memory::SIZE;
use gangway_ptx::{Body, Function, Guard, Instruction, Module, Operand, RegisterId, StateSpace, Type};

use crate::flow::Flow;
use crate::place::{Read, Use, UseKind, is_runtimes, place};
use crate::{MOST_PLACES, PLACE_SHIFT, RECORD, RECORDS};

/// What has been found in a module so far.
pub(crate) struct Found {
    /// The number of the first read.
    pub first: u64,
    pub reads: Vec<Read>,
    pub uses: Vec<Use>,
}

/// The shadow and the origin of a value, as names of registers.
#[derive(Clone, Debug)]
pub(crate) struct Shade {
    pub shadow: String,
    pub origin: String,
    /// 1 for a predicate.
    pub bits: u32,
}

/// What has been found out of a register as the base of addresses in a space.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub space: StateSpace,
    pub register: RegisterId,
    pub target: Target,
}

/// Where the shadow of an access is.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The space of the shadow, as a modifier.
    pub space: &'static str,
    /// The shadow's address is this and the offset; where there is no shadow, it reads as zero.
    pub load: String,
    /// The same for stores, which are ignored where there is no shadow.
    pub store: String,
    /// From the shadow to the origin of the same eight bytes: a register or a number.
    pub distance: String,
    /// The generic address of the access is this and both offsets.
    pub address: String,
    pub window: u64,
    pub offset: i64,
}

impl Known {
    pub fn is_of(&self, register: RegisterId) -> bool {
        self.register == register
    }
}

impl Target {
    pub fn at(self, offset: i64) -> Self {
        Self { offset, ..self }
    }
}

/// Registers that are woven in, by their size.
const CLASSES: [(u32, &str); 4] = [(1, "p"), (16, "h"), (32, "w"), (64, "d")];

fn class(bits: u32) -> usize {
    CLASSES.iter().position(|&(known, _)| known == bits).unwrap_or(3)
}

pub(crate) struct Weaver<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub body: &'a Body,
    pub flow: Flow,
    pub found: &'a mut Found,
    /// The instruction that is dealt with.
    pub instruction: Option<&'a Instruction>,
    pub text: String,
    /// Declarations of registers that stay.
    pub declared: String,
    /// How many registers are used. No two values share one: what is known of a register, as that all lanes have the same,
    /// is known of all that it ever holds.
    used: [u32; 4],
    /// The block and the thread are wanted.
    pub tells: bool,
    /// By space and base, what has been found out of addresses in this block.
    pub addresses: Vec<Known>,
    /// Parameters of calls whose shadows have been cleared since the last call.
    pub cleared: Vec<u32>,
    /// All registers are defined: what is woven is the fast form of a loop.
    pub is_fast: bool,
}

/// Adds a line.
macro_rules! line {
    ($weaver:expr, $($arguments:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($weaver.text, $($arguments)*);
    }};
}
pub(crate) use line;

impl<'a> Weaver<'a> {
    pub fn new(module: &'a Module, function: &'a Function, body: &'a Body, found: &'a mut Found) -> Self {
        Self {
            module,
            function,
            body,
            flow: Flow::of(module, function, body),
            found,
            instruction: None,
            text: String::new(),
            declared: String::new(),
            used: [0; 4],
            tells: false,
            addresses: Vec::new(),
            cleared: Vec::new(),
            is_fast: false,
        }
    }

    /// Another block comes, of whose registers nothing is known.
    pub fn start_block(&mut self) {
        self.addresses.clear();
        self.cleared.clear();
    }

    /// What comes is of an instruction's place.
    pub fn locate(&mut self, instruction: &Instruction) {
        let location = instruction.location.and_then(|id| self.body.locations.get(id.index()));
        if let Some(location) = location {
            line!(self, "\t.loc {} {} {}", location.file, location.line, location.column);
        }
    }

    /// A register.
    pub fn scratch(&mut self, bits: u32) -> String {
        let class = class(bits);
        let name = format!("%gw{}{}", CLASSES[class].1, self.used[class]);
        self.used[class] += 1;
        name
    }

    pub fn declare(&mut self, bits: u32, name: &str) {
        let ty = if bits == 1 { "pred".to_owned() } else { format!("b{bits}") };
        let _ = writeln!(self.declared, "\t.reg .{ty} {name};");
    }

    /// Declarations of the registers that were used.
    pub fn declare_scratch(&mut self) {
        for (&(bits, letter), &used) in CLASSES.iter().zip(&self.used) {
            if used > 0 {
                let ty = if bits == 1 { "pred".to_owned() } else { format!("b{bits}") };
                let _ = writeln!(self.declared, "\t.reg .{ty} %gw{letter}<{used}>;");
            }
        }
    }

    /// How many bits a register's shadow has.
    pub fn bits(&self, id: RegisterId) -> u32 {
        match self.body.register(id).ty {
            Type::Pred => 1,
            ty => ty.bits(),
        }
    }

    pub fn register(&self, id: RegisterId) -> Option<Shade> {
        let number = id.index();
        self.flow.undefined[number].then(|| Shade {
            shadow: format!("%gs{number}"),
            origin: format!("%go{number}"),
            bits: self.bits(id),
        })
    }

    /// What an operand has, if it may be undefined.
    pub fn shade(&self, operand: Operand) -> Option<Shade> {
        match operand {
            Operand::Register(id) | Operand::Negated(id) => self.register(id),
            _ => None,
        }
    }

    pub fn shades(&self, operands: &[Operand]) -> Vec<Shade> {
        operands.iter().filter_map(|&operand| self.shade(operand)).collect()
    }

    /// A register that is zero.
    pub fn zero(bits: u32) -> &'static str {
        ["%gwf", "%gz16", "%gz32", "%gz64"][class(bits)]
    }

    /// The shadow of an operand, which is zero where it is defined.
    pub fn shadow(&self, operand: Operand, bits: u32) -> String {
        self.shade(operand).map_or_else(|| Self::zero(bits).to_owned(), |shade| shade.shadow)
    }

    /// An operand's value, as one of instructions on bits, if it has a text.
    pub fn value(&self, operand: Operand) -> Option<String> {
        match operand {
            Operand::Register(id) => Some(self.body.register_name(id)),
            Operand::Negated(id) => Some(format!("!{}", self.body.register_name(id))),
            Operand::Integer(value) => Some(value.to_string()),
            Operand::Float32(bits) => Some(bits.to_string()),
            Operand::Float64(bits) => Some((bits as i64).to_string()),
            _ => None,
        }
    }

    /// A predicate that says whether any bit of these is undefined.
    pub fn any(&mut self, shades: &[Shade]) -> String {
        let mut whole: Option<String> = None;
        // Shadows of one size are joined first.
        for &(bits, _) in &CLASSES {
            let mut joined: Option<String> = None;
            for shade in shades.iter().filter(|shade| shade.bits == bits) {
                joined = Some(match joined {
                    None => shade.shadow.clone(),
                    Some(before) => self.or(bits, &before, &shade.shadow),
                });
            }
            let Some(joined) = joined else { continue };
            let holds = if bits == 1 { joined } else { self.is_some(bits, &joined) };
            whole = Some(match whole {
                None => holds,
                Some(before) => self.or(1, &before, &holds),
            });
        }
        whole.unwrap_or_else(|| Self::zero(1).to_owned())
    }

    pub fn or(&mut self, bits: u32, one: &str, other: &str) -> String {
        self.logic("or", bits, one, other)
    }

    pub fn and(&mut self, bits: u32, one: &str, other: &str) -> String {
        self.logic("and", bits, one, other)
    }

    pub fn logic(&mut self, name: &str, bits: u32, one: &str, other: &str) -> String {
        let result = self.scratch(bits);
        let ty = if bits == 1 { "pred".to_owned() } else { format!("b{bits}") };
        line!(self, "\t{name}.{ty} {result}, {one}, {other};");
        result
    }

    pub fn not(&mut self, bits: u32, one: &str) -> String {
        let result = self.scratch(bits);
        line!(self, "\tnot.b{bits} {result}, {one};");
        result
    }

    /// Whether a shadow is not zero.
    pub fn is_some(&mut self, bits: u32, shadow: &str) -> String {
        let result = self.scratch(1);
        line!(self, "\tsetp.ne.b{bits} {result}, {shadow}, 0;");
        result
    }

    /// All ones where a predicate holds.
    pub fn all(&mut self, bits: u32, holds: &str) -> String {
        if bits == 1 {
            return holds.to_owned();
        }
        let result = self.scratch(bits);
        line!(self, "\tselp.b{bits} {result}, -1, 0, {holds};");
        result
    }

    pub fn select(&mut self, bits: u32, yes: &str, no: &str, holds: &str) -> String {
        let result = self.scratch(bits);
        line!(self, "\tselp.b{bits} {result}, {yes}, {no}, {holds};");
        result
    }

    /// The origin of what is made of these: of the first that is undefined.
    pub fn origin(&mut self, shades: &[Shade]) -> String {
        let Some((last, others)) = shades.split_last() else { return Self::zero(64).to_owned() };
        let mut origin = last.origin.clone();
        for shade in others.iter().rev() {
            if shade.origin == origin {
                continue;
            }
            let holds = match shade.bits {
                1 => shade.shadow.clone(),
                bits => self.is_some(bits, &shade.shadow),
            };
            origin = self.select(64, &shade.origin, &origin, &holds);
        }
        origin
    }

    pub fn guarded(&self) -> String {
        self.instruction
            .and_then(|instruction| instruction.guard)
            .map_or_else(String::new, |guard| self.at(guard))
    }

    fn at(&self, Guard { register, negated }: Guard) -> String {
        format!("@{}{} ", if negated { "!" } else { "" }, self.body.register_name(register))
    }

    /// Sets the shadow and the origin of a result, where the instruction runs.
    pub fn set(&mut self, result: Operand, value: Option<(&str, &str)>) {
        let Operand::Register(id) = result else { return };
        let Some(Shade { shadow, origin, bits }) = self.register(id) else { return };
        let guarded = self.guarded();
        let ty = if bits == 1 { "pred".to_owned() } else { format!("b{bits}") };
        let (new, from) = value.unwrap_or((Self::zero(bits), ""));
        line!(self, "\t{guarded}mov.{ty} {shadow}, {new};");
        if !from.is_empty() && from != origin {
            line!(self, "\t{guarded}mov.b64 {origin}, {from};");
        }
        // Whether it was set is not known.
        if let Some(guard) = self.instruction.and_then(|instruction| instruction.guard)
            && let Some(unknown) = self.register(guard.register)
        {
            let all = if bits == 1 { "%gwt" } else { "-1" };
            line!(self, "\t@{} mov.{ty} {shadow}, {all};", unknown.shadow);
            line!(self, "\t@{} mov.b64 {origin}, {};", unknown.shadow, unknown.origin);
        }
    }

    /// Sets a result to be all undefined where any of these is.
    pub fn set_all(&mut self, result: Operand, shades: &[Shade]) {
        let Operand::Register(id) = result else { return };
        if shades.is_empty() {
            return self.set(result, None);
        }
        let any = self.any(shades);
        let (shadow, origin) = (self.all(self.bits(id), &any), self.origin(shades));
        self.set(result, Some((&shadow, &origin)));
    }

    /// The number of a place where something undefined is read, shifted to where origins have it.
    pub fn read(&mut self, register: bool) -> u64 {
        let place = place(self.module, self.function, self.instruction);
        let number = self.found.first + self.found.reads.len() as u64;
        if number >= MOST_PLACES {
            return 0;
        }
        self.found.reads.push(Read { place, register });
        number << PLACE_SHIFT
    }

    /// Records where something that matters is undefined: from then on it counts as defined.
    pub fn must_be_defined(&mut self, operand: Operand, kind: UseKind, guarded: bool) {
        let Some(shade) = self.shade(operand) else { return };
        let place = place(self.module, self.function, self.instruction);
        if !is_runtimes(&place) {
            let offset = RECORD * self.found.uses.len() as u64;
            let mut holds = self.any(std::slice::from_ref(&shade));
            if let Some(guard) =
                self.instruction.and_then(|instruction| instruction.guard).filter(|_| guarded)
            {
                let name = self.body.register_name(guard.register);
                let runs = if guard.negated { format!("!{name}") } else { name };
                holds = self.and(1, &holds, &runs);
            }
            line!(self, "\t@{holds} st.global.v2.b64 [{RECORDS}+{offset}], {{{}, %gwhere}};", shade.origin);
            line!(self, "\t@{holds} red.global.add.u64 [{RECORDS}+{}], 1;", offset + 16);
            self.tells = true;
            self.found.uses.push(Use { place, kind });
        }
        let ty = if shade.bits == 1 { "pred".to_owned() } else { format!("b{}", shade.bits) };
        let guarded = if guarded { self.guarded() } else { String::new() };
        line!(self, "\t{guarded}mov.{ty} {}, {};", shade.shadow, Self::zero(shade.bits));
    }

    /// The bits of an address that origins have.
    pub const fn address_bits() -> u64 {
        SIZE - 1
    }
}
