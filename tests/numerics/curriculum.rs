//! The numbers of the lessons on attention's arithmetic, to five digits, by the engine itself; and the
//! slips of widely read notes, which it must not reproduce.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::block::{BlockCache, BlockConfig};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::softmax::softmax_backward;

use crate::common::close::{Tolerance, assert_close, is_close_beside};
use crate::common::numerics::one_block::{Input, forward};
use crate::common::numerics::{generator, random_matrix};

/// As many digits behind the point as the lessons show.
const DIGITS: i32 = 5;

fn matrix<const COLS: usize>(rows: &[[f64; COLS]]) -> Matrix<f64> {
    Matrix::from_row_major(rows.len(), COLS, rows.concat())
}

#[track_caller]
fn assert_digits<const COLS: usize>(found: &Matrix<f64>, expected: &[[f64; COLS]]) {
    assert_close("as the lessons show", found.flat(), expected.concat(), Tolerance::of_digits(DIGITS));
}

/// Which published entries, of so many digits behind the point, the arithmetic bears out.
fn right<const COUNT: usize>(found: &[f64], published: [f64; COUNT], digits: i32) -> [bool; COUNT] {
    assert_eq!(found.len(), COUNT, "as many entries");
    std::array::from_fn(|i| is_close_beside(1.0, found[i], published[i], Tolerance::of_digits(digits)).is_ok())
}

/// Scores and weights, and the output, of one head over some vectors.
struct Found {
    cache: BlockCache<f64>,
    scores: Matrix<f64>,
    weights: Matrix<f64>,
}

impl Found {
    fn of(layer: AttentionConfig, parameters: &[(TensorName, Matrix<f64>)], x: &Matrix<f64>) -> Self {
        let config = BlockConfig { residual: false, ..BlockConfig::plain(layer) };
        let mut all = Parameters::zeros(&config.shapes(0));
        for (name, given) in parameters {
            all.values_of_mut(*name).copy_from_slice(given.flat());
        }
        let cache = forward(&config, &all, &Input::one(x.clone()), &[]);
        let (scores, weights) = cache.attention.scores_and_weights(0, x.rows(), x.rows());
        Self { cache, scores, weights }
    }

    fn output(&self) -> &Matrix<f64> {
        &self.cache.attention.mix
    }
}

/// Lesson 4: `softmax(E Eᵀ) E`.
fn dot_product(words: &[[f64; 3]]) -> Found {
    Found::of(AttentionConfig::parameter_free(3), &[], &matrix(words))
}

const MONEY: [f64; 3] = [0.1, 0.2, 0.3];
const BANK: [f64; 3] = [0.4, 0.5, 0.6];
const GROWS: [f64; 3] = [0.7, 0.8, 0.9];
const RIVER: [f64; 3] = [0.2, 0.1, 0.4];
const FLOWS: [f64; 3] = [0.5, 0.3, 0.2];

#[test]
fn dot_product_lesson() {
    let found = dot_product(&[MONEY, BANK, GROWS, RIVER, FLOWS]);
    assert_digits(
        &found.scores,
        &[
            [0.14, 0.32, 0.50, 0.16, 0.17],
            [0.32, 0.77, 1.22, 0.37, 0.47],
            [0.50, 1.22, 1.94, 0.58, 0.77],
            [0.16, 0.37, 0.58, 0.21, 0.21],
            [0.17, 0.47, 0.77, 0.21, 0.38],
        ],
    );
    assert_digits(
        &found.weights,
        &[
            [0.17602, 0.21073, 0.25229, 0.17957, 0.18138],
            [0.13810, 0.21659, 0.33968, 0.14518, 0.16045],
            [0.10343, 0.21249, 0.43655, 0.11204, 0.13549],
            [0.17070, 0.21059, 0.25980, 0.17945, 0.17945],
            [0.15512, 0.20940, 0.28265, 0.16145, 0.19137],
        ],
    );
    assert_digits(
        found.output(),
        &[
            [0.40511, 0.41478, 0.51442],
            [0.44748, 0.47031, 0.56726],
            [0.49108, 0.52802, 0.62333],
            [0.40878, 0.41906, 0.51906],
            [0.42511, 0.43540, 0.52942],
        ],
    );
    // The slip: a sum of 6.5351, and what follows from it.
    let sum: f64 = found.scores.row(0).iter().map(|s| s.exp()).sum();
    assert_eq!((right(&[sum], [6.5349], 4), right(&[sum], [6.5351], 4)), ([true], [false]), "{sum}");
    let published = [0.1761, 0.2107, 0.2522, 0.1796, 0.1814];
    assert_eq!(right(found.weights.row(0), published, 4), [false, true, false, true, true]);
    assert_eq!(right(found.output().row(0), [0.40505, 0.41471, 0.51435], 5), [false; 3]);
}

#[test]
fn the_same_word_in_two_sentences() {
    assert_digits(&matrix(&[row(&dot_product(&[MONEY, BANK, GROWS]), 1)]), &[[0.48709, 0.58709, 0.68709]]);
    assert_digits(&matrix(&[row(&dot_product(&[RIVER, BANK, FLOWS]), 1)]), &[[0.37512, 0.32735, 0.42150]]);
}

fn row(found: &Found, word: usize) -> [f64; 3] {
    found.output().row(word).try_into().expect("three wide")
}

const W_Q: [[f64; 3]; 3] = [[0.3, 0.6, 0.9], [0.1, 0.4, 0.7], [0.2, 0.5, 0.8]];
const W_K: [[f64; 3]; 3] = [[0.5, 0.2, 0.1], [0.4, 0.3, 0.6], [0.7, 0.8, 0.9]];
const W_V: [[f64; 3]; 3] = [[0.6, 0.1, 0.4], [0.3, 0.5, 0.2], [0.8, 0.7, 0.9]];

/// Word `i` is the unit vector `e_i`, so that a projection's row is that word's own query, key or value.
fn by_hand(scale: bool, queries: Matrix<f64>, keys: Matrix<f64>, values: Matrix<f64>) -> Found {
    let words = Matrix::from_fn(keys.rows(), keys.rows(), |i, j| f64::from(u8::from(i == j)));
    let (key_width, value_width) = (keys.cols(), values.cols());
    let free = AttentionConfig::parameter_free(keys.rows());
    let layer = AttentionConfig { projected: true, output: true, scale, key_width, value_width, ..free };
    let roles =
        [(TensorName::QueryWeights, queries), (TensorName::KeyWeights, keys), (TensorName::ValueWeights, values)];
    Found::of(layer, &roles, &words)
}

/// Lesson 5, with values as wide as `w_v` makes them.
fn three_roles(w_v: Matrix<f64>) -> Found {
    let layer = AttentionConfig { bias: false, value_width: w_v.cols(), ..AttentionConfig::multi_head(3, 1) };
    let given = [
        (TensorName::QueryWeights, matrix(&W_Q)),
        (TensorName::KeyWeights, matrix(&W_K)),
        (TensorName::ValueWeights, w_v),
    ];
    Found::of(layer, &given, &matrix(&[MONEY, BANK, GROWS]))
}

#[test]
fn three_roles_lesson() {
    let found = three_roles(matrix(&W_V));
    let attention = &found.cache.attention;
    let roles = [&attention.query, &attention.key, &attention.value].map(|m| m.top_columns(3, &(0..3)));
    let [q, k, v] = &roles;
    assert_digits(q, &[[0.11, 0.29, 0.47], [0.29, 0.74, 1.19], [0.47, 1.19, 1.91]]);
    assert_digits(k, &[[0.34, 0.32, 0.40], [0.82, 0.71, 0.88], [1.30, 1.10, 1.36]]);
    assert_digits(v, &[[0.36, 0.32, 0.35], [0.87, 0.71, 0.80], [1.38, 1.10, 1.25]]);
    let unscaled = Matrix::from_fn(3, 3, |i, j| found.scores.get(i, j) * 3f64.sqrt());
    assert_digits(&unscaled, &[[0.3182, 0.7097, 1.1012], [0.8114, 1.8104, 2.8094], [1.3046, 2.9111, 4.5176]]);
    assert_digits(
        &found.weights,
        &[[0.26143, 0.32773, 0.41085], [0.16808, 0.29922, 0.53270], [0.10081, 0.25486, 0.64434]],
    );
    assert_digits(
        found.output(),
        &[[0.94620, 0.76827, 0.86724], [1.05596, 0.85220, 0.96408], [1.14720, 0.92198, 1.04459]],
    );
    // The slips for `bank`: of the query and the value every entry, of the key one.
    assert_eq!(right(q.row(1), [0.32, 0.59, 0.86], 2), [false; 3]);
    assert_eq!(right(k.row(1), [0.62, 0.71, 0.88], 2), [false, true, true]);
    assert_eq!(right(v.row(1), [0.74, 0.67, 0.88], 2), [false; 3]);
}

#[test]
fn values_set_the_width_of_the_output_and_nothing_else() {
    let full = three_roles(matrix(&W_V));
    for width in [2, 5] {
        let found = three_roles(Matrix::from_fn(3, width, |i, j| W_V[i][j % 3]));
        assert_eq!((found.output().rows(), found.output().cols()), (3, width));
        assert_eq!(found.weights, full.weights);
        let expected = Matrix::from_fn(3, width, |i, j| full.output().get(i, j % 3));
        assert_close("each column is its own", found.output().flat(), expected.flat(), Tolerance::LAST_BITS);
    }
}

/// Lesson 6: queries, keys and values are the words.
fn cat_sat(scale: bool) -> Found {
    let words = matrix(&[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]);
    let identity = Matrix::from_fn(4, 4, |i, j| f64::from(u8::from(i == j)));
    let layer = AttentionConfig { bias: false, scale, ..AttentionConfig::multi_head(4, 1) };
    let roles = [TensorName::QueryWeights, TensorName::KeyWeights, TensorName::ValueWeights];
    Found::of(layer, &roles.map(|role| (role, identity.clone())), &words)
}

#[test]
fn scaling_lesson() {
    assert_digits(&cat_sat(false).scores, &[[2.0, 0.0, 2.0], [0.0, 2.0, 2.0], [2.0, 2.0, 4.0]]);
    let found = cat_sat(true);
    assert_digits(&found.scores, &[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]]);
    assert_digits(
        &found.weights,
        &[[0.42232, 0.15536, 0.42232], [0.15536, 0.42232, 0.42232], [0.21194, 0.21194, 0.57612]],
    );
    assert_digits(
        found.output(),
        &[[0.84464, 0.57768, 0.84464, 0.57768], [0.57768, 0.84464, 0.57768, 0.84464], [0.78806; 4]],
    );
    // The slip, seen at a glance: a mix of rows is nowhere larger than the largest of them.
    let published = [1.2669, 0.9999, 1.2669, 0.9999];
    assert_eq!(right(found.output().row(0), published, 4), [false; 4]);
    assert!(found.output().flat().iter().all(|&m| m <= 1.0) && published[0] > 1.0);
}

/// Gains of the weights where the first score gains.
fn derivative(weights: &[f64]) -> Vec<f64> {
    let mut d = vec![0.0; weights.len()];
    d[0] = 1.0;
    softmax_backward(weights, &mut d);
    d
}

#[test]
fn scaling_lets_the_gradient_through() {
    let query = [2.0, 3.0, 4.0, 1.0];
    let keys = matrix(&[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]);
    for (scale, scores, weights, expected) in
        [(false, [6.0, 4.0], [0.88080, 0.11920], 0.10499), (true, [3.0, 2.0], [0.73106, 0.26894], 0.19661)]
    {
        let found = by_hand(scale, matrix(&[query; 2]), keys.clone(), Matrix::zeros(2, 1));
        assert_digits(&found.scores, &[scores; 2]);
        assert_digits(&found.weights, &[weights; 2]);
        assert_digits(&matrix(&[[derivative(&weights)[0], derivative(&weights)[1]]]), &[[expected, -expected]]);
    }
}

/// Over many sentences of random queries and keys, whose entries have the variance 1.
struct Sweep {
    variance: f64,
    largest_weight: f64,
    /// The size of the softmax's derivative by all its scores.
    gradient_norm: f64,
}

fn sweep(key_width: usize, scale: bool) -> Sweep {
    const SENTENCES: usize = 64;
    const WORDS: usize = 8;
    let mut rng = generator(6);
    let mut draw = || {
        let uniform = random_matrix(&mut rng, WORDS, key_width);
        Matrix::from_fn(WORDS, key_width, |i, j| 3f64.sqrt() * uniform.get(i, j))
    };
    let mut sums = [0.0; 3];
    for _ in 0..SENTENCES {
        let found = by_hand(scale, draw(), draw(), Matrix::zeros(WORDS, 1));
        // The mean is 0.
        sums[0] += found.scores.flat().iter().map(|s| s * s).sum::<f64>() / WORDS as f64;
        for query in 0..WORDS {
            let weights = found.weights.row(query);
            sums[1] += weights.iter().fold(0.0, |most, &w| f64::max(most, w));
            let by_score = |key: usize| {
                let mut d: Vec<f64> = (0..WORDS).map(|other| f64::from(u8::from(other == key))).collect();
                softmax_backward(weights, &mut d);
                d.iter().map(|d| d * d).sum::<f64>()
            };
            sums[2] += (0..WORDS).map(by_score).sum::<f64>().sqrt();
        }
    }
    let [variance, largest_weight, gradient_norm] = sums.map(|sum| sum / (SENTENCES * WORDS) as f64);
    Sweep { variance, largest_weight, gradient_norm }
}

#[test]
fn wide_keys_need_scaling() {
    let widths: Vec<usize> = (0..10).map(|power| 1 << power).collect();
    let [plain, scaled] = [false, true].map(|scale| widths.iter().map(|&d| sweep(d, scale)).collect::<Vec<_>>());
    for ((plain, scaled), &d) in plain.iter().zip(&scaled).zip(&widths) {
        let is_near_one = |variance: f64| (0.9..1.1).contains(&variance);
        assert!(is_near_one(plain.variance / d as f64), "{d}: the variance is {}, not {d}", plain.variance);
        assert!(is_near_one(scaled.variance), "{d}: scaled, the variance is {}, not 1", scaled.variance);
        let Sweep { largest_weight, gradient_norm, .. } = *scaled;
        assert!((0.30..0.40).contains(&largest_weight), "{d}: scaled, the largest weight is {largest_weight}");
        assert!((0.35..0.38).contains(&gradient_norm), "{d}: scaled, the gradient is {gradient_norm}");
    }
    assert!(plain.is_sorted_by(|a, b| a.largest_weight < b.largest_weight), "unscaled, one key takes all");
    assert!(plain[1..].is_sorted_by(|a, b| a.gradient_norm > b.gradient_norm), "unscaled, the gradient vanishes");
    let last = plain.last().expect("512");
    assert!(last.largest_weight > 0.9 && last.gradient_norm < 0.1, "{} {}", last.largest_weight, last.gradient_norm);
}

const LOOKED_AT: [&str; 8] = ["The", "animal", "didn't", "cross", "street", "it", "was", "tired"];
const KEYS: [[f64; 3]; 8] = [
    [0.2, 0.1, 0.0],
    [0.6, 0.5, 0.4],
    [0.1, 0.2, 0.1],
    [0.2, 0.1, 0.3],
    [0.5, 0.4, 0.3],
    [0.7, 0.6, 0.5],
    [0.1, 0.0, 0.2],
    [0.9, 0.8, 0.7],
];

const VALUES: [[f64; 3]; 8] = [
    [0.1, 0.2, 0.3],
    [0.7, 0.6, 0.5],
    [0.1, 0.1, 0.2],
    [0.0, 0.1, 0.1],
    [0.5, 0.4, 0.3],
    [0.6, 0.5, 0.4],
    [0.1, 0.1, 0.0],
    [0.8, 0.7, 0.6],
];

/// Lesson 7, unscaled as the notes have it. All ask as `it` does; only its row is looked at.
#[test]
fn it_lesson() {
    let it = 5;
    let found = by_hand(false, matrix(&[[0.6, 0.5, 0.4]; 8]), matrix(&KEYS), matrix(&VALUES));
    let scores = [0.17, 0.77, 0.20, 0.29, 0.62, 0.92, 0.14, 1.22];
    let weights = [0.0800, 0.1458, 0.0825, 0.0902, 0.1255, 0.1694, 0.0777, 0.2287];
    assert_close("the scores", found.scores.row(it), scores, Tolerance::of_digits(DIGITS));
    let of_it = found.weights.row(it);
    assert_eq!(right(of_it, weights, 4), [true; 8], "{of_it:?}");
    let most = (0..8).max_by(|&a, &b| of_it[a].total_cmp(&of_it[b])).expect("words");
    assert_eq!(LOOKED_AT[most], "tired", "not `animal`");
    let output = found.output().row(it);
    assert_eq!(right(output, [0.47353, 0.42360, 0.36513], 5), [true; 3], "{output:?}");
    // The slips: drawn, not computed, and of a list that sums to 1.01.
    assert_eq!(right(of_it, [0.05, 0.60, 0.02, 0.03, 0.20, 0.0, 0.02, 0.08], 2), [false; 8]);
    assert_eq!(right(output, [0.598, 0.518, 0.432], 3), [false; 3]);
}
