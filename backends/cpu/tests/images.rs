//! Device images of the stock compiler: loading, globals, launching.

mod support;

use gangway_backend::{AllocationKind, Backend, Error, Launch, Session, SourceText, TableRequest};
use gangway_commands::Folder;
use gangway_cpu::CpuBackend;
use std::fmt::Write as _;
use support::{image, load, shared_object};

#[test]
fn kernels_run_with_teams_and_threads_as_the_kernel_asks() {
    let basic = load(0, &image("basic.c", &[]));
    let x = basic.allocate(4);
    basic.put(x, 100_i32);
    basic.run(0, &[0, x.0 as u64]);
    assert_eq!(basic.get::<i32>(x), 105);

    let (teams, threads) = (basic.allocate(4), basic.allocate(4));
    basic.run(1, &[0, teams.0 as u64, threads.0 as u64]);
    // libomp forms fewer teams than asked for where processors are few.
    assert!((1..=3).contains(&basic.get::<i32>(teams)));
    assert!((1..=2).contains(&basic.get::<i32>(threads)));

    let a = basic.allocate(40);
    basic.run(2, &[0, a.0 as u64]);
    assert_eq!(basic.get::<[i32; 10]>(a), [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
}

#[test]
fn every_device_and_every_load_has_its_own_globals() {
    let image = image("basic.c", &["-O0"]);
    let loads = [load(0, &image), load(1, &image), load(1, &image)];
    let globals = loads.each_ref().map(|l| l.module.global("counter", 4).unwrap());
    for (i, (loaded, global)) in loads.iter().zip(globals).enumerate() {
        assert_eq!(loaded.get::<i32>(global), 5);
        loaded.put(global, 10 * i as i32);
    }
    for (i, loaded) in loads.iter().enumerate() {
        let x = loaded.allocate(4);
        loaded.put(x, 1_i32);
        loaded.run(0, &[0, x.0 as u64]);
        assert_eq!(loaded.get::<i32>(x), 1 + 10 * i as i32);
        assert_eq!(loaded.get::<i32>(globals[i]), 1 + 10 * i as i32);
    }
    assert_eq!(loads[0].get::<[f64; 4]>(loads[0].module.global("table", 32).unwrap()), [1.0, 2.0, 3.0, 4.0]);
}

/// Constants cannot be written, nor can tables that the loader has filled in.
#[test]
fn constants_are_told_from_variables() {
    let loaded = load(
        0,
        &shared_object(
            "int variable = 1, zero; const int constant = 2; int *const table[2] = {&variable, &zero};
             int *list[2] = {&variable, &zero};
             int code(void) { return variable; }",
        ),
    );
    for (name, size, expected) in [
        ("variable", 4, true),
        ("zero", 4, true),
        ("list", 16, true),
        ("constant", 4, false),
        ("table", 16, false),
        ("code", 1, false),
    ] {
        let global = loaded.module.global(name, size).unwrap();
        assert_eq!(loaded.module.is_writable(global, size), expected, "{name}");
    }
    assert!(!loaded.module.is_writable(loaded.module.global("list", 16).unwrap(), usize::MAX));
}

/// An image need not name its initialisers.
#[test]
fn stripped_images_are_as_good_as_others() {
    let text = "static int count; int *counter(void) { return &count; }
                int twice; __attribute__((constructor)) static void begin(void) { count = 7; twice = 14; }
                __attribute__((destructor)) static void end(void) { count = 0; }";
    let folder = Folder::new();
    for how in ["--strip-debug", "--discard-all", "--strip-unneeded", "--strip-all"] {
        folder.write("image.so", shared_object(text));
        folder.tool("llvm-strip-22", &[how, "image.so"]);
        let loaded = load(0, &folder.read("image.so"));
        let twice = loaded.module.global("twice", 4).unwrap();
        assert_eq!(loaded.get::<i32>(twice), 14, "{how}");
    }
}

#[test]
fn an_image_hears_the_number_of_its_device_from_its_first_initialiser_on() {
    let image = shared_object(
        "extern int omp_get_device_num(void), omp_get_device_num_(void);\n\
         int early; int (*pointer)(void) = omp_get_device_num;\n\
         __attribute__((constructor)) static void first(void) { early = omp_get_device_num_(); }\n\
         void ask(int *to) { to[0] = early; to[1] = omp_get_device_num(); to[2] = pointer(); }",
    );
    for ordinal in [0, 3] {
        CpuBackend::new().open(ordinal).unwrap().numbered(5 + ordinal as i32, 9);
        let loaded = load(ordinal, &image);
        let to = loaded.allocate(12);
        let launch = Launch {
            kernel: &loaded.module.kernel("ask").unwrap(),
            name: "ask",
            source: SourceText::NONE,
            teams: [1; 3],
            thread_limit: [1; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        let mut session = Session::default();
        let request = TableRequest { leading: 0, arguments: 1, trailing: 0 };
        let mut table =
            loaded.device.immediate().argument_table(&mut session, launch.kernel, request).unwrap();
        table.push(to.0 as u64);
        // SAFETY: the kernel takes one pointer to three numbers.
        unsafe { loaded.device.immediate().launch(&launch, table) }.unwrap();
        assert_eq!(loaded.get::<[i32; 3]>(to), [5 + ordinal as i32; 3]);
    }
}

#[test]
fn symbols_of_other_libraries_are_not_the_images() {
    let basic = load(0, &image("basic.c", &[]));
    for name in ["no_such_kernel", "printf", "omp_get_num_threads", "", "a\0b"] {
        let expected = Error::NoSuchSymbol { name: name.to_owned() };
        assert_eq!(basic.module.kernel(name).unwrap_err(), expected);
        assert_eq!(basic.module.global(name, 4).unwrap_err(), expected);
    }
    let error = basic.module.global("counter", 1 << 30).unwrap_err();
    assert!(matches!(error, Error::InvalidImage { .. }), "{error}");
}

#[test]
fn initialisers_and_finalisers_run_and_exceptions_stay_inside() {
    let life = load(0, &image("life.cpp", &[]));
    let value = life.allocate(4);
    life.run(0, &[0, value.0 as u64]);
    assert_eq!(life.get::<i32>(value), 42);
    let mut witness = 0_i32;
    life.run(1, &[0, std::ptr::from_mut(&mut witness) as u64]);
    life.put(value, 0_i32);
    life.run(2, &[0, value.0 as u64]);
    assert_eq!(life.get::<i32>(value), 1);
    drop(life);
    assert_eq!(std::hint::black_box(&witness), &42);
}

#[test]
fn any_number_of_arguments_arrives() {
    let mut source = String::new();
    for count in (0..=40).chain([63, 64, 200, 1000]) {
        let parameters: Vec<String> = (0..count).map(|i| format!("unsigned long a{i}")).collect();
        writeln!(
            source,
            "void k{count}({}) {{",
            if count == 0 { "void".into() } else { parameters.join(", ") }
        )
        .unwrap();
        // Vector code at -O2 needs the stack aligned.
        writeln!(source, "  seen = __builtin_frame_address(0);").unwrap();
        for i in 0..count {
            writeln!(source, "  got[{i}] = a{i};").unwrap();
        }
        writeln!(source, "  double v[2] __attribute__((aligned(16))) = {{{count}, 1}}; use(v); }}").unwrap();
    }
    let loaded = load(
        0,
        &shared_object(&format!(
            "unsigned long got[1000]; void *seen; int misaligned;\n\
             __attribute__((noinline)) void use(double *v) {{ misaligned |= ((unsigned long)v & 15) != 0; }}\n\
             {source}"
        )),
    );
    let got = loaded.module.global("got", 8000).unwrap();
    for count in (0..=40).chain([63, 64, 200, 1000]) {
        let name = format!("k{count}");
        let launch = Launch {
            kernel: &loaded.module.kernel(&name).unwrap(),
            name: &name,
            source: SourceText::NONE,
            teams: [0; 3],
            thread_limit: [0; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        let expected: Vec<u64> = (0..count).map(|i| (i as u64 + 1) * 0x1_0000_0001).collect();
        let mut session = Session::default();
        // A construct may ask for more than its kernel takes.
        let request = TableRequest { leading: 0, arguments: count + 40 * (count % 2), trailing: 0 };
        let mut table =
            loaded.device.immediate().argument_table(&mut session, launch.kernel, request).unwrap();
        table.extend(expected.iter().copied());
        // SAFETY: the kernel has `count` parameters.
        unsafe { loaded.device.immediate().launch(&launch, table) }.unwrap();
        for (i, value) in expected.iter().enumerate() {
            assert_eq!(loaded.get::<u64>(got.offset(8 * i as isize)), *value, "argument {i} of {count}");
        }
    }
    assert_eq!(loaded.get::<i32>(loaded.module.global("misaligned", 4).unwrap()), 0);
}

#[test]
fn truncated_images_are_refused_wherever_they_end() {
    let image = image("basic.c", &[]);
    let device = CpuBackend::new().open(0).unwrap();
    for end in (0..image.len()).step_by(61).chain([image.len() - 1]) {
        match device.load(&image[..end]) {
            Err(Error::InvalidImage { reason }) => assert!(reason.contains("bytes"), "{end}: {reason}"),
            other => panic!("{end} bytes: {:?}", other.map(|_| "loaded")),
        }
    }
}

#[test]
fn damaged_images_are_refused_before_the_loader_sees_them() {
    let good = image("basic.c", &[]);
    let device = CpuBackend::new().open(0).unwrap();
    let word = |at: usize| u64::from_le_bytes(good[at..at + 8].try_into().unwrap()) as usize;
    let dynamic = (0..usize::from(good[56]))
        .map(|i| word(32) + 56 * i)
        .find(|at| good[*at..at + 4] == [2, 0, 0, 0])
        .map(|at| word(at + 8))
        .unwrap();
    let entry = |tag: usize| (0..).map(|i| dynamic + 16 * i).find(|at| word(*at) == tag).unwrap();
    // Both tables are in the first segment, where addresses are offsets.
    let (hash, relocations) = (word(entry(0x6fff_fef5) + 8), word(entry(7) + 8));
    let damage: [(&str, usize, u8); 9] = [
        ("ELF magic", 0, 0),
        ("machine", 18, 0xb7),
        ("type", 16, 2),
        ("program header", 54, 0),
        ("segment 0 ends", word(32) + 32 + 5, 1),
        ("string table", entry(5) + 8 + 4, 1),
        ("hash", hash + 3, 0xff),
        ("relocation table", relocations + 6, 1),
        ("relocation table", relocations + 8 + 7, 0x7f),
    ];
    for (what, at, value) in damage {
        let mut bad = good.clone();
        bad[at] = value;
        match device.load(&bad) {
            Err(Error::InvalidImage { reason }) => assert!(reason.contains(what), "{what}: {reason}"),
            other => panic!("{what}: {:?}", other.map(|_| "loaded")),
        }
    }
}

#[test]
fn a_missing_symbol_is_named_when_the_image_is_loaded() {
    let image = shared_object("void not_on_the_device(void); void kernel(void) { not_on_the_device(); }");
    match CpuBackend::new().open(0).unwrap().load(&image) {
        Err(Error::InvalidImage { reason }) => {
            assert!(reason.contains("not_on_the_device") && !reason.contains("/proc"), "{reason}");
        }
        other => panic!("{:?}", other.map(|_| "loaded")),
    }
}

#[test]
fn images_of_other_machines_are_not_recognised() {
    let backend = CpuBackend::new();
    let mut image = image("basic.c", &[]);
    assert!(backend.recognises(&image));
    image[18] = 183; // AArch64
    assert!(!backend.recognises(&image));
    assert!(!backend.recognises(b"") && !backend.recognises(b"\x7fELF"));
}

#[test]
fn devices_beyond_the_last_are_an_error() {
    let backend = CpuBackend::new();
    assert_eq!(backend.device_count(), 4);
    let Err(error) = backend.open(4) else { panic!("device 4 opened") };
    assert_eq!(error.to_string(), "there is no cpu device 4: 4 exist");
    let memory = backend.open(3).unwrap().allocate(usize::MAX - 4096, AllocationKind::Device, true);
    assert!(matches!(memory, Err(Error::OutOfMemory { .. })));
}
