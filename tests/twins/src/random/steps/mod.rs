//! The steps that a program is made of. Each leaves the newest values of all arrays on the device.

mod copies;
mod order;
mod own;
mod teams;

use super::Mistake;
use super::arrays::Array;
use super::chance::Chance;
use super::loops;
use super::text::Text;

/// A kind of step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub name: &'static str,
    /// Those that can be planted in it.
    pub mistakes: &'static [Mistake],
    /// Whether the mistake is one that optimisers undo: they may take any value for one that is not set.
    pub is_undone_by_optimisers: bool,
    pub write: fn(&mut Place<'_>),
}

const fn step(name: &'static str, mistakes: &'static [Mistake], write: fn(&mut Place<'_>)) -> Step {
    Step { name, mistakes, is_undone_by_optimisers: false, write }
}

pub const ALL: [Step; 21] = [
    step("update to", &[Mistake::Map], copies::update_to),
    step("update from", &[Mistake::Map], copies::update_from),
    step("declared variable", &[Mistake::Map], copies::declared),
    step("written beside", &[Mistake::Map], copies::written_beside),
    step("own map", &[Mistake::Map, Mistake::Init], own::map_clause),
    step("part", &[Mistake::Init], own::part),
    step("enter and exit", &[Mistake::Map, Mistake::Init], own::enter_and_exit),
    step("structure", &[Mistake::Map, Mistake::Init], own::structure),
    step("device memory", &[Mistake::Race, Mistake::Init], own::device_memory),
    step("local array", &[Mistake::Init], own::local_array),
    Step { is_undone_by_optimisers: true, ..step("local variable", &[Mistake::Init], own::local_variable) },
    step("depend", &[Mistake::Race], order::depend),
    step("taskwait", &[Mistake::Race], order::taskwait),
    step("update beside", &[Mistake::Race], order::update_beside),
    step("in place", &[Mistake::Race], order::in_place),
    step("counters", &[Mistake::Race], order::counters),
    step("reduction", &[Mistake::Race, Mistake::Map], order::reduction),
    step("maximum", &[Mistake::Race, Mistake::Map], order::maximum),
    step("team array", &[Mistake::Race, Mistake::Init], teams::array),
    step("single", &[Mistake::Race], teams::single),
    step("two loops", &[Mistake::Race], teams::two_loops),
];

/// Where a step stands.
pub struct Place<'a> {
    pub text: &'a mut Text,
    pub chance: &'a mut Chance,
    pub arrays: &'a mut [Array],
    /// For names that no other step has.
    pub number: usize,
    pub mistake: Option<Mistake>,
}

impl Place<'_> {
    /// What is planted, if it is of this kind.
    fn planted(&self, mistake: Mistake) -> Option<Mistake> {
        self.mistake.filter(|planted| *planted == mistake)
    }

    /// Two arrays, the second of which gets new values on the device.
    fn two(&mut self) -> (Array, Array) {
        let from = self.chance.below(self.arrays.len());
        let to = (from + self.chance.between(1, self.arrays.len() - 1)) % self.arrays.len();
        self.arrays[to].host_is_new = false;
        (self.arrays[from].clone(), self.arrays[to].clone())
    }

    /// One array, as it is.
    fn one(&mut self) -> usize {
        self.chance.below(self.arrays.len())
    }

    /// A loop whose body takes a value, makes another of it and stores that.
    fn a_loop(&mut self, count: usize, read: &str, write: &str) -> String {
        let body = loops::body(self.chance);
        format!("for (int i = 0; i < {count}; ++i) {{ unsigned v = {read}; {body} {write} }}")
    }

    /// The same, and the value decides about a branch.
    fn deciding_loop(&mut self, count: usize, read: &str, write: &str) -> String {
        let body = loops::deciding_body(self.chance);
        format!("for (int i = 0; i < {count}; ++i) {{ unsigned v = {read}; {body} {write} }}")
    }

    /// A region that computes all of an array from what is in it.
    fn onward(&mut self, array: &Array, clauses: &str) {
        let pragmas = loops::pragmas(self.chance, clauses, "");
        self.text.lines(pragmas);
        let text = self.onward_loop(array);
        self.text.line(text);
    }

    fn onward_loop(&mut self, array: &Array) -> String {
        let element = format!("{}[i]", array.name);
        self.a_loop(array.length, &array.of.read(&element), &array.of.write(&element, "v"))
    }

    /// A region that computes all of one array from another.
    fn region(&mut self, from: &Array, to: &Array, clauses: &str) {
        let pragmas = loops::pragmas(self.chance, clauses, "");
        self.text.lines(pragmas);
        let shift = self.chance.below(9);
        let (read, write) = (from.of.read(&from.at(&format!("i + {shift}"))), to.of.write(&to.at("i"), "v"));
        let text = self.a_loop(to.length, &read, &write);
        self.text.line(text);
    }
}
