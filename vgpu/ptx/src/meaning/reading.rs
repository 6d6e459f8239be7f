//! Reads the modifiers of an operation, and knows which of them have not been read.

use std::cell::Cell;

use crate::modifier::{Modifier, Word};
use crate::types::{StateSpace, Type};

/// The modifiers of an operation, in the order of its form.
pub(super) struct Reading<'a> {
    modifiers: &'a [Modifier],
    /// A bit for each modifier that has been read.
    read: Cell<u32>,
}

impl<'a> Reading<'a> {
    #[must_use]
    pub fn new(modifiers: &'a [Modifier]) -> Self {
        Reading { modifiers, read: Cell::new(0) }
    }

    fn find<T>(&self, wanted: impl Fn(Modifier) -> Option<T>) -> Option<T> {
        let mut all = self.modifiers.iter().enumerate();
        let (index, found) = all.find_map(|(index, &each)| Some((index, wanted(each)?)))?;
        self.read.set(self.read.get() | 1 << index);
        Some(found)
    }

    pub fn has(&self, word: Word) -> bool {
        self.find(|each| (each == Modifier::Word(word)).then_some(())).is_some()
    }

    /// What stands for the first modifier that is in the list.
    #[must_use]
    pub fn one_of<T: Copy>(&self, choices: &[(Word, T)]) -> Option<T> {
        self.find(|each| {
            choices.iter().find(|(word, _)| each == Modifier::Word(*word)).map(|(_, meant)| *meant)
        })
    }

    /// The `index`-th type.
    pub fn ty(&self, index: usize) -> Option<Type> {
        let mut before = 0;
        let mut all = self.modifiers.iter().enumerate();
        let (at, ty) = all.find_map(|(at, each)| match each {
            Modifier::Type(ty) if before == index => Some((at, *ty)),
            Modifier::Type(_) => {
                before += 1;
                None
            }
            Modifier::Word(_) | Modifier::Space(_) => None,
        })?;
        self.read.set(self.read.get() | 1 << at);
        Some(ty)
    }

    /// The state space that is named; `Generic` where none is.
    pub fn space(&self) -> StateSpace {
        let named = self.find(|each| match each {
            Modifier::Space(space) => Some(space.plain()),
            Modifier::Word(_) | Modifier::Type(_) => None,
        });
        named.unwrap_or(StateSpace::Generic)
    }

    /// How many elements there are.
    pub fn vector(&self) -> u8 {
        self.one_of(&[(Word::V2, 2), (Word::V4, 4)]).unwrap_or(1)
    }

    /// Takes note of modifiers that change nothing here.
    pub fn ignore(&self, words: &[Word]) {
        for &word in words {
            self.has(word);
        }
    }

    /// Takes note of types that are no more than a spelling.
    pub fn ignore_types(&self) {
        (0..).take_while(|&index| self.ty(index).is_some()).for_each(drop);
    }

    /// Takes note of spaces that change nothing here.
    pub fn ignore_spaces(&self) {
        for (at, each) in self.modifiers.iter().enumerate() {
            if let Modifier::Space(_) = each {
                self.read.set(self.read.get() | 1 << at);
            }
        }
    }

    /// Whether all modifiers have been read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.read.get().count_ones() as usize == self.modifiers.len()
    }
}
