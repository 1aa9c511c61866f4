//! What a browser does at a login: keeps cookies and goes where it is led.

use super::desk::Desk;
use reqwest::redirect::Policy;
use serde_json::Value;
use std::collections::BTreeMap;

pub struct Browser<'d> {
    desk: &'d Desk,
    client: reqwest::Client,
    pub cookies: BTreeMap<String, String>,
}

impl<'d> Browser<'d> {
    pub fn new(desk: &'d Desk) -> Self {
        let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
        Self { desk, client, cookies: BTreeMap::new() }
    }

    /// The status, and where the answer leads.
    pub fn get(&mut self, url: &str) -> (u16, String) {
        let kept: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.client.get(url).header("cookie", kept.join("; "));
        let answer = self.desk.bench.runtime.block_on(request.send()).unwrap();
        for cookie in answer.headers().get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() || rest.contains("Max-Age=0") || rest.contains("expires=Thu, 01 Jan 1970") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let place = answer.headers().get("location").map(|place| place.to_str().unwrap().to_owned());
        (answer.status().as_u16(), place.unwrap_or_default())
    }

    /// Where the provider is asked to log somebody in.
    pub fn begin(&mut self) -> String {
        let (status, place) = self.get(&format!("{}/api/auth/oidc/sso/start?next=/runs", self.desk.server.url));
        assert_eq!(status, 303, "{place}");
        place
    }

    /// Through the provider's pages, to the address at Steward that they lead back to.
    pub fn through_provider(&mut self, start: &str) -> String {
        let mut place = start.to_owned();
        for _ in 0..6 {
            let (status, next) = self.get(&place);
            assert!((300..400).contains(&status), "{status} {place}");
            if next.starts_with(&self.desk.server.url) {
                return next;
            }
            place = if next.starts_with('/') { format!("{}{next}", origin_of(&place)) } else { next };
        }
        panic!("the provider leads in a circle: {place}");
    }

    /// A whole login; where it leads at last.
    pub fn sign_on(&mut self) -> String {
        let start = self.begin();
        if start.starts_with('/') {
            return start;
        }
        let back = self.through_provider(&start);
        self.get(&back).1
    }

    /// The session of the cookie, as the studio begins it.
    pub fn session(&mut self) -> (u16, Value) {
        let token = self.cookies.get("steward_refresh").cloned().unwrap_or_default();
        let request = self
            .client
            .post(format!("{}/api/auth/refresh", self.desk.server.url))
            .header("x-steward", "1")
            .header("cookie", format!("steward_refresh={token}"));
        self.desk.bench.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.json().await.unwrap())
        })
    }
}

fn origin_of(url: &str) -> &str {
    let host = url.find("://").unwrap() + 3;
    &url[..url[host..].find('/').map_or(url.len(), |at| host + at)]
}
