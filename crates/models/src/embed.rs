//! Sentence embeddings in this process: all-MiniLM-L6-v2, or another model of its kind, on rten, without a shared library.

pub mod classifier;
mod cross_encoder;
mod folders;
mod lazy;
mod tokenizer;
mod unigram;
mod vector_cache;
mod wordpiece;

pub use cross_encoder::CrossEncoder;
pub use folders::{FolderModel, ModelFolders};
pub use lazy::LazyMiniLm;

use rten::{Model, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokenizer::Tokenizer;

pub const DIMENSION: usize = 384;
/// Tokens of a text that are read; the rest is cut off.
pub const MAX_TOKENS: usize = 256;

const BATCH_TEXTS: usize = 32;
const BATCH_TOKENS: usize = 2048;

pub struct MiniLm {
    onnx: Onnx,
    /// All cores, for a single batch.
    wide: Arc<ThreadPool>,
    /// One core each, for several batches at a time: two batches on two cores are faster so than each on both.
    narrow: Vec<Arc<ThreadPool>>,
}

/// A model with its tokenizer: `model.onnx` and `tokenizer.json` of a folder.
struct Onnx {
    model: Model,
    words: Arc<Tokenizer>,
    ids: NodeId,
    mask: NodeId,
    types: Option<NodeId>,
    output: NodeId,
}

impl Onnx {
    /// `words`: its tokenizer, if that was read already.
    fn load(dir: &Path, words: Option<Arc<Tokenizer>>) -> Result<Self, EmbedError> {
        let (path, tokenizer) = (dir.join("model.onnx"), dir.join("tokenizer.json"));
        for path in [&path, &tokenizer] {
            if !path.is_file() {
                return Err(EmbedError::FileMissing { path: path.clone() });
            }
        }
        let bad = |reason: String| EmbedError::BadFile { path: path.clone(), reason };
        let model = Model::load_file(&path).map_err(|e| bad(e.to_string()))?;
        let words = words.map_or_else(|| Tokenizer::load(&tokenizer).map(Arc::new), Ok)?;
        let find = |name: &str| model.find_node(name).ok_or_else(|| bad(format!("it has no input `{name}`")));
        let (ids, mask, types) = (find("input_ids")?, find("attention_mask")?, model.find_node("token_type_ids"));
        let output = *model.output_ids().first().ok_or_else(|| bad("it has no output".to_owned()))?;
        Ok(Self { model, words, ids, mask, types, output })
    }

    fn run(&self, batch: &[Encoded], pool: &Arc<ThreadPool>) -> Result<Value, EmbedError> {
        let length = batch.iter().map(|e| e.tokens.len()).max().unwrap_or(0);
        let shape = [batch.len(), length];
        let mut ids = NdTensor::<i32, 2>::full(shape, self.words.pad());
        let mut mask = NdTensor::<i32, 2>::zeros(shape);
        let mut types = NdTensor::<i32, 2>::zeros(shape);
        for (row, encoded) in batch.iter().enumerate() {
            for (column, token) in encoded.tokens.iter().enumerate() {
                ids[[row, column]] = *token;
                mask[[row, column]] = 1;
                types[[row, column]] = i32::from(column >= encoded.second);
            }
        }
        let mut inputs = vec![(self.ids, ids.into()), (self.mask, mask.into())];
        if let Some(node) = self.types {
            inputs.push((node, types.into()));
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let outputs = self.model.run(inputs, &[self.output], Some(options)).map_err(|e| failed(&e.to_string()))?;
        outputs.into_iter().next().ok_or_else(|| failed("it gave no output"))
    }
}

fn failed(reason: &str) -> EmbedError {
    EmbedError::Inference { reason: reason.to_owned() }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

impl MiniLm {
    /// Loads `model.onnx` and `tokenizer.json` from `dir`, with a thread per core.
    pub fn load(dir: &Path) -> Result<Self, EmbedError> {
        Self::load_with(dir, cores())
    }

    pub fn load_with(dir: &Path, threads: usize) -> Result<Self, EmbedError> {
        Self::load_any(dir, threads, Some(DIMENSION), None)
    }

    /// `wanted`: how many numbers its vectors must have; `None`: any.
    fn load_any(
        dir: &Path,
        threads: usize,
        wanted: Option<usize>,
        words: Option<Arc<Tokenizer>>,
    ) -> Result<Self, EmbedError> {
        let loaded = Self {
            onnx: Onnx::load(dir, words)?,
            wide: Arc::new(ThreadPool::with_num_threads(threads)),
            narrow: (0..threads).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect(),
        };
        let bad = |reason: String| EmbedError::BadFile { path: dir.join("model.onnx"), reason };
        // A model of another shape is noticed now rather than at the first use.
        let probe = loaded.embed(&["probe"]).map_err(|error| bad(error.to_string()))?;
        let dimension = probe.first().map_or(0, Vec::len);
        match wanted.filter(|wanted| *wanted != dimension) {
            Some(wanted) => Err(bad(format!("its embeddings have {dimension} numbers, not {wanted}"))),
            None => Ok(loaded),
        }
    }

    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut encoded: Vec<Encoded> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let tokens = self.onnx.words.encode(text, MAX_TOKENS);
                Encoded { index, second: tokens.len(), tokens }
            })
            .collect();
        encoded.sort_by_key(|e| e.tokens.len());
        let batches = batches(&encoded, BATCH_TEXTS, BATCH_TOKENS);
        let mut found = vec![Vec::new(); texts.len()];
        let parts = if batches.len() > 1 && self.narrow.len() > 1 {
            self.run_side_by_side(&batches)
        } else {
            batches.iter().map(|batch| self.run(batch, &self.wide)).collect()
        };
        for part in parts {
            for (index, vector) in part? {
                found[index] = vector;
            }
        }
        Ok(found)
    }

    fn run_side_by_side(&self, batches: &[&[Encoded]]) -> Vec<BatchResult> {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let workers: Vec<_> = self
                .narrow
                .iter()
                .take(batches.len())
                .map(|pool| {
                    let next = &next;
                    scope.spawn(move || {
                        let mut done = Vec::new();
                        // Sorted by length, taken from the end: no thread is left with a long batch at the end.
                        while let Some(i) = batches.len().checked_sub(1 + next.fetch_add(1, Ordering::Relaxed)) {
                            done.push(self.run(batches[i], pool));
                        }
                        done
                    })
                })
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap_or_else(|_| vec![Err(failed("a worker thread panicked"))]))
                .collect()
        })
    }

    fn run(&self, batch: &[Encoded], pool: &Arc<ThreadPool>) -> BatchResult {
        let output = self.onnx.run(batch, pool)?;
        let states: NdTensor<f32, 3> =
            output.try_into().map_err(|_| failed("its output is not a float tensor of three dimensions"))?;
        let width = states.size(2);
        let states: NdTensorView<f32, 3> = states.view();
        let pooled = batch.iter().enumerate().map(|(row, encoded)| {
            let rows = states.slice(row).to_contiguous();
            (encoded.index, mean_normalised(rows.data(), encoded.tokens.len(), width))
        });
        Ok(pooled.collect())
    }
}

type BatchResult = Result<Vec<(usize, Vec<f32>)>, EmbedError>;

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MiniLm").field("threads", &self.narrow.len()).finish_non_exhaustive()
    }
}

struct Encoded {
    index: usize,
    tokens: Vec<i32>,
    /// Where the second of two texts that are read together begins.
    second: usize,
}

/// Neighbours that are worked on together; `sorted` by their tokens.
fn batches(sorted: &[Encoded], max_texts: usize, max_tokens: usize) -> Vec<&[Encoded]> {
    let mut batches = Vec::new();
    let mut rest = sorted;
    while !rest.is_empty() {
        let mut count = 1;
        // All are padded to the last, which is the longest.
        while count < rest.len().min(max_texts) && rest[count].tokens.len() * (count + 1) <= max_tokens {
            count += 1;
        }
        let (batch, after) = rest.split_at(count);
        batches.push(batch);
        rest = after;
    }
    batches
}

/// The mean of the first `tokens` rows of `width` numbers, scaled to length 1.
fn mean_normalised(states: &[f32], tokens: usize, width: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; width];
    for row in states.chunks_exact(width).take(tokens) {
        for (total, value) in sum.iter_mut().zip(row) {
            *total += value;
        }
    }
    // Dividing by the number of tokens would be undone by the scaling.
    let norm = sum.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
    if norm > 0.0 {
        for value in &mut sum {
            #[expect(clippy::cast_possible_truncation, reason = "single precision is kept")]
            let scaled = (f64::from(*value) / norm) as f32;
            *value = scaled;
        }
    }
    sum
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error(
        "the embedding model's file {} does not exist; run `make setup` to fetch it",
        path.display()
    )]
    FileMissing { path: PathBuf },
    #[error(
        "the embedding model's file {} cannot be loaded: {reason}; run `make setup` to fetch it again",
        path.display()
    )]
    BadFile { path: PathBuf, reason: String },
    #[error("the embedding model failed: {reason}")]
    Inference { reason: String },
}

#[cfg(test)]
mod batch_tests {
    use super::*;

    #[test]
    fn batches_keep_order_and_limits() {
        let sorted: Vec<Encoded> = [1, 1, 2, 5, 9, 40]
            .iter()
            .enumerate()
            .map(|(index, length)| Encoded { index, tokens: vec![0; *length], second: *length })
            .collect();
        let made = batches(&sorted, 3, 20);
        let shape: Vec<Vec<usize>> = made.iter().map(|b| b.iter().map(|e| e.tokens.len()).collect()).collect();
        assert_eq!(shape, [vec![1, 1, 2], vec![5, 9], vec![40]]);
    }
}

#[cfg(test)]
mod pool_tests {
    use super::mean_normalised;

    #[test]
    fn padding_does_not_count() {
        let got = mean_normalised(&[3.0, 0.0, 0.0, 4.0, 100.0, 100.0], 2, 2);
        assert!((got[0] - 0.6).abs() < 1e-6 && (got[1] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(mean_normalised(&[0.0, 0.0], 1, 2), [0.0, 0.0]);
    }
}
