//! Constant expressions: 64-bit integers with C's operators and precedences (PTX ISA
//! 4.5).

use crate::error::{Fault, Result, Span};
use crate::lexer::{TokenKind, integer};

use super::Parser;

/// How deep parentheses, unary and conditional operators may be nested.
const DEEPEST: u32 = 64;

/// An integer, signed or not.
#[derive(Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Self {
        Value { bits, unsigned: false }
    }
}

impl Parser<'_> {
    /// Whether the token can start a constant expression.
    pub(super) fn at_constant(&self) -> bool {
        self.token.kind == TokenKind::Integer
            || [b'-', b'+', b'~', b'!', b'('].iter().any(|&byte| self.at(byte))
    }

    /// The bits of a constant expression.
    pub(super) fn constant(&mut self) -> Result<i64> {
        if self.token.kind == TokenKind::Integer {
            // Nearly always it is just a number.
            let value = self.literal()?;
            if !matches!(self.token.kind, TokenKind::Sign(_)) || self.operator().is_none() && !self.at(b'?') {
                return Ok(value.bits);
            }
            let value = self.binary(value, 0, 0)?;
            return Ok(self.conditional(value, 0)?.bits);
        }
        Ok(self.expression(0)?.bits)
    }

    fn literal(&mut self) -> Result<Value> {
        let text = self.word();
        let bits = integer(text.as_bytes()).ok_or_else(|| self.unexpected("an integer"))?;
        self.advance();
        Ok(Value { bits: bits as i64, unsigned: text.ends_with('U') || bits > i64::MAX as u64 })
    }

    fn expression(&mut self, depth: u32) -> Result<Value> {
        let first = self.unary(depth)?;
        let value = self.binary(first, 0, depth)?;
        self.conditional(value, depth)
    }

    fn conditional(&mut self, condition: Value, depth: u32) -> Result<Value> {
        if !self.eat(b'?') {
            return Ok(condition);
        }
        let yes = self.expression(depth + 1)?;
        self.expect(b':', "between the two values of '?'")?;
        let no = self.expression(depth + 1)?;
        let chosen = if condition.bits != 0 { yes } else { no };
        Ok(Value { bits: chosen.bits, unsigned: yes.unsigned || no.unsigned })
    }

    fn unary(&mut self, depth: u32) -> Result<Value> {
        if depth > DEEPEST {
            return Err(Fault::invalid(self.token.span, "this constant expression is nested too deeply"));
        }
        if self.token.kind == TokenKind::Integer {
            return self.literal();
        }
        if self.eat(b'(') {
            if let Some(unsigned) = self.cast() {
                let value = self.unary(depth + 1)?;
                return Ok(Value { unsigned, ..value });
            }
            let value = self.expression(depth + 1)?;
            self.expect(b')', "after a constant expression")?;
            return Ok(value);
        }
        for (byte, apply) in [
            (b'-', (|value| Value { bits: value.bits.wrapping_neg(), ..value }) as fn(Value) -> Value),
            (b'+', |value| value),
            (b'~', |value| Value { bits: !value.bits, ..value }),
            (b'!', |value| Value::signed((value.bits == 0).into())),
        ] {
            if self.eat(byte) {
                return self.unary(depth + 1).map(apply);
            }
        }
        Err(self.unexpected("a constant"))
    }

    /// `.s64)` or `.u64)` after an opening parenthesis.
    fn cast(&mut self) -> Option<bool> {
        let unsigned = match self.word() {
            ".s64" => false,
            ".u64" => true,
            _ => return None,
        };
        self.advance();
        self.eat(b')');
        Some(unsigned)
    }

    /// The binary operator at the current token, with its precedence.
    fn operator(&self) -> Option<([u8; 2], u8)> {
        let TokenKind::Sign(sign) = self.token.kind else { return None };
        let precedence = match &sign {
            b"||" => 1,
            b"&&" => 2,
            b"|\0" => 3,
            b"^\0" => 4,
            b"&\0" => 5,
            b"==" | b"!=" => 6,
            b"<\0" | b"<=" | b">\0" | b">=" => 7,
            b"<<" | b">>" => 8,
            b"+\0" | b"-\0" => 9,
            b"*\0" | b"/\0" | b"%\0" => 10,
            _ => return None,
        };
        Some((sign, precedence))
    }

    /// Takes operators that bind at least as tightly as `lowest`.
    fn binary(&mut self, mut left: Value, lowest: u8, depth: u32) -> Result<Value> {
        while let Some((sign, precedence)) = self.operator() {
            if precedence < lowest {
                break;
            }
            let span = self.advance().span;
            let mut right = self.unary(depth + 1)?;
            while let Some((_, next)) = self.operator()
                && next > precedence
            {
                right = self.binary(right, next, depth + 1)?;
            }
            left = apply(&sign, left, right, span)?;
        }
        Ok(left)
    }
}

fn apply(sign: &[u8; 2], left: Value, right: Value, span: Span) -> Result<Value> {
    let (a, b) = (left.bits, right.bits);
    let unsigned = left.unsigned || right.unsigned;
    let order = if unsigned { (a as u64).cmp(&(b as u64)) } else { a.cmp(&b) };
    let truth = |truth: bool| Ok(Value::signed(truth.into()));
    let bits = match sign {
        b"||" => return truth(a != 0 || b != 0),
        b"&&" => return truth(a != 0 && b != 0),
        b"==" => return truth(a == b),
        b"!=" => return truth(a != b),
        b"<\0" => return truth(order.is_lt()),
        b"<=" => return truth(order.is_le()),
        b">\0" => return truth(order.is_gt()),
        b">=" => return truth(order.is_ge()),
        b"|\0" => a | b,
        b"^\0" => a ^ b,
        b"&\0" => a & b,
        b"+\0" => a.wrapping_add(b),
        b"-\0" => a.wrapping_sub(b),
        b"*\0" => a.wrapping_mul(b),
        b"/\0" | b"%\0" if b == 0 => return Err(Fault::invalid(span, "division by zero in a constant")),
        b"/\0" if unsigned => (a as u64 / b as u64) as i64,
        b"/\0" => a.wrapping_div(b),
        b"%\0" if unsigned => (a as u64 % b as u64) as i64,
        b"%\0" => a.wrapping_rem(b),
        b"<<" => a.checked_shl(b as u32).filter(|_| b < 64).unwrap_or(0),
        // The result of a shift has the type of its left side.
        _ => {
            let count = (b as u64).min(64) as u32;
            let bits = if left.unsigned {
                (a as u64).checked_shr(count).unwrap_or(0) as i64
            } else {
                a >> count.min(63)
            };
            return Ok(Value { bits, unsigned: left.unsigned });
        }
    };
    Ok(Value { bits, unsigned })
}
