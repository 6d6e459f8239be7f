//! A device that writes anything into the channel of host calls: the host's reader answers what it
//! is asked, runs functions on the blocks that stand there, and touches no other port.
#![no_main]

use gangway_backend::HostCallOutcome;
use gangway_host_channel::{Channel, LANES, LARGEST, PIECE, Port, Request, WORDS};
use gangway_runtime::host_calls::channel::{Reader, Serve};
use libfuzzer_sys::fuzz_target;
use std::cell::{OnceCell, RefCell};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Ports that are written to.
const USED: usize = 4;
/// The device's memory: from this address on, so many bytes.
const MEMORY: u64 = 1 << 20;
const BYTES: usize = 1 << 16;

thread_local! {
    static CHANNEL: OnceCell<&'static Channel> = const { OnceCell::new() };
}

fn empty_channel() -> &'static Channel {
    let channel = CHANNEL.with(|channel| {
        // SAFETY: all zero is a channel without calls.
        *channel.get_or_init(|| Box::leak(unsafe { Box::<Channel>::new_zeroed().assume_init() }))
    });
    channel.doorbells.iter().for_each(|bell| bell.store(0, Relaxed));
    for port in &channel.ports[..USED] {
        (0..size_of::<Port>() / 4).for_each(|word| store(port, word, 0));
    }
    channel
}

/// Writes one of a port's words of four bytes, whatever it is for.
fn store(port: &Port, word: usize, value: u32) {
    let start = std::ptr::from_ref(port).cast::<AtomicU32>();
    // SAFETY: all of a port is atomic or never read; the word is within it.
    unsafe { &*start.add(word % (size_of::<Port>() / 4)) }.store(value, Relaxed);
}

/// What functions have been run on.
struct Device {
    memory: RefCell<Vec<u8>>,
    ran: RefCell<Vec<(u64, usize, Vec<u8>)>>,
}

impl Device {
    fn range(address: u64, size: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(address.checked_sub(MEMORY)?).ok()?;
        let end = start.checked_add(size)?;
        (end <= BYTES).then_some(start..end)
    }
}

impl Serve for Device {
    fn run(&self, function: u64, block: &mut [u8], _since: Option<u64>) -> HostCallOutcome {
        assert!(block.is_empty() || block.as_ptr().addr().is_multiple_of(16));
        assert!(block.len() as u64 <= LARGEST);
        self.ran.borrow_mut().push((function, block.len(), block[..block.len().min(PIECE)].to_vec()));
        block.iter_mut().for_each(|byte| *byte = !*byte);
        if function.is_multiple_of(7) { HostCallOutcome::NoSuchFunction } else { HostCallOutcome::Answered }
    }

    fn fetch(&self, address: u64, block: &mut [u8]) -> bool {
        let Some(range) = Self::range(address, block.len()) else { return false };
        block.copy_from_slice(&self.memory.borrow()[range]);
        true
    }

    fn give(&self, address: u64, block: &[u8]) -> bool {
        let Some(range) = Self::range(address, block.len()) else { return false };
        self.memory.borrow_mut()[range].copy_from_slice(block);
        true
    }
}

/// What the first piece of a lane's block holds, and how many bytes of it are the block's.
fn piece(port: &Port, lane: usize, size: usize) -> Vec<u8> {
    let words = (0..WORDS).flat_map(|word| port.words[word][lane].load(Relaxed).to_ne_bytes());
    words.take(size).collect()
}

/// Rings for a port, has it served, and checks what has come of it.
fn ring(channel: &Channel, reader: &Reader, device: &Device, number: usize) {
    let port = &channel.ports[number];
    let turn = channel.doorbells[number].load(Relaxed).wrapping_add(1);
    channel.doorbells[number].store(turn, Release);
    let request = Request::of(port.request.load(Relaxed));
    let mask = port.lanes.load(Relaxed);
    let sizes = port.size.each_ref().map(|size| size.load(Relaxed));
    let sent: Vec<_> =
        (0..LANES).map(|lane| piece(port, lane, sizes[lane].min(PIECE as u64) as usize)).collect();
    let others = |port: &Port| port.answered.load(Relaxed);
    let before: Vec<u32> = channel.ports[..USED].iter().map(others).collect();
    device.ran.borrow_mut().clear();

    let mut found = Vec::new();
    reader.take_news(&mut found);
    assert_eq!(found, [number]);
    found.into_iter().for_each(|port| reader.serve(port, None, device));

    assert_eq!(port.answered.load(Acquire), turn);
    for (other, answered) in before.into_iter().enumerate().filter(|(other, _)| *other != number) {
        assert_eq!(others(&channel.ports[other]), answered, "port {other} was not asked");
    }
    let ran = device.ran.borrow();
    let malformed = HostCallOutcome::Malformed.number();
    match request {
        None => {
            assert!(ran.is_empty());
            assert!(port.outcome.iter().all(|outcome| outcome.load(Relaxed) == malformed));
        }
        Some(Request::Begin | Request::More | Request::Next) => assert!(ran.is_empty()),
        Some(Request::Run) => {}
        Some(Request::BeginAndRun) => {
            let mut ran = ran.iter();
            for lane in (0..LANES).filter(|lane| mask & 1 << lane != 0) {
                let size = sizes[lane];
                let address = port.address[lane].load(Relaxed);
                let whole = match address {
                    0 => size <= PIECE as u64,
                    _ => size <= LARGEST && Device::range(address, size as usize).is_some(),
                };
                let outcome = port.outcome[lane].load(Relaxed);
                if !whole {
                    assert_eq!(outcome, malformed, "lane {lane} has {size} bytes at {address:#x}");
                    continue;
                }
                let (function, length, start) = ran.next().expect("a lane is left out");
                assert_eq!((*function, *length as u64), (port.function[lane].load(Relaxed), size));
                if address == 0 {
                    assert_eq!(start, &sent[lane]);
                    let answer: Vec<u8> = sent[lane].iter().map(|byte| !byte).collect();
                    assert_eq!(piece(port, lane, size as usize), answer);
                }
                let known = function % 7 != 0;
                assert_eq!(outcome, u32::from(!known));
            }
            assert!(ran.next().is_none());
        }
    }
}

/// What a byte stands for, so that sizes and addresses mean something now and then.
fn value(kind: u8, raw: u64) -> u64 {
    match kind % 8 {
        0..=2 => raw % 300,
        3 => MEMORY + raw % (BYTES as u64 + 100),
        4 => LARGEST + raw % 3 - 1,
        5 => u64::from(raw as u32),
        _ => raw,
    }
}

fuzz_target!(|data: &[u8]| {
    let channel = empty_channel();
    let reader = Reader::new(channel);
    let memory = RefCell::new((0..BYTES).map(|at| (at * 7) as u8).collect());
    let device = Device { memory, ran: RefCell::default() };
    for step in data.chunks_exact(12) {
        let number = usize::from(step[1]) % USED;
        let port = &channel.ports[number];
        let lane = usize::from(step[2]) % LANES;
        let raw = u64::from_le_bytes(std::array::from_fn(|at| step[4 + at]));
        let number_of = value(step[3], raw);
        let put = |words: &[AtomicU64; LANES], value: u64| words[lane].store(value, Relaxed);
        match step[0] % 10 {
            0 => port.request.store(number_of as u32, Relaxed),
            1 => port.lanes.store(raw as u32, Relaxed),
            2 => put(&port.function, number_of),
            // For a gigabyte that cannot be fetched the host has the memory all the same, which takes
            // long.
            3 if port.address[lane].load(Relaxed) == 0 || !(1 << 24..=LARGEST).contains(&number_of) => {
                put(&port.size, number_of);
            }
            4 if !(1 << 24..=LARGEST).contains(&port.size[lane].load(Relaxed)) => {
                put(&port.address, number_of);
            }
            5 => put(&port.words[usize::from(step[3]) % WORDS], raw),
            6 => store(port, raw as usize, (raw >> 32) as u32 & 0xff_ffff),
            7 => {
                port.request.store(u32::from(step[3]) % 6, Relaxed);
                ring(channel, &reader, &device, number);
            }
            8 => {
                port.request.store(Request::BeginAndRun as u32, Relaxed);
                port.lanes.store(1 << lane, Relaxed);
                put(&port.size, raw % (PIECE as u64 + 1));
                put(&port.address, 0);
                ring(channel, &reader, &device, number);
            }
            _ => ring(channel, &reader, &device, number),
        }
    }
});
