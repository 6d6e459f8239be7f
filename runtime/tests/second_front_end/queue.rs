//! OpenACC's async queues, with kernels that take slots or one pointer to a table.

use crate::gomp::{Language, TO, TOFROM};
use crate::program::{Program, table_devices, whole};
use crate::support::device::Options;
use gangway_runtime::queue::Queue;

/// `enter data copyin(a) async(1)`, kernels in two queues, `wait(1) async(2)`,
/// `exit data copyout(a) async(2)`, and at last `wait`.
#[test]
fn constructs_in_two_queues() {
    for options in Options::ALL.into_iter().chain(table_devices(4)) {
        let program = Program::new(options, Language::OpenMp);
        let queues = [0, 1].map(|_| Queue::create(program.world.device).unwrap());
        let (shared, own) = ([1u8; 32], [5u8; 16]);
        for round in 1..=3 {
            program.begin(&[whole(&shared, TO)]).unwrap();
            program.run_in(&queues[0], &[whole(&shared, TOFROM), whole(&own, TOFROM)], &[0, 1]).unwrap();
            queues[1].wait_for(&queues[0]).unwrap();
            program.run_in(&queues[1], &[whole(&shared, TOFROM), whole(&own, TOFROM)], &[0, 1]).unwrap();
            program.finish_in(&queues[1], &[whole(&shared, TOFROM)]).unwrap();
            queues.iter().for_each(|queue| queue.synchronize().unwrap());
            assert_eq!((shared, own), ([1 + 2 * round; 32], [5 + 2 * round; 16]), "{options:?}");
        }
        queues.into_iter().for_each(|queue| queue.destroy().unwrap());
        program.end();
    }
}
