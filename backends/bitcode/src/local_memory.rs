//! Takes back what LLVM says wrongly in PTX about a thread's own memory.
//!
//! LLVM's pass for OpenMP finds that a pointer leads to a variable of the thread, and has accesses go
//! to that address space (`AAAddressSpace` in the Attributor). Later passes put what the variable is a copy
//! of in its place (`instcombine`: a constant, or memory that nobody writes meanwhile), and keep the address
//! space. Then a constant, or another team's part of a reduction, is looked for in the thread's memory, and the
//! kernel faults, on a card as well. clang-22 does that at -O1 and above.
//!
//! Where an address is not seen to be of the thread's stack, it stays a generic one here, and so do the accesses
//! through it: they go where the address leads, whatever space that is in.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Makes a generic address one of local memory, and the other way round.
const TO_LOCAL: &str = "cvta.to.local.u64";
const TO_GENERIC: &str = "cvta.local.u64";
/// The registers that LLVM has the frame's address in: a generic one, and in local memory.
const FRAME: &str = "%SP";
const LOCAL_FRAME: &str = "%SPL";
/// Gives up what has been allocated on the frame since an address of it was taken.
const RESTORE: &str = "stackrestore.";
/// How instructions begin that make an address of another one.
const MOVES: [&str; 7] = ["mov.", "add.", "sub.", "or.", "and.", "selp.", "mad."];

/// The text with such accesses in all of its functions.
pub fn made_generic(text: &[u8]) -> Cow<'_, [u8]> {
    let Ok(read) = std::str::from_utf8(text) else { return text.into() };
    if !read.contains(TO_LOCAL) {
        return text.into();
    }
    let mut result = String::with_capacity(text.len());
    let mut changed = false;
    let mut lines = read.split_inclusive('\n');
    while let Some(line) = lines.next() {
        result.push_str(line);
        if line.trim_end() != "{" || line.starts_with(char::is_whitespace) {
            continue;
        }
        let mut body = Vec::new();
        let mut end = None;
        for line in lines.by_ref() {
            if line.trim_end() == "}" && line.starts_with('}') {
                end = Some(line);
                break;
            }
            body.push(line);
        }
        match mended(&body) {
            Some(mended) => {
                changed = true;
                result.push_str(&mended);
            }
            None => result.extend(body),
        }
        result.extend(end);
    }
    if changed { result.into_bytes().into() } else { text.into() }
}

/// An instruction that writes a register.
struct Definition<'t> {
    line: usize,
    opcode: &'t str,
    target: &'t str,
    sources: Vec<&'t str>,
}

impl<'t> Definition<'t> {
    fn read(line: usize, text: &'t str) -> Option<Self> {
        let (opcode, operands) = instruction(text)?;
        let mut operands = operands.split(',').map(str::trim);
        let target = operands.next().filter(|target| target.starts_with('%'))?;
        Some(Self { line, opcode, target, sources: operands.collect() })
    }

    /// The sources of which one is an address, if the instruction makes an address of it.
    fn addresses(&self) -> impl Iterator<Item = &'t str> {
        let moves = self.opcode.ends_with("64") && MOVES.iter().any(|moves| self.opcode.starts_with(moves))
            || self.opcode.starts_with("mad.wide.");
        let (first, count) = match () {
            () if !moves => (0, 0),
            () if self.opcode.starts_with("mad.") => (2, 1),
            () => (0, 2),
        };
        let sources: Vec<&str> = self.sources.iter().skip(first).take(count).copied().collect();
        sources.into_iter().filter(|source| source.starts_with('%'))
    }
}

/// Opcode and operands of an instruction, without its guard.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let text = line.split("//").next()?.trim().strip_suffix(';')?;
    let text =
        if text.starts_with('@') { text.split_once(char::is_whitespace)?.1.trim_start() } else { text };
    let (opcode, operands) = text.split_once(char::is_whitespace)?;
    (!opcode.starts_with('.')).then_some((opcode, operands))
}

/// What a function computes, by the register. Every question is answered for all registers at once: an address may
/// be a sum of sums, to which more ways lead than can be followed one by one.
struct Function<'t> {
    definitions: HashMap<&'t str, Vec<Definition<'t>>>,
    /// The registers of which an address is made, by the register that it is made of.
    made_of: HashMap<&'t str, Vec<&'t str>>,
    /// The registers whose addresses the frame goes back to. They may have come from memory.
    restored: HashSet<&'t str>,
}

impl<'t> Function<'t> {
    fn read(body: &[&'t str]) -> Self {
        let mut definitions: HashMap<&str, Vec<Definition>> = HashMap::new();
        let mut made_of: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut restored = HashSet::new();
        for (line, text) in body.iter().enumerate() {
            match Definition::read(line, text) {
                Some(restore) if restore.opcode.starts_with(RESTORE) => _ = restored.insert(restore.target),
                Some(definition) => {
                    for source in definition.addresses() {
                        made_of.entry(source).or_default().push(definition.target);
                    }
                    definitions.entry(definition.target).or_default().push(definition);
                }
                None => {}
            }
        }
        Self { definitions, made_of, restored }
    }

    fn of(&self, register: &str) -> &[Definition<'t>] {
        self.definitions.get(register).map_or(&[], Vec::as_slice)
    }

    fn made_of(&self, register: &str) -> &[&'t str] {
        self.made_of.get(register).map_or(&[], Vec::as_slice)
    }

    /// The defined registers whose address is not seen to be of the frame, by whatever way it is made.
    fn not_of_frame(&self) -> HashSet<&'t str> {
        let mut found: HashSet<&str> = HashSet::new();
        let mut waiting: Vec<&str> = self.definitions.keys().copied().collect();
        while let Some(register) = waiting.pop() {
            if register == FRAME || found.contains(register) {
                continue;
            }
            let is_of_frame = |source: &'t str| self.is_of_frame(source, &found);
            let all = self.of(register).iter().all(|definition| match definition.opcode {
                TO_GENERIC => true,
                opcode if opcode.starts_with("selp.") => {
                    definition.addresses().count() == 2 && definition.addresses().all(is_of_frame)
                }
                // Of the sources of a sum one is the address.
                _ => definition.addresses().any(is_of_frame),
            });
            if !all {
                found.insert(register);
                waiting.extend(self.made_of(register));
            }
        }
        found
    }

    fn is_of_frame(&self, register: &str, not_of_frame: &HashSet<&str>) -> bool {
        register == FRAME || self.definitions.contains_key(register) && !not_of_frame.contains(register)
    }

    /// The registers that have an address in local memory by one of the ways that lead to them.
    fn local(&self) -> HashSet<&'t str> {
        let mut found = HashSet::new();
        let made = self.definitions.values().flatten().filter(|definition| definition.opcode == TO_LOCAL);
        let mut waiting: Vec<&str> = made.map(|definition| definition.target).collect();
        waiting.push(LOCAL_FRAME);
        while let Some(register) = waiting.pop() {
            if found.insert(register) {
                waiting.extend(self.made_of(register));
            }
        }
        found
    }

    /// The registers that are to have generic addresses instead of ones in local memory.
    fn generic(&self) -> HashSet<&'t str> {
        let not_of_frame = self.not_of_frame();
        let wrong = |definition: &&Definition<'t>| {
            definition.opcode == TO_LOCAL
                && !self.restored.contains(definition.target)
                && definition.sources.first().is_some_and(|source| !self.is_of_frame(source, &not_of_frame))
        };
        let wrong = self.definitions.values().flatten().filter(wrong);
        let mut waiting: Vec<&str> = wrong.map(|definition| definition.target).collect();
        let mut generic: HashSet<&str> = HashSet::new();
        if waiting.is_empty() {
            return generic;
        }
        let local = self.local();
        while let Some(register) = waiting.pop() {
            if !generic.insert(register) {
                continue;
            }
            // What is made of it, and what else the register may have.
            waiting.extend(self.made_of(register));
            let sources = self.of(register).iter().flat_map(Definition::addresses);
            waiting.extend(sources.filter(|source| *source != LOCAL_FRAME && local.contains(source)));
        }
        generic
    }
}

/// The body of a function, if there is something to take back.
fn mended(body: &[&str]) -> Option<String> {
    if !body.iter().any(|line| line.contains(TO_LOCAL)) {
        return None;
    }
    let function = Function::read(body);
    let generic = function.generic();
    if generic.is_empty() {
        return None;
    }
    let mut changed: HashMap<usize, String> = HashMap::new();
    let mut needs_frame = false;
    for definition in function.definitions.values().flatten() {
        let line = body[definition.line];
        let has = |register: &str| definition.sources.contains(&register);
        if definition.opcode == TO_LOCAL && generic.contains(definition.target) {
            changed.insert(definition.line, line.replacen(TO_LOCAL, "mov.b64", 1));
        } else if definition.opcode == TO_GENERIC
            && definition.sources.iter().any(|source| generic.contains(source))
        {
            changed.insert(definition.line, line.replacen(TO_GENERIC, "mov.b64", 1));
        } else if generic.contains(definition.target) && has(LOCAL_FRAME) {
            needs_frame = true;
            changed.insert(definition.line, line.replacen(LOCAL_FRAME, FRAME, 1));
        }
    }
    let has_frame = function.of(FRAME).iter().any(|definition| definition.opcode == TO_GENERIC);
    let mut result = String::new();
    for (number, line) in body.iter().enumerate() {
        match changed.get(&number) {
            Some(changed) => result.push_str(changed),
            None if is_access(line, &generic) => result.push_str(&line.replacen(".local", "", 1)),
            None => result.push_str(line),
        }
        let sets_frame = || Definition::read(number, line).is_some_and(|found| found.target == LOCAL_FRAME);
        if needs_frame && !has_frame && sets_frame() {
            _ = writeln!(result, "\t{TO_GENERIC} \t{FRAME}, {LOCAL_FRAME};");
        }
    }
    Some(result)
}

/// Whether a line loads from or stores to local memory by one of these registers.
fn is_access(line: &str, registers: &HashSet<&str>) -> bool {
    let Some((opcode, operands)) = instruction(line) else { return false };
    let accesses = (opcode.starts_with("ld.") || opcode.starts_with("st.")) && opcode.contains(".local");
    let address = operands.split_once('[').and_then(|(_, rest)| rest.split(['+', '-', ']']).next());
    accesses && address.is_some_and(|register| registers.contains(register.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with these instructions.
    fn kernel(body: &str) -> String {
        format!(".visible .entry k(\n)\n{{\n\t.reg .b64 \t%SP;\n\t.reg .b64 \t%SPL;\n{body}\tret;\n}}\n")
    }

    fn check(given: &str, expected: &str) {
        let made = kernel(given);
        let made = String::from_utf8(made_generic(made.as_bytes()).into_owned()).unwrap();
        assert_eq!(made, kernel(expected));
    }

    #[test]
    fn a_constant_is_no_memory_of_the_thread() {
        check(
            "\tmov.b64 \t%rd1, table;\n\tcvta.global.u64 \t%rd2, %rd1;\n\tadd.s64 \t%rd3, %rd2, %rd9;\n\
             \tcvta.to.local.u64 \t%rd4, %rd3;\n\tld.local.b8 \t%rs1, [%rd4];\n\tadd.s64 \t%rd5, %rd4, 8;\n\
             \t@%p1 ld.local.v2.b32 \t{%r1, %r2}, [%rd5+4];\n",
            "\tmov.b64 \t%rd1, table;\n\tcvta.global.u64 \t%rd2, %rd1;\n\tadd.s64 \t%rd3, %rd2, %rd9;\n\
             \tmov.b64 \t%rd4, %rd3;\n\tld.b8 \t%rs1, [%rd4];\n\tadd.s64 \t%rd5, %rd4, 8;\n\
             \t@%p1 ld.v2.b32 \t{%r1, %r2}, [%rd5+4];\n",
        );
    }

    #[test]
    fn the_stack_is() {
        let body = "\tmov.b64 \t%SPL, __local_depot0;\n\tcvta.local.u64 \t%SP, %SPL;\n\tadd.u64 \t%rd1, %SP, 8;\n\
             \tmad.wide.u32 \t%rd2, %r1, 4, %rd1;\n\tcvta.to.local.u64 \t%rd3, %rd2;\n\tst.local.b32 \t[%rd3], %r2;\n\
             \tadd.u64 \t%rd4, %SPL, 16;\n\tld.local.b64 \t%rd5, [%rd4];\n";
        check(body, body);
    }

    #[test]
    fn the_stack_is_restored_from_memory() {
        let body = "\tstacksave.u64 \t%rd1;\n\tcvta.local.u64 \t%rd2, %rd1;\n\tst.local.b64 \t[%SPL+8], %rd2;\n\
             \tld.local.b64 \t%rd3, [%SPL+8];\n\tcvta.to.local.u64 \t%rd4, %rd3;\n\tstackrestore.u64 \t%rd4;\n";
        check(body, body);
    }

    #[test]
    fn what_may_be_either_is_generic() {
        check(
            "\tmov.b64 \t%SPL, __local_depot0;\n\tadd.u64 \t%rd1, %SPL, 8;\n\tld.param.b64 \t%rd2, [p];\n\
             \tcvta.to.local.u64 \t%rd3, %rd2;\n\tselp.b64 \t%rd4, %rd1, %rd3, %p1;\n\tld.local.b64 \t%rd5, [%rd4];\n\
             \tld.local.b32 \t%r1, [%rd1+4];\n\tld.local.b32 \t%r2, [%SPL+4];\n",
            "\tmov.b64 \t%SPL, __local_depot0;\n\tcvta.local.u64 \t%SP, %SPL;\n\tadd.u64 \t%rd1, %SP, 8;\n\
             \tld.param.b64 \t%rd2, [p];\n\tmov.b64 \t%rd3, %rd2;\n\tselp.b64 \t%rd4, %rd1, %rd3, %p1;\n\
             \tld.b64 \t%rd5, [%rd4];\n\tld.b32 \t%r1, [%rd1+4];\n\tld.local.b32 \t%r2, [%SPL+4];\n",
        );
    }

    /// More ways lead to a sum of sums than can be followed one by one.
    #[test]
    fn an_index_may_be_any_sum() {
        let mut sums =
            "\tmov.b64 \t%t, table;\n\tld.param.b64 \t%rd0, [p];\n\tadd.s64 \t%rd1, %rd0, 1;\n".to_owned();
        for n in 2..2000 {
            _ = writeln!(sums, "\tadd.s64 \t%rd{n}, %rd{}, %rd{};", n - 1, n - 2);
        }
        sums += "\tadd.s64 \t%a, %t, %rd1999;\n";
        check(
            &format!("{sums}\tcvta.to.local.u64 \t%b, %a;\n\tld.local.b64 \t%rd2000, [%b];\n"),
            &format!("{sums}\tmov.b64 \t%b, %a;\n\tld.b64 \t%rd2000, [%b];\n"),
        );
    }

    #[test]
    fn other_text_stays() {
        for text in ["", "{\n", "cvta.to.local.u64", "{\n\tcvta.to.local.u64 \t%rd1;\n}\n", "{\n@%p1\n}\n"] {
            assert!(matches!(made_generic(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(made_generic(b"\xff cvta.to.local.u64"), &b"\xff cvta.to.local.u64"[..]);
    }
}
