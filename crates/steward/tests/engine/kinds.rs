//! Fits the weights by which kinds of requests are told apart.

use std::collections::BTreeMap;
use std::path::Path;
use steward_core::ports::{Embedder, Labelled};
use steward_intent::Kinds;
use steward_models::embed::LazyMiniLm;
use steward_models::embed::classifier::{BUCKETS, Counted, Pieces, STEP, count, weigh};

const FOLDS: usize = 5;
/// Share of the letter groups in the similarity of two texts.
const LETTERS: f32 = 0.5;
/// Regularisation: keeps a single example from bending the result.
const RIDGE: f32 = 0.3;

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

/// Fits to `examples` and their vectors, for [`Embedder::classifier`]. Takes a minute for some thousand examples.
#[expect(clippy::cast_possible_truncation, reason = "rounded into the range of a byte")]
fn fit(examples: &[Labelled], vectors: &[Vec<f32>]) -> Vec<u8> {
    let counted: Vec<Counted> = examples.iter().map(|example| count(&example.text)).collect();
    let rarity = rarity(&counted);
    let pieces: Vec<Pieces> = counted.iter().map(|counted| weigh(counted, &rarity)).collect();
    let mut kernel = vec![vec![0.0; examples.len()]; examples.len()];
    for (row, vector) in vectors.iter().enumerate() {
        let mut spread = vec![0.0; BUCKETS];
        for (bucket, value) in &pieces[row] {
            spread[*bucket] = *value;
        }
        for column in 0..=row {
            let letters: f32 = pieces[column].iter().map(|(bucket, value)| spread[*bucket] * value).sum();
            kernel[row][column] = (1.0 - LETTERS).mul_add(dot(vector, &vectors[column]), LETTERS * letters);
        }
        kernel[row][row] += RIDGE;
    }
    factor(&mut kernel);
    let labels = examples.iter().flat_map(|example| &example.labels).max().map_or(0, |most| most + 1);
    let mut file = rarity;
    for label in 0..labels {
        let is = |example: &Labelled| f32::from(u8::from(example.labels.contains(&label)));
        let shares = solve(&kernel, examples.iter().map(is).collect());
        let (mut meaning, mut letters) = (vec![0.0; vectors[0].len()], vec![0.0; BUCKETS]);
        for ((share, vector), pieces) in shares.into_iter().zip(vectors).zip(&pieces) {
            for (weight, value) in meaning.iter_mut().zip(vector) {
                *weight += (1.0 - LETTERS) * share * value;
            }
            for (bucket, value) in pieces {
                letters[*bucket] += LETTERS * share * value;
            }
        }
        let unit = letters.iter().fold(f32::EPSILON, |most: f32, weight| most.max(weight.abs())) / 127.0;
        file.extend(meaning.into_iter().flat_map(f32::to_le_bytes));
        file.extend(unit.to_le_bytes());
        file.extend(letters.into_iter().map(|weight| ((weight / unit).round() as i8).cast_unsigned()));
    }
    file
}

/// How rare each bucket is among the examples, in steps of [`STEP`].
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded into the range of a byte")]
#[expect(clippy::cast_precision_loss, reason = "some thousand examples")]
fn rarity(counted: &[Counted]) -> Vec<u8> {
    let mut having = vec![0.0_f32; BUCKETS];
    for bucket in counted.iter().flat_map(BTreeMap::keys) {
        having[*bucket] += 1.0;
    }
    let all = counted.len() as f32 + 1.0;
    having.into_iter().map(|having| ((all / (having + 0.5)).ln() / STEP).round() as u8).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Cholesky factor in place of a symmetric matrix, of which the lower half is given.
fn factor(matrix: &mut [Vec<f32>]) {
    for row in 0..matrix.len() {
        let (above, rest) = matrix.split_at_mut(row);
        let current = &mut rest[0];
        for (column, other) in above.iter().enumerate() {
            let sum = dot(&current[..column], &other[..column]);
            current[column] = (current[column] - sum) / other[column];
        }
        let sum = dot(&current[..row], &current[..row]);
        current[row] = (current[row] - sum).max(f32::EPSILON).sqrt();
    }
}

fn solve(factor: &[Vec<f32>], mut values: Vec<f32>) -> Vec<f32> {
    for row in 0..values.len() {
        let sum = dot(&factor[row][..row], &values[..row]);
        values[row] = (values[row] - sum) / factor[row][row];
    }
    for row in (0..values.len()).rev() {
        values[row] /= factor[row][row];
        let value = values[row];
        for (left, weight) in values[..row].iter_mut().zip(&factor[row][..row]) {
            *left -= weight * value;
        }
    }
    values
}

#[test]
fn solves() {
    let matrix = [[4.0, 2.0, 0.6], [2.0, 3.0, 0.4], [0.6, 0.4, 1.5]];
    let mut lower: Vec<Vec<f32>> = matrix.iter().map(|row| row.to_vec()).collect();
    factor(&mut lower);
    let solved = solve(&lower, vec![1.0, 2.0, 3.0]);
    for (row, wanted) in matrix.iter().zip([1.0, 2.0, 3.0]) {
        assert!((dot(row, &solved) - wanted).abs() < 1e-5);
    }
}
