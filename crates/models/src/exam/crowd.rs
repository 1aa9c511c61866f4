//! Among how many tools it still chooses right.

use super::decide;
use super::desk::{Desk, Silence};
use super::examine::Mark;
use super::findings::{Findings, Score};
use super::questions::TOOL_BOOK;
use super::tools::calls;

/// Tokens of a tool in a prompt, roughly.
const TOOL_TOKENS: usize = 45;

pub(super) async fn check(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let Some(form) = decide::best_form(found) else {
        return Err(Silence::Over("it does not call tools by itself"));
    };
    let crowd = &TOOL_BOOK.crowd;
    let (mut score, mut most, mut words) = (Score::default(), None, Vec::new());
    for count in [crowd.few, crowd.many] {
        let fits = found.window.as_ref().is_none_or(|(window, _)| count * TOOL_TOKENS * 2 < *window as usize);
        if !fits {
            words.push(format!("{count} tools take too much of its window"));
            break;
        }
        let tools = TOOL_BOOK.crowd(count);
        let mut right = 0;
        for (ask, name) in crowd.ask.iter().zip(&crowd.names) {
            let (_, calls) = calls(desk, found, form.strategy, &tools, ask).await?;
            right += u32::from(matches!(calls.as_slice(), [call] if call.name == *name));
        }
        let of = u32::try_from(crowd.ask.len()).unwrap_or(1);
        score.add(Score::new(right, of));
        words.push(format!("{right} of {of} right among {count} tools"));
        if right < of {
            most = most.or(Some(0));
            break;
        }
        most = Some(count);
    }
    found.crowd = most;
    Ok((score, words.join("; ")))
}
