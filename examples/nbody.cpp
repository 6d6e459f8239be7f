// Gravity between bodies, as a class whose arrays travel to the device through
// a user-defined mapper: the program maps "the cluster" and never names its
// parts again.
//
// Checks: the device's orbits against the host's, the total energy and the
// momentum against what they were at the start.

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

struct Vector {
  double x, y, z;
};

#pragma omp begin declare target
inline Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// Softened, so that two bodies that meet do not fly apart.
constexpr double softening = 1e-2;

inline Vector pull(Vector on, Vector from, double mass) {
  Vector apart = from - on;
  double square = dot(apart, apart) + softening;
  return (mass / (square * std::sqrt(square))) * apart;
}
#pragma omp end declare target

/// Bodies as plain arrays, the form that a mapper can describe.
struct Cluster {
  int count;
  double *mass;
  Vector *position;
  Vector *velocity;
};

#pragma omp declare mapper(Cluster c) map(c, c.mass[0 : c.count])                                  \
    map(c.position[0 : c.count], c.velocity[0 : c.count])

/// Owns a cluster's arrays, on the host.
class Simulation {
public:
  explicit Simulation(int count) : mass(count), position(count), velocity(count) {
    std::mt19937 random(22);
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    for (int i = 0; i < count; ++i) {
      mass[i] = (1.5 + unit(random)) / count;
      position[i] = {unit(random), unit(random), 0.1 * unit(random)};
      // A slow common rotation about the z axis.
      velocity[i] = {-0.6 * position[i].y, 0.6 * position[i].x, 0.0};
    }
  }

  void run_on_device(int steps, double step) {
    Cluster c = view();
#pragma omp target data map(tofrom : c)
    for (int i = 0; i < steps; ++i) {
      kick_on_device(c, step);
      drift_on_device(c, step);
    }
  }

  void run_on_host(int steps, double step) {
    int count = view().count;
    for (int i = 0; i < steps; ++i) {
      for (int on = 0; on < count; ++on)
        velocity[on] = velocity[on] + step * acceleration(view(), on);
      for (int on = 0; on < count; ++on)
        position[on] = position[on] + step * velocity[on];
    }
  }

  double energy() const {
    double total = 0.0;
    for (size_t i = 0; i < mass.size(); ++i) {
      total += 0.5 * mass[i] * dot(velocity[i], velocity[i]);
      for (size_t j = 0; j < i; ++j) {
        Vector apart = position[j] - position[i];
        total -= mass[i] * mass[j] / std::sqrt(dot(apart, apart) + softening);
      }
    }
    return total;
  }

  Vector momentum() const {
    Vector total{};
    for (size_t i = 0; i < mass.size(); ++i)
      total = total + mass[i] * velocity[i];
    return total;
  }

  /// Largest distance between corresponding bodies.
  double distance(const Simulation &other) const {
    double worst = 0.0;
    for (size_t i = 0; i < mass.size(); ++i) {
      Vector apart = position[i] - other.position[i];
      worst = std::fmax(worst, std::sqrt(dot(apart, apart)));
    }
    return worst;
  }

private:
  Cluster view() {
    return {static_cast<int>(mass.size()), mass.data(), position.data(), velocity.data()};
  }

#pragma omp begin declare target
  static Vector acceleration(const Cluster &c, int on) {
    Vector sum{};
    for (int from = 0; from < c.count; ++from)
      sum = sum + pull(c.position[on], c.position[from], c.mass[from]);
    return sum;
  }
#pragma omp end declare target

  static void kick_on_device(Cluster &c, double step) {
#pragma omp target teams distribute parallel for map(tofrom : c)
    for (int on = 0; on < c.count; ++on)
      c.velocity[on] = c.velocity[on] + step * acceleration(c, on);
  }

  static void drift_on_device(Cluster &c, double step) {
#pragma omp target teams distribute parallel for map(tofrom : c)
    for (int on = 0; on < c.count; ++on)
      c.position[on] = c.position[on] + step * c.velocity[on];
  }

  std::vector<double> mass;
  std::vector<Vector> position, velocity;
};

bool at_most(const char *what, double got, double limit) {
  bool good = got <= limit; // false for a NaN
  std::printf("%-32s %9.2e (at most %.0e)%s\n", what, got, limit, good ? "" : "  WRONG");
  return good;
}

} // namespace

int main() {
  constexpr int bodies = 768, steps = 100;
  constexpr double step = 2e-3;
  Simulation device(bodies), host(bodies);
  double energy = device.energy();
  Vector momentum = device.momentum();

  device.run_on_device(steps, step);
  host.run_on_host(steps, step);

  Vector drift = device.momentum() - momentum;
  bool good = true;
  good &= at_most("distance from the host's orbits", device.distance(host), 1e-9);
  good &= at_most("relative change of energy", std::fabs(device.energy() / energy - 1.0), 5e-3);
  good &= at_most("change of momentum", std::sqrt(dot(drift, drift)), 1e-12);
  // Bodies that never moved would pass all of the above.
  double travelled = device.distance(Simulation(bodies));
  std::printf("%-32s %9.2e (at least 1e-02)\n", "largest distance travelled", travelled);
  good &= travelled >= 1e-2;
  std::printf("nbody: %s\n", good ? "OK" : "FAILED");
  return good ? 0 : 1;
}
