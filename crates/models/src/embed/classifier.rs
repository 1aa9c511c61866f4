//! A classifier of short texts, fitted to labelled examples at build time: ridge regression over embeddings and the
//! letter groups of words, since the embedding model knows English best.

use super::DIMENSION;
use async_trait::async_trait;
use std::collections::BTreeMap;
use steward_core::ports::{self, Embedder, Labelled};

/// Share of the letter groups in the similarity of two texts.
const LETTERS: f32 = 0.5;
/// Regularisation: keeps a single example from bending the result.
const RIDGE: f32 = 0.3;
/// Lengths of letter groups.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;
/// Letter groups are hashed into so many buckets.
const BUCKETS: usize = 1 << 14;
/// Rarities are stored in steps of this.
const STEP: f32 = 1.0 / 16.0;
/// Bytes of one label: weights of the embedding, scale of the letter weights, letter weights.
const LABEL: usize = 4 * DIMENSION + 4 + BUCKETS;

pub(super) struct Fitted {
    embedder: Box<dyn Embedder>,
    rarity: &'static [u8],
    labels: &'static [u8],
}

impl Fitted {
    /// `None` if `file` is not what [`fit`] writes.
    pub fn read(embedder: Box<dyn Embedder>, file: &'static [u8]) -> Option<Self> {
        let (rarity, labels) = file.split_at_checked(BUCKETS)?;
        labels.len().is_multiple_of(LABEL).then_some(Self { embedder, rarity, labels })
    }
}

#[async_trait]
impl ports::Classifier for Fitted {
    async fn scores(&self, text: &str) -> Result<Vec<f32>, ports::EmbedError> {
        let vector = self.embedder.embed(&[text.to_owned()]).await?;
        let vector = vector.into_iter().next().unwrap_or_default();
        let pieces = weigh(&count(text), self.rarity);
        let of_label = |label: &[u8]| {
            let (meaning, rest) = label.split_at(4 * DIMENSION);
            let (unit, letters) = rest.split_at(4);
            let meaning = meaning.chunks_exact(4).zip(&vector).map(|(weight, value)| float(weight) * value);
            let letters = pieces.iter().map(|(bucket, value)| f32::from(letters[*bucket].cast_signed()) * value);
            float(unit).mul_add(letters.sum::<f32>(), meaning.sum::<f32>())
        };
        Ok(self.labels.chunks_exact(LABEL).map(of_label).collect())
    }
}

fn float(bytes: &[u8]) -> f32 {
    bytes.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}

/// Fits to `examples` and their vectors, for [`Embedder::classifier`]. Takes a minute for some thousand examples.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounded into the range of a byte")]
pub fn fit(examples: &[Labelled], vectors: &[Vec<f32>]) -> Vec<u8> {
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
        let (mut meaning, mut letters) = (vec![0.0; DIMENSION], vec![0.0; BUCKETS]);
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

/// How often a text's letter groups fall into each bucket.
type Counted = BTreeMap<usize, u16>;
type Pieces = Vec<(usize, f32)>;

/// The counts as a vector of length 1; rare groups weigh more.
fn weigh(counted: &Counted, rarity: &[u8]) -> Pieces {
    let weight =
        |(bucket, times): (&usize, &u16)| (*bucket, (1.0 + f32::from(*times).ln()) * STEP * f32::from(rarity[*bucket]));
    let mut weighed: Pieces = counted.iter().map(weight).collect();
    let length = weighed.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON);
    for (_, weight) in &mut weighed {
        *weight /= length;
    }
    weighed
}

fn count(text: &str) -> Counted {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.chars().flat_map(char::to_lowercase).map(plain).collect())
        .collect();
    let line: Vec<char> = format!(" {} ", words.join(" ")).chars().collect();
    let mut counted = Counted::new();
    for length in PIECES {
        for piece in line.windows(length) {
            let piece: String = piece.iter().collect();
            *counted.entry(crc32fast::hash(piece.as_bytes()) as usize % BUCKETS).or_insert(0) += 1;
        }
    }
    counted
}

/// Without its accent, since people often leave accents out.
fn plain(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'ç' => 'c',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{dot, factor, solve};

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
}
