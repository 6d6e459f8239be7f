//! LLVM's process as the program sees it, which is: not at all. Each test is a program of its own, in a folder with
//! a copy of LLVM's program, or with what stands in its place.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use gangway_commands::{Folder, Run};
use gangway_llvm::{compile, spent, target};

/// In a test's own process.
const APART: &str = "GANGWAY_LLVM_TEST";
const LONG: Duration = Duration::from_secs(60);

/// A folder with this file and LLVM's program.
fn folder() -> Folder {
    let folder = Folder::new();
    let own = std::env::current_exe().expect("this program is a file");
    fs::copy(own, folder.path("test")).expect("a copy");
    fs::copy(env!("CARGO_BIN_EXE_gangway-llvm"), folder.path("gangway-llvm")).expect("a copy");
    folder
}

/// One of this file's tests, in a folder.
fn command(folder: &Folder, test: &str) -> Command {
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal").arg(folder.path("test"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(APART, test);
    command
}

/// Whether this process runs a test alone. If not, another process has run it so.
fn is_alone(test: &str) -> bool {
    if is_apart() {
        return true;
    }
    command(&folder(), test).run().succeeded();
    false
}

fn is_apart() -> bool {
    std::env::var_os(APART).is_some()
}

/// Whether there is LLVM; who needs it says so where there is none.
fn has_llvm() -> bool {
    match target() {
        Ok(_) => true,
        Err(why) => {
            assert!(why.contains("libLLVM"), "{why}");
            eprintln!("skipped: {why}");
            false
        }
    }
}

/// LLVM's program for this test.
fn program() -> PathBuf {
    std::env::current_exe().expect("this program is a file").with_file_name("gangway-llvm")
}

/// The processes that run a program.
fn processes(program: &Path) -> Vec<i32> {
    let numbers = fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let number = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let runs = fs::read_link(format!("/proc/{number}/exe")).ok()?;
        (runs == program).then_some(number)
    });
    numbers.collect()
}

/// The one process of this test's.
fn own_process() -> i32 {
    let found = processes(&program());
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

/// Waits until something is so.
fn soon(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what}: not in a minute");
        sleep(Duration::from_millis(5));
    }
}

/// A module with many functions: it takes the longer.
fn module(functions: u32) -> String {
    let function = |number: u32| {
        format!(
            "define double @f{number}(ptr %p, i64 %n) {{\nentry:\n  br label %loop\nloop:\n  \
             %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  \
             %sum = phi double [ {number}.0, %entry ], [ %more, %loop ]\n  \
             %at = getelementptr double, ptr %p, i64 %i\n  %value = load double, ptr %at\n  \
             %more = fadd fast double %sum, %value\n  %next = add i64 %i, 1\n  \
             %done = icmp eq i64 %next, %n\n  br i1 %done, label %out, label %loop\nout:\n  ret double %more\n}}\n"
        )
    };
    (0..functions).map(function).collect()
}

/// Asks for a small object.
fn small() -> Result<Vec<u8>, String> {
    Ok(compile(&module(1), false)?.object)
}

fn is_object(object: &[u8]) -> bool {
    object.starts_with(b"\x7fELF")
}

#[test]
fn a_module_becomes_an_object_file() {
    if !is_alone("a_module_becomes_an_object_file") || !has_llvm() {
        return;
    }
    let target = target().expect("there is LLVM");
    assert!(target.version.starts_with("22.1") && target.features.contains("+sse2"), "{target:?}");
    let made = compile(&module(3), true).expect("an object file");
    let optimised = made.optimised.expect("its text");
    assert!(is_object(&made.object) && optimised.contains("@f2") && optimised.contains("x double>"));
    let before = spent();
    let made = compile(&module(300), false).expect("an object file");
    assert!(made.optimised.is_none() && made.object.len() > 30_000);
    assert!(spent() > before + Duration::from_millis(20), "{:?}", spent() - before);
    let wrong = compile("define void @f() { ret i32 0 }", false).expect_err("a wrong type");
    assert!(wrong.contains("ret i32 0"), "{wrong}");
    assert!(is_object(&small().expect("what is wrong ends nothing")));
}

static CHILDREN: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_signal: i32) {
    CHILDREN.fetch_add(1, Ordering::SeqCst);
}

/// No child that can be waited for, whatever is asked for.
fn no_child() -> bool {
    // SAFETY: the call gets no places to write to.
    let waits = |flags| unsafe { libc::waitpid(-1, std::ptr::null_mut(), flags) };
    [0, libc::__WCLONE, libc::__WALL]
        .into_iter()
        .all(|flags| waits(flags) == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD))
}

fn open_files() -> Vec<String> {
    let all = fs::read_dir("/proc/self/fd").expect("files").map(|file| file.expect("a file").path());
    all.map(|path| format!("{} {:?}", path.display(), fs::read_link(&path).unwrap_or_default()))
        .filter(|file| !file.contains("/proc/"))
        .collect()
}

#[test]
fn the_program_sees_no_child_and_no_file() {
    if !is_alone("the_program_sees_no_child_and_no_file") || !has_llvm() {
        return;
    }
    // SAFETY: the handler adds to a number.
    unsafe { libc::signal(libc::SIGCHLD, count as *const () as usize) };
    let before = open_files();
    assert!(is_object(&small().expect("an object file")));
    assert!(no_child());
    let process = own_process();
    assert_eq!(open_files(), before);
    // SAFETY: the process is this test's.
    unsafe { libc::kill(process, libc::SIGKILL) };
    soon("its end", || processes(&program()).is_empty());
    assert!(small().is_err(), "it has gone");
    assert!(is_object(&small().expect("there is another one")));
    assert!(no_child());
    assert_ne!(own_process(), process);
    assert_eq!((open_files(), CHILDREN.load(Ordering::SeqCst)), (before, 0));
}

/// What the program has opened, set or blocked is nothing to the process.
#[test]
fn the_process_has_nothing_of_the_programs() {
    if !is_alone("the_process_has_nothing_of_the_programs") {
        return;
    }
    let (reader, writer) = io::pipe().expect("a pipe");
    // SAFETY: numbers of this process's, and a set that is filled before it is read.
    unsafe {
        // Programs that are started have this one.
        libc::dup2(writer.as_raw_fd(), 77);
        libc::signal(libc::SIGTERM, libc::SIG_IGN);
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
    if !has_llvm() {
        return;
    }
    assert!(is_object(&small().expect("an object file")));
    let process = own_process();
    let of = |name: &str| fs::read(format!("/proc/{process}/{name}")).expect("a process");
    let status = String::from_utf8(of("status")).expect("text");
    // The standard library ignores SIGPIPE when a program starts.
    for (set, signals) in [("SigIgn:\t", 1 << (libc::SIGPIPE - 1)), ("SigBlk:\t", 0)] {
        let line = status.lines().find_map(|line| line.strip_prefix(set)).expect("a set of signals");
        assert_eq!(line, format!("{signals:016x}"), "{set}");
    }
    let environment = String::from_utf8(of("environ")).expect("text");
    assert!(!environment.contains(APART) && !environment.contains("PATH=/usr"), "{environment}");
    let files: Vec<String> = fs::read_dir(format!("/proc/{process}/fd"))
        .expect("files")
        .map(|file| fs::read_link(file.expect("a file").path()).expect("a file").display().to_string())
        .collect();
    let (sockets, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.starts_with("socket"));
    assert_eq!(
        (sockets.len(), others.iter().filter(|&&file| file != "/dev/null").count()),
        (1, 0),
        "{files:?}"
    );
    let stat = String::from_utf8(of("stat")).expect("text");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    assert_ne!(fields[1], std::process::id().to_string(), "its parent");
    assert_eq!(fields[3], process.to_string(), "its session is its own");
    drop(reader);
}

/// Daemons close what they do not know, and what they open then has the numbers.
#[test]
fn a_program_may_close_all_files() {
    if !is_alone("a_program_may_close_all_files") || !has_llvm() {
        return;
    }
    assert!(is_object(&small().expect("an object file")));
    let folder = Folder::new();
    // SAFETY: nothing that is used has these numbers.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    let open = |number: u32| {
        let path = folder.path(format!("{number}"));
        File::options().read(true).write(true).create(true).truncate(true).open(path).expect("a file")
    };
    let mut files: Vec<File> = (0..300).map(open).collect();
    for file in &mut files {
        file.write_all(b"own").expect("it is written");
    }
    assert!(is_object(&small().expect("an object file")));
    for file in &mut files {
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).expect("a file");
        assert_eq!(text, "own");
    }
}

#[test]
fn a_forked_child_has_a_process_of_its_own() {
    if !is_alone("a_forked_child_has_a_process_of_its_own") || !has_llvm() {
        return;
    }
    assert!(is_object(&small().expect("an object file")));
    let process = own_process();
    // SAFETY: no other thread holds a lock that the child needs: the test's have nothing to do.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let made = small().is_ok_and(|object| is_object(&object));
        let two = processes(&program()).len() == 2;
        // SAFETY: no preconditions.
        unsafe { libc::_exit(i32::from(!(made && two))) };
    }
    let mut status = -1;
    // SAFETY: the child is this test's.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    soon("the end of the child's", || processes(&program()) == [process]);
    assert!(is_object(&small().expect("the parent's is still there")));
    assert_eq!(own_process(), process);
}

/// A test's own process that ends in some way, and LLVM's with it.
fn ends(test: &str, end: impl FnOnce()) {
    if is_apart() {
        if has_llvm() {
            small().expect("an object file");
            end();
        }
        return;
    }
    let folder = folder();
    let mut child = command(&folder, test)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is started");
    let program = folder.path("gangway-llvm").canonicalize().expect("a path");
    let start = Instant::now();
    // It is there, or there is no LLVM.
    while processes(&program).is_empty() && child.try_wait().expect("a child").is_none() {
        assert!(start.elapsed() < LONG, "it does not come");
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(50));
    drop(child.stdin.take());
    let _ = child.wait();
    soon("the end of LLVM's process", || processes(&program).is_empty());
}

/// Returns when the other side wants the end.
fn wait_for_the_end() {
    let _ = io::stdin().read(&mut [0]);
}

#[test]
fn it_ends_where_the_program_is_killed() {
    ends("it_ends_where_the_program_is_killed", || {
        wait_for_the_end();
        // SAFETY: no preconditions.
        unsafe { libc::raise(libc::SIGKILL) };
    });
}

#[test]
fn it_ends_where_the_program_ends_while_it_works() {
    ends("it_ends_where_the_program_ends_while_it_works", || {
        std::thread::spawn(|| compile(&module(20_000), false));
        sleep(Duration::from_millis(100));
        std::process::exit(0);
    });
}

/// The program's children are no reason to stay.
#[test]
fn it_ends_where_a_child_stays() {
    ends("it_ends_where_a_child_stays", || {
        // SAFETY: the child does nothing but wait and end.
        unsafe {
            if libc::fork() == 0 {
                libc::sleep(3);
                libc::_exit(0);
            }
            libc::_exit(0);
        }
    });
}

#[test]
fn it_ends_where_the_program_becomes_another() {
    ends("it_ends_where_the_program_becomes_another", || {
        let text = [c"/bin/cat".as_ptr(), std::ptr::null()];
        // SAFETY: a list of C strings with an end.
        unsafe { libc::execv(text[0], text.as_ptr()) };
        panic!("it is not run");
    });
}

/// Killed whenever it likes, asked by many threads, with handlers as they are when a program starts.
#[test]
fn what_ends_it_ends_nothing_else() {
    if !is_alone("what_ends_it_ends_nothing_else") || !has_llvm() {
        return;
    }
    // SAFETY: as programs in C have it. Nothing of the test's is written to a pipe that nobody reads.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let (text, ends) = (module(50), AtomicU32::new(8));
    let mut outcomes = Vec::new();
    std::thread::scope(|scope| {
        let ask = || {
            let outcomes: Vec<Result<bool, String>> =
                (0..12).map(|_| compile(&text, false).map(|made| is_object(&made.object))).collect();
            ends.fetch_sub(1, Ordering::SeqCst);
            outcomes
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        let mut pause = 1;
        while ends.load(Ordering::SeqCst) != 0 {
            sleep(Duration::from_millis(pause % 97));
            pause = pause * 31 + 7;
            for process in processes(&program()) {
                // SAFETY: the process is this test's.
                unsafe { libc::kill(process, libc::SIGKILL) };
            }
        }
        outcomes.extend(threads.into_iter().flat_map(|thread| thread.join().expect("a thread")));
    });
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().is_ok_and(|&object| object) || outcome.is_err()));
    let last = small().expect_err("it has failed too often");
    assert!(last.starts_with("LLVM's process has failed 4 times: "), "{last}");
    assert!(no_child());
}

/// Why there is no LLVM in a process that has been prepared for that.
fn refused(prepare: impl FnOnce()) -> String {
    prepare();
    let why = target().expect_err("it cannot be started");
    assert_eq!(compile(&module(1), false).expect_err("nor asked"), why);
    assert!(no_child());
    why
}

#[test]
fn without_its_program_there_is_none() {
    if is_alone("without_its_program_there_is_none") {
        let why = refused(|| fs::remove_file(program()).expect("it goes"));
        assert!(why.starts_with("there is no program '"), "{why}");
    }
}

#[test]
fn a_program_that_is_none_is_told() {
    if is_alone("a_program_that_is_none_is_told") {
        let why = refused(|| fs::write(program(), "no program").expect("it is written"));
        assert!(why.contains("Exec format error"), "{why}");
    }
}

#[test]
fn without_the_library_there_is_none() {
    const TEST: &str = "without_the_library_there_is_none";
    if is_apart() {
        assert_eq!(refused(|| ()), "libLLVM.so.22.1 is not there");
        return;
    }
    let folder = folder();
    folder.write("libLLVM.so.22.1", "no library");
    command(&folder, TEST).env("LD_LIBRARY_PATH", &*folder).run().succeeded();
}

#[test]
fn who_adopts_children_gets_none() {
    if is_alone("who_adopts_children_gets_none") {
        // SAFETY: a number.
        let why = refused(|| unsafe { assert_eq!(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1), 0) });
        assert!(why.contains("other processes' children"), "{why}");
    }
}

/// The system may refuse each call that is needed, as in a sandbox.
#[test]
fn what_the_system_refuses_is_told() {
    const TEST: &str = "what_the_system_refuses_is_told";
    const CALLS: [(&str, libc::c_long, &str); 4] = [
        ("close_range", libc::SYS_close_range, "no table of files: "),
        ("socketpair", libc::SYS_socketpair, "no socket: "),
        ("clone", libc::SYS_clone, "no process: "),
        ("execve", libc::SYS_execve, "gangway-llvm': "),
    ];
    if let Some(name) = std::env::var_os("GANGWAY_LLVM_TEST_REFUSED") {
        let (_, call, expected) = CALLS.into_iter().find(|call| name == call.0).expect("a call");
        let why = refused(|| refuse(call));
        assert!(why.contains(expected) && why.contains("Operation not permitted"), "{why}");
        return;
    }
    if is_apart() {
        return;
    }
    let folder = folder();
    for (name, ..) in CALLS {
        command(&folder, TEST).env("GANGWAY_LLVM_TEST_REFUSED", name).run().succeeded();
    }
}

/// From here on the system refuses a call.
fn refuse(call: libc::c_long) {
    let number = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let is = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer =
        |value| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: value };
    let mut filter = [
        libc::sock_filter { code: number as u16, jt: 0, jf: 0, k: 0 },
        libc::sock_filter { code: is as u16, jt: 0, jf: 1, k: call as u32 },
        answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its length are the array's.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let all = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        );
        assert_eq!(all, 0, "{}", io::Error::last_os_error());
    }
}
