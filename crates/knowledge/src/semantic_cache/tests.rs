use super::{CacheLimits, Cacheable, SemanticCache};
use std::sync::Arc;
use std::time::Duration;
use steward_core::Timestamp;

struct Chunks(Vec<usize>);

impl Cacheable for Chunks {
    fn chunk_chars(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }

    fn bytes(&self) -> usize {
        self.0.iter().sum()
    }
}

const NOW: Timestamp = Timestamp(1_000_000);
const NEAR: [f32; 2] = [0.96, 0.28];
const ASKED: [f32; 2] = [1.0, 0.0];
const FAR: [f32; 2] = [0.9, 0.435_889_9];

fn answer(chunks: &[usize]) -> Arc<Chunks> {
    Arc::new(Chunks(chunks.to_vec()))
}

fn cache(limits: CacheLimits) -> SemanticCache<&'static str, Chunks> {
    SemanticCache::new(limits)
}

fn with_one() -> SemanticCache<&'static str, Chunks> {
    let mut cache = cache(CacheLimits::default());
    cache.keep(&"ann", "how long is the  notice period?", Some(ASKED.to_vec()), &answer(&[100]), 40, 7, NOW);
    cache
}

#[test]
fn the_same_question_is_answered_again_for_a_day_and_until_documents_change() {
    let mut one = with_one();
    assert!(one.same(&"ann", " how long is the notice period?", 7, NOW).is_some());
    assert!(one.same(&"bob", "how long is the notice period?", 7, NOW).is_none(), "another scope");
    assert!(one.same(&"ann", "how long is a notice period?", 7, NOW).is_none(), "other words");
    let evening = NOW.plus(Duration::from_hours(24));
    assert!(one.same(&"ann", "how long is the notice period?", 7, Timestamp(evening.0 - 1)).is_some());
    assert!(one.same(&"ann", "how long is the notice period?", 7, evening).is_none());
    let stats = one.stats(|_| true);
    assert_eq!((stats.entries, stats.bytes, stats.hits, stats.misses, stats.saved_ms), (0, 0, 2, 1, 80));

    let mut one = with_one();
    assert!(one.same(&"ann", "how long is the notice period?", 6, NOW).is_none(), "who has not seen the change");
    assert!(one.same(&"ann", "how long is the notice period?", 8, NOW).is_none(), "documents changed");
    assert_eq!(one.stats(|_| true).entries, 0);
    one.keep(&"ann", "old", None, &answer(&[1]), 1, 7, NOW);
    assert!(one.same(&"ann", "old", 8, NOW).is_none(), "found before the change");
}

#[test]
fn a_like_question_is_near_and_has_the_same_words_that_count() {
    let mut one = with_one();
    assert!(one.alike(&"ann", "How long is our notice period", &NEAR, 7, NOW).is_some());
    assert!(one.alike(&"ann", "How long is our notice period", &FAR, 7, NOW).is_none(), "far");
    assert!(one.alike(&"ann", "How long is no notice period", &NEAR, 7, NOW).is_none(), "other words");
    assert!(one.alike(&"bob", "How long is our notice period", &NEAR, 7, NOW).is_none(), "another scope");
    assert!(one.alike(&"ann", "How long is our notice period", &[1.0], 7, NOW).is_none(), "another model");
    one.keep(&"ann", "by words", None, &answer(&[1]), 1, 7, NOW);
    assert!(one.alike(&"ann", "by the words", &ASKED, 7, NOW).is_none(), "it has no vector");
}

#[test]
fn what_is_too_large_is_not_kept_and_the_least_used_goes_first() {
    let mut one = cache(CacheLimits { entries: 2, bytes: 20_000, ..CacheLimits::default() });
    one.keep(&"ann", "many", None, &answer(&[1; 51]), 1, 1, NOW);
    one.keep(&"ann", "long", None, &answer(&[4001]), 1, 1, NOW);
    one.keep(&"ann", "huge", None, &answer(&[4000; 6]), 1, 1, NOW);
    assert_eq!((one.stats(|_| true).entries, one.stats(|_| true).misses), (0, 3));
    one.keep(&"ann", "a", None, &answer(&[4000]), 1, 1, NOW);
    one.keep(&"bob", "b", None, &answer(&[1; 50]), 1, 1, NOW);
    assert!(one.same(&"ann", "a", 1, NOW).is_some());
    one.keep(&"bob", "c", None, &answer(&[1]), 1, 1, NOW);
    assert!(one.same(&"bob", "b", 1, NOW).is_none(), "it was used least recently");
    assert!(one.same(&"ann", "a", 1, NOW).is_some() && one.same(&"bob", "c", 1, NOW).is_some());
    one.keep(&"bob", "c", None, &answer(&[2]), 1, 1, NOW);
    assert_eq!(one.stats(|key| *key == "bob").entries, 1, "the same question is kept once");
    assert_eq!(one.clear(|key| *key == "bob"), 1);
    assert!(one.same(&"bob", "c", 1, NOW).is_none() && one.same(&"ann", "a", 1, NOW).is_some());
    assert_eq!(one.clear(|_| true), 1);
    assert_eq!((one.stats(|_| true).bytes, one.stats(|_| true).hits), (0, 4));
}

#[test]
fn figures_of_many_scopes_are_bounded() {
    let mut one: SemanticCache<u32, Chunks> = SemanticCache::new(CacheLimits::default());
    for key in 0..2000 {
        one.keep(&key, "a", None, &answer(&[1]), 1, 1, NOW);
    }
    assert_eq!(one.stats(|_| true).entries, 1000);
    assert!(one.same(&0, "a", 1, NOW).is_none() && one.same(&1999, "a", 1, NOW).is_some());
}
