//! What the runtime does, told to the tracker.

use super::advice::{self, Copied, Direction};
use super::lock::Lock;
use super::places::{Place, source};
use super::tracker::{Mistake, TRACKER, Tracker};
use super::uses::User;
use super::{accesses, contents, dirty, pages, told};
use crate::host_accesses;
use crate::message::print_line;
use crate::state::RUNTIME;
use gangway_backend::{AccessKind, Accessed, Accesses, DevicePtr};
use gangway_findings::Source;
use gangway_freshness::{Key, Pair, Stale};
use gangway_runtime::events::{MappingChange, MappingEvent, Observer, Site, Step};
use gangway_runtime::present::{EntryRef, Relation};
use gangway_runtime::{Device, Label};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

pub struct Watch;

thread_local! {
    /// When the steps began that this thread is in.
    static STARTS: RefCell<Vec<Instant>> = const { RefCell::new(Vec::new()) };
    /// The accesses of kernels that had been told before the one that is launched.
    static TOLD: Cell<usize> = const { Cell::new(0) };
}

impl Observer for Watch {
    fn begin(&self, device: i32, site: &Site, step: &Step<'_>) {
        match *step {
            Step::ToDevice { host, size, label, .. } => {
                pages::begin_use(User::Runtime, host, size);
                see_whole(site, host, size, label);
            }
            Step::FromDevice { host, device: from, size, label } => {
                see_whole(site, host, size, label);
                pages::begin_use(User::Runtime, host, size);
                begin_copy_back(device, site, host, from, size);
            }
            Step::Launch { .. } => {
                pages::begin_use(User::Runtime, 0, usize::MAX);
                begin_launch(device);
            }
            _ => {}
        }
        let _ = STARTS.try_with(|starts| starts.borrow_mut().push(Instant::now()));
    }

    fn end(&self, device: i32, site: &Site, step: &Step<'_>) {
        let start = STARTS.try_with(|starts| starts.borrow_mut().pop()).ok().flatten();
        let time = start.map_or(Duration::ZERO, |start| start.elapsed());
        match *step {
            Step::ToDevice { host, device: to, size, label } => {
                end_copy_to(device, site, &Copy { host, storage: to, size, label, time });
            }
            Step::FromDevice { host, device: from, size, label } => {
                end_copy_back(device, site, &Copy { host, storage: from, size, label, time });
            }
            Step::Fill { device: to, byte, size } => give(device, to, &vec![*byte; size]),
            Step::BetweenDevices { to_device, to, size, .. } => {
                if let Some(now) = storage_has(to_device, to, size) {
                    give(to_device, to, &now);
                }
            }
            Step::Launch { launch, .. } => {
                let name = gangway_trace::pretty_kernel_name(launch.name).into_owned();
                end_launch(device, site, &name);
            }
            Step::Associate { host, device: storage, size } => {
                map(device, host, storage, size, Label::NONE);
            }
            Step::Disassociate { host, removed: Some(_) } => unmap(device, host),
            _ => return,
        }
        match *step {
            Step::ToDevice { host, size, .. } | Step::FromDevice { host, size, .. } => {
                pages::end_use(User::Runtime, host, size);
            }
            Step::Launch { .. } => pages::end_use(User::Runtime, 0, usize::MAX),
            _ => {}
        }
        pages::close();
        told::tell_waiting();
    }

    fn mapping(&self, device: i32, event: &MappingEvent) {
        match event.change {
            MappingChange::Created => map(device, event.host, event.device, event.size, event.label),
            MappingChange::Removed => unmap(device, event.host),
            _ => {}
        }
    }
}

/// A copy that has been made.
struct Copy {
    host: usize,
    storage: DevicePtr,
    size: usize,
    label: Label,
    time: Duration,
}

fn with<R>(work: impl FnOnce(&mut Tracker) -> R) -> Option<R> {
    TRACKER.try_with(work)
}

fn map(device: i32, host: usize, storage: DevicePtr, size: usize, label: Label) {
    if size == 0 {
        return;
    }
    pages::begin_use(User::Runtime, host, size);
    let now = room_for((host, device), size, label).then(|| contents::read(host, size)).flatten();
    pages::end_use(User::Runtime, host, size);
    let Some(now) = now else { return };
    let key = (host, device);
    READING.try_with(|()| {
        with(|tracker| {
            let name = tracker.label_number(label);
            tracker.ledger.map(key, storage.0, name, now);
        });
        let Some(device) = self::device(device) else { return };
        read_storage(device, storage, size, |offset, there| {
            // What others have done with this storage before.
            let _ = device.take_accesses(DevicePtr(storage.0 + offset), there.len());
            with(|tracker| {
                if let Some(pair) = tracker.ledger.get_mut(key) {
                    pair.begins_with(offset, there);
                }
            });
        });
    });
    host_accesses::watch(host, size);
    if !notes_accesses(device) {
        host_accesses::watch(storage.0, size);
    }
    pages::close();
}

/// Bytes that are kept of one that is mapped, with room for copies.
const KEPT: usize = 5;
/// From which size on the machine's memory is looked at.
const LARGE: usize = 64 << 20;

/// Ranges that are mapped and not looked at.
static TOO_LARGE: Lock<Vec<Key>> = Lock::new(Vec::new());

/// Whether there is memory for what is to be known of a range. It is said if there is not.
fn room_for(key: Key, size: usize, label: Label) -> bool {
    if size < LARGE {
        return true;
    }
    if TOO_LARGE.try_with(|all| all.contains(&key)) == Some(true) {
        return false;
    }
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available =
        text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB"));
    let Some(available) = available.and_then(|kib| kib.trim().parse::<usize>().ok()) else { return true };
    let fits = size / 1024 <= available / 2 / KEPT;
    if !fits {
        TOO_LARGE.try_with(|all| all.push(key));
        print_line(format_args!(
            "gangway: note: --check=map: there is no memory to look at {}",
            told::variable(label, 0, size)
        ));
    }
    fits
}

/// Taken while the storage of pairs is read, and while one leaves: its storage is freed behind that.
pub static READING: Lock<()> = Lock::new(());

/// Tells of a copy from or to memory that ends before the copy does, which is about to end the program.
fn see_whole(site: &Site, host: usize, size: usize, label: Label) {
    let Some(there) = contents::ends_before(host, size) else { return };
    with(|tracker| {
        let place = tracker.places.add(Place::construct(site));
        let name = tracker.label_number(label);
        let of = (host, size, name);
        tracker.note_of(Mistake::Exceeds, of, Stale { offset: there, bytes: size - there, origin: 0 }, place);
    });
    told::tell_waiting();
}

fn unmap(device: i32, host: usize) {
    advice::over((host, device), false);
    TOO_LARGE.try_with(|all| all.retain(|key| *key != (host, device)));
    READING.try_with(|()| {
        watch_reads(device, (host, device), false);
        with(|tracker| tracker.ledger.unmap((host, device)))
    });
}

/// Has reads of a pair noted one by one from now on, or not any more. The caller has `READING`.
fn watch_reads(number: i32, key: Key, whether: bool) {
    let change = with(|tracker| {
        let pair = tracker.ledger.get(key)?;
        let at = tracker.watched.iter().position(|watched| *watched == key);
        match at {
            None if whether => tracker.watched.push(key),
            Some(at) if !whether => drop(tracker.watched.swap_remove(at)),
            _ => return None,
        }
        Some((DevicePtr(pair.storage()), pair.size()))
    });
    if let (Some(Some((storage, size))), Some(device)) = (change, device(number)) {
        device.watch_reads(storage, size, whether);
    }
}

/// The part of a pair that a copy is about, if both its ends are that pair's.
fn matching(
    tracker: &Tracker,
    device: i32,
    host: usize,
    storage: DevicePtr,
    size: usize,
) -> Option<(Key, usize)> {
    let (key, pair) = tracker.ledger.at_storage(device, storage.0)?;
    let offset = storage.0 - pair.storage();
    (pair.host() + offset == host && offset + size <= pair.size()).then_some((key, offset))
}

fn begin_copy_back(device: i32, site: &Site, host: usize, from: DevicePtr, size: usize) {
    let found = with(|tracker| {
        tracker.begin_copy(host..host + size);
        let (key, offset) = matching(tracker, device, host, from, size)?;
        Some((key, offset, tracker.places.add(Place::construct(site))))
    });
    let Some((key, begin, place)) = found.flatten() else { return };
    contents::of_host(host, size, |offset, now| {
        with(|tracker| {
            tracker.ledger.get_mut(key)?.see_host(begin + offset, now, 0);
            Some(())
        });
    });
    with(|tracker| {
        let lost = tracker.ledger.get(key)?.copies_back(begin..begin + size).lost?;
        tracker.note(Mistake::Overwrites, key, lost, place);
        Some(())
    });
}

/// Whether what a device is given is the address of what is mapped there: a pointer that a routine attaches has a value
/// of its own on each side.
fn is_storage(device: i32, given: &[u8]) -> bool {
    let Ok(address) = given.try_into().map(usize::from_ne_bytes) else { return false };
    with(|tracker| tracker.ledger.at_storage(device, address).map(|_| ())).flatten().is_some()
}

fn end_copy_to(device: i32, site: &Site, copy: &Copy) {
    let Copy { host, storage, size, label, time } = *copy;
    add_global(device, host, storage, size);
    let found = with(|tracker| matching(tracker, device, host, storage, size)).flatten();
    let Some((key, begin)) = found else {
        let of = with(|tracker| {
            let (_, pair) = tracker.ledger.at_storage(device, storage.0)?;
            Some(size.min(pair.storage() + pair.size() - storage.0))
        });
        let Some(now) = of.flatten().and_then(|part| contents::read(host, part)) else { return };
        if label == Label::NONE && !is_storage(device, &now) {
            // A routine of the program's.
            give(device, storage, &now);
        } else {
            // The device's address of what a pointer points to.
            with(|tracker| {
                let (key, pair) = tracker.ledger.at_storage(device, storage.0)?;
                let range = storage.0 - pair.storage()..storage.0 - pair.storage() + now.len();
                tracker.ledger.get_mut(key)?.set_apart(range, Some(&now));
                Some(())
            });
        }
        return;
    };
    let mut in_vain = true;
    contents::of_host(host, size, |offset, now| {
        let copied =
            with(|tracker| Some(tracker.ledger.get_mut(key)?.copied_to(begin + offset, now).in_vain));
        in_vain &= copied.flatten() == Some(true);
    });
    let Some(Some((host, pair_size))) =
        with(|tracker| tracker.ledger.get(key).map(|pair| (pair.host(), pair.size())))
    else {
        return;
    };
    advice::over(key, true);
    let (source, direction) = (source(site), Direction::To);
    let copied = Copied { source, label, host, bytes: size, size: pair_size, direction, in_vain, time };
    let watched = size == pair_size && notes_accesses(device);
    advice::add(copied, watched.then_some(key));
}

fn end_copy_back(device: i32, site: &Site, copy: &Copy) {
    see_copy_back(device, site, copy);
    with(|tracker| tracker.end_copy(&(copy.host..copy.host + copy.size)));
}

fn see_copy_back(device: i32, site: &Site, copy: &Copy) {
    let Copy { host, storage, size, label, time } = *copy;
    add_global(device, host, storage, size);
    let found = with(|tracker| {
        let (key, begin) = matching(tracker, device, host, storage, size)?;
        let pair = tracker.ledger.get(key)?;
        Some((key, begin, pair.host(), pair.size(), pair.copies_back(begin..begin + size).in_vain))
    });
    let Some((key, begin, pair_host, pair_size, in_vain)) = found.flatten() else { return };
    contents::of_host(host, size, |offset, now| {
        with(|tracker| {
            tracker.ledger.get_mut(key)?.copied_back(begin + offset, now);
            tracker.ledger.host_is_given(key, host + offset, now);
            Some(())
        });
    });
    let (source, direction) = (source(site), Direction::From);
    let copied =
        Copied { source, label, host: pair_host, bytes: size, size: pair_size, direction, in_vain, time };
    advice::add(copied, None);
}

/// Makes a pair of what is in the present table since before anybody was told: variables of images.
fn add_global(number: i32, host: usize, storage: DevicePtr, size: usize) {
    let is_known = with(|tracker| matching(tracker, number, host, storage, size).is_some());
    let Some(device) = device(number).filter(|_| is_known == Some(false)) else { return };
    if let Relation::Contained(entry) | Relation::Partial(entry) = device.table.lookup(host, size) {
        Variable::lasting(entry).iter().for_each(|variable| add_entry(number, variable));
    }
}

/// A variable of an image, which its entry of the present table describes.
struct Variable {
    host: usize,
    size: usize,
    storage: DevicePtr,
    label: Label,
}

impl Variable {
    /// Others come and go with constructs, which tell of them: one may have no storage yet, or be another's by now.
    fn lasting(entry: EntryRef<'_>) -> Option<Self> {
        let host = entry.host_begin();
        let size = entry.host_end().saturating_sub(host);
        let this = Self { host, size, storage: entry.translate(host), label: entry.label() };
        entry.is_lasting().then_some(this)
    }
}

fn add_entry(device: i32, variable: &Variable) {
    let Variable { host, size, storage, label } = *variable;
    let is_known = with(|tracker| tracker.ledger.at_storage(device, storage.0).is_some());
    if is_known != Some(false) || size == 0 || storage.0 == host || !room_for((host, device), size, label) {
        return;
    }
    let (Some(now), Some(there)) = (contents::read(host, size), storage_has(device, storage, size)) else {
        return;
    };
    with(|tracker| {
        let name = tracker.label_number(label);
        let pair = tracker.ledger.map((host, device), storage.0, name, &now[..]);
        if there.iter().all(|byte| *byte == 0) {
            // Nobody has written it there, and the host began with the same.
            pair.copied_to(0, &there);
            pair.see_host(0, &now, 0);
        } else {
            // Constructors may have given each side its own.
            pair.device_is_given(0, &there);
        }
    });
    host_accesses::watch(host, size);
}

/// Storage that is given a value by no kernel.
fn give(device: i32, storage: DevicePtr, now: &[u8]) {
    with(|tracker| {
        let Some((key, pair)) = tracker.ledger.at_storage(device, storage.0) else { return };
        let offset = storage.0 - pair.storage();
        let size = now.len().min(pair.size() - offset);
        if let Some(pair) = tracker.ledger.get_mut(key) {
            pair.device_is_given(offset, &now[..size]);
        }
    });
}

fn device(number: i32) -> Option<&'static Device> {
    RUNTIME.numbered_devices().find(|device| device.number() == number)
}

fn storage_has(number: i32, storage: DevicePtr, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    // SAFETY: storage of an entry, which the operation that has just ended was about, or a kernel that is counted there.
    unsafe { device(number)?.read_memory(storage, &mut bytes) }.then_some(bytes)
}

/// Has `look` see storage of an entry, a part after the other, with its offset. The caller has `READING`.
fn read_storage(device: &Device, storage: DevicePtr, size: usize, mut look: impl FnMut(usize, &[u8])) {
    contents::by_parts(size, |offset, now| {
        // SAFETY: it is not freed as long as `READING` is taken.
        let done = unsafe { device.read_memory(DevicePtr(storage.0 + offset), now) };
        if done {
            look(offset, now);
        }
        done
    });
}

fn notes_accesses(number: i32) -> bool {
    device(number).is_some_and(|device| device.take_accesses(DevicePtr(0), 0).is_some())
}

/// The pairs of a device: where they are, how large, and their storage.
fn pairs_of(tracker: &Tracker, device: i32) -> Vec<(Key, usize, DevicePtr)> {
    let keys = tracker.ledger.present_on(device).into_iter();
    keys.filter_map(|key| {
        let pair = tracker.ledger.get(key)?;
        Some((key, pair.size(), DevicePtr(pair.storage())))
    })
    .collect()
}

fn begin_launch(number: i32) {
    TOLD.set(accesses::by_kernels());
    if let Some(device) = device(number) {
        READING.try_with(|()| see_hosts(device));
    }
}

/// What the program has written. Other threads may be about to map, to copy and to unmap.
fn see_hosts(device: &'static Device) {
    let number = device.number();
    let variables: Vec<Variable> = device.table.entries().into_iter().filter_map(Variable::lasting).collect();
    variables.iter().for_each(|variable| add_entry(number, variable));
    let mut written = with(|tracker| std::mem::take(&mut tracker.left)).unwrap_or_default();
    let pairs = with(|tracker| pairs_of(tracker, number)).unwrap_or_default();
    for &((host, _), size, _) in &pairs {
        match dirty::written(host, size) {
            Some(parts) => written.extend(parts),
            None => written.push(host..host + size),
        }
    }
    for Range { start, end } in written {
        contents::by_parts(end - start, |offset, now| {
            let host = start + offset;
            // Read while nobody else tells of a copy: what that brings is no write of the program's.
            let seen = with(|tracker| {
                let part = host..host + now.len();
                if tracker.is_copying(&part) {
                    tracker.left.push(part);
                    return true;
                }
                if !contents::read_into(host, now) {
                    return false;
                }
                tracker.ledger.see_host(host, now);
                true
            });
            seen == Some(true)
        });
    }
    if notes_accesses(number) {
        for &(key, ..) in &pairs {
            let has_newer =
                |tracker: &mut Tracker| tracker.ledger.get(key).is_some_and(Pair::has_newer_on_host);
            watch_reads(number, key, with(has_newer) == Some(true));
        }
    }
}

fn end_launch(number: i32, site: &Site, kernel: &str) {
    if let Some(device) = device(number) {
        READING.try_with(|()| see_launch(device, site, kernel));
    }
}

fn see_launch(device: &'static Device, site: &Site, kernel: &str) {
    let number = device.number();
    let pairs = with(|tracker| pairs_of(tracker, number)).unwrap_or_default();
    let origin = with(|tracker| tracker.places.add(Place::kernel(kernel, site))).unwrap_or_default();
    // What a kernel tells it tells exactly.
    let told = accesses::by_kernels() != TOLD.replace(accesses::by_kernels());
    let unseen = device.take_accesses(DevicePtr(0), 0).map(|accesses| accesses.unseen);
    let is_unseen =
        unseen.map(|unseen| with(|tracker| tracker.has_more_unseen(number, unseen)) == Some(true));
    let mut noted = Noted { kernel, places: HashMap::new(), launch: origin };
    for (key, size, storage) in pairs {
        let accesses = device.take_accesses(storage, size);
        let all = || std::iter::once(0..size).collect::<Vec<_>>();
        // What may have changed, and what the kernel has said that it has written.
        let (changed, written) = match &accesses {
            None => {
                let parts = dirty::written(storage.0, size).map_or_else(all, |parts| {
                    parts.into_iter().map(|part| part.start - storage.0..part.end - storage.0).collect()
                });
                (parts, Vec::new())
            }
            Some(_) if is_unseen == Some(true) => (all(), Vec::new()),
            Some(accesses) => {
                let blocks = |kind| blocks_of(accesses, kind, storage, size);
                (blocks(AccessKind::Change), blocks(AccessKind::Write))
            }
        };
        let is_same = |pair: &Pair| pair.storage() == storage.0 && pair.size() == size;
        let still = |tracker: &Tracker| tracker.ledger.get(key).is_some_and(is_same);
        if let Some(accesses) = &accesses {
            noted.find_places(device, accesses);
            with(|tracker| still(tracker).then(|| noted.see_reads(tracker, key, storage, accesses)));
        }
        let changed = changed.into_iter().map(|range| (range, true));
        for (Range { start, end }, changed) in changed.chain(written.into_iter().map(|range| (range, false)))
        {
            read_storage(device, DevicePtr(storage.0 + start), end - start, |offset, now| {
                with(|tracker| {
                    if !still(tracker) {
                        return;
                    }
                    match tracker.ledger.get_mut(key) {
                        Some(pair) if changed => {
                            pair.see_device(start + offset, now, origin, told || accesses.is_some());
                        }
                        Some(pair) => pair.device_has(start + offset, now),
                        None => {}
                    }
                });
            });
        }
        if let Some(accesses) = &accesses {
            with(|tracker| still(tracker).then(|| noted.see_writes(tracker, key, storage, accesses)));
        }
    }
}

/// The parts of a pair that have been accessed in one way, as offsets and in whole blocks, of which many are read at once.
fn blocks_of(accesses: &Accesses, kind: AccessKind, storage: DevicePtr, size: usize) -> Vec<Range<usize>> {
    const BLOCK: usize = 4096;
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for accessed in accesses.accessed.iter().filter(|accessed| accessed.kind == kind) {
        let begin = accessed.from.0 - storage.0;
        let end = (begin + accessed.size).next_multiple_of(BLOCK).min(size);
        let begin = begin / BLOCK * BLOCK;
        match blocks.last_mut() {
            Some(last) if last.start <= begin && begin <= last.end => last.end = last.end.max(end),
            _ => blocks.push(begin..end),
        }
    }
    blocks
}

/// What a kernel has accessed, where that is noted.
struct Noted<'a> {
    kernel: &'a str,
    /// By their numbers: the driver's place, and the tracker's number once it has one.
    places: HashMap<u32, (Place, Option<u32>)>,
    /// The tracker's number of the launch.
    launch: u32,
}

impl Noted<'_> {
    /// Asks the driver for places that are not known.
    fn find_places(&mut self, device: &Device, accesses: &Accesses) {
        let mut last = 0;
        for &Accessed { number, .. } in &accesses.accessed {
            if number == 0 || number == last || self.places.contains_key(&number) {
                continue;
            }
            last = number;
            if let Some(place) = device.access_place(number) {
                let source = place.source.map(Source::from);
                let (kernel, instruction) = (self.kernel.to_owned(), place.instruction);
                let place = Place::Kernel { kernel, source, code: 0, instruction };
                self.places.insert(number, (place, None));
            }
        }
    }

    /// The tracker's number of a place.
    fn place(&mut self, tracker: &mut Tracker, number: u32) -> u32 {
        let Some((place, known)) = self.places.get_mut(&number) else { return self.launch };
        *known.get_or_insert_with(|| tracker.places.add(place.clone()))
    }

    /// What has been read of a pair, before what has been written is known.
    fn see_reads(&mut self, tracker: &mut Tracker, key: Key, storage: DevicePtr, accesses: &Accesses) {
        let reads = || accesses.accessed.iter().filter(|accessed| accessed.kind == AccessKind::Read);
        if reads().next().is_some() {
            advice::read(key);
        }
        // The first old byte that each instruction has read, and how many.
        let mut old: Vec<(u32, Stale)> = Vec::new();
        if let Some(pair) = tracker.ledger.get(key).filter(|pair| pair.has_newer_on_host()) {
            for accessed in reads().filter(|accessed| accessed.number != 0) {
                let begin = accessed.from.0 - storage.0;
                let Some(stale) = pair.device_reads(begin..begin + accessed.size) else { continue };
                match old.iter_mut().find(|(number, _)| *number == accessed.number) {
                    Some((_, first)) => first.bytes += stale.bytes,
                    None => old.push((accessed.number, stale)),
                }
            }
        }
        for (number, stale) in old {
            let place = self.place(tracker, number);
            tracker.note(Mistake::DeviceReads, key, stale, place);
        }
    }

    /// What has been written of a pair, whose contents have been seen.
    fn see_writes(&mut self, tracker: &mut Tracker, key: Key, storage: DevicePtr, accesses: &Accesses) {
        for accessed in accesses.accessed.iter().filter(|accessed| accessed.kind == AccessKind::Write) {
            let origin = self.place(tracker, accessed.number);
            let begin = accessed.from.0 - storage.0;
            if let Some(pair) = tracker.ledger.get_mut(key) {
                pair.device_wrote(begin..begin + accessed.size, origin);
            }
        }
    }
}
