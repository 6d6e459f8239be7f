//! Parameters and results of functions: their shadows stand in a page of the thread's own memory while a function is
//! called, or returns. What is written there is read next, as code that passes and takes values stands around its call.

use gangway_ptx::meaning::MemoryAccess;
use gangway_ptx::{Base, FunctionId, Instruction, Meaning, Operand, StateSpace, Symbol, Type, Variable};

use crate::layout::{
    LOCAL_SHADOW, MOST_ORIGINS, PARAMETER_ORIGINS, PARAMETERS, PARAMETERS_SIZE, RESULT_ORIGIN, RESULTS,
    RESULTS_SIZE,
};
use crate::weaver::{Shade, Weaver, line};

/// Where the shadow of a parameter or a result stands, and its origin.
#[derive(Clone, Copy, Debug)]
struct Passed {
    shadow: u64,
    origin: u64,
    size: u64,
}

/// Where those of a list stand; none for what there is no room for.
fn places(list: &[Variable], results: bool) -> Vec<Option<Passed>> {
    let (mut start, end) = match results {
        true => (RESULTS, RESULTS + RESULTS_SIZE),
        false => (PARAMETERS, PARAMETERS + PARAMETERS_SIZE),
    };
    let place = |(index, variable): (u64, &Variable)| {
        let size = variable.size().unwrap_or(0);
        let shadow = start;
        start = (start + size).next_multiple_of(8);
        let origin = if results { RESULT_ORIGIN } else { PARAMETER_ORIGINS + 8 * index };
        (start <= end && index < MOST_ORIGINS).then_some(Passed { shadow, origin, size })
    };
    (0..).zip(list).map(place).collect()
}

/// How a parameter of this function is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Its shadow stands in a register.
    Register,
    /// It has an address, and its shadow is there.
    Memory,
}

impl Weaver<'_> {
    /// The functions' lists of parameters and results that a call is made with; none if the function is no one's of this
    /// module, and knows nothing of shadows.
    fn called(&self, call: &Instruction) -> Option<(&[Variable], &[Variable])> {
        let operands = self.body.operands(call);
        match (operands[1], operands[3]) {
            (Operand::Function(id), _) => {
                let callee = &self.module.functions[id.index()];
                let defined = |id: FunctionId| self.module.functions[id.index()].body.is_some();
                let alias = self.module.aliases.iter().any(|alias| alias.alias == id);
                (defined(id) || alias).then_some((&callee.parameters, &callee.returns))
            }
            (_, Operand::Prototype(id)) => {
                let prototype = &self.body.prototypes[id.index()];
                Some((&prototype.parameters, &prototype.returns))
            }
            _ => None,
        }
    }

    /// The place of a variable of the caller's in the call at `index`, among its arguments or results.
    fn place_in(&self, call: &Instruction, variable: u32, results: bool) -> Option<Passed> {
        let (parameters, returns) = self.called(call)?;
        let list = self.body.operands(call)[if results { 0 } else { 2 }];
        let of_variable = |&operand: &Operand| matches!(operand, Operand::Symbol(Symbol::Local(local), _) if local == variable);
        let elements = match list {
            Operand::List { .. } => self.body.elements(list).to_vec(),
            one => vec![one],
        };
        let position = elements.iter().position(of_variable)?;
        places(if results { returns } else { parameters }, results).get(position).copied().flatten()
    }

    fn is_call(&self, instruction: &Instruction) -> bool {
        matches!(
            self.module.opcode(instruction).meaning,
            Meaning::Control(gangway_ptx::meaning::Control::Call)
        )
    }

    /// The call that takes what is written to a variable behind an instruction, or that has left what is read from
    /// it.
    fn call_of(&self, index: u32, variable: u32, results: bool) -> Option<Passed> {
        let around =
            |index: &u32| self.body.instructions.get(*index as usize).filter(|one| self.is_call(one));
        let place = |call: &Instruction| self.place_in(call, variable, results);
        match results {
            true => (0..index).rev().filter_map(|index| around(&index)).find_map(place),
            false => (index..self.body.instructions.len() as u32)
                .filter_map(|index| around(&index))
                .find_map(place),
        }
    }

    /// Before a value is written to a parameter of a call or a result of this function.
    pub fn passes(&mut self, index: u32, access: &MemoryAccess, operands: &[Operand]) {
        let Operand::Address(Base::Symbol(symbol), offset) = operands[0] else { return };
        let passed = match symbol {
            Symbol::Local(variable) => {
                let Some(passed) = self.call_of(index, variable, false) else { return };
                if u64::from(access.size()) < passed.size && !self.cleared.contains(&variable) {
                    self.cleared.push(variable);
                    for at in (0..passed.size.next_multiple_of(8)).step_by(8) {
                        line!(self, "\tst.local.b64 [{}], 0;", passed.shadow + at);
                    }
                }
                passed
            }
            Symbol::Return(number) if !self.function.entry => {
                let Some(passed) =
                    places(&self.function.returns, true).get(number as usize).copied().flatten()
                else {
                    return;
                };
                passed
            }
            _ => return,
        };
        if offset < 0 || offset as u64 + u64::from(access.size()) > passed.size {
            return;
        }
        let elements: Vec<Option<Shade>> =
            self.elements(operands[1]).into_iter().map(|element| self.shade(element)).collect();
        self.put(passed, offset as u64, access.ty.bits(), &elements);
    }

    fn put(&mut self, passed: Passed, offset: u64, bits: u32, elements: &[Option<Shade>]) {
        let guarded = self.guarded();
        for (number, element) in (0..).zip(elements) {
            let at = passed.shadow + offset + number * u64::from(bits) / 8;
            let shadow = element.as_ref().map_or(Self::zero(bits.max(16)), |shade| &shade.shadow);
            line!(self, "\t{guarded}st.local.b{bits} [{at}], {shadow};");
            if let Some(shade) = element {
                let any = self.any(std::slice::from_ref(shade));
                line!(self, "\t@{any} st.local.b64 [{}], {};", passed.origin, shade.origin);
            }
        }
    }

    /// Behind a load of what a call has left; whether it was one.
    pub fn takes(&mut self, index: u32, access: &MemoryAccess, operands: &[Operand]) {
        let results = self.elements(operands[0]);
        let Operand::Address(Base::Symbol(symbol), offset) = operands[1] else {
            return results.into_iter().for_each(|result| self.set(result, None));
        };
        let least = access.ty.bits().max(16);
        let spelled =
            if access.ty.is_integer() { access.ty.to_string() } else { format!("b{}", access.ty.bits()) };
        match symbol {
            Symbol::Local(variable) => {
                let passed = self.call_of(index, variable, true);
                for (number, result) in (0..).zip(results) {
                    let Some(passed) = passed else {
                        self.set(result, None);
                        continue;
                    };
                    let bits = self.shade(result).map_or(least, |shade| shade.bits);
                    let at = passed.shadow.wrapping_add_signed(offset) + number * u64::from(access.ty.size());
                    let (shadow, origin) = (self.scratch(bits), self.scratch(64));
                    line!(self, "\tld.local.{spelled} {shadow}, [{at}];");
                    line!(self, "\tld.local.b64 {origin}, [{}];", passed.origin);
                    self.set(result, Some((&shadow, &origin)));
                }
            }
            Symbol::Parameter(number) if !self.function.entry => match self.home(number) {
                Some(Home::Register) => {
                    let Some(shade) = results.first().and_then(|&result| self.shade(result)) else { return };
                    let shadow = self.scratch(shade.bits);
                    let (ty, bits) = (access.ty, access.ty.bits());
                    let from = if ty.is_signed() { format!("s{bits}") } else { format!("u{bits}") };
                    let to =
                        if ty.is_signed() { format!("s{}", shade.bits) } else { format!("u{}", shade.bits) };
                    line!(self, "\tcvt.{to}.{from} {shadow}, %gp{number};");
                    self.set(results[0], Some((&shadow, &format!("%gq{number}"))));
                }
                Some(Home::Memory) => {
                    let target = self.own(format!("%gp{number}")).at(offset);
                    self.loaded(access, Some(&target), operands[0]);
                }
                None => results.into_iter().for_each(|result| self.set(result, None)),
            },
            _ => results.into_iter().for_each(|result| self.set(result, None)),
        }
    }

    /// Around a call that has registers as arguments.
    pub fn passes_registers(&mut self, call: &Instruction) {
        let Some((parameters, _)) = self.called(call) else { return };
        let places = places(parameters, false);
        let types: Vec<Type> = parameters.iter().map(|parameter| parameter.ty).collect();
        let arguments = self.body.elements(self.body.operands(call)[2]).to_vec();
        for ((place, ty), argument) in places.into_iter().zip(types).zip(arguments) {
            if let (Some(place), false) = (place, matches!(argument, Operand::Symbol(..))) {
                let shade = self.shade(argument);
                self.put(place, 0, ty.bits(), &[shade]);
            }
        }
    }

    /// Behind a call that has registers as results.
    pub fn takes_registers(&mut self, call: &Instruction) {
        let list = self.body.operands(call)[0];
        let results = match list {
            Operand::List { .. } => self.body.elements(list).to_vec(),
            one => vec![one],
        };
        let places: Vec<(Option<Passed>, Type)> = match self.called(call) {
            Some((_, returns)) => {
                places(returns, true).into_iter().zip(returns.iter().map(|one| one.ty)).collect()
            }
            None => Vec::new(),
        };
        for (number, result) in results.into_iter().enumerate() {
            let Some(shade) = self.shade(result) else { continue };
            let Some(&(Some(place), ty)) = places.get(number) else {
                self.set(result, None);
                continue;
            };
            let (shadow, origin) = (self.scratch(shade.bits), self.scratch(64));
            line!(self, "\tld.local.b{} {shadow}, [{}];", ty.bits(), place.shadow);
            line!(self, "\tld.local.b64 {origin}, [{}];", place.origin);
            self.set(result, Some((&shadow, &origin)));
        }
    }

    /// How a parameter of this function is used, if it is passed at all.
    fn home(&self, number: u32) -> Option<Home> {
        let variable = &self.function.parameters[number as usize];
        places(&self.function.parameters, false).get(number as usize).copied().flatten()?;
        let mut home = if variable.size()? <= 8 && variable.vector == 1 && variable.dimensions.is_empty() {
            Home::Register
        } else {
            Home::Memory
        };
        for instruction in &self.body.instructions {
            let opcode = self.module.opcode(instruction);
            for (position, &operand) in self.body.operands(instruction).iter().enumerate() {
                let is_whole =
                    matches!(opcode.meaning, Meaning::Load(access) if position == 1 && access.vector == 1);
                match operand {
                    Operand::Address(Base::Symbol(Symbol::Parameter(other)), offset)
                        if other == number && (!is_whole || offset != 0) =>
                    {
                        home = Home::Memory;
                    }
                    Operand::Symbol(Symbol::Parameter(other), _) if other == number => home = Home::Memory,
                    _ => {}
                }
            }
        }
        Some(home)
    }

    /// When a function is entered: the shadows of its parameters go where they stay.
    pub fn enter(&mut self) {
        for number in 0..self.function.parameters.len() as u32 {
            let variable = &self.function.parameters[number as usize];
            if self.function.entry {
                if self.has_address(number) {
                    let address = self.scratch(64);
                    line!(self, "\tmov.u64 {address}, {};", variable.name);
                    self.clear_own(&address, variable);
                }
                continue;
            }
            let Some(home) = self.home(number) else { continue };
            let Some(passed) = places(&self.function.parameters, false)[number as usize] else { continue };
            self.declare(64, &format!("%gp{number}"));
            match home {
                Home::Register => {
                    self.declare(64, &format!("%gq{number}"));
                    line!(self, "\tld.local.u{} %gp{number}, [{}];", 8 * passed.size, passed.shadow);
                    line!(self, "\tld.local.u64 %gq{number}, [{}];", passed.origin);
                }
                Home::Memory => {
                    line!(self, "\tmov.u64 %gp{number}, {};", variable.name);
                    let (step, part) = (step(variable), self.scratch(64));
                    for at in (0..passed.size).step_by(step as usize) {
                        line!(self, "\tld.local.u{} {part}, [{}];", 8 * step, passed.shadow + at);
                        let to = at as i64 - LOCAL_SHADOW as i64;
                        line!(self, "\tst.local.u{} [%gp{number}{to:+}], {part};", 8 * step);
                    }
                }
            }
        }
    }

    fn has_address(&self, number: u32) -> bool {
        self.body.operands.iter().any(
            |operand| matches!(operand, Operand::Symbol(Symbol::Parameter(other), _) if *other == number),
        )
    }

    fn clear_own(&mut self, address: &str, variable: &Variable) {
        let step = step(variable);
        for at in (0..variable.size().unwrap_or(0)).step_by(step as usize) {
            line!(self, "\tst.local.u{} [{address}{:+}], 0;", 8 * step, at as i64 - LOCAL_SHADOW as i64);
        }
    }

    /// Variables on the stack are undefined when a function is entered.
    pub fn poison_variables(&mut self) {
        /// Larger ones are dealt with in a loop.
        const SMALL: u64 = 96;
        for variable in &self.body.variables {
            let size = variable.size().unwrap_or(0);
            if variable.space.plain() != StateSpace::Local || size == 0 {
                continue;
            }
            let (step, address) = (step(variable), self.scratch(64));
            line!(self, "\tmov.u64 {address}, {};", variable.name);
            if size <= SMALL {
                for at in (0..size).step_by(step as usize) {
                    let at = at as i64 - LOCAL_SHADOW as i64;
                    line!(self, "\tst.local.u{} [{address}{at:+}], -1;", 8 * step);
                    line!(self, "\tst.local.u{} [{address}{:+}], 0;", 8 * step, at - LOCAL_SHADOW as i64);
                }
            } else {
                self.poison(&address, &size.to_string());
            }
        }
    }
}

/// How many bytes of a variable can be dealt with at once.
fn step(variable: &Variable) -> u64 {
    let size = variable.size().unwrap_or(0);
    let fits = |&step: &u64| u64::from(variable.align).is_multiple_of(step) && size.is_multiple_of(step);
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}
