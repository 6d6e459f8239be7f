//! What is known of the accesses of a line of memory: 32 words.
//!
//! Most lines are used by rows of lanes, each of which has its own word. So a line keeps runs: accesses of one
//! instruction at one clock to some of its words, by threads whose numbers grow with the words. What does not
//! fit is kept word by word, with its last write and two reads.

use crate::cell::Cell;

/// Bytes of a word.
pub const WORD: u64 = 4;
/// Words of a line.
pub const WORDS: usize = 32;
/// Bytes of a line.
pub const LINE: u64 = WORD * WORDS as u64;
/// All bytes of a word.
pub const WHOLE: u8 = 15;

/// All words of a line have the same thread: as a power of two, how many that are.
pub const BROAD: u32 = WORDS.trailing_zeros();
/// From here on the other way round: how many threads have parts of one word, as a power of two.
const NARROW: u32 = 32;
/// Each word has four threads, one for each byte, or two.
pub const BYTES: u32 = NARROW + 2;
pub const HALVES: u32 = NARROW + 1;

const WRITES: usize = 3;
const READS: usize = 7;

/// Accesses to whole words, of which each has one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The [`Cell`] of the line's first word, whether or not that is one of the words: the number of its
    /// thread may be below zero.
    cell: u64,
    words: u32,
    /// So many words, as a power of two, have the same thread; or from [`NARROW`] on, so many threads have one word.
    shift: u32,
}

/// The first thread of a word, from that of the line's first word on.
fn step(word: u32, shift: u32) -> u64 {
    u64::from(if shift < NARROW { word >> shift } else { word << (shift - NARROW) })
}

impl Run {
    /// `cell` is the access of the word number `word`, the first thread's, and threads step every `1 << shift` words;
    /// of [`BYTES`] and [`HALVES`] several times in each.
    #[must_use]
    pub fn new(cell: u64, word: u32, shift: u32, words: u32) -> Self {
        Run { cell: cell.wrapping_sub(step(word, shift) << Cell::THREAD), words, shift }
    }

    /// The access of one word, the first one if it has several.
    #[must_use]
    pub fn cell(&self, word: u32) -> u64 {
        let cell = self.cell.wrapping_add(step(word, self.shift) << Cell::THREAD);
        if self.shift < NARROW { cell } else { Cell { mask: self.part(), ..Cell::of(cell) }.bits() }
    }

    /// The bytes of a word that its first thread has, of several.
    fn part(&self) -> u8 {
        if self.shift == BYTES { 1 } else { 3 }
    }

    /// The last access of one word.
    fn last_cell(&self, word: u32) -> u64 {
        let cell = self.cell(word);
        if self.shift < NARROW {
            return cell;
        }
        let (others, part) = ((1 << (self.shift - NARROW)) - 1, self.part());
        let Cell { thread, .. } = Cell::of(cell);
        let mask = if part == 1 { 8 } else { 12 };
        Cell { thread: thread + others, mask, ..Cell::of(cell) }.bits()
    }

    /// The first thread of some words.
    fn first(&self, words: u32) -> u32 {
        let before = step(words.trailing_zeros(), self.shift) << Cell::THREAD;
        (self.cell.wrapping_add(before) >> Cell::THREAD) as u32
    }

    /// The first and the last thread of some words.
    fn ends(&self, words: u32) -> [u32; 2] {
        let others = if self.shift < NARROW { 0 } else { (1 << (self.shift - NARROW)) - 1 };
        let last = step(words.ilog2(), self.shift) << Cell::THREAD;
        let last = (self.cell.wrapping_add(last) >> Cell::THREAD) as u32;
        [self.first(words), last + others]
    }

    /// The accesses are of one kind by the same threads, and may be kept together.
    fn is_like(&self, other: &Self) -> bool {
        self.cell == other.cell && self.shift == other.shift
    }

    /// Whether all accesses to some words are strong towards another run, and that towards them.
    fn is_strong_towards(&self, words: u32, later: &Self, order: &impl Order) -> bool {
        Cell::are_strong(self.cell, later.cell)
            || Cell::is_strong(self.cell & later.cell)
                && self.ends(words).into_iter().all(|thread| order.is_of_block(thread))
    }

    /// Whether all accesses to some words come before another run's to the same ones. `false` also means that
    /// lanes have to be looked at one by one.
    fn is_before(&self, words: u32, later: &Self, order: &impl Order) -> bool {
        // Threads grow with the words: so all of them are those of the other run if the outer ones are, and in
        // one of two warps, those of the outer ones.
        let [first, last] = self.ends(words);
        if [first, last] == later.ends(words) && (self.shift < NARROW) == (later.shift < NARROW) {
            return true;
        }
        let clock = Cell::of(self.cell).clock;
        order.knows(first, clock) && (first == last || order.knows(last, clock))
    }
}

/// What is asked about the order of accesses.
pub trait Order {
    /// Whether all lanes of the warp that acts know what a thread has done up to a clock.
    fn knows(&self, thread: u32, clock: u32) -> bool;

    /// Whether a thread is of the launch that acts.
    fn is_own(&self, thread: u32) -> bool;

    /// Whether a thread is of the block that acts.
    fn is_of_block(&self, thread: u32) -> bool;
}

/// The last accesses of a word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    pub write: u64,
    /// The second may be a write of [other bytes](Cell::is_other_write).
    pub reads: [u64; 2],
}

/// Zeros are a line without accesses. What is used of it stands at its beginning: most lines have a run or two.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Line {
    /// The first thread of the youngest launch that has used it.
    launch: u32,
    /// The words have it, and the runs nothing.
    apart: bool,
    /// So many of the reads and the writes may be some.
    reading: u8,
    writing: u8,
    words: Option<Box<[Word; WORDS]>>,
    /// The oldest first.
    reads: [Run; READS],
    writes: [Run; WRITES],
}

impl Line {
    /// A launch uses it that begins with a thread. `alone`: what others have done before comes before it and
    /// all that are under way, and need not be known any more.
    pub fn enter(&mut self, first: u32, alone: bool) {
        if self.launch < first {
            self.launch = first;
            if alone {
                self.forget_all();
            }
        }
    }

    /// Notes a run if it races with nothing, and has room. Otherwise its words have to be looked at
    /// [one by one](Line::words).
    #[must_use]
    pub fn note(&mut self, run: &Run, write: bool, order: &impl Order) -> bool {
        if self.apart || !self.is_fine(run, write, order, |words, other| other.is_before(words, run, order)) {
            return false;
        }
        if write { self.note_write(run, order) } else { self.note_read(run, order) }
    }

    /// Whether all lanes of the warp that acts may read some words without a race.
    #[must_use]
    pub fn may_be_read(&self, run: &Run, order: &impl Order) -> bool {
        let known = |words: u32, other: &Run| {
            let cell = Cell::of(other.cell);
            other.ends(words).into_iter().all(|thread| order.knows(thread, cell.clock))
        };
        !self.apart && self.is_fine(run, false, order, known)
    }

    fn is_fine(
        &self,
        run: &Run,
        write: bool,
        order: &impl Order,
        is_before: impl Fn(u32, &Run) -> bool,
    ) -> bool {
        let fine = |other: &Run| {
            let words = other.words & run.words;
            words == 0 || other.is_strong_towards(words, run, order) || is_before(words, other)
        };
        self.writes().iter().all(fine) && (!write || self.reads().iter().all(fine))
    }

    fn writes(&self) -> &[Run] {
        &self.writes[..usize::from(self.writing) % (WRITES + 1)]
    }

    fn reads(&self) -> &[Run] {
        &self.reads[..usize::from(self.reading) % (READS + 1)]
    }

    fn writes_mut(&mut self) -> &mut [Run] {
        &mut self.writes[..usize::from(self.writing) % (WRITES + 1)]
    }

    fn reads_mut(&mut self) -> &mut [Run] {
        &mut self.reads[..usize::from(self.reading) % (READS + 1)]
    }

    fn note_write(&mut self, run: &Run, order: &impl Order) -> bool {
        let is_like = |other: &Run| other.words != 0 && other.is_like(run) && is_of_launch(other, order);
        let is_room = |other: &Run| other.words & !run.words == 0;
        let writes = self.writes();
        let like = writes.iter().position(is_like);
        let behind = (writes.len() < WRITES).then_some(writes.len());
        let Some(place) = like.or_else(|| writes.iter().position(is_room)).or(behind) else { return false };
        // A word has one last write.
        self.writes_mut().iter_mut().for_each(|other| other.words &= !run.words);
        let words = if like.is_some() { self.writes[place].words } else { 0 };
        self.writes[place] = Run { words: words | run.words, ..*run };
        self.writing = self.writing.max(place as u8 + 1);
        true
    }

    fn note_read(&mut self, run: &Run, order: &impl Order) -> bool {
        let mut like = None;
        for (place, other) in self.reads_mut().iter_mut().enumerate() {
            if other.words != 0 && other.is_like(run) && is_of_launch(other, order) {
                like = Some(place);
                continue;
            }
            // Whoever knows of this one knows of what came before it.
            let words = other.words & run.words;
            if words != 0 && other.is_before(words, run, order) {
                other.words &= !words;
            }
        }
        if let Some(place) = like {
            self.reads[place].words |= run.words;
            return true;
        }
        if self.reads().len() == READS && self.reads[READS - 1].words != 0 && !self.make_room(run) {
            return false;
        }
        let place = self.reads().iter().rposition(|other| other.words != 0).map_or(0, |last| last + 1);
        self.reads[place] = *run;
        self.reading = place as u8 + 1;
        true
    }

    /// Makes room behind the other reads: of more than two of a word the first and the last are kept.
    fn make_room(&mut self, run: &Run) -> bool {
        let mut before = 0;
        let reads = self.reads_mut();
        for place in 0..reads.len() {
            let behind = reads[place + 1..].iter().fold(run.words, |behind, other| behind | other.words);
            let words = reads[place].words;
            reads[place].words = words & !(before & behind);
            before |= words;
        }
        let mut kept = 0;
        for place in 0..reads.len() {
            if reads[place].words != 0 {
                reads[kept] = reads[place];
                kept += 1;
            }
        }
        self.reading = kept as u8;
        kept < READS
    }

    /// Its words, which keep what is known from now on.
    pub fn words(&mut self) -> &mut [Word; WORDS] {
        let words = self.words.get_or_insert_with(|| Box::new([Word::default(); WORDS]));
        if !self.apart {
            self.apart = true;
            words.fill(Word::default());
            for (number, word) in (0..).zip(words.iter_mut()) {
                let has = |run: &&Run| run.words >> number & 1 != 0;
                let among = |runs: &[Run], count: u8| usize::from(count).min(runs.len());
                let writes = &self.writes[..among(&self.writes, self.writing)];
                let reads = &self.reads[..among(&self.reads, self.reading)];
                word.write = writes.iter().find(has).map_or(0, |run| run.cell(number));
                let (first, last) = (reads.iter().find(has), reads.iter().rfind(has));
                word.reads[0] = first.map_or(0, |run| run.cell(number));
                let last = last.map_or(0, |run| run.last_cell(number));
                word.reads[1] = if last == word.reads[0] { 0 } else { last };
            }
            (self.writing, self.reading) = (0, 0);
        }
        words
    }

    /// Its words, if they keep what is known.
    pub fn words_apart(&mut self) -> Option<&mut [Word; WORDS]> {
        self.words.as_deref_mut().filter(|_| self.apart)
    }

    /// As it is without accesses, but for the memory of words.
    pub fn clear(&mut self) {
        self.launch = 0;
        self.forget_all();
    }

    fn forget_all(&mut self) {
        if self.apart {
            // The runs have nothing.
            self.apart = false;
            return;
        }
        (self.writing, self.reading) = (0, 0);
    }

    /// Forgets those of some words.
    pub fn forget(&mut self, words: u32) {
        self.writes_mut().iter_mut().for_each(|run| run.words &= !words);
        self.reads_mut().iter_mut().for_each(|run| run.words &= !words);
        if let Some(each) = self.words_apart() {
            let of = |(number, _): &(usize, &mut Word)| words >> number & 1 != 0;
            each.iter_mut().enumerate().filter(of).for_each(|(_, word)| *word = Word::default());
        }
        if self.reads().iter().any(|run| run.words == 0) {
            self.make_room(&Run::default());
        }
    }

    #[cfg(test)]
    fn is_apart(&self) -> bool {
        self.apart
    }
}

/// Whether a run is of the launch that acts: that of another one may have ended with the numbers of threads with
/// which this one begins.
fn is_of_launch(run: &Run, order: &impl Order) -> bool {
    order.is_own(run.first(run.words))
}

/// The words between two offsets into a line.
#[must_use]
pub fn between(start: u64, end: u64) -> u32 {
    let count = (end - start) / WORD;
    let words = if count >= WORDS as u64 { u32::MAX } else { (1 << count) - 1 };
    words << (start / WORD)
}

const _: () = assert!(size_of::<Line>() <= 176);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::THREADS;

    /// Threads below a number are known, up to clock 5.
    struct Below(u32);

    impl Order for Below {
        fn knows(&self, thread: u32, clock: u32) -> bool {
            thread < self.0 && clock <= 5
        }

        fn is_own(&self, thread: u32) -> bool {
            thread >= 1000
        }

        fn is_of_block(&self, thread: u32) -> bool {
            (1000..1064).contains(&thread)
        }
    }

    fn cell(thread: u32, clock: u32, strong: bool) -> u64 {
        Cell { thread, clock, site: 7, mask: WHOLE, strong, narrow: false, unanimous: false }.bits()
    }

    fn row(thread: u32, clock: u32, words: u32) -> Run {
        Run::new(cell(thread, clock, false), words.trailing_zeros(), 0, words)
    }

    const NONE: Below = Below(0);

    #[test]
    fn each_word_has_its_thread() {
        let run = Run::new(cell(3, 1, false), 8, 0, 0xff00);
        let threads = |run: &Run, words: [u32; 3]| words.map(|word| run.ends(1 << word)[0]);
        assert_eq!(threads(&run, [8, 9, 15]), [3, 4, 10]);
        let wide = Run::new(cell(3, 1, false), 8, 1, 0xff00);
        assert_eq!([8, 9, 10, 15].map(|word: u32| wide.ends(1 << word)[1]), [3, 3, 4, 6]);
        let same = Run::new(cell(THREADS - 1, 1, false), 31, BROAD, u32::MAX);
        assert_eq!([0, 31].map(|word: u32| same.ends(1 << word)[0]), [THREADS - 1; 2]);
        let bytes = Run::new(cell(36, 1, false), 8, BYTES, 0xff00);
        assert_eq!(
            [bytes.ends(1 << 8), bytes.ends(1 << 9), bytes.ends(0xff00)],
            [[36, 39], [40, 43], [36, 67]]
        );
        let parts =
            [bytes.cell(9), bytes.last_cell(9)].map(|cell| (Cell::of(cell).thread, Cell::of(cell).mask));
        assert_eq!(parts, [(40, 1), (43, 8)]);
        let halves = Run::new(cell(36, 1, false), 8, HALVES, 0xff00);
        let parts =
            [halves.cell(9), halves.last_cell(9)].map(|cell| (Cell::of(cell).thread, Cell::of(cell).mask));
        assert_eq!(parts, [(38, 3), (39, 12)]);
    }

    #[test]
    fn bytes_of_a_word_have_threads_of_their_own() {
        let bytes = |thread: u32| Run::new(cell(thread, 1, false), 0, BYTES, 0xff);
        let mut line = Line::default();
        assert!(line.note(&bytes(1000), false, &NONE) && line.note(&bytes(1000), false, &NONE));
        assert_eq!(line.reads(), [bytes(1000)]);
        // Of what the four have read one of them knows, but the others do not.
        assert!(
            !line.note(&row(1000, 1, 1), true, &NONE) && !line.note(&row(1000, 1, 1), true, &Below(1003))
        );
        assert!(line.note(&row(1000, 1, 1), true, &Below(1004)));
        // Threads that have whole words know nothing of each other's.
        assert!(!line.note(&bytes(1000), false, &NONE));
        let reads = line.words()[1].reads.map(|read| (Cell::of(read).thread, Cell::of(read).mask));
        assert_eq!(reads, [(1004, 1), (1007, 8)]);
    }

    #[test]
    fn rows_of_neighbours_are_one_run() {
        let mut line = Line::default();
        assert!(line.note(&row(1000, 1, 0xff), true, &NONE));
        assert!(line.note(&row(1008, 1, 0xffff_ff00), true, &NONE));
        assert_eq!(line.writes[0], row(1000, 1, u32::MAX));
        // Of another instruction or clock they are others, and there is room for three.
        assert!(line.note(&row(1000, 2, 0xf), true, &NONE));
        assert!(line.note(&row(1004, 3, 0xf0), true, &NONE));
        assert!(!line.note(&row(1008, 4, 0xf00), true, &NONE));
        let words = line.words();
        let clocks = [0, 4, 8, 31].map(|word: usize| Cell::of(words[word].write).clock);
        assert_eq!(clocks, [2, 3, 1, 1]);
        assert!(line.is_apart() && !line.note(&row(1000, 9, 1), true, &NONE));
    }

    #[test]
    fn a_launch_before_is_no_part_of_a_run() {
        let mut line = Line::default();
        assert!(line.note(&row(992, 1, 0xff), false, &NONE));
        assert!(line.note(&row(1000, 1, 0xff00), false, &NONE));
        assert_eq!(line.reads[1], row(1000, 1, 0xff00));
    }

    #[test]
    fn what_is_not_known_is_looked_at() {
        let mut line = Line::default();
        assert!(line.note(&row(1000, 1, u32::MAX), true, &NONE));
        let other = row(1032, 1, u32::MAX);
        assert!(!line.note(&other, false, &NONE) && !line.note(&other, false, &Below(1031)));
        assert!(line.note(&other, false, &Below(1032)));
        // Now there is a read that the first one's warp does not know.
        assert!(!line.note(&row(1000, 6, 1), true, &Below(1000)));
        assert!(line.note(&row(1000, 6, 1), false, &Below(1000)));
        let strong = Run::new(cell(1040, 1, true), 0, 0, 1);
        assert!(!line.note(&strong, true, &NONE));
    }

    #[test]
    fn a_word_keeps_its_first_read_and_its_last() {
        let mut line = Line::default();
        for number in 0..READS as u32 {
            assert!(line.note(&row(1000 + 100 * number, 1, u32::MAX), false, &NONE), "{number}");
        }
        assert!(line.note(&row(2000, 1, 0xff), false, &NONE));
        let words = line.words();
        let threads = |word: usize| words[word].reads.map(|read| Cell::of(read).thread);
        assert_eq!([threads(0), threads(31)], [[1000, 2000], [1031, 1031 + 100 * (READS as u32 - 1)]]);
    }

    #[test]
    fn a_launch_begins_with_nothing() {
        let mut line = Line::default();
        line.enter(900, true);
        assert!(line.note(&row(900, 1, u32::MAX), true, &NONE));
        line.enter(950, false);
        assert!(!line.note(&row(1000, 1, 1), false, &NONE), "both are under way");
        line.enter(1000, true);
        assert!(line.note(&row(1000, 1, 1), false, &NONE));
        // One that is older goes on.
        line.enter(950, true);
        assert!(!line.note(&row(950, 1, 1), true, &NONE));
        line.words();
        line.enter(1100, true);
        assert!(!line.is_apart() && line.note(&row(1100, 1, u32::MAX), true, &NONE));
    }

    #[test]
    fn what_a_read_knows_of_goes() {
        let mut line = Line::default();
        assert!(line.note(&row(1000, 1, u32::MAX), false, &NONE));
        assert!(line.note(&row(1100, 1, 0xff), false, &Below(1100)));
        assert_eq!([line.reads[0].words, line.reads[1].words], [!0xff, 0xff]);
        line.forget(0xff00);
        assert_eq!([line.reads[0].words, line.reads[1].words], [0xffff_0000, 0xff]);
        line.forget(u32::MAX);
        assert!(line.reads.iter().all(|run| run.words == 0));
    }
}
