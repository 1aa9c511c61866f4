//! `oidc-provider` on loopback, started by the test. It asks nobody anything; `control` says who logs in, and what time it is.

use super::desk::Desk;
use crate::common::cache;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

pub const SECRET: &str = "a client secret for tests/+ %";

pub struct Provider {
    child: Child,
    _out: BufReader<ChildStdout>,
    _place: TempDir,
    pub issuer: String,
}

impl Provider {
    /// For a server, which is told of it as `sso`.
    pub fn start(desk: &Desk, changes: Value) -> Self {
        let place = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/node/oidc_provider.mjs");
        let script = place.path().join("oidc_provider.mjs");
        std::fs::copy(source, &script).unwrap();
        let packages = steward_testkit::set_up("clients-node/node_modules");
        std::os::unix::fs::symlink(packages, place.path().join("node_modules")).unwrap();
        let own = cache().join("node/bin/node");
        let mut child = Command::new(if own.exists() { own } else { "node".into() })
            .arg(script)
            .args(["steward", SECRET, &format!("{}/api/auth/oidc/sso/callback", desk.server.url)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut issuer = String::new();
        while !issuer.starts_with("http://") {
            issuer.clear();
            assert!(out.read_line(&mut issuer).unwrap() > 0, "the provider does not start");
        }
        let issuer = issuer.trim().to_owned();
        let provider = Self { child, _out: out, _place: place, issuer };
        provider.save(desk, changes);
        provider
    }

    /// Makes or replaces `sso`.
    pub fn save(&self, desk: &Desk, changes: Value) {
        let mut settings = json!({
            "label": "Single sign-on", "issuer": self.issuer, "client_id": "steward",
            "scopes": ["openid", "email", "profile", "groups"],
        });
        settings.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let body = json!({"settings": settings, "client_secret": SECRET});
        let saved = desk.manage(Method::PUT, "/api/identity/providers/sso", body);
        assert!(saved["has_secret"] == json!(true) && !saved.to_string().contains(SECRET), "{saved}");
    }

    pub fn control(&self, desk: &Desk, body: Value) -> Value {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.post(format!("{}/control", self.issuer)).json(&body);
        desk.bench.runtime.block_on(async { request.send().await.unwrap().json().await.unwrap() })
    }

    /// From now on this is who logs in.
    pub fn account(&self, desk: &Desk, id: &str, claims: Value) {
        self.control(desk, json!({"account": id, "claims": claims}));
    }

    /// An access token of a program, for `audience`.
    pub fn program_token(&self, desk: &Desk, client: (&str, &str), audience: &str) -> String {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = http
            .post(format!("{}/token", self.issuer))
            .basic_auth(client.0, Some(client.1))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("grant_type=client_credentials&scope=api&resource={audience}"));
        let answer: Value = desk.bench.runtime.block_on(async { request.send().await.unwrap().json().await.unwrap() });
        answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.stop();
    }
}
