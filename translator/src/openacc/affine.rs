//! Subscripts as polynomials: sums of products of variables with whole factors.
//!
//! Only what an expression's value is in the integers is said. That is what it is in C as long as nothing
//! overflows, which is undefined where types are signed; where they are not, products are not read.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "dozens of names of libclang's")]
use clang_sys::*;

use super::index::{Key, range_of};
use crate::ast::Node;

/// A polynomial: factors by product of variables, none of them zero. The product of none is the constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poly(BTreeMap<Vec<Key>, i64>);

/// Products of more variables are not read.
const MOST_VARIABLES: usize = 6;

impl Poly {
    pub fn number(value: i64) -> Self {
        Self(if value == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), value)]) })
    }

    pub fn variable(key: Key) -> Self {
        Self(BTreeMap::from([(vec![key], 1)]))
    }

    /// The number that it is, if it is one.
    pub fn as_number(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    pub fn add(&self, other: &Self) -> Option<Self> {
        let mut sum = self.0.clone();
        for (product, factor) in &other.0 {
            let known = sum.entry(product.clone()).or_default();
            *known = known.checked_add(*factor)?;
        }
        sum.retain(|_, factor| *factor != 0);
        Some(Self(sum))
    }

    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut all = Self::default();
        for (one, factor) in &self.0 {
            for (other, by) in &other.0 {
                let mut product = [&one[..], other].concat();
                if product.len() > MOST_VARIABLES {
                    return None;
                }
                product.sort_unstable();
                all = all.add(&Self(BTreeMap::from([(product, factor.checked_mul(*by)?)])))?;
            }
        }
        Some(all)
    }

    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.add(&other.times(&Self::number(-1))?)
    }

    /// The variables in it.
    pub fn variables(&self) -> BTreeSet<Key> {
        self.0.keys().flatten().copied().collect()
    }

    /// What a variable is multiplied by, and the rest. `None`: it is multiplied by itself.
    pub fn split(&self, variable: Key) -> Option<(Self, Self)> {
        let (mut factor, mut rest) = (Self::default(), Self::default());
        for (product, number) in &self.0 {
            match product.iter().filter(|key| **key == variable).count() {
                0 => _ = rest.0.insert(product.clone(), *number),
                1 => {
                    let others = product.iter().copied().filter(|key| *key != variable).collect();
                    factor.0.insert(others, *number);
                }
                _ => return None,
            }
        }
        Some((factor, rest))
    }

    /// It with a variable replaced.
    pub fn with(&self, variable: Key, value: &Self) -> Option<Self> {
        let (factor, rest) = self.split(variable)?;
        rest.add(&factor.times(value)?)
    }

    /// Whether it is not below zero, as far as the variables are `positive`.
    pub fn is_positive_or_zero(&self, positive: &BTreeSet<Key>) -> bool {
        self.0.iter().all(|(product, factor)| *factor > 0 && product.iter().all(|key| positive.contains(key)))
    }
}

/// The expression with these bytes, below a node.
pub fn expression<'u>(node: Node<'u>, wanted: &Range<usize>) -> Option<Node<'u>> {
    let range = range_of(node)?;
    if node.is_expression() && range == *wanted {
        return Some(node);
    }
    if range.start > wanted.start || range.end < wanted.end {
        return None;
    }
    node.children().into_iter().find_map(|child| expression(child, wanted))
}

/// What variables stand for in an expression: `None` for those whose value is not known.
pub trait Values<'u> {
    fn value(&mut self, node: Node<'u>, key: Key) -> Option<Poly>;
}

/// An expression as a polynomial.
pub fn read<'u>(node: Node<'u>, text: &str, values: &mut dyn Values<'u>) -> Option<Poly> {
    let children = node.children();
    match node.kind() {
        CXCursor_IntegerLiteral => {
            let spelt = text.get(range_of(node)?)?;
            let digits = spelt.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
            let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                Some(digits) => i64::from_str_radix(digits, 16),
                // An octal number is no subscript that anybody writes.
                None if digits.len() > 1 && digits.starts_with('0') => return None,
                None => digits.parse(),
            };
            number.ok().map(Poly::number)
        }
        CXCursor_DeclRefExpr => {
            let declaration = node.referenced()?;
            values.value(node, super::index::key_of(declaration)?)
        }
        CXCursor_ParenExpr => read(*children.first()?, text, values),
        CXCursor_UnexposedExpr
        | CXCursor_CStyleCastExpr
        | CXCursor_CXXStaticCastExpr
        | CXCursor_CXXFunctionalCastExpr => {
            let inner = children.into_iter().rfind(|child| child.is_expression())?;
            // What becomes narrower may become another number.
            let (from, to) = (inner.ty(), node.ty());
            let widens = from.is_integer() && to.is_integer() && to.size()? >= from.size()?.max(4);
            if widens { read(inner, text, values) } else { None }
        }
        CXCursor_UnaryOperator => {
            let inner = *children.first()?;
            let sign = text.get(range_of(node)?.start..range_of(inner)?.start)?.trim();
            let value = read(inner, text, values)?;
            match sign {
                "-" => value.times(&Poly::number(-1)),
                "+" => Some(value),
                _ => None,
            }
        }
        CXCursor_BinaryOperator => {
            let [left, right] = children[..] else { return None };
            let (left, right) = (read(left, text, values)?, read(right, text, values)?);
            match node.operator() {
                CXBinaryOperator_Add => left.add(&right),
                CXBinaryOperator_Sub => left.minus(&right),
                // A product of 32 bits without a sign may come round.
                CXBinaryOperator_Mul if node.ty().is_signed() || node.ty().size()? > 4 => left.times(&right),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_put_together() {
        let (i, n) = (Poly::variable(1), Poly::variable(2));
        let one = i.times(&n).unwrap().add(&Poly::number(3)).unwrap();
        let twice = one.add(&one).unwrap();
        let (factor, rest) = twice.split(1).unwrap();
        assert_eq!(factor, n.times(&Poly::number(2)).unwrap());
        assert_eq!(rest.as_number(), Some(6));
        assert_eq!(twice.minus(&twice).unwrap().as_number(), Some(0));
        assert_eq!(
            twice.with(1, &Poly::number(5)).unwrap(),
            n.times(&Poly::number(10)).unwrap().add(&rest).unwrap()
        );
        assert_eq!(i.times(&i).unwrap().split(1), None);
        assert_eq!(twice.variables(), BTreeSet::from([1, 2]));
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let large = Poly::number(i64::MAX);
        assert_eq!(large.add(&Poly::number(1)), None);
        assert_eq!(large.times(&Poly::number(2)), None);
        let many = (0..7).try_fold(Poly::number(1), |all, key| all.times(&Poly::variable(key)));
        assert_eq!(many, None);
    }

    #[test]
    fn signs() {
        let positive = BTreeSet::from([2]);
        let n = Poly::variable(2);
        assert!(n.is_positive_or_zero(&positive) && Poly::number(0).is_positive_or_zero(&positive));
        assert!(!Poly::variable(1).is_positive_or_zero(&positive));
        assert!(!n.add(&Poly::number(-1)).unwrap().is_positive_or_zero(&positive));
    }
}
