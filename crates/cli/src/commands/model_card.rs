use crate::term::Term;
use std::fmt::Write as _;
use steward_core::exam::{Check, CheckOutcome, ExamReport, Grade};
use steward_core::routing::Task;

/// Line width, characters.
const WIDTH: usize = 96;

pub(super) fn line(check: &Check, term: Term) -> String {
    let mark = match check.outcome {
        CheckOutcome::Passed => term.green("✓"),
        CheckOutcome::Partly => term.yellow("~"),
        CheckOutcome::Failed => term.red("✗"),
        CheckOutcome::Skipped => term.dim("-"),
    };
    format!("{mark} {:<20} {}", title(&check.name), term.dim(&check.detail))
}

pub fn card(report: &ExamReport, name: &str, term: Term) -> String {
    let mut text = String::new();
    let server = if report.server.is_empty() { String::new() } else { format!(" ({})", report.server) };
    let _ = writeln!(text, "{}  {}{server}", term.bold(name), short(&report.model));
    let _ = writeln!(text, "\n{}", term.bold("What it can do"));
    for check in &report.checks {
        let _ = writeln!(text, "  {}", line(check, term));
    }
    if !report.grades.is_empty() {
        let _ = writeln!(text, "\n{}", term.bold("How good it is (A to E)"));
        for (task, grade) in &report.grades {
            let _ = writeln!(text, "  {} {}", letter(*grade, term), task_name(*task));
        }
    }
    let _ = writeln!(text, "\n{}", term.bold("How it is used from now on"));
    for note in &report.notes {
        for (n, part) in wrapped(note).iter().enumerate() {
            let _ = writeln!(text, "  {} {part}", if n == 0 { "·" } else { " " });
        }
    }
    let _ = writeln!(text, "\n{}", term.dim(&measures(report)));
    text
}

fn measures(report: &ExamReport) -> String {
    let mut parts = Vec::new();
    if report.tokens_per_second > 0.0 {
        parts.push(format!("writes {:.0} tokens/s", report.tokens_per_second));
    }
    if report.prompt_tokens_per_second > 0.0 {
        parts.push(format!("reads {:.0} tokens/s", report.prompt_tokens_per_second));
    }
    if report.first_token_ms > 0 {
        parts.push(format!("first token after {} ms", report.first_token_ms));
    }
    parts.push(format!(
        "the exam took {:.0} s and {} tokens",
        std::time::Duration::from_millis(report.ms).as_secs_f64(),
        report.tokens
    ));
    parts.join(" · ")
}

fn short(model: &str) -> &str {
    model.rsplit('/').next().filter(|_| model.starts_with('/')).unwrap_or(model)
}

fn letter(grade: Grade, term: Term) -> String {
    let letter = format!("{grade:?}");
    match grade {
        Grade::A | Grade::B => term.green(&letter),
        Grade::C => term.yellow(&letter),
        Grade::D | Grade::E => term.red(&letter),
    }
}

fn title(check: &str) -> String {
    check.replace('_', " ")
}

fn task_name(task: Task) -> &'static str {
    match task {
        Task::Reasoning => "reasoning",
        Task::CodeGen => "code",
        Task::RagAnswer => "answers from documents",
        Task::Summarize => "summing up",
        Task::Classify => "classifying",
        Task::Extract => "extracting",
        Task::Translate => "translating",
        Task::Chat => "conversation",
        Task::ToolCall => "tool calls",
        Task::Planning => "planning",
    }
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
