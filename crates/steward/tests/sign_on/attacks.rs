//! Attacks on logins by providers, as tables: what was tried, and that nothing opens.

use super::browser::Browser;
use super::desk::{ADMIN, Desk, PASSWORD};
use super::provider::Provider;
use super::slapd::{BASE, LOOKER, LOOKER_PASSWORD, Slapd};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn read(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[test]
fn forged_tokens_of_a_provider_open_nothing() {
    let desk = Desk::new();
    let programs = json!({"audience": "urn:steward", "clients": [{"client_id": "etl", "role": "admin"}]});
    let provider = Provider::start(&desk, json!({"programs": programs}));
    let good = provider.program_token(&desk, ("etl", "etl-secret-for-tests"), "urn:steward");
    let status = |token: &str| desk.call(Some(token), Method::GET, "/api/auth/me", None).0;
    assert_eq!(status(&good), 200);

    let parts: Vec<&str> = good.split('.').collect();
    let (header, claims) = (read(parts[0]), read(parts[1]));
    let jwks: Value = desk.bench.runtime.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.get(format!("{}/jwks", provider.issuer)).send().await.unwrap().json().await.unwrap()
    });
    let key = &jwks["keys"][0];
    let modulus = key["n"].as_str().unwrap();
    let unsigned = |header: Value| format!("{}.{}.", part(&header), parts[1]);
    let changed = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        format!("{}.{}.{}", parts[0], part(&claims), parts[2])
    };
    let with_header = |changes: Value| {
        let mut header = header.clone();
        header.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        format!("{}.{}.{}", part(&header), parts[1], parts[2])
    };
    let by_secret = |algorithm: Algorithm, secret: &[u8]| {
        let header = Header { kid: header["kid"].as_str().map(str::to_owned), ..Header::new(algorithm) };
        encode(&header, &claims, &EncodingKey::from_secret(secret)).unwrap()
    };
    let attacks = [
        ("no algorithm", unsigned(json!({"alg": "none", "typ": "JWT"}))),
        ("no algorithm, in capitals", unsigned(json!({"alg": "NONE"}))),
        ("no algorithm, with the signature", with_header(json!({"alg": "none"}))),
        ("an algorithm with a secret, with the signature", with_header(json!({"alg": "HS256"}))),
        ("the public key as a secret: its modulus", by_secret(Algorithm::HS256, modulus.as_bytes())),
        ("the modulus in bytes", by_secret(Algorithm::HS256, &URL_SAFE_NO_PAD.decode(modulus).unwrap())),
        ("the key as JSON", by_secret(Algorithm::HS256, key.to_string().as_bytes())),
        ("the set of keys", by_secret(Algorithm::HS512, jwks.to_string().as_bytes())),
        ("an empty secret", by_secret(Algorithm::HS256, b"")),
        ("the client's secret", by_secret(Algorithm::HS256, b"etl-secret-for-tests")),
        ("another algorithm of the family", with_header(json!({"alg": "PS256"}))),
        ("an algorithm of another family", with_header(json!({"alg": "ES256"}))),
        ("a key named by a path", with_header(json!({"kid": "../../../../dev/null"}))),
        ("a key named by a statement", with_header(json!({"kid": "' or 1=1 --"}))),
        ("a key named by an address", with_header(json!({"kid": "http://127.0.0.1:9/key"}))),
        ("no key named", with_header(json!({"kid": null}))),
        ("keys at an address", with_header(json!({"jku": "http://127.0.0.1:9/jwks"}))),
        ("a key in the header", with_header(json!({"jwk": key}))),
        ("a certificate in the header", with_header(json!({"x5u": "http://127.0.0.1:9/x.pem"}))),
        ("a critical extension", with_header(json!({"crit": ["b64"], "b64": false}))),
        ("another program", changed("client_id", json!("stranger"))),
        ("another audience", changed("aud", json!("urn:other"))),
        ("a list of audiences", changed("aud", json!(["urn:steward", "urn:other"]))),
        ("another issuer", changed("iss", json!("https://login.example.org"))),
        ("a later end", changed("exp", json!(9_999_999_999_u64))),
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("five parts", format!("{good}.a.b")),
        ("the signature cut", good[..good.len() - 20].to_owned()),
        ("a long one", format!("{}.{}.x", parts[0], "a".repeat(8_000))),
        ("dots", "..".to_owned()),
    ];
    for (attack, token) in &attacks {
        assert_eq!(status(token), 401, "{attack}");
    }
    assert_eq!(status(&good), 200);
    println!("{} forged tokens, none opens anything", attacks.len());
}

/// By its own address and the path that is asked for.
type Lie = Box<dyn Fn(&str, &str) -> String + Send>;

/// A server that answers each path in its own way, and counts what it is asked.
struct Liar {
    issuer: String,
    asked: Arc<AtomicUsize>,
}

fn liar(answer: impl Fn(&str, &str) -> String + Send + 'static) -> Liar {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let (counter, own) = (Arc::clone(&asked), issuer.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).unwrap_or(0);
            let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
            let path = text.split(' ').nth(1).unwrap_or_default();
            let _ = stream.write_all(answer(&own, path).as_bytes());
        }
    });
    Liar { issuer, asked }
}

fn json_answer(body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn description(own: &str, changes: &Value) -> String {
    let mut body = json!({
        "issuer": own, "authorization_endpoint": format!("{own}/auth"), "token_endpoint": format!("{own}/token"),
        "jwks_uri": format!("{own}/jwks"),
    });
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    json_answer(&body)
}

#[test]
fn a_provider_is_no_way_to_hosts_inside() {
    let desk = Desk::new();
    let save = |issuer: &str| {
        let body = json!({"settings": {"label": "x", "issuer": issuer, "client_id": "steward"}});
        desk.call(Some(&desk.admin), Method::PUT, "/api/identity/providers/sso", Some(body))
    };
    let issuers = [
        "http://login.example.org",
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.169.254",
        "https://10.0.0.1",
        "https://192.168.1.1:8443",
        "https://127.0.0.1:9",
        "https://[::1]",
        "https://[::ffff:10.0.0.1]",
        "https://0x7f000001",
        "https://2130706433",
        "https://user:pass@login.example.org",
        "https://login.example.org?to=http://10.0.0.1",
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/x",
        "//login.example.org",
    ];
    for issuer in issuers {
        let (status, answer) = save(issuer);
        assert_eq!((status, &answer["field"]), (422, &json!("issuer")), "{issuer}: {answer}");
    }

    let trap = liar(|_, _| json_answer(&json!({})));
    let hidden = format!("{}/secret", trap.issuer);
    let cases: [(&str, Lie); 8] = [
        (
            "a private token address",
            Box::new(|own, _| description(own, &json!({"token_endpoint": "http://10.0.0.1/token"}))),
        ),
        (
            "private keys' address",
            Box::new(|own, _| description(own, &json!({"jwks_uri": "https://192.168.0.1/jwks"}))),
        ),
        (
            "a cloud's metadata",
            Box::new(|own, _| description(own, &json!({"userinfo_endpoint": "http://169.254.169.254/"}))),
        ),
        ("a file", Box::new(|own, _| description(own, &json!({"jwks_uri": "file:///etc/passwd"})))),
        ("another issuer", Box::new(|own, _| description(own, &json!({"issuer": "https://login.example.org"})))),
        (
            "a redirect",
            Box::new(move |_, _| {
                format!("HTTP/1.1 302 Found\r\nlocation: {hidden}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            }),
        ),
        ("a flood", Box::new(|_, _| format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(4_000_000)))),
        (
            "no JSON",
            Box::new(|_, _| "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello".to_owned()),
        ),
    ];
    for (case, answer) in cases {
        let liar = liar(answer);
        assert_eq!(save(&liar.issuer).0, 200, "{case}");
        assert_eq!(Browser::new(&desk).begin(), "/login?sign_on=provider", "{case}");
        assert_eq!(liar.asked.load(Ordering::SeqCst), 1, "{case}");
    }
    assert_eq!(trap.asked.load(Ordering::SeqCst), 0, "a redirect was followed");
    println!("{} issuers refused, 8 descriptions refused", issuers.len());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Nothing is asserted of the times: the machine of the tests is shared. The ratio is printed.
#[test]
fn the_answer_does_not_tell_who_exists() {
    let slapd = Slapd::start(9);
    let desk = Desk::new();
    let directory = json!({
        "label": "Directory", "url": slapd.ldaps(), "ca": slapd.ca(), "base": BASE, "bind_dn": LOOKER,
        "filter": "(uid={login})",
    });
    desk.manage(Method::PUT, "/api/identity/directory", json!({"settings": directory, "password": LOOKER_PASSWORD}));
    assert_eq!(desk.log_in("ada", "ada stands in the reeds").0, 200);
    let id = desk.user_id("ada@example.org");
    desk.manage(Method::PATCH, &format!("/api/users/{id}"), json!({"disabled": true}));
    let try_with = |name: &str, password: &str| {
        let begun = Instant::now();
        let (status, answer) = desk.log_in(name, password);
        assert_eq!(status, 401, "{name}: {answer}");
        (begun.elapsed(), answer)
    };
    let mut answers = Vec::new();
    let mut slowest = Duration::ZERO;
    let mut fastest = Duration::MAX;
    let kinds = [
        ("a local user, wrong password", (ADMIN, "wrong")),
        ("somebody of the directory, wrong password", ("bob", "wrong")),
        ("a disabled user, right password", ("ada", "ada stands in the reeds")),
        ("nobody", ("nobody", PASSWORD)),
    ];
    for (kind, (name, password)) in kinds {
        let times: Vec<Duration> = (0..4)
            .map(|_| {
                let (time, answer) = try_with(name, password);
                answers.push(answer);
                time
            })
            .collect();
        let time = median(times);
        (slowest, fastest) = (slowest.max(time), fastest.min(time));
        println!("{kind}: {} ms", time.as_millis());
    }
    println!("slowest by fastest: {:.2}", slowest.as_secs_f64() / fastest.as_secs_f64());
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}
