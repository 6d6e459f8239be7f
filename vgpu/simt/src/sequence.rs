//! Values and the operations that define them.

use crate::op::Op;
use crate::types::{Element, Type};

/// A value of a sequence: the number of what defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Definition {
    pub op: Op,
    /// As many as the operation takes, then `Value(0)`.
    pub operands: [Value; 3],
    /// The result's.
    pub ty: Type,
}

impl Definition {
    #[must_use]
    pub fn operands(&self) -> &[Value] {
        &self.operands[..self.op.operands().count()]
    }
}

/// A computation: parameters first, then operations, each behind what it takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Sequence {
    pub definitions: Vec<Definition>,
    pub results: Vec<Value>,
}

impl Sequence {
    #[must_use]
    pub fn definition(&self, value: Value) -> &Definition {
        &self.definitions[value.index()]
    }

    #[must_use]
    pub fn ty(&self, value: Value) -> Type {
        self.definition(value).ty
    }

    #[must_use]
    pub fn element(&self, value: Value) -> Element {
        self.ty(value).element
    }

    #[must_use]
    pub fn is_one(&self, value: Value) -> bool {
        self.ty(value).is_one()
    }

    /// The bits of a constant.
    #[must_use]
    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.definition(value).op {
            Op::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// How many parameters it has.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.definitions.iter().take_while(|definition| matches!(definition.op, Op::Parameter(_))).count()
    }

    /// All values with what defines them, in order.
    pub fn values(&self) -> impl Iterator<Item = (Value, &Definition)> {
        self.definitions.iter().enumerate().map(|(index, definition)| (Value(index as u32), definition))
    }

    /// For each value, whether a result depends on it.
    #[must_use]
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.definitions.len()];
        for result in &self.results {
            needed[result.index()] = true;
        }
        for (index, definition) in self.definitions.iter().enumerate().rev() {
            if needed[index] {
                definition.operands().iter().for_each(|operand| needed[operand.index()] = true);
            }
        }
        needed
    }
}
