//! Random OpenMP programs that are right by construction, and one mistake of each kind that can be planted in them.
//!
//! A program has arrays that are mapped all the time, and a row of steps: regions that compute one from another, copies
//! that are needed, looks of the host at what comes of it. Between two steps the device has the newest value of every
//! array, the host where [`Array`](arrays::Array) says so. Three of the steps have a mistake each, in another form of the text that
//! `WRONG_RACE`, `WRONG_INIT` and `WRONG_MAP` choose. What a mistake does is certain: nothing else orders the two
//! accesses, what is not written decides a branch or is copied back, and values that one side lacks are other values.

mod arrays;
mod chance;
mod loops;
mod steps;
mod text;

use arrays::Array;
use chance::Chance;
use text::Text;

/// A mistake that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing orders two accesses.
    Race,
    /// Something that matters is not written.
    Init,
    /// A copy is missing.
    Map,
}

impl Mistake {
    pub const ALL: [Self; 3] = [Self::Race, Self::Init, Self::Map];

    /// The check that has to find it.
    #[must_use]
    pub fn check(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Init => "init",
            Self::Map => "map",
        }
    }

    /// What is defined where the program has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "WRONG_RACE",
            Self::Init => "WRONG_INIT",
            Self::Map => "WRONG_MAP",
        }
    }
}

/// A random program.
#[derive(Clone, Debug)]
pub struct Program {
    pub text: String,
    /// Of optimisation.
    pub level: &'static str,
    /// The steps that have the mistakes, in the order of [`Mistake::ALL`].
    pub planted: [&'static str; 3],
}

/// Makes the program of a number.
#[must_use]
pub fn program(seed: u64) -> Program {
    let mut chance = Chance::new(seed);
    let mut text = Text::default();
    let count = chance.between(2, 4);
    let mut arrays: Vec<Array> = (0..count).map(|number| Array::new(number, &mut chance)).collect();
    let mut row: Vec<(steps::Step, Option<Mistake>)> = Vec::new();
    for _ in 0..chance.between(2, 6) {
        row.push((*chance.one_of(&steps::ALL), None));
    }
    let planted = Mistake::ALL.map(|mistake| {
        let able: Vec<_> = steps::ALL.iter().filter(|step| step.mistakes.contains(&mistake)).collect();
        let step = **chance.one_of(&able);
        row.insert(chance.below(row.len() + 1), (step, Some(mistake)));
        step.name
    });
    let needs_no_optimiser =
        row.iter().any(|(step, mistake)| step.is_undone_by_optimisers && mistake.is_some());
    let level = if needs_no_optimiser { "-O0" } else { chance.one_of(&["-O0", "-O1", "-O2"]) };

    arrays::begin(&mut text, &arrays, &mut chance);
    for (number, (step, mistake)) in row.into_iter().enumerate() {
        text.line(format!("/* {}: {} */", number, step.name));
        (step.write)(&mut steps::Place {
            text: &mut text,
            chance: &mut chance,
            arrays: &mut arrays,
            number,
            mistake,
        });
    }
    arrays::end(&mut text, &mut arrays, &mut chance);
    Program { text: text.finished(), level, planted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_program_with_three_mistakes() {
        let all: Vec<_> = (0..200).map(program).collect();
        for (seed, program) in (0..).zip(&all) {
            assert_eq!(program.text, super::program(seed).text);
            for mistake in Mistake::ALL {
                assert_eq!(program.text.matches(mistake.name()).count(), 1, "{}", program.text);
            }
        }
        for step in steps::ALL {
            assert!(all.iter().any(|program| program.planted.contains(&step.name)), "{}", step.name);
        }
    }
}
