// Structs of mixed types, read through pointers that were computed: a bounding-box test of points.
//! let n = 1024
//! input points f32[4*n] between -1 1
//! buffer inside u8[n] poison
//! launch test grid=(n/128) block=(128) args=(points, inside, f32:-0.5, f32:0.75)
//! reference points_inside
//! check inside exactly

struct Point {
  float x, y;
  float2 size;
};

__global__ void test(const Point* points, unsigned char* inside, float low, float high) {
  const Point* own = points + blockIdx.x * 128 + threadIdx.x;
  const bool x = own->x >= low && own->x + fabsf(own->size.x) <= high;
  const bool y = own->y >= low && own->y + fabsf(own->size.y) <= high;
  inside[blockIdx.x * 128 + threadIdx.x] = x && y ? 1 : x || y ? 2 : 0;
}
