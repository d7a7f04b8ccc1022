// A number that does not fit its type.
//! kernel matmul replaces mm_1 : grid=1 block=32 args=(a, b, mm_1, i32:numel(a) * numel(b))
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int count) {}
