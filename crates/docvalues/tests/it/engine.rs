//! Runs the example of a search engine, which checks its own results.

#[path = "../../examples/engine.rs"]
mod example;

#[test]
fn the_engine_example_finds_the_expected_packages() {
    example::main().unwrap();
}
