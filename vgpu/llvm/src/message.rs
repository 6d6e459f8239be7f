//! What the two processes tell each other: messages with a kind, a length and bytes.
//!
//! The program that LLVM runs in begins, with what it makes code for. Then each request has one answer, in order.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// What the program makes code for. Code differs by each of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// LLVM's version, such as `22.1.8`.
    pub version: String,
    /// The processor's name, and what it has, as LLVM says it.
    pub processor: String,
    pub features: String,
}

/// What has been made of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// An object file.
    pub object: Vec<u8>,
    /// The module's text behind the passes, where it has been asked for.
    pub optimised: Option<String>,
}

/// More bytes than this are no message.
const MOST: usize = 256 << 20;
/// What stands before the bytes: kind, processor time in nanoseconds, length.
const HEADER: usize = 4 + 8 + 8;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// There is LLVM: the build, and what [`Target`] has, a line each.
    Ready = 0x4c4c_5601,
    /// The library asks for an object file of a module, whose text this is.
    Make,
    /// The same, and for the text behind the passes.
    MakeAndShow,
    /// That text. The object file follows.
    Optimised,
    /// The object file.
    Object,
    /// Why there is none.
    Refused,
    /// Why this process ends.
    Ends,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::Ready,
        Kind::Make,
        Kind::MakeAndShow,
        Kind::Optimised,
        Kind::Object,
        Kind::Refused,
        Kind::Ends,
    ];
}

/// A message that has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub kind: Kind,
    /// The processor time that the sender has taken for it.
    pub spent: Duration,
    pub bytes: Vec<u8>,
}

impl Message {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Until when something has to be done; `None`: it may take for ever.
pub(crate) type Deadline = Option<Instant>;

/// The time that is left.
fn left(until: Deadline) -> io::Result<Option<Duration>> {
    let Some(until) = until else { return Ok(None) };
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
}

/// What the system says of a call that took too long.
fn too_long(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

/// Sends a message. Nothing is raised where nobody is there any more: the standard library asks for that.
pub(crate) fn send(
    mut to: &UnixStream,
    kind: Kind,
    spent: Duration,
    bytes: &[u8],
    until: Deadline,
) -> io::Result<()> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(&(kind as u32).to_le_bytes());
    header.extend_from_slice(&(spent.as_nanos() as u64).to_le_bytes());
    header.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    for mut part in [&header, bytes] {
        while !part.is_empty() {
            to.set_write_timeout(left(until)?)?;
            match to.write(part) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => part = &part[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(too_long(error)),
            }
        }
    }
    Ok(())
}

/// Reads as many bytes as there is room for.
fn fill(mut from: &UnixStream, mut room: &mut [u8], until: Deadline) -> io::Result<()> {
    while !room.is_empty() {
        from.set_read_timeout(left(until)?)?;
        match from.read(room) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => room = &mut room[read..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(too_long(error)),
        }
    }
    Ok(())
}

/// Waits for a message. What is none is an error.
pub(crate) fn receive(from: &UnixStream, until: Deadline) -> io::Result<Message> {
    let wrong = |what: &str| io::Error::new(ErrorKind::InvalidData, what.to_owned());
    let mut header = [0; HEADER];
    fill(from, &mut header, until)?;
    let number = |range: std::ops::Range<usize>| {
        header[range].iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
    };
    let kind = Kind::ALL.into_iter().find(|&kind| kind as u64 == number(0..4));
    let kind = kind.ok_or_else(|| wrong("what has come is no message"))?;
    let length = usize::try_from(number(12..20)).ok().filter(|&length| length <= MOST);
    let length = length.ok_or_else(|| wrong("a message that is too long"))?;
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(length).is_err() {
        return Err(ErrorKind::OutOfMemory.into());
    }
    bytes.resize(length, 0);
    fill(from, &mut bytes, until)?;
    Ok(Message { kind, spent: Duration::from_nanos(number(4..12)), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPENT: Duration = Duration::from_nanos(123_456_789_012);

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().expect("a pair of sockets")
    }

    #[test]
    fn messages_arrive_as_they_were() {
        let (one, other) = pair();
        let long = vec![7; 3 << 20];
        let sender = std::thread::spawn({
            let long = long.clone();
            move || {
                for kind in Kind::ALL {
                    send(&one, kind, SPENT, b"bytes", None).expect("it is sent");
                }
                send(&one, Kind::Object, Duration::ZERO, &long, None).expect("it is sent");
            }
        });
        for kind in Kind::ALL {
            let message = receive(&other, None).expect("a message");
            assert_eq!(message, Message { kind, spent: SPENT, bytes: b"bytes".to_vec() });
        }
        assert_eq!(receive(&other, None).expect("a message").bytes, long);
        sender.join().expect("the sender");
        assert_eq!(receive(&other, None).expect_err("the end").kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let mut length = [0; HEADER];
        length[..4].copy_from_slice(&(Kind::Object as u32).to_le_bytes());
        length[19] = 1;
        for bytes in [&[0xff; 40][..], &length] {
            let (mut one, other) = pair();
            one.write_all(bytes).expect("it is sent");
            assert_eq!(receive(&other, None).expect_err("nonsense").kind(), ErrorKind::InvalidData);
        }
        let (mut one, other) = pair();
        one.write_all(&length[..7]).expect("it is sent");
        drop(one);
        assert_eq!(receive(&other, None).expect_err("it is cut").kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn nobody_waits_for_longer_than_told() {
        let (one, other) = pair();
        let soon = || Some(Instant::now() + Duration::from_millis(50));
        assert_eq!(receive(&other, soon()).expect_err("nothing").kind(), ErrorKind::TimedOut);
        // What nobody reads fills the socket.
        let sent = send(&one, Kind::Make, SPENT, &vec![0; 16 << 20], soon());
        assert_eq!(sent.expect_err("nobody reads").kind(), ErrorKind::TimedOut);
        drop(other);
        let sent = send(&one, Kind::Make, SPENT, b"", soon());
        assert_eq!(sent.expect_err("nobody is there").kind(), ErrorKind::BrokenPipe);
    }
}
