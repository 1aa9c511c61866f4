use std::fs;
use std::path::Path;
use steward_knowledge::{ChunkEntry, DocumentSet, Hit, Index, IndexError};
use tempfile::TempDir;

const DIMENSION: usize = 4;

fn open(dir: &Path) -> Index {
    Index::open(dir, "model", DIMENSION).unwrap()
}

fn put(index: &Index, change: u64, document: u32, texts: &[&str]) {
    let entries: Vec<ChunkEntry<'_>> = (0..)
        .zip(texts)
        .map(|(index, text)| ChunkEntry { index, heading: "", text, vector: Some(&[1.0, 0.0, 0.0, 0.5]) })
        .collect();
    index.apply(change, document, &entries).unwrap();
}

fn documents(hits: &[Hit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.document).collect()
}

fn found(index: &Index, query: &str) -> Vec<u32> {
    documents(&index.search_text(query, &DocumentSet::all(), 10).unwrap())
}

#[test]
fn names_are_found_whole_and_by_part() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    put(&index, 1, 1, &["Set max_wal_size to 2GB in postgresql.conf."]);
    put(&index, 2, 2, &["Send GET /api/x/items with os.path.join and version 3.11.2."]);
    put(&index, 3, 3, &["The size of a wall at max."]);
    index.commit().unwrap();
    assert_eq!(found(&index, "max_wal_size")[0], 1);
    assert_eq!(found(&index, "wal"), [1]);
    assert_eq!(found(&index, "\"wal size\""), [1]);
    assert_eq!(found(&index, "postgresql.conf"), [1]);
    assert_eq!(found(&index, "GET /api/x"), [2]);
    assert_eq!(found(&index, "os.path"), [2]);
    assert_eq!(found(&index, "3.11.2"), [2]);
    assert_eq!(found(&index, "text:size^7 (wall -conf \"").len(), 2);
}

#[test]
fn quoted_words_must_be_held_and_phrases_come_first() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    put(&index, 1, 1, &["The log is written. Write it ahead of the data, write, write, log, log and log."]);
    put(&index, 2, 2, &["A write-ahead log keeps the data."]);
    put(&index, 3, 3, &["A log of what was written ahead."]);
    index.commit().unwrap();
    assert_eq!(found(&index, "\"write ahead log\""), [2, 1]);
    assert_eq!(found(&index, "data \"ahead\" „log“").len(), 3);
    let exact = index.find_exact("\"write ahead log\" data", &DocumentSet::all()).unwrap();
    let mut held: Vec<u32> = exact.quoted.unwrap().iter().map(|key| key.document).collect();
    held.sort_unstable();
    assert_eq!(held, [1, 2]);
    assert_eq!(exact.chunks.keys().map(|key| key.document).collect::<Vec<_>>(), [2]);
    assert_eq!(index.find_exact("\"nowhere\"", &DocumentSet::all()).unwrap().quoted.map(|held| held.len()), Some(0));
    assert_eq!(index.find_exact("write ahead", &DocumentSet::all()).unwrap().quoted, None);
}

#[test]
fn rare_codes_and_names_are_found_among_the_documents_that_may_be_seen() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    for document in 1..=40 {
        let text = format!(
            "Member {:05} is Fay {} with locker D{document} and paid.",
            500 + document,
            ["Reed", "Moss"][document as usize % 2]
        );
        put(&index, document.into(), document, &[&text, "Members pay in May."]);
    }
    index.commit().unwrap();
    let exact = |question: &str, set: &DocumentSet| {
        let mut found: Vec<(u32, Vec<String>)> = index
            .find_exact(question, set)
            .unwrap()
            .chunks
            .into_iter()
            .map(|(key, found)| (key.document, found.terms))
            .collect();
        found.sort();
        found
    };
    let all = DocumentSet::all();
    let term = |text: &str| vec![text.to_owned()];
    assert_eq!(exact("What shoe size has member 00517?", &all), [(17, term("00517"))]);
    assert_eq!(exact("Whose locker is D3, and whose 00504?", &all), [(3, term("D3")), (4, term("00504"))]);
    // What stands in many is not rare, what may not be seen is not counted.
    assert!(exact("Which locker has Fay Reed?", &all).is_empty());
    let few: DocumentSet = [2, 3, 5].into_iter().collect();
    assert_eq!(exact("Which locker has Fay Reed?", &few), [(2, term("Fay Reed"))]);
    assert!(exact("member 00517", &few).is_empty());
}

#[test]
fn words_are_found_without_their_endings_in_several_languages() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    put(&index, 1, 1, &["The connection of the clients was refused by the server and it is not restarted."]);
    put(&index, 2, 2, &["Die Verträge werden von den Häusern der Stadt nicht unterschrieben und sind offen."]);
    put(&index, 3, 3, &["Les contrats sont signés dans les maisons de la ville par les clients avec une copie."]);
    index.commit().unwrap();
    assert_eq!(found(&index, "connecting")[0], 1);
    assert_eq!(found(&index, "Vertrag"), [2]);
    assert_eq!(found(&index, "vertrage Haus"), [2]);
    assert_eq!(found(&index, "contrat signe"), [3]);
}

#[test]
fn headings_count_more_and_exact_words_come_first() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    let text = "It is about something else entirely, with some vacuum in it.";
    index.apply(1, 1, &[ChunkEntry { index: 0, heading: "", text, vector: None }]).unwrap();
    index.apply(2, 2, &[ChunkEntry { index: 0, heading: "Vacuum", text, vector: None }]).unwrap();
    put(&index, 3, 3, &["A run of the program."]);
    put(&index, 4, 4, &["It was running all day."]);
    index.commit().unwrap();
    assert_eq!(found(&index, "vacuum"), [2, 1]);
    assert_eq!(found(&index, "running"), [4, 3]);
}

#[test]
fn bad_vectors_change_nothing() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    let entry = |vector: &'static [f32]| [ChunkEntry { index: 0, heading: "", text: "a", vector: Some(vector) }];
    assert!(matches!(index.apply(1, 1, &entry(&[1.0])), Err(IndexError::WrongDimension { found: 1, wanted: 4 })));
    assert!(matches!(index.apply(1, 1, &entry(&[f32::NAN, 0.0, 0.0, 0.0])), Err(IndexError::NotANumber)));
    assert!(matches!(
        index.search_vectors(&[1.0; 5], &DocumentSet::all(), 1),
        Err(IndexError::WrongDimension { found: 5, wanted: 4 })
    ));
    // One without a length is near to nothing, and its words are found.
    index.apply(1, 1, &entry(&[0.0; 4])).unwrap();
    index.commit().unwrap();
    assert_eq!(found(&index, "a"), [1]);
    assert!(index.search_vectors(&[1.0; 4], &DocumentSet::all(), 1).unwrap().is_empty());
    assert!(index.search_vectors(&[0.0; 4], &DocumentSet::all(), 1).unwrap().is_empty());
}

#[test]
fn a_search_sees_commits_only() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    put(&index, 1, 1, &["alpha"]);
    assert!(found(&index, "alpha").is_empty());
    assert_eq!(index.applied(), 0);
    index.commit().unwrap();
    assert_eq!((found(&index, "alpha"), index.applied()), (vec![1], 1));
    put(&index, 1, 1, &["beta"]);
    index.commit().unwrap();
    assert!(found(&index, "beta").is_empty(), "a change that is in was taken again");
}

#[test]
fn replaced_vectors_do_not_pile_up() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    let texts = vec!["alpha"; 100];
    for change in 1..=300 {
        put(&index, change, u32::try_from(change % 20).unwrap(), &texts);
        if change % 10 == 0 {
            index.commit().unwrap();
        }
    }
    let stats = index.stats().unwrap();
    assert_eq!((stats.vectors, stats.chunks), (2000, 2000));
    assert!(stats.dead_vectors < 6000, "{stats:?}");
    drop(index);
    let files = fs::read_dir(dir.path()).unwrap().filter_map(Result::ok);
    let files = files.filter(|file| file.file_name().to_str().unwrap().starts_with("vectors-"));
    assert_eq!(files.count(), 2);
    let index = open(dir.path());
    assert_eq!(index.search_vectors(&[1.0, 0.0, 0.0, 0.5], &DocumentSet::all(), 5000).unwrap().len(), 2000);
}

#[test]
fn what_must_be_built_anew_says_so() {
    let filled = || {
        let dir = TempDir::new().unwrap();
        let index = open(dir.path());
        put(&index, 1, 1, &["alpha", "beta"]);
        index.commit().unwrap();
        dir
    };
    let refused = |dir: &TempDir| match Index::open(dir.path(), "model", DIMENSION) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    };
    let dir = filled();
    assert!(matches!(Index::open(dir.path(), "other", DIMENSION), Err(IndexError::Foreign { .. })));
    assert!(matches!(Index::open(dir.path(), "model", 5), Err(IndexError::Foreign { .. })));
    let index = open(dir.path());
    assert!(matches!(Index::open(dir.path(), "model", DIMENSION), Err(IndexError::InUse { .. })));
    drop(index);

    let codes = dir.path().join("vectors-0.codes");
    let mut bytes = fs::read(&codes).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&codes, &bytes).unwrap();
    assert!(refused(&dir).needs_rebuild());
    bytes.pop();
    fs::write(&codes, &bytes).unwrap();
    assert!(refused(&dir).needs_rebuild());

    let dir = filled();
    fs::write(dir.path().join("vectors-0.full"), "").unwrap();
    assert!(refused(&dir).needs_rebuild());
    let dir = filled();
    fs::write(dir.path().join("index.json"), "{").unwrap();
    assert!(refused(&dir).needs_rebuild());
    let dir = filled();
    fs::remove_file(dir.path().join("index.json")).unwrap();
    assert!(refused(&dir).needs_rebuild());
    let dir = filled();
    fs::write(dir.path().join("words/meta.json"), "{}").unwrap();
    assert!(refused(&dir).needs_rebuild());
    let dir = filled();
    for file in fs::read_dir(dir.path().join("words")).unwrap().filter_map(Result::ok) {
        if file.path().extension().is_some_and(|extension| extension != "json" && extension != "lock") {
            fs::write(file.path(), "broken").unwrap();
        }
    }
    assert!(refused(&dir).needs_rebuild());
    Index::remove(dir.path()).unwrap();
    assert_eq!(open(dir.path()).applied(), 0);
    Index::remove(&dir.path().join("none")).unwrap();
}

#[test]
fn searches_go_on_while_changes_are_committed() {
    let dir = TempDir::new().unwrap();
    let index = open(dir.path());
    put(&index, 1, 1, &["alpha"]);
    index.commit().unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for change in 2..40 {
                put(&index, change, 1 + u32::try_from(change % 5).unwrap(), &["alpha beta", "alpha"]);
                index.commit().unwrap();
            }
        });
        while !writing.is_finished() {
            let hits = index.search_text("alpha", &DocumentSet::all(), 100).unwrap();
            assert!(!hits.is_empty());
            assert!(!index.search_vectors(&[1.0, 0.0, 0.0, 0.5], &DocumentSet::all(), 100).unwrap().is_empty());
        }
    });
    assert_eq!(found(&index, "beta").len(), 5);
}
