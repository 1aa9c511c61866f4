//! Follows paths such as `album.artist.name` and keeps the tables that they lead over.

use super::Checker;
use crate::model::{Field, Relation, RelationKind};
use crate::query::MOST_HOPS;
use crate::query::error::{Problem, shown};
use crate::query::plan::{Column, Source};
use crate::registry::{Known, suggestion};

/// A relation on a path and the domain that it leads to.
pub(super) type Hop<'d> = (&'d Relation, Known<'d>);

/// What a path names.
pub(super) struct Target<'d> {
    pub hops: Vec<Hop<'d>>,
    /// Where it ends.
    pub domain: Known<'d>,
    /// `None`: the path names a relation.
    pub field: Option<&'d Field>,
}

impl<'d> Target<'d> {
    /// The hops up to the last one to many, and those after it; the first are empty if there is none.
    pub fn to_many(&self) -> (&[Hop<'d>], &[Hop<'d>], &[Hop<'d>]) {
        let many = |(relation, _): &Hop<'d>| relation.kind == RelationKind::HasMany;
        let Some(first) = self.hops.iter().position(many) else {
            return (&self.hops, &[], &[]);
        };
        let last = self.hops.iter().rposition(many).unwrap_or(first);
        (&self.hops[..first], &self.hops[first..=last], &self.hops[last + 1..])
    }

    /// The relations that say of which rows it is: those before the last one to many, and up to it; none for a field of
    /// the row itself.
    pub fn rows(&self) -> (Vec<&'d str>, Vec<&'d str>) {
        let names = |hops: &[Hop<'d>]| hops.iter().map(|(relation, _)| relation.name.as_str()).collect();
        match self.to_many() {
            (_, [], _) => (Vec::new(), Vec::new()),
            (before, chain, _) => (names(before), names(chain)),
        }
    }
}

impl<'d> Checker<'d> {
    /// Finds what `path` names, seen from a domain.
    pub fn find(&self, from: Known<'d>, path: &str) -> Result<Target<'d>, Problem> {
        let own = path.split_once('.').filter(|(head, _)| {
            head.eq_ignore_ascii_case(&from.domain.name) && self.visible.relation(from, head).is_none()
        });
        let mut rest = own.map_or(path, |(_, rest)| rest);
        let (mut hops, mut at): (Vec<Hop<'d>>, _) = (Vec::new(), from);
        loop {
            // Names of columns may hold dots.
            if let Some(field) = at.field(rest) {
                return Ok(Target { hops, domain: at, field: Some(field) });
            }
            let (head, tail) = rest.split_once('.').map_or((rest, None), |(head, tail)| (head, Some(tail)));
            let Some((relation, to)) = self.visible.relation(at, head) else {
                return Err(self.unknown(at, head, tail.is_some()));
            };
            if hops.len() == MOST_HOPS {
                return Err(Problem::Other(format!("`{}` leads over more than {MOST_HOPS} relations", shown(path))));
            }
            hops.push((relation, to));
            at = to;
            match tail {
                Some(tail) => rest = tail,
                None => return Ok(Target { hops, domain: at, field: None }),
            }
        }
    }

    fn unknown(&self, at: Known<'d>, name: &str, relation: bool) -> Problem {
        let domain = at.domain.name.clone();
        let relations: Vec<&str> = self.visible.relations(at).map(|(relation, _)| relation.name.as_str()).collect();
        if relation {
            return Problem::Relation { domain, name: shown(name), hint: suggestion(name, relations) };
        }
        let fields = at.domain.fields.iter().map(|field| field.name.as_str());
        // A field of a neighbour, named without the way to it.
        let near = self
            .visible
            .relations(at)
            .find(|(relation, to)| relation.kind != RelationKind::HasMany && to.field(name).is_some());
        let hint = match near {
            Some((relation, _)) => format!("did you mean `{}.{}`?", relation.name, shown(name)),
            None => suggestion(name, fields),
        };
        Problem::Field { domain, name: shown(name), hint }
    }

    pub fn next_id(&mut self) -> usize {
        self.ids += 1;
        self.ids - 1
    }

    pub fn base(&mut self, of: Known<'d>, path: &str) -> Source {
        Source {
            id: self.next_id(),
            table: of.domain.table.clone(),
            joined: None,
            outer: false,
            summary: None,
            path: path.to_owned(),
        }
    }

    /// The source at the end of relations from one that is there; joins what is missing.
    pub fn reach(&mut self, sources: &mut Vec<Source>, from: usize, hops: &[Hop<'d>]) -> usize {
        let mut at = from;
        for (relation, to) in hops {
            let path = sources.iter().find(|source| source.id == at).map_or("", |source| source.path.as_str());
            let path = format!("{path}/{}", relation.name);
            if let Some(there) = sources.iter().find(|source| source.path == path && source.summary.is_none()) {
                at = there.id;
                continue;
            }
            let mut source = self.base(*to, &path);
            source.joined = Some((at, relation.bind.clone()));
            source.outer = relation.kind != RelationKind::HasMany;
            at = source.id;
            sources.push(source);
        }
        at
    }

    /// The sources of a relation to many: the first is bound to `anchor`, outside.
    pub fn inner(&mut self, anchor: usize, chain: &[Hop<'d>]) -> Vec<Source> {
        let Some(((relation, to), rest)) = chain.split_first() else {
            return Vec::new();
        };
        let mut first = self.base(*to, "");
        first.joined = Some((anchor, relation.bind.clone()));
        let mut sources = vec![first];
        let from = sources[0].id;
        self.reach(&mut sources, from, rest);
        sources
    }
}

pub(super) fn column(domain: Known<'_>, field: &Field, source: usize, outer: bool) -> Column {
    let required = !outer && domain.is_required(&field.name);
    Column { source, name: field.name.clone(), kind: field.kind, required, trusted: field.trusted }
}

/// The key of rows of a relation to many: rows that two conditions mean are the same if it is.
pub(super) fn chain_name(anchor: usize, chain: &[Hop<'_>]) -> (usize, Vec<String>) {
    (anchor, chain.iter().map(|(relation, _)| relation.name.clone()).collect())
}
