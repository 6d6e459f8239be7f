//! Comparisons.

use gangway_gcn::Row;

use super::{Compute, Operation};
use crate::format::{F16, F32, F64, Format};
use crate::integer::extend;
use crate::mode::Context;
use crate::special::is_class;
use crate::{float, format};

/// How two values are compared.
#[derive(Clone, Copy)]
pub enum Order {
    Float(Format),
    Signed(u32),
    Unsigned(u32),
}

pub fn operation(row: &Row) -> Option<Operation> {
    let (name, ty) = row.name.rsplit_once('_')?;
    let order = match ty {
        "f16" => Order::Float(F16),
        "f32" => Order::Float(F32),
        "f64" => Order::Float(F64),
        "i16" => Order::Signed(16),
        "i32" => Order::Signed(32),
        "i64" => Order::Signed(64),
        "u16" => Order::Unsigned(16),
        "u32" => Order::Unsigned(32),
        "u64" => Order::Unsigned(64),
        _ => return None,
    };
    let compute = match (name.ends_with("_class"), order) {
        (true, Order::Float(F16)) => Compute::Bit(|_, [a, b, _]| is_class(F16, a, b)),
        (true, Order::Float(F32)) => Compute::Bit(|_, [a, b, _]| is_class(F32, a, b)),
        (true, Order::Float(F64)) => Compute::Bit(|_, [a, b, _]| is_class(F64, a, b)),
        // The opcode's low bits are those of less, equal, greater, and of numbers unordered.
        (_, Order::Float(_)) => Compute::Compare(order, row.opcode as u8 & 15),
        _ => Compute::Compare(order, row.opcode as u8 & 7),
    };
    Some(Operation { compute, format: None, bits: 1 })
}

impl Order {
    /// Whether the comparison holds.
    pub fn holds(self, tests: u8, context: &Context, a: u64, b: u64) -> bool {
        let found = match self {
            Self::Unsigned(bits) => {
                let shift = 64 - bits;
                Some((a << shift).cmp(&(b << shift)))
            }
            Self::Signed(bits) => Some(extend(a, bits).cmp(&extend(b, bits))),
            Self::Float(format) => {
                let [a, b] = [a, b].map(|bits| float::source(context.mode, format, bits));
                compare(format, a, b)
            }
        };
        let bit = match found {
            Some(std::cmp::Ordering::Less) => 0,
            Some(std::cmp::Ordering::Equal) => 1,
            Some(std::cmp::Ordering::Greater) => 2,
            None => 3,
        };
        tests >> bit & 1 != 0
    }
}

fn compare(format: format::Format, a: u64, b: u64) -> Option<std::cmp::Ordering> {
    float::to_f64(format, a).partial_cmp(&float::to_f64(format, b))
}
