//! Joins modules into one.
//!
//! The driver calls [`link`] when a program completes a link, and for a single module
//! as well: that is where undefined names show, and where what nothing can reach goes.
//!
//! Kernels stay, and all variables in global and constant memory, which a program may
//! ask for by name. Functions stay when a kernel or an initial value reaches them:
//! there is no other way to call one, so leaving the others out changes nothing but
//! the size, and a GCC image, which carries much of libgomp and newlib, shrinks by
//! more than half.

use gangway_ptx::{
    Base, Body, Function, FunctionId, Initializer, Linkage, Module, Operand, StateSpace, Symbol, Target,
    Variable, VariableId, Version,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::copy::Copier;
use crate::error::{LinkError, LinkErrors};
use crate::provided::provided;
use crate::resolve::{Item, Place, Resolution};

/// One module of a link.
#[derive(Clone, Debug)]
pub struct Input {
    /// For messages.
    pub name: Box<str>,
    pub module: Module,
    /// Whether it only joins when something that it defines is missing, as members of
    /// archives do.
    pub on_demand: bool,
}

impl Input {
    pub fn new(name: impl Into<Box<str>>, module: Module) -> Input {
        Input { name: name.into(), module, on_demand: false }
    }
}

/// Links modules. The result holds no aliases: what named one names its function.
pub fn link(mut inputs: Vec<Input>) -> Result<Module, LinkErrors> {
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
    let mut copier = Copier::new(plan.inputs);
    for Kept { place, name, align, managed } in plan.variables {
        let Item::Variable(index) = place.item else { continue };
        let variable = &mut inputs[place.input as usize].module.variables[index as usize];
        let mut variable = std::mem::replace(variable, nothing());
        (variable.name, variable.align, variable.managed) = (name, align, managed);
        if let Some(initializer) = &mut variable.initializer {
            copier.initializer(place.input, initializer);
        }
        module.variables.push(variable);
    }
    for (place, name) in plan.functions {
        let Item::Function(index) = place.item else { continue };
        let source = &mut inputs[place.input as usize].module;
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
    for second in joined.filter(|input| input.module.address_size != first.module.address_size) {
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
    for (Input { module: own, .. }, _) in inputs.iter().zip(joined).filter(|(_, joined)| **joined) {
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
    /// What the functions and variables of each input resolve to.
    meanings: Vec<(Vec<Place>, Vec<Place>)>,
    reached: FxHashSet<Place>,
    waiting: Vec<Place>,
}

/// Where things of the inputs are in the result.
pub(crate) struct Numbers {
    pub functions: Vec<FunctionId>,
    pub variables: Vec<VariableId>,
}

/// Stands for what is not part of the result.
pub(crate) const DROPPED: u32 = u32::MAX;

/// A plan that no longer borrows the inputs.
struct Finished {
    joined: Vec<bool>,
    inputs: Vec<Numbers>,
    functions: Vec<(Place, Box<str>)>,
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
    fn new(resolution: &'r Resolution<'a>, inputs: &'a [Input]) -> Plan<'r, 'a> {
        let meanings = inputs.iter().enumerate().map(|(input, Input { module, .. })| {
            let meaning = |item| resolution.resolve(Place { input: input as u32, item });
            (
                (0..module.functions.len() as u32).map(Item::Function).map(meaning).collect(),
                (0..module.variables.len() as u32).map(Item::Variable).map(meaning).collect(),
            )
        });
        let meanings = meanings.collect();
        Plan { resolution, inputs, meanings, reached: FxHashSet::default(), waiting: Vec::new() }
    }

    /// Marks all that the result needs, and notes what of it nothing defines.
    fn reach(&mut self, errors: &mut Vec<LinkError>) {
        let mut undefined = FxHashSet::default();
        for input in (0..self.inputs.len()).filter(|&input| self.resolution.joined[input]) {
            let module = &self.inputs[input].module;
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
                Item::Function(index) => {
                    if let Some(body) = &self.resolution.function(place.input, index).body {
                        body_uses(body, |symbol| uses.push(symbol));
                    }
                }
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
        for (input, Input { module, .. }) in self.inputs.iter().enumerate() {
            let input = input as u32;
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
        Finished { inputs: inputs.collect(), joined: self.resolution.joined.clone(), functions, variables }
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
