//! Compute constructs and routines for GPUs: a gang is a block, a worker a row of its threads, a lane a
//! thread.
//!
//! Code that is not partitioned yet is computed by one thread (see [`super::mode`]). A variable of such
//! code is in a register of each thread; what the one thread has computed is given to the others where code
//! begins that they share. Only what has an address that others may see is in memory: shared memory, once
//! for a gang or once for each worker. This is what GCC does with variables that are private to gangs.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "dozens of names of libclang's")]
use clang_sys::*;

use super::cache::Cached;
use super::directive::{Directive, Name};
use super::header;
use super::index::{Call, Class, Doing, Key, Space, Variable, range_of};
use super::iteration;
use super::loops::{Counts, Total};
use super::mode::{Scope, Since, Sizes, WARP, WORKERS};
use super::nest::{Assigned, Levels};
use super::reduction::{self, Reduction};
use super::region::Region;
use super::room::{self, OWN_BYTES};
use super::rows::Copied;
use super::share::{Share, Tiles, numbers};
use super::slab::{self, Memory};
use super::slice::{OWN, Purpose, Slice};
use super::writer::{For, Names, Writer, Written};
use crate::ast::Node;
use crate::error::Complaint;

/// Where a variable has become private, and why it does not matter to whom, in notes.
const IN_BLOCK: &str = "declared in block";
const IN_CLAUSE: &str = "in 'private' clause";
const IN_ITERATION: &str = "that each iteration writes first";
const NOT_ADDRESSABLE: &str = "not addressable";

/// Rounds of a loop that take longer than it takes lanes that have parted at its end to meet again: a condition
/// in each of them would cost more.
const ROUNDS: u64 = 100;

/// How the iterations of a loop go into rounds of the threads that share it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounds {
    /// Each thread has an iteration in each round.
    Whole,
    /// The end of the loop may part lanes: some have done their last iteration when others have one more to do.
    Parted,
    /// It does not, or not often enough to matter.
    Many,
}

/// What stands for parts of the text.
type Edits = Vec<(Range<usize>, String)>;

/// A text for GPUs, while it is written.
struct Gpu<'g, 'w> {
    writer: &'g mut Writer<'w>,
    assigned: &'g Assigned,
    sizes: Sizes,
    since: Since,
    /// What had been computed where the switch around began.
    at_switch: Since,
    /// All of the text.
    whole: Range<usize>,
    /// What has been partitioned last: variables that nothing in it writes are the same for all threads.
    inside: Range<usize>,
    /// Variables in registers that one thread computes.
    registers: Vec<Variable>,
    /// Variables that are the same in all threads of a scope, always.
    uniform: HashSet<Key>,
    memory: Memory,
    /// Whether threads of a gang have had something in memory that other gangs have not.
    shares: bool,
    /// What a routine does before it ends.
    end: String,
}

impl<'w> Writer<'w> {
    /// The text of a region for GPUs.
    pub fn for_gpus(&mut self, region: &Region<'_, 'w>) -> Written {
        let mut names = region.names.clone();
        let mut gpu = Gpu::new(self, region.assigned, region.sizes, region.body.clone());
        let mut private = gpu.writer.private_by_loops(region.directive, &region.body);
        private.extend(region.private.iter().map(|variable| variable.key));
        let mut text = String::new();
        for variable in &region.unset {
            text += &gpu.writer.own_copy(variable, &mut names);
            gpu.registers.push(variable.clone());
        }
        for found in gpu.writer.index.uses_in(&region.body).map(|found| found.key).collect::<BTreeSet<_>>() {
            let Some(variable) = gpu.writer.index.variable(found).cloned() else { continue };
            if private.contains(&found)
                || region.body.contains(&found)
                || names.contains_key(&found)
                || gpu.writer.is_on_devices(&variable)
            {
                continue;
            }
            // It came by value. Each thread calls its own lambda expression, which has no state.
            let is_called = variable.class == Class::Dependent && gpu.is_only_called(&variable, &region.body);
            if gpu.is_changed_in_parts(&variable, &region.body) {
                let (name, declared) = gpu.in_memory_of_all(&variable, Levels::NONE);
                text += &declared;
                let copied = format!("__builtin_memcpy(&{name}, &{0}, sizeof {0});", variable.path);
                text += &gpu.by_one(copied, Levels::NONE);
                names.insert(found, name);
            } else if gpu.is_written(&variable, &region.body) && !is_called {
                gpu.registers.push(variable);
            } else if variable.class == Class::Scalar {
                gpu.uniform.insert(found);
            }
        }
        let at = region.directive.range.start;
        for variable in &region.private {
            text += &gpu.private(variable, at, &region.body, Levels::NONE, &mut names);
        }
        let first = |slice: &&Slice| slice.at == at && slice.purpose == Purpose::FirstPrivate;
        for slice in gpu.writer.slices.iter().filter(first).cloned().collect::<Vec<_>>() {
            let origin = region.names.get(&slice.key).cloned().unwrap_or_default();
            let name = gpu.slice(&slice, Levels::NONE, &mut names, &mut text);
            text += &slice.filled_on_gpu(&name, &origin);
            gpu.since = Since::All;
        }
        for one in &region.reductions {
            let outer = region.names.get(&one.variable.key).cloned().unwrap_or_default();
            if let Some(slice) = &one.slice {
                // Threads of loops have copies, and put them together into what there is around the loops.
                if slice.at == at && !region.directive.is_loop {
                    let name = gpu.slice(slice, Levels::NONE, &mut names, &mut text);
                    text += &gpu.by_one(one.begin(&name, &outer, true), Levels::NONE);
                }
                continue;
            }
            if !region.directive.is_loop && gpu.is_changed_in_parts(&one.variable, &region.body) {
                let (name, declared) = gpu.in_memory_of_all(&one.variable, Levels::NONE);
                text += &declared;
                text += &gpu.by_one(one.begin(&name, &outer, true), Levels::NONE);
                names.insert(one.variable.key, name);
                continue;
            }
            let name = gpu.writer.fresh("r", &one.variable.name);
            text += &format!("{} {} ", one.declared(&name), one.begin(&name, &outer, true));
            gpu.registers.push(one.variable.clone());
            names.insert(one.variable.key, name);
        }
        text += &match region.directive.is_loop {
            true => gpu.directed_loop(region.directive, Levels::NONE, &names)?,
            false => gpu.statements(&[region.statement], Levels::NONE, &mut names.clone())?,
        };
        if !region.reductions.is_empty() {
            let mut all = String::new();
            for one in &region.reductions {
                let (outer, name) = (&region.names[&one.variable.key], &names[&one.variable.key]);
                if outer != name {
                    all += &one.add_atomically(outer, name);
                }
            }
            text += &gpu.by_one(all, Levels::NONE);
        }
        let (memory, sizes) = (std::mem::take(&mut gpu.memory), gpu.sizes);
        if let Some(said) = memory.shared.described() {
            self.notes.say(region.directive.range.start, said);
        }
        self.explain_caches(&region.body);
        let text = memory.around(text, sizes, self);
        Ok(match self.slices.is_empty() {
            true => text,
            false => room::around(&text, sizes.one(Levels::NONE).unwrap_or("1"), self),
        })
    }

    /// Says of which `cache` directives nothing has come.
    fn explain_caches(&mut self, range: &Range<usize>) {
        for directive in self.source.directives.iter().filter(|one| one.name == Name::Cache) {
            let at = directive.range.start;
            if range.contains(&at) && !self.notes.has(at) {
                let why = "it is not at the head of a loop that all threads go through, with loops that they share in it";
                self.notes.say(at, format!("`cache` does nothing: {why}"));
            }
        }
    }

    /// The body of a routine for GPUs, which threads of a mode call together.
    pub fn routine_for_gpus(
        &mut self,
        body: Node<'w>,
        assigned: &Assigned,
        mode: Levels,
        parameters: &[Variable],
    ) -> Written {
        let range = range_of(body).unwrap_or_default();
        let sizes = Sizes { workers: None, lanes: None, open: false };
        let mut gpu = Gpu::new(self, assigned, sizes, range.clone());
        // What arguments lead to may be a gang's.
        gpu.shares = true;
        for parameter in parameters {
            // Those who call give all threads the same.
            if gpu.is_written(parameter, &range) && !parameter.is_const {
                gpu.registers.push(parameter.clone());
            } else if parameter.class == Class::Scalar {
                gpu.uniform.insert(parameter.key);
            }
        }
        gpu.enter(mode);
        let workers_and_lanes = ["__gangway_acc_workers()", "__gangway_acc_lanes()"];
        let slices = gpu.writer.slices(None, &range, assigned, &Names::new(), workers_and_lanes)?;
        let mut begin = String::new();
        if let Some(slices) = slices {
            let one = gpu.sizes.one(mode).unwrap_or("1").to_owned();
            let allocated = format!("{OWN} = (char *)__builtin_malloc({OWN_BYTES});");
            begin = format!("{}char *{OWN} = 0; if ({one}) {allocated} ", slices.declared);
            begin += &gpu.given(OWN, "char *", mode);
            gpu.end = format!("if ({one}) __builtin_free({OWN}); ");
            gpu.writer.slices = slices.all;
        }
        let text = begin + &gpu.statements(&[body], mode, &mut Names::new())?;
        if let Some(at) = gpu.memory.too_large() {
            let message = "this variable is too large for shared memory, in a routine that threads share";
            return Err(Complaint::new(at, message));
        }
        let end = gpu.wait(mode) + &gpu.end;
        gpu.writer.slices.clear();
        let memory = std::mem::take(&mut gpu.memory).shared;
        if let Some(said) = memory.described() {
            self.notes.say(range.start, said);
        }
        self.explain_caches(&range);
        Ok(memory.declared() + &text + &end)
    }
}

impl<'g, 'w> Gpu<'g, 'w> {
    fn new(writer: &'g mut Writer<'w>, assigned: &'g Assigned, sizes: Sizes, inside: Range<usize>) -> Self {
        Self {
            writer,
            assigned,
            sizes,
            since: Since::Nothing,
            at_switch: Since::Nothing,
            whole: inside.clone(),
            inside,
            registers: Vec::new(),
            uniform: HashSet::new(),
            memory: Memory::default(),
            shares: false,
            end: String::new(),
        }
    }

    fn is_written(&self, variable: &Variable, range: &Range<usize>) -> bool {
        self.writer.index.uses_in(range).any(|found| found.key == variable.key && found.doing != Doing::Reads)
    }

    /// Whether elements of an array, or of one in an object, are changed, of which a gang has one: what one of its
    /// threads does the others see.
    fn is_changed_in_parts(&self, variable: &Variable, range: &Range<usize>) -> bool {
        self.sizes.scope(Levels::NONE) != Scope::Thread
            && matches!(variable.class, Class::Array | Class::Record)
            && self
                .writer
                .index
                .uses_in(range)
                .any(|found| found.key == variable.key && found.elements != Doing::Reads)
    }

    /// Whether nothing is done to a variable but that it is called as a function.
    fn is_only_called(&self, variable: &Variable, range: &Range<usize>) -> bool {
        let mut uses = self.writer.index.uses_in(range).filter(|found| found.key == variable.key);
        uses.all(|found| found.doing <= Doing::Calls)
    }

    /// Whether others may see the address of a variable.
    fn is_shared(&self, variable: &Variable, range: &Range<usize>) -> bool {
        let shares = |found: &super::index::Use| {
            found.key == variable.key
                && (found.doing == Doing::Shares || found.elements != Doing::Reads || self.is_atomic(found))
        };
        variable.class == Class::Array || self.writer.index.uses_in(range).any(shares)
    }

    /// All threads of the scope wait, if anything has been computed.
    fn wait(&mut self, mode: Levels) -> String {
        let scope = self.sizes.scope(mode);
        if self.since == Since::Nothing || scope == Scope::Thread {
            return String::new();
        }
        self.since = Since::Nothing;
        format!("{} ", scope.barrier())
    }

    /// Code that one thread runs, after what all have done.
    fn by_one(&mut self, text: String, mode: Levels) -> String {
        let Some(one) = self.sizes.one(mode) else { return text };
        let before = if self.since == Since::All { self.wait(mode) } else { String::new() };
        self.since = Since::One;
        format!("{before}if ({one}) {{ {text} }} ")
    }

    /// Statements that follow each other.
    fn statements(&mut self, nodes: &[Node<'w>], mode: Levels, names: &mut Names) -> Written {
        let mut text = String::new();
        let mut group: Vec<Node<'w>> = Vec::new();
        let crossing = self.crossing(nodes, mode);
        for (at, (node, crosses)) in nodes.iter().zip(crossing).enumerate() {
            if let Some(directive) = self.cache_directive(*node) {
                text += &self.flush(&mut group, mode, names)?;
                let is_first = nodes[..at].iter().all(|before| self.cache_directive(*before).is_some());
                text += &self.cache(directive, *node, (is_first, &nodes[at + 1..]), mode, names);
            } else if self.is_structural(*node, mode) {
                text += &self.flush(&mut group, mode, names)?;
                text += &self.structural(*node, mode, names)?;
            } else if crosses {
                text += &self.flush(&mut group, mode, names)?;
                text += &self.declaration(*node, mode, names)?;
            } else {
                group.push(*node);
            }
        }
        Ok(text + &self.flush(&mut group, mode, names)?)
    }

    fn cache_directive(&self, node: Node<'w>) -> Option<&'w Directive> {
        self.construct(node).filter(|directive| directive.name == Name::Cache)
    }

    /// Copies into shared memory of what a directive says, if it stands first in `body`, which all threads go
    /// through: they make them together.
    fn cache(
        &mut self,
        directive: &'w Directive,
        node: Node<'w>,
        (is_first, body): (bool, &[Node<'w>]),
        mode: Levels,
        names: &mut Names,
    ) -> String {
        let at = directive.range.start;
        let scope = self.sizes.scope(mode);
        if scope == Scope::Thread || !is_first || !body.iter().any(|node| self.has_partitioned(*node)) {
            return String::new();
        }
        let mut text = String::new();
        for found in self.writer.cached(directive, node, body, &self.whole) {
            let cached = match found {
                Ok(cached) if self.memory.shared.bytes_with(cached.space) <= slab::SHARED => cached,
                Ok(cached) => {
                    let name = &cached.variable.name;
                    let said = format!("`cache` does nothing for `{name}`: shared memory has no room for it");
                    self.writer.notes.say(at, said);
                    continue;
                }
                Err(why) => {
                    self.writer.notes.say(at, why);
                    continue;
                }
            };
            let Cached { variable, sections, element, space } = &cached;
            let firsts = sections.iter().map(|(first, _)| match first {
                None => Some("0".to_owned()),
                Some(first) => self.first_element(first, names),
            });
            let Some(firsts) = firsts.collect::<Option<Vec<String>>>() else {
                let name = &cached.variable.name;
                let said =
                    format!("`cache` does nothing for `{name}`: not all threads know the first element");
                self.writer.notes.say(at, said);
                continue;
            };
            let name = self.writer.fresh("s", &variable.name);
            self.shares = true;
            let place = self.memory.shared.place(*space, format!("copy of '{}'", variable.name));
            text += &self.entered(&directive.range, mode, names, &[variable.key]);
            text += &format!("{element} *const {name} = ({element} *){place}; ");
            let array = names.get(&variable.key).cloned().unwrap_or_else(|| variable.path.clone());
            let (mut numbers, mut there, mut from) = (String::new(), String::new(), array);
            let mut dimensions = Vec::new();
            for (at, ((_, count), first)) in sections.iter().zip(firsts).enumerate() {
                let low = format!("{name}_{at}");
                text += &format!("const long {low} = {first}; ");
                let within: u64 = sections[at + 1..].iter().map(|(_, count)| count).product();
                numbers += &format!("const long __acc_e{at} = {low} + __acc_k / {within} % {count}; ");
                // The section may go beyond the array's ends, where nobody uses it.
                let and = if at > 0 { " && " } else { "" };
                there += &format!("{and}(unsigned long)__acc_e{at} < sizeof {from} / sizeof {from}[0]");
                from += &format!("[__acc_e{at}]");
                dimensions.push((low, *count));
            }
            let workers = if mode.has(Levels::WORKER) { Levels::NONE } else { Levels::WORKER };
            let total = Total { text: format!("{}u", cached.elements()), is_narrow: true };
            let head = self.share(workers | Levels::VECTOR).head("__acc_k", &total);
            let barrier = scope.barrier();
            text += &format!("{head} {{ {numbers}if ({there}) {name}[__acc_k] = {from}; }} {barrier} ");
            self.since = Since::Nothing;
            self.writer.notes.say(at, format!("`cache` copies `{}` into shared memory", variable.name));
            self.writer.copies.insert(name.clone(), Copied { dimensions });
            names.insert(variable.key, name);
        }
        text
    }

    /// The number of a section's first element. clang leaves some out of its tree whose numbers have variables of
    /// loops in them: these are known by their names, and all threads must have them.
    fn first_element(&self, range: &Range<usize>, names: &Names) -> Option<String> {
        let mut edits = Vec::new();
        for (name, at) in self.writer.unknown_names(range) {
            match self.writer.variable_named(&name, &self.whole) {
                Some(key) if self.uniform.contains(&key) => {
                    edits.extend(names.get(&key).map(|name| (at, name.clone())));
                }
                Some(key) if self.writer.constant(key).is_some() => {}
                Some(_) => return None,
                None => _ = self.writer.enumerator_named(&name, range.start)?,
            }
        }
        let text = self.writer.edited(range.clone(), names, edits, For::Gpus);
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Which statements declare variables that code uses which stands apart from them: behind a statement
    /// that all threads go through, or in or behind another such declaration.
    fn crossing(&self, nodes: &[Node<'w>], mode: Levels) -> Vec<bool> {
        let end = nodes.last().map_or(0, |last| self.writer.whole(*last).end);
        let mut apart = None;
        let mut crossing = vec![false; nodes.len()];
        for (at, node) in nodes.iter().enumerate().rev() {
            let begin = range_of(*node).map_or(0, |range| range.start);
            if self.is_structural(*node, mode) {
                apart = Some(begin);
            } else if node.kind() == CXCursor_DeclStmt
                && self.crosses(*node, apart.map_or(end..end, |begin| begin..end), mode)
            {
                crossing[at] = true;
                apart = Some(begin);
            }
        }
        crossing
    }

    /// Statements that have nothing to do with partitioned code.
    fn flush(&mut self, group: &mut Vec<Node<'w>>, mode: Levels, names: &Names) -> Written {
        let nodes = std::mem::take(group);
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return Ok(String::new()) };
        let range = self.writer.whole(*first).start..self.writer.whole(*last).end;
        let text = self.writer.sequential(range, names, &HashMap::new(), For::Gpus)?;
        if self.sizes.scope(mode) == Scope::Thread {
            self.since = Since::All;
        }
        Ok(self.by_one(format!("{text}\n"), mode))
    }

    /// Whether all threads have to go through a statement: it has partitioned code in it, or jumps.
    fn is_structural(&self, node: Node<'w>, mode: Levels) -> bool {
        self.has_partitioned(node)
            || self.sizes.scope(mode) != Scope::Thread
                && (jumps(node, false, false)
                    || matches!(node.kind(), CXCursor_CaseStmt | CXCursor_DefaultStmt))
    }

    fn has_partitioned(&self, node: Node<'w>) -> bool {
        let Some(range) = range_of(node) else { return false };
        let mut within = self.assigned.levels.iter();
        let contains = |at: &usize| range.start <= *at && *at < self.writer.whole(node).end.max(range.end);
        // A construct's own bytes are its directive's.
        let construct = self.construct(node);
        if construct.is_some_and(|directive| {
            self.assigned.levels.get(&directive.range.start).is_some_and(|levels| !levels.is_empty())
        }) {
            return true;
        }
        if construct.is_some() {
            return node.children().into_iter().any(|child| self.has_partitioned(child));
        }
        within.any(|(at, levels)| !levels.is_empty() && contains(at)) || self.calls_routine(&range)
    }

    fn calls_routine(&self, range: &Range<usize>) -> bool {
        !super::nest::called(&self.writer.index, range, &self.writer.routines).is_empty()
    }

    /// The directive that a node is.
    fn construct(&self, node: Node<'w>) -> Option<&'w Directive> {
        let range = range_of(node)?;
        let directive = self.writer.directives.get(&range.start)?;
        (self.writer.index.constructs.contains_key(&range.start) && range.end <= directive.range.end)
            .then_some(directive)
    }

    /// A statement that all threads go through.
    fn structural(&mut self, node: Node<'w>, mode: Levels, names: &mut Names) -> Written {
        if let Some(directive) = self.construct(node) {
            return match directive.is_loop {
                true => self.directed_loop(directive, mode, names),
                false => Err(Complaint::new(directive.range.start, "this directive cannot stand here")),
            };
        }
        let marker = range_of(node).map(|range| self.writer.source.marker(range.start)).unwrap_or_default();
        let children = node.children();
        match node.kind() {
            CXCursor_CompoundStmt => {
                self.enter(mode);
                let text = self.statements(&children, mode, &mut names.clone())?;
                self.memory.shared.leave();
                Ok(format!("{{ {text} }}"))
            }
            CXCursor_BreakStmt | CXCursor_ContinueStmt => {
                // All go back together.
                let wait = self.wait(mode);
                let text = self.writer.plain(self.writer.whole(node), names, For::Gpus);
                Ok(format!("{marker}{{ {wait}{text} }}"))
            }
            CXCursor_ReturnStmt => self.returns(node, mode, names),
            CXCursor_GotoStmt | CXCursor_IndirectGotoStmt => self.refuse(node, "`goto`"),
            CXCursor_IfStmt => self.branch(node, mode, names, &marker),
            CXCursor_ForStmt => self.counted_loop(node, mode, names, &marker),
            CXCursor_WhileStmt => {
                let [condition, body] = two(&children).ok_or_else(|| self.refusal(node, "this loop"))?;
                let condition = self.agreed(condition, mode, names)?;
                let body = self.loop_body(body, mode, names)?;
                Ok(format!("{marker}while ({condition}) {{ {body} }} "))
            }
            CXCursor_DoStmt => {
                let [body, condition] = two(&children).ok_or_else(|| self.refusal(node, "this loop"))?;
                let body = self.loop_body(body, mode, names)?;
                let condition = self.agreed(condition, mode, names)?;
                Ok(format!("{marker}do {{ {body} }} while ({condition}); "))
            }
            CXCursor_SwitchStmt => {
                let [condition, body] = two(&children).ok_or_else(|| self.refusal(node, "this `switch`"))?;
                let condition = self.agreed_as("long", condition, mode, names)?;
                let before = self.since;
                let around = std::mem::replace(&mut self.at_switch, before);
                let body = self.statements(&[body], mode, &mut names.clone())?;
                self.at_switch = around;
                self.since = self.since.max(before);
                Ok(format!("{marker}switch ({condition}) {{ {body} }} "))
            }
            CXCursor_CaseStmt | CXCursor_DefaultStmt | CXCursor_LabelStmt => {
                let Some(inner) = children.last().copied().filter(|child| {
                    !child.is_expression() || node.kind() != CXCursor_CaseStmt || children.len() > 1
                }) else {
                    return self.refuse(node, "this label");
                };
                let begin = range_of(node).unwrap_or_default().start;
                let label = begin..range_of(inner).unwrap_or_default().start;
                let label = self.writer.expression(&label, names);
                // Threads come here from before the switch as well as from the label above.
                self.since = self.since.max(self.at_switch);
                let text = self.statements(&[inner], mode, names)?;
                Ok(format!("{marker}{label} {{ {text} }}"))
            }
            CXCursor_DeclStmt => self.declaration(node, mode, names),
            _ if self.calls_routine(&range_of(node).unwrap_or_default()) => self.call(node, mode, names),
            _ => self.refuse(node, "this statement"),
        }
    }

    fn refusal(&self, node: Node<'_>, what: &str) -> Complaint {
        let at = range_of(node).map_or(0, |range| range.start);
        Complaint::new(
            at,
            format!("{what} stands around loops that are partitioned, and is not translated there"),
        )
    }

    fn refuse(&self, node: Node<'_>, what: &str) -> Written {
        Err(self.refusal(node, what))
    }

    /// A condition as one thread has computed it, for all.
    fn agreed(&mut self, condition: Node<'w>, mode: Levels, names: &Names) -> Written {
        self.agreed_as("int", condition, mode, names)
    }

    fn agreed_as(&mut self, ty: &str, condition: Node<'w>, mode: Levels, names: &Names) -> Written {
        let range = range_of(condition).unwrap_or_default();
        let text = self.writer.expression(&range, names);
        if self.sizes.scope(mode) == Scope::Thread || self.is_uniform(&range, names) {
            return Ok(text);
        }
        let calls = self.calls_in(&range);
        let (called, edits) = self.called_before(&range, &calls, mode, names)?;
        let text = self.writer.expression_with(&range, names, edits);
        let text = if ty == "int" { format!("!!({text})") } else { text };
        let one = self.sizes.one(mode).unwrap_or("1");
        let before = if self.since == Since::All { self.wait(mode) } else { String::new() };
        let given = self.given("__acc_c", ty, mode);
        Ok(format!(
            "__extension__({{ {called}{ty} __acc_c = 0; {before}if ({one}) __acc_c = {text}; {given}__acc_c; }})"
        ))
    }

    /// Gives what one thread has in a variable to all.
    fn given(&mut self, name: &str, ty: &str, mode: Levels) -> String {
        match self.sizes.scope(mode) {
            Scope::Thread => String::new(),
            Scope::Warp => format!("__gangway_acc_shuffle(&{name}, &{name}, sizeof {name}, 0); "),
            scope => {
                let one = self.sizes.one(mode).unwrap_or("1");
                let barrier = scope.barrier();
                self.since = Since::Nothing;
                self.enter(mode);
                let (slot, declared) = self.in_shared_memory(ty, space_of(ty), "c", "values", mode);
                self.memory.shared.leave();
                format!("{declared}if ({one}) {slot} = {name}; {barrier} {name} = {slot}; {barrier} ")
            }
        }
    }

    /// How many workers have each a variable of a mode.
    fn workers_with(&self, mode: Levels) -> Option<u64> {
        let of_workers = mode.has(Levels::WORKER) && self.sizes.workers != Some(1);
        of_workers.then(|| self.sizes.workers.unwrap_or(WORKERS))
    }

    /// Begins a scope of what is in shared memory.
    fn enter(&mut self, mode: Levels) {
        let workers = self.workers_with(mode);
        self.memory.shared.enter(workers);
    }

    /// What stands for a variable that threads share, and its declaration: in shared memory, or in a gang's part
    /// of device memory if there is no room for it.
    fn in_memory_of_all(&mut self, variable: &Variable, mode: Levels) -> (String, String) {
        let workers = self.workers_with(mode);
        if self.memory.has_room(variable) {
            let what = format!("variable '{}'", variable.name);
            return self.in_shared_memory(&variable.ty, variable.space, &variable.name, &what, mode);
        }
        let at = variable.range.start;
        let message =
            format!("variable '{}' is in device memory: shared memory has no room for it", variable.name);
        self.writer.notes.say(at, message);
        self.shares = true;
        let name = self.writer.fresh("s", &variable.name);
        let place = self.memory.add(variable, &name, workers);
        let ty = &variable.ty;
        (format!("{name}[0]"), format!("__typeof__({ty}) *const {name} = {place}; (void){name}; "))
    }

    /// Memory of a gang's, or of each worker's: what stands for it, and its declaration.
    fn in_shared_memory(
        &mut self,
        ty: &str,
        space: Option<Space>,
        of: &str,
        what: &str,
        mode: Levels,
    ) -> (String, String) {
        self.shares = true;
        let name = self.writer.fresh("s", of);
        if let Some(space) = space {
            let place = self.memory.shared.place(space, what.to_owned());
            let declared =
                format!("__typeof__({ty}) *const {name} = (__typeof__({ty}) *){place}; (void){name}; ");
            return (format!("{name}[0]"), declared);
        }
        // In a template, of a type that is not known yet: it has bytes of its own.
        let (count, at) = match self.workers_with(mode) {
            Some(workers) => (format!("[{workers}]"), "[__gangway_acc_worker()]"),
            None => (String::new(), ""),
        };
        // LLVM takes it that a barrier leaves a variable alone whose address nobody has got, and would read
        // what this thread has written, not what others have: so it is told that somebody has.
        let declared = format!(
            "static __gangway_acc_shared __typeof__({ty}) {name}_{count}; \
             __typeof__({ty}) *const {name} = (__typeof__({ty}) *)__gangway_acc_seen_by_all(&{name}_{at}); (void){name}; "
        );
        (format!("{name}[0]"), declared)
    }

    fn branch(&mut self, node: Node<'w>, mode: Levels, names: &Names, marker: &str) -> Written {
        let children = node.children();
        let (condition, rest) = children.split_first().ok_or_else(|| self.refusal(node, "this `if`"))?;
        if rest.is_empty() || rest.len() > 2 || !condition.is_expression() {
            return self.refuse(node, "this `if`");
        }
        let condition = self.agreed(*condition, mode, names)?;
        let before = self.since;
        let mut after = before;
        let mut text = format!("{marker}if ({condition}) ");
        for (at, branch) in rest.iter().enumerate() {
            self.since = before;
            let inner = self.statements(&[*branch], mode, &mut names.clone())?;
            after = after.max(self.since);
            let word = if at == 1 { "else " } else { "" };
            text += &format!("{word}{{ {inner} }} ");
        }
        self.since = after;
        Ok(text)
    }

    /// The body of a loop that all threads go through; all are there before it begins again.
    fn loop_body(&mut self, body: Node<'w>, mode: Levels, names: &Names) -> Written {
        let text = self.statements(&[body], mode, &mut names.clone())?;
        Ok(text + &self.wait(mode))
    }

    /// A `for` without a directive, or with one that asks for nothing.
    fn counted_loop(&mut self, node: Node<'w>, mode: Levels, names: &Names, marker: &str) -> Written {
        let range = range_of(node).unwrap_or_default();
        let mut tokens = crate::lexer::tokens(self.writer.text[range.clone()].as_bytes());
        for token in &mut tokens {
            token.range = token.range.start + range.start..token.range.end + range.start;
        }
        tokens.retain(|token| token.kind != crate::lexer::Kind::Newline);
        let close = crate::pragma::closing(&tokens[1..]).map_or(tokens.len() - 1, |close| close + 1);
        let parts = crate::pragma::split(&tokens[2..close], ";");
        let [init, condition, increment] = parts[..] else { return self.refuse(node, "this loop") };
        let body = node.children().last().copied().ok_or_else(|| self.refusal(node, "this loop"))?;
        let bytes = |part: &[crate::lexer::Token]| super::directive::bytes(part);
        if !self.calls_in(&(range.start..tokens[close].range.end)).is_empty() {
            return self.refuse(node, "a loop whose head calls a routine");
        }
        let mut names = names.clone();
        let declared = node.children().first().copied().filter(|first| first.kind() == CXCursor_DeclStmt);
        let mut keys: Vec<Key> = declared
            .map(|declared| declared.children().into_iter().filter_map(super::index::key_of).collect())
            .unwrap_or_default();
        if declared.is_none()
            && let Some(first) = bytes(init)
        {
            // A variable of around that is in a register, and that nothing else is assigned with.
            let moved = self.writer.index.uses_in(&first).filter(|found| found.doing == Doing::Writes);
            let in_register = |key: &Key| !names.get(key).is_some_and(|name| name.ends_with(']'));
            keys.extend(moved.map(|found| found.key).filter(in_register));
        }
        // Where nothing but uniform values moves it, each thread counts for itself.
        let parts = [bytes(init), bytes(condition), bytes(increment)];
        let body_range = range_of(body).unwrap_or_default();
        let moved_in_body = |key: &Key| {
            self.writer
                .index
                .uses_in(&body_range)
                .any(|found| found.key == *key && found.doing != Doing::Reads)
        };
        self.uniform.extend(keys.iter().copied());
        let uniform = !keys.is_empty()
            && !keys.iter().any(moved_in_body)
            && parts.iter().flatten().all(|part| self.is_uniform(part, &names));
        if uniform || self.sizes.scope(mode) == Scope::Thread {
            let head = self.writer.expression(&(tokens[2].range.start..tokens[close].range.start), &names);
            let body = self.loop_body(body, mode, &names)?;
            if declared.is_none() {
                self.uniform.retain(|key| !keys.contains(key));
            }
            return Ok(format!("{marker}for ({head}) {{ {body} }} "));
        }
        for key in &keys {
            self.uniform.remove(key);
        }
        let mut before = String::new();
        if let Some(declared) = declared {
            before += &self.declaration(declared, mode, &mut names)?;
        } else if let Some(init) = bytes(init) {
            let text = self.writer.expression(&init, &names);
            before += &self.by_one(format!("{text};"), mode);
        }
        let entered = self.since;
        let condition = match bytes(condition) {
            Some(range) => {
                let text = self.writer.expression(&range, &names);
                let one = self.sizes.one(mode).unwrap_or("1");
                let wait = if entered == Since::All { self.wait(mode) } else { String::new() };
                let given = self.given("__acc_c", "int", mode);
                format!(
                    "__extension__({{ int __acc_c = 0; {wait}if ({one}) __acc_c = !!({text}); {given}__acc_c; }})"
                )
            }
            None => "1".to_owned(),
        };
        let increment = bytes(increment).map_or(String::new(), |range| {
            let text = self.writer.expression(&range, &names);
            let one = self.sizes.one(mode).unwrap_or("1");
            format!("__extension__({{ if ({one}) {{ {text}; }} }})")
        });
        let body = self.loop_body(body, mode, &names)?;
        self.since = self.since.max(Since::One);
        Ok(format!("{marker}{{ {before}for (; {condition}; {increment}) {{ {body} }} }} "))
    }

    /// Whether all threads get the same from an expression, without looking into memory.
    fn is_uniform(&self, range: &Range<usize>, names: &Names) -> bool {
        let text = &self.writer.text[range.clone()];
        let tokens = crate::lexer::tokens(text.as_bytes());
        let looks = tokens.iter().any(|token| ["[", "->", ".", "?"].iter().any(|word| token.is(word)));
        let calls = self.writer.index.calls.iter().any(|call| range.contains(&call.range.start));
        let known = |found: &super::index::Use| {
            let variable = self.writer.index.variable(found.key);
            variable.is_some_and(|variable| variable.is_constant)
                || self.uniform.contains(&found.key)
                    && !names.get(&found.key).is_some_and(|name| name.ends_with(']'))
        };
        !looks && !calls && self.writer.index.uses_in(range).all(known)
    }

    /// Whether a variable that a statement declares is used by code that stands apart from it.
    fn crosses(&self, node: Node<'w>, apart: Range<usize>, mode: Levels) -> bool {
        if self.sizes == Sizes::ONE && self.has_atomic_variable(node) {
            return true;
        }
        if self.sizes.scope(mode) == Scope::Thread || apart.is_empty() {
            return false;
        }
        let keys: Vec<Key> = node.children().into_iter().filter_map(super::index::key_of).collect();
        self.writer.index.uses_in(&apart).any(|found| keys.contains(&found.key))
    }

    /// Whether a statement declares what an atomic construct updates: GPUs have no such instructions for the
    /// memory of a thread.
    fn has_atomic_variable(&self, node: Node<'w>) -> bool {
        let keys = node.children().into_iter().filter_map(super::index::key_of);
        let variables = keys.filter_map(|key| self.writer.index.variable(key));
        let inside = self.inside.clone();
        variables.into_iter().any(|variable| {
            self.writer.index.uses_in(&inside).any(|found| found.key == variable.key && self.is_atomic(found))
        })
    }

    fn is_atomic(&self, found: &super::index::Use) -> bool {
        found.doing != Doing::Reads
            && self.writer.source.directives.iter().any(|directive| {
                directive.name == Name::Atomic
                    && directive.range.end <= found.range.start
                    && self
                        .writer
                        .statement(directive)
                        .is_ok_and(|statement| self.writer.whole(statement).contains(&found.range.start))
            })
    }

    /// A declaration of variables that code of other modes uses.
    fn declaration(&mut self, node: Node<'w>, mode: Levels, names: &mut Names) -> Written {
        let range = self.writer.whole(node);
        let mut text = self.writer.source.marker(range.start);
        let mut inits = String::new();
        let (variables, types): (Vec<_>, Vec<_>) =
            node.children().into_iter().partition(|child| child.kind() == CXCursor_VarDecl);
        if variables.is_empty() {
            // Types are every thread's.
            return Ok(text + &self.writer.plain(range, names, For::Gpus) + "\n");
        }
        for declared in types {
            text += &self.types(declared, &variables, names);
        }
        for child in variables {
            let Some(variable) =
                super::index::key_of(child).and_then(|key| self.writer.index.variable(key)).cloned()
            else {
                return self.refuse(node, "this declaration");
            };
            if variable.is_static {
                self.note(&variable, IN_BLOCK, Err("static"));
            }
            if variable.is_reference || variable.is_static || variable.is_constant {
                text += &self.writer.plain(range, names, For::Gpus);
                text.push('\n');
                return Ok(text);
            }
            if variable.ty.contains("(lambda at ") {
                // Its type has no name: each thread has its own, with what it captures.
                text += &self.entered(&range, mode, names, &[]);
                text += &self.writer.plain(range, names, For::Gpus);
                self.since = Since::All;
                return Ok(text + "\n");
            }
            let init = variable.initialiser.clone();
            let is_shared = self.is_shared(&variable, &self.inside.clone());
            self.note(&variable, IN_BLOCK, if is_shared { Ok(mode) } else { Err(NOT_ADDRESSABLE) });
            let alone = self.sizes == Sizes::ONE;
            if is_shared && (alone || self.sizes.scope(mode) != Scope::Thread) {
                let (name, declared) = self.in_memory_of_all(&variable, mode);
                text += &declared;
                names.insert(variable.key, name.clone());
                if variable.is_direct {
                    inits += &self.constructed(&variable, &name, names);
                } else if let Some(init) = init {
                    let value = self.writer.expression(&init, names);
                    inits += &match value.starts_with('{') || variable.class == Class::Array {
                        true => format!(
                            "{{ __typeof__({}) __acc_v = {value}; __builtin_memcpy(&{name}, &__acc_v, sizeof __acc_v); }} ",
                            variable.ty
                        ),
                        false => format!("{name} = {value}; "),
                    };
                }
                continue;
            }
            let name = variable.name.clone();
            names.remove(&variable.key);
            if variable.is_direct && variable.class != Class::Scalar && init.is_some() {
                // One thread constructs it; there may be no other way to.
                let (all, ty) = (self.writer.fresh("u", &name), &variable.ty);
                text += &format!(
                    "union {all} {{ __typeof__({ty}) value; {all}() {{}} ~{all}() {{}} }} {all}_; \
                     __typeof__({ty}) &{name} = {all}_.value; (void){name}; "
                );
                inits += &self.constructed(&variable, &name, names);
                self.registers.push(variable);
                continue;
            }
            text += &format!("__typeof__({}) {name}; (void){name}; ", variable.ty);
            if let Some(init) = &init {
                if variable.class == Class::Scalar && self.is_uniform(init, names) {
                    let value = self.writer.expression(init, names);
                    text += &format!("{name} = {value}; ");
                    if self.is_written(&variable, &self.inside.clone()) {
                        self.registers.push(variable);
                    } else {
                        self.uniform.insert(variable.key);
                    }
                    continue;
                }
                let calls = self.calls_in(init);
                if !calls.is_empty() {
                    let (called, edits) = self.called_before(init, &calls, mode, names)?;
                    let value = self.writer.expression_with(init, names, edits);
                    text += &format!("{called}{name} = {value}; ");
                    continue;
                }
                let value = self.writer.expression(init, names);
                inits += &match value.starts_with('{') {
                    true => {
                        format!("{{ __typeof__({}) __acc_v = {value}; {name} = __acc_v; }} ", variable.ty)
                    }
                    false => format!("{name} = {value}; "),
                };
            }
            self.registers.push(variable);
        }
        if !inits.is_empty() {
            text += &self.by_one(inits, mode);
        }
        Ok(text)
    }

    /// A type that is declared with variables, by itself: with a name that these have it by.
    fn types(&mut self, declared: Node<'w>, variables: &[Node<'w>], names: &Names) -> String {
        let text = self.writer.plain(range_of(declared).unwrap_or_default(), names, For::Gpus);
        let is_unnamed = |variable: &&Node<'w>| unnamed_in(&variable.ty().spelling()).is_some();
        if !variables.iter().any(|variable| is_unnamed(&variable)) {
            return format!("{text}; ");
        }
        let (kind, members) = text.split_at(text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(0));
        let name = format!("{kind} {}", self.writer.fresh("t", ""));
        for variable in variables.iter().filter(is_unnamed) {
            let mut ty = variable.ty().spelling();
            ty.replace_range(unnamed_in(&ty).unwrap_or_default(), &name);
            let known =
                super::index::key_of(*variable).and_then(|key| self.writer.index.variables.get_mut(&key));
            if let Some(known) = known {
                ty.trim_start_matches("const ").clone_into(&mut known.ty);
            }
        }
        format!("{name}{members}; ")
    }

    /// Statements that construct a variable as its declaration does.
    fn constructed(&self, variable: &Variable, name: &str, names: &Names) -> String {
        let arguments = variable.initialiser.as_ref().map(|init| self.writer.expression(init, names));
        let (ty, arguments) = (&variable.ty, arguments.unwrap_or_default());
        format!(
            "{{ __typeof__({ty}) __acc_v{arguments}; __builtin_memcpy((void *)&{name}, &__acc_v, sizeof __acc_v); }} "
        )
    }

    /// Says whether it matters to which level a variable belongs, or why not.
    fn note(&mut self, variable: &Variable, place: &str, level: Result<Levels, &str>) {
        let at = variable.range.start;
        let name = &variable.name;
        let candidate = "candidate for adjusting OpenACC privatization level";
        let mode = match level {
            Ok(mode) => mode,
            Err(reason) => {
                self.writer.notes.say(at, format!("variable '{name}' {place} isn't {candidate}: {reason}"));
                return;
            }
        };
        self.writer.notes.say(at, format!("variable '{name}' {place} is {candidate}"));
        let level = match self.sizes.scope(mode) {
            Scope::Thread => "vector",
            Scope::Gang => "gang",
            _ if mode.has(Levels::WORKER) => "worker",
            _ => "gang",
        };
        self.writer
            .notes
            .say(at, format!("variable '{name}' adjusted for OpenACC privatization level: '{level}'"));
    }

    /// A private copy of a clause of the directive at a byte: its declaration. Names lead to it from then on.
    fn private(
        &mut self,
        variable: &Variable,
        at: usize,
        range: &Range<usize>,
        mode: Levels,
        names: &mut Names,
    ) -> String {
        if let Some(slice) = self.writer.slice_of(Purpose::Private, Some(at), variable.key).cloned() {
            let mut text = String::new();
            self.slice(&slice, mode, names, &mut text);
            return text;
        }
        self.own(variable, IN_CLAUSE, range, mode, names)
    }

    /// The declaration of a copy, which is in memory if others may see its address.
    fn own(
        &mut self,
        variable: &Variable,
        place: &str,
        range: &Range<usize>,
        mode: Levels,
        names: &mut Names,
    ) -> String {
        let is_shared = self.is_shared(variable, range) && self.sizes.scope(mode) != Scope::Thread;
        self.note(variable, place, if is_shared { Ok(mode) } else { Err(NOT_ADDRESSABLE) });
        if is_shared {
            let (name, declared) = self.in_memory_of_all(variable, mode);
            names.insert(variable.key, name);
            return declared;
        }
        let text = self.writer.own_copy(variable, names);
        self.registers.push(variable.clone());
        text
    }

    /// A copy whose length is known when the program runs: its name, which stands for the variable then.
    fn slice(&mut self, slice: &Slice, mode: Levels, names: &mut Names, text: &mut String) -> String {
        self.shares = true;
        let name = self.writer.fresh("p", "slice");
        *text += &slice.on_gpu(&name, mode);
        names.insert(slice.key, name.clone());
        // Threads that share it know its address.
        self.uniform.insert(slice.key);
        name
    }

    /// Where code begins that all threads of a scope share: they get what one of them has computed.
    fn entered(&mut self, range: &Range<usize>, mode: Levels, names: &Names, without: &[Key]) -> String {
        let scope = self.sizes.scope(mode);
        if scope == Scope::Thread {
            return String::new();
        }
        let uses = self.writer.index.uses_in(range).map(|found| found.key);
        let used: HashSet<Key> = uses.filter(|key| !without.contains(key)).collect();
        let inside = self.inside.clone();
        let mut wanted: Vec<Variable> = Vec::new();
        for variable in &self.registers {
            let changes = inside.contains(&variable.key) || self.is_written(variable, &inside);
            if used.contains(&variable.key)
                && changes
                && !wanted.iter().any(|known| known.key == variable.key)
            {
                wanted.push(variable.clone());
            }
        }
        let name_of =
            |variable: &Variable| names.get(&variable.key).cloned().unwrap_or_else(|| variable.path.clone());
        if wanted.is_empty() {
            return self.wait(mode);
        }
        let mut text = String::new();
        if scope == Scope::Warp {
            text += &self.wait(mode);
            for variable in &wanted {
                text += &self.given(&name_of(variable), &variable.ty, mode);
            }
            return text;
        }
        let mut put = String::new();
        let mut taken = String::new();
        self.enter(mode);
        for variable in &wanted {
            let (slot, declared) =
                self.in_shared_memory(&variable.ty, variable.space, &variable.name, "values", mode);
            text += &declared;
            put += &format!("{slot} = {}; ", name_of(variable));
            taken += &format!("{} = {slot}; ", name_of(variable));
        }
        self.memory.shared.leave();
        if self.since == Since::All {
            text += &self.wait(mode);
        }
        let one = self.sizes.one(mode).unwrap_or("1");
        let barrier = scope.barrier();
        self.since = Since::Nothing;
        text + &format!("if ({one}) {{ {put} }} {barrier} {taken}{barrier} ")
    }

    /// The calls of routines in code that threads share: inner ones first.
    fn calls_in(&self, range: &Range<usize>) -> Vec<Call> {
        let is_shared = |call: &&Call| {
            range.contains(&call.range.start)
                && self.writer.routines.get(&call.function).is_some_and(|levels| !levels.is_empty())
        };
        let mut calls: Vec<Call> = self.writer.index.calls.iter().filter(is_shared).cloned().collect();
        calls.sort_by_key(|call| call.range.end);
        calls
    }

    /// Calls of an expression that all threads make before one of them computes it: what declares their results, and
    /// what these stand for.
    fn called_before(
        &mut self,
        range: &Range<usize>,
        calls: &[Call],
        mode: Levels,
        names: &Names,
    ) -> Result<(String, Edits), Complaint> {
        let mut edits = Edits::new();
        let Some(last) = calls.iter().map(|call| call.range.start).max() else {
            return Ok((String::new(), edits));
        };
        let tokens = crate::lexer::tokens(&self.writer.text.as_bytes()[range.start..last]);
        if tokens.iter().any(|token| ["&&", "||", "?"].iter().any(|sign| token.is(sign))) {
            let message = "a routine that threads call together is called here under a condition within an expression: \
                           this is not translated; call it in a statement of its own";
            return Err(Complaint::new(range.start, message));
        }
        let mut text = self.entered(range, mode, names, &[]);
        for call in calls {
            let called = self.writer.edited(call.range.clone(), names, edits.clone(), For::Gpus);
            let name = self.writer.fresh("c", "result");
            text += &format!("__auto_type {name} = {called}; ");
            edits.retain(|(inner, _)| !call.range.contains(&inner.start));
            edits.push((call.range.clone(), name));
            self.since = Since::All;
        }
        Ok((text, edits))
    }

    /// A statement that calls routines which threads share.
    fn call(&mut self, node: Node<'w>, mode: Levels, names: &Names) -> Written {
        let range = self.writer.whole(node);
        let mut calls = self.calls_in(&range);
        let is_whole = |call: &Call| range_of(node).is_some_and(|inner| inner == call.range);
        let outer = if calls.last().is_some_and(is_whole) { calls.pop() } else { None };
        let marker = self.writer.source.marker(range.start);
        let (before, edits) = self.called_before(&range, &calls, mode, names)?;
        let Some(call) = outer else {
            let rest = self.writer.edited(range, names, edits, For::Gpus);
            let rest = self.by_one(rest, mode);
            return Ok(format!("{marker}{{ {before}{rest}}}"));
        };
        let entered = self.entered(&call.range, mode, names, &[]);
        // A routine of lanes is called by worker 0 alone, where workers do the same.
        let level = self.writer.routines[&call.function];
        let alone = level == Levels::VECTOR && !mode.has(Levels::WORKER) && self.sizes.workers != Some(1);
        let guard = if alone { "if (__gangway_acc_worker() == 0) " } else { "" };
        let called = self.writer.edited(call.range, names, edits, For::Gpus);
        self.since = Since::All;
        Ok(format!("{marker}{{ {before}{entered}{guard}{called}; }}"))
    }

    fn returns(&mut self, node: Node<'w>, mode: Levels, names: &Names) -> Written {
        let wait = self.wait(mode);
        let range = self.writer.whole(node);
        let marker = self.writer.source.marker(range.start);
        let end = self.end.clone();
        let Some(value) = node.children().first().copied() else {
            return Ok(format!("{marker}{{ {wait}{end}return; }}"));
        };
        let range = range_of(value).unwrap_or_default();
        let calls = self.calls_in(&range);
        let (called, edits) = self.called_before(&range, &calls, mode, names)?;
        let wait = wait + &called;
        let text = self.writer.expression_with(&range, names, edits);
        if self.is_uniform(&range, names) {
            return Ok(format!("{marker}{{ {wait}{end}return {text}; }}"));
        }
        let one = self.sizes.one(mode).unwrap_or("1");
        let given = self.given("__acc_c", &format!("__typeof__({text})"), mode);
        Ok(format!(
            "{marker}{{ {wait}__typeof__({text}) __acc_c; if ({one}) __acc_c = {text}; {given}{end}return __acc_c; }}"
        ))
    }

    /// A loop with a directive.
    fn directed_loop(&mut self, directive: &'w Directive, mode: Levels, names: &Names) -> Written {
        let levels = self.assigned.levels.get(&directive.range.start).copied().unwrap_or_default();
        let statement = self.writer.statement(directive)?;
        if levels.is_empty() {
            let mut names = names.clone();
            let mut text = String::from("{ ");
            self.enter(mode);
            let body = self.writer.whole(statement);
            for key in self.writer.listed(directive, "private") {
                let Some(variable) = self.writer.index.variable(key).cloned() else { continue };
                text += &self.private(&variable, directive.range.start, &body, mode, &mut names);
            }
            // Its variable is each thread's, whatever stands around (section 2.9).
            if let Ok(heads) = self.writer.heads(directive, statement) {
                for head in heads.iter().filter(|head| head.declared.is_none()) {
                    let key = self.writer.loop_key(head);
                    if let Some(variable) = key.and_then(|key| self.writer.index.variable(key)).cloned() {
                        text += &self.writer.own_copy(&variable, &mut names);
                        self.registers.push(variable);
                    }
                }
            }
            text += &self.statements(&[statement], mode, &mut names)?;
            self.memory.shared.leave();
            return Ok(text + " }");
        }
        // Lanes of which workers have no part: worker 0 is alone.
        let alone = levels.has(Levels::VECTOR)
            && !levels.has(Levels::WORKER)
            && !mode.has(Levels::WORKER)
            && self.sizes.workers != Some(1);
        if alone {
            let before = self.wait(mode);
            let inner = self.partitioned(directive, statement, levels, mode | Levels::WORKER, names)?;
            self.since = Since::All;
            return Ok(format!("{before}if (__gangway_acc_worker() == 0) {{ {inner} }} "));
        }
        self.partitioned(directive, statement, levels, mode, names)
    }

    fn partitioned(
        &mut self,
        directive: &'w Directive,
        statement: Node<'w>,
        levels: Levels,
        mode: Levels,
        names: &Names,
    ) -> Written {
        let inner_mode = mode | levels;
        let whole = self.writer.whole(statement);
        let threads_part = self.sizes.scope(mode) != Scope::Thread
            && !(levels & (Levels::WORKER | Levels::VECTOR)).is_empty();
        let mut text = self.writer.source.marker(directive.range.start) + "{ ";
        // Copies of reductions are put together while what is in the loop may be in use: beside it.
        self.enter(mode);
        let heads = self.writer.heads(directive, statement)?;
        let reductions = reduction::read(self.writer, directive)?;
        // What has a copy for each thread need not be given to it.
        let mut own = self.writer.listed(directive, "private");
        own.extend(heads.iter().filter_map(|head| self.writer.loop_key(head)));
        own.extend(reductions.iter().filter(|one| !one.begins_with_outer()).map(|one| one.variable.key));
        if threads_part {
            text += &self.entered(&whole, mode, names, &own);
        }
        // Bounds that only one thread knows are needed by all, also where gangs alone part.
        let mut bounds_in_memory = false;
        if !threads_part && self.sizes.scope(mode) != Scope::Thread {
            let bounds = whole.start..heads.last().map_or(whole.end, |head| head.body.start);
            text += &self.entered(&bounds, mode, names, &own);
            let mut parts = heads
                .iter()
                .flat_map(|head| [Some(&head.first), Some(&head.last), head.step.as_ref()])
                .flatten();
            bounds_in_memory = !parts.all(|part| self.is_uniform(part, names));
        }
        let Counts { declared: before, total, known: iterations } = self.writer.counts(&heads, names);
        text += &before;
        let mut names = names.clone();
        let mut copies: Vec<(Reduction, String, String)> = Vec::new();
        for one in reductions {
            let outer = names.get(&one.variable.key).cloned().unwrap_or_else(|| one.variable.path.clone());
            if let Some(slice) = one.slice.clone() {
                let name = self.slice(&slice, inner_mode, &mut names, &mut text);
                let begin = one.begin(&name, &outer, true);
                text += &self.by_one(begin, inner_mode);
                text += &self.wait(inner_mode);
                copies.push((one, outer, name));
                continue;
            }
            let name = self.writer.fresh("r", &one.variable.name);
            text +=
                &format!("{} {} ", one.declared(&name), one.begin(&name, &outer, levels.has(Levels::GANG)));
            copies.push((one, outer, name));
        }
        for (one, _, name) in &copies {
            names.insert(one.variable.key, name.clone());
        }
        let tiles = Tiles::of(self.writer, directive, levels, total.is_narrow, &names);
        let (total, shared) = match &tiles {
            Some(tiles) => (tiles.total(), tiles.levels),
            None => (total, levels),
        };
        let share = match self.writer.chunk(directive, shared, &total.text, &names) {
            Some(chunk) if shared.has_gangs() => {
                let within = self.share(shared.without(shared.gangs()));
                self.share(shared.gangs()).in_chunks(&within, "__acc_k", &total.text, &chunk)
            }
            None if shared.has_gangs() => {
                let within = self.share(shared.without(shared.gangs()));
                self.share(shared.gangs()).in_one_piece(&within, "__acc_k", &total)
            }
            None if shared.has(Levels::VECTOR) => match self.rounds(shared, iterations) {
                Rounds::Many => self.share(shared).head("__acc_k", &total),
                rounds => self.share(shared).head_of_lanes("__acc_k", &total, rounds == Rounds::Whole),
            },
            _ => self.share(shared).head("__acc_k", &total),
        };
        let outer_inside =
            std::mem::replace(&mut self.inside, heads.last().map_or(whole.clone(), |head| head.body.clone()));
        let known = self.registers.len();
        let numbers = tiles.as_ref().map_or_else(|| numbers(&heads), Tiles::numbers);
        let variables = self.writer.loop_variables(&heads, &numbers, &mut names);
        for head in &heads {
            self.uniform.extend(self.writer.loop_key(head));
        }
        let mut inner = String::new();
        self.enter(inner_mode);
        // The loops' own variables, which a clause may name, have their values already.
        let moved: HashSet<Key> = heads.iter().filter_map(|head| self.writer.loop_key(head)).collect();
        for key in self.writer.listed(directive, "private").into_iter().filter(|key| !moved.contains(key)) {
            let Some(variable) = self.writer.index.variable(key).cloned() else { continue };
            inner += &self.private(&variable, directive.range.start, &whole, inner_mode, &mut names);
        }
        let body = header::body(statement, heads.len());
        let mut last = String::new();
        for one in self.writer.of_iterations(directive, (&heads, body), &names) {
            inner += &self.own(&one.variable, IN_ITERATION, &whole, inner_mode, &mut names);
            if let (Some(outer), Some(own)) = (one.outer, names.get(&one.variable.key)) {
                last += &format!("{outer} = {own}; ");
            }
        }
        let in_registers = copies.iter().filter(|(one, ..)| one.slice.is_none());
        self.registers.extend(in_registers.map(|(one, ..)| one.variable.clone()));
        if threads_part {
            self.since = Since::Nothing;
        }
        let before = self.since;
        inner += &self.statements(&[body], inner_mode, &mut names.clone())?;
        if !last.is_empty() {
            inner += &self.by_one(format!("if ({}) {{ {last}}}", iteration::is_last(&numbers)), inner_mode);
        }
        // Iterations of gangs do not depend on each other (section 2.9.2). Threads that share nothing but
        // what gangs do need not wait for each other between those of their gang.
        if levels == Levels::GANG && !self.shares && !self.calls_routine(&whole) {
            self.since = self.since.max(before);
        } else {
            inner += &self.wait(inner_mode);
        }
        self.memory.shared.leave();
        self.registers.truncate(known);
        self.inside = outer_inside;
        text += &match &tiles {
            Some(tiles) => {
                let elements = self.share(tiles.element_levels()).head("__acc_j", &tiles.elements());
                let Tiles { declared, .. } = tiles;
                let is_there = tiles.is_there();
                format!("{declared}{share} {elements} if ({is_there}) {{ {variables}{inner} }} ")
            }
            None => format!("{share} {{ {variables}{inner} }} "),
        };
        // Where all look into memory for bounds, some may do it yet when others are through.
        if threads_part || bounds_in_memory {
            self.since = Since::All;
        }
        for (one, outer, name) in &copies {
            text += &self.combined(one, outer, name, levels, mode);
        }
        self.memory.shared.leave();
        Ok(text + "} ")
    }

    /// How the iterations of a loop go into rounds of the threads that share it.
    fn rounds(&self, levels: Levels, iterations: Option<u64>) -> Rounds {
        let workers = if levels.has(Levels::WORKER) { self.sizes.workers } else { Some(1) };
        let of_a_round = self.sizes.lanes.and_then(|lanes| lanes.checked_mul(workers?));
        match (iterations, of_a_round) {
            // A single round needs no counter, of which LLVM would leave lines that are none.
            (Some(all), Some(round)) if round > 0 && all == round => Rounds::Many,
            (Some(all), Some(round)) if round > 0 && all.is_multiple_of(round) => Rounds::Whole,
            (Some(all), Some(round)) if round > 0 && all / round >= ROUNDS => Rounds::Many,
            _ => Rounds::Parted,
        }
    }

    /// Which iterations are a thread's of a loop with levels.
    fn share(&self, levels: Levels) -> Share {
        let lanes =
            self.sizes.lanes.map_or("(long)__gangway_acc_lanes()".to_owned(), |lanes| lanes.to_string());
        let workers = self
            .sizes
            .known_workers()
            .map_or("(long)__gangway_acc_workers()".to_owned(), |workers| workers.to_string());
        let mut share = Share::all();
        share.divide_among_gangs(levels);
        if levels.has(Levels::WORKER) {
            share.divide("(long)__gangway_acc_worker()", &workers);
        }
        if levels.has(Levels::VECTOR) {
            share.divide("(long)__gangway_acc_lane()", &lanes);
        }
        share
    }

    /// Puts the copies of a loop's threads together, into what they are copies of.
    fn combined(&mut self, one: &Reduction, outer: &str, name: &str, levels: Levels, mode: Levels) -> String {
        let within = levels & (Levels::WORKER | Levels::VECTOR);
        if one.slice.is_some() {
            // All of them are in memory.
            let text = self.by_one(one.add_atomically(outer, name), mode | levels);
            self.since = Since::All;
            return text;
        }
        // Copies that begin with the same value are no reason to take it twice: see `Reduction::begin`.
        if within.is_empty() || self.sizes.scope(mode) == Scope::Thread {
            let text = one.add_all(outer, name);
            return self.by_one(text, mode);
        }
        let lanes = within.has(Levels::VECTOR) && self.sizes.lanes != Some(1);
        let workers = within.has(Levels::WORKER) && self.sizes.workers != Some(1);
        let mut text = String::new();
        if lanes {
            let several = if self.sizes.lanes.is_none() { "if (__gangway_acc_lanes() > 1) " } else { "" };
            let add = one.each(|of, element| {
                let value = of(name);
                format!(
                    "{several}{{ for (unsigned __acc_o = 16; __acc_o; __acc_o >>= 1) {{ {element} __acc_v; \
                     __gangway_acc_shuffle_down(&__acc_v, &{value}, sizeof __acc_v, __acc_o); {} }} }} ",
                    one.add(&value, "__acc_v")
                )
            });
            text += &add;
        }
        let one_warp = matches!(self.sizes.lanes, Some(1..=32));
        if !workers && one_warp {
            let all = one.add_all(outer, name);
            return text + &self.by_one(all, mode);
        }
        // Each warp's, or each worker's, in shared memory. Where lanes have no copies, a worker has one.
        let warps = if lanes { self.sizes.lanes.map(|lanes| lanes.div_ceil(WARP)) } else { Some(1) };
        let per_worker =
            warps.map_or("((__gangway_acc_lanes() + 31) / 32)".to_owned(), |warps| warps.to_string());
        let count =
            if workers { format!("(__gangway_acc_workers() * {per_worker})") } else { per_worker.clone() };
        let worker =
            if workers { format!("__gangway_acc_worker() * {per_worker} + ") } else { String::new() };
        // As many as there are warps, or workers.
        let rows = if workers {
            warps.zip(self.sizes.workers).map(|(warps, workers)| warps * workers)
        } else {
            warps
        };
        let row = format!("__typeof__({})[{}]", one.variable.ty, rows.unwrap_or(WORKERS));
        let of_row = |Space { bytes, align }| Space { bytes: bytes * rows.unwrap_or(WORKERS), align };
        let space = one.variable.space.map(of_row);
        let what = format!("reduction of '{}'", one.variable.name);
        let (slots, declared) = self.in_shared_memory(&row, space, &one.variable.name, &what, mode);
        let barrier = self.sizes.scope(mode).barrier();
        let put = one.each(|of, _| format!("{} = {};", of(&format!("{slots}[__acc_w]")), of(name)));
        let add = one.add_all(outer, &format!("{slots}[__acc_w]"));
        let single = self.sizes.one(mode).unwrap_or("1");
        let leads = if lanes { "__gangway_acc_lane() % 32 == 0" } else { "__gangway_acc_lane() == 0" };
        self.since = Since::One;
        text + &format!(
            "{declared}if ({leads}) {{ unsigned __acc_w = {worker}__gangway_acc_lane() / 32; {put} }} {barrier} \
             if ({single}) {{ for (unsigned __acc_w = 0; __acc_w < {count}; ++__acc_w) {{ {add} }} }} "
        )
    }
}

/// Where a type is spelt that has no name.
fn unnamed_in(ty: &str) -> Option<Range<usize>> {
    let place = ty.find("(unnamed ")?;
    let kind = ["struct ", "union ", "enum "].iter().find(|kind| ty[..place].ends_with(**kind));
    let end = place + ty[place..].find(')')? + 1;
    Some(place - kind.map_or(0, |kind| kind.len())..end)
}

/// How large what is given to all is, if its type is not the user's.
fn space_of(ty: &str) -> Option<Space> {
    match ty {
        "int" => Some(Space { bytes: 4, align: 4 }),
        "long" => Some(Space { bytes: 8, align: 8 }),
        _ => None,
    }
}

fn two<'u>(children: &[Node<'u>]) -> Option<[Node<'u>; 2]> {
    match children {
        [one, other] => Some([*one, *other]),
        _ => None,
    }
}

/// Whether a statement may go on elsewhere than behind it.
fn jumps(node: Node<'_>, in_loop: bool, in_switch: bool) -> bool {
    match node.kind() {
        CXCursor_ReturnStmt | CXCursor_GotoStmt | CXCursor_IndirectGotoStmt => true,
        CXCursor_BreakStmt => !in_loop && !in_switch,
        CXCursor_ContinueStmt => !in_loop,
        CXCursor_LambdaExpr => false,
        CXCursor_ForStmt | CXCursor_WhileStmt | CXCursor_DoStmt | CXCursor_CXXForRangeStmt => {
            node.children().into_iter().any(|child| jumps(child, true, in_switch))
        }
        CXCursor_SwitchStmt => node.children().into_iter().any(|child| jumps(child, in_loop, true)),
        _ => node.children().into_iter().any(|child| jumps(child, in_loop, in_switch)),
    }
}
