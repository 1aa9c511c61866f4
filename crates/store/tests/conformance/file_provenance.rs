//! Where the files of a workspace come from: joined, bounded, cleared.

use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{TENANT, append, started};
use steward_core::governance::{Classification, Classified};
use steward_core::ports::{RunStore, SideWrite};
use steward_core::provenance::Provenance;
use steward_core::run::{FileProvenance, MAX_FILE_ENTRIES, is_in};

const W: &str = "/w";

fn marked(path: &str, provenance: Provenance) -> SideWrite {
    SideWrite::FileProvenance { workspace: W.to_owned(), file: FileProvenance { path: path.to_owned(), provenance } }
}

pub async fn files_keep_all_that_they_may_come_from(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let level = Classified {
        classification: Classification::Restricted,
        label: "hr".to_owned(),
        source: "hr/pay.csv".to_owned(),
    };
    let confidential = Provenance { level: Some(level.clone()), ..Provenance::default() };
    let page = Provenance::from_outside("https://example.org");
    let side = vec![marked("a.md", page.clone()), marked("a.md", confidential), marked("b.md", page.clone())];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    store.commit(append(&lease, 1, vec![], vec![marked("a.md", Provenance::from_outside("mail"))])).await.unwrap();
    let found = store.file_provenance(TENANT, W).await.unwrap();
    let origins = ["https://example.org".to_owned(), "mail".to_owned()].into();
    let joined = FileProvenance { path: "a.md".to_owned(), provenance: Provenance { origins, level: Some(level) } };
    assert_eq!(found, [joined, FileProvenance { path: "b.md".to_owned(), provenance: page }]);
    assert!(store.file_provenance(TENANT, "/other").await.unwrap().is_empty());
    assert!(store.clear_file_provenance(TENANT, W, "a.md").await.unwrap());
    assert!(!store.clear_file_provenance(TENANT, W, "a.md").await.unwrap());
    assert_eq!(store.file_provenance(TENANT, W).await.unwrap().len(), 1);
}

pub async fn files_of_a_full_workspace_become_folders(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let page = Provenance::from_outside("https://example.org");
    let files: Vec<String> = (0..=MAX_FILE_ENTRIES).map(|n| format!("notes/{n}.md")).collect();
    let side = files.iter().map(|path| marked(path, page.clone())).collect();
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let found = store.file_provenance(TENANT, W).await.unwrap();
    assert_eq!(found.len(), 1);
    assert!(files.iter().all(|path| is_in(path, &found[0].path)) && found[0].provenance == page);
}
