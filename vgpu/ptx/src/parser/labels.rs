//! From labels to blocks: collects labels and what refers to them while a body is
//! parsed, and cuts the instructions into blocks at its end.
//!
//! Only labels that something branches to start a block; compilers leave many others
//! behind for debuggers.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Fault, Result, Span};
use crate::ir::{Block, BlockId, Body, Operand, PrototypeId, TargetsId};

/// What a label marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// The instruction with this index comes next.
    Code(u32),
    Prototype(PrototypeId),
    Targets(TargetsId),
}

/// Where a label is used.
#[derive(Clone, Copy, Debug)]
enum Use {
    /// An index into the body's operands.
    Operand(u32),
    List(TargetsId),
}

struct Reference<'a> {
    name: &'a str,
    span: Span,
    scope: u32,
    used: Use,
}

struct Definition<'a> {
    name: &'a str,
    marked: Marked,
    /// Whether something branches to it.
    wanted: bool,
}

pub(super) struct Labels<'a> {
    /// The parent of each scope; the first is the body, its own parent.
    parents: Vec<u32>,
    scope: u32,
    by_name: FxHashMap<(&'a str, u32), u32>,
    definitions: Vec<Definition<'a>>,
    references: Vec<Reference<'a>>,
    /// Indices of the instructions after which a block ends.
    ends: Vec<u32>,
}

impl<'a> Labels<'a> {
    #[must_use]
    pub fn new() -> Self {
        Labels {
            parents: vec![0],
            scope: 0,
            by_name: FxHashMap::default(),
            definitions: Vec::new(),
            references: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub fn open_scope(&mut self) {
        self.parents.push(self.scope);
        self.scope = self.parents.len() as u32 - 1;
    }

    pub fn close_scope(&mut self) {
        self.scope = self.parents[self.scope as usize];
    }

    pub fn define(&mut self, name: &'a str, span: Span, marked: Marked) -> Result<()> {
        let Entry::Vacant(entry) = self.by_name.entry((name, self.scope)) else {
            return Err(Fault::invalid(span, format!("a second label '{name}'")));
        };
        entry.insert(self.definitions.len() as u32);
        self.definitions.push(Definition { name, marked, wanted: false });
        Ok(())
    }

    /// Notes that the operand with this index is the label.
    pub fn refer(&mut self, name: &'a str, span: Span, operand: u32) {
        self.references.push(Reference { name, span, scope: self.scope, used: Use::Operand(operand) });
    }

    pub fn refer_from_list(&mut self, name: &'a str, span: Span, list: TargetsId) {
        self.references.push(Reference { name, span, scope: self.scope, used: Use::List(list) });
    }

    /// Notes that the instruction with this index ends a block.
    pub fn end_block(&mut self, instruction: u32) {
        self.ends.push(instruction);
    }

    /// The definition that a name means in a scope: its own or an outer one's.
    fn find(&self, name: &'a str, mut scope: u32) -> Option<usize> {
        loop {
            if let Some(&index) = self.by_name.get(&(name, scope)) {
                return Some(index as usize);
            }
            if scope == 0 {
                return None;
            }
            scope = self.parents[scope as usize];
        }
    }

    /// Makes the blocks of a body and resolves all references to labels.
    pub fn finish(&mut self, body: &mut Body) -> Result<()> {
        let mut meanings = Vec::with_capacity(self.references.len());
        for reference in &self.references {
            let index = self.find(reference.name, reference.scope).ok_or_else(|| {
                Fault::invalid(reference.span, format!("the label '{}' is not there", reference.name))
            })?;
            meanings.push(self.definitions[index].marked);
            self.definitions[index].wanted = true;
        }
        self.make_blocks(body);
        let block_of = |at: u32| {
            let index = body.blocks.partition_point(|block| block.instructions.start < at);
            // Of an empty last block and the one before it, the label is the empty one's.
            BlockId(index as u32)
        };
        for (reference, marked) in self.references.iter().zip(meanings) {
            let operand = match (marked, reference.used) {
                (Marked::Code(at), Use::Operand(_)) => Operand::Block(block_of(at)),
                (Marked::Code(at), Use::List(list)) => {
                    body.targets[list.index()].blocks.push(block_of(at));
                    continue;
                }
                (Marked::Prototype(id), Use::Operand(_)) => Operand::Prototype(id),
                (Marked::Targets(id), Use::Operand(_)) => Operand::Targets(id),
                (_, Use::List(_)) => {
                    let message = format!("'{}' is no place in the code", reference.name);
                    return Err(Fault::invalid(reference.span, message));
                }
            };
            if let Use::Operand(index) = reference.used {
                body.operands[index as usize] = operand;
            }
        }
        Ok(())
    }

    fn make_blocks(&self, body: &mut Body) {
        let count = body.instructions.len() as u32;
        // Starts in ascending order, each with the label's definition if it has one.
        let mut starts: Vec<(u32, Option<usize>)> = vec![(0, None)];
        starts.extend(self.ends.iter().map(|&end| (end + 1, None)).filter(|&(start, _)| start < count));
        let mut used: FxHashSet<String> = FxHashSet::default();
        for (index, definition) in self.definitions.iter().enumerate() {
            if let (Marked::Code(at), true) = (definition.marked, definition.wanted) {
                starts.push((at, Some(index)));
            }
        }
        starts.sort_by_key(|&(at, label)| (at, label.is_none(), label));
        starts.dedup_by_key(|&mut (at, _)| at);
        let mut unique = |name: &str| -> Box<str> {
            let mut candidate = name.to_owned();
            let mut number = 0;
            while !used.insert(candidate.clone()) {
                number += 1;
                candidate = format!("{name}${number}$");
            }
            candidate.into()
        };
        for (position, &(start, label)) in starts.iter().enumerate() {
            let end = starts.get(position + 1).map_or(count, |&(next, _)| next);
            let label = label.map(|index| unique(self.definitions[index].name));
            body.blocks.push(Block { label, instructions: start..end });
        }
        for prototype in &mut body.prototypes {
            prototype.name = unique(&prototype.name);
        }
        for targets in &mut body.targets {
            targets.name = unique(&targets.name);
        }
    }
}
