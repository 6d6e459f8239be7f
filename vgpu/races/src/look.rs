//! The look at an access: what it races with, and what is noted of it.

use crate::LANES;
use crate::cell::Cell;
use crate::device::{Device, Launch};
use crate::finding::{Example, Key};
use crate::known::Known;
use crate::line::{BROAD, BYTES, HALVES, LINE, Line, Order, Run, WHOLE, WORD, WORDS, Word, between};
use crate::row::{Part, Places, Row, Steps, Values, bits, in_steps};
use crate::shadow::Written;
use crate::warp::Warp;

/// What the warp that acts knows.
pub struct Knowledge<'b> {
    pub launch: &'b Launch,
    /// The block's first thread.
    pub first: u32,
    pub lockstep: bool,
    /// The number of the warp, and what its lanes know of each other.
    pub warp: usize,
    pub own: &'b Warp,
    /// Of each warp of its block, the clock up to which it is known.
    pub knows: &'b [u32],
    pub others: &'b Known,
}

/// Looks at an access of some lanes at a clock, and notes it.
pub fn look(knowledge: &Knowledge<'_>, row: &Row<'_>, clock: u32, lines: Lines<'_>) {
    let mut lines = Entered::new(lines, knowledge);
    let view = View::new(knowledge, row, clock);
    match row.places {
        Places::Steps { first, step } => view.steps(row.lanes, (first, step), &mut lines),
        Places::Each(places) => view.each(places, in_steps(row.lanes, places), &mut lines),
        Places::Alike(places, pattern) => view.each(places, pattern.parts(places), &mut lines),
        Places::Words { line: base, words } => view.words_of_line((base, words), &mut lines),
    }
}

/// The lines of a block's shared memory.
#[derive(Debug, Default)]
pub struct Shared {
    lines: Vec<Line>,
    written: Vec<Written>,
}

impl Shared {
    /// Memory of so many bytes, without accesses.
    pub fn start(&mut self, bytes: u64) {
        let count = (bytes / LINE + 1) as usize;
        self.lines.iter_mut().for_each(Line::clear);
        self.lines.resize_with(count, Line::default);
        self.written.resize(count, Written::default());
    }
}

/// Where the lines of an access are.
pub enum Lines<'b> {
    Shared(&'b mut Shared),
    Device(&'b Device),
}

/// Lines as a launch uses them.
pub struct Entered<'b> {
    lines: Lines<'b>,
    /// Of the launch.
    beginning: (u32, bool),
}

impl<'b> Entered<'b> {
    pub fn new(lines: Lines<'b>, knowledge: &Knowledge<'_>) -> Self {
        Self { lines, beginning: knowledge.launch.beginning() }
    }

    /// The same once more.
    pub fn again(&mut self) -> Lines<'_> {
        match &mut self.lines {
            Lines::Shared(shared) => Lines::Shared(shared),
            Lines::Device(device) => Lines::Device(device),
        }
    }

    /// The line at an address will be used soon.
    #[inline]
    pub fn expect(&self, address: u64, write: bool) {
        if let Lines::Device(device) = self.lines {
            device.expect_line(address, write);
        }
    }

    /// Uses the line at an address, if there is one.
    #[inline]
    fn with(&mut self, address: u64, act: impl FnOnce(&mut Line, &mut Written)) {
        let (first, alone) = self.beginning;
        match &mut self.lines {
            Lines::Shared(Shared { lines, written }) => {
                let number = (address / LINE) as usize;
                if let (Some(line), Some(written)) = (lines.get_mut(number), written.get_mut(number)) {
                    act(line, written);
                }
            }
            Lines::Device(device) => {
                if let Some(mut had) = device.line(address) {
                    let (line, written) = had.get();
                    line.enter(first, alone);
                    act(line, written);
                }
            }
        }
    }
}

/// A word that lanes access.
struct Place<'w> {
    word: &'w mut Word,
    written: &'w mut u32,
}

impl Order for Knowledge<'_> {
    #[inline]
    fn knows(&self, thread: u32, clock: u32) -> bool {
        let warp = thread.wrapping_sub(self.first) as usize / LANES;
        if warp == self.warp {
            return self.lockstep || self.own.all_know(clock);
        }
        if let Some(&known) = self.knows.get(warp) {
            return clock <= known;
        }
        if self.launch.has(thread) && self.others.is_empty() {
            return false;
        }
        match self.launch.thread(thread) {
            None => self.launch.comes_before(thread),
            Some((block, thread)) => self.others.has(block, thread as usize / LANES, clock),
        }
    }

    fn is_own(&self, thread: u32) -> bool {
        self.launch.has(thread)
    }

    fn is_of_block(&self, thread: u32) -> bool {
        (thread.wrapping_sub(self.first) as usize) < self.knows.len() * LANES
    }
}

/// What is asked when an access is looked at. Accesses are [`Cell`]s as bits.
pub struct View<'b> {
    knowledge: &'b Knowledge<'b>,
    row: &'b Row<'b>,
    /// Of the first lane, to whole words.
    first: u64,
}

impl<'b> View<'b> {
    pub fn new(knowledge: &'b Knowledge<'b>, row: &'b Row<'b>, clock: u32) -> Self {
        let thread = knowledge.first + (row.warp * LANES) as u32;
        let (site, strong) = (row.site, row.strong);
        // Only the block has its shared memory, and old code has no scopes.
        let narrow = row.narrow && !row.shared && !knowledge.lockstep;
        let first = Cell { thread, clock, site, mask: WHOLE, strong, narrow, unanimous: false }.bits();
        Self { knowledge, row, first }
    }

    /// All lanes the same words of a line.
    pub fn words_of_line(&self, (base, words): (u64, u32), lines: &mut Entered<'_>) {
        let lanes = self.row.lanes;
        lines.with(base, |line, written| match self.row.write {
            true => self.same_write(lanes, base, (base, words), line, written),
            false => self.same_words(lanes, (base, words), line, written),
        });
    }

    /// All lanes read the same words of a line; whether nothing races with that. Otherwise nothing has been noted.
    pub fn read_words_of_line(&self, (base, words): (u64, u32), lines: &mut Entered<'_>) -> bool {
        let mut noted = false;
        lines.with(base, |line, _| noted = self.read_words(self.row.lanes, words, line));
        noted
    }

    fn read_words(&self, lanes: u32, words: u32, line: &mut Line) -> bool {
        let ends = [lanes.trailing_zeros(), lanes.ilog2()].map(|lane| lane as usize);
        let runs = ends.map(|lane| Run::new(self.cell(lane), words.trailing_zeros(), BROAD, words));
        // Of lanes that go together the last one takes the place of the first.
        let noted = if self.knowledge.lockstep { &runs[1..] } else { &runs[..] };
        line.may_be_read(&runs[0], self.knowledge)
            && noted.iter().all(|run| line.note(run, false, self.knowledge))
    }

    /// Lanes whose places are at steps from the first one's.
    fn steps(&self, lanes: u32, (first, step): (u64, i64), lines: &mut Entered<'_>) {
        if let Some(steps) = Steps::of(lanes, (first, step), self.row.size) {
            for part in steps.parts() {
                lines.with(part.line, |line, written| self.part(&steps, part, line, written));
            }
        } else if let Some((start, end)) = self.narrow_reads(lanes, (first, step)) {
            for base in (start & !(LINE - 1)..end).step_by(LINE as usize) {
                let within = (first, start.max(base), end.min(base + LINE));
                lines.with(base, |line, written| self.narrow_part(within, line, written));
            }
        } else if step == 0 && !self.row.write && !lanes.is_power_of_two() {
            lines.with(first, |line, written| self.same(lanes, first, line, written));
        } else if step == 0 && self.is_one_write(lanes, first) {
            let base = first & !(LINE - 1);
            let words = (base, between(first - base, first - base + self.row.size));
            lines.with(first, |line, written| self.same_write(lanes, first, words, line, written));
        } else {
            for lane in bits(lanes) {
                self.lane(lane, first.wrapping_add_signed(step * lane as i64), lines);
            }
        }
    }

    /// Lanes in parts that are at steps, or alone. Of those that are alone all in one line are looked at together.
    fn each(
        &self,
        places: &[u64; LANES],
        parts: impl Iterator<Item = (u32, (u64, i64))>,
        lines: &mut Entered<'_>,
    ) {
        let mut alone = 0;
        for (lanes, steps) in parts {
            match lanes.is_power_of_two() {
                true => alone |= lanes,
                false => self.steps(lanes, steps, lines),
            }
        }
        // Of two that are alike here and differ, the second has its turn later.
        let number_of = |place: u64| (place / LINE) as u32;
        let numbers = places.map(number_of);
        while alone != 0 {
            let first = alone.trailing_zeros() as usize;
            let base = places[first] & !(LINE - 1);
            if places[first] + self.row.size > base + LINE {
                alone &= !(1 << first);
                self.lane(first, places[first], lines);
                continue;
            }
            let like = |lane: usize| u32::from(numbers[lane] == numbers[first]) << lane;
            let near = alone & (0..LANES).fold(0, |near, lane| near | like(lane));
            lines.with(base, |line, written| {
                if self.row.size == WORD
                    && places[first].is_multiple_of(WORD)
                    && let Some(each) = line.words_apart()
                {
                    for lane in bits(near) {
                        let place = places[lane];
                        if place & !(LINE - 1) == base && place.is_multiple_of(WORD) {
                            alone &= !(1 << lane);
                            let number = (place / WORD) as usize % WORDS;
                            let word = Place { word: &mut each[number], written: &mut written[number] };
                            self.look(word, place, self.cell(lane), self.value(lane, 0));
                        }
                    }
                    return;
                }
                for lane in bits(near) {
                    let (start, end) = (places[lane], places[lane].wrapping_add(self.row.size));
                    if start & !(LINE - 1) == base && end <= base + LINE {
                        alone &= !(1 << lane);
                        self.lane_in_line(lane, (start, start, end), line, written);
                    }
                }
            });
            // Where there is no line nothing is looked at.
            alone &= !(1 << first);
        }
    }

    /// The access of a lane, to whole words.
    fn cell(&self, lane: usize) -> u64 {
        self.first + ((lane as u64) << Cell::THREAD)
    }

    /// What a lane writes to a word, if that is known.
    fn value(&self, lane: usize, offset: u64) -> Option<u32> {
        self.row.values.map(|values| values.part(lane, offset as usize, WORD as usize))
    }

    /// Lanes that have words of their own, in one line.
    fn part(&self, steps: &Steps, part: Part, line: &mut Line, written: &mut Written) {
        let Part { line: base, words, lane } = part;
        let run = Run::new(self.cell(lane), words.trailing_zeros(), steps.shift(), words);
        let value = |word: usize| {
            let lane = steps.lane(base, word);
            (lane, self.value(lane, base + WORD * word as u64 - steps.place(lane as u32)))
        };
        if line.note(&run, self.row.write, self.knowledge) {
            if self.row.write && !self.keep(steps, part, written) {
                bits(words).for_each(|word| written[word] = value(word).1.unwrap_or(0));
            }
            return;
        }
        let each = line.words();
        for word in bits(words) {
            let (lane, value) = value(word);
            let place = Place { word: &mut each[word], written: &mut written[word] };
            self.look(place, base + WORD * word as u64, self.cell(lane), value);
        }
    }

    /// Keeps what lanes write that have all words of a part; whether they are such lanes.
    fn keep(&self, steps: &Steps, part: Part, written: &mut Written) -> bool {
        let (start, count) = (part.words.trailing_zeros(), part.words.count_ones());
        if (part.words >> start).trailing_ones() != count || steps.shift() != (self.row.size / WORD).ilog2() {
            return false;
        }
        let offset = part.line + WORD * u64::from(start) - steps.place(part.lane as u32);
        let values =
            self.row.values.as_ref().and_then(|row| row.following(self.row.size, part.lane, offset as usize));
        let (start, count) = (start as usize, count as usize);
        let Some(values) = values.and_then(|values| values.get(..count)) else { return false };
        written[start..start + count].copy_from_slice(values);
        true
    }

    /// Where lanes begin and end that read bytes or halves of words beside each other, which make whole words.
    fn narrow_reads(&self, lanes: u32, (first, step): (u64, i64)) -> Option<(u64, u64)> {
        let size = self.row.size;
        let (lowest, count) = (lanes.trailing_zeros(), lanes.count_ones());
        let beside = !self.row.write && size < WORD && step == size as i64;
        let start = first.wrapping_add(u64::from(lowest) * size);
        let end = start.wrapping_add(u64::from(count) * size);
        let whole = start.is_multiple_of(WORD) && end.is_multiple_of(WORD) && start < end;
        (beside && whole && (lanes >> lowest).trailing_ones() == count).then_some((start, end))
    }

    /// Of such lanes, of which the warp's first would be at `first`, what is in a line.
    fn narrow_part(&self, (first, start, end): (u64, u64, u64), line: &mut Line, written: &mut Written) {
        let (size, base) = (self.row.size, start & !(LINE - 1));
        let lane = |place: u64| (place.wrapping_sub(first) / size) as usize % LANES;
        let words = between(start - base, end - base);
        let shift = if size == 1 { BYTES } else { HALVES };
        let run = Run::new(self.cell(lane(start)), words.trailing_zeros(), shift, words);
        if line.note(&run, false, self.knowledge) {
            return;
        }
        let each = line.words();
        for place in (start..end).step_by(size as usize) {
            self.words(lane(place), (place, place, place + size), each, written);
        }
    }

    /// Lanes that read one place, several of them.
    fn same(&self, lanes: u32, address: u64, line: &mut Line, written: &mut Written) {
        let size = self.row.size;
        let base = address & !(LINE - 1);
        if address.is_multiple_of(WORD) && size.is_multiple_of(WORD) && address - base + size <= LINE {
            let words = between(address - base, address - base + size);
            return self.same_words(lanes, (base, words), line, written);
        }
        let part = (address, address, (address + size).min(base + LINE));
        bits(lanes).for_each(|lane| self.words(lane, part, line.words(), written));
    }

    /// Lanes that read the same words of a line. What others do there is known of the first and the last of them.
    fn same_words(&self, lanes: u32, (base, words): (u64, u32), line: &mut Line, written: &mut Written) {
        if words == 0 {
            return;
        }
        if self.read_words(lanes, words, line) {
            return;
        }
        let ends = [lanes.trailing_zeros(), lanes.ilog2()].map(|lane| lane as usize);
        let each = line.words();
        let may_be_read = bits(words).all(|word| self.may_be_read(&each[word]));
        let lanes = if may_be_read { 1 << ends[0] | 1 << ends[1] } else { lanes };
        for word in bits(words) {
            for lane in bits(lanes) {
                let place = Place { word: &mut each[word], written: &mut written[word] };
                self.look(place, base + WORD * word as u64, self.cell(lane), None);
            }
        }
    }

    /// Whether no lane that reads a word makes a race.
    fn may_be_read(&self, word: &Word) -> bool {
        let fine = |bits: u64| {
            Cell::from_bits(bits).is_none_or(|write| {
                write.strong && self.row.strong && self.reach(bits, self.first)
                    || self.knowledge.knows(write.thread, write.clock)
            })
        };
        fine(word.write) && (!Cell::is_other_write(word.reads[1]) || fine(word.reads[1]))
    }

    /// Whether lanes that write whole words at one place do what one of them would do: they write the same, or are
    /// atomic, or go together.
    fn is_one_write(&self, lanes: u32, address: u64) -> bool {
        let row = self.row;
        let whole = address.is_multiple_of(WORD) && row.size.is_multiple_of(WORD);
        let same = || row.values.is_some_and(|values| values.are_same(lanes, row.size as usize));
        whole
            && !lanes.is_power_of_two()
            && address % LINE + row.size <= LINE
            && (row.strong || self.knowledge.lockstep || same())
    }

    /// Lanes of which [one](Self::is_one_write) tells all.
    fn same_write(
        &self,
        lanes: u32,
        address: u64,
        (base, words): (u64, u32),
        line: &mut Line,
        written: &mut Written,
    ) {
        let row = self.row;
        let ends = [lanes.trailing_zeros(), lanes.ilog2()].map(|lane| lane as usize);
        if words == 0 {
            return;
        }
        let unanimous = !row.strong && !self.knowledge.lockstep && !lanes.is_power_of_two();
        // Of what lanes of the same warp have done before, one of the two knows nothing.
        let ends = if row.strong && !self.knowledge.lockstep { &ends[..] } else { &ends[..1] };
        for &lane in ends {
            let cell = self.cell(lane) | if unanimous { Cell::UNANIMOUS } else { 0 };
            let run = Run::new(cell, words.trailing_zeros(), BROAD, words);
            let value = |word: usize| self.value(lane, base + WORD * word as u64 - address);
            if line.note(&run, true, self.knowledge) {
                match row.values {
                    // Without a branch for each word.
                    Some(Values::Words(values)) if address == base => {
                        for (number, (written, value)) in written.iter_mut().zip(values).enumerate() {
                            *written = if words >> number & 1 != 0 { *value } else { *written };
                        }
                    }
                    _ => bits(words).for_each(|word| written[word] = value(word).unwrap_or(0)),
                }
                continue;
            }
            let each = line.words();
            for word in bits(words) {
                let place = Place { word: &mut each[word], written: &mut written[word] };
                self.look(place, base + WORD * word as u64, cell, value(word));
            }
        }
    }

    /// One lane.
    fn lane(&self, lane: usize, address: u64, lines: &mut Entered<'_>) {
        let end = address + self.row.size;
        let mut at = address;
        while at < end {
            let base = at & !(LINE - 1);
            let next = end.min(base + LINE);
            lines.with(base, |line, written| self.lane_in_line(lane, (address, at, next), line, written));
            at = next;
        }
    }

    /// Of one lane what is in a line: from where it accesses memory, what is in the line of that.
    fn lane_in_line(&self, lane: usize, part: (u64, u64, u64), line: &mut Line, written: &mut Written) {
        let (address, start, end) = part;
        if let Some(each) = line.words_apart() {
            return self.words(lane, part, each, written);
        }
        let base = start & !(LINE - 1);
        if start.is_multiple_of(WORD) && end.is_multiple_of(WORD) {
            let words = between(start - base, end - base);
            let run = Run::new(self.cell(lane), words.trailing_zeros(), BROAD, words);
            if line.note(&run, self.row.write, self.knowledge) {
                if self.row.write {
                    for word in bits(words) {
                        let offset = base + WORD * word as u64 - address;
                        written[word] = self.value(lane, offset).unwrap_or(0);
                    }
                }
                return;
            }
        }
        self.words(lane, part, line.words(), written);
    }

    /// Of one lane what is in some words.
    fn words(
        &self,
        lane: usize,
        (address, start, end): (u64, u64, u64),
        each: &mut [Word; WORDS],
        written: &mut Written,
    ) {
        let cell = self.cell(lane);
        let mut at = start;
        while at < end {
            let base = at & !(WORD - 1);
            let next = end.min(base + WORD);
            let number = (base / WORD) as usize % WORDS;
            let place = Place { word: &mut each[number], written: &mut written[number] };
            if next - at == WORD {
                self.look(place, base, cell, self.value(lane, at - address));
            } else {
                let mask = ((1u32 << (next - base)) - (1u32 << (at - base))) as u8;
                let (offset, count) = ((at - address) as usize, (next - at) as usize);
                let value = self.row.values.map(|values| values.part(lane, offset, count));
                self.look(place, base, Cell { mask, ..Cell::of(cell) }.bits(), value);
            }
            at = next;
        }
    }

    /// Looks at a lane's access of a word, and notes it.
    #[inline(always)]
    fn look(&self, place: Place<'_>, address: u64, own: u64, value: Option<u32>) {
        let Place { word, written } = place;
        let is_fine = |other: u64| other == 0 || Cell::are_strong(other, own);
        let all_fine = || is_fine(word.write) && is_fine(word.reads[0]) && is_fine(word.reads[1]);
        if self.row.write && all_fine() && Cell::covers(own, word.write) {
            *written = value.unwrap_or_default();
            word.write = own;
            return;
        }
        self.look_closely(Place { word, written }, address, own, value);
    }

    fn look_closely(&self, place: Place<'_>, address: u64, own: u64, value: Option<u32>) {
        let Place { word, written } = place;
        let row = self.row;
        if self.races((word.write, true), own) {
            // Threads that write one value by one instruction do what one of them would: compilers let them
            // do what one of them would have to hand on. They may read it, too.
            let (write, this) = (Cell::of(word.write), Cell::of(own));
            let is_same = || value == Some(*written);
            if row.write && Self::are_of_one_place(word.write, own) && is_same() {
                word.write = Cell { unanimous: true, ..write }.bits();
                return;
            }
            if row.write || !write.unanimous {
                self.find(address, (write, true), this);
            }
        }
        if row.write {
            let other = word.reads[1];
            if Cell::is_other_write(other)
                && Self::are_of_one_place(other, own)
                && self.knowledge.is_own((other >> Cell::THREAD) as u32)
                && self.races((other, true), own)
            {
                // What was written is not known any more. It may have been the same, and then all may read it.
                word.reads[1] = 0;
                return;
            }
            for read in &mut word.reads {
                let wrote = Cell::is_other_write(*read);
                if self.races((*read, wrote), own) {
                    self.find(address, (Cell::of(*read), wrote), Cell::of(own));
                } else if !row.strong && Cell::covers(own, *read) && self.is_ordered(*read, own) {
                    // Whoever does not know of it does not know of this write, and races with it, however strong.
                    *read = 0;
                }
            }
            if !Cell::covers(own, word.write) {
                self.keep_other_write(word);
            }
            *written = value.unwrap_or_default();
            word.write = own;
            return;
        }
        let other = word.reads[1];
        let has_other_write = Cell::is_other_write(other);
        if has_other_write && self.races((other, true), own) {
            self.find(address, (Cell::of(other), true), Cell::of(own));
        }
        // The place of an own read, or one that all later accesses know if they know this one.
        let replaced = |&read: &u64| read == 0 || self.is_ordered(read, own);
        let places = if has_other_write { &word.reads[..1] } else { &word.reads[..] };
        let number = places.iter().position(replaced).unwrap_or(places.len() - 1);
        word.reads[number] = own;
    }

    /// Keeps the last write of a word, before another one to other bytes takes its place: in that of a read, if there is
    /// room. Of two those of other warps are kept, with which whoever comes next may race.
    fn keep_other_write(&self, word: &mut Word) {
        let (write, other) = (word.write, word.reads[1]);
        if Cell::of(write).unanimous {
            return;
        }
        if Cell::is_other_write(other) {
            if self.is_own_warp(write) && !self.is_own_warp(other) {
                return;
            }
        } else if other != 0 {
            if word.reads[0] != 0 {
                return;
            }
            word.reads[0] = other;
        }
        word.reads[1] = write | Cell::UNANIMOUS;
    }

    /// Whether one instruction accesses the same bytes.
    fn are_of_one_place(one: u64, other: u64) -> bool {
        let (one, other) = (Cell::of(one), Cell::of(other));
        one.site == other.site && one.mask == other.mask
    }

    fn is_own_warp(&self, cell: u64) -> bool {
        let warp = self.knowledge.first as usize + self.knowledge.warp * LANES;
        ((cell >> Cell::THREAD) as usize).wrapping_sub(warp) < LANES
    }

    #[cold]
    fn find(&self, address: u64, (earlier, wrote): (Cell, bool), own: Cell) {
        let launch = self.knowledge.launch;
        let key = Key { earlier: earlier.site, later: own.site, shared: self.row.shared };
        let side = |Cell { strong, narrow, thread, .. }, write| Example {
            write,
            strong,
            narrow,
            thread: launch.thread(thread),
        };
        launch.findings().add(key, address, side(earlier, wrote), side(own, self.row.write));
    }

    fn races(&self, (other, wrote): (u64, bool), own: u64) -> bool {
        // GCC 12 has plain loads for atomic ones.
        let is_strong = |cell: u64, write: bool| Cell::is_strong(cell) || self.knowledge.lockstep && !write;
        Cell::meet(other, own)
            && !(is_strong(other, wrote) && is_strong(own, self.row.write) && self.reach(other, own))
            && !self.is_ordered(other, own)
    }

    /// Whether two accesses, if both are strong, are so towards each other: "morally strong" (PTX ISA 9.0 section
    /// 8.8.1).
    fn reach(&self, other: u64, own: u64) -> bool {
        Cell::reach_all(other, own) || self.knowledge.is_of_block((other >> Cell::THREAD) as u32)
    }

    /// Whether an access that came first comes before this one of a lane's.
    fn is_ordered(&self, other: u64, own: u64) -> bool {
        if other >> Cell::THREAD == own >> Cell::THREAD {
            return true;
        }
        let other = Cell::of(other);
        self.knowledge.knows(other.thread, other.clock)
            || self.knowledge.lane_knows((own >> Cell::THREAD) as u32, other)
    }
}

impl Knowledge<'_> {
    /// Whether a lane of the warp knows of an access of another one.
    fn lane_knows(&self, thread: u32, other: Cell) -> bool {
        let within = other.thread.wrapping_sub(self.first) as usize;
        let lane = (thread - self.first) as usize % LANES;
        within / LANES == self.warp && self.own.knows(lane, within % LANES, other.clock)
    }
}
