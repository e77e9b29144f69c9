//! A columnar, memory-mapped doc-values store: any value of any document in O(1).
