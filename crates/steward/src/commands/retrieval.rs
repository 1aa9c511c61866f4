//! `steward eval retrieval`: needs no server and no data directory, only the embedding model.

use crate::compose::CROSS_ENCODER;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::Context as _;
use steward_cli::commands::eval::Retrieval;
use steward_knowledge::evaluate::{Evaluation, EvaluationSettings, Scorer, evaluate, read_beir};
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
    let folder = settings.embedding_dir.parent().unwrap_or(&settings.embedding_dir);
    let cross_encoder = CrossEncoder::find(&folder.join(CROSS_ENCODER));
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
        print(&found);
    }
    Ok(Exit::Done)
}

fn print(found: &Evaluation) {
    println!(
        "{:<10}{:>9}{:>11}{:>12}{:>8}{:>10}{:>10}",
        "", "nDCG@10", "recall@10", "recall@100", "MRR", "p50 ms", "p99 ms"
    );
    for stage in &found.stages {
        let quality = &stage.quality;
        println!(
            "{:<10}{:>9.4}{:>11.4}{:>12.4}{:>8.4}{:>10.2}{:>10.2}",
            stage.name,
            quality.ndcg_at_10,
            quality.recall_at_10,
            quality.recall_at_100,
            quality.mrr,
            stage.p50_ms,
            stage.p99_ms
        );
    }
    println!(
        "{} documents, {} chunks, {} queries; cut in {:.1} s, embedded in {:.1} s, indexed in {:.1} s",
        found.documents,
        found.chunks,
        found.queries,
        found.cutting_seconds,
        found.embedding_seconds,
        found.indexing_seconds
    );
    println!(
        "words {:.1} MB, vectors {:.1} MB on disk and {:.1} MB in memory; {:.4} of the ten nearest vectors were found",
        megabytes(found.index.text_bytes),
        megabytes(found.index.vector_bytes),
        megabytes(found.index.memory_bytes),
        found.vector_recall_at_10
    );
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
