//! Servers and programs that repeat whatever they are given, as careless ones do.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// An HTTP server that answers with what it was asked, the bearer token in several codings among it.
/// Under `/fail` it answers 500, under `/late` it does not answer the first request. It ends with the
/// test's process.
pub struct Echo {
    pub port: u16,
    late: Arc<AtomicUsize>,
}

impl Echo {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let late = Arc::<AtomicUsize>::default();
        let hits = late.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let hits = hits.clone();
                std::thread::spawn(move || answer(stream, &hits));
            }
        });
        Self { port, late }
    }

    /// Requests under `/late`.
    pub fn late(&self) -> usize {
        self.late.load(Ordering::SeqCst)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

fn answer(mut stream: TcpStream, late: &AtomicUsize) {
    while let Some(asked) = request(&mut stream) {
        if asked.contains(" /late ") && late.fetch_add(1, Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_mins(1));
            return;
        }
        let token = asked
            .lines()
            .find_map(|line| line.split_once("earer ").or_else(|| line.split_once("x-subscription-token: ")))
            .map_or("", |(_, token)| token.trim());
        let said = json!({
            "asked": asked, "token": token, "base64": BASE64_STANDARD.encode(token),
            "url_safe": BASE64_URL_SAFE.encode(token), "in_url": in_url(token),
            "in_json": Value::from(token).to_string(), "in_text": format!("user:{token}@host"),
            "header": BASE64_STANDARD.encode(format!("someone:{token}")),
            "code": token, "detail": asked,
        });
        let fails = asked.split(' ').nth(1).is_some_and(|path| path.contains("fail"));
        let (status, body) = if fails {
            let errors = json!([{"message": said.to_string()}]);
            ("500 Internal Server Error", json!({"error": said, "errors": errors}))
        } else {
            // As a search engine would.
            let hit = json!({"title": token, "url": "https://example.org/", "description": said.to_string()});
            ("200 OK", json!({"data": said, "said": said, "web": {"results": [hit]}}))
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-token: {token}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn request(stream: &mut TcpStream) -> Option<String> {
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned))
                .map_or(0, |value| value.trim().parse().unwrap());
            if body.len() >= length {
                return Some(text);
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(length) => all.extend_from_slice(&piece[..length]),
        }
    }
}

/// Mail servers that refuse whoever logs in and tell what they were given, as it came and decoded: their IMAP and
/// SMTP ports.
pub fn parrots() -> (u16, u16) {
    let imap = parrot("* OK here", |line| {
        let (tag, rest) = line.split_once(' ').unwrap_or((line, ""));
        match rest.split_once("PLAIN ") {
            Some((_, coded)) => format!("{tag} NO not with {coded}, that is {}", decoded(coded)),
            None => format!("* CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR\r\n{tag} OK done"),
        }
    });
    let smtp = parrot("220 here", |line| match (line.split_once("PLAIN "), line.get(..4)) {
        (Some((_, coded)), _) => format!("535 not with {coded}, that is {}", decoded(coded)),
        (None, Some("EHLO")) => "250-here\r\n250 AUTH PLAIN".to_owned(),
        _ => "250 done".to_owned(),
    });
    (imap, smtp)
}

fn decoded(coded: &str) -> String {
    let bytes = BASE64_STANDARD.decode(coded.trim()).unwrap();
    String::from_utf8(bytes).unwrap().replace('\0', " ")
}

/// Greets, and answers each line.
fn parrot(greeting: &'static str, answer: fn(&str) -> String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let _ = stream.write_all(format!("{greeting}\r\n").as_bytes());
                for line in lines.map_while(Result::ok) {
                    let _ = stream.write_all(format!("{}\r\n", answer(&line)).as_bytes());
                }
            });
        }
    });
    port
}

/// Percent-encoded, all but letters and digits.
pub fn in_url(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// No docker daemon runs where tests do: a program that shows its configuration.
pub fn docker(folder: &Path) {
    program(
        &folder.join("docker"),
        "#!/bin/sh\ncat \"$HOME/.docker/config.json\"; echo\ncat \"$HOME/.docker/config.json\" >&2\nfor last in \"$@\"; do :; done\n[ \"$last\" = fail ] && exit 125\nexit 0\n",
    );
}

/// A program of these lines.
pub fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The MCP server of the official SDK: its command and what it must be able to read.
pub fn mcp_server() -> (Vec<String>, Vec<String>) {
    let venv = steward_testkit::set_up("venv-mcp");
    let program = venv.join("bin/python3");
    assert!(program.exists(), "{} is missing; run scripts/setup.sh test", program.display());
    let python = fs::canonicalize(&program).unwrap();
    let home = python.ancestors().nth(2).unwrap().to_owned();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/mcp/servers/server.py");
    let script = fs::canonicalize(script).unwrap();
    let show = |path: &Path| path.display().to_string();
    let mut read = vec![show(&venv), show(script.parent().unwrap())];
    if home != Path::new("/usr") {
        read.push(show(&home));
    }
    (vec![show(&program), show(&script)], read)
}

/// Folder of ansible's programs.
pub fn ansible() -> PathBuf {
    let folder = steward_testkit::set_up("venv-ansible/bin");
    assert!(folder.join("ansible-playbook").exists(), "ansible is missing; run scripts/setup.sh test");
    folder
}
