//! Where the bytes of a docvalues segment live, and that they are checked before use.
