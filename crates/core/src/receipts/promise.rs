//! Announcements: the assistant says that it is about to act, and stops.

use super::lexicon::Language;
use super::text::Sentence;
use super::token::Kind;

/// Most words between "I'll" and the verb of doing.
const APART: usize = 5;

/// Whether `sentence` announces an act of the speaker.
pub(super) fn announces(sentence: &Sentence, lang: &Language) -> bool {
    if sentence.question {
        return false;
    }
    let words: Vec<&str> =
        sentence.tokens.iter().map(|token| if token.kind == Kind::Word { token.norm.as_str() } else { "" }).collect();
    if words.iter().any(|word| lang.halts.contains(word)) {
        return false;
    }
    if lang.waiting.find(&words).is_some() {
        return true;
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
        if let Some(length) = lang.promise.beginning(rest).or_else(|| lang.wish.beginning(rest))
            && (verb(at + length) || far(at + length))
        {
            return true;
        }
        // "Checking the calendar…", "je lance la recherche": the verb says who and when by itself.
        if lang.busy.has(words[at]) && begins(&words[..at], lang) {
            return true;
        }
    }
    false
}

fn begins(before: &[&str], lang: &Language) -> bool {
    let at = before.iter().rposition(|word| word.is_empty()).map_or(0, |at| at + 1);
    before[at..].iter().all(|word| lang.first.contains(word) || lang.skip.contains(word) || lang.polite.contains(word))
}
