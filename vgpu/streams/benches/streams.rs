//! What it costs to order work, without the work: `cargo bench -p gangway-streams`.

use divan::Bencher;
use gangway_streams::{Blocking, Context, Event};

fn main() {
    divan::main();
}

#[divan::bench]
fn submit_and_synchronize(bencher: Bencher) {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    bencher.bench_local(|| {
        stream.submit(|| Ok(())).unwrap();
        stream.synchronize().unwrap();
    });
}

#[divan::bench]
fn submit_and_synchronize_legacy(bencher: Bencher) {
    let context = Context::new();
    bencher.bench_local(|| {
        context.legacy().submit(|| Ok(())).unwrap();
        context.legacy().synchronize().unwrap();
    });
}

/// After a pause, when all workers sleep.
#[divan::bench(sample_count = 200)]
fn submit_and_synchronize_after_a_pause(bencher: Bencher) {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    bencher.with_inputs(|| std::thread::sleep(std::time::Duration::from_millis(2))).bench_local_values(
        |()| {
            stream.submit(|| Ok(())).unwrap();
            stream.synchronize().unwrap();
        },
    );
}

#[divan::bench]
fn submit_1000_then_synchronize(bencher: Bencher) {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    bencher.bench_local(|| {
        for _ in 0..1000 {
            stream.submit(|| Ok(())).unwrap();
        }
        stream.synchronize().unwrap();
    });
}

#[divan::bench]
fn record_and_synchronize(bencher: Bencher) {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    let event = Event::new(true);
    bencher.bench_local(|| {
        stream.submit(|| Ok(())).unwrap();
        stream.record(&event).unwrap();
        event.synchronize().unwrap();
    });
}

#[divan::bench]
fn wait_across_streams(bencher: Bencher) {
    let context = Context::new();
    let from = context.create_stream(Blocking::Independent, 0);
    let to = context.create_stream(Blocking::Independent, 0);
    let event = Event::new(false);
    bencher.bench_local(|| {
        from.submit(|| Ok(())).unwrap();
        from.record(&event).unwrap();
        to.wait(&event).unwrap();
        to.submit(|| Ok(())).unwrap();
        to.synchronize().unwrap();
    });
}

#[divan::bench]
fn host_function_and_synchronize(bencher: Bencher) {
    let context = Context::new();
    let stream = context.create_stream(Blocking::Independent, 0);
    bencher.bench_local(|| {
        stream.submit_host(|| Ok(())).unwrap();
        stream.synchronize().unwrap();
    });
}
