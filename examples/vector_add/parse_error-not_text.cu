// A byte that is not text: ÿ
//! graph
