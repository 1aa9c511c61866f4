use super::{File, answer, assets, studio};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::Response;
use std::borrow::Cow;
use tower::ServiceExt as _;

/// A studio of a few files; `hash` follows the content.
fn built(path: &str) -> Option<File> {
    let data: &'static [u8] = match path {
        "index.html" => b"<!doctype html><div id=root></div>",
        "theme.js" => b"theme()",
        "assets/index-Ab12.js" => b"start()",
        "assets/index-Ab12.js.gz" => b"\x1f\x8bzipped",
        // `.box{}`, compressed.
        "assets/only-Ef56.css.gz" => {
            b"\x1f\x8b\x08\0\0\0\0\0\x02\xff\xd3\x4b\xca\xaf\xa8\xae\x05\0\xc9\x92\x4e\xb4\x06\0\0\0"
        }
        ".vite/manifest.json" => b"{}",
        _ => return None,
    };
    let mut hash = [0; 32];
    hash[0] = u8::try_from(data.len()).unwrap();
    Some(File { data: Cow::Borrowed(data), hash })
}

fn missing(_: &str) -> Option<File> {
    None
}

fn get(path: &str, headers: &[(HeaderName, &str)]) -> Response {
    answer(&Method::GET, path, &with(headers), built)
}

fn with(headers: &[(HeaderName, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
}

fn value(response: &Response, name: HeaderName) -> String {
    let value = response.headers().get(name);
    value.map_or_else(String::new, |v| v.to_str().unwrap().to_owned())
}

async fn body(response: Response) -> String {
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn each_page_of_the_studio_is_the_same_file() {
    for path in ["/", "/chat", "/runs/0199-ab", "/setup", "/agents/new"] {
        let page = get(path, &[]);
        assert_eq!(page.status(), StatusCode::OK, "{path}");
        assert_eq!(value(&page, header::CONTENT_TYPE), "text/html; charset=utf-8");
        assert_eq!(value(&page, header::CACHE_CONTROL), "no-cache");
        assert!(body(page).await.contains("id=root"), "{path}");
    }
}

#[tokio::test]
async fn hashed_files_are_kept_for_good_and_others_asked_about() {
    let hashed = get("/assets/index-Ab12.js", &[]);
    assert_eq!(value(&hashed, header::CONTENT_TYPE), "text/javascript; charset=utf-8");
    assert!(value(&hashed, header::CACHE_CONTROL).contains("immutable"));
    assert_eq!(body(hashed).await, "start()");
    let plain = get("/theme.js", &[]);
    assert_eq!(value(&plain, header::CACHE_CONTROL), "no-cache");
}

#[tokio::test]
async fn a_known_file_is_not_sent_again() {
    let tag = value(&get("/theme.js", &[]), header::ETAG);
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let again = get("/theme.js", &[(header::IF_NONE_MATCH, &known)]);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
        assert_eq!(value(&again, header::ETAG), tag);
        assert_eq!(body(again).await, "");
    }
    let other = get("/theme.js", &[(header::IF_NONE_MATCH, "\"older\"")]);
    assert_eq!(other.status(), StatusCode::OK);
}

#[tokio::test]
async fn compressed_twins_go_to_who_takes_them() {
    let path = "/assets/index-Ab12.js";
    for accepted in ["gzip", "br, gzip;q=0.8", "*"] {
        let zipped = get(path, &[(header::ACCEPT_ENCODING, accepted)]);
        assert_eq!(value(&zipped, header::CONTENT_ENCODING), "gzip", "{accepted}");
        assert_eq!(value(&zipped, header::VARY), "accept-encoding");
        assert!(value(&zipped, header::ETAG).ends_with("-gz\""));
        assert!(value(&zipped, header::CONTENT_TYPE).starts_with("text/javascript"));
        assert!(body(zipped).await.ends_with("zipped"));
    }
    for accepted in ["", "br", "gzip;q=0", "gzip; q=0.0"] {
        let plain = get(path, &[(header::ACCEPT_ENCODING, accepted)]);
        assert_eq!(value(&plain, header::CONTENT_ENCODING), "", "{accepted}");
        assert_eq!(value(&plain, header::VARY), "accept-encoding");
        assert_eq!(body(plain).await, "start()");
    }
    let only = "/assets/only-Ef56.css";
    let zipped = get(only, &[(header::ACCEPT_ENCODING, "gzip")]);
    assert_eq!((zipped.status(), value(&zipped, header::CONTENT_ENCODING)), (StatusCode::OK, "gzip".to_owned()));
    let plain = get(only, &[]);
    assert_eq!((value(&plain, header::CONTENT_ENCODING), body(plain).await), (String::new(), ".box{}".to_owned()));
    let without = get("/theme.js", &[(header::ACCEPT_ENCODING, "gzip")]);
    assert_eq!(value(&without, header::CONTENT_ENCODING), "");
    assert_eq!(value(&without, header::VARY), "");
}

#[tokio::test]
async fn what_is_not_there_says_so_and_is_never_html() {
    let script = [(header::ACCEPT, "*/*")];
    for path in
        ["/assets/index-Old1.js", "/missing.png", "/.vite/manifest.json", "/assets/index-Ab12.js.gz", "/../Cargo.toml"]
    {
        let gone = get(path, &script);
        assert_eq!(gone.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(value(&gone, header::CONTENT_TYPE), "application/problem+json");
        assert!(body(gone).await.contains("hint"), "{path}");
    }
    // A person who types an address gets the studio, which has a page for that.
    let person = [(header::ACCEPT, "text/html,*/*;q=0.8")];
    assert_eq!(get("/a.b", &person).status(), StatusCode::OK);
    let written = answer(&Method::POST, "/chat", &HeaderMap::new(), built);
    assert_eq!(written.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_a_build_a_page_says_how_to_build() {
    for path in ["/", "/chat"] {
        let page = answer(&Method::GET, path, &HeaderMap::new(), missing);
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(value(&page, header::CONTENT_TYPE), "text/html; charset=utf-8");
        let text = body(page).await;
        assert!(text.contains("make web") && !text.contains("<script"), "{text}");
    }
    let script = answer(&Method::GET, "/assets/a.js", &HeaderMap::new(), missing);
    assert_eq!(script.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_head_request_gets_the_length_without_the_body() {
    // As in the program: whether the studio is built or not.
    let _ = assets();
    let app = Router::new().fallback(studio);
    let ask = |method: Method| Request::builder().method(method).uri("/").body(Body::empty());
    let whole = app.clone().oneshot(ask(Method::GET).unwrap()).await.unwrap();
    let length = body(whole).await.len();
    assert!(length > 0);
    let head = app.oneshot(ask(Method::HEAD).unwrap()).await.unwrap();
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(value(&head, header::CONTENT_LENGTH), length.to_string());
    assert_eq!(body(head).await, "");
}
