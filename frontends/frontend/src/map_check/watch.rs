//! What the runtime does, told to the tracker.

use super::advice::{self, Copied, Direction};
use super::lock::Lock;
use super::places::{Place, source};
use super::tracker::{Mistake, TRACKER, Tracker};
use super::{accesses, contents, pages, told};
use crate::host_accesses;
use crate::state::RUNTIME;
use gangway_backend::{Accesses, DevicePtr};
use gangway_findings::Source;
use gangway_freshness::{Key, Pair, Stale};
use gangway_runtime::events::{MappingChange, MappingEvent, Observer, Site, Step};
use gangway_runtime::present::{EntryRef, Relation};
use gangway_runtime::{Device, Label};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
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
            Step::ToDevice { host, size, .. } => pages::open(host, size),
            Step::FromDevice { host, device: from, size, .. } => {
                pages::open(host, size);
                begin_copy_back(device, site, host, from, size);
            }
            Step::Launch { .. } => {
                pages::open_all();
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
    pages::open(host, size);
    let Some(now) = contents::read(host, size) else { return };
    if let Some(device) = self::device(device) {
        // What others have done with this storage before.
        let _ = device.take_accesses(storage, size);
    }
    let there = storage_has(device, storage, size);
    with(|tracker| {
        let name = tracker.label_number(label);
        let pair = tracker.ledger.map((host, device), storage.0, name, &now);
        if let Some(there) = there {
            pair.begins_with(&there);
        }
    });
    host_accesses::watch(host, size);
    if !notes_accesses(device) {
        host_accesses::watch(storage.0, size);
    }
    pages::close();
}

/// Taken while the storage of pairs is read, and while one leaves: its storage is freed behind that.
pub static READING: Lock<()> = Lock::new(());

fn unmap(device: i32, host: usize) {
    advice::over((host, device), false);
    READING.try_with(|()| with(|tracker| tracker.ledger.unmap((host, device))));
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
    let Some(now) = contents::read(host, size) else { return };
    with(|tracker| {
        tracker.begin_copy(host..host + size);
        let Some((key, offset)) = matching(tracker, device, host, from, size) else { return };
        let place = tracker.places.add(Place::construct(site));
        let Some(pair) = tracker.ledger.get_mut(key) else { return };
        pair.see_host(offset, &now, 0);
        if let Some(stale) = pair.copies_back(offset..offset + size).lost {
            tracker.note(Mistake::Overwrites, key, stale, place);
        }
    });
}

fn end_copy_to(device: i32, site: &Site, copy: &Copy) {
    let Copy { host, storage, size, label, time } = *copy;
    let Some(now) = contents::read(host, size) else { return };
    add_global(device, host, storage, size);
    let copied = with(|tracker| {
        if let Some((key, offset)) = matching(tracker, device, host, storage, size) {
            let pair = tracker.ledger.get_mut(key)?;
            let is_whole = size == pair.size();
            let (host, size) = (pair.host(), pair.size());
            return Some((key, host, size, is_whole, pair.copied_to(offset, &now).in_vain));
        }
        let (key, pair) = tracker.ledger.at_storage(device, storage.0)?;
        let offset = storage.0 - pair.storage();
        let part = size.min(pair.size() - offset);
        let pair = tracker.ledger.get_mut(key)?;
        if label == Label::NONE {
            // A routine of the program's.
            pair.device_is_given(offset, &now[..part]);
        } else {
            // The device's address of what a pointer points to.
            pair.set_apart(offset..offset + part, Some(&now[..part]));
        }
        None
    });
    if let Some((key, host, pair_size, is_whole, in_vain)) = copied.flatten() {
        advice::over(key, true);
        let (source, direction) = (source(site), Direction::To);
        let copied = Copied { source, label, host, bytes: size, size: pair_size, direction, in_vain, time };
        let watched = is_whole && notes_accesses(device);
        advice::add(copied, watched.then_some(key));
    }
}

fn end_copy_back(device: i32, site: &Site, copy: &Copy) {
    let Copy { host, storage, size, label, time } = *copy;
    let Some(now) = contents::read(host, size) else {
        with(|tracker| tracker.end_copy(&(host..host + size)));
        return;
    };
    add_global(device, host, storage, size);
    let copied = with(|tracker| {
        tracker.end_copy(&(host..host + size));
        let (key, offset) = matching(tracker, device, host, storage, size)?;
        let pair = tracker.ledger.get_mut(key)?;
        let in_vain = pair.copies_back(offset..offset + size).in_vain;
        pair.copied_back(offset, &now);
        let (begin, pair_size) = (pair.host(), pair.size());
        tracker.ledger.host_is_given(key, host, &now);
        Some((begin, pair_size, in_vain))
    });
    if let Some((host, pair_size, in_vain)) = copied.flatten() {
        let (source, direction) = (source(site), Direction::From);
        let copied = Copied { source, label, host, bytes: size, size: pair_size, direction, in_vain, time };
        advice::add(copied, None);
    }
}

/// Makes a pair of what is in the present table since before anybody was told: variables of images.
fn add_global(number: i32, host: usize, storage: DevicePtr, size: usize) {
    let is_known = with(|tracker| matching(tracker, number, host, storage, size).is_some());
    let Some(device) = device(number).filter(|_| is_known == Some(false)) else { return };
    if let Relation::Contained(entry) | Relation::Partial(entry) = device.table.lookup(host, size) {
        add_entry(number, &Variable::of(entry));
    }
}

/// What an entry of the present table says.
struct Variable {
    host: usize,
    size: usize,
    storage: DevicePtr,
    label: Label,
}

impl Variable {
    fn of(entry: EntryRef<'_>) -> Self {
        let host = entry.host_begin();
        let size = entry.host_end().saturating_sub(host);
        Self { host, size, storage: entry.translate(host), label: entry.label() }
    }
}

fn add_entry(device: i32, variable: &Variable) {
    let Variable { host, size, storage, label } = *variable;
    let is_known = with(|tracker| tracker.ledger.at_storage(device, storage.0).is_some());
    if is_known != Some(false) || size == 0 || storage.0 == host {
        return;
    }
    let (Some(now), Some(there)) = (contents::read(host, size), storage_has(device, storage, size)) else {
        return;
    };
    with(|tracker| {
        let name = tracker.label_number(label);
        let pair = tracker.ledger.map((host, device), storage.0, name, &now);
        if there.iter().all(|byte| *byte == 0) {
            // Nobody has written it there, and the host began with the same.
            pair.copied_to(0, &there);
            pair.see_host(0, &now, 0);
        } else {
            // Constructors may have given each side its own.
            pair.device_is_given(0, &there);
        }
    });
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
    let variables: Vec<Variable> = device.table.entries().into_iter().map(Variable::of).collect();
    variables.iter().for_each(|variable| add_entry(number, variable));
    for (key, size, _) in with(|tracker| pairs_of(tracker, number)).unwrap_or_default() {
        with(|tracker| {
            // Read while nobody else tells of a copy: what that brings is no write of the program's.
            if tracker.is_copying(&(key.0..key.0 + size)) {
                return;
            }
            let Some(now) = contents::read(key.0, size) else { return };
            if let Some(pair) = tracker.ledger.get_mut(key).filter(|pair| pair.size() == size) {
                pair.see_host(0, &now, 0);
            }
        });
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
    for (key, size, storage) in pairs {
        let Some(now) = storage_has(number, storage, size) else { continue };
        let noted = device.take_accesses(storage, size).map(|accesses| Noted::of(device, kernel, accesses));
        with(|tracker| {
            let is_same = |pair: &Pair| pair.storage() == storage.0 && pair.size() == size;
            if !tracker.ledger.get(key).is_some_and(is_same) {
                return;
            }
            match noted {
                None => {
                    if let Some(pair) = tracker.ledger.get_mut(key) {
                        pair.see_device(0, &now, origin, told);
                    }
                }
                Some(noted) => noted.see(tracker, key, &now, origin),
            }
        });
    }
}

/// What a kernel has accessed of a pair, and nothing else.
struct Noted {
    accesses: Accesses,
    /// By their numbers.
    places: HashMap<u32, Place>,
}

impl Noted {
    fn of(device: &Device, kernel: &str, accesses: Accesses) -> Self {
        let mut places = HashMap::new();
        let mut last = 0;
        for &number in accesses.first_reads.iter().chain(&accesses.writes) {
            if number == 0 || number == last || places.contains_key(&number) {
                continue;
            }
            last = number;
            if let Some(place) = device.access_place(number) {
                let source = place.source.map(Source::from);
                let (kernel, instruction) = (kernel.to_owned(), place.instruction);
                places.insert(number, Place::Kernel { kernel, source, code: 0, instruction });
            }
        }
        Self { accesses, places }
    }

    /// The tracker's number of a place; `launch` is that of the kernel.
    fn place(&self, tracker: &mut Tracker, number: u32, launch: u32) -> u32 {
        self.places.get(&number).map_or(launch, |place| tracker.places.add(place.clone()))
    }

    fn see(&self, tracker: &mut Tracker, key: Key, now: &[u8], launch: u32) {
        let Accesses { first_reads, writes } = &self.accesses;
        if first_reads.iter().any(|read| *read != 0) {
            advice::read(key);
        }
        // The first old byte that each instruction has read, and how many.
        let mut old: Vec<(u32, Stale)> = Vec::new();
        if let Some(pair) = tracker.ledger.get(key).filter(|pair| pair.has_newer_on_host()) {
            for (offset, &read) in first_reads.iter().enumerate().filter(|(_, read)| **read != 0) {
                let Some(stale) = pair.reads_old_on_device(offset) else { continue };
                match old.iter_mut().find(|(number, _)| *number == read) {
                    Some((_, first)) => first.bytes += 1,
                    None => old.push((read, stale)),
                }
            }
        }
        for (number, stale) in old {
            let place = self.place(tracker, number, launch);
            tracker.note(Mistake::DeviceReads, key, stale, place);
        }
        if let Some(pair) = tracker.ledger.get_mut(key) {
            pair.see_device(0, now, launch, true);
        }
        let mut begin = 0;
        while let Some(&number) = writes.get(begin) {
            let length = writes[begin..].iter().take_while(|write| **write == number).count();
            if number != 0 {
                let origin = self.place(tracker, number, launch);
                if let Some(pair) = tracker.ledger.get_mut(key) {
                    pair.device_wrote(begin..begin + length, origin);
                }
            }
            begin += length;
        }
    }
}
