//! Graphs, made by hand and by capture.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gangway_streams::{
    Blocking, CaptureMode, CaptureStatus, Context, Error, Event, Failure, Graph, GraphExec, NodeId, NodeKind,
    Outcome, Payload, Stream, check_unsafe_call, exchange_capture_mode,
};

type Log = Arc<Mutex<Vec<u32>>>;

/// A node that writes its number down.
#[derive(Debug)]
struct Note {
    log: Log,
    number: u32,
    sort: u32,
}

impl Payload for Note {
    fn run(&self) -> Outcome {
        self.log.lock().unwrap().push(self.number);
        Ok(())
    }

    fn on_host(&self) -> bool {
        self.sort == 1
    }

    fn sort(&self) -> u32 {
        self.sort
    }
}

fn note(log: &Log, number: u32) -> NodeKind {
    NodeKind::Work(Arc::new(Note { log: log.clone(), number, sort: 0 }))
}

fn host_note(log: &Log, number: u32) -> NodeKind {
    NodeKind::Work(Arc::new(Note { log: log.clone(), number, sort: 1 }))
}

fn take(log: &Log) -> Vec<u32> {
    std::mem::take(&mut log.lock().unwrap())
}

fn stream(context: &Context) -> Arc<Stream> {
    context.create_stream(Blocking::Independent, 0)
}

fn diamond(log: &Log) -> (Arc<Graph>, [NodeId; 4]) {
    let graph = Graph::new();
    // Created in the wrong order on purpose.
    let last = graph.add(note(log, 4), &[]).unwrap();
    let first = graph.add(note(log, 1), &[]).unwrap();
    let left = graph.add(note(log, 2), &[first]).unwrap();
    let right = graph.add(host_note(log, 3), &[first]).unwrap();
    graph.add_dependencies(&[(left, last), (right, last)]).unwrap();
    (graph, [first, left, right, last])
}

#[test]
fn nodes_run_after_what_they_depend_on_as_often_as_launched() {
    let (context, log) = (Context::new(), Log::default());
    let stream = stream(&context);
    let (graph, [first, left, right, last]) = diamond(&log);
    assert_eq!(graph.roots(), [first]);
    assert_eq!(graph.dependencies(last), Ok(vec![left, right]));
    assert_eq!(graph.dependents(first), Ok(vec![left, right]));
    assert_eq!(graph.edges().len(), 4);
    let exec = GraphExec::new(&graph).unwrap();
    for _ in 0..3 {
        exec.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(take(&log), [1, 2, 3, 4].repeat(3));
    exec.set_enabled(left, false).unwrap();
    assert_eq!(exec.enabled(left), Ok(false));
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(take(&log), [1, 3, 4]);
}

#[test]
fn mistakes_are_refused() {
    let log = Log::default();
    let (graph, [first, left, _, last]) = diamond(&log);
    let invalid = Some(Error::InvalidValue);
    assert_eq!(graph.add_dependencies(&[(first, left)]).err(), invalid, "the edge exists");
    assert_eq!(graph.add_dependencies(&[(first, first)]).err(), invalid);
    assert_eq!(graph.remove_dependencies(&[(last, first)]).err(), invalid, "no such edge");
    assert_eq!(graph.set(first, host_note(&log, 1)).err(), invalid, "another sort of node");
    let stranger = Graph::new().add(NodeKind::Empty, &[]).unwrap();
    assert_eq!(graph.add(NodeKind::Empty, &[stranger]).err(), invalid);
    assert_eq!(graph.add(NodeKind::Empty, &[first, first]).err(), invalid);
    assert_eq!(graph.kind(stranger).err(), invalid);
    graph.add_dependencies(&[(last, first)]).unwrap();
    assert_eq!(GraphExec::new(&graph).err(), invalid, "a cycle");
    graph.remove(last).unwrap();
    assert_eq!(graph.nodes().len(), 3);
    assert_eq!(graph.edges().len(), 2);
    assert!(GraphExec::new(&graph).is_ok());
}

#[test]
fn an_executable_graph_changes_by_node_or_whole() {
    let (context, log) = (Context::new(), Log::default());
    let stream = stream(&context);
    let (graph, [first, ..]) = diamond(&log);
    let exec = GraphExec::new(&graph).unwrap();
    exec.launch(&stream).unwrap();
    exec.set(first, note(&log, 10)).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(take(&log), [1, 2, 3, 4, 10, 2, 3, 4]);
    let (copy, names) = graph.duplicate();
    copy.set(names[&first], note(&log, 20)).unwrap();
    exec.update(&copy).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(take(&log), [20, 2, 3, 4]);
    copy.add(NodeKind::Empty, &[]).unwrap();
    assert_eq!(exec.update(&copy), Err(Error::GraphUpdate));
    assert_eq!(exec.set(first, NodeKind::Empty), Err(Error::InvalidValue));
}

#[test]
fn child_graphs_run_in_place_of_their_node() {
    let (context, log) = (Context::new(), Log::default());
    let stream = stream(&context);
    let (child, [first, ..]) = diamond(&log);
    let graph = Graph::new();
    let before = graph.add(note(&log, 0), &[]).unwrap();
    let middle = graph.add(NodeKind::Child(child.clone()), &[before]).unwrap();
    graph.add(note(&log, 5), &[middle]).unwrap();
    child.set(first, note(&log, 99)).unwrap();
    let exec = GraphExec::new(&graph).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(take(&log), [0, 1, 2, 3, 4, 5], "the node has a copy of the graph");
}

#[test]
fn event_nodes_record_and_wait() {
    let (context, log) = (Context::new(), Log::default());
    let (one, other) = (stream(&context), stream(&context));
    let event = Event::new(true);
    let graph = Graph::new();
    let first = graph.add(note(&log, 1), &[]).unwrap();
    let record = graph.add(NodeKind::Record(event.clone()), &[first]).unwrap();
    graph.add(note(&log, 2), &[record]).unwrap();
    GraphExec::new(&graph).unwrap().launch(&one).unwrap();
    let waiting = Graph::new();
    let wait = waiting.add(NodeKind::Wait(event.clone()), &[]).unwrap();
    waiting.add(note(&log, 3), &[wait]).unwrap();
    GraphExec::new(&waiting).unwrap().launch(&other).unwrap();
    context.synchronize().unwrap();
    let log = take(&log);
    let place = |number| log.iter().position(|&other| other == number).unwrap();
    assert!(place(1) < place(3) && place(1) < place(2));
    assert_eq!(event.elapsed(&event), Ok(0));
}

/// A node that must not run twice at once.
#[derive(Debug, Default)]
struct Alone(AtomicBool);

impl Payload for Alone {
    fn run(&self) -> Outcome {
        if self.0.swap(true, Ordering::SeqCst) {
            return Err(Failure::known(1));
        }
        std::thread::sleep(Duration::from_millis(2));
        self.0.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn on_host(&self) -> bool {
        true
    }

    fn sort(&self) -> u32 {
        0
    }
}

#[test]
fn launches_of_one_executable_graph_do_not_overlap() {
    let context = Context::new();
    let streams = [stream(&context), stream(&context), stream(&context)];
    let graph = Graph::new();
    graph.add(NodeKind::Work(Arc::new(Alone::default())), &[]).unwrap();
    let exec = GraphExec::new(&graph).unwrap();
    for stream in streams.iter().cycle().take(12) {
        exec.launch(stream).unwrap();
    }
    assert_eq!(context.synchronize(), Ok(()));
}

#[test]
fn a_failing_node_fails_the_context() {
    #[derive(Debug)]
    struct Fails;
    impl Payload for Fails {
        fn run(&self) -> Outcome {
            Err(Failure::known(719))
        }
        fn sort(&self) -> u32 {
            0
        }
    }
    let (context, log) = (Context::new(), Log::default());
    let graph = Graph::new();
    let fails = graph.add(NodeKind::Work(Arc::new(Fails)), &[]).unwrap();
    graph.add(note(&log, 1), &[fails]).unwrap();
    GraphExec::new(&graph).unwrap().launch(context.legacy()).unwrap();
    assert_eq!(context.synchronize(), Err(Error::Failed(Failure::known(719))));
    assert!(take(&log).is_empty());
}

#[test]
fn a_capture_records_fork_and_join() {
    let (context, log) = (Context::new(), Log::default());
    let (one, other) = (stream(&context), stream(&context));
    let (fork, join) = (Event::new(false), Event::new(false));
    one.begin_capture(CaptureMode::Relaxed, None).unwrap();
    let first = one.capture(note(&log, 1)).unwrap();
    one.record(&fork).unwrap();
    other.wait(&fork).unwrap();
    let left = one.capture(note(&log, 2)).unwrap();
    let right = other.capture(note(&log, 3)).unwrap();
    assert_eq!(other.capture_info().unwrap().status, CaptureStatus::Active);
    assert_eq!(one.capture_info().unwrap().id, other.capture_info().unwrap().id);
    assert_eq!(fork.query(), Err(Error::CapturedEvent));
    other.record(&join).unwrap();
    one.wait(&join).unwrap();
    let last = one.capture(note(&log, 4)).unwrap();
    let graph = one.end_capture().unwrap();
    assert_eq!(graph.edges(), [(first, left), (first, right), (left, last), (right, last)]);
    assert!(!one.is_capturing() && !other.is_capturing());
    assert!(take(&log).is_empty(), "nothing has run");
    let exec = GraphExec::new(&graph).unwrap();
    exec.launch(&one).unwrap();
    one.synchronize().unwrap();
    assert_eq!(take(&log), [1, 2, 3, 4]);
    // A launch can be captured in its turn.
    one.begin_capture(CaptureMode::Relaxed, None).unwrap();
    exec.launch(&one).unwrap();
    let outer = GraphExec::new(&one.end_capture().unwrap()).unwrap();
    outer.launch(&other).unwrap();
    other.synchronize().unwrap();
    assert_eq!(take(&log), [1, 2, 3, 4]);
}

#[test]
fn a_capture_can_extend_a_graph() {
    let (context, log) = (Context::new(), Log::default());
    let stream = stream(&context);
    let graph = Graph::new();
    let first = graph.add(note(&log, 1), &[]).unwrap();
    stream.begin_capture(CaptureMode::Relaxed, Some((graph.clone(), vec![first]))).unwrap();
    let second = stream.capture(note(&log, 2)).unwrap();
    stream.set_capture_dependencies(&[first], true).unwrap();
    let third = stream.capture(note(&log, 3)).unwrap();
    stream.set_capture_dependencies(&[second], false).unwrap();
    assert_eq!(stream.capture_info().unwrap().dependencies, [third, second]);
    assert!(Arc::ptr_eq(&stream.end_capture().unwrap(), &graph));
    assert_eq!(graph.edges(), [(first, second), (first, third)]);
}

#[test]
fn mistakes_make_a_capture_invalid() {
    let context = Context::new();
    let (one, other) = (stream(&context), stream(&context));
    let begin = |stream: &Arc<Stream>| stream.begin_capture(CaptureMode::Relaxed, None).unwrap();
    let invalidated = Some(Error::CaptureInvalidated);

    assert_eq!(one.end_capture().err(), Some(Error::CaptureUnmatched));
    assert_eq!(context.legacy().begin_capture(CaptureMode::Relaxed, None), Err(Error::CaptureUnsupported));

    begin(&one);
    assert_eq!(one.synchronize(), Err(Error::CaptureUnsupported));
    assert_eq!(one.capture(NodeKind::Empty).err(), invalidated);
    assert_eq!(one.capture_info().unwrap().status, CaptureStatus::Invalidated);
    assert_eq!(one.end_capture().err(), invalidated);
    assert_eq!(one.synchronize(), Ok(()), "the stream is as before");

    // A stream that was not joined.
    let event = Event::new(false);
    begin(&one);
    one.record(&event).unwrap();
    other.wait(&event).unwrap();
    other.capture(NodeKind::Empty).unwrap();
    assert_eq!(one.end_capture().err(), Some(Error::CaptureUnjoined));
    assert!(!other.is_capturing());
    assert_eq!(other.wait(&event), Err(Error::CapturedEvent), "an event of a capture that is over");

    // Ended in the wrong stream.
    begin(&one);
    one.record(&event).unwrap();
    other.wait(&event).unwrap();
    assert_eq!(other.end_capture().err(), Some(Error::CaptureUnmatched));
    assert_eq!(one.end_capture().err(), invalidated);

    // Waiting for something outside.
    let outside = Event::new(false);
    other.record(&outside).unwrap();
    begin(&one);
    assert_eq!(one.wait(&outside), Err(Error::CaptureIsolation));
    assert_eq!(one.end_capture().err(), invalidated);

    // Two captures.
    begin(&one);
    begin(&other);
    one.record(&event).unwrap();
    assert_eq!(other.wait(&event), Err(Error::CaptureMerge));
    assert_eq!(one.end_capture().err(), invalidated);
    assert_eq!(other.end_capture().err(), invalidated);
}

#[test]
fn the_legacy_stream_must_not_meet_a_capture() {
    let context = Context::new();
    let (blocking, apart) = (context.create_stream(Blocking::WithLegacy, 0), stream(&context));
    apart.begin_capture(CaptureMode::Relaxed, None).unwrap();
    assert_eq!(context.legacy().submit(|| Ok(())), Ok(()));
    apart.end_capture().unwrap();
    blocking.begin_capture(CaptureMode::Relaxed, None).unwrap();
    assert_eq!(Context::new().legacy().submit(|| Ok(())), Ok(()), "another context");
    assert_eq!(context.legacy().capture_info().err(), Some(Error::CaptureImplicit));
    assert_eq!(context.legacy().submit(|| Ok(())), Err(Error::CaptureImplicit));
    assert_eq!(blocking.end_capture().err(), Some(Error::CaptureInvalidated));
    assert_eq!(context.legacy().submit(|| Ok(())), Ok(()));
}

/// In one test, as captures of a careful mode concern all threads.
#[test]
fn modes_decide_who_is_refused_what() {
    let context = Context::new();
    let stream = stream(&context);
    let elsewhere = |call: &(dyn Fn() -> Result<(), Error> + Sync)| {
        std::thread::scope(|scope| scope.spawn(call).join().unwrap())
    };
    assert_eq!(check_unsafe_call(), Ok(()));

    stream.begin_capture(CaptureMode::ThreadLocal, None).unwrap();
    assert_eq!(elsewhere(&check_unsafe_call), Ok(()));
    assert_eq!(elsewhere(&|| stream.end_capture().map(drop)), Err(Error::CaptureWrongThread));
    assert_eq!(exchange_capture_mode(CaptureMode::Relaxed), CaptureMode::Global);
    assert_eq!(check_unsafe_call(), Ok(()));
    assert_eq!(exchange_capture_mode(CaptureMode::ThreadLocal), CaptureMode::Relaxed);
    assert_eq!(check_unsafe_call(), Err(Error::CaptureUnsupported));
    assert_eq!(stream.end_capture().err(), Some(Error::CaptureInvalidated));
    exchange_capture_mode(CaptureMode::Global);

    stream.begin_capture(CaptureMode::Relaxed, None).unwrap();
    assert_eq!(check_unsafe_call(), Ok(()));
    assert_eq!(elsewhere(&|| stream.end_capture().map(drop)), Ok(()));

    stream.begin_capture(CaptureMode::Global, None).unwrap();
    assert_eq!(elsewhere(&check_unsafe_call), Err(Error::CaptureUnsupported));
    assert_eq!(stream.end_capture().err(), Some(Error::CaptureInvalidated));
}

#[test]
fn a_refused_launch_forgets_nothing() {
    let (context, log) = (Context::new(), Log::default());
    let (one, other, capturing) = (stream(&context), stream(&context), stream(&context));
    let event = Event::new(false);
    let graph = Graph::new();
    let wait = graph.add(NodeKind::Wait(event.clone()), &[]).unwrap();
    graph.add(note(&log, 1), &[wait]).unwrap();
    let exec = GraphExec::new(&graph).unwrap();
    let gate = Arc::new(AtomicBool::new(false));
    let (open, opened) = (gate.clone(), log.clone());
    one.submit_host(move || {
        while !open.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
        opened.lock().unwrap().push(0);
        Ok(())
    })
    .unwrap();
    exec.launch(&one).unwrap();
    // A record of a capture is no place in a stream.
    capturing.begin_capture(CaptureMode::Relaxed, None).unwrap();
    capturing.record(&event).unwrap();
    assert_eq!(exec.launch(&other), Err(Error::CapturedEvent));
    capturing.end_capture().unwrap();
    capturing.record(&event).unwrap();
    // The launch that was refused has not made room for one that overlaps with the first.
    exec.launch(&other).unwrap();
    // Time for a launch that waits for nobody. One that does wait is not done, however long it gets.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(other.query(), Err(Error::NotReady));
    gate.store(true, Ordering::Release);
    context.synchronize().unwrap();
    assert_eq!(take(&log), [0, 1, 1], "both come behind the gate");
}
