//! Reads a module in two steps: all declarations first, then the bodies that are wanted.
//!
//! The linker does it so. A program of GCC's brings all of libgomp and newlib along. Reading the
//! two thirds that no kernel reaches would take longer than the rest of its start. What is wrong
//! inside a body shows when that body is read.

use rustc_hash::FxHashMap;

use crate::error::{Errors, Fault, Result, Span};
use crate::ir::{FunctionId, Module, Symbol};
use crate::lexer::sign;
use crate::verify;

use super::{MOST_FAULTS, Origin, Parser, too_large};

/// A module of which the declarations have been read, and the text with the rest.
#[derive(Clone, Debug)]
pub struct Outline {
    text: Box<str>,
    declarations: Module,
    /// Where the bodies begin.
    bodies: FxHashMap<FunctionId, u32>,
}

impl Outline {
    pub fn new(text: impl Into<Box<str>>) -> std::result::Result<Self, Errors> {
        let text = text.into();
        if let Some(fault) = too_large(&text) {
            return Err(Errors(vec![fault.into_error(&text)]));
        }
        let mut parser = Parser::new(text.trim_end_matches('\0'), Origin::Source);
        parser.deferred = Some(FxHashMap::default());
        if let Err(fault) = parser.module() {
            parser.faults.push(fault);
        }
        if parser.faults.is_empty() {
            verify::aliases(&parser.module, &mut parser.faults);
        }
        if !parser.faults.is_empty() {
            return Err(errors(std::mem::take(&mut parser.faults), &text));
        }
        let (declarations, bodies) = (parser.module, parser.deferred.unwrap_or_default());
        Ok(Outline { text, declarations, bodies })
    }

    /// The module with empty bodies for all functions that have one.
    #[must_use]
    pub fn declarations(&self) -> &Module {
        &self.declarations
    }

    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        let text = self.text.trim_end_matches('\0');
        let mut parser = Parser::new(text, Origin::Source);
        parser.module = self.declarations.clone();
        // Nothing outside functions is ever renamed: names are what the text says.
        for (index, function) in self.declarations.functions.iter().enumerate() {
            let name = parser.text(function.origin.0);
            parser.globals.insert(name, Symbol::Function(FunctionId(index as u32)));
        }
        for (index, variable) in self.declarations.variables.iter().enumerate() {
            let name = parser.text(variable.origin.0);
            parser.globals.insert(name, Symbol::Variable(crate::ir::VariableId(index as u32)));
        }
        Reader { outline: self, parser }
    }
}

/// Reads bodies of an [`Outline`].
pub struct Reader<'a> {
    outline: &'a Outline,
    parser: Parser<'a>,
}

impl Reader<'_> {
    /// Reads and verifies the body of a function, which must have one that was not read yet.
    pub fn read(&mut self, function: FunctionId) -> std::result::Result<(), Errors> {
        let parser = &mut self.parser;
        if let Some(&start) = self.outline.bodies.get(&function) {
            parser.lexer.seek(start);
            parser.token = parser.lexer.next();
            if let Err(fault) = parser.body(function) {
                parser.faults.push(fault);
            }
            if parser.faults.is_empty() {
                verify::function(&parser.module, function, MOST_FAULTS, &mut parser.faults);
            }
        }
        match std::mem::take(&mut parser.faults) {
            faults if faults.is_empty() => Ok(()),
            faults => Err(errors(faults, &self.outline.text)),
        }
    }

    /// The module with those bodies that have been read, and empty ones for the others.
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.parser.module
    }

    #[must_use]
    pub fn into_module(self) -> Module {
        self.parser.module
    }
}

fn errors(faults: Vec<Fault>, text: &str) -> Errors {
    Errors(faults.into_iter().map(|fault| fault.into_error(text)).collect())
}

impl Parser<'_> {
    /// Skips a body with its opening brace as the token, and notes where it is.
    pub(super) fn defer(&mut self, id: FunctionId) -> Result<()> {
        debug_assert!(self.token.kind == sign(b'{'));
        let Span { start, .. } = self.token.span;
        if !self.lexer.skip_block() {
            return Err(Fault::invalid(self.token.span, "this brace is not closed"));
        }
        self.advance();
        self.module.functions[id.index()].body = Some(crate::ir::Body::default());
        if let Some(deferred) = &mut self.deferred {
            deferred.insert(id, start);
        }
        Ok(())
    }
}
