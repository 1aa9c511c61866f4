//! A model that reads a question and a passage together and says how well one answers the other.

use super::tokenizer::Tokenizer;
use super::{BATCH_TEXTS, BATCH_TOKENS, EmbedError, Inputs, batches};
use rten::{Model, NodeId, RunOptions, ThreadPool};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    model: Model,
    words: Tokenizer,
    inputs: Inputs,
    output: NodeId,
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
        let question = loaded.words.encode(question, MAX_QUESTION);
        let mut pairs: Vec<Pair> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                Pair::new(index, &question, &loaded.words.encode(text, MAX_TOKENS), loaded.words.separators())
            })
            .collect();
        pairs.sort_by_key(|pair| pair.tokens.len());
        let mut scores = vec![0.0; texts.len()];
        for batch in batches(&pairs, BATCH_TEXTS, BATCH_TOKENS, |pair| pair.tokens.len()) {
            if given_up() {
                return Err(EmbedError::Inference { reason: "it took too long".to_owned() });
            }
            for (pair, score) in batch.iter().zip(loaded.run(batch)?) {
                scores[pair.index] = score;
            }
        }
        Ok(scores)
    }

    /// Loads under the lock: a second caller would only load it again.
    fn load(&self) -> Result<Arc<Loaded>, EmbedError> {
        let mut known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = &*known {
            return Ok(Arc::clone(loaded));
        }
        let path = self.dir.join("model.onnx");
        let bad = |reason: String| EmbedError::BadFile { path: path.clone(), reason };
        let model = Model::load_file(&path).map_err(|error| bad(error.to_string()))?;
        let words = Tokenizer::load(&self.dir.join("tokenizer.json"))?;
        let inputs = Inputs::of(&model).map_err(bad)?;
        let output = *model.output_ids().first().ok_or_else(|| bad("it has no output".to_owned()))?;
        let threads = Arc::new(ThreadPool::with_num_threads(
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
        ));
        let loaded = Arc::new(Loaded { model, words, inputs, output, threads });
        *known = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}

struct Pair {
    index: usize,
    tokens: Vec<i32>,
    /// Where the passage begins.
    second: usize,
}

impl Pair {
    /// Both begin with the token of the beginning and end with that of the end; a passage has no beginning of its own, but
    /// maybe another end before it.
    fn new(index: usize, question: &[i32], text: &[i32], separators: usize) -> Self {
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
        Self { index, tokens, second }
    }
}

impl Loaded {
    fn run(&self, batch: &[Pair]) -> Result<Vec<f32>, EmbedError> {
        let length = batch.iter().map(|pair| pair.tokens.len()).max().unwrap_or(0);
        let shape = [batch.len(), length];
        let mut ids = NdTensor::<i32, 2>::full(shape, self.words.pad());
        let mut mask = NdTensor::<i32, 2>::zeros(shape);
        let mut types = NdTensor::<i32, 2>::zeros(shape);
        for (row, pair) in batch.iter().enumerate() {
            for (column, token) in pair.tokens.iter().enumerate() {
                ids[[row, column]] = *token;
                mask[[row, column]] = 1;
                types[[row, column]] = i32::from(column >= pair.second);
            }
        }
        let mut inputs = vec![(self.inputs.ids, ids.into()), (self.inputs.mask, mask.into())];
        if let Some(node) = self.inputs.types {
            inputs.push((node, types.into()));
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let failed = |reason: String| EmbedError::Inference { reason };
        let output =
            self.model.run(inputs, &[self.output], Some(options)).map_err(|error| failed(error.to_string()))?;
        let output = output.into_iter().next().ok_or_else(|| failed("it gave no output".to_owned()))?;
        let logits: NdTensor<f32, 2> =
            output.try_into().map_err(|_| failed("its output is not a float tensor of two dimensions".to_owned()))?;
        // With two classes the second says that it fits.
        let column = match logits.size(1) {
            0 => return Err(failed("its output is empty".to_owned())),
            classes => classes - 1,
        };
        let found: Vec<f32> = (0..logits.size(0)).map(|row| logits[[row, column]]).collect();
        if found.len() != batch.len() || found.iter().any(|score| !score.is_finite()) {
            return Err(failed("it gave no score for a passage".to_owned()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TOKENS, Pair};

    #[test]
    fn a_pair_has_one_beginning_and_two_ends() {
        let pair = Pair::new(3, &[101, 7, 102], &[101, 8, 9, 102], 1);
        assert_eq!((pair.index, pair.second, pair.tokens), (3, 3, vec![101, 7, 102, 8, 9, 102]));
        let pair = Pair::new(0, &[0, 7, 2], &[0, 8, 2], 2);
        assert_eq!((pair.second, pair.tokens), (4, vec![0, 7, 2, 2, 8, 2]));
        let mut long = vec![5; 400];
        long.push(102);
        let pair = Pair::new(0, &[101, 7, 102], &long, 1);
        assert_eq!((pair.tokens.len(), pair.tokens.last()), (MAX_TOKENS, Some(&102)));
    }
}
