use crate::term::Term;
use steward_core::approval::{Answer, Subject};
use steward_core::tool::Preview;

/// Shows what is asked and reads the answer: `y`, `n`, or free text as feedback; `None` if nobody answered.
pub fn ask_person(term: Term, subject: &Subject) -> Option<Answer> {
    term.clear();
    match subject {
        Subject::Plan { previews, taint, .. } => {
            for one in previews {
                term.say(&format!("  step {} ({:?}): {}", one.step + 1, one.risk, one.preview.summary));
                show_detail(term, &one.preview);
            }
            for one in taint {
                term.warn(&format!("  may derive from {} ({})", one.origin, one.tool));
            }
            yes_no_feedback(term, "Go ahead? [y/N/what to change]")
        }
        Subject::Call { tool, arguments, risk, preview, reason, .. } => {
            term.say(&format!("{} {tool} ({risk:?}) {arguments}", term.yellow("asks:")));
            if !reason.is_empty() {
                term.say(&format!("  {reason}"));
            }
            if !preview.summary.is_empty() {
                term.say(&format!("  {}", preview.summary));
            }
            show_detail(term, preview);
            if !preview.reversible {
                term.warn("  cannot be undone");
            }
            yes_no_feedback(term, "Let it run? [y/N/what to change]")
        }
        Subject::Uncertain { tool, arguments, why, .. } => {
            term.say(&format!("{} {tool} {arguments}", term.yellow("uncertain:")));
            term.say(&format!("  It was interrupted, and whether it happened is not known: {why}."));
            loop {
                let line = term.ask("Did it happen? [h]appened, [r]un again, [s]kip")?;
                match line.to_lowercase().as_str() {
                    "h" | "happened" => return Some(Answer::Happened),
                    "r" | "run again" => return Some(Answer::RunAgain),
                    "s" | "skip" => return Some(Answer::Skip),
                    _ => term.say("Please answer h, r or s."),
                }
            }
        }
        Subject::Question { text, .. } => {
            term.say_text(&format!("{} {text}", term.yellow("question:")));
            let line = term.ask(">")?;
            Some(if line.is_empty() { Answer::Deny { reason: None } } else { Answer::Feedback { text: line } })
        }
    }
}

fn show_detail(term: Term, preview: &Preview) {
    let Some(detail) = &preview.detail else {
        return;
    };
    for line in detail.lines().take(40) {
        let line = match line.as_bytes().first() {
            Some(b'+') => term.green(line),
            Some(b'-') => term.red(line),
            _ => line.to_owned(),
        };
        term.say(&format!("    {line}"));
    }
}

fn yes_no_feedback(term: Term, question: &str) -> Option<Answer> {
    let line = term.ask(question)?;
    Some(match line.to_lowercase().as_str() {
        "y" | "yes" => Answer::Approve { grant: None, until: None },
        "" | "n" | "no" => Answer::Deny { reason: None },
        _ => Answer::Feedback { text: line },
    })
}
