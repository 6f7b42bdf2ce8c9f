//! The provenance of numbers: every rule, evaluated in double precision, comes to the number of the engine, and so does
//! every card, read as arithmetic with the numbers that it shows.

use std::collections::HashSet;
use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Owner, OwnerKind, Quantity, StagePoint};
use attune_view::explain::lines::{Line, LinePiece, Worked};
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::reader::{EntryReader, part_index};
use attune_view::explain::rule::{Expr, Number, Rule};
use attune_view::explain::walk::{Focus, WalkModel};
use attune_view::explain::{Explanation, Provenance};

use crate::common::close::{Tolerance, is_close_beside};
use crate::common::lessons::{SMALL, formed, kernel, of_file, set_weight, small};
use crate::common::top::at;

/// A model that reads few words.
pub fn odd(model: &str) -> String {
    formed(&format!("max_tokens: 6, {model}"))
}

/// Everything that a model can have: norms, feed-forward, layers, positions, no residual, no projections.
pub const ODD: [&str; 11] = [
    "positions: Sinusoidal",
    "positions: Learned, layers: 2",
    "norm: Pre",
    "norm: Post, residual: false",
    "norm: Pre, feed_forward: 5, layers: 2",
    "norm: Post, feed_forward: 5",
    "norm: Post, layers: 2, bias: true",
    "feed_forward: 5, residual: false, bias: true",
    "norm: Post, feed_forward: 5, residual: false, bias: true",
    "scale: false, temperature: 2.0, bias: true",
    "mask: Causal, readout: Linear",
];

/// Lines of a card, read as arithmetic: by the numbers that they show, and by nothing else of the program.
struct Arithmetic(Peekable<IntoIter<Sign>>);

#[derive(Clone, Debug, PartialEq)]
enum Sign {
    Number(f64),
    Mark(char),
    Function(String),
}

impl Arithmetic {
    fn read(lines: &[Line]) -> Option<f64> {
        let mut signs = Vec::new();
        for piece in lines.iter().flatten() {
            match piece {
                LinePiece::Text(text) => read_text(text, &mut signs),
                LinePiece::Number(operand) => signs.push(Sign::Number(operand.value.into())),
                LinePiece::Product { .. } => {}
            }
        }
        let mut reader = Self(signs.into_iter().peekable());
        let value = reader.sum()?;
        reader.0.next().is_none().then_some(value)
    }

    fn takes(&mut self, mark: char) -> bool {
        self.0.next_if_eq(&Sign::Mark(mark)).is_some()
    }

    fn sum(&mut self) -> Option<f64> {
        let mut sum = self.product()?;
        loop {
            if self.takes('+') {
                sum += self.product()?;
            } else if self.takes('−') {
                sum -= self.product()?;
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut product = self.factor()?;
        loop {
            if self.takes('·') {
                product *= self.factor()?;
            } else if self.takes('/') {
                product /= self.factor()?;
            } else {
                return Some(product);
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        let value = match self.0.next()? {
            Sign::Number(value) => value,
            Sign::Mark('−') => -self.factor()?,
            Sign::Mark('√') => self.factor()?.sqrt(),
            Sign::Mark('(') => self.closed()?,
            Sign::Mark(_) => return None,
            Sign::Function(name) => {
                self.takes('(').then_some(())?;
                let inner = self.closed()?;
                match &*name {
                    "exp" => inner.exp(),
                    "tanh" => inner.tanh(),
                    "sin" => inner.sin(),
                    "cos" => inner.cos(),
                    "relu" => inner.max(0.0),
                    "gelu" => inner * normal_share(inner),
                    "gelu_tanh" => {
                        let cubic = (2.0 / std::f64::consts::PI).sqrt() * (inner + 0.044_715 * inner.powi(3));
                        0.5 * inner * (1.0 + cubic.tanh())
                    }
                    "silu" => inner / (1.0 + (-inner).exp()),
                    _ => return None,
                }
            }
        };
        if self.takes('^') {
            return Some(value.powf(self.factor()?));
        }
        Some(if self.takes('²') { value * value } else { value })
    }

    fn closed(&mut self) -> Option<f64> {
        let inner = self.sum()?;
        self.takes(')').then_some(inner)
    }
}

/// The share of a normal distribution below a number, as a sum of narrow strips.
fn normal_share(x: f64) -> f64 {
    const STRIPS: f64 = 20_000.0;
    const FAR: f64 = 9.0;
    let (width, from) = ((x.clamp(-FAR, FAR) + FAR) / STRIPS, -FAR);
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (0..STRIPS as usize).map(|strip| density(from + (strip as f64 + 0.5) * width) * width).sum()
}

fn read_text(text: &str, to: &mut Vec<Sign>) {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut word = letter.to_string();
        let belongs: fn(&char) -> bool = match letter {
            ' ' => continue,
            '∞' => {
                to.push(Sign::Number(f64::INFINITY));
                continue;
            }
            '0'..='9' => |next| next.is_ascii_digit() || *next == '.',
            'a'..='z' => |next| next.is_ascii_lowercase() || *next == '_',
            mark => {
                to.push(Sign::Mark(mark));
                continue;
            }
        };
        while let Some(next) = letters.next_if(belongs) {
            word.push(next);
        }
        to.push(word.parse().map_or(Sign::Function(word), Sign::Number));
    }
}

/// Whether a number is the engine's, which has single precision. `size` is that of the largest number that it is made
/// of.
fn agrees(shown: f64, found: f64, size: f64) -> bool {
    is_close_beside(1.0 + shown.abs() + 0.1 * size, found, shown, Tolerance::LIBRARY).is_ok()
}

/// The size of the largest number on a card.
fn size(worked: &Worked) -> f64 {
    let all = worked.lines(usize::MAX).lines.into_iter().flatten();
    let sizes = all.map(|piece| match piece {
        LinePiece::Number(operand) => f64::from(operand.value).abs(),
        LinePiece::Product { value, .. } => value.abs(),
        LinePiece::Text(_) => 0.0,
    });
    sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
}

/// The fault of a card that does not come to a number; `None` of one that is true.
fn fault(worked: &Worked, shown: f64) -> Option<String> {
    let found = worked.value?;
    let size = size(worked);
    if !agrees(shown, found, size) {
        return Some(format!("the rule is {found}, not {shown}"));
    }
    let lines = worked.lines(usize::MAX);
    let is_heading = |line: &Line| matches!(&line[..], [LinePiece::Text(text)] if text.ends_with(':'));
    let own = lines.lines.iter().position(is_heading).unwrap_or(lines.lines.len());
    let (equation, list) = lines.lines.split_at(own);
    // A sum of nothing has no line.
    let read = if equation.is_empty() { Some(0.0) } else { Arithmetic::read(equation) };
    if !read.is_some_and(|read| agrees(shown, read, size)) {
        return Some(format!("the card reads {read:?}, not {shown}"));
    }
    let total = equation.iter().flatten().find_map(|piece| match piece {
        LinePiece::Number(operand) if operand.entry.is_none() && operand.label == "Σ" => {
            Some(f64::from(operand.value))
        }
        _ => None,
    })?;
    let parts: Option<Vec<f64>> =
        list.iter().skip(1).map(|line| Arithmetic::read(std::slice::from_ref(line))).collect();
    let is_whole = lines.more == 0 && list.len() > 1;
    match parts {
        Some(parts) if !is_whole || agrees(total, parts.iter().sum(), size) => None,
        parts => Some(format!("the lines under {total} come to {parts:?}")),
    }
}

/// The first of some, the second and the last.
fn some(count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(move |at| [0, 1, count - 1].contains(at))
}

/// Some entries of every kind that the snapshot has.
fn entries(snapshot: &Snapshot) -> Vec<Entry> {
    let model = snapshot.model.as_ref().expect("a model");
    let (sentence, architecture) = (&model.sentence, &model.architecture);
    let width = architecture.width;
    let mut all = vec![Quantity::Static.of_model([1, 0]), Quantity::Position.of_model([1, 1])];
    // Each tower begins and ends with norms of its own.
    let (decoder, blocks) = (architecture.source_blocks.len(), architecture.numbered_blocks().count());
    for (block, _) in architecture.numbered_blocks() {
        let tokens = sentence.activations.blocks[block].input.rows();
        if block == 0 || block == decoder {
            all.extend(some(tokens).map(|token| Quantity::Embedded.of_block(block, [token, 1])));
        }
        if block + 1 == decoder || block + 1 == blocks {
            all.extend(some(tokens).map(|token| Quantity::Final.of_block(block, [token, 1])));
        }
        for token in [0, tokens - 1] {
            for dim in [0, width - 1] {
                use Quantity::{Attended, Hidden, Input, Joined, Normed, Output, Summed};
                let of_block = [Input, Normed, Summed, Attended, Hidden, Joined, Output];
                all.extend(of_block.map(|quantity| quantity.of_block(block, [token, dim])));
                all.extend(BlockPart::ALL.map(|part| Quantity::Part.of_block(block, [part_index(part), token, dim])));
            }
            all.push(Quantity::MoveLength.of_block(block, [token]));
            all.extend(BlockPart::ALL.map(|part| Quantity::PartLength.of_block(block, [part_index(part), token])));
            all.push(Quantity::WordLength.of_block(block, [token, 0]));
        }
        all.push(Entry::parameter(TensorName::ValueWeights.of_block(block), 1, 1));
    }
    let heads: Vec<_> = sentence.activations.heads().collect();
    for (head, activations) in some(heads.len()).map(|head| (head, heads[head])) {
        all.push(Quantity::Scale.of_head(head, []));
        let (queries, keys) = (activations.weights.rows(), activations.weights.cols());
        for query in some(queries) {
            all.extend([Quantity::RowSum.of_head(head, [query]), Quantity::HeadLength.of_head(head, [query])]);
            all.push(Quantity::HeadArrowLength.of_head(head, [query]));
            all.extend([Quantity::Query.of_head(head, [query, 1]), Quantity::Mix.of_head(head, [query, 1])]);
            for key in some(keys) {
                use Quantity::{DistanceBias, Exponential, Product, Score, TermLength, Weight};
                let of_pair = [Product, DistanceBias, Score, Exponential, Weight, TermLength];
                all.extend(of_pair.map(|quantity| quantity.of_head(head, [query, key])));
                all.extend([
                    Quantity::Key.of_head(head, [key, 0]),
                    Quantity::Value.of_head(head, [key, 1]),
                    Quantity::Arrow.of_head(head, [query, key, 1]),
                    Quantity::Term.of_head(head, [query, key, 0]),
                    Quantity::Term.of_head(head, [query, key, width - 1]),
                ]);
            }
        }
    }
    for token in some(sentence.tokens.len()) {
        for of in [StagePoint::Static(token), StagePoint::Contextual(token), StagePoint::Word(token)] {
            all.extend((0..3).map(|axis| Quantity::Coordinate.of_point(of, axis)));
        }
        for (of, near) in [
            (StagePoint::Static(token), &sentence.static_neighbours[token]),
            (StagePoint::Contextual(token), &sentence.contextual_neighbours[token]),
        ] {
            for near in near.by_cosine.iter().chain(&near.by_distance).take(3) {
                all.extend([Quantity::Cosine.of_point(of, near.word), Quantity::Distance.of_point(of, near.word)]);
            }
        }
    }
    for (row, best) in sentence.answers.likeliest.iter().enumerate().take(2) {
        let class = best[0].class;
        all.extend([Quantity::Logit.of_model([row, class]), Quantity::Probability.of_model([row, class])]);
    }
    all
}

/// Entries of the quantities that have none among others, of those that the snapshot has: a new quantity is checked
/// without a word here.
fn entries_of_others(reader: &EntryReader<'_>, listed: &[Entry]) -> Vec<Entry> {
    let architecture = &reader.model.architecture;
    let is_new = |quantity: &Quantity| listed.iter().all(|entry| entry.quantity != *quantity);
    let of = |quantity: Quantity| {
        let definition = quantity.definition();
        let index = std::array::from_fn(|place| usize::from(place < definition.indices.len()));
        let owners = match definition.owner {
            OwnerKind::Model => vec![Owner::Model],
            OwnerKind::Block => architecture.numbered_blocks().map(|(block, _)| Owner::Block(block)).collect(),
            OwnerKind::Head => (0..architecture.heads()).map(Owner::Head).collect(),
            OwnerKind::Point => vec![Owner::Point(StagePoint::Contextual(0))],
        };
        owners.into_iter().map(move |owner| Entry { quantity, owner, index })
    };
    let all = Quantity::ALL.iter().copied().filter(is_new).flat_map(of);
    all.filter(|entry| reader.value(*entry).is_some()).collect()
}

/// Checks every entry, and how many have a rule that is not given.
pub fn check(name: &str, snapshot: &Snapshot) -> usize {
    let mut count = 0;
    let mut missing = Vec::new();
    let mut asked = HashSet::new();
    let reader = EntryReader::of(snapshot).expect("a model");
    let listed = entries(snapshot);
    let others = entries_of_others(&reader, &listed);
    for entry in listed.into_iter().chain(others) {
        let Some(told) = reader.explain(entry) else {
            missing.push(entry);
            continue;
        };
        let of_number = reader.name(entry);
        assert!(!of_number.is_empty() && !told.meaning.is_empty() && !told.symbols.is_empty(), "{name}: {told:?}");
        if let Some(fault) = fault(&told.worked, told.value.into()) {
            panic!("{name}: {of_number}, {}: {fault}\n{}", told.symbols, told.worked.text(usize::MAX));
        }
        count += usize::from(told.worked.value.is_some());
        // Every number in it can be asked for in its turn.
        for piece in told.worked.lines(usize::MAX).lines.iter().flatten() {
            if let LinePiece::Number(operand) = piece
                && let Some(entry) = operand.entry
            {
                // The entries of a row have one rule.
                if asked.insert((entry.quantity, entry.owner, entry.index[0])) {
                    assert!(reader.rule_of(entry).is_some(), "{name}: no rule of {}", operand.label);
                }
                let value = reader.value(entry).unwrap_or_else(|| panic!("{name}: no {entry:?}"));
                assert_eq!(value.to_bits(), operand.value.to_bits(), "{name}: {}", operand.label);
            }
        }
    }
    // Numbers that only some forms have.
    let optional = |entry: &Entry| {
        matches!(
            entry.quantity,
            Quantity::Position
                | Quantity::DistanceBias
                | Quantity::Embedded
                | Quantity::Final
                | Quantity::Normed
                | Quantity::Attended
                | Quantity::Hidden
                | Quantity::Joined
                | Quantity::Arrow
                | Quantity::HeadArrowLength
                | Quantity::Part
                | Quantity::PartLength
                | Quantity::Parameter(_)
        )
    };
    missing.retain(|entry| !optional(entry));
    assert!(missing.is_empty(), "{name}: {missing:?}");
    count
}

/// A rule with a wrong factor, or that lacks one of its terms, is caught by its value and by its card.
#[test]
fn a_wrong_rule_is_caught() {
    use Quantity::{
        Final, Input, Key, Logit, Mix, MoveLength, Output, Product, Query, Score, Summed, Term, Value, Weight,
    };
    let of_head = [Query, Key, Value, Product, Score, Weight, Mix].map(|quantity| quantity.of_head(0, [1, 1]));
    let of_block = [Input, Summed, Output].map(|quantity| quantity.of_block(0, [1, 1]));
    let others = [Logit.of_model([0, 1]), Term.of_head(0, [1, 1, 1]), MoveLength.of_block(0, [1])];
    let kernels = ["gemma2-wild", "bert-wild", "llama-wild"].map(|family| {
        let mut kernel = Kernel::embedded(Arc::new(of_file(at("tests/fixtures/pretrained").join(family))));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![5, 17, 5, 40])));
        kernel.settle();
        kernel
    });
    /// A hundredth of less is within what is rounded.
    const LEAST: f32 = 0.01;
    let mut caught = 0;
    for snapshot in kernels.iter().chain([&small()]).map(Kernel::snapshot) {
        let reader = EntryReader::of(&snapshot).expect("a model");
        let behind_all = Final.of_block(reader.last_block(), [1, 1]);
        for entry in of_head.into_iter().chain(of_block).chain(others).chain([behind_all]) {
            let (Some(value), Some(rule)) = (reader.value(entry), reader.rule_of(entry)) else { continue };
            let right = reader.worked(&rule);
            if right.value.is_none() || value.abs() < LEAST {
                continue;
            }
            assert_eq!(fault(&right, value.into()), None, "{}", reader.name(entry));
            let wrong = Rule { expression: rule.expression * Expr::from(Number::plain(1.01)), ..rule };
            assert!(fault(&reader.worked(&wrong), value.into()).is_some(), "{}", reader.name(entry));
            // The card of another number.
            let other = f64::from(value) * 1.01;
            assert!(fault(&right, other).is_some(), "{}", reader.name(entry));
            caught += 1;
        }
    }
    assert!(caught > 30, "{caught}");
}

/// What a card reads is arithmetic, with the precedence of its signs.
#[test]
fn cards_are_read_as_arithmetic() {
    for (text, wanted) in [
        ("1 / (√4 · 2)", 0.25),
        ("2 · −3 + 1 − 0.5", -5.5),
        ("√(9 + 16) / 5", 1.0),
        ("exp(1 − 1) · (2 − 5)²", 9.0),
        ("0.5 · tanh(0) + 2", 2.0),
        ("10 / 100^(2 / 4)", 1.0),
        ("relu(0 − 1) + relu(3)", 3.0),
        ("silu(0) + gelu_tanh(0)", 0.0),
    ] {
        assert_eq!(Arithmetic::read(&[vec![LinePiece::Text(text.to_owned())]]), Some(wanted), "{text}");
    }
    for text in ["", "1 +", "(1", "log(1)", "1 2"] {
        assert_eq!(Arithmetic::read(&[vec![LinePiece::Text(text.to_owned())]]), None, "{text}");
    }
}

pub const FAMILIES: [&str; 22] = [
    "bert-wild",
    "distilbert-wild",
    "gpt2-wild",
    "llama-wild",
    "llama3-scaling",
    "mistral-window",
    "qwen2-wild",
    "qwen3-wild",
    "gemma2-wild",
    "gemma3-wild",
    "phi3-wild",
    "phi-wild",
    "neox-wild",
    "neo-wild",
    "roberta-wild",
    "modernbert-wild",
    "olmo2-wild",
    "t5-wild",
    "t5v11-wild",
    "marian-wild",
    "bart-wild",
    "mbart-wild",
];

#[test]
fn what_the_learner_changed_is_said_as_the_reason() {
    let head = |head, mode| Command::Interventions(InterventionCommand::SetHead { head, mode });
    let holes = Mask::custom(MaskTable::from_fn(7, 7, |query, key| query != 2 && (query, key) != (0, 1)));
    let cases = [
        (head(0, HeadMode::Uniform), Quantity::Weight.of_head(0, [0, 1]), "the same weight"),
        (head(0, HeadMode::Frozen(None)), Quantity::Weight.of_head(0, [0, 1]), "is frozen"),
        (head(0, HeadMode::Off), Quantity::Mix.of_head(0, [0, 0]), "Head 1 is off"),
        (head(0, HeadMode::Gain(2.5)), Quantity::Mix.of_head(0, [0, 0]), "output of head 1 is multiplied by 2.5"),
        (
            Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))),
            Quantity::Score.of_head(0, [0, 1]),
            "temperature was set to 0.5",
        ),
        (
            Command::Interventions(InterventionCommand::SetScale(Some(false))),
            Quantity::Scale.of_head(1, []),
            "Scaling was turned off",
        ),
        (
            Command::Interventions(InterventionCommand::SetMask(Some(holes.clone()))),
            Quantity::Weight.of_head(0, [0, 1]),
            "your mask hides",
        ),
        (
            Command::Interventions(InterventionCommand::SetMask(Some(holes))),
            Quantity::Weight.of_head(0, [2, 1]),
            "sees no word at all",
        ),
        (
            set_weight(TensorName::QueryWeights, 0, 1, 9.0),
            Entry::parameter(TensorName::QueryWeights.into(), 0, 1),
            "You changed this weight",
        ),
    ];
    for (command, entry, reason) in cases {
        let mut kernel = small();
        kernel.apply(command.clone());
        let snapshot = kernel.snapshot();
        check(reason, &snapshot);
        let notes = Explanation::of(&snapshot, entry).expect("an entry").sentences.join(" ");
        assert!(notes.contains(reason), "{command:?}: {notes}");
    }
}

#[test]
fn a_weight_leads_back_to_the_static_vector() {
    let snapshot = small().snapshot();
    let told = Provenance::of(&snapshot, Quantity::Weight.of_head(0, [1, 5])).expect("a weight");
    assert_eq!((told.name.as_str(), told.place.as_str()), ("A₁[\"seal\", \"duck\"]", "A[0, 1, 5]"));
    assert_eq!(told.explanation.meaning, "attention weight: how much “seal” looks at “duck” in head 1");
    let way: Vec<String> = told.way.iter().map(|(_, symbol)| symbol.clone()).collect();
    assert_eq!(way[..3], ["exp", "S₁", "Q₁ Kᵀ"], "{way:?}");
    assert!(["E", "W_Q", "W_K", "P", "b_Q", "b_K"].contains(&way.last().expect("an end").as_str()), "{way:?}");
    let text = Explanation::of(&snapshot, Quantity::Product.of_head(0, [1, 5])).expect("a score").worked.text(2);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("q[") && lines[1].starts_with("+ q["), "{text}");
    assert!(lines[2].starts_with("… + "), "{text}");
}

#[test]
fn a_number_of_which_an_operand_is_missing_is_told_as_given() {
    let mut snapshot = kernel(&odd("norm: Pre")).snapshot();
    let query = Quantity::Query.of_head(0, [1, 1]);
    let whole = Explanation::of(&snapshot, query).expect("a query");
    let sentence = Arc::make_mut(&mut snapshot.model.as_mut().expect("a model").sentence);
    Arc::make_mut(&mut sentence.activations.blocks[0]).normed = None;
    let told = Explanation::of(&snapshot, query).expect("a query");
    assert_eq!((told.value, &told.symbols), (whole.value, &whole.symbols));
    assert!(whole.worked.value.is_some() && told.worked.value.is_none());
    assert_eq!((told.worked.leads_to, told.worked.text(usize::MAX)), (None, String::new()));
}

#[test]
fn what_is_not_there_has_no_provenance() {
    let snapshot = small().snapshot();
    for entry in [
        Quantity::Weight.of_head(9, [0, 0]),
        Quantity::Weight.of_head(0, [99, 0]),
        Quantity::Term.of_head(0, [0, 99, 0]),
        Quantity::Term.of_head(0, [0, 0, 99]),
        Quantity::Input.of_block(7, [0, 0]),
        Quantity::Static.of_model([usize::MAX, 0]),
        Quantity::Coordinate.of_point(StagePoint::Static(0), 3),
        Entry::parameter(TensorName::HiddenWeights.into(), 0, 0),
        Quantity::Logit.of_model([99, 0]),
    ] {
        assert_eq!(Provenance::of(&snapshot, entry), None, "{entry:?}");
    }
}

#[test]
fn every_number_of_the_walk_and_every_arrow_says_where_it_comes_from() {
    let forms = ODD.map(odd);
    let given = [SMALL, include_str!("../fixtures/forms/translation.ron")];
    for text in given.into_iter().chain(forms.iter().map(String::as_str)) {
        let snapshot = kernel(text).snapshot();
        let heads = snapshot.model.as_ref().expect("a model").architecture.heads();
        for head in 0..heads {
            let walk = WalkModel::of(&snapshot, Focus { query: 1, head, key: None }).expect("a walk");
            for row in walk.steps.iter().flat_map(|step| &step.rows) {
                for (column, value) in row.values.iter().enumerate() {
                    match Explanation::of(&snapshot, row.entry(column)) {
                        Some(told) => assert_eq!(told.value.to_bits(), value.to_bits(), "{}", row.label),
                        None => assert_eq!(row.label, "b_O", "only a model without b_O has none of it"),
                    }
                }
            }
            for by in [ArrowParts::Word, ArrowParts::Head, ArrowParts::Both] {
                for arrow in PathModel::of(&snapshot, 1, head, by).expect("a path").arrows {
                    let told = Explanation::of(&snapshot, arrow.entry.expect("an entry")).expect("an entry");
                    assert_eq!(told.value, arrow.length, "{}", arrow.label);
                }
            }
        }
    }
}
