//! Reads the axes that a lesson chooses for its picture.

use attune_engine::numerics::projection::AXES;

use super::check::Names;
use super::decode::{list, text};
use super::issue::shorten;
use super::record::{Record, fields};
use super::schema::AxisEnds;
use super::source::Node;
use super::text::tokenize;

/// At most as many axes as a picture has, and as the vectors have dimensions.
pub(super) fn read_axes(node: Node<'_>, names: &Names, dim: Option<usize>) -> Option<Vec<AxisEnds>> {
    let mut read: Vec<AxisEnds> = Vec::new();
    let axes = list(node, AXES, |node| {
        let axis = read_axis(node, names)?;
        // The other way round it is the same line.
        if read.iter().any(|other| *other == axis || (&other.from, &other.to) == (&axis.to, &axis.from)) {
            let (from, to) = (shorten(&axis.from), shorten(&axis.to));
            return node.field_issue(format!("an axis of \"{from}\" and \"{to}\" appears twice")).none();
        }
        read.push(axis.clone());
        Some(axis)
    })?;
    match dim {
        Some(dim) if axes.len() > dim => {
            let expected = format!("at most {dim}: so many dimensions have the vectors");
            node.issue(format!("axes: {}", axes.len())).expected(expected).none()
        }
        _ => Some(axes),
    }
}

fn read_axis(node: Node<'_>, names: &Names) -> Option<AxisEnds> {
    let mut record = Record::open(node, &["Axis"])?;
    let axis = fields! { record => AxisEnds {
        from: |node| read_end(node, names);
        to: |node| read_end(node, names);
    } };
    record.finish();
    let axis = axis?;
    if axis.from == axis.to {
        return node.issue(format!("an axis from \"{}\" to itself", shorten(&axis.to))).expected("two ends").none();
    }
    Some(axis)
}

/// A group, a word, or some of both with commas between.
fn read_end(node: Node<'_>, names: &Names) -> Option<String> {
    let end = text(node)?.trim().to_owned();
    let is_group = |name: &str| names.groups.as_ref().is_none_or(|groups| groups.iter().any(|group| group == name));
    if is_group(&end) {
        return Some(end);
    }
    let mut named = 0;
    for item in end.split([',', ';']).flat_map(str::split_whitespace).filter(|item| !is_group(item)) {
        for word in tokenize(item) {
            named += 1;
            let Some(vocabulary) = names.vocabulary.as_ref().filter(|vocabulary| !vocabulary.has(&word)) else {
                continue;
            };
            let groups = names.groups.iter().flatten().map(String::as_str);
            return node
                .word(&word)
                .field_issue(format!("\"{}\" is no group and no word of the corpus", shorten(&word)))
                .expected("a group, or words with commas between")
                .nearest(&word, groups.chain(vocabulary.words.iter().map(String::as_str)))
                .none();
        }
    }
    let has_group = end.split([',', ';']).flat_map(str::split_whitespace).any(is_group);
    if named == 0 && !has_group {
        return node.field_issue("no word").expected("a group, or words with commas between").none();
    }
    Some(end)
}
