// covers: host calls of C++: functions of namespaces, numbers as constants, lambdas in regions
// stock: unusable because host calls are not in it
#include "../../../../frontends/openmp/include/gangway/host_call.h"
#include <cstdio>
#include <string>

namespace words {
struct Word {
  char text[32];
  int length;
};

static void measure(void *block, size_t) {
  auto *word = static_cast<Word *>(block);
  std::string text = word->text;
  word->length = static_cast<int>(text.size());
  text += " from " + std::to_string(gangway_host_call_device());
  text.copy(word->text, text.size() + 1);
}
} // namespace words
GANGWAY_HOST_FUNCTION_AS(words_measure, words::measure);

static_assert(gangway_host_function("a") == 0xaf63dc4c8601ec8cu, "known when compiled");

int main() {
  words::Word words[3] = {{"one", 0}, {"three", 0}, {"", 0}};
#pragma omp target map(tofrom : words)
  {
    auto ask = [](words::Word &word) { return GANGWAY_HOST_CALL(words_measure, &word, sizeof word); };
    for (auto &word : words)
      if (ask(word) != GANGWAY_HOST_CALL_DONE)
        word.length = -1;
  }
  for (auto &word : words)
    std::printf("%s: %d\n", word.text, word.length);
}
