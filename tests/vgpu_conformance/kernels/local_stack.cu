// A stack of each thread's own with moving top: Hanoi by loop, so that local memory is read and written at will.
//! let n = 256
//! buffer y i32[n] poison
//! launch move grid=(n/64) block=(64) args=(y)
//! reference local_stack
//! check y exactly

__global__ void move(int* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  int height[3][8], count[3] = {0, 0, 0}, moves = 0, mixed = 0;
  const int discs = 3 + i % 4;
  for (int d = discs; d > 0; --d) height[0][count[0]++] = d;
  // Any two pegs allow one legal move; going through the pairs in turns solves the puzzle.
  for (int step = 0; count[2] < discs; ++step) {
    int from = step % 3 == 2 ? 1 : 0, to = step % 3 == 0 ? (discs % 2 ? 2 : 1) : step % 3 == 1 ? (discs % 2 ? 1 : 2) : 2;
    const int a = count[from] ? height[from][count[from] - 1] : 99, b = count[to] ? height[to][count[to] - 1] : 99;
    if (b < a) {
      const int other = from;
      from = to;
      to = other;
    }
    const int disc = height[from][--count[from]];
    height[to][count[to]++] = disc;
    mixed = mixed * 31 + disc * 3 + to;
    ++moves;
  }
  y[i] = moves * 100000 + (mixed & 0xffff);
}
