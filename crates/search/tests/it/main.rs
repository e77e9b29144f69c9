//! Searches over columns in memory, against a look at each document.

mod searches;
