//! The initial values of variables.

use crate::error::{Fault, Result};
use crate::ir::{Initializer, Relocation, Symbol, Variable};
use crate::lexer::{TokenKind, decimal, sign};
use crate::types::{StateSpace, Type, TypeClass, Version};

use super::Parser;
use super::function::{Binding, Frame};

/// How far inner braces may skip ahead over elements without a value.
const LONGEST_GAP: u64 = 1 << 20;

/// The bytes so far and where the next element goes.
struct Image<'v> {
    variable: &'v Variable,
    /// Elements that each level of braces holds, the outermost first.
    lengths: Vec<u64>,
    size: usize,
    element: u64,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl<'a> Parser<'a> {
    /// What follows `=`, and the dimensions, of which the first may have been open.
    pub(super) fn initializer(
        &mut self,
        variable: &Variable,
        frame: Option<&Frame<'a>>,
    ) -> Result<(Initializer, Box<[u64]>)> {
        let mut lengths = variable.dimensions.to_vec();
        if variable.vector > 1 {
            lengths.push(u64::from(variable.vector));
        }
        let size = variable.ty.size() as usize;
        let mut image =
            Image { variable, lengths, size, element: 0, bytes: Vec::new(), relocations: Vec::new() };
        if self.at(b'{') {
            if image.lengths.is_empty() {
                // One value in braces, as LLVM writes some scalars.
                image.lengths.push(1);
            }
            self.braces(&mut image, 0, frame)?;
        } else {
            self.element(&mut image, frame)?;
        }
        let mut dimensions = variable.dimensions.clone();
        if dimensions.first() == Some(&0) {
            let inner: u64 = image.lengths[1..].iter().product();
            dimensions[0] = image.element.div_ceil(inner).max(1);
        }
        let initializer = Initializer { bytes: image.bytes.into(), relocations: image.relocations.into() };
        Ok((initializer, dimensions))
    }

    fn braces(&mut self, image: &mut Image, level: usize, frame: Option<&Frame<'a>>) -> Result<()> {
        let open = self.advance().span;
        if level >= image.lengths.len() {
            return Err(Fault::invalid(open, "more braces than the array has dimensions"));
        }
        let start = image.element;
        // An open array may be of any length.
        let unbounded = level == 0 && image.lengths[0] == 0;
        let room = if unbounded { u64::MAX } else { image.lengths[level..].iter().product() };
        while !self.eat(b'}') {
            if image.element >= start.saturating_add(room) {
                let message = format!("more than the {room} values that fit here");
                return Err(Fault::invalid(self.token.span, message));
            }
            if self.at(b'{') {
                self.braces(image, level + 1, frame)?;
            } else {
                self.element(image, frame)?;
            }
            if !self.at(b'}') {
                self.expect(b',', "or '}' after a value")?;
            }
        }
        if level > 0 {
            let end = start + room;
            if (end - image.element) * image.size as u64 > LONGEST_GAP {
                return Err(Fault::unsupported(
                    open,
                    "such a large array with inner braces is not supported",
                ));
            }
            image.element = end;
            image.pad();
        }
        Ok(())
    }

    fn element(&mut self, image: &mut Image, frame: Option<&Frame<'a>>) -> Result<()> {
        let ty = image.variable.ty;
        let span = self.token.span;
        let negative = self.at(b'-') && ty.class() == TypeClass::Float;
        if negative {
            self.advance();
        }
        let float = match self.token.kind {
            TokenKind::Float32 => Some(f64::from(f32::from_bits(self.hexadecimal() as u32))),
            TokenKind::Float64 => Some(f64::from_bits(self.hexadecimal())),
            TokenKind::Decimal => decimal(self.word().as_bytes()),
            TokenKind::Integer if ty.class() == TypeClass::Float && self.module.version.major > 0 => {
                crate::lexer::integer(self.word().as_bytes()).map(|value| value as f64)
            }
            _ => None,
        };
        if let Some(value) = float {
            // Through f64 a signalling NaN would become quiet: keep such bits as they are.
            let exact = self.token.kind == TokenKind::Float32 && ty.size() == 4;
            let value = if negative { -value } else { value };
            let bits = match ty {
                Type::F32 | Type::B32 if exact => self.hexadecimal() ^ (u64::from(negative) << 31),
                Type::F32 | Type::B32 => u64::from((value as f32).to_bits()),
                Type::F64 | Type::B64 => value.to_bits(),
                _ => return Err(Fault::invalid(span, format!("a floating-point value for type .{ty}"))),
            };
            self.advance();
            image.push(&bits.to_le_bytes()[..image.size]);
            return Ok(());
        }
        if self.token.kind == TokenKind::Name || self.at_mask() {
            return self.address_value(image, frame);
        }
        let bits = self.constant()?;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&bits.to_le_bytes());
        image.push(&bytes[..image.size]);
        Ok(())
    }

    /// The bits of a `0f` or `0d` token.
    pub(super) fn hexadecimal(&self) -> u64 {
        u64::from_str_radix(&self.word()[2..], 16).unwrap_or(0)
    }

    /// `0xFF00(` before an address of which it takes some bytes.
    fn at_mask(&self) -> bool {
        self.token.kind == TokenKind::Integer && self.lexer.clone().next().kind == sign(b'(')
    }

    /// `x`, `x + 4`, `generic(x) + 4`, `0xFF(generic(x) + 4)`
    fn address_value(&mut self, image: &mut Image, frame: Option<&Frame<'a>>) -> Result<()> {
        let start = self.token.span;
        let mask = match self.at_mask() {
            true => {
                let mask = self.number("a mask")?;
                self.expect(b'(', "after a mask")?;
                Some(mask)
            }
            false => None,
        };
        if mask.is_some() && self.module.version < Version::new(7, 1) {
            return Err(Fault::invalid(start, "a mask of an address needs PTX 7.1"));
        }
        let (mut name, mut span) = self.name("a variable or a function")?;
        let generic = name == "generic" && self.eat(b'(');
        if generic {
            (name, span) = self.name("a variable")?;
            self.expect(b')', "after generic(x")?;
        }
        let symbol = match frame.and_then(|frame| frame.lookup(name)) {
            Some(Binding::Symbol(symbol @ Symbol::Local(_))) => Some(symbol),
            _ => self.globals.get(name).copied(),
        };
        let symbol = symbol.ok_or_else(|| Fault::invalid(span, format!("'{name}' has not been declared")))?;
        if let Symbol::Variable(id) = symbol
            && !matches!(self.module.variables[id.index()].space, StateSpace::Global | StateSpace::Const)
        {
            return Err(Fault::invalid(
                span,
                format!("the address of '{name}' is not known before a launch"),
            ));
        }
        let addend = if self.at(b'+') || self.at(b'-') { self.constant()? } else { 0 };
        if mask.is_some() {
            self.expect(b')', "after a masked address")?;
        } else if image.size < 4 {
            let message = format!("an address does not fit in a value of type .{}", image.variable.ty);
            return Err(Fault::invalid(start.to(span), message));
        }
        let offset = image.element * image.size as u64;
        let (size, mask) = (image.size as u8, mask.unwrap_or(u64::MAX));
        image.relocations.push(Relocation { offset, size, symbol, addend, generic, mask });
        image.push(&[0; 16][..image.size]);
        Ok(())
    }
}

impl Image<'_> {
    /// Fills up with zeros to the next element.
    fn pad(&mut self) {
        self.bytes.resize(self.element as usize * self.size, 0);
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.element += 1;
    }
}
