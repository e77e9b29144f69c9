//! Shapes, naive models and the conformance suite that every source of columns must pass.
