//! Random programs, compared with what the rules say about the order of every two operations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use gangway_streams::{Blocking, Context, Event};
use proptest::prelude::*;

/// A line of a program. Stream 0 is the legacy one, 1 and 2 are blocking, the others are not.
#[derive(Clone, Copy, Debug)]
enum Line {
    Submit(usize),
    SubmitHost(usize),
    Record(usize, usize),
    Wait(usize, usize),
    Synchronize(usize),
    SynchronizeEvent(usize),
    SynchronizeAll,
}

const STREAMS: usize = 5;
const EVENTS: usize = 3;

fn line() -> impl Strategy<Value = Line> {
    let stream = 0..STREAMS;
    let event = 0..EVENTS;
    prop_oneof![
        8 => stream.clone().prop_map(Line::Submit),
        2 => stream.clone().prop_map(Line::SubmitHost),
        3 => (stream.clone(), event.clone()).prop_map(|(stream, event)| Line::Record(stream, event)),
        3 => (stream.clone(), event.clone()).prop_map(|(stream, event)| Line::Wait(stream, event)),
        1 => stream.prop_map(Line::Synchronize),
        1 => event.prop_map(Line::SynchronizeEvent),
        1 => Just(Line::SynchronizeAll),
    ]
}

/// The model: for each stream and event, the operations that have ended before anything that is
/// submitted there (or waits for it) begins. Sets of operations as bits.
#[derive(Clone, Copy, Default)]
struct Before {
    streams: [u128; STREAMS],
    events: [u128; EVENTS],
    /// Ended for sure.
    done: u128,
}

impl Before {
    /// What an operation of a stream comes after.
    fn of(&self, stream: usize) -> u128 {
        match stream {
            0 => self.streams[0] | self.streams[1] | self.streams[2],
            1 | 2 => self.streams[stream] | self.streams[0],
            _ => self.streams[stream],
        }
    }
}

/// When an operation began and ended, in ticks of a common clock.
type Times = Arc<Mutex<Vec<(u64, u64)>>>;

fn run(program: &[Line]) -> Result<(), TestCaseError> {
    let context = Context::new();
    let create = |blocking| context.create_stream(blocking, 0);
    let streams = [
        context.legacy().clone(),
        create(Blocking::WithLegacy),
        create(Blocking::WithLegacy),
        create(Blocking::Independent),
        create(Blocking::Independent),
    ];
    let events = [Event::new(false), Event::new(true), Event::new(true)];
    let clock = Arc::new(AtomicU64::new(1));
    let times = Times::default();
    let mut model = Before::default();
    let mut after = Vec::new();
    for &line in program {
        match line {
            Line::Submit(stream) | Line::SubmitHost(stream) => {
                let number = after.len();
                after.push(model.of(stream));
                model.streams[stream] = model.of(stream) | 1 << number;
                times.lock().unwrap().push((0, 0));
                let (clock, times) = (clock.clone(), times.clone());
                let work = move || {
                    let began = clock.fetch_add(1, Ordering::SeqCst);
                    if number % 3 == 0 {
                        std::thread::yield_now();
                    }
                    times.lock().unwrap()[number] = (began, clock.fetch_add(1, Ordering::SeqCst));
                    Ok(())
                };
                match line {
                    Line::SubmitHost(_) => streams[stream].submit_host(work).unwrap(),
                    _ => streams[stream].submit(work).unwrap(),
                }
            }
            Line::Record(stream, event) => {
                model.events[event] = model.of(stream);
                streams[stream].record(&events[event]).unwrap();
            }
            Line::Wait(stream, event) => {
                model.streams[stream] |= model.events[event];
                streams[stream].wait(&events[event]).unwrap();
            }
            Line::Synchronize(stream) => {
                streams[stream].synchronize().unwrap();
                model.done |= model.of(stream);
            }
            Line::SynchronizeEvent(event) => {
                events[event].synchronize().unwrap();
                model.done |= model.events[event];
            }
            Line::SynchronizeAll => {
                context.synchronize().unwrap();
                model.done |= model.streams.iter().fold(0, |all, stream| all | stream);
            }
        }
        let times = times.lock().unwrap();
        for (number, time) in times.iter().enumerate() {
            prop_assert!(
                model.done >> number & 1 == 0 || time.1 > 0,
                "operation {number} has not ended in time"
            );
        }
    }
    context.synchronize().unwrap();
    let times = times.lock().unwrap();
    for (number, (began, ended)) in times.iter().enumerate() {
        prop_assert!(*ended > *began && *began > 0, "operation {number} has not run");
        for (earlier, time) in times.iter().enumerate().take(number) {
            let ordered = after[number] >> earlier & 1 == 1;
            prop_assert!(!ordered || time.1 < *began, "operation {number} began before {earlier} had ended");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn order_is_as_the_rules_say(program in prop::collection::vec(line(), 1..100)) {
        run(&program)?;
    }
}
