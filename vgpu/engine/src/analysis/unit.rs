//! What is known of a function before code is made of it, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use gangway_ptx::{Linkage, Meaning, Module, StateSpace, Type};
use gangway_simt::{Call, Compute, End, Function, Kind, Operation, Place, Scalar, Sequence, Target, loops};

use crate::abi::Flavour;
use crate::analysis::block::BlockShape;
use crate::analysis::called;
use crate::analysis::fuel::Fuel;
use crate::analysis::graph::blocks;
use crate::analysis::lanewise::{self, Looked, Region, may_be_apart, regions};
use crate::analysis::layout::Layout;
use crate::analysis::liveness::{Liveness, Set};
use crate::analysis::operations::{operations, scalar};
use crate::analysis::own;
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::rows;
use crate::analysis::shape::{Shape, Shapes, Trust};
use crate::analysis::slots::Slots;
use crate::analysis::uniform::{self, Uniform};
use crate::lower::{self, Features, Operand};
use crate::runtimes::opens_lock;

/// Why no code is made of a function: the interpreter has to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

/// What the compiler is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub module: &'a Module,
    /// An index into [`Module::functions`] of one with a body.
    pub function: u32,
    /// The index of the function's first variable in the table of symbols.
    pub symbols: u32,
    pub flavour: Flavour,
    /// How the threads of a block lie in warps.
    pub shape: BlockShape,
    /// Check every access to the byte.
    pub check: bool,
    /// Tell of every access.
    pub watch: bool,
    /// Fuel is time, because warps are kept abreast by it.
    pub abreast: bool,
    /// For each function of the module, whether lanes may wait in it for others of their warp.
    pub waits: &'a [bool],
    /// Lanes may run regions by themselves, in code of another generator.
    pub lanewise: bool,
}

/// What generators make code of: a function, and all that is known of it.
pub(crate) struct Unit<'a> {
    module: &'a Module,
    /// The function's index in the module.
    pub index: u32,
    pub name: &'a str,
    /// Whether it is a kernel.
    pub entry: bool,
    pub code: Function,
    pub layout: Layout,
    /// The numbers of the arguments that are taken to be the same in all lanes, with their types.
    pub alike: Vec<(u32, Scalar)>,
    pub shapes: Shapes,
    pub fuel: Fuel,
    pub liveness: Liveness,
    /// How many lanes a row has: as many as in the block, or fewer.
    pub row: u8,
    pub check: bool,
    pub watch: bool,
    /// What looks for uses of what nothing has written is woven in: much of it is guarded, by what is seldom true.
    pub init: bool,
    features: Features,
    /// For each function of the module, whether lanes may wait in it for others of their warp.
    waits: &'a [bool],
    /// Where slots that live across blocks are in the frame, by slot; 0 for others.
    pub homes: Vec<i32>,
    pub frame: i32,
    /// The regions that lanes may run by themselves, or why they may not.
    pub lanewise: Result<Vec<Region>, &'static str>,
    /// The regions in which all lanes do the same.
    pub uniform: Vec<Uniform>,
    /// The functions that these call, by their index.
    pub callees: Callees<'a>,
}

pub(crate) type Callees<'a> = BTreeMap<u32, Callee<'a>>;

/// A function that is run as one lane does, for all: they call it with the same.
pub(crate) struct Callee<'a> {
    pub unit: Unit<'a>,
    /// The blocks that it is run in; where it comes to another one, it has not been called.
    pub blocks: Vec<u32>,
}

impl<'a> Unit<'a> {
    pub fn new(request: &Request<'a>, features: Features, passes: &mut Passes) -> Result<Self, Refused> {
        Self::within(request, features, passes, &[])
    }

    /// The same of what functions call, the outermost first, for lanes that are known to have the same.
    fn within(
        request: &Request<'a>,
        features: Features,
        passes: &mut Passes,
        callers: &[u32],
    ) -> Result<Self, Refused> {
        let module = request.module;
        let function = &module.functions[request.function as usize];
        let Some(body) = &function.body else {
            return Err(Refused(format!("'{}' is declared and not defined", function.name)));
        };
        let refuse = |what: &str| Err(Refused(format!("{what} in '{}'", function.name)));
        if module.address_size != 64 {
            return refuse("32-bit addresses");
        }
        if body.registers.iter().any(|register| register.ty == Type::B128) {
            return refuse("registers of type .b128");
        }
        let slots = passes.run(Pass::Layout, || Slots::new(module, function, body, request.symbols));
        let mut code =
            Function { slots: slots.types.iter().map(|&ty| scalar(ty)).collect(), ..Function::default() };
        code.operations = match passes.run(Pass::Operations, || operations(module, body, &slots)) {
            Ok(operations) => operations,
            Err(opcode) => return refuse(&format!("an operand of '{opcode}'")),
        };
        passes.run(Pass::Own, || own::keep(&mut code, &own::variables(body, &slots.layout), !request.check));
        // In programs of GCC's offloading a warp is a thread of OpenMP, and its lanes do the same.
        let warps = module.functions.iter().any(|function| function.name.starts_with("GOMP_"));
        let trust = match (callers, warps) {
            ([_, ..], _) => Trust::All,
            ([], true) => Trust::Numbers,
            ([], false) => Trust::None,
        };
        // Such a store hands on what its thread has done: it is told of and made before the next one who looks.
        if request.watch && warps && opens_lock(&function.name) {
            for operation in &mut code.operations {
                if let Kind::Store { access, .. } = &mut operation.kind {
                    access.strong = true;
                }
            }
        }
        let analyse = |code: &mut Function, passes: &mut Passes, zero: &[u32], parted: &[u32]| {
            let shapes = passes.run(Pass::Shape, || {
                rows::best(&code.operations, &code.slots, request.shape.row, |row| {
                    Shapes::new(&code.operations, &code.slots, request.shape, row, trust, zero, parted)
                })
            });
            code.blocks = passes.run(Pass::Graph, || {
                let speculative = |index: u32| shapes.is_speculative(&code.operations[index as usize]);
                blocks(module, body, &|guard| slots.guard(guard), &speculative)
            });
            let liveness = passes.run(Pass::Liveness, || Liveness::new(code))?;
            Some((shapes, liveness))
        };
        let Some(mut analysed) = analyse(&mut code, passes, &[], &[]) else {
            return refuse("too many registers that live across blocks");
        };
        // What is read before it is written is zero, also where its values step from lane to lane
        // elsewhere. That is seldom, so only then all is looked at again.
        let (shapes, liveness) = &analysed;
        let steps = |&slot: &u32| matches!(shapes.slots[slot as usize], Shape::Steps(step) if step != 0);
        let unwritten = liveness.entering(0);
        let zero = if unwritten.iter().any(steps) { unwritten.to_vec() } else { Vec::new() };
        if !zero.is_empty() {
            let Some(again) = analyse(&mut code, passes, &zero, &[]) else {
                return refuse("too many registers that live across blocks");
            };
            analysed = again;
        }
        // Lanes that have parted in a region come back with what has no shape.
        let apart = match request {
            Request { lanewise: false, .. } => Err("it is not asked for"),
            Request { watch: true, .. } => Err("accesses are told of by all lanes together"),
            _ if !callers.is_empty() => Err("it is called as a part of another function"),
            _ => may_be_apart(module),
        };
        if apart.is_ok() {
            let (shapes, liveness) = &analysed;
            let parted = passes.run(Pass::Lanewise, || {
                let Ok((homes, _)) = homes(&code, liveness) else { return Vec::new() };
                lanewise::parted(Looked { code: &code, shapes, liveness, homes: &homes })
            });
            if !parted.is_empty() {
                let Some(again) = analyse(&mut code, passes, &zero, &parted) else {
                    return refuse("too many registers that live across blocks");
                };
                analysed = again;
            }
        }
        let (shapes, liveness) = analysed;
        debug_assert_eq!(code.verify(), Ok(()), "'{}':\n{code}", function.name);
        let fuel = passes.run(Pass::Fuel, || Fuel::new(&code, request.abreast));
        let (homes, frame) = match homes(&code, &liveness) {
            Ok(homes) => homes,
            Err(why) => return refuse(why),
        };
        // What a function that is called reads is told of where that runs for all lanes.
        let callees = if request.lanewise && !request.watch {
            let functions = called_alike(&code, &shapes, callers);
            called_by(request, features, passes, callers, functions)
        } else {
            Callees::new()
        };
        let (lanewise, uniform) = passes.run(Pass::Lanewise, || {
            if !request.lanewise || !callers.is_empty() {
                return (apart.map(|()| Vec::new()), Vec::new());
            }
            let looked = Looked { code: &code, shapes: &shapes, liveness: &liveness, homes: &homes };
            let lanewise = apart.map(|()| regions(looked));
            let mut taken = Set::new(code.blocks.len());
            let apart = lanewise.iter().flatten().flat_map(|region| &region.blocks);
            apart.for_each(|&block| taken.insert(block));
            (lanewise, uniform::regions(looked, &|function| callees.contains_key(&function), taken))
        });
        let layout = slots.layout;
        let arguments = layout.parameters.iter().zip(&function.parameters);
        let alike = arguments.filter_map(|(&place, parameter)| {
            let Place::Argument(number) = place else { return None };
            let ty = scalar(parameter.ty);
            (shapes.given(ty) == Shape::Uniform).then_some((number, ty))
        });
        let alike = alike.collect();
        Ok(Unit {
            module,
            index: request.function,
            name: &function.name,
            entry: function.entry,
            code,
            layout,
            alike,
            row: shapes.row(),
            shapes,
            fuel,
            liveness,
            check: request.check,
            watch: request.watch,
            init: module.variables.iter().any(|variable| &*variable.name == gangway_init::RECORDS),
            features,
            waits: request.waits,
            homes,
            frame,
            lanewise,
            uniform,
            callees,
        })
    }

    /// Whether lanes may run regions of it in code of another generator; or why there are none.
    pub fn regions(&self) -> Result<usize, &'static str> {
        if !self.uniform.is_empty() {
            return Ok(self.uniform.len() + self.lanewise.as_ref().map_or(0, Vec::len));
        }
        match self.lanewise.as_ref() {
            Err(&why) => Err(why),
            Ok(regions) if regions.is_empty() => Err("no region that lanes would run faster by themselves"),
            Ok(regions) => Ok(regions.len()),
        }
    }

    /// The blocks that the function is run in as one lane does, for all.
    fn blocks_to_call(&self) -> Vec<u32> {
        let Unit { code, shapes, liveness, homes, layout, callees, .. } = self;
        let looked = Looked { code, shapes, liveness, homes };
        if self.entry {
            return Vec::new();
        }
        let calls = |function| callees.contains_key(&function);
        called::blocks(&looked, layout, &calls, &|symbol| self.bytes_of(symbol))
    }

    /// How long a variable of the module is, by its number in the table of symbols.
    #[must_use]
    pub fn bytes_of(&self, symbol: u32) -> Option<u64> {
        let variable = self.module.variables.get(symbol as usize)?;
        let placed = matches!(variable.space, StateSpace::Global | StateSpace::Const);
        let own = matches!(variable.linkage, Linkage::Internal | Linkage::Visible);
        variable.size().filter(|_| placed && own)
    }

    /// The types of what the function is given, and of what it gives.
    #[must_use]
    pub fn passed(&self) -> (Vec<Scalar>, Vec<Scalar>) {
        let function = &self.module.functions[self.index as usize];
        let types = |variables: &[gangway_ptx::Variable]| {
            variables.iter().map(|variable| scalar(variable.ty)).collect()
        };
        (types(&function.parameters), types(&function.returns))
    }

    /// How many functions the module has.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.module.functions.len()
    }

    #[must_use]
    pub fn operation(&self, index: u32) -> &Operation {
        &self.code.operations[index as usize]
    }

    /// What is computed of operands of which this much is known; none where only helpers know it.
    #[must_use]
    pub fn sequence(&self, compute: &Compute, operands: &[Operand]) -> Option<Sequence> {
        let opcode = &self.module.opcodes[compute.opcode as usize];
        let Meaning::Compute(meaning) = opcode.meaning else { return None };
        lower::pure(meaning, &opcode.expected, operands, self.features)
    }

    /// Whether it may use so much of the stack that too little is left. A kernel that calls nothing
    /// has only its frame.
    #[must_use]
    pub fn checks_stack(&self) -> bool {
        !self.entry || self.code.blocks.iter().any(|block| matches!(block.end, End::Call { .. }))
    }

    /// Whether lanes may wait in the function for others of their warp. Others can then go on
    /// outside of it meanwhile.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.waits[self.index as usize]
    }

    /// Whether lanes may wait in what an operation calls.
    #[must_use]
    pub fn calls_what_waits(&self, operation: u32) -> bool {
        match &self.operation(operation).kind {
            Kind::Call(call) => match call.target {
                Target::Function(index) => self.waits[index as usize],
                Target::Address { .. } => true,
            },
            _ => false,
        }
    }

    /// Whether the function that an operation calls is only known when it runs.
    #[must_use]
    pub fn calls_by_address(&self, operation: u32) -> bool {
        matches!(&self.operation(operation).kind, Kind::Call(call) if matches!(call.target, Target::Address { .. }))
    }

    /// The blocks behind whose end lanes may go on after they have waited: at a barrier, or in a
    /// function.
    #[must_use]
    pub fn left(&self) -> Vec<u32> {
        let ends = self.code.blocks.iter().zip(0u32..);
        let left = ends.filter(|(block, _)| match block.end {
            End::Barrier { .. } => true,
            End::Call { operation, .. } => self.calls_what_waits(operation),
            _ => false,
        });
        left.map(|(_, number)| number).collect()
    }
}

/// Where slots that live across blocks are in the frame, and how large that is.
fn homes(code: &Function, liveness: &Liveness) -> Result<(Vec<i32>, i32), &'static str> {
    let mut frame = crate::frame::size(code.blocks.len());
    let mut homes = vec![0; code.slots.len()];
    for slot in liveness.across.iter() {
        homes[slot as usize] = frame;
        frame += match code.slots[slot as usize] {
            Scalar::Predicate => 16,
            ty if ty.is_wide() => 256,
            _ => 128,
        };
        if frame > MOST_FRAME {
            return Err("too many registers that live at once");
        }
    }
    Ok((homes, frame))
}

/// How deep functions may call each other that are run as one lane does, and how many operations they may have.
const MOST_CALLERS: usize = 4;
const MOST_CALLED: usize = 1 << 10;

/// The functions that are called with the same in all lanes, in loops if nothing has called this one.
fn called_alike(code: &Function, shapes: &Shapes, callers: &[u32]) -> BTreeSet<u32> {
    let repeats = if callers.is_empty() { loops(&code.blocks) } else { vec![true; code.blocks.len()] };
    let calls = code.blocks.iter().zip(repeats).filter_map(|(block, repeats)| match block.end {
        End::Call { operation, .. } if repeats => Some(&code.operations[operation as usize]),
        _ => None,
    });
    let alike = calls.filter(|operation| {
        let mut alike = true;
        operation.each_slot(&mut |slot, _| alike &= shapes.slots[slot as usize] == Shape::Uniform);
        alike
    });
    let functions = alike.filter_map(|operation| match &operation.kind {
        Kind::Call(Call { target: Target::Function(index), .. }) => Some(*index),
        _ => None,
    });
    functions.collect()
}

/// What is known of those that can be run as one lane does.
fn called_by<'a>(
    request: &Request<'a>,
    features: Features,
    passes: &mut Passes,
    callers: &[u32],
    functions: BTreeSet<u32>,
) -> Callees<'a> {
    let mut callees = Callees::new();
    let callers = [callers, &[request.function]].concat();
    for function in functions {
        let functions = &request.module.functions;
        let body = functions[function as usize].body.as_ref();
        if callers.len() > MOST_CALLERS
            || callers.contains(&function)
            || body.is_none_or(|body| body.instructions.len() > MOST_CALLED)
        {
            continue;
        }
        let before = functions[..function as usize].iter().filter_map(|function| function.body.as_ref());
        let before: usize = before.map(|body| body.variables.len()).sum();
        let symbols = (request.module.variables.len() + before) as u32;
        let request = Request { function, symbols, ..*request };
        let Ok(unit) = Unit::within(&request, features, passes, &callers) else { continue };
        let blocks = unit.blocks_to_call();
        if !blocks.is_empty() {
            callees.insert(function, Callee { unit, blocks });
        }
    }
    callees
}

/// Bytes of frame that a function may have: a part of a fiber's stack.
const MOST_FRAME: i32 = 1 << 23;
