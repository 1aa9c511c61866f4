//! TLS of the server's own, with certificates that openssl makes and a client that trusts their CA only.

use crate::common::{Bench, Server};
use reqwest::{Certificate, Client, ClientBuilder, RequestBuilder, Response, Version, tls};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use steward_testkit::model_server::Script;
use tempfile::TempDir;

fn openssl(dir: &Path, args: &str) {
    let done = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A CA, and the files of a server.
pub(crate) struct Files(TempDir);

impl Files {
    pub fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        openssl(
            files.0.path(),
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 30 \
             -subj /CN=test-ca -addext basicConstraints=critical,CA:TRUE",
        );
        files.issue("first", 30);
        files.serve("first", "first");
        files
    }

    /// A certificate for 127.0.0.1.
    fn issue(&self, name: &str, days: u32) {
        let dir = self.0.path();
        let request = format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {name}.key -out request.pem -subj /CN={name}"
        );
        openssl(dir, &request);
        let names = "subjectAltName=IP:127.0.0.1,DNS:steward.test\nextendedKeyUsage=serverAuth\n";
        std::fs::write(dir.join("names"), names).unwrap();
        let sign = format!(
            "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days {days} -extfile names"
        );
        openssl(dir, &sign);
    }

    /// Puts these in the place of what the server reads.
    fn serve(&self, certificate: &str, key: &str) {
        let dir = self.0.path();
        std::fs::copy(dir.join(format!("{key}.key")), self.key()).unwrap();
        std::fs::copy(dir.join(format!("{certificate}.pem")), self.certificate()).unwrap();
        std::fs::set_permissions(self.key(), std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn ca(&self) -> PathBuf {
        self.0.path().join("ca.pem")
    }

    pub fn certificate(&self) -> PathBuf {
        self.0.path().join("server.pem")
    }

    pub fn key(&self) -> PathBuf {
        self.0.path().join("server.key")
    }

    fn start(&self, bench: &Bench) -> Server {
        let (certificate, key) = (self.certificate(), self.key());
        let variables =
            [("STEWARD_TLS_CERT", certificate.to_str().unwrap()), ("STEWARD_TLS_KEY", key.to_str().unwrap())];
        Server::start_with(bench, &variables)
    }

    fn client(&self, change: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let ca = Certificate::from_pem(&std::fs::read(self.0.path().join("ca.pem")).unwrap()).unwrap();
        let builder = Client::builder().no_proxy().tls_certs_only([ca]).tls_info(true).timeout(Duration::from_mins(5));
        change(builder).build().unwrap()
    }
}

fn sent(bench: &Bench, request: RequestBuilder) -> reqwest::Result<Response> {
    bench.runtime.block_on(async { request.send().await })
}

/// Whom the certificate is of that the server shows now.
fn shown(bench: &Bench, client: &Client, url: &str) -> Vec<u8> {
    let answer = sent(bench, client.get(format!("{url}/healthz"))).unwrap();
    assert_eq!(answer.status(), 200);
    answer.extensions().get::<tls::TlsInfo>().unwrap().peer_certificate().unwrap().to_vec()
}

fn certificate_part(bench: &Bench) -> Value {
    let health = bench.run(&["health", "--json"]).json();
    let parts = health["parts"].as_array().unwrap().clone();
    parts.into_iter().find(|part| part["name"] == "certificate").unwrap()
}

fn wait(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_mins(5), "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn both_versions_and_both_protocols_are_served_and_commands_trust_their_own_server() {
    let (bench, files) = (Bench::new(Script::default()), Files::new());
    let server = files.start(&bench);
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let status = format!("{}/api/auth/status", server.url);
    for (version, http1, spoken) in [
        (tls::Version::TLS_1_2, false, Version::HTTP_2),
        (tls::Version::TLS_1_3, false, Version::HTTP_2),
        (tls::Version::TLS_1_3, true, Version::HTTP_11),
    ] {
        let client = files.client(|builder| {
            let builder = builder.tls_version_min(version).tls_version_max(version);
            if http1 { builder.http1_only() } else { builder }
        });
        let answer = sent(&bench, client.get(&status)).unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, spoken), "{version:?}");
        assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
    }
    // Without our CA nobody is fooled.
    let stranger = Client::builder().no_proxy().build().unwrap();
    assert!(sent(&bench, stranger.get(&status)).is_err());

    let token = server.setup_token();
    let client = files.client(|builder| builder);
    let body =
        serde_json::json!({"token": token, "email": "ada@example.org", "password": "a long enough passphrase 7"});
    let set_up = client.post(format!("{}/api/auth/setup", server.url)).json(&body);
    let answer = sent(&bench, set_up).unwrap();
    assert_eq!(answer.status(), 201);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");

    bench.run(&["runs", "--json"]).exits(0);
    assert_eq!(certificate_part(&bench)["status"], "ok");
    let file = std::fs::read_to_string(bench.data().join("serve.json")).unwrap();
    let other = file.replacen("\"certificate\":\"", "\"certificate\":\"0", 1);
    std::fs::write(bench.data().join("serve.json"), other).unwrap();
    bench.run(&["runs"]).tells(&["does not answer"]);
}

#[test]
fn a_new_pair_is_taken_in_while_connections_are_open_and_a_bad_one_is_not() {
    let (bench, files) = (Bench::new(Script::default()), Files::new());
    let server = files.start(&bench);
    let open = files.client(ClientBuilder::http1_only);
    let first = shown(&bench, &open, &server.url);
    files.issue("second", 10);

    // The key is still the old one: nothing changes, and it is said.
    files.serve("second", "first");
    wait("the mismatch is not told", || server.said().contains("is not the one of the certificate"));
    let anew = || files.client(|builder| builder);
    assert_eq!(shown(&bench, &anew(), &server.url), first);
    let part = certificate_part(&bench);
    assert_eq!(part["status"], "degraded", "{part}");
    assert!(part["detail"].as_str().unwrap().contains("the one before stays in force"), "{part}");

    files.serve("second", "second");
    wait("the new one is not taken in", || shown(&bench, &anew(), &server.url) != first);
    assert_eq!(shown(&bench, &open, &server.url), first, "the connection is still the first one");
    bench.run(&["runs", "--json"]).exits(0);
    // It ends in ten days. What was found lately is told again for two seconds.
    wait("the early end is not told", || {
        certificate_part(&bench)["detail"].as_str().unwrap().starts_with("it ends on")
    });
    assert_eq!(certificate_part(&bench)["status"], "degraded");

    std::fs::write(files.certificate(), "no PEM").unwrap();
    wait("the broken file is not told", || server.said().contains("holds no certificate"));
    assert_ne!(shown(&bench, &anew(), &server.url), first);
}

#[test]
fn plain_http_is_told_and_slow_handshakes_hold_nobody_up() {
    let (bench, files) = (Bench::new(Script::default()), Files::new());
    let server = files.start(&bench);
    let address = server.url.trim_start_matches("https://").to_owned();
    let silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let mut half = TcpStream::connect(&address).unwrap();
    half.write_all(&[0x16, 0x03, 0x01]).unwrap();
    let mut plain = TcpStream::connect(&address).unwrap();
    plain.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    plain.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "{answer}");
    let begun = Instant::now();
    shown(&bench, &files.client(|builder| builder), &server.url);
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    drop(silent);
}

#[test]
fn files_that_can_not_be_used_are_refused_at_the_start() {
    let (bench, files) = (Bench::new(Script::default()), Files::new());
    files.issue("second", 10);
    let dir = files.0.path();
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    std::fs::write(dir.join("empty"), "").unwrap();
    for (certificate, key, expect) in [
        (path("missing"), path("first.key"), "cannot read"),
        (path("empty"), path("first.key"), "holds no certificate"),
        (path("first.pem"), path("first.pem"), "holds no private key"),
        (path("first.pem"), path("second.key"), "is not the one of the certificate"),
        (path("first.pem"), String::new(), "or neither"),
    ] {
        let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("STEWARD_TLS_CERT", &certificate).env("STEWARD_TLS_KEY", &key);
        let done = steward_testkit::program::finish(command).exits(1);
        done.tells(&[expect]);
    }
}
