//! What operations come after, for who looks for races: by what streams and the program wait for, whatever ran first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use gangway_streams::{
    Blocking, Clock, Context, Event, Follows, Stream, Task, hand_on, program_after, program_moment, run_task,
    running_after, task_begins, task_depends, task_follows, task_made, tasks_met, wait_for_task, watch,
    watch_unseen,
};

/// Runs an operation to its end, without the program's knowing that: what it comes after.
fn operation(stream: &Arc<Stream>) -> Arc<Clock> {
    let clock = Arc::new(Mutex::new(None));
    let set = clock.clone();
    stream
        .submit(move || {
            *set.lock().unwrap() = running_after();
            Ok(())
        })
        .unwrap();
    loop {
        if let Some(clock) = clock.lock().unwrap().take() {
            return clock;
        }
        std::thread::yield_now();
    }
}

fn two(context: &Context, blocking: Blocking) -> [Arc<Stream>; 2] {
    [(); 2].map(|()| context.create_stream(blocking, 0))
}

/// One test: who watches does it for the process, and all its threads are one program.
#[test]
fn operations_come_after_what_is_waited_for() {
    watch();
    let context = Context::new();
    let [one, other] = two(&context, Blocking::Independent);
    let first = operation(&one);
    assert!(operation(&one).has(first.own()), "one stream");
    assert!(!operation(&other).has(first.own()), "by chance");

    let [one, other] = two(&context, Blocking::Independent);
    let (first, event) = (operation(&one), Event::new(false));
    one.record(&event).unwrap();
    let second = operation(&one);
    other.wait(&event).unwrap();
    let behind = operation(&other);
    assert!(behind.has(first.own()) && !behind.has(second.own()), "behind an event");

    let [one, other] = two(&context, Blocking::Independent);
    let first = operation(&one);
    one.synchronize().unwrap();
    assert!(operation(&other).has(first.own()), "behind what the program has waited for");
    let second = operation(&one);
    while one.query().is_err() {}
    assert!(operation(&other).has(second.own()), "behind what the program has asked for");

    let [one, other] = two(&context, Blocking::Independent);
    let first = operation(&one);
    watch_unseen(true);
    one.synchronize().unwrap();
    watch_unseen(false);
    assert!(!operation(&other).has(first.own()), "the program learns nothing of who watches it");

    let [one, other] = two(&context, Blocking::WithLegacy);
    let first = operation(&one);
    let between = operation(context.legacy());
    let last = operation(&other);
    assert!(
        between.has(first.own()) && last.has(between.own()) && last.has(first.own()),
        "the legacy stream"
    );
    let [one, apart] = [Blocking::WithLegacy, Blocking::Independent].map(|how| context.create_stream(how, 0));
    let first = operation(&one);
    operation(context.legacy());
    assert!(!operation(&apart).has(first.own()), "a stream that does not take part");

    let [one, other] = two(&context, Blocking::Independent);
    let (first, called) = (operation(&one), Arc::new(AtomicBool::new(false)));
    let call = called.clone();
    one.submit_host(move || {
        call.store(true, Ordering::Release);
        Ok(())
    })
    .unwrap();
    while !called.load(Ordering::Acquire) {}
    assert!(operation(&other).has(first.own()), "behind a function of the program");

    let [one, other] = two(&context, Blocking::Independent);
    let first = operation(&one);
    one.submit(|| {
        hand_on();
        Ok(())
    })
    .unwrap();
    operation(&one);
    assert!(operation(&other).has(first.own()), "behind what was told through memory");

    the_program_is_a_stream(&context);
    tasks_wait_behind_the_programs_back(&context);
}

fn the_program_is_a_stream(context: &Context) {
    let [one, other] = two(context, Blocking::Independent);
    let before = program_moment();
    let first = operation(&one);
    let behind = program_moment();
    assert!(first.has(before) && !first.has(behind), "what the program has done when it submits something");
    assert!(!program_after(behind).has(first.own()), "by chance");
    one.synchronize().unwrap();
    let waited = program_moment();
    assert!(waited > behind && program_after(waited).has(first.own()) && program_after(waited).has(behind));
    other.submit_notice(|_| ()).and_then(|()| other.submit(|| Ok(()))).unwrap();
    let second = operation(&other);
    assert!(!operation(&one).has(second.own()), "the program hears nothing of a notice");
}

fn tasks_wait_behind_the_programs_back(context: &Context) {
    let [one, other] = two(context, Blocking::Independent);
    let made = task_made();
    let beside = program_moment();
    assert_eq!(run_task(Some(Task::ForDevice { made })), None);
    let first = operation(&one);
    one.synchronize().unwrap();
    run_task(None);
    assert!(first.has((beside.0, made)) && !first.has(beside), "what the program does beside a task");
    assert!(!operation(&other).has(first.own()), "what a task has waited for");
    assert!(!operation(&one).has(first.own()), "in a stream that a task had before");
    assert!(!program_after(program_moment()).has(first.own()));

    let [third, fourth] = two(context, Blocking::Independent);
    let in_task = |follows: &[Follows], stream: &Arc<Stream>| {
        let made = task_made();
        follows.iter().for_each(|&other| task_follows(other));
        task_begins(made, (!follows.is_empty()).then(task_depends));
        run_task(Some(Task::ForDevice { made }));
        let done = operation(stream);
        run_task(None);
        (made, done)
    };
    let (apart, (dependent, behind)) = (in_task(&[], &third), in_task(&[Follows::ForDevice(made)], &fourth));
    assert!(!apart.1.has(first.own()) && behind.has(first.own()), "a task that depends on another");
    let (_, last) = in_task(&[Follows::ForDevice(apart.0)], &third);
    assert!(!last.has(first.own()), "a task that depends on another one alone");
    assert!(in_task(&[Follows::All], &third).1.has(first.own()), "one that depends on all");

    wait_for_task(dependent);
    fourth.synchronize().unwrap();
    wait_for_task(0);
    assert!(!operation(&other).has(behind.own()), "what was waited for on behalf of a task");
    tasks_met();
    let after = operation(&other);
    assert!(after.has(first.own()) && after.has(behind.own()), "behind all tasks");
    assert!(program_after(program_moment()).has(first.own()));
}
