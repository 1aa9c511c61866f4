use crate::commands::both;
use crate::common::Bench;
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The MCP server of the official SDK, over HTTP, with a login server; ends with the test.
struct Served {
    child: Child,
    port: u16,
    _notes: tempfile::TempDir,
}

impl Served {
    fn start(more: &[&str]) -> Self {
        let notes = tempfile::tempdir().unwrap();
        let mut child = Command::new(steward_testkit::set_up("venv-mcp/bin/python3"))
            .arg(script())
            .arg("--http")
            .args(more)
            .arg("--notes")
            .arg(notes.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/setup.sh test makes the environment");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().expect("it prints its port"), _notes: notes }
    }

    fn add(&self, bench: &Bench, name: &str) {
        let url = format!("http://127.0.0.1:{}/mcp", self.port);
        let allow = format!("127.0.0.1:{}", self.port);
        let add = ["mcp", "add", name, "--url", &url, "--allow", &allow];
        bench.run(&add).exits(0).tells(&["steward mcp check"]);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/mcp/servers/server.py")
}

/// Where a login leads without following it: status, address to go on to, page.
fn visit(bench: &Bench, url: &str) -> (u16, String, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    bench.runtime.block_on(async {
        let answer = browser.get(url).send().await.unwrap();
        let status = answer.status().as_u16();
        let next = answer.headers().get("location");
        let next = next.map_or("", |to| to.to_str().unwrap()).to_owned();
        (status, next, answer.text().await.unwrap())
    })
}

#[test]
fn a_server_is_added_looked_at_accepted_and_removed() {
    both(|bench, _| {
        let served = Served::start(&[]);
        bench.run(&["mcp"]).exits(0).tells(&["steward mcp add"]);
        served.add(bench, "wiki");
        bench.run(&["mcp", "accept", "wiki", "echo"]).exits(1).tells(&["steward mcp check wiki"]);
        let seen = bench.run(&["mcp", "check", "wiki"]).exits(0);
        assert!(seen.out.contains("not accepted") && seen.out.contains("Says it again."), "{seen:#?}");
        seen.tells(&["steward mcp accept wiki"]);
        let server = bench.run(&["mcp", "check", "wiki", "--json"]).exits(0).json();
        let tools = server["tools"].as_array().unwrap();
        let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
        let hash = echo["hash"].as_str().unwrap();

        let unseen = bench.run(&["mcp", "accept", "wiki", "echo"]).exits(1);
        unseen.tells(&["--hash", hash]);
        let other = ["mcp", "accept", "wiki", "echo", "--hash", "0"];
        bench.run(&other).exits(1).tells(&["is not what has this hash"]);
        let accept = ["mcp", "accept", "wiki", "echo", "--hash", hash];
        bench.run(&accept).exits(0).tells(&["steward mcp attach wiki"]);
        bench.run(&["mcp", "attach", "wiki"]).exits(0).tells(&["steward has: wiki_echo"]);
        let all = ["mcp", "accept", "wiki", "--all", "-y", "--agent", "steward", "--json"];
        let skills = bench.run(&all).exits(0).json();
        assert_eq!(skills.as_array().unwrap().len(), tools.len() - 1);
        bench.run(&["mcp", "accept", "wiki", "--all", "-y"]).exits(0).tells(&["nothing"]);

        let call = ["skill", "test", "wiki_echo", "--arguments", r#"{"text": "hi"}"#, "--run", "-y"];
        let said = bench.run(&call).exits(0);
        assert!(said.out.contains("echo: hi"), "{said:#?}");

        bench.run(&["mcp", "withdraw", "wiki"]).exits(2);
        bench.run(&["mcp", "withdraw", "wiki", "echo", "other"]).exits(1).tells(&["`other`", "steward mcp check wiki"]);
        bench.run(&["mcp", "withdraw", "wiki", "echo"]).exits(0).tells(&["steward mcp accept wiki"]);
        bench.run(&["mcp", "withdraw", "wiki", "echo"]).exits(1).tells(&["no accepted tool `echo`"]);
        bench.run(&["mcp", "accept", "wiki", "--all", "-y"]).exits(0).tells(&["nothing"]);
        let refused = bench.run(&call).exits(1);
        refused.tells(&["has not been accepted"]);
        bench.run(&["mcp", "remove", "wiki"]).exits(0);
        bench.run(&["mcp", "check", "wiki"]).exits(1).tells(&["steward mcp list"]);
    });
}

#[test]
fn a_person_logs_in_with_a_browser() {
    both(|bench, _| {
        let served = Served::start(&["--oauth"]);
        served.add(bench, "wiki");
        bench.run(&["mcp", "check", "wiki"]).exits(1).tells(&["steward mcp login wiki"]);
        let mut login = bench.command(&["mcp", "login", "wiki"]);
        let mut login = login.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(login.stdout.take().unwrap());
        let mut url = String::new();
        out.read_line(&mut url).unwrap();
        let (status, back, _) = visit(bench, url.trim());
        assert_eq!(status, 302, "{url}");
        assert!(back.contains("/api/mcp/callback?"), "{back}");
        let (status, _, page) = visit(bench, &back);
        assert_eq!(status, 200, "{page}");
        assert!(page.contains("close this page"), "{page}");
        let ended = login.wait().unwrap();
        let mut said = String::new();
        login.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(ended.success() && said.contains("logged in"), "{said}");
        let server = bench.run(&["mcp", "check", "wiki", "--json"]).exits(0).json();
        assert_eq!(server["credential"]["name"], "mcp_wiki");
        let kept = bench.run(&["credential", "show", "mcp_wiki", "--json"]).exits(0).json();
        assert!(kept["secret"].as_array().unwrap().contains(&json!("refresh_token")), "{kept}");
    });
}

#[test]
fn what_is_no_server_is_refused() {
    both(|bench, _| {
        for args in [&["mcp", "add", "x"][..], &["mcp", "add", "x", "--url", "http://a/mcp", "--", "true"]] {
            bench.run(args).exits(2);
        }
        let url = ["mcp", "add", "x", "--url", "gopher://a"];
        bench.run(&url).exits(1).tells(&["https://example.org/mcp"]);
        let name = ["mcp", "add", "No Name", "--url", "https://example.org/mcp"];
        bench.run(&name).exits(1).tells(&["a-z"]);
        let program = script();
        let add = ["mcp", "add", "local", "--read", "/opt", "--", "/opt/x", program.to_str().unwrap()];
        bench.run(&add).exits(0);
        bench.run(&["mcp", "login", "local"]).exits(1).tells(&["local program"]);
        bench.run(&["mcp", "attach", "local"]).exits(1).tells(&["no tool of `local` is accepted"]);
    });
}
