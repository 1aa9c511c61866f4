use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rten::{Model, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};

use super::batch::{self, Encoded};
use super::wordpiece::WordPiece;
use super::{EmbedError, pool};

/// Numbers in an embedding.
pub const DIMENSION: usize = 384;
/// Tokens of a text that are read; the rest is not.
pub const MAX_TOKENS: usize = 256;

const BATCH_TEXTS: usize = 32;
const BATCH_TOKENS: usize = 2048;

/// Settings of the embedder.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmbedOptions {
    /// Threads; 0 means one per core.
    pub threads: usize,
}

/// all-MiniLM-L6-v2, loaded.
pub struct MiniLm {
    model: Model,
    words: WordPiece,
    inputs: Inputs,
    output: NodeId,
    /// One pool of all threads, for a single batch.
    wide: Arc<ThreadPool>,
    /// One pool of one thread per core, for several batches at a time: two batches on two cores
    /// take less time than each of them on both.
    narrow: Vec<Arc<ThreadPool>>,
}

struct Inputs {
    ids: NodeId,
    mask: NodeId,
    types: Option<NodeId>,
}

impl MiniLm {
    /// Loads `model.onnx` and `tokenizer.json` from a folder, with one thread per core.
    ///
    /// # Errors
    /// A file is missing or is not what it should be.
    pub fn load(dir: &Path) -> Result<Self, EmbedError> {
        Self::load_with(dir, EmbedOptions::default())
    }

    /// As [`Self::load`], with settings.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_with(dir: &Path, options: EmbedOptions) -> Result<Self, EmbedError> {
        let model_path = dir.join("model.onnx");
        let tokenizer_path = dir.join("tokenizer.json");
        for path in [&model_path, &tokenizer_path] {
            if !path.is_file() {
                return Err(EmbedError::FileMissing { path: path.clone() });
            }
        }
        let bad = |path: &Path, reason: String| EmbedError::BadFile { path: path.to_owned(), reason };
        let model = Model::load_file(&model_path).map_err(|e| bad(&model_path, e.to_string()))?;
        let words = WordPiece::load(&tokenizer_path)?;
        let find =
            |name: &str| model.find_node(name).ok_or_else(|| bad(&model_path, format!("it has no input `{name}`")));
        let inputs =
            Inputs { ids: find("input_ids")?, mask: find("attention_mask")?, types: model.find_node("token_type_ids") };
        let output = *model.output_ids().first().ok_or_else(|| bad(&model_path, "it has no output".to_owned()))?;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
            n => n,
        };
        let loaded = Self {
            model,
            words,
            inputs,
            output,
            wide: Arc::new(ThreadPool::with_num_threads(threads)),
            narrow: (0..threads).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect(),
        };
        // A model of another shape is noticed now rather than by the first user.
        let probe = loaded.embed(&["probe"]).map_err(|e| bad(&model_path, e.to_string()))?;
        if probe.first().map(Vec::len) != Some(DIMENSION) {
            return Err(bad(&model_path, format!("its embeddings do not have {DIMENSION} numbers")));
        }
        Ok(loaded)
    }

    /// One embedding of length 1 for each text, in their order.
    ///
    /// # Errors
    /// The model fails, which no text should bring about.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut encoded: Vec<Encoded> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| Encoded { index, tokens: self.words.encode(text, MAX_TOKENS) })
            .collect();
        encoded.sort_by_key(|e| e.tokens.len());
        let batches = batch::batches(&encoded, BATCH_TEXTS, BATCH_TOKENS);
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
                        // The longest come last in the list and are taken first, so that no
                        // thread is left alone with a long one at the end.
                        while let Some(i) = batches.len().checked_sub(1 + next.fetch_add(1, Ordering::Relaxed)) {
                            done.push(self.run(batches[i], pool));
                        }
                        done
                    })
                })
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| {
                    worker.join().unwrap_or_else(|_| {
                        vec![Err(EmbedError::Inference { reason: "a worker thread panicked".to_owned() })]
                    })
                })
                .collect()
        })
    }

    fn run(&self, batch: &[Encoded], pool: &Arc<ThreadPool>) -> BatchResult {
        let length = batch.iter().map(|e| e.tokens.len()).max().unwrap_or(0);
        let shape = [batch.len(), length];
        let mut ids = NdTensor::<i32, 2>::zeros(shape);
        let mut mask = NdTensor::<i32, 2>::zeros(shape);
        for (row, encoded) in batch.iter().enumerate() {
            for (column, token) in encoded.tokens.iter().enumerate() {
                ids[[row, column]] = *token;
                mask[[row, column]] = 1;
            }
        }
        let mut inputs = vec![(self.inputs.ids, ids.into()), (self.inputs.mask, mask.into())];
        if let Some(types) = self.inputs.types {
            inputs.push((types, NdTensor::<i32, 2>::zeros(shape).into()));
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let failed = |reason: String| EmbedError::Inference { reason };
        let output = self
            .model
            .run(inputs, &[self.output], Some(options))
            .map_err(|e| failed(e.to_string()))?
            .into_iter()
            .next()
            .ok_or_else(|| failed("it gave no output".to_owned()))?;
        pooled(output, batch).map_err(failed)
    }
}

type BatchResult = Result<Vec<(usize, Vec<f32>)>, EmbedError>;

fn pooled(output: Value, batch: &[Encoded]) -> Result<Vec<(usize, Vec<f32>)>, String> {
    let states: NdTensor<f32, 3> =
        output.try_into().map_err(|_| "its output is not a float tensor of three dimensions".to_owned())?;
    let width = states.size(2);
    let states: NdTensorView<f32, 3> = states.view();
    Ok(batch
        .iter()
        .enumerate()
        .map(|(row, encoded)| {
            let rows = states.slice(row).to_contiguous();
            let vector = pool::mean_normalised(rows.data(), encoded.tokens.len(), width);
            (encoded.index, vector)
        })
        .collect())
}

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MiniLm").field("threads", &self.narrow.len()).finish_non_exhaustive()
    }
}
