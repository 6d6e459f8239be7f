//! Programs of the stock compiler on external back ends, through the whole stack:
//! the staged library, its own back end for x86-64 and the null back end side by
//! side, in one process. Needs `cargo xtask stage`.

use gangway_commands::{Folder, Ran, Run, gangway, stage};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const NULL_DEVICES: usize = 3;
const CPU_DEVICES: usize = 4;

/// The null back end as a synchronous type of device, as an asynchronous one with
/// all that the interface offers, and as one with the least.
const VARIANTS: [&str; 3] = ["waiting", "streams", "bare"];

fn crate_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What all tests share, built once.
struct Workshop {
    folder: Folder,
}

impl Workshop {
    fn get() -> &'static Self {
        static WORKSHOP: OnceLock<Workshop> = OnceLock::new();
        WORKSHOP.get_or_init(|| {
            let workshop = Self { folder: Folder::new() };
            workshop.back_end("waiting", &["-DSLOW=100"], &[]);
            workshop.back_end(
                "streams",
                &["-DASYNCHRONOUS", "-DSLOW=300", "-DOWN_ARGUMENTS", "-DSESSIONS"],
                &["async.c"],
            );
            workshop.back_end("bare", &["-DASYNCHRONOUS", "-DSLOW=100", "-DMANDATORY_ONLY"], &["async.c"]);
            workshop.back_end("later", &["-DVERSION=0x20000"], &[]);
            workshop.back_end("partial", &["-DWITHOUT_LAUNCH"], &[]);
            for program in ["devices", "tasks", "unified", "opener", "failures"] {
                workshop.program(program, &[]);
            }
            workshop.program("library", &["-shared", "-fPIC", "-Wl,-Bsymbolic"]);
            workshop
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Builds a program with the stock compiler.
    fn program(&self, name: &str, flags: &[&str]) {
        Command::new("clang-22")
            .args(["-O1", "-g", "-Wall", "-Werror", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"])
            .args(flags)
            .arg(format!("{name}.c"))
            .arg("-o")
            .arg(self.path(name))
            .current_dir(crate_file("tests/programs"))
            .run()
            .succeeded();
    }

    /// Builds a variant of the null back end in a directory of its own.
    fn back_end(&self, variant: &str, flags: &[&str], files: &[&str]) {
        std::fs::create_dir(self.path(variant)).unwrap();
        let files = ["null.c", "code.c", "watch.c"].iter().chain(files);
        Command::new("cc")
            .args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
            .args(["-fvisibility=hidden", "-pthread", "-DCODE", "-DWATCH", "-I"])
            .arg(crate_file("include"))
            .arg(format!("-DDEVICES={NULL_DEVICES}"))
            .args(flags)
            .args(files.map(|file| crate_file("tests/null").join(file)))
            .arg("-o")
            .arg(self.path(variant).join("libgangway-rtl-null.so"))
            .run()
            .succeeded();
    }

    /// A run of a program with a variant of the back end; also what the back end
    /// was asked for.
    fn run(&self, variant: &str, words: &[&str], variables: &[(&str, &str)]) -> Seen {
        let log = tempfile::NamedTempFile::new_in(&*self.folder).unwrap();
        let mut command = Command::new(self.path(words[0]));
        for (name, _) in std::env::vars() {
            if ["OMP_", "KMP_", "LIBOMP", "GANGWAY_"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let ran = command
            .args(&words[1..])
            .env("LD_LIBRARY_PATH", stage().join("lib/gangway"))
            .env("GANGWAY_RTL_PATH", self.path(variant))
            .env("GANGWAY_CPU_DEVICES", CPU_DEVICES.to_string())
            .env("OMP_TARGET_OFFLOAD", "MANDATORY")
            .env("OMP_NUM_THREADS", "4")
            // More threads than processors must not spin at barriers.
            .env("OMP_WAIT_POLICY", "passive")
            .env("NULL_LOG", log.path())
            .envs(variables.iter().copied())
            .run();
        let calls = std::fs::read_to_string(log.path()).unwrap();
        Seen { ran, calls: calls.lines().map(str::to_owned).collect() }
    }
}

struct Seen {
    ran: Ran,
    /// One line for each call: the device's ordinal and what was asked of it.
    calls: Vec<String>,
}

impl Seen {
    /// What a successful run printed; it has to be silent otherwise.
    fn printed(&self) -> String {
        assert!(self.ran.status.success() && self.ran.stderr.is_empty(), "{}", self.ran);
        self.ran.stdout.clone()
    }

    /// The message of a run that ended itself, without addresses.
    fn message(&self) -> String {
        self.ran.clone().failed().stderr
    }

    fn count(&self, ordinal: usize, call: &str) -> usize {
        self.calls.iter().filter(|line| **line == format!("{ordinal} {call}")).count()
    }

    /// Everything that was made on the null devices has been given back. Streams
    /// are kept for later jobs.
    fn has_left_nothing(&self) {
        for ordinal in 0..NULL_DEVICES {
            let count = |call| self.count(ordinal, call);
            assert!(count("allocate") > 0 && count("launch") > 0);
            assert_eq!(count("allocate"), count("free"), "memory of device {ordinal}");
            assert_eq!(count("record event"), count("destroy event"), "events of device {ordinal}");
            assert_eq!((count("open"), count("load")), (1, 1));
        }
        // The constructor of each image ran when it was loaded.
        assert_eq!(self.count(0, "prepare"), NULL_DEVICES);
    }
}

/// The lines that `devices` prints about the devices there are.
fn listing(types: &[(&str, usize)]) -> String {
    let names = types.iter().flat_map(|&(kind, count)| {
        (0..count).map(move |ordinal| match kind {
            "cpu" => format!("gangway-cpu-{ordinal}"),
            _ => format!("NULL-{ordinal:04}"),
        })
    });
    let names: Vec<String> = names.chain(["HOST".to_owned()]).collect();
    let lines = names.iter().enumerate().map(|(number, name)| format!("{number} {name}\n"));
    format!("{} devices\n{}", names.len() - 1, lines.collect::<String>())
}

#[test]
fn all_types_of_device_work_side_by_side() {
    for variant in VARIANTS {
        let run = Workshop::get().run(variant, &["devices"], &[]);
        let expected = listing(&[("cpu", CPU_DEVICES), ("null", NULL_DEVICES)]);
        assert_eq!(run.printed(), expected + "done\n", "{variant}");
        run.has_left_nothing();
    }
}

#[test]
fn tasks_and_threads_work_on_all_types_of_device() {
    for variant in VARIANTS {
        let run = Workshop::get().run(variant, &["tasks"], &[]);
        assert_eq!(run.printed(), format!("done on {} devices\n", CPU_DEVICES + NULL_DEVICES), "{variant}");
        run.has_left_nothing();
        // Streams are used again: there are not many more than jobs at a time.
        let (streams, jobs) = (run.count(0, "create stream"), run.count(0, "launch"));
        assert!(if variant == "waiting" { streams == 0 } else { (1..jobs / 2).contains(&streams) });
    }
}

#[test]
fn globals_and_functions_are_made_known_to_devices() {
    for variant in VARIANTS {
        assert_eq!(Workshop::get().run(variant, &["unified"], &[]).printed(), "done\n", "{variant}");
    }
}

#[test]
fn libraries_that_are_closed_are_unloaded() {
    let workshop = Workshop::get();
    for variant in VARIANTS {
        let library = workshop.path("library");
        let run = workshop.run(variant, &["opener", library.to_str().unwrap()], &[]);
        assert_eq!(run.printed(), "done\n", "{variant}");
        for ordinal in 0..NULL_DEVICES {
            // The program's own image stays until the process ends.
            assert_eq!((run.count(ordinal, "load"), run.count(ordinal, "unload")), (4, 3));
            assert_eq!(run.count(ordinal, "allocate"), run.count(ordinal, "free"));
        }
    }
}

/// Without hidden helper threads, tasks are run by whoever waits for them.
#[test]
fn tasks_work_without_helper_threads() {
    let no_helpers = ("LIBOMP_USE_HIDDEN_HELPER_TASK", "0");
    let run = Workshop::get().run("streams", &["tasks", "in order"], &[no_helpers]);
    run.printed();
    run.has_left_nothing();
}

#[test]
fn nothing_is_initialised_before_it_is_used() {
    let workshop = Workshop::get();
    let run = workshop.run("streams", &["devices"], &[("ONLY_COUNT", "1")]);
    assert_eq!(run.printed(), listing(&[("cpu", CPU_DEVICES), ("null", NULL_DEVICES)]));
    // Counting devices is all it takes to number them.
    assert_eq!(run.calls, ["0 count"]);

    let run = workshop.run("waiting", &["failures", "last"], &[]);
    assert_eq!(run.printed(), "3\n");
    let last = NULL_DEVICES - 1;
    assert!(
        run.calls
            .iter()
            .all(|line| ["0 count", "0 prepare"].contains(&&**line) || line.starts_with(&format!("{last} ")))
    );
    assert_eq!(run.count(last, "launch"), 2);
}

#[test]
fn recognition_decides_who_takes_an_image() {
    let workshop = Workshop::get();
    // The program has no image for x86-64: none of its devices gets a number.
    let run = workshop.run("waiting", &["devices"], &[("ONLY_NULL", "1")]);
    assert_eq!(run.printed(), listing(&[("null", NULL_DEVICES)]) + "done\n");
    // Nor for null, as it is left out.
    let run = workshop.run("waiting", &["devices"], &[("GANGWAY_DEVICE", "cpu")]);
    assert_eq!(run.calls, [""; 0]);
}

/// Of several images for the same type of device the best is loaded; if that fails, the next.
#[test]
fn the_next_best_image_is_taken_if_the_best_is_broken() {
    let workshop = Workshop::get();
    for variant in VARIANTS {
        let ranked = [("RANKED", "1"), ("ONLY_NULL", "1")];
        let run = workshop.run(variant, &["devices"], &ranked);
        assert_eq!(run.printed(), listing(&[("null", NULL_DEVICES)]) + "done\n", "{variant}");
        run.has_left_nothing();
        for ordinal in 0..NULL_DEVICES {
            // The one for a newer device has not even been tried.
            let order: Vec<_> = run
                .calls
                .iter()
                .filter(|line| [format!("{ordinal} refuse"), format!("{ordinal} load")].contains(line))
                .collect();
            assert_eq!(order, [&format!("{ordinal} refuse"), &format!("{ordinal} load")], "{variant}");
        }
    }
    let run = workshop.run("waiting", &["failures", "last"], &[("RANKED", "0"), ("ONLY_NULL", "1")]);
    let message = run.message();
    assert!(message.contains("none of its 2 images for null devices can be"), "{message}");
    assert!(message.contains(": `kernel missing` is neither a kernel nor a global"), "{message}");
    assert!(message.contains(": it is for `arch 3`, the device is older"), "{message}");
}

#[test]
fn one_back_end_can_be_asked_for() {
    let workshop = Workshop::get();
    let run = workshop.run("streams", &["devices"], &[("GANGWAY_DEVICE", "null")]);
    assert_eq!(run.printed(), listing(&[("null", NULL_DEVICES)]) + "done\n");
    run.has_left_nothing();
}

/// The reasons are those of `gangway info`, and of a program that needs the devices.
#[test]
fn a_refused_back_end_is_explained() {
    let workshop = Workshop::get();
    let reasons = [
        ("later", "it was built for version 2.0 of gangway/rtl.h, this Gangway needs version 1.x: "),
        ("partial", "gangway_rtl_launch_kernel is missing, mandatory function of gangway/rtl.h version 1"),
    ];
    for (variant, reason) in reasons {
        let library = workshop.path(variant).join("libgangway-rtl-null.so");
        let reason = format!("{} is refused: {reason}", library.display());
        let mut info = gangway();
        info.arg("info").env("GANGWAY_RTL_PATH", workshop.path(variant)).env_remove("GANGWAY_DEVICE");
        let info = info.run();
        assert!(info.stdout.contains(&reason), "{info}");

        let run = workshop.run(variant, &["failures", "last"], &[("ONLY_NULL", "1")]);
        let message = run.message();
        assert!(message.contains(&reason), "{message}");
        assert!(message.contains("OMP_TARGET_OFFLOAD=MANDATORY"), "{message}");
        assert_eq!(run.calls, [""; 0]);
        // The devices of others are not affected, and the host can take over.
        let all = workshop.run(variant, &["devices"], &[("ONLY_COUNT", "1")]);
        assert!(all.ran.stdout.starts_with(&listing(&[("cpu", CPU_DEVICES)])));
        let offload = ("OMP_TARGET_OFFLOAD", "DEFAULT");
        let host = workshop.run(variant, &["failures", "last"], &[("ONLY_NULL", "1"), offload]);
        assert_eq!(host.ran.stdout, "2\n");
    }
}

#[test]
fn a_kernel_that_fails_is_named() {
    for variant in VARIANTS {
        let run = Workshop::get().run(variant, &["failures", "kernel"], &[("OMP_TARGET_OFFLOAD", "DEFAULT")]);
        assert_eq!(
            run.message(),
            "gangway: error: failures.c:62:3: in launch: device 6: kernel fail failed: the kernel fail has failed \
             (error 719)\n"
        );
        assert_eq!(run.ran.stdout, "", "the host version must not run after a device's");
    }
}

#[test]
fn a_task_whose_kernel_fails_names_it() {
    for variant in VARIANTS {
        let run = Workshop::get().run(variant, &["failures", "task"], &[("OMP_TARGET_OFFLOAD", "DEFAULT")]);
        let expected = "gangway: error: failures.c:58:1: in doomed: device 6: kernel doomed:58 failed: the \
                        device has been hit by a particle (error 720)\n";
        assert_eq!(run.message(), expected, "{variant}");
        assert_eq!(run.ran.stdout, "");
    }
}

#[test]
fn a_kernel_that_the_image_lacks_is_named() {
    let run = Workshop::get().run("waiting", &["failures", "absent"], &[]);
    assert_eq!(
        run.message(),
        "gangway: error: failures.c:62:3: in launch: device 6: the target region's kernel is missing: the device \
         image has no symbol `absent`\n  note: OMP_TARGET_OFFLOAD=MANDATORY\n"
    );
}

#[test]
fn a_library_runs_only_on_the_devices_it_has_images_for() {
    let message = Workshop::get().run("waiting", &["failures", "other"], &[]).message();
    let expected = "gangway: error: failures.c:62:3: in launch: device 0: the program has no image for this cpu device\n  \
                    images in the program:\n    image for null devices, 19 bytes\n  devices:\n    device 0: cpu\n";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.contains("\n    device 6: null\n"), "{message}");
}

#[test]
fn a_device_without_room_is_explained_and_left() {
    for variant in VARIANTS {
        let workshop = Workshop::get();
        let message = workshop.run(variant, &["failures", "memory"], &[]).message();
        let (begin, end) = (message.find('[').unwrap(), message.find(')').unwrap());
        assert_eq!(
            format!("{}RANGE{}", &message[..begin], &message[end + 1..]),
            "gangway: error: failures.c:81:1: in main: device 6: out of device memory: 2097152 bytes wanted for \
             `field` RANGE of 2097152 bytes (declared at failures.c:79), 0 bytes mapped already\n  \
             help: unmap what is not needed (target exit data), or work in smaller pieces\n  \
             note: OMP_TARGET_OFFLOAD=MANDATORY\n"
        );
        // The host takes over, where that is allowed.
        for (name, result) in [("memory", "2\n"), ("private", "1\n")] {
            let run = workshop.run(variant, &["failures", name], &[("OMP_TARGET_OFFLOAD", "DEFAULT")]);
            assert_eq!(run.count(2, "allocate"), run.count(2, "free"));
            run.ran.printed(result).told(&["the host takes over"]);
        }
    }
}
