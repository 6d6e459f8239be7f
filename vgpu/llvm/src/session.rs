//! A thread that talks with one process of LLVM's, for as long as that is there.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::build::BUILD;
use crate::message::{Kind, Made, Message, Target, receive, send};
use crate::{files, start};

/// How long one answer may take: longer than the largest region that is tried takes on a machine that is busy.
pub(crate) const MOST: Duration = Duration::from_secs(30);
/// After so long without a request the process ends. It has some memory, and another one is soon there.
const IDLE: Duration = Duration::from_secs(30);

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// LLVM takes this text for wrong, or has no code for it.
    Refused(String),
    /// The process has ended, or was ended.
    Ended(String),
    /// There will be none in another process either.
    Absent(String),
}

/// What comes back, and the processor time that it took.
pub(crate) type Answer<T> = (Result<T, Failure>, Duration);

/// What is asked of the process.
pub(crate) struct Request {
    pub text: String,
    /// Whether the text behind the passes is asked for, too.
    pub shown: bool,
    pub answer: Sender<Answer<Made>>,
}

/// A process that is there, until its thread ends: then nothing can be sent any more.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub requests: Sender<Request>,
}

impl Session {
    /// Starts a process, and waits until it says what it makes code for. An answer may take as long as `most`.
    pub fn start(program: &Path, most: Duration) -> Answer<(Self, Target)> {
        let (requests, asked) = mpsc::channel();
        let (told, hello) = mpsc::channel();
        let program = program.to_owned();
        let thread = std::thread::Builder::new().name("gangway-llvm".to_owned());
        let thread = thread.spawn(move || match begin(&program, most) {
            (Ok((socket, target)), spent) => {
                let _ = told.send((Ok(target), spent));
                talk(&socket, &asked, most);
            }
            (Err(failure), spent) => {
                let _ = told.send((Err(failure), spent));
            }
        });
        if let Err(error) = thread {
            return (Err(Failure::Ended(format!("no thread: {error}"))), Duration::ZERO);
        }
        let nothing = |_| (Err(Failure::Ended("its thread has ended".to_owned())), Duration::ZERO);
        let (target, spent) = hello.recv().unwrap_or_else(nothing);
        (target.map(|target| (Self { requests }, target)), spent)
    }
}

/// What an error of the socket's says about the process.
fn ended(error: &io::Error) -> Failure {
    Failure::Ended(match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "LLVM's process has ended".to_owned()
        }
        ErrorKind::TimedOut => "LLVM takes too long".to_owned(),
        _ => format!("LLVM's process: {error}"),
    })
}

/// Starts the process, in a thread that goes on to talk with it.
fn begin(program: &Path, most: Duration) -> Answer<(UnixStream, Target)> {
    let failed = |what| (Err(Failure::Ended(what)), Duration::ZERO);
    if let Err(error) = files::leave_behind() {
        return failed(format!("no table of files: {error}"));
    }
    let socket = match start::start(program) {
        Ok(socket) => socket,
        Err(why) => return failed(why),
    };
    match receive(&socket, Some(Instant::now() + most)) {
        Ok(message) if message.kind == Kind::Ready => {
            let target = target(&message.text())
                .ok_or_else(|| Failure::Absent(format!("'{}' is of another build", program.display())));
            (target.map(|target| (socket, target)), message.spent)
        }
        Ok(Message { kind: Kind::Ends, bytes, spent }) => {
            (Err(Failure::Absent(String::from_utf8_lossy(&bytes).into_owned())), spent)
        }
        Ok(_) => failed("LLVM's process answers what it was not asked".to_owned()),
        Err(error) => (Err(ended(&error)), Duration::ZERO),
    }
}

/// What a process makes code for; `None` where it is built of other sources.
fn target(ready: &str) -> Option<Target> {
    let mut lines = ready.lines().map(str::to_owned);
    let build = lines.next()?;
    let [version, processor, features] = [lines.next()?, lines.next()?, lines.next().unwrap_or_default()];
    (build == BUILD.to_string()).then_some(Target { version, processor, features })
}

/// Hands requests on, until the process or whoever asks is gone.
fn talk(socket: &UnixStream, asked: &Receiver<Request>, most: Duration) {
    loop {
        let request = match asked.recv_timeout(IDLE) {
            Ok(request) => request,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        };
        let (answer, spent) = match exchange(socket, &request, most) {
            Ok((answer, spent)) => (answer, spent),
            Err(error) => (Err(ended(&error)), Duration::ZERO),
        };
        let goes_on = !matches!(answer, Err(Failure::Ended(_)));
        let _ = request.answer.send((answer, spent));
        if !goes_on {
            return;
        }
    }
}

fn exchange(socket: &UnixStream, request: &Request, most: Duration) -> io::Result<Answer<Made>> {
    let kind = if request.shown { Kind::MakeAndShow } else { Kind::Make };
    let until = Some(Instant::now() + most);
    send(socket, kind, Duration::ZERO, request.text.as_bytes(), until)?;
    let mut optimised = None;
    loop {
        let message = receive(socket, until)?;
        let made = match message.kind {
            Kind::Optimised if request.shown && optimised.is_none() => {
                optimised = Some(message.text());
                continue;
            }
            Kind::Object => Ok(Made { object: message.bytes, optimised }),
            Kind::Refused => Err(Failure::Refused(message.text())),
            Kind::Ends => Err(Failure::Ended(message.text())),
            _ => Err(Failure::Ended("LLVM's process answers what it was not asked".to_owned())),
        };
        return Ok((made, message.spent));
    }
}

#[cfg(test)]
mod tests {
    use gangway_commands::Folder;

    use super::*;

    const SOON: Duration = Duration::from_millis(300);

    /// What has come of starting a script in the place of the program.
    fn started(script: &str) -> Failure {
        let folder = Folder::new();
        folder.script("gangway-llvm", script);
        Session::start(&folder.path("gangway-llvm"), SOON).0.expect_err("it is not LLVM")
    }

    #[test]
    fn what_is_not_llvm_is_told_from_it() {
        let ended = |why: &str| Failure::Ended(why.to_owned());
        assert_eq!(started("#!/bin/sh\nexit 3\n"), ended("LLVM's process has ended"));
        assert_eq!(started("#!/bin/sh\nexec sleep 60 >&0\n"), ended("LLVM takes too long"));
        // What it says goes nowhere; its input is the socket.
        assert_eq!(started("#!/bin/sh\necho nonsense\n"), ended("LLVM's process has ended"));
        let nonsense = started("#!/bin/sh\nexec printf 'nonsense, and more than a header' >&0\n");
        assert_eq!(nonsense, ended("LLVM's process: what has come is no message"));
        let Failure::Ended(why) = started("no program") else { panic!("another failure") };
        assert!(why.contains("Exec format error"), "{why}");
    }

    #[test]
    fn another_build_is_not_asked() {
        let line = |build: u64| format!("{build}\n22.1.8\na processor\n+fma,-avx");
        let known = target(&line(BUILD)).expect("it is this build");
        assert_eq!((&*known.version, &*known.features), ("22.1.8", "+fma,-avx"));
        assert_eq!(target(&line(BUILD ^ 1)), None);
        assert_eq!(target("22.1.8"), None);
    }

    /// An answer is not waited for for ever, and the process is gone then.
    #[test]
    fn what_takes_too_long_is_given_up() {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let (answer, answers) = mpsc::channel();
        let (requests, asked) = mpsc::channel();
        requests.send(Request { text: "text".to_owned(), shown: false, answer }).expect("it is asked");
        talk(&ours, &asked, SOON);
        let answer = answers.recv().expect("an answer");
        assert_eq!(answer.0, Err(Failure::Ended("LLVM takes too long".to_owned())));
        drop(ours);
        assert_eq!(receive(&theirs, None).expect("the request").text(), "text");
        assert!(receive(&theirs, None).is_err(), "nobody is there");
    }
}
