//! The text of a crash report.
//!
//! Written in the signal handler, whose stack may be as small as 8 KiB where the
//! program has made one of its own: so it is put together in a small buffer,
//! which leaves in one `write` unless the names are very long. It says which region crashed, where that stands in
//! the program, what happened and what to look for.

use super::fault::Crash;
use super::{Found, place};
use crate::activity::{Activity, ActivityKind};
use crate::images::{self, Image};
use crate::names::{Part, name_by_command};
use crate::sections::{self, Block, HostData, MEND};
use crate::thread::{self, Thread};
use gangway_backend::Launch;
use std::fmt::{self, Write as _};

/// Text on its way to the standard error output.
struct Text {
    bytes: [u8; 1024],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; 1024], length: 0 }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.length == self.bytes.len() {
                self.send();
            }
            let count = bytes.len().min(self.bytes.len() - self.length);
            self.bytes[self.length..][..count].copy_from_slice(&bytes[..count]);
            self.length += count;
            bytes = &bytes[count..];
        }
    }

    fn send(&mut self) {
        let mut rest = &self.bytes[..self.length];
        while !rest.is_empty() {
            // SAFETY: the bytes are valid.
            let count = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
            if count <= 0 {
                break;
            }
            rest = &rest[count as usize..];
        }
        self.length = 0;
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.push(s.as_bytes());
        Ok(())
    }
}

/// Writes the report of `crash`, which happened on `thread` (if that has ever
/// launched) and in or below `image` (if it did).
pub(super) fn print(crash: &Crash, thread: Option<&Thread>, found: Option<&Found>) {
    let image = found.map(|found| found.image);
    let here = image.and_then(|image| image.symbol(crash.pc));
    // SAFETY: the calling thread's activity stays while the thread is in this handler.
    let own = thread.and_then(|thread| unsafe { thread.activity().as_ref() });
    let activity = own.or_else(|| launching(image?, here.map(|(name, _)| name)));

    let mut text = Text::new();
    text.push(b"gangway: ");
    // One of the two is there, or this would not be called.
    let device = activity.map(|a| a.device).or_else(|| image.map(Image::device)).unwrap_or_default();
    let kind = activity.map(|activity| &activity.kind);
    let _ = match kind {
        Some(ActivityKind::Loading) => writeln!(
            text,
            "loading the device image on cpu device {device} crashed: it is damaged, or an initialiser in it is wrong"
        ),
        Some(ActivityKind::Unloading) => {
            writeln!(
                text,
                "unloading the device image on cpu device {device} crashed: a finaliser in it is wrong"
            )
        }
        Some(ActivityKind::Kernel(launch)) => {
            text.push(b"kernel `");
            region(&mut text, launch.name.as_bytes(), launch.location().map(|l| l.function));
            writeln!(text, "` crashed on cpu device {device}")
        }
        None => {
            text.push(b"kernel `");
            region(&mut text, here.map_or(b"?", |(name, _)| name), None);
            writeln!(text, "` crashed on cpu device {device}")
        }
    };
    let location = activity.and_then(|activity| match activity.kind {
        ActivityKind::Kernel(launch) => launch.location(),
        ActivityKind::Loading | ActivityKind::Unloading => None,
    });
    if let Some(l) = location {
        let _ = write!(text, "  region:  {}:{}", l.file, l.line);
        if l.column != 0 {
            let _ = write!(text, ":{}", l.column);
        }
        let _ = writeln!(text, " in {}", l.function);
    }
    let (signal, meaning) = crash.what();
    let _ = write!(text, "  signal:  {signal}, {meaning}");
    let _ = match crash.touched() {
        Some(address) => writeln!(text, ", at address {address:#x}"),
        None => writeln!(text),
    };
    let host = crash.forbidden().and_then(sections::protected_at);
    if let Some(host) = &host {
        host_data(&mut text, host, crash);
    }
    let beside = crash.forbidden().and_then(|address| Some((address, sections::fenced_at(address)?)));
    if let Some((address, (begin, block))) = &beside {
        device_data(&mut text, *begin, block, *address, crash);
    }
    text.push(b"  code:    ");
    match here {
        Some((name, into)) => {
            text.push(name);
            let _ = write!(text, "+{into:#x}");
        }
        None => {
            let _ = write!(text, "address {:#x}", crash.pc);
            if image.is_some() {
                text.push(b", called from the device image");
            }
        }
    }
    text.push(if own.is_some() {
        b", on the launching thread\n"
    } else {
        b", on a worker thread of the region\n"
    });
    let in_kernel = matches!(kind, Some(ActivityKind::Kernel(_)) | None);
    if let Some(found) = found {
        // The lines in their order: another process writes some.
        text.send();
        place::print(crash, found.image, found.address, found.called);
    }
    let hint = match (&host, &beside) {
        (Some(_), _) => Some(FOLLOWED),
        (None, Some(_)) => Some(MEND),
        (None, None) => crash.hint(),
    };
    if let Some(hint) = hint.filter(|_| in_kernel) {
        let _ = writeln!(text, "  help:    {hint}");
    }
    text.push(b"  note:    GANGWAY_CPU_CATCH_SIGNALS=0 lets a debugger read the image's symbols\n");
    text.send();
}

const FOLLOWED: &str = "the region has followed a pointer of the host; on a GPU it would fail: let the \
     region use the mapped variable itself, or attach the pointer to it";

/// Says which variable of the host has been touched (`GANGWAY_CHECK=2`).
fn host_data(text: &mut Text, host: &HostData, crash: &Crash) {
    let HostData { variable, begin, size } = host;
    text.push(if crash.writes() { b"  host:    a write to " } else { b"  host:    a read of " });
    let _ = match variable.name {
        Some(name) => write!(text, "`{name}`"),
        None => write!(text, "mapped data"),
    };
    let _ = write!(text, " on the host, byte {} of {size}", crash.address.wrapping_sub(*begin));
    let _ = match variable.location {
        Some(at) => writeln!(text, " (declared at {}:{})", at.file, at.line),
        None => writeln!(text),
    };
}

/// Says beside which block of device memory an access was (`GANGWAY_CHECK=2`).
fn device_data(text: &mut Text, begin: usize, block: &Block, address: usize, crash: &Crash) {
    let offset = address.wrapping_sub(begin + block.padding).cast_signed();
    let distance = block.distance(offset);
    let access = if crash.writes() { "write" } else { "read" };
    let _ = write!(text, "  device:  a {access} past the end of {block}, {distance} bytes away from it: ");
    let element = block.variable.and_then(|variable| name_by_command(Part::Element, variable, offset));
    let _ = match element {
        Some(element) => writeln!(text, "`{}`, byte {offset} of the section", element.as_str()),
        None => writeln!(text, "byte {offset} of the section"),
    };
}

/// The launch that the code at `symbol` of `image` belongs to, from the threads
/// that are launching. Parts that the compiler outlined from a kernel are named
/// after it; a function that kernels call is not, and is then taken to belong to
/// the only launch of this image.
fn launching(image: &Image, symbol: Option<&[u8]>) -> Option<&'static Activity<'static>> {
    let mut candidates = thread::all().filter_map(|thread| {
        // SAFETY: a launch whose worker is the crashed thread does not end before
        // that thread does. Others may, and would at worst crash the report.
        let activity = unsafe { thread.activity().as_ref() }?;
        let ActivityKind::Kernel(launch) = activity.kind else { return None };
        let same = images::find(launch.kernel.handle.0).is_some_and(|other| std::ptr::eq(other, image));
        same.then_some((activity, launch.name.as_bytes()))
    });
    let first = candidates.next()?;
    let named = |(_, name): &(_, &[u8])| symbol.is_some_and(|symbol| symbol.starts_with(name));
    if named(&first) {
        return Some(first.0);
    }
    match candidates.find(named) {
        Some((activity, _)) => Some(activity),
        None => candidates.next().is_none().then_some(first.0),
    }
}

/// Writes `function:line` for a kernel symbol,
/// `__omp_offloading_<device>_<file>_<function>_l<line>`, or the symbol itself.
fn region(text: &mut Text, symbol: &[u8], function: Option<&str>) {
    let Some((name, line)) = split(symbol) else { return text.push(symbol) };
    match function {
        // The compiler's own spelling of a C++ name is not for reading.
        Some(function) if name.starts_with(b"_Z") && !function.is_empty() => text.push(function.as_bytes()),
        _ => text.push(name),
    }
    text.push(b":");
    text.push(line);
}

fn split(symbol: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = symbol.strip_prefix(b"__omp_offloading_")?;
    let mut fields = rest.splitn(3, |b| *b == b'_');
    let (_device, _file, name) = (fields.next()?, fields.next()?, fields.next()?);
    // The last `_l<digits>`; the compiler may have put more behind it.
    let at = (0..name.len())
        .rev()
        .find(|at| name[*at..].starts_with(b"_l") && name.get(at + 2).is_some_and(u8::is_ascii_digit))?;
    let line = &name[at + 2..];
    let digits = line.iter().position(|b| !b.is_ascii_digit()).unwrap_or(line.len());
    Some((&name[..at], &line[..digits]))
}

/// Says that a C++ exception has left a kernel.
pub(crate) fn exception(launch: &Launch<'_>) {
    let mut text = Text::new();
    text.push(b"gangway: an exception left kernel `");
    region(&mut text, launch.name.as_bytes(), launch.location().map(|l| l.function));
    text.push(b"`\n");
    if let Some(l) = launch.location() {
        let _ = writeln!(text, "  region:  {}:{} in {}", l.file, l.line, l.function);
    }
    text.push(b"  help:    OpenMP requires that it is caught inside the target region\n");
    text.send();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretty(symbol: &str, function: Option<&str>) -> String {
        let mut text = Text::new();
        region(&mut text, symbol.as_bytes(), function);
        String::from_utf8_lossy(&text.bytes[..text.length]).into_owned()
    }

    #[test]
    fn kernels_are_called_by_function_and_line() {
        assert_eq!(pretty("__omp_offloading_fe00_9900ad_main_l7", None), "main:7");
        assert_eq!(pretty("__omp_offloading_fe00_9900ad_a_l2_b_l70_debug__.omp_outlined", None), "a_l2_b:70");
        assert_eq!(pretty("__omp_offloading_1_2__ZN1a1bEv_l3", Some("b")), "b:3");
        assert_eq!(pretty("__omp_offloading_1_2__ZN1a1bEv_l3", None), "_ZN1a1bEv:3");
        for other in ["helper", "__omp_offloading_", "__omp_offloading_1_2_main"] {
            assert_eq!(pretty(other, None), other);
        }
    }
}
