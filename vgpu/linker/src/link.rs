//! Joins modules into one.
//!
//! The driver calls [`link`] when a program completes a link, and for a single module as well.
//! There undefined names show, and what nothing can reach goes.
//!
//! Kernels stay, and all variables in global and constant memory, which a program may ask for by
//! name. Functions stay when a kernel or an initial value reaches them. There is no other way to
//! call one, so leaving the others out changes nothing but the size. An image of GCC, which carries
//! much of libgomp and newlib, shrinks by more than half.

use gangway_ptx::{
    Base, Body, Errors, Function, FunctionId, Initializer, Linkage, Module, Operand, Reader, StateSpace,
    Symbol, Target, Variable, VariableId, Version,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::copy::{Copier, DROPPED, Numbers};
use crate::error::{LinkError, LinkErrors};
use crate::input::Input;
use crate::provided::provided;
use crate::resolve::{Item, Place, Resolution};

/// Links modules. The result holds no aliases: what named one names its function.
pub fn link(inputs: Vec<Input>) -> Result<Module, LinkErrors> {
    let mut resolution = Resolution::new(&inputs);
    let mut errors = std::mem::take(&mut resolution.errors);
    check_address_sizes(&inputs, &resolution, &mut errors);
    let mut plan = Plan::new(&resolution, &inputs);
    plan.reach(&mut errors);
    if !errors.is_empty() {
        return Err(LinkErrors(errors));
    }
    let plan = plan.number();
    let mut module = header(&inputs, &plan.joined);
    let mut copier = Copier::new(plan.numbers, plan.results);
    // Of an outline that was not read, nothing is part of the result.
    let modules = inputs.into_iter().zip(plan.read).map(|(input, read)| read.unwrap_or_else(|| input.into()));
    let mut modules: Vec<Module> = modules.collect();
    for Kept { place, name, align, managed } in plan.variables {
        let Item::Variable(index) = place.item else { continue };
        let variable = &mut modules[place.input as usize].variables[index as usize];
        let mut variable = std::mem::replace(variable, nothing());
        (variable.name, variable.align, variable.managed) = (name, align, managed);
        if let Some(initializer) = &mut variable.initializer {
            copier.initializer(place.input, initializer);
        }
        module.variables.push(variable);
    }
    for (place, name) in plan.functions {
        let Item::Function(index) = place.item else { continue };
        let source = &mut modules[place.input as usize];
        let function = &mut source.functions[index as usize];
        let mut function = Function {
            name,
            returns: std::mem::take(&mut function.returns),
            parameters: std::mem::take(&mut function.parameters),
            body: function.body.take(),
            ..function.clone()
        };
        if function.body.is_none() {
            function.linkage = Linkage::Extern;
        }
        if let Some(body) = &mut function.body {
            copier.body(place.input, body, source, &mut module);
        }
        module.functions.push(function);
    }
    Ok(module)
}

/// What is left in the place of a variable that was moved out.
fn nothing() -> Variable {
    Variable {
        name: "".into(),
        linkage: Linkage::Internal,
        space: StateSpace::Global,
        ty: gangway_ptx::Type::B8,
        vector: 1,
        align: 1,
        dimensions: Box::default(),
        initializer: None,
        managed: false,
        pointer: None,
        origin: gangway_ptx::Origin::default(),
    }
}

fn check_address_sizes(inputs: &[Input], resolution: &Resolution, errors: &mut Vec<LinkError>) {
    let mut joined =
        inputs.iter().zip(&resolution.joined).filter(|(_, joined)| **joined).map(|(input, _)| input);
    let Some(first) = joined.next() else { return };
    let size = |input: &Input| input.declarations().address_size;
    for second in joined.filter(|second| size(second) != size(first)) {
        errors.push(LinkError::AddressSize { first: first.name.clone(), second: second.name.clone() });
    }
}

/// An empty module for the newest version and processor among the inputs.
fn header(inputs: &[Input], joined: &[bool]) -> Module {
    let mut module = Module {
        version: Version::new(6, 0),
        target: Target { processor: 30, ..Target::default() },
        address_size: 64,
        files: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        aliases: Vec::new(),
        opcodes: Vec::new(),
    };
    let mut first = true;
    for (input, _) in inputs.iter().zip(joined).filter(|(_, joined)| **joined) {
        let own = input.declarations();
        if first {
            (module.version, module.address_size) = (own.version, own.address_size);
        }
        module.version = module.version.max(own.version);
        let debug = own.target.debug || module.target.debug;
        if first || own.target.processor > module.target.processor {
            module.target = own.target.clone();
        } else if own.target.processor == module.target.processor {
            module.target.suffix = module.target.suffix.max(own.target.suffix);
        }
        module.target.debug = debug;
        first = false;
    }
    module
}

/// What the result is made of.
struct Plan<'r, 'a> {
    resolution: &'r Resolution<'a>,
    inputs: &'a [Input],
    /// Of the inputs whose bodies are still to be read.
    readers: Vec<Option<Reader<'a>>>,
    /// What the functions and variables of each input resolve to.
    meanings: Vec<(Vec<Place>, Vec<Place>)>,
    reached: FxHashSet<Place>,
    waiting: Vec<Place>,
}

/// A plan that no longer borrows the inputs.
struct Finished {
    joined: Vec<bool>,
    numbers: Vec<Numbers>,
    /// The modules whose bodies were read only now, as far as they were.
    read: Vec<Option<Module>>,
    functions: Vec<(Place, Box<str>)>,
    /// How many results each function has.
    results: Vec<usize>,
    variables: Vec<Kept>,
}

/// A variable of the result.
struct Kept {
    place: Place,
    name: Box<str>,
    align: u32,
    managed: bool,
}

impl<'r, 'a> Plan<'r, 'a> {
    fn new(resolution: &'r Resolution<'a>, inputs: &'a [Input]) -> Self {
        let meanings = inputs.iter().enumerate().map(|(input, own)| {
            let module = own.declarations();
            let meaning = |item| resolution.resolve(Place { input: input as u32, item });
            (
                (0..module.functions.len() as u32).map(Item::Function).map(meaning).collect(),
                (0..module.variables.len() as u32).map(Item::Variable).map(meaning).collect(),
            )
        });
        let meanings = meanings.collect();
        let joined = inputs.iter().zip(&resolution.joined);
        let readers = joined.map(|(input, joined)| if *joined { input.reader() } else { None }).collect();
        Plan { resolution, inputs, readers, meanings, reached: FxHashSet::default(), waiting: Vec::new() }
    }

    /// Marks all that the result needs, and notes what of it nothing defines.
    fn reach(&mut self, errors: &mut Vec<LinkError>) {
        let mut undefined = FxHashSet::default();
        for input in (0..self.inputs.len()).filter(|&input| self.resolution.joined[input]) {
            let module = self.inputs[input].declarations();
            for (index, function) in module.functions.iter().enumerate() {
                if function.entry && function.body.is_some() {
                    self.mark(self.meanings[input].0[index]);
                }
            }
            for (index, variable) in module.variables.iter().enumerate() {
                let named = matches!(variable.space.plain(), StateSpace::Global | StateSpace::Const);
                if named && variable.linkage != Linkage::Extern {
                    self.mark(self.meanings[input].1[index]);
                }
            }
        }
        while let Some(place) = self.waiting.pop() {
            let mut uses = Vec::new();
            match place.item {
                Item::Function(index) => match self.body(place.input, index) {
                    Ok(Some(body)) => body_uses(body, |symbol| uses.push(symbol)),
                    Ok(None) => {}
                    Err(faults) => {
                        errors.push(LinkError::Ptx { module: self.resolution.input_name(place), faults });
                    }
                },
                Item::Variable(index) => {
                    let variable = self.resolution.variable(place.input, index);
                    initializer_uses(variable.initializer.as_ref(), &mut |symbol| uses.push(symbol));
                }
            }
            for symbol in uses {
                let (functions, variables) = &self.meanings[place.input as usize];
                let meaning = match symbol {
                    Symbol::Function(id) => functions[id.index()],
                    Symbol::Variable(id) => variables[id.index()],
                    _ => continue,
                };
                self.mark(meaning);
                if self.is_undefined(meaning) && undefined.insert(meaning) {
                    let name = self.resolution.name_of(meaning).0.into();
                    let used_in = self.resolution.input_name(place);
                    errors.push(LinkError::Undefined { name, used_in });
                }
            }
        }
    }

    /// The body of a function, read now if it was not before.
    fn body(&mut self, input: u32, index: u32) -> Result<Option<&Body>, Errors> {
        let module = match &mut self.readers[input as usize] {
            Some(reader) => {
                reader.read(FunctionId(index))?;
                reader.module()
            }
            None => self.inputs[input as usize].declarations(),
        };
        Ok(module.functions[index as usize].body.as_ref())
    }

    fn mark(&mut self, place: Place) {
        if self.reached.insert(place) {
            self.waiting.push(place);
        }
    }

    fn is_undefined(&self, place: Place) -> bool {
        match place.item {
            Item::Function(index) => {
                let function = self.resolution.function(place.input, index);
                function.body.is_none() && provided(&function.name).is_none()
            }
            Item::Variable(index) => {
                let variable = self.resolution.variable(place.input, index);
                variable.linkage == Linkage::Extern && !self.resolution.is_dynamic(place)
            }
        }
    }

    /// Gives everything its place in the result, in the order of the inputs, and a name
    /// that nothing else has.
    fn number(self) -> Finished {
        let mut names = Names::default();
        let (mut functions, mut variables) = (Vec::new(), Vec::new());
        let mut numbers: FxHashMap<Place, u32> = FxHashMap::default();
        for (input, own) in self.inputs.iter().enumerate() {
            let (input, module) = (input as u32, own.declarations());
            for index in 0..module.functions.len() as u32 {
                let place = Place { input, item: Item::Function(index) };
                if self.reached.contains(&place) {
                    numbers.insert(place, functions.len() as u32);
                    functions.push(place);
                }
            }
            for index in 0..module.variables.len() as u32 {
                let place = Place { input, item: Item::Variable(index) };
                if self.reached.contains(&place) {
                    numbers.insert(place, variables.len() as u32);
                    variables.push(place);
                }
            }
        }
        // Shared names first: they stay as they are.
        let shared = |&&place: &&Place| self.resolution.name_of(place).1 != Linkage::Internal;
        for &place in functions.iter().chain(&variables).filter(shared) {
            names.0.insert(self.resolution.name_of(place).0.into());
        }
        let mut name = |place: Place| match self.resolution.name_of(place) {
            (name, Linkage::Internal) => names.own(name),
            (name, _) => name.into(),
        };
        let results = functions.iter().map(|place| match place.item {
            Item::Function(index) => self.resolution.function(place.input, index).returns.len(),
            Item::Variable(_) => unreachable!("a list of functions"),
        });
        let results = results.collect();
        let functions = functions.iter().map(|&place| (place, name(place))).collect();
        let variables = variables.iter().map(|&place| {
            let Item::Variable(index) = place.item else { unreachable!("a list of variables") };
            let (align, managed) = self.resolution.traits(self.resolution.variable(place.input, index));
            Kept { place, name: name(place), align, managed }
        });
        let variables = variables.collect();
        let number = |place: &Place| numbers.get(place).copied().unwrap_or(DROPPED);
        let inputs = self.meanings.iter().map(|(functions, variables)| Numbers {
            functions: functions.iter().map(|place| FunctionId(number(place))).collect(),
            variables: variables.iter().map(|place| VariableId(number(place))).collect(),
        });
        let (numbers, joined) = (inputs.collect(), self.resolution.joined.clone());
        let read = self.readers.into_iter().map(|reader| reader.map(Reader::into_module)).collect();
        Finished { joined, numbers, read, functions, results, variables }
    }
}

/// The names of the result.
#[derive(Default)]
struct Names(FxHashSet<Box<str>>);

impl Names {
    /// The name of something internal: its own if nothing has it yet, as programs ask
    /// for internal kernels and variables by name too.
    fn own(&mut self, name: &str) -> Box<str> {
        let mut fresh: Box<str> = name.into();
        let mut number = 0;
        while !self.0.insert(fresh.clone()) {
            number += 1;
            fresh = format!("{name}$static{number}").into();
        }
        fresh
    }
}

/// The functions and variables of the module that a body names.
fn body_uses(body: &Body, mut seen: impl FnMut(Symbol)) {
    for operand in &body.operands {
        match *operand {
            Operand::Symbol(symbol, _) | Operand::Address(Base::Symbol(symbol), _) => seen(symbol),
            Operand::Function(id) => seen(Symbol::Function(id)),
            _ => {}
        }
    }
    for variable in &body.variables {
        initializer_uses(variable.initializer.as_ref(), &mut seen);
    }
}

fn initializer_uses(initializer: Option<&Initializer>, seen: &mut impl FnMut(Symbol)) {
    for relocation in initializer.into_iter().flat_map(|initializer| &initializer.relocations) {
        seen(relocation.symbol);
    }
}
