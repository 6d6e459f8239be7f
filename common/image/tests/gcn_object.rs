//! Images of GCC's for AMD's GPUs, as others see them.

use gangway_image::{ImageKind, gcn_object, recognise};

#[test]
fn an_image_without_code_is_one() {
    let image = gcn_object::empty();
    let kind = recognise(&image).unwrap();
    assert!(matches!(kind, ImageKind::GcnObject(_)));
    assert_eq!(kind.processor().as_deref(), Some("gfx900"));
}
