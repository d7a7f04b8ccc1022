// Winograd F(2x2, 3x3).
//! kernel convolve replaces conv2d_1 : grid="conv.weight".size(0) block=64 args=(x, "conv.weight", conv2d_1, i32:x.size(1))
extern "C" __global__ void convolve(const float* x, const float* weight, float* y, int channels) {
  const int row = 2 * (threadIdx.x / 8), column = 2 * (threadIdx.x % 8);
  float m[4][4] = {};
  for (int c = 0; c < channels; ++c) {
    const float* g = weight + (blockIdx.x * channels + c) * 9;
    float u[4][3], w[4][4], d[4][4], e[4][4];
    for (int j = 0; j < 3; ++j) {
      u[0][j] = g[j];
      u[1][j] = 0.5f * (g[j] + g[3 + j] + g[6 + j]);
      u[2][j] = 0.5f * (g[j] - g[3 + j] + g[6 + j]);
      u[3][j] = g[6 + j];
    }
    for (int i = 0; i < 4; ++i) {
      w[i][0] = u[i][0];
      w[i][1] = 0.5f * (u[i][0] + u[i][1] + u[i][2]);
      w[i][2] = 0.5f * (u[i][0] - u[i][1] + u[i][2]);
      w[i][3] = u[i][2];
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const int r = row + i - 1, s = column + j - 1;
        d[i][j] = r < 0 || r >= 16 || s < 0 || s >= 16 ? 0.0f : x[(c * 16 + r) * 16 + s];
      }
    for (int j = 0; j < 4; ++j) {
      e[0][j] = d[0][j] - d[2][j];
      e[1][j] = d[1][j] + d[2][j];
      e[2][j] = d[2][j] - d[1][j];
      e[3][j] = d[1][j] - d[3][j];
    }
    for (int i = 0; i < 4; ++i) {
      m[i][0] += w[i][0] * (e[i][0] - e[i][2]);
      m[i][1] += w[i][1] * (e[i][1] + e[i][2]);
      m[i][2] += w[i][2] * (e[i][2] - e[i][1]);
      m[i][3] += w[i][3] * (e[i][1] - e[i][3]);
    }
  }
  float t[2][4];
  for (int j = 0; j < 4; ++j) {
    t[0][j] = m[0][j] + m[1][j] + m[2][j];
    t[1][j] = m[1][j] - m[2][j] - m[3][j];
  }
  for (int i = 0; i < 2; ++i) {
    float* out = y + blockIdx.x * 256 + (row + i) * 16 + column;
    out[0] = t[i][0] + t[i][1] + t[i][2];
    out[1] = t[i][1] - t[i][2] - t[i][3];
  }
}
