//! From the registers that functions may take and give to those that somebody needs.

use std::collections::HashSet;

use crate::functions::Functions;
use crate::node::{End, Function, Op, Space, Value};
use crate::passes;
use crate::state::Variable;

/// Whether any address of memory that all share may be made of a value of a kernel's.
pub fn leads_to_address(lifted: &[Function], functions: &Functions, is: impl Fn(Op) -> bool) -> bool {
    let shared = |space: Space| matches!(space, Space::Global | Space::Flat | Space::FlatOfFirst);
    let mut search = Search::new(lifted, functions);
    search.work.clear();
    for (number, f) in lifted.iter().enumerate() {
        for &value in f.blocks.iter().flat_map(|block| &block.list) {
            let space = match f.op(value) {
                Op::Load(access) | Op::Store(access) => access.space,
                Op::Update(update, _) => update.space,
                _ => continue,
            };
            if shared(space) {
                search.work.push((number, f.arg(value, 0)));
            }
        }
    }
    let found = search.run().found;
    let mut kernels = lifted.iter().zip(&found).take(functions.kernels);
    kernels.any(|(f, found)| f.nodes.iter().zip(found).any(|(node, found)| *found && is(node.op)))
}

/// Takes what nobody needs out of calls and returns.
pub fn run(lifted: &mut [Function], functions: &mut Functions) {
    if functions.units.len() == functions.kernels {
        return;
    }
    let needs = Search::new(lifted, functions).run().needs;
    for (number, f) in lifted.iter_mut().enumerate() {
        rewrite(f, number, functions, &needs);
        passes::dead(f);
    }
    for (unit, needs) in functions.units.iter_mut().zip(&needs) {
        unit.takes.retain(|taken| needs.takes.contains(taken));
        unit.gives.retain(|given| needs.gives.contains(given));
    }
}

/// Registers that a function needs, and those that somebody needs of it.
#[derive(Clone, Default)]
struct Needs {
    takes: HashSet<Variable>,
    gives: HashSet<Variable>,
}

/// What is needed is found from what has an effect.
struct Search<'a> {
    lifted: &'a [Function],
    functions: &'a Functions,
    needs: Vec<Needs>,
    found: Vec<Vec<bool>>,
    work: Vec<(usize, Value)>,
    /// Calls of each function, and the ends of each, by the function that they are in.
    calls: Vec<Vec<(usize, Value)>>,
    ends: Vec<Vec<Value>>,
}

impl<'a> Search<'a> {
    fn new(lifted: &'a [Function], functions: &'a Functions) -> Self {
        let mut search = Self {
            lifted,
            functions,
            needs: vec![Needs::default(); lifted.len()],
            found: lifted.iter().map(|f| vec![false; f.nodes.len()]).collect(),
            work: Vec::new(),
            calls: vec![Vec::new(); lifted.len()],
            ends: vec![Vec::new(); lifted.len()],
        };
        for (number, f) in lifted.iter().enumerate() {
            for block in &f.blocks {
                for &value in &block.list {
                    let op = f.op(value);
                    match op {
                        Op::Call(_) => {
                            // The address that is called is needed, whatever is handed over.
                            if op == Op::Call(None) {
                                search.work.push((number, f.arg(value, 0)));
                            }
                            for called in alike(functions, called(f, value, functions)) {
                                search.calls[called].push((number, value));
                            }
                        }
                        Op::Return => search.ends[number].push(value),
                        _ if op.has_effect() => search.work.push((number, value)),
                        _ => {}
                    }
                }
                if let End::Branch(bit, ..) = block.end {
                    search.work.push((number, bit));
                }
            }
        }
        search
    }

    fn run(mut self) -> Self {
        while let Some((number, value)) = self.work.pop() {
            let f = &self.lifted[number];
            let value = f.find(value);
            if std::mem::replace(&mut self.found[number][value.index()], true) {
                continue;
            }
            match f.op(value) {
                Op::Entry(variable) => {
                    for alike in alike(self.functions, Some(number)) {
                        self.takes(alike, variable);
                    }
                }
                Op::Result(variable) => {
                    for alike in alike(self.functions, called(f, f.arg(value, 0), self.functions)) {
                        self.gives(alike, variable);
                    }
                }
                _ => self.work.extend(f.node(value).args.iter().map(|arg| (number, *arg))),
            }
        }
        self
    }

    fn takes(&mut self, number: usize, variable: Variable) {
        if !self.needs[number].takes.insert(variable) {
            return;
        }
        let Some(index) = position(&self.functions.units[number].takes, variable) else { return };
        for &(caller, call) in &self.calls[number] {
            let f = &self.lifted[caller];
            let first = usize::from(f.op(call) == Op::Call(None));
            self.work.push((caller, f.arg(call, first + index)));
        }
    }

    fn gives(&mut self, number: usize, variable: Variable) {
        if !self.needs[number].gives.insert(variable) {
            return;
        }
        let Some(index) = position(&self.functions.units[number].gives, variable) else { return };
        for &end in &self.ends[number] {
            self.work.push((number, self.lifted[number].arg(end, index)));
        }
    }
}

fn position(list: &[Variable], variable: Variable) -> Option<usize> {
    list.iter().position(|other| *other == variable)
}

/// A function, or all that take and give the same because they are called by their addresses.
fn alike(functions: &Functions, number: Option<usize>) -> Vec<usize> {
    let Some(number) = number else { return Vec::new() };
    if !functions.by_address.contains(&functions.units[number].entry) {
        return vec![number];
    }
    functions.by_address.iter().map(|address| functions.numbers[address]).collect()
}

/// The function that a call is of, or one for all.
fn called(f: &Function, call: Value, functions: &Functions) -> Option<usize> {
    match f.op(call) {
        Op::Call(Some(number)) => Some(number as usize),
        Op::Call(None) => functions.called(None),
        _ => None,
    }
}

fn rewrite(f: &mut Function, number: usize, functions: &Functions, needs: &[Needs]) {
    let values: Vec<Value> = f.blocks.iter().flat_map(|block| block.list.iter().copied()).collect();
    for value in values {
        let (first, list, needed) = match f.op(value) {
            Op::Return => (0, &functions.units[number].gives, &needs[number].gives),
            Op::Call(by_number) => {
                let Some(called) = called(f, value, functions) else { continue };
                (usize::from(by_number.is_none()), &functions.units[called].takes, &needs[called].takes)
            }
            _ => continue,
        };
        let args = std::mem::take(&mut f.nodes[value.index()].args);
        let is_needed = |index: usize| index < first || needed.contains(&list[index - first]);
        let kept = args.into_iter().enumerate().filter(|(index, _)| is_needed(*index));
        f.nodes[value.index()].args = kept.map(|(_, arg)| arg).collect();
    }
}
