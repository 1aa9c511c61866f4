//! Domains and views as texts for models: pieces that a search finds, a line for the index, and a hint. The same
//! domain gives the same bytes.

use std::fmt::Write as _;

use steward_core::hash;
use steward_core::text::parts;

use crate::model::{Domain, Field, Relation, RelationKind, View};
use crate::query::ops_of;

/// Most characters of a chunk.
pub const LONGEST: usize = 1500;
/// Most characters of a line in it.
const LINE: usize = 300;
const RELATIONS: &str = "Relations:";
/// Most words of a name, and its most characters: what is longer is shown shortened.
pub(crate) const MAX_NAME_WORDS: usize = 8;
pub(crate) const MAX_NAME_CHARS: usize = 64;

/// A piece of what is known about a domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    pub domain: String,
    pub view: Option<String>,
    /// Counted from 0 within its domain or view.
    pub part: usize,
    pub text: String,
    /// SHA-256 of the text: what is equal need not be embedded again.
    pub hash: String,
    /// Lines about relations, with the domains that they lead to.
    relations: Vec<(String, String)>,
    /// Words of names and aliases, in lower case.
    pub names: Vec<String>,
    /// Words of what it says besides: fields, examples, scope.
    pub words: Vec<String>,
}

impl Chunk {
    /// The text for somebody who may read only some domains: without the lines about relations to others.
    pub fn text_for(&self, may_read: impl Fn(&str) -> bool) -> String {
        let hidden = |line: &str| self.relations.iter().any(|(other, to)| other == line && !may_read(to));
        let lines: Vec<&str> = self.text.lines().filter(|line| !hidden(line)).collect();
        // A title without lines says nothing.
        let kept = lines
            .iter()
            .enumerate()
            .filter(|(at, line)| **line != RELATIONS || lines.get(at + 1).is_some_and(|next| next.starts_with("- ")));
        kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
    }
}

/// The chunks of a domain: one, or several that repeat their head if it has many fields.
pub fn of_domain(domain: &Domain) -> Vec<Chunk> {
    let mut head = format!("Domain {}", shown_name(&domain.name));
    if let Some(scope) = scope(domain) {
        let _ = write!(head, ": {}", clean(scope));
    }
    if !domain.aliases.is_empty() {
        let aliases: Vec<String> = domain.aliases.iter().map(|alias| clean(alias)).collect();
        let _ = write!(head, "\nAlso called: {}", cut(&aliases.join(", "), LINE));
    }
    let mut lines: Vec<(&str, String, Vec<String>)> = Vec::new();
    for field in &domain.fields {
        lines.push(("Fields:", field_line(field), field_words(field)));
    }
    for relation in &domain.relations {
        let words = [parts(&relation.name), parts(&relation.domain)].concat();
        lines.push((RELATIONS, relation_line(domain, relation), words));
    }
    for meta in &domain.metas {
        let text = format!("- {}: {} of {}", shown_name(&meta.name), shown_name(&meta.label), shown_name(&meta.table));
        lines.push(("Choices:", text, parts(&meta.name)));
    }
    for note in domain.notes.iter().filter(|note| note.tag != "scope") {
        lines.push(("Notes:", format!("- {}: {}", clean(&note.tag), clean(&note.text)), words_of(&note.text)));
    }
    let names = [parts(&domain.name)].into_iter().chain(domain.aliases.iter().map(|alias| words_of(alias)));
    let relation = |relation: &Relation| (relation_line(domain, relation), relation.domain.clone());
    let first = Chunk {
        domain: domain.name.clone(),
        text: cut(&head, LINE * 2),
        relations: domain.relations.iter().map(relation).collect(),
        names: names.flatten().collect(),
        words: scope(domain).map(words_of).unwrap_or_default(),
        ..Chunk::default()
    };
    split(&first, &lines)
}

/// The chunks of a view.
pub fn of_view(view: &View) -> Vec<Chunk> {
    let head =
        format!("View {} \"{}\" shows {}", shown_name(&view.name), shown_name(&view.title), shown_name(&view.domain));
    let mut lines: Vec<(&str, String, Vec<String>)> = Vec::new();
    for table in &view.tables {
        for column in &table.columns {
            let text = format!(
                "- {} \"{}\" of {}",
                shown_name(&column.field),
                shown_name(&column.label),
                shown_name(&table.domain)
            );
            lines.push(("Columns:", text, [parts(&column.field), words_of(&column.label)].concat()));
        }
    }
    for section in &view.sections {
        let fields: Vec<String> = section.rows.iter().flatten().map(|widget| shown_name(&widget.field)).collect();
        let text = format!("- {}: {}", shown_name(&section.title), fields.join(", "));
        let words = fields.iter().flat_map(|field| parts(field)).chain(words_of(&section.title)).collect();
        lines.push(("Sections:", text, words));
    }
    let first = Chunk {
        domain: view.domain.clone(),
        view: Some(view.name.clone()),
        text: cut(&head, LINE * 2),
        names: [parts(&view.name), words_of(&view.title), parts(&view.domain)].concat(),
        ..Chunk::default()
    };
    split(&first, &lines)
}

/// Fills chunks with lines under their titles; each begins as `first`, whose text is the head.
fn split(first: &Chunk, lines: &[(&str, String, Vec<String>)]) -> Vec<Chunk> {
    let (mut chunks, mut chunk, mut under) = (Vec::new(), first.clone(), "");
    for (title, line, words) in lines {
        let line = cut(line, LINE);
        let more = line.chars().count() + 1 + if under == *title { 0 } else { title.chars().count() + 1 };
        if chunk.text.chars().count() + more > LONGEST {
            let part = chunk.part + 1;
            chunks.push(std::mem::replace(&mut chunk, Chunk { part, ..first.clone() }));
            under = "";
        }
        if under != *title {
            let _ = write!(chunk.text, "\n{title}");
            under = title;
        }
        let _ = write!(chunk.text, "\n{line}");
        chunk.words.extend(words.iter().cloned());
    }
    chunks.push(chunk);
    for chunk in &mut chunks {
        chunk.hash = hash::sha256(chunk.text.as_bytes());
    }
    chunks
}

fn field_line(field: &Field) -> String {
    let mut line = format!("- {}: {}", shown_name(&field.name), field.kind.name());
    if field.filterable {
        let _ = write!(line, " ({})", ops_of(field.kind).join(" "));
    } else {
        line.push_str(" (not filterable)");
    }
    if field.readonly {
        line.push_str(", readonly");
    }
    if let Some(options) = &field.options {
        let _ = write!(line, ", choices from {}", shown_name(options));
    }
    if !field.aliases.is_empty() {
        let aliases: Vec<String> = field.aliases.iter().map(|alias| clean(alias)).collect();
        let _ = write!(line, ", also called {}", aliases.join(", "));
    }
    for example in &field.examples {
        let _ = write!(line, "; {} {} means \"{}\"", clean(&example.op), clean(&example.value), clean(&example.text));
    }
    line
}

fn field_words(field: &Field) -> Vec<String> {
    let mut words = parts(&field.name);
    for example in &field.examples {
        words.extend(words_of(&example.value));
        words.extend(words_of(&example.text));
    }
    words.extend(field.options.iter().flat_map(|options| parts(options)));
    words.extend(field.aliases.iter().flat_map(|alias| words_of(alias)));
    words
}

/// `each album has many tracks (rows of track)`
pub fn relation_in_words(domain: &Domain, relation: &Relation) -> String {
    let verb = match relation.kind {
        RelationKind::HasMany => "has many",
        RelationKind::BelongsTo => "belongs to one",
        RelationKind::HasOne => "has one",
    };
    format!("{}: each {} {verb} {}", shown_name(&relation.name), shown_name(&domain.name), shown_name(&relation.domain))
}

fn relation_line(domain: &Domain, relation: &Relation) -> String {
    cut(&format!("- {}", relation_in_words(domain, relation)), LINE)
}

/// What a domain is about.
pub fn scope(domain: &Domain) -> Option<&str> {
    domain.notes.iter().find(|note| note.tag == "scope").map(|note| note.text.as_str())
}

/// The line of a domain in the index: its name and its scope, or its first fields.
pub fn index_line(domain: &Domain) -> String {
    let about = scope(domain).map_or_else(
        || {
            let fields: Vec<String> = domain.fields.iter().take(5).map(|field| shown_name(&field.name)).collect();
            format!("rows with {}", fields.join(", "))
        },
        clean,
    );
    cut(&format!("{}: {about}", shown_name(&domain.name)), LINE)
}

/// The fields behind a view, for a model that need not search for them; without relations to domains that its user may
/// not read.
pub fn hint(view: &View, domain: &Domain, may_read: impl Fn(&str) -> bool) -> String {
    let (title, name) = (shown_name(&view.title), shown_name(&domain.name));
    let mut text = format!("The user looks at \"{title}\". Ask the domain {name}; its fields are:");
    for field in &domain.fields {
        let label = view.tables.iter().filter(|table| table.domain == domain.name).flat_map(|table| &table.columns);
        let mut label =
            label.filter(|column| column.field == field.name && column.label != field.name).map(|c| &c.label);
        let _ = write!(text, "\n{}", cut(&field_line(field), LINE));
        if let Some(label) = label.next() {
            let _ = write!(text, ", shown as \"{}\"", shown_name(label));
        }
    }
    for relation in domain.relations.iter().filter(|relation| may_read(&relation.domain)) {
        let _ = write!(text, "\n{}", relation_line(domain, relation));
    }
    text
}

/// Words in lower case, with names taken apart.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().flat_map(parts).collect()
}

/// One line without control characters.
fn clean(text: &str) -> String {
    text.split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A name as models see it, shortened if it is longer than names are: headers of files are strangers' words.
pub(crate) fn shown_name(name: &str) -> String {
    let whole = clean(name);
    let words: Vec<&str> = whole.split(' ').take(MAX_NAME_WORDS).collect();
    let short = words.join(" ");
    if short.len() == whole.len() { cut(&whole, MAX_NAME_CHARS) } else { cut(&format!("{short} …"), MAX_NAME_CHARS) }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
