//! A model that reads a question and a passage together and says how well one answers the other.

use super::{BATCH_TEXTS, BATCH_TOKENS, EmbedError, Encoded, Onnx, batches, cores, failed};
use rten::ThreadPool;
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;

/// Tokens of a question and a passage together; the end of the passage is cut off.
const MAX_TOKENS: usize = 256;
/// Tokens of a question that are read.
const MAX_QUESTION: usize = 64;

/// Loads `model.onnx` and `tokenizer.json` of its folder at first use. Clones share the model.
#[derive(Clone)]
pub struct CrossEncoder {
    dir: PathBuf,
    loaded: Arc<Mutex<Option<Arc<Loaded>>>>,
}

struct Loaded {
    onnx: Onnx,
    threads: Arc<ThreadPool>,
}

impl CrossEncoder {
    /// `None`: there is no model in the folder.
    pub fn find(dir: &Path) -> Option<Self> {
        let is_there = dir.join("model.onnx").is_file() && dir.join("tokenizer.json").is_file();
        is_there.then(|| Self { dir: dir.to_owned(), loaded: Arc::default() })
    }

    /// A score for each text, the higher the better; only their order and distances mean something. Blocks while it works,
    /// and stops with an error once `given_up` says so.
    pub fn scores(&self, question: &str, texts: &[&str], given_up: &dyn Fn() -> bool) -> Result<Vec<f32>, EmbedError> {
        let loaded = self.load()?;
        let words = &loaded.onnx.words;
        let question = words.encode(question, MAX_QUESTION);
        let mut pairs: Vec<Encoded> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| pair(index, &question, &words.encode(text, MAX_TOKENS), words.separators()))
            .collect();
        pairs.sort_by_key(|pair| pair.tokens.len());
        let mut scores = vec![0.0; texts.len()];
        for batch in batches(&pairs, BATCH_TEXTS, BATCH_TOKENS) {
            if given_up() {
                return Err(failed("it took too long"));
            }
            for (pair, score) in batch.iter().zip(loaded.run(batch)?) {
                scores[pair.index] = score;
            }
        }
        Ok(scores)
    }

    /// Loads under the lock: a second caller would only load it again.
    fn load(&self) -> Result<Arc<Loaded>, EmbedError> {
        let mut known = lock(&self.loaded);
        if let Some(loaded) = &*known {
            return Ok(Arc::clone(loaded));
        }
        let onnx = Onnx::load(&self.dir, None)?;
        let threads = Arc::new(ThreadPool::with_num_threads(cores()));
        let loaded = Arc::new(Loaded { onnx, threads });
        *known = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}

/// Both begin with the token of the beginning and end with that of the end; a passage has no beginning of its own, but
/// maybe another end before it.
fn pair(index: usize, question: &[i32], text: &[i32], separators: usize) -> Encoded {
    let mut tokens = question.to_vec();
    let end = tokens.last().copied();
    tokens.extend((1..separators).filter_map(|_| end));
    let second = tokens.len();
    tokens.extend(text.iter().skip(1));
    if tokens.len() > MAX_TOKENS {
        let end = tokens.last().copied();
        tokens.truncate(MAX_TOKENS - 1);
        tokens.extend(end);
    }
    Encoded { index, tokens, second }
}

impl Loaded {
    fn run(&self, batch: &[Encoded]) -> Result<Vec<f32>, EmbedError> {
        let output = self.onnx.run(batch, &self.threads)?;
        let logits: NdTensor<f32, 2> =
            output.try_into().map_err(|_| failed("its output is not a float tensor of two dimensions"))?;
        // With two classes the second says that it fits.
        let column = match logits.size(1) {
            0 => return Err(failed("its output is empty")),
            classes => classes - 1,
        };
        let found: Vec<f32> = (0..logits.size(0)).map(|row| logits[[row, column]]).collect();
        if found.len() != batch.len() || found.iter().any(|score| !score.is_finite()) {
            return Err(failed("it gave no score for a passage"));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TOKENS, pair};

    #[test]
    fn a_pair_has_one_beginning_and_two_ends() {
        let made = pair(3, &[101, 7, 102], &[101, 8, 9, 102], 1);
        assert_eq!((made.index, made.second, made.tokens), (3, 3, vec![101, 7, 102, 8, 9, 102]));
        let made = pair(0, &[0, 7, 2], &[0, 8, 2], 2);
        assert_eq!((made.second, made.tokens), (4, vec![0, 7, 2, 2, 8, 2]));
        let mut long = vec![5; 400];
        long.push(102);
        let made = pair(0, &[101, 7, 102], &long, 1);
        assert_eq!((made.tokens.len(), made.tokens.last()), (MAX_TOKENS, Some(&102)));
    }
}
