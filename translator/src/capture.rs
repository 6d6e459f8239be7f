//! How each variable reaches the host, and the list items as what the runtime understands.

use crate::clause::{Behaviour, Category, Construct, Copies, Item, Map, Step};
use crate::error::Complaint;
use crate::region::Region;
use crate::variable::{Shape, Variable};
use gangway_reverse_kinds::{ALWAYS, ATTACH, FROM, POINTER, PRESENT, TO};

/// What a region takes with it.
#[derive(Debug, Default)]
pub struct Captures<'r> {
    pub variables: Vec<(&'r Variable, Action)>,
    pub items: Vec<Lowered>,
    /// The item that leads to the object at `this`, if the region uses it.
    pub this: Option<usize>,
}

/// How a variable reaches the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its name means the same there.
    Direct,
    /// A new one, without a value.
    Private,
    /// A number that both sides know.
    Constant,
    /// A copy in the block.
    Value,
    /// A pointer whose value an item translates.
    Pointer(usize),
    /// An object, at the base of an item.
    Object(usize),
}

/// One entry of the block's list, as expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    pub base: String,
    pub begin: String,
    pub size: String,
    pub kind: u32,
    /// Items with one base, which are placed together.
    pub group: usize,
}

impl Copies {
    fn kind(self) -> u32 {
        let bit = |set: bool, bit| if set { bit } else { 0 };
        bit(self.to, TO) | bit(self.from, FROM) | bit(self.always, ALWAYS) | bit(self.present, PRESENT)
    }
}

/// The expressions whose shapes [`captures`] has to know, each as C.
#[must_use]
pub fn probes(construct: &Construct) -> Vec<String> {
    let lists = [&construct.private, &construct.firstprivate, &construct.device_pointers];
    let names = lists.into_iter().flatten().map(|name| name.name.clone());
    let maps = construct.maps.iter().flat_map(|map| {
        let prefixes = 0..=map.item.steps.len();
        prefixes.map(|count| map.item.expression(count))
    });
    names.chain(maps).collect()
}

struct Lowering {
    /// Shapes of the prefixes of the item at hand.
    shapes: Vec<Shape>,
    items: Vec<Lowered>,
    groups: Vec<String>,
}

/// Decides for each variable, and lowers the clauses.
///
/// # Errors
/// A clause and a variable do not fit.
pub fn captures<'r>(construct: &Construct, region: &'r Region) -> Result<Captures<'r>, Complaint> {
    let all = [&construct.private, &construct.firstprivate, &construct.device_pointers];
    if let Some(member) = all.into_iter().flatten().find(|name| region.members.contains(&name.name)) {
        let message = format!("`{}` is a member of an object; `map` may name it", member.name);
        return Err(Complaint::new(member.at, message));
    }
    let listed = construct.private.len() + construct.firstprivate.len() + construct.device_pointers.len();
    let mut shapes = &region.probes[listed..];
    let mut lowering = Lowering { shapes: Vec::new(), items: Vec::new(), groups: Vec::new() };
    let whole =
        |name: &str| construct.maps.iter().any(|map| map.item.base == name && map.item.steps.is_empty());
    for map in &construct.maps {
        let (own, rest) = shapes.split_at(map.item.steps.len() + 1);
        shapes = rest;
        lowering.shapes = own.to_vec();
        let is_member = map.item.base != "this" && region.members.contains(&map.item.base);
        if is_member && !region.variables.iter().any(|variable| variable.name == map.item.base) {
            lowering.shapes.insert(0, Shape::Pointer);
            lowering.map(&Map { item: map.item.clone().of_this(), ..map.clone() }, false)?;
        } else {
            lowering.map(map, whole(&map.item.base))?;
        }
    }
    let this = (!region.this.is_empty()).then(|| lowering.this());
    let mut variables = Vec::new();
    for variable in &region.variables {
        let action = action(construct, region, variable, &mut lowering)?;
        variables.push((variable, action));
    }
    Ok(Captures { variables, items: lowering.items, this })
}

fn action(
    construct: &Construct,
    region: &Region,
    variable: &Variable,
    lowering: &mut Lowering,
) -> Result<Action, Complaint> {
    let name = variable.name.as_str();
    let complain = |message: String| Err(Complaint::new(variable.at, message));
    let lists = [&construct.private, &construct.firstprivate, &construct.device_pointers];
    let listed: Vec<usize> =
        (0..3).filter(|list| lists[*list].iter().any(|listed| listed.name == name)).collect();
    let map = construct.maps.iter().find(|map| map.item.base == name);
    if listed.len() + usize::from(map.is_some()) > 1 {
        return complain(format!("`{name}` is in several clauses of one directive"));
    }
    if let [list] = listed[..] {
        return Ok(if list == 0 { Action::Private } else { Action::Value });
    }
    if map.is_some() {
        let of = |group: String| lowering.items.iter().position(|item| lowering.groups[item.group] == group);
        if let Some(item) = of(object_group(name)) {
            return Ok(Action::Object(item));
        }
        if let Some(item) = of(pointer_group(name)) {
            return Ok(Action::Pointer(item));
        }
    }
    if !variable.is_used || variable.is_global && (variable.is_hosts || !region.in_target) {
        // A variable that clauses alone name, as a bound: the device evaluates it.
        return Ok(Action::Direct);
    }
    if variable.is_constant {
        // What has a qualifier can be named anywhere.
        let is_qualified = variable.expression != variable.name;
        return Ok(if is_qualified { Action::Direct } else { Action::Constant });
    }
    if variable.in_macro && variable.expression != variable.name {
        return complain(format!("`{}` is used in a macro; write it out", variable.expression));
    }
    if variable.is_dependent && construct.default_of(variable.category) == Behaviour::Default {
        return complain(format!(
            "the type of `{name}` depends on a template's parameters, and so does what becomes of it on the \
             host; name it in `map` or `firstprivate`"
        ));
    }
    let mapped = |lowering: &mut Lowering, copies: Copies| {
        lowering.shapes = vec![Shape::Object];
        let item = Item { base: variable.expression.clone(), steps: Vec::new(), at: variable.at };
        lowering.map(&Map { copies, item }, true)?;
        Ok(Action::Object(lowering.items.len() - 1))
    };
    match construct.default_of(variable.category) {
        Behaviour::Map(copies) => mapped(lowering, copies),
        Behaviour::FirstPrivate => Ok(Action::Value),
        Behaviour::None => complain(format!("`defaultmap(none)` asks for a clause that names `{name}`")),
        Behaviour::Default => match variable.category {
            Category::Aggregate => mapped(lowering, Copies::BOTH),
            Category::Pointer => {
                let group = lowering.group(pointer_group(name));
                let value = format!("(void *)({})", variable.expression);
                let item =
                    Lowered { base: value.clone(), begin: value, size: "0".into(), kind: POINTER, group };
                lowering.items.push(item);
                Ok(Action::Pointer(lowering.items.len() - 1))
            }
            _ => Ok(Action::Value),
        },
    }
}

fn object_group(name: &str) -> String {
    format!("object {name}")
}

fn pointer_group(expression: &str) -> String {
    format!("pointer {expression}")
}

fn address(expression: &str) -> String {
    format!("(void *)__builtin_addressof({expression})")
}

impl Lowering {
    fn group(&mut self, name: String) -> usize {
        let known = self.groups.iter().position(|group| *group == name);
        known.unwrap_or_else(|| {
            self.groups.push(name);
            self.groups.len() - 1
        })
    }

    /// The object at `this`, which is mapped as other structures are.
    fn this(&mut self) -> usize {
        let group = self.group(pointer_group("this"));
        let base = "(void *)(this)".to_owned();
        let (begin, size) = (base.clone(), "sizeof(*this)".to_owned());
        self.items.push(Lowered { base, begin, size, kind: Copies::BOTH.kind(), group });
        self.items.len() - 1
    }

    /// `whole`: the variable itself is mapped, so that a pointer is an object.
    fn map(&mut self, map: &Map, whole: bool) -> Result<(), Complaint> {
        let steps = map.item.steps.iter().zip(&self.shapes);
        let mut unknown = steps.filter(|(step, shape)| {
            **shape == Shape::Unknown && !matches!(step, Step::Member(_) | Step::Arrow(_))
        });
        if unknown.next().is_some() {
            let message = format!(
                "whether the section of `{}` is one of an array or of what a pointer leads to depends on a \
                 template's parameters; copy the pointer into a variable that is declared as one",
                map.item.base
            );
            return Err(Complaint::new(map.item.at, message));
        }
        let size = self.size(&map.item)?;
        self.part(&map.item, map.item.steps.len(), size, map.copies.kind(), whole)
    }

    /// The part of the item that its first `count` steps lead to.
    fn part(
        &mut self,
        item: &Item,
        count: usize,
        size: String,
        kind: u32,
        whole: bool,
    ) -> Result<(), Complaint> {
        let dereferenced = (0..count).rev().find(|step| self.dereferences(item, *step));
        let Some(step) = dereferenced else {
            let group = self.group(object_group(&item.base));
            let (base, begin) = (address(&item.base), begin(item, count));
            self.items.push(Lowered { base, begin, size, kind, group });
            return Ok(());
        };
        let pointer = item.expression(step);
        let group = self.group(pointer_group(&pointer));
        let base = format!("(void *)({pointer})");
        let pointee = Lowered { base, begin: begin(item, count), size, kind, group };
        self.items.push(pointee);
        if step > 0 || whole {
            // The pointer itself is memory of the device's, too.
            if step > 0 {
                self.part(item, step, format!("sizeof({pointer})"), 0, whole)?;
            }
            let attached = address(&pointer);
            let attach = Lowered {
                base: attached.clone(),
                begin: attached,
                size: "sizeof(void *)".into(),
                kind: ATTACH,
                group,
            };
            if !self.items.contains(&attach) {
                self.items.push(attach);
            }
        }
        Ok(())
    }

    fn dereferences(&self, item: &Item, step: usize) -> bool {
        match item.steps[step] {
            Step::Member(_) => false,
            Step::Arrow(_) => true,
            Step::Index(_) | Step::Section { .. } => self.shapes[step] == Shape::Pointer,
        }
    }

    fn size(&self, item: &Item) -> Result<String, Complaint> {
        let mut size = format!("sizeof({})", item.expression(item.steps.len()));
        let mut in_section = false;
        // More than one element, so that what follows has to be whole.
        let mut is_wide = false;
        let apart = || {
            let message = format!(
                "the section of `{}` has gaps, which `map` does not allow: behind the first dimension of \
                 more than one element, all have to be whole",
                item.base
            );
            Err(Complaint::new(item.at, message))
        };
        for (at, step) in item.steps.iter().enumerate() {
            match step {
                Step::Section { lower, .. }
                    if is_wide
                        && (lower.as_deref().is_some_and(|lower| lower != "0")
                            || self.shapes[at] == Shape::Pointer) =>
                {
                    return apart();
                }
                Step::Index(_) if is_wide => return apart(),
                Step::Section { lower, length } => {
                    in_section = true;
                    is_wide |= length.as_deref() != Some("1");
                    let length = match length {
                        Some(length) => format!("({length})"),
                        None if self.shapes[at] == Shape::Pointer => {
                            let message = format!(
                                "the section of `{}` needs a length: what a pointer leads to has no known size",
                                item.expression(at)
                            );
                            return Err(Complaint::new(item.at, message));
                        }
                        None => {
                            let (whole, lower) = (item.expression(at), lower.as_deref().unwrap_or("0"));
                            format!("(sizeof({whole}) / sizeof(({whole})[0]) - ({lower}))")
                        }
                    };
                    size = format!("{size} * {length}");
                }
                Step::Index(_) => {}
                Step::Member(_) | Step::Arrow(_) if in_section => {
                    let message = "members of an array section are not understood in `map`";
                    return Err(Complaint::new(item.at, message));
                }
                Step::Member(_) | Step::Arrow(_) => {}
            }
        }
        Ok(size)
    }
}

/// Where a part begins. A section may have no elements, so none is named as an object.
fn begin(item: &Item, count: usize) -> String {
    address(&item.expression(count))
}
