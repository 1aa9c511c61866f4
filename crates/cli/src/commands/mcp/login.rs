//! `steward mcp login`: the browser returns to this command, which listens on this machine meanwhile and hands on what comes
//! back with its own key. So the login is that of who began it, and of no other browser.

use crate::client::{Client, encoded};
use crate::commands::rows::text;
use crate::term::{Exit, Term, print_json};
use anyhow::{Context, bail};
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

const BACK: &str = "/api/mcp/callback?";
/// How long a person may take.
const PATIENCE: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_millis(500);
/// Longest head of a request, bytes, and longest wait for it.
const HEAD: u64 = 64 << 10;
const QUICK: Duration = Duration::from_secs(5);

pub(super) async fn run(client: &Client, server: &Value, term: Term) -> anyhow::Result<Exit> {
    let listener =
        TcpListener::bind(("127.0.0.1", 0)).await.context("no port of this machine is free for the way back")?;
    let origin = format!("http://{}", listener.local_addr()?);
    let path = format!("/api/mcp/servers/{}/login?origin={}", text(server, "id"), encoded(&origin));
    let begun: Value = client.act(&path).await?;
    let url = text(&begun, "url");
    term.say("Open this address in a browser of this machine and log in there:");
    if term.json {
        term.say(url);
    } else {
        println!("{url}");
    }
    let status = format!("/api/mcp/logins/{}", encoded(text(&begun, "login")));
    let ended = answer_until(client, &listener, wait(client, &status)).await?;
    let name = text(server, "name");
    if term.json {
        print_json(&json!({"server": name, "status": ended["status"], "error": ended["error"]}));
    } else if ended["status"] == "done" {
        term.say(&format!("Steward is logged in at `{name}`; see what it has: steward mcp check {name}"));
    } else {
        term.say(&format!("{} {}", term.red("failed:"), text(&ended, "error")));
    }
    Ok(if ended["status"] == "done" { Exit::Done } else { Exit::Failed })
}

async fn wait(client: &Client, status: &str) -> anyhow::Result<Value> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let now: Value = client.get(status).await?;
        if now["status"] != "waiting" {
            return Ok(now);
        }
        tokio::time::sleep(PAUSE).await;
    }
    bail!("nobody logged in within ten minutes; begin it anew")
}

/// Answers returning browsers, one after the other, until the login has ended. A browser whose request has begun gets its page
/// even if the login ends meanwhile.
async fn answer_until<T>(client: &Client, listener: &TcpListener, ended: impl Future<Output = T>) -> T {
    let mut ended = std::pin::pin!(ended);
    loop {
        let accepted = tokio::select! {
            ended = &mut ended => return ended,
            accepted = listener.accept() => accepted,
        };
        let served = match accepted {
            Ok((stream, _)) => answer(client, stream).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a browser was not answered");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Passes what comes back from the login server to the API as it is; anything else is not found.
async fn answer(client: &Client, stream: TcpStream) -> anyhow::Result<()> {
    use tokio::io::AsyncReadExt as _;
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    // Reads to the end of the head, since unread bytes would cut the answer off.
    let reading = async {
        let mut lines = (&mut stream).take(HEAD);
        while lines.read_line(&mut head).await? > 2 {}
        std::io::Result::Ok(())
    };
    tokio::time::timeout(QUICK, reading).await??;
    let target =
        head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).filter(|target| target.starts_with(BACK));
    let (status, body) = match target {
        Some(target) => client.page(target).await?,
        None => (StatusCode::NOT_FOUND, Bytes::from_static(b"not found")),
    };
    let head = format!(
        "HTTP/1.1 {} .\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\ncontent-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n",
        status.as_u16(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await?;
    stream.shutdown().await?;
    Ok(())
}
