//! The index against a plain list, under changes, commits, openings and sets of documents by chance.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use steward_knowledge::{ChunkEntry, ChunkKey, DocumentSet, Hit, Index};
use tempfile::TempDir;

const DIMENSION: usize = 12;
const WORDS: &[&str] = &["alpha", "beta", "gamma", "delta", "max_wal_size", "Running", "naïve", "x1"];

#[derive(Debug, Clone)]
struct Content {
    text: String,
    heading: String,
    vector: Option<Vec<f32>>,
}

#[derive(Debug, Clone)]
enum Step {
    Replace(u32, Vec<Content>),
    Commit,
    /// Without a commit before: what was not committed is gone and is applied again.
    Reopen,
    Rest,
}

type Documents = BTreeMap<u32, Vec<Content>>;

fn content() -> impl Strategy<Value = Content> {
    let words = |most: usize| prop::collection::vec(prop::sample::select(WORDS), 0..most);
    let vector = prop::collection::vec(-1.0_f32..1.0, DIMENSION);
    (words(12), words(3), prop::option::weighted(0.8, vector)).prop_map(|(text, heading, vector)| Content {
        text: text.join(" "),
        heading: heading.join(" "),
        vector,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u32..12, prop::collection::vec(content(), 0..4)).prop_map(|(document, chunks)| Step::Replace(document, chunks)),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
        1 => Just(Step::Rest),
    ]
}

fn apply(index: &Index, change: u64, document: u32, chunks: &[Content]) {
    let entry = |(index, content): (u32, &'_ Content)| (index, content.clone());
    let owned: Vec<(u32, Content)> = (0..).zip(chunks).map(entry).collect();
    let entries: Vec<ChunkEntry<'_>> = owned
        .iter()
        .map(|(index, content)| ChunkEntry {
            index: *index,
            heading: &content.heading,
            text: &content.text,
            vector: content.vector.as_deref(),
        })
        .collect();
    index.apply(change, document, &entries).unwrap();
}

fn open(dir: &TempDir) -> Index {
    Index::open(dir.path(), "model", DIMENSION).unwrap()
}

fn keys(hits: &[Hit]) -> BTreeSet<ChunkKey> {
    let keys: BTreeSet<ChunkKey> = hits.iter().map(Hit::key).collect();
    assert_eq!(keys.len(), hits.len(), "a chunk was found twice");
    keys
}

fn with_word(documents: &Documents, set: &DocumentSet, word: &str) -> BTreeSet<ChunkKey> {
    let mut found = BTreeSet::new();
    for (document, chunks) in documents.iter().filter(|(document, _)| set.contains(**document)) {
        for (chunk, content) in (0..).zip(chunks) {
            if format!("{} {}", content.text, content.heading).split(' ').any(|one| one == word) {
                found.insert(ChunkKey { document: *document, chunk });
            }
        }
    }
    found
}

fn nearest(documents: &Documents, set: &DocumentSet, query: &[f32]) -> BTreeMap<ChunkKey, f32> {
    let length = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let mut found = BTreeMap::new();
    for (document, chunks) in documents.iter().filter(|(document, _)| set.contains(**document)) {
        for (chunk, content) in (0..).zip(chunks) {
            let Some(vector) = content.vector.as_ref().filter(|vector| length(vector) > 0.0) else { continue };
            let dot: f32 = vector.iter().zip(query).map(|(a, b)| a * b).sum();
            found.insert(ChunkKey { document: *document, chunk }, dot / length(vector) / length(query));
        }
    }
    found
}

fn check(index: &Index, documents: &Documents, set: &DocumentSet, query: &[f32]) {
    for (word, asked) in
        WORDS.iter().zip(["ALPHA", "beta?", "+gamma", "délta", "max_wal_size", "\"running\"", "naive", "x1"])
    {
        let hits = index.search_text(asked, set, 1000).unwrap();
        assert_eq!(keys(&hits), with_word(documents, set, word), "{asked}");
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    }
    let hits = index.search_vectors(query, set, 1000).unwrap();
    let expected = nearest(documents, set, query);
    assert_eq!(keys(&hits), expected.keys().copied().collect());
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    for hit in &hits {
        assert!((hit.score - expected[&hit.key()]).abs() < 2e-3, "{hit:?}");
    }
    let stats = index.stats().unwrap();
    assert_eq!(stats.chunks, documents.values().map(|chunks| chunks.len() as u64).sum::<u64>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_is_what_was_applied(
        steps in prop::collection::vec(step(), 1..30),
        allowed in prop::collection::btree_set(0_u32..12, 0..12),
        query in prop::collection::vec(0.1_f32..1.0, DIMENSION),
    ) {
        let dir = TempDir::new().unwrap();
        let mut index = open(&dir);
        let mut changes: Vec<(u32, Vec<Content>)> = Vec::new();
        for step in steps {
            match step {
                Step::Replace(document, chunks) => {
                    changes.push((document, chunks.clone()));
                    apply(&index, changes.len() as u64, document, &chunks);
                }
                Step::Commit => index.commit().unwrap(),
                Step::Rest => {
                    index.commit().unwrap();
                    index.rest().unwrap();
                }
                Step::Reopen => {
                    drop(index);
                    index = open(&dir);
                    // From the beginning: what is in is passed over.
                    for (change, (document, chunks)) in (1..).zip(&changes) {
                        apply(&index, change, *document, chunks);
                    }
                }
            }
        }
        index.commit().unwrap();
        prop_assert_eq!(index.applied(), changes.len() as u64);
        let documents: Documents = changes.into_iter().collect();
        let some: DocumentSet = allowed.into_iter().collect();
        check(&index, &documents, &DocumentSet::all(), &query);
        check(&index, &documents, &some, &query);
        drop(index);
        check(&open(&dir), &documents, &some, &query);
    }

    /// Scores under a set are those of an index that has nothing else: neither how often a word occurs elsewhere nor how
    /// long other texts are can be seen.
    #[test]
    fn scores_tell_nothing_of_other_documents(
        contents in prop::collection::vec(prop::collection::vec(content(), 0..3), 1..10),
        allowed in prop::collection::btree_set(0_u32..10, 1..5),
    ) {
        let (all, alone) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (index, less) = (open(&all), open(&alone));
        for (document, chunks) in (0..).zip(&contents) {
            apply(&index, u64::from(document) + 1, document, chunks);
            let seen: &[Content] = if allowed.contains(&document) { chunks } else { &[] };
            apply(&less, u64::from(document) + 1, document, seen);
        }
        index.commit().unwrap();
        less.commit().unwrap();
        let set: DocumentSet = allowed.into_iter().collect();
        for query in ["alpha beta", "\"gamma delta\"", "wal running x1", "naive"] {
            let hits = index.search_text(query, &set, 100).unwrap();
            let expected: BTreeMap<ChunkKey, f32> =
                less.search_text(query, &set, 100).unwrap().iter().map(|hit| (hit.key(), hit.score)).collect();
            prop_assert_eq!(keys(&hits), expected.keys().copied().collect());
            for hit in hits {
                prop_assert!((hit.score - expected[&hit.key()]).abs() < 1e-5, "{} {:?}", query, hit);
            }
        }
    }
}
