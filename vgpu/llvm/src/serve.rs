//! The process that LLVM runs in: a thread answers requests, and the first one waits for the other side to go.
//!
//! Nothing is tidied up at the end, in the midst of LLVM or not: the process is gone, and all it had.

use std::ffi::{CStr, c_char};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::build::BUILD;
use crate::library::{self, Functions};
use crate::machine;
use crate::message::{Kind, Target, receive, send};

/// Passes recurse over what they look at.
const STACK: usize = 64 << 20;
/// Bytes of addresses: what needs more would be killed for it, or have others killed.
const MEMORY: u64 = 4 << 30;
/// How likely the system ends this process where memory is short, of 1,000: rather than the program's.
const EXPENDABLE: &str = "800";
/// Seconds after which the system ends a process that is at one request: the other side has given up by then.
const MOST: u32 = 60;

/// Where the other side is.
static CLIENT: OnceLock<UnixStream> = OnceLock::new();

/// Ends this process, whatever its threads do.
fn end(status: i32) -> ! {
    // SAFETY: no preconditions.
    unsafe { libc::_exit(status) }
}

/// Serves the process at the other end of the socket that is this one's standard input.
pub fn serve() {
    // SAFETY: nothing else of this process uses its standard input.
    let client = UnixStream::from(unsafe { OwnedFd::from_raw_fd(0) });
    if client.peer_addr().is_err() {
        eprintln!("gangway-llvm: this is a part of Gangway's virtual GPUs, which start it themselves");
        end(2);
    }
    limit();
    let client = CLIENT.get_or_init(|| client);
    let answering = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        // Nobody is there any more, or talks nonsense.
        let _ = answer(client);
        end(0);
    });
    if let Err(error) = answering {
        give_up(&format!("no thread: {error}"));
    }
    // What comes is for the thread. This one only waits until nothing can come.
    let mut gone = [PollFd::new(client, PollFlags::RDHUP)];
    while let Ok(0) | Err(rustix::io::Errno::INTR) = poll(&mut gone, None) {}
    end(0);
}

/// What goes wrong here shall cost the machine little.
fn limit() {
    let lower = |resource, most| {
        let Rlimit { current, maximum } = getrlimit(resource);
        let current = Some(current.map_or(most, |current| current.min(most)));
        // It is lower than before, which everybody may ask for.
        let _ = setrlimit(resource, Rlimit { current, maximum });
    };
    lower(Resource::Core, 0);
    lower(Resource::As, MEMORY);
    let _ = std::fs::write("/proc/self/oom_score_adj", EXPENDABLE);
}

/// The processor time of this process.
fn spent() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Tells the other side why this process ends, and ends.
fn give_up(why: &str) -> ! {
    if let Some(client) = CLIENT.get() {
        let _ = send(client, Kind::Ends, spent(), why.as_bytes(), None);
    }
    end(1)
}

/// What LLVM calls where it would end the process.
unsafe extern "C" fn fatal(why: *const c_char) {
    // SAFETY: LLVM gives a C string.
    give_up(&unsafe { CStr::from_ptr(why) }.to_string_lossy());
}

/// What code is made for.
fn target(llvm: &Functions) -> Target {
    let machine::Processor { name, features } = machine::processor(llvm);
    Target {
        version: llvm.version.clone(),
        processor: name.to_string_lossy().into_owned(),
        features: features.to_string_lossy().into_owned(),
    }
}

/// Answers requests, until the other side has gone.
fn answer(client: &UnixStream) -> io::Result<()> {
    let llvm = match library::open() {
        Ok(llvm) => llvm,
        Err(why) => give_up(&why),
    };
    // SAFETY: the handler is a function of ours, which lives for ever.
    unsafe { (llvm.install_fatal_error_handler)(fatal) };
    let Target { version, processor, features } = target(&llvm);
    let ready = format!("{BUILD}\n{version}\n{processor}\n{features}");
    let mut before = spent();
    send(client, Kind::Ready, before, ready.as_bytes(), None)?;
    loop {
        let request = receive(client, None)?;
        let shown = match request.kind {
            Kind::Make => false,
            Kind::MakeAndShow => true,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        // SAFETY: no preconditions; no handler is installed for the signal.
        unsafe { libc::alarm(MOST) };
        let made = machine::compile(&llvm, &request.text(), shown);
        // SAFETY: as above.
        unsafe { libc::alarm(0) };
        let now = spent();
        let took = now.saturating_sub(before);
        before = now;
        match made {
            Ok(made) => {
                if let Some(optimised) = made.optimised {
                    send(client, Kind::Optimised, Duration::ZERO, optimised.as_bytes(), None)?;
                }
                send(client, Kind::Object, took, &made.object, None)?;
            }
            Err(why) => send(client, Kind::Refused, took, why.as_bytes(), None)?,
        }
    }
}
