//! MCP servers' tools that are accepted and withdrawn, logins at them, and host keys, through the API.

use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use steward_testkit::model_server::Script;

/// A server of the official SDK, perhaps with a login server; ends with the test.
struct Served {
    child: Child,
    port: u16,
    _notes: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn served() -> Served {
    served_with(&["--oauth"])
}

fn served_with(more: &[&str]) -> Served {
    let notes = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/mcp/servers/server.py");
    let mut child = Command::new(steward_testkit::set_up("venv-mcp/bin/python3"))
        .arg(script)
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
    Served { child, port: line.trim().parse().expect("it prints its port"), _notes: notes }
}

fn house() -> House {
    House::with_people(Script::default(), &[("ann", "developer"), ("bob", "developer"), ("vic", "viewer")])
}

fn add(house: &House, served: &Served, per_user: bool) -> String {
    let at = format!("127.0.0.1:{}", served.port);
    let input = json!({
        "name": "wiki", "per_user": per_user,
        "transport": {"kind": "http", "url": format!("http://{at}/mcp"), "allow": [at]},
    });
    let made = house.post("/api/mcp/servers", input, 201);
    format!("/api/mcp/servers/{}", text(&made["id"]))
}

/// Where the browser is sent back to by the login server.
fn log_in(house: &House, url: &str) -> String {
    let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    house.bench.runtime.block_on(async {
        let answer = browser.get(url).send().await.unwrap();
        answer.headers()["location"].to_str().unwrap().to_owned()
    })
}

/// Begins a login as a browser does: the answer, and the cookie that it gets.
fn begin(house: &House, as_key: &str, login: &str) -> (Value, String) {
    let url = format!("{}{login}", house.server.url);
    house.bench.runtime.block_on(async {
        let browser = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = browser.post(url).bearer_auth(as_key).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        for part in ["Path=/api/mcp/callback", "HttpOnly", "SameSite=Lax", "Max-Age=600"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        (answer.json().await.unwrap(), cookie.split(';').next().unwrap().to_owned())
    })
}

/// What the browser with these cookies sees; `as_key`: a program instead.
fn come_back(house: &House, back: &str, cookie: &str, as_key: Option<&str>) -> (u16, String) {
    let path = back.strip_prefix(&house.server.url);
    assert!(path.is_some(), "{back} is not at {}", house.server.url);
    house.bench.runtime.block_on(async {
        let browser = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request = browser.get(back).header("cookie", cookie);
        if let Some(key) = as_key {
            request = request.bearer_auth(key);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    })
}

#[test]
fn an_acceptance_is_taken_back() {
    let people = [("root", "admin"), ("ann", "developer"), ("vic", "viewer")];
    let (house, served) = (House::with_people(Script::default(), &people), served_with(&[]));
    let server = add(&house, &served, false);
    let (accept, withdraw) = (format!("{server}/accept"), format!("{server}/withdraw"));
    let echo = |server: &Value| {
        let found = server["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "echo");
        found.unwrap_or_else(|| panic!("no echo: {server}")).clone()
    };
    let wanted = json!({"tool": "echo"});
    let seen = echo(&house.post(&format!("{server}/check"), json!({}), 200));
    assert_eq!(house.post(&withdraw, wanted.clone(), 409)["code"], "mcp_tool", "nobody has accepted it");
    let accepted = house.post(&accept, json!({"tool": "echo", "hash": seen["hash"]}), 200);
    assert_eq!(echo(&accepted)["callable"], true);

    for who in ["ann", "vic"] {
        assert_eq!(house.call_as(&key(who), Method::POST, &withdraw, Some(wanted.clone())).0, 403, "{who}");
    }
    house.post(&withdraw, json!({"tool": "nothing"}), 404);
    house.post(&withdraw, json!({}), 422);
    assert_eq!(echo(&house.get(&server))["callable"], true);

    let taken = echo(&house.post(&withdraw, wanted.clone(), 200));
    assert_eq!(
        (&taken["callable"], &taken["changed"], &taken["withdrawn"]),
        (&json!(false), &json!(false), &json!(true))
    );
    assert!(taken.get("accepted_by").is_none() && taken["hash"] == seen["hash"], "{taken}");
    assert_eq!(echo(&house.get(&server)), taken);
    let attach = json!({"tools": ["echo"], "agent": null});
    assert_eq!(house.post(&format!("{server}/attach"), attach, 409)["code"], "mcp_tool");
    let (_, trail) = house.call_as(&key("root"), Method::GET, "/api/audit?action=mcp.servers.withdraw", None);
    let done: Vec<&Value> = trail["items"].as_array().unwrap().iter().filter(|entry| entry["result"] == "ok").collect();
    assert_eq!(done.len(), 1, "{trail}");
    assert!(text(&done[0]["target"]).ends_with("/echo"), "which tool: {}", done[0]);
}

#[test]
fn each_person_logs_in_for_themselves_and_one_state_is_good_once() {
    let (house, served) = (house(), served());
    let server = add(&house, &served, true);
    let login = format!("{server}/login");
    let call = |who: &str, path: &str| house.call_as(&key(who), Method::POST, path, None);
    assert_eq!(call("vic", &login).0, 403);
    let (begun, cookie) = begin(&house, &key("ann"), &login);
    let at = format!("/api/mcp/logins/{}", text(&begun["login"]));
    let look = |who: &str| house.call_as(&key(who), Method::GET, &at, None);
    assert_eq!(look("ann").1["status"], "waiting");
    assert_eq!(look("bob").0, 404, "it is somebody else's");

    let back = log_in(&house, &text(&begun["url"]));
    let forged = back.replace("state=", "state=x");
    assert_eq!(come_back(&house, &forged, &cookie, None).0, 400);
    // Whom Ann sends the address to logs in for nobody: not in their browser, not with what they began, not as themselves.
    let (_, of_bob) = begin(&house, &key("bob"), &login);
    let value = of_bob.split_once('=').unwrap().1;
    let taken = format!("{}={value}", cookie.split_once('=').unwrap().0);
    for (cookies, as_key) in [("", None), (of_bob.as_str(), None), (taken.as_str(), None), ("", Some(key("bob")))] {
        let (status, page) = come_back(&house, &back, cookies, as_key.as_deref());
        assert!(status == 400 && page.contains("another browser"), "{page}");
    }
    assert_eq!(look("ann").1["status"], "waiting");
    let (status, page) = come_back(&house, &back, &format!("{of_bob}; {cookie}"), None);
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("close this page"), "{page}");
    assert_eq!(look("ann").1["status"], "done");
    let (status, page) = come_back(&house, &back, &cookie, None);
    assert_eq!(status, 400, "a state is good once");
    assert!(page.contains("not under way"), "{page}");

    // Bob has no token by that.
    let kept = house.items("/api/credentials");
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_ne!(text(&kept[0]["name"]), "mcp_wiki");
    let listed = house.get("/api/credentials").to_string();
    let code = back.split("code=").nth(1).unwrap();
    let code = code.split('&').next().unwrap();
    assert!(!listed.contains(code));
}

#[test]
fn a_servers_own_login_is_an_operators_and_may_be_refused() {
    let (house, served) = (house(), served());
    let server = add(&house, &served, false);
    let login = format!("{server}/login");
    let as_ann = house.call_as(&key("ann"), Method::POST, &login, None);
    assert_eq!(as_ann.0, 403, "it would be everybody's");
    let evil = format!("{login}?origin=https://evil.example.org");
    assert_eq!(house.send(Method::POST, &evil, None, 422)["field"], "origin");
    let (begun, cookie) = begin(&house, &house.server.key, &login);
    let back = log_in(&house, &text(&begun["url"]));
    let state = back.split("state=").nth(1).unwrap();
    let state = state.split('&').next().unwrap();
    let refused = format!("{}/api/mcp/callback?error=access_denied&state={state}", house.server.url);
    assert_eq!(come_back(&house, &refused, "", None).0, 400, "nor does anybody else end it");
    let (status, page) = come_back(&house, &refused, &cookie, None);
    assert_eq!(status, 400);
    assert!(page.contains("access_denied"), "{page}");
    let at = format!("/api/mcp/logins/{}", text(&begun["login"]));
    let told = house.get(&at);
    assert_eq!(told["status"], "failed");
    assert!(text(&told["error"]).contains("access_denied"), "{told}");
    assert_eq!(come_back(&house, &back, &cookie, None).0, 400, "it has ended");
    for none in ["", "?code=x", "?state=x", "?state=x&code=y"] {
        let path = format!("{}/api/mcp/callback{none}", house.server.url);
        assert_eq!(come_back(&house, &path, &cookie, None).0, 400, "{none}");
    }
    house.send(Method::GET, "/api/mcp/logins/0", None, 404);
}

#[test]
fn host_keys_are_accepted_and_forgotten() {
    let house = house();
    let print = format!("SHA256:{}", "b".repeat(43));
    let input = json!({"host": "Web1.example.org", "fingerprint": print});
    let hosts = "/api/skills/hosts";
    let as_ann = house.call_as(&key("ann"), Method::POST, hosts, Some(input.clone()));
    assert_eq!(as_ann.0, 403);
    let kept = house.post(hosts, input, 200);
    let row = json!({"host": "web1.example.org", "port": 22, "fingerprint": print});
    assert_eq!(kept, row);
    let v6 = json!({"host": "fd00::1", "port": 2222, "fingerprint": print});
    house.post(hosts, v6, 200);
    let all = house.get(hosts);
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    assert!(all.as_array().unwrap().contains(&row));
    for (bad, field) in [
        (json!({"host": "web1 x", "fingerprint": print}), "host"),
        (json!({"host": "web1", "fingerprint": "MD5:00"}), "fingerprint"),
    ] {
        assert_eq!(house.post(hosts, bad, 422)["field"], field);
    }
    let v6 = format!("{hosts}/fd00%3A%3A1?port=2222");
    house.send(Method::DELETE, &v6, None, 204);
    house.send(Method::DELETE, &v6, None, 404);
    house.send(Method::DELETE, &format!("{hosts}/web1.example.org?port=23"), None, 404);
    house.send(Method::DELETE, &format!("{hosts}/web1.example.org?port=0x"), None, 422);
    house.send(Method::DELETE, &format!("{hosts}/web1.example.org"), None, 204);
    assert_eq!(house.get(hosts), json!([]));
}
