//! A classifier over labelled examples: kernel ridge regression. The kernel is half the likeness of the vectors, half that
//! of the letters, since the embedding model knows English best and all other languages by their words' pieces.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use steward_core::ports::{self, Embedder, Labelled};

use super::LazyMiniLm;

/// Share of the letters in the likeness of two texts.
const LETTERS: f32 = 0.5;
/// How little a single example may bend the outcome.
const RIDGE: f32 = 0.3;
/// Lengths of the pieces that words are compared by.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;

/// Fitted to examples.
pub(super) struct Fitted {
    embedder: LazyMiniLm,
    vectors: Vec<Vec<f32>>,
    letters: Letters,
    /// By label, one weight per example.
    weights: Vec<Vec<f32>>,
}

impl Fitted {
    /// Blocks while it fits.
    pub fn new(embedder: LazyMiniLm, examples: &[Labelled], vectors: Vec<Vec<f32>>) -> Self {
        let letters = Letters::of(examples);
        let size = examples.len();
        let mut kernel = vec![vec![0.0; size]; size];
        for (row, vector) in vectors.iter().enumerate() {
            let alike = letters.alike(&letters.pieces[row]);
            for column in 0..=row {
                kernel[row][column] = mixed(dot(vector, &vectors[column]), alike[column]);
            }
            kernel[row][row] += RIDGE;
        }
        factor(&mut kernel);
        let labels = examples.iter().flat_map(|example| &example.labels).max().map_or(0, |most| most + 1);
        let weights = (0..labels)
            .map(|label| {
                let is = |example: &Labelled| f32::from(u8::from(example.labels.contains(&label)));
                solve(&kernel, examples.iter().map(is).collect())
            })
            .collect();
        Self { embedder, vectors, letters, weights }
    }
}

#[async_trait]
impl ports::Classifier for Fitted {
    async fn scores(&self, text: &str) -> Result<Vec<f32>, ports::EmbedError> {
        let vector = self.embedder.embed(&[text.to_owned()]).await?;
        let vector = vector.into_iter().next().unwrap_or_default();
        let alike = self.letters.alike(&self.letters.weighed(text));
        let kernel: Vec<f32> =
            self.vectors.iter().zip(alike).map(|(example, alike)| mixed(dot(example, &vector), alike)).collect();
        Ok(self.weights.iter().map(|weights| dot(weights, &kernel)).collect())
    }
}

fn mixed(meaning: f32, letters: f32) -> f32 {
    (1.0 - LETTERS).mul_add(meaning, LETTERS * letters)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Cholesky's factor of a symmetric matrix, whose lower half is given, in its place.
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

/// Solves for one right side.
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

type Pieces = Vec<(usize, f32)>;

/// The pieces of the examples' words, rare ones weighing more.
struct Letters {
    known: HashMap<String, usize>,
    rarity: Vec<f32>,
    unknown: f32,
    /// By example.
    pieces: Vec<Pieces>,
    /// By piece: the examples that have it.
    places: Vec<Pieces>,
}

impl Letters {
    fn of(examples: &[Labelled]) -> Self {
        let counted: Vec<BTreeMap<String, u16>> = examples.iter().map(|example| count(&example.text)).collect();
        let mut known = HashMap::new();
        let mut having: Vec<f32> = Vec::new();
        for pieces in &counted {
            for piece in pieces.keys() {
                let id = *known.entry(piece.clone()).or_insert(having.len());
                if id == having.len() {
                    having.push(0.0);
                }
                having[id] += 1.0;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "some thousand examples")]
        let all = examples.len() as f32 + 1.0;
        let mut letters = Self {
            rarity: having.iter().map(|having| (all / (having + 0.5)).ln()).collect(),
            unknown: (all / 0.5).ln(),
            places: vec![Vec::new(); having.len()],
            known,
            pieces: Vec::new(),
        };
        for (index, pieces) in counted.iter().enumerate() {
            let weighed = letters.weigh(pieces);
            for (id, weight) in &weighed {
                letters.places[*id].push((index, *weight));
            }
            letters.pieces.push(weighed);
        }
        letters
    }

    fn weighed(&self, text: &str) -> Pieces {
        self.weigh(&count(text))
    }

    fn weigh(&self, pieces: &BTreeMap<String, u16>) -> Pieces {
        let mut length = 0.0;
        let mut weighed = Vec::new();
        for (piece, times) in pieces {
            let id = self.known.get(piece).copied();
            let rarity = id.map_or(self.unknown, |id| self.rarity[id]);
            let weight = (1.0 + f32::from(*times).ln()) * rarity;
            length += weight * weight;
            weighed.extend(id.map(|id| (id, weight)));
        }
        let length = length.sqrt().max(f32::EPSILON);
        for (_, weight) in &mut weighed {
            *weight /= length;
        }
        weighed.sort_unstable_by_key(|(id, _)| *id);
        weighed
    }

    /// The likeness to each example.
    fn alike(&self, pieces: &Pieces) -> Vec<f32> {
        let mut alike = vec![0.0; self.pieces.len()];
        for (id, weight) in pieces {
            for (index, other) in &self.places[*id] {
                alike[*index] += weight * other;
            }
        }
        alike
    }
}

fn count(text: &str) -> BTreeMap<String, u16> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.chars().flat_map(char::to_lowercase).map(plain).collect())
        .collect();
    let line: Vec<char> = format!(" {} ", words.join(" ")).chars().collect();
    let mut counted = BTreeMap::new();
    for length in PIECES {
        for piece in line.windows(length) {
            *counted.entry(piece.iter().collect()).or_insert(0) += 1;
        }
    }
    counted
}

/// A letter without its accent: people leave them out.
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
