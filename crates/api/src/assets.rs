//! The studio's files, embedded in the binary: a file, or `index.html`, or a page that says how to build the studio.
//! A debug build reads them from `web/dist` on each request, so that rebuilding the studio needs no linking.

use crate::ApiState;
use crate::headers::text;
use crate::openai::misplaced;
use crate::problem::Problem;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::read::GzDecoder;
use rust_embed::RustEmbed;
use std::borrow::Cow;
use std::io::Read as _;

/// What `make web` built; nothing where it was not run.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Studio;

struct File {
    data: Cow<'static, [u8]>,
    hash: [u8; 32],
}

/// By path without the first slash.
type Find = fn(&str) -> Option<File>;

fn embedded(name: &str) -> Option<File> {
    Studio::get(name).map(|file| File { hash: file.metadata.sha256_hash(), data: file.data })
}

/// Vite puts a hash of the content into these files' names.
const HASHED: &str = "assets/";
const FOREVER: &str = "public, max-age=31536000, immutable";
/// Kept, but asked about on each use.
const ASK: &str = "no-cache";

const NOT_BUILT: &str = "<!doctype html>
<html lang=\"en\">
<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Steward</title></head>
<body>
<h1>The studio is not built into this program</h1>
<p>Steward is running: its API (<a href=\"/docs\">/docs</a>) and its command line work.</p>
<p>To build the studio, run this in Steward's source folder, and start Steward from there again:</p>
<pre>make web
make run</pre>
<p>It needs Node.js 20.19 or newer; <code>make</code> fetches it where it is missing.</p>
</body>
</html>
";

pub(crate) fn assets() -> Router<ApiState> {
    Router::new().fallback(studio)
}

async fn studio(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(error) = misplaced(&method, uri.path(), &headers) {
        return error.into_response();
    }
    answer(&method, uri.path(), &headers, embedded)
}

fn answer(method: &Method, path: &str, headers: &HeaderMap, find: Find) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return not_found(path);
    }
    let name = path.trim_start_matches('/');
    let (name, found) = match open(find, name) {
        Some(found) => (name, found),
        // Else the browser would take HTML for a script.
        None if is_file_name(name, headers) => return not_found(path),
        None => match open(find, "index.html") {
            Some(found) => ("index.html", found),
            None => return not_built(),
        },
    };
    let varies = found.zipped.is_some();
    let mut response = match found {
        Found { zipped: Some(zipped), .. } if takes_gzip(headers) => send(headers, name, true, zipped),
        Found { plain: Some(plain), .. } => send(headers, name, false, plain),
        Found { zipped, .. } => match zipped.and_then(inflated) {
            Some(plain) => send(headers, name, false, plain),
            None => return not_found(path),
        },
    };
    if varies {
        let vary = HeaderValue::from_static("accept-encoding");
        response.headers_mut().insert(header::VARY, vary);
    }
    response
}

/// At least one of the two is there.
struct Found {
    plain: Option<File>,
    zipped: Option<File>,
}

/// A file that may be asked for: not the build's own notes, not a compressed one by its own name.
fn open(find: Find, name: &str) -> Option<Found> {
    let hidden = name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
    if hidden || has_ending(name, "gz") {
        return None;
    }
    let found = Found { plain: find(name), zipped: find(&format!("{name}.gz")) };
    (found.plain.is_some() || found.zipped.is_some()).then_some(found)
}

/// For the few clients that take no gzip: most files are in the program only as what browsers are sent.
#[expect(clippy::needless_pass_by_value, reason = "it takes the place of the file")]
fn inflated(zipped: File) -> Option<File> {
    let mut data = Vec::new();
    GzDecoder::new(&*zipped.data).read_to_end(&mut data).ok()?;
    Some(File { data: Cow::Owned(data), hash: zipped.hash })
}

/// Whether this is no address of a page of the studio. A person who types one gets the studio, which says so.
fn is_file_name(name: &str, headers: &HeaderMap) -> bool {
    if name.starts_with(HASHED) {
        return true;
    }
    let person = text(headers, header::ACCEPT).unwrap_or_default().contains("text/html");
    let last = name.rsplit('/').next().unwrap_or_default();
    last.contains('.') && !person
}

fn send(headers: &HeaderMap, name: &str, gzip: bool, file: File) -> Response {
    let mut tag = URL_SAFE_NO_PAD.encode(&file.hash[..12]);
    if gzip {
        tag.push_str("-gz");
    }
    let tag = format!("\"{tag}\"");
    let keep = if name.starts_with(HASHED) { FOREVER } else { ASK };
    let known = text(headers, header::IF_NONE_MATCH)
        .unwrap_or_default()
        .split(',')
        .map(|one| one.trim().trim_start_matches("W/"))
        .any(|one| one == "*" || one == tag);
    let cached = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, keep)];
    if known {
        return (StatusCode::NOT_MODIFIED, cached).into_response();
    }
    let kind = [(header::CONTENT_TYPE, content_type(name))];
    // axum leaves the body out for HEAD and keeps its length.
    let mut response = (cached, kind, Body::from(file.data.into_owned())).into_response();
    if gzip {
        let gzip = HeaderValue::from_static("gzip");
        response.headers_mut().insert(header::CONTENT_ENCODING, gzip);
    }
    response
}

fn not_built() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (kind, NOT_BUILT).into_response()
}

fn not_found(path: &str) -> Response {
    let shown: String = path.chars().take(120).collect();
    Problem::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {shown}"),
        "reload the page: after an update of Steward its files have other names; the API is under /api",
    )
    .into_response()
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    text(headers, header::ACCEPT_ENCODING).unwrap_or_default().split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| matches!(name, "gzip" | "*"));
        let refused =
            parts.any(|part| part.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()).is_some_and(|q| q <= 0.0));
        named && !refused
    })
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == ending)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests;
