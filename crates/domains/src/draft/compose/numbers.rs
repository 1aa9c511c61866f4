//! Numbers over rows, and the groups that they are of.

use steward_core::ports::FileWish;
use steward_core::text::{parts, stem};

use super::{Composer, CountedRows, MOST, Measured, NUMBER};
use crate::draft::asking::{Mark, Marked};
use crate::draft::flags::is_flag;
use crate::draft::links::{Link, Name, is_key, label};
use crate::model::Field;
use crate::query::{Aggregate, DatePart, Function, Group, Order};

/// Where groups without rows are left out though each is asked for: what counts for each row is better.
const STRAIN_OF_LEFT_OUT: f32 = 0.48;

/// How many rows there are.
fn rows() -> Aggregate {
    Aggregate { function: Function::Count, field: None, name: None, distinct: false }
}

impl<'d> Composer<'_, 'd> {
    pub(super) fn form(&mut self) {
        let groups = self.groups();
        let superlative = self.superlative();
        if let Some(counted) = self.counted.take() {
            if groups.is_empty() && superlative.is_none() && self.groups_with(counted) {
                return;
            }
            self.out.ignored.extend(counted.words.0..counted.words.1);
        }
        let number = self.number(superlative, !groups.is_empty());
        if superlative.is_none() && self.leaves_out_groups(&number.clone().unwrap_or_else(rows), &groups) {
            self.out.strain += STRAIN_OF_LEFT_OUT;
        }
        match (number, groups.is_empty()) {
            (Some(number), true) if superlative.is_some() && self.grouped_by_target(&number) => {}
            (Some(number), _) => self.numbers_of(number, groups, superlative),
            (None, false) => {
                // "per country" without a number: how many.
                self.numbers_of(rows(), groups, superlative);
            }
            (None, true) => self.rows(superlative),
        }
    }

    /// `customers with more than 5 orders`, `countries with at least 3 customers`.
    fn groups_with(&mut self, counted: CountedRows) -> bool {
        let asks = [Mark::Sum, Mark::Average, Mark::Maximum, Mark::Minimum];
        let links = self.links;
        let asked =
            |mark: Mark| self.request.marked(mark).copied().filter(|one| !self.out.conditions.contains(&one.at));
        let count = asked(Mark::Count);
        // "how many shipments have more than 2 containers": those that do are shown, and counted with it.
        let of_rows = count.is_some_and(|mark| {
            let next = links.links.iter().find(|link| link.at >= mark.at + mark.len);
            counted.place > 0 && next.is_some_and(|link| link.name == Name::Place(0))
        });
        if asks.into_iter().any(|mark| asked(mark).is_some()) || (count.is_some() && !of_rows) {
            return false;
        }
        self.consumed.extend(count.map(|mark| mark.at));
        let one = |field: &str| Group { field: field.to_owned(), by: None };
        let (groups, number) = if counted.place > 0 {
            let known = links.places[0].known;
            let key = known.facts.key.iter().map(|name| one(name));
            let field = Some(links.places[counted.place].path.trim_end_matches('.').to_owned());
            (key.chain(label(known).into_iter().map(|field| one(&field.name))).collect(), Aggregate { field, ..rows() })
        } else {
            let target = links.links.iter().find(|link| link.at < counted.words.0 && link.name != Name::Place(0));
            let Some(link) = target.filter(|link| !self.out.conditions.contains(&link.at)) else { return false };
            let groups = self.group_of(link.name);
            let (Name::Field(place, _) | Name::Place(place) | Name::Relation(place)) = link.name;
            self.use_link(link, place);
            (groups, rows())
        };
        if groups.is_empty() {
            return false;
        }
        let behind = counted.words.1;
        for link in links.links.iter().filter(|link| link.at + link.len == behind) {
            self.use_link(link, counted.place);
        }
        self.numbers_of(number, groups, None);
        self.require(NUMBER, counted.op, counted.number.into());
        true
    }

    /// `in each country`, `per genre`, `by year`.
    pub(super) fn groups(&mut self) -> Vec<Group> {
        let mut found = Vec::new();
        let marks: Vec<Marked> = self.request.marks.iter().filter(|one| one.mark == Mark::Each).copied().collect();
        for mark in marks {
            let begin = mark.at + mark.len;
            let mut words = (begin..self.request.tokens.len().min(begin + 6))
                .take_while(|at| self.request.told_between(begin, *at) == 0);
            let next = words.find_map(|at| {
                if let Some(part) = self.request.date_part(at) {
                    return Some((at, 1, Err(part)));
                }
                let link = self.links.at(at).filter(|link| link.at == at && !self.out.conditions.contains(&at))?;
                Some((at, link.len, Ok(link.name)))
            });
            let Some((at, mut len, mut what)) = next else { continue };
            // "per receiving city": a field of what the first word leads to.
            if let (Ok(Name::Relation(place) | Name::Place(place)), Some(next)) = (what, self.links.at(at + len))
                && let Name::Field(of, field) = next.name
                && self.links.places[of].known.domain.name == self.links.places[place].known.domain.name
            {
                len += next.len;
                what = Ok(Name::Field(place, field));
            }
            // "price per night" is one name.
            let field_at =
                |at: usize| self.links.at(at).map(|link| link.name).filter(|name| matches!(name, Name::Field(..)));
            if let (Some(name), Some(before)) = (field_at(at), mark.at.checked_sub(1).and_then(field_at))
                && name == before
                && let Name::Field(place, field) = name
                && self.is_in_name(self.links.field(place, field), mark.at - 1, at)
            {
                self.consumed.insert(mark.at);
                self.use_named(mark.at - 1..at + len, 1.0, place);
                continue;
            }
            // "top 5 by total": what is compared.
            if let Ok(Name::Field(place, field)) = what
                && self.superlative().is_some()
                && self.links.field(place, field).kind.is_number()
                && !is_key(self.links.places[place].known, self.links.field(place, field))
            {
                self.consumed.insert(mark.at);
                continue;
            }
            let paths = match what {
                Err(part) => self.date_group(at, part),
                Ok(Name::Place(0)) if self.names_each(mark) => self.each_row(),
                Ok(name) => self.group_of(name),
            };
            if paths.is_empty() {
                continue;
            }
            self.use_words(at..at + len, 0.9);
            self.out.conditions.extend(at..at + len);
            self.consumed.insert(mark.at);
            found.extend(paths);
        }
        // "monthly sales", "which year".
        if found.is_empty() {
            let adverb =
                |at: &usize| self.request.tokens[*at].lower.ends_with("ly") && self.request.date_part(*at).is_some();
            if let Some(at) = (0..self.request.tokens.len()).find(adverb)
                && let Some(part) = self.request.date_part(at)
            {
                found = self.date_group(at, part);
                self.use_words([at], 0.9);
            }
        }
        found
    }

    /// Whether a word of grouping says that none is to be left out.
    fn names_each(&self, mark: Marked) -> bool {
        let word = &self.request.tokens[mark.at + mark.len - 1].lower;
        ["each", "every", "chaque", "cada"].contains(&word.as_str()) || word.starts_with("jede")
    }

    /// Each row by itself: two of one name are two.
    fn each_row(&self) -> Vec<Group> {
        let known = self.links.places[0].known;
        let mut names: Vec<&str> = known.facts.key.iter().map(String::as_str).collect();
        let labels = label(known);
        names.extend(
            labels
                .iter()
                .map(|field| field.name.as_str())
                .filter(|name| !known.facts.key.iter().any(|key| key == name)),
        );
        names.into_iter().map(|name| Group { field: name.to_owned(), by: None }).collect()
    }

    /// Whether groups of rows leave out those without rows, which were asked for.
    fn leaves_out_groups(&self, number: &Aggregate, groups: &[Group]) -> bool {
        let is_each = self.request.marks.iter().any(|mark| mark.mark == Mark::Each && self.names_each(*mark));
        let counts = number.function == Function::Count && number.field.is_none();
        is_each
            && counts
            && self.out.query.conditions.is_empty()
            && groups.iter().any(|group| group.field.contains('.'))
    }

    /// Whether two words are different parts of a field's name.
    fn is_in_name(&self, field: &Field, one: usize, other: usize) -> bool {
        let names = parts(&field.name);
        let part = |at: usize| names.iter().position(|name| stem(name) == self.request.tokens[at].stem);
        part(one).zip(part(other)).is_some_and(|(one, other)| one != other)
    }

    pub(super) fn date_group(&self, near: usize, part: &str) -> Vec<Group> {
        let part = match part {
            "year" => DatePart::Year,
            "month" => DatePart::Month,
            _ => DatePart::Day,
        };
        let date = self.date_field(Some(near));
        if let Some(year) =
            self.year_field().filter(|year| part == DatePart::Year && date.is_none_or(|date| date.place > year.place))
        {
            return vec![Group { field: self.links.path(year.place, year.field), by: None }];
        }
        let group = |one: Measured<'_>| Group { field: self.links.path(one.place, one.field), by: Some(part) };
        date.into_iter().map(group).collect()
    }

    pub(super) fn group_of(&self, name: Name) -> Vec<Group> {
        let one = |path: String| Group { field: path, by: None };
        match name {
            Name::Field(place, field) if !self.links.places[place].many => {
                vec![one(self.links.path(place, self.links.field(place, field)))]
            }
            Name::Place(place) | Name::Relation(place) if !self.links.places[place].many => {
                let known = self.links.places[place].known;
                let labels = label(known);
                // Without a field that is surely the name, the key tells them apart, and the first text says who it is.
                let is_plain = |field: &&Field| field.kind.is_text() && !is_flag(field) && !is_key(known, field);
                let fields = if labels.is_empty() {
                    let keys = known.facts.key.iter().filter_map(|key| known.field(key));
                    keys.chain(known.domain.fields.iter().find(is_plain)).collect()
                } else {
                    labels
                };
                fields.into_iter().map(|field| one(self.links.path(place, field))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The number that is asked for.
    fn number(&mut self, superlative: Option<Marked>, grouped: bool) -> Option<Aggregate> {
        let marked =
            |mark: Mark| self.request.marked(mark).copied().filter(|one| !self.out.conditions.contains(&one.at));
        let is_field = |at: usize| self.links.at(at).is_some_and(|link| matches!(link.name, Name::Field(..)));
        // "the phone number of": no number of rows.
        let is_attribute = |mark: &Marked| {
            self.request.tokens[mark.at].lower == "number" && mark.at.checked_sub(1).is_some_and(is_field)
        };
        let count = marked(Mark::Count).filter(|mark| !is_attribute(mark));
        // "the largest total" of rows that have one, and not of what has several of them.
        let sum = marked(Mark::Sum)
            .filter(|mark| superlative.is_none() || !is_field(mark.at) || self.is_total_of_others(mark.at));
        if let Some(mark) = marked(Mark::Average).or(marked(Mark::Maximum)).or(marked(Mark::Minimum)) {
            let function = match mark.mark {
                Mark::Average => Function::Avg,
                Mark::Maximum => Function::Max,
                _ => Function::Min,
            };
            let measured = self.measured(Some(mark.at))?;
            self.consumed.insert(mark.at);
            return Some(self.aggregate(function, measured));
        }
        if let Some(mark) = count {
            return Some(self.counted(mark, grouped));
        }
        if let Some(mark) = sum
            && let Some(measured) = self.measured(Some(mark.at))
        {
            self.consumed.insert(mark.at);
            return Some(self.aggregate(Function::Sum, measured));
        }
        let wished = match self.request.wished_number() {
            Some(FileWish::Count) if self.out.used.is_empty() => return Some(rows()),
            Some(FileWish::Sum) => Some(Function::Sum),
            Some(FileWish::Average) => Some(Function::Avg),
            Some(FileWish::Count | FileWish::Rows) | None => None,
        };
        if let Some(function) = wished
            && let Some(measured) = self.measured(None)
        {
            return Some(self.aggregate(function, measured));
        }
        let plain = superlative.filter(|mark| mark.measure.is_none());
        if (plain.is_some() || grouped)
            && self.says_money()
            && let Some(measured) = self.measured(None)
        {
            return Some(self.aggregate(Function::Sum, measured));
        }
        if let Some(number) = plain.and_then(|mark| self.most_of(mark, grouped)) {
            return Some(number);
        }
        if grouped && let Some(measured) = self.named_number() {
            return Some(self.aggregate(Function::Sum, measured));
        }
        None
    }

    /// `which guest has the highest total of bookings`: the field is not of what is asked for, which has several of them.
    fn is_total_of_others(&self, at: usize) -> bool {
        let links = self.links;
        let field = links.at(at).map(|link| link.name);
        let Some(Name::Field(place, _)) = field else { return false };
        let target = links.links.iter().find(|link| !self.out.conditions.contains(&link.at));
        let Some(target) = target.filter(|target| target.at + target.len <= at) else { return false };
        let domain = |place: usize| links.places[place].known.domain.name.as_str();
        // "the guest of the booking with the highest total"
        let mut between = links.links.iter().filter(|link| target.at < link.at && link.at < at);
        let is_row = between.any(|link| matches!(link.name, Name::Place(of) if domain(of) == domain(place)));
        !is_row
            && match target.name {
                Name::Place(of) | Name::Relation(of) => domain(of) != domain(place),
                Name::Field(of, field) => links.field(of, field).kind.is_text(),
            }
    }

    fn says_money(&self) -> bool {
        let free = |at: &usize| !self.out.conditions.contains(at);
        let mut said = self.request.measures.iter().filter(|(at, _)| free(at));
        said.any(|(_, measure)| ["money", "quantity"].contains(&measure.name.as_str()))
    }

    /// `how many customers`, `how many different countries`, `how many units`.
    fn counted(&mut self, mark: Marked, grouped: bool) -> Aggregate {
        self.consumed.insert(mark.at);
        let begin = mark.at + mark.len;
        let said = self.request.measures.iter().find(|(at, _)| *at == begin);
        let quantity = said.map(|(_, measure)| *measure).filter(|one| one.name == "quantity");
        if let Some(measured) = quantity.and_then(|measure| self.of_measure(measure, false)) {
            return self.aggregate(Function::Sum, measured);
        }
        let links = self.links;
        let next = links.links.iter().find(|link| link.at >= begin && !self.out.conditions.contains(&link.at));
        let Some(link) = next else { return rows() };
        match link.name {
            Name::Place(place) if self.is_list(place) => self.rows_of(link, place),
            Name::Field(place, field) if !self.links.places[place].many && !grouped && link.at <= begin + 1 => {
                let field = self.links.field(place, field);
                let end = link.words().end;
                let says_rows = links.at(end).is_some_and(|next| matches!(next.name, Name::Place(_)))
                    && self.request.tokens[end].joined;
                // "how many insured boats" asks for boats, and not for what there is in the field.
                if says_rows && !field.kind.is_number() && self.request.marked(Mark::Different).is_none() {
                    self.out.ignored.extend(link.words());
                    return rows();
                }
                self.use_link(link, place);
                if field.kind.is_number() {
                    self.aggregate(Function::Sum, Measured { place, field })
                } else {
                    Aggregate { field: Some(self.links.path(place, field)), distinct: true, ..rows() }
                }
            }
            _ => rows(),
        }
    }

    /// `how many excavators`, where that is a name of another table: what is of that kind is counted, and not the kinds.
    pub(super) fn check_counted_kind(&mut self) {
        let (request, links) = (self.request, self.links);
        let Some(mark) = request.marked(Mark::Count).copied() else { return };
        let counts = self.out.query.aggregate.iter().any(|one| one.function == Function::Count && one.field.is_none());
        let begin = mark.at + mark.len;
        let is_it = |one: &&(std::ops::Range<usize>, usize, String)| {
            one.0.start >= begin && request.told_between(begin, one.0.start) == 0
        };
        let Some((words, place, field)) = self.said.iter().find(is_it).cloned() else { return };
        let names_rows = links.links.iter().any(|link| link.name == Name::Place(0));
        let is_name = request.tokens[words.clone()].iter().any(|token| token.proper || token.quote.is_some());
        if !counts || names_rows || is_name {
            return;
        }
        let one = &links.places[place];
        let is_label = label(one.known).iter().any(|label| label.name == field);
        let is_kind = if place == 0 { !is_label } else { is_label && self.is_single(place) };
        if !is_kind {
            self.out.strain += 0.6;
            return;
        }
        // Rows of several tables are of that kind.
        let own = &links.places[0].known.domain.name;
        let others =
            links.places.iter().filter(|other| place > 0 && other.from == place && other.many && other.hops == 2);
        let is_other = |name: &String| name != own && *name != one.known.domain.name;
        if others.map(|other| &other.known.domain.name).any(is_other) {
            self.out.ignored.extend(words);
        }
    }

    /// Whether rows have a list of it themselves.
    pub(super) fn is_list(&self, place: usize) -> bool {
        self.links.places[place].many && self.links.places[place].hops == 1
    }

    /// How many rows of a list there are.
    fn rows_of(&mut self, link: &Link, place: usize) -> Aggregate {
        self.use_link(link, place);
        Aggregate { field: Some(self.links.places[place].path.trim_end_matches('.').to_owned()), ..rows() }
    }

    /// `which genre has the most tracks`.
    fn most_of(&mut self, mark: Marked, grouped: bool) -> Option<Aggregate> {
        let behind = mark.at + mark.len;
        let links = self.links;
        let link = links.links.iter().find(|link| link.at >= behind)?;
        if link.at > behind + 2 {
            return None;
        }
        match link.name {
            Name::Place(0) if self.has_target_before(mark.at) => Some(rows()),
            Name::Place(place) if self.is_list(place) => Some(self.rows_of(link, place)),
            Name::Field(place, field) if grouped && self.links.field(place, field).kind.is_number() => {
                let function = if mark.mark == Mark::High { Function::Max } else { Function::Min };
                let field = self.links.field(place, field);
                Some(self.aggregate(function, Measured { place, field }))
            }
            _ => None,
        }
    }

    pub(super) fn has_target_before(&self, at: usize) -> bool {
        self.links
            .links
            .iter()
            .any(|link| link.at < at && link.name != Name::Place(0) && !self.out.conditions.contains(&link.at))
    }

    pub(super) fn aggregate(&mut self, function: Function, measured: Measured<'d>) -> Aggregate {
        let (request, links) = (self.request, self.links);
        for link in links.of(measured.place, measured.field) {
            self.use_link(link, measured.place);
        }
        for (at, _) in &request.measures {
            if !self.out.conditions.contains(at) {
                self.use_words([*at], 0.8);
            }
        }
        if self.links.places[measured.place].many {
            self.out.strain += 0.15;
        }
        self.out.strain += self.farness(measured.field);
        self.out.strange &= measured.place != 0;
        Aggregate {
            function,
            field: Some(self.links.path(measured.place, measured.field)),
            name: None,
            distinct: false,
        }
    }

    /// `which country has the most customers`: the groups are what is asked for.
    pub(super) fn grouped_by_target(&mut self, number: &Aggregate) -> bool {
        let Some(mark) = self.superlative() else { return false };
        let over = number.field.as_ref();
        let links = self.links;
        let target = links.links.iter().find(|link| !self.out.conditions.contains(&link.at));
        let Some(link) = target.filter(|link| link.at < mark.at || self.limit.is_some() || link.at > mark.at) else {
            return false;
        };
        let part = (0..self.request.tokens.len())
            .find_map(|at| self.request.date_part(at).filter(|_| at < mark.at).map(|part| (at, part)));
        let groups = match (part, link.name) {
            (Some((at, part)), _) => {
                self.use_words([at], 0.9);
                self.date_group(at, part)
            }
            (None, Name::Place(0)) if over.is_some() => label(self.links.places[0].known)
                .into_iter()
                .map(|field| Group { field: field.name.clone(), by: None })
                .collect(),
            (None, Name::Place(0)) => Vec::new(),
            (None, name) => self.group_of(name),
        };
        if groups.is_empty() {
            return false;
        }
        if part.is_none() {
            let place = match link.name {
                Name::Place(place) | Name::Field(place, _) | Name::Relation(place) => place,
            };
            self.use_link(link, place);
        }
        self.numbers_of(number.clone(), groups, Some(mark));
        true
    }

    pub(super) fn numbers_of(&mut self, number: Aggregate, groups: Vec<Group>, superlative: Option<Marked>) {
        let grouped = !groups.is_empty();
        let direction = self.direction();
        let query = &mut self.out.query;
        query.aggregate = vec![Aggregate { name: Some(NUMBER.to_owned()), ..number }];
        query.group = groups;
        if !grouped {
            return;
        }
        query.limit = Some(MOST);
        if let Some(mark) = superlative {
            self.consumed.insert(mark.at);
            query.order = vec![Order { field: NUMBER.to_owned(), desc: mark.mark == Mark::High }];
            query.limit = Some(self.limit.unwrap_or(1));
        } else if let Some(desc) = direction {
            query.order = vec![Order { field: NUMBER.to_owned(), desc }];
        }
    }
}
