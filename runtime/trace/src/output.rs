//! Writes what was recorded to where it was asked for.

use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::path::{Path, PathBuf};

use crate::recorder::Output;
use crate::recording::Recording;
use crate::{Report, chrome, report};

/// Writes the traces and the report of a recording.
pub fn write(output: &Output, recording: &Recording) {
    let forked = recording.pid != output.pid;
    if forked && recording.rows.is_empty() {
        return;
    }
    let place = |file: &Path| file_for(file, recording.pid, forked);
    let traces: Vec<PathBuf> = output.request.traces.iter().map(|file| place(file)).collect();
    for file in &traces {
        write_file(file, "the trace", |out| chrome::write(recording, out));
    }
    let trace = traces.first().map(PathBuf::as_path);
    match &output.request.report {
        Report::Off => {}
        Report::Text(None) => say_raw(&report::text(recording, trace)),
        Report::Json(None) => say_raw(&report::json(recording, trace)),
        Report::Text(Some(file)) => write_file(&place(file), "the report", |out| {
            out.write_all(report::text(recording, trace).as_bytes())
        }),
        Report::Json(Some(file)) => write_file(&place(file), "the report", |out| {
            out.write_all(report::json(recording, trace).as_bytes())
        }),
        Report::Html(file) => {
            let file = place(file);
            write_file(&file, "the report", |out| {
                out.write_all(report::html(recording, trace).as_bytes())?;
                out.flush()?;
                say(&format!("the report is in {}", file.display()));
                Ok(())
            });
        }
    }
    if trace.is_some() && output.request.report == Report::Off && recording.dropped != 0 {
        say(&report::dropped_note(recording.events.len(), recording.dropped));
    }
}

/// One line for the user.
pub fn say(message: &str) {
    say_raw(&format!("gangway: {message}\n"));
}

fn say_raw(text: &str) {
    // Without the lock of the standard library's stream: a thread that a signal has stopped may
    // hold it.
    // SAFETY: the standard stream stays open, or writing to it fails.
    let stream = ManuallyDrop::new(unsafe { File::from_raw_fd(libc::STDERR_FILENO) });
    // A closed standard error is no reason to fail.
    let _ = (&*stream).write_all(text.as_bytes());
}

/// What the program is called.
pub fn program() -> String {
    let from_arguments = std::env::args_os().next().map(PathBuf::from);
    let path = from_arguments.or_else(|| std::env::current_exe().ok()).unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `%p` becomes the process id; a forked child that would write its parent's file
/// gets its own.
fn file_for(file: &Path, pid: u32, forked: bool) -> PathBuf {
    let text = file.to_string_lossy();
    if text.contains("%p") {
        PathBuf::from(text.replace("%p", &pid.to_string()))
    } else if forked {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{pid}"));
        name.into()
    } else {
        file.to_owned()
    }
}

fn write_file(file: &Path, what: &str, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let written = File::create(file).and_then(|created| {
        let mut out = std::io::BufWriter::new(created);
        fill(&mut out)?;
        out.flush()
    });
    if let Err(error) = written {
        say(&format!("cannot write {what} to {}: {error}", file.display()));
    }
}
