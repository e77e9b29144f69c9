//! The example of a search engine, which compares its answers itself.

#[path = "../../examples/engine.rs"]
mod example;

#[test]
fn the_example_of_an_engine_finds_what_a_look_at_every_mail_does() {
    example::main().unwrap();
}
