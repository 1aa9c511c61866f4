//! The address guard holds for everything that a page asks for.

use crate::bench::{Bench, Names, number};
use crate::server::{Server, ok, redirect};
use serde_json::json;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn forbidden_addresses_are_not_opened() {
    let inner = Server::start(|_| ok("text/html", "<p>inner secret")).await;
    let bench = Bench::allowing(&[]);
    let run = bench.run(1);
    for (url, expect) in [
        (inner.url("/"), "not on the public internet"),
        (format!("http://localhost:{}/", inner.port), "not on the public internet"),
        (format!("http://2130706433:{}/", inner.port), "not on the public internet"),
        (format!("http://inner.test:{}/", inner.port), "not on the public internet"),
        ("http://169.254.169.254/latest/".to_owned(), "link-local"),
        (format!("http://user:pw@127.0.0.1:{}/", inner.port), "user name or password"),
        ("file:///etc/passwd".to_owned(), "only http and https"),
        ("data:text/html,<p>x".to_owned(), "only http and https"),
        ("chrome://settings".to_owned(), "only http and https"),
        ("view-source:http://example.org/".to_owned(), "only http and https"),
        ("javascript:alert(1)".to_owned(), "only http and https"),
    ] {
        let error = run.refused("browser_open", json!({"url": url})).await;
        assert!(error.contains(expect), "{url}: {error}");
    }
    assert_eq!(inner.hits.load(Ordering::Relaxed), 0);
    assert_eq!(bench.browsers.count(), 0, "no browser was started for nothing");
    let preview = run.preview("browser_open", json!({"url": "file:///x"})).await;
    assert!(preview.summary.contains("would fail"));
}

/// Pages that ask for the server at port `to`, each in its own way.
async fn pages(to: u16) -> Server {
    Server::start(move |path| {
        let page = |body: &str| ok("text/html", format!("<title>T</title>{body}"));
        match path {
            "/redirect" => redirect(&format!("http://127.0.0.1:{to}/")),
            "/meta" => page(&format!("<meta http-equiv=refresh content='0;url=http://127.0.0.1:{to}/'>")),
            "/script" => page(&format!("<script>location = 'http://localhost:{to}/'</script>")),
            "/parts" => page(&format!(
                "<p id=out>waiting</p><iframe src='http://127.0.0.1:{to}/'></iframe><img src='http://127.0.0.1:{to}/i.png'>\
                 <script>
                 const say = (text) => out.textContent += ' ' + text;
                 fetch('http://127.0.0.1:{to}/f', {{mode: 'no-cors'}}).then((r) => r.text()).then((t) => say('fetch:' + t), () => say('fetch failed'));
                 fetch('http://[::1]:{to}/f').catch(() => say('v6 failed'));
                 fetch('http://inner.test:{to}/f').catch(() => say('name failed'));
                 fetch('https://127.0.0.1:{to}/f').catch(() => say('tls failed'));
                 const socket = new WebSocket('ws://127.0.0.1:{to}/w');
                 socket.onerror = () => say('socket failed'); socket.onopen = () => say('socket open');
                 navigator.sendBeacon('http://127.0.0.1:{to}/b', 'x');
                 </script>"
            )),
            "/rebind" => page(&format!(
                "<p id=out>waiting</p><script>
                 const ask = () => fetch('http://rebind.test:{to}/');
                 ask().catch(() => ask()).then(() => out.textContent = 'came', () => out.textContent = 'failed twice')
                 </script>"
            )),
            "/file" => page("<p id=out>waiting</p><iframe src='file:///etc/passwd'></iframe><script>
                 fetch('file:///etc/passwd').then(() => out.textContent = 'read', () => out.textContent = 'file failed')</script>
                 <a href='file:///etc/passwd'>a file</a>"),
            "/form" => page(&format!("<form method=post action='http://127.0.0.1:{to}/post'><button>Send</button></form>")),
            "/link" => page(&format!("<a href='http://127.0.0.1:{to}/'>inner</a>")),
            "/window" => page(&format!("<button onclick=\"window.open('http://127.0.0.1:{to}/')\">window</button>")),
            _ => page("<p>fine"),
        }
    })
    .await
}

#[tokio::test]
async fn whatever_a_page_asks_for_is_checked() {
    let inner = Server::start(|_| ok("text/html", "<p>inner secret")).await;
    let outer = pages(inner.port).await;
    let names = Names { late: vec!["rebind.test".to_owned()], ..Names::default() };
    // Its own name too: names are resolved on this side only.
    let places = [outer.allowed(), format!("outer.test:{}", outer.port)];
    let bench = Bench::with(&places, names, |_| {});
    let run = bench.run(1);
    for path in ["/redirect", "/meta", "/script"] {
        let error = run.refused("browser_open", json!({"url": outer.url(path)})).await;
        assert!(error.contains("not on the public internet"), "{path}: {error}");
        let error = run.refused("browser_snapshot", json!({})).await;
        assert!(error.contains("no page is open"), "{path}: {error}");
    }
    let parts = run.open(&outer.url("/parts")).await.content;
    for expect in ["v6 failed", "name failed", "tls failed", "socket failed", "requests were refused"] {
        assert!(parts.contains(expect), "{expect}: {parts}");
    }
    assert!(!parts.contains("inner secret") && !parts.contains("socket open"), "{parts}");
    let rebind = run.open(&outer.url("/rebind")).await.content;
    assert!(rebind.contains("failed twice"), "{rebind}");
    let asked = bench.names.asked.lock().unwrap().clone();
    assert!(asked.iter().filter(|name| *name == "rebind.test").count() >= 2, "{asked:?}");
    let file = run.open(&outer.url("/file")).await.content;
    assert!(file.contains("file failed") && !file.contains("root:"), "{file}");
    let element = number(&file, "link: a file");
    let clicked = run.ok("browser_click", json!({"element": element})).await.content;
    assert!(!clicked.contains("root:"), "{clicked}");
    for (path, words) in [("/form", "button: Send"), ("/link", "link: inner"), ("/window", "button: window")] {
        let page = run.open(&outer.url(path)).await.content;
        let element = number(&page, words);
        let clicked = run.ok("browser_click", json!({"element": element})).await.content;
        assert!(clicked.contains("not on the public internet"), "{path}: {clicked}");
    }
    let named = run.open(&format!("http://outer.test:{}/", outer.port)).await;
    assert!(named.content.contains("fine"));
    assert_eq!(inner.hits.load(Ordering::Relaxed), 0, "{:?}", inner.requests.lock().unwrap());
    let asked = bench.names.asked.lock().unwrap().clone();
    let known = ["rebind.test", "inner.test", "outer.test"];
    assert!(asked.iter().all(|name| known.contains(&name.as_str())), "{asked:?}");
}

#[tokio::test]
async fn what_can_t_be_reached_says_so() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("127.0.0.1:{}", free.local_addr().unwrap().port());
    drop(free);
    let broken = babbling().await;
    let bench = Bench::allowing(&[closed.clone(), broken.clone()]);
    let run = bench.run(1);
    for (url, expect) in [
        (format!("http://{closed}/"), "can't be reached"),
        (format!("https://{closed}/"), "can't be reached"),
        (format!("http://{broken}/"), "no proper answer"),
        (format!("https://{broken}/"), "SSL"),
    ] {
        let error = run.refused("browser_open", json!({"url": url})).await;
        assert!(error.contains(expect), "{url}: {error}");
    }
}

/// A server that speaks before it listens, and no language.
async fn babbling() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 64];
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut asked).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"nonsense\r\n\r\n").await;
        }
    });
    place
}
