//! Where the variables of a module go.
//!
//! Global and constant variables go to device memory. Small ones go there together, so that a
//! module of a thousand variables is loaded quickly. Large ones, and all of a module that is
//! checked to the byte, go on their own. Shared variables get offsets in the block's memory; two
//! that no kernel can reach both of may have the same.

use std::collections::BTreeMap;

use gangway_interpreter::Placement;
use gangway_ptx::{Linkage, Module, StateSpace, Symbol, Variable, WORD};

use super::error::LoadError;
use super::graph::{Graph, Reach, is_shared};

/// Dynamic shared memory is aligned to so many bytes at least.
const DYNAMIC_ALIGN: u64 = 16;
/// A variable of this size has an allocation of its own.
const LARGE: u64 = 4096;

/// What a piece of device memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PieceClass {
    Global,
    Constant,
    Managed,
}

/// A piece of device memory that variables need, before it has an address.
#[derive(Debug)]
pub(crate) struct Piece {
    pub class: PieceClass,
    pub size: u64,
    pub align: u64,
    /// The variable's name, where it is a single one.
    pub name: Option<Box<str>>,
    /// Which variables are in it, and at which offset.
    members: Vec<(Owner, u64)>,
}

/// A variable: the function whose body declares it, if any, and its index there.
type Owner = (Option<u32>, u32);

/// The places of all variables of a module.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub placement: Placement,
    /// Where each kernel's static shared memory ends; indexed by function, 0 for others.
    pub shared_end: Vec<u64>,
}

fn each_variable(module: &Module) -> impl Iterator<Item = (Owner, &Variable)> {
    let own = module.variables.iter().zip(0..).map(|(variable, index)| ((None, index), variable));
    let inner = module.functions.iter().zip(0..).flat_map(|(function, number)| {
        let variables = function.body.iter().flat_map(|body| &body.variables);
        variables.zip(0..).map(move |(variable, index)| ((Some(number), index), variable))
    });
    own.chain(inner)
}

impl Places {
    /// No addresses yet.
    #[must_use]
    pub fn empty(module: &Module) -> Self {
        let bodies = module.functions.iter();
        Places {
            placement: Placement {
                variables: vec![0; module.variables.len()],
                bodies: bodies.map(|f| vec![0; f.body.as_ref().map_or(0, |b| b.variables.len())]).collect(),
                shared: 0,
            },
            shared_end: vec![0; module.functions.len()],
        }
    }

    fn set(&mut self, owner: Owner, address: u64) {
        match owner {
            (None, index) => self.placement.variables[index as usize] = address,
            (Some(function), index) => {
                self.placement.bodies[function as usize][index as usize] = address;
            }
        }
    }

    fn get(&self, owner: Owner) -> u64 {
        match owner {
            (None, index) => self.placement.variables[index as usize],
            (Some(function), index) => self.placement.bodies[function as usize][index as usize],
        }
    }

    /// Gives the variables in a piece their addresses.
    pub fn settle(&mut self, piece: &Piece, address: u64) {
        for &(owner, offset) in &piece.members {
            self.set(owner, address + offset);
        }
    }

    /// Lays out shared memory from address 0 on, as on processors: kernels that declare none may
    /// mean a launch's dynamic memory by numbers. `reaches` are the kernels, by function, and what they reach.
    pub fn share(&mut self, module: &Module, reaches: &[(u32, Reach)]) {
        // The kernels of each variable, as a set of bits.
        let words = reaches.len().div_ceil(64);
        let mut users: BTreeMap<Owner, Vec<u64>> = BTreeMap::new();
        for (kernel, (_, reach)) in reaches.iter().enumerate() {
            let own = reach.shared.iter().map(|&index| (None, index));
            let inner = reach.functions.iter().flat_map(|&function| {
                let body = module.functions[function as usize].body.iter();
                let variables = body.flat_map(|body| &body.variables).zip(0..);
                let shared = variables.filter(|(variable, _)| is_shared(variable));
                shared.map(move |(_, index)| (Some(function), index))
            });
            for owner in own.chain(inner) {
                users.entry(owner).or_insert_with(|| vec![0; words])[kernel / 64] |= 1 << (kernel % 64);
            }
        }
        let mut placed: Vec<(u64, u64, &Vec<u64>)> = Vec::new();
        let mut dynamic = Vec::new();
        let mut align = DYNAMIC_ALIGN;
        for (&owner, kernels) in &users {
            let variable = match owner {
                (None, index) => &module.variables[index as usize],
                (Some(function), index) => {
                    let body = module.functions[function as usize].body.as_ref();
                    &body.expect("it declares a variable").variables[index as usize]
                }
            };
            let Some(size) = variable.size() else {
                dynamic.push(owner);
                align = align.max(variable.align.into());
                continue;
            };
            let step = u64::from(variable.align.max(1));
            let mut start = 0_u64;
            // `placed` is in order of addresses: the first gap that is large enough is taken.
            for &(from, to, others) in &placed {
                let together = others.iter().zip(kernels).any(|(a, b)| a & b != 0);
                if together && from < start + size && start < to {
                    start = to.next_multiple_of(step);
                }
            }
            let end = start + size;
            let at = placed.partition_point(|&(from, ..)| from <= start);
            placed.insert(at, (start, end, kernels));
            self.set(owner, start);
            for (kernel, &(function, _)) in reaches.iter().enumerate() {
                if kernels[kernel / 64] >> (kernel % 64) & 1 != 0 {
                    let known = &mut self.shared_end[function as usize];
                    *known = end.max(*known);
                }
            }
        }
        let end = self.shared_end.iter().copied().max().unwrap_or(0);
        self.placement.shared = end.next_multiple_of(align);
        for owner in dynamic {
            self.set(owner, self.placement.shared);
        }
    }

    /// The initial bytes of each variable that has some: where they go, and what they are.
    #[must_use]
    pub fn initial(&self, module: &Module, function_address: impl Fn(u32) -> u64) -> Vec<(u64, Vec<u8>)> {
        let mut values = Vec::new();
        for (owner, variable) in each_variable(module) {
            let Some(initializer) = &variable.initializer else { continue };
            let mut bytes = initializer.bytes.to_vec();
            for relocation in &initializer.relocations {
                let target = match (relocation.symbol, owner.0) {
                    (Symbol::Variable(id), _) => self.get((None, id.0)),
                    (Symbol::Function(id), _) => function_address(id.0),
                    (Symbol::Local(index), function) => self.get((function, index)),
                    // Parameters have no address that outlives a call.
                    (Symbol::Parameter(_) | Symbol::Return(_), _) => 0,
                };
                let value = target.wrapping_add_signed(relocation.addend);
                let value = (value & relocation.mask) >> (relocation.mask.trailing_zeros() % 64);
                let (offset, size) = (relocation.offset as usize, usize::from(relocation.size));
                bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            values.push((self.get(owner), bytes));
        }
        values
    }
}

/// The pieces of device memory that a module's variables need, or the names that are used
/// and not defined. With `apart` every variable has a piece of its own.
pub(crate) fn pieces(module: &Module, graph: &Graph, apart: bool) -> Result<Vec<Piece>, LoadError> {
    let mut together: BTreeMap<PieceClass, Piece> = BTreeMap::new();
    let mut pieces = Vec::new();
    let mut undefined = Vec::new();
    for (owner, variable) in each_variable(module) {
        let class = match variable.space.plain() {
            StateSpace::Const => PieceClass::Constant,
            StateSpace::Global if variable.managed => PieceClass::Managed,
            StateSpace::Global => PieceClass::Global,
            _ => continue,
        };
        if variable.linkage == Linkage::Extern {
            if owner.0.is_none() && graph.used_variables[owner.1 as usize] {
                undefined.push(variable.name.clone());
            }
            continue;
        }
        let (size, align) = (variable.size().unwrap_or(0), u64::from(variable.align.max(1)));
        if apart || size >= LARGE || class == PieceClass::Managed {
            let (members, name) = (vec![(owner, 0)], Some(variable.name.clone()));
            pieces.push(Piece { class, size: size.max(1), align, name, members });
            continue;
        }
        let piece = together.entry(class).or_insert_with(|| Piece {
            class,
            size: 0,
            align: 1,
            name: None,
            members: Vec::new(),
        });
        let offset = piece.size.next_multiple_of(align);
        piece.members.push((owner, offset));
        // Even an empty variable has an address of its own.
        piece.size = offset + size.max(1);
        piece.align = piece.align.max(align);
    }
    pieces.extend(together.into_values());
    for piece in &mut pieces {
        piece.size = piece.size.next_multiple_of(WORD);
        piece.align = piece.align.max(WORD);
    }
    if undefined.is_empty() { Ok(pieces) } else { Err(LoadError::Undefined(undefined)) }
}
