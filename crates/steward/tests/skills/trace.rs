//! Looking for a secret wherever it may have been left.

use crate::api_routes::house::House;
use crate::skills::places::in_url;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use serde_json::Value;
use std::path::Path;

/// The ways in which a secret may stand somewhere: as it is, in JSON, in a URL, in base64 at each of the
/// three places at which it may begin there (less what its neighbours take part in), in hexadecimal.
pub fn forms(secret: &str) -> Vec<(String, Vec<u8>)> {
    let json = Value::from(secret).to_string();
    let mut all = vec![
        ("plain".to_owned(), secret.to_owned()),
        ("json".to_owned(), json[1..json.len() - 1].to_owned()),
        ("url".to_owned(), in_url(secret)),
        ("url, small".to_owned(), in_url(secret).to_lowercase()),
    ];
    for shift in 0..3 {
        let text = format!("{}{secret}", "x".repeat(shift));
        for (name, coded) in
            [("base64", BASE64_STANDARD_NO_PAD.encode(&text)), ("base64url", BASE64_URL_SAFE_NO_PAD.encode(&text))]
        {
            let from = [0, 2, 3][shift];
            let to = text.len() * 8 / 6;
            all.push((format!("{name} +{shift}"), coded[from..to].to_owned()));
        }
    }
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
    let hex = secret.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    all.push(("hex".to_owned(), hex.collect()));
    all.into_iter().map(|(name, text)| (name, text.into_bytes())).collect()
}

/// What was looked at: names of places and what stands there.
pub type Found = Vec<(String, Vec<u8>)>;

/// Every file below a folder.
pub fn files(folder: &Path, found: &mut Found) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found.push((path.display().to_string(), bytes));
        }
    }
}

/// Whatever can be had from the API: each list of its document, and each thing in a list with its parts.
pub fn answers(house: &House, found: &mut Found) {
    let document = house.get("/api/openapi.json");
    let paths = document["paths"].as_object().unwrap();
    // A stream of what happens next has no end.
    let gets = paths.iter().filter(|(path, ways)| ways["get"].is_object() && *path != "/api/events");
    let gets: Vec<&str> = gets.map(|(path, _)| path.as_str()).collect();
    let mut look = |path: &str| {
        let (status, answer) = house.call(reqwest::Method::GET, path, None);
        let place = format!("GET {path}: {status}");
        found.push((place, answer.to_string().into_bytes()));
        answer
    };
    for list in gets.iter().filter(|path| !path.contains('{')) {
        let all = look(list);
        let items = all["items"].as_array().cloned().unwrap_or_default();
        let part = format!("{list}/{{id}}");
        for path in gets.iter().filter(|path| path.starts_with(&part)) {
            for id in items.iter().filter_map(|item| item["id"].as_str()) {
                look(&path.replace("{id}", id));
            }
        }
    }
}

/// Asserts that none of `secrets` stands in any of the places.
pub fn assert_nowhere(secrets: &[&str], found: &Found) {
    let mut bad = Vec::new();
    for secret in secrets {
        for (form, needle) in forms(secret) {
            for (place, bytes) in found {
                if let Some(at) = memchr::memmem::find(bytes, &needle) {
                    let from = at.saturating_sub(80);
                    let to = (at + needle.len() + 40).min(bytes.len());
                    let around = String::from_utf8_lossy(&bytes[from..to]);
                    bad.push(format!("{secret} ({form}) in {place}: …{around}…"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} times:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn every_form_is_found() {
    let secret = "canary-9+/=\"x";
    for before in ["", "a", "ab", "abc"] {
        for after in ["", "z", "yz", "xyz"] {
            let text = format!("{before}{secret}{after}");
            let places = [
                text.clone(),
                Value::from(text.clone()).to_string(),
                in_url(&text),
                BASE64_STANDARD_NO_PAD.encode(&text),
                BASE64_URL_SAFE_NO_PAD.encode(&text),
            ];
            for place in places {
                let found =
                    forms(secret).iter().any(|(_, needle)| memchr::memmem::find(place.as_bytes(), needle).is_some());
                assert!(found, "not found in {place}");
            }
        }
    }
}
