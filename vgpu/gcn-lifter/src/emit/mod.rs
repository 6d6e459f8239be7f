//! Writes PTX: here kernels, functions and what they compute; [`memory`] accesses, [`call`] calls.

mod call;
mod memory;

use std::cell::RefCell;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::functions::{Functions, Unit};
use crate::node::{End, Function, Op, Space, Type, Value};
use crate::start::{PARAMETERS, SCRATCH, Shape};
use crate::state::{VECTOR, Variable};
use crate::{Apart, Kernel, Lifted, Refusal, trim};

/// The PTX of kernels with their functions, each in the order of `functions`.
pub fn kernels(
    lifted: &[Function],
    functions: &Functions,
    kernels: &[Kernel<'_>],
    base: u64,
    nowhere: Vec<u64>,
) -> std::result::Result<Lifted, Refusal> {
    let kernel = &kernels[0];
    let sizes = kernels.iter().map(|kernel| kernel.descriptor.private_segment_size.max(kernel.shape.private));
    let private = u64::from(sizes.max().unwrap_or(0)).next_multiple_of(16);
    let scratch = computes_addresses(lifted, functions, kernel.apart)
        .map_err(|what| Refusal { what, address: kernel.entry })?;
    let own = if scratch { 0 } else { private };
    if own > 0 && kernel.shape == Shape::any() {
        let what = "private memory that has no address, of a size that launches tell".to_owned();
        return Err(Refusal { what, address: kernel.entry });
    }
    let mut text =
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"gcn\"\n.extern .shared .align 16 .b8 lds[];\n"
            .to_owned();
    let flush = kernel.descriptor.rsrc1.denorm_mode_32() == 0;
    let shared = Shared { functions, own, flush };
    for unit in &functions.units[functions.kernels..] {
        let _ = writeln!(text, "{};", shared.head(unit));
    }
    if !functions.by_address.is_empty() {
        shared.find(&mut text);
    }
    let mut refused = functions.refused.clone();
    for (number, (f, unit)) in lifted.iter().zip(&functions.units).enumerate() {
        if refused.contains_key(&number) {
            continue;
        }
        let name = (number < functions.kernels).then(|| Lifted::name(number));
        match shared.function(f, unit, name.as_deref()) {
            Ok(written) => text.push_str(&written),
            Err((what, at)) => {
                let refusal = Refusal { what, address: base + 4 * u64::from(at) };
                if name.is_none() {
                    return Err(refusal);
                }
                refused.insert(number, refusal);
            }
        }
    }
    Ok(Lifted { text, refused, base, private, scratch, nowhere })
}

/// Whether private memory is used by its address, as memory of the wave's, and not as each lane's own.
fn computes_addresses(
    lifted: &[Function],
    functions: &Functions,
    apart: Apart,
) -> std::result::Result<bool, String> {
    let scratch = trim::leads_to_address(lifted, functions, |op| op == Op::Parameter(SCRATCH));
    let mut ops =
        lifted.iter().flat_map(|f| f.blocks.iter().flat_map(|block| &block.list).map(|value| f.op(*value)));
    let is_private = |op| match op {
        Op::Load(access) | Op::Store(access) => access.space == Space::Private,
        Op::Update(update, _) => update.space == Space::Private,
        _ => false,
    };
    if scratch && apart == Apart::Nobodys {
        return Err("an address in private memory".to_owned());
    }
    if scratch && ops.any(is_private) {
        return Err("private memory both by its address and without".to_owned());
    }
    Ok(scratch)
}

/// What a kernel and its functions have in common.
struct Shared<'a> {
    functions: &'a Functions,
    /// Bytes of private memory that a lane has of its own.
    own: u64,
    /// Denormals of single precision are zeros.
    flush: bool,
}

/// The registers of PTX that a function's register is passed in: one for each half, or one.
fn passed(variables: &[Variable]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let halves = |variable: Variable| if variable >= VECTOR { 2 } else { 1 };
    variables
        .iter()
        .enumerate()
        .flat_map(move |(index, variable)| (0..halves(*variable)).map(move |half| (index, half)))
}

impl Shared<'_> {
    /// A kernel with a name, or a function.
    fn function(&self, f: &Function, unit: &Unit, kernel: Option<&str>) -> Result<String> {
        let mut writer = Writer::new(f, self, unit);
        (0..f.blocks.len()).try_for_each(|block| writer.block(block))?;
        let mut text = match kernel {
            Some(name) => format!(".visible .entry {name}(.param .align 8 .b8 in[{}])", 4 * PARAMETERS),
            None => self.head(unit),
        };
        text.push_str("\n{\n");
        if self.own > 0 && kernel.is_some() {
            let _ = writeln!(text, ".local .align 16 .b8 own[{}];", 2 * self.own);
        }
        if self.own > 0 {
            text.push_str(".reg .b64 %own;\n");
        }
        text.push_str(&writer.registers.get_mut().declared());
        text.push_str(".reg .b32 %number, %below, %this;\n");
        if writer.by_address {
            let _ = writeln!(text, "{}", self.prototype());
        }
        text.push_str(
            "mov.u32 %number, %tid.x;\nmov.u32 %below, %lanemask_lt;\nmov.u32 %this, %lanemask_eq;\n",
        );
        if self.own > 0 {
            let from =
                if kernel.is_some() { "mov.u64 %own, own;\n" } else { "ld.param.b64 %own, [in_own];\n" };
            text.push_str(from);
        }
        text.push_str(&writer.text);
        text.push_str("}\n");
        Ok(text)
    }

    /// What a function takes and gives.
    fn head(&self, unit: &Unit) -> String {
        let given: Vec<String> =
            passed(&unit.gives).map(|(index, half)| format!(".param .b32 o{index}_{half}")).collect();
        let mut taken: Vec<String> =
            passed(&unit.takes).map(|(index, half)| format!(".param .b32 i{index}_{half}")).collect();
        if self.own > 0 {
            taken.insert(0, ".param .b64 in_own".to_owned());
        }
        format!(".func ({}) f_{:x} ({})", given.join(", "), unit.entry, taken.join(", "))
    }

    /// The same of functions that are called by their addresses.
    fn prototype(&self) -> String {
        let Some(unit) = self.functions.called(None).map(|number| &self.functions.units[number]) else {
            return String::new();
        };
        let given = vec![".param .b32 _"; passed(&unit.gives).count()];
        let mut taken = vec![".param .b32 _"; passed(&unit.takes).count()];
        if self.own > 0 {
            taken.insert(0, ".param .b64 _");
        }
        format!("shape: .callprototype ({}) _ ({});", given.join(", "), taken.join(", "))
    }

    /// A function that finds the one for an address.
    fn find(&self, text: &mut String) {
        text.push_str(
            ".func (.param .b64 found) find (.param .b64 to)\n{\n.reg .b64 %found, %to, %one;\n.reg .pred %is;\n\
             ld.param.b64 %to, [to];\nmov.u64 %found, 0;\n",
        );
        for address in &self.functions.by_address {
            let _ = writeln!(
                text,
                "mov.u64 %one, f_{address:x};\nsetp.eq.u64 %is, %to, 0x{address:x};\nselp.b64 %found, %one, %found, %is;"
            );
        }
        text.push_str("st.param.b64 [found], %found;\nret;\n}\n");
    }
}

/// What nothing is made of, and where it stands.
type Result<T = ()> = std::result::Result<T, (String, u32)>;

/// The registers of PTX of one function. Only those that are used are there: a module may have some millions.
struct Registers {
    /// How many there are of each kind.
    counts: [u32; KINDS.len()],
    /// Of each value the first one.
    numbers: Vec<Option<u32>>,
}

/// Their kinds: the beginning of a name, and the type.
const KINDS: [(&str, &str); 4] = [("%p", "pred"), ("%r", "b32"), ("%d", "b64"), ("%h", "b16")];
/// The kind of a half, which no value is.
const HALF: usize = 3;

const fn kind(ty: Type) -> usize {
    match ty {
        Type::Bit => 0,
        Type::Word | Type::Nothing => 1,
        Type::Wide => 2,
    }
}

impl Registers {
    fn of(f: &Function) -> RefCell<Self> {
        RefCell::new(Self { counts: [0; KINDS.len()], numbers: vec![None; f.nodes.len()] })
    }

    /// A value's first one.
    fn number(&mut self, value: Value, kind: usize) -> u32 {
        if let Some(known) = self.numbers[value.index()] {
            return known;
        }
        let number = self.next(kind, 2);
        self.numbers[value.index()] = Some(number);
        number
    }

    /// So many new ones.
    fn next(&mut self, kind: usize, count: u32) -> u32 {
        let first = self.counts[kind];
        self.counts[kind] += count;
        first
    }

    fn declared(&self) -> String {
        let declared =
            |(&(name, ty), &count): (&(&str, &str), &u32)| format!(".reg .{ty} {name}<{count}>;\n");
        KINDS.iter().zip(&self.counts).filter(|(_, count)| **count > 0).map(declared).collect()
    }
}

struct Writer<'a> {
    f: &'a Function,
    shared: &'a Shared<'a>,
    unit: &'a Unit,
    text: String,
    registers: RefCell<Registers>,
    labels: u32,
    /// An address of which is known whether it is elsewhere than in global memory, and the predicate.
    elsewhere: Option<(Value, String)>,
    /// What calls give, by the call and the register.
    results: FxHashMap<(Value, Variable), Value>,
    /// Functions are called by their addresses.
    by_address: bool,
}

const HALVES: [u32; 2] = [0, 1];

impl<'a> Writer<'a> {
    fn new(f: &'a Function, shared: &'a Shared<'a>, unit: &'a Unit) -> Self {
        let values = f.blocks.iter().flat_map(|block| block.list.iter().copied());
        let results = values.filter_map(|value| match f.op(value) {
            Op::Result(variable) => Some(((f.arg(value, 0), variable), value)),
            _ => None,
        });
        Self {
            f,
            shared,
            unit,
            text: String::new(),
            registers: Registers::of(f),
            labels: 0,
            elsewhere: None,
            results: results.collect(),
            by_address: false,
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Registers of the type for what is needed for a moment.
    fn temporary(&mut self, ty: Type) -> String {
        let kind = kind(ty);
        format!("{}{}", KINDS[kind].0, self.registers.get_mut().next(kind, 1))
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("S{}", self.labels)
    }

    fn differs(&self, value: Value) -> bool {
        self.f.lanes.get(self.f.find(value).index()).copied().unwrap_or(false)
    }

    fn register(&self, value: Value, half: u32) -> String {
        let value = self.f.find(value);
        let half = if self.differs(value) { half } else { 0 };
        let kind = kind(self.f.ty(value));
        format!("{}{}", KINDS[kind].0, self.registers.borrow_mut().number(value, kind) + half)
    }

    /// An operand of an instruction with a type.
    fn operand(&self, value: Value, half: u32, ty: &str) -> String {
        match (self.f.as_constant(value), self.f.ty(value)) {
            (Some(value), Type::Word) if ty.ends_with("f32") => format!("0f{value:08X}"),
            (Some(value), Type::Wide) if ty.ends_with("f64") => format!("0d{value:016X}"),
            (Some(value), Type::Word) => format!("{}", (value as u32).cast_signed()),
            (Some(value), Type::Wide) => format!("0x{value:X}"),
            _ => self.register(value, half),
        }
    }

    fn block(&mut self, number: usize) -> Result {
        self.line(&format!("B{number}:"));
        let block = &self.f.blocks[number];
        let mut place = (u32::MAX, 0);
        for value in &block.list {
            let node = self.f.node(*value);
            for half in HALVES {
                let once = !self.differs(*value) && !matches!(node.op, Op::Update(..));
                if half == 1 && once {
                    continue;
                }
                if place != (node.at, half) {
                    place = (node.at, half);
                    self.line(&format!(".loc 1 {} {}", node.at + 1, half + 1));
                }
                self.value(*value, half).map_err(|what| (what, node.at))?;
            }
        }
        match block.end {
            End::Jump(to) => self.jump(number, to),
            End::Branch(bit, yes, no) => match self.f.as_constant(bit) {
                Some(bit) => self.jump(number, if bit != 0 { yes } else { no }),
                None => {
                    let (bit, label) = (self.register(bit, 0), self.label());
                    self.line(&format!("@{bit} bra {label};"));
                    self.jump(number, no);
                    self.line(&format!("{label}:"));
                    self.jump(number, yes);
                }
            },
            End::Stop => self.line("exit;"),
            End::Return => self.line("ret;"),
        }
        Ok(())
    }

    /// Goes to a block, whose phis get their values.
    fn jump(&mut self, from: usize, to: usize) {
        let block = &self.f.blocks[to];
        let index = block.before.iter().position(|before| *before == from).unwrap_or(0);
        let moves: Vec<(Value, Value)> = block
            .phis
            .iter()
            .map(|phi| (*phi, self.f.arg(*phi, index)))
            .filter(|(phi, value)| phi != value)
            .collect();
        let mut later = Vec::new();
        for (phi, value) in &moves {
            // Another phi's value, which may be written here, too.
            let is_phi = moves.iter().any(|(other, _)| other == value);
            let ty = self.f.ty(*phi);
            for half in HALVES {
                if half == 1 && !self.differs(*phi) {
                    continue;
                }
                let (to, from) = (self.register(*phi, half), self.operand(*value, half, ""));
                let name = match ty {
                    Type::Bit => "mov.pred",
                    Type::Wide => "mov.b64",
                    Type::Word | Type::Nothing => "mov.b32",
                };
                if let (Type::Bit, Some(value)) = (ty, self.f.as_constant(*value)) {
                    later.push(format!("setp.eq.u32 {to}, {}, 1;", value));
                } else if is_phi {
                    let temporary = self.temporary(ty);
                    self.line(&format!("{name} {temporary}, {from};"));
                    later.push(format!("{name} {to}, {temporary};"));
                } else {
                    later.push(format!("{name} {to}, {from};"));
                }
            }
        }
        for line in later {
            self.line(&line);
        }
        self.line(&format!("bra B{to};"));
    }

    fn value(&mut self, value: Value, half: u32) -> std::result::Result<(), String> {
        let node = self.f.node(value);
        let to = self.register(value, half);
        let arg = |index: usize, ty: &str| self.operand(node.args[index], half, ty);
        match node.op {
            Op::Constant(_) | Op::Phi | Op::Result(_) => {}
            Op::Entry(variable) => {
                let Some(index) = self.unit.takes.iter().position(|taken| *taken == variable) else {
                    return Err(format!("the register {variable}, which nobody gives the function"));
                };
                let half = if variable >= VECTOR { half } else { 0 };
                let differs = self.differs(value);
                self.passed(&to, node.ty, differs, &format!("i{index}_{half}"));
            }
            Op::Call(called) => self.call(value, called)?,
            Op::Return => {
                let args = node.args.clone();
                for (index, half) in passed(&self.unit.gives) {
                    let word = self.word(args[index], half);
                    self.line(&format!("st.param.b32 [o{index}_{half}], {word};"));
                }
            }
            Op::Parameter(number) => self.line(&format!("ld.param.u32 {to}, [in+{}];", 4 * number)),
            Op::Special(name) => self.line(&format!("mov.u32 {to}, {name};")),
            Op::Lane => self.line(&format!("add.u32 {to}, %number, {};", 32 * half)),
            Op::Below(high) => self.line(&match (high, half) {
                (false, 0) | (true, 1) => format!("mov.u32 {to}, %number;"),
                (false, _) => format!("mov.u32 {to}, 32;"),
                (true, _) => format!("mov.u32 {to}, 0;"),
            }),
            Op::MaskBelow(high) => self.line(&match (high, half) {
                (false, 0) | (true, 1) => format!("mov.u32 {to}, %below;"),
                (false, _) => format!("mov.u32 {to}, -1;"),
                (true, _) => format!("mov.u32 {to}, 0;"),
            }),
            Op::Pack => {
                let line = format!("mov.b64 {to}, {{{}, {}}};", arg(0, ""), arg(1, ""));
                self.line(&line);
            }
            Op::Low | Op::High => {
                let (wide, other) = (arg(0, ""), self.temporary(Type::Word));
                self.line(&match node.op {
                    Op::Low => format!("mov.b64 {{{to}, {other}}}, {wide};"),
                    _ => format!("mov.b64 {{{other}, {to}}}, {wide};"),
                });
            }
            Op::Plain(name) if name.ends_with(".f16") || name.contains(".f16.") => {
                self.half(value, half, name)
            }
            Op::Plain(name) => {
                let mut line = format!("{} {to}", self.flushing(name));
                let ty = name.rsplit('.').next().unwrap_or_default();
                for index in 0..node.args.len() {
                    // How far is shifted, and where a field is, are words.
                    let ty = if index > 0 && (name.starts_with("sh") || name.starts_with("bf")) {
                        "u32"
                    } else {
                        ty
                    };
                    let _ = write!(line, ", {}", arg(index, ty));
                }
                line.push(';');
                self.line(&line);
            }
            Op::Select => self.select(value, half),
            Op::Ballot => {
                let (low, high) = (self.temporary(Type::Word), self.temporary(Type::Word));
                let bits = HALVES.map(|half| self.operand(node.args[0], half, ""));
                self.line(&format!("vote.sync.ballot.b32 {low}, {}, -1;", bits[0]));
                self.line(&format!("vote.sync.ballot.b32 {high}, {}, -1;", bits[1]));
                self.line(&format!("mov.b64 {to}, {{{low}, {high}}};"));
            }
            Op::LaneBit => {
                let mask = arg(0, "");
                let [low, high, bit] = [(); 3].map(|()| self.temporary(Type::Word));
                self.line(&format!("mov.b64 {{{low}, {high}}}, {mask};"));
                self.line(&format!("and.b32 {bit}, {}, %this;", if half == 0 { low } else { high }));
                self.line(&format!("setp.ne.u32 {to}, {bit}, 0;"));
            }
            Op::AddCarry => {
                let (a, b, sum) = (arg(0, ""), arg(1, ""), self.temporary(Type::Word));
                self.line(&format!("add.u32 {sum}, {a}, {b};"));
                self.line(&format!("setp.lt.u32 {to}, {sum}, {a};"));
            }
            Op::SubBorrow => {
                let line = format!("setp.lt.u32 {to}, {}, {};", arg(0, ""), arg(1, ""));
                self.line(&line);
            }
            Op::AddWith | Op::SubWith => {
                let name = if node.op == Op::AddWith { "add" } else { "sub" };
                let (a, b, carry) = (arg(0, ""), arg(1, ""), arg(2, ""));
                let (one, sum) = (self.temporary(Type::Word), self.temporary(Type::Word));
                self.line(&format!("selp.u32 {one}, 1, 0, {carry};"));
                self.line(&format!("{name}.u32 {sum}, {a}, {b};"));
                self.line(&format!("{name}.u32 {to}, {sum}, {one};"));
            }
            Op::Gather | Op::ReadLane => self.gather(value, half),
            Op::Load(access) => self.load(value, half, access),
            Op::Store(access) => self.store(value, half, access),
            Op::Update(update, returns) => self.update(value, half, update, returns),
            Op::Barrier => self.line("bar.sync 0;"),
            Op::Fence => self.line("fence.acq_rel.sys;"),
            Op::Pause => self.line("nanosleep.u32 100;"),
            Op::Trap => self.line("trap;"),
            Op::Beyond => match self.f.as_constant(node.args[0]) {
                Some(0) => {}
                Some(_) => self.line("trap;"),
                None => {
                    let bit = self.register(node.args[0], half);
                    self.line(&format!("@{bit} trap;"));
                }
            },
            Op::Require(_) if self.f.as_constant(node.args[0]) == Some(1) => {}
            Op::Require(_) if self.shared.functions.units.len() > self.shared.functions.kernels => {
                // What a function is given is known when it runs.
                let (bit, not) = (self.register(node.args[0], 0), self.temporary(Type::Bit));
                self.line(&format!("not.pred {not}, {bit};"));
                self.line(&format!("@{not} trap;"));
            }
            Op::Require(name) | Op::Unknown(name) => return Err(name.to_owned()),
        }
        Ok(())
    }

    /// A conversion from or to a half, which stands in the lower part of a word.
    fn half(&mut self, value: Value, half: u32, name: &str) {
        let to = self.register(value, half);
        let part = format!("{}{}", KINDS[HALF].0, self.registers.get_mut().next(HALF, 1));
        if name.ends_with(".f16") {
            let from = self.in_register(self.f.arg(value, 0), half);
            self.line(&format!("cvt.u16.u32 {part}, {from};"));
            self.line(&format!("{name} {to}, {part};"));
        } else {
            let from = self.operand(self.f.arg(value, 0), half, name);
            self.line(&format!("{name} {part}, {from};"));
            self.line(&format!("cvt.u32.u16 {to}, {part};"));
        }
    }

    /// The same instruction with denormals as the kernel has them.
    fn flushing(&self, name: &str) -> String {
        let is_moved = name.starts_with("cvt.") && !name.contains("f32");
        if !self.shared.flush || !name.contains("f32") || name.contains("ftz") || is_moved {
            return name.to_owned();
        }
        let is_type = |part: &str| part.len() > 1 && part[1..].bytes().all(|byte| byte.is_ascii_digit());
        let mut parts: Vec<&str> = name.split('.').collect();
        if let Some(at) = parts.iter().position(|part| is_type(part)) {
            parts.insert(at, "ftz");
        }
        parts.join(".")
    }

    fn select(&mut self, value: Value, half: u32) {
        let node = self.f.node(value);
        let to = self.register(value, half);
        let [bit, yes, no] = [0, 1, 2].map(|index| self.operand(node.args[index], half, ""));
        match node.ty {
            Type::Bit => {
                // Of predicates there is no choice but by what they are.
                let [yes, no] = [(1, yes), (2, no)].map(|(index, name)| {
                    let Some(constant) = self.f.as_constant(node.args[index]) else { return name };
                    let temporary = self.temporary(Type::Bit);
                    self.line(&format!("setp.eq.u32 {temporary}, {constant}, 1;"));
                    temporary
                });
                let (a, b, c) =
                    (self.temporary(Type::Bit), self.temporary(Type::Bit), self.temporary(Type::Bit));
                self.line(&format!("and.pred {a}, {bit}, {yes};"));
                self.line(&format!("not.pred {b}, {bit};"));
                self.line(&format!("and.pred {c}, {b}, {no};"));
                self.line(&format!("or.pred {to}, {a}, {c};"));
            }
            Type::Wide => self.line(&format!("selp.b64 {to}, {yes}, {no}, {bit};")),
            Type::Word | Type::Nothing => self.line(&format!("selp.b32 {to}, {yes}, {no}, {bit};")),
        }
    }

    /// A value of another lane, or of one for all.
    fn gather(&mut self, value: Value, half: u32) {
        let node = self.f.node(value);
        let to = self.register(value, half);
        let from = HALVES.map(|half| self.register(node.args[0], half));
        let mode = "31, -1";
        if let Some(lane) = self.f.as_constant(node.args[1]) {
            let from = &from[usize::from(lane >= 32)];
            self.line(&format!("shfl.sync.idx.b32 {to}, {from}, {}, {mode};", lane & 31));
            return;
        }
        let lane = self.operand(node.args[1], half, "");
        let [low, high, place] = [(); 3].map(|()| self.temporary(Type::Word));
        let upper = self.temporary(Type::Bit);
        self.line(&format!("and.b32 {place}, {lane}, 31;"));
        self.line(&format!("shfl.sync.idx.b32 {low}, {}, {place}, {mode};", from[0]));
        self.line(&format!("shfl.sync.idx.b32 {high}, {}, {place}, {mode};", from[1]));
        self.line(&format!("setp.ge.u32 {upper}, {lane}, 32;"));
        self.line(&format!("selp.b32 {to}, {high}, {low}, {upper};"));
    }
}
