//! What has to do with whole processes: before `cuInit`, after a fork, at exit, and the library as
//! a file. Each test runs itself again in a process of its own.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gangway_commands::{Folder, Ran, Run, again};

/// The shared library that has been built along with this test.
fn library() -> PathBuf {
    let path = std::env::current_exe().unwrap().with_file_name("libgangway_driver.so");
    assert!(path.exists(), "{} is not there", path.display());
    path
}

/// Runs a test of this file in another process, where it has to pass; `None` in that process.
fn child(test: &str, variables: &[(&str, &str)]) -> Option<Ran> {
    let ran = again(test)?.env("GANGWAY_VGPU_CACHE", "off").envs(variables.iter().copied()).run();
    assert!(ran.status.success() && ran.stdout.contains("1 passed"), "{ran}");
    Some(ran)
}

/// The library, opened as programs open it.
struct Driver(*mut c_void);

impl Driver {
    fn open() -> Self {
        let path = CString::new(library().into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: a path with its terminator.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        // SAFETY: asked after dlopen, in the same thread.
        assert!(!handle.is_null(), "{:?}", unsafe { CStr::from_ptr(libc::dlerror()) });
        Self(handle)
    }

    fn address(&self, name: &CStr) -> *mut c_void {
        // SAFETY: an open library.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        address
    }

    fn init(&self, flags: u32) -> u32 {
        // SAFETY: the type that cuda.h has.
        unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(u32) -> u32>(self.address(c"cuInit"))(flags)
        }
    }

    /// Calls a function that takes one pointer to a word, and gives the word and the result.
    fn word(&self, name: &CStr) -> (u64, u32) {
        let mut word = 0;
        // SAFETY: the caller names a function of this type; a word is enough for what it gives.
        let status = unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(*mut u64) -> u32>(self.address(name))(&mut word)
        };
        (word, status)
    }

    /// Asks for a table of private functions by its number.
    fn export_table(&self, id: u128) -> u32 {
        let (mut table, id) = (1_u64, id.to_be_bytes());
        // SAFETY: the type that cuda.h has.
        let status = unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(*mut u64, *const u8) -> u32>(
                self.address(c"cuGetExportTable"),
            )(&mut table, id.as_ptr())
        };
        assert_eq!(table, 0);
        status
    }

    /// What Gangway's runtime asks for.
    fn report_elsewhere(&self) {
        let mut table: *const [usize; 2] = std::ptr::null();
        // SAFETY: the types that cuda.h has, and that the table has.
        unsafe {
            let get: extern "C" fn(*mut *const [usize; 2], *const u8) -> u32 =
                std::mem::transmute(self.address(c"cuGetExportTable"));
            assert_eq!(get(&mut table, gangway_private_table::NUMBER.as_ptr()), 0);
            // More functions may follow behind the one that has always been there.
            let [size, function] = *table;
            assert!(size >= size_of::<[usize; 2]>() && size.is_multiple_of(size_of::<usize>()), "{size}");
            std::mem::transmute::<usize, extern "C" fn()>(function)();
        }
    }

    fn create_context(&self) -> u32 {
        let mut context = 0_u64;
        // SAFETY: the type that cuda.h has.
        unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(*mut u64, u32, i32) -> u32>(
                self.address(c"cuCtxCreate_v2"),
            )(&mut context, 0, 0)
        }
    }

    fn allocate(&self, size: usize) -> u32 {
        let mut address = 0_u64;
        // SAFETY: the type that cuda.h has.
        unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(*mut u64, usize) -> u32>(
                self.address(c"cuMemAlloc_v2"),
            )(&mut address, size)
        }
    }

    /// Starts a kernel of one thread, which takes nothing.
    fn launch(&self, ptx: &CStr) {
        self.launch_with(ptx, &mut []);
    }

    /// Starts a kernel of one thread, which takes these numbers.
    fn launch_with(&self, ptx: &CStr, arguments: &mut [u64]) {
        let mut places: Vec<*mut u64> = arguments.iter_mut().map(std::ptr::from_mut).collect();
        let (mut module, mut kernel) = (0_u64, 0_u64);
        // SAFETY: the types that cuda.h has; images and names have terminators.
        unsafe {
            let load: extern "C" fn(*mut u64, *const c_char) -> u32 =
                std::mem::transmute(self.address(c"cuModuleLoadData"));
            assert_eq!(load(&mut module, ptx.as_ptr()), 0);
            let get: extern "C" fn(*mut u64, u64, *const c_char) -> u32 =
                std::mem::transmute(self.address(c"cuModuleGetFunction"));
            assert_eq!(get(&mut kernel, module, c"k".as_ptr()), 0);
            type Launch =
                extern "C" fn(u64, u32, u32, u32, u32, u32, u32, u32, u64, *mut *mut u64, u64) -> u32;
            let launch: Launch = std::mem::transmute(self.address(c"cuLaunchKernel"));
            assert_eq!(launch(kernel, 1, 1, 1, 1, 1, 1, 0, 0, places.as_mut_ptr(), 0), 0);
        }
    }

    /// Waits for all that the current context has to do.
    fn synchronize(&self) -> u32 {
        // SAFETY: the type that cuda.h has.
        unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn() -> u32>(self.address(c"cuCtxSynchronize"))()
        }
    }

    /// A word of the host, zero, at an address that kernels use as well. It is never freed.
    fn shared_word(&self) -> &'static AtomicU32 {
        let mut address: *const AtomicU32 = std::ptr::null();
        // SAFETY: the type that cuda.h has; the memory has so many bytes and stays.
        unsafe {
            let allocate: extern "C" fn(*mut *const AtomicU32, usize) -> u32 =
                std::mem::transmute(self.address(c"cuMemAllocHost_v2"));
            assert_eq!(allocate(&mut address, size_of::<AtomicU32>()), 0);
            (*address).store(0, Ordering::Relaxed);
            &*address
        }
    }
}

#[test]
fn the_version_of_the_driver_can_be_chosen() {
    for (name, set, version) in [
        ("an older one", "12.8", 12_080),
        ("the newest", "13.5", 13_050),
        ("nothing", "", 13_050),
        ("nonsense", "11.0", 13_050),
    ] {
        let variables = [("GANGWAY_VGPU_DRIVER", set), ("GANGWAY_TEST_VERSION", &*version.to_string())];
        let Some(output) = child("the_version_of_the_driver_can_be_chosen", &variables) else {
            let wanted: i32 = std::env::var("GANGWAY_TEST_VERSION").unwrap().parse().unwrap();
            assert_eq!(Driver::open().word(c"cuDriverGetVersion"), (wanted as _, 0));
            return;
        };
        let told = output.stderr.contains("GANGWAY_VGPU_DRIVER=11.0 is not a version");
        assert_eq!(told, name == "nonsense");
    }
}

#[test]
fn nothing_works_before_it_is_started() {
    let Some(_) = child("nothing_works_before_it_is_started", &[]) else {
        let driver = Driver::open();
        assert_eq!(driver.word(c"cuDeviceGetCount").1, 3);
        assert_eq!(driver.allocate(4), 3);
        assert_eq!(driver.word(c"cuCtxGetCurrent").1, 3);
        assert_eq!(driver.word(c"cuDriverGetVersion"), (13_050, 0));
        assert_eq!(driver.init(1), 1);
        assert_eq!(driver.word(c"cuDeviceGetCount").1, 3);
        assert_eq!(driver.init(0), 0);
        assert_eq!(driver.init(0), 0);
        assert_eq!(driver.word(c"cuDeviceGetCount"), (1, 0));
        assert_eq!(driver.allocate(4), 201);
        return;
    };
}

#[test]
fn without_devices_it_does_not_start() {
    let variables = [("GANGWAY_VGPU_DEVICES", "0")];
    let Some(_) = child("without_devices_it_does_not_start", &variables) else {
        let driver = Driver::open();
        assert_eq!(driver.init(0), 100);
        assert_eq!(driver.word(c"cuDeviceGetCount").1, 3);
        return;
    };
}

#[test]
fn a_forked_child_has_no_driver() {
    let Some(_) = child("a_forked_child_has_no_driver", &[]) else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context(), driver.allocate(4)), (0, 0, 0));
        // SAFETY: the child only calls functions that answer at once, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let refused = [driver.init(0), driver.word(c"cuDeviceGetCount").1, driver.allocate(4)] == [3; 3];
            // SAFETY: ends the child without anything of its parent's.
            unsafe { libc::_exit(if refused { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: our own child.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(driver.allocate(4), 0, "the parent goes on");
        return;
    };
}

/// Those that need no started driver; they work in a child as well.
const ALWAYS: &[&CStr] = &[
    c"cuDriverGetVersion",
    c"cuGetErrorName",
    c"cuGetErrorString",
    c"cuGetExportTable",
    c"cuGetProcAddress",
    c"cuGetProcAddress_v2",
];

#[test]
fn every_function_answers_in_a_forked_child() {
    type Any = extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
    let Some(_) = child("every_function_answers_in_a_forked_child", &[]) else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context(), driver.allocate(4)), (0, 0, 0));
        // SAFETY: the child only calls functions that answer at once, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let unsupported: Vec<_> = include_str!("../symbols/unsupported.txt").lines().collect();
            let list = include_str!("../symbols/versions.txt").lines().filter(|line| !line.starts_with('#'));
            for name in list.flat_map(|line| line.split(' ').skip(2)) {
                let name = CString::new(name).unwrap();
                // SAFETY: C functions of at most twelve words, which only look at what they take.
                let function = unsafe { std::mem::transmute::<*mut c_void, Any>(driver.address(&name)) };
                let status = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                let wanted = match &*name {
                    name if name == c"cuDriverGetVersion" => status,
                    name if ALWAYS.contains(&name) => 1,
                    name if unsupported.contains(&name.to_str().unwrap()) => 801,
                    _ => 3,
                };
                if status != wanted {
                    eprintln!("{name:?} answers {status}");
                    // SAFETY: ends the child without anything of its parent's.
                    unsafe { libc::_exit(1) };
                }
            }
            // SAFETY: as above.
            unsafe { libc::_exit(0) };
        }
        let mut status = -1;
        // SAFETY: our own child.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        return;
    };
}

#[test]
fn a_forked_child_tells_nothing_of_its_parents() {
    let variables = [("GANGWAY_VGPU_TRACE", "1"), ("GANGWAY_VGPU_CHECK", "memory")];
    let Some(output) = child("a_forked_child_tells_nothing_of_its_parents", &variables) else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context(), driver.allocate(1234)), (0, 0, 0));
        // SAFETY: the child ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as a program that ends; what was registered for that is what is tested.
            unsafe { libc::exit(0) };
        }
        // SAFETY: our own child.
        assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
        return;
    };
    let told = &output.stderr;
    assert_eq!(told.matches("calls of the driver API").count(), 1, "{told}");
    assert_eq!(told.matches("nothing has freed").count(), 1, "{told}");
}

#[test]
fn a_kernel_that_is_interpreted_is_named_in_the_trace() {
    let variables = [("GANGWAY_VGPU_TRACE", "1")];
    let Some(output) = child("a_kernel_that_is_interpreted_is_named_in_the_trace", &variables) else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context()), (0, 0));
        // The compiler takes no 32-bit addresses.
        driver.launch(
            c".version 7.0\n.target sm_70\n.address_size 32\n.file 1 \"small.cu\"\n\
              .visible .entry k()\n{\n.loc 1 7 3\nret;\n}\n",
        );
        assert_eq!(driver.synchronize(), 0);
        return;
    };
    let wanted = "gangway: interpreted, not compiled (launches: 1): \
                  kernel 'k' (small.cu:7): 32-bit addresses in 'k'\n";
    output.told(&[wanted]);
}

#[test]
fn a_process_ends_while_a_kernel_runs() {
    let Some(mut other) = again("a_process_ends_while_a_kernel_runs") else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context()), (0, 0));
        let runs = driver.shared_word();
        driver.launch_with(
            c".version 7.0\n.target sm_70\n.address_size 64\n\
              .visible .entry k(.param .u64 runs) { .reg .u64 %r; ld.param.u64 %r, [runs];\n\
              st.release.sys.global.u32 [%r], 1; again: bra again; }",
            &mut [std::ptr::from_ref(runs).expose_provenance() as u64],
        );
        let begin = Instant::now();
        while runs.load(Ordering::Acquire) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "the kernel does not begin");
            std::thread::yield_now();
        }
        std::process::exit(7);
    };
    let ran = other.env("GANGWAY_VGPU_CACHE", "off").run();
    assert_eq!(ran.code(), Some(7), "{ran}");
}

#[test]
fn a_report_that_cannot_be_written_changes_no_result() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let Some(mut other) = again("a_report_that_cannot_be_written_changes_no_result") else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context()), (0, 0));
        driver.launch(c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { trap; }");
        assert_eq!(driver.synchronize(), 719);
        // What is not supported says so there, too.
        assert_eq!(driver.word(c"cuSurfObjectCreate").1, 801);
        return;
    };
    let output = other.env("GANGWAY_VGPU_CACHE", "off").stderr(full).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_closed_library_leaves_its_threads_in_peace() {
    let Some(_) = child("a_closed_library_leaves_its_threads_in_peace", &[]) else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context()), (0, 0));
        driver.launch(c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }");
        // SAFETY: nothing of it is used afterwards but by its own threads.
        assert_eq!(unsafe { libc::dlclose(driver.0) }, 0);
        std::thread::sleep(Duration::from_millis(100));
        let again = Driver::open();
        assert_eq!(again.word(c"cuDeviceGetCount"), (1, 0), "it is the same library still");
        return;
    };
}

/// Another user could put code there, which would run here.
#[test]
fn a_cache_that_others_can_write_to_is_left_alone() {
    // The name of a process may be that of an earlier one, whose folder is there still.
    let folder = Folder::new();
    let path = &*folder;
    let variables =
        [("GANGWAY_VGPU_TRACE", "1"), ("GANGWAY_VGPU_CACHE", &format!("{}/below", path.display()))];
    let test = "a_cache_that_others_can_write_to_is_left_alone";
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    let Some(output) = child(test, &variables) else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context()), (0, 0));
        driver.launch(c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }");
        // What compiles the kernel asks for the cache.
        assert_eq!(driver.synchronize(), 0);
        return;
    };
    let told = &output.stderr;
    let line = format!(
        "gangway: compiled kernels are not kept: other users can write to {} (mode 0777)\n",
        path.display()
    );
    assert_eq!(told.matches(&line).count(), 1, "{told}");
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 0, "it is still empty");
}

/// Which tables a process asks for, whether it has a context, and how often it is told of them.
const ASKING: &[(&str, u128, bool, usize)] = &[
    ("libcudart", 0x6bd5fb6c5bf4e74a8987d93912fd9df9, false, 1),
    ("libcudart, first", 0xf8cff95121468b4eb9e2fb469e7c0dd9, true, 1),
    ("NVRTC", 0xda9151d33ae6cc41a5c04f26d533e328, false, 0),
    ("somebody who fails", 1, false, 1),
    ("somebody who goes on", 1, true, 0),
];

#[test]
fn missing_tables_are_told_to_those_who_need_them() {
    for (number, &(who, id, context, told)) in ASKING.iter().enumerate() {
        let number = number.to_string();
        let test = "missing_tables_are_told_to_those_who_need_them";
        let Some(output) = child(test, &[("GANGWAY_TEST_NUMBER", &number)]) else {
            let number: usize = std::env::var("GANGWAY_TEST_NUMBER").unwrap().parse().unwrap();
            let (_, id, context, _) = ASKING[number];
            let driver = Driver::open();
            assert_eq!((driver.export_table(id), driver.init(0), driver.export_table(id)), (801, 0, 801));
            if context {
                assert_eq!(driver.create_context(), 0);
            }
            return;
        };
        let text = &output.stderr;
        let line = "does not support cuGetExportTable: it runs programs that use the driver API";
        assert_eq!(text.matches(line).count(), told, "{who} ({id:x}, {context}): {text}");
    }
}

#[test]
fn calls_are_counted() {
    let variables = [("GANGWAY_VGPU_TRACE", "1")];
    let Some(output) = child("calls_are_counted", &variables) else {
        let driver = Driver::open();
        assert_eq!(driver.init(0), 0);
        for _ in 0..3 {
            assert_eq!(driver.word(c"cuDeviceGetCount"), (1, 0));
        }
        return;
    };
    let table = &output.stderr;
    let row = table.lines().find(|line| line.ends_with("  cuDeviceGetCount"));
    assert!(row.is_some_and(|row| row.trim_start().starts_with("3 ")), "{table}");
}

#[test]
fn calls_are_written_to_a_file() {
    let folder = Folder::new();
    let path = folder.path("trace.json");
    let Some(_) = child("calls_are_written_to_a_file", &[("GANGWAY_VGPU_TRACE", path.to_str().unwrap())])
    else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.word(c"cuDeviceGetCount")), (0, (1, 0)));
        return;
    };
    let text = folder.text("trace.json");
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["name"] == "cuDeviceGetCount" && event["ph"] == "X"), "{text}");
}

/// Gangway's runtime says that it reports by itself, before it starts the driver or later.
#[test]
fn the_runtime_may_report_in_the_drivers_place() {
    let folder = Folder::new();
    for when in ["never", "before", "after"] {
        let report = folder.path(when);
        let own = report.with_extension("own");
        let variables = [
            ("GANGWAY_REPORT", format!("json:{}", report.display())),
            ("GANGWAY_VGPU_TRACE", own.display().to_string()),
            ("GANGWAY_TEST_WHEN", when.to_owned()),
        ];
        let variables = variables.each_ref().map(|(name, value)| (*name, &**value));
        let Some(_) = child("the_runtime_may_report_in_the_drivers_place", &variables) else {
            let (driver, when) = (Driver::open(), std::env::var("GANGWAY_TEST_WHEN").unwrap());
            if when == "before" {
                driver.report_elsewhere();
            }
            assert_eq!(driver.init(0), 0);
            if when == "after" {
                driver.report_elsewhere();
            }
            assert_eq!(driver.word(c"cuDeviceGetCount"), (1, 0));
            return;
        };
        assert_eq!(report.exists(), when == "never", "{when}");
        let text = std::fs::read_to_string(&own).unwrap();
        assert!(text.contains("cuDeviceGetCount"), "{when}: the driver's own trace is its own: {text}");
    }
}

#[test]
fn memory_that_was_not_freed_is_told_in_check_mode() {
    let Some(output) =
        child("memory_that_was_not_freed_is_told_in_check_mode", &[("GANGWAY_VGPU_CHECK", "memory")])
    else {
        let driver = Driver::open();
        assert_eq!((driver.init(0), driver.create_context(), driver.allocate(1234)), (0, 0, 0));
        return;
    };
    output.told(&["1234 bytes", "cuMemAlloc"]);
}

/// What the dynamic linker sees: the name of the library, and exactly the functions of the real
/// one.
#[test]
fn the_file_exports_what_the_real_one_does() {
    use object::read::elf::{Dyn, FileHeader, Sym};
    let bytes = std::fs::read(library()).unwrap();
    let elf = object::elf::FileHeader64::<object::Endianness>::parse(&*bytes).unwrap();
    let endian = elf.endian().unwrap();
    let sections = elf.sections(endian, &*bytes).unwrap();
    let symbols = sections.symbols(endian, &*bytes, object::elf::SHT_DYNSYM).unwrap();
    let mut exported: Vec<_> = symbols
        .iter()
        .filter(|symbol| symbol.st_shndx(endian) != object::elf::SHN_UNDEF)
        .map(|symbol| std::str::from_utf8(symbol.name(endian, symbols.strings()).unwrap()).unwrap())
        .collect();
    exported.sort_unstable();
    let list = include_str!("../symbols/versions.txt").lines().filter(|line| !line.starts_with('#'));
    let mut wanted: Vec<_> = list.flat_map(|line| line.split(' ').skip(2)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    assert_eq!(exported, wanted);

    let (entries, strings) = sections.dynamic(endian, &*bytes).unwrap().unwrap();
    let strings = sections.strings(endian, &*bytes, strings).unwrap();
    let soname = entries.iter().find(|entry| entry.d_tag(endian) == object::elf::DT_SONAME).unwrap();
    assert_eq!(soname.string(endian, strings), Ok(&b"libcuda.so.1"[..]));
}

/// Nothing but null pointers, null handles and zeros: whatever a function makes of them, it
/// returns.
#[test]
fn every_function_survives_zeros() {
    type Any = extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
    let Some(_) = child("every_function_survives_zeros", &[]) else {
        let driver = Driver::open();
        let list = include_str!("../symbols/versions.txt").lines().filter(|line| !line.starts_with('#'));
        let names = list.flat_map(|line| line.split(' ').skip(2)).map(|name| CString::new(name).unwrap());
        let names: Vec<_> = names.collect();
        for context in [false, true] {
            // Before the start, all but the function that starts.
            for name in names.iter().filter(|name| context || name.as_c_str() != c"cuInit") {
                if context {
                    assert_eq!((driver.init(0), driver.create_context()), (0, 0));
                }
                println!("{name:?}");
                // SAFETY: C functions of at most twelve words, which only look at what they take.
                let function = unsafe { std::mem::transmute::<*mut c_void, Any>(driver.address(name)) };
                let status = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                assert_ne!(status, 999, "{name:?} failed by a bug of ours");
            }
        }
        return;
    };
}
