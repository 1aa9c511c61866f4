use async_trait::async_trait;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use steward_core::ports::{EmbedError, Embedder};
use steward_knowledge::evaluate::{Collection, Entry, EvaluationError, EvaluationSettings, evaluate};
use tempfile::TempDir;

/// A number for each of three words.
struct Words {
    /// Leaves the last text out.
    forgets: bool,
}

#[async_trait]
impl Embedder for Words {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let has = |text: &str, word| f32::from(u8::from(text.contains(word)));
        let vector = |text: &String| vec![has(text, "sea"), has(text, "bread"), has(text, "roof"), 0.1];
        Ok(texts.iter().skip(usize::from(self.forgets)).map(vector).collect())
    }

    fn model(&self) -> &'static str {
        "words"
    }

    fn dimension(&self) -> usize {
        4
    }
}

fn done<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}

/// How many words of a question stand in each text.
#[expect(clippy::unnecessary_wraps, reason = "what a re-ranker is like")]
fn shared(question: &str, texts: &[&str]) -> Result<Vec<f32>, String> {
    let words = |text: &&str| question.split(' ').filter(|word| text.contains(word)).count();
    Ok(texts.iter().map(|text| f32::from(u8::try_from(words(text)).unwrap())).collect())
}

fn entry(id: &str, text: &str) -> Entry {
    Entry { id: id.to_owned(), title: String::new(), text: text.to_owned() }
}

fn collection() -> Collection {
    let judge = |query: &str, document: &str| (query.to_owned(), [(document.to_owned(), 1)].into());
    Collection {
        documents: vec![
            entry("tide", "The sea rises twice a day."),
            entry("oven", "Dough for bread rests.\n\nThen it is baked."),
            entry("slate", "A roof lasts, with roof_pitch at 35."),
        ],
        queries: vec![entry("q1", "sea"), entry("q2", "baked bread"), entry("q3", "roof_pitch")],
        judgements: [judge("q1", "tide"), judge("q2", "oven"), judge("q3", "slate")].into(),
    }
}

#[test]
fn a_collection_is_built_asked_and_measured() {
    let dir = TempDir::new().unwrap();
    let mut heard = Vec::new();
    let settings = EvaluationSettings::default();
    let progress = |done, all| heard.push((done, all));
    let found =
        done(evaluate(&collection(), dir.path(), &Words { forgets: false }, Some(&shared), &settings, progress))
            .unwrap();
    assert_eq!((found.documents, found.chunks, found.queries), (3, 3, 3));
    assert_eq!(heard, [(3, 3)]);
    let names: Vec<&str> = found.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["bm25", "vectors", "rrf", "exact", "reranked"]);
    for stage in &found.stages {
        assert!((stage.quality.ndcg_at_10 - 1.0).abs() < 1e-9, "{stage:?}");
        assert_eq!(stage.quality.queries, 3);
    }
    assert!((found.vector_recall_at_10 - 1.0).abs() < 1e-9);
    assert_eq!((found.index.chunks, found.index.vectors), (3, 3));
}

#[test]
fn an_embedder_that_leaves_texts_out_is_noticed() {
    let dir = TempDir::new().unwrap();
    let settings = EvaluationSettings::default();
    let found = done(evaluate(&collection(), dir.path(), &Words { forgets: true }, None, &settings, |_, _| {}));
    assert!(matches!(found, Err(EvaluationError::BadAnswer { found: 2, wanted: 3 })), "{found:?}");
}
