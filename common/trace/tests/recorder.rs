//! The recorder as a whole, through its public interface.
//!
//! It is one per process, so each test runs itself again as a child process
//! (`as_child`) and looks at the files that leaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gangway_commands::{Ran, Run, again};
use gangway_trace::{Kind, Location, Report, Shape, Span};
use serde_json::Value;

const SCRATCH: &str = "GANGWAY_TRACE_TEST_SCRATCH";

/// Runs the named test again in a child with a scratch directory; `None` in the child.
fn as_child(test: &str, variables: &[(&str, &str)], scratch: &Path) -> Option<Ran> {
    Some(again(test)?.env(SCRATCH, scratch).envs(variables.iter().copied()).run().succeeded())
}

fn scratch() -> PathBuf {
    std::env::var_os(SCRATCH).unwrap().into()
}

fn span(kind: Kind, name: &str) -> Span<'_> {
    let start = gangway_trace::now();
    Span {
        location: Some(Location { file: "a.c", function: "main", line: 3, column: 1 }),
        bytes: 8,
        end: start + 10,
        ..Span::new(kind, 0, name, start)
    }
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn spans(trace: &Value) -> usize {
    trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").count()
}

#[test]
fn counts_every_span_of_every_thread() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_) = as_child("counts_every_span_of_every_thread", &[], directory.path()) else {
        let report = Report::Json(Some(scratch().join("report.json")));
        gangway_trace::configure(Some(&scratch().join("trace.json")), report);
        // More threads, one after the other, than the trace could give chunks to.
        for _ in 0..50 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..100).for_each(|_| gangway_trace::record(&span(Kind::Kernel, "k"))));
                }
            });
        }
        gangway_trace::record(&span(Kind::ToDevice, "x"));
        gangway_trace::finish();
        assert!(!gangway_trace::enabled());
        gangway_trace::record(&span(Kind::Kernel, "late"));
        std::fs::remove_file(scratch().join("trace.json")).unwrap();
        gangway_trace::finish();
        assert!(!scratch().join("trace.json").exists(), "a second finish must not write again");
        return;
    };
    let report = read(&directory.path().join("report.json"));
    assert_eq!(report["kernels"].as_array().unwrap().len(), 1);
    assert_eq!(report["kernels"][0]["count"], 20_000);
    assert_eq!(report["kernels"][0]["time_ns"], 200_000);
    assert_eq!(report["kernels"][0]["location"]["line"], 3);
    assert_eq!(report["transfers"][0]["bytes"], 8);
    assert_eq!(report["trace"]["spans"], 20_001);
    assert_eq!(report["trace"]["dropped"], 0);
}

#[test]
fn trace_is_bounded_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace.json");
    let report = directory.path().join("report.txt");
    let report_value = format!("text:{}", report.display());
    let variables = [
        ("GANGWAY_TRACE", trace.to_str().unwrap()),
        ("GANGWAY_TRACE_EVENTS", "1000"),
        ("GANGWAY_REPORT", &report_value),
    ];
    let Some(_) = as_child("trace_is_bounded_and_says_so", &variables, directory.path()) else {
        gangway_trace::configure_from_env();
        (0..5000).for_each(|_| gangway_trace::record(&span(Kind::Kernel, "k")));
        gangway_trace::finish();
        return;
    };
    let trace = read(&trace);
    assert_eq!(spans(&trace), 1000);
    assert_eq!(trace["otherData"]["dropped"], 4000);
    let report = std::fs::read_to_string(report).unwrap();
    assert!(
        report.contains("the trace keeps the first 1000 spans; 4000 later ones were dropped"),
        "{report}"
    );
    assert!(report.contains("5000"), "the report stays exact: {report}");
}

#[test]
fn forked_child_reports_its_own_work() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_) = as_child("forked_child_reports_its_own_work", &[], directory.path()) else {
        gangway_trace::configure(Some(&scratch().join("trace.json")), Report::Off);
        gangway_trace::record(&span(Kind::Kernel, "parent"));
        // Another thread that records all the time, so that the fork falls into it.
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    gangway_trace::record(&span(Kind::Update, "busy"));
                }
            });
            for child_works in [true, false] {
                // SAFETY: the child only records, finishes and leaves.
                let child = unsafe { libc::fork() };
                assert!(child >= 0);
                if child == 0 {
                    if child_works {
                        gangway_trace::record(&span(Kind::Kernel, "child"));
                        gangway_trace::record(&span(Kind::Kernel, "child"));
                    }
                    gangway_trace::finish();
                    // SAFETY: leaves without running the test harness's exit handlers.
                    unsafe { libc::_exit(0) };
                }
                let mut status = -1;
                // SAFETY: `status` is valid for the call.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0);
                let file = scratch().join(format!("trace.json.{child}"));
                assert_eq!(file.exists(), child_works);
                if child_works {
                    assert_eq!(spans(&read(&file)), 2);
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        gangway_trace::finish();
        return;
    };
    let text = std::fs::read_to_string(directory.path().join("trace.json")).unwrap();
    assert!(text.contains("\"parent\"") && !text.contains("\"child\""));
}

#[test]
fn finishes_while_threads_still_record() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_) = as_child("finishes_while_threads_still_record", &[], directory.path()) else {
        gangway_trace::configure(None, Report::Json(Some(scratch().join("report.json"))));
        let (recorded, has_recorded) = std::sync::mpsc::channel();
        for _ in 0..2 {
            let recorded = recorded.clone();
            std::thread::spawn(move || {
                gangway_trace::record(&span(Kind::Kernel, "k"));
                recorded.send(()).unwrap();
                loop {
                    gangway_trace::record(&span(Kind::Kernel, "k"));
                }
            });
        }
        // However late the threads begin: they go on until the process ends.
        has_recorded.iter().take(2).for_each(drop);
        gangway_trace::finish();
        return;
    };
    let report = read(&directory.path().join("report.json"));
    assert!(report["kernels"][0]["count"].as_u64().unwrap() >= 2);
}

#[test]
fn an_unwritable_file_is_a_message() {
    let directory = tempfile::tempdir().unwrap();
    let Some(output) = as_child("an_unwritable_file_is_a_message", &[], directory.path()) else {
        gangway_trace::configure(Some(&scratch().join("no/such/place.json")), Report::Off);
        gangway_trace::record(&span(Kind::Kernel, "k"));
        gangway_trace::finish();
        return;
    };
    let expected = format!(
        "gangway: cannot write the trace to {}: No such file or directory (os error 2)",
        directory.path().join("no/such/place.json").display()
    );
    output.told(&[&expected]);
}

#[test]
fn nothing_is_recorded_unless_asked() {
    let directory = tempfile::tempdir().unwrap();
    let Some(output) =
        as_child("nothing_is_recorded_unless_asked", &[("GANGWAY_REPORT", "maybe")], directory.path())
    else {
        gangway_trace::configure_from_env();
        assert!(!gangway_trace::enabled());
        gangway_trace::record(&span(Kind::Kernel, "k"));
        gangway_trace::finish();
        return;
    };
    output.told(&["gangway: GANGWAY_REPORT is 'maybe', expected 1, text[:FILE]"]);
}

/// Nobody calls `finish`: neither handlers of `exit` nor destructors run.
#[test]
fn survives_every_end() {
    const END: &str = "GANGWAY_TRACE_TEST_END";
    let directory = tempfile::tempdir().unwrap();
    if std::env::var_os(SCRATCH).is_some() {
        let end = std::env::var(END).unwrap();
        let report = Report::Json(Some(scratch().join(format!("{end}.report"))));
        gangway_trace::configure(Some(&scratch().join(format!("{end}.trace"))), report);
        (0..7).for_each(|_| gangway_trace::record(&span(Kind::Kernel, "k")));
        gangway_trace::note("it ends");
        unsafe extern "C" {
            fn quick_exit(code: i32) -> !;
        }
        // SAFETY: the process is to end; each of them is a plain call, or writes where nothing is.
        unsafe {
            match &*end {
                "abort" => libc::abort(),
                "quick_exit" => quick_exit(3),
                "interrupt" => libc::raise(libc::SIGINT),
                "terminate" => libc::kill(libc::getpid(), libc::SIGTERM),
                "hang-up" => libc::raise(libc::SIGHUP),
                "fault" => {
                    std::ptr::with_exposed_provenance_mut::<i32>(16).write_volatile(1);
                    0
                }
                other => panic!("{other}"),
            };
        }
        return;
    }
    for (end, signal, code) in [
        ("abort", Some(libc::SIGABRT), None),
        ("quick_exit", None, Some(3)),
        ("interrupt", Some(libc::SIGINT), None),
        ("terminate", Some(libc::SIGTERM), None),
        ("hang-up", Some(libc::SIGHUP), None),
        ("fault", Some(libc::SIGSEGV), None),
    ] {
        let mut child = again("survives_every_end").unwrap();
        let ran = child.env(SCRATCH, directory.path()).env(END, end).run();
        assert_eq!((ran.signal(), ran.code()), (signal, code), "{ran}");
        let report = read(&directory.path().join(format!("{end}.report")));
        assert_eq!(report["kernels"][0]["count"], 7, "{end}");
        assert_eq!(report["notes"][0]["text"], "it ends", "{end}");
        assert_eq!(spans(&read(&directory.path().join(format!("{end}.trace")))), 7, "{end}");
    }
}

#[test]
fn kernels_that_overlap_are_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_) = as_child("kernels_that_overlap_are_counted_once", &[], directory.path()) else {
        gangway_trace::configure(None, Report::Json(Some(scratch().join("report.json"))));
        gangway_trace::device(0, "a test's");
        let (all, begin) = (std::sync::Barrier::new(4), gangway_trace::now());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    all.wait();
                    let begun = Span::new(Kind::Kernel, 0, "k", gangway_trace::now());
                    let running = gangway_trace::begin(&begun).unwrap();
                    std::thread::sleep(Duration::from_millis(50));
                    all.wait();
                    running.end(&Span { end: gangway_trace::now(), ..begun });
                });
            }
        });
        let took = gangway_trace::now() - begin;
        std::fs::write(scratch().join("took"), took.to_string()).unwrap();
        gangway_trace::finish();
        return;
    };
    let report = read(&directory.path().join("report.json"));
    let took: u64 = std::fs::read_to_string(directory.path().join("took")).unwrap().parse().unwrap();
    let (sum, busy) = (&report["totals"]["kernel_time_ns"], &report["totals"]["busy"]["kernels_ns"]);
    let (sum, busy) = (sum.as_u64().unwrap(), busy.as_u64().unwrap());
    // Once, however long the threads had to wait for a processor. Times are kept in units of 16 ns.
    assert!(sum >= 200_000_000 && (50_000_000 - 32..took + 32).contains(&busy), "{took} ns: {report}");
    assert!(busy <= report["elapsed_ns"].as_u64().unwrap());
    assert_eq!(report["running"], serde_json::json!([]));
    assert_eq!(report["devices"][0]["what"], "a test's");
}

/// What is interrupted because a kernel hangs has to name it.
#[test]
fn what_has_not_ended_is_named_with_its_age() {
    let directory = tempfile::tempdir().unwrap();
    if std::env::var_os(SCRATCH).is_some() {
        gangway_trace::configure(
            Some(&scratch().join("trace.json")),
            Report::Json(Some(scratch().join("report.json"))),
        );
        gangway_trace::record(&span(Kind::Kernel, "ended"));
        let shape = Some(Shape { grid: [4, 1, 1], block: [128, 1, 1] });
        let begun = Span { shape, ..Span::new(Kind::Kernel, 0, "hangs", gangway_trace::now()) };
        let running = gangway_trace::begin(&begun);
        // One that is given up is not under way.
        drop(gangway_trace::begin(&Span { name: "failed", ..begun }));
        std::thread::sleep(Duration::from_millis(50));
        // SAFETY: the process is to end by it.
        unsafe { libc::raise(libc::SIGINT) };
        drop(running);
        return;
    }
    let mut child = again("what_has_not_ended_is_named_with_its_age").unwrap();
    child.env(SCRATCH, directory.path()).run().ended_by(libc::SIGINT);
    let report = read(&directory.path().join("report.json"));
    assert_eq!(report["running"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["running"][0]["name"], "hangs");
    assert_eq!(report["running"][0]["grid"], serde_json::json!([4, 1, 1]));
    assert!(report["running"][0]["age_ns"].as_u64().unwrap() >= 50_000_000, "{report}");
    assert!(report["totals"]["busy"]["kernels_ns"].as_u64().unwrap() >= 50_000_000, "{report}");
    assert_eq!(report["kernels"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(spans(&read(&directory.path().join("trace.json"))), 2);
}

#[test]
fn ranks_write_files_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json");
    let named = format!("json:{}", report.display());
    for rank in ["0", "1"] {
        let variables =
            [("GANGWAY_REPORT", &*named), ("OMPI_COMM_WORLD_RANK", rank), ("OMPI_COMM_WORLD_SIZE", "2")];
        let Some(_) = as_child("ranks_write_files_of_their_own", &variables, directory.path()) else {
            gangway_trace::configure_from_env();
            gangway_trace::record(&span(Kind::Kernel, "k"));
            gangway_trace::finish();
            return;
        };
        let report = read(&directory.path().join(format!("report.rank{rank}.json")));
        assert_eq!(report["rank"]["rank"].to_string(), rank);
        assert!(report["command"].as_str().unwrap().contains("ranks_write_files_of_their_own"));
    }
    assert!(!report.exists());
}

#[test]
fn an_unwritable_file_is_told_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("no/such/place.html");
    let named = format!("html:{}", place.display());
    let variables = [("GANGWAY_REPORT", &*named)];
    let Some(output) = as_child("an_unwritable_file_is_told_at_the_start", &variables, directory.path())
    else {
        gangway_trace::configure_from_env();
        eprintln!("the program runs");
        return;
    };
    let (before, _) = output.stderr.split_once("the program runs").unwrap();
    assert!(before.contains(&format!("the report cannot be written to {}", place.display())), "{output}");
}

/// The signal of the limit would end the program.
#[test]
fn a_full_disk_leaves_old_files_and_the_status() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["report.json", "trace.json"];
    if std::env::var_os(SCRATCH).is_none() {
        names.iter().for_each(|name| std::fs::write(directory.path().join(name), "old").unwrap());
    }
    let Some(output) = as_child("a_full_disk_leaves_old_files_and_the_status", &[], directory.path()) else {
        let limit = libc::rlimit { rlim_cur: 1000, rlim_max: 1000 };
        // SAFETY: a structure of this frame.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
        let report = Report::Json(Some(scratch().join("report.json")));
        gangway_trace::configure(Some(&scratch().join("trace.json")), report);
        for number in 0..100 {
            gangway_trace::record(&span(Kind::Kernel, &format!("k{number}")));
        }
        gangway_trace::finish();
        return;
    };
    for (what, name) in ["the report", "the trace"].into_iter().zip(names) {
        let file = directory.path().join(name);
        assert_eq!(std::fs::read(&file).unwrap(), b"old");
        let message = format!("gangway: cannot write {what} to {}: File too large", file.display());
        assert!(output.stderr.contains(&message), "{output}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}
