//! A function: what is woven around each of its instructions.

use gangway_ptx::meaning::{AsyncCopy, Barrier, Control, ExchangeOperation, Matrix, Stack};
use gangway_ptx::{Added, Instruction, Meaning, Module, Operand, StateSpace};

use crate::fast::Plan;
use crate::flow::{reads_kernels, results};
use crate::place::UseKind;
use crate::weaver::{Found, Weaver, line};

/// What is woven into a function.
pub(crate) fn weave(module: &Module, index: usize, found: &mut Found) -> Added {
    let function = &module.functions[index];
    let Some(body) = &function.body else { return Added::default() };
    let mut weaver = Weaver::new(module, function, body, found);
    let fast = Plan::of(module, function, body, &weaver.flow);
    let mut around = vec![[String::new(), String::new()]; body.instructions.len()];
    for block in &body.blocks {
        weaver.start_block();
        for number in block.instructions.clone() {
            let instruction = &body.instructions[number as usize];
            weaver.instruction = Some(instruction);
            if fast.enters(number) {
                weaver.addresses.clear();
            }
            around[number as usize] = weaver.around(number, instruction);
            for id in results(module, body, instruction) {
                weaver.addresses.retain(|known| !known.is_of(id));
            }
        }
    }
    fast.weave(&mut weaver, &mut around);
    Added { entry: weaver.entry(), around }
}

impl Weaver<'_> {
    fn around(&mut self, number: u32, instruction: &Instruction) -> [String; 2] {
        let opcode = self.module.opcode(instruction);
        let operands = self.body.operands(instruction);
        let acts = match opcode.meaning {
            Meaning::Store(_)
            | Meaning::Atomic(_)
            | Meaning::Copy(_)
            | Meaning::Control(_)
            | Meaning::Barrier(_) => true,
            Meaning::Matrix(matrix) => matches!(matrix, Matrix::Store(_)),
            Meaning::Compute(_)
            | Meaning::Move { .. }
            | Meaning::ConvertAddress { .. }
            | Meaning::IsInSpace(_)
            | Meaning::Load(_)
            | Meaning::Stack(..)
            | Meaning::Exchange(_)
            | Meaning::ActiveMask
            | Meaning::Fence { .. }
            | Meaning::Hint(_) => false,
        };
        if let Some(guard) = instruction.guard.filter(|_| acts) {
            self.must_be_defined(Operand::Register(guard.register), UseKind::Branch, false);
        }
        let mut before = String::new();
        match opcode.meaning {
            Meaning::Compute(compute) => self.compute(compute),
            Meaning::Move { vector, .. } => self.moves(vector, operands),
            Meaning::ConvertAddress { .. } => {
                let shades = self.shades(&operands[1..]);
                self.set_all(operands[0], &shades);
            }
            Meaning::IsInSpace(_) => {
                let shades = self.shades(&operands[1..]);
                self.set_all(operands[0], &shades);
            }
            Meaning::Load(access) => {
                self.check_address(operands[1]);
                match access.space.plain() {
                    StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
                        before = std::mem::take(&mut self.text);
                        if reads_kernels(self.function, operands[1]) {
                            self.loaded(&access, None, operands[0]);
                        } else {
                            self.takes(number, &access, operands);
                        }
                    }
                    space => {
                        let target = self.target(space, operands[1]);
                        before = std::mem::take(&mut self.text);
                        self.loaded(&access, target.as_ref(), operands[0]);
                    }
                }
            }
            Meaning::Store(access) => {
                self.check_address(operands[0]);
                match access.space.plain() {
                    StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
                        self.passes(number, &access, operands);
                    }
                    _ => self.stores(&access, operands),
                }
            }
            Meaning::Atomic(atomic) => {
                let address = operands[usize::from(atomic.returns)];
                self.check_address(address);
                let target = self.target(atomic.space, address);
                let old = target.as_ref().and_then(|target| self.exchanges(&atomic, target, operands));
                before = std::mem::take(&mut self.text);
                if atomic.returns {
                    self.exchanged(&atomic, target.as_ref(), old, operands[0]);
                }
            }
            Meaning::Copy(AsyncCopy::Start) => {
                self.check_address(operands[0]);
                self.check_address(operands[1]);
                self.copies(operands);
            }
            Meaning::Stack(Stack::Allocate, _) => {
                self.must_be_defined(operands[1], UseKind::Size, true);
                before = std::mem::take(&mut self.text);
                self.set(operands[0], None);
                self.poison_allocated(operands);
            }
            Meaning::Control(Control::BranchIndexed) => {
                self.must_be_defined(operands[0], UseKind::Branch, false)
            }
            Meaning::Control(Control::Call) => {
                self.must_be_defined(operands[1], UseKind::Target, true);
                self.passes_registers(instruction);
                self.cleared.clear();
                before = std::mem::take(&mut self.text);
                self.takes_registers(instruction);
            }
            Meaning::Barrier(Barrier::Reduce(_)) => {
                if let Some(&last) = operands.last() {
                    self.must_be_defined(last, UseKind::Vote, true);
                }
            }
            Meaning::Exchange(exchange) => {
                self.before_exchange(exchange, operands);
                match exchange.op {
                    ExchangeOperation::Shuffle(_) => self.shuffle(exchange, opcode, operands),
                    _ => self.set_results(operands),
                }
            }
            Meaning::Matrix(matrix) => {
                let address =
                    operands.iter().copied().find(|operand| matches!(operand, Operand::Address(..)));
                if let Some(address) = address {
                    self.check_address(address);
                    self.stores_rows(matrix, address);
                }
                self.set_results(operands);
            }
            Meaning::Stack(..) | Meaning::ActiveMask => self.set_results(operands),
            Meaning::Copy(AsyncCopy::Group)
            | Meaning::Control(Control::Branch | Control::Return | Control::Exit | Control::Trap)
            | Meaning::Barrier(Barrier::Wait | Barrier::Arrive)
            | Meaning::Fence { .. }
            | Meaning::Hint(_) => {}
        }
        let rest = std::mem::take(&mut self.text);
        let comes_behind = matches!(
            opcode.meaning,
            Meaning::Load(_)
                | Meaning::Atomic(_)
                | Meaning::Stack(Stack::Allocate, _)
                | Meaning::Control(Control::Call)
        );
        if comes_behind { [before, rest] } else { [rest, String::new()] }
    }

    /// Results that are defined.
    fn set_results(&mut self, operands: &[Operand]) {
        for &operand in operands {
            self.elements(operand).into_iter().for_each(|operand| self.set_if_result(operand));
        }
    }

    /// Operands that are read keep their shadows.
    fn set_if_result(&mut self, operand: Operand) {
        let Some(instruction) = self.instruction else { return };
        if let Operand::Register(id) = operand
            && results(self.module, self.body, instruction).contains(&id)
        {
            self.set(operand, None);
        }
    }

    fn moves(&mut self, vector: u8, operands: &[Operand]) {
        if vector > 1 {
            return;
        }
        let (to, from) = (self.elements(operands[0]), self.elements(operands[1]));
        match (&to[..], &from[..]) {
            (&[to], &[from]) => match self.shade(from) {
                Some(shade) => self.set(to, Some((&shade.shadow, &shade.origin))),
                None => self.set(to, None),
            },
            _ => {
                let shades = self.shades(&from);
                if shades.is_empty() {
                    return to.into_iter().for_each(|to| self.set(to, None));
                }
                let bits = self.moved_bits();
                let list = |names: &[String]| match names {
                    [one] => one.clone(),
                    names => format!("{{{}}}", names.join(", ")),
                };
                let sources: Vec<String> =
                    from.iter().map(|&operand| self.shadow(operand, bits / from.len() as u32)).collect();
                let results: Vec<String> = to.iter().map(|_| self.scratch(bits / to.len() as u32)).collect();
                line!(self, "\tmov.b{bits} {}, {};", list(&results), list(&sources));
                let origin = self.origin(&shades);
                for (to, shadow) in to.into_iter().zip(results) {
                    self.set(to, Some((&shadow, &origin)));
                }
            }
        }
    }

    fn moved_bits(&self) -> u32 {
        let opcode = self.instruction.map(|instruction| self.module.opcode(instruction));
        opcode.and_then(|opcode| opcode.ty(0)).map_or(64, |ty| ty.bits())
    }

    fn poison_allocated(&mut self, operands: &[Operand]) {
        let (Operand::Register(id), Some(size)) = (operands[0], self.value(operands[1])) else { return };
        let name = self.body.register_name(id);
        if self.bits(id) == 64 {
            self.poison(&name, &size);
        }
    }

    /// What comes at the beginning of the function.
    fn entry(&mut self) -> String {
        self.instruction = None;
        self.text.clear();
        line!(self, "\tmov.b16 %gz16, 0;\n\tmov.b32 %gz32, 0;\n\tmov.b64 %gz64, 0;");
        line!(self, "\tsetp.ne.b32 %gwf, %gz32, 0;\n\tsetp.eq.b32 %gwt, %gz32, 0;");
        for (bits, name) in [(16, "%gz16"), (32, "%gz32"), (64, "%gz64"), (1, "%gwf"), (1, "%gwt")] {
            self.declare(bits, name);
        }
        self.poison_variables();
        self.enter();
        let registers: Vec<_> = (0..self.body.registers.len() as u32).map(gangway_ptx::RegisterId).collect();
        let mut unset = None;
        for id in registers {
            let Some(shade) = self.register(id) else { continue };
            self.declare(shade.bits, &shade.shadow);
            self.declare(64, &shade.origin);
            if self.flow.unset[id.index()] {
                let place = match unset {
                    Some(place) => place,
                    None => *unset.insert(self.read(true)),
                };
                match shade.bits {
                    1 => line!(self, "\tmov.pred {}, %gwt;", shade.shadow),
                    bits => line!(self, "\tmov.b{bits} {}, -1;", shade.shadow),
                }
                line!(self, "\tmov.b64 {}, {};", shade.origin, place as i64);
            }
        }
        if self.tells {
            self.find_thread();
        }
        self.declare_scratch();
        std::mem::take(&mut self.declared) + &self.text
    }

    /// The number of the block, and behind it that of the thread.
    fn find_thread(&mut self) {
        self.declare(64, "%gwhere");
        let [number, length, place] = [self.scratch(32), self.scratch(32), self.scratch(32)];
        let mut numbers = Vec::new();
        for (of, lengths) in [("ctaid", "nctaid"), ("tid", "ntid")] {
            line!(self, "\tmov.u32 {number}, %{of}.z;");
            for axis in ["y", "x"] {
                line!(self, "\tmov.u32 {length}, %{lengths}.{axis};");
                line!(self, "\tmov.u32 {place}, %{of}.{axis};");
                line!(self, "\tmad.lo.u32 {number}, {number}, {length}, {place};");
            }
            let kept = self.scratch(32);
            line!(self, "\tmov.u32 {kept}, {number};");
            numbers.push(kept);
        }
        line!(self, "\tmov.b64 %gwhere, {{{}, {}}};", numbers[1], numbers[0]);
    }
}
