// with: openmp
// A small container with room that is filled as it grows.
#include <cstdio>

template <class T, int N> struct Small {
    int size = 0;
    T room[N];
    void push(T v) { if (size < N) room[size++] = v; }
    T &operator[](int i) { return room[i]; }
};

int main()
{
    int sum = 0;
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
    for (int i = 0; i < 512; i++) {
        Small<int, 8> small;
        for (int j = 0; j < i % 8; j++) small.push(i + j);
        Small<int, 8> copy = small;
#ifdef WRONG
        for (int j = 0; j <= copy.size && j < 8; j++)
#else
        for (int j = 0; j < copy.size; j++)
#endif
            if (copy[j] > 3) sum++;
    }
    std::printf("%d\n", sum);
}
