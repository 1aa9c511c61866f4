//! A classifier of short texts, fitted to labelled examples by a test of the program (`tests/engine/kinds.rs`): ridge
//! regression over embeddings and the letter groups of words, since the embedding model knows English best.

use super::DIMENSION;
use async_trait::async_trait;
use std::collections::BTreeMap;
use steward_core::ports::{self, Embedder};

/// Lengths of letter groups.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;
/// Letter groups are hashed into so many buckets.
pub const BUCKETS: usize = 1 << 14;
/// Rarities are stored in steps of this.
pub const STEP: f32 = 1.0 / 16.0;
/// Bytes of one label: weights of the embedding, scale of the letter weights, letter weights.
const LABEL: usize = 4 * DIMENSION + 4 + BUCKETS;

pub(super) struct Fitted {
    embedder: Box<dyn Embedder>,
    rarity: &'static [u8],
    labels: &'static [u8],
}

impl Fitted {
    /// `None` if `file` is not what the test writes.
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

/// How often a text's letter groups fall into each bucket.
pub type Counted = BTreeMap<usize, u16>;
/// The buckets of a text with their weights.
pub type Pieces = Vec<(usize, f32)>;

/// The counts as a vector of length 1; rare groups weigh more.
#[must_use]
pub fn weigh(counted: &Counted, rarity: &[u8]) -> Pieces {
    let weight =
        |(bucket, times): (&usize, &u16)| (*bucket, (1.0 + f32::from(*times).ln()) * STEP * f32::from(rarity[*bucket]));
    let mut weighed: Pieces = counted.iter().map(weight).collect();
    let length = weighed.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON);
    for (_, weight) in &mut weighed {
        *weight /= length;
    }
    weighed
}

#[must_use]
pub fn count(text: &str) -> Counted {
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
