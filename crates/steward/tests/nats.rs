//! The subjects of OOS by the real program and a real NATS server.

mod server;

use crate::api_routes::house::{House, key, text};
use crate::common::{Bench, Server};
use crate::domains::{describe, shop};
use crate::tls::Files;
use reqwest::Method;
use serde_json::{Value, json};
use server::{Client, NatsServer, free_port, until};
use std::collections::BTreeMap;
use steward_testkit::model_server::Script;
use steward_testkit::postgres::TestPostgres;

/// The music shop with this NATS server and whoever asks without a key.
fn on_nats(nats: &NatsServer, act_as: &str) -> (House, Client) {
    let House { bench, server } = shop(Script::default());
    server.kill();
    let server = Server::start_with(&bench, &[("STEWARD_NATS_URL", &nats.url()), ("STEWARD_NATS_ACT_AS", act_as)]);
    let client = Client::new(&bench, nats);
    (House { bench, server }, client)
}

/// What the page About says of NATS.
fn health(house: &House) -> (String, String) {
    let about = house.get("/api/about");
    let found = about["health"].as_array().unwrap().iter().find(|part| part["name"] == "NATS");
    let part = found.unwrap_or_else(|| panic!("no NATS in {about}"));
    (text(&part["status"]), text(&part["detail"]))
}

/// Entries of writes over NATS: who did what to what, and how it ended; oldest first.
fn entries(house: &House) -> Vec<String> {
    let (_, page) = house.call_as(&key("ada"), Method::GET, "/api/audit?limit=100", None);
    let ours = page["items"].as_array().unwrap().iter().filter(|entry| !entry["detail"]["subject"].is_null());
    let shown = |entry: &Value| {
        let part = |name: &str| text(&entry[name]);
        format!("{} {} {} {}", part("actor"), part("action"), part("target"), part("result"))
    };
    let mut all: Vec<String> = ours.map(shown).collect();
    all.reverse();
    all
}

#[test]
fn every_subject_is_answered() {
    let nats = NatsServer::start();
    let (house, client) = on_nats(&nats, "Olga@example.org");
    let body = json!({"text": "Amounts are in euro.", "position": 1});
    house.send(Method::PUT, "/api/standing-instructions/money", Some(body), 200);
    let told = client.good("oos.cmd.global", &json!({}));
    assert_eq!(told["prompts"], json!([{"name": "money", "chunk": "Amounts are in euro."}]));
    assert_eq!(client.send("oos.cmd.global", b""), told);

    let found = client.good("oos.cmd.search", &json!({"query": "customers", "limit": 3}));
    let hits = found["hits"].as_array().unwrap();
    assert_eq!((hits.len(), &hits[0]["context_name"]), (3, &json!("customer")), "{found}");
    assert!(text(&hits[0]["chunk"]).contains("country"), "{found}");
    let distances: Vec<f64> = hits.iter().map(|hit| hit["distance"].as_f64().unwrap()).collect();
    assert!(distances.is_sorted() && distances[0] >= 0.0 && distances[2] <= 2.0, "{distances:?}");

    let query = json!({"query": "query($c: String) { customer(where: {country: {eq: $c}}) { first_name } }",
        "variables": {"c": "Norway"}, "role": "admin"});
    let answer = client.good("oos.cmd.gql.query", &query);
    assert_eq!(answer["data"], json!({"customer": [{"first_name": "Bjørn"}]}));

    for (kind, name) in [("domain", "customer"), ("view", "customer_list")] {
        let subject = |verb: &str| format!("oos.cmd.{kind}.{verb}");
        let listed = client.good(&subject("list"), &json!({}));
        assert!(listed["ids"].as_array().unwrap().contains(&json!(name)), "{listed}");
        let loaded = client.good(&subject("load"), &json!({"id": name}));
        assert_eq!(loaded["version"], 1, "{loaded}");
        let source = format!("# By NATS.\n{}", text(&loaded["source"]));
        let saved = client.good(&subject("save"), &json!({"id": name, "source": source, "version": 1}));
        assert_eq!((&saved["version"], &saved["warnings"]), (&json!(2), &json!([])), "{saved}");
        assert!(text(&saved["diff"]).contains("+# By NATS."), "{saved}");
        assert_eq!(client.good(&subject("load"), &json!({"id": name}))["source"], source);
        let late = client.bad(&subject("save"), &json!({"id": name, "source": source, "version": 1}));
        assert!(late.contains("changed") && late.contains("load it anew"), "{late}");
    }
    client.good("oos.cmd.view.delete", &json!({"id": "customer_list"}));
    let gone = client.bad("oos.cmd.view.load", &json!({"id": "customer_list"}));
    assert!(gone.contains("view `customer_list` was not found"), "{gone}");
    let by = |rest: &str| format!("olga@example.org domains.texts.{rest}");
    assert_eq!(
        entries(&house),
        [
            by("change domain/customer ok"),
            by("change domain/customer failed"),
            by("change view/customer_list ok"),
            by("change view/customer_list failed"),
            by("delete view/customer_list ok"),
        ]
    );
    let (status, detail) = health(&house);
    assert!(status == "ok" && detail.contains("connected to 127.0.0.1"), "{detail}");
}

#[test]
fn what_is_changed_acts_on_the_next_message() {
    let nats = NatsServer::start();
    let (house, client) = on_nats(&nats, "olga@example.org");
    let names = || client.good("oos.cmd.global", &json!({}))["prompts"].to_string();
    for (enabled, version) in [(true, 0), (false, 1), (true, 2)] {
        let body = json!({"text": "Amounts are in euro.", "enabled": enabled, "version": version});
        house.send(Method::PUT, "/api/standing-instructions/money", Some(body), 200);
        assert_eq!(names().contains("Amounts are in euro."), enabled, "{version}");
    }
    // A hint.
    let source = text(&client.good("oos.cmd.domain.load", &json!({"id": "genre"}))["source"]);
    let hinted = |hint: &str| {
        let end = source.rfind('}').unwrap();
        format!("{}  ai \"list_behavior\" \"{hint}\"\n{}", &source[..end], &source[end..])
    };
    for hint in ["Sort kinds of music by their name.", "Show at most ten kinds of music."] {
        client.good("oos.cmd.domain.save", &json!({"id": "genre", "source": hinted(hint)}));
        let found = client.good("oos.cmd.search", &json!({"query": "kinds of music", "limit": 20}));
        assert!(found.to_string().contains(hint), "{found}");
    }
    // A field that is taken away is not there any more.
    let query = json!({"query": "{ genre(limit: 1) { name } }"});
    assert_eq!(client.good("oos.cmd.gql.query", &query)["data"]["genre"][0]["name"], "Rock");
    let without: Vec<&str> = source.lines().filter(|line| !line.trim().starts_with("field name ")).collect();
    assert_ne!(without.len(), source.lines().count(), "{source}");
    // What shows it goes with it.
    for view in client.good("oos.cmd.view.list", &json!({}))["ids"].as_array().unwrap() {
        if text(view).starts_with("genre") {
            client.good("oos.cmd.view.delete", &json!({"id": view}));
        }
    }
    client.good("oos.cmd.domain.save", &json!({"id": "genre", "source": without.join("\n")}));
    let error = client.bad("oos.cmd.gql.query", &query);
    assert!(error.contains("name"), "{error}");
}

#[test]
fn nobody_gets_more_than_the_user_who_asks_has() {
    let nats = NatsServer::start();
    let (house, client) = on_nats(&nats, "vera@example.org");
    let genre = json!({"query": "{ genre(limit: 1) { name } }"});
    let source = text(&house.get("/api/domains/texts/domain/genre")["text"]);
    let save = json!({"id": "genre", "source": source});
    // A viewer asks, and writes nothing.
    client.good("oos.cmd.gql.query", &genre);
    client.good("oos.cmd.global", &json!({}));
    for (subject, payload) in [
        ("oos.cmd.domain.list", json!({})),
        ("oos.cmd.domain.load", json!({"id": "genre"})),
        ("oos.cmd.domain.save", save.clone()),
        ("oos.cmd.view.delete", json!({"id": "genre_list"})),
    ] {
        let error = client.bad(subject, &payload);
        assert!(error.contains("operator"), "{subject}: {error}");
    }
    // A key decides instead, in the header or in the payload.
    let bearer = format!("Bearer {}", key("olga"));
    assert_eq!(client.with("oos.cmd.domain.save", Some(&bearer), &save)["version"], 2);
    let with_token = |name: &str| {
        let mut save = save.clone();
        save["token"] = key(name).into();
        save
    };
    assert_eq!(client.good("oos.cmd.domain.save", &with_token("ada"))["version"], 3);
    assert!(client.bad("oos.cmd.domain.save", &with_token("dan")).contains("operator"));
    // One that is not good is not taken for none.
    for header in ["Bearer sk-steward-nobody", "Basic dmVyYTp2ZXJh", "Bearer ", ""] {
        let answer = client.with("oos.cmd.gql.query", Some(header), &genre);
        assert!(
            answer["ok"] == false && text(&answer["error"]).contains("the token is not valid"),
            "{header}: {answer}"
        );
    }
    let answer = client.with("oos.cmd.domain.save", Some("Bearer sk-steward-nobody"), &save);
    assert_eq!(answer["ok"], false, "{answer}");
    assert_eq!(
        entries(&house),
        [
            "vera@example.org domains.texts.change domain/genre refused",
            "vera@example.org domains.texts.delete view/genre_list refused",
            "olga@example.org domains.texts.change domain/genre ok",
            "ada@example.org domains.texts.change domain/genre ok",
            "dan@example.org domains.texts.change domain/genre refused",
            " domains.texts.change domain/genre refused",
        ]
    );
    // A domain that a viewer may not read is not there; for an operator's key it is.
    let closed: Vec<&str> = source.lines().filter(|line| !line.contains("permission role:viewer")).collect();
    client.with("oos.cmd.domain.save", Some(&bearer), &json!({"id": "genre", "source": closed.join("\n")}));
    client.bad("oos.cmd.gql.query", &genre);
    assert_eq!(client.with("oos.cmd.gql.query", Some(&bearer), &genre)["ok"], true);

    // Without a user for such requests, and with one who is not there, only keys are taken.
    let House { bench, mut server } = house;
    for act_as in [None, Some("nobody@example.org")] {
        server.kill();
        let url = nats.url();
        let variables: Vec<(&str, &str)> = std::iter::once(("STEWARD_NATS_URL", url.as_str()))
            .chain(act_as.map(|email| ("STEWARD_NATS_ACT_AS", email)))
            .collect();
        server = Server::start_with(&bench, &variables);
        let error = client.bad("oos.cmd.gql.query", &genre);
        assert!(error.contains("Authorization: Bearer") && error.contains("NATS_ACT_AS"), "{error}");
        assert_eq!(client.with("oos.cmd.gql.query", Some(&bearer), &genre)["ok"], true);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let nats = NatsServer::configured("max_payload: 8MB\nmax_pending: 64MB");
    let (_house, client) = on_nats(&nats, "olga@example.org");
    let error = |subject: &str, payload: &[u8]| {
        let answer = client.send(subject, payload);
        assert_eq!(answer["ok"], false, "{subject}: {answer}");
        text(&answer["error"])
    };
    for (subject, payload, part) in [
        (
            "oos.cmd.search",
            "{\"query\": ",
            r#"can't be read: EOF while parsing a value at line 1 column 9; send JSON such as {"query": "#,
        ),
        ("oos.cmd.search", "[1]", "send JSON such as"),
        ("oos.cmd.search", "{}", "missing field `query`"),
        ("oos.cmd.gql.query", r#"{"query": 5}"#, "send JSON such as"),
        ("oos.cmd.gql.query", r#"{"query": "{ genre { nmae } }"}"#, "nmae"),
        ("oos.cmd.gql.query", r#"{"query": "{ nobody { name } }"}"#, "nobody"),
        ("oos.cmd.gql.mutation", "{}", "a person confirms them"),
        ("oos.cmd.domain.rename", "{}", "there is no subject `oos.cmd.domain.rename`"),
        ("oos.cmd.domain.load", r#"{"id": "nobody"}"#, "domain `nobody` was not found"),
        ("oos.cmd.domain.load", "{}", "missing field `id`"),
        ("oos.cmd.domain.save", r#"{"id": "genre", "source": "domain genre from"}"#, "line 1"),
        ("oos.cmd.domain.save", r#"{"id": "genre", "source": ""}"#, "there is no domain and no view"),
    ] {
        let error = error(subject, payload.as_bytes());
        assert!(error.contains(part), "{subject} {payload}: {error}");
    }
    let source = text(&client.good("oos.cmd.domain.load", &json!({"id": "genre"}))["source"]);
    let other = client.bad("oos.cmd.domain.save", &json!({"id": "album", "source": source}));
    assert!(other.contains("`genre`, not of `album`"), "{other}");
    let view = client.bad("oos.cmd.view.save", &json!({"id": "genre", "source": source}));
    assert!(view.contains("just one view"), "{view}");
    let long = format!("{{\"query\": \"{}\"}}", "x".repeat(5 << 20));
    assert!(error("oos.cmd.search", long.as_bytes()).contains("longer than"), "");
    // Nobody waits for this one; the next is answered.
    client.tell("oos.cmd.domain.delete", &json!({"id": "genre"}));
    client.good("oos.cmd.domain.load", &json!({"id": "genre"}));
}

#[test]
fn an_answer_that_is_too_long_for_nats_is_an_error() {
    let nats = NatsServer::configured("max_payload: 8KB");
    let (_house, client) = on_nats(&nats, "olga@example.org");
    let error = client.bad("oos.cmd.gql.query", &json!({"query": "{ track(limit: 500) { name composer } }"}));
    assert!(error.contains("NATS carries 8192; ask for fewer rows"), "{error}");
    client.good("oos.cmd.gql.query", &json!({"query": "{ track(limit: 5) { name composer } }"}));
}

#[test]
fn of_two_replicas_one_writes() {
    let nats = NatsServer::start();
    let bench = Bench::new(Script::default());
    let postgres = bench.runtime.block_on(TestPostgres::shared()).unwrap();
    let database = bench.runtime.block_on(postgres.fresh_database()).unwrap();
    let url = nats.url();
    let variables = [
        ("STEWARD_DATABASE", database.as_str()),
        ("STEWARD_NATS_URL", url.as_str()),
        ("STEWARD_NATS_ACT_AS", steward_access::LOCAL_USER),
    ];
    let first = Server::start_with(&bench, &variables);
    let second = Server::start_with(&bench, &variables);
    let client = Client::new(&bench, &nats);
    let house = House { bench, server: first };
    describe(&house);

    let loaded = client.good("oos.cmd.domain.load", &json!({"id": "genre"}));
    let (source, before) = (text(&loaded["source"]), loaded["version"].as_u64().unwrap());
    let save = |n: usize| json!({"id": "genre", "source": format!("# {n}\n{source}")});
    for n in 1..=40 {
        assert_eq!(client.good("oos.cmd.domain.save", &save(n))["version"], before + n as u64);
    }
    // All at once: each is done once, or not at all and says so.
    let payloads: Vec<Value> = (100..140).map(save).collect();
    let answers = client.all("oos.cmd.domain.save", &payloads);
    assert_eq!(answers.len(), 40);
    let mut done = 0;
    for answer in &answers {
        done += u64::from(answer["ok"] == true);
        assert!(answer["ok"] == true || text(&answer["error"]).contains("load it anew"), "{answer}");
    }
    let after = client.good("oos.cmd.domain.load", &json!({"id": "genre"}));
    assert!(done > 0);
    assert_eq!(after["version"], before + 40 + done, "{answers:?}");
    let versions = house.items("/api/domains/texts/domain/genre/versions");
    assert_eq!(versions.len() as u64, before + 40 + done);

    // Both had their part, and together they did all of it.
    let answered = |server: &Server| {
        let about = server.request(&house.bench, Method::GET, "/api/about", Some(&server.key), None).1;
        let part = about["health"].as_array().unwrap().iter().find(|part| part["name"] == "NATS").unwrap();
        let detail = text(&part["detail"]);
        let count = detail.split("; ").nth(1).unwrap().split(' ').next().unwrap();
        count.parse::<u64>().unwrap_or_else(|_| panic!("{detail}"))
    };
    let shares = BTreeMap::from([("first", answered(&house.server)), ("second", answered(&second))]);
    assert!(shares.values().all(|share| *share > 0), "{shares:?}");
    assert_eq!(shares.values().sum::<u64>(), client.asked(), "{shares:?}");

    // One that is gone leaves all of it to the other.
    second.kill();
    client.settle("oos.cmd.domain.load", &json!({"id": "genre"}));
    for n in 41..=50 {
        assert_eq!(client.good("oos.cmd.domain.save", &save(n))["ok"], true);
    }
}

#[test]
fn a_server_that_is_away_is_waited_for() {
    let port = free_port();
    let House { bench, server } = shop(Script::default());
    server.kill();
    let url = format!("nats://127.0.0.1:{port}");
    let variables = [("STEWARD_NATS_URL", url.as_str()), ("STEWARD_NATS_ACT_AS", "vera@example.org")];
    let house = House { server: Server::start_with(&bench, &variables), bench };
    let (status, detail) = health(&house);
    assert!(status == "down" && detail.contains("start the NATS server"), "{detail}");
    until(|| house.server.said().contains("NATS does not work as it should"));
    let query = json!({"query": "{ genre(limit: 1) { name } }"});
    for _ in 0..2 {
        let nats = NatsServer::on(port, &[]);
        Client::new(&house.bench, &nats).good("oos.cmd.gql.query", &query);
        assert_eq!(health(&house).0, "ok");
        drop(nats);
        until(|| health(&house).0 == "down");
    }
    let said = house.server.said();
    assert!(said.matches("connected to NATS").count() >= 2 && said.contains("connection to NATS was lost"), "{said}");
}

#[test]
fn a_login_and_a_certificate_are_asked_for() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let files = Files::new();
    let (ca, certificate, private_key) = (files.ca(), files.certificate(), files.key());
    let (certificate, private_key) = (certificate.to_str().unwrap(), private_key.to_str().unwrap());
    let nats = NatsServer::with(&[
        "--tls",
        "--tlscert",
        certificate,
        "--tlskey",
        private_key,
        "--user",
        "u",
        "--pass",
        "secret",
    ]);
    let House { mut bench, mut server } = shop(Script::default());
    let (plain, tls) = (nats.url(), nats.url().replace("nats://", "tls://"));
    let trusted = ("SSL_CERT_FILE", ca.to_str().unwrap());
    let login = |password| [("STEWARD_NATS_USER", "u"), ("STEWARD_NATS_PASSWORD", password)];
    for (url, password, more, good) in [
        (&tls, "secret", Some(trusted), true),
        (&tls, "wrong", Some(trusted), false),
        (&tls, "secret", None, false),
        (&plain, "wrong", Some(trusted), false),
    ] {
        server.kill();
        let variables: Vec<(&str, &str)> =
            std::iter::once(("STEWARD_NATS_URL", url.as_str())).chain(login(password)).chain(more).collect();
        let house = House { server: Server::start_with(&bench, &variables), bench };
        if good {
            until(|| health(&house).0 == "ok");
        } else {
            until(|| health(&house).1.contains("no connection to 127.0.0.1"));
        }
        assert!(!house.server.said().contains("secret"), "{}", house.server.said());
        House { bench, server } = house;
    }
}
