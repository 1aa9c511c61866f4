//! How long a model's first piece takes through the engine, the log and the stream.

use crate::common::{Bench, Server};
use crate::events::reader::{Reader, chat, client};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use steward_testkit::model_server::Script;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TRIES: usize = 100;

/// A model that tells when it sent its first piece.
async fn model(listener: TcpListener, sent: Sender<Instant>) {
    while let Ok((stream, _)) = listener.accept().await {
        let sent = sent.clone();
        tokio::spawn(async move {
            if let Err(error) = Box::pin(answer(stream, sent)).await {
                eprintln!("the model's connection ended: {error}");
            }
        });
    }
}

async fn answer(mut stream: TcpStream, sent: Sender<Instant>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    let mut buffer = [0u8; 16384];
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..count]);
        if is_whole(&request) {
            break;
        }
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    // The engine must be waiting for the first piece, and the reader for its event.
    tokio::time::sleep(Duration::from_millis(40)).await;
    let piece =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let _ = sent.send(Instant::now());
    stream.write_all(piece("Hello").as_bytes()).await?;
    tokio::time::sleep(Duration::from_millis(5)).await;
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    stream.write_all(end.as_bytes()).await?;
    stream.shutdown().await
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length: usize = head
        .lines()
        .find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        })
        .unwrap_or(0);
    body.len() >= length
}

#[test]
fn prove_first_token_latency_is_printed() {
    let bench = Bench::new(Script::default());
    let (sender, times): (_, Receiver<Instant>) = channel();
    let listener = bench.runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    bench.runtime.spawn(model(listener, sender));
    let server = Server::start_with(&bench, &[("OPENAI_BASE_URL", &url)]);
    let client = client();
    let mut took: Vec<Duration> = (0..TRIES)
        .map(|_| {
            let run = chat(&bench, &server, "Say hello.");
            let arrived = bench.runtime.block_on(async {
                let mut reader = Reader::open(&client, &server.url, &server.key, &run, 0).await.unwrap();
                loop {
                    let event = reader.next().await.expect("a delta before the end");
                    if event["type"] == "model.delta" {
                        break Instant::now();
                    }
                }
            });
            arrived.saturating_duration_since(times.recv_timeout(Duration::from_mins(5)).unwrap())
        })
        .collect();
    took.sort_unstable();
    eprintln!(
        "first token, model to reader, {TRIES} runs: median {:.2} ms, p95 {:.2} ms, worst {:.2} ms",
        took[TRIES / 2].as_secs_f64() * 1e3,
        took[TRIES * 95 / 100].as_secs_f64() * 1e3,
        took[TRIES - 1].as_secs_f64() * 1e3
    );
}
