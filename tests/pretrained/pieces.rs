//! Pieces of one word as one: what looks at a word looks at all of its pieces, a word looks as its pieces do in the
//! mean, and nothing else changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::snapshot::Snapshot;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::view_model::Model;
use attune_view::view_model::attention::{AttentionMaps, Reading};
use attune_view::view_model::pieces::{WordArcs, WordAttention, Words};
use attune_view::view_model::sentence_arcs::{Direction, Pair, ShownArcs, WordAt};
use attune_view::view_model::stage::StageModel;

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::opened::{opened, running, with_tokenizer};

const TEXT: &str = "The unrelated bankers of Zürich ate it";

/// Both families, with words of several pieces.
fn snapshots() -> [(&'static str, Arc<Snapshot>); 2] {
    ["bert-wild", "gpt2-wild"].map(|name| {
        let folder = with_tokenizer(name);
        let mut kernel = running(&opened(&folder.0));
        kernel.apply(Command::Sentence(SentenceCommand::Set(TEXT.to_owned())));
        let snapshot = kernel.snapshot();
        assert_eq!(snapshot.notice, None, "{name}");
        (name, Arc::new(snapshot))
    })
}

fn of_words(snapshot: &Arc<Snapshot>) -> AttentionMaps {
    WordAttention::make(snapshot, &(), None).expect("words of several pieces").0
}

#[test]
fn attention_to_a_split_word_is_summed_and_from_it_is_the_mean() {
    for (name, snapshot) in snapshots() {
        let (plain, folded) = (AttentionMaps::of(&snapshot).expect("a model"), of_words(&snapshot));
        assert_eq!(folded.heads.len(), plain.heads.len());
        let mut split = 0;
        for (map, of) in folded.heads.iter().zip(&plain.heads) {
            for (row, queries) in map.query_tokens.iter().enumerate() {
                let sum: f32 = map.cells.weights(row).sum();
                assert_close(format!("{name}: the row of {}", map.queries[row]), sum, 1.0, Tolerance::SINGLE_PASS);
                for (column, keys) in map.key_tokens.iter().enumerate() {
                    let found = map.cells.weight(row, column);
                    let (first, key) = (queries.start, keys.start);
                    if queries.len() == 1 && keys.len() == 1 {
                        assert_eq!(
                            found.to_bits(),
                            of.cells.weight(first, key).to_bits(),
                            "{name}: words of one piece"
                        );
                        continue;
                    }
                    split += 1;
                    let mut wanted = 0.0;
                    for query in queries.clone() {
                        for key in keys.clone() {
                            wanted += f64::from(of.cells.weight(query, key)) / queries.len() as f64;
                        }
                    }
                    assert_close_beside(1.0, name, found, wanted, Tolerance::SINGLE);
                }
            }
        }
        assert!(split > 0, "{name}: no word has several pieces");
    }
}

#[test]
fn what_a_word_adds_is_the_length_of_what_its_pieces_add_together() {
    for (name, snapshot) in snapshots() {
        let sentence = &snapshot.model.as_ref().expect("a model").sentence;
        let architecture = &snapshot.model.as_ref().expect("a model").architecture;
        for map in &of_words(&snapshot).heads {
            let (block, _, own) = architecture.head(map.head);
            let (contributions, activations) = (&sentence.contributions[block], &sentence.activations.blocks[block]);
            for (row, queries) in map.query_tokens.iter().enumerate() {
                for (column, keys) in map.key_tokens.iter().enumerate() {
                    let mut sum = vec![0.0; activations.output.cols()];
                    for (query, key) in queries.clone().flat_map(|query| keys.clone().map(move |key| (query, key))) {
                        let term = contributions.arrow(activations, own, query, key);
                        sum.iter_mut().zip(term).for_each(|(sum, x)| *sum += f64::from(x) / queries.len() as f64);
                    }
                    let wanted = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
                    assert_close_beside(
                        1.0 + wanted,
                        name,
                        map.cells.length(row, column),
                        wanted,
                        Tolerance::SINGLE_SUMS,
                    );
                }
            }
        }
    }
}

#[test]
fn a_word_is_named_as_it_was_written_and_what_the_tokenizer_added_stays() {
    for (name, snapshot) in snapshots() {
        let folded = of_words(&snapshot);
        let is_added = |at: &usize| {
            snapshot
                .model
                .as_ref()
                .is_some_and(|model| model.sentence.tokens[*at].piece.as_ref().is_some_and(|piece| piece.is_added))
        };
        let map = &folded.heads[0];
        let split = map.query_tokens.iter().zip(&*map.queries).filter(|(tokens, _)| tokens.len() > 1);
        let names: Vec<&str> = split.map(|(_, name)| name.as_str()).collect();
        assert!(names.contains(&"Zürich") && names.contains(&"unrelated"), "{name}: {names:?}");
        let added: Vec<usize> = map.query_tokens.iter().map(|tokens| tokens.start).filter(is_added).collect();
        assert_eq!(added.len(), if name == "bert-wild" { 2 } else { 0 });
        assert_eq!(map.queries.len(), 7 + added.len(), "{name}: {:?}", map.queries);
    }
}

#[test]
fn arcs_between_words_sum_to_one_and_pieces_have_no_place() {
    for (name, snapshot) in snapshots() {
        let arcs = WordArcs::make(&snapshot, &(), None).expect("words").0;
        let placed: Vec<usize> = (0..arcs.words.len()).filter(|at| !arcs.words[*at].is_part).collect();
        assert_eq!(placed.len(), of_words(&snapshot).tokens.len());
        for head in arcs.layers.iter().flat_map(|layer| &layer.heads) {
            for query in &placed {
                let word = WordAt::in_sentence(*query);
                let layer = arcs.layer_of(head.head).expect("its layer");
                let (direction, reading) = (Direction::LooksAt, Reading::default());
                let found = arcs.arcs(&ShownArcs { word, direction, layer, head: Some(head.head), reading });
                let sum: f32 = found.iter().map(|arc| arc.weight).sum();
                assert_close(name, sum, 1.0, Tolerance::SINGLE_PASS);
                assert!(found.iter().all(|arc| placed.contains(&arc.pair.key)), "{name}: nothing goes to a piece");
            }
        }
    }
}

#[test]
fn a_word_is_a_point_in_the_middle_of_its_pieces() {
    for (name, snapshot) in snapshots() {
        let model = snapshot.model.as_ref().expect("a model");
        let words = Words::of(&model.sentence).expect("words");
        let pieces = StageModel::of(&snapshot).expect("points");
        let folded = pieces.clone().of_words(&words);
        let wholes = folded.tokens.iter().filter(|token| !token.is_part && token.pieces == 1);
        let wholes: BTreeSet<usize> = wholes.filter_map(|token| token.word).collect();
        let rings = |stage: &StageModel| stage.in_sentence.clone();
        assert_eq!(rings(&folded), wholes, "{name}: the static places of whole words");
        assert!(rings(&pieces).len() > wholes.len(), "{name}: a word in pieces");
        // On the walk through a layer the points begin elsewhere, and the static places stay.
        let mut walked = pieces.clone();
        walked.tokens.iter_mut().for_each(|token| token.start = token.end);
        let walked = walked.of_words(&words);
        assert_eq!(rings(&walked), wholes, "{name}: in a layer");
        for (token, of) in walked.tokens.iter().zip(&folded.tokens) {
            assert_eq!(token.static_at, of.static_at, "{name}: {}", token.text);
            assert!(token.is_part || of.start == of.static_at, "{name}: {}", token.text);
        }
        for (token, of) in folded.tokens.iter().zip(&pieces.tokens) {
            if token.is_part {
                assert_ne!(words.first(token.position), token.position, "{name}");
                continue;
            }
            let own = &pieces.tokens[token.position..token.position + token.pieces];
            if own.len() == 1 {
                assert_eq!((token.start, token.end, &token.text), (of.start, of.end, &of.text), "{name}");
            }
            for axis in 0..3 {
                let mean = own.iter().map(|piece| f64::from(piece.end[axis])).sum::<f64>() / own.len() as f64;
                let (of, size) = (format!("{name}: {}", token.text), 1.0 + mean.abs());
                assert_close_beside(size, of, token.end[axis], mean, Tolerance::SINGLE_SUMS);
            }
        }
    }
}

#[test]
fn the_arrows_of_a_word_lead_to_where_it_is() {
    for (name, snapshot) in snapshots() {
        let model = snapshot.model.as_ref().expect("a model");
        let words = Words::of(&model.sentence).expect("words");
        for block in 0..model.architecture.blocks.len() {
            let head = model.architecture.heads_of(block).start;
            for query in (0..model.sentence.tokens.len()).filter(|query| words.first(*query) == *query) {
                let own: Vec<usize> =
                    (query..model.sentence.tokens.len()).filter(|at| words.first(*at) == query).collect();
                for by in [ArrowParts::Word, ArrowParts::Head, ArrowParts::Both] {
                    let path = PathModel::of_word(&snapshot, &words, query, head, Some(by)).expect("a path");
                    let tip = path.arrows.last().expect("arrows").to;
                    for (axis, (tip, to)) in tip.iter().zip(path.to).enumerate() {
                        let ends = own.iter().map(|piece| f64::from(model.sentence.moves[block].end(*piece)[axis]));
                        let mean = ends.sum::<f64>() / own.len() as f64;
                        let size = 1.0 + path.from[axis].abs().max(to.abs());
                        let of = format!("{name}, {by:?}");
                        assert_close_beside(
                            size,
                            of,
                            [to, *tip].map(f64::from),
                            [mean, to.into()],
                            Tolerance::SINGLE_SUMS,
                        );
                    }
                    let plain = PathModel::of(&snapshot, query, head, by).expect("a path");
                    if own.len() == 1 && by == ArrowParts::Head {
                        for (arrow, of) in path.arrows.iter().zip(&plain.arrows) {
                            assert_eq!((&arrow.label, arrow.entry), (&of.label, of.entry), "{name}");
                            let size = 1.0 + of.length;
                            assert_close_beside(size, &of.label, arrow.length, of.length, Tolerance::SINGLE_SUMS);
                        }
                    }
                    // What looks at the pieces of one word is one arrow.
                    let keys: Vec<_> = path.arrows.iter().filter_map(|arrow| Some((arrow.key?, arrow.head))).collect();
                    assert!(keys.iter().all(|(key, _)| words.first(*key) == *key), "{name}");
                    assert!(keys.iter().enumerate().all(|(at, one)| !keys[..at].contains(one)), "{name}");
                }
            }
        }
    }
}

#[test]
fn an_arc_is_asked_where_it_comes_from_only_where_it_is_one_number_and_a_piece_is_at_the_place_of_its_word() {
    for (name, snapshot) in snapshots() {
        let (arcs, words) = (WordArcs::make(&snapshot, &(), None).expect("words").0, of_words(&snapshot));
        let pieces = &words.heads[0].query_tokens;
        let (mut one, mut several) = (0, 0);
        for query in pieces.iter() {
            let word = WordAt::in_sentence(query.start);
            for piece in query.clone() {
                assert_eq!(arcs.placed(WordAt::in_sentence(piece)), word, "{name}");
                let last = pieces[pieces.len() - 1].clone();
                let pair = Pair { head: 1, query: piece, key: last.end - 1 };
                assert_eq!(arcs.placed_pair(pair), Some(Pair { head: 1, query: query.start, key: last.start }));
            }
            let shown =
                ShownArcs { word, direction: Direction::LooksAt, layer: 0, head: Some(0), reading: Reading::default() };
            for arc in arcs.arcs(&shown).iter().filter(|arc| !arcs.words[arc.pair.key].is_part) {
                let key = pieces.iter().find(|range| range.start == arc.pair.key).expect("a word");
                let is_one = query.len() == 1 && key.len() == 1;
                assert_eq!(arcs.entry(arc).is_some(), is_one, "{name}: {arc:?}");
                *if is_one { &mut one } else { &mut several } += 1;
            }
        }
        assert!(one > 0 && several > 0, "{name}");
    }
}
