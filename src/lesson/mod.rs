pub mod corpus;
pub mod schema;
pub use schema::Lesson;
