//! Functions from text, as they are printed.

use std::str::FromStr;

use super::{Block, End, Function};
use crate::names::Named;
use crate::op::IntOrder;
use crate::operation::{
    Access, Algebra, Argument, Atomic, Barrier, Call, Compute, Exchange, Exchanged, From, Guard, Kind,
    Matrix, Meeting, Operation, Operator, Passed, Read, Source, Stack, Taken, Target, To, Write,
};
use crate::place::{Address, Base, Part, Place, Special};
use crate::scalar::Scalar;
use crate::text::ParseError;

type Parsed<T> = Result<T, String>;

impl FromStr for Function {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut function = Function::default();
        for (index, line) in text.lines().enumerate() {
            Line { rest: line }.add_to(&mut function).map_err(|what| ParseError { line: index + 1, what })?;
        }
        Ok(function)
    }
}

/// What is left of a line.
struct Line<'a> {
    rest: &'a str,
}

/// A result, as far as it says what it is.
struct Outcome {
    to: To,
    passed: Option<Passed>,
    /// In the area of a matrix.
    offset: u32,
}

impl<'a> Line<'a> {
    fn add_to(&mut self, function: &mut Function) -> Parsed<()> {
        self.spaces();
        if self.rest.is_empty() {
            return Ok(());
        }
        if self.eat("slots") {
            function.slots = self.list(Line::named)?;
            return self.end();
        }
        let is_block = self.eat("block ");
        let next = if is_block { function.blocks.len() } else { function.operations.len() };
        if self.number::<usize>()? != next {
            return Err(format!("{next} comes next"));
        }
        self.expect(":")?;
        if is_block {
            function.blocks.push(self.block()?);
        } else {
            function.operations.push(self.operation()?);
        }
        self.end()
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest;
        self.spaces();
        true
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(format!("'{token}' is expected before '{}'", self.rest)) }
    }

    fn end(&self) -> Parsed<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(format!("'{}' is too much", self.rest)) }
    }

    /// Takes what consists of some characters.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.spaces();
        word
    }

    /// A name of letters and `_`, with those behind points.
    fn word(&mut self) -> &'a str {
        self.take(|letter| letter.is_ascii_lowercase() || letter == '_')
    }

    fn number<T: FromStr>(&mut self) -> Parsed<T> {
        let before = self.rest;
        let sign = self.rest.starts_with(['-', '+']);
        let digits = self.rest[usize::from(sign)..].find(|letter: char| !letter.is_ascii_digit());
        let end = digits.map_or(self.rest.len(), |end| end + usize::from(sign));
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.spaces();
        number
            .strip_prefix('+')
            .unwrap_or(number)
            .parse()
            .map_err(|_| format!("a number is expected: '{before}'"))
    }

    fn named<T: Named>(&mut self) -> Parsed<T> {
        let name = self.take(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        T::named(name).ok_or_else(|| format!("'{name}' is no name that is known here"))
    }

    /// What stands between commas, if anything does.
    fn list<T>(&mut self, each: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        if self.rest.is_empty() || self.rest.starts_with([')', '=']) {
            return Ok(all);
        }
        loop {
            all.push(each(self)?);
            if !self.eat(",") {
                return Ok(all);
            }
        }
    }

    fn slot(&mut self) -> Parsed<u32> {
        self.expect("%")?;
        self.number()
    }

    fn guard(&mut self) -> Parsed<Guard> {
        let negated = self.eat("!");
        Ok(Guard { slot: self.slot()?, negated })
    }

    fn place(&mut self) -> Parsed<Place> {
        if self.rest.starts_with('%') {
            return self.slot().map(Place::Slot);
        }
        let make = match self.word() {
            "argument" => Place::Argument,
            "parameter" => Place::Parameter,
            "local" => Place::Local,
            "symbol" => Place::Symbol,
            "function" => Place::Function,
            other => return Err(format!("'{other}' is no place")),
        };
        self.number().map(make)
    }

    fn source(&mut self) -> Parsed<Source> {
        if self.rest.starts_with('%') {
            return self.slot().map(Source::Slot);
        }
        if self.eat("!") {
            return self.slot().map(Source::Not);
        }
        if self.eat("&") {
            let place = self.place()?;
            return Ok(Source::Address(place, self.number()?));
        }
        if self.rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') {
            return self.number::<i64>().map(|value| Source::Constant(value as u64));
        }
        self.special().map(Source::Special)
    }

    fn special(&mut self) -> Parsed<Special> {
        let name = self.word();
        let mut part = || if self.eat(".") { self.named() } else { Ok(Part::Whole) };
        Ok(match name {
            "clock" => Special::Clock(part()?),
            "time" => Special::Time(part()?),
            "workspace" => Special::Workspace(part()?),
            "lane" => Special::Lane,
            "warp" => Special::Warp,
            "warps" => Special::Warps,
            "processor" => Special::Processor,
            "processors" => Special::Processors,
            "grid" => Special::Grid,
            "shared" => Special::Shared,
            "dynamic_shared" => Special::DynamicShared,
            name => {
                self.expect(".")?;
                match name {
                    "thread" => Special::Thread(self.named()?),
                    "threads" => Special::Threads(self.named()?),
                    "block" => Special::Block(self.named()?),
                    "blocks" => Special::Blocks(self.named()?),
                    "lanes" => Special::LaneMask(self.named()?),
                    other => return Err(format!("nobody is told '{other}'")),
                }
            }
        })
    }

    fn read(&mut self) -> Parsed<Read> {
        let source = self.source()?;
        self.expect(":")?;
        Ok(Read { source, ty: self.named()? })
    }

    fn address(&mut self) -> Parsed<Address> {
        self.expect("[")?;
        let base = match self.rest.chars().next() {
            Some('%') => Base::Slot(self.slot()?),
            Some('&') => {
                self.expect("&")?;
                Base::Place(self.place()?)
            }
            _ => Base::Absolute,
        };
        let offset = self.number()?;
        self.expect("]")?;
        Ok(Address { base, offset })
    }

    fn access(&mut self) -> Parsed<Access> {
        let space = self.named()?;
        let name = self.take(|letter| letter.is_ascii_alphanumeric());
        let (name, count) = match name.split_once('x') {
            Some((name, count)) => (name, count.parse().map_err(|_| format!("'{count}' is no number"))?),
            None => (name, 1),
        };
        let ty = Scalar::named(name).ok_or_else(|| format!("'{name}' is no type"))?;
        let [strong, acquire, release, narrow, uniform] =
            ["strong", "acquire", "release", "narrow", "uniform"].map(|word| self.eat(word));
        Ok(Access { ty, count, space, strong, acquire, release, narrow, uniform })
    }

    fn passed(&mut self) -> Parsed<Passed> {
        if self.eat("bytes") { self.number().map(Passed::Bytes) } else { self.named().map(Passed::Value) }
    }

    fn result(&mut self) -> Parsed<Outcome> {
        let to = match self.rest.chars().next() {
            Some('_') => {
                self.expect("_")?;
                To::Nothing
            }
            Some('*') => {
                self.expect("*")?;
                To::Place(self.place()?)
            }
            _ => To::Slot(self.slot()?),
        };
        let passed = if self.eat(":") { Some(self.passed()?) } else { None };
        let offset = if self.eat("@") { self.number()? } else { 0 };
        Ok(Outcome { to, passed, offset })
    }

    fn operation(&mut self) -> Parsed<Operation> {
        let guard = if self.eat("@") { Some(self.guard()?) } else { None };
        let results = match self.rest.contains(" = ") {
            true => {
                let results = self.list(Line::result)?;
                self.expect("=")?;
                results
            }
            false => Vec::new(),
        };
        Ok(Operation { guard, kind: self.kind(results)? })
    }

    fn kind(&mut self, results: Vec<Outcome>) -> Parsed<Kind> {
        let name = self.take(|letter| letter.is_ascii_lowercase() || letter == '_' || letter == '.');
        let mut results = Outcomes(results);
        let kind = match name {
            "compute" => {
                let opcode = self.number()?;
                let algebra = self.algebra()?;
                let carries = self.eat("carries");
                let sources = self.list(Line::read)?.into();
                Kind::Compute(Compute { opcode, algebra, carries, sources, results: results.writes()? })
            }
            "move" => Kind::Move { sources: self.list(Line::read)?.into(), results: results.writes()? },
            "repack" => {
                let ty = self.named()?;
                Kind::Repack { ty, sources: self.list(Line::source)?.into(), results: results.slots()? }
            }
            "load" => {
                let access = self.access()?;
                Kind::Load { access, address: self.address()?, results: results.slots()? }
            }
            "store" => {
                let (access, address) = (self.access()?, self.address()?);
                self.expect(",")?;
                Kind::Store { access, address, sources: self.list(Line::source)?.into() }
            }
            "atomic" => {
                let (opcode, operator) = (self.number()?, self.named()?);
                let (space, ty, address) = (self.named()?, self.named()?, self.address()?);
                self.expect(",")?;
                let sources = self.list(Line::source)?.into();
                let (returns, result) = (!results.0.is_empty(), results.maybe()?);
                Kind::Atomic(Atomic { opcode, operator, ty, space, address, sources, result, returns })
            }
            "copy" => {
                let to = self.address()?;
                self.expect(",")?;
                let from = self.address()?;
                self.expect(",")?;
                let bytes = self.number()?;
                self.expect(",")?;
                Kind::Copy { to, from, bytes, taken: self.source()? }
            }
            "convert_address" => {
                let to_space = self.eat("to ");
                if !to_space {
                    self.expect("from")?;
                }
                let (space, ty, source) = (self.named()?, self.named()?, self.source()?);
                Kind::ConvertAddress { ty, space, to_space, source, result: results.one()? }
            }
            "is_in" => {
                let (space, source) = (self.named()?, self.source()?);
                Kind::IsInSpace { space, source, result: results.one()? }
            }
            "allocate" => {
                let (ty, size) = (self.named()?, self.source()?);
                self.expect(",")?;
                let stack = Stack::Allocate { size, align: self.number()?, result: results.one()? };
                Kind::Stack { stack, ty }
            }
            "save_stack" => Kind::Stack { ty: self.named()?, stack: Stack::Save { result: results.one()? } },
            "restore_stack" => {
                let ty = self.named()?;
                Kind::Stack { stack: Stack::Restore { top: self.source()? }, ty }
            }
            "exchange" => {
                let (opcode, operator) = (self.number()?, self.exchanged()?);
                let sources = self.list(Line::read)?.into();
                Kind::Exchange(Exchange { opcode, operator, sources, results: results.writes()? })
            }
            "matrix" => Kind::Matrix(self.matrix(&mut results)?),
            "active_lanes" => Kind::ActiveLanes { result: results.one()? },
            "fence" => Kind::Fence { narrow: self.eat("narrow") },
            "sleep" => Kind::Sleep,
            "nothing" => Kind::Nothing,
            "table" => Kind::Table { index: self.source()? },
            "call" => Kind::Call(self.call(&mut results)?),
            "go" => Kind::Go,
            name => match name.strip_prefix("barrier.") {
                Some(meeting) => Kind::Barrier(self.barrier(meeting, &mut results)?),
                None => return Err(format!("there is no operation '{name}'")),
            },
        };
        if results.0.is_empty() { Ok(kind) } else { Err(format!("'{name}' has no such results")) }
    }

    /// A name with types behind points; none where operands begin.
    fn algebra(&mut self) -> Parsed<Option<Algebra>> {
        let before = self.rest;
        let name = self.take(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.');
        let parts: Vec<&str> = name.split('.').collect();
        let int_order = |name: &str| IntOrder::ALL.iter().copied().find(|order| order.name() == name);
        let operator = match &parts[..] {
            ["add", _] => Some(Operator::Add),
            ["sum", _] => Some(Operator::Sum),
            ["subtract", _] => Some(Operator::Subtract),
            ["negate", _] => Some(Operator::Negate),
            ["divide", _] => Some(Operator::Divide),
            ["remainder", _] => Some(Operator::Remainder),
            ["and", _] => Some(Operator::And),
            ["or", _] => Some(Operator::Or),
            ["shift_left", _] => Some(Operator::ShiftLeft),
            ["shift_right", _] => Some(Operator::ShiftRight),
            ["multiply", half, _] => Named::named(half).map(Operator::Multiply),
            ["multiply_add", half, _] => Named::named(half).map(Operator::MultiplyAdd),
            ["convert", to, _] => Named::named(to).map(|to| Operator::Convert { to, exact: true }),
            ["saturate", to, _] => Named::named(to).map(|to| Operator::Convert { to, exact: false }),
            ["compare", order, _] => int_order(order).map(Operator::Compare),
            _ => None,
        };
        let ty = parts.last().and_then(|name| Scalar::named(name));
        match (operator, ty) {
            (Some(operator), Some(ty)) => Ok(Some(Algebra { operator, ty })),
            _ => {
                self.rest = before;
                Ok(None)
            }
        }
    }

    fn exchanged(&mut self) -> Parsed<Exchanged> {
        Ok(match self.word() {
            "nothing" => Exchanged::Nothing,
            "match_any" => Exchanged::MatchAny,
            "match_all" => Exchanged::MatchAll,
            "reduce" => Exchanged::Reduce,
            "elect" => Exchanged::Elect,
            "vote" => {
                self.expect(".")?;
                Exchanged::Vote(self.named()?)
            }
            "shuffle" => {
                self.expect(".")?;
                Exchanged::Shuffle(self.named()?)
            }
            other => return Err(format!("lanes exchange nothing by '{other}'")),
        })
    }

    fn matrix(&mut self, results: &mut Outcomes) -> Parsed<Matrix> {
        let opcode = self.number()?;
        let mut address = None;
        if self.rest.starts_with('[') {
            address = Some(self.address()?);
            self.expect(",")?;
        }
        let sources = self.list(|line| {
            let read = line.read()?;
            line.expect("@")?;
            Ok((read, line.number()?))
        })?;
        let results = std::mem::take(&mut results.0);
        let results = results.into_iter().map(|result| Ok((result.write()?, result.offset)));
        Ok(Matrix { opcode, address, sources: sources.into(), results: results.collect::<Parsed<_>>()? })
    }

    fn barrier(&mut self, meeting: &str, results: &mut Outcomes) -> Parsed<Barrier> {
        let meeting = match meeting {
            "wait" => Meeting::Wait,
            "arrive" => Meeting::Arrive,
            name => {
                let reduction = Named::named(name).ok_or_else(|| format!("no barrier is for '{name}'"))?;
                let source = self.source()?;
                self.expect(",")?;
                Meeting::Reduce { reduction, source, result: results.one()? }
            }
        };
        let number = self.source()?;
        let count = if self.eat(",") { Some(self.source()?) } else { None };
        Ok(Barrier { meeting, number, count })
    }

    fn call(&mut self, results: &mut Outcomes) -> Parsed<Call> {
        let target = if self.eat("function") {
            Target::Function(self.number()?)
        } else {
            let source = self.source()?;
            self.expect("like")?;
            self.expect("0x")?;
            let digits = self.take(|letter| letter.is_ascii_hexdigit());
            let signature =
                u64::from_str_radix(digits, 16).map_err(|error| format!("'{digits}': {error}"))?;
            Target::Address { source, signature }
        };
        self.expect("(")?;
        let arguments = self.list(|line| {
            let from = match line.eat("*") {
                true => From::Place(line.place()?),
                false => From::Source(line.source()?),
            };
            line.expect(":")?;
            Ok(Argument { passed: line.passed()?, from })
        })?;
        self.expect(")")?;
        let taken = |result: Outcome| {
            let passed = result.passed.ok_or("a result of a call has a type")?;
            Ok(Taken { passed, to: result.to })
        };
        let results = std::mem::take(&mut results.0).into_iter().map(taken).collect::<Parsed<_>>()?;
        Ok(Call { target, arguments: arguments.into(), results })
    }

    fn block(&mut self) -> Parsed<Block> {
        let start = self.number()?;
        self.expect("..")?;
        let end = self.number()?;
        let collective = self.eat("together");
        self.expect(",")?;
        Ok(Block { operations: start..end, collective, end: self.block_end()? })
    }

    fn block_end(&mut self) -> Parsed<End> {
        let name = self.word();
        Ok(match name {
            "jump" => End::Jump(self.number()?),
            "branch" => {
                let guard = self.guard()?;
                self.expect(",")?;
                let yes = self.number()?;
                self.expect(",")?;
                End::Branch(guard, yes, self.number()?)
            }
            "table" | "barrier" | "call" => {
                let operation = self.number()?;
                self.expect(":")?;
                match name {
                    "table" => End::Table { operation, targets: self.list(Line::number)? },
                    "barrier" => End::Barrier { operation, next: self.number()? },
                    _ => End::Call { operation, next: self.number()? },
                }
            }
            "return" => End::Return,
            "exit" => End::Exit,
            "trap" => End::Trap { operation: self.number()? },
            other => return Err(format!("no block ends with '{other}'")),
        })
    }
}

impl Outcome {
    fn slot(&self) -> Parsed<Option<u32>> {
        match self.to {
            To::Nothing => Ok(None),
            To::Slot(slot) => Ok(Some(slot)),
            To::Place(_) => Err("only calls put results into places".to_owned()),
        }
    }

    fn write(&self) -> Parsed<Write> {
        match self.passed {
            Some(Passed::Value(ty)) => Ok(Write { slot: self.slot()?, ty }),
            _ => Err("a result has a type".to_owned()),
        }
    }
}

/// Outcomes that no operation has taken yet.
struct Outcomes(Vec<Outcome>);

impl Outcomes {
    fn writes(&mut self) -> Parsed<Box<[Write]>> {
        std::mem::take(&mut self.0).iter().map(Outcome::write).collect()
    }

    fn slots(&mut self) -> Parsed<Box<[Option<u32>]>> {
        std::mem::take(&mut self.0).iter().map(Outcome::slot).collect()
    }

    fn one(&mut self) -> Parsed<Option<u32>> {
        match &self.0[..] {
            [_] => self.maybe(),
            _ => Err("there is one result".to_owned()),
        }
    }

    /// At most one.
    fn maybe(&mut self) -> Parsed<Option<u32>> {
        self.0.pop().map_or(Ok(None), |result| result.slot())
    }
}
