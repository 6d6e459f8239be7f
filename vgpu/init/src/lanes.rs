//! What lanes do together.

use gangway_ptx::meaning::{Exchange, ExchangeOperation};
use gangway_ptx::{Opcode, Operand};

use crate::place::UseKind;
use crate::weaver::{Weaver, line};

impl Weaver<'_> {
    /// Before lanes exchange something: what all of them hear must be defined.
    pub fn before_exchange(&mut self, exchange: Exchange, operands: &[Operand]) {
        match exchange.op {
            ExchangeOperation::Shuffle(_) => self.must_be_defined(operands[3], UseKind::Vote, true),
            ExchangeOperation::Vote(_) | ExchangeOperation::MatchAny(_) | ExchangeOperation::Reduce(..) => {
                self.must_be_defined(operands[1], UseKind::Vote, true);
            }
            ExchangeOperation::MatchAll(_) => self.must_be_defined(operands[2], UseKind::Vote, true),
            ExchangeOperation::Elect | ExchangeOperation::Meet => {}
        }
    }

    /// A value of another lane comes with its shadow. All lanes of a mask do so, whatever each of them knows of its own.
    pub fn shuffle(&mut self, exchange: Exchange, opcode: &Opcode, operands: &[Operand]) {
        let shade = self.shade(operands[2]);
        if !exchange.sync && shade.is_none() {
            return self.set(operands[0], None);
        }
        let mut how = Vec::new();
        for &operand in &operands[3..] {
            match operand {
                Operand::Absent => {}
                _ => how.push(self.value(operand).unwrap_or_else(|| "0".to_owned())),
            }
        }
        let how = how.join(", ");
        let (shadow, origin) = shade.map_or_else(
            || (Self::zero(32).to_owned(), Self::zero(64).to_owned()),
            |shade| (shade.shadow, shade.origin),
        );
        let guarded = self.guarded();
        let [low, high] = [self.scratch(32), self.scratch(32)];
        line!(self, "\tmov.b64 {{{low}, {high}}}, {origin};");
        let results = [shadow, low, high].map(|part| {
            let result = self.scratch(32);
            line!(self, "\t{guarded}{opcode} {result}, {part}, {how};");
            result
        });
        let origin = self.scratch(64);
        line!(self, "\tmov.b64 {origin}, {{{}, {}}};", results[1], results[2]);
        self.set(operands[0], Some((&results[0], &origin)));
    }
}
