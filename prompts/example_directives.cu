//! fuse linear_1 gelu_1
//! fuse softmax_1 mul_1 : lanes=128
//! graph
