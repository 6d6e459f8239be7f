//! Kernels that the compiler refuses: interpreted and named, or a fault where the interpreter may
//! not run them.

use gangway_engine::{Engine, Execution, KernelLaunch, Options, Reason, fall_backs};

/// A kernel that no code is made of, because its addresses have 32 bits.
const REFUSED: &str = ".version 7.8\n.target sm_80\n.address_size 32\n.file 1 \"small.cu\"\n\
    .visible .entry small()\n{\n.loc 1 7 3\nret;\n}\n";

fn launch(execution: Execution) -> Result<(), (Reason, String)> {
    let options = Options { execution, ..Options::default() };
    let engine = Engine::new(options);
    let module = gangway_ptx::parse(REFUSED).expect("PTX");
    let program = engine.load(module).expect("memory");
    let kernel = program.kernel("small").expect("the kernel");
    let launch = KernelLaunch {
        program: &program,
        kernel,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        parameters: &[],
        cooperative: false,
    };
    engine.launch(&launch).map_err(|fault| (fault.reason, fault.report))
}

#[test]
fn a_refused_kernel_is_interpreted_and_named() {
    for _ in 0..3 {
        assert_eq!(launch(Execution::Compiled), Ok(()));
    }
    let wanted = "kernel 'small' (small.cu:7): 32-bit addresses in 'small'";
    let (reason, report) = launch(Execution::CompiledOnly).expect_err("nothing else may run it");
    assert_eq!(reason, Reason::NotSupported);
    assert_eq!(
        report,
        "kernel 'small' failed: 32-bit addresses in 'small'; the compiler refuses it, and no interpreter may \
         run it\n  GANGWAY_VGPU_ENGINE=compiler allows that\n  at small.cu:7"
    );
    let noted = fall_backs();
    let [noted] = &noted[..] else { panic!("{noted:?}") };
    assert_eq!((noted.to_string(), noted.launches), (wanted.to_owned(), 4));
}
