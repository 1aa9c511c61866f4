use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};

const ADMIN: [(&str, &str); 2] =
    [("STEWARD_ADMIN_EMAIL", "ada@example.org"), ("STEWARD_ADMIN_PASSWORD", "a heron stands in the reeds")];
const PASSWORD: &str = "an otter swims in the river";

struct Two {
    bench: Bench,
    server: Option<Server>,
    home: String,
    acme: String,
}

impl Two {
    fn call(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let server = self.server.as_ref().unwrap();
        let (status, value) = server.request(&self.bench, method, path, Some(token), body.as_ref());
        (status.as_u16(), value)
    }

    fn login(&self, tenant: Option<&str>, email: &str, password: &str) -> (u16, String) {
        let body = json!({"email": email, "password": password, "tenant": tenant});
        let (status, session) = self.call("", Method::POST, "/api/auth/login", Some(body));
        (status, session["access_token"].as_str().unwrap_or_default().to_owned())
    }

    fn restart(&mut self) {
        self.server = None;
        self.server = Some(Server::start_with(&self.bench, &ADMIN));
        self.home = self.login(None, ADMIN[0].1, ADMIN[1].1).1;
        self.acme = self.login(Some("acme"), "ann@acme.example", PASSWORD).1;
    }

    fn agent(&self, token: &str) -> String {
        let (_, agents) = self.call(token, Method::GET, "/api/agents", None);
        agents["items"][0]["id"].as_str().unwrap().to_owned()
    }

    /// A run to its end.
    fn ask(&self, token: &str, message: &str) -> Value {
        let path = format!("/api/chat/{}", self.agent(token));
        let (status, started) = self.call(token, Method::POST, &path, Some(json!({"message": message})));
        assert_eq!(status, 202, "{started}");
        let path = format!("/api/runs/{}", started["run_id"].as_str().unwrap());
        let begun = Instant::now();
        loop {
            let (_, run) = self.call(token, Method::GET, &path, None);
            if run["status"] == "finished" || run["status"] == "parked" {
                return run;
            }
            assert!(begun.elapsed() < Duration::from_mins(5), "{run}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn two(script: Script) -> Two {
    let bench = Bench::new(script);
    let server = Server::start_with(&bench, &ADMIN);
    let mut two = Two { bench, server: Some(server), home: String::new(), acme: String::new() };
    two.home = two.login(None, ADMIN[0].1, ADMIN[1].1).1;
    let body = json!({"slug": "acme", "name": "Acme", "administrator": "ann@acme.example"});
    let (status, made) = two.call(&two.home, Method::POST, "/api/tenants", Some(body));
    assert_eq!(status, 201, "{made}");
    let body = json!({"token": made["invitation"]["token"], "password": PASSWORD});
    let (status, session) = two.call("", Method::POST, "/api/auth/invitation", Some(body));
    assert_eq!(status, 200, "{session}");
    session["access_token"].as_str().unwrap().clone_into(&mut two.acme);
    two
}

#[test]
fn an_organisation_works_apart_from_its_first_minute() {
    let write = Behaviour::calls([("write", json!({"path": "plan.md", "content": "a plan"}))]);
    let mut two = two(Script::of([write, Behaviour::text("Done.")]));
    // Nothing of the installation's is offered: no server of its environment, no key, no file.
    let (_, connections) = two.call(&two.acme, Method::GET, "/api/connections", None);
    let models: Vec<&str> =
        connections["items"].as_array().unwrap().iter().filter_map(|one| one["provider"].as_str()).collect();
    assert!(models.iter().all(|provider| *provider == "local"), "{connections}");
    let body = json!({
        "name": "stolen", "provider": "compatible", "base_url": two.bench.model.base_url(), "model": "scripted",
        "auth": {"kind": "bearer_env", "variable": "OPENAI_API_KEY"},
    });
    let (status, refused) = two.call(&two.acme, Method::POST, "/api/connections", Some(body));
    assert!((400..500).contains(&status), "{refused}");
    let body = json!({
        "name": "own", "provider": "compatible", "base_url": two.bench.model.base_url(), "model": "scripted",
        "auth": {"kind": "none"},
    });
    let (status, own) = two.call(&two.acme, Method::POST, "/api/connections", Some(body));
    assert_eq!(status, 201, "{own}");
    let default = format!("/api/connections/{}/default", own["id"].as_str().unwrap());
    assert_eq!(two.call(&two.acme, Method::POST, &default, None).0, 204);

    let run = two.ask(&two.acme, "Write a plan into plan.md.");
    let id = run["id"].as_str().unwrap().to_owned();
    let (_, list) = two.call(&two.home, Method::GET, "/api/tenants", None);
    let tenant = list["items"].as_array().unwrap().iter().find(|one| one["slug"] == "acme").unwrap()["id"].clone();
    let folder = two.bench.data().join("tenants").join(tenant.as_str().unwrap());
    if run["status"] == "finished" {
        assert!(folder.join("workspace/plan.md").is_file(), "{run}");
    }
    assert!(!two.bench.work.path().join("plan.md").exists());
    // The installation's administrator sees neither the run nor who works there.
    for path in [format!("/api/runs/{id}"), format!("/api/runs/{id}/events"), format!("/api/runs/{id}/log")] {
        assert_eq!(two.call(&two.home, Method::GET, &path, None).0, 404, "{path}");
        assert_ne!(two.call(&two.acme, Method::GET, &path.replace("/events", ""), None).0, 404, "{path}");
    }
    for path in ["/api/runs", "/api/users", "/api/audit", "/api/usage", "/api/conversations", "/api/dashboard"] {
        let (status, page) = two.call(&two.home, Method::GET, path, None);
        assert_eq!(status, 200, "{path}: {page}");
        assert!(!page.to_string().contains("acme.example") && !page.to_string().contains(&id), "{path}: {page}");
    }

    std::fs::write(folder.join("workspace/note.txt"), "kept").unwrap();
    // It is there after a restart, and gone while it is disabled.
    two.restart();
    assert_eq!(two.call(&two.acme, Method::GET, &format!("/api/runs/{id}"), None).0, 200);
    let path = format!("/api/tenants/{}", tenant.as_str().unwrap());
    assert_eq!(two.call(&two.home, Method::PATCH, &path, Some(json!({"disabled": true}))).0, 200);
    assert_eq!(two.call(&two.acme, Method::GET, "/api/runs", None).0, 401);
    two.restart();
    assert_eq!(two.login(Some("acme"), "ann@acme.example", PASSWORD).0, 401);
    let (status, deleted) = two.call(&two.home, Method::DELETE, &path, Some(json!({"slug": "acme"})));
    assert_eq!(status, 200, "{deleted}");
    assert!(deleted["files"].as_u64().is_some_and(|files| files >= 1), "{deleted}");
    assert!(!folder.exists());
}
