//! The functions that the CUDA driver provides to device code: `vprintf`, `malloc`, `free`,
//! `__assertfail`, and those behind cooperative groups.
//!
//! A module declares them and has no body for them. The interpreter and the engine find them by
//! name with [`Builtin::named`] and run them lane by lane with [`call`]; memory, the heap and the
//! streams of text are theirs, behind [`Host`]. What the device's program hands in may
//! be anything: nothing here panics on it, and strings without an end are cut.

mod format;

use crate::fault::FaultKind;

/// A function that the driver provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `int vprintf(const char *format, void *arguments)`
    Vprintf,
    /// `void *malloc(size_t size)`
    Malloc,
    /// `void free(void *block)`
    Free,
    /// `void __assertfail(const char *message, const char *file, unsigned line, const char
    /// *function, size_t char_size)`
    AssertFail,
    /// `unsigned long long cudaCGGetIntrinsicHandle(cudaCGScope scope)`
    GetIntrinsicHandle,
    /// `cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned flags)`: a barrier of the
    /// whole grid, which [`call`] cannot be, as it returns.
    Synchronize,
}

/// What `cudaCGGetIntrinsicHandle` answers for the grid, and `cudaCGSynchronize` takes.
pub const GRID_HANDLE: u64 = 1;

/// The longest string that is read from device memory, in bytes.
const LONGEST_STRING: usize = 64 << 10;

/// Which thread calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

/// What the functions need of the engine that runs the kernel, for the lane that calls.
pub trait Host {
    /// Reads from a generic address.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind>;

    /// A block of the device's heap, 0 when it is full.
    fn allocate(&mut self, size: u64) -> Result<u64, FaultKind>;

    /// Gives a block back. It is not called for a null pointer.
    fn free(&mut self, address: u64) -> Result<(), FaultKind>;

    /// Writes to the program's standard output: the whole text of one call.
    fn print(&mut self, text: &[u8]);

    /// Writes to the program's standard error: whole lines.
    fn complain(&mut self, text: &str);
}

impl Builtin {
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "vprintf" => Builtin::Vprintf,
            "malloc" => Builtin::Malloc,
            "free" => Builtin::Free,
            "__assertfail" => Builtin::AssertFail,
            "cudaCGGetIntrinsicHandle" => Builtin::GetIntrinsicHandle,
            "cudaCGSynchronize" => Builtin::Synchronize,
            _ => return None,
        })
    }

    /// The sizes of its parameters in bytes, and of its result, 0 without one. A declaration
    /// with others is of some other function.
    #[must_use]
    pub const fn signature(self) -> (&'static [u32], u32) {
        match self {
            Builtin::Vprintf => (&[8, 8], 4),
            Builtin::Malloc => (&[8], 8),
            Builtin::Free => (&[8], 0),
            Builtin::AssertFail => (&[8, 8, 4, 8, 8], 0),
            Builtin::GetIntrinsicHandle => (&[4], 8),
            Builtin::Synchronize => (&[8, 4], 4),
        }
    }

    /// Whether a declaration is of this function.
    #[must_use]
    pub fn is_declared_by(self, function: &gangway_ptx::Function) -> bool {
        let sizes = |variables: &[gangway_ptx::Variable]| -> Vec<u64> {
            variables.iter().map(|variable| variable.size().unwrap_or(0)).collect()
        };
        let (parameters, result) = self.signature();
        let returns = if result == 0 { Vec::new() } else { vec![u64::from(result)] };
        let expected: Vec<u64> = parameters.iter().map(|&size| u64::from(size)).collect();
        sizes(&function.parameters) == expected && sizes(&function.returns) == returns
    }
}

/// Runs a function for one lane and returns its result, 0 where it has none. `arguments` are its
/// parameters in order, in the low bits. A failure ends the kernel.
pub fn call(
    builtin: Builtin,
    arguments: &[u64],
    caller: &Caller,
    host: &mut dyn Host,
) -> Result<u64, FaultKind> {
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
    match builtin {
        Builtin::Vprintf => vprintf(argument(0), argument(1), host),
        Builtin::Malloc => host.allocate(argument(0)),
        Builtin::Free if argument(0) == 0 => Ok(0),
        Builtin::Free => host.free(argument(0)).map(|()| 0),
        Builtin::AssertFail => Err(assert_fail(arguments, caller, host)?),
        Builtin::GetIntrinsicHandle => Ok(if argument(0) == 1 { GRID_HANDLE } else { 0 }),
        Builtin::Synchronize => Err(FaultKind::Unsupported("cudaCGSynchronize".to_owned())),
    }
}

/// Prints, and returns the number of arguments, or -1 without a format.
fn vprintf(format: u64, arguments: u64, host: &mut dyn Host) -> Result<u64, FaultKind> {
    const FAILED: u64 = 0xffff_ffff;
    if format == 0 {
        return Ok(FAILED);
    }
    let format = string(format, host)?;
    let (text, count) = format::format(&format, &mut Arguments { at: arguments, host: &mut *host })?;
    if !text.is_empty() {
        host.print(&text);
    }
    Ok(u64::from(count))
}

/// The arguments of a `vprintf`, one after the other, each aligned to its size.
struct Arguments<'a> {
    at: u64,
    host: &'a mut dyn Host,
}

impl format::Source for Arguments<'_> {
    fn next(&mut self, size: usize) -> Result<u64, FaultKind> {
        let start = self.at.checked_next_multiple_of(size as u64).unwrap_or(self.at);
        let mut bytes = [0; 8];
        self.host.read(start, &mut bytes[..size])?;
        self.at = start.wrapping_add(size as u64);
        Ok(u64::from_le_bytes(bytes))
    }

    fn string(&mut self, address: u64, longest: Option<usize>) -> Result<Vec<u8>, FaultKind> {
        prefix(address, longest.unwrap_or(LONGEST_STRING), self.host)
    }
}

/// Reports a failed assertion as the CUDA driver does, and says so as a fault.
fn assert_fail(arguments: &[u64], caller: &Caller, host: &mut dyn Host) -> Result<FaultKind, FaultKind> {
    let &[message, file, line, function, _] = arguments else {
        return Err(FaultKind::Unsupported("__assertfail with other parameters".to_owned()));
    };
    let mut text = |address| match address {
        0 => Ok("?".to_owned()),
        _ => string(address, host).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    };
    let (message, file, function) = (text(message)?, text(file)?, text(function)?);
    let ([bx, by, bz], [tx, ty, tz]) = (caller.block, caller.thread);
    let line = line as u32;
    host.complain(&format!(
        "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{message}` failed.\n"
    ));
    Ok(FaultKind::Assert(format!("{file}:{line}: {function}: assertion `{message}` failed")))
}

/// A string of device memory, without the zero at its end.
fn string(address: u64, host: &mut dyn Host) -> Result<Vec<u8>, FaultKind> {
    prefix(address, LONGEST_STRING, host)
}

/// At most `longest` bytes of a string. Only the bytes up to its end are read, in aligned pieces of
/// eight: where the string's first byte is, so is all of such a piece, or the end of an allocation.
fn prefix(address: u64, longest: usize, host: &mut dyn Host) -> Result<Vec<u8>, FaultKind> {
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < longest {
        let mut piece = [0; 8];
        let aligned = at.is_multiple_of(8) && longest - text.len() >= 8 && host.read(at, &mut piece).is_ok();
        let length = if aligned { 8 } else { 1 };
        if !aligned {
            host.read(at, &mut piece[..1])?;
        }
        match piece[..length].iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                break;
            }
            None => text.extend_from_slice(&piece[..length]),
        }
        at = at.wrapping_add(length as u64);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory from address 16 on, a heap that is full, and what was printed.
    #[derive(Default)]
    struct Recorder {
        memory: Vec<u8>,
        out: Vec<u8>,
        errors: String,
        freed: Vec<u64>,
    }

    impl Host for Recorder {
        fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
            let size = bytes.len();
            let outside = FaultKind::OutOfBounds { address, size, write: false };
            let start = address.checked_sub(16).ok_or_else(|| outside.clone())? as usize;
            bytes.copy_from_slice(self.memory.get(start..start + size).ok_or(outside)?);
            Ok(())
        }

        fn allocate(&mut self, _size: u64) -> Result<u64, FaultKind> {
            Ok(0)
        }

        fn free(&mut self, address: u64) -> Result<(), FaultKind> {
            self.freed.push(address);
            Ok(())
        }

        fn print(&mut self, text: &[u8]) {
            self.out.extend_from_slice(text);
        }

        fn complain(&mut self, text: &str) {
            self.errors += text;
        }
    }

    impl Recorder {
        fn put(&mut self, bytes: &[u8]) -> u64 {
            self.memory.resize(self.memory.len().next_multiple_of(8), 0xaa);
            self.memory.extend_from_slice(bytes);
            (self.memory.len() - bytes.len()) as u64 + 16
        }
    }

    fn run(builtin: Builtin, arguments: &[u64], host: &mut Recorder) -> Result<u64, FaultKind> {
        let caller = Caller { block: [1, 2, 3], thread: [4, 5, 6] };
        call(builtin, arguments, &caller, host)
    }

    #[test]
    fn arguments_are_packed_by_their_alignment() {
        let mut host = Recorder::default();
        let text = host.put(b"word\0");
        let format = host.put(b"%c|%f|%d|%s|%hhd|%lld\n\0");
        let mut packed = Vec::new();
        packed.extend_from_slice(&u32::from(b'x').to_le_bytes());
        packed.resize(8, 0xaa);
        packed.extend_from_slice(&1.5f64.to_le_bytes());
        packed.extend_from_slice(&(-7i32).to_le_bytes());
        packed.resize(24, 0xaa);
        packed.extend_from_slice(&text.to_le_bytes());
        packed.extend_from_slice(&0x1ffu32.to_le_bytes());
        packed.resize(40, 0xaa);
        packed.extend_from_slice(&i64::MIN.to_le_bytes());
        let packed = host.put(&packed);
        assert_eq!(run(Builtin::Vprintf, &[format, packed], &mut host), Ok(6));
        assert_eq!(String::from_utf8_lossy(&host.out), "x|1.500000|-7|word|-1|-9223372036854775808\n");
    }

    #[test]
    fn a_bad_pointer_is_a_fault_and_a_null_format_an_answer() {
        let mut host = Recorder::default();
        let format = host.put(b"%s\0");
        let wild = host.put(&8u64.to_le_bytes());
        assert_eq!(run(Builtin::Vprintf, &[0, 0], &mut host), Ok(0xffff_ffff));
        let fault = FaultKind::OutOfBounds { address: 8, size: 1, write: false };
        assert_eq!(run(Builtin::Vprintf, &[format, wild], &mut host), Err(fault));
        assert!(host.out.is_empty());
    }

    #[test]
    fn a_string_at_the_very_end_of_memory_is_read() {
        let mut host = Recorder::default();
        host.put(b"01234567");
        let format = host.put(b"tail\0");
        assert_eq!(run(Builtin::Vprintf, &[format, 0], &mut host), Ok(0));
        assert_eq!(host.out, b"tail");
    }

    #[test]
    fn a_failed_assertion_reads_as_the_driver_prints_it() {
        let mut host = Recorder::default();
        let [message, file, function] =
            [&b"x > 0\0"[..], b"k.cu\0", b"void f()\0"].map(|text| host.put(text));
        let fault = run(Builtin::AssertFail, &[message, file, 12, function, 1], &mut host);
        assert_eq!(fault, Err(FaultKind::Assert("k.cu:12: void f(): assertion `x > 0` failed".to_owned())));
        assert_eq!(
            host.errors,
            "k.cu:12: void f(): block: [1,2,3], thread: [4,5,6] Assertion `x > 0` failed.\n"
        );
    }

    #[test]
    fn null_is_freed_by_doing_nothing() {
        let mut host = Recorder::default();
        assert_eq!(run(Builtin::Free, &[0], &mut host), Ok(0));
        assert_eq!(run(Builtin::Free, &[64], &mut host), Ok(0));
        assert_eq!((host.freed, run(Builtin::Malloc, &[8], &mut Recorder::default())), (vec![64], Ok(0)));
    }

    #[test]
    fn names_and_signatures_belong_together() {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n\
            .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n\
            .extern .func malloc (.param .b64 a);\n";
        let module = gangway_ptx::parse(text).expect("a module");
        let declared: Vec<bool> = module
            .functions
            .iter()
            .map(|function| Builtin::named(&function.name).expect("a builtin").is_declared_by(function))
            .collect();
        assert_eq!(declared, [true, false], "malloc has a result");
        assert_eq!(Builtin::named("printf"), None);
    }
}
