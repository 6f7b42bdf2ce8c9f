//! The fields of `config.json`, and what is refused.

use attune_engine::numerics::activation::Activation;
use attune_engine::pretrained::{Config, Family};

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let said = Config::parse(text).expect_err(text).to_string();
    for words in words {
        assert!(said.contains(words), "{said}\nlacks: {words}");
    }
}

fn bert(fields: &str) -> String {
    format!(r#"{{"model_type":"bert",{fields}}}"#)
}

#[test]
fn fields_that_are_missing_have_the_values_of_transformers() {
    let bert = Config::parse(r#"{"model_type": "bert", "num_attention_heads": null}"#).expect("BERT-base");
    let expected = Config {
        family: Family::Bert,
        width: 768,
        layers: 12,
        heads: 12,
        hidden: 3072,
        activation: Activation::Gelu,
        norm_epsilon: 1e-12,
        positions: 512,
        types: 2,
        vocabulary: 30_522,
        tied: true,
        causal: false,
        scaled: true,
        scaled_by_layer: false,
    };
    assert_eq!(bert, expected);
    let gpt2 = Config::parse(r#"{"model_type": "gpt2"}"#).expect("GPT-2 small");
    let shape = Config { family: Family::Gpt2, activation: Activation::GeluTanh, norm_epsilon: 1e-5, ..bert.clone() };
    assert_eq!(gpt2, Config { positions: 1024, types: 0, vocabulary: 50_257, causal: true, ..shape });
    let distilbert = Config::parse(r#"{"model_type": "distilbert"}"#).expect("DistilBERT");
    assert_eq!(distilbert, Config { family: Family::DistilBert, layers: 6, types: 0, ..bert });
    assert_eq!(gpt2.to_string(), "GPT-2: 12 layers of 12 heads, 768 wide, a vocabulary of 50257");
}

#[test]
fn fields_that_are_there_count() {
    let bert = Config::parse(include_str!("../fixtures/pretrained/bert-wild/config.json")).expect("a config");
    assert_eq!((bert.width, bert.layers, bert.heads, bert.hidden, bert.positions), (24, 3, 3, 40, 40));
    let gpt2 = Config::parse(include_str!("../fixtures/pretrained/gpt2-wild/config.json")).expect("a config");
    assert_eq!((gpt2.width, gpt2.hidden, gpt2.vocabulary, gpt2.types), (24, 96, 600, 0));
    let changed = r#"{"model_type":"gpt2","n_embd":12,"n_head":2,"n_layer":4,"n_inner":30,"scale_attn_weights":false,
        "scale_attn_by_inverse_layer_idx":true,"activation_function":"relu","tie_word_embeddings":false}"#;
    let gpt2 = Config::parse(changed).expect("a config");
    assert_eq!((gpt2.hidden, gpt2.activation, gpt2.tied), (30, Activation::Relu, false));
    assert_eq!((gpt2.scaled, gpt2.scaled_by_layer), (false, true));
    let tanh = Config::parse(&bert_with_act("gelu_pytorch_tanh")).expect("a config");
    assert_eq!(tanh.activation, Activation::GeluTanh);
}

fn bert_with_act(name: &str) -> String {
    bert(&format!(r#""hidden_act":"{name}""#))
}

#[test]
fn families_that_are_not_known_are_refused_by_name() {
    refused(r#"{"model_type":"llama"}"#, &["the model_type `llama`", "bert, gpt2, distilbert", "families only"]);
    refused(r#"{"model_type":7}"#, &["a model_type that is no text"]);
    refused("{}", &["no model_type"]);
    refused("[]", &["invalid type: sequence, expected a map at line 1 column 0"]);
    refused("{", &["EOF", "a config in JSON"]);
    refused(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), &["invalid type: sequence, expected a map"]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    refused(&bert(r#""hidden_size":770"#), &["12 heads that share a width of 770", "divide evenly"]);
    refused(&bert(r#""num_hidden_layers":0"#), &["0 as the number of layers", "1 to 128"]);
    refused(&bert(r#""num_hidden_layers":129"#), &["129 as the number of layers"]);
    refused(&bert(r#""hidden_size":8193"#), &["8193 as the width", "1 to 8192"]);
    refused(&bert(r#""num_attention_heads":512,"hidden_size":1024"#), &["512 as the number of heads"]);
    refused(&bert(r#""vocab_size":1000001"#), &["the vocabulary", "1 to 1000000"]);
    refused(&bert(r#""max_position_embeddings":65537"#), &["positions", "1 to 65536"]);
    refused(&bert(r#""type_vocab_size":100000"#), &["100000 token types"]);
    refused(&bert(r#""hidden_size":8192,"num_attention_heads":64"#), &["MB of weights", "at most 2048 MB"]);
    refused(&bert(r#""hidden_size":-1"#), &["hidden_size: invalid value: integer `-1`", "at line 1 column 37"]);
    refused(&bert(r#""hidden_size":"big""#), &["hidden_size: invalid type: string \"big\"", "at line 1 column 40"]);
    refused(&bert(r#""layer_norm_eps":0"#), &["0 as the norm's epsilon"]);
    refused(&bert(r#""layer_norm_eps":[]"#), &["layer_norm_eps: invalid type: sequence, expected f64"]);
    refused(r#"{"model_type":"gpt2","n_embd":18446744073709551615}"#, &["as the width"]);
}

#[test]
fn forms_that_attune_does_not_compute_are_refused() {
    refused(&bert_with_act("gleu"), &["`gleu` as hidden_act", "gelu, gelu_new", "did its author mean gelu?"]);
    refused(&bert_with_act("silu"), &["`silu` as hidden_act"]);
    refused(&bert(r#""hidden_act":7"#), &["hidden_act: invalid type: integer `7`, expected a string"]);
    refused(&bert(r#""position_embedding_type":"relative_key""#), &["`relative_key` as position_embedding_type"]);
    refused(r#"{"model_type":"gpt2","add_cross_attention":true}"#, &["attention to a second model"]);
    refused(
        r#"{"model_type":"gpt2","scale_attn_weights":1}"#,
        &["scale_attn_weights: invalid type: integer `1`", "expected a boolean"],
    );
}
