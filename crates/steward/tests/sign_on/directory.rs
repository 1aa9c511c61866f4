use super::desk::{ADMIN, Desk, PASSWORD};
use super::slapd::{BASE, LOOKER, LOOKER_PASSWORD, Slapd};
use reqwest::Method;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// By search and bind over LDAPS, with a role by group.
fn settings(slapd: &Slapd) -> Value {
    json!({
        "label": "Directory", "url": slapd.ldaps(), "ca": slapd.ca(), "base": BASE, "bind_dn": LOOKER,
        "filter": "(&(objectClass=inetOrgPerson)(|(uid={login})(mail={login})))",
        "admission": {"roles": [{"group": "ops", "role": "operator"}, {"group": format!("cn=devs,{BASE}"), "role": "developer"}],
            "default_role": null},
    })
}

fn save(desk: &Desk, settings: &Value) {
    let body = json!({"settings": settings, "password": LOOKER_PASSWORD});
    let saved = desk.manage(Method::PUT, "/api/identity/directory", body);
    assert_eq!(saved["has_password"], json!(true));
    assert!(!saved.to_string().contains(LOOKER_PASSWORD), "{saved}");
}

fn with(settings: &Value, changes: Value) -> Value {
    let mut changed = settings.clone();
    for (name, value) in changes.as_object().unwrap() {
        changed[name] = value.clone();
    }
    changed
}

/// A server that counts who connects to it.
fn trap() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, caught) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&caught);
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, caught)
}

#[test]
fn people_of_a_directory_enter_with_the_role_of_their_groups() {
    let (port, caught) = trap();
    let mut slapd = Slapd::start(port);
    let desk = Desk::new();
    let settings = settings(&slapd);
    save(&desk, &settings);
    let ada = "ada stands in the reeds";

    for (name, password, expect) in [
        ("ada", ada, 200),
        ("ADA@example.org", ada, 200),
        ("ada", "ada stands in the reedz", 401),
        ("ada", "", 401),
        ("nobody", ada, 401),
        ("*", ada, 401),
        ("a*", ada, 401),
        ("ada)(uid=*", ada, 401),
        ("", ada, 401),
    ] {
        let (status, answer) = desk.log_in_by_directory(name, password);
        assert_eq!(status, expect, "{name:?} {password:?}: {answer}");
    }
    let (_, session) = desk.log_in_by_directory("ada", ada);
    assert_eq!((&session["user"]["role"], &session["user"]["name"]), (&json!("operator"), &json!("Ada L.")));
    // The usual page of logins leads there too.
    assert_eq!(desk.log_in("bob", "bob stands in the reeds").1["user"]["role"], json!("developer"));
    assert_eq!(desk.log_in("cy", "cy stands in the reeds").0, 401, "no group, no default role");
    // Nobody of the directory becomes a user who is here already.
    assert_eq!(desk.log_in("root", "root stands in the reeds").0, 401);

    let change = |how: &str, group: &str| {
        format!("dn: cn={group},{BASE}\nchangetype: modify\n{how}: member\nmember: uid=ada,ou=people,{BASE}\n")
    };
    slapd.change("ldapmodify", &change("add", "devs"));
    let other = format!("dn: cn=ops,{BASE}\nchangetype: modify\nreplace: member\nmember: uid=bob,ou=people,{BASE}\n");
    slapd.change("ldapmodify", &other);
    assert_eq!(
        desk.log_in("ada", ada).1["user"]["role"],
        json!("developer"),
        "a changed group counts at the next login"
    );
    assert_eq!(desk.log_in("bob", "bob stands in the reeds").1["user"]["role"], json!("operator"));

    let id = desk.user_id("ada@example.org");
    desk.manage(Method::PATCH, &format!("/api/users/{id}"), json!({"disabled": true}));
    let (status, disabled) = desk.log_in("ada", ada);
    let (_, wrong) = desk.log_in("bob", "wrong");
    let (_, unknown) = desk.log_in("nobody2", "wrong");
    assert_eq!(status, 401);
    assert!(disabled == wrong && wrong == unknown, "{disabled} {wrong} {unknown}");

    slapd.stop();
    let (status, answer) = desk.log_in_by_directory("bob", "bob stands in the reeds");
    assert_eq!(status, 503, "{answer}");
    assert!(answer["title"].as_str().unwrap().contains("the directory does not answer"), "{answer}");
    assert_eq!(desk.log_in(ADMIN, PASSWORD).0, 200, "the local administrator still enters");
    slapd.start_again();
    assert_eq!(desk.log_in("bob", "bob stands in the reeds").0, 200);

    desk.manage(Method::DELETE, "/api/identity/directory", Value::Null);
    assert_eq!(desk.log_in("bob", "bob stands in the reeds").0, 401);
    assert_eq!(caught.load(Ordering::SeqCst), 0, "a referral was followed");
    let trail = desk.trail();
    for entry in [("auth.login.ad", "ok"), ("auth.login.ad", "refused"), ("identity.directory.change", "ok")] {
        assert!(trail.contains(&(entry.0.to_owned(), entry.1.to_owned())), "{entry:?}: {trail:?}");
    }
}

/// The groups and people of a report: commas, brackets and stars in names.
#[test]
fn a_group_is_found_however_its_name_is_written() {
    let slapd = Slapd::start(9);
    let desk = Desk::new();
    let people = format!("ou=People (all),{BASE}");
    let person = format!("cn=Moss\\, Ada (Extern),{people}");
    slapd.change(
        "ldapadd",
        &format!(
            "dn: {people}\nobjectClass: organizationalUnit\nou: People (all)\n\n\
             dn: {person}\nobjectClass: inetOrgPerson\ncn: Moss, Ada (Extern)\nsn: Moss\nuid: amoss\n\
             mail: ada.moss@example.org\nuserPassword: Harbour-Light-9\n\n\
             dn: cn=Stewards\\, North (Ops),{BASE}\nobjectClass: groupOfNames\ncn: Stewards, North (Ops)\nmember: {person}\n"
        ),
    );
    let named = |group: &str| {
        with(
            &settings(&slapd),
            json!({"admission": {"roles": [{"group": group, "role": "operator"}], "default_role": null}}),
        )
    };
    for group in [
        "Stewards, North (Ops)",
        "stewards,  NORTH (ops)",
        "cn=Stewards\\, North (Ops),dc=example,dc=org",
        "CN = Stewards\\2c North (Ops), DC = Example, domainComponent = org",
    ] {
        save(&desk, &named(group));
        let (status, answer) = desk.log_in_by_directory("amoss", "Harbour-Light-9");
        assert_eq!((status, &answer["user"]["role"]), (200, &json!("operator")), "{group}: {answer}");
    }
    let tried = |group: &str| {
        let body = json!({"settings": named(group), "password": LOOKER_PASSWORD, "login": "amoss"});
        desk.manage(Method::POST, "/api/identity/try/directory", body)["found"].to_string()
    };
    assert!(tried("Stewards, North (Ops)").contains("they would enter as operator"));
    let why = tried("Stewards");
    assert!(why.contains("would not enter") && why.contains("`Stewards, North (Ops)`"), "{why}");
    save(&desk, &named("Stewards"));
    assert_eq!(desk.log_in_by_directory("amoss", "Harbour-Light-9").0, 401);
    let said = desk.server.said();
    assert!(said.contains("was not admitted") && said.contains("no group of theirs has a role"), "{said}");
}

#[test]
fn a_directory_is_asked_over_encrypted_connections_only_and_by_a_name_of_its_own() {
    let slapd = Slapd::start(9);
    let desk = Desk::new();
    let settings = settings(&slapd);
    let bob = "bob stands in the reeds";
    let try_with = |changes: Value| {
        save(&desk, &with(&settings, changes));
        desk.log_in_by_directory("bob", bob).0
    };
    assert_eq!(try_with(json!({"url": slapd.ldap(), "start_tls": true})), 200, "StartTLS");
    assert_eq!(try_with(json!({"url": slapd.ldap()})), 200, "plain text on this machine");
    assert_eq!(try_with(json!({"ca": null})), 503, "a certificate that nobody here trusts");
    let by_name = slapd.ldaps().replace("127.0.0.1", "localhost");
    assert_eq!(try_with(json!({"url": by_name})), 503, "a certificate of another name");
    assert_eq!(try_with(json!({"bind_dn": "cn=other,dc=example,dc=org"})), 503, "the looker can't bind");
    let template = format!("uid={{login}},ou=people,{BASE}");
    let direct = json!({"bind_dn": null, "user_template": template});
    assert_eq!(try_with(direct.clone()), 200, "a direct bind");
    for (name, password, expect) in
        [("bob", "wrong", 401), ("bob", "", 401), ("nobody", bob, 401), ("bob,ou=people", bob, 401)]
    {
        assert_eq!(desk.log_in_by_directory(name, password).0, expect, "{name}");
    }
    for (field, changes) in [
        ("url", json!({"url": "ldap://dc1.example.org"})),
        ("url", json!({"url": "http://dc1.example.org"})),
        ("ca", json!({"ca": "no certificate"})),
        ("filter", json!({"filter": "(uid=*)"})),
        ("bind_dn", json!({"bind_dn": null})),
    ] {
        let body = json!({"settings": with(&settings, changes), "password": "x"});
        let (status, answer) = desk.call(Some(&desk.admin), Method::PUT, "/api/identity/directory", Some(body));
        assert_eq!((status, &answer["field"]), (422, &json!(field)), "{answer}");
    }
}

#[test]
fn a_directory_is_tried_before_it_is_saved() {
    let (port, caught) = trap();
    let slapd = Slapd::start(port);
    let desk = Desk::new();
    let settings = settings(&slapd);
    let tried = |body: Value| desk.manage(Method::POST, "/api/identity/try/directory", body);
    let text = |found: &Value| found["found"].to_string();

    let found = tried(json!({"settings": settings, "password": LOOKER_PASSWORD, "login": "ada"}));
    assert!(found["works"] == true && text(&found).contains("email ada@example.org, 1 groups"), "{found}");
    let found = tried(json!({"settings": settings, "password": "not that one"}));
    assert!(found["works"] == false && text(&found).contains("another password"), "{found}");
    let plain = with(&settings, json!({"ca": null}));
    let found = tried(json!({"settings": plain, "password": LOOKER_PASSWORD}));
    assert_eq!(found["works"], false, "a certificate of a CA that nobody knows: {found}");
    let nothing = desk.manage(Method::GET, "/api/identity/directory", Value::Null);
    assert_eq!(nothing["settings"], Value::Null, "nothing was kept");

    // The password that is kept goes to its own server only.
    save(&desk, &settings);
    assert_eq!(tried(json!({"settings": settings}))["works"], true);
    let elsewhere = with(&settings, json!({"url": format!("ldaps://127.0.0.1:{port}")}));
    let (status, problem) =
        desk.call(Some(&desk.admin), Method::POST, "/api/identity/try/directory", Some(json!({"settings": elsewhere})));
    assert_eq!((status, &problem["field"]), (422, &json!("password")), "{problem}");
    assert_eq!(caught.load(Ordering::SeqCst), 0);
    let unsafe_one = with(&settings, json!({"url": "ldap://directory.example.org"}));
    let body = json!({"settings": unsafe_one, "password": "x"});
    let (status, problem) = desk.call(Some(&desk.admin), Method::POST, "/api/identity/try/directory", Some(body));
    assert_eq!((status, &problem["field"]), (422, &json!("url")), "{problem}");
}
