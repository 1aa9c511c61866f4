//! Files that people have sent, and how much they take.

use crate::conformance::bed::Bed;
use crate::conformance::fixtures::TENANT;
use steward_core::upload::{UploadedBytes, UploadedFile};
use steward_core::{Timestamp, UserId};
use uuid::Uuid;

fn file(path: &str, user: u128, bytes: u64) -> UploadedFile {
    UploadedFile { path: path.to_owned(), user_id: UserId(Uuid::from_u128(user)), bytes, at: Timestamp(7) }
}

pub async fn sent_files_count_for_their_senders(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (UserId(Uuid::from_u128(1)), UserId(Uuid::from_u128(2)));
    assert_eq!(store.uploaded_bytes(TENANT, ann).await.unwrap(), UploadedBytes::default());
    for one in [file("uploads/a", 1, 10), file("uploads/b", 1, 20), file("uploads/c", 2, 40)] {
        store.note_upload(TENANT, &one).await.unwrap();
    }
    let used = |of_user| UploadedBytes { of_user, of_organisation: 70 };
    assert_eq!(store.uploaded_bytes(TENANT, ann).await.unwrap(), used(30));
    assert_eq!(store.uploaded_bytes(TENANT, bob).await.unwrap(), used(40));
    let page = store.uploads(TENANT, Some(ann), None, 1).await.unwrap();
    assert_eq!((page.items, page.more), (vec![file("uploads/a", 1, 10)], true));
    assert_eq!(store.count_uploads(TENANT, ann).await.unwrap(), 2);
    let rest = store.uploads(TENANT, None, Some("uploads/a"), 10).await.unwrap();
    assert_eq!((rest.items, rest.more), (vec![file("uploads/b", 1, 20), file("uploads/c", 2, 40)], false));
    // Removed in the workspace and sent again, by somebody else.
    store.note_upload(TENANT, &file("uploads/a", 2, 1)).await.unwrap();
    assert_eq!(store.upload(TENANT, "uploads/a").await.unwrap(), Some(file("uploads/a", 2, 1)));
    store.forget_upload(TENANT, "uploads/c").await.unwrap();
    assert_eq!(store.upload(TENANT, "uploads/c").await.unwrap(), None);
    let used = store.uploaded_bytes(TENANT, bob).await.unwrap();
    assert_eq!(used, UploadedBytes { of_user: 1, of_organisation: 21 });
}
