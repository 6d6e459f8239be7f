//! Where accesses are watched: those that all lanes of a warp make at one place, as a warp remembers them.
//!
//! An instruction in a loop goes through memory word by word. Compiled code marks the words of a line of 128 bytes, and tells
//! of all of them when the next line begins, or when the warp comes to something that orders accesses. Until then
//! nobody else can know of them, so that nothing is found later than it would have been, or not at all. The warp's own
//! accesses to a line are told in their order, where one of them writes: what all lanes have written they may read.

use std::cell::Cell;
use std::mem::offset_of;
use std::ops::Range;

/// So many are remembered by a warp; instructions share them.
pub(crate) const LINES: usize = 32;
/// Bytes of a line, at whose multiples it begins.
pub(crate) const BYTES: u64 = 128;

/// Words of a line that an instruction has accessed.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Line {
    /// Its address; 0 if it is none.
    pub line: Cell<u64>,
    /// The [number](number) of the instruction.
    pub instruction: Cell<u64>,
    pub lanes: Cell<u32>,
    pub words: Cell<u32>,
    /// The number that who looks for races has for the instruction.
    pub site: Cell<u16>,
    pub shared: Cell<bool>,
    pub writes: Cell<bool>,
    /// The number that who notes accesses has for the instruction; 0 where nobody does.
    pub noted: Cell<u32>,
    /// What it has written.
    pub values: Cell<[u32; BYTES as usize / 4]>,
}

/// What a warp remembers.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Lines {
    each: [Line; LINES],
    /// A bit for each of them that is one, and reads or writes.
    reading: Cell<u32>,
    writing: Cell<u32>,
}

/// Where compiled code finds what it looks at, in a warp's lines.
pub(crate) const ADDRESS: i32 = offset_of!(Line, line) as i32;
pub(crate) const INSTRUCTION: i32 = offset_of!(Line, instruction) as i32;
pub(crate) const LANES: i32 = offset_of!(Line, lanes) as i32;
pub(crate) const WORDS: i32 = offset_of!(Line, words) as i32;
pub(crate) const VALUES: i32 = offset_of!(Line, values) as i32;

/// The number of an instruction of a function, which is not 0.
#[must_use]
pub(crate) const fn number(function: u32, instruction: u32) -> u64 {
    (function as u64) << 32 | instruction as u64 | 1 << 63
}

/// The number of the line that an instruction uses.
#[must_use]
pub(crate) const fn of(function: u32, instruction: u32) -> usize {
    (function as usize * 11 + instruction as usize) % LINES
}

/// Where a line is among a warp's lines.
#[must_use]
pub(crate) const fn place(number: usize) -> i32 {
    (offset_of!(Lines, each) + number * size_of::<Line>()) as i32
}

impl Lines {
    /// A line, to be remembered from now on.
    #[must_use]
    pub fn begin(&self, number: usize, writes: bool) -> &Line {
        let kind = if writes { &self.writing } else { &self.reading };
        kind.set(kind.get() | 1 << (number % LINES));
        let line = &self.each[number % LINES];
        line.writes.set(writes);
        line
    }

    fn used(&self) -> u32 {
        self.reading.get() | self.writing.get()
    }

    /// Tells of one of them, and forgets it.
    pub fn tell_one(&self, number: usize, tell: impl FnOnce(&Line)) {
        let bit = 1 << (number % LINES);
        if self.used() & bit != 0 {
            self.reading.set(self.reading.get() & !bit);
            self.writing.set(self.writing.get() & !bit);
            let line = &self.each[number % LINES];
            tell(line);
            line.line.set(0);
        }
    }

    /// Tells of those that an access to a range of memory comes behind, and forgets them: where both read, their order
    /// does not matter.
    pub fn tell_before(&self, range: &Range<u64>, writes: bool, mut tell: impl FnMut(&Line)) {
        let mut numbers = if writes { self.used() } else { self.writing.get() };
        while numbers != 0 {
            let number = numbers.trailing_zeros() as usize;
            numbers &= numbers - 1;
            let line = self.each[number].line.get();
            if line < range.end && range.start < line + BYTES {
                self.tell_one(number, &mut tell);
            }
        }
    }

    /// Tells of all, and forgets them.
    pub fn tell(&self, mut tell: impl FnMut(&Line)) {
        while !self.is_empty() {
            self.tell_one(self.used().trailing_zeros() as usize, &mut tell);
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_of_once() {
        let lines = Lines::default();
        for number in [3, LINES - 1] {
            lines.begin(number, false).line.set(BYTES * number as u64);
        }
        let mut told = Vec::new();
        lines.tell_one(5, |_| unreachable!("there is none"));
        lines.tell_one(3, |line| told.push(line.line.get() / BYTES));
        lines.tell(|line| told.push(line.line.get() / BYTES));
        lines.tell(|_| unreachable!("all have been told of"));
        assert_eq!(told, [3, LINES as u64 - 1]);
        assert!(lines.is_empty() && lines.each.iter().all(|line| line.line.get() == 0));
    }

    #[test]
    fn what_an_access_comes_behind() {
        let lines = Lines::default();
        let begin = |number: usize, at: u64, writes: bool| lines.begin(number, writes).line.set(BYTES * at);
        begin(1, 5, false);
        begin(2, 5, true);
        begin(3, 6, true);
        let mut told = Vec::new();
        let mut tell = |range: Range<u64>, writes: bool| {
            told.clear();
            lines.tell_before(&range, writes, |line| told.push((line.line.get() / BYTES, line.writes.get())));
            told.clone()
        };
        assert_eq!(tell(0..5 * BYTES, true), []);
        assert_eq!(tell(6 * BYTES - 1..6 * BYTES, false), [(5, true)]);
        assert_eq!(tell(5 * BYTES + 4..6 * BYTES + 1, true), [(5, false), (6, true)]);
        assert!(lines.is_empty());
    }
}
