// What libstdc++ would throw in device code ends the program with the words that an uncaught exception has on the host.
#include <array>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

int main(int count, char **arguments) {
  int how = count > 1 ? atoi(arguments[1]) : 0, result = 0;
  const std::array<int, 4> numbers{1, 2, 3, 4};
  // All threads come to it, and one tells.
#pragma omp target teams distribute parallel for map(tofrom : result) num_teams(2) thread_limit(64)
  for (int i = 0; i < 128; ++i) {
    int part = 0;
    switch (how) {
    case 0:
      part = numbers.at(i % 4);
      break;
    case 1:
      part = numbers.at(4 + i / 128);
      break;
    case 2:
      part = std::bitset<8>(i).test(9);
      break;
    case 3:
      part = std::string_view("text").substr(5).size();
      break;
    case 4:
      part = std::function<int()>()();
      break;
    case 5: {
      std::optional<int> none;
      if (i == 200)
        none = i;
      part = none.value();
      break;
    }
    case 6:
      part = numbers[4 + i / 128];
      break;
    case 7:
      std::__throw_length_error("a text of the caller's");
    }
#pragma omp atomic
    result += part;
  }
  printf("%d\n", result);
}
