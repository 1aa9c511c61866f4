//! Whether a verb in a clause says that the speaker has done something.

use super::clause::{Clause, Hang};
use super::lexicon::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// "I created", "I have created".
    Active,
    /// "has been created".
    Perfect,
    /// "was created".
    Simple,
    /// "is set".
    State,
    /// A verb without subject and auxiliary: "created", "and deleted".
    Naked,
    /// A thing and its verb: "file created".
    Headline,
}

/// What the word at `k` is: its class of action and the form of the claim, if it may be one.
pub(super) fn read<'l>(clause: &Clause<'_>, k: usize, lang: &'l Language) -> Option<(&'l str, Form)> {
    if lang.far {
        return far(clause, k, lang);
    }
    let words = &clause.words;
    let word = words[k];
    let mut j = k;
    while j > 0 && k - j < 6 && lang.chain.contains(words[j - 1]) {
        j -= 1;
    }
    if let Some(class) = lang.verbs.infinitives.get(word)
        && lang.recent.ends(&words[..k])
        && !words[..k].iter().any(|word| lang.negation.contains(word))
    {
        return Some((class, Form::Active));
    }
    let chain = &words[j..k];
    let subject = j.checked_sub(1).map(|at| words[at]);
    let own = subject.is_some_and(|word| lang.first.contains(word));
    if let Some(with) = lang.particles.get(word)
        && !with.begins(&words[k + 1..])
    {
        return None;
    }
    let nothing = words[k + 1..].iter().take(2).any(|word| lang.negation_after.contains(word));
    if nothing && lang.participle(word) != Some("read") {
        return None;
    }
    if let Some(class) = lang.verbs.past.get(word)
        && chain.is_empty()
    {
        return Some((class, Form::Active));
    }
    let class = lang.participle(word)?;
    let denied = words[..j].iter().any(|word| lang.negation.contains(word));
    let form = if chain.is_empty() {
        match subject {
            None => Form::Naked,
            Some(_) if lang.bare && own => Form::Active,
            Some(_) if j <= 4 && thing(clause, j - 1, lang) && !denied => Form::Headline,
            Some(_) => return None,
        }
    } else if lang.have.is(chain) {
        match subject {
            _ if !lang.bare => Form::Active,
            Some(_) if own => Form::Active,
            None => Form::Naked,
            Some(_) => return None,
        }
    } else if denied {
        return None;
    } else if lang.perfect.is(chain) {
        Form::Perfect
    } else if lang.simple.is(chain) {
        Form::Simple
    } else if lang.state.is(chain) && lang.state_verbs.contains(word) {
        Form::State
    } else {
        return None;
    };
    Some((class, form))
}

/// In German the auxiliary and the verb may be far apart.
fn far<'l>(clause: &Clause<'_>, k: usize, lang: &'l Language) -> Option<(&'l str, Form)> {
    let words = &clause.words;
    let denied = |word: &&str| lang.negation.contains(word) || lang.modal.contains(word);
    if words.iter().any(denied) {
        return None;
    }
    let own = words.iter().any(|word| lang.first.contains(word));
    if let Some(class) = lang.verbs.past.get(words[k])
        && own
    {
        return Some((class, Form::Active));
    }
    let class = lang.participle(words[k])?;
    let form = if lang.have.scattered(words) {
        Form::Active
    } else if lang.perfect.scattered(words) {
        Form::Perfect
    } else if lang.simple.scattered(words) {
        Form::Simple
    } else if lang.state.scattered(words)
        && lang.state_verbs.contains(words[k])
        && !words.iter().any(|word| lang.place.contains(word))
    {
        Form::State
    } else if words.iter().any(|word| lang.finite.contains(word)) {
        return None;
    } else if k == 0 {
        Form::Naked
    } else if (0..k).any(|at| thing(clause, at, lang)) {
        Form::Headline
    } else {
        Form::Naked
    };
    Some((class, form))
}

/// Whether the word at `at` names something that tools work on.
pub(super) fn thing(clause: &Clause<'_>, at: usize, lang: &Language) -> bool {
    let word = clause.words[at];
    word.is_empty() || lang.noun(word).is_some() || lang.things.contains(word) || lang.parts.contains(word)
}

/// Whether "file created" is a headline. "Files deleted with rm show up" is about files in general.
pub(super) fn headline(clause: &Clause<'_>, k: usize, lang: &Language) -> bool {
    if !lang.bare {
        return true;
    }
    let Some(next) = clause.words.get(k + 1) else {
        return true;
    };
    let some = k == 1 && clause.words[0].ends_with('s') && !clause.words[0].ends_with("ss");
    !some && (next.is_empty() || lang.after_headline.contains(next))
}

/// Whether a form without an auxiliary may be read as a claim: nothing after it makes it part of a sentence.
pub(super) fn stands_alone(clause: &Clause<'_>, k: usize, lang: &Language) -> bool {
    let acts = |word: &&str| lang.finite.contains(word) || lang.modal.contains(word);
    clause.hang == Hang::Main && !clause.words[k + 1..].iter().any(acts)
}
