use super::clause::{Clause, Hang, Joint, clauses};
use super::lexicon::Language;
use super::text::Sentence;
use super::token::{Kind, Token};
use super::verb::{Form, headline, read, stands_alone, thing};
use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct Found {
    pub class: String,
    /// Token index of its verb.
    pub verb: usize,
    /// Its tokens, including the things named after it.
    pub span: Range<usize>,
    /// Whether it says only that all is done.
    pub done: bool,
}

impl Found {
    /// The whole sentence, which says that the requested thing has happened.
    pub(super) fn state(sentence: &Sentence, class: String) -> Self {
        Self { class, verb: 0, span: 0..sentence.tokens.len(), done: false }
    }
}

/// What the lines before a sentence imply about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around {
    /// It is an item of a list of what a text says.
    pub content: bool,
    /// It is an item of a list of what is to be done.
    pub plan: bool,
    /// The text is probably in another language.
    pub foreign: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Claimed,
    Own,
    Other,
}

pub(super) fn claims(sentence: &Sentence, lang: &Language, around: Around) -> Vec<Found> {
    if sentence.question || around.content || !speaks(sentence, lang) {
        return Vec::new();
    }
    let all = clauses(sentence, lang);
    let planned = all.iter().flat_map(|clause| &clause.words).any(|word| lang.modal.contains(word));
    let mut found: Vec<Found> = Vec::new();
    let mut before = Before::Nothing;
    let mut reported = false;
    let mut speech = false;
    for (index, clause) in all.iter().enumerate() {
        if clause.joint == Joint::Hard && !reported {
            before = Before::Nothing;
        }
        let own = clause.words.first().is_some_and(|word| lang.first.contains(word));
        speech |= reported && clause.joint == Joint::Hard;
        if own && clause.joint == Joint::And && !speech {
            reported = false;
        }
        let told = told_from(clause, lang);
        let mut claimed = false;
        for k in 0..clause.words.len() {
            let late = told.is_some_and(|from| k >= from);
            if reported || late {
                break;
            }
            let Some((class, form)) = read(clause, k, lang) else {
                continue;
            };
            let scene = Scene { sentence, lang, around, before, planned };
            // In "the mails saved there" the clause already has its verb.
            let beside = claimed && matches!(form, Form::Naked | Form::Headline);
            if beside || !scene.holds(clause, k, class, form) {
                continue;
            }
            let verb = clause.at[k];
            let span = span(&all, index, form, lang);
            let last = found.last_mut();
            if let Some(last) = last.filter(|last| form == Form::Naked && empty(last, clause, class)) {
                last.span.end = span.end;
                last.verb = verb;
            } else {
                found.push(Found { class: class.to_owned(), verb, span, done: false });
            }
            claimed = true;
        }
        before = after(clause, lang, before, claimed, own);
        reported |= told.is_some();
    }
    if found.is_empty()
        && let Some(first) = all.first()
        && lang.done.is(&first.words)
    {
        let verb = first.range.start;
        found.push(Found { class: "do".to_owned(), verb, span: first.range.clone(), done: true });
    }
    found
}

/// Quick check, before anything is built, whether a word of the sentence could make a claim.
fn speaks(sentence: &Sentence, lang: &Language) -> bool {
    sentence.tokens.iter().any(|token| {
        let word = lang.bare_word(&token.norm);
        token.kind == Kind::Word
            && (lang.participle(word).is_some()
                || lang.verbs.past.contains_key(word)
                || lang.verbs.infinitives.contains_key(word)
                || lang.done.ends(&[word]))
    })
}

/// Index of the word from which the clause reports somebody else's words.
fn told_from(clause: &Clause<'_>, lang: &Language) -> Option<usize> {
    let end = lang.report.find(&clause.words)?;
    let to_reader = clause.words.get(end).is_some_and(|word| lang.own.contains(word));
    (!to_reader).then_some(end)
}

/// Whether `last` names nothing yet and says the same as `class`: "created and saved x".
fn empty(last: &Found, clause: &Clause<'_>, class: &str) -> bool {
    clause.joint == Joint::And && last.class == class && clause.range.start == last.verb + 2
}

fn after(clause: &Clause<'_>, lang: &Language, before: Before, claimed: bool, own: bool) -> Before {
    if claimed {
        return Before::Claimed;
    }
    if clause.hang != Hang::Main {
        return if clause.joint == Joint::And { Before::Other } else { before };
    }
    if clause.only_things(lang) {
        return before;
    }
    let blocks = |word: &&str| lang.modal.contains(word) || lang.negation.contains(word);
    let far = lang.far && lang.have.scattered(&clause.words);
    if (own || far) && !clause.words.iter().any(blocks) {
        return Before::Own;
    }
    Before::Other
}

/// The tokens of the claim in clause `index`, including clauses that only name more things.
fn span(all: &[Clause<'_>], index: usize, form: Form, lang: &Language) -> Range<usize> {
    let mut range = all[index].range.clone();
    let soft = |clause: &Clause<'_>| matches!(clause.joint, Joint::And | Joint::Comma);
    for clause in all[index + 1..].iter().take(30) {
        if !(clause.names_only(lang) && (soft(clause) || clause.words == [""])) {
            break;
        }
        range.end = clause.range.end;
    }
    if matches!(form, Form::Perfect | Form::Simple | Form::Headline) {
        for at in (1..=index).rev().take(30) {
            if !(soft(&all[at]) && all[at - 1].names_only(lang)) {
                break;
            }
            range.start = all[at - 1].range.start;
        }
    }
    range
}

struct Scene<'a> {
    sentence: &'a Sentence,
    lang: &'a Language,
    around: Around,
    before: Before,
    planned: bool,
}

impl Scene<'_> {
    fn holds(&self, clause: &Clause<'_>, k: usize, class: &str, form: Form) -> bool {
        let lang = self.lang;
        match clause.hang {
            Hang::Condition | Hang::Relative => return false,
            Hang::When if form != Form::Active || self.planned => return false,
            Hang::When | Hang::Main => {}
        }
        let soft = matches!(clause.joint, Joint::And | Joint::Comma);
        match form {
            Form::Active => !(class == "read" && self.given(clause, k)),
            Form::Naked | Form::Headline
                if (lang.far || form == Form::Naked) && soft && self.before != Before::Nothing =>
            {
                matches!(self.before, Before::Claimed | Before::Own) && !(class == "read" && self.given(clause, k))
            }
            Form::Naked | Form::Headline => {
                let ambiguous = form == Form::Naked && lang.ambiguous.contains(clause.words[k]);
                self.before == Before::Nothing
                    && !ambiguous
                    && !self.around.plan
                    && !self.around.foreign
                    && (form == Form::Naked || headline(clause, k, lang))
                    && stands_alone(clause, k, lang)
                    && !self.elsewhere(clause, k)
            }
            Form::Perfect | Form::Simple | Form::State => self.cue(clause, form) && !self.elsewhere(clause, k),
        }
    }

    /// Whether the request itself was acted on, which needs no tool.
    fn given(&self, clause: &Clause<'_>, k: usize) -> bool {
        let next: Vec<_> = clause.words[k + 1..].iter().take(3).collect();
        let yours = next.iter().any(|word| self.lang.own.contains(word));
        yours && next.iter().any(|word| self.lang.given.contains(word))
    }

    /// Whether a passive is about something that tools work on.
    fn cue(&self, clause: &Clause<'_>, form: Form) -> bool {
        let lang = self.lang;
        let own = clause.words.iter().any(|word| {
            let reminds = form == Form::State && lang.noun(word) == Some("remind");
            reminds || lang.own.contains(word)
        });
        if form == Form::State && !lang.far {
            return own;
        }
        let named = (0..clause.words.len()).any(|at| {
            let token = &self.sentence.tokens[clause.at[at]];
            let bare = clause.words[at].is_empty();
            if bare { token.names() } else { thing(clause, at, lang) }
        });
        let meant = form == Form::Perfect && clause.words.iter().any(|word| lang.pronouns.contains(word));
        own || named || meant
    }

    /// Whether somebody else did it, or it was long ago.
    fn elsewhere(&self, clause: &Clause<'_>, k: usize) -> bool {
        let lang = self.lang;
        let tokens = &self.sentence.tokens;
        let from = if lang.far { 0 } else { k };
        let agent = (from..clause.words.len())
            .any(|at| lang.agent.contains(clause.words[at]) && self.somebody(tokens.get(clause.at[at] + 1)));
        let dated = clause.range.clone().any(|at| self.dated(&tokens[at], at, clause));
        agent || dated || lang.past_time.find(&clause.words).is_some()
    }

    fn somebody(&self, next: Option<&Token>) -> bool {
        let lang = self.lang;
        next.is_some_and(|token| {
            let named = token.capital && lang.noun(&token.norm).is_none();
            token.kind == Kind::Word
                && !lang.agent_self.contains(&token.norm)
                && (named || lang.determiners.contains(&token.norm))
        })
    }

    fn dated(&self, token: &Token, at: usize, clause: &Clause<'_>) -> bool {
        let lang = self.lang;
        let tokens = &self.sentence.tokens;
        let earlier = |back: usize| {
            let index = at.checked_sub(back).filter(|index| clause.range.contains(index));
            index.map_or("", |index| tokens[index].norm.as_str())
        };
        let year = token.kind == Kind::Number
            && token.norm.len() == 4
            && token.norm.starts_with(['1', '2'])
            && (lang.year_after.contains(earlier(1)) || lang.far && lang.finite.contains(earlier(1)));
        let remind = |word: &&str| lang.noun(word) == Some("remind");
        let day = lang.weekdays.contains(&token.norm)
            && !(1..=2).any(|back| lang.meant_for.contains(earlier(back)))
            && !clause.words.iter().any(remind);
        year || day
    }
}
