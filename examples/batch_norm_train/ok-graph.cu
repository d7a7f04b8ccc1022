// The library's own steps as one CUDA Graph: every call updates the running statistics once.
//! graph
