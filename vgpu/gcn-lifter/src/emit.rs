//! Writes PTX.

use std::cell::RefCell;
use std::fmt::Write;

use gangway_gcn_interpreter::{GROUP_APERTURE, PRIVATE_APERTURE};
use rustc_hash::FxHashMap;

use crate::functions::{Functions, Unit};
use crate::node::{Access, End, Function, Op, Space, Type, Update, Value};
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

    /// Takes what is passed under a name; bits are words then. That all lanes have the same the engine does not know.
    fn passed(&mut self, to: &str, ty: Type, differs: bool, name: &str) {
        let is_bit = ty == Type::Bit;
        if differs && !is_bit {
            return self.line(&format!("ld.param.b32 {to}, [{name}];"));
        }
        let mut word = self.temporary(Type::Word);
        self.line(&format!("ld.param.b32 {word}, [{name}];"));
        if !differs {
            let first = if is_bit { self.temporary(Type::Word) } else { to.to_owned() };
            self.first_lanes(&first, &word, Type::Word);
            word = first;
        }
        if is_bit {
            self.line(&format!("setp.ne.u32 {to}, {word}, 0;"));
        }
    }

    /// A word that is passed; bits are words then.
    fn word(&mut self, value: Value, half: u32) -> String {
        let from = self.operand(value, half, "");
        if self.f.ty(value) != Type::Bit {
            return from;
        }
        if let Some(bit) = self.f.as_constant(value) {
            return format!("{bit}");
        }
        let temporary = self.temporary(Type::Word);
        self.line(&format!("selp.b32 {temporary}, 1, 0, {from};"));
        temporary
    }

    /// A call of a function with a number, or of one by its address.
    fn call(&mut self, value: Value, called: Option<u32>) -> std::result::Result<(), String> {
        let shared = self.shared;
        let number = called.map(|number| number as usize).or_else(|| shared.functions.called(None));
        let Some(unit) = number.map(|number| &shared.functions.units[number]) else {
            return Err("a call where there are no functions".to_owned());
        };
        let node = self.f.node(value);
        let (address, args) =
            if called.is_some() { (None, &node.args[..]) } else { (Some(node.args[0]), &node.args[1..]) };
        let target = match address {
            Some(address) => {
                self.by_address = true;
                let (from, found, none) =
                    (self.in_register(address, 0), self.temporary(Type::Wide), self.temporary(Type::Bit));
                self.line("{\n.param .b64 found;\n.param .b64 to;");
                self.line(&format!("st.param.b64 [to], {from};\ncall (found), find, (to);"));
                self.line(&format!("ld.param.b64 {found}, [found];\n}}"));
                self.line(&format!("setp.eq.u64 {none}, {found}, 0;"));
                self.line(&format!("@{none} trap;"));
                found
            }
            None => format!("f_{:x}", unit.entry),
        };
        self.line("{");
        let mut taken = Vec::new();
        if self.shared.own > 0 {
            taken.push("in_own".to_owned());
            self.line(".param .b64 in_own;\nst.param.b64 [in_own], %own;");
        }
        for (index, half) in passed(&unit.takes) {
            let word = self.word(args[index], half);
            let name = format!("a{index}_{half}");
            self.line(&format!(".param .b32 {name};\nst.param.b32 [{name}], {word};"));
            taken.push(name);
        }
        let value = self.f.find(value);
        let given: Vec<String> =
            passed(&unit.gives).map(|(index, half)| format!("r{index}_{half}")).collect();
        for name in &given {
            self.line(&format!(".param .b32 {name};"));
        }
        let prototype = if address.is_some() { ", shape" } else { "" };
        self.line(&format!("call ({}), {target}, ({}){prototype};", given.join(", "), taken.join(", ")));
        for ((index, half), name) in passed(&unit.gives).zip(&given) {
            let Some(result) = self.results.get(&(value, unit.gives[index])).copied() else { continue };
            let (to, ty, differs) = (self.register(result, half), self.f.ty(result), self.differs(result));
            self.passed(&to, ty, differs, name);
        }
        self.line("}");
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

    /// The condition of an access, for the front of an instruction; nothing if it is never done.
    fn guard(&self, bit: Option<&Value>, half: u32) -> Option<String> {
        let Some(bit) = bit else { return Some(String::new()) };
        match self.f.as_constant(*bit) {
            Some(0) => None,
            Some(_) => Some(String::new()),
            None => Some(format!("@{} ", self.register(*bit, half))),
        }
    }

    /// The address of a lane's own memory.
    fn own(&mut self, word: &str, half: u32) -> String {
        let (wide, at) = (self.temporary(Type::Wide), self.temporary(Type::Wide));
        self.line(&format!("cvt.u64.u32 {wide}, {word};"));
        self.line(&format!("add.s64 {at}, {wide}, %own;"));
        if half == 0 || self.shared.own == 0 {
            return at;
        }
        let other = self.temporary(Type::Wide);
        self.line(&format!("add.s64 {other}, {at}, {};", self.shared.own));
        other
    }

    /// Does something to memory: `with` writes it for a space, an address and a guard.
    fn place(
        &mut self,
        space: Space,
        address: Value,
        half: u32,
        guard: &str,
        with: &mut dyn FnMut(&mut Self, &str, &str, &str),
    ) {
        let at = self.in_register(address, half);
        match space {
            Space::Global => with(self, "global", &at, guard),
            Space::Group => with(self, "shared", &at, guard),
            Space::Private => {
                let at = self.own(&at, half);
                with(self, "local", &at, guard);
            }
            Space::Flat => self.flat(address, &at, half, guard, with),
            Space::FlatOfFirst => self.flat_of_first(&at, with),
        }
    }

    /// An address in a register.
    fn in_register(&mut self, address: Value, half: u32) -> String {
        let at = self.operand(address, half, "u64");
        if self.f.as_constant(address).is_none() {
            return at;
        }
        let ty = self.f.ty(address);
        let temporary = self.temporary(ty);
        let name = if ty == Type::Wide { "mov.b64" } else { "mov.b32" };
        self.line(&format!("{name} {temporary}, {at};"));
        temporary
    }

    /// Whether an address of any lane, of both halves, is in LDS or private memory.
    fn elsewhere(&mut self, address: Value) -> String {
        let first = (GROUP_APERTURE >> 32) as u32;
        let length = (PRIVATE_APERTURE >> 32) as u32 - first;
        let windows = HALVES.map(|half| {
            let at = self.in_register(address, half);
            let [low, high, from_first] = [(); 3].map(|()| self.temporary(Type::Word));
            let window = self.temporary(Type::Bit);
            self.line(&format!("mov.b64 {{{low}, {high}}}, {at};"));
            self.line(&format!("sub.u32 {from_first}, {high}, {first};"));
            self.line(&format!("setp.le.u32 {window}, {from_first}, {length};"));
            window
        });
        let [either, any] = [(); 2].map(|()| self.temporary(Type::Bit));
        self.line(&format!("or.pred {either}, {}, {};", windows[0], windows[1]));
        self.line(&format!("vote.sync.any.pred {any}, {either}, -1;"));
        any
    }

    /// An address that says where it is: as a rule in global memory in all lanes.
    fn flat(
        &mut self,
        address: Value,
        at: &str,
        half: u32,
        guard: &str,
        with: &mut dyn FnMut(&mut Self, &str, &str, &str),
    ) {
        let any = match self.elsewhere.take() {
            Some((known, any)) if known == address && half == 1 => any,
            _ => self.elsewhere(address),
        };
        self.elsewhere = Some((address, any.clone()));
        let [low, high] = [(); 2].map(|()| self.temporary(Type::Word));
        let [group, own, global] = [(); 3].map(|()| self.temporary(Type::Bit));
        let (slow, done) = (self.label(), self.label());
        let (first, second) = ((GROUP_APERTURE >> 32) as u32, (PRIVATE_APERTURE >> 32) as u32);
        self.line(&format!("@{any} bra {slow};"));
        with(self, "global", at, guard);
        self.line(&format!("bra {done};"));
        self.line(&format!("{slow}:"));
        self.line(&format!("mov.b64 {{{low}, {high}}}, {at};"));
        self.line(&format!("setp.eq.u32 {group}, {high}, {first};"));
        self.line(&format!("setp.eq.u32 {own}, {high}, {second};"));
        self.line(&format!("or.pred {global}, {group}, {own};"));
        self.line(&format!("not.pred {global}, {global};"));
        if let Some(bit) = guard.trim().strip_prefix('@') {
            for part in [&group, &own, &global] {
                self.line(&format!("and.pred {part}, {part}, {bit};"));
            }
        }
        with(self, "global", at, &format!("@{global} "));
        with(self, "shared", &low, &format!("@{group} "));
        if self.shared.own > 0 {
            let own_at = self.own(&low, half);
            with(self, "local", &own_at, &format!("@{own} "));
        } else {
            self.line(&format!("@{own} trap;"));
        }
        self.line(&format!("{done}:"));
    }

    /// An address of the first lane's, which all have. Its own memory the others do not share.
    fn flat_of_first(&mut self, at: &str, with: &mut dyn FnMut(&mut Self, &str, &str, &str)) {
        let [low, high, from_first] = [(); 3].map(|()| self.temporary(Type::Word));
        let [elsewhere, group, own] = [(); 3].map(|()| self.temporary(Type::Bit));
        let (slow, of_group, done) = (self.label(), self.label(), self.label());
        let (first, second) = ((GROUP_APERTURE >> 32) as u32, (PRIVATE_APERTURE >> 32) as u32);
        self.line(&format!("mov.b64 {{{low}, {high}}}, {at};"));
        self.line(&format!("sub.u32 {from_first}, {high}, {first};"));
        self.line(&format!("setp.le.u32 {elsewhere}, {from_first}, {};", second - first));
        self.line(&format!("@{elsewhere} bra {slow};"));
        with(self, "global", at, "");
        self.line(&format!("bra {done};"));
        self.line(&format!("{slow}:"));
        self.line(&format!("setp.eq.u32 {group}, {high}, {first};"));
        self.line(&format!("@{group} bra {of_group};"));
        self.line(&format!("setp.eq.u32 {own}, {high}, {second};"));
        if self.shared.own > 0 {
            let (global, own_at) = (self.label(), self.own(&low, 0));
            self.line(&format!("@!{own} bra {global};"));
            with(self, "local", &own_at, "");
            self.line(&format!("bra {done};"));
            self.line(&format!("{global}:"));
        } else {
            self.line(&format!("@{own} trap;"));
        }
        with(self, "global", at, "");
        self.line(&format!("bra {done};"));
        self.line(&format!("{of_group}:"));
        with(self, "shared", &low, "");
        self.line(&format!("{done}:"));
    }

    /// Writes what the first lane has in a register into another one, of all lanes.
    fn first_lanes(&mut self, to: &str, from: &str, ty: Type) {
        let of_word = |to: &str, from: &str| format!("shfl.sync.idx.b32 {to}, {from}, 0, 31, -1;");
        if ty != Type::Wide {
            return self.line(&of_word(to, from));
        }
        let [low, high, first_low, first_high] = [(); 4].map(|()| self.temporary(Type::Word));
        self.line(&format!("mov.b64 {{{low}, {high}}}, {from};"));
        self.line(&of_word(&first_low, &low));
        self.line(&of_word(&first_high, &high));
        self.line(&format!("mov.b64 {to}, {{{first_low}, {first_high}}};"));
    }

    fn load(&mut self, value: Value, half: u32, access: Access) {
        let node = self.f.node(value);
        let to = self.register(value, half);
        let zero = format!("mov.b{} {to}, 0;", if node.ty == Type::Wide { 64 } else { 32 });
        let Some(guard) = self.guard(node.args.get(1), half) else { return self.line(&zero) };
        if !guard.is_empty() || access.space == Space::Flat {
            self.line(&zero);
        }
        let kind = match (access.bits, access.signed) {
            (bits, true) => format!("s{bits}"),
            (bits @ (8 | 16), false) => format!("u{bits}"),
            (bits, false) => format!("b{bits}"),
        };
        let strong = if access.strong { ".volatile" } else { "" };
        let own = self.temporary(node.ty);
        self.place(access.space, node.args[0], half, &guard, &mut |writer, space, at, guard| {
            let strong = if space == "global" { strong } else { "" };
            let is_firsts = access.space == Space::FlatOfFirst && space == "local";
            let loaded = if is_firsts { &own } else { &to };
            writer.line(&format!("{guard}ld{strong}.{space}.{kind} {loaded}, [{at}+{}];", access.offset));
            if is_firsts {
                writer.first_lanes(&to, &own, node.ty);
            }
        });
    }

    fn store(&mut self, value: Value, half: u32, access: Access) {
        let node = self.f.node(value);
        let Some(guard) = self.guard(node.args.get(2), half) else { return };
        let mut from = self.operand(node.args[1], half, "");
        if self.f.as_constant(node.args[1]).is_some() {
            let ty = self.f.ty(node.args[1]);
            let temporary = self.temporary(ty);
            let name = if ty == Type::Wide { "mov.b64" } else { "mov.b32" };
            self.line(&format!("{name} {temporary}, {from};"));
            from = temporary;
        }
        let kind = if access.bits < 32 { format!("u{}", access.bits) } else { format!("b{}", access.bits) };
        let strong = if access.strong { ".volatile" } else { "" };
        self.place(access.space, node.args[0], half, &guard, &mut |writer, space, at, guard| {
            let strong = if space == "global" { strong } else { "" };
            let mut guard = guard.to_owned();
            if access.space == Space::FlatOfFirst && space == "local" {
                let is_first = writer.temporary(Type::Bit);
                writer.line(&format!("setp.eq.u32 {is_first}, %number, 0;"));
                guard = format!("@{is_first} ");
            }
            writer.line(&format!("{guard}st{strong}.{space}.{kind} [{at}+{}], {from};", access.offset));
        });
    }

    fn update(&mut self, value: Value, half: u32, update: Update, returns: bool) {
        let node = self.f.node(value);
        let count = if update.name.starts_with("cas") { 2 } else { 1 };
        let Some(guard) = self.guard(node.args.get(1 + count), half) else { return };
        let to = self.register(value, half);
        let ty = update.name.rsplit('.').next().unwrap_or_default();
        let data: Vec<String> = (1..=count).map(|index| self.operand(node.args[index], half, ty)).collect();
        let wide = node.ty == Type::Wide;
        if returns && (!guard.is_empty() || update.space == Space::Flat) {
            self.line(&format!("mov.b{} {to}, 0;", if wide { 64 } else { 32 }));
        }
        let name = update.name;
        let reduces = !returns && !name.starts_with("cas") && !name.starts_with("exch");
        self.place(update.space, node.args[0], half, &guard, &mut |writer, space, at, guard| {
            if space == "local" {
                writer.update_own(name, &to, &format!("[{at}+{}]", update.offset), &data, guard, wide);
            } else if let Some(chosen) = extreme(name) {
                let at = format!("[{at}+{}]", update.offset);
                writer.update_by_comparison(chosen, space, &to, &at, &data[0], guard, wide);
            } else if reduces {
                writer.line(&format!(
                    "{guard}red.{space}.{name} [{at}+{}], {};",
                    update.offset,
                    data.join(", ")
                ));
            } else {
                writer.line(&format!(
                    "{guard}atom.{space}.{name} {to}, [{at}+{}], {};",
                    update.offset,
                    data.join(", ")
                ));
            }
        });
    }

    /// What an atomic operation makes of the lane's own memory, which PTX has none for, nor has anybody else.
    fn update_own(&mut self, name: &str, to: &str, at: &str, data: &[String], guard: &str, wide: bool) {
        let (ty, kind) = if wide { (Type::Wide, "b64") } else { (Type::Word, "b32") };
        let old = self.temporary(ty);
        let (operation, of) = name.rsplit_once('.').unwrap_or((name, kind));
        self.line(&format!("mov.{kind} {old}, 0;"));
        self.line(&format!("{guard}ld.local.{kind} {old}, {at};"));
        let new = match operation {
            "exch" => data[0].clone(),
            "cas" => {
                let (new, is) = (self.temporary(ty), self.temporary(Type::Bit));
                self.line(&format!("setp.eq.{kind} {is}, {old}, {};", data[0]));
                self.line(&format!("selp.{kind} {new}, {}, {old}, {is};", data[1]));
                new
            }
            "inc" | "dec" => self.counted(operation == "inc", &old, &data[0]),
            _ => self.combined(operation, of, &old, &data[0], ty),
        };
        self.line(&format!("{guard}st.local.{kind} {at}, {new};"));
        self.line(&format!("{guard}mov.{kind} {to}, {old};"));
    }

    /// An operation of two numbers, by the name that its atomic form has.
    fn combined(&mut self, operation: &str, of: &str, old: &str, data: &str, ty: Type) -> String {
        let new = self.temporary(ty);
        let operation = if operation == "add" && of.starts_with('f') { "add.rn" } else { operation };
        self.line(&format!("{operation}.{of} {new}, {old}, {data};"));
        new
    }

    /// A word that counts up to a limit, or down from it.
    fn counted(&mut self, up: bool, old: &str, limit: &str) -> String {
        let [next, new] = [(); 2].map(|()| self.temporary(Type::Word));
        let [ends, beyond] = [(); 2].map(|()| self.temporary(Type::Bit));
        self.line(&format!("add.u32 {next}, {old}, {};", if up { "1" } else { "-1" }));
        if up {
            self.line(&format!("setp.ge.u32 {ends}, {old}, {limit};"));
            self.line(&format!("selp.b32 {new}, 0, {next}, {ends};"));
        } else {
            self.line(&format!("setp.eq.u32 {ends}, {old}, 0;"));
            self.line(&format!("setp.gt.u32 {beyond}, {old}, {limit};"));
            self.line(&format!("or.pred {ends}, {ends}, {beyond};"));
            self.line(&format!("selp.b32 {new}, {limit}, {next}, {ends};"));
        }
        new
    }

    /// The minimum or maximum of floating-point numbers, which PTX has no atomic operation for. Lanes go round until
    /// each has exchanged what it has computed for what that was computed from.
    fn update_by_comparison(
        &mut self,
        (operation, of): (&str, &str),
        space: &str,
        to: &str,
        at: &str,
        data: &str,
        guard: &str,
        wide: bool,
    ) {
        let (ty, kind) = if wide { (Type::Wide, "b64") } else { (Type::Word, "b32") };
        let [old, found] = [(); 2].map(|()| self.temporary(ty));
        let [waits, differs, any] = [(); 3].map(|()| self.temporary(Type::Bit));
        let again = self.label();
        match guard.trim().strip_prefix('@') {
            Some(bit) => self.line(&format!("or.pred {waits}, {bit}, {bit};")),
            None => self.line(&format!("setp.eq.u32 {waits}, 0, 0;")),
        }
        self.line(&format!("mov.{kind} {old}, 0;"));
        self.line(&format!("mov.{kind} {found}, 0;"));
        self.line(&format!("{again}:"));
        self.line(&format!("@{waits} ld.volatile.{space}.{kind} {old}, {at};"));
        let new = self.combined(operation, of, &old, data, ty);
        // Of two NaN it is the data.
        self.line(&format!("setp.nan.{of} {differs}, {new}, {new};"));
        self.line(&format!("selp.{kind} {new}, {data}, {new}, {differs};"));
        self.line(&format!("@{waits} atom.{space}.cas.{kind} {found}, {at}, {old}, {new};"));
        self.line(&format!("setp.ne.{kind} {differs}, {found}, {old};"));
        self.line(&format!("and.pred {waits}, {waits}, {differs};"));
        self.line(&format!("vote.sync.any.pred {any}, {waits}, -1;"));
        self.line(&format!("@{any} bra {again};"));
        self.line(&format!("{guard}mov.{kind} {to}, {found};"));
    }
}

/// The operation and the type of an atomic minimum or maximum of floating-point numbers.
fn extreme(name: &str) -> Option<(&str, &str)> {
    let (operation, of) = name.rsplit_once('.')?;
    (matches!(operation, "min" | "max") && of.starts_with('f')).then_some((operation, of))
}
