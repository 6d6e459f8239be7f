//! What is told of accesses where races are looked for.
//!
//! Words that all lanes access at one place are only marked here, and told of line by line ([`lines`]).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block as Label, InstBuilder, Value};
use gangway_device_memory::{BASE, FIRST};
use gangway_simt::{Access, Space};

use super::reach::Reach;
use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::Lanes;
use crate::lines;
use crate::support::Helper;

impl Emitter<'_, '_> {
    /// Tells who watches that lanes of each row are about to load.
    pub(super) fn tell_of_loads(&mut self, reach: &Reach, access: Access) {
        if !self.unit.watch {
            return;
        }
        let after = self.begin_seen(reach, access);
        match self.words_of(reach, access) {
            Some(bytes) => self.mark(reach.pointers[0], bytes, access, None),
            None => self.tell_of_rows(reach, access, false),
        }
        self.end_seen(after);
    }

    /// Tells who watches that lanes of each row are about to store values.
    pub(super) fn tell_of_stores(&mut self, reach: &Reach, access: Access, values: &[Known]) {
        if !self.unit.watch {
            return;
        }
        // In all ways: some of it may be used later.
        let lanes: Vec<Lanes> = values.iter().map(|value| self.lanes_of(value)).collect();
        let after = self.begin_seen(reach, access);
        match (self.words_of(reach, access), values) {
            (Some(bytes), [Known::Input(Input::Lanes(Lanes::Uniform(value)))]) => {
                self.mark(reach.pointers[0], bytes, access, Some(*value));
            }
            _ => {
                let inputs: Vec<Input> = lanes.into_iter().map(Input::Lanes).collect();
                self.pass(&inputs);
                self.tell_of_rows(reach, access, true);
            }
        }
        self.end_seen(after);
    }

    /// Where shadows are accessed as well as memory, begins what is done for memory alone. Where both ways go on.
    fn begin_seen(&mut self, reach: &Reach, access: Access) -> Option<Label> {
        if !self.unit.init || access.space != Space::Global {
            return None;
        }
        let above = self.builder.ins().iadd_imm_s(reach.pointers[0], (FIRST as i64).wrapping_neg());
        let size = self.number((BASE - FIRST) as i64);
        let shadow = self.builder.ins().icmp(IntCC::UnsignedLessThan, above, size);
        let (seen, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(shadow, after, &[], seen, &[]);
        self.builder.seal_block(seen);
        self.builder.switch_to_block(seen);
        Some(after)
    }

    fn end_seen(&mut self, after: Option<Label>) {
        if let Some(after) = after {
            self.builder.ins().jump(after, &[]);
            self.builder.seal_block(after);
            self.builder.switch_to_block(after);
        }
    }

    /// How many bytes of whole words all lanes access at one place, if that is what they do.
    fn words_of(&self, reach: &Reach, access: Access) -> Option<i64> {
        let seen = matches!(access.space, Space::Global | Space::Generic | Space::Shared);
        let bytes = i64::from(access.size());
        let whole = matches!(bytes, 4 | 8 | 16);
        (seen && whole && reach.step == 0 && reach.pointers.len() == 1).then_some(bytes)
    }

    /// Marks words, and what is stored to them.
    fn mark(&mut self, pointer: Value, bytes: i64, access: Access, stored: Option<Value>) {
        let (function, instruction) = (self.unit.index, self.ahead.start);
        let number = lines::of(function, instruction);
        let at = field!(lines) + lines::place(number);
        let line = self.builder.ins().band_imm_s(pointer, -(lines::BYTES as i64));
        let known = self.load_at(I64, self.warp, at + lines::ADDRESS);
        let other = self.builder.ins().bxor(line, known);
        let known = self.load_at(I64, self.warp, at + lines::INSTRUCTION);
        let instruction = self.number(lines::number(function, instruction) as i64);
        let differ = self.builder.ins().bxor(instruction, known);
        let mut other = self.builder.ins().bor(other, differ);
        let word = self.builder.ins().ushr_imm_u(pointer, 2);
        let word = self.builder.ins().ireduce(I32, word);
        let words = self.builder.ins().iconst(I32, (1 << (bytes / 4)) - 1);
        let words = self.builder.ins().ishl(words, word);
        let store = stored.map(|value| {
            let within = self.builder.ins().band_imm_s(pointer, lines::BYTES as i64 - 1);
            (value, self.builder.ins().iadd(self.warp, within))
        });
        if let Some((value, place)) = store {
            // Of two values of a word both are told of: others may write the second one.
            let ty = self.builder.func.dfg.value_type(value);
            let known = self.load_at(ty, place, at + lines::VALUES);
            let differ = self.builder.ins().icmp(IntCC::NotEqual, value, known);
            let marked = self.load_at(I32, self.warp, at + lines::WORDS);
            let marked = self.builder.ins().band(marked, words);
            let none = self.builder.ins().iconst(I32, 0);
            let again = self.builder.ins().select(differ, marked, none);
            let again = self.builder.ins().uextend(I64, again);
            other = self.builder.ins().bor(other, again);
        }
        let known = self.load_at(I32, self.warp, at + lines::LANES);
        let differ = self.builder.ins().bxor(self.mask, known);
        let differ = self.builder.ins().uextend(I64, differ);
        let other = self.builder.ins().bor(other, differ);
        let [begin, mark, tell, after] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.set_cold_block(begin);
        self.builder.set_cold_block(tell);
        self.builder.ins().brif(other, begin, &[], mark, &[]);
        self.builder.seal_block(begin);
        self.builder.switch_to_block(begin);
        let (number, writes) = (self.number(number as i64), self.number(stored.is_some().into()));
        let begun = self.call(Helper::BeginLine, &[self.mask, pointer, number, instruction, writes]);
        self.builder.ins().brif(begun, mark, &[], tell, &[]);
        self.builder.seal_block(tell);
        self.builder.switch_to_block(tell);
        if let Some(value) = stored {
            self.pass(&[Input::Lanes(Lanes::Uniform(value))]);
        }
        self.tell_of(access, stored.is_some(), self.mask, pointer, 0);
        self.builder.ins().jump(after, &[]);
        self.builder.seal_block(mark);
        self.builder.switch_to_block(mark);
        let before = self.load_at(I32, self.warp, at + lines::WORDS);
        let words = self.builder.ins().bor(before, words);
        self.store_at(words, self.warp, at + lines::WORDS);
        if let Some((value, place)) = store {
            self.store_at(value, place, at + lines::VALUES);
        }
        self.builder.ins().jump(after, &[]);
        self.builder.seal_block(after);
        self.builder.switch_to_block(after);
    }

    /// Tells who watches of the lanes of each row.
    pub(super) fn tell_of_rows(&mut self, reach: &Reach, access: Access, store: bool) {
        if !self.unit.watch {
            return;
        }
        let row = LANES / reach.pointers.len();
        for (number, &pointer) in reach.pointers.iter().enumerate() {
            let before = number * row;
            let first = self.builder.ins().iadd_imm_s(pointer, -(reach.step * before as i64));
            let lanes = match reach.pointers.len() {
                1 => self.mask,
                _ => self.builder.ins().band_imm_u(self.mask, ((1 << row) - 1) << before),
            };
            self.tell_of(access, store, lanes, first, reach.step);
        }
    }
}
