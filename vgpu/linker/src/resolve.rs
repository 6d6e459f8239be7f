//! Which definition each name stands for.
//!
//! `link` calls it first. It changes nothing: it looks at the names that
//! modules share, chooses one definition for each, and notes what does not fit.
//!
//! Of several definitions a strong one wins over `.common`, `.common` over `.weak`, and
//! among equals the first; of `.common` ones the largest. Inputs on demand (members of
//! an archive) join when they define a name that is used and not defined so far.

use gangway_ptx::{Function, Linkage, StateSpace, Variable};
use rustc_hash::FxHashMap;

use crate::error::LinkError;
use crate::input::Input;
use crate::provided::provided;

/// A function or variable of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub input: u32,
    pub item: Item,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Item {
    Function(u32),
    Variable(u32),
}

/// How much a declaration or definition counts when one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Reference,
    Weak,
    Common,
    Strong,
}

/// What a name that modules share stands for.
struct Symbol {
    chosen: Place,
    strength: Strength,
    /// The strictest alignment that any module expects of a variable.
    align: u32,
    managed: bool,
}

/// The meaning of all names.
pub(crate) struct Resolution<'a> {
    inputs: &'a [Input],
    /// Inputs on demand that nothing demands are not joined.
    pub joined: Vec<bool>,
    symbols: Vec<Symbol>,
    by_name: FxHashMap<&'a str, u32>,
    pub errors: Vec<LinkError>,
}

impl<'a> Resolution<'a> {
    pub fn new(inputs: &'a [Input]) -> Self {
        let mut resolution = Resolution {
            inputs,
            joined: inputs.iter().map(|input| !input.on_demand).collect(),
            symbols: Vec::new(),
            by_name: FxHashMap::default(),
            errors: Vec::new(),
        };
        for input in (0..inputs.len()).filter(|&input| !inputs[input].on_demand) {
            resolution.join(input);
        }
        // A member may need members that stand before it.
        while let Some(input) = (0..inputs.len()).find(|&input| resolution.is_demanded(input)) {
            resolution.join(input);
        }
        resolution.check();
        resolution
    }

    /// The definition, or the declaration of what nothing defines, that a place means.
    pub fn resolve(&self, place: Place) -> Place {
        let (name, linkage) = self.name_of(place);
        let mut found = place;
        if linkage != Linkage::Internal
            && let Some(symbol) = self.symbol(name)
        {
            found = symbol.chosen;
        }
        match self.alias_target(found) {
            Some(target) => self.definition(target),
            None => found,
        }
    }

    /// As [`resolve`](Self::resolve), for the target of an alias, which is a function
    /// with a body and so no alias itself.
    fn definition(&self, place: Place) -> Place {
        match self.name_of(place) {
            (_, Linkage::Internal) => place,
            (name, _) => match self.symbol(name) {
                Some(symbol) if self.alias_target(symbol.chosen).is_none() => symbol.chosen,
                _ => place,
            },
        }
    }

    /// The alignment and whether it is managed memory, by all that declare the variable.
    pub fn traits(&self, variable: &Variable) -> (u32, bool) {
        match (variable.linkage, self.symbol(&variable.name)) {
            (Linkage::Internal, _) | (_, None) => (variable.align, variable.managed),
            (_, Some(symbol)) => (symbol.align, symbol.managed),
        }
    }

    pub fn function(&self, input: u32, index: u32) -> &'a Function {
        &self.inputs[input as usize].declarations().functions[index as usize]
    }

    pub fn variable(&self, input: u32, index: u32) -> &'a Variable {
        &self.inputs[input as usize].declarations().variables[index as usize]
    }

    pub fn name_of(&self, place: Place) -> (&'a str, Linkage) {
        match place.item {
            Item::Function(index) => {
                let function = self.function(place.input, index);
                // A declaration without linkage is of a function somewhere else, or of
                // nothing: either way the name is looked up.
                let declared = function.body.is_none() && function.linkage == Linkage::Internal;
                let aliased = self.alias_target(place).is_some();
                (&function.name, if declared && !aliased { Linkage::Extern } else { function.linkage })
            }
            Item::Variable(index) => {
                let variable = self.variable(place.input, index);
                (&variable.name, variable.linkage)
            }
        }
    }

    fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.by_name.get(name).map(|&index| &self.symbols[index as usize])
    }

    /// The function that an alias stands for.
    fn alias_target(&self, place: Place) -> Option<Place> {
        let Item::Function(index) = place.item else { return None };
        let aliases = &self.inputs[place.input as usize].declarations().aliases;
        let alias = aliases.iter().find(|alias| alias.alias.0 == index)?;
        Some(Place { item: Item::Function(alias.target.0), ..place })
    }

    fn strength(&self, place: Place) -> Strength {
        let defined = match place.item {
            Item::Function(index) => {
                self.function(place.input, index).body.is_some() || self.alias_target(place).is_some()
            }
            Item::Variable(_) => true,
        };
        match self.name_of(place).1 {
            Linkage::Extern => Strength::Reference,
            _ if !defined => Strength::Reference,
            Linkage::Weak => Strength::Weak,
            Linkage::Common => Strength::Common,
            Linkage::Visible | Linkage::Internal => Strength::Strong,
        }
    }

    /// All that an input shares with others.
    fn shared(&self, input: usize) -> impl Iterator<Item = Place> + use<'a> {
        let module = self.inputs[input].declarations();
        let functions = (0..module.functions.len() as u32).map(Item::Function);
        let variables = (0..module.variables.len() as u32).map(Item::Variable);
        functions.chain(variables).map(move |item| Place { input: input as u32, item })
    }

    fn join(&mut self, input: usize) {
        self.joined[input] = true;
        for place in self.shared(input) {
            if self.name_of(place).1 != Linkage::Internal {
                self.add(place);
            }
        }
    }

    fn add(&mut self, place: Place) {
        let (name, _) = self.name_of(place);
        let strength = self.strength(place);
        let (align, managed) = match place.item {
            Item::Function(_) => (1, false),
            Item::Variable(index) => {
                let variable = self.variable(place.input, index);
                (variable.align, variable.managed)
            }
        };
        let Some(&index) = self.by_name.get(name) else {
            self.by_name.insert(name, self.symbols.len() as u32);
            self.symbols.push(Symbol { chosen: place, strength, align, managed });
            return;
        };
        let before = self.symbols[index as usize].chosen;
        let symbol = &mut self.symbols[index as usize];
        symbol.align = symbol.align.max(align);
        symbol.managed |= managed;
        let larger = strength == Strength::Common && symbol.strength == Strength::Common && {
            let size = |place: Place| match place.item {
                Item::Variable(index) => {
                    self.inputs[place.input as usize].declarations().variables[index as usize].size()
                }
                Item::Function(_) => None,
            };
            size(place) > size(before)
        };
        if strength > symbol.strength || larger {
            (symbol.chosen, symbol.strength) = (place, strength);
        } else if strength == Strength::Strong && symbol.strength == Strength::Strong {
            let (first, second) = (self.input_name(before), self.input_name(place));
            self.errors.push(LinkError::Duplicate { name: name.into(), first, second });
        }
    }

    /// Whether an input on demand defines something that is used and not defined.
    fn is_demanded(&self, input: usize) -> bool {
        !self.joined[input]
            && self.shared(input).any(|place| {
                let (name, linkage) = self.name_of(place);
                linkage != Linkage::Internal
                    && self.strength(place) > Strength::Reference
                    && provided(name).is_none()
                    && self.symbol(name).is_some_and(|symbol| {
                        symbol.strength == Strength::Reference && !self.is_dynamic(symbol.chosen)
                    })
            })
    }

    /// `.extern .shared x[]`: the memory that a launch asks for, which nothing defines.
    pub fn is_dynamic(&self, place: Place) -> bool {
        let Item::Variable(index) = place.item else { return false };
        let variable = self.variable(place.input, index);
        variable.linkage == Linkage::Extern
            && variable.space.plain() == StateSpace::Shared
            && variable.size().is_none()
    }

    /// Compares every declaration with what was chosen for its name.
    fn check(&mut self) {
        for input in 0..self.inputs.len() {
            if !self.joined[input] {
                continue;
            }
            for place in self.shared(input) {
                let (name, linkage) = self.name_of(place);
                if linkage == Linkage::Internal {
                    continue;
                }
                let Some(symbol) = self.symbol(name) else { continue };
                let chosen = symbol.chosen;
                let different = match (symbol.strength, place.item) {
                    (Strength::Reference, Item::Function(index)) => {
                        let own = self.function(place.input, index);
                        match provided(name) {
                            Some(device) if !device.fits(own) => {
                                let second = self.input_name(place);
                                let what = "the prototype".to_owned();
                                let first = "the device".into();
                                self.errors.push(LinkError::Mismatch {
                                    name: name.into(),
                                    what,
                                    first,
                                    second,
                                });
                                continue;
                            }
                            _ => self.difference(chosen, place),
                        }
                    }
                    _ => self.difference(chosen, place),
                };
                if let Some(what) = different {
                    let (first, second) = (self.input_name(chosen), self.input_name(place));
                    let what = what.to_owned();
                    self.errors.push(LinkError::Mismatch { name: name.into(), what, first, second });
                }
            }
        }
    }

    /// What differs between two declarations of a name, the first of which was chosen.
    fn difference(&self, chosen: Place, place: Place) -> Option<&'static str> {
        if chosen == place {
            return None;
        }
        match (chosen.item, place.item) {
            (Item::Function(first), Item::Function(second)) => {
                let (first, second) =
                    (self.function(chosen.input, first), self.function(place.input, second));
                // A caller may ignore a result, or ask for one that is not there: the copier adapts
                // the call. The code of numba-cuda does so for functions without result.
                let returns = same_shape(&first.returns, &second.returns)
                    || first.returns.is_empty()
                    || second.returns.is_empty();
                let same = first.entry == second.entry
                    && returns
                    && same_shape(&first.parameters, &second.parameters);
                (!same).then_some("the prototype")
            }
            (Item::Variable(first), Item::Variable(second)) => {
                let (first, second) =
                    (self.variable(chosen.input, first), self.variable(place.input, second));
                if first.space.plain() != second.space.plain() {
                    return Some("the state space");
                }
                match (first.size(), second.size(), second.linkage) {
                    (Some(first), Some(second), Linkage::Common) if second <= first => None,
                    (Some(first), Some(second), _) if first != second => Some("the size"),
                    _ => None,
                }
            }
            _ => Some("the kind"),
        }
    }

    pub fn input_name(&self, place: Place) -> Box<str> {
        self.inputs[place.input as usize].name.clone()
    }
}

/// Whether parameters agree as far as callers can tell: their sizes, and which of them
/// are passed as bytes.
fn same_shape(left: &[Variable], right: &[Variable]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            left.size() == right.size() && left.dimensions.is_empty() == right.dimensions.is_empty()
        })
}
