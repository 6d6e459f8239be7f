//! The variable whose value led to the address that was touched.
//!
//! Of the pointers and references that are in scope at the instruction, it is the one whose
//! value is nearest below the address. Their values are in registers, or on the stack.

use addr2line::Context;
use addr2line::gimli::{
    self, Attribute, AttributeValue, DebuggingInformationEntry, EvaluationResult, Expression, Location,
    UnitRef, Value,
};

use super::{Crash, Reader};

/// How far from a pointer's value an address may be and still come from it.
const FAR: u64 = 1 << 30;

/// A pointer variable in scope.
struct Pointer {
    name: String,
    line: Option<u64>,
    value: u64,
}

/// Says which pointer it was, if there is one that fits.
pub(super) fn pointer(context: &Context<Reader>, crash: &Crash) -> Option<String> {
    let unit = context.find_dwarf_and_unit(crash.instruction()).skip_all_loads()?;
    let mut found = Vec::new();
    Scope { unit, crash, found: &mut found }.collect()?;
    let (pointer, what) = match crash.touched {
        Some(touched) => {
            let below = found.into_iter().filter(|pointer| touched.wrapping_sub(pointer.value) < FAR);
            let pointer = below.min_by_key(|pointer| touched.wrapping_sub(pointer.value))?;
            let what = match (pointer.value, touched.wrapping_sub(pointer.value)) {
                (0, _) => "is null".to_owned(),
                (value, 0) => format!("is {value:#x}, the address itself"),
                (value, distance) => format!("is {value:#x}, {distance} bytes before the address"),
            };
            (pointer, what)
        }
        // The processor does not tell addresses that no program can have.
        None => {
            let pointer = found.into_iter().find(|pointer| !is_address(pointer.value))?;
            let what = format!("is {:#x}, which is no address", pointer.value);
            (pointer, what)
        }
    };
    let line = pointer.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    Some(format!("  pointer: `{}`{line} {what}\n", pointer.name))
}

/// Whether the processor can have such an address.
const fn is_address(value: u64) -> bool {
    let high = value >> 47;
    high == 0 || high == (1 << 17) - 1
}

/// One unit, while it is searched.
struct Scope<'a> {
    unit: UnitRef<'a, Reader>,
    crash: &'a Crash,
    found: &'a mut Vec<Pointer>,
}

type Entry = DebuggingInformationEntry<Reader>;

impl Scope<'_> {
    fn collect(&mut self) -> Option<()> {
        let mut tree = self.unit.entries_tree(None).ok()?;
        self.visit(tree.root().ok()?, None)
    }

    /// Looks through what contains the instruction.
    fn visit(
        &mut self,
        node: gimli::EntriesTreeNode<'_, '_, Reader>,
        frame: Option<&Attribute<Reader>>,
    ) -> Option<()> {
        let own = node.entry().attr(gimli::DW_AT_frame_base).cloned();
        let frame = own.as_ref().or(frame);
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let pointer = self.read(entry, frame);
                    self.found.extend(pointer);
                }
                gimli::DW_TAG_namespace => drop(self.visit(child, frame)),
                gimli::DW_TAG_subprogram | gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine
                    if self.contains(entry) =>
                {
                    self.visit(child, frame);
                }
                _ => {}
            }
        }
        Some(())
    }

    fn contains(&self, entry: &Entry) -> bool {
        let address = self.crash.instruction();
        let Ok(mut ranges) = self.unit.die_ranges(entry) else { return false };
        std::iter::from_fn(|| ranges.next().ok().flatten())
            .any(|range| range.begin <= address && address < range.end)
    }

    /// A variable that is a pointer, with its value.
    fn read(&self, entry: &Entry, frame: Option<&Attribute<Reader>>) -> Option<Pointer> {
        // What is inlined has its name and type elsewhere.
        let name = self.text(entry)?;
        // What the compiler has added is none of the user's, but `this` is.
        let added = entry.attr(gimli::DW_AT_artificial).is_some() && name != "this";
        if added || name == "dyn_ptr" || name.starts_with('.') || !self.is_pointer(entry, 8) {
            return None;
        }
        let location = entry.attr(gimli::DW_AT_location)?;
        let value = self.evaluate(self.expression(location.value())?, frame)?;
        let line = self.line(entry);
        Some(Pointer { name, line, value })
    }

    fn origin(&self, entry: &Entry) -> Option<Entry> {
        match entry.attr(gimli::DW_AT_abstract_origin)?.value() {
            AttributeValue::UnitRef(offset) => self.unit.entry(offset).ok(),
            _ => None,
        }
    }

    fn text(&self, entry: &Entry) -> Option<String> {
        match entry.attr(gimli::DW_AT_name) {
            Some(name) => {
                let name = self.unit.attr_string(name.value()).ok()?;
                Some(String::from_utf8_lossy(name.slice()).into_owned())
            }
            None => self.text(&self.origin(entry)?),
        }
    }

    fn line(&self, entry: &Entry) -> Option<u64> {
        match entry.attr(gimli::DW_AT_decl_line) {
            Some(line) => line.udata_value().filter(|line| *line != 0),
            None => self.line(&self.origin(entry)?),
        }
    }

    /// Whether its type is a pointer or a reference, behind at most so many names for it.
    fn is_pointer(&self, entry: &Entry, names: u32) -> bool {
        let Some(kind) = entry.attr(gimli::DW_AT_type) else {
            return names > 0 && self.origin(entry).is_some_and(|origin| self.is_pointer(&origin, names - 1));
        };
        let AttributeValue::UnitRef(offset) = kind.value() else { return false };
        let Ok(kind) = self.unit.entry(offset) else { return false };
        match kind.tag() {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => true,
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type => names > 0 && self.is_pointer(&kind, names - 1),
            _ => false,
        }
    }

    /// The expression that holds at the instruction.
    fn expression(&self, location: AttributeValue<Reader>) -> Option<Expression<Reader>> {
        if let AttributeValue::Exprloc(expression) = location {
            return Some(expression);
        }
        let address = self.crash.instruction();
        let mut list = self.unit.attr_locations(location).ok()??;
        std::iter::from_fn(|| list.next().ok().flatten())
            .find(|entry| entry.range.begin <= address && address < entry.range.end)
            .map(|entry| entry.data)
    }

    /// The value of a variable of a pointer's size.
    fn evaluate(&self, expression: Expression<Reader>, frame: Option<&Attribute<Reader>>) -> Option<u64> {
        let mut evaluation = expression.evaluation(self.unit.encoding());
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(self.register(register)?)).ok()?
                }
                EvaluationResult::RequiresFrameBase => {
                    let base = self.expression(frame?.value())?;
                    let base = self.frame_base(base)?;
                    evaluation.resume_with_frame_base(base).ok()?
                }
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    let word = self.crash.read_stack(address)?;
                    evaluation.resume_with_memory(Value::Generic(u64::from_ne_bytes(word))).ok()?
                }
                // What the caller has passed, thread-local variables and their like.
                _ => return None,
            };
        }
        let [piece] = &*evaluation.result() else { return None };
        match piece.location {
            Location::Register { register } => self.register(register),
            Location::Address { address } => self.crash.read_stack(address).map(u64::from_ne_bytes),
            Location::Value { value } => value.to_u64(u64::MAX).ok(),
            _ => None,
        }
    }

    /// What variables on the stack are counted from: a register, for clang's functions.
    fn frame_base(&self, expression: Expression<Reader>) -> Option<u64> {
        let mut evaluation = expression.evaluation(self.unit.encoding());
        let mut result = evaluation.evaluate().ok()?;
        while let EvaluationResult::RequiresRegister { register, .. } = result {
            result = evaluation.resume_with_register(Value::Generic(self.register(register)?)).ok()?;
        }
        let EvaluationResult::Complete = result else { return None };
        match evaluation.result().first()?.location {
            Location::Register { register } => self.register(register),
            Location::Address { address } => Some(address),
            _ => None,
        }
    }

    fn register(&self, register: gimli::Register) -> Option<u64> {
        self.crash.registers.get(usize::from(register.0)).copied()
    }
}
