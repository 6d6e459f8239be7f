//! OpenACC programs that stock GCC builds run on Gangway: what they compute, where, and what they
//! are told when something is wrong.

mod support;

use gangway_commands::Ran;

/// A compiled program.
struct Program(support::Program);

const OURS: [&str; 2] = ["--gcc-runtime", "gangway"];
const ON_DEVICE: [(&str, &str); 1] = [("ACC_DEVICE_TYPE", "nvidia")];
const ON_HOST: [(&str, &str); 1] = [("ACC_DEVICE_TYPE", "host")];

impl Program {
    fn new(source: &str) -> Self {
        Self(support::Program::new(&format!("openacc/{source}"), &["-pthread"]))
    }

    /// One of the repository's examples.
    fn example(source: &str) -> Self {
        let library = if source.ends_with(".f90") { "-foffload=-lgfortran" } else { "-foffload=-lm" };
        Self(support::Program::new(&format!("../../../../examples/{source}"), &[library, "-lm"]))
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        self.0.run(&OURS, variables, arguments)
    }

    /// Runs it on the device; it says that all is well, and Gangway's report has kernels.
    fn passes(&self) {
        self.0.offloads(&OURS, &ON_DEVICE);
    }

    /// Runs it on the device and on the host; what it prints says that its results are right.
    fn is_right(&self, arguments: &[&str]) {
        for device in [ON_DEVICE, ON_HOST] {
            let output = self.run(&device, arguments).succeeded();
            assert!(output.stdout.contains("passed"), "{output}");
        }
    }

    /// Runs it on the host as if that were a device.
    fn passes_on_host(&self, arguments: &[&str]) {
        self.run(&ON_HOST, arguments).printed("passed\n");
    }
}

#[test]
fn compute_constructs() {
    let program = Program::new("compute.c");
    program.passes();
    program.passes_on_host(&["host"]);
}

#[test]
fn data_and_its_references() {
    Program::new("data.c").passes();
}

#[test]
fn queues() {
    Program::new("queues.c").passes();
}

#[test]
fn what_is_in_no_queue_comes_behind_queues() {
    Program::new("behind_queues.c").passes();
}

#[test]
fn descriptors_and_routines_of_fortran() {
    let program = Program::new("fortran.f90");
    program.passes();
}

#[test]
fn components_without_elements() {
    Program::new("empty_components.f90").passes();
}

#[test]
fn descriptors_that_come_after_their_data() {
    Program::new("late_descriptor.f90").passes();
}

#[test]
fn children_forked_before_the_first_construct_use_the_device() {
    Program::new("../fork_before_use.c").passes();
}

#[test]
fn devices_are_shut_down_and_started_again() {
    let program = Program::new("shutdown.c");
    program.passes();
    for (mistake, said) in [("twice", "no device initialized"), ("inside", "shutdown in 'acc data' region")] {
        let output = program.run(&ON_DEVICE, &[mistake]).told(&[said]);
        assert_eq!(output.code(), Some(1), "{output}");
    }
}

/// The end of the program waits for them, under libgomp, too, and the virtual GPU's trace has them.
#[test]
fn kernels_that_nobody_waits_for_are_in_the_trace() {
    let program = Program::new("unwaited.c");
    let trace = program.0.folder.path("trace.json");
    for runtime in ["gangway", "stock"] {
        let variables = [ON_DEVICE[0], ("GANGWAY_VGPU_TRACE", trace.to_str().unwrap())];
        program.0.run(&["--gcc-runtime", runtime], &variables, &[]).printed("passed\n");
        let events = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(events.matches("\"cat\":\"kernel\"").count(), 2, "{runtime}: {events}");
    }
}

/// In libgomp's words.
#[test]
fn pointers_are_detached_as_often_as_attached() {
    let program = Program::new("detach.c");
    program.passes();
    let underflow = "attach count underflow";
    for (mistake, said) in [
        ("routine", underflow),
        ("async", underflow),
        ("construct", underflow),
        ("other", underflow),
        ("never", "no attachment counters for struct"),
        ("absent", "help: make it present before"),
    ] {
        let output = program.run(&ON_DEVICE, &[mistake]).told(&[said]);
        assert_eq!(output.code(), Some(1), "{output}");
    }
}

#[test]
fn what_tools_are_told() {
    Program::new("profile.c").passes();
}

/// The lines of `GOMP_DEBUG` about launches are those of libgomp's own plugin.
#[test]
fn launch_lines_are_the_stock_plugins() {
    let program = Program::new("launches.c");
    let lines = |runtime| program.0.launches(runtime, &ON_DEVICE, 4);
    let ours = lines("gangway");
    assert_eq!(ours.len(), 4, "{ours:#?}");
    assert_eq!(ours, lines("stock"));
}

#[test]
fn example_heat_with_queues() {
    Program::example("heat_acc.c").is_right(&["64", "20"]);
}

#[test]
fn example_conjugate_gradients() {
    Program::example("cg_acc.f90").is_right(&["20"]);
}

#[test]
fn example_bodies() {
    Program::example("nbody_acc.c").is_right(&["128", "4"]);
}

/// As with libgomp, which waits for its devices at the end.
#[test]
fn a_fault_that_nobody_waits_for_is_told_at_the_end() {
    let program = Program::new("end.c");
    for (arguments, status, errors) in
        [(&["0"][..], 0, 0), (&["100000000"], 1, 1), (&["0", "fork"], 0, 0), (&["100000000", "fork"], 1, 1)]
    {
        let output = program.run(&ON_DEVICE, arguments);
        assert_eq!(output.code(), Some(status), "{output}");
        assert!(output.stdout.ends_with("handler\n") && !output.stdout.contains("failed"), "{output}");
        assert_eq!(output.stderr.matches("gangway: error: ").count(), errors, "{output}");
        assert_eq!(output.stderr.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), errors > 0, "{output}");
    }
}
