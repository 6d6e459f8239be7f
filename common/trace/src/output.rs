//! Writes what was recorded to where it was asked for.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::about::Rank;
use crate::recording::Recording;
use crate::say::{say, say_raw};
use crate::{Fill, Report, Request, chrome, files, report};

/// A terminal that says it has fewer columns has not been asked what it has.
const MIN_WIDTH: usize = 40;

/// Writes the traces and the report of a recording. The process `asked` was asked for them: a
/// forked child is another.
pub fn write(request: &Request, asked: u32, recording: &Recording) {
    let forked = recording.pid != asked;
    if forked && recording.rows.is_empty() {
        return;
    }
    let rank = recording.about.rank;
    let place = |file: &Path| file_for(file, recording.pid, forked, rank);
    let traces: Vec<PathBuf> = request.traces.iter().map(|file| place(file)).collect();
    for file in &traces {
        write_file(file, "the trace", &|out| chrome::write(recording, out));
    }
    let trace = traces.first().map(PathBuf::as_path);
    match &request.report {
        Report::Off => {}
        Report::Text(None) => say_raw(&report::text(recording, trace, terminal_width())),
        Report::Json(None) => say_raw(&report::json(recording, trace)),
        Report::Text(Some(file)) => {
            write_report(&place(file), &report::text(recording, trace, usize::MAX));
        }
        Report::Json(Some(file)) => {
            write_report(&place(file), &report::json(recording, trace));
        }
        Report::Html(file) => {
            let file = place(file);
            if write_report(&file, &report::html(recording, trace)) {
                say(&format!("the report is in {}", file.display()));
            }
        }
    }
    if trace.is_some() && request.report == Report::Off && recording.dropped != 0 {
        say(&report::dropped_note(recording.events.len(), recording.dropped));
    }
}

/// The columns of the terminal that standard error is; without one nothing wraps.
fn terminal_width() -> usize {
    // SAFETY: plain data, which the call fills in if it succeeds.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns >= MIN_WIDTH).unwrap_or(usize::MAX)
}

/// Says now which files cannot be written when the process ends.
pub fn check(request: &Request) {
    let (pid, rank) = (std::process::id(), Rank::of_process());
    let report = match &request.report {
        Report::Off | Report::Text(None) | Report::Json(None) => None,
        Report::Text(Some(file)) | Report::Json(Some(file)) | Report::Html(file) => Some(file),
    };
    let traces = request.traces.iter().map(|file| ("the trace", file));
    for (what, file) in traces.chain(report.map(|file| ("the report", file))) {
        let file = file_for(file, pid, false, rank);
        if let Err(error) = writable(&file) {
            say(&format!("{what} cannot be written to {} when the program ends: {error}", file.display()));
        }
    }
}

/// Whether a file can be written or made, as far as its permissions say.
fn writable(file: &Path) -> std::io::Result<()> {
    let (place, mode) = match file.metadata() {
        Ok(_) => (file, libc::W_OK),
        Err(_) => match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => (folder, libc::W_OK | libc::X_OK),
            _ => (Path::new("."), libc::W_OK | libc::X_OK),
        },
    };
    let place = CString::new(place.as_os_str().as_bytes())?;
    // SAFETY: a text with its terminator.
    if unsafe { libc::access(place.as_ptr(), mode) } == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// `%p` becomes the process id, `%r` the rank, or the process id where there is none. Without
/// either, a rank that has others gets its number before the extension, and a forked child, which
/// would write its parent's file, its id behind the name.
fn file_for(file: &Path, pid: u32, forked: bool, rank: Option<Rank>) -> PathBuf {
    if files::descriptor(file).is_some() {
        // `/dev/stdout` is the same in all of them.
        return file.to_owned();
    }
    let text = file.to_string_lossy();
    let own = match rank {
        _ if text.contains("%p") || text.contains("%r") => {
            let rank = rank.map_or(pid, |rank| rank.rank);
            PathBuf::from(text.replace("%p", &pid.to_string()).replace("%r", &rank.to_string()))
        }
        Some(rank) if rank.has_others() => with_rank(file, rank.rank),
        _ => file.to_owned(),
    };
    if forked && !text.contains("%p") {
        let mut name = own.into_os_string();
        name.push(format!(".{pid}"));
        name.into()
    } else {
        own
    }
}

/// `heat.json` of rank 3 is `heat.rank3.json`.
fn with_rank(file: &Path, rank: u32) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".rank{rank}"));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

fn write_report(file: &Path, text: &str) -> bool {
    write_file(file, "the report", &|out| out.write_all(text.as_bytes()))
}

/// Whether a file could be written; if not, the user is told.
fn write_file(file: &Path, what: &str, fill: Fill<'_>) -> bool {
    let written = files::write_whole(file, fill);
    if let Err(error) = &written {
        say(&format!("cannot write {what} to {}: {error}", file.display()));
    }
    written.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let name = |file: &str, forked, rank: Option<(u32, u32)>| {
            let rank = rank.map(|(rank, of)| Rank { rank, of: Some(of) });
            file_for(Path::new(file), 42, forked, rank).to_string_lossy().into_owned()
        };
        assert_eq!(name("/d/a.json", false, None), "/d/a.json");
        assert_eq!(name("/d/a.json", true, None), "/d/a.json.42");
        assert_eq!(name("/d/a-%p.json", true, None), "/d/a-42.json");
        assert_eq!(name("/d/a.json", false, Some((3, 4))), "/d/a.rank3.json");
        assert_eq!(name("/d.x/a", false, Some((0, 4))), "/d.x/a.rank0");
        assert_eq!(name("/d/a.json", true, Some((3, 4))), "/d/a.rank3.json.42");
        assert_eq!(name("/d/a.json", false, Some((0, 1))), "/d/a.json");
        assert_eq!(name("/dev/stderr", true, Some((3, 4))), "/dev/stderr");
        assert_eq!(name("/d/a.%r.json", false, Some((3, 4))), "/d/a.3.json");
        assert_eq!(name("/d/a.%r.json", false, None), "/d/a.42.json");
        assert_eq!(name("/d/a.%p.json", false, Some((3, 4))), "/d/a.42.json");
    }
}
