//! How entries are called: by words, by numbers, and what each is.

use attune_core::kernel::notebook::live::{distance_label, head_label, scored};
use attune_core::kernel::snapshot::sentence::subscript;
use attune_engine::numerics::contributions::Part;
use attune_engine::numerics::params::{TensorId, TensorName, code_suffix, superscript};
use attune_engine::quantity::{Entry, Index, Owner, Quantity, StagePoint};

use super::reader::Reader;
use super::worked::Operand;
use crate::view_model::head_labels::{at_distance, distance_of};
use crate::view_model::{axes, quoted};

/// An index of an entry, for readers.
enum Label {
    Word(String),
    Number(String),
}

impl Reader<'_> {
    pub fn query_word(&self, head: usize, query: usize) -> String {
        self.labels.queries(head).get(query).cloned().unwrap_or_else(|| query.to_string())
    }

    pub fn key_word(&self, head: usize, key: usize) -> String {
        self.labels.keys(head).get(key).cloned().unwrap_or_else(|| key.to_string())
    }

    fn vocabulary(&self, word: usize) -> &str {
        self.space.vocabulary.get(word).map_or("", String::as_str)
    }

    fn point_word(&self, point: StagePoint) -> String {
        match point {
            StagePoint::Word(word) => self.vocabulary(word).to_owned(),
            StagePoint::Static(token) | StagePoint::After(token, _) | StagePoint::Contextual(token) => {
                self.labels.tokens.get(token).cloned().unwrap_or_else(|| token.to_string())
            }
        }
    }

    /// The head itself, or the first one of a block: its queries and keys are the block's.
    fn head_of(&self, owner: Owner) -> usize {
        match owner {
            Owner::Head(head) => head,
            _ => self.first_head(owner.number()),
        }
    }

    /// The tensor's symbol, with its block and head: `A₁`.
    pub fn symbol(&self, entry: Entry) -> String {
        let Entry { quantity, owner, .. } = entry;
        if let Some(tensor) = entry.tensor() {
            return tensor.to_string();
        }
        let place = match owner {
            Owner::Block(block) if quantity == Quantity::Output && block == self.last_block() => String::new(),
            Owner::Block(block) => superscript(block),
            Owner::Head(head) => {
                let (block, own) = self.block_of(head);
                format!("{}{}", superscript(block), subscript(own + 1))
            }
            Owner::Model | Owner::Point(_) => String::new(),
        };
        let symbol = match self.part_of(entry) {
            Some(part) => {
                let symbol = part_symbol(part, self.norms_after(owner.number()));
                if quantity == Quantity::PartLength { format!("‖{symbol}‖") } else { symbol.to_owned() }
            }
            None => quantity.definition().symbol.to_owned(),
        };
        symbol.replace("{}", &place)
    }

    /// The term of a block's output that an entry is of, if no head adds it.
    fn part_of(&self, entry: Entry) -> Option<Part> {
        let is_part = entry.quantity.definition().counts(Index::Part);
        self.part(entry.owner.number(), entry.index[0]).filter(|_| is_part)
    }

    fn block_of(&self, head: usize) -> (usize, usize) {
        self.head(head).map_or((0, head), |parts| (parts.block, parts.own))
    }

    fn label(&self, kind: Index, owner: Owner, index: usize) -> Label {
        match kind {
            Index::Word => Label::Word(self.vocabulary(index).to_owned()),
            Index::Query => Label::Word(self.query_word(self.head_of(owner), index)),
            Index::Key => Label::Word(self.key_word(self.head_of(owner), index)),
            Index::Class => Label::Word(self.model.classes.get(index).cloned().unwrap_or_default()),
            Index::Axis => Label::Number(axes::names(self.space).into_iter().nth(index).unwrap_or_default()),
            Index::Part => {
                let part = self.part(owner.number(), index);
                Label::Number(part.map_or("", |part| part_name(part, self.norms_after(owner.number()))).to_owned())
            }
            Index::Dim | Index::Place | Index::Row | Index::Col => Label::Number(index.to_string()),
        }
    }

    fn labels_of(&self, entry: Entry) -> Vec<Label> {
        let Entry { quantity, owner, index } = entry;
        // The symbol names the part.
        let indices = quantity.definition().indices.iter().zip(index).filter(|(kind, _)| **kind != Index::Part);
        let point = owner.point().map(|point| Label::Word(self.point_word(point)));
        point.into_iter().chain(indices.map(|(kind, index)| self.label(*kind, owner, index))).collect()
    }

    /// Rows and columns of a learned tensor, which are words in some.
    fn learned_labels(&self, tensor: TensorId, row: usize, col: usize) -> Vec<Label> {
        let number = |index: usize| Label::Number(index.to_string());
        match self.model.parameters.spec(tensor) {
            Some(_) if tensor.name == TensorName::Embedding => {
                vec![Label::Word(self.vocabulary(row).to_owned()), number(col)]
            }
            Some(spec) if tensor.name == TensorName::DistanceBias => {
                let head = (spec.rows > 1).then(|| Label::Word(head_label(row)));
                let distance = Label::Word(distance_label(distance_of(col, spec.cols)));
                head.into_iter().chain([distance]).collect()
            }
            Some(spec) if spec.rows == 1 => vec![number(col)],
            _ => vec![number(row), number(col)],
        }
    }

    /// By words.
    pub fn name(&self, entry: Entry) -> String {
        let [row, col, _] = entry.index;
        let labels = match entry.tensor() {
            Some(tensor) => self.learned_labels(tensor, row, col),
            None => self.labels_of(entry),
        };
        let label = |label: &Label| match label {
            Label::Word(word) => format!("{word:?}"),
            Label::Number(number) => number.clone(),
        };
        let labels = labels.iter().map(label).collect::<Vec<_>>().join(", ");
        let symbol = self.symbol(entry);
        if labels.is_empty() { symbol } else { format!("{symbol}[{labels}]") }
    }

    /// By numbers, as code calls it; empty where code has no name for it.
    pub fn place(&self, entry: Entry) -> String {
        let Entry { quantity, owner, index: [i, j, _] } = entry;
        if let Some(tensor) = entry.tensor() {
            let is_row = self.model.parameters.spec(tensor).is_some_and(|spec| spec.rows == 1);
            let row = if is_row { String::new() } else { format!("{i}, ") };
            return format!("{}[{row}{j}]", tensor.code_name());
        }
        let Some(name) = quantity.definition().code else { return String::new() };
        match owner {
            Owner::Head(head) => {
                let (block, own) = self.block_of(head);
                format!("{name}{}[{own}, {i}, {j}]", code_suffix(block))
            }
            Owner::Block(block) => {
                let read = if quantity == Quantity::Output { self.last_block() } else { self.first_block() };
                if block == read { format!("{name}[{i}, {j}]") } else { String::new() }
            }
            Owner::Model | Owner::Point(_) => format!("{name}[{i}, {j}]"),
        }
    }

    /// Within a formula.
    pub fn short(&self, entry: Entry) -> String {
        match entry.quantity.definition().short {
            Some(short) => self.filled(short, entry, str::to_owned),
            None => self.name(entry),
        }
    }

    /// `None` if there is no such entry.
    pub fn operand(&self, entry: Entry) -> Option<Operand> {
        Some(Operand { label: self.short(entry), value: self.value(entry)?, entry: Some(entry) })
    }

    /// A number of operands; `None` if one is missing.
    pub fn operands(&self, count: usize, entry: impl Fn(usize) -> Entry) -> Option<Vec<Operand>> {
        (0..count).map(|i| self.operand(entry(i))).collect()
    }

    /// Meaning of a weight: its tensor's, or its own in `B`.
    fn weight_meaning(&self, tensor: TensorId, row: usize, col: usize) -> String {
        match self.model.parameters.spec(tensor) {
            Some(spec) if tensor.name == TensorName::DistanceBias => {
                let head = self.labels.title(self.first_head(tensor.block) + row).to_lowercase();
                format!("how much {head} favours {}", at_distance(distance_of(col, spec.cols)))
            }
            _ => tensor.name.purpose().to_owned(),
        }
    }

    /// In a few words.
    pub fn meaning(&self, entry: Entry) -> String {
        let text = match (entry.quantity, entry.owner) {
            (Quantity::Output, Owner::Block(block)) if block == self.last_block() => {
                "entry {dim} of the contextual vector of {query}"
            }
            _ => entry.quantity.definition().entry,
        };
        self.filled(text, entry, quoted)
    }

    /// A text of the catalogue with words and numbers in place of what stands in braces.
    fn filled(&self, text: &str, entry: Entry, word: fn(&str) -> String) -> String {
        let Entry { quantity, owner, index } = entry;
        let mut text = text.to_owned();
        let mut fill = |name: &str, with: &dyn Fn() -> String| {
            if text.contains(name) {
                text = text.replace(name, &with());
            }
        };
        for (kind, index) in quantity.definition().indices.iter().zip(index) {
            let name = match kind {
                Index::Word => "{word}",
                Index::Query => "{query}",
                Index::Key => "{key}",
                Index::Class => "{class}",
                Index::Dim => "{dim}",
                Index::Axis => "{axis}",
                Index::Place => "{place}",
                Index::Part => "{part}",
                Index::Row | Index::Col => continue,
            };
            fill(name, &|| match self.label(*kind, owner, index) {
                _ if *kind == Index::Place => (index + 1).to_string(),
                Label::Word(label) => word(&label),
                Label::Number(label) => label,
            });
        }
        let [i, j, _] = index;
        let head = self.head_of(owner);
        fill("{head}", &|| self.labels.title(head).to_lowercase());
        fill("{distance}", &|| at_distance(j as isize - i as isize));
        fill("{scored}", &|| {
            let has_distances = self.head(head).is_some_and(|parts| parts.config.attention.distances.is_some());
            scored(has_distances).to_owned()
        });
        if let Some(tensor) = entry.tensor() {
            fill("{weight}", &|| self.weight_meaning(tensor, i, j));
        }
        if let Some(point) = owner.point() {
            let when = match point {
                StagePoint::Word(_) | StagePoint::Static(_) => "before attention".to_owned(),
                StagePoint::After(_, block) => {
                    format!("after {}", self.labels.block(self.first_head(block)).to_lowercase())
                }
                StagePoint::Contextual(_) => "after attention".to_owned(),
            };
            let is_word = matches!(point, StagePoint::Word(_));
            fill("{point}", &|| word(&self.point_word(point)));
            fill("{ when}", &|| if is_word { String::new() } else { format!(" {when}") });
            fill("{when}", &|| when.clone());
        }
        text
    }
}

/// The name of an arrow that no head adds; `norms` are the norms between what the heads add and the block's output.
pub fn part_name(part: Part, norms: usize) -> &'static str {
    match part {
        Part::Rescaled if norms > 1 => "rescaled by the norms",
        Part::Rescaled => "rescaled by the norm",
        Part::Bias => "b_O",
        Part::Shift if norms > 1 => "shift of the first norm",
        Part::Shift => "shift of the norm",
        Part::FeedForward => "feed-forward part",
        Part::LastShift => "shift of the second norm",
    }
}

/// The symbol of such an arrow; `{}` is where the block is named.
fn part_symbol(part: Part, norms: usize) -> &'static str {
    match part {
        Part::Rescaled => "Norm(X{}) − X{}",
        Part::Bias if norms == 0 => "b_O{}",
        Part::Bias => "Norm(b_O{})",
        Part::Shift if norms > 1 => "Norm(β₁{})",
        Part::Shift => "β{}",
        Part::FeedForward if norms == 0 => "F{}",
        Part::FeedForward => "Norm(F{})",
        Part::LastShift => "β₂{}",
    }
}

/// Its place in the list of all, by which an entry names it.
pub fn part_index(part: Part) -> usize {
    Part::ALL.iter().position(|other| *other == part).unwrap_or(0)
}
