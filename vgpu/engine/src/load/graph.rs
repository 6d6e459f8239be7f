//! What each kernel can reach: functions it may call and variables it may touch.
//!
//! Asked when a module is loaded, for the figures that the driver tells of kernels and
//! for the layout of shared memory. It reads every operand once, and no more: a
//! module of GCC's is all of libgomp.

use gangway_ptx::meaning::Control;
use gangway_ptx::{Base, Body, FunctionId, Meaning, Module, Operand, StateSpace, Symbol, Variable};

/// The calls of a module.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// Functions whose address something takes: where indirect calls may go.
    taken: Vec<u32>,
    /// Variables of the module that something names.
    pub used_variables: Vec<bool>,
    /// Functions that something names.
    pub used_functions: Vec<bool>,
}

#[derive(Debug, Default)]
struct Node {
    calls: Vec<u32>,
    indirect: bool,
    /// Shared variables of the module that it names.
    shared: Vec<u32>,
    /// Bytes of local memory for its own variables.
    local: u64,
}

/// What a kernel can reach.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// In the order in which they were found, the kernel first.
    pub functions: Vec<u32>,
    /// Shared variables of the module.
    pub shared: Vec<u32>,
}

pub(crate) fn is_shared(variable: &Variable) -> bool {
    variable.space.plain() == StateSpace::Shared
}

impl Graph {
    #[must_use]
    pub fn new(module: &Module) -> Self {
        let mut graph = Graph {
            used_variables: vec![false; module.variables.len()],
            used_functions: vec![false; module.functions.len()],
            ..Graph::default()
        };
        let mut taken = vec![false; module.functions.len()];
        for function in &module.functions {
            let mut node = Node::default();
            if let Some(body) = &function.body {
                node.local = local_size(body);
                graph.scan(module, body, &mut node, &mut taken);
            }
            node.calls.sort_unstable();
            node.calls.dedup();
            node.shared.sort_unstable();
            node.shared.dedup();
            graph.nodes.push(node);
        }
        for alias in &module.aliases {
            // Who calls the alias runs the target.
            graph.nodes[alias.alias.index()].calls.push(alias.target.0);
        }
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        let inner = bodies.flat_map(|body| &body.variables);
        for variable in module.variables.iter().chain(inner) {
            for relocation in variable.initializer.iter().flat_map(|initializer| &initializer.relocations) {
                match relocation.symbol {
                    Symbol::Function(id) => taken[id.index()] = true,
                    Symbol::Variable(id) => graph.used_variables[id.index()] = true,
                    _ => {}
                }
            }
        }
        graph.taken = (0..taken.len() as u32).filter(|&index| taken[index as usize]).collect();
        for &index in &graph.taken {
            graph.used_functions[index as usize] = true;
        }
        graph
    }

    fn scan(&mut self, module: &Module, body: &Body, node: &mut Node, taken: &mut [bool]) {
        for instruction in &body.instructions {
            if module.opcode(instruction).meaning != Meaning::Control(Control::Call) {
                continue;
            }
            match body.operands(instruction).get(1) {
                Some(&Operand::Function(FunctionId(callee))) => {
                    node.calls.push(callee);
                    self.used_functions[callee as usize] = true;
                }
                _ => node.indirect = true,
            }
        }
        for &operand in &body.operands {
            let symbol = match operand {
                Operand::Symbol(symbol, _) | Operand::Address(Base::Symbol(symbol), _) => symbol,
                _ => continue,
            };
            match symbol {
                Symbol::Function(FunctionId(id)) => taken[id as usize] = true,
                Symbol::Variable(id) => {
                    self.used_variables[id.index()] = true;
                    if is_shared(&module.variables[id.index()]) {
                        node.shared.push(id.0);
                    }
                }
                _ => {}
            }
        }
    }

    /// What `function` and everything that it may call touch.
    #[must_use]
    pub fn reach(&self, function: u32) -> Reach {
        let mut seen = vec![false; self.nodes.len()];
        let mut reach = Reach::default();
        let mut waiting = vec![function];
        let mut indirect = false;
        while let Some(index) = waiting.pop() {
            if std::mem::replace(&mut seen[index as usize], true) {
                continue;
            }
            let node = &self.nodes[index as usize];
            reach.functions.push(index);
            reach.shared.extend(&node.shared);
            waiting.extend(&node.calls);
            if node.indirect && !std::mem::replace(&mut indirect, true) {
                waiting.extend(&self.taken);
            }
        }
        reach.shared.sort_unstable();
        reach.shared.dedup();
        reach
    }

    /// Bytes of local memory of the deepest chain of calls; a function that calls itself
    /// counts once.
    #[must_use]
    pub fn deepest(&self, function: u32) -> u64 {
        let mut known = vec![None; self.nodes.len()];
        self.depth(function, &mut known)
    }

    fn depth(&self, function: u32, known: &mut [Option<u64>]) -> u64 {
        // Without recursion of our own: chains of calls can be as long as the module.
        let mut stack = vec![(function, false)];
        while let Some((index, done)) = stack.pop() {
            let node = &self.nodes[index as usize];
            let below = if node.indirect { &self.taken[..] } else { &[] };
            let callees = node.calls.iter().chain(below);
            if done {
                let deepest = callees.filter_map(|&callee| known[callee as usize]).max().unwrap_or(0);
                known[index as usize] = Some(node.local + deepest);
            } else if known[index as usize].is_none() {
                // Zero for a function that calls back into it.
                known[index as usize] = Some(0);
                stack.push((index, true));
                stack
                    .extend(callees.filter(|&&callee| known[callee as usize].is_none()).map(|&c| (c, false)));
            }
        }
        known[function as usize].unwrap_or(0)
    }
}

fn local_size(body: &Body) -> u64 {
    let local = body.variables.iter().filter(|variable| variable.space.plain() == StateSpace::Local);
    local.fold(0, |size, variable| {
        u64::next_multiple_of(size, u64::from(variable.align.max(1))) + variable.size().unwrap_or(0)
    })
}
