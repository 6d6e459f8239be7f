// covers: the C++ library inside a region: streams, containers, algorithms, threads, call_once, futures
// flags: -pthread
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

int main() {
  char text[64] = {};
  int numbers[4] = {};
#pragma omp target map(tofrom : text, numbers)
  {
    std::ostringstream stream;
    stream << "value " << 42 << ' ' << 1.5;
    std::map<std::string, int> ages{{"ann", 30}, {"bob", 25}};
    ages.emplace("eve", 41);
    for (const auto &[name, age] : ages) stream << ' ' << name << '=' << age;
    const std::string built = stream.str();
    std::copy(built.begin(), built.end(), text);
    auto shared = std::make_shared<std::vector<int>>(10, 3);
    std::function<int(int)> twice = [](int x) { return 2 * x; };
    numbers[0] = twice(std::accumulate(shared->begin(), shared->end(), 0));
    std::once_flag once;
    for (int i = 0; i < 3; i++) std::call_once(once, [&] { numbers[1]++; });
    int inside = 0;
    std::thread([&] { inside = 7; }).join();
    numbers[2] = inside;
    numbers[3] = std::stoi("12") + static_cast<int>(std::to_string(12345).size());
  }
  std::printf("%s\n%d %d %d %d\n", text, numbers[0], numbers[1], numbers[2], numbers[3]);
}
