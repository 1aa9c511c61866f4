//! Announcements: the assistant says that it is about to act, and stops.

use super::lexicon::Language;
use super::text::Sentence;
use super::token::Kind;

/// Most words between "I'll" and the verb of doing.
const APART: usize = 5;
/// Longest sentence that only asks to wait, words.
const BRIEF: usize = 5;

/// Whether `sentence` announces an act of the speaker. `asked`: an act was requested, so "I would" counts, too.
pub(super) fn announces(sentence: &Sentence, lang: &Language, asked: bool) -> bool {
    if sentence.question {
        return false;
    }
    let words: Vec<&str> =
        sentence.tokens.iter().map(|token| if token.kind == Kind::Word { token.norm.as_str() } else { "" }).collect();
    if words.iter().any(|word| lang.halts.contains(word)) {
        return false;
    }
    let waits = lang.waiting.find(&words).is_some();
    if waits && (asked || words.len() <= BRIEF) {
        return true;
    }
    // "Send me the text and I'll look at it": the user is to act first.
    let told = words.first().is_some_and(|first| lang.acts.has(first) || lang.soft.has(first) || lang.texts.has(first));
    let begun = lang.promise.beginning(&words).is_some() || lang.busy.has(words.first().copied().unwrap_or_default());
    if told && !begun {
        return false;
    }
    let does = |word: &str| lang.deeds.has(word) || lang.busy.has(word);
    let verb = |from: usize| {
        let next = words[from..].iter().take(APART);
        let mut next = next.take_while(|word| !lang.negation.contains(word));
        next.any(|word| does(word))
    };
    let far = |from: usize| lang.far && words[from..].iter().any(|word| does(word));
    for at in 0..words.len() {
        let rest = &words[at..];
        let ahead = lang.promise.beginning(rest);
        let ahead = ahead.or_else(|| lang.wish.beginning(rest).filter(|_| asked));
        if let Some(length) = ahead
            && (verb(at + length) || far(at + length))
        {
            return true;
        }
        // "Checking the calendar…", "je lance la recherche": the verb says who and when by itself.
        let own = at > 0 && lang.first.contains(words[at - 1]);
        if (asked || own) && lang.busy.has(words[at]) && begins(&words[..at], lang) {
            return true;
        }
    }
    false
}

fn begins(before: &[&str], lang: &Language) -> bool {
    let at = before.iter().rposition(|word| word.is_empty()).map_or(0, |at| at + 1);
    before[at..].iter().all(|word| lang.first.contains(word) || lang.skip.contains(word) || lang.polite.contains(word))
}
