//! Reads pages whose text is known, and counts the letters that are wrong.

use crate::cli::Ocr;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use steward::compose::{ocr_engines, sandbox_helper};
use steward::settings::Settings;
use steward::term::Exit;
use steward_core::extracted::{OcrEngine, PageReading};
use steward_core::ports::PageReader as _;
use steward_knowledge::confined::ConfinedPages;
use steward_knowledge::ocr::{Cascade, STEPS, Steps};
use steward_testkit::scans::{PageText, Spoiled, character_errors, page_texts, scan};

/// What one way of reading made of all pages.
#[derive(Debug, Default, Serialize)]
struct Row {
    what: String,
    /// Share of letters that are wrong, all pages alike.
    errors: f64,
    by_kind: BTreeMap<String, f64>,
    by_language: BTreeMap<String, f64>,
    /// Mean of what the engine thinks of itself.
    confidence: f64,
    /// Whose readings were kept.
    kept: BTreeMap<String, usize>,
    seconds_per_page: f64,
}

struct Page {
    text: PageText,
    spoiled: Spoiled,
    file: PathBuf,
}

pub async fn run(settings: Settings, args: Ocr) -> anyhow::Result<Exit> {
    let folder = tempfile::tempdir()?;
    let mut pages = Vec::new();
    for (text, spoiled) in page_texts().into_iter().step_by(args.every.into()) {
        let file = folder.path().join(format!("{}.png", text.id));
        scan(&text, spoiled).save(&file)?;
        pages.push(Page { text, spoiled, file });
    }
    let reader = |steps: Steps| ConfinedPages::new(sandbox_helper(&settings), ocr_engines(&settings)).with_steps(steps);
    let all = reader(Steps::default());
    let engines = all.engines();
    anyhow::ensure!(!engines.is_empty(), "no engine is installed; run `scripts/setup.sh test`");
    let mut rows = Vec::new();
    for engine in &engines {
        rows.push(measured(&format!("{engine:?} alone").to_lowercase(), &pages, &all, &[*engine]).await?);
    }
    rows.push(measured("all in turn", &pages, &all, &engines).await?);
    if args.steps {
        for name in STEPS {
            let without = reader(Steps::default().without(name));
            rows.push(measured(&format!("without {name}"), &pages, &without, &engines).await?);
        }
        rows.push(measured("without any step", &pages, &reader(Steps::none()), &engines).await?);
    }
    print(&rows, args.json, pages.len())?;
    Ok(Exit::Done)
}

async fn measured(what: &str, pages: &[Page], reader: &ConfinedPages, engines: &[OcrEngine]) -> anyhow::Result<Row> {
    let begun = Instant::now();
    let mut row = Row { what: what.to_owned(), ..Row::default() };
    let (mut kinds, mut languages) = (BTreeMap::new(), BTreeMap::new());
    for page in pages {
        let (engine, reading) = read(&page.file, reader, engines).await?;
        let read = reading.blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n");
        let errors = character_errors(&page.text.text, &read).min(1.0);
        tracing::debug!(
            page = page.text.id,
            kind = page.spoiled.name(),
            what,
            errors,
            confidence = reading.confidence,
            read,
            "read"
        );
        row.errors += errors;
        row.confidence += f64::from(reading.confidence);
        *row.kept
            .entry(engine.map_or("none".to_owned(), |engine| format!("{engine:?}").to_lowercase()))
            .or_default() += 1;
        kinds.entry(page.spoiled.name()).or_insert_with(Vec::new).push(errors);
        languages.entry(page.text.language.clone()).or_insert_with(Vec::new).push(errors);
    }
    let count = count(pages.len());
    row.errors /= count;
    row.confidence /= count;
    row.seconds_per_page = begun.elapsed().as_secs_f64() / count;
    row.by_kind = means(kinds);
    row.by_language = means(languages);
    Ok(row)
}

/// What is kept when these engines are asked in turn.
async fn read(
    file: &Path,
    reader: &ConfinedPages,
    engines: &[OcrEngine],
) -> anyhow::Result<(Option<OcrEngine>, PageReading)> {
    let mut cascade = Cascade::default();
    for engine in engines {
        let reading = reader.read(*engine, file, 1).await?;
        cascade.add(*engine, reading);
        if !cascade.wants_more() {
            break;
        }
    }
    Ok(cascade.best().map_or((None, PageReading::default()), |(engine, reading)| (Some(engine), reading.clone())))
}

fn means(all: BTreeMap<String, Vec<f64>>) -> BTreeMap<String, f64> {
    all.into_iter().map(|(name, errors)| (name, errors.iter().sum::<f64>() / count(errors.len()))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few pages")]
fn count(pages: usize) -> f64 {
    pages.max(1) as f64
}

fn print(rows: &[Row], as_json: bool, pages: usize) -> anyhow::Result<()> {
    if as_json {
        let rows: Value = serde_json::to_value(rows)?;
        println!("{}", serde_json::to_string_pretty(&json!({"pages": pages, "rows": rows}))?);
        return Ok(());
    }
    let kinds: Vec<String> = Spoiled::ALL.iter().map(|kind| kind.name()).collect();
    print!("{:22} {:>7}", "letters wrong, %", "all");
    for kind in &kinds {
        print!(" {kind:>9}");
    }
    println!(" {:>7} {:>6}  kept", "sure", "s/page");
    for row in rows {
        print!("{:22} {:7.2}", row.what, row.errors * 100.0);
        for kind in &kinds {
            print!(" {:9.2}", row.by_kind.get(kind).copied().unwrap_or(f64::NAN) * 100.0);
        }
        let kept: Vec<String> = row.kept.iter().map(|(engine, pages)| format!("{engine} {pages}")).collect();
        println!(" {:7.2} {:6.2}  {}", row.confidence, row.seconds_per_page, kept.join(", "));
    }
    Ok(())
}
