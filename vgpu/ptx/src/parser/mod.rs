//! The parser: from text to a [`Module`](crate::Module) with resolved names.
//!
//! - `module`: directives at module level
//! - `declaration`: variables, parameters and their types
//! - `initializer`: the values of variables
//! - `function`: signatures, bodies, scopes
//! - `labels`: from labels to blocks, when a body is complete
//! - `instruction`: opcodes and operands
//! - `composed`: operands that are made of others: elements and sums
//! - `constant`: constant expressions
//! - `outline`: declarations without bodies, for the linker
//!
//! A fault in an instruction does not end the parse: the parser goes on after the next
//! semicolon, so that a programmer sees all faults at once, up to [`MOST_FAULTS`].

mod composed;
mod constant;
mod declaration;
mod function;
mod initializer;
mod instruction;
mod labels;
mod module;
mod outline;

pub use outline::{Outline, Reader};

use rustc_hash::FxHashMap;

use crate::error::{Errors, Fault, Result, Span};
use crate::ir::{FunctionId, Module, OpcodeId, Symbol, Target};
use crate::lexer::{Lexer, Token, TokenKind, integer, sign};
use crate::types::Version;
use crate::verify;

/// After this many faults the rest of the text is not read.
const MOST_FAULTS: usize = 20;

/// Parses and verifies a module.
pub fn parse(text: &str) -> std::result::Result<Module, Errors> {
    parse_as(text, Origin::Source)
}

/// [`parse`] for what linking made of modules for several processors: each instruction
/// was checked against its own module's `.version` and `.target`, and what the oldest
/// of them may use the newest, which the text names, may not.
pub fn parse_linked(text: &str) -> std::result::Result<Module, Errors> {
    parse_as(text, Origin::Linker)
}

/// Where a text comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Source,
    Linker,
}

fn parse_as(text: &str, origin: Origin) -> std::result::Result<Module, Errors> {
    // A C string's terminator, and what some tools leave after it, is not text.
    let text = text.trim_end_matches('\0');
    let mut faults = Vec::new();
    let mut module = None;
    if let Some(fault) = too_large(text) {
        faults.push(fault);
    } else {
        let mut parser = Parser::new(text, origin);
        match parser.module() {
            Ok(()) => {}
            Err(fault) => parser.faults.push(fault),
        }
        faults = parser.faults;
        if faults.is_empty() {
            number_opcodes(&mut parser.module);
            verify::verify(&parser.module, MOST_FAULTS, &mut faults);
            module = Some(parser.module);
        }
    }
    match module {
        Some(module) if faults.is_empty() => Ok(module),
        _ => Err(Errors(faults.into_iter().map(|fault| fault.into_error(text)).collect())),
    }
}

/// Spans count bytes in 32 bits.
fn too_large(text: &str) -> Option<Fault> {
    let message = "a module of 4 GiB or more is not supported";
    u32::try_from(text.len()).is_err().then(|| Fault::unsupported(Span::default(), message))
}

/// [`parse`] for text that need not be UTF-8; comments and file names often are not.
pub fn parse_bytes(text: &[u8]) -> std::result::Result<Module, Errors> {
    parse(&String::from_utf8_lossy(text))
}

/// Numbers the opcodes in the order of their use, function by function. Bodies need not
/// stand in the order in which functions were declared, and equal modules are to be
/// equal whatever that order was.
fn number_opcodes(module: &mut Module) {
    const UNUSED: u32 = u32::MAX;
    let mut numbers = vec![UNUSED; module.opcodes.len()];
    let mut order = Vec::with_capacity(numbers.len());
    for body in module.functions.iter_mut().filter_map(|function| function.body.as_mut()) {
        for instruction in &mut body.instructions {
            let old = instruction.opcode;
            if numbers[old.index()] == UNUSED {
                numbers[old.index()] = order.len() as u32;
                order.push(old);
            }
            instruction.opcode = OpcodeId(numbers[old.index()]);
        }
    }
    module.opcodes = order.into_iter().map(|id| module.opcodes[id.index()].clone()).collect();
}

struct Parser<'a> {
    source: &'a str,
    origin: Origin,
    lexer: Lexer<'a>,
    /// The token that is looked at; the lexer stands right after it.
    token: Token,
    /// The end of the token before it.
    last_end: u32,
    module: Module,
    globals: FxHashMap<&'a str, Symbol>,
    opcodes: FxHashMap<&'a str, OpcodeId>,
    /// Registers declared so far, over all functions.
    registers: usize,
    /// Where bodies begin that are to be read later; `None` when all are read at once.
    deferred: Option<FxHashMap<FunctionId, u32>>,
    faults: Vec<Fault>,
    /// Kept from function to function for its memory.
    scratch: instruction::Scratch,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, origin: Origin) -> Self {
        let mut lexer = Lexer::new(source.as_bytes());
        let token = lexer.next();
        Parser {
            source,
            origin,
            lexer,
            token,
            last_end: 0,
            module: Module {
                version: Version::new(0, 0),
                target: Target::default(),
                // The PTX ISA says 32 for a text without the directive. `ptxas` and the driver take
                // the machine's, 64, and a part that GCC adds to programs relies on it.
                address_size: 64,
                files: Vec::new(),
                variables: Vec::new(),
                functions: Vec::new(),
                aliases: Vec::new(),
                opcodes: Vec::new(),
            },
            globals: FxHashMap::default(),
            opcodes: FxHashMap::default(),
            registers: 0,
            deferred: None,
            faults: Vec::new(),
            scratch: instruction::Scratch::default(),
        }
    }

    fn text(&self, span: Span) -> &'a str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The text of the token that is looked at.
    fn word(&self) -> &'a str {
        self.text(self.token.span)
    }

    fn advance(&mut self) -> Token {
        self.last_end = self.token.span.end;
        std::mem::replace(&mut self.token, self.lexer.next())
    }

    fn at(&self, byte: u8) -> bool {
        self.token.kind == sign(byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.at(byte);
        if there {
            self.advance();
        }
        there
    }

    fn expect(&mut self, byte: u8, after: &str) -> Result<()> {
        if self.eat(byte) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{}' {after}", byte as char)))
    }

    /// Takes the directive if it is there: `eat_word(".align")`.
    fn eat_word(&mut self, word: &str) -> bool {
        let there = self.token.kind == TokenKind::Dot && self.word() == word;
        if there {
            self.advance();
        }
        there
    }

    fn name(&mut self, what: &str) -> Result<(&'a str, Span)> {
        if self.token.kind != TokenKind::Name {
            return Err(self.unexpected(what));
        }
        let word = self.word();
        Ok((word, self.advance().span))
    }

    /// A plain number, as directives have them.
    fn number(&mut self, what: &str) -> Result<u64> {
        let value = match self.token.kind {
            TokenKind::Integer => integer(self.word().as_bytes()),
            _ => None,
        };
        let value = value.ok_or_else(|| self.unexpected(what))?;
        self.advance();
        Ok(value)
    }

    fn small_number(&mut self, what: &str) -> Result<u32> {
        let span = self.token.span;
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| Fault::invalid(span, format!("{value} is too large for {what}")))
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let got = match self.token.kind {
            TokenKind::End => "the text ends".to_owned(),
            TokenKind::Unknown if self.word().starts_with('"') => "a string does not end".to_owned(),
            _ => format!("found '{}'", shorten(self.word())),
        };
        Fault::invalid(self.token.span, format!("{got} where {expected} was expected"))
    }

    /// Notes a fault and goes on after the statement; gives up when there are too many.
    fn recover(&mut self, fault: Fault) -> Result<()> {
        if self.faults.len() + 1 >= MOST_FAULTS {
            return Err(fault);
        }
        self.faults.push(fault);
        while self.token.kind != TokenKind::End && !self.eat(b';') {
            // A brace that a comma or semicolon follows is the end of an operand.
            let inside =
                matches!(self.lexer.clone().next().kind, TokenKind::Sign([b',' | b';' | b']' | b'}', 0]));
            if self.at(b'}') && !inside {
                break;
            }
            self.advance();
        }
        Ok(())
    }
}

/// A name for a message: names of a kilobyte exist.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
