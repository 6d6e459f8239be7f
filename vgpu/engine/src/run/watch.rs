//! A block whose accesses are watched for races.

use std::ops::Range;

use gangway_device_memory::{AllocationKind, BASE, SIZE, Space, is_device_address};
use gangway_races::{Access, Block, By, Elements, Launch, Order, Pattern, Place, Places, Row, Values};
use rustc_hash::FxHashMap;

use super::accesses::Accesses;
use super::job::Job;
use super::place::place;
use crate::abi::{LANES, Warp};
use crate::lines::{BYTES, Line};
use crate::runtimes::is_libgomps;
use crate::support::{Began, Noted, Passed, lanes};

/// What a block's warps share for it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub block: Block,
    /// The instructions, by where their code is.
    sites: FxHashMap<u64, Site>,
    /// The same for accesses that are noted.
    noted: FxHashMap<u64, u32>,
    /// Races are looked for.
    looks: bool,
    /// The launch that these are of.
    job: u64,
    /// What is looked at with what is told of next.
    before: Vec<Elements<'static>>,
}

/// What is known of an instruction.
#[derive(Debug)]
struct Site {
    number: u16,
    /// It is of the compiler's own runtime.
    runtimes: bool,
    /// How its lanes' places have been to each other.
    pattern: Pattern,
    /// Where the first of them was.
    last: u64,
}

impl Watch {
    /// A block of a launch starts.
    pub fn start(&mut self, job: &Job, block: [u32; 3]) {
        if self.job != job.id {
            self.sites.clear();
            self.noted.clear();
            self.job = job.id;
        }
        self.looks = job.races.is_some();
        self.before.clear();
        if let Some(races) = &job.races {
            self.block.start(races, job.extent.number(block), job.extent.warps(), job.room.shared);
        }
    }

    /// The number that accesses of the instruction have that a warp has come to.
    fn noted(&mut self, job: &Job, warp: &Warp, accesses: &Accesses) -> u32 {
        let code = warp.called_from.wrapping_sub(1);
        let number = || accesses.site(job.program().id(), code, || told(job, warp, code));
        *self.noted.entry(code).or_insert_with(number)
    }

    /// Notes accesses of device memory for those who ask after the kernel.
    fn note_bytes(&mut self, job: &Job, warp: &Warp, accesses: &Accesses, noted: &Noted<'_>) {
        let &Noted { lanes: all, places, size, reads, writes, .. } = noted;
        let range = range_of(all, places, size);
        // A block's shared memory is device memory as well, and nobody asks for what is noted of it.
        let is_shared = |address: u64| address.wrapping_sub(warp.shared as u64) < warp.shared_size;
        if is_shared(range.start) && is_shared(range.end - 1) {
            return;
        }
        let one = matches!(memory_of(warp, all, &range), Memory::Device)
            && !job.program().runtimes(None).are_in(&range);
        if one && !writes && accesses.are_known(&range) {
            return;
        }
        let site = self.noted(job, warp, accesses);
        if one && let Places::Steps { step, .. } = places {
            let lanes = all.unbounded_shr(all.trailing_zeros());
            let is_row = step == size as i64 && lanes & lanes.wrapping_add(1) == 0;
            if step == 0 || is_row {
                return accesses.note(range.start, range.end - range.start, reads, writes, site);
            }
        }
        for address in lanes(all).map(|lane| place_of(places, lane)) {
            let is_noted = || is_device_address(address) && !is_shared(address);
            if one || is_noted() && !job.program().runtimes(None).has(address) {
                accesses.note(address, size, reads, writes, site);
            }
        }
    }

    /// Lanes of a warp are about to access memory.
    pub fn note(&mut self, job: &Job, warp: &Warp, index: usize, noted: &Noted<'_>) {
        if noted.lanes == 0 {
            return;
        }
        if let Some(accesses) = &job.accesses {
            // What is read may have been written before, by this warp or by one that an atomic operation lets go on.
            if noted.strong {
                self.tell_of_lines(job, warp, index);
            } else if !warp.lines.is_empty() {
                let range = range_of(noted.lanes, noted.places, noted.size);
                self.tell_before(job, warp, index, &range, noted.writes);
            }
            self.note_bytes(job, warp, accesses, noted);
        }
        if let Some(races) = &job.races {
            self.look(job, races, warp, index, noted);
        }
    }

    /// All lanes of a warp have gone through memory.
    pub fn note_passed(&mut self, job: &Job, warp: &Warp, index: usize, passed: &Passed<'_>) {
        let &Passed { lanes: all, first, step, count, size, values, more } = passed;
        let Some(last) = count.checked_sub(1) else { return self.look_at_those_before(passed) };
        let last = first.wrapping_add_signed(step.wrapping_mul(last as i64));
        let range = first.min(last)..first.max(last).saturating_add(size);
        let shared = match memory_of(warp, all, &range) {
            Memory::Device => Some(false),
            Memory::Shared => Some(true),
            _ => None,
        };
        let of_runtimes = match job.races.as_deref() {
            Some(races) => site(&mut self.sites, job, races, warp).runtimes,
            None => false,
        };
        let is_plain = |shared: &bool| {
            let runtimes = job.program().runtimes(shared.then(|| job.kernel.id()));
            !runtimes.are_in(&within(warp, *shared, &range))
        };
        let Some(shared) = shared.filter(is_plain).filter(|_| !of_runtimes) else {
            self.look_at_those_before(passed);
            return self.note_each(job, warp, index, passed);
        };
        self.tell_before(job, warp, index, &range, values.is_some());
        if let Some(accesses) = job.accesses.as_deref().filter(|_| !shared) {
            let site = self.noted(job, warp, accesses);
            let (reads, writes) = (values.is_none(), values.is_some());
            if step == size as i64 {
                accesses.note(range.start, range.end - range.start, reads, writes, site);
            } else {
                for place in places_of(passed) {
                    accesses.note(place, size, reads, writes, site);
                }
            }
        }
        if let Some(races) = job.races.as_deref() {
            let site = site(&mut self.sites, job, races, warp).number;
            let first = if shared { first - warp.shared as u64 } else { first };
            let elements =
                Elements { warp: index, lanes: all, first, step, count, size, shared, values: None, site };
            if more {
                return self.before.push(elements);
            }
            // They are of one kind of memory, unless a part of them reaches into another one.
            if self.before.iter().any(|other| other.shared != shared) {
                self.look_at_those_before(passed);
            }
            self.block.elements(&Elements { values, ..elements }, &self.before);
            self.before.clear();
        }
    }

    /// Looks at what has been kept to be looked at with something else, alone.
    fn look_at_those_before(&mut self, next: &Passed<'_>) {
        if !next.more {
            for elements in self.before.drain(..) {
                self.block.elements(&elements, &[]);
            }
        }
    }

    /// The same one by one: of memory of several kinds, and what the compiler's runtime has to do with.
    fn note_each(&mut self, job: &Job, warp: &Warp, index: usize, passed: &Passed<'_>) {
        let &Passed { lanes, size, values, .. } = passed;
        for (number, place) in places_of(passed).enumerate() {
            let values = values.map(|values| &values[number * size as usize..][..size as usize]);
            let noted = Noted {
                lanes,
                places: Places::Steps { first: place, step: 0 },
                size,
                reads: values.is_none(),
                writes: values.is_some(),
                strong: false,
                acquire: false,
                release: false,
                narrow: false,
                values: values.map(Values::Bytes),
            };
            self.note(job, warp, index, &noted);
        }
    }

    /// Remembers a line of which an instruction accesses words, all lanes the same, after it has told of the one before;
    /// whether it does.
    pub fn begin_line(&mut self, job: &Job, warp: &Warp, index: usize, begun: Began) -> bool {
        let Began { lanes, place, number, instruction, writes } = begun;
        warp.lines.tell_one(number, |line| tell_of_line(self.looking(), job, warp, index, line));
        let line = place & !(BYTES - 1);
        let range = line..line + BYTES;
        // Reads of what kernels are known to have read say nothing more to who notes accesses. Others are noted by the word
        // when they are made: what is behind them may write.
        let is_noted = |accesses: &Accesses| writes || accesses.are_known(&range);
        if lanes == 0 || !job.accesses.as_deref().is_none_or(is_noted) {
            return false;
        }
        let (site, runtimes) = match job.races.as_deref() {
            Some(races) => {
                // It is looked up when its words are told of, which is later.
                races.device().expect(line, BYTES);
                let Site { number, runtimes, .. } = *site(&mut self.sites, job, races, warp);
                (number, runtimes)
            }
            None => (0, false),
        };
        // Lines of shared memory are counted from its beginning.
        let shared = match memory_of(warp, lanes, &range) {
            Memory::Device => false,
            Memory::Shared if (warp.shared as u64).is_multiple_of(BYTES) => true,
            _ => return false,
        };
        let of_runtimes = job.program().runtimes(shared.then(|| job.kernel.id()));
        if runtimes || of_runtimes.are_in(&within(warp, shared, &range)) {
            return false;
        }
        self.tell_before(job, warp, index, &range, writes);
        let noted = job.accesses.as_deref().filter(|_| writes && !shared);
        let noted = noted.map_or(0, |accesses| self.noted(job, warp, accesses));
        let place = warp.lines.begin(number, writes);
        place.line.set(line);
        place.instruction.set(instruction);
        place.lanes.set(lanes);
        place.words.set(0);
        place.site.set(site);
        place.noted.set(noted);
        place.shared.set(shared);
        true
    }

    /// Tells of what a warp remembers.
    pub fn tell_of_lines(&mut self, job: &Job, warp: &Warp, index: usize) {
        warp.lines.tell(|line| tell_of_line(self.looking(), job, warp, index, line));
    }

    /// The block, where races are looked for.
    fn looking(&mut self) -> Option<&mut Block> {
        self.looks.then_some(&mut self.block)
    }

    /// Tells of what an access to a range comes behind.
    fn tell_before(&mut self, job: &Job, warp: &Warp, index: usize, range: &Range<u64>, writes: bool) {
        warp.lines.tell_before(range, writes, |line| tell_of_line(self.looking(), job, warp, index, line));
    }

    /// Looks for races of accesses.
    fn look(&mut self, job: &Job, races: &Launch, warp: &Warp, index: usize, noted: &Noted<'_>) {
        let Site { number, runtimes, ref mut pattern, ref mut last } =
            *site(&mut self.sites, job, races, warp);
        let places = match noted.places {
            Places::Each(each) => {
                pattern.fit(noted.lanes, each);
                Places::Alike(each, pattern)
            }
            places => places,
        };
        let range = range_of(noted.lanes, places, noted.size);
        // Loops go through memory in steps, mostly: what is known of the next one's lines is far away otherwise.
        let step = range.start.wrapping_sub(std::mem::replace(last, range.start));
        if matches!(places, Places::Steps { .. }) && step != 0 {
            races.device().expect(range.start.wrapping_add(step), range.end - range.start);
        }
        warp.lines.tell_before(&range, noted.writes, |line| {
            tell_of_line(Some(&mut self.block), job, warp, index, line);
        });
        let moved: [u64; LANES];
        let (shared, places) = match memory_of(warp, noted.lanes, &range) {
            Memory::Device => (false, places),
            Memory::Shared => {
                let moved_by = |place: u64| place.wrapping_sub(warp.shared as u64);
                let places = match places {
                    Places::Steps { first, step } => Places::Steps { first: moved_by(first), step },
                    Places::Each(each) => {
                        moved = each.map(moved_by);
                        Places::Each(&moved)
                    }
                    Places::Alike(each, pattern) => {
                        moved = each.map(moved_by);
                        Places::Alike(&moved, pattern)
                    }
                    Places::Words { line, words } => Places::Words { line: moved_by(line), words },
                };
                (true, places)
            }
            Memory::Several => {
                for lane in lanes(noted.lanes) {
                    let places = Places::Steps { first: place_of(noted.places, lane), step: 0 };
                    self.look(job, races, warp, index, &Noted { lanes: 1 << lane, places, ..*noted });
                }
                return;
            }
            Memory::Other => {
                if noted.strong {
                    races.may_meet_the_host();
                }
                return;
            }
        };
        let &Noted { lanes: all, size, reads, writes: write, acquire, release, narrow, values, .. } = noted;
        let site = number;
        // A lock of libgomp's is opened by a plain store.
        let strong = noted.strong || runtimes;
        let row = Row { warp: index, lanes: all, places, size, shared, write, strong, narrow, values, site };
        // Variables that the device runtime shares out are the program's, and have no name of the runtime's.
        let mut lanes_of_program = all;
        let runtimes = job.program().runtimes(shared.then(|| job.kernel.id()));
        if runtimes.are_in(&within(warp, shared, &range)) {
            for lane in lanes(all).filter(|&lane| runtimes.has(place_of(places, lane))) {
                lanes_of_program &= !(1 << lane);
            }
        }
        if lanes_of_program != 0 {
            let places = match places {
                Places::Alike(each, _) if lanes_of_program != all => Places::Each(each),
                places => places,
            };
            self.block.row(&Row { lanes: lanes_of_program, places, ..row });
        }
        // Whoever has a lock of libgomp's has taken it by an atomic operation before.
        if noted.strong && !shared {
            races.may_meet_others(lanes(all).map(|lane| place_of(places, lane)), hosts_see);
        }
        if strong && (acquire || release || !races.is_quiet()) {
            let order = Order { acquire, release };
            warp.lines.tell(|line| tell_of_line(Some(&mut self.block), job, warp, index, line));
            for lane in lanes(handing_on(all, places)) {
                let address = place_of(places, lane);
                let access = Access {
                    warp: index,
                    lane,
                    address,
                    size,
                    shared,
                    write,
                    strong,
                    narrow,
                    bytes: None,
                    site,
                };
                self.block.hand_on(&access, order, reads);
            }
        }
    }
}

/// The instruction that a warp has come to.
fn site<'s>(sites: &'s mut FxHashMap<u64, Site>, job: &Job, races: &Launch, warp: &Warp) -> &'s mut Site {
    let code = warp.called_from.wrapping_sub(1);
    sites.entry(code).or_insert_with(|| {
        let place = told(job, warp, code);
        let runtimes = place.runtimes;
        // An instruction has code in several places: where all is well, and where helpers do it.
        let found = job.program().functions().find(code as usize);
        let instruction = found.and_then(|found| Some((found.function, found.instruction?)));
        let number = instruction
            .map_or(code, |(function, at)| INSTRUCTION | u64::from(function) << 32 | u64::from(at));
        let number = races.device().site(job.program().id(), number, || place);
        Site { number, runtimes, pattern: Pattern::default(), last: 0 }
    })
}

/// The places that lanes have gone through.
fn places_of(passed: &Passed<'_>) -> impl Iterator<Item = u64> {
    let &Passed { first, step, count, .. } = passed;
    (0..count).map(move |number| first.wrapping_add_signed(step.wrapping_mul(number as i64)))
}

/// Notes what a warp has written of a line, and looks for races of what it has accessed.
fn tell_of_line(block: Option<&mut Block>, job: &Job, warp: &Warp, index: usize, line: &Line) {
    if let Some(accesses) = job.accesses.as_deref().filter(|_| line.noted.get() != 0) {
        for words in runs(line.words.get()) {
            let [first, bytes] = [words.start, words.end - words.start].map(|words| u64::from(words) * 4);
            accesses.note(line.line.get() + first, bytes, false, true, line.noted.get());
        }
    }
    let Some(block) = block else { return };
    let (shared, address, words) = (line.shared.get(), line.line.get(), line.words.get());
    let write = line.writes.get();
    let values = write.then(|| line.values.get());
    block.row(&Row {
        warp: index,
        lanes: line.lanes.get(),
        places: Places::Words { line: if shared { address - warp.shared as u64 } else { address }, words },
        size: BYTES,
        shared,
        write,
        strong: false,
        narrow: false,
        values: values.as_ref().map(Values::Words),
        site: line.site.get(),
    });
}

/// The words of a line that are marked, put together.
fn runs(mut words: u32) -> impl Iterator<Item = Range<u32>> {
    std::iter::from_fn(move || {
        let start = (words != 0).then(|| words.trailing_zeros())?;
        let end = start + (words >> start).trailing_ones();
        words &= u32::MAX.unbounded_shl(end);
        Some(start..end)
    })
}

/// Whether the host sees memory of the device.
fn hosts_see(address: u64) -> bool {
    let found = Space::get().ok().and_then(|space| space.find(address));
    found.is_some_and(|found| matches!(found.kind, AllocationKind::Pinned | AllocationKind::Managed))
}

/// A range of addresses, or of offsets in shared memory.
fn within(warp: &Warp, shared: bool, range: &Range<u64>) -> Range<u64> {
    let before = if shared { warp.shared as u64 } else { 0 };
    range.start - before..range.end - before
}

/// Where lanes access memory.
enum Memory {
    Device,
    Shared,
    /// A lane's own, or the host's.
    Other,
    /// Some here, some there.
    Several,
}

fn memory_of(warp: &Warp, lanes: u32, range: &Range<u64>) -> Memory {
    let shared = |place: u64| place.wrapping_sub(warp.shared as u64) < warp.shared_size;
    let [first, last] = [range.start, range.end - 1];
    // Shared memory is a part of device memory.
    match (shared(first), shared(last)) {
        (true, true) => Memory::Shared,
        (false, false) if is_device_address(first) && is_device_address(last) => {
            let around = range.contains(&(warp.shared as u64)) && warp.shared_size > 0;
            if around { Memory::Several } else { Memory::Device }
        }
        _ if lanes.is_power_of_two() || last < BASE || first >= BASE + SIZE => Memory::Other,
        _ => Memory::Several,
    }
}

/// The lanes whose accesses hand something on: of those at one place the first reads what there was, the second what the
/// first one has published, and the others nothing more.
fn handing_on(all: u32, places: Places<'_>) -> u32 {
    match places {
        Places::Steps { step: 0, .. } => {
            let others = all & all.wrapping_sub(1);
            all & !(others & others.wrapping_sub(1))
        }
        _ => all,
    }
}

/// The place of a lane.
fn place_of(places: Places<'_>, lane: usize) -> u64 {
    match places {
        Places::Steps { first, step } => first.wrapping_add_signed(step * lane as i64),
        Places::Each(each) | Places::Alike(each, _) => each[lane],
        Places::Words { line, .. } => line,
    }
}

/// From the first place of lanes to the end of the last one.
fn range_of(all: u32, places: Places<'_>, size: u64) -> Range<u64> {
    let (least, most) = match places {
        Places::Steps { .. } => {
            let ends = [all.trailing_zeros(), all.ilog2()].map(|lane| place_of(places, lane as usize));
            (ends[0].min(ends[1]), ends[0].max(ends[1]))
        }
        Places::Each(each) => lanes(all)
            .fold((u64::MAX, 0), |(least, most), lane| (least.min(each[lane]), most.max(each[lane]))),
        Places::Alike(each, pattern) => pattern.ends(each).into(),
        Places::Words { line, .. } => (line, line),
    };
    least..most.saturating_add(size)
}

/// Tells numbers of instructions from addresses of code.
const INSTRUCTION: u64 = 1 << 63;

/// An instruction, for people.
fn told(job: &Job, warp: &Warp, code: u64) -> Place {
    let found = place(job, warp, job.program().functions().find(code as usize), 0);
    let function = found.function.unwrap_or_default();
    let file = found.source.as_ref().map(|(file, ..)| &file[..]);
    Place {
        by: By::Kernel,
        runtimes: is_libgomps(&function, file),
        kernel: job.kernel.name().to_owned(),
        function,
        instruction: found.instruction.unwrap_or_default(),
        source: found.source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lanes_hand_on_for_all_at_one_place() {
        let lanes = |all: u32, step| handing_on(all, Places::Steps { first: 256, step });
        assert_eq!([lanes(u32::MAX, 0), lanes(0b1011_0000, 0), lanes(1 << 31, 0)], [3, 0b11_0000, 1 << 31]);
        assert_eq!(
            [lanes(0b1011_0000, 4), handing_on(u32::MAX, Places::Each(&[256; LANES]))],
            [0b1011_0000, u32::MAX]
        );
    }

    #[test]
    fn marked_words_are_put_together() {
        let all = |words: u32| runs(words).map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(all(0), []);
        assert_eq!(all(u32::MAX), [(0, 32)]);
        assert_eq!(all(0x8000_0036), [(1, 3), (4, 6), (31, 32)]);
    }
}
