//! One stream: a queue for its kernels, and what is under way.
//!
//! Kernels of a stream follow each other in its queue. Copies are not in the queue: the device has engines for them.
//! So each operation has a signal, and the next one waits for it: a copy by itself, a kernel behind a packet that waits.
//! What an operation needs (signals, locked memory) is kept until the stream is looked at again and the operation is
//! done.

use crate::driver::types::{Dispatch, Handle};
use crate::kernel::LoadedKernel;
use crate::memory;
use crate::output::{self, Ending};
use crate::queue::Queue;
use crate::scratch::{InOrder, Scratch};
use crate::shared::{Running, Shared};
use crate::signal::Signal;
use gangway_backend::{Error, Result, SourceText, Suspect};
use gangway_device_code::Geometry;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How long a thread sleeps at most before it looks at what kernels have written, and whether the device is lost.
const WITH_OUTPUT: u64 = 1_000_000;
const WITHOUT_OUTPUT: u64 = 100_000_000;

/// Operations of a stream that are under way, at most: who comes with one more waits for the oldest. There is room in
/// the queue for as many kernels, each with a packet that waits, so no kernel waits for room whose predecessor waits
/// until somebody reads what it writes.
const MOST: usize = 256;

/// A stream.
pub(crate) struct Stream {
    pub shared: Arc<Shared>,
    state: Mutex<State>,
}

/// What is under way, and what kernels of the stream use.
#[derive(Default)]
struct State {
    /// Made for the first kernel.
    queue: Option<Queue>,
    /// The program has the queue's handle, and puts packets of its own into it: of how many packets signals tell.
    told: Option<u64>,
    /// What the next operation waits for.
    front: Vec<Arc<Signal>>,
    under_way: VecDeque<UnderWay>,
    scratch: Scratch,
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub geometry: Geometry,
    /// Bytes of group memory besides the kernel's own.
    pub group_memory: u32,
}

/// An operation.
struct UnderWay {
    signal: Arc<Signal>,
    /// What it waits for: not used again before it is done.
    _behind: Vec<Arc<Signal>>,
    work: Work,
}

enum Work {
    /// A copy, for which this host memory has been locked.
    Copy(Option<usize>),
    Kernel {
        name: Arc<str>,
        source: SourceText,
    },
    /// What the program has put into the queue before.
    Foreign,
}

/// What is left to do when the stream's lock has been given back.
#[derive(Default)]
struct Left {
    unlock: Vec<usize>,
    text: Vec<u8>,
    ending: Option<Ending>,
}

/// A copy's ends, and which of them may be pageable memory of the host.
pub(crate) struct Copy {
    pub to: *mut u8,
    pub from: *const u8,
    pub size: usize,
    pub pageable: Option<Pageable>,
    /// Another device that the bytes go to.
    pub peer: Option<Handle>,
}

/// An end of a copy in the host's memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pageable {
    To,
    From,
}

impl Stream {
    pub fn new(shared: Arc<Shared>) -> Arc<Self> {
        let stream = Arc::new(Self { shared, state: Mutex::default() });
        let known: Weak<dyn Running> = Arc::downgrade(&(Arc::clone(&stream) as Arc<dyn Running>));
        stream.shared.add_stream(known);
        stream
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies behind what is under way. Nothing is: at once.
    ///
    /// # Safety
    /// Both ranges are valid until the copy is done.
    pub unsafe fn copy(&self, copy: &Copy) -> Result<()> {
        self.shared.check()?;
        let agent = &self.shared.agent;
        let &Copy { to, from, size, pageable, peer } = copy;
        self.look();
        if self.lock().front.iter().all(|signal| signal.is_done()) {
            // SAFETY: the caller's promise.
            return unsafe { memory::copy(agent, to, from, size) };
        }
        self.make_room()?;
        let (mut to, mut from, mut locked) = (to, from, None);
        let host = match pageable {
            Some(Pageable::To) => Some(to),
            Some(Pageable::From) => Some(from.cast_mut()),
            None => None,
        };
        if let Some(host) = host.filter(|host| !self.shared.memory.reaches(host.addr(), size)) {
            // SAFETY: the caller's promise.
            let device = unsafe { memory::lock(agent, host, size) }?;
            let device = std::ptr::with_exposed_provenance_mut(device.0);
            locked = Some(host.expose_provenance());
            if pageable == Some(Pageable::To) { to = device } else { from = device }
        }
        let submitted = self.submit(Work::Copy(locked), |signal, behind| {
            let dependencies: Vec<Handle> = behind.iter().map(|signal| signal.handle).collect();
            // SAFETY: the caller's promise; signals are kept until the copy is done.
            unsafe {
                let to_agent = peer.unwrap_or(agent.handle);
                memory::copy_behind(agent, to, from, size, to_agent, &dependencies, signal.handle)
            }
        });
        if submitted.is_err()
            && let Some(host) = locked
        {
            // SAFETY: locked above, and no copy uses it.
            let _ = unsafe { memory::unlock(agent, std::ptr::with_exposed_provenance_mut(host)) };
        }
        submitted
    }

    /// Sets bytes where nothing is under way that they would have to come behind.
    ///
    /// # Safety
    /// There are so many.
    ///
    /// # Errors
    /// [`Error::Unsupported`]: something is under way, or they are no whole words.
    pub unsafe fn fill(&self, to: *mut u8, byte: u8, size: usize) -> Result<()> {
        self.shared.check()?;
        let is_idle = self.lock().front.iter().all(|signal| signal.is_done());
        if !is_idle || !to.addr().is_multiple_of(size_of::<u32>()) || !size.is_multiple_of(size_of::<u32>()) {
            return Err(Error::Unsupported { operation: "memory fill behind other operations" });
        }
        let word = u32::from_ne_bytes([byte; size_of::<u32>()]);
        // SAFETY: the caller's promise.
        unsafe { memory::fill(&self.shared.agent, to.cast(), word, size / size_of::<u32>()) }
    }

    /// Waits until another operation can be put behind what is under way.
    fn make_room(&self) -> Result<()> {
        loop {
            let oldest = {
                let state = self.lock();
                let is_full = state.under_way.len() >= MOST;
                state.under_way.front().filter(|_| is_full).map(|oldest| Arc::clone(&oldest.signal))
            };
            let Some(oldest) = oldest else { return Ok(()) };
            self.wait(&oldest)?;
            self.look();
        }
    }

    fn submit(&self, work: Work, begin: impl FnOnce(&Signal, &[Arc<Signal>]) -> Result<()>) -> Result<()> {
        let signal = self.shared.signals.take()?;
        let mut state = self.lock();
        let behind = state.behind();
        begin(&signal, &behind)?;
        state.add(signal, behind, work);
        Ok(())
    }

    /// Puts a kernel behind what is under way. `prepare` sees to what it uses of the stream's, and says where its
    /// arguments are: no other kernel gets between that and the kernel. `staging` is [`HEAD`] bytes that both
    /// sides see, the launch's.
    ///
    /// # Safety
    /// The kernel's module is loaded, and its arguments stay until it is done.
    pub unsafe fn launch(
        &self,
        kernel: &LoadedKernel,
        shape: &Shape,
        staging: usize,
        source: SourceText,
        prepare: impl FnOnce(&mut Scratch, &InOrder<'_>) -> Result<u64>,
    ) -> Result<()> {
        let Shared { agent, faults, signals, .. } = &*self.shared;
        self.shared.check()?;
        self.make_room()?;
        let Geometry { teams, threads } = shape.geometry;
        let signal = signals.take()?;
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.queue.is_none() {
            state.queue = Some(self.shared.take_queue()?);
        }
        let behind = state.behind();
        let memory = InOrder::new(agent, signals, &behind, staging);
        let arguments = prepare(&mut state.scratch, &memory);
        let copies = memory.into_copies();
        // Kernels of this queue come one after the other; copies and other streams have to be waited for.
        let in_queue = |signal: &Arc<Signal>| {
            let of_kernel = |under_way: &UnderWay| {
                matches!(under_way.work, Work::Kernel { .. }) && Arc::ptr_eq(&under_way.signal, signal)
            };
            state.under_way.iter().any(of_kernel)
        };
        let others = if copies.is_empty() { &behind } else { &copies };
        let others: Vec<Handle> =
            others.iter().filter(|signal| !in_queue(signal)).map(|signal| signal.handle).collect();
        for copy in copies {
            state.add(copy, behind.clone(), Work::Copy(None));
        }
        let arguments = arguments?;
        let Some(queue) = &state.queue else { unreachable!("made above") };
        queue.wait_for(agent, faults, &others)?;
        let dispatch = Dispatch {
            workgroup: threads.map(|threads| threads as u16),
            grid: std::array::from_fn(|at| teams[at].saturating_mul(threads[at])),
            private_segment: kernel.private_segment,
            group_segment: kernel.group_segment.saturating_add(shape.group_memory),
            kernel_object: kernel.object,
            arguments,
            completion: signal.handle,
        };
        queue.dispatch(agent, faults, &dispatch)?;
        state.add(signal, behind, Work::Kernel { name: Arc::clone(&kernel.name), source });
        Ok(())
    }

    /// The queue's handle, for packets of the program's own.
    ///
    /// # Errors
    /// There is no queue left.
    pub fn foreign(&self) -> Result<usize> {
        let mut state = self.lock();
        state.told.get_or_insert(0);
        match &state.queue {
            Some(queue) => Ok(queue.handle()),
            None => Ok(state.queue.insert(self.shared.take_queue()?).handle()),
        }
    }

    /// Has who waits for the stream wait for what the program has put into its queue by itself.
    fn take_in_foreign(&self) -> Result<()> {
        self.make_room()?;
        let Shared { agent, faults, signals, .. } = &*self.shared;
        let signal = signals.take()?;
        let mut state = self.lock();
        let (Some(told), Some(queue)) = (state.told, &state.queue) else { return Ok(()) };
        if queue.packets(agent) == told {
            return Ok(());
        }
        let behind = state.behind();
        let others: Vec<Handle> = behind.iter().map(|signal| signal.handle).collect();
        queue.wait_for(agent, faults, &others)?;
        state.told = Some(queue.tell(agent, faults, signal.handle)?);
        state.add(signal, behind, Work::Foreign);
        Ok(())
    }

    /// Waits until all is done.
    pub fn synchronize(&self) -> Result<()> {
        for signal in &self.front()? {
            self.wait(signal)?;
        }
        self.look();
        Ok(())
    }

    /// Whether all is done.
    pub fn is_idle(&self) -> Result<bool> {
        let front = self.front()?;
        self.look();
        for signal in &front {
            match signal.value() {
                0 => {}
                1.. if self.shared.faults.has() => return Err(self.shared.fault()),
                1.. => return Ok(false),
                _ => return Err(self.failure()),
            }
        }
        Ok(true)
    }

    fn wait(&self, signal: &Signal) -> Result<()> {
        loop {
            let patience = if self.lock().writes() { WITH_OUTPUT } else { WITHOUT_OUTPUT };
            match signal.wait(patience) {
                0 => return Ok(()),
                1.. if self.shared.faults.has() => return Err(self.shared.fault()),
                1.. => self.look(),
                _ => return Err(self.failure()),
            }
        }
    }

    /// The error of an operation that has failed.
    #[cold]
    fn failure(&self) -> Error {
        if self.shared.faults.has() {
            return self.shared.fault();
        }
        Error::Device { code: 0, message: "a copy has failed".to_owned() }
    }

    /// Ends what is done, and writes what kernels have written.
    fn look(&self) {
        let left = self.lock().end_what_is_done();
        left.finish(&self.shared);
    }

    /// What stands for all that is under way.
    ///
    /// # Errors
    /// The device is lost.
    pub fn front(&self) -> Result<Vec<Arc<Signal>>> {
        let state = self.lock();
        if state.told.is_none() {
            return Ok(state.front.clone());
        }
        drop(state);
        self.take_in_foreign()?;
        Ok(self.lock().front.clone())
    }

    /// Has what follows wait for signals of another stream's.
    pub fn wait_behind(&self, signals: &[Arc<Signal>]) {
        self.lock().front.extend(signals.iter().filter(|signal| !signal.is_done()).cloned());
    }
}

impl Running for Stream {
    fn suspect(&self, queue: Option<u64>) -> Option<Suspect> {
        let state = self.lock();
        let own = state.queue.as_ref()?.id();
        if queue.is_some_and(|queue| queue != own) {
            return None;
        }
        state.under_way.iter().find_map(|under_way| match &under_way.work {
            Work::Kernel { name, source } if under_way.signal.value() != 0 => {
                Some(Suspect { kernel: name.to_string(), source: *source })
            }
            _ => None,
        })
    }

    fn is_quiet(&self) -> bool {
        let state = self.lock();
        state
            .under_way
            .iter()
            .all(|under_way| matches!(under_way.work, Work::Copy(_)) || under_way.signal.is_done())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.shared.faults.has() {
            let _ = self.synchronize();
        }
        let State { queue, scratch, .. } = std::mem::take(&mut *self.lock());
        // SAFETY: the stream is idle, or its device is lost.
        unsafe { scratch.free(&self.shared.agent) };
        if let Some(queue) = queue {
            self.shared.give_queue_back(queue);
        }
    }
}

impl State {
    /// What the next operation waits for.
    fn behind(&self) -> Vec<Arc<Signal>> {
        self.front.iter().filter(|signal| !signal.is_done()).cloned().collect()
    }

    fn add(&mut self, signal: Arc<Signal>, behind: Vec<Arc<Signal>>, work: Work) {
        self.front = vec![Arc::clone(&signal)];
        self.under_way.push_back(UnderWay { signal, _behind: behind, work });
    }

    /// Whether a kernel may write.
    fn writes(&self) -> bool {
        self.under_way.iter().any(|under_way| matches!(under_way.work, Work::Kernel { .. }))
    }

    fn end_what_is_done(&mut self) -> Left {
        let mut left = Left::default();
        while let Some(done) = self.under_way.pop_front_if(|first| first.signal.is_done()) {
            if let Work::Copy(Some(locked)) = done.work {
                left.unlock.push(locked);
            }
        }
        // What has failed stays, so that whoever waits is told.
        self.front.retain(|signal| signal.value() != 0);
        if let Some(output) = &self.scratch.output {
            let all = !self.writes();
            left.text = output.take(all);
            left.ending = output.ending().filter(|_| all);
        }
        left
    }
}

impl Left {
    fn finish(self, shared: &Shared) {
        for host in self.unlock {
            let host = std::ptr::with_exposed_provenance_mut(host);
            // SAFETY: locked for a copy that is done.
            let _ = unsafe { memory::unlock(&shared.agent, host) };
        }
        output::print(&self.text);
        match self.ending {
            None => {}
            // SAFETY: device code has called the function of this name, which ends the program, as with libgomp.
            Some(Ending::Exit(status)) => unsafe { libc::exit(status) },
            // SAFETY: as above.
            Some(Ending::Abort) => unsafe { libc::abort() },
        }
    }
}
