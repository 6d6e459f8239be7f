//! What is known of a function before code is made of it, and what is refused.

use gangway_ptx::{Meaning, Module, Type};
use gangway_simt::{Compute, End, Function, Kind, Operation, Place, Scalar, Sequence, Target};

use crate::abi::Flavour;
use crate::analysis::block::BlockShape;
use crate::analysis::fuel::Fuel;
use crate::analysis::graph::blocks;
use crate::analysis::lanewise::{Looked, Region, may_be_apart, regions};
use crate::analysis::layout::Layout;
use crate::analysis::liveness::Liveness;
use crate::analysis::operations::{operations, scalar};
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::rows;
use crate::analysis::shape::{Shape, Shapes};
use crate::analysis::slots::Slots;
use crate::lower::{self, Features, Operand};

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
}

impl<'a> Unit<'a> {
    pub fn new(request: &Request<'a>, features: Features, passes: &mut Passes) -> Result<Self, Refused> {
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
        // In programs of GCC's offloading a warp is a thread of OpenMP, and its lanes do the same.
        let trusts = module.functions.iter().any(|function| function.name.starts_with("GOMP_"));
        let mut analyse = |zero: &[u32]| {
            let shapes = passes.run(Pass::Shape, || {
                rows::best(&code.operations, &code.slots, request.shape.row, |row| {
                    Shapes::new(&code.operations, &code.slots, request.shape, row, trusts, zero)
                })
            });
            code.blocks = passes.run(Pass::Graph, || {
                let speculative = |index: u32| shapes.is_speculative(&code.operations[index as usize]);
                blocks(module, body, &|guard| slots.guard(guard), &speculative)
            });
            let liveness = passes.run(Pass::Liveness, || Liveness::new(&code))?;
            Some((shapes, liveness))
        };
        let Some(mut analysed) = analyse(&[]) else {
            return refuse("too many registers that live across blocks");
        };
        // What is read before it is written is zero, also where its values step from lane to lane
        // elsewhere. That is seldom, so only then all is looked at again.
        let (shapes, liveness) = &analysed;
        let unwritten = liveness.entering(0);
        if unwritten
            .iter()
            .any(|&slot| matches!(shapes.slots[slot as usize], Shape::Steps(step) if step != 0))
        {
            let unwritten = unwritten.to_vec();
            let Some(again) = analyse(&unwritten) else {
                return refuse("too many registers that live across blocks");
            };
            analysed = again;
        }
        let (shapes, liveness) = analysed;
        debug_assert_eq!(code.verify(), Ok(()), "'{}':\n{code}", function.name);
        let fuel = passes.run(Pass::Fuel, || Fuel::new(&code, request.abreast));
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
                return refuse("too many registers that live at once");
            }
        }
        let lanewise = passes.run(Pass::Lanewise, || match request {
            Request { lanewise: false, .. } => Err("it is not asked for"),
            Request { check: true, .. } => Err("all accesses are checked"),
            Request { watch: true, .. } => Err("accesses are told of"),
            _ => may_be_apart(module).map(|()| {
                regions(Looked { code: &code, shapes: &shapes, liveness: &liveness, homes: &homes })
            }),
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
        })
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

/// Bytes of frame that a function may have: a part of a fiber's stack.
const MOST_FRAME: i32 = 1 << 23;
