//! Fits the weights by which kinds of requests are told apart.

use std::path::Path;
use steward_core::ports::{Embedder, Labelled};
use steward_intent::Kinds;
use steward_models::embed::{LazyMiniLm, fit};

const FOLDS: usize = 5;

#[tokio::test]
#[ignore = "writes the weights; some minutes"]
async fn fits_the_kinds() {
    let kinds = Kinds::shipped();
    let examples = kinds.examples();
    let embedder = LazyMiniLm::new(steward_testkit::cache().join("models/all-MiniLM-L6-v2-int8"));
    let texts: Vec<String> = examples.iter().map(|example| example.text.clone()).collect();
    let vectors = embedder.embed(&texts).await.unwrap();
    // What is left out tells how well others are read.
    let left_out = |at: usize| at.is_multiple_of(FOLDS);
    let kept = |at: &usize| !left_out(*at);
    let some: Vec<usize> = (0..examples.len()).filter(kept).collect();
    let few: Vec<Labelled> = some.iter().map(|at| examples[*at].clone()).collect();
    let of_few: Vec<Vec<f32>> = some.iter().map(|at| vectors[*at].clone()).collect();
    let classifier = embedder.classifier(fit(&few, &of_few).leak()).unwrap();
    let (mut right, mut sure, mut surely_wrong, mut all) = (0, 0, 0, 0);
    for example in examples.iter().enumerate().filter(|(at, _)| left_out(*at)).map(|(_, example)| example) {
        let scores = classifier.scores(&example.text).await.unwrap();
        let best = (0..kinds.kinds.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        let hit = best == example.labels[0];
        all += 1;
        right += u32::from(hit);
        sure += u32::from(hit && scores[best] >= 0.33);
        surely_wrong += u32::from(!hit && scores[best] >= 0.33);
    }
    println!("left out: {right} of {all} right, surely {sure}, surely wrong {surely_wrong}");
    let mut file = kinds.digest().into_bytes();
    file.extend(fit(&examples, &vectors));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../intent/data/kinds.bin");
    std::fs::write(path, file).unwrap();
}
