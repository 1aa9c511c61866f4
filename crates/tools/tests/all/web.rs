use crate::fakes::Bench;
use crate::server::{Server, ok, redirect};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Forbidden places in the spellings that have fooled others.
const FORBIDDEN: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "127.255.255.254",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "a.b.localhost",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "0.0.0.0",
    "0",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "10.0.0.1",
    "10.1",
    "0xa000001",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "3232235777",
    "0xc0a80101",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "100.64.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:7f00:1::1]",
    "[2001:db8::1]",
    "[100::1]",
];

#[tokio::test]
async fn forbidden_addresses_in_every_spelling() {
    let bench = Bench::new();
    assert!(FORBIDDEN.len() >= 40);
    for host in FORBIDDEN {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/x")] {
            let error = bench.refused("web_fetch", json!({"url": url})).await;
            assert!(error.contains("not on the public internet"), "{url}: {error}");
        }
    }
}

#[tokio::test]
async fn other_schemes_users_and_nonsense() {
    let server = Server::start(|_| ok("text/plain", "reached")).await;
    let bench = Bench::allowing(&[server.allowed()]);
    let port = server.port;
    for (url, expect) in [
        ("file:///etc/passwd".to_owned(), "only http and https"),
        ("ftp://example.org/".to_owned(), "only http and https"),
        ("gopher://127.0.0.1:25/".to_owned(), "only http and https"),
        ("data:text/plain,hi".to_owned(), "only http and https"),
        ("javascript:alert(1)".to_owned(), "only http and https"),
        (format!("http://user@127.0.0.1:{port}/"), "user name or password"),
        (format!("http://u:p@127.0.0.1:{port}/"), "user name or password"),
        (format!("http://127.0.0.1:{port}@10.0.0.1/"), "user name or password"),
        ("http://".to_owned(), "is no URL"),
        ("http://[::1".to_owned(), "is no URL"),
        ("http://[fe80::1%25eth0]/".to_owned(), "is no URL"),
        ("not a url".to_owned(), "is no URL"),
        ("http://256.1.1.1/".to_owned(), "is no URL"),
        ("http://no-such-host.invalid/".to_owned(), "can't be found"),
    ] {
        let error = bench.refused("web_fetch", json!({"url": url})).await;
        assert!(error.contains(expect), "{url}: {error}");
    }
    assert_eq!(server.hits.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_operator_allows_one_host_and_port() {
    let server = Server::start(|_| ok("text/plain", "reached")).await;
    let other = Server::start(|_| ok("text/plain", "not this one")).await;
    let bench = Bench::allowing(&[server.allowed()]);
    let page = bench.ok("web_fetch", json!({"url": server.url("/x?y=1#z")})).await;
    assert!(page.content.contains("reached") && page.provenance.is_from_outside() && page.receipt.is_none());
    let port = server.port;
    // The same address in another spelling is the same address; another name for it is not.
    bench.ok("web_fetch", json!({"url": format!("http://2130706433:{port}/")})).await;
    for url in [
        other.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://127.0.0.2:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://127.0.0.1/".to_owned(),
    ] {
        let error = bench.refused("web_fetch", json!({"url": url})).await;
        assert!(error.contains("an operator can allow"), "{url}: {error}");
    }
    assert_eq!(other.hits.load(Ordering::Relaxed), 0);
    let named = Bench::allowing(&[format!("localhost:{port}")]);
    let page = named.ok("web_fetch", json!({"url": format!("http://localhost:{port}/")})).await;
    assert!(page.content.contains("reached"));
    let host = format!("host: localhost:{port}");
    let asked = server.requests.lock().unwrap().clone();
    assert!(asked.iter().any(|head| head.to_lowercase().contains(&host)), "{asked:?}");
    for bad in ["127.0.0.1", "host:", ":80", "host:0", "host:99999", "ho st:80", ""] {
        assert!(bad.parse::<steward_tools::outbound::HostPort>().is_err(), "{bad}");
    }
}

#[tokio::test]
async fn each_redirect_is_checked_anew() {
    let secret = Server::start(|_| ok("text/plain", "SECRET")).await;
    let secret_url = secret.url("/");
    let server = Server::start(move |path| match path {
        "/secret" => redirect(&secret_url),
        "/metadata" => redirect("http://169.254.169.254/latest/"),
        "/mapped" => redirect("http://[::ffff:10.0.0.1]/"),
        "/name" => redirect("http://localhost/"),
        "/file" => redirect("file:///etc/passwd"),
        "/user" => redirect("http://u:p@127.0.0.1/"),
        "/broken" => redirect("http://[:"),
        "/loop" => redirect("/loop"),
        "/here" => redirect("./end?x"),
        "/bare" => b"HTTP/1.1 302 Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbare".to_vec(),
        _ => ok("text/plain", "the end"),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    for (path, expect) in [
        ("/secret", "not on the public internet"),
        ("/metadata", "not on the public internet"),
        ("/mapped", "not on the public internet"),
        ("/name", "not on the public internet"),
        ("/file", "only http and https"),
        ("/user", "user name or password"),
        ("/broken", "no URL"),
        ("/loop", "more than 5 redirects"),
        ("/bare", "status 302"),
    ] {
        let error = bench.refused("web_fetch", json!({"url": server.url(path)})).await;
        assert!(error.contains(expect), "{path}: {error}");
    }
    assert_eq!(secret.hits.load(Ordering::Relaxed), 0);
    let page = bench.ok("web_fetch", json!({"url": server.url("/here")})).await;
    assert!(page.content.contains("/end?x\n\nthe end"), "{}", page.content);
}

#[tokio::test]
async fn five_redirects_are_followed() {
    let server = Server::start(|path| match path.trim_start_matches("/hop").parse::<u32>() {
        Ok(0) | Err(_) => ok("text/plain", "arrived"),
        Ok(left) => redirect(&format!("hop{}", left - 1)),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let page = bench.ok("web_fetch", json!({"url": server.url("/hop5")})).await;
    assert!(page.content.starts_with(&format!("URL: {}", server.url("/hop0"))), "{}", page.content);
    let error = bench.refused("web_fetch", json!({"url": server.url("/hop6")})).await;
    assert!(error.contains("more than 5 redirects"), "{error}");
}

#[tokio::test]
async fn pages_json_and_text_are_made_readable() {
    let server = Server::start(|path| match path {
        "/page" => ok(
            "text/html; charset=utf-8",
            "<!doctype html><title>The status</title><h1>Now</h1><p>All is <b>fine</b>.<script>x()</script><a href='/more'>more</a>",
        ),
        "/latin" => ok("text/html; charset=iso-8859-1", b"<title>Gr\xfc\xdfe</title>"),
        "/meta" => ok("text/html", b"<meta charset='windows-1252'><title>5 \x80</title>"),
        "/untitled" => ok("text/html", "<p>nothing</p>"),
        "/json" => ok("application/json", r#"{"b":1,"a":[true]}"#),
        "/badjson" => ok("application/problem+json", "{oops"),
        "/csv" => ok("text/csv", "a,b\n1,2\n"),
        "/bare" => b"HTTP/1.1 200 OK\r\ncontent-length: 27\r\n\r\n<html><title>B</title></html>".to_vec(),
        "/image" => ok("image/png", b"\x89PNG\r\n\x1a\n\0\0"),
        "/gone" => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
        "/half" => b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        "/junk" => b"this is no http at all\r\n\r\n".to_vec(),
        _ => ok("text/plain", vec![b'x'; 3 << 20]),
    })
    .await;
    let bench = Bench::allowing(&[server.allowed()]);
    let fetch = |path: &str| {
        let url = server.url(path);
        let bench = &bench;
        async move { bench.ok("web_fetch", json!({"url": url})).await }
    };
    let page = fetch("/page").await;
    let url = server.url("/page");
    assert!(
        page.content.starts_with(&format!("Title: The status\nURL: {url}\n\n# Now\nAll is fine.")),
        "{}",
        page.content
    );
    assert!(page.content.ends_with(&format!("Links:\nmore: {}\n", server.url("/more"))), "{}", page.content);
    assert!(fetch("/latin").await.content.starts_with("Title: Grüße\n"));
    assert!(fetch("/meta").await.content.starts_with("Title: 5 €\n"));
    assert!(fetch("/untitled").await.content.starts_with("Title: (none)\n"));
    assert!(fetch("/json").await.content.contains("{\n  \"b\": 1,"));
    assert!(fetch("/badjson").await.content.ends_with("{oops"));
    assert!(fetch("/csv").await.content.ends_with("a,b\n1,2\n"));
    assert!(fetch("/bare").await.content.starts_with("Title: B\n"));
    let big = fetch("/big").await;
    assert!(big.content.contains("[the page is larger than 2 MB") && big.content.len() < (2 << 20) + 300);
    for (path, expect) in [
        ("/image", "image/png, which can't be read as text"),
        ("/gone", "status 404"),
        ("/half", "broke off"),
        ("/junk", "no proper answer"),
    ] {
        let error = bench.refused("web_fetch", json!({"url": server.url(path)})).await;
        assert!(error.contains(expect), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_or_is_gone() {
    let server = Server::start(|_| Vec::new()).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("127.0.0.1:{}", free.local_addr().unwrap().port());
    drop(free);
    let mut bench = Bench::allowing(&[server.allowed(), closed.clone()]);
    let error = bench.refused("web_fetch", json!({"url": format!("http://{closed}/")})).await;
    assert!(error.contains("can't be reached"), "{error}");
    bench.scope.timeout_ms = 300;
    let error = bench.refused("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("300 ms"), "{error}");
    bench.scope.timeout_ms = 600_000;
    let stop = bench.scope.cancellation.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stop.cancel();
    });
    let began = Instant::now();
    let error = bench.refused("web_fetch", json!({"url": server.url("/")})).await;
    assert!(error.contains("the run was stopped"), "{error}");
    assert!(began.elapsed() < Duration::from_mins(5));
}

#[tokio::test]
async fn the_preview_names_where_it_goes() {
    let bench = Bench::new();
    let preview = bench.preview("web_fetch", json!({"url": "example.org/a?b=c"})).await;
    assert_eq!(preview.summary, "asks example.org:443 for https://example.org/a?b=c");
    assert!(bench.preview("web_fetch", json!({"url": "ftp://x.y"})).await.summary.contains("would fail"));
}
