// event_driver FOLDER: two starts of one run, the second from a checkpoint of step 2, for test_event_file.py.
#include <cmath>

#include "train/run/event_file.hpp"

int main(int, char** arguments) {
  {
    cudal1::EventFile first(arguments[1], 1, 1700000000.5);
    for (int step = 1; step <= 4; ++step)
      first.add(step, {{"reward", 0.25 * step}, {"entropy", 1.0 / step}}, 1700000000.5 + step);
  }
  cudal1::EventFile second(arguments[1], 3, 1700000100.0);
  second.add(3, {{"reward", -7.5}, {"loss", NAN}}, 1700000103.0);
  second.add(300, {{"reward", 1e30}}, 1700000400.0);
}
