use crate::common::{Bench, Server, plan_and_answer};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

fn rows(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["reminders", "--json"];
    all.extend(args);
    bench.run(&all).exits(0).json().as_array().unwrap().clone()
}

#[test]
fn a_reminder_comes_up_survives_and_is_done() {
    let args = json!({"text": "water the plants", "at": "2126-11-22T09:00:00Z"});
    let bench = Bench::new(plan_and_answer("reminders_create", &args, "It is set."));
    bench.run(&["ask", "-y", "Remind me to water the plants."]).exits(0);
    let set = rows(&bench, &[]);
    assert_eq!((set.len(), &set[0]["due"]), (1, &json!(false)), "{set:?}");
    let id = set[0]["id"].as_str().unwrap();

    let server = Server::start(&bench);
    let path = format!("/api/reminders/{id}");
    let (status, _) = server.request(&bench, Method::PATCH, &path, Some(&server.key), Some(&json!({"at": 1_000})));
    assert_eq!(status, 200);
    // Beside the server, and while it is off: it stays due.
    bench.model.replace(Script::of([Behaviour::text("Hello."), Behaviour::text("Hello.")]));
    let line = ["Reminder, 1970-01-01", "water the plants", "reminders done"];
    bench.run(&["ask", "Hello"]).tells(&line);
    drop(server);
    let due = rows(&bench, &[]);
    assert_eq!(due[0]["due"], true, "{due:?}");
    bench.model.replace(Script::of([Behaviour::text("Hello."), Behaviour::text("Hello.")]));
    bench.run(&["ask", "Hello"]).tells(&line);

    bench.run(&["reminders", "snooze", &id[..6], "1h"]).exits(0).tells(&["again at", "water the plants"]);
    assert_eq!(rows(&bench, &[])[0]["due"], false);
    bench.run(&["reminders", "done", &id[..6]]).exits(0).tells(&["done: water"]);
    assert!(rows(&bench, &[]).is_empty());
    assert_eq!(rows(&bench, &["--all"])[0]["done"], true);
    bench.run(&["reminders", "remove", id]).exits(0);
    assert!(rows(&bench, &["--all"]).is_empty());
    bench.run(&["reminders", "done", id]).exits(1).tells(&["there is no reminder"]);
}
