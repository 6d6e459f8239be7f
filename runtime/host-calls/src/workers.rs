//! The threads that serve a device's channel and its mailboxes.
//!
//! One of them, the watcher, looks for calls and runs their functions. Another one stands by
//! while there are calls: if a function takes long, it becomes the watcher, and the first one
//! only finishes what it runs. The functions of the other lanes of that port are run by the new
//! watcher first. So a short function costs no change of threads, and one that never returns
//! holds no other function up. Only the lanes of its warp have no answer before it returns, as a warp
//! has one answer for all.
//!
//! The watcher looks for a while and then sleeps: until the device rings, or where it does
//! not, for a part of the time since the last call. So a call is answered late by a small part of what
//! has passed since the one before it, and nobody looks often for what does not come. Looking does not pay where it keeps the
//! device's own threads from their processor, so that they ring as soon as it sleeps
//! ([`Patience`]). Where no kernel runs, nobody looks: the next launch wakes the watcher.
//!
//! A card could wake it, too: a stream that waits for a word of memory (`cuStreamWaitValue32`) and then calls
//! a function of the host. But whoever waits for the whole device, as CUDA programs do, would wait for that stream,
//! and each call would write one more word across the bus. What is left of looking is about a percent of one
//! processor while a kernel runs that could call and does not.

use crate::bell::Bell;
use crate::channel::{Reader, Serve};
use crate::functions;
use crate::mailboxes::{Mailboxes, REGION, Slot};
use gangway_backend::DevicePtr;
use gangway_host_channel::Channel;
use gangway_sync::spin_hint;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long the watcher looks before it first sleeps.
const LOOKING: Duration = Duration::from_micros(50);
/// So often looking may have been in vain before the watcher only sleeps, and so often it
/// sleeps before it tries to look again.
const IN_VAIN: u32 = 4;
const SLEEPS: u32 = 64;
/// Where the device does not ring, this part of the time since the last call is slept, and so
/// long at most: then the watcher takes a third of a percent of a processor.
const PART: u32 = 16;
const LONGEST: Duration = Duration::from_millis(1);
/// So long without a call, whether anything runs is asked, and again after so long.
const ASKING: Duration = Duration::from_millis(10);
/// How long the watcher rests while nothing runs. A launch ends it.
const REST: Duration = Duration::from_secs(60);
/// As long as a device that rings is believed to have nothing: a ring is never lost, so this
/// only bounds what a faulty device costs.
const RUNG: Duration = Duration::from_millis(100);
/// A function that runs for so long, or twice that, leaves the watch to another thread.
const LONG: Duration = Duration::from_millis(1);
/// So many times [`LONG`] without a call, the thread that stands by sleeps.
const CALM: u32 = 100;

pub(crate) struct Workers<S> {
    serve: S,
    /// The channel, and where the device sees it, once an image looks for one.
    channel: OnceLock<(Reader, DevicePtr)>,
    mailboxes: Mailboxes,
    rings: bool,
    crew: Mutex<Crew>,
    /// There are calls: the thread that stands by looks after the watcher.
    busy: Condvar,
    alert: AtomicBool,
    /// Functions begun and ended: odd while the watcher runs one.
    steps: AtomicU64,
    bell: Bell,
    /// The watcher waits for a launch.
    rests: AtomicBool,
}

/// Whether the watcher looks before it sleeps, on a device that rings.
#[derive(Debug, Default)]
struct Patience {
    /// Looks in a row that have found nothing, and behind which the device rang at once.
    in_vain: u32,
    /// Sleeps without looking.
    sleeps: u32,
}

impl Patience {
    fn looks(&self) -> bool {
        self.in_vain < IN_VAIN || self.sleeps >= SLEEPS
    }

    /// Looking has found something.
    fn found(&mut self) {
        *self = Self::default();
    }

    /// The watcher has slept: for a moment only, or for longer.
    fn slept(&mut self, shortly: bool) {
        if self.in_vain >= IN_VAIN {
            self.sleeps = if self.sleeps >= SLEEPS { 0 } else { self.sleeps + 1 };
        } else if shortly {
            self.in_vain += 1;
        } else {
            self.in_vain = 0;
        }
    }
}

#[derive(Default)]
struct Crew {
    /// There is a thread.
    begun: bool,
    /// Who watches: changes when another one takes over.
    watch: u64,
    watched: bool,
    standing_by: bool,
    /// Where there is news that nobody serves yet.
    found: VecDeque<News>,
    /// The port that the watcher serves.
    serving: Option<usize>,
}

/// Something to do.
#[derive(Clone, Copy)]
struct News {
    place: Place,
    /// When it was found, if somebody records that.
    since: Option<u64>,
}

#[derive(Clone, Copy)]
enum Place {
    /// A port of the channel.
    Port(usize),
    /// Lanes of a port, of which one holds the thread up that serves it.
    Lanes(usize),
    Mailbox(&'static Slot),
}

/// Collects news of one kind.
struct Found<'f, T>(&'f mut VecDeque<News>, fn(T) -> Place);

impl<T> Extend<T> for Found<'_, T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, found: I) {
        let (place, mut since) = (self.1, None);
        self.0.extend(found.into_iter().map(|at| {
            since = since.or_else(|| gangway_trace::enabled().then(gangway_trace::now));
            News { place: place(at), since }
        }));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Serve + Sync + Send> Workers<S> {
    pub(crate) fn new(serve: S, rings: bool) -> Self {
        Self {
            serve,
            channel: OnceLock::new(),
            mailboxes: Mailboxes::default(),
            rings,
            crew: Mutex::default(),
            busy: Condvar::new(),
            alert: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            bell: Bell::default(),
            rests: AtomicBool::new(false),
        }
    }

    /// Where the device sees the channel, if there is one.
    pub(crate) fn channel(&self) -> Option<DevicePtr> {
        self.channel.get().map(|(_, device)| *device)
    }

    /// Has a channel served. False: there is one.
    pub(crate) fn open(&self, channel: &'static Channel, device: DevicePtr) -> bool {
        self.channel.set((Reader::new(channel), device)).is_ok()
    }

    /// What device code waits for, for messages: each function once for each thread.
    pub(crate) fn under_way(&self) -> Vec<String> {
        let ports = self.channel.get().map(|(reader, _)| reader.under_way()).unwrap_or_default();
        let regions = std::iter::repeat_n(REGION.to_owned(), self.mailboxes.under_way());
        ports.into_iter().map(functions::name).chain(regions).collect()
    }

    pub(crate) fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// Sees to it that there is a thread: without any, kernels that call would wait for ever.
    ///
    /// # Errors
    /// The system starts no thread. The next call tries again.
    pub(crate) fn ensure(&'static self) -> io::Result<()> {
        let mut crew = lock(&self.crew);
        if !crew.begun {
            self.start()?;
            crew.begun = true;
        }
        Ok(())
    }

    fn start(&'static self) -> io::Result<()> {
        let builder = std::thread::Builder::new().name("gangway-calls".to_owned());
        let rings = self.rings;
        let take_part = move || {
            if !rings {
                sleep_exactly();
            }
            while self.take_part() {}
        };
        builder.spawn(take_part).map(drop)
    }

    /// Something may have arrived.
    pub(crate) fn ring(&self) {
        // The device's call comes before looking who serves it (`Taken::leave`).
        fence(Ordering::SeqCst);
        if self.channel.get().is_some_and(|(reader, _)| reader.has_news()) || self.mailboxes.has_news() {
            self.bell.ring();
        }
    }

    /// Something runs that may call.
    pub(crate) fn launched(&self) {
        // Either the watcher's question finds the kernel, or its rest is seen here.
        fence(Ordering::SeqCst);
        if self.rests.load(Ordering::Relaxed) {
            self.bell.ring();
        }
    }

    /// Rests if nothing runs, until something may. Comes behind [`Bell::listen`].
    fn rest(&self) -> bool {
        self.rests.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let rests = self.serve.is_quiet();
        if rests {
            self.bell.sleep(REST);
        }
        self.rests.store(false, Ordering::Relaxed);
        rests
    }

    fn serve(&self, news: News) {
        let reader = self.channel.get().map(|(reader, _)| reader);
        match (news.place, reader) {
            (Place::Port(port), Some(reader)) => reader.serve(port, news.since, &self.serve),
            (Place::Lanes(port), Some(reader)) => reader.help(port, &self.serve),
            (Place::Mailbox(slot), _) => slot.serve(news.since),
            (Place::Port(_) | Place::Lanes(_), None) => {}
        }
    }

    fn take_news(&self, found: &mut VecDeque<News>) {
        if let Some((reader, _)) = self.channel.get() {
            reader.take_news(&mut Found(found, Place::Port));
        }
        self.mailboxes.take_news(&mut Found(found, Place::Mailbox));
    }

    /// Watches or stands by. False: there is enough of both.
    fn take_part(&'static self) -> bool {
        let mut crew = lock(&self.crew);
        if !crew.watched {
            crew.watched = true;
            crew.watch += 1;
            let watch = crew.watch;
            drop(crew);
            self.watch(watch);
            return true;
        }
        if crew.standing_by {
            return false;
        }
        crew.standing_by = true;
        self.stand_by(crew);
        true
    }

    /// Serves calls, until another thread has taken over.
    fn watch(&'static self, watch: u64) {
        let mut found = VecDeque::new();
        let mut patience = Patience::default();
        loop {
            loop {
                let mut crew = lock(&self.crew);
                if crew.watch != watch {
                    // What has been found is for the other one.
                    crew.found.append(&mut found);
                    return;
                }
                crew.found.append(&mut found);
                let Some(news) = crew.found.pop_front() else { break };
                crew.serving = match news.place {
                    Place::Port(port) | Place::Lanes(port) => Some(port),
                    Place::Mailbox(_) => None,
                };
                self.steps.fetch_add(1, Ordering::Relaxed);
                if !self.alert.load(Ordering::Relaxed) {
                    self.call_up(&mut crew);
                }
                drop(crew);
                self.serve(news);
                // Of who watches alone: steps are those of its functions.
                let crew = lock(&self.crew);
                if crew.watch == watch {
                    self.steps.fetch_add(1, Ordering::Relaxed);
                }
            }
            self.look(&mut found, &mut patience);
        }
    }

    /// Has a thread stand by.
    #[cold]
    fn call_up(&'static self, crew: &mut Crew) {
        self.alert.store(true, Ordering::Relaxed);
        if crew.standing_by {
            self.busy.notify_one();
        } else {
            // Without one, calls wait for the function that runs; the next call tries again.
            self.alert.store(self.start().is_ok(), Ordering::Relaxed);
        }
    }

    /// Looks after the watcher, and takes over if its function takes long.
    fn stand_by(&'static self, mut crew: MutexGuard<'static, Crew>) {
        let (mut last, mut calm) = (self.steps.load(Ordering::Relaxed), 0);
        loop {
            if !self.alert.load(Ordering::Relaxed) {
                crew = self.busy.wait(crew).unwrap_or_else(PoisonError::into_inner);
                calm = 0;
                continue;
            }
            crew = self.busy.wait_timeout(crew, LONG).unwrap_or_else(PoisonError::into_inner).0;
            let steps = self.steps.load(Ordering::Relaxed);
            if steps != last {
                (last, calm) = (steps, 0);
            } else if steps % 2 == 1 || !crew.watched {
                crew.standing_by = false;
                crew.watched = true;
                crew.watch += 1;
                if let Some(port) = crew.serving.take() {
                    crew.found.push_front(News { place: Place::Lanes(port), since: None });
                }
                // The other one's function no longer counts.
                self.steps.fetch_add(steps % 2, Ordering::Relaxed);
                self.alert.store(false, Ordering::Relaxed);
                let watch = crew.watch;
                drop(crew);
                return self.watch(watch);
            } else {
                calm += 1;
                if calm > CALM {
                    self.alert.store(false, Ordering::Relaxed);
                }
            }
        }
    }

    /// Looks until there is something.
    fn look(&self, found: &mut VecDeque<News>, patience: &mut Patience) {
        let (mut begin, mut asked) = (Instant::now(), Instant::now());
        let mut looking = patience.looks();
        loop {
            // Before looking: what rings from here on is not overlooked, and what has rung
            // has its news seen.
            self.bell.listen();
            self.take_news(found);
            if !found.is_empty() {
                if looking {
                    patience.found();
                }
                return;
            }
            if looking {
                spin_hint();
                looking = begin.elapsed() < LOOKING;
                continue;
            }
            if !self.rings && asked.elapsed() >= ASKING {
                if self.rest() {
                    (begin, looking) = (Instant::now(), true);
                }
                asked = Instant::now();
                continue;
            }
            let most = if self.rings { RUNG } else { nap(begin.elapsed()) };
            let asleep = Instant::now();
            self.bell.sleep(most);
            if self.rings {
                patience.slept(asleep.elapsed() < LOOKING);
            }
        }
    }
}

/// How long to sleep if nothing has come for so long.
fn nap(nothing_for: Duration) -> Duration {
    (nothing_for / PART).min(LONGEST)
}

/// Has the system end this thread's sleeps when they are to end. Ordinarily it lets 50 microseconds
/// pass, to wake several threads at once.
fn sleep_exactly() {
    let (option, nanoseconds) = (libc::PR_SET_TIMERSLACK, 1_u64);
    // SAFETY: a number of the calling thread.
    unsafe { libc::prctl(option, nanoseconds) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_backend::HostCallOutcome;
    use gangway_host_channel::Request;

    /// A call is late by a sixteenth of the time since the last one at most, and the number of looks
    /// grows as the logarithm of that time, until the longest nap.
    #[test]
    fn naps_are_a_part_of_the_time_without_calls() {
        let (mut now, mut looks) = (LOOKING, 0);
        while now < Duration::from_millis(16) {
            let nap = nap(now);
            assert!(nap * 16 <= now && nap >= Duration::from_micros(3));
            now += nap;
            looks += 1;
        }
        assert!((90..110).contains(&looks), "{looks}");
        assert_eq!(nap(Duration::from_secs(60)), LONGEST);
    }

    /// A device on which something runs, or not.
    #[derive(Default)]
    struct Quiet {
        quiet: AtomicBool,
        asked: AtomicU64,
    }

    impl Serve for &'static Quiet {
        fn run(&self, _: u64, _: &mut [u8], _: Option<u64>) -> HostCallOutcome {
            HostCallOutcome::Answered
        }

        fn fetch(&self, _: u64, _: &mut [u8]) -> bool {
            false
        }

        fn give(&self, _: u64, _: &[u8]) -> bool {
            false
        }

        fn is_quiet(&self) -> bool {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.quiet.load(Ordering::SeqCst)
        }
    }

    fn until(happens: impl Fn() -> bool) {
        let begin = Instant::now();
        while !happens() {
            assert!(begin.elapsed() < Duration::from_secs(30), "it does not happen");
            std::thread::sleep(LONG);
        }
    }

    #[test]
    fn nobody_looks_while_nothing_runs() {
        let device: &'static Quiet = Box::leak(Box::default());
        // SAFETY: all zero is a channel without calls.
        let channel: &'static Channel = Box::leak(unsafe { Box::new_zeroed().assume_init() });
        let workers: &'static Workers<&'static Quiet> = Box::leak(Box::new(Workers::new(device, false)));
        assert!(workers.open(channel, DevicePtr(8)));
        workers.ensure().unwrap();
        let asked = || device.asked.load(Ordering::SeqCst);
        // Something runs: it is asked again and again.
        until(|| asked() >= 3);
        device.quiet.store(true, Ordering::SeqCst);
        until(|| workers.rests.load(Ordering::SeqCst));
        let before = asked();
        std::thread::sleep(10 * ASKING);
        // Once more at most, where the watcher was about to ask.
        assert!(asked() <= before + 1);
        for turn in 1..4 {
            until(|| workers.rests.load(Ordering::SeqCst));
            channel.ports[0].request.store(Request::BeginAndRun as u32, Ordering::Relaxed);
            channel.ports[0].lanes.store(1, Ordering::Relaxed);
            channel.doorbells[0].store(turn, Ordering::Release);
            workers.launched();
            until(|| channel.ports[0].answered.load(Ordering::Acquire) == turn);
        }
    }

    #[test]
    fn the_watcher_stops_looking_where_that_is_in_vain() {
        let mut patience = Patience::default();
        patience.slept(true);
        // A call that comes later says nothing.
        patience.slept(false);
        for _ in 0..IN_VAIN {
            assert!(patience.looks());
            patience.slept(true);
        }
        for _ in 0..SLEEPS {
            assert!(!patience.looks());
            patience.slept(true);
        }
        // Now and then it tries again.
        assert!(patience.looks());
        patience.slept(true);
        assert!(!patience.looks());
        (0..SLEEPS).for_each(|_| patience.slept(true));
        patience.found();
        assert!(patience.looks());
    }
}
