use super::Task;
use super::lexicon::{Lexicon, Sheet};
use std::sync::LazyLock;

const DATA: &str = include_str!("../../data/routing/tasks.json");

static TASKS: LazyLock<(Vec<Task>, Lexicon)> = LazyLock::new(|| {
    // A test reads the file, so it can't be broken here.
    let sheet: Result<Sheet, _> = serde_json::from_str(DATA);
    sheet.map_or_else(|_| Default::default(), |sheet| (order(&sheet), Lexicon::new(&sheet)))
});

fn order(sheet: &Sheet) -> Vec<Task> {
    let task = |name: &String| Task::ALL.iter().find(|task| task.name() == *name);
    sheet.order.iter().map(|name| task(name).copied().unwrap_or_default()).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    pub task: Task,
    /// The words of the message that decided, in lower case; empty if there were none.
    pub words: Vec<String>,
}

impl Classified {
    /// A kind that is known without looking at words.
    pub fn known(task: Task) -> Self {
        Self { task, words: Vec::new() }
    }
}

pub fn classify(message: &str) -> Task {
    classified(message).task
}

/// The kind of `message`, with the words that decided: most points, then the more specific. Only its beginning is read.
pub fn classified(message: &str) -> Classified {
    let (tasks, lexicon) = &*TASKS;
    let found = lexicon.search(message);
    let most = found.iter().map(|one| one.points).max().unwrap_or(0);
    let first = found.into_iter().zip(tasks).find(|(one, _)| one.points == most);
    match first {
        Some((one, task)) if most > 0 => Classified { task: *task, words: one.words },
        _ => Classified::known(Task::default()),
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
