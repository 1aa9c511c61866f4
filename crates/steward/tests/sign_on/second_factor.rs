use super::desk::{ADMIN, Desk, PASSWORD};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::ports::Clock as _;
use steward_infra::SystemClock;

fn now_s() -> u64 {
    u64::try_from(SystemClock::new().now().0 / 1000).unwrap()
}

/// What an app shows for the secret, `steps` from now, computed by another program than ours.
fn code(secret: &str, steps: i64) -> String {
    let at = i64::try_from(now_s()).unwrap() / 30 + steps;
    let program = "import base64,hmac,struct,sys\n\
        key=base64.b32decode(sys.argv[1]+'='*(-len(sys.argv[1])%8))\n\
        h=hmac.new(key,struct.pack('>q',int(sys.argv[2])),'sha1').digest()\n\
        o=h[-1]&15\n\
        print('%06d'%((struct.unpack('>I',h[o:o+4])[0]&0x7fffffff)%1000000))";
    let done = std::process::Command::new("python3").args(["-c", program, secret, &at.to_string()]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Waits while the step is about to end, so that codes are those of one step.
fn within_a_step() {
    while now_s() % 30 > 20 {
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn step(desk: &Desk, challenge: &Value, code: &str) -> (u16, Value) {
    let body = json!({"challenge": challenge, "code": code});
    desk.call(None, Method::POST, "/api/auth/second-factor", Some(body))
}

#[test]
fn codes_are_asked_for_and_each_counts_once() {
    let desk = Desk::new();
    let me = |method: Method, path: &str, body: Value| {
        desk.call(Some(&desk.admin), method, path, Some(body).filter(|body| !body.is_null()))
    };
    within_a_step();
    assert_eq!(me(Method::GET, "/api/auth/totp", Value::Null).1["enabled"], json!(false));
    let (_, made) = me(Method::POST, "/api/auth/totp", Value::Null);
    let secret = made["secret"].as_str().unwrap().to_owned();
    assert!(made["uri"].as_str().unwrap().contains(&secret), "{made}");
    assert_eq!(desk.log_in(ADMIN, PASSWORD).0, 200, "not confirmed, so not asked for");
    assert_eq!(me(Method::POST, "/api/auth/totp/confirm", json!({"code": "000000"})).0, 401);
    let first = code(&secret, -1);
    let (status, confirmed) = me(Method::POST, "/api/auth/totp/confirm", json!({"code": first}));
    assert_eq!(status, 200, "{confirmed}");
    let recovery = confirmed["recovery_codes"].as_array().unwrap().clone();
    assert_eq!(recovery.len(), 10);
    assert_eq!(me(Method::POST, "/api/auth/totp", Value::Null).0, 409);

    let (status, asked) = desk.log_in(ADMIN, PASSWORD);
    assert_eq!((status, &asked["second_factor_required"], &asked["enrol"]), (202, &json!(true), &json!(false)));
    assert!(asked["access_token"].is_null());
    let challenge = &asked["challenge"];
    let (status, _) = desk.call(challenge.as_str(), Method::GET, "/api/auth/me", None);
    assert_eq!(status, 401, "a challenge is no access token");
    assert_eq!(step(&desk, challenge, &first).0, 401, "used when it was confirmed");
    let second = code(&secret, 0);
    assert_eq!(step(&desk, challenge, &second).0, 200);
    assert_eq!(step(&desk, challenge, &second).1["code"], json!("wrong_code"), "a code is good once");
    assert_eq!(step(&desk, challenge, &first).0, 401, "and none before it");
    let recovered = recovery[0].as_str().unwrap();
    assert_eq!(step(&desk, challenge, &recovered.to_uppercase().replace('-', " ")).0, 200);
    assert_eq!(step(&desk, challenge, recovered).0, 401, "a recovery code is good once");
    assert_eq!(me(Method::GET, "/api/auth/totp", Value::Null).1["recovery_codes_left"], json!(9));
    let next = code(&secret, 1);
    let (status, fresh) = me(Method::POST, "/api/auth/totp/recovery-codes", json!({"code": next}));
    assert_eq!(status, 200, "{fresh}");
    assert_eq!(step(&desk, challenge, recovery[1].as_str().unwrap()).0, 401, "replaced");

    let last = fresh["recovery_codes"][0].as_str().unwrap();
    assert_eq!(me(Method::DELETE, "/api/auth/totp", json!({"code": last})).0, 204);
    assert_eq!(desk.log_in(ADMIN, PASSWORD).0, 200);
    let database = std::fs::read(desk.bench.data().join("steward.db")).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&database).contains(&secret), "the secret is sealed");
}

#[test]
fn wrong_codes_close_the_login_and_roles_can_need_one() {
    let desk = Desk::new();
    let invited = desk.manage(Method::POST, "/api/users", json!({"email": "ann@example.org", "role": "developer"}));
    let token = invited["invitation"]["token"].as_str().unwrap();
    let accept = json!({"token": token, "password": PASSWORD});
    assert_eq!(desk.call(None, Method::POST, "/api/auth/invitation", Some(accept)).0, 200);
    desk.manage(Method::PUT, "/api/identity/settings", json!({"second_factor_roles": ["developer"]}));
    assert_eq!(desk.log_in(ADMIN, PASSWORD).0, 200, "another role");
    let (status, asked) = desk.log_in("ann@example.org", PASSWORD);
    assert_eq!((status, &asked["enrol"]), (202, &json!(true)));
    let challenge = asked["challenge"].clone();
    assert_eq!(step(&desk, &challenge, "123456").0, 401, "there is nothing to show a code of");
    let body = json!({"challenge": challenge});
    let (_, made) = desk.call(None, Method::POST, "/api/auth/second-factor/enrol", Some(body.clone()));
    within_a_step();
    let secret = made["secret"].as_str().unwrap();
    let (status, done) = step(&desk, &challenge, &code(secret, 0));
    assert_eq!((status, done["recovery_codes"].as_array().map(Vec::len)), (200, Some(10)), "{done}");
    assert!(done["access_token"].is_string());
    let (status, _) = desk.call(None, Method::POST, "/api/auth/second-factor/enrol", Some(body));
    assert_eq!(status, 409, "a right password alone does not replace it");

    for _ in 0..5 {
        assert_eq!(step(&desk, &challenge, "000000").0, 401);
    }
    assert_eq!(step(&desk, &challenge, &code(secret, 1)).0, 429, "five failures close it");
    assert_eq!(desk.log_in("ann@example.org", PASSWORD).0, 429, "for passwords too");

    let path = format!("/api/users/{}/second-factor", desk.user_id("ann@example.org"));
    desk.manage(Method::DELETE, &path, Value::Null);
    assert_eq!(desk.call(Some(&desk.admin), Method::DELETE, &path, None).0, 404);
    let token = done["access_token"].as_str();
    assert_eq!(desk.call(token, Method::GET, "/api/auth/me", None).0, 401, "their sessions end");
}

#[test]
fn lifetimes_are_settings() {
    let desk = Desk::new();
    let set = json!({"access_token_s": 60, "session_s": 600, "invitation_s": 3600});
    desk.manage(Method::PUT, "/api/identity/settings", set);
    assert_eq!(desk.log_in(ADMIN, PASSWORD).1["expires_in"], json!(60));
    let invited = desk.manage(Method::POST, "/api/users", json!({"email": "ann@example.org", "role": "viewer"}));
    let ends = invited["invitation"]["expires_at"].as_u64().unwrap() / 1000;
    assert!((now_s() + 3500..=now_s() + 3601).contains(&ends), "{invited}");
    let sessions = desk.manage(Method::GET, "/api/auth/sessions", Value::Null);
    let ends = sessions["items"][0]["expires_at"].as_u64().unwrap() / 1000;
    assert!(ends <= now_s() + 601, "{sessions}");
    for (field, value) in [("access_token_s", 10), ("session_s", 60), ("invitation_s", 60), ("clock_skew_s", 9999)] {
        let body = Some(json!({ field: value }));
        let (status, answer) = desk.call(Some(&desk.admin), Method::PUT, "/api/identity/settings", body);
        assert_eq!((status, &answer["field"]), (422, &json!(field)), "{answer}");
    }
}
