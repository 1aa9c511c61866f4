use super::browser::Browser;
use super::desk::{ADMIN, Desk, PASSWORD};
use super::provider::Provider;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

fn ada() -> Value {
    json!({"email": "ada@example.org", "email_verified": true, "name": "Ada L.", "groups": ["devs"]})
}

fn refused(place: &str) -> &str {
    place.strip_prefix("/login?sign_on=").unwrap_or(place)
}

#[test]
fn people_enter_by_a_provider_with_the_role_of_their_groups() {
    let desk = Desk::new();
    let roles =
        json!({"admission": {"roles": [{"group": "devs", "role": "developer"}, {"group": "ops", "role": "operator"}]}});
    let mut provider = Provider::start(&desk, roles);
    provider.account(&desk, "ada", ada());
    let (_, offered) = desk.call(None, Method::GET, "/api/auth/oidc", None);
    assert_eq!(offered, json!({"providers": [{"name": "sso", "label": "Single sign-on"}], "directory": null}));

    let mut typed = json!({"label": "x", "issuer": provider.issuer, "client_id": "steward"});
    let tried = desk.manage(Method::POST, "/api/identity/try/provider", json!({"settings": typed}));
    assert!(tried["works"] == true && tried["found"][0].to_string().contains(&provider.issuer), "{tried}");
    typed["issuer"] = json!(format!("{}/other", provider.issuer));
    let tried = desk.manage(Method::POST, "/api/identity/try/provider", json!({"settings": typed}));
    assert_eq!(tried["works"], false, "{tried}");

    let mut browser = Browser::new(&desk);
    assert_eq!(browser.sign_on(), "/runs");
    assert!(!browser.cookies.contains_key("steward_sign_on"), "used up");
    let (status, session) = browser.session();
    assert_eq!((status, &session["user"]["role"]), (200, &json!("developer")), "{session}");
    let token = session["access_token"].as_str().unwrap();
    let (_, me) = desk.call(Some(token), Method::GET, "/api/auth/me", None);
    assert_eq!((&me["email"], &me["name"]), (&json!("ada@example.org"), &json!("Ada L.")));

    // The provider's id is what counts, whatever email it says later.
    let mut changed = ada();
    changed["email"] = json!("ada.new@example.org");
    changed["groups"] = json!(["ops", "others"]);
    provider.account(&desk, "ada", changed);
    let mut browser = Browser::new(&desk);
    browser.sign_on();
    let (_, later) = browser.session();
    assert_eq!((&later["user"]["id"], &later["user"]["role"]), (&me["id"], &json!("operator")));

    let path = format!("/api/users/{}", me["id"].as_str().unwrap());
    desk.manage(Method::PATCH, &path, json!({"disabled": true}));
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "not_admitted");
    assert_eq!(browser.session().0, 401);
    desk.manage(Method::PATCH, &path, json!({"disabled": false}));

    // Not vouched for: no account is made, and none is found by the email.
    for (id, verified) in [("eve", json!(false)), ("mal", json!("no")), ("nan", Value::Null)] {
        provider.account(&desk, id, json!({"email": ADMIN, "email_verified": verified}));
        assert_eq!(refused(&Browser::new(&desk).sign_on()), "no_email", "{id}");
    }
    provider.account(&desk, "root", json!({"email": ADMIN, "email_verified": true}));
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "email_taken", "linking is off");
    provider.account(&desk, "local", json!({"email": "local@steward", "email_verified": true}));
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "email_taken", "nobody is this machine's owner");

    provider.save(
        &desk,
        json!({"admission": {"link_by_email": true, "email_domains": ["example.org"], "provision": false}}),
    );
    provider.account(&desk, "root", json!({"email": ADMIN, "email_verified": true}));
    let mut browser = Browser::new(&desk);
    assert_eq!(browser.sign_on(), "/runs");
    assert_eq!(browser.session().1["user"]["role"], json!("admin"), "linked, and the role is kept without a mapping");
    provider.account(&desk, "dan", json!({"email": "dan@other.example", "email_verified": true}));
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "not_admitted");
    provider.account(&desk, "new", json!({"email": "new@example.org", "email_verified": true}));
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "no_account");
    let trail = desk.trail();
    for entry in [("auth.oidc.callback", "ok"), ("auth.oidc.callback", "refused")] {
        assert!(trail.contains(&(entry.0.to_owned(), entry.1.to_owned())), "{entry:?}: {trail:?}");
    }

    provider.stop();
    provider.save(&desk, json!({}));
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "provider", "the provider is down");
    assert_eq!(desk.log_in(ADMIN, PASSWORD).0, 200, "the local administrator still enters");
    desk.manage(Method::DELETE, "/api/identity/providers/sso", Value::Null);
    assert_eq!(refused(&Browser::new(&desk).sign_on()), "no_provider");
}

#[test]
fn what_comes_back_belongs_to_the_browser_that_began_and_counts_once() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, json!({}));
    provider.account(&desk, "ada", ada());
    let mut browser = Browser::new(&desk);
    let start = browser.begin();
    let back = browser.through_provider(&start);
    let cookie = browser.cookies["steward_sign_on"].clone();

    // Somebody else's browser is led to the address: a session that is not theirs.
    let mut victim = Browser::new(&desk);
    assert_eq!(refused(&victim.get(&back).1), "state");
    assert!(!victim.cookies.contains_key("steward_refresh"));
    victim.begin();
    assert_eq!(refused(&victim.get(&back).1), "state", "a login of their own does not help");
    let other_state = back.replace("state=", "state=x");
    assert_eq!(refused(&browser.get(&other_state).1), "state");

    browser.cookies.insert("steward_sign_on".to_owned(), cookie.clone());
    assert_eq!(browser.get(&back).1, "/runs");
    let first = browser.cookies["steward_refresh"].clone();
    browser.cookies.insert("steward_sign_on".to_owned(), cookie);
    assert_eq!(refused(&browser.get(&back).1), "token", "a code is good once");

    // A refresh token that was there before is no session afterwards.
    let mut fixed = Browser::new(&desk);
    fixed.cookies.insert("steward_refresh".to_owned(), "chosen-by-somebody-else".to_owned());
    fixed.sign_on();
    assert!(fixed.cookies["steward_refresh"].len() >= 43 && fixed.cookies["steward_refresh"] != first);

    // The nonce of another login.
    let mut browser = Browser::new(&desk);
    let start = browser.begin();
    let at = start.find("nonce=").unwrap() + 6;
    let other = if &start[at..=at] == "x" { "y" } else { "x" };
    let replaced = format!("{}{other}{}", &start[..at], &start[at + 1..]);
    let back = browser.through_provider(&replaced);
    assert_eq!(refused(&browser.get(&back).1), "token", "wrong nonce");

    // Another verifier than the challenge is of: the provider gives nothing for the code.
    let mut browser = Browser::new(&desk);
    let start = browser.begin();
    let at = start.find("code_challenge=").unwrap() + 15;
    let replaced = format!("{}{}{}", &start[..at], if &start[at..=at] == "A" { "B" } else { "A" }, &start[at + 1..]);
    let back = browser.through_provider(&replaced);
    assert_eq!(refused(&browser.get(&back).1), "token", "wrong verifier");

    let mut browser = Browser::new(&desk);
    let start = browser.begin();
    let state = start.split("state=").nth(1).unwrap().split('&').next().unwrap();
    let denied = format!("{}/api/auth/oidc/sso/callback?error=access_denied&state={state}", desk.server.url);
    assert_eq!(refused(&browser.get(&denied).1), "denied");
}

#[test]
fn clocks_may_differ_a_little_and_keys_change() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, json!({}));
    provider.account(&desk, "ada", ada());
    let enters = || Browser::new(&desk).sign_on();
    assert_eq!(enters(), "/runs");
    for (offset, expect) in
        [(40, "/runs"), (-40, "/runs"), (-3600 - 30, "/runs"), (300, "token"), (-3600 - 300, "token")]
    {
        provider.control(&desk, json!({"offset": offset}));
        assert_eq!(refused(&enters()), expect, "{offset} s");
    }
    desk.manage(Method::PUT, "/api/identity/settings", json!({"clock_skew_s": 600}));
    provider.control(&desk, json!({"offset": 300}));
    assert_eq!(enters(), "/runs", "as far as the settings allow");
    provider.control(&desk, json!({"offset": 0, "rotate": true}));
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(enters(), "/runs", "new keys are fetched");
}

#[test]
fn programs_enter_with_tokens_of_a_provider() {
    let desk = Desk::new();
    let programs = json!({"audience": "urn:steward", "clients": [{"client_id": "etl", "role": "developer"}]});
    let provider = Provider::start(&desk, json!({"programs": programs}));
    let etl = ("etl", "etl-secret-for-tests");
    let token = provider.program_token(&desk, etl, "urn:steward");
    let me = |token: &str| desk.call(Some(token), Method::GET, "/api/auth/me", None);
    let (status, first) = me(&token);
    assert_eq!((status, &first["role"], &first["name"]), (200, &json!("developer"), &json!("etl")), "{first}");
    assert_eq!(me(&token).1["id"], first["id"]);
    assert_eq!(desk.call(Some(&token), Method::GET, "/api/users", None).0, 403);
    assert_eq!(me(&provider.program_token(&desk, etl, "urn:other")).0, 401, "another audience");
    let stranger = provider.program_token(&desk, ("stranger", "stranger-secret"), "urn:steward");
    assert_eq!(me(&stranger).0, 401, "a program without a role");
    provider.control(&desk, json!({"offset": -1000}));
    assert_eq!(me(&provider.program_token(&desk, etl, "urn:steward")).0, 401, "expired");
    provider.control(&desk, json!({"offset": 0}));

    let clients =
        |role: &str| json!({"programs": {"audience": "urn:steward", "clients": [{"client_id": "etl", "role": role}]}});
    provider.save(&desk, clients("viewer"));
    assert_eq!(me(&token).1["role"], json!("viewer"), "a changed role counts at the next call");
    let id = first["id"].as_str().unwrap();
    desk.manage(Method::PATCH, &format!("/api/users/{id}"), json!({"disabled": true}));
    assert_eq!(me(&token).0, 401);
    desk.manage(Method::PATCH, &format!("/api/users/{id}"), json!({"disabled": false}));
    provider.save(&desk, json!({"programs": null}));
    assert_eq!(me(&token).0, 401, "programs are switched off");
}
