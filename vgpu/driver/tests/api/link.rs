//! Linking: several inputs become an image that loads.

use std::ffi::{CStr, CString, c_void};

use crate::cuda::*;

fn add(link: Handle, text: &str, name: &CStr) -> u32 {
    let text = CString::new(text).unwrap();
    let (null, none) = (std::ptr::null(), std::ptr::null_mut());
    let size = text.as_bytes_with_nul().len();
    // SAFETY: text and name are there for as long as the call.
    unsafe { cuLinkAddData_v2(link, 1, text.as_ptr().cast(), size, name.as_ptr(), 0, null, none) }
}

const CALLER: &str = ".extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 p) {
    .reg .b64 %rd; .reg .b32 %r; .param .b32 x; .param .b32 r;
    ld.param.u64 %rd, [p]; ld.global.u32 %r, [%rd];
    st.param.b32 [x], %r;
    call (r), twice, (x);
    ld.param.b32 %r, [r]; st.global.u32 [%rd], %r; ret;
}";
const CALLED: &str = ".visible .func (.param .b32 r) twice(.param .b32 x) {
    .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret;
}";

#[test]
fn modules_call_each_other_once_linked() {
    let _context = Context::new();
    let mut link = std::ptr::null_mut();
    check!(cuLinkCreate_v2(0, std::ptr::null(), std::ptr::null_mut(), &mut link));
    check!(add(link, &ptx(CALLER), c"caller"));
    check!(add(link, &ptx(CALLED), c"called"));
    let (mut image, mut size) = (std::ptr::null_mut(), 0);
    check!(cuLinkComplete(link, &mut image, &mut size));
    assert!(size > 0);
    let module = get!(cuModuleLoadData for Handle; image.cast_const());
    check!(cuLinkDestroy(link));
    check!(cuLinkDestroy(link), INVALID_HANDLE);
    let kernel = get!(cuModuleGetFunction for Handle; module, c"k".as_ptr());
    let address = to_device(&[21]);
    check!(launch(kernel, 1, 1, std::ptr::null_mut(), &[argument(&address)]));
    assert_eq!(from_device(address, 1), [42]);
}

#[test]
fn what_does_not_fit_is_told() {
    let _context = Context::new();
    let mut log = [1_u8; 300];
    let options = [5, 6];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
    let mut link = std::ptr::null_mut();
    check!(cuLinkCreate_v2(2, options.as_ptr(), values.as_mut_ptr(), &mut link));
    check!(add(link, &ptx(CALLER), c"caller"));
    let (mut image, mut size) = (std::ptr::null_mut(), 0);
    check!(cuLinkComplete(link, &mut image, &mut size), INVALID_IMAGE);
    let told = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(told.contains("twice"), "{told}");
    check!(cuLinkDestroy(link));
    check!(add(link, &ptx(CALLED), c"called"), INVALID_HANDLE);
}
