//! Decides from the findings how a connection is used, with the reasons in plain words. Pure.

use super::constrained::name;
use super::findings::{Findings, FormScore};
use std::collections::BTreeMap;
use steward_core::exam::Grade;
use steward_core::model::{Capabilities, Connection, Constrained, Provider, Strategy, Wire};
use steward_core::routing::Task;

/// A call form that is right in a smaller share of the cases is not used.
const USABLE: f32 = 0.5;
/// A less reliable form is taken only if it scores better by more than this.
const MARGIN: f32 = 0.15;
/// From this share on, a model's summaries are used.
const SUMMARISES: f32 = 0.8;
/// Longest time that reading a prompt should take, seconds.
const READING_S: f32 = 10.0;
/// Tools in a prompt, by what the model has shown.
const FEW_TOOLS: usize = 4;
const SOME_TOOLS: usize = 16;
const MANY_TOOLS: usize = 64;
/// Tokens of a tool in a prompt; all tools get a quarter of the window.
const TOOL_TOKENS: u32 = 60;

#[derive(Debug)]
pub(super) struct Decided {
    pub capabilities: Capabilities,
    pub notes: Vec<String>,
}

/// Assumed where it was not tried.
pub(super) fn can_constrain(found: &Findings) -> bool {
    match (&found.constrained, found.schema_obeyed) {
        (Some(ways), _) => !ways.is_empty(),
        (None, Some(obeyed)) => obeyed,
        (None, None) => true,
    }
}

pub(super) fn way(found: &Findings, connection: &Connection) -> Option<Constrained> {
    let ways = found.constrained.as_ref()?;
    // Only Ollama's own interface reads `format`.
    let own = connection.wire == Some(Wire::Native);
    let fits = |way: &&Constrained| (**way == Constrained::OllamaFormat) == own;
    ways.iter().find(fits).or(ways.first()).copied()
}

/// `None`: it is not usable in any form.
pub(super) fn best_form(found: &Findings) -> Option<FormScore> {
    let order = [Strategy::Native, Strategy::GuidedJson, Strategy::React, Strategy::Markers];
    let usable = order
        .into_iter()
        .filter_map(|strategy| found.form(strategy))
        .filter(|form| form.right_tools > 0 && form.score.share() >= USABLE);
    usable.reduce(|best, next| if next.score.share() > best.score.share() + MARGIN { next } else { best })
}

pub(super) fn grades(found: &Findings) -> BTreeMap<Task, Grade> {
    let mut grades: BTreeMap<Task, Grade> = found.tasks.iter().map(|(task, score)| (*task, score.grade())).collect();
    let form = best_form(found).map(|form| form.score.grade());
    if !found.forms.is_empty() {
        grades.insert(Task::ToolCall, form.unwrap_or(Grade::E));
    }
    grades
}

/// The capabilities to use from now on; what was not examined stays as assumed.
pub(super) fn decide(connection: &Connection, found: &Findings) -> Decided {
    let mut can = connection.capabilities.clone();
    let mut notes = Vec::new();
    constraint(connection, found, &mut can, &mut notes);
    window(found, &mut can, &mut notes);
    strategy(found, &mut can, &mut notes);
    tools(found, &mut can, &mut notes);
    talents(connection, found, &mut can, &mut notes);
    reading(found, &mut can, &mut notes);
    if found.unfinished > 0 {
        notes.push(format!(
            "{} checks were not made, since time or tokens were used up; there what was assumed before stays. Examine it again when the server is less busy.",
            found.unfinished
        ));
    }
    Decided { capabilities: can, notes }
}

fn note_if(notes: &mut Vec<String>, holds: bool, note: &str) {
    if holds {
        notes.push(note.to_owned());
    }
}

fn constraint(connection: &Connection, found: &Findings, can: &mut Capabilities, notes: &mut Vec<String>) {
    if let Some(obeyed) = found.schema_obeyed {
        can.json_schema = obeyed;
        note_if(notes, !obeyed, "Output can't be constrained: replies are read as they come.");
        return;
    }
    let Some(ways) = &found.constrained else {
        return;
    };
    let mut wired = connection.clone();
    if found.num_ctx.is_some() {
        wired.wire = Some(Wire::Native);
    }
    can.json_schema = !ways.is_empty();
    can.constrained = way(found, &wired);
    notes.push(match can.constrained {
        None => "Output can't be constrained: the server ignores or refuses every way of asking for a form. Replies are read as they come.".to_owned(),
        Some(Constrained::JsonObject) => {
            "Only JSON as such can be asked for (`json_object`), not a schema; arguments are checked when they are read.".to_owned()
        }
        Some(way) => format!("Output is constrained by `{}`.", name(way)),
    });
}

fn window(found: &Findings, can: &mut Capabilities, notes: &mut Vec<String>) {
    if let Some((window, how)) = &found.window {
        can.window = *window;
        notes.push(format!("The context window is {window} tokens ({how})."));
    } else if let Some(lost) = found.forgets {
        let safe = found.remembers.unwrap_or(lost / 2);
        can.window = can.window.min(lost);
        can.prompt_tokens = Some(safe);
        notes.push(format!("It loses the beginning of a prompt of {lost} tokens: no more than {safe} are sent."));
    } else if let Some(known) = found.remembers {
        notes.push(format!(
            "The server does not tell its window. {known} tokens work; {} are assumed. Set the window in the connection if you know it.",
            can.window
        ));
    }
    if let Some((wanted, confirmed)) = found.num_ctx {
        can.num_ctx = Some(wanted);
        let seen = if confirmed { "" } else { ", though Ollama does not confirm it" };
        notes.push(format!(
            "Ollama cuts prompts at its own setting without a word, so `num_ctx` {wanted} is sent with each request{seen}; that needs its own interface, which is used from now on."
        ));
    }
}

fn strategy(found: &Findings, can: &mut Capabilities, notes: &mut Vec<String>) {
    if found.forms.is_empty() {
        return;
    }
    let Some(best) = best_form(found) else {
        can.strategy = if can.json_schema { Strategy::GuidedJson } else { Strategy::React };
        can.plans = false;
        can.trusted = false;
        notes.push(
            "It does not choose tools by itself in any form: Steward chooses them by the request, and the model only fills in what is missing.".to_owned(),
        );
        return;
    };
    can.strategy = best.strategy;
    let percent = best.score.share() * 100.0;
    let others: Vec<String> = found
        .forms
        .iter()
        .filter(|form| form.strategy != best.strategy)
        .map(|form| format!("{} {:.0} %", form_name(form.strategy), form.score.share() * 100.0))
        .collect();
    let beside = if others.is_empty() { String::new() } else { format!(" (beside that: {})", others.join(", ")) };
    notes.push(format!("Tools are called by {}: {percent:.0} % of the points{beside}.", form_name(best.strategy)));
}

fn form_name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Native => "native calls",
        Strategy::GuidedJson => "JSON under a schema",
        Strategy::React => "ReAct text",
        Strategy::Markers => "markers",
    }
}

fn tools(found: &Findings, can: &mut Capabilities, notes: &mut Vec<String>) {
    let form = best_form(found);
    let shown = match (found.forms.is_empty(), form, found.tool_count) {
        (true, ..) => None,
        (_, None, _) | (_, Some(_), Some(0)) => Some(FEW_TOOLS),
        (_, Some(_), Some(most)) if most < MANY_TOOLS / 4 => Some(SOME_TOOLS),
        (_, Some(_), Some(_)) => Some(MANY_TOOLS),
        (_, Some(_), None) => Some(can.max_tools.min(SOME_TOOLS)),
    };
    if let Some(shown) = shown {
        let room = usize::try_from(can.window / 4 / TOOL_TOKENS).unwrap_or(MANY_TOOLS);
        can.max_tools = shown.min(room.max(2));
        notes.push(format!("It is shown at most {} tools at once; further ones are found by search.", can.max_tools));
    }
    if let Some(parallel) = found.parallel {
        can.parallel_calls = parallel;
        note_if(notes, parallel, "It makes several calls in one reply.");
    }
}

fn talents(connection: &Connection, found: &Findings, can: &mut Capabilities, notes: &mut Vec<String>) {
    // A form that is right in half of the cases is of grade C.
    let calls = best_form(found).is_some();
    if let Some(obeys) = found.system_role {
        can.system_role = obeys;
        note_if(
            notes,
            !obeys,
            "It does not follow a system message: the instructions go into the first message of the user.",
        );
    }
    if let Some(sees) = found.vision.or(found.server.vision.filter(|sees| !sees)) {
        can.vision = sees;
        note_if(notes, sees, "It sees pictures.");
    }
    if let Some(summary) = found.summary {
        // One poor summary costs a model that calls tools nothing.
        can.summarises = summary.share() >= SUMMARISES || calls;
        note_if(
            notes,
            !can.summarises,
            "It can't be trusted to sum up: answers are composed from the results themselves.",
        );
    }
    if calls {
        can.plans = true;
        can.trusted = true;
        notes.push(
            "It is trusted: its replies are taken as they are, and nothing is guessed, corrected or planned in its place.".to_owned(),
        );
    }
    can.thinks_first = found.thinks_first;
    note_if(notes, found.thinks_first, "Its replies begin inside of reasoning, which is kept apart from the answer.");
    if connection.provider == Provider::Local {
        can.scoring = true;
    }
}

fn reading(found: &Findings, can: &mut Capabilities, notes: &mut Vec<String>) {
    let speed = found.prompt_tokens_per_second;
    if speed <= 0.0 {
        return;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturating is right")]
    let in_time = ((speed * READING_S) as u32 / 100 * 100).max(500);
    if in_time < can.window / 4 * 3 {
        let most = can.prompt_tokens.unwrap_or(u32::MAX).min(in_time);
        can.prompt_tokens = Some(most);
        notes.push(format!(
            "It reads {speed:.0} tokens a second: prompts are kept to {most} tokens, so that they take no more than {READING_S:.0} seconds."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::{best_form, decide, grades};
    use crate::exam::findings::{Findings, FormScore, Score};
    use Strategy::{GuidedJson, Markers, Native, React};
    use steward_core::ConnectionId;
    use steward_core::exam::Grade;
    use steward_core::model::{Auth, Capabilities, Connection, Constrained, Provider, Strategy};
    use steward_core::routing::Task;
    use uuid::Uuid;

    fn connection() -> Connection {
        Connection {
            id: ConnectionId(Uuid::from_u128(1)),
            name: "one".to_owned(),
            provider: Provider::Compatible,
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            model: "m".to_owned(),
            auth: Auth::None,
            capabilities: Capabilities::default(),
            wire: None,
            price: None,
            weight: 1,
            in_house: None,
            by_hand: Vec::new(),
        }
    }

    fn form(strategy: Strategy, points: u32, right_tools: u32) -> FormScore {
        FormScore { strategy, score: Score::new(points, 8), right_tools }
    }

    #[test]
    fn nothing_found_changes_nothing() {
        let decided = decide(&connection(), &Findings::default());
        assert_eq!(decided.capabilities, Capabilities::default());
        assert!(decided.notes.is_empty());
        assert!(grades(&Findings::default()).is_empty());
    }

    #[test]
    fn the_first_form_that_is_about_as_good_as_the_best() {
        let best = |forms: Vec<FormScore>| {
            let found = Findings { forms, ..Findings::default() };
            best_form(&found).map(|form| form.strategy)
        };
        assert_eq!(best(vec![form(Native, 7, 3), form(GuidedJson, 8, 3)]), Some(Native));
        assert_eq!(best(vec![form(Native, 5, 2), form(GuidedJson, 8, 3)]), Some(GuidedJson));
        assert_eq!(best(vec![form(Native, 0, 0), form(React, 6, 3)]), Some(React));
        assert_eq!(best(vec![form(Markers, 4, 2), form(React, 4, 2)]), Some(React));
        // Saying nothing is right where nothing is to be called, and no proof.
        assert_eq!(best(vec![form(Native, 4, 0)]), None);
        assert_eq!(best(vec![form(Native, 3, 1)]), None);
    }

    #[test]
    fn a_model_that_can_do_nothing() {
        let found = Findings {
            forms: vec![form(Strategy::Native, 2, 0)],
            constrained: Some(Vec::new()),
            system_role: Some(false),
            summary: Some(Score::new(1, 6)),
            forgets: Some(1000),
            tasks: [(Task::Planning, Score::new(0, 3))].into(),
            unfinished: 2,
            ..Findings::default()
        };
        let decided = decide(&connection(), &found);
        let can = decided.capabilities;
        assert_eq!(can.strategy, Strategy::React);
        assert!(!can.plans && !can.summarises && !can.system_role && !can.json_schema);
        assert_eq!((can.window, can.prompt_tokens, can.max_tools), (1000, Some(500), 4));
        assert_eq!(grades(&found)[&Task::ToolCall], Grade::E);
        assert!(decided.notes.iter().any(|note| note.starts_with("2 checks")));
    }

    #[test]
    fn one_bad_puzzle_takes_nothing_from_a_model_that_calls_well() {
        let found = |points| Findings {
            forms: vec![form(Strategy::Native, points, 3)],
            summary: Some(Score::new(1, 6)),
            tasks: [(Task::Planning, Score::new(0, 3))].into(),
            ..Findings::default()
        };
        let can = decide(&connection(), &found(8)).capabilities;
        assert!(can.plans && can.summarises && can.trusted);
        let can = decide(&connection(), &found(4)).capabilities;
        assert!(can.plans && can.summarises && can.trusted, "grade C");
        let can = decide(&connection(), &found(3)).capabilities;
        assert!(!can.plans && !can.summarises && !can.trusted, "grade D");
    }

    #[test]
    fn a_model_that_can_do_everything_slowly() {
        let found = Findings {
            forms: vec![form(Strategy::Native, 8, 3)],
            constrained: Some(vec![Constrained::GuidedJson]),
            window: Some((8192, "the server says so".to_owned())),
            tool_count: Some(24),
            parallel: Some(true),
            prompt_tokens_per_second: 123.4,
            tasks: [(Task::Planning, Score::new(3, 3))].into(),
            ..Findings::default()
        };
        let can = decide(&connection(), &found).capabilities;
        assert_eq!(can.constrained, Some(Constrained::GuidedJson));
        assert_eq!((can.window, can.prompt_tokens), (8192, Some(1200)));
        // A quarter of the window for the tools.
        assert_eq!(can.max_tools, 34);
        assert!(can.plans && can.parallel_calls && can.trusted);
        let grades = grades(&found);
        assert_eq!((grades[&Task::ToolCall], grades[&Task::Planning]), (Grade::A, Grade::A));
    }
}
