//! When the host takes over, and when the program ends.
//!
//! OpenMP 6.0 section 4.3.8 (`OMP_TARGET_OFFLOAD`): `MANDATORY` makes every failure to
//! offload an error that terminates; `DISABLED` behaves as if there were no
//! devices; with the default the host runs what no device can. "Cannot" is meant
//! strictly: a wrong map clause or a failed copy has left data in a state that
//! the host version knows nothing about, so it terminates under the default too.

use crate::ending;
use crate::host::{End, Host, Offload};
use crate::message;
use crate::repeats::{self, Subject};
use crate::state::RUNTIME;
use crate::words::{self, Told, Words};
use gangway_runtime::{Device, Error, ErrorKind, events};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

static KNOWN: AtomicU8 = AtomicU8::new(0);

/// The policy, asked of the host's library once.
#[inline]
#[must_use]
pub fn offload() -> Offload {
    match KNOWN.load(Ordering::Relaxed) {
        1 => Offload::Disabled,
        2 => Offload::Default,
        3 => Offload::Mandatory,
        _ => ask(),
    }
}

/// What the first front end has given.
struct FirstHost {
    offload: fn() -> Option<Offload>,
    end: End,
}

static HOST: OnceLock<FirstHost> = OnceLock::new();

/// Has the policy asked of a front end's host library from now on, and errors end the program
/// as with it, unless another front end came first. What is no front end's own is told in its words, too.
pub(crate) fn ask_of<H: Host>() {
    words::learn(H::WORDS);
    let _ = HOST.set(FirstHost { offload: H::target_offload, end: H::END });
}

/// How errors end this program.
fn how() -> End {
    HOST.get().map_or(End::Abort, |host| host.end)
}

#[cold]
fn ask() -> Offload {
    let Some(host) = HOST.get() else { return in_environment() };
    let policy = (host.offload)().unwrap_or_else(in_environment);
    KNOWN.store(policy as u8 + 1, Ordering::Relaxed);
    policy
}

fn in_environment() -> Offload {
    match std::env::var("OMP_TARGET_OFFLOAD").as_deref().map(str::trim) {
        Ok(value) if value.eq_ignore_ascii_case("disabled") => Offload::Disabled,
        Ok(value) if value.eq_ignore_ascii_case("mandatory") => Offload::Mandatory,
        _ => Offload::Default,
    }
}

/// Decides about a failure: returns if the host may take over, ends the program
/// if not. The words are those of the front end whose construct has failed.
#[cold]
pub fn settle(error: &Error, device: Option<&Device>, words: &dyn Words) {
    let device = device.or_else(|| RUNTIME.device_unprepared(usize::try_from(error.device).ok()?));
    let nothing_lost = device.is_none_or(|device| !has_mapped_data(device));
    let host_may = match error.kind {
        ErrorKind::NoDevices { .. }
        | ErrorKind::NoImage { .. }
        | ErrorKind::DeviceOpen(_)
        | ErrorKind::LacksUnifiedMemory
        | ErrorKind::ImageLoad(_)
        | ErrorKind::NoKernel(_) => true,
        // The host version would work on stale data if anything is mapped.
        ErrorKind::OutOfMemory { .. } | ErrorKind::Forked => nothing_lost,
        _ => false,
    };
    if offload() == Offload::Mandatory || !host_may {
        if matches!(error.kind, ErrorKind::OutOfMemory { .. } | ErrorKind::Forked) && !nothing_lost {
            let note = "\n  note: the host cannot take over, as the device holds data of the program";
            end(how(), &Told(error, words), note);
        }
        terminate(error, words);
    }
    if repeats::is_first(Subject::HostTakesOver, error) {
        let told = Told(error, words);
        message::print_line(format_args!("gangway: warning: {told}\n  note: the host takes over"));
    }
}

/// Warns once for each place, and each kind of reason, that the host runs a region.
#[cold]
pub fn tell_of_host(error: &Error, text: std::fmt::Arguments<'_>) {
    if repeats::is_first(Subject::HostTakesOver, error) {
        message::print_line(format_args!("gangway: warning: {text}"));
    }
}

/// Whether the device holds data of the program's that is not a global's.
fn has_mapped_data(device: &Device) -> bool {
    device.table.entries().iter().any(|entry| entry.snapshot().is_some_and(|counts| !counts.is_infinite()))
}

/// Ends the program with an error message, as the stock library of its compiler does, after
/// everything buffered has been written.
#[cold]
pub fn terminate(error: &Error, words: &dyn Words) -> ! {
    end(how(), &Told(error, words), "")
}

/// The same, in a way that is known.
#[cold]
pub fn terminate_by(way: End, error: &Error, words: &dyn Words) -> ! {
    end(way, &Told(error, words), "")
}

/// Ends the program with a message about a mistake of its own that is no construct's.
#[cold]
pub fn mistake(text: std::fmt::Arguments<'_>) -> ! {
    mistake_by(how(), text)
}

/// The same, in a way that is known.
#[cold]
pub fn mistake_by(way: End, text: std::fmt::Arguments<'_>) -> ! {
    last_words(way, format_args!("gangway: error: {text}"))
}

#[cold]
fn end(way: End, told: &Told<'_>, reason: &str) -> ! {
    let Told(error, _) = told;
    let note = if offload() == Offload::Mandatory { "\n  note: OMP_TARGET_OFFLOAD=MANDATORY" } else { "" };
    let debug = match error.construct {
        None if error.device >= 0
            && events::lacks_debug_information()
            && !matches!(
                error.kind,
                ErrorKind::Backend(_) | ErrorKind::WrongFree(_) | ErrorKind::NotFreed { .. }
            ) =>
        {
            "\n  note: compile with -g to see source lines and variable names"
        }
        _ => "",
    };
    last_words(way, format_args!("gangway: error: {told}{reason}{note}{debug}"))
}

fn last_words(way: End, text: std::fmt::Arguments<'_>) -> ! {
    match way {
        End::Abort => {
            message::print_line(text);
            gangway_trace::finish();
            ending::flush_streams();
            // SAFETY: ends the process.
            unsafe { libc::abort() }
        }
        End::Status => {
            ending::claim();
            message::print_line(text);
            gangway_trace::finish();
            // SAFETY: no other thread of this library's calls it.
            unsafe { libc::exit(libc::EXIT_FAILURE) }
        }
    }
}
