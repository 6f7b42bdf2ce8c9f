//! Extensions of Rhai's grammar: `A[i, j]` and `A[.., j]`, and Python's `and` and `or`. Tokens are replaced while the
//! parser reads them, so that places in messages refer to the learner's text.

use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Engine, INT, Token};

use super::index::LARGEST_END;
use super::limits::{EXPRESSION_DEPTH_MAX, FUNCTIONS_MAX};

/// Operator that replaces a comma within an index.
pub const PAIR: &str = "⸴";
/// Constant that replaces `..` alone within an index. Code cannot use its name.
pub const WHOLE: &str = "..";
/// A precedence below that of every other operator.
const PAIR_PRECEDENCE: u8 = 2;
/// Precedence of `*` in Rhai, which the matrix product `@` has too.
const PRODUCT_PRECEDENCE: u8 = 180;

/// The state of the parser within a text.
#[derive(Clone, Debug, Default)]
pub struct ParserProgress(Arc<Mutex<Brackets>>);

#[derive(Debug, Default)]
struct Brackets {
    /// Whether each open bracket belongs to an index, outermost first.
    open: Vec<bool>,
    /// Whether the last token ends something that can be indexed.
    ends_value: bool,
    /// Whether the last token begins an index, or a part of one.
    begins_index: bool,
    /// Whether the last token is `..`, after which a range may end.
    ends_range: bool,
    /// Whether the last token ends an operand, so that an operator may follow.
    ends_operand: bool,
}

impl ParserProgress {
    /// Resets the state; to be called before a text is parsed.
    pub fn restart(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Brackets::default();
    }

    fn exchange(&self, token: Token) -> Token {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).exchange(token)
    }
}

impl Brackets {
    fn exchange(&mut self, token: Token) -> Token {
        let in_index = self.open.last() == Some(&true);
        let begins = std::mem::take(&mut self.begins_index);
        let token = match token {
            Token::LeftBracket => {
                self.begins_index = self.ends_value;
                self.open.push(self.ends_value);
                token
            }
            Token::QuestionBracket => {
                self.begins_index = true;
                self.open.push(true);
                token
            }
            Token::LeftParen | Token::LeftBrace | Token::MapStart | Token::Unit => {
                if token != Token::Unit {
                    self.open.push(false);
                }
                token
            }
            Token::RightBracket | Token::RightParen | Token::RightBrace => {
                self.open.pop();
                token
            }
            Token::Comma if in_index => {
                self.begins_index = true;
                Token::Custom(Box::new(PAIR.into()))
            }
            Token::IntegerConstant(INT::MAX) if in_index && self.ends_range => Token::IntegerConstant(LARGEST_END),
            Token::ExclusiveRange if begins => Token::Identifier(Box::new(WHOLE.into())),
            Token::Identifier(ref name) if self.ends_operand && **name == "and" => Token::And,
            Token::Identifier(ref name) if self.ends_operand && **name == "or" => Token::Or,
            token => token,
        };
        self.ends_range = matches!(token, Token::ExclusiveRange);
        self.ends_value =
            matches!(token, Token::Identifier(_) | Token::RightBracket | Token::RightParen | Token::StringConstant(_));
        let is_constant =
            matches!(token, Token::IntegerConstant(_) | Token::FloatConstant(_) | Token::True | Token::False);
        self.ends_operand = self.ends_value || is_constant;
        token
    }
}

/// Makes an engine that parses the language but has no functions yet.
pub fn parser(progress: ParserProgress) -> Engine {
    let mut engine = Engine::new_raw();
    engine
        .set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX)
        .set_max_functions(FUNCTIONS_MAX)
        .disable_symbol("eval")
        .disable_symbol("curry");
    for (operator, precedence) in [("@", PRODUCT_PRECEDENCE), (PAIR, PAIR_PRECEDENCE)] {
        engine.register_custom_operator(operator, precedence).expect("not an operator of Rhai's own");
    }
    #[expect(deprecated, reason = "Rhai calls deprecated what may change between versions")]
    engine.on_parse_token(move |token, _, _| progress.exchange(token));
    engine
}
