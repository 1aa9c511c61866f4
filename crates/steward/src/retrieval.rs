//! `steward eval retrieval`: needs no server and no data directory, only the embedding model.

use crate::compose::CROSS_ENCODER;
use crate::settings::Settings;
use crate::term::{Exit, Term};
use anyhow::Context as _;
use steward_cli::commands::eval::Retrieval;
use steward_knowledge::evaluate::{EvaluationSettings, Scorer, evaluate, read_beir};
use steward_knowledge::{ChunkSettings, FusionWeights};
use steward_models::embed::{CrossEncoder, LazyMiniLm};

pub async fn run(settings: &Settings, args: Retrieval, term: Term) -> anyhow::Result<Exit> {
    let collection = read_beir(&args.corpus, &args.queries, &args.qrels)?;
    let measured = EvaluationSettings {
        chunks: ChunkSettings { max_chars: args.max_chars.max(1), overlap: args.overlap, ..ChunkSettings::default() },
        fusion: FusionWeights { text: args.text_weight, vector: args.vector_weight, ..FusionWeights::default() },
    };
    std::fs::create_dir_all(&settings.cache_dir)?;
    let dir = tempfile::tempdir_in(&settings.cache_dir).context("no temporary folder for the index")?;
    let embedder = LazyMiniLm::new(&settings.embedding_dir);
    let cross_encoder = CrossEncoder::find(&settings.models_dir().join(CROSS_ENCODER));
    let scorer = cross_encoder.map(|model| {
        move |question: &str, texts: &[&str]| {
            model.scores(question, texts, &|| false).map_err(|error| error.to_string())
        }
    });
    let reranker = scorer.as_ref().map(|scorer| scorer as &Scorer<'_>);
    let progress = |done, all| term.status(&format!("{done} of {all} chunks embedded…"));
    term.status("cutting the corpus into chunks…");
    let found = evaluate(&collection, dir.path(), &embedder, reranker, &measured, progress).await;
    term.clear();
    let found = found?;
    if args.json {
        println!("{}", serde_json::to_string(&found)?);
    } else {
        println!("{found}");
    }
    Ok(Exit::Done)
}
