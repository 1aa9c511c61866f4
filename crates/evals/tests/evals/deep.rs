//! Planning while working, by the real program: 20 requests of several steps with a scripted model
//! that ends too early and looks in the wrong place, and with the local one.

use crate::{bench, data_file};
use serde::Deserialize;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Rule, Script};

#[derive(Deserialize)]
struct Case {
    ask: String,
    script: Steps,
}

#[derive(Deserialize)]
struct Steps {
    steps: Vec<Step>,
    #[serde(default)]
    trap: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    goal: String,
    tool: String,
    args: Value,
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(data_file("multi-step.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call(step: &Step) -> Behaviour {
    Behaviour::calls([(step.tool.as_str(), step.args.clone())])
}

fn plan(steps: &[Step]) -> Behaviour {
    let steps: Vec<Value> = steps
        .iter()
        .zip(1..)
        .map(|(step, number)| {
            json!({
                "goal": step.goal, "tool": step.tool, "risk": "",
                "depends_on": if number > 1 { vec![number - 1] } else { vec![] },
                "expect": "what was asked for",
            })
        })
        .collect();
    Behaviour::text(json!({"steps": steps}).to_string())
}

const CLAIM: &str = "Done! The file has been written.";

/// A lazy model without planning: the first step, and then it says that everything is done.
fn unplanned() -> Script {
    let mut script = Script::always(Behaviour::text(CLAIM));
    for case in cases() {
        script.rules.push(Rule {
            contains: case.ask.clone(),
            role: Some("user".into()),
            times: Some(1),
            then: call(&case.script.steps[0]),
        });
    }
    script
}

/// The same model asked to plan: it does what is marked NOW, but it claims once that all is done
/// before it is; where it looked in the wrong place, it plans again.
fn planned() -> Script {
    let mut script = Script::always(Behaviour::text("That is all that I could do."));
    let once = |contains: String, then: Behaviour| Rule { contains, role: None, times: Some(1), then };
    for case in cases() {
        let Steps { steps, trap } = case.script;
        for (number, step) in (1..).zip(steps.iter()) {
            let now = format!("{number}. [NOW] {}", step.goal);
            if number == steps.len() && trap.is_empty() {
                script.rules.push(once(now.clone(), Behaviour::text(CLAIM)));
            }
            script.rules.push(Rule { times: None, ..once(now, call(step)) });
        }
        if !trap.is_empty() {
            let lost = format!("1. [failed] {}", steps[0].goal);
            script.rules.push(once(lost, plan(&trap)));
            for (number, step) in (1..).zip(trap.iter()) {
                script.rules.push(Rule { times: None, ..once(format!("{number}. [NOW] {}", step.goal), call(step)) });
            }
        }
        script.rules.push(Rule { role: Some("user".into()), ..once(case.ask.clone(), plan(&steps)) });
    }
    script
}

fn deep(script: Script, connection: &str, planning: &str, most: usize) -> Value {
    let bench = bench(script);
    let text = std::fs::read_to_string(data_file("multi-step.jsonl")).unwrap();
    let some: Vec<&str> = text.lines().take(most).collect();
    let file = bench.data().with_extension("jsonl");
    std::fs::write(&file, some.join("\n")).unwrap();
    let weak: &[&str] = if connection == "local" { &[] } else { &["--weak"] };
    let args = ["--connection", connection, "deep", file.to_str().unwrap(), "--planning", planning, "--json"];
    let report = bench.run(&[&args, weak].concat()).exits(0).json();
    for one in report["results"].as_array().unwrap() {
        println!("{one}");
    }
    println!("{connection}: {}", report["sums"]);
    report
}

#[test]
fn a_plan_keeps_a_lazy_model_at_work() {
    let off = deep(unplanned(), "openai", "off", usize::MAX);
    let on = deep(planned(), "openai", "on", usize::MAX);
    let (off, on) = (&off["sums"]["off"], &on["sums"]["on"]);
    let number = |sums: &Value, name: &str| sums[name].as_u64().unwrap();
    assert_eq!((number(off, "cases"), number(on, "cases")), (20, 20));
    assert_eq!(number(off, "steps"), 0);
    assert!(number(on, "steps") >= 40, "{on}");
    // What can be reached is reached with a plan; a lazy model alone reaches nothing but words. One
    // request can't be met: its file is nowhere.
    assert!(number(on, "reached") == 20, "{on}");
    assert!(number(off, "reached") <= 1, "{off}");
    assert!(number(on, "replans") >= 5, "{on}");
    assert!(number(on, "reminded") >= 15, "{on}");
    assert!(number(on, "false_completions") < number(off, "false_completions"), "{on} {off}");
}

#[test]
fn the_local_model_tells_its_steps() {
    // `steward-evals deep` runs all of them; here is shown that what a step finds is written down by the next one.
    let both = deep(Script::always(Behaviour::text("no")), "local", "both", 8);
    let sums = &both["sums"];
    assert_eq!(sums["on"]["cases"], 8);
    assert_eq!(sums["off"]["steps"], 0);
    assert!(sums["on"]["reached"].as_u64().unwrap() >= 6, "{sums}");
}
