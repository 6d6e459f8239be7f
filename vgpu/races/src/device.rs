//! The launches of a device, and what their blocks hand on to each other.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::cell::{SITES, THREADS};
use crate::finding::{Finding, Findings, Place, Told};
use crate::handed::Word;
use crate::known::Known;
use crate::line::LINE;
use crate::meeting_place::MeetingPlaces;
use crate::shadow::{Had, Shadow};

/// A device: the shadows of its memory and the host's, and which launches are under way.
#[derive(Debug)]
pub struct Device {
    shadow: Shadow,
    /// Of the host's memory, as far as copies of the device and the program access it.
    host: Shadow,
    launches: Mutex<Launches>,
    sites: Mutex<Sites>,
    /// How often the numbers of threads have begun anew.
    rounds: AtomicU64,
    /// Launches and blocks that were not looked at to their end.
    lost: AtomicU64,
    /// What has been found, and how often.
    told: Mutex<Told>,
}

#[derive(Debug)]
struct Launches {
    /// The first thread of the next one.
    next: u32,
    /// Those that are under way, and others that may not be known to come before later ones.
    recent: Vec<Other>,
    /// The stream of the first one, and whether another has been seen.
    stream: Option<u64>,
    several: bool,
}

/// A launch, to those beside it.
#[derive(Clone, Debug)]
struct Other {
    range: Range<u32>,
    /// Whether one of its threads has published anything.
    fenced: Arc<AtomicBool>,
    /// Where it may meet others.
    places: Arc<MeetingPlaces>,
    ended: Arc<AtomicBool>,
    past: Option<Arc<dyn Past>>,
}

/// What an operation of a stream comes after. It is asked of operations of the same device.
pub trait Past: Debug + Send + Sync {
    /// The stream and the operation in it.
    fn own(&self) -> (u64, u64);
    /// Whether another operation comes before this one.
    fn has(&self, operation: (u64, u64)) -> bool;
}

impl Other {
    /// Whether it was made behind one that is under way, and has ended: that has had the host do it, and waits meanwhile.
    fn is_done_for(&self, other: &Self) -> bool {
        let made_behind = || match (&self.past, &other.past) {
            (Some(own), Some(past)) => own.has(past.own()),
            _ => false,
        };
        self.ended.load(Ordering::Relaxed) && made_behind()
    }

    /// Whether it comes before a launch: it is known to, or it has ended and nothing is known.
    fn comes_before(&self, past: Option<&dyn Past>) -> bool {
        match (&self.past, past) {
            (Some(own), Some(past)) => past.has(own.own()),
            _ => self.ended.load(Ordering::Relaxed),
        }
    }
}

#[derive(Debug, Default)]
struct Sites {
    /// By program and code.
    numbers: FxHashMap<(u64, u64), u16>,
    /// Of places that people can tell apart.
    known: FxHashMap<Place, u16>,
    places: Vec<Place>,
}

impl Sites {
    fn add(&mut self, code: (u64, u64), place: Place) -> u16 {
        // Another thread may have been here while the place was looked for.
        if let Some(&number) = self.numbers.get(&code) {
            return number;
        }
        let number = match self.known.get(&place) {
            Some(&number) => number,
            None => {
                let number = self.places.len().min(usize::from(SITES) - 1) as u16;
                if usize::from(number) == self.places.len() {
                    if place.source.is_some() && number < SITES - 1 {
                        self.known.insert(place.clone(), number);
                    }
                    self.places.push(if number < SITES - 1 { place } else { Place::default() });
                }
                number
            }
        };
        self.numbers.insert(code, number);
        number
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of which the lines are asked for ahead.
const MOST_EXPECTED: u64 = 4 * LINE;

/// Bytes of the range of device memory.
const DEVICE_MEMORY: u64 = 1 << 42;
/// Addresses of the host.
const HOST_MEMORY: u64 = 1 << 47;

impl Device {
    /// For device memory from `base` on.
    #[must_use]
    pub fn new(base: u64) -> Arc<Self> {
        Arc::new(Device {
            shadow: Shadow::new(base, DEVICE_MEMORY),
            host: Shadow::new(0, HOST_MEMORY),
            launches: Mutex::new(Launches { next: 1, recent: Vec::new(), stream: None, several: false }),
            sites: Mutex::default(),
            rounds: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            told: Mutex::default(),
        })
    }

    /// A launch begins. What comes before it is known by its `past`; without one, what has ended comes before it.
    /// `None`: it has too many threads, and is not looked at. `lockstep`: it is made for processors whose lanes go
    /// together.
    #[must_use]
    pub fn launch(
        self: &Arc<Self>,
        blocks: u64,
        warps: u32,
        lockstep: bool,
        past: Option<Arc<dyn Past>>,
    ) -> Option<Arc<Launch>> {
        let per_block = warps * crate::LANES as u32;
        let threads = u32::try_from(blocks.checked_mul(per_block.into())?).ok().filter(|&all| all < THREADS);
        let mut launches = lock(&self.launches);
        let Some(threads) = threads.filter(|&threads| launches.make_room(threads, || self.clear())) else {
            self.lose();
            return None;
        };
        let range = launches.next..launches.next + threads;
        launches.next = range.end;
        let (apart, beside): (Vec<_>, Vec<_>) = launches
            .beside(past.as_deref())
            .into_iter()
            .partition(|other| other.ended.load(Ordering::Relaxed));
        let apart: Vec<_> = apart.into_iter().map(|other| other.range).collect();
        let follows_all = apart.is_empty() && beside.is_empty();
        let alone = follows_all && launches.is_only(past.as_deref());
        let (fenced, ended) = (Arc::default(), Arc::default());
        let places = Arc::default();
        let own = Other { range: range.clone(), fenced, places, ended, past };
        launches.recent.push(own.clone());
        Some(Arc::new(Launch {
            device: self.clone(),
            range,
            per_block,
            lockstep,
            own,
            beside,
            apart,
            follows_all,
            alone,
            grid: Mutex::default(),
            handed: Box::new(std::array::from_fn(|_| Mutex::default())),
            findings: Mutex::default(),
        }))
    }

    /// The number of an instruction: of a program, and the place of its code. `place` is asked once.
    /// Instructions that people see as one, as of a loop that was unrolled, have one number.
    pub fn site(&self, program: u64, code: u64, place: impl FnOnce() -> Place) -> u16 {
        let known = lock(&self.sites).numbers.get(&(program, code)).copied();
        known.unwrap_or_else(|| {
            // Without the lock: who is asked has others.
            let place = place();
            lock(&self.sites).add((program, code), place)
        })
    }

    /// Memory is new: what was done there before has nothing to do with what comes.
    pub fn forget(&self, address: u64, size: u64) {
        self.shadow.forget(address, size);
    }

    /// Memory of the host is given back. Whoever does that may be called by this crate.
    pub fn forget_host(&self, address: u64, size: u64) {
        self.host.forget_patiently(address, size);
    }

    /// The line at an address of the device or the host.
    pub(crate) fn line(&self, address: u64) -> Option<Had<'_>> {
        self.shadow.line(address).or_else(|| self.host.line(address))
    }

    /// Lanes will soon access so many bytes at an address, as far as can be foreseen.
    #[inline]
    pub fn expect(&self, address: u64, size: u64) {
        for line in 0..size.min(MOST_EXPECTED).div_ceil(LINE) {
            self.shadow.expect(address.wrapping_add(line * LINE));
        }
    }

    /// The line at an address will be used soon, or written.
    #[inline]
    pub(crate) fn expect_line(&self, address: u64, write: bool) {
        self.shadow.expect(address);
        if write {
            self.shadow.expect_values(address);
        }
    }

    /// How often the numbers of threads have begun anew: a launch of another round has none any more.
    pub(crate) fn round(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    fn clear(&self) {
        self.rounds.fetch_add(1, Ordering::Release);
        self.shadow.clear();
        self.host.clear();
    }

    pub(crate) fn place(&self, site: u16) -> Place {
        lock(&self.sites).places.get(usize::from(site)).cloned().unwrap_or_default()
    }

    /// A launch or a block is not looked at to its end.
    pub fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Pairs of instructions that race, and how often they have.
    #[must_use]
    pub fn found(&self) -> (usize, u64) {
        let told = lock(&self.told);
        (told.len(), told.values().sum())
    }

    /// Launches and blocks that were too large or too long to be looked at whole.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Launches {
    /// Numbers for so many threads. They begin anew, with an empty shadow, when nothing is under way.
    fn make_room(&mut self, threads: u32, clear: impl FnOnce()) -> bool {
        if THREADS - self.next > threads {
            return true;
        }
        if self.recent.iter().any(|other| !other.ended.load(Ordering::Relaxed)) {
            return false;
        }
        clear();
        self.next = 1;
        self.recent.clear();
        true
    }

    /// Whether all have been in the stream of one that begins.
    fn is_only(&mut self, past: Option<&dyn Past>) -> bool {
        let stream = past.map_or(0, |past| past.own().0);
        self.several |= *self.stream.get_or_insert(stream) != stream;
        !self.several
    }

    /// Those that are not known to come before a launch that begins.
    fn beside(&self, past: Option<&dyn Past>) -> Vec<Other> {
        self.recent.iter().filter(|other| !other.comes_before(past)).cloned().collect()
    }

    /// What has ended and says nothing of its order comes before all that begins later. Of what does, the last are
    /// kept.
    fn forget_old(&mut self) {
        let ended = |other: &Other| other.ended.load(Ordering::Relaxed);
        self.recent.retain(|other| !ended(other) || other.past.is_some());
        let mut surplus = self.recent.len().saturating_sub(RECENT);
        self.recent.retain(|other| {
            let old = surplus > 0 && ended(other);
            surplus -= usize::from(old);
            !old
        });
    }
}

/// So many launches that have ended are remembered; older ones count as known to all.
const RECENT: usize = 256;

/// Parts of what is handed on, so that blocks seldom wait for each other.
const PARTS: usize = 64;

/// What is handed on with words, by their addresses.
pub(crate) type Handed = FxHashMap<u64, Word>;

/// A launch that is under way.
#[derive(Debug)]
pub struct Launch {
    pub(crate) device: Arc<Device>,
    range: Range<u32>,
    per_block: u32,
    pub(crate) lockstep: bool,
    /// What those know that have come to the grid's barrier, by how often that had been complete: the last
    /// two times.
    grid: Mutex<[(u64, Arc<Known>); 2]>,
    own: Other,
    /// Launches that were under way when it began, and are not known to come before it.
    beside: Vec<Other>,
    /// Threads of those that had ended by chance.
    apart: Vec<Range<u32>>,
    /// All that is older comes before it.
    follows_all: bool,
    /// And before those that come later in the one stream that there is.
    alone: bool,
    /// What is known to whoever reads a word of device memory that was written with an order.
    handed: Box<[Mutex<Handed>; PARTS]>,
    pub(crate) findings: Mutex<Findings>,
}

impl Launch {
    /// The number of a block's first thread.
    pub(crate) fn first(&self, block: u32) -> u32 {
        self.range.start + block * self.per_block
    }

    /// Its first thread, and whether all that is older comes before whatever is under way now or comes later.
    pub(crate) fn beginning(&self) -> (u32, bool) {
        (self.range.start, self.alone)
    }

    /// Whether a thread is one of its own.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.range.contains(&number)
    }

    /// A thread's block, and its number in it; `None`: it is one of another launch.
    pub(crate) fn thread(&self, number: u32) -> Option<(u32, u32)> {
        self.has(number).then(|| {
            let number = number - self.range.start;
            (number / self.per_block, number % self.per_block)
        })
    }

    /// Whether all that a thread of another launch has done comes before this one. Of launches at the same time
    /// that is not known once one of them has published something where the other may have seen it, or the host, as
    /// where it launches a kernel for a call out of another one.
    #[inline]
    pub(crate) fn comes_before(&self, number: u32) -> bool {
        number < self.range.start && self.follows_all || self.comes_before_closely(number)
    }

    fn comes_before_closely(&self, number: u32) -> bool {
        let handed_on = |list: &[Other]| {
            let other = list.iter().find(|other| other.range.contains(&number))?;
            let published = other.fenced.load(Ordering::Relaxed) || self.has_fences();
            let met = self.own.places.may_have_met(&other.places);
            Some(published && met)
        };
        match number < self.range.start {
            true => handed_on(&self.beside).or(self
                .apart
                .iter()
                .any(|range| range.contains(&number))
                .then_some(false)),
            // It began later, and this one is still under way.
            false => {
                let recent = &lock(&self.device.launches).recent;
                let asked_for = |other: &Other| other.range.contains(&number) && other.is_done_for(&self.own);
                if recent.iter().any(asked_for) { Some(true) } else { handed_on(recent) }
            }
        }
        .unwrap_or(true)
    }

    /// It tells nobody anything but by words of device memory that others look at, as kernels of OpenMP and OpenACC: what
    /// the host hears of it, it hears by calls, which are [known](Past) apart.
    pub fn meets_others_on_the_device_alone(&self) {
        self.own.places.keep();
    }

    /// It accesses some places strongly; `hosts_see` says whether the host sees one.
    pub fn may_meet_others(&self, places: impl Iterator<Item = u64>, hosts_see: impl Fn(u64) -> bool) {
        self.own.places.add(places, hosts_see);
    }

    /// It accesses memory strongly that is no device's.
    pub fn may_meet_the_host(&self) {
        self.own.places.lose();
    }

    /// A warp comes to the barrier of the grid.
    pub(crate) fn arrive(&self, generation: u64, known: &Arc<Known>) {
        let mut grid = lock(&self.grid);
        let place = &mut grid[generation as usize % 2];
        *place = match place {
            (there, all) if *there == generation => (generation, Known::joined(all, known)),
            _ => (generation, known.clone()),
        };
    }

    /// What those knew that have come to it.
    pub(crate) fn arrived(&self, generation: u64) -> Arc<Known> {
        let grid = lock(&self.grid);
        let (there, all) = &grid[generation as usize % 2];
        if *there == generation { all.clone() } else { Arc::default() }
    }

    /// Whether there is anything to hand on.
    pub(crate) fn has_fences(&self) -> bool {
        self.own.fenced.load(Ordering::Relaxed)
    }

    /// Whether strong accesses without an order hand nothing on so far.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        !self.lockstep && !self.has_fences()
    }

    pub(crate) fn fences(&self) {
        if !self.has_fences() {
            self.own.fenced.store(true, Ordering::Relaxed);
        }
    }

    /// What is handed on with words of device memory.
    pub(crate) fn handed(&self, address: u64) -> MutexGuard<'_, Handed> {
        lock(&self.handed[(address / 8) as usize % PARTS])
    }

    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// It ends: what was found that had not been found before.
    #[must_use]
    pub fn end(&self) -> Vec<Finding> {
        self.leave();
        let found = std::mem::take(&mut *lock(&self.findings));
        let place = |site| self.device.place(site);
        let has_swap = |place: &Place| place.has_swap(&lock(&self.device.sites).places);
        found.new_to(&mut lock(&self.device.told), place, has_swap).into_all(place)
    }

    /// It may go on for as long as nothing else happens, and keeps nobody.
    pub(crate) fn is_open(&self) {
        self.own.ended.store(true, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.own.ended.store(true, Ordering::Relaxed);
        lock(&self.device.launches).forget_old();
    }

    pub(crate) fn findings(&self) -> MutexGuard<'_, Findings> {
        lock(&self.findings)
    }
}

/// One that never began, as its kernel was refused, ends as well.
impl Drop for Launch {
    fn drop(&mut self) {
        self.leave();
    }
}
