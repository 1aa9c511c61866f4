use super::Shared;
use crate::local::{GgufHeader, LocalModelError};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) struct LoadRequest {
    pub path: PathBuf,
    pub threads: u32,
    pub context_tokens: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelInfo {
    pub window: u32,
    pub window_trained: u32,
    pub parameters: u64,
    pub bytes: u64,
    pub vocabulary: i32,
    pub load_ms: u128,
}

/// Prompts kept in the cache.
pub(super) const PROMPT_SLOTS: usize = 3;
/// For scoring, beside those of the prompts.
pub(super) const SCORE_SEQUENCES: usize = 16;
/// Evaluated at once; a cancelled request waits for at most one such batch.
pub(super) const BATCH_TOKENS: usize = 128;

/// On a processor without these, this build of llama.cpp would die of an illegal instruction.
pub(crate) fn check_processor() -> Result<(), LocalModelError> {
    #[cfg(target_arch = "x86_64")]
    {
        let have = [
            ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
            ("FMA", std::arch::is_x86_feature_detected!("fma")),
            ("F16C", std::arch::is_x86_feature_detected!("f16c")),
            ("BMI2", std::arch::is_x86_feature_detected!("bmi2")),
        ];
        let missing: Vec<&str> = have.iter().filter(|(_, present)| !present).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            return Err(LocalModelError::CpuTooOld { missing: missing.join(", ") });
        }
    }
    Ok(())
}

pub(super) fn backend() -> Result<LlamaBackend, LocalModelError> {
    let mut backend = LlamaBackend::init().map_err(|e| LocalModelError::Io {
        doing: "starting llama.cpp",
        source: std::io::Error::other(e.to_string()),
    })?;
    backend.void_logs();
    Ok(backend)
}

pub(super) fn model(
    backend: &LlamaBackend,
    request: &LoadRequest,
    shared: &Arc<Shared>,
) -> Result<LlamaModel, LocalModelError> {
    let header = GgufHeader::read(&request.path)?;
    let watched = Arc::clone(shared);
    let params = LlamaModelParams::default().with_progress_callback(move |done| watched.loading(done));
    LlamaModel::load_from_file(backend, &request.path, &params).map_err(|e| LocalModelError::Load {
        path: request.path.clone(),
        reason: format!(
            "{e} (architecture `{}`; it may be newer than this build, or the file is damaged)",
            header.architecture
        ),
    })
}

pub(super) fn context<'m>(
    backend: &LlamaBackend,
    model: &'m LlamaModel,
    request: &LoadRequest,
) -> Result<LlamaContext<'m>, LocalModelError> {
    let window = request.context_tokens.clamp(256, model.n_ctx_train().max(256));
    let threads = match request.threads {
        // llama.cpp's threads wait for each other by spinning: with one per core, a single other busy process made it
        // twenty times slower on two cores (114 to 5 tokens/s), while one thread less costs a fifth of the speed there.
        0 => std::thread::available_parallelism().map_or(1, |cores| (cores.get() - 1).max(1)),
        n => n as usize,
    };
    let threads = i32::try_from(threads).unwrap_or(1);
    let sequences = u32::try_from(PROMPT_SLOTS + SCORE_SEQUENCES).unwrap_or(1);
    let batch = u32::try_from(BATCH_TOKENS).unwrap_or(128);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(window))
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_seq_max(sequences)
        .with_kv_unified(true)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    model.new_context(backend, params).map_err(|_| LocalModelError::Context { context_tokens: window })
}
