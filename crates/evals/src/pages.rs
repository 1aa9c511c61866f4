//! The smallest web server: files of one folder on one loopback port, while an evaluation runs.

use anyhow::Context;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Serves until dropped.
#[derive(Debug)]
pub struct Pages {
    task: JoinHandle<()>,
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub async fn serve(folder: PathBuf, port: u16) -> anyhow::Result<Pages> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.with_context(|| {
        format!("port {port} of 127.0.0.1 is taken; end what uses it, or choose another with --pages-port")
    })?;
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let folder = folder.clone();
            tokio::spawn(async move {
                if let Err(error) = answer(stream, &folder).await {
                    tracing::debug!(%error, "page request failed");
                }
            });
        }
    });
    Ok(Pages { task })
}

async fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut buffer = vec![0u8; 8192];
    let mut read = 0;
    while read < buffer.len() && !buffer[..read].windows(4).any(|four| four == b"\r\n\r\n") {
        let count = stream.read(&mut buffer[read..]).await?;
        if count == 0 {
            return Ok(());
        }
        read += count;
    }
    let head = String::from_utf8_lossy(&buffer[..read]);
    let path = head.split_whitespace().nth(1).unwrap_or("/").split('?').next().unwrap_or("/");
    let (status, kind, body) = match find(folder, path) {
        Some((kind, body)) => ("200 OK", kind, body),
        None => ("404 Not Found", "text/plain", b"not found".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await?;
    stream.shutdown().await
}

/// A plain file below the folder; links out of it are not followed.
fn find(folder: &Path, path: &str) -> Option<(&'static str, Vec<u8>)> {
    let full = folder.join(path.trim_start_matches('/')).canonicalize().ok()?;
    if !full.starts_with(folder) || !full.is_file() {
        return None;
    }
    let kind = match full.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("md" | "txt" | "csv" | "log") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    Some((kind, std::fs::read(&full).ok()?))
}
