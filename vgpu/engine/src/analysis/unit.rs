//! What is known of a function before code is made of it, and what is refused.

use gangway_ptx::{Body, Function, Instruction, Module, Operand, Type};

use crate::abi::Flavour;
use crate::analysis::block::BlockShape;
use crate::analysis::fuel::Fuel;
use crate::analysis::graph::{End, Graph};
use crate::analysis::liveness::{Liveness, Slots};
use crate::analysis::passes::{Pass, Passes};
use crate::analysis::shape::{Shape, Shapes};
use crate::lower::Features;

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
    /// Fuel is time, because warps are kept abreast by it.
    pub abreast: bool,
    /// For each function of the module, whether lanes may wait in it for others of their warp.
    pub waits: &'a [bool],
}

pub(crate) struct Unit<'a> {
    pub module: &'a Module,
    /// The function's index in the module.
    pub index: u32,
    pub function: &'a Function,
    pub body: &'a Body,
    pub slots: Slots,
    pub shapes: Shapes,
    pub graph: Graph,
    pub fuel: Fuel,
    pub liveness: Liveness,
    pub features: Features,
    pub shape: BlockShape,
    pub check: bool,
    /// For each function of the module, whether lanes may wait in it for others of their warp.
    waits: &'a [bool],
    /// Where slots that live across blocks are in the frame, by slot; 0 for others.
    pub homes: Vec<i32>,
    pub frame: i32,
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
        let mut analyse = |zero: &[u32]| {
            let shapes = passes.run(Pass::Shape, || Shapes::new(module, body, &slots, request.shape, zero));
            let speculative = |instruction: &Instruction| {
                shapes.is_speculative(&slots, module.opcode(instruction), body.operands(instruction))
            };
            let graph = passes.run(Pass::Graph, || Graph::new(module, body, &speculative));
            let liveness = passes.run(Pass::Liveness, || Liveness::new(module, body, &slots, &graph))?;
            Some((shapes, graph, liveness))
        };
        let Some(mut analysed) = analyse(&[]) else {
            return refuse("too many registers that live across blocks");
        };
        // What is read before it is written is zero, also where its values step from lane to lane
        // elsewhere. That is seldom, so only then all is looked at again.
        let (shapes, _, liveness) = &analysed;
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
        let (shapes, graph, liveness) = analysed;
        let fuel = passes.run(Pass::Fuel, || Fuel::new(module, body, &graph, request.abreast));
        let mut frame = crate::frame::size(graph.blocks.len());
        let mut homes = vec![0; slots.len()];
        for slot in liveness.across.iter() {
            homes[slot as usize] = frame;
            frame += match slots.types[slot as usize] {
                Type::Pred => 16,
                ty if ty.bits() > 32 => 256,
                _ => 128,
            };
            if frame > MOST_FRAME {
                return refuse("too many registers that live at once");
            }
        }
        let unit = Unit {
            module,
            index: request.function,
            function,
            body,
            slots,
            shapes,
            graph,
            fuel,
            liveness,
            features,
            shape: request.shape,
            check: request.check,
            waits: request.waits,
            homes,
            frame,
        };
        unit.check_operands()?;
        Ok(unit)
    }

    /// Operands that the emitter does not know would be wrong only in modules that the verifier has
    /// not seen.
    fn check_operands(&self) -> Result<(), Refused> {
        for block in &self.graph.blocks {
            for index in block.instructions.clone() {
                let instruction = &self.body.instructions[index as usize];
                let opcode = self.module.opcode(instruction);
                for (&operand, expected) in self.body.operands(instruction).iter().zip(&opcode.expected) {
                    let odd = matches!(operand, Operand::Sink) && !expected.role.writes()
                        || matches!(
                            operand,
                            Operand::List { .. } | Operand::Function(_) | Operand::Prototype(_)
                        );
                    if odd {
                        return Err(Refused(format!("an operand of '{opcode}' in '{}'", self.function.name)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether it may use so much of the stack that too little is left. A kernel that calls nothing
    /// has only its frame.
    #[must_use]
    pub fn checks_stack(&self) -> bool {
        !self.function.entry || self.graph.blocks.iter().any(|block| matches!(block.end, End::Call { .. }))
    }

    /// Whether lanes may wait in the function for others of their warp. Others can then go on
    /// outside of it meanwhile.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.waits[self.index as usize]
    }

    /// Whether lanes may wait in what an instruction calls.
    #[must_use]
    pub fn calls_what_waits(&self, instruction: u32) -> bool {
        match self.body.operands(&self.body.instructions[instruction as usize])[1] {
            Operand::Function(id) => self.waits[id.index()],
            _ => true,
        }
    }

    /// Whether the function that an instruction calls is only known when it runs.
    #[must_use]
    pub fn calls_by_address(&self, instruction: u32) -> bool {
        let operands = self.body.operands(&self.body.instructions[instruction as usize]);
        !matches!(operands[1], Operand::Function(_))
    }

    /// The blocks behind whose end lanes may go on after they have waited: at a barrier, or in a
    /// function.
    #[must_use]
    pub fn left(&self) -> Vec<u32> {
        let ends = self.graph.blocks.iter().zip(0u32..);
        let left = ends.filter(|(block, _)| match block.end {
            End::Barrier { .. } => true,
            End::Call { instruction, .. } => self.calls_what_waits(instruction),
            _ => false,
        });
        left.map(|(_, number)| number).collect()
    }
}

/// Bytes of frame that a function may have: a part of a fiber's stack.
const MOST_FRAME: i32 = 1 << 23;
