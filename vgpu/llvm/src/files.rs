//! A thread without the program's files.
//!
//! The socket to the other process must not be a file of the program's: one that closes all files that it does not
//! know would close it, and what gets the number next would be written to. So the thread that talks has a
//! table of files of its own. There is nothing of the program's in it that could leak into the other process, and
//! no process that the program makes gets the socket.

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};

use rustix::fs::{Mode, OFlags, open};

/// Blocks all signals in this thread: a handler of the program's must find the program's files.
pub(crate) fn block_signals() {
    // SAFETY: the set is filled before it is read.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

/// Gives this thread a table of files of its own: `/dev/null` for 0 to 2, which programs that are started get. The
/// thread must be one that runs no code of the program's.
pub(crate) fn leave_behind() -> io::Result<()> {
    block_signals();
    // SAFETY: it changes the table of this thread alone. If it fails, nothing is changed.
    if unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for number in 0..3 {
        let null = open("/dev/null", OFlags::RDWR, Mode::empty())?;
        if null.as_raw_fd() != number {
            return Err(io::Error::other("the table of files is not empty"));
        }
        let _ = null.into_raw_fd();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    use super::*;

    /// Neither has what the other opens, and what the program closes is closed.
    #[test]
    fn the_threads_files_are_its_own() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let (told, wait) = std::sync::mpsc::channel();
        let (go_on, waits) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            leave_behind().expect("a table of its own");
            let number = File::open("/proc/self/status").expect("a file").into_raw_fd();
            told.send(number).expect("the test waits");
            let _ = waits.recv();
        });
        assert_eq!(wait.recv().expect("a number"), 3);
        drop(writer);
        // The end is seen although the thread was started with the other end of the pipe.
        assert_eq!(reader.read(&mut [0]).expect("the end"), 0);
        drop(go_on);
        thread.join().expect("the thread");
        let _ = reader.as_raw_fd();
    }
}
