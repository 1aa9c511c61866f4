//! `steward-evals local-model`: speed and memory of the local model and of the embedding model on this machine.

use crate::cli::LocalModel;
use anyhow::Context;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use steward::settings::Settings;
use steward::term::Exit;
use steward_models::embed::MiniLm;
use steward_models::local::{Endpoint, ModelServer, Supervisor, SupervisorOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

pub async fn run(settings: Settings, args: LocalModel) -> anyhow::Result<Exit> {
    let scratch = tempfile::tempdir().context("cannot make a folder for the evaluation")?;
    let options = [("--threads", u64::from(args.threads)), ("--context", u64::from(args.context))];
    let command = ModelServer::command(&settings.program, &settings.model, &options);
    let supervisor = Supervisor::new(command, SupervisorOptions::new(scratch.path(), "t".to_owned().into()));
    let started = Instant::now();
    let endpoint = supervisor.endpoint().await?;
    println!("start to ready          {:>8.0} ms", ms(started.elapsed()));
    report_memory(&supervisor, "after loading").await;
    chats(&endpoint).await?;
    scores(&endpoint).await?;
    report_memory(&supervisor, "after work").await;
    supervisor.stop().await;
    embeddings(&settings.embedding_dir)?;
    Ok(Exit::Done)
}

async fn chats(endpoint: &Endpoint) -> anyhow::Result<()> {
    let long = "The shop sells green tea, black tea and cups of many kinds to customers. ".repeat(40);
    let story =
        json!([{"role": "system", "content": long}, {"role": "user", "content": "Tell me a long story about tea."}]);
    let schema = json!({"type": "object", "properties": {
        "reasoning": {"type": "string", "maxLength": 200},
        "tool": {"enum": ["list", "read", "grep", "write", "terminal", "sql"]},
        "path": {"type": "string", "maxLength": 200},
        "rows": {"type": "array", "items": {"type": "integer"}, "minItems": 30, "maxItems": 40}
    }, "required": ["reasoning", "tool", "path", "rows"], "additionalProperties": false});
    for (name, extra) in [
        ("free, greedy", json!({"temperature": 0})),
        ("free, greedy, warm", json!({"temperature": 0})),
        ("free, sampled", json!({"temperature": 0.8, "seed": 1})),
        ("schema, greedy", json!({"temperature": 0, "json_schema": schema})),
        ("schema, sampled", json!({"temperature": 0.8, "seed": 1, "json_schema": schema})),
    ] {
        let mut body = json!({"messages": story, "max_tokens": 128});
        if let (Some(body), Some(extra)) = (body.as_object_mut(), extra.as_object()) {
            body.extend(extra.clone());
        }
        let reply = post(endpoint, "/v1/chat/completions", &body).await?;
        let t = &reply["timings"];
        println!(
            "{name:<22}  prompt {} tokens ({} cached) {:>7.0} ms = {:>5.0}/s; {} tokens = {:>5.1}/s",
            reply["usage"]["prompt_tokens"],
            t["cache_n"],
            t["prompt_ms"].as_f64().unwrap_or(0.0),
            rate(&t["prompt_n"], &t["prompt_ms"]),
            t["predicted_n"],
            rate(&t["predicted_n"], &t["predicted_ms"]),
        );
    }
    Ok(())
}

async fn scores(endpoint: &Endpoint) -> anyhow::Result<()> {
    let tools = [
        "list_files",
        "read_file",
        "grep_files",
        "write_file",
        "terminal",
        "sql_query",
        "web_fetch",
        "take_note",
        "set_reminder",
        "save_memory",
        "mail_draft",
        "final_answer",
    ];
    for question in ["Which files are here?", "How many orders came in May?"] {
        let body = json!({
            "messages": [{"role": "system", "content": "Choose the tool that fits the request. ".repeat(20)}, {"role": "user", "content": question}],
            "assistant_prefix": "{\"tool\": \"",
            "candidates": tools,
        });
        let started = Instant::now();
        let reply = post(endpoint, "/v1/score", &body).await?;
        println!(
            "12 candidates           {:>8.0} ms ({} prompt tokens, {} cached, {} scored; prompt {} ms, candidates {} ms)",
            ms(started.elapsed()),
            reply["usage"]["prompt_tokens"],
            reply["timings"]["cache_n"],
            reply["usage"]["completion_tokens"],
            reply["timings"]["prompt_ms"],
            reply["timings"]["predicted_ms"],
        );
    }
    Ok(())
}

fn embeddings(dir: &Path) -> anyhow::Result<()> {
    let before = own_memory();
    let started = Instant::now();
    let model = MiniLm::load(dir)?;
    println!("embedder loaded         {:>8.0} ms", ms(started.elapsed()));
    let mut times: Vec<f64> = (0..30)
        .map(|_| {
            let started = Instant::now();
            let _ = model.embed(&["How many customers are there?"]);
            ms(started.elapsed())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("short query             {:>8.1} ms (median of 30)", times[15]);
    let chunk = "the customer bought tea and cups in the shop near the river on a cold day ".repeat(8);
    let chunks: Vec<&str> = std::iter::repeat_n(chunk.as_str(), 64).collect();
    let started = Instant::now();
    model.embed(&chunks)?;
    println!(
        "64 chunks of ~130 tokens {:>7.0} ms = {:.1}/s",
        ms(started.elapsed()),
        64.0 / started.elapsed().as_secs_f64()
    );
    println!("embedder holds          {:>8.0} MB", (own_memory() - before) / 1e6);
    Ok(())
}

async fn post(endpoint: &Endpoint, path: &str, body: &Value) -> anyhow::Result<Value> {
    let mut stream = UnixStream::connect(&endpoint.socket_path).await?;
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: l\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        endpoint.token.expose_secret(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let (_, json) = text.split_once("\r\n\r\n").context("no response")?;
    Ok(serde_json::from_str(json)?)
}

async fn report_memory(supervisor: &Supervisor, when: &str) {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let megabytes = supervisor.resident_bytes().await.unwrap_or(0) as f64 / 1e6;
    println!("resident {when:<14} {megabytes:>8.0} MB");
}

fn own_memory() -> f64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| {
            let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?.to_owned();
            line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()
        })
        .map_or(0.0, |kib| kib * 1024.0)
}

fn rate(count: &Value, ms: &Value) -> f64 {
    count.as_f64().unwrap_or(0.0) / ms.as_f64().unwrap_or(1.0).max(0.001) * 1000.0
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
