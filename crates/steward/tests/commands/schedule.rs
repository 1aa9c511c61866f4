use crate::commands::{both, with_input};
use crate::common::{Bench, Done, Server, finish};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};

const REQUEST: &str = "Write the report of {{date}}.";

fn add(bench: &Bench, name: &str, args: &[&str]) -> Done {
    let zone = ["--zone", "Europe/Berlin"];
    bench.run(&[&["schedule", "add", name], args, &zone, &[REQUEST]].concat())
}

fn shown(bench: &Bench, name: &str) -> Value {
    bench.run(&["schedule", "show", name, "--json"]).exits(0).json()
}

fn names(bench: &Bench, args: &[&str]) -> Vec<String> {
    let listed = bench.run(&[&["schedule", "list", "--json"], args].concat()).exits(0).json();
    listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_schedule_from_its_making_to_its_removal_and_back() {
    both(|bench, served| {
        bench.run(&["schedule"]).exits(0).tells(&["no such schedules", "steward schedule add"]);
        let made = add(bench, "morning", &["--when", "every weekday at 8"]).exits(0);
        let made = made.tells(&[
            "every weekday (Monday to Friday) at 08:00 in Europe/Berlin",
            "T08:00:00+0",
            "made `morning`",
        ]);
        assert_eq!(made.err.contains("steward serve"), !served, "{made:?}");
        let row = shown(bench, "morning");
        assert_eq!((&row["agent"], &row["request"]), (&json!("steward"), &json!(REQUEST)));
        assert_eq!((&row["missed"], &row["overlap"]), (&json!({"kind": "once"}), &json!("skip")));
        let text = bench.run(&["schedule", "show", "morning"]).exits(0).out;
        for part in ["T08:00:00+0", "Next change:", "one run for all", "rests after 5", REQUEST] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }

        let edit =
            ["schedule", "edit", "morning", "--cron", "0 9 * * MON", "--rename", "report", "--pause-after", "never"];
        bench.run(&edit).exits(0).tells(&["every Monday at 09:00", "changed `report`"]);
        let row = shown(bench, "report");
        assert_eq!(row["when"]["timing"], json!({"kind": "cron", "expression": "0 9 * * MON"}));
        assert_eq!((&row["pause_after_failures"], &row["when"]["zone"]), (&Value::Null, &json!("Europe/Berlin")));
        assert_eq!(row["request"], REQUEST, "what was not said stays");
        let edit =
            ["schedule", "edit", "report", "--zone", "Asia/Tokyo", "--overlap", "queue-all", "Say", "hello.", "--json"];
        let row = bench.run(&edit).exits(0).json();
        assert_eq!((&row["overlap"], &row["request"]), (&json!("queue_all"), &json!("Say hello.")));
        assert_eq!(row["when"]["zone"], "Asia/Tokyo");
        assert_eq!(row["when"]["timing"]["expression"], "0 9 * * MON", "what was not said stays");

        bench.run(&["schedule", "pause", "report", "--note", "on holiday"]).exits(0).tells(&["schedule resume report"]);
        assert_eq!(shown(bench, "report")["pause"]["note"], "on holiday");
        let listed = bench.run(&["schedule", "list"]).exits(0).out;
        assert!(listed.contains("rests: paused by a person (on holiday)"), "{listed}");
        bench.run(&["schedule", "resume", "report"]).exits(0).tells(&["`report` works again, next at 20"]);

        bench.run(&["schedule", "remove", "report"]).exits(0).tells(&["schedule restore report"]);
        bench.run(&["schedule", "show", "report"]).exits(1).tells(&["there is no schedule `report`"]);
        assert_eq!((names(bench, &[]), names(bench, &["--deleted"])), (vec![], vec!["report".to_owned()]));
        bench.run(&["schedule", "restore", "report"]).exits(0).tells(&["`report` is back"]);
        assert_eq!(names(bench, &["--mine", "--agent", "steward"]), ["report"]);
        let history = bench.run(&["schedule", "history", "report"]).exits(0).out;
        // Without a server nothing decides what comes.
        assert_eq!(history.contains("Z  comes"), served, "{history}");
    });
}

#[test]
fn each_kind_of_time_is_made() {
    both(|bench, _| {
        for (name, args, timing) in [
            ("cron", vec!["--cron", "30 2 * * *"], json!({"kind": "cron", "expression": "30 2 * * *"})),
            ("every", vec!["--every", "90m"], json!({"kind": "interval", "every_seconds": 5400})),
            ("at", vec!["--at", "2126-03-14T08:00"], json!({"kind": "once", "at": "2126-03-14T08:00:00"})),
            (
                "rrule",
                vec!["--rrule", "FREQ=MONTHLY;BYDAY=-1FR", "--begin", "2027-01-01T08:00"],
                json!({"kind": "rrule", "rule": "FREQ=MONTHLY;BYDAY=-1FR", "begin": "2027-01-01T08:00:00"}),
            ),
        ] {
            add(bench, name, &args).exits(0);
            assert_eq!(shown(bench, name)["when"]["timing"], timing);
        }
        let limits = ["--start", "2126-03-01", "--end", "2126-03-31T12:00", "--jitter", "5m", "--grace", "2m"];
        let rules = ["--missed", "all=3600", "--overlap", "cancel-other"];
        let all = [&["--when", "every day at 8"][..], &limits, &rules].concat();
        add(bench, "all", &all).exits(0).tells(&["2126-03-01T08:00:00+01:00"]);
        let row = shown(bench, "all");
        // 1 March at 0:00 and 31 March at 12:00 in Berlin, where the clocks have changed by then.
        assert_eq!(row["when"]["start"], 4_927_993_200_000_i64);
        assert_eq!(row["when"]["end"].as_i64().unwrap() - 4_927_993_200_000, 30 * 86_400_000 + 11 * 3_600_000);
        assert_eq!((&row["when"]["jitter_seconds"], &row["grace_seconds"]), (&json!(300), &json!(120)));
        assert_eq!(row["missed"], json!({"kind": "all", "within_seconds": 3600}));
        assert_eq!(row["overlap"], "cancel_other");
        let edit = ["schedule", "edit", "all", "--start", "none", "--end", "none", "--jitter", "none", "--json"];
        let when = &bench.run(&edit).exits(0).json()["when"];
        assert_eq!((&when["start"], &when["end"], &when["jitter_seconds"]), (&Value::Null, &Value::Null, &json!(0)));
        let piped = ["schedule", "add", "piped", "--every", "1h", "--zone", "UTC", "-"];
        with_input(bench, &piped, "Say hello\nto all.\n").exits(0);
        assert_eq!(shown(bench, "piped")["request"], "Say hello\nto all.");
    });
}

#[test]
fn what_is_open_is_asked_and_nothing_is_made() {
    both(|bench, _| {
        let asked = ["Not every month has this day", "--cron \"0 8 31 * *\" --zone Europe/Berlin", "--rrule"];
        let open = "every month on the 31st at 8";
        add(bench, "x", &["--when", open]).exits(1).tells(&asked);
        bench.run(&["schedule", "preview", open, "--zone", "Europe/Berlin"]).exits(1).tells(&asked);
        let json = bench.run(&["schedule", "preview", open, "--json"]).exits(1).json();
        assert_eq!(json["question"]["about"], "day_not_in_each_month");
        assert!(names(bench, &[]).is_empty());

        add(bench, "x", &["--when", "every day at 8"]).exits(0);
        bench.run(&["schedule", "edit", "x", "--when", "every weekday"]).exits(1).tells(&["At what time?"]);
        assert_eq!(shown(bench, "x")["when"]["timing"]["expression"], "0 8 * * *");

        let seen = bench.run(&["schedule", "preview", "jeden", "Sonntag", "um", "2:30", "--zone", "Europe/Berlin"]);
        let seen = seen.exits(0).out;
        assert!(seen.contains("every Sunday at 02:30 in Europe/Berlin") && seen.contains("the gap"), "{seen}");
        assert_eq!(seen.matches("T02:30:00").count(), 5, "{seen}");
        let seen = bench.run(&["schedule", "preview", "--cron", "30 2 28 3 *", "--zone", "Europe/Berlin"]).exits(0).out;
        assert!(seen.contains("2027-03-28T03:00:00+02:00  (its time is missing that day"), "{seen}");
    });
}

#[test]
fn the_zone_is_that_of_this_machine() {
    both(|bench, _| {
        let in_zone = |zone: &str| {
            let mut command = bench.command(&["schedule", "preview", "every day at 8"]);
            command.env("TZ", zone);
            finish(command).exits(0)
        };
        assert!(in_zone("Asia/Tokyo").out.contains("T08:00:00+09:00"));
        // Such a zone has no name.
        let unnamed = in_zone("CET-1CEST,M3.5.0,M10.5.0/3").tells(&["isn't known", "--zone"]);
        assert!(unnamed.out.contains("at 08:00 in UTC"), "{unnamed:?}");
    });
}

#[test]
fn what_cannot_be_is_refused_with_what_can() {
    both(|bench, _| {
        for (args, expect) in [
            (vec!["--cron", "61 8 * * *"], ["`61` isn't a minute", "0 to 59"]),
            (vec!["--cron", "0 8 * *"], ["cron", "0 8 * * MON-FRI"]),
            (vec!["--at", "2020-01-01T08:00"], ["never be due", "to come"]),
            (vec!["--at", "tomorrow"], ["`tomorrow` isn't a date", "2027-03-14T08:00"]),
            (vec!["--every", "1h", "--start", "2020-01-01"], ["--start 2020-01-01 has passed", "to come"]),
            (vec!["--every", "1h", "--end", "soon"], ["--end soon", "`soon` isn't a date"]),
            (vec!["--every", "1h", "--jitter", "2d"], ["jitter", "86400"]),
            (vec!["--every", "1h", "--pause-after", "0"], ["pause_after_failures", "at least 1"]),
            (vec!["--every", "1h", "--agent", "nobody"], ["no agent `nobody`", "steward agents"]),
            (vec![], ["say when it is due", "--cron"]),
        ] {
            add(bench, "x", &args).exits(1).tells(&expect);
        }
        let elsewhere = ["schedule", "add", "x", "--every", "1h", "--zone", "Berlin", REQUEST];
        bench.run(&elsewhere).exits(1).tells(&["`Berlin`", "Did you mean Europe/Berlin"]);
        for args in [["--missed", "all"], ["--overlap", "sometimes"], ["--every", "often"], ["--rrule", "FREQ=DAILY"]] {
            add(bench, "x", &args).exits(2);
        }
        add(bench, "x", &["--cron", "0 8 * * *", "--every", "1h"]).exits(2);
        assert!(names(bench, &[]).is_empty());

        for of_one in ["show", "pause", "resume", "run", "history", "remove", "edit"] {
            bench.run(&["schedule", of_one, "nobody"]).exits(1).tells(&["no schedule `nobody`", "schedule list"]);
        }
        bench.run(&["schedule", "restore", "nobody"]).exits(1).tells(&["removed schedule", "list --deleted"]);
        add(bench, "twin", &["--every", "1h"]).exits(0);
        bench.run(&["schedule", "edit", "twin"]).exits(1).tells(&["nothing was changed"]);
        add(bench, "twin", &["--every", "2h"]).exits(0);
        bench.run(&["schedule", "remove", "twin"]).exits(1).tells(&["2 schedules have the name `twin`", "give the id"]);
        let listed = bench.run(&["schedule", "list", "--json"]).exits(0).json();
        let (newer, older) = (listed[0]["id"].as_str().unwrap(), listed[1]["id"].as_str().unwrap());
        bench.run(&["schedule", "remove", newer]).exits(0);
        assert_eq!(shown(bench, "twin")["id"], older);
    });
}

/// The history of a schedule, once something in it fits.
fn history(bench: &Bench, name: &str, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let page = bench.run(&["schedule", "history", name, "--json"]).exits(0).json();
        let found = page["occurrences"].as_array().unwrap();
        if found.iter().any(&fits) {
            return found.clone();
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "{page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_server_starts_what_is_due() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    let server = Server::start(&bench);
    add(&bench, "tick", &["--every", "1s", "--overlap", "allow"]).exits(0).tells(&["every second"]);
    let ran = |one: &Value| one["status"] == "ran" && one["outcome"] == "completed" && one["by_hand"] == false;
    let found = history(&bench, "tick", ran);
    let run = found.iter().find(|one| ran(one)).unwrap()["run_id"].as_str().unwrap();
    bench.run(&["runs", "show", run]).exits(0);
    bench.run(&["schedule", "pause", "tick"]).exits(0);
    history(&bench, "tick", |one| one["reason"] == "paused");
    let text = bench.run(&["schedule", "history", "tick"]).exits(0).out;
    assert!(text.contains("ran, completed  ") && text.contains("skipped: the schedule rested"), "{text}");
    let short = bench.run(&["schedule", "history", "tick", "--limit", "1"]).exits(0).tells(&["higher --limit"]);
    assert_eq!(short.out.lines().count(), 1, "{short:?}");

    let started = bench.run(&["schedule", "run", "tick"]).exits(0).tells(&["works", "steward resume"]);
    let run = started.err.split_whitespace().nth(1).unwrap();
    history(&bench, "tick", |one| one["run_id"] == run && one["by_hand"] == true && one["outcome"] == "completed");
    drop(server);
}

#[test]
fn without_a_server_a_run_is_followed_to_its_end() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    add(&bench, "morning", &["--when", "every day at 8"]).exits(0);
    let done = bench.run(&["schedule", "run", "morning"]).exits(0).tells(&["steward runs show"]);
    assert!(done.out.contains("Hello."), "{done:?}");
    let run = bench.runs()[0]["id"].as_str().unwrap().to_owned();
    history(&bench, "morning", |one| one["run_id"] == run.as_str() && one["outcome"] == "completed");
    let json = bench.run(&["schedule", "run", "morning", "--json"]).exits(0).json();
    assert_eq!(json["answer"], "Hello.");
}
