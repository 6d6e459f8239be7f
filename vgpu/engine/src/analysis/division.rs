//! Divisions of 64 bits that compilers do in 32 where both numbers are that small, as GPUs divide
//! slowly: a branch, and the same quotient or rest on two ways.
//!
//! Processors divide 64 bits as fast as they branch. And what is known of a quotient, that lanes with
//! neighbouring numbers mostly have the same (see [`turns`](crate::cranelift::turns)), is lost where two ways
//! meet. So the branch goes, and the long way stays. It gives the same: that is proven here for each
//! pair of ways, or they stay as they are.
//!
//! Compilers write each register in one place, except those that bring values to where ways meet. A
//! register that is written in one place has there been given its value before it is read.

use std::ops::Range;

use gangway_ptx::meaning::{
    Bits, Compare, Comparison, Compute, Control, Conversion, Convert, Integer, Logic, Order, Part as Half,
};
use gangway_ptx::{Base, BlockId, Body, Meaning, Module, Operand, RegisterId};
use gangway_simt::{Block, End, Guard};
use rustc_hash::FxHashMap;

use crate::analysis::graph;

/// The longest way: a quotient, a product and a rest, with two numbers made short and long again.
const MOST: usize = 8;

/// What a register holds on one of the ways, of a dividend and a divisor.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Divided {
    what: What,
    dividend: RegisterId,
    divisor: RegisterId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Quotient,
    /// Of the quotient and the divisor.
    Product,
    Rest,
}

/// What is divided, or comes of it.
#[derive(Clone, Copy)]
enum Part {
    /// A register, or its low half.
    Number(RegisterId),
    Of(Divided),
}

/// The blocks of a function; the slot of a guard is the number of its register.
fn blocks(module: &Module, body: &Body) -> Vec<Block> {
    let guard = |guard: gangway_ptx::Guard| Guard { slot: guard.register.0, negated: guard.negated };
    graph::blocks(module, body, &guard, &|_| false)
}

/// Leaves the short ways out of all functions.
pub(crate) fn leave_short_ways(module: &mut Module) {
    let divides = |op| matches!(op, Integer::Div | Integer::Rem);
    let long = |meaning| matches!(meaning, Meaning::Compute(Compute::Integer { op, ty }) if divides(op) && ty.bits() == 64);
    if !module.opcodes.iter().any(|opcode| long(opcode.meaning)) {
        return;
    }
    for index in 0..module.functions.len() {
        let Some(body) = &module.functions[index].body else { continue };
        let edits = find(module, body);
        if let Some(body) = &mut module.functions[index].body {
            edits.iter().for_each(|edit| edit.apply(body));
        }
    }
}

/// A branch that becomes a jump to the long way, or to where the short one was: there the long one is
/// put if what follows both stands behind it.
struct Edit {
    /// The branch's instruction.
    branch: u32,
    /// The source's block that it goes to.
    to: usize,
    /// The instructions of the long way, and the range at whose end they are put.
    moved: Option<(Range<u32>, Range<u32>)>,
}

impl Edit {
    fn apply(&self, body: &mut Body) {
        let branch = &mut body.instructions[self.branch as usize];
        branch.guard = None;
        body.operands[branch.operands.start as usize] = Operand::Block(BlockId(self.to as u32));
        if let Some((long, place)) = &self.moved {
            let start = place.end - (long.end - long.start);
            for (from, to) in long.clone().zip(start..) {
                body.instructions[to as usize] = body.instructions[from as usize].clone();
            }
            body.blocks[self.to].instructions.start = start;
        }
    }
}

fn find(module: &Module, body: &Body) -> Vec<Edit> {
    let blocks = blocks(module, body);
    let ways = Ways { module, body, written: written(module, body) };
    let source = |way: &Block| {
        let start = way.operations.start;
        body.blocks
            .iter()
            .position(|block| block.instructions.start == start && !block.instructions.is_empty())
    };
    let mut edits = Vec::new();
    for block in &blocks {
        let (End::Branch(guard, yes, no), branch) = (&block.end, block.operations.end) else { continue };
        let is_branch = body.instructions.get(branch as usize).is_some_and(|instruction| {
            matches!(module.opcode(instruction).meaning, Meaning::Control(Control::Branch))
        });
        for (long, short, holds) in [(*yes, *no, true), (*no, *yes, false)] {
            let long_if = holds != guard.negated;
            if !is_branch
                || !ways.are_one_division(&blocks, block, RegisterId(guard.slot), [long, short], long_if)
            {
                continue;
            }
            let [long, short] = [long, short].map(|way| &blocks[way as usize]);
            let End::Jump(join) = long.end else { continue };
            let join = blocks[join as usize].operations.start;
            let (place, moved) = match long.operations.end == join || short.operations.end != join {
                true => (long, None),
                false => (short, Some((long.operations.clone(), short.operations.clone()))),
            };
            if let Some(to) = source(place) {
                edits.push(Edit { branch, to, moved });
            }
            break;
        }
    }
    edits
}

/// The instruction that writes a register, or none if there are several.
fn written(module: &Module, body: &Body) -> FxHashMap<RegisterId, Option<u32>> {
    let mut written = FxHashMap::default();
    let mut note = |operand: &Operand, index: u32| {
        if let Operand::Register(id) | Operand::Component(id, _) = *operand {
            written.entry(id).and_modify(|only| *only = None).or_insert(Some(index));
        }
    };
    for (instruction, index) in body.instructions.iter().zip(0..) {
        let expected = &module.opcode(instruction).expected;
        for (operand, expected) in body.operands(instruction).iter().zip(expected) {
            // What a call gives back stands in a list.
            if expected.role.writes() || matches!(operand, Operand::List { .. }) {
                note(operand, index);
                body.elements(*operand).iter().for_each(|element| note(element, index));
            }
        }
    }
    written
}

struct Ways<'a> {
    module: &'a Module,
    body: &'a Body,
    written: FxHashMap<RegisterId, Option<u32>>,
}

impl<'a> Ways<'a> {
    /// Whether the first of two ways from a block, the long one, gives what the short one does where a
    /// predicate has sent control there. The long one is taken where that is `long_if`.
    fn are_one_division(
        &self,
        blocks: &[Block],
        from: &Block,
        predicate: RegisterId,
        ways: [u32; 2],
        long_if: bool,
    ) -> bool {
        let [long, short] = ways.map(|way| &blocks[way as usize]);
        let is_way = |block: &Block| !block.collective && block.operations.len() <= MOST;
        let (End::Jump(one), End::Jump(other)) = (&long.end, &short.end) else { return false };
        if one != other || !is_way(long) || !is_way(short) {
            return false;
        }
        let (Some(long), Some(short)) = (self.long_way(long), self.short_way(short)) else { return false };
        let Some(&Divided { dividend, divisor, .. }) = short.first().map(|(_, divided)| divided) else {
            return false;
        };
        let same = short.iter().all(|result| long.contains(result));
        // What the short way leaves alone the long one may only write where nobody else does.
        let alone = long.iter().all(|(register, _)| {
            short.iter().any(|(other, _)| other == register) || self.only(*register).is_some()
        });
        let kept = |number: RegisterId| long.iter().chain(&short).all(|&(register, _)| register != number);
        same && alone
            && kept(dividend)
            && kept(divisor)
            && self.tells_small(from, predicate, long_if, [dividend, divisor])
    }

    /// The instruction that alone writes a register.
    fn only(&self, register: RegisterId) -> Option<u32> {
        self.written.get(&register).copied().flatten()
    }

    /// The class of an instruction without a guard that computes, and its operands.
    fn computed(&self, index: u32) -> Option<(Compute, &'a [Operand])> {
        let instruction = &self.body.instructions[index as usize];
        match self.module.opcode(instruction).meaning {
            Meaning::Compute(compute) if instruction.guard.is_none() => {
                Some((compute, self.body.operands(instruction)))
            }
            _ => None,
        }
    }

    /// What the registers hold that the long way writes; nothing if it does anything else.
    fn long_way(&self, block: &Block) -> Option<Vec<(RegisterId, Divided)>> {
        let mut held: Vec<(RegisterId, Divided)> = Vec::new();
        for index in block.operations.clone() {
            let (Compute::Integer { op, ty }, operands) = self.computed(index)? else { return None };
            let (&[Operand::Register(to), Operand::Register(a), Operand::Register(b)], 64) =
                (operands, ty.bits())
            else {
                return None;
            };
            let part = |register| {
                let before = held.iter().rev().find(|(other, _)| *other == register);
                before.map_or(Part::Number(register), |&(_, divided)| Part::Of(divided))
            };
            held.push((to, divided(op, part(a), part(b))?));
        }
        Some(held)
    }

    /// What the registers of 64 bits hold that the short way writes. Others that it writes are its own.
    fn short_way(&self, block: &Block) -> Option<Vec<(RegisterId, Divided)>> {
        let (mut results, mut parts) = (Vec::new(), FxHashMap::default());
        for index in block.operations.clone() {
            let (to, part) = match self.computed(index)? {
                (Compute::Convert(convert), &[Operand::Register(to), Operand::Register(from)]) => {
                    if is_between(convert, 64, 32) && !convert.from.is_signed() {
                        let Some(&Part::Of(divided)) = parts.get(&from) else { return None };
                        results.push((to, divided));
                        continue;
                    }
                    (to, is_between(convert, 32, 64).then_some(Part::Number(from))?)
                }
                (
                    Compute::Integer { op, ty },
                    &[Operand::Register(to), Operand::Register(a), Operand::Register(b)],
                ) if ty.bits() == 32 => {
                    if ty.is_signed() && matches!(op, Integer::Div | Integer::Rem) {
                        return None;
                    }
                    let part = |register| parts.get(&register).copied().or_else(|| self.low_before(register));
                    (to, Part::Of(divided(op, part(a)?, part(b)?)?))
                }
                _ => return None,
            };
            // Nobody else may want what the short way alone has written.
            if !self.is_read_in(to, block) {
                return None;
            }
            parts.insert(to, part);
        }
        Some(results)
    }

    /// The number of which a register holds the low half that is written in one place, before.
    fn low_before(&self, register: RegisterId) -> Option<Part> {
        let (Compute::Convert(convert), &[_, Operand::Register(from)]) =
            self.computed(self.only(register)?)?
        else {
            return None;
        };
        (is_between(convert, 32, 64) && self.only(from).is_some()).then_some(Part::Number(from))
    }

    /// Whether a register is read in one block alone.
    fn is_read_in(&self, register: RegisterId, block: &Block) -> bool {
        let names = |operand: &Operand| {
            matches!(*operand, Operand::Register(id) | Operand::Negated(id) | Operand::Component(id, _) if id == register)
                || matches!(*operand, Operand::Address(Base::Register(id), _) if id == register)
        };
        self.body.instructions.iter().zip(0u32..).all(|(instruction, index)| {
            block.operations.contains(&index)
                || instruction.guard.is_none_or(|guard| guard.register != register)
                    && !self
                        .body
                        .operands(instruction)
                        .iter()
                        .any(|operand| names(operand) || self.body.elements(*operand).iter().any(names))
        })
    }

    /// Whether a predicate says that numbers have less than 33 bits where it is not `long_if`.
    fn tells_small(
        &self,
        block: &Block,
        predicate: RegisterId,
        long_if: bool,
        numbers: [RegisterId; 2],
    ) -> bool {
        let Some((at, looked, order)) = self.compared_with_zero(predicate) else { return false };
        if order != if long_if { Order::NotEqual } else { Order::Equal } {
            return false;
        }
        let Some(masked) = self.only(looked) else { return false };
        let Some((
            Compute::Logic { op: Logic::And, ty },
            &[_, Operand::Register(both), Operand::Integer(mask)],
        )) = self.computed(masked)
        else {
            return false;
        };
        const HIGH: u64 = !0 << 32;
        if ty.bits() != 64 || mask as u64 & HIGH != HIGH {
            return false;
        }
        let mut seen = vec![both];
        let mut first = masked.min(at);
        if let Some(index) = self.only(both)
            && let Some((
                Compute::Logic { op: Logic::Or, ty },
                &[_, Operand::Register(a), Operand::Register(b)],
            )) = self.computed(index)
            && ty.bits() == 64
        {
            seen.extend([a, b]);
            first = first.min(index);
        }
        // The numbers are those that have been looked at.
        let since = |number: RegisterId| {
            self.only(number).is_some()
                || block.operations.contains(&first)
                    && (first..block.operations.end).all(|index| !self.writes(index, number))
        };
        numbers.iter().all(|&number| since(number) && (seen.contains(&number) || self.is_small(number)))
    }

    /// The instruction that makes a predicate of a register's being zero, or not.
    fn compared_with_zero(&self, predicate: RegisterId) -> Option<(u32, RegisterId, Order)> {
        let index = self.only(predicate)?;
        let (Compute::SetPredicate(Compare { comparison, ty, combine: None, .. }), operands) =
            self.computed(index)?
        else {
            return None;
        };
        let Comparison::Integers(order) = comparison else { return None };
        let mut sources =
            operands.iter().skip(1).filter(|operand| !matches!(operand, Operand::Absent | Operand::Sink));
        match (sources.next(), sources.next(), sources.next(), ty.bits()) {
            (Some(&Operand::Register(looked)), Some(&Operand::Integer(0)), None, 64) => {
                Some((index, looked, order))
            }
            _ => None,
        }
    }

    fn writes(&self, index: u32, register: RegisterId) -> bool {
        let instruction = &self.body.instructions[index as usize];
        let expected = &self.module.opcode(instruction).expected;
        self.body.operands(instruction).iter().zip(expected).any(|(operand, expected)| {
            let is = |operand: &Operand| {
                matches!(*operand, Operand::Register(id) | Operand::Component(id, _) if id == register)
            };
            (expected.role.writes() || matches!(operand, Operand::List { .. }))
                && (is(operand) || self.body.elements(*operand).iter().any(is))
        })
    }

    /// Whether a register has been made of 32 bits.
    fn is_small(&self, register: RegisterId) -> bool {
        let Some((compute, operands)) = self.only(register).and_then(|index| self.computed(index)) else {
            return false;
        };
        match (compute, operands) {
            (Compute::Convert(convert), _) => is_between(convert, 64, 32) && !convert.from.is_signed(),
            (Compute::Logic { op: Logic::And, .. }, &[_, _, Operand::Integer(mask)]) => {
                mask as u64 >> 32 == 0
            }
            (Compute::Bits { op: Bits::ShiftRight, ty }, &[_, _, Operand::Integer(by)]) => {
                !ty.is_signed() && (32..64).contains(&by)
            }
            _ => false,
        }
    }
}

/// Whether integers of one size become such of another.
fn is_between(convert: Convert, to: u32, from: u32) -> bool {
    matches!(convert.between, Conversion::Integers)
        && !convert.mode.sat
        && (convert.to.bits(), convert.from.bits()) == (to, from)
}

/// What an instruction gives.
fn divided(op: Integer, a: Part, b: Part) -> Option<Divided> {
    use Part::{Number, Of};
    match (op, a, b) {
        (Integer::Div, Number(dividend), Number(divisor)) => {
            Some(Divided { what: What::Quotient, dividend, divisor })
        }
        (Integer::Rem, Number(dividend), Number(divisor)) => {
            Some(Divided { what: What::Rest, dividend, divisor })
        }
        (Integer::Mul(Half::Low), Of(divided), Number(number))
        | (Integer::Mul(Half::Low), Number(number), Of(divided)) => {
            let fits = divided.what == What::Quotient && divided.divisor == number;
            fits.then_some(Divided { what: What::Product, ..divided })
        }
        (Integer::Sub { sat: false }, Number(number), Of(divided)) => {
            let fits = divided.what == What::Product && divided.dividend == number;
            fits.then_some(Divided { what: What::Rest, ..divided })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0 .target sm_90 .address_size 64 .entry k(.param .u64 p) { \
        .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %a<20>; ld.param.u64 %a9, [p]; ld.global.u64 %a0, [%a9]; \
        ld.global.u64 %a1, [%a9+8]; or.b64 %a2, %a0, %a1; ";
    const LOOKED: &str = "and.b64 %a3, %a2, -4294967296; setp.ne.b64 %p0, %a3, 0; @%p0 bra long; ";
    const SHORT: &str =
        "cvt.u32.u64 %r0, %a1; cvt.u32.u64 %r1, %a0; div.u32 %r2, %r1, %r0; cvt.u64.u32 %a4, %r2; ";
    const LONG: &str = "long: div.s64 %a4, %a0, %a1; ";
    const TAIL: &str = "done: st.global.u64 [%a9], %a4; ret; }";

    /// The function without the short ways: whether it has changed, and how many blocks are left.
    fn left(text: &str) -> (bool, usize) {
        let mut module = gangway_ptx::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let before = module.clone();
        leave_short_ways(&mut module);
        let body = module.functions[0].body.as_ref().expect("a body");
        (module != before, blocks(&module, body).len())
    }

    #[test]
    fn the_long_way_is_one_block_with_what_follows() {
        // Whichever of the two stands before that.
        assert_eq!(left(&format!("{HEAD}{LOOKED}{SHORT}bra done; {LONG}{TAIL}")), (true, 2));
        let other = format!("{HEAD}{LOOKED}bra short; {LONG}bra done; short: {SHORT}{TAIL}");
        assert_eq!(left(&other), (true, 2));
        let reversed = LOOKED.replace(".ne", ".eq").replace("long", "short");
        assert_eq!(left(&format!("{HEAD}{reversed}{LONG}bra done; short: {SHORT}{TAIL}")), (true, 2));
    }

    #[test]
    fn a_rest_may_be_a_difference() {
        let short = format!("{SHORT}mul.lo.s32 %r3, %r2, %r0; sub.s32 %r4, %r1, %r3; cvt.u64.u32 %a5, %r4; ");
        let long = format!("{LONG}mul.lo.s64 %a6, %a4, %a1; sub.s64 %a5, %a0, %a6; ");
        let tail = TAIL.replace("ret", "st.global.u64 [%a9+8], %a5; ret");
        assert!(left(&format!("{HEAD}{LOOKED}{short}bra done; {long}{tail}")).0);
        let other = short.replace("sub.s32 %r4, %r1, %r3", "sub.s32 %r4, %r3, %r1");
        assert!(!left(&format!("{HEAD}{LOOKED}{other}bra done; {long}{tail}")).0);
    }

    #[test]
    fn what_is_another_thing_stays() {
        let cases = [
            // Not all high bits, another number, the other way round.
            (
                LOOKED.replace("-4294967296", "9223372032559808512"),
                SHORT.to_owned(),
                LONG.to_owned(),
                TAIL.to_owned(),
            ),
            (
                LOOKED.replace("%a3, %a2, -", "%a3, %a1, -"),
                SHORT.to_owned(),
                LONG.to_owned(),
                TAIL.to_owned(),
            ),
            (LOOKED.replace(".ne", ".eq"), SHORT.to_owned(), LONG.to_owned(), TAIL.to_owned()),
            // Other numbers, other signs.
            (LOOKED.to_owned(), SHORT.replace("%r1, %r0;", "%r0, %r1;"), LONG.to_owned(), TAIL.to_owned()),
            (LOOKED.to_owned(), SHORT.replace("div.u32", "div.s32"), LONG.to_owned(), TAIL.to_owned()),
            (
                LOOKED.to_owned(),
                SHORT.replace("cvt.u64.u32", "cvt.s64.s32"),
                LONG.to_owned(),
                TAIL.to_owned(),
            ),
            (LOOKED.to_owned(), SHORT.to_owned(), LONG.replace("div", "rem"), TAIL.to_owned()),
            // Somebody wants what the short way has written, or writes a number on the way.
            (
                LOOKED.to_owned(),
                SHORT.to_owned(),
                LONG.to_owned(),
                TAIL.replace("ret", "st.global.u32 [%a9], %r2; ret"),
            ),
            (format!("{LOOKED}mov.b64 %a0, 5; "), SHORT.to_owned(), LONG.to_owned(), TAIL.to_owned()),
            (
                LOOKED.replace("@%p0", "mov.b64 %a0, 5; @%p0"),
                SHORT.to_owned(),
                LONG.to_owned(),
                TAIL.to_owned(),
            ),
        ];
        for (looked, short, long, tail) in cases {
            let text = format!("{HEAD}{looked}{short}bra done; {long}{tail}");
            assert!(!left(&text).0, "{text}");
        }
    }

    #[test]
    fn a_number_that_is_small_need_not_be_looked_at() {
        let looked = LOOKED.replace("%a3, %a2, -", "%a3, %a0, -");
        let small =
            HEAD.replace("ld.global.u64 %a1, [%a9+8];", "ld.global.u32 %r8, [%a9+8]; cvt.u64.u32 %a1, %r8;");
        assert!(left(&format!("{small}{looked}{SHORT}bra done; {LONG}{TAIL}")).0);
        let signed = small.replace("cvt.u64.u32 %a1", "cvt.s64.s32 %a1");
        assert!(!left(&format!("{signed}{looked}{SHORT}bra done; {LONG}{TAIL}")).0);
    }
}
