use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

pub const ADMIN: &str = "root@example.org";
pub const PASSWORD: &str = "a heron stands in the reeds";

/// A server with an administrator who is logged in.
pub struct Desk {
    pub bench: Bench,
    pub server: Server,
    pub admin: String,
}

impl Desk {
    pub fn new() -> Self {
        let bench = Bench::new(Script::default());
        let variables = [("STEWARD_ADMIN_EMAIL", ADMIN), ("STEWARD_ADMIN_PASSWORD", PASSWORD)];
        let server = Server::start_with(&bench, &variables);
        let mut desk = Self { bench, server, admin: String::new() };
        let (status, session) = desk.log_in(ADMIN, PASSWORD);
        assert_eq!(status, 200, "{session}");
        session["access_token"].as_str().unwrap().clone_into(&mut desk.admin);
        desk
    }

    pub fn call(&self, token: Option<&str>, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let (status, answer) = self.server.request(&self.bench, method, path, token, body.as_ref());
        (status.as_u16(), answer)
    }

    /// As the administrator; asserts that it is done.
    pub fn manage(&self, method: Method, path: &str, body: Value) -> Value {
        let body = Some(body).filter(|body| !body.is_null());
        let (status, answer) = self.call(Some(&self.admin), method, path, body);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    pub fn log_in(&self, email: &str, password: &str) -> (u16, Value) {
        let body = json!({"email": email, "password": password});
        self.call(None, Method::POST, "/api/auth/login", Some(body))
    }

    pub fn log_in_by_directory(&self, username: &str, password: &str) -> (u16, Value) {
        let body = json!({"username": username, "password": password});
        self.call(None, Method::POST, "/api/auth/login/ad", Some(body))
    }

    pub fn user_id(&self, email: &str) -> String {
        let page = self.manage(Method::GET, &format!("/api/users?search={email}"), Value::Null);
        page["items"][0]["id"].as_str().unwrap_or_else(|| panic!("no {email}: {page}")).to_owned()
    }

    /// Actions of the audit trail with their results, newest first.
    pub fn trail(&self) -> Vec<(String, String)> {
        let page = self.manage(Method::GET, "/api/audit?limit=100", Value::Null);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        page["items"].as_array().unwrap().iter().map(|one| (text(&one["action"]), text(&one["result"]))).collect()
    }
}
