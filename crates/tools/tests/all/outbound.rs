//! What requests may reach, and what goes along with them.

use crate::server::{Server, ok};
use async_trait::async_trait;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::provenance::Consulted;
use steward_tools::outbound::{Client, HttpError, HttpLimits, HttpRequest, Resolve};
use url::Url;

const FILE: &str = include_str!("../data/addresses.txt");

/// Answers from a table; a name with several answers gives one after another.
#[derive(Default)]
struct Table {
    names: BTreeMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<BTreeMap<String, usize>>,
}

impl Table {
    fn add(&mut self, name: &str, answers: &str) {
        let answer = |text: &str| text.split_whitespace().map(|one| one.parse().unwrap()).collect();
        self.names.insert(name.to_owned(), answers.split('|').map(answer).collect());
    }
}

#[async_trait]
impl Resolve for Table {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let answers = self.names.get(host.trim_end_matches('.'));
        let answers = answers.ok_or_else(|| io::Error::other("no such name"))?;
        let mut asked = self.asked.lock().unwrap();
        let times = asked.entry(host.to_owned()).or_default();
        let answer = &answers[(*times).min(answers.len() - 1)];
        *times += 1;
        Ok(answer.iter().map(|ip| SocketAddr::new(*ip, port)).collect())
    }
}

fn file() -> (Table, Vec<(bool, &'static str)>) {
    let (mut table, mut rows) = (Table::default(), Vec::new());
    for line in FILE.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.splitn(3, '\t');
        match (cells.next().unwrap(), cells.next().unwrap()) {
            ("name", name) => table.add(name, cells.next().unwrap_or("")),
            ("refused", url) => rows.push((false, url)),
            ("passes", url) => rows.push((true, url)),
            other => panic!("{other:?}"),
        }
    }
    (table, rows)
}

#[tokio::test]
async fn every_address_of_the_file() {
    let (table, rows) = file();
    let client = Client::resolving(Vec::new(), Arc::new(table));
    let (mut refused, mut passed) = (0, 0);
    for (passes, text) in rows {
        let admitted = match Url::parse(text) {
            Ok(url) => client.checked_addresses(&url).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(admitted.is_ok(), passes, "{text}: {admitted:?}");
        if passes { passed += 1 } else { refused += 1 }
    }
    assert!(refused >= 60 && passed >= 20, "{refused} {passed}");
}

/// A server that redirects to whatever is asked of it, hexadecimal.
async fn redirector(status: u16) -> Server {
    Server::start(move |path| {
        let to = path.trim_start_matches("/to/");
        match hex::decode(to) {
            Ok(to) if path.starts_with("/to/") => {
                let mut bytes =
                    format!("HTTP/1.1 {status} Moved\r\nconnection: close\r\ncontent-length: 0\r\nlocation: ")
                        .into_bytes();
                bytes.extend(to);
                bytes.extend(b"\r\n\r\n");
                bytes
            }
            _ => ok("text/plain", "arrived"),
        }
    })
    .await
}

fn to(server: &Server, target: &str) -> Url {
    server.url(&format!("/to/{}", hex::encode(target))).parse().unwrap()
}

#[tokio::test]
async fn every_address_of_the_file_behind_a_redirect() {
    let (table, rows) = file();
    let server = redirector(302).await;
    let allow = vec![server.allowed().parse().unwrap()];
    let client = Client::resolving(allow, Arc::new(table));
    for (passes, text) in rows.into_iter().filter(|(passes, _)| !passes) {
        // Relative ones stay on the server that redirects.
        let Ok(url) = Url::parse(text) else { continue };
        if to(&server, text).join(text).unwrap().port() == Some(server.port) {
            continue;
        }
        let error = client
            .send(HttpRequest::get(to(&server, text)), HttpLimits::default(), &Consulted::default())
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::Refused(_)), "{passes} {url}: {error}");
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_and_its_address_is_pinned() {
    let good = Server::start(|_| ok("text/plain", "good")).await;
    let mut table = Table::default();
    // The second answer leads nowhere: a client that asks again would fail.
    table.add("once.test", "127.0.0.1|127.0.0.66");
    table.add("turns.test", "93.184.215.14|127.0.0.1|10.0.0.1|93.184.215.14");
    let table = Arc::new(table);
    let allow = vec![format!("once.test:{}", good.port).parse().unwrap()];
    let client = Client::resolving(allow, table.clone());
    let url: Url = format!("http://once.test:{}/", good.port).parse().unwrap();
    let answer = client.send(HttpRequest::get(url), HttpLimits::default(), &Consulted::default()).await.unwrap();
    assert_eq!((answer.bytes.as_slice(), table.asked.lock().unwrap()["once.test"]), (&b"good"[..], 1));
    // A name that turns is judged by each answer.
    let url: Url = "http://turns.test/".parse().unwrap();
    let mut verdicts = Vec::new();
    for _ in 0..4 {
        verdicts.push(client.checked_addresses(&url).await.is_ok());
    }
    assert_eq!(verdicts, [true, false, false, true]);
}

#[tokio::test]
async fn what_crosses_to_another_origin() {
    let other = Server::start(|_| ok("text/plain", "other")).await;
    for (status, method, fine, arrives_as) in [
        (302, Method::GET, true, "GET"),
        (303, Method::POST, true, "GET"),
        (302, Method::POST, true, "GET"),
        (307, Method::POST, false, ""),
        (308, Method::PUT, false, ""),
        (302, Method::DELETE, false, ""),
    ] {
        let server = redirector(status).await;
        let allow = [&server, &other].map(|one| one.allowed().parse().unwrap());
        let client = Client::new(allow.to_vec());
        let mut ask = HttpRequest::get(to(&server, &other.url("/x")));
        ask.method = method.clone();
        ask.headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer canary"));
        ask.headers.insert("x-api-key", HeaderValue::from_static("canary"));
        ask.headers.insert("cookie", HeaderValue::from_static("s=canary"));
        ask.headers.insert("accept", HeaderValue::from_static("text/plain"));
        if method != Method::GET {
            ask.body = b"canary".to_vec();
        }
        let before = other.requests.lock().unwrap().len();
        let result = client.send(ask, HttpLimits::default(), &Consulted::default()).await;
        assert_eq!(result.is_ok(), fine, "{status} {method}: {result:?}");
        let heads = other.requests.lock().unwrap()[before..].join("");
        assert!(!heads.contains("canary"), "{status} {method}: {heads}");
        assert_eq!(heads.split(' ').next().unwrap(), arrives_as, "{status} {method}");
        assert!(heads.is_empty() || heads.contains("text/plain"));
        let first = server.requests.lock().unwrap()[0].clone();
        assert!(first.contains("Bearer canary"), "{first}");
    }
}

#[tokio::test]
async fn within_an_origin_all_goes_along() {
    for (status, method, arrives_as) in [
        (307, Method::POST, "POST"),
        (308, Method::PUT, "PUT"),
        (302, Method::POST, "GET"),
        (303, Method::PUT, "GET"),
        (301, Method::DELETE, "DELETE"),
    ] {
        let server = redirector(status).await;
        let client = Client::new(vec![server.allowed().parse().unwrap()]);
        let mut ask = HttpRequest::get(to(&server, "/end"));
        ask.method = method.clone();
        ask.body = b"body".to_vec();
        ask.headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Bearer t"))]);
        let answer = client.send(ask, HttpLimits::default(), &Consulted::default()).await.unwrap();
        assert_eq!(answer.url.path(), "/end");
        let heads = server.requests.lock().unwrap().clone();
        assert!(heads[1].starts_with(&format!("{arrives_as} /end ")), "{status} {method}: {}", heads[1]);
        assert!(heads[1].contains("Bearer t"));
    }
}

#[tokio::test]
async fn bounds_of_bodies_time_and_hops() {
    let server = Server::start(move |path| match path {
        "/hang" => Vec::new(),
        "/slow" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        "/moved" => crate::server::redirect("/"),
        _ => ok("text/plain", vec![b'x'; 1 << 20]),
    })
    .await;
    let client = Client::new(vec![server.allowed().parse().unwrap()]);
    let consulted = Consulted::default();
    let get = |path: &str, caps: HttpLimits| {
        client.send(HttpRequest::get(server.url(path).parse().unwrap()), caps, &consulted)
    };
    let small = HttpLimits { max_bytes: 1000, ..HttpLimits::default() };
    let answer = get("/", small).await.unwrap();
    assert_eq!((answer.bytes.len(), answer.cut), (1000, true));
    let quick = HttpLimits { timeout: Duration::from_millis(200), ..HttpLimits::default() };
    assert!(matches!(get("/hang", quick).await, Err(HttpError::TimedOut(200))));
    assert!(matches!(get("/slow", HttpLimits::default()).await, Err(HttpError::Broken(_))));
    let still = HttpLimits { redirects: 0, ..HttpLimits::default() };
    assert_eq!(get("/moved", still).await.unwrap().status, 302);
    let whole = get("/", HttpLimits::default()).await.unwrap();
    assert_eq!((whole.bytes.len(), whole.cut), (1 << 20, false));
    let closed = Client::new(vec!["127.0.0.1:9".parse().unwrap()]);
    let url = "http://127.0.0.1:9/".parse().unwrap();
    assert!(matches!(
        closed.send(HttpRequest::get(url), HttpLimits::default(), &Consulted::default()).await,
        Err(HttpError::Unreachable(_))
    ));
}
